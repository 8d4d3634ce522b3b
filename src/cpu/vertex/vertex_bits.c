/* Searches from up to 64 sources as bits (vertex_bits.h): a vertex's word of columns that it is reached in is
 * that of its neighbours' words together, less those that it had. Pulled, it looks no further once it has all
 * columns that are under way; pushed, receivers are listed when their first column comes, or, of many edges,
 * when all have come: a word is written for an edge then, and no other is looked at.
 *
 * Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2015. */
#include "cpu/vertex/vertex_bits.h"

#include "core/search.h"
#include "cpu/kernels/column_bits.h"
#include "cpu/vertex/vertex_parts.h"

#include <omp.h>

#define INLINE static inline __attribute__((always_inline))

#define MANY 4 /* a push of more edges than a share of the vertices */

/* The mail's rooms. */
enum { FOUND = FTB_VERTEX_BITS_FOUND, SCRATCH };

typedef struct search {
    const ftb_vertex_bits *b;
    const ftb_vertex_edges *by;
    uint64_t live; /* columns of which somebody is active */
    int64_t *found, *parents, ld;
} search;

static int64_t at(const ftb_vertex_list *v, int64_t t) { return v->list ? v->list[t] : t; }

void ftb_vertex_bits_clear(ftb_vertex_bits *b)
{
    ftb_delete(b->reached);
    ftb_delete(b->fresh);
    ftb_delete(b->found);
    ftb_delete(b->log);
    b->reached = b->fresh = b->found = NULL;
    b->log = NULL;
    b->made = false;
}

/* ---- of the state */

static int columns_of(const ftb_vertex_bits *b, const ftb_vertex_work *w)
{
    return (int)w->fields[b->level].ncols;
}

static const char *row_of(const ftb_vertex_field *f, const void *x, int64_t v)
{
    return (const char *)x + (size_t)(v * f->ld) * FtB_Type_size(f->type);
}

/* Words of vertices first .. last - 1; whether no level is above those so far. Who never receives is never
 * active but in the beginning: its levels are not looked at. */
static bool read_rows(const ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_edges *by,
                      int64_t round, int64_t first, int64_t last)
{
    const ftb_vertex_field *f = &w->fields[b->level];
    const void *levels = w->states[f->state];
    const int64_t *p = by && !by->rows[1] ? by->rows[0]->rowptr : NULL;
    bool fits = true;
    for (int64_t v = first; v < last; v++) {
        uint64_t equal;
        b->reached[v] = 0;
        if (!p || p[v] < p[v + 1])
            fits = FTB_PICK(ftb_bits_read)(row_of(f, levels, v), f->type, columns_of(b, w), round - 1, &equal,
                                           &b->reached[v]) &&
                   fits;
    }
    return fits;
}

GrB_Info ftb_vertex_bits_make(bool *fits, ftb_vertex_bits *b, const ftb_vertex_work *w,
                              const ftb_vertex_edges *by_receiver, const ftb_vertex_list *senders,
                              int64_t round)
{
    enum { ROWS = 1024 };
    const ftb_vertex_field *f = &w->fields[b->level];
    const void *levels = w->states[f->state];
    const int k = columns_of(b, w), threads = ftb_min(w->nthreads, ftb_threads_for_values(w->ctx, w->n * k));
    bool all = true;
    ftb_vertex_bits_clear(b);
    b->reached = ftb_new(w->ctx, w->n, sizeof *b->reached);
    b->fresh = ftb_new0(w->ctx, w->n, sizeof *b->fresh);
    b->found = ftb_new0(w->ctx, w->n, sizeof *b->found);
    if (!b->reached || !b->fresh || !b->found) {
        ftb_vertex_bits_clear(b);
        return ftb_nomem();
    }
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : all) if (threads > 1)
    for (int64_t v = 0; v < w->n; v += ROWS)
        all = read_rows(b, w, by_receiver, round, v, ftb_min(v + ROWS, w->n)) && all;
    for (int64_t t = 0; t < senders->count; t++) {
        const int64_t v = at(senders, t);
        uint64_t reached;
        all = FTB_PICK(ftb_bits_read)(row_of(f, levels, v), f->type, k, round - 1, &b->fresh[v], &reached) &&
              all;
    }
    *fits = all;
    b->made = true;
    return GrB_SUCCESS;
}

/* ---- from the receivers */

