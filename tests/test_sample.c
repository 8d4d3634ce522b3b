/* FtB_sample: hops against a slow picker, numbers of vertices against what they must be; the same bits for
 * all threads and orders of seeds; work that follows the picks; what is refused. */
#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_sample.h"
#include "sample/sample_object.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>

/* A square graph, with A's own arrays. */
typedef struct graph {
    FtB_Matrix A;
    int64_t n;
    const int64_t *rowptr;
    const int32_t *column;
    const double *weight;
} graph;

static graph make_graph(rng *r, int64_t n, int64_t degree)
{
    graph g = {.n = n};
    const int64_t nvals = n * degree;
    int64_t *I = malloc(sizeof *I * (size_t)(nvals + 1)), *J = malloc(sizeof *J * (size_t)(nvals + 1));
    double *X = malloc(sizeof *X * (size_t)(nvals + 1));
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, n)); /* rows of small numbers are long, many others empty */
        J[e] = rng_below(r, n);
        X[e] = 0.1 + rng_unit(r);
    }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP64, n, n, 1, nvals, I, J, X, FTB_DUP_FIRST, NULL));
    const void *column, *weight;
    assert_ok(FtB_Matrix_csr(g.A, &g.rowptr, &column, &weight));
    g.column = column;
    g.weight = weight;
    free(I);
    free(J);
    free(X);
    return g;
}

/* ---- one layer */

typedef struct layer {
    int64_t nrows, ncols;
    const int64_t *rowptr, *edges;
    const int32_t *column;
    const double *value;
} layer;

static layer layer_of(FtB_Sample s, int h)
{
    layer l;
    const void *column, *value;
    assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, h), &l.nrows, &l.ncols, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, h), &l.rowptr, &column, &value));
    l.column = column;
    l.value = value;
    l.edges = FtB_Sample_edges(s, h).at;
    return l;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t diagonal(const graph *g, int64_t i)
{
    for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
        if (g->column[e] == i)
            return e;
    return -1;
}

/* Row r of a layer: its entries are those that a slow picker takes, and its own where that is asked for. */
static void check_row(const graph *g, FtB_Sample s, const layer *l, int64_t r, ref_row row,
                      const FtB_Sample_options *o)
{
    const int64_t *vertices = FtB_Sample_vertices(s).at, i = vertices[r], begin = g->rowptr[i];
    const int64_t count = l->rowptr[r + 1] - l->rowptr[r];
    const int32_t *trees = FtB_Sample_trees(s);
    int64_t *place, *edges = malloc(sizeof *edges * (size_t)(count + 1)), *column;
    row.vertex = (uint64_t)i;
    row.degree = g->rowptr[i + 1] - begin;
    row.weight = g->weight + begin;
    column = malloc(sizeof *column * (size_t)(row.degree + 1));
    for (int64_t t = 0; t < row.degree; t++)
        column[t] = g->column[begin + t];
    row.column = column;
    if (trees)
        row.seed = ref_mix(row.seed, (uint64_t)vertices[trees[r]], UINT64_C(0xff000002) << 32);
    int64_t picked = ref_pick(&place, &row), own = 0;
    for (int64_t t = 0; t < picked; t++)
        own += !o->apart && g->column[begin + place[t]] == i;
    assert_int_equal(count, picked + (o->self && own == 0));
    bool seen = false; /* the entry of its own */
    int64_t others = 0;
    for (int64_t t = 0; t < count; t++) {
        const int64_t e = l->rowptr[r] + t, edge = l->edges[e], c = l->column[e];
        assert_true(t == 0 || c >= l->column[e - 1]);
        assert_true(c >= 0 && c < l->ncols);
        if (o->self && own == 0 && c == r && !seen) {
            seen = true;
            assert_int_equal(edge, diagonal(g, i));
            assert_true(o->structural || l->value[e] == (edge < 0 ? 1 : g->weight[edge]));
            continue;
        }
        assert_int_equal(vertices[c], g->column[edge]);
        assert_true(!trees || trees[c] == trees[r]);
        assert_true(o->structural ? !l->value : l->value[e] == g->weight[edge]);
        edges[others++] = edge;
    }
    qsort(edges, (size_t)others, sizeof *edges, by_number);
    assert_int_equal(others, picked);
    for (int64_t t = 0; t < picked; t++)
        assert_int_equal(edges[t], begin + place[t]);
    free(edges);
    free(place);
    free(column);
}

