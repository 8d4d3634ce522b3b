/* Layers on hops of samples, unchanged: with all neighbours picked they give what they give on the whole
 * graph, and the same gradients; GCN on fewer picks against its formula by loops, and on average; sparse
 * features, whose first rows are the targets'; memory of training, which follows batches. (One layer on a
 * matrix whose targets are the first sources: test_nn_layers.c, test_nn_attention.c.)
 * Labels: unit, serial */
#include "support/check.h"

#include "featblas_nn.h"
#include "support/gradients.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { N = 40, D = 5, HIDDEN = 4, OUT = 3, MOST_EDGES = N * N };

typedef struct graph {
    FtB_Matrix A;
    double weight[N][N]; /* 0: no entry */
    FtB_Block X;
} graph;

enum { PLAIN, WEIGHTED, TYPED };

/* Vertex 3 is isolated, 5 hears nearly all; `loops`: some hear themselves. */
static graph make_graph(int values, bool loops)
{
    static graph g;
    static int64_t I[MOST_EDGES], J[MOST_EDGES];
    static double V[MOST_EDGES];
    int64_t count = 0;
    rng r = rng_new();
    memset(g.weight, 0, sizeof g.weight);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (i != 3 && (i != j || loops) && rng_below(&r, i == 5 ? 10 : 100) < (i == j ? 50 : 8)) {
                I[count] = i;
                J[count] = j;
                V[count] = values == TYPED ? (double)rng_below(&r, 2) : values ? 0.25 + rng_unit(&r) : 1;
                g.weight[i][j] = V[count++];
            }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP64, N, N, values != PLAIN, count, I, J, values ? V : NULL,
                               FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&g.X, N, D, FTB_FP64));
    fill_random(g.X, 7);
    return g;
}

static void free_graph(graph *g)
{
    FtB_Matrix_free(&g->A);
    FtB_Block_free(&g->X);
}

/* ---- all neighbours */

typedef struct spec {
    const char *kind;
    FtB_Layer_options options;
    int values;
    bool loops;
} spec;

static FtB_Layer layer_of(const spec *s, int64_t in, int64_t out)
{
    FtB_Layer layer;
    FtB_Layer_options o = s->options;
    o.size = sizeof o;
    o.type = FTB_FP64;
    assert_ok(FtB_Layer_new(&layer, s->kind, in, out, &o));
    for (int64_t k = 0; k < FtB_Layer_count(layer); k++) {
        FtB_Block P;
        assert_ok(FtB_Parameter_value(&P, FtB_Layer_parameter(layer, k)));
        fill_random(P, (uint64_t)(20 * in + k));
        FtB_Block_free(&P);
    }
    return layer;
}

/* Values of y, and gradients of both layers for a loss that T gives, in one list. */
static int64_t run(double *to, FtB_Var y, FtB_Var loss, FtB_Layer const *layers)
{
    FtB_Block Y;
    int64_t count = 0, nrows, ncols;
    assert_ok(FtB_evaluate(&Y, y));
    assert_ok(FtB_Block_shape(Y, &nrows, &ncols, NULL, NULL, NULL));
    for (; count < nrows * ncols; count++)
        to[count] = ((double *)block_values(Y))[count];
    FtB_Block_free(&Y);
    assert_ok(FtB_backward(loss));
    for (int l = 0; l < 2; l++)
        for (int64_t k = 0; k < FtB_Layer_count(layers[l]); k++) {
            FtB_Block G;
            assert_ok(FtB_Parameter_gradient(&G, FtB_Layer_parameter(layers[l], k)));
            assert_ok(FtB_Block_shape(G, &nrows, &ncols, NULL, NULL, NULL));
            for (int64_t e = 0; e < nrows * ncols; e++)
                to[count++] = ((double *)block_values(G))[e];
            FtB_Block_free(&G);
        }
    return count;
}