/* What of `need` the neighbours of row i have. */
INLINE uint64_t look(const search *x, const ftb_pattern *p, int64_t i, uint64_t need, bool parents)
{
    enum { AT_ONCE = 8 };
    const uint64_t *fresh = x->b->fresh;
    const int32_t *col = p->colidx;
    int64_t e = p->rowptr[i];
    const int64_t end = p->rowptr[i + 1];
    uint64_t got = 0;
    if (parents || p->wide)
        for (; e < end && need & ~got; e++) {
            const int64_t v = ftb_col(p, e);
            for (uint64_t now = fresh[v] & need & ~got; parents && now; now &= now - 1)
                x->parents[i * x->ld + __builtin_ctzll(now)] = v;
            got |= fresh[v];
        }
    for (; e + AT_ONCE <= end && need & ~got; e += AT_ONCE)
        for (int s = 0; s < AT_ONCE; s++)
            got |= fresh[col[e + s]];
    for (; e < end && need & ~got; e++)
        got |= fresh[col[e]];
    return got & need;
}

INLINE int64_t pull_rows(const search *x, int64_t begin, int64_t end, bool parents)
{
    int64_t count = begin;
    for (int64_t i = begin; i < end; i++) {
        const uint64_t need = x->live & ~x->b->reached[i];
        if (!need)
            continue;
        uint64_t got = look(x, x->by->rows[0], i, need, parents);
        if (x->by->rows[1] && got != need)
            got |= look(x, x->by->rows[1], i, need & ~got, parents);
        if (!got)
            continue;
        x->b->found[i] = got;
        x->found[count++] = i;
    }
    return count - begin;
}

static int64_t pull_levels(const void *x, int64_t begin, int64_t end)
{
    return pull_rows(x, begin, end, false);
}
static int64_t pull_parents(const void *x, int64_t begin, int64_t end)
{
    return pull_rows(x, begin, end, true);
}

static search search_of(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_edges *by,
                        const ftb_vertex_list *senders)
{
    search x = {.b = b, .by = by};
    if (b->parent >= 0 && !b->log) {
        x.parents = w->states[w->fields[b->parent].state];
        x.ld = w->fields[b->parent].ld;
    }
    for (int64_t t = 0; t < senders->count && x.live != b->all; t++)
        x.live |= b->fresh[at(senders, t)];
    return x;
}

GrB_Info ftb_vertex_bits_pull(ftb_vertex_bits *b, const ftb_vertex_work *w,
                              const ftb_vertex_edges *by_receiver, const ftb_vertex_list *senders,
                              ftb_vertex_mail *mail)
{
    search x = search_of(b, w, by_receiver, senders);
    x.found = ftb_vertex_need(w->ctx, &mail->rooms[FOUND], w->n, sizeof *x.found);
    if (!x.found)
        return ftb_nomem();
    int64_t count;
    GrB_Info info = ftb_vertex_by_parts(&(ftb_vertex_parts){.w = w,
                                                            .by = by_receiver,
                                                            .rows = x.parents ? pull_parents : pull_levels,
                                                            .arg = &x,
                                                            .lists = {x.found},
                                                            .whole = true},
                                        &count);
    mail->receivers = (ftb_vertex_list){x.found, count};
    return info;
}

/* ---- from the senders */

static int64_t push_rows(const search *x, int which, const ftb_vertex_list *senders, int64_t count)
{
    const ftb_pattern *p = x->by->rows[which];
    const ftb_vertex_bits *b = x->b;
    for (int64_t t = 0; t < senders->count; t++) {
        const int64_t v = at(senders, t);
        for (int64_t e = p->rowptr[v]; e < p->rowptr[v + 1]; e++) {
            const int64_t to = ftb_col(p, e);
            const uint64_t had = b->found[to], got = b->fresh[v] & ~b->reached[to] & ~had;
            if (!got)
                continue;
            for (uint64_t now = got; x->parents && now; now &= now - 1)
                x->parents[to * x->ld + __builtin_ctzll(now)] = v;
            b->found[to] = had | got;
            x->found[count] = to;
            count += had == 0;
        }
    }
    return count;
}

/* To receivers first .. last - 1, whatever has reached them. */
static void send_all(const search *x, const ftb_vertex_list *senders, int64_t first, int64_t last)
{
    uint64_t *found = x->b->found;
    for (int which = 0; which < 2 && x->by->rows[which]; which++) {
        const ftb_pattern *p = x->by->rows[which];
        for (int64_t t = 0; t < senders->count; t++) {
            const int64_t v = at(senders, t), begin = p->rowptr[v], end = p->rowptr[v + 1];
            const uint64_t word = x->b->fresh[v];
            for (int64_t e = first > 0 ? ftb_first_entry(p, begin, end, first) : begin; e < end; e++) {
                const int64_t to = ftb_col(p, e);
                if (to >= last)
                    break;
                found[to] |= word;
            }
        }
    }
}

