/* ClusterGCN's batches: entries among clusters, against loops; each vertex once an epoch, pairs of clusters
 * all alike; the same from a loader, and layers on its hops as on the subgraph; bits, allocations, what is
 * refused. */
#include "support/check.h"

#include "featblas_nn.h"
#include "support/chi_square.h"
#include "support/cluster_graph.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

/* ---- batches */

/* Layer h is the first nrows rows of A among the vertices, as A is read here. */
static void check_layer(const graph *g, FtB_Sample s, int h, int64_t nrows, bool structural)
{
    const FtB_Ids v = FtB_Sample_vertices(s), edges = FtB_Sample_edges(s, h);
    const int64_t *rowptr, *begin;
    const void *column, *values, *from, *x;
    int64_t rows, cols, nvals, at = 0;
    assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, h), &rows, &cols, &nvals, NULL, NULL));
    assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, h), &rowptr, &column, &values));
    assert_ok(FtB_Matrix_csr(g->A, &begin, &from, &x));
    assert_int_equal(rows, nrows);
    assert_int_equal(cols, v.count);
    assert_int_equal(edges.count, nvals);
    assert_int_equal(FtB_Sample_edge_counts(s).at[h], nvals);
    assert_true(!values == (structural || !x));
    for (int64_t r = 0; r < rows; r++) {
        assert_int_equal(rowptr[r], at);
        for (int64_t c = 0; c < cols; c++)
            for (int64_t e = begin[v.at[r]]; e < begin[v.at[r] + 1]; e++) {
                if (((const int32_t *)from)[e] != v.at[c])
                    continue;
                assert_true(at < nvals);
                assert_int_equal(((const int32_t *)column)[at], c);
                assert_int_equal(edges.at[at], e);
                if (values)
                    assert_true(((const float *)values)[at] == ((const float *)x)[e]);
                at++;
            }
    }
    assert_int_equal(at, nvals);
}

static void check_epoch(const graph *g, FtB_Clusters c, const int32_t *labels, int64_t epoch, int64_t nfull,
                        int64_t q, bool structural)
{
    int seen[MOST] = {0};
    int64_t left = nfull;
    for (int64_t b = 0; b < FtB_Clusters_batches(c); b++) {
        FtB_Sample s;
        bool in[MOST] = {false};
        int64_t clusters = 0, last = -1;
        assert_ok(FtB_Clusters_batch(&s, c, epoch, b));
        const FtB_Ids v = FtB_Sample_vertices(s);
        for (int64_t t = 0; t < v.count; t++) {
            assert_true(v.at[t] > last && v.at[t] < g->n);
            last = v.at[t];
            seen[last]++;
            clusters += !in[labels[last]];
            in[labels[last]] = true;
        }
        for (int64_t i = 0; i < g->n; i++) /* whole clusters */
            assert_true(!in[labels[i]] || seen[i] == 1);
        assert_int_equal(clusters, left < q ? left : q);
        left -= clusters;
        check_layer(g, s, 0, v.count, structural);
        FtB_Sample_free(&s);
    }
    assert_int_equal(left, 0);
    for (int64_t i = 0; i < g->n; i++)
        assert_int_equal(seen[i], 1);
}