/* New vertices are ascending, were not there before, and somebody picked them. */
static void check_new(FtB_Sample s, const layer *l, int64_t from, const FtB_Sample_options *o)
{
    const int64_t *v = FtB_Sample_vertices(s).at;
    const int32_t *trees = FtB_Sample_trees(s);
    bool *picked = calloc((size_t)l->ncols + 1, 1);
    for (int64_t e = 0; e < l->rowptr[l->nrows]; e++)
        picked[l->column[e]] = true;
    for (int64_t c = from; c < l->ncols; c++) {
        assert_true(picked[c]);
        if (o->apart)
            continue;
        if (c > from)
            assert_true(trees && trees[c] != trees[c - 1] ? trees[c] > trees[c - 1] : v[c] > v[c - 1]);
        for (int64_t b = 0; b < from; b++)
            assert_true(v[b] != v[c] || (trees && trees[b] != trees[c]));
    }
    /* Of a seed that comes again the first counts. */
    for (int64_t e = 0; e < l->rowptr[l->nrows] && !trees && !o->apart && !o->self; e++)
        for (int64_t b = 0; b < l->column[e]; b++)
            assert_true(v[b] != v[l->column[e]]);
    free(picked);
}

static void check_sample(const graph *g, FtB_Sample s, const int64_t *seeds, int64_t nseeds,
                         const int64_t *fanouts, int nhops, const FtB_Sample_options *o)
{
    const FtB_Ids v = FtB_Sample_vertices(s), found = FtB_Sample_vertex_counts(s),
                  picked = FtB_Sample_edge_counts(s);
    int64_t known = nseeds, before = 0;
    assert_int_equal(found.count, nhops + 1);
    assert_int_equal(picked.count, nhops);
    assert_int_equal(found.at[0], nseeds);
    for (int64_t t = 0; t < nseeds; t++)
        assert_int_equal(v.at[t], seeds[t]);
    for (int h = 0; h < nhops; h++) {
        const layer l = layer_of(s, h);
        const int64_t first = o->once ? before : 0;
        ref_row row = {.selector = o->selector ? o->selector : FTB_SAMPLE_UNIFORM,
                       .replace = o->replace,
                       .k = fanouts[h],
                       .threshold = o->threshold,
                       .seed = o->seed,
                       .batch = (uint64_t)o->batch,
                       .hop = (uint64_t)h};
        assert_int_equal(l.nrows, known);
        assert_int_equal(l.ncols, known + found.at[h + 1]);
        for (int64_t r = first; r < known; r++)
            check_row(g, s, &l, r, row, o);
        assert_int_equal(picked.at[h], l.rowptr[known] - l.rowptr[first]);
        if (o->once && h > 0) {
            const layer was = layer_of(s, h - 1);
            assert_memory_equal(l.rowptr, was.rowptr, sizeof *l.rowptr * (size_t)(before + 1));
            assert_memory_equal(l.column, was.column, sizeof *l.column * (size_t)was.rowptr[before]);
            assert_memory_equal(l.edges, was.edges, sizeof *l.edges * (size_t)was.rowptr[before]);
        }
        check_new(s, &l, known, o);
        before = known;
        known = l.ncols;
    }
    assert_int_equal(v.count, known);
    assert_null(FtB_Sample_layer(s, nhops));
    assert_null(FtB_Sample_layer(s, -1));
}