static void check_whole(const spec *s, const int64_t *seeds, int64_t nseeds)
{
    static double whole[4000], part[4000];
    static const int64_t all[] = {-1, -1};
    graph g = make_graph(s->values, s->loops);
    const int64_t wide = s->options.heads && !s->options.average ? s->options.heads : 1;
    FtB_Layer layers[2] = {layer_of(s, D, HIDDEN), layer_of(s, HIDDEN * wide, OUT)};
    FtB_Block T, Xs;
    FtB_Tape tape;
    FtB_Sample hop;
    assert_ok(FtB_Block_new(&T, nseeds, OUT * wide, FTB_FP64));
    fill_random(T, 9);
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var x = FtB_input(tape, g.X), t = FtB_input(tape, T);
    x = FtB_tanh(FtB_Layer_apply(layers[0], g.A, x, x, FTB_NO_VAR));
    FtB_Var y = FtB_rows(FtB_Layer_apply(layers[1], g.A, x, x, FTB_NO_VAR), seeds, nseeds);
    const int64_t count = run(whole, y, FtB_squared_error(y, t, NULL), layers);
    assert_ok(FtB_Tape_reset(tape));
    assert_ok(FtB_sample(&hop, g.A, seeds, nseeds, all, 2, FTB_SAMPLE_OPTIONS(.seed = 1)));
    const FtB_Ids vertices = FtB_Sample_vertices(hop);
    assert_ok(FtB_Block_new(&Xs, vertices.count, D, FTB_FP64));
    assert_ok(FtB_gather(Xs, g.X, vertices));
    x = FtB_input(tape, Xs);
    x = FtB_tanh(FtB_Layer_apply(layers[0], FtB_Sample_layer(hop, 1), x, x, FTB_NO_VAR));
    y = FtB_Layer_apply(layers[1], FtB_Sample_layer(hop, 0), x, x, FTB_NO_VAR);
    FtB_Sample_free(&hop); /* its layers live on in the record */
    assert_int_equal(run(part, y, FtB_squared_error(y, FtB_input(tape, T), NULL), layers), count);
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(part[k] - whole[k]) <= 1e-10 * fmax(1, fabs(whole[k]))))
            fail_msg("%s%s%s, %d seeds: number %d is %.12g; of the whole graph %.12g", s->kind,
                     s->values ? ", weights" : "", s->loops ? ", loops" : "", (int)nseeds, (int)k, part[k],
                     whole[k]);
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layers[0]);
    FtB_Layer_free(&layers[1]);
    FtB_Block_free(&T);
    FtB_Block_free(&Xs);
    free_graph(&g);
}

static void all_neighbours(void **state)
{
    static const spec specs[] = {
        {"gcn", {0}, PLAIN, false},
        {"gcn", {0}, PLAIN, true},
        {"gcn", {0}, WEIGHTED, true},
        {"gcn", {.no_self_loops = true}, PLAIN, true},
        {"gcn", {.no_self_loops = true}, WEIGHTED, true},
        {"sgc", {.hops = 1}, WEIGHTED, false},
        {"sage", {0}, PLAIN, true},
        {"sage", {.aggregate = "max"}, PLAIN, false},
        {"sage", {.aggregate = "pool", .normalize = true}, PLAIN, true},
        {"gat", {.heads = 2}, PLAIN, true},
        {"gat", {.heads = 2, .average = true, .residual = true}, PLAIN, false},
        {"gatv2", {.heads = 2}, PLAIN, true},
        {"transformer", {.heads = 2}, PLAIN, false},
        {"gin", {.train_eps = true}, PLAIN, true},
        {"edgeconv", {.hidden = 4}, PLAIN, true},
        {"mlp", {.aggregate = "mean"}, PLAIN, true},
        {"pna", {.log_degree = 1.2}, PLAIN, false},
        {"rgcn", {.relations = 2}, TYPED, true},
    };
    int64_t few[] = {5, 3, 17}, every[N];
    (void)state;
    for (int64_t v = 0; v < N; v++)
        every[v] = v;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        check_whole(&specs[k], few, 3);
        check_whole(&specs[k], every, N); /* hops are square, too */
    }
}

