/* Messages of which the first that a vertex receives decides, in the order of senders: whoever has it looks
 * no further. Pulled, a vertex that is not settled looks through its edges up to the first active one;
 * pushed, a sender takes those of its receivers that nobody took, a mark each. Only then are messages
 * computed, one for each receiver, and none where the sender's number is all there is to it.
 *
 * Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search", SC 2012. */
#include "cpu/message_load.h"
#include "cpu/vertex/vertex_parts.h"
#include "cpu/vertex/vertex_test.h"

#include <omp.h>

#define INLINE static inline __attribute__((always_inline))

/* The mail's rooms. */
enum { ACTIVE, RECEIVERS, SENDERS, ENTRIES, WORDS, SCRATCH, RECEIVED, SENT };

typedef struct first {
    const ftb_vertex_work *w;
    const ftb_vertex_edges *by;
    const ftb_vertex_list *senders;
    const uint64_t *active, *open;      /* of a pull: bits; NULL: all */
    uint64_t *marks;                    /* of a push: who has a sender */
    int64_t *receiver, *sender, *entry; /* of each that receives; entry NULL: nobody asks */
} first;

static inline bool is_set(const uint64_t *bits, int64_t v) { return bits[v / 64] >> (v % 64) & 1; }

/* ---- from the receivers */

/* The first entry of row i of which the sender is active; -1: there is none. */
INLINE int64_t find(const first *x, const ftb_pattern *p, int64_t i, bool wide)
{
    const int32_t *narrow = p->colidx;
    const int64_t *broad = p->colidx;
    for (int64_t e = p->rowptr[i], end = p->rowptr[i + 1]; e < end; e++)
        if (!x->active || is_set(x->active, wide ? broad[e] : narrow[e]))
            return e;
    return -1;
}

/* Rows begin .. end - 1, whose receivers are put from place `begin` on; how many. */
INLINE int64_t pull_rows(const first *x, int64_t begin, int64_t end, bool wide)
{
    int64_t at = begin;
    for (int64_t base = begin / 64 * 64; base < end; base += 64) {
        uint64_t bits = x->open ? x->open[base / 64] : ~UINT64_C(0);
        if (base < begin)
            bits &= ~UINT64_C(0) << (begin - base);
        if (end - base < 64)
            bits &= ~(~UINT64_C(0) << (end - base));
        for (; bits; bits &= bits - 1) {
            const int64_t i = base + __builtin_ctzll(bits);
            int which = 0;
            int64_t e = find(x, x->by->rows[0], i, wide);
            if (e < 0 && x->by->rows[1])
                e = find(x, x->by->rows[which = 1], i, wide);
            if (e < 0)
                continue;
            x->receiver[at] = i;
            x->sender[at] = ftb_col(x->by->rows[which], e);
            if (x->entry)
                x->entry[at] = x->by->from[which] ? x->by->from[which][e] : e;
            at++;
        }
    }
    return at - begin;
}

static int64_t pull_narrow(const void *x, int64_t begin, int64_t end)
{
    return pull_rows(x, begin, end, false);
}
static int64_t pull_wide(const void *x, int64_t begin, int64_t end) { return pull_rows(x, begin, end, true); }

/* ---- from the senders */

/* Those of pattern `which` that nobody took go behind the `at` that there are; how many there are then. */
INLINE int64_t push_rows(const first *x, int which, int64_t at, FtB_Type type)
{
    const ftb_pattern *p = x->by->rows[which];
    const ftb_vertex_test *test = &x->w->test;
    const void *field = test->there ? x->w->states[test->state] : NULL;
    for (int64_t t = 0; t < x->senders->count; t++) {
        const int64_t v = x->senders->list ? x->senders->list[t] : t;
        for (int64_t e = p->rowptr[v]; e < p->rowptr[v + 1]; e++) {
            const int64_t to = ftb_col(p, e);
            if (is_set(x->marks, to) || (field && ftb_vertex_shut(test, type, field, to)))
                continue;
            x->marks[to / 64] |= UINT64_C(1) << (to % 64);
            x->receiver[at] = to;
            x->sender[at] = v;
            if (x->entry)
                x->entry[at] = x->by->from[which] ? x->by->from[which][e] : e;
            at++;
        }
    }
    return at;
}