static void random_case(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 2, 3, 5, 10, 70, -1};
    const FtB_Selector selector = (FtB_Selector)(number % 5 == 0 ? 1 + rng_below(r, 6) : 0);
    const bool weights = selector > FTB_SAMPLE_UNIFORM && selector != FTB_SAMPLE_LABOR;
    const bool open = selector == FTB_SAMPLE_THRESHOLD || selector == FTB_SAMPLE_BERNOULLI;
    graph g = make_graph(r, 1 + rng_below(r, 150), rng_below(r, 8));
    int64_t seeds[30], fanouts[3];
    const int64_t nseeds = rng_below(r, 30);
    const int nhops = (int)rng_below(r, 4);
    FtB_Sample_options o = {.size = sizeof o,
                            .selector = selector,
                            .key = weights ? "x" : NULL,
                            .threshold = selector == FTB_SAMPLE_THRESHOLD ? 0.7 : 0,
                            .seed = rng_bits(r) | 1,
                            .batch = rng_below(r, 100),
                            .replace = selector <= FTB_SAMPLE_WEIGHTED && rng_below(r, 3) == 0,
                            .disjoint = rng_below(r, 3) == 0,
                            .apart = rng_below(r, 5) == 0,
                            .once = rng_below(r, 2),
                            .self = rng_below(r, 3) == 0,
                            .structural = rng_below(r, 3) == 0,
                            .edges = true};
    for (int64_t t = 0; t < nseeds; t++)
        seeds[t] = rng_below(r, g.n);
    for (int h = 0; h < nhops; h++)
        do
            fanouts[h] = open ? -1 : some[rng_below(r, 8)];
        while (o.replace && fanouts[h] < 0);
    if (o.apart || o.replace) /* trees grow with every hop */
        for (int h = 0; h < nhops; h++)
            fanouts[h] = fanouts[h] > 5 ? 5 : fanouts[h];
    FtB_Sample s;
    assert_ok(FtB_sample(&s, g.A, seeds, nseeds, fanouts, nhops, &o));
    o.selector = o.selector ? o.selector : o.key ? FTB_SAMPLE_WEIGHTED : FTB_SAMPLE_UNIFORM;
    check_sample(&g, s, seeds, nseeds, fanouts, nhops, &o);
    assert_ok(FtB_Sample_free(&s));
    assert_ok(FtB_Sample_free(&s));
    FtB_Matrix_free(&g.A);
}

static void random_cases(void **state)
{
    (void)state;
    const int cases = rng_cases(300);
    for (int t = 0; t < cases; t++) {
        rng r = rng_case(t);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r, t);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- bits */

static void assert_same_sample(FtB_Sample a, FtB_Sample b, int nhops)
{
    const FtB_Ids v = FtB_Sample_vertices(a), w = FtB_Sample_vertices(b);
    assert_int_equal(v.count, w.count);
    assert_memory_equal(v.at, w.at, sizeof *v.at * (size_t)v.count);
    for (int h = 0; h < nhops; h++) {
        const layer x = layer_of(a, h), y = layer_of(b, h);
        const size_t count = (size_t)x.rowptr[x.nrows];
        assert_int_equal(x.nrows, y.nrows);
        assert_memory_equal(x.rowptr, y.rowptr, sizeof *x.rowptr * (size_t)(x.nrows + 1));
        assert_memory_equal(x.column, y.column, sizeof *x.column * count);
        assert_memory_equal(x.edges, y.edges, sizeof *x.edges * count);
        assert_memory_equal(x.value, y.value, sizeof *x.value * count);
    }
}

/* The same vertices behind the seeds, and the same edges for each vertex. */
static void assert_same_picks(FtB_Sample a, FtB_Sample b, int64_t n, int64_t nseeds, int nhops)
{
    const FtB_Ids v = FtB_Sample_vertices(a), w = FtB_Sample_vertices(b);
    int64_t *row = malloc(sizeof *row * (size_t)n);
    assert_int_equal(v.count, w.count);
    assert_memory_equal(v.at + nseeds, w.at + nseeds, sizeof *v.at * (size_t)(v.count - nseeds));
    for (int64_t r = 0; r < w.count; r++)
        row[w.at[r]] = r;
    for (int h = 0; h < nhops; h++) {
        const layer x = layer_of(a, h), y = layer_of(b, h);
        for (int64_t r = 0; r < x.nrows; r++) {
            const int64_t from = x.rowptr[r], to = y.rowptr[row[v.at[r]]], count = x.rowptr[r + 1] - from;
            int64_t e[64], f[64];
            assert_true(count <= 64);
            assert_int_equal(y.rowptr[row[v.at[r]] + 1] - to, count);
            memcpy(e, x.edges + from, sizeof *e * (size_t)count);
            memcpy(f, y.edges + to, sizeof *f * (size_t)count);
            qsort(e, (size_t)count, sizeof *e, by_number);
            qsort(f, (size_t)count, sizeof *f, by_number);
            assert_memory_equal(e, f, sizeof *e * (size_t)count);
        }
    }
    free(row);
}

static void threads_and_orders(void **state)
{
    (void)state;
    enum { N = 20000, SEEDS = 900 };
    static const int64_t fanouts[] = {10, 8};
    static const char *const keys[] = {NULL, "x"};
    rng r = rng_new();
    graph g = make_graph(&r, N, 12);
    int64_t seeds[SEEDS], turned[SEEDS];
    for (int t = 0; t < SEEDS; t++) {
        seeds[t] = (t * 7919 + 13) % N;
        turned[SEEDS - 1 - t] = seeds[t];
    }
    for (int c = 0; c < 6; c++) {
        FtB_Sample first, s;
        const FtB_Sample_options o = {.size = sizeof o,
                                      .key = keys[c % 2],
                                      .seed = 42,
                                      .edges = true,
                                      .replace = c == 2 || c == 3,
                                      .disjoint = c == 4,
                                      .once = c == 5};
        assert_ok(FtB_Context_set_threads(NULL, 1));
        assert_ok(FtB_sample(&first, g.A, seeds, SEEDS, fanouts, 2, &o));
        for (int threads = 2; threads <= 8; threads++) {
            assert_ok(FtB_Context_set_threads(NULL, threads));
            assert_ok(FtB_sample(&s, g.A, seeds, SEEDS, fanouts, 2, &o));
            assert_same_sample(first, s, 2);
            FtB_Sample_free(&s);
        }
        if (!o.disjoint) {
            assert_ok(FtB_sample(&s, g.A, turned, SEEDS, fanouts, 2, &o));
            assert_same_picks(first, s, N, SEEDS, 2);
            FtB_Sample_free(&s);
        }
        FtB_Sample_free(&first);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&g.A);
}

/* Rows of every length come in the order of their numbers, which that of the seeds is not. */
static void long_rows(void **state)
{
    (void)state;
    enum { N = 211 };
    const int64_t all = -1;
    int64_t seeds[N], I[N], J[N];
    double X[N];
    for (int64_t length = 20; length <= 140; length++) {
        FtB_Matrix A;
        FtB_Sample s;
        for (int64_t t = 0; t < N; t++)
            seeds[t] = t * 97 % N;
        for (int64_t t = 0; t < length; t++) {
            I[t] = 0;
            J[t] = t;
            X[t] = (double)t;
        }
        assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 1, length, I, J, X, FTB_DUP_ERROR, NULL));
        assert_ok(FtB_sample(&s, A, seeds, N, &all, 1, FTB_SAMPLE_OPTIONS(.edges = true)));
        const layer l = layer_of(s, 0);
        assert_int_equal(l.rowptr[1], length);
        for (int64_t t = 0; t < length; t++) {
            assert_true(t == 0 || l.column[t] > l.column[t - 1]);
            assert_int_equal(seeds[l.column[t]], l.edges[t]);
        }
        FtB_Sample_free(&s);
        FtB_Matrix_free(&A);
    }
}

