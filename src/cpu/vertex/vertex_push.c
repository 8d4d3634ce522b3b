/* Messages from a list of senders: their edges are brought together, as words of receiver and place, and
 * sorted by receiver. The sort is stable, so that the messages of a receiver stay in the order of their
 * senders, in which they are reduced: as the pull does (vertex_pull.c), bit for bit. Nothing is as long as
 * the graph. */
#include "cpu/vertex/vertex_work.h"

#include "core/search.h"

#include <omp.h>

/* The mail's rooms. */
enum { WORDS, SCRATCH, SENT, ENTRY, RECEIVERS, FIRST, RECEIVED };

typedef struct push {
    const ftb_vertex_work *w;
    const ftb_vertex_edges *by;
    const ftb_vertex_list *senders;
    const ftb_vertex_mail *mail;
    int bits; /* of a place */
    int64_t edges;
    uint64_t *words;
    int64_t *sent, *entry;                       /* at each place; entry NULL: nobody asks */
    int64_t receivers, *receiver, *first, *last; /* of each: its messages */
    char *received;
} push;

bool ftb_vertex_may_push(int64_t n, int64_t edges)
{
    return ftb_vertex_bits_of(n) + ftb_vertex_bits_of(edges) <= 64;
}

static inline int64_t sender(const ftb_vertex_list *s, int64_t t) { return s->list ? s->list[t] : t; }

static int64_t count_part(const ftb_vertex_edges *by, const ftb_vertex_list *senders, int which,
                          int64_t first, int64_t last)
{
    const int64_t *rowptr = by->rows[which]->rowptr;
    int64_t edges = 0;
    for (int64_t t = first; t < last; t++)
        edges += rowptr[sender(senders, t) + 1] - rowptr[sender(senders, t)];
    return edges;
}

int64_t ftb_vertex_count(const ftb_vertex_work *w, const ftb_vertex_edges *by, const ftb_vertex_list *senders)
{
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, senders->count));
    int64_t edges = 0;
    for (int which = 0; which < 2 && by->rows[which]; which++) {
        if (threads == 1) {
            edges += count_part(by, senders, which, 0, senders->count);
            continue;
        }
        const int64_t each = senders->count / threads + 1;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : edges)
        for (int part = 0; part < threads; part++)
            edges += count_part(by, senders, which, ftb_min(part * each, senders->count),
                                ftb_min((part + 1) * each, senders->count));
    }
    return edges;
}

/* The edges of senders first .. last - 1 go to places from `at` on. */
static void gather_part(const push *x, int which, int64_t first, int64_t last, int64_t at)
{
    const ftb_pattern *p = x->by->rows[which];
    const int64_t *from = x->by->from[which];
    for (int64_t t = first; t < last; t++) {
        const int64_t v = sender(x->senders, t), sent = x->mail->by_vertex ? v : t;
        for (int64_t e = p->rowptr[v]; e < p->rowptr[v + 1]; e++, at++) {
            x->words[at] = (uint64_t)ftb_col(p, e) << x->bits | (uint64_t)at;
            x->sent[at] = sent;
            if (x->entry)
                x->entry[at] = from ? from[e] : e;
        }
    }
}

static void gather(const push *x)
{
    const int64_t count = x->senders->count;
    int64_t at = 0;
    for (int which = 0; which < 2 && x->by->rows[which]; which++) {
        enum { PARTS = 64 };
        int64_t start[PARTS + 1];
        const int threads = ftb_min(x->w->nthreads, ftb_threads_for(x->w->ctx, x->edges));
        const int parts = threads == 1 ? 1 : PARTS;
        start[0] = at;
        for (int p = 0; p < parts; p++)
            start[p + 1] =
                start[p] + count_part(x->by, x->senders, which, count * p / parts, count * (p + 1) / parts);
        at = start[parts];
        if (threads == 1) {
            gather_part(x, which, 0, count, start[0]);
            continue;
        }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int p = 0; p < parts; p++)
            gather_part(x, which, count * p / parts, count * (p + 1) / parts, start[p]);
    }
}

/* ---- who receives */

static int64_t receiver_at(const push *x, int64_t q) { return (int64_t)(x->words[q] >> x->bits); }

static void count_receivers(push *x)
{
    x->receivers = x->edges > 0;
    for (int64_t q = 1; q < x->edges; q++)
        x->receivers += receiver_at(x, q) != receiver_at(x, q - 1);
}