static void batches(void **state)
{
    (void)state;
    const int cases = rng_cases(100);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 1 + rng_below(&r, MOST), rng_below(&r, 400), c % 3 == 0, c % 2);
        const int64_t nparts = 1 + rng_below(&r, 12), q = 1 + rng_below(&r, 5);
        int32_t labels[MOST];
        int64_t nfull = 0;
        FtB_Clusters clusters;
        const bool structural = rng_below(&r, 3) == 0;
        random_labels(&r, labels, g.n, nparts);
        for (int32_t p = 0; p < nparts; p++) {
            bool some = false;
            for (int64_t v = 0; v < g.n; v++)
                some |= labels[v] == p;
            nfull += some;
        }
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        assert_ok(FtB_Clusters_new(&clusters, g.A, labels, nparts,
                                   FTB_CLUSTERS_OPTIONS(.batch = q, .seed = rng_bits(&r) | 1, .edges = true,
                                                        .structural = structural)));
        assert_int_equal(FtB_Clusters_batches(clusters), (nfull + q - 1) / q);
        for (int64_t epoch = 0; epoch < 3; epoch++)
            check_epoch(&g, clusters, labels, epoch, nfull, q, structural);
        FtB_Clusters_free(&clusters);
        FtB_Matrix_free(&g.A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Which two of four clusters come first: all pairs alike, over epochs and over seeds. */
static void pairs(void **state)
{
    (void)state;
    enum { N = 4, TIMES = 6000 };
    static const int32_t labels[N] = {2, 0, 3, 1};
    rng r = rng_new();
    graph g = make_graph(&r, N, 6, false, 0);
    for (int by_seed = 0; by_seed < 2; by_seed++) {
        int64_t count[1 << N] = {0};
        double chance[1 << N] = {0};
        FtB_Clusters c = NULL;
        for (int a = 0; a < N; a++)
            for (int b = 0; b < a; b++)
                chance[1 << a | 1 << b] = 1.0 / 6;
        for (int64_t t = 0; t < TIMES; t++) {
            FtB_Sample s;
            if (!c)
                assert_ok(FtB_Clusters_new(&c, g.A, labels, N,
                                           FTB_CLUSTERS_OPTIONS(.batch = 2, .seed = 1 + (uint64_t)t)));
            assert_ok(FtB_Clusters_batch(&s, c, by_seed ? 0 : t, 0));
            count[1 << FtB_Sample_vertices(s).at[0] | 1 << FtB_Sample_vertices(s).at[1]]++;
            FtB_Sample_free(&s);
            if (by_seed)
                FtB_Clusters_free(&c);
        }
        check_chances(count, chance, 1 << N, "pairs of clusters");
        FtB_Clusters_free(&c);
    }
    FtB_Matrix_free(&g.A);
}

/* ---- loaders */

static void check_batch(FtB_Batch b, const graph *g, FtB_Sample alone, const bool *seed,
                        const int32_t *classes, FtB_Block X)
{
    const FtB_Ids v = FtB_Batch_vertices(b), seeds = FtB_Batch_seeds(b), all = FtB_Sample_vertices(alone);
    int64_t first = 0;
    assert_int_equal(v.count, all.count);
    for (int64_t t = 0; t < all.count; t++) /* seeds in their order, then the others in theirs */
        if (seed[all.at[t]]) {
            assert_int_equal(seeds.at[first], all.at[t]);
            assert_int_equal(FtB_Batch_labels(b)[first], classes[all.at[t]]);
            assert_true(((float *)block_values(FtB_Batch_targets(b)))[2 * first] ==
                        ((float *)block_values(X))[2 * all.at[t]]);
            first++;
        }
    assert_int_equal(first, seeds.count);
    for (int64_t t = 0; t < all.count; t++)
        if (!seed[all.at[t]])
            assert_int_equal(v.at[first++], all.at[t]);
    for (int64_t t = 0; t < v.count; t++)
        assert_true(((float *)block_values(FtB_Batch_features(b)))[2 * t + 1] ==
                    ((float *)block_values(X))[2 * v.at[t] + 1]);
    check_layer(g, FtB_Batch_sample(b), 0, seeds.count, false);
    check_layer(g, FtB_Batch_sample(b), 1, v.count, false);
    assert_ptr_equal(FtB_Batch_hop(b, 1), FtB_Batch_hop(b, 9));
    assert_ptr_equal(FtB_Batch_hop(b, 0), FtB_Sample_layer(FtB_Batch_sample(b), 0));
    assert_null(FtB_Batch_hop(b, -1));
    const FtB_Ids counts = FtB_Sample_vertex_counts(FtB_Batch_sample(b));
    assert_true(counts.at[0] == seeds.count && counts.at[0] + counts.at[1] == v.count && counts.at[2] == 0);
}

static void loaded(void **state)
{
    (void)state;
    for (int c = 0; c < 24; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 5 + rng_below(&r, MOST - 5), 200, c % 3 == 0, c % 2);
        int32_t labels[MOST], classes[MOST];
        int64_t seeds[MOST], nseeds = 0;
        bool seed[MOST];
        FtB_Block X = rng_block(&r, g.n, 2, FTB_FP32), Y;
        FtB_Clusters clusters;
        FtB_Loader l;
        const double share = c % 4 == 3 ? 0.05 : rng_unit(&r);
        random_labels(&r, labels, g.n, 6);
        assert_ok(FtB_Block_new(&Y, g.n, 2, FTB_FP32)); /* as wide as its memory */
        for (int64_t v = 0; v < g.n; v++) {
            classes[v] = (int32_t)rng_below(&r, 5);
            ((float *)block_values(Y))[2 * v] = (float)v;
            ((float *)block_values(Y))[2 * v + 1] = (float)-v;
            seed[v] = rng_unit(&r) < share;
            if (!seed[v])
                continue;
            const int64_t at = rng_below(&r, nseeds + 1); /* in any order */
            seeds[nseeds++] = seeds[at];
            seeds[at] = v;
        }
        assert_ok(FtB_Clusters_new(&clusters, g.A, labels, 6,
                                   FTB_CLUSTERS_OPTIONS(.batch = 2, .seed = 5, .edges = true)));
        assert_ok(FtB_Loader_new(
            &l, g.A, Y, classes, seeds, nseeds,
            FTB_LOADER(.clusters = clusters, .targets = Y, .ahead = c % 2 ? 2 : -1, .epoch = c % 3)));
        assert_int_equal(FtB_Loader_batches(l), FtB_Clusters_batches(clusters));
        for (int64_t epoch = c % 3; epoch < c % 3 + 2; epoch++) {
            for (int64_t t = 0; t < FtB_Clusters_batches(clusters); t++) {
                FtB_Sample alone;
                const FtB_Batch b = FtB_Loader_next(l);
                assert_non_null(b);
                assert_ok(FtB_Clusters_batch(&alone, clusters, epoch, t));
                check_batch(b, &g, alone, seed, classes, Y);
                FtB_Sample_free(&alone);
            }
            assert_null(FtB_Loader_next(l));
            assert_ok(FtB_Loader_status(l));
        }
        FtB_Loader_free(&l);
        FtB_Clusters_free(&clusters);
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
        FtB_Matrix_free(&g.A);
    }
}