static int64_t push_all(const first *x)
{
    int64_t count = 0;
    for (int which = 0; which < 2 && x->by->rows[which]; which++)
        switch (x->w->test.there ? x->w->test.type : FTB_INT32) {
        case FTB_INT32:
            count = push_rows(x, which, count, FTB_INT32);
            break;
        case FTB_INT64:
            count = push_rows(x, which, count, FTB_INT64);
            break;
        case FTB_FP32:
            count = push_rows(x, which, count, FTB_FP32);
            break;
        default:
            count = push_rows(x, which, count, FTB_FP64);
        }
    for (int64_t t = 0; t < count; t++)
        x->marks[x->receiver[t] / 64] = 0;
    return count;
}

static bool ascends(const int64_t *list, int64_t count)
{
    int64_t t = 1;
    while (t < count && list[t - 1] < list[t])
        t++;
    return t >= count;
}

/* The values of *list go where words say that they are; the memory that they were in becomes `spare`. */
static void permute(int64_t **list, int64_t **spare, const uint64_t *words, int64_t count, int bits)
{
    const uint64_t places = (UINT64_C(1) << bits) - 1;
    int64_t *to = *spare;
    for (int64_t t = 0; t < count; t++)
        to[t] = (*list)[words[t] & places];
    *spare = *list;
    *list = to;
}

/* Receivers in ascending order, their senders (and entries) with them. */
static GrB_Info sort_receivers(first *x, ftb_vertex_room *rooms, int64_t count)
{
    const ftb_vertex_work *w = x->w;
    if (ascends(x->receiver, count))
        return GrB_SUCCESS;
    const int bits = ftb_vertex_bits_of(count);
    uint64_t *words = ftb_vertex_need(w->ctx, &rooms[WORDS], count, sizeof *words),
             *scratch = ftb_vertex_need(w->ctx, &rooms[SCRATCH], count, sizeof *scratch);
    if (!words || !scratch)
        return ftb_nomem();
    for (int64_t t = 0; t < count; t++)
        words[t] = (uint64_t)x->receiver[t] << bits | (uint64_t)t;
    const uint64_t *sorted = ftb_sort_by(words, scratch, count, bits, bits + ftb_vertex_bits_of(w->n),
                                         ftb_min(w->nthreads, ftb_threads_for(w->ctx, count)));
    int64_t *spare = sorted == words ? (int64_t *)scratch : (int64_t *)words;
    for (int64_t t = 0; t < count; t++)
        x->receiver[t] = (int64_t)(sorted[t] >> bits);
    permute(&x->sender, &spare, sorted, count, bits);
    if (x->entry)
        permute(&x->entry, &spare, sorted, count, bits);
    return GrB_SUCCESS;
}

/* ---- what they receive */

static void message_batch(const first *x, const ftb_vertex_worker *k, const ftb_vertex_mail *mail, int64_t at,
                          int64_t count)
{
    const ftb_vertex_work *w = x->w;
    const ftb_vertex_text *text = &w->texts[FTB_VERTEX_COMBINE];
    const ftb_places places[FTB_SIDES] = {
        [FTB_SIDE_ROW] = {.index = x->receiver + at},
        [FTB_SIDE_COL] = {.index = mail->by_vertex ? x->sender + at : NULL, .first = at},
        [FTB_SIDE_EDGE] = {.index = x->entry ? x->entry + at : NULL, .first = 0, .same = !x->entry}};
    ftb_vertex_evaluate(k, FTB_VERTEX_COMBINE, count, places, k->values);
    ftb_cast((char *)mail->received + (size_t)(at * w->width) * FtB_Type_size(w->reduced), w->reduced,
             k->values, text->type, count * w->width);
}

static GrB_Info compute_messages(const first *x, ftb_vertex_mail *mail, int64_t count)
{
    const ftb_vertex_work *w = x->w;
    const int64_t batches = (count + w->room - 1) / w->room;
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, count * w->width));
    mail->received =
        ftb_vertex_need(w->ctx, &mail->rooms[RECEIVED], count, (size_t)w->width * FtB_Type_size(w->reduced));
    if (!mail->received)
        return ftb_nomem();
    for (int t = 0; t < threads; t++)
        ftb_vertex_ready(w, &w->workers[t], FTB_VERTEX_COMBINE, mail);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t b = 0; b < batches; b++)
        message_batch(x, &w->workers[omp_get_thread_num()], mail, b * w->room,
                      ftb_min(w->room, count - b * w->room));
    return GrB_SUCCESS;
}