static void list_receivers(const push *x)
{
    int64_t g = 0;
    for (int64_t q = 0; q < x->edges; q++)
        if (q == 0 || receiver_at(x, q) != receiver_at(x, q - 1)) {
            x->receiver[g] = receiver_at(x, q);
            x->first[g++] = q;
        }
    for (g = 0; g < x->receivers; g++)
        x->last[g] = g + 1 < x->receivers ? x->first[g + 1] : x->edges;
}

/* ---- messages */

static void reduce_part(const push *x, ftb_vertex_worker *k, int64_t first, int64_t last)
{
    const size_t row = (size_t)x->w->width * FtB_Type_size(x->w->reduced);
    const uint64_t places = (UINT64_C(1) << x->bits) - 1;
    for (int64_t g = first; g < last; g++) {
        char *to = x->received + (size_t)g * row;
        for (int64_t q = x->first[g]; q < x->last[g]; q++) {
            const uint64_t at = x->words[q] & places;
            ftb_vertex_put(x->w, k, to, q == x->first[g], x->receiver[g], x->sent[at],
                           x->entry ? x->entry[at] : 0);
        }
    }
    ftb_vertex_flush(x->w, k);
}

static GrB_Info reduce_all(const push *x)
{
    const ftb_vertex_work *w = x->w;
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, x->edges * w->width));
    for (int t = 0; t < threads; t++)
        ftb_vertex_ready(w, &w->workers[t], FTB_VERTEX_COMBINE, x->mail);
    if (threads == 1) {
        reduce_part(x, w->workers, 0, x->receivers);
        return GrB_SUCCESS;
    }
    const int64_t parts = 16 * (int64_t)threads, each = x->edges / parts + 1;
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t p = 0; p < parts; p++)
        if (!ftb_stops(w->ctx, &stopped))
            reduce_part(x, &w->workers[omp_get_thread_num()],
                        ftb_first_not_below(x->first, x->receivers, p * each),
                        ftb_first_not_below(x->first, x->receivers, (p + 1) * each));
    return ftb_check_stopped(w->ctx, &stopped);
}

GrB_Info ftb_vertex_push(const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                         const ftb_vertex_list *senders, int64_t edges, ftb_vertex_mail *mail)
{
    push x = {.w = w,
              .by = by_sender,
              .senders = senders,
              .mail = mail,
              .bits = ftb_vertex_bits_of(edges),
              .edges = edges};
    ftb_vertex_room *rooms = mail->rooms;
    x.words = ftb_vertex_need(w->ctx, &rooms[WORDS], edges, sizeof *x.words);
    uint64_t *scratch = ftb_vertex_need(w->ctx, &rooms[SCRATCH], edges, sizeof *scratch);
    x.sent = ftb_vertex_need(w->ctx, &rooms[SENT], edges, sizeof *x.sent);
    x.entry = w->edges ? ftb_vertex_need(w->ctx, &rooms[ENTRY], edges, sizeof *x.entry) : NULL;
    if (!x.words || !scratch || !x.sent || (w->edges && !x.entry))
        return ftb_nomem();
    gather(&x);
    x.words = ftb_sort_by(x.words, scratch, edges, x.bits, x.bits + ftb_vertex_bits_of(w->n),
                          ftb_min(w->nthreads, ftb_threads_for(w->ctx, edges)));
    count_receivers(&x);
    x.receiver = ftb_vertex_need(w->ctx, &rooms[RECEIVERS], x.receivers, sizeof *x.receiver);
    x.first = ftb_vertex_need(w->ctx, &rooms[FIRST], 2 * x.receivers, sizeof *x.first);
    x.last = x.first + x.receivers;
    x.received =
        ftb_vertex_need(w->ctx, &rooms[RECEIVED], x.receivers, (size_t)w->width * FtB_Type_size(w->reduced));
    if (!x.receiver || !x.first || !x.received)
        return ftb_nomem();
    list_receivers(&x);
    x.receivers = ftb_vertex_keep_open(w, x.receiver, x.first, x.last, x.receivers);
    mail->receivers = (ftb_vertex_list){x.receiver, x.receivers};
    mail->received = x.received;
    mail->ldr = w->width;
    mail->received_by_vertex = false;
    return reduce_all(&x);
}