/* ---- work and memory */

/* One hub of so many neighbours, whose own rows have two entries each; `idle` more vertices without any. */
static int64_t work_of_hub(int64_t degree, int64_t idle, int64_t *peak)
{
    const int64_t n = degree + 1 + idle, nvals = 3 * degree, fanouts[] = {10, 10, 10}, seed = 0;
    int64_t *rowptr = malloc(sizeof *rowptr * (size_t)(n + 1)), at = 0;
    int32_t *column = malloc(sizeof *column * (size_t)nvals);
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Sample s;
    for (int64_t i = 0; i <= n; i++) {
        rowptr[i] = at;
        for (int64_t t = 0; i == 0 && t < degree; t++)
            column[at++] = (int32_t)(t + 1);
        if (i > 0 && i <= degree) {
            column[at++] = 0;
            column[at++] = (int32_t)(i % degree + 1);
        }
    }
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_set_threads(ctx, 1));
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, n, n, 0, rowptr, column, NULL));
    assert_ok(FtB_sample(&s, A, &seed, 1, fanouts, 3, FTB_SAMPLE_OPTIONS(.seed = 1)));
    assert_int_equal(FtB_Sample_edge_counts(s).at[0], 10);
    const int64_t work = s->work;
    assert_ok(FtB_Context_memory(ctx, NULL, peak));
    FtB_Sample_free(&s);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    free(rowptr);
    free(column);
    return work;
}

static void work_follows_picks(void **state)
{
    (void)state;
    int64_t small_peak, hub_peak, many_peak;
    const int64_t small = work_of_hub(100, 20000, &small_peak), hub = work_of_hub(1000000, 0, &hub_peak);
    const int64_t least = work_of_hub(100, 0, &many_peak), many = work_of_hub(100, 3000000, &many_peak);
    assert_true(small > 0 && small < 1000);
    assert_true(hub < small + small / 2); /* no more than the few that were picked twice of a hundred */
    assert_true(many < small + small / 8);
    assert_true(least < small); /* marks instead of a table */
    assert_true(hub_peak < small_peak + 4096 && many_peak < small_peak + 4096);
}

