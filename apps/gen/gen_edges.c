/* Graphs of randomly drawn edges. Edge t is a function of (seed, t), so it is drawn once to count degrees and
 * again to be stored: no edge list is held. The order in which threads store a row's edges does not show,
 * because rows are sorted and equal edges merged afterwards. */
#include "gen/gen.h"
#include "gen/gen_random.h"

#include <stdlib.h>
#include <string.h>

typedef struct edge_maker {
    const gen_edges *edges;
    gen_edge_function edge;
    const void *model;
    const int32_t *name; /* NULL: as drawn */
    uint64_t seed;
} edge_maker;

/* The directed edges that number t stands for: none, one, or both ways round. */
static int directed(const edge_maker *m, int64_t t, int64_t from[2], int64_t to[2])
{
    int64_t i, j;
    m->edge(m->model, m->seed, t, &i, &j);
    if (i == j && !m->edges->loops)
        return 0;
    if (m->name) {
        i = m->name[i];
        j = m->name[j];
    }
    from[0] = to[1] = i;
    to[0] = from[1] = j;
    return m->edges->symmetric && i != j ? 2 : 1;
}

/* Edges drawn together: their places in memory are far apart, so that reads overlap. */
enum { BATCH = 64 };

/* Without `drawn` counts the edges of row i in rowptr[i + 1]; else stores each at rowptr[i + 1]++. */
static void draw_batch(const edge_maker *m, int64_t first, int64_t count, int64_t *rowptr,
                       const gen_graph *drawn)
{
    const float *weight = m->edges->weight;
    int64_t from[2 * BATCH], to[2 * BATCH], at[2 * BATCH], number[2 * BATCH], n = 0;
    for (int64_t t = first; t < first + count; t++) {
        const int ways = directed(m, t, from + n, to + n);
        for (int way = 0; way < ways; way++) {
            number[n] = t;
            __builtin_prefetch(&rowptr[from[n++] + 1], 1);
        }
    }
    for (int64_t e = 0; e < n; e++)
#pragma omp atomic capture
        at[e] = rowptr[from[e] + 1]++;
    for (int64_t e = 0; drawn && e < n; e++)
        drawn->colidx[at[e]] = (int32_t)to[e];
    for (int64_t e = 0; drawn && weight && e < n; e++)
        drawn->values[at[e]] = weight[number[e]];
}

static void draw_edges(const edge_maker *m, int64_t *rowptr, const gen_graph *drawn)
{
    const int64_t count = m->edges->count;
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < count; first += BATCH)
        draw_batch(m, first, count - first < BATCH ? count - first : BATCH, rowptr, drawn);
}

static void exchange(int32_t *x, float *y, int64_t a, int64_t b)
{
    const int32_t column = x[a];
    x[a] = x[b];
    x[b] = column;
    if (y) {
        const float value = y[a];
        y[a] = y[b];
        y[b] = value;
    }
}

static int32_t middle(int32_t a, int32_t b, int32_t c)
{
    if (a > b)
        return c > a ? a : c > b ? c : b;
    return c > b ? b : c > a ? c : a;
}

/* Quicksort: three times as fast as qsort, which calls a function to compare. Columns are random, so that the
 * recursion, into the smaller half only, stays shallow. y: values that go with them; NULL: none. */
static void sort_columns(int32_t *x, float *y, int64_t n)
{
    while (n > 24) {
        const int32_t pivot = middle(x[0], x[n / 2], x[n - 1]);
        int64_t low = 0, high = n - 1;
        while (low <= high) {
            while (x[low] < pivot)
                low++;
            while (x[high] > pivot)
                high--;
            if (low <= high)
                exchange(x, y, low++, high--);
        }
        if (high + 1 < n - low) {
            sort_columns(x, y, high + 1);
            x += low;
            y = y ? y + low : NULL;
            n -= low;
        } else {
            sort_columns(x + low, y ? y + low : NULL, n - low);
            n = high + 1;
        }
    }
    for (int64_t e = 1; e < n; e++) {
        const int32_t column = x[e];
        const float value = y ? y[e] : 0;
        int64_t at = e;
        for (; at > 0 && x[at - 1] > column; at--) {
            x[at] = x[at - 1];
            if (y)
                y[at] = y[at - 1];
        }
        x[at] = column;
        if (y)
            y[at] = value;
    }
}