/* ---- GCN on what was picked */

/* What a hop's first layer should give for target i: loops by hand over the graph's table. */
static void expected(double y[D], const graph *g, FtB_Sample hop, int64_t i, bool loops)
{
    const int64_t *vertices = FtB_Sample_vertices(hop).at, *rowptr;
    const void *columns;
    double degree[N], others = 0, picked = 0, sum[D] = {0};
    assert_ok(FtB_Matrix_csr(FtB_Sample_layer(hop, 0), &rowptr, &columns, NULL));
    const int64_t v = vertices[i];
    for (int64_t a = 0; a < N; a++) {
        degree[a] = loops && g->weight[a][a] == 0;
        for (int64_t b = 0; b < N; b++)
            degree[a] += g->weight[a][b];
    }
    for (int64_t b = 0; b < N; b++)
        others += g->weight[v][b] != 0 && !(loops && b == v);
    for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
        const int64_t u = vertices[((const int32_t *)columns)[e]];
        if (loops && u == v)
            continue;
        picked++;
        for (int f = 0; f < D && degree[u] > 0; f++)
            sum[f] +=
                g->weight[v][u] / sqrt(degree[v] * degree[u]) * ((double *)block_values(g->X))[u * D + f];
    }
    for (int f = 0; f < D; f++) {
        y[f] = picked > 0 ? others / picked * sum[f] : 0;
        if (loops)
            y[f] += (g->weight[v][v] != 0 ? g->weight[v][v] : 1) / degree[v] *
                    ((double *)block_values(g->X))[v * D + f];
    }
}

/* Rows of the layer, whose weights are the identity, on one hop of k picks. */
static void hop_values(double (*y)[D], const graph *g, FtB_Sample hop, bool loops)
{
    const spec s = {"gcn", {.no_self_loops = !loops, .no_bias = true}, 0, false};
    const FtB_Ids vertices = FtB_Sample_vertices(hop);
    FtB_Layer layer = layer_of(&s, D, D);
    FtB_Tape tape;
    FtB_Block W, Xs, Y;
    int64_t nrows;
    assert_ok(FtB_Parameter_value(&W, FtB_Layer_parameter(layer, 0)));
    for (int k = 0; k < D * D; k++)
        ((double *)block_values(W))[k] = k % (D + 1) == 0;
    assert_ok(FtB_Block_new(&Xs, vertices.count, D, FTB_FP64));
    assert_ok(FtB_gather(Xs, g->X, vertices));
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_evaluate(&Y, FtB_gcn(layer, FtB_Sample_layer(hop, 0), FtB_input(tape, Xs))));
    assert_ok(FtB_Block_shape(Y, &nrows, NULL, NULL, NULL, NULL));
    memcpy(y, block_values(Y), (size_t)nrows * sizeof *y);
    FtB_Block_free(&Y);
    FtB_Block_free(&W);
    FtB_Block_free(&Xs);
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layer);
}

static void gcn_of_picks(void **state)
{
    (void)state;
    for (int what = 0; what < 32; what++) {
        const bool weights = what & 1, own = what & 2, loops = what & 4, self = what & 8 && loops;
        const int64_t nseeds = what & 16 ? N : 8; /* of all vertices a hop is square */
        graph g = make_graph(weights ? WEIGHTED : PLAIN, own);
        int64_t seeds[N] = {5, 3, 17, 0, 1, 2, 4, 30}, fanout = 3;
        double y[N][D], wanted[D];
        FtB_Sample hop;
        for (int64_t v = 0; v < nseeds && nseeds == N; v++)
            seeds[v] = N - 1 - v;
        assert_ok(FtB_sample(&hop, g.A, seeds, nseeds, &fanout, 1,
                             FTB_SAMPLE_OPTIONS(.seed = (uint64_t)what + 1, .self = self)));
        hop_values(y, &g, hop, loops);
        for (int64_t i = 0; i < nseeds; i++) {
            expected(wanted, &g, hop, i, loops);
            for (int f = 0; f < D; f++)
                if (!(fabs(y[i][f] - wanted[f]) <= 1e-12))
                    fail_msg("case %d, y(%d, %d) is %.12g; expected %.12g", what, (int)i, f, y[i][f],
                             wanted[f]);
        }
        FtB_Sample_free(&hop);
        free_graph(&g);
    }
}