/* Who is reached of those that something was sent to. */
static int64_t take_rows(const void *arg, int64_t begin, int64_t end)
{
    const search *x = arg;
    int64_t count = begin;
    for (int64_t i = begin; i < end; i++) {
        x->b->found[i] &= ~x->b->reached[i];
        x->found[count] = i;
        count += x->b->found[i] != 0;
    }
    return count - begin;
}

/* Of as many edges as there are vertices, about: one word of a receiver, and all receivers in order. */
static GrB_Info push_many(search *x, const ftb_vertex_work *w, const ftb_vertex_list *senders, int64_t edges,
                          ftb_vertex_mail *mail)
{
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, edges));
    int64_t count;
    x->found = ftb_vertex_need(w->ctx, &mail->rooms[FOUND], w->n, sizeof *x->found);
    if (!x->found)
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++)
        send_all(x, senders, w->n * t / threads, w->n * (t + 1) / threads);
    GrB_Info info = ftb_vertex_by_parts(
        &(ftb_vertex_parts){
            .w = w, .by = x->by, .rows = take_rows, .arg = x, .lists = {x->found}, .whole = true},
        &count);
    mail->receivers = (ftb_vertex_list){x->found, count};
    return info;
}

GrB_Info ftb_vertex_bits_push(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                              const ftb_vertex_list *senders, int64_t edges, ftb_vertex_mail *mail)
{
    search x = search_of(b, w, by_sender, senders);
    if (!x.parents && edges >= w->n / MANY)
        return push_many(&x, w, senders, edges, mail);
    const int64_t most = ftb_min(edges, w->n) + 1; /* a place that is written before it is known to be one */
    x.found = ftb_vertex_need(w->ctx, &mail->rooms[FOUND], most, sizeof *x.found);
    uint64_t *scratch = ftb_vertex_need(w->ctx, &mail->rooms[SCRATCH], most, sizeof *scratch);
    if (!x.found || !scratch)
        return ftb_nomem();
    int64_t count = 0;
    for (int which = 0; which < 2 && by_sender->rows[which]; which++)
        count = push_rows(&x, which, senders, count);
    const uint64_t *sorted = ftb_sort_by((uint64_t *)x.found, scratch, count, 0, ftb_vertex_bits_of(w->n),
                                         ftb_min(w->nthreads, ftb_threads_for(w->ctx, count)));
    if (sorted == scratch) {
        const ftb_vertex_room swap = mail->rooms[FOUND];
        mail->rooms[FOUND] = mail->rooms[SCRATCH];
        mail->rooms[SCRATCH] = swap;
    }
    mail->receivers = (ftb_vertex_list){(const int64_t *)sorted, count};
    return GrB_SUCCESS;
}

/* ---- what becomes of it */

/* What columns of a vertex get as their level. */
typedef struct level {
    char *at;
    size_t row;
    int size;
    _Alignas(8) char value[8];
    void (*write)(void *x, int size, uint64_t bits, const void *value);
} level;

static level level_of(const ftb_vertex_bits *b, const ftb_vertex_work *w, int64_t round)
{
    const ftb_vertex_field *f = &w->fields[b->level];
    const int size = (int)FtB_Type_size(f->type);
    level to = {.at = w->states[f->state],
                .row = (size_t)f->ld * (size_t)size,
                .size = size,
                .write = FTB_PICK(ftb_bits_write)};
    ftb_cast(to.value, f->type, &round, FTB_INT64, 1);
    return to;
}

static inline void note(ftb_bits_number *n, int64_t number, uint64_t columns)
{
    for (int d = 0; d < FTB_BITS_DIGITS; d++)
        if (number >> d & 1)
            n->digit[d] |= columns;
}

void ftb_vertex_bits_apply(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_list *senders,
                           int64_t round, const ftb_vertex_list *found)
{
    const level to = level_of(b, w, round);
    const int64_t number = 2 + b->logged;
    const int threads = ftb_min(w->nthreads, ftb_threads_for_values(w->ctx, found->count * columns_of(b, w)));
    for (int64_t t = 0; t < senders->count; t++)
        b->fresh[at(senders, t)] = 0;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t t = 0; t < found->count; t++) {
        const int64_t v = found->list[t];
        if (b->log)
            note(&b->log[v], number, b->found[v]);
        else
            to.write(to.at + (size_t)v * to.row, to.size, b->found[v], to.value);
        b->reached[v] |= b->found[v];
    }
    uint64_t *was = b->fresh;
    b->fresh = b->found;
    b->found = was;
    b->logged += b->log != NULL;
}