/* Sorts a row and merges equal columns; returns what is left. Their values are how many there were, or the
 * least of their weights. */
static int64_t merge_row(int32_t *columns, float *values, int64_t n, bool counts)
{
    int64_t kept = 0;
    sort_columns(columns, counts ? NULL : values, n);
    for (int64_t e = 0, next; e < n; e = next) {
        float least = values && !counts ? values[e] : 0;
        for (next = e + 1; next < n && columns[next] == columns[e]; next++)
            least = values && !counts && values[next] < least ? values[next] : least;
        columns[kept] = columns[e];
        if (values)
            values[kept] = counts ? (float)(next - e) : least;
        kept++;
    }
    return kept;
}

/* Makes *g from the edges drawn, row i's at [start[i], start[i + 1]). */
static GrB_Info compact(gen_graph *g, int64_t n, const int64_t *start, const gen_graph *drawn,
                        gen_values values)
{
    gen_graph made = {0};
    const bool valued = drawn->values != NULL;
    int64_t *kept = calloc((size_t)n + 1, sizeof *kept), nvals = 0;
    if (!kept)
        return gen_nomem();
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : nvals)
    for (int64_t i = 0; i < n; i++) {
        kept[i] = merge_row(drawn->colidx + start[i], valued ? drawn->values + start[i] : NULL,
                            start[i + 1] - start[i], values == GEN_COUNTS);
        nvals += kept[i];
    }
    GrB_Info info = gen_alloc(&made, n, n, nvals, values);
    if (!info) {
        made.nvals = nvals;
        for (int64_t i = 0; i < n; i++)
            made.rowptr[i + 1] = made.rowptr[i] + kept[i];
#pragma omp parallel for schedule(dynamic, 64)
        for (int64_t i = 0; i < n; i++) {
            memcpy(made.colidx + made.rowptr[i], drawn->colidx + start[i],
                   (size_t)kept[i] * sizeof *made.colidx);
            if (valued)
                memcpy(made.values + made.rowptr[i], drawn->values + start[i],
                       (size_t)kept[i] * sizeof *made.values);
        }
        *g = made;
    }
    free(kept);
    return info;
}

GrB_Info gen_check_edges(int64_t n, const gen_edges *edges)
{
    if (n < 1 || n >= INT32_MAX)
        return gen_fail("%lld vertices; expected 1 to 2147483646", (long long)n);
    if (edges->count < 0 || edges->count > INT64_C(1) << 40)
        return gen_fail("%lld edges; expected 0 to 2^40", (long long)edges->count);
    return GrB_SUCCESS;
}

GrB_Info gen_from_edges(gen_graph *g, int64_t n, const gen_edges *edges, gen_edge_function edge,
                        const void *model, uint64_t seed)
{
    edge_maker maker = {.edges = edges, .edge = edge, .model = model, .seed = seed};
    gen_graph drawn = {0};
    int32_t *name = NULL;
    int64_t *rowptr = NULL;
    GrB_Info info = gen_check_edges(n, edges);
    if (!info && edges->permute)
        info = gen_permutation(&name, n, seed, GEN_STREAM_PERMUTE);
    if (info)
        return info;
    maker.name = name;
    /* One place more than rows: counts land one to the right, so that after the sums rowptr + 1 holds the
     * starts, and after storing rowptr holds them. */
    rowptr = calloc((size_t)n + 2, sizeof *rowptr);
    info = rowptr ? GrB_SUCCESS : gen_nomem();
    if (!info) {
        draw_edges(&maker, rowptr + 1, NULL);
        for (int64_t i = 0; i <= n; i++)
            rowptr[i + 1] += rowptr[i];
        const bool merged = edges->values == GEN_COUNTS || edges->values == GEN_WEIGHTS;
        info = gen_alloc(&drawn, 0, n, rowptr[n + 1], merged ? edges->values : GEN_PATTERN);
    }
    if (!info) {
        draw_edges(&maker, rowptr, &drawn);
        info = compact(g, n, rowptr, &drawn, edges->values);
    }
    if (!info)
        gen_fill_values(g, edges->values, edges->symmetric, seed);
    gen_free(&drawn);
    free(rowptr);
    free(name);
    return info;
}