/* The mean over samples is what all neighbours give: within 5 deviations of the mean, for each of 40 numbers;
 * by chance that fails once in 40,000 choices of seeds. */
static void check_average(FtB_Sample_options how, int64_t some)
{
    enum { SAMPLES = 1000 };
    graph g = make_graph(WEIGHTED, true);
    const int64_t seeds[] = {5, 3, 17, 0, 1, 2, 4, 30}, all = -1;
    double whole[8][D], y[8][D], sum[8][D] = {{0}}, squares[8][D] = {{0}};
    FtB_Sample hop;
    how.size = sizeof how;
    how.seed = 5;
    assert_ok(FtB_sample(&hop, g.A, seeds, 8, &all, 1, FTB_SAMPLE_OPTIONS(.seed = 1)));
    hop_values(whole, &g, hop, true);
    FtB_Sample_free(&hop);
    for (int k = 0; k < SAMPLES; k++) {
        how.batch = k;
        assert_ok(FtB_sample(&hop, g.A, seeds, 8, &some, 1, &how));
        hop_values(y, &g, hop, true);
        FtB_Sample_free(&hop);
        for (int e = 0; e < 8 * D; e++) {
            sum[e / D][e % D] += y[e / D][e % D];
            squares[e / D][e % D] += y[e / D][e % D] * y[e / D][e % D];
        }
    }
    for (int e = 0; e < 8 * D; e++) {
        const double mean = sum[e / D][e % D] / SAMPLES,
                     variance = squares[e / D][e % D] / SAMPLES - mean * mean;
        if (!(fabs(mean - whole[e / D][e % D]) <= 5 * sqrt(fmax(variance, 0) / SAMPLES) + 1e-9))
            fail_msg("(%d, %d): mean %.6g +- %.2g; all neighbours give %.6g", e / D, e % D, mean,
                     sqrt(variance / SAMPLES), whole[e / D][e % D]);
    }
    free_graph(&g);
}

/* Uniform picks, and those whose values are over their chances. */
static void gcn_on_average(void **state)
{
    (void)state;
    check_average((FtB_Sample_options){.selector = FTB_SAMPLE_UNIFORM}, 2);
    check_average((FtB_Sample_options){.selector = FTB_SAMPLE_LABOR, .iterations = 1}, 2);
    check_average((FtB_Sample_options){.selector = FTB_SAMPLE_LADIES}, 20);
}

/* ---- sparse features */

/* Own values are the sources', of which training drops some. */
static void check_own(const double *own, const double *all, bool width, bool training)
{
    int zeros = 0;
    for (int k = 0; k < 3 * D; k++) {
        assert_true(own[k] == all[k]);
        zeros += own[k] == 0;
        assert_true(training || own[k] == (k % 3 == 1 ? 0 : width ? 0.5 + k : 1));
    }
    assert_true(training ? zeros > 5 : zeros == 5);
}

