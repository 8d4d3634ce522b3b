/* Labels that most neighbours have. The labels of a vertex's neighbours are listed, and counted: few by
 * sorting them, more of them in a hash whose size is that of what is expected to be different, so that it
 * stays in the nearest cache; where they are more they are counted again in one eight times as large. The
 * result is that of the counts, whatever the table. */
#include "cpu/graph/communities_run.h"

#include <omp.h>

enum { FEW = 16, SMALLEST = 128, LARGER = 8, PARTS = 256 };

typedef struct cell {
    int32_t label, votes; /* votes 0: empty */
} cell;

typedef struct counter {
    int32_t *list;
    cell *table; /* twice as many as a list is long, and a power of two */
} counter;

typedef struct room {
    int64_t most;   /* neighbours of a vertex */
    uint64_t cells; /* of a table */
    int threads;
    counter counters[];
} room;

static int64_t neighbours(const ftb_communities *w, int64_t v)
{
    return w->p->rowptr[v + 1] - w->p->rowptr[v] + (w->t ? w->t->rowptr[v + 1] - w->t->rowptr[v] : 0);
}

/* ---- one vertex */

static int32_t most_of_few(int32_t *list, int64_t count)
{
    int64_t best = 0;
    int32_t label = 0;
    for (int64_t k = 1; k < count; k++) {
        const int32_t x = list[k];
        int64_t at = k;
        for (; at > 0 && list[at - 1] > x; at--)
            list[at] = list[at - 1];
        list[at] = x;
    }
    for (int64_t k = 0, run = 0; k < count; k++) {
        run = k > 0 && list[k] == list[k - 1] ? run + 1 : 1;
        if (run > best) { /* the least of those that are as many comes first */
            best = run;
            label = list[k];
        }
    }
    return label;
}

/* false: there are more than half as many labels as cells. */
static bool count_in(cell *table, uint64_t cells, const int32_t *list, int64_t count, int32_t *label)
{
    const int shift = 64 - __builtin_ctzll(cells);
    uint64_t used = 0;
    int32_t best = 0;
    memset(table, 0, cells * sizeof *table);
    for (int64_t k = 0; k < count; k++) {
        const int32_t x = list[k];
        uint64_t at = (uint64_t)(uint32_t)x * UINT64_C(0x9e3779b97f4a7c15) >> shift;
        while (table[at].votes > 0 && table[at].label != x)
            at = (at + 1) & (cells - 1);
        used += table[at].votes == 0;
        if (used > cells / 2)
            return false;
        table[at].label = x;
        const int32_t votes = ++table[at].votes;
        if (votes > best || (votes == best && x < *label)) {
            best = votes;
            *label = x;
        }
    }
    return true;
}

static int32_t label_of(const ftb_communities *w, const counter *c, uint64_t most, int64_t v)
{
    int64_t count = 0;
    int32_t label = w->labels[v];
    for (int side = 0; side < (w->t ? 2 : 1); side++) {
        const ftb_pattern *p = side ? w->t : w->p;
        const int32_t *column = p->colidx;
        for (int64_t e = p->rowptr[v]; e < p->rowptr[v + 1]; e++)
            c->list[count++] = w->labels[column[e]];
    }
    if (count == 0)
        return label;
    if (count <= FEW)
        return most_of_few(c->list, count);
    for (uint64_t cells = SMALLEST; !count_in(c->table, ftb_min(cells, most), c->list, count, &label);)
        cells *= LARGER;
    return label;
}

/* ---- all */

GrB_Info ftb_communities_new(ftb_communities *w)
{
    const int64_t n = w->p->nrows;
    const int threads = ftb_threads_for(w->ctx, n + w->p->nvals * (w->t ? 2 : 1));
    room *r = ftb_new0(w->ctx, 1, sizeof *r + (size_t)threads * sizeof *r->counters);
    w->room = r;
    if (!r)
        return ftb_nomem();
    for (int64_t v = 0; v < n; v++)
        r->most = ftb_max(r->most, neighbours(w, v));
    for (r->cells = SMALLEST; r->cells < 2 * (uint64_t)r->most;)
        r->cells *= 2;
    for (; r->threads < threads; r->threads++) {
        counter *c = &r->counters[r->threads];
        c->list = ftb_new(w->ctx, r->most, sizeof *c->list);
        c->table = ftb_new(w->ctx, (int64_t)r->cells, sizeof *c->table);
        if (!c->list || !c->table) {
            r->threads++;
            return ftb_nomem();
        }
    }
    return GrB_SUCCESS;
}

void ftb_communities_delete(ftb_communities *w)
{
    room *r = w->room;
    for (int t = 0; r && t < r->threads; t++) {
        ftb_delete(r->counters[t].list);
        ftb_delete(r->counters[t].table);
    }
    ftb_delete(r);
    w->room = NULL;
}

GrB_Info ftb_communities_run(ftb_communities *w)
{
    const room *r = w->room;
    const int64_t n = w->p->nrows;
    atomic_bool stopped = false;
    int64_t changed = 0;
#pragma omp parallel for num_threads(r->threads) schedule(dynamic, 1) reduction(+ : changed)
    for (int part = 0; part < PARTS; part++) {
        const counter *c = &r->counters[omp_get_thread_num()];
        const int64_t first = ftb_rows_cut(n, w->p->rowptr, w->t ? w->t->rowptr : NULL, part, PARTS),
                      end = ftb_rows_cut(n, w->p->rowptr, w->t ? w->t->rowptr : NULL, part + 1, PARTS);
        for (int64_t v = first; v < end && !ftb_stops(w->ctx, &stopped); v++) {
            w->next[v] = label_of(w, c, r->cells, v);
            changed += w->next[v] != w->labels[v];
        }
    }
    w->changed = changed;
    return ftb_check_stopped(w->ctx, &stopped);
}
