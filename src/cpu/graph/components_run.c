/* Connected components, by Afforest (Sutton, Ben-Nun, Barak: "Optimizing parallel graph connectivity
 * computation via subgraph sampling", IPDPS 2018).
 *
 * Every vertex hangs on one that is not above it, the tops of these trees on themselves. An entry joins two
 * trees by hanging the higher top on the lower one; so the top that is left is the least vertex of its
 * component, whoever comes first on however many threads.
 *
 * The first entry of each row, and the second of some, join most of the vertices that ever are. What is left
 * to do is outside the component that is the most frequent then: a row of it has nothing to tell about other
 * rows of it. Of a symmetric graph only the other rows are walked; of one whose transpose is there those of
 * the transpose, too. Else the columns of all entries are looked up in bits of who is in that component,
 * which takes less than a transpose would, and finds the entries that lead out of it. */
#include "cpu/graph/components_run.h"

#include "core/search.h"

#include <stdlib.h>

#define SOME 4 /* one row in so many; of all rows it took a tenth to twice as long altogether */

typedef _Atomic int32_t cell; /* written by whoever joins: read and written in no order */

typedef struct joining {
    const ftb_components_product *c;
    const ftb_pattern *p, *back; /* back: the transpose; p, if that is symmetric; NULL: not known */
    int64_t n, parts;
    int threads;
    cell *up;         /* of each vertex */
    uint32_t *most;   /* of each vertex a bit: whether it is in the component `frequent` */
    int32_t frequent; /* its top; -1: there is none that is frequent */
} joining;

static inline int32_t get(const joining *x, int32_t v)
{
    return atomic_load_explicit(&x->up[v], memory_order_relaxed);
}

static inline void set(const joining *x, int32_t v, int32_t to)
{
    atomic_store_explicit(&x->up[v], to, memory_order_relaxed);
}

/* u and v have one top from now on. */
static inline void join(const joining *x, int32_t u, int32_t v)
{
    int32_t a = get(x, u), b = get(x, v);
    while (a != b) {
        const int32_t high = ftb_max(a, b), low = ftb_min(a, b);
        int32_t above = get(x, high);
        if (above == low)
            return;
        if (above == high && atomic_compare_exchange_strong_explicit(
                                 &x->up[high], &above, low, memory_order_relaxed, memory_order_relaxed))
            return;
        a = get(x, above);
        b = get(x, low);
    }
}

/* ---- of the rows first .. last - 1 */

typedef void (*walk)(const joining *x, int64_t first, int64_t last);

/* Each hangs on the column of its first entry, if that is less. */
static void hang(const joining *x, int64_t first, int64_t last)
{
    const int32_t *colidx = x->p->colidx;
    for (int64_t v = first; v < last; v++) {
        const int64_t e = x->p->rowptr[v];
        set(x, (int32_t)v, e < x->p->rowptr[v + 1] ? ftb_min(colidx[e], (int32_t)v) : (int32_t)v);
    }
}

/* Each hangs on its top. */
static void settle(const joining *x, int64_t first, int64_t last)
{
    for (int64_t v = first; v < last; v++) {
        int32_t at = get(x, (int32_t)v), above = get(x, at);
        if (above == at)
            continue;
        for (; above != at; above = get(x, at))
            at = above;
        set(x, (int32_t)v, at);
    }
}

/* The first entry joins those, too, for which its column is greater. */
static void join_first(const joining *x, int64_t first, int64_t last)
{
    const int32_t *colidx = x->p->colidx;
    settle(x, first, last);
    for (int64_t v = first; v < last; v++) {
        const int64_t e = x->p->rowptr[v];
        if (e < x->p->rowptr[v + 1] && colidx[e] > v)
            join(x, (int32_t)v, colidx[e]);
    }
}

/* The second entry of some: trees of many vertices are met soon. */
static void join_some(const joining *x, int64_t first, int64_t last)
{
    const int32_t *colidx = x->p->colidx;
    for (int64_t v = (first + SOME - 1) / SOME * SOME; v < last; v += SOME)
        if (x->p->rowptr[v] + 1 < x->p->rowptr[v + 1])
            join(x, (int32_t)v, colidx[x->p->rowptr[v] + 1]);
}

static void join_row(const joining *x, const ftb_pattern *p, int64_t v)
{
    const int32_t *colidx = p->colidx;
    for (int64_t e = p->rowptr[v]; e < p->rowptr[v + 1]; e++)
        join(x, (int32_t)v, colidx[e]);
}

/* The rows that are not of the frequent component. */
static void join_others(const joining *x, int64_t first, int64_t last)
{
    for (int64_t v = first; v < last; v++)
        if (get(x, (int32_t)v) != x->frequent) {
            join_row(x, x->p, v);
            if (x->back && x->back != x->p)
                join_row(x, x->back, v);
        }
}

static inline uint32_t is_of_most(const uint32_t *most, int32_t v)
{
    return most[(uint32_t)v / 32] >> ((uint32_t)v % 32) & 1;
}

/* The entries of some rows whose columns are not of the frequent component: a block of entries is looked at
 * at a time, and of few of these ever their rows. */
static void join_leaving(const joining *x, int64_t first, int64_t last)
{
    enum { BLOCK = 32 };
    const int64_t *rowptr = x->p->rowptr, end = rowptr[last];
    const int32_t *colidx = x->p->colidx;
    int64_t v = first;
    for (int64_t e = rowptr[first]; e < end; e += BLOCK) {
        const int64_t stop = ftb_min(e + BLOCK, end);
        uint32_t all = 1;
        for (int64_t t = e; t < stop; t++)
            all &= is_of_most(x->most, colidx[t]);
        for (int64_t t = e; t < stop && !all; t++)
            if (!is_of_most(x->most, colidx[t])) {
                while (rowptr[v + 1] <= t)
                    v++;
                join(x, (int32_t)v, colidx[t]);
            }
    }
}