/* ---- what goes with it */

static void layers_multiply(void **state)
{
    (void)state;
    enum { N = 200, D = 3 };
    static const int64_t seeds[] = {3, 50, 7}, fanouts[] = {4, 4};
    rng r = rng_new();
    graph g = make_graph(&r, N, 6);
    FtB_Block X, Xs, Hs;
    FtB_Sample s;
    assert_ok(FtB_sample(&s, g.A, seeds, 3, fanouts, 2, FTB_SAMPLE_OPTIONS(.seed = 7, .edges = true)));
    const FtB_Ids v = FtB_Sample_vertices(s);
    const layer l = layer_of(s, 1);
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP32));
    assert_ok(FtB_Block_new(&Xs, v.count, D, FTB_FP32));
    assert_ok(FtB_Block_new(&Hs, l.nrows, D, FTB_FP32));
    float *x = block_values(X), *h;
    for (int t = 0; t < N * D; t++)
        x[t] = (float)(t % 97);
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_gather(Xs, X, v));
    assert_ok(FtB_mxm(Hs, NULL, NULL, FTB_MEAN_SRC, FtB_Sample_layer(s, 1), Xs, NULL));
    h = block_values(Hs);
    for (int64_t i = 0; i < l.nrows; i++)
        for (int f = 0; f < D; f++) {
            double sum = 0;
            const int64_t count = l.rowptr[i + 1] - l.rowptr[i];
            for (int64_t e = l.rowptr[i]; e < l.rowptr[i + 1]; e++)
                sum += (double)x[g.column[l.edges[e]] * D + f];
            assert_true(count ? (double)h[i * D + f] - sum / (double)count < 1e-4 &&
                                    sum / (double)count - (double)h[i * D + f] < 1e-4
                              : h[i * D + f] == 0);
        }
    FtB_Block_free(&X);
    FtB_Block_free(&Xs);
    FtB_Block_free(&Hs);
    FtB_Sample_free(&s);
    FtB_Matrix_free(&g.A);
}

/* Weights that a device wrote last, where there is one. */
static void written_weights(void **state)
{
    (void)state;
    static const int64_t seeds[] = {0, 1, 2, 3, 4, 5}, fanouts[] = {4, 4};
    rng r = rng_new();
    graph g = make_graph(&r, 300, 20);
    FtB_Sample s;
    assert_ok(FtB_apply(g.A, NULL, NULL, "1 / x", g.A, NULL));
    const FtB_Sample_options o = {
        .size = sizeof o, .selector = FTB_SAMPLE_WEIGHTED, .key = "x", .seed = 5, .edges = true};
    assert_ok(FtB_sample(&s, g.A, seeds, 6, fanouts, 2, &o));
    const void *column, *weight;
    assert_ok(FtB_Matrix_csr(g.A, &g.rowptr, &column, &weight));
    g.column = column;
    g.weight = weight;
    check_sample(&g, s, seeds, 6, fanouts, 2, &o);
    FtB_Sample_free(&s);
    FtB_Matrix_free(&g.A);
}

/* The context's seed stands in for 0; hops, batches and seeds make other picks. */
static void seeds_matter(void **state)
{
    (void)state;
    static const int64_t seeds[] = {0, 1, 2, 3}, fanouts[] = {3, 3};
    rng r = rng_new();
    graph g = make_graph(&r, 300, 20);
    FtB_Sample a, b;
    assert_ok(FtB_sample(&a, g.A, seeds, 4, fanouts, 2, FTB_SAMPLE_OPTIONS(.seed = 9, .edges = true)));
    assert_ok(FtB_Context_set_seed(NULL, 9));
    assert_ok(FtB_sample(&b, g.A, seeds, 4, fanouts, 2, FTB_SAMPLE_OPTIONS(.edges = true)));
    assert_ok(FtB_Context_set_seed(NULL, 0));
    assert_same_sample(a, b, 2);
    const layer first = layer_of(a, 0), second = layer_of(a, 1);
    assert_memory_not_equal(first.edges, second.edges, sizeof(int64_t) * 12);
    FtB_Sample_free(&b);
    assert_ok(
        FtB_sample(&b, g.A, seeds, 4, fanouts, 2, FTB_SAMPLE_OPTIONS(.seed = 9, .batch = 1, .edges = true)));
    assert_memory_not_equal(first.edges, layer_of(b, 0).edges, sizeof(int64_t) * 12);
    FtB_Sample_free(&b);
    FtB_Sample_free(&a);
    FtB_Matrix_free(&g.A);
}