/* What targets have of their own is what their rows have among the sources', dropped entries too. */
static void sparse_features(void **state)
{
    graph g = make_graph(PLAIN, false);
    (void)state;
    for (int width = 0; width < 2; width++) {
        const spec s = {"sage", {.no_bias = true}, 0, false};
        const int64_t seeds[] = {5, 17, 0}, fanout = 2;
        static int64_t I[N * D], J[N * D];
        static double V[N * D];
        FtB_Sample hop;
        FtB_Matrix S;
        FtB_Tape tape;
        FtB_Layer layer = layer_of(&s, D, D);
        FtB_Block W, all, own;
        int64_t count = 0;
        assert_ok(FtB_sample(&hop, g.A, seeds, 3, &fanout, 1, FTB_SAMPLE_OPTIONS(.seed = 1)));
        const int64_t n = FtB_Sample_vertices(hop).count;
        for (int64_t k = 0; k < n * D; k++)
            if (k % 3 != 1) {
                I[count] = k / D;
                J[count] = k % D;
                V[count++] = 0.5 + (double)k;
            }
        assert_ok(
            FtB_Matrix_build(&S, FTB_FP64, n, D, width, count, I, J, width ? V : NULL, FTB_DUP_ERROR, NULL));
        for (int p = 0; p < 2; p++) { /* lin_l: 0, lin_r: the identity */
            assert_ok(FtB_Parameter_value(&W, FtB_Layer_parameter(layer, p)));
            for (int k = 0; k < D * D; k++)
                ((double *)block_values(W))[k] = p == 1 && k % (D + 1) == 0;
            FtB_Block_free(&W);
        }
        assert_ok(FtB_Tape_new(&tape, 3));
        FtB_Var x = FtB_dropout(FtB_input(tape, S), 0.5);
        FtB_Var y = FtB_keep(FtB_sage(layer, FtB_Sample_layer(hop, 0), x));
        FtB_Var z = FtB_keep(FtB_matmul(x, FtB_parameter(tape, FtB_Layer_parameter(layer, 1))));
        FtB_Var rows = FtB_rows(z, (int64_t[]){0, 1, 2}, 3);
        FtB_Var loss = FtB_squared_error(y, FtB_add(rows, FtB_scale(y, 0.5)), NULL);
        for (int training = 1; training >= 0; training--) {
            if (training)
                assert_ok(FtB_backward(loss));
            else
                assert_ok(FtB_evaluate(&own, loss));
            if (!training)
                FtB_Block_free(&own);
            assert_ok(FtB_value(&own, y));
            assert_ok(FtB_value(&all, z));
            check_own(block_values(own), block_values(all), width, training);
            FtB_Block_free(&own);
            FtB_Block_free(&all);
        }
        FtB_Tape_free(&tape);
        FtB_Layer_free(&layer);
        FtB_Matrix_free(&S);
        FtB_Sample_free(&hop);
    }
    free_graph(&g);
}

/* ---- memory */

/* The most that training on a few batches takes beside the graph, n vertices on a ring that hear 16 others,
 * and its features. */