/* Bits for vertices of whole words. */
static void mark_most(const joining *x, int64_t first, int64_t last)
{
    for (int64_t word = first; word < last; word++) {
        uint32_t bits = 0;
        for (int64_t v = 32 * word; v < ftb_min(32 * word + 32, x->n); v++)
            bits |= (uint32_t)(get(x, (int32_t)v) == x->frequent) << (v % 32);
        x->most[word] = bits;
    }
}

static GrB_Info walk_rows(const joining *x, walk rows)
{
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(x->threads) schedule(dynamic, 1)
    for (int64_t part = 0; part < x->parts; part++)
        if (!ftb_stops(x->c->ctx, &stopped))
            rows(x, ftb_pattern_cut(x->p, part, x->parts), ftb_pattern_cut(x->p, part + 1, x->parts));
    return ftb_check_stopped(x->c->ctx, &stopped);
}

static void walk_words(const joining *x, walk words)
{
    const int64_t count = x->n / 32 + 1;
#pragma omp parallel for num_threads(x->threads) schedule(static)
    for (int64_t part = 0; part < x->parts; part++)
        words(x, count * part / x->parts, count * (part + 1) / x->parts);
}

/* ---- the whole */

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The top that most of some vertices have, if that is worth anything. */
static int32_t find_frequent(const joining *x)
{
    enum { SAMPLED = 1024, FEW = SAMPLED / 8 };
    int32_t top[SAMPLED], best = -1;
    int64_t best_count = FEW - 1;
    for (int64_t s = 0; s < SAMPLED; s++) /* far from each other, by the golden ratio */
        top[s] = get(x, (int32_t)(((uint64_t)s * UINT64_C(0x9E3779B97F4A7C15) >> 32) * (uint64_t)x->n >> 32));
    qsort(top, SAMPLED, sizeof *top, by_number);
    for (int64_t s = 0, from = 0; s < SAMPLED; s++) {
        from = s > 0 && top[s] != top[s - 1] ? s : from;
        if (s - from + 1 > best_count) {
            best_count = s - from + 1;
            best = top[s];
        }
    }
    return best;
}

static GrB_Info find_tops(joining *x)
{
    GrB_Info info;
    FTB_CHECK(walk_rows(x, hang));
    FTB_CHECK(walk_rows(x, join_first));
    FTB_CHECK(walk_rows(x, join_some));
    FTB_CHECK(walk_rows(x, settle));
    x->frequent = find_frequent(x);
    if (!x->back && x->frequent >= 0) {
        walk_words(x, mark_most);
        FTB_CHECK(walk_rows(x, join_leaving));
    }
    FTB_CHECK(walk_rows(x, join_others));
    info = walk_rows(x, settle);
done:
    return info;
}

/* ---- labels */

static inline int64_t label_at(const ftb_components_product *c, int64_t v)
{
    return c->type == FTB_INT32 ? ((const int32_t *)c->labels)[v * c->ld]
                                : ((const int64_t *)c->labels)[v * c->ld];
}

static inline void put_label(const ftb_components_product *c, int64_t v, int64_t label)
{
    if (c->type == FTB_INT32)
        ((int32_t *)c->labels)[v * c->ld] = (int32_t)label;
    else
        ((int64_t *)c->labels)[v * c->ld] = label;
}

/* Nobody has a lesser label than its top, as where labels are the vertices' numbers. */
static bool tops_are_least(const joining *x)
{
    bool least = true;
#pragma omp parallel for num_threads(x->threads) schedule(static) reduction(&& : least)
    for (int64_t v = 0; v < x->n; v++)
        least = least && label_at(x->c, v) >= label_at(x->c, get(x, (int32_t)v));
    return least;
}

static void put_labels(const joining *x)
{
    const ftb_components_product *c = x->c;
    if (!tops_are_least(x))
        for (int64_t v = 0; v < x->n; v++) {
            const int32_t top = get(x, (int32_t)v);
            if (label_at(c, v) < label_at(c, top))
                put_label(c, top, label_at(c, v));
        }
#pragma omp parallel for num_threads(x->threads) schedule(static)
    for (int64_t v = 0; v < x->n; v++)
        if (get(x, (int32_t)v) != v)
            put_label(c, v, label_at(c, get(x, (int32_t)v)));
}

GrB_Info ftb_components_run(const ftb_components_product *c)
{
    const int64_t n = c->p->nrows;
    joining x = {.c = c, .p = c->p, .n = n};
    ftb_pattern *back = NULL;
    GrB_Info info =
        ftb_pattern_transposed(c->p, false) ? ftb_pattern_transpose(c->p, &back, NULL) : GrB_SUCCESS;
    if (n == 0 || info != GrB_SUCCESS)
        return info;
    x.back = back;
    x.threads = ftb_threads_for(c->ctx, c->p->nvals + n);
    x.parts = 32 * (int64_t)x.threads;
    x.up = ftb_new(c->ctx, n, sizeof *x.up);
    x.most = x.back ? NULL : ftb_new(c->ctx, n / 32 + 1, sizeof *x.most);
    info = x.up && (x.most || x.back) ? find_tops(&x) : ftb_nomem();
    if (info == GrB_SUCCESS)
        put_labels(&x);
    ftb_delete(x.up);
    ftb_delete(x.most);
    return info;
}