/* Values of two layers of four columns, on one matrix each. */
static GrB_Info two_layers(double *to, FtB_Tape tape, FtB_Layer *layer, FtB_Matrix first, FtB_Matrix second,
                           FtB_Block X)
{
    FtB_Block Y;
    int64_t nrows, ld;
    FtB_Var x = FtB_input(tape, X);
    x = FtB_tanh(FtB_Layer_apply(layer[0], first, x, x, FTB_NO_VAR));
    GrB_Info info = FtB_evaluate(&Y, FtB_Layer_apply(layer[1], second, x, x, FTB_NO_VAR));
    if (info != GrB_SUCCESS)
        return info;
    assert_ok(FtB_Block_shape(Y, &nrows, NULL, &ld, NULL, NULL));
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t f = 0; f < 4; f++)
            to[4 * i + f] = (double)((float *)block_values(Y))[i * ld + f];
    FtB_Block_free(&Y);
    return FtB_Tape_reset(tape);
}

/* Two layers on a batch's hops give what they give on its subgraph as a graph of its own. */
static void layers_on_batches(void **state)
{
    (void)state;
    static const char *const kinds[] = {"gcn", "sage", "gat", "gin"};
    for (int c = 0; c < 16; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 40, 250, false, c % 2 && c / 4 != 2);
        const int64_t seeds[] = {3, 9, 22, 7, 30};
        int32_t labels[MOST];
        FtB_Block X = rng_block(&r, g.n, 4, FTB_FP32), Xs;
        double whole[4 * MOST], part[4 * MOST];
        FtB_Clusters clusters;
        FtB_Sample alone;
        FtB_Loader l;
        FtB_Layer layer[2];
        FtB_Tape tape;
        random_labels(&r, labels, g.n, 3);
        for (int k = 0; k < 2; k++)
            assert_ok(FtB_Layer_new(&layer[k], kinds[c / 4], 4, 4, NULL));
        assert_ok(FtB_Tape_new(&tape, 1));
        assert_ok(
            FtB_Clusters_new(&clusters, g.A, labels, 3, FTB_CLUSTERS_OPTIONS(.batch = 1 + c % 2, .seed = 5)));
        assert_ok(FtB_Loader_new(&l, g.A, X, NULL, seeds, 5, FTB_LOADER(.clusters = clusters, .ahead = -1)));
        for (int64_t t = 0; t < FtB_Loader_batches(l); t++) {
            const FtB_Batch b = FtB_Loader_next(l);
            const FtB_Ids some = FtB_Batch_seeds(b);
            assert_ok(FtB_Clusters_batch(&alone, clusters, 0, t));
            const FtB_Ids all = FtB_Sample_vertices(alone);
            assert_ok(FtB_Block_new(&Xs, all.count, 4, FTB_FP32));
            assert_ok(FtB_gather(Xs, X, all));
            assert_ok(
                two_layers(whole, tape, layer, FtB_Sample_layer(alone, 0), FtB_Sample_layer(alone, 0), Xs));
            assert_ok(two_layers(part, tape, layer, FtB_Batch_hop(b, 1), FtB_Batch_hop(b, 0),
                                 FtB_Batch_features(b)));
            for (int64_t i = 0; i < some.count; i++) {
                int64_t at = 0;
                while (all.at[at] != some.at[i])
                    at++;
                for (int f = 0; f < 4; f++)
                    assert_true(fabs(part[4 * i + f] - whole[4 * at + f]) <=
                                1e-4 * fmax(1, fabs(whole[4 * at + f])));
            }
            FtB_Block_free(&Xs);
            FtB_Sample_free(&alone);
        }
        FtB_Loader_free(&l);
        FtB_Clusters_free(&clusters);
        FtB_Tape_free(&tape);
        FtB_Layer_free(&layer[0]);
        FtB_Layer_free(&layer[1]);
        FtB_Block_free(&X);
        FtB_Matrix_free(&g.A);
    }
}