static GrB_Info finish(const first *x, ftb_vertex_mail *mail, int64_t count)
{
    const ftb_vertex_work *w = x->w;
    const ftb_vertex_list senders = {x->sender, count};
    mail->receivers = (ftb_vertex_list){x->receiver, count};
    mail->received = x->sender;
    mail->ldr = w->width;
    mail->received_by_vertex = false;
    if (w->numbers)
        return GrB_SUCCESS;
    if (!mail->sent) { /* else a field of the state */
        const ftb_vertex_text *send = &w->texts[FTB_VERTEX_SEND];
        void *sent = ftb_vertex_need(w->ctx, &mail->rooms[SENT], count,
                                     (size_t)send->width * FtB_Type_size(send->type));
        if (!sent)
            return ftb_nomem();
        ftb_vertex_send(w, FTB_VERTEX_SEND, &senders, sent);
        mail->sent = sent;
        mail->ld = send->width;
        mail->by_vertex = false;
    }
    return compute_messages(x, mail, count);
}

static GrB_Info need_lists(first *x, ftb_vertex_mail *mail, int64_t count)
{
    const ftb_vertex_work *w = x->w;
    x->receiver = ftb_vertex_need(w->ctx, &mail->rooms[RECEIVERS], count, sizeof *x->receiver);
    x->sender = ftb_vertex_need(w->ctx, &mail->rooms[SENDERS], count, sizeof *x->sender);
    x->entry = w->edges ? ftb_vertex_need(w->ctx, &mail->rooms[ENTRIES], count, sizeof *x->entry) : NULL;
    return x->receiver && x->sender && (x->entry || !w->edges) ? GrB_SUCCESS : ftb_nomem();
}

GrB_Info ftb_vertex_first_push(const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                               const ftb_vertex_list *senders, int64_t edges, ftb_vertex_mail *mail)
{
    first x = {.w = w, .by = by_sender, .senders = senders};
    if (!mail->marks)
        mail->marks = ftb_new0(w->ctx, w->n / 64 + 1, sizeof *mail->marks);
    x.marks = mail->marks;
    GrB_Info info = mail->marks ? need_lists(&x, mail, ftb_min(edges, w->n)) : ftb_nomem();
    if (info != GrB_SUCCESS)
        return info;
    int64_t count = push_all(&x);
    info = sort_receivers(&x, mail->rooms, count);
    if (info != GrB_SUCCESS)
        return info;
    if (!w->test.there)
        count = ftb_vertex_keep_open(w, x.receiver, x.sender, x.entry, count);
    return finish(&x, mail, count);
}

GrB_Info ftb_vertex_first_pull(const ftb_vertex_work *w, const ftb_vertex_edges *by_receiver,
                               const ftb_vertex_list *senders, ftb_vertex_mail *mail)
{
    const int64_t words = w->senders / 64 + 1;
    first x = {.w = w, .by = by_receiver, .senders = senders};
    uint64_t *active =
        senders->list ? ftb_vertex_need(w->ctx, &mail->rooms[ACTIVE], words, sizeof *active) : NULL;
    if (senders->list && !active)
        return ftb_nomem();
    if (active)
        memset(active, 0, (size_t)words * sizeof *active);
    for (int64_t t = 0; active && t < senders->count; t++)
        active[senders->list[t] / 64] |= UINT64_C(1) << (senders->list[t] % 64);
    x.active = active;
    int64_t count = 0;
    GrB_Info info = ftb_vertex_open(&x.open, w, mail);
    if (info == GrB_SUCCESS)
        info = need_lists(&x, mail, w->n);
    if (info == GrB_SUCCESS)
        info = ftb_vertex_by_parts(
            &(ftb_vertex_parts){.w = w,
                                .by = by_receiver,
                                .rows = by_receiver->rows[0]->wide ? pull_wide : pull_narrow,
                                .arg = &x,
                                .lists = {x.receiver, x.sender, x.entry}},
            &count);
    return info == GrB_SUCCESS ? finish(&x, mail, count) : info;
}