static void refusals(void **state)
{
    (void)state;
    static const int64_t seeds[] = {0, 9, 10}, fanouts[] = {2, -2};
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 10, 10, 1, 0.6), R = rng_matrix(&r, FTB_FP32, 10, 11, 1, 0.5);
    FtB_Sample s = NULL;
    FtB_Op op;
    assert_ok(FtB_Op_new(&op, "x"));
    assert_fails(GrB_NULL_POINTER, "sample is NULL", FtB_sample(NULL, A, seeds, 1, fanouts, 1, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_sample(&s, NULL, seeds, 1, fanouts, 1, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 10 x 11", FtB_sample(&s, R, seeds, 1, fanouts, 1, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "seeds[2] is 10; expected 0 to 9",
                 FtB_sample(&s, A, seeds, 3, fanouts, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "nseeds is -1", FtB_sample(&s, A, seeds, -1, fanouts, 1, NULL));
    assert_fails(GrB_NULL_POINTER, "seeds is NULL", FtB_sample(&s, A, NULL, 1, fanouts, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "fanouts[1] is -2", FtB_sample(&s, A, seeds, 2, fanouts, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "nhops is -1", FtB_sample(&s, A, seeds, 2, fanouts, -1, NULL));
    assert_fails(GrB_NULL_POINTER, "fanouts is NULL", FtB_sample(&s, A, seeds, 2, NULL, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "batch is -5",
                 FtB_sample(&s, A, seeds, 2, fanouts, 1, FTB_SAMPLE_OPTIONS(.batch = -5)));
    assert_fails(GrB_INVALID_VALUE, "both key and key_op",
                 FtB_sample(&s, A, seeds, 2, fanouts, 1, FTB_SAMPLE_OPTIONS(.key = "x", .key_op = op)));
    assert_fails(GrB_INVALID_VALUE, "key",
                 FtB_sample(&s, A, seeds, 2, fanouts, 1, FTB_SAMPLE_OPTIONS(.key = "x +")));
    assert_fails(GrB_INVALID_VALUE, "key is -1 for A(",
                 FtB_sample(&s, A, seeds, 2, fanouts, 1, FTB_SAMPLE_OPTIONS(.key = "0 * x - 1")));
    assert_null(s);
    assert_ok(FtB_sample(&s, A, NULL, 0, NULL, 0, NULL));
    assert_int_equal(FtB_Sample_vertices(s).count, 0);
    assert_null(FtB_Sample_trees(s));
    FtB_Sample_free(&s);
    assert_int_equal(FtB_Sample_vertices(NULL).count, 0);
    FtB_Op_free(&op);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&R);
}

typedef struct sampling {
    FtB_Matrix A;
    FtB_Sample_options options;
} sampling;

static GrB_Info sample_once(void *arg)
{
    static const int64_t seeds[] = {1, 5, 1}, fanouts[] = {3, 70};
    const sampling *c = arg;
    FtB_Matrix A;
    FtB_Sample s;
    GrB_Info info = FtB_Matrix_dup(&A, c->A); /* which keeps what is made of its values */
    if (info != GrB_SUCCESS)
        return info;
    info = FtB_sample(&s, A, seeds, 3, fanouts, 2, &c->options);
    FtB_Matrix_free(&A);
    if (info != GrB_SUCCESS)
        assert_null(s);
    FtB_Sample_free(&s);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    sampling c = {.A = rng_matrix(&r, FTB_FP32, 100, 100, 1, 0.8), .options = {.size = sizeof c.options}};
    for (int t = 0; t < 4; t++) {
        c.options.once = c.options.self = t & 1;
        c.options.disjoint = t & 2;
        c.options.key = t == 3 ? "x + 9" : NULL;
        fail_every_allocation(sample_once, NULL, &c);
    }
    FtB_Matrix_free(&c.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),       cmocka_unit_test(long_rows),
        cmocka_unit_test(threads_and_orders), cmocka_unit_test(work_follows_picks),
        cmocka_unit_test(layers_multiply),    cmocka_unit_test(seeds_matter),
        cmocka_unit_test(refusals),           cmocka_unit_test(failing_allocations),
        cmocka_unit_test(written_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