/* ---- bits, nothing, failures */

static void threads(void **state)
{
    (void)state;
    enum { N = 3000, NVALS = 60000, PARTS = 30 };
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, N, N, 1, (double)NVALS / N / N);
    int32_t *labels = malloc(sizeof *labels * N);
    FtB_Sample first = NULL;
    random_labels(&r, labels, N, PARTS);
    for (int t = 1; t <= 8; t++) {
        FtB_Clusters c;
        FtB_Sample s;
        const void *column[2], *value[2];
        const int64_t *rowptr[2];
        assert_ok(FtB_Context_set_threads(NULL, t));
        assert_ok(FtB_Clusters_new(&c, A, labels, PARTS, FTB_CLUSTERS_OPTIONS(.batch = 7, .seed = 9)));
        assert_ok(FtB_Clusters_batch(&s, c, 4, 2));
        FtB_Clusters_free(&c);
        if (t == 1)
            first = s;
        const FtB_Ids v = FtB_Sample_vertices(first), w = FtB_Sample_vertices(s);
        assert_int_equal(v.count, w.count);
        assert_memory_equal(v.at, w.at, sizeof *v.at * (size_t)v.count);
        assert_ok(FtB_Matrix_csr(FtB_Sample_layer(first, 0), &rowptr[0], &column[0], &value[0]));
        assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, 0), &rowptr[1], &column[1], &value[1]));
        assert_memory_equal(rowptr[0], rowptr[1], sizeof(int64_t) * (size_t)(v.count + 1));
        assert_memory_equal(column[0], column[1], sizeof(int32_t) * (size_t)rowptr[0][v.count]);
        assert_memory_equal(value[0], value[1], sizeof(float) * (size_t)rowptr[0][v.count]);
        if (t > 1)
            FtB_Sample_free(&s);
    }
    FtB_Sample_free(&first);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free(labels);
    FtB_Matrix_free(&A);
}

static void nothing(void **state)
{
    (void)state;
    FtB_Matrix A, three;
    FtB_Clusters c;
    FtB_Loader l;
    FtB_Sample s;
    int64_t cut = 7, largest = 7;
    int32_t labels[3] = {7, 7, 7};
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 0, 0, 1));
    assert_ok(FtB_partition(NULL, A, 3, NULL)); /* no vertices, and no METIS asked for */
    assert_ok(FtB_partition_measure(&cut, &largest, A, NULL, 3));
    assert_true(cut == 0 && largest == 0);
    assert_ok(FtB_Clusters_new(&c, A, NULL, 3, NULL));
    assert_int_equal(FtB_Clusters_batches(c), 0);
    assert_fails(GrB_INVALID_VALUE, "one of 0", FtB_Clusters_batch(&s, c, 0, 0));
    assert_ok(FtB_Loader_new(&l, A, NULL, NULL, NULL, 0, FTB_LOADER(.clusters = c)));
    assert_null(FtB_Loader_next(l));
    assert_ok(FtB_Loader_status(l));
    FtB_Loader_free(&l);
    FtB_Clusters_free(&c);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_new(&three, FTB_FP32, 3, 3, 1));
    assert_ok(FtB_partition(labels, three, 1, NULL)); /* one part, no METIS either */
    assert_true(labels[0] == 0 && labels[1] == 0 && labels[2] == 0);
    FtB_Matrix_free(&three);
    assert_int_equal(FtB_Clusters_batches(NULL), 0);
    assert_ok(FtB_Clusters_free(NULL));
}