static int64_t peak_of(const char *kind, int64_t n)
{
    enum { NEAR = 16 };
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Block X;
    FtB_Loader l;
    FtB_Tape tape;
    FtB_Layer layers[2];
    int64_t *rowptr = malloc((size_t)(n + 1) * 8), seeds[200], held, peak;
    int32_t *columns = malloc((size_t)n * NEAR * 4), *labels = calloc((size_t)n, 4);
    float *features = calloc((size_t)n * D, 4);
    for (int64_t i = 0; i <= n; i++)
        rowptr[i] = NEAR * i;
    for (int64_t i = 0; i < n; i++) /* rows ascend */
        for (int64_t k = 0, at = 0; k < NEAR + 1; k++) {
            const int64_t first = i < NEAR / 2 ? 0 : i + NEAR / 2 >= n ? n - NEAR - 1 : i - NEAR / 2;
            if (first + k != i)
                columns[NEAR * i + at++] = (int32_t)(first + k);
        }
    for (int64_t t = 0; t < 200; t++)
        seeds[t] = 20 + 40 * t;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_set_threads(ctx, 1)); /* scratch of threads is theirs */
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, n, n, 0, rowptr, columns, NULL));
    assert_ok(FtB_Block_wrap(&X, features, n, D, D, FTB_FP32));
    for (int k = 0; k < 2; k++)
        assert_ok(FtB_Layer_new(&layers[k], kind, k ? HIDDEN : D, k ? OUT : HIDDEN, NULL));
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Context_memory(ctx, &held, NULL));
    assert_ok(
        FtB_Loader_new(&l, A, X, labels, seeds, 200,
                       FTB_LOADER(.fanout = {5, 5}, .batch = 32, .seed = 1, .in_order = true, .ahead = -1)));
    for (FtB_Batch b; (b = FtB_Loader_next(l)) != NULL;) {
        assert_ok(FtB_Tape_reset(tape));
        FtB_Var x = FtB_input(tape, FtB_Batch_features(b));
        x = FtB_relu(FtB_Layer_apply(layers[0], FtB_Batch_hop(b, 1), x, x, FTB_NO_VAR));
        x = FtB_Layer_apply(layers[1], FtB_Batch_hop(b, 0), x, x, FTB_NO_VAR);
        assert_ok(FtB_backward(FtB_cross_entropy(x, FtB_Batch_labels(b), NULL)));
    }
    assert_ok(FtB_Loader_status(l));
    FtB_Loader_free(&l);
    FtB_Tape_free(&tape);
    assert_ok(FtB_Context_memory(ctx, NULL, &peak));
    FtB_Layer_free(&layers[0]);
    FtB_Layer_free(&layers[1]);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Context_free(&ctx);
    free(rowptr);
    free(columns);
    free(features);
    free(labels);
    return peak - held;
}

static void memory_of_training(void **state)
{
    static const char *const kinds[] = {"sage", "gcn", "gat"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const int64_t small = peak_of(kinds[k], 9000), large = peak_of(kinds[k], 180000);
        print_message("%s: peak %lld bytes, of a graph 20 times as large %lld\n", kinds[k], (long long)small,
                      (long long)large);
        assert_true(small > 10000 && large < small + small / 50);
    }
}

/* ---- refused */

static void refuse(const char *kind, FtB_Matrix A, const char *text)
{
    FtB_Layer layer;
    FtB_Tape tape;
    FtB_Block X;
    int64_t n;
    assert_ok(FtB_Matrix_shape(A, NULL, &n, NULL, NULL, NULL));
    assert_ok(FtB_Block_new(&X, n, D, FTB_FP32));
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Layer_new(&layer, kind, D, D, NULL));
    FtB_Var x = FtB_input(tape, X);
    FtB_Layer_apply(layer, A, x, x, FTB_NO_VAR);
    assert_fails(GrB_DIMENSION_MISMATCH, text, FtB_Tape_status(tape));
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layer);
    FtB_Block_free(&X);
}

static void refusals(void **state)
{
    rng r = rng_new();
    FtB_Matrix wide = rng_matrix(&r, FTB_FP32, 4, 9, 0, 0.4), high = rng_matrix(&r, FTB_FP32, 9, 4, 0, 0.4);
    (void)state;
    refuse("sgc", wide, "sgc: A is 4 x 9; expected a square matrix: of a hop of a sample there is one step");
    refuse("appnp", wide, "appnp: A is 4 x 9; expected a square matrix");
    refuse("sage", high, "sage, dst: 4 x 5 fp32; expected 9 x");
    refuse("gcn", high, "gcn, dst: 4 x 5 fp32; expected 9 x");
    FtB_Matrix_free(&wide);
    FtB_Matrix_free(&high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_neighbours),     cmocka_unit_test(gcn_of_picks),
        cmocka_unit_test(gcn_on_average),     cmocka_unit_test(sparse_features),
        cmocka_unit_test(memory_of_training), cmocka_unit_test(refusals),
    };
    FtB_Context_set_threads(NULL, 1); /* runs of microseconds */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