static void refused(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 6, 6, 1, 0.9), R = rng_matrix(&r, FTB_FP32, 6, 7, 1, 0.5), B;
    int32_t labels[6] = {0, 1, 2, 0, 1, 2}, bad[6] = {0, 1, 3, 0, 1, 2}, low[6] = {0, 1, 2, 0, -1, 2};
    static const int64_t seeds[] = {1, 4, 1};
    int64_t cut;
    FtB_Clusters c;
    FtB_Sample s;
    FtB_Loader l;
    assert_fails(GrB_INVALID_VALUE, "nparts is 0", FtB_partition(labels, A, 0, NULL));
    assert_fails(GrB_INVALID_VALUE, "nparts is -3", FtB_partition(labels, A, -3, NULL));
    assert_fails(GrB_INVALID_VALUE, "nparts is 7, of 6 vertices", FtB_partition(labels, A, 7, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 6 x 7", FtB_partition(labels, R, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "labels is NULL", FtB_partition(NULL, A, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "A", FtB_partition(labels, NULL, 2, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "labels[2] is 3; expected 0 to 2",
                 FtB_partition_measure(&cut, NULL, A, bad, 3));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "labels[4] is -1", FtB_partition_measure(&cut, NULL, A, low, 3));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "labels[2] is 3", FtB_Clusters_new(&c, A, bad, 3, NULL));
    assert_null(c);
    assert_fails(GrB_NULL_POINTER, "clusters is NULL", FtB_Clusters_new(NULL, A, labels, 3, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 6 x 7", FtB_Clusters_new(&c, R, labels, 3, NULL));
    assert_fails(GrB_INVALID_VALUE, "batch is -1",
                 FtB_Clusters_new(&c, A, labels, 3, FTB_CLUSTERS_OPTIONS(.batch = -1)));
    assert_ok(FtB_Clusters_new(&c, A, labels, 3, NULL));
    assert_fails(GrB_NULL_POINTER, "sample is NULL", FtB_Clusters_batch(NULL, c, 0, 0));
    assert_fails(GrB_NULL_POINTER, "clusters is not", FtB_Clusters_batch(&s, NULL, 0, 0));
    assert_fails(GrB_INVALID_VALUE, "epoch is -1", FtB_Clusters_batch(&s, c, -1, 0));
    assert_fails(GrB_INVALID_VALUE, "batch 3", FtB_Clusters_batch(&s, c, 0, 3));
    assert_null(s);
#define LOADER(matrix, count, ...)                                                                           \
    FtB_Loader_new(&l, matrix, NULL, NULL, seeds, count, FTB_LOADER(__VA_ARGS__))
    assert_ok(FtB_Matrix_dup(&B, A));
    assert_fails(GrB_INVALID_VALUE, "clusters are of another matrix", LOADER(B, 2, .clusters = c));
    assert_fails(GrB_INVALID_VALUE, "fanout means nothing with clusters",
                 LOADER(A, 2, .clusters = c, .fanout = {3}));
    assert_fails(GrB_INVALID_VALUE, "batch means nothing", LOADER(A, 2, .clusters = c, .batch = 3));
    assert_fails(GrB_INVALID_VALUE, "seed means nothing", LOADER(A, 2, .clusters = c, .seed = 3));
    assert_fails(GrB_INVALID_VALUE, "sampler means nothing",
                 LOADER(A, 2, .clusters = c, .sampler = FTB_SAMPLE_OPTIONS(.seed = 1)));
    assert_fails(GrB_INVALID_VALUE, "seeds has 1 twice", LOADER(A, 3, .clusters = c));
    assert_null(l);
#undef LOADER
    FtB_Clusters_free(&c);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&B);
}

static GrB_Info cluster_once(void *arg)
{
    static const int32_t labels[20] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 3, 3, 0, 0, 0, 2, 1, 2, 1, 0},
                         classes[20];
    static const int64_t seeds[] = {4, 8, 15, 16};
    FtB_Matrix A = arg;
    FtB_Clusters c = NULL;
    FtB_Sample s = NULL;
    FtB_Loader l = NULL;
    GrB_Info info = FtB_Clusters_new(&c, A, labels, 4, FTB_CLUSTERS_OPTIONS(.batch = 2, .edges = true));
    if (info == GrB_SUCCESS)
        info = FtB_Clusters_batch(&s, c, 1, 1);
    if (info == GrB_SUCCESS)
        info = FtB_Loader_new(&l, A, FTB_ARG((FtB_Block)NULL), classes, seeds, 4,
                              FTB_LOADER(.clusters = c, .ahead = -1));
    if (info == GrB_SUCCESS && !FtB_Loader_next(l))
        info = FtB_Loader_status(l);
    FtB_Loader_free(&l);
    FtB_Sample_free(&s);
    FtB_Clusters_free(&c);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 20, 20, 1, 0.3);
    fail_every_allocation(cluster_once, NULL, A);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches), cmocka_unit_test(pairs),
        cmocka_unit_test(loaded),  cmocka_unit_test(threads),
        cmocka_unit_test(nothing), cmocka_unit_test(layers_on_batches),
        cmocka_unit_test(refused), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
