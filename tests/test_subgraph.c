/* FtB_subgraph and GraphSAINT: entries among vertices, found slowly; vertices drawn slowly with the same
 * draws, and weights that are counted; how often vertices and pairs are drawn, by chi-square tests that a
 * right sampler with other seeds would fail once in a million times each; the same bits for all threads; what
 * is refused. */
#include "support/check.h"

#include "oracle/ref_sample.h"
#include "support/chi_square.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define LIST (UINT64_C(0xff000022) << 32)

typedef struct graph {
    FtB_Matrix A;
    int64_t n, nvals;
    const int64_t *rowptr;
    const int32_t *column;
    const float *value;
} graph;

static graph graph_of(FtB_Matrix A)
{
    graph g = {.A = A};
    const void *column, *value;
    assert_ok(FtB_Matrix_shape(A, &g.n, NULL, &g.nvals, NULL, NULL));
    assert_ok(FtB_Matrix_csr(A, &g.rowptr, &column, &value));
    g.column = column;
    g.value = value;
    return g;
}

static graph random_graph(rng *r)
{
    const int64_t n = 1 + rng_below(r, 60);
    return graph_of(rng_matrix(r, FTB_FP32, n, n, rng_below(r, 3) > 0, rng_unit(r) * 0.4));
}

/* The layer is that of A among the vertices; value NULL: with A's values. */
static void check_layer(const graph *g, FtB_Sample s, const float *value, bool structural)
{
    const FtB_Ids v = FtB_Sample_vertices(s), edges = FtB_Sample_edges(s, 0);
    int64_t nrows, ncols, nvals, at = 0;
    const int64_t *rowptr;
    const void *column, *values;
    assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, 0), &nrows, &ncols, &nvals, NULL, NULL));
    assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, 0), &rowptr, &column, &values));
    assert_int_equal(nrows, v.count);
    assert_int_equal(ncols, v.count);
    assert_int_equal(edges.count, nvals);
    assert_int_equal(FtB_Sample_edge_counts(s).at[0], nvals);
    assert_int_equal(FtB_Sample_vertex_counts(s).at[0], v.count);
    assert_int_equal(FtB_Sample_vertex_counts(s).at[1], 0);
    assert_true(!values == (structural || (!g->value && !value)));
    for (int64_t r = 0; r < nrows; r++) {
        assert_int_equal(rowptr[r], at);
        for (int64_t c = 0; c < ncols; c++)
            for (int64_t e = g->rowptr[v.at[r]]; e < g->rowptr[v.at[r] + 1]; e++) {
                if (g->column[e] != v.at[c])
                    continue;
                assert_true(at < nvals);
                assert_int_equal(((const int32_t *)column)[at], c);
                assert_int_equal(edges.at[at], e);
                if (value || (values && !structural))
                    assert_true(((const float *)values)[at] == (value ? value[e] : g->value[e]));
                at++;
            }
    }
    assert_int_equal(at, nvals);
}

static void induced(void **state)
{
    (void)state;
    const int cases = rng_cases(100);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = random_graph(&r);
        int64_t ids[60] = {0}, count = 0;
        const bool structural = rng_below(&r, 3) == 0;
        const double share = rng_unit(&r);
        FtB_Sample s;
        for (int64_t i = 0; i < g.n; i++)
            if (rng_unit(&r) < share) { /* in any order */
                const int64_t at = rng_below(&r, count + 1);
                ids[count++] = ids[at];
                ids[at] = i;
            }
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        assert_ok(
            FtB_subgraph(&s, g.A, ids, count, FTB_SUBGRAPH_OPTIONS(.edges = true, .structural = structural)));
        assert_int_equal(FtB_Sample_vertices(s).count, count);
        for (int64_t t = 0; t < count; t++)
            assert_int_equal(FtB_Sample_vertices(s).at[t], ids[t]);
        check_layer(&g, s, NULL, structural);
        FtB_Sample_free(&s);
        assert_ok(FtB_subgraph(&s, g.A, ids, count, NULL));
        assert_int_equal(FtB_Sample_edges(s, 0).count, 0);
        FtB_Sample_free(&s);
        FtB_Matrix_free(&g.A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- GraphSAINT, slowly */

static uint64_t word_of(uint64_t key, uint64_t vertex, uint32_t block)
{
    const uint32_t counter[4] = {(uint32_t)vertex, (uint32_t)(vertex >> 32), 0, block};
    const uint32_t with[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    uint32_t out[4];
    ref_philox(out, counter, with);
    return out[0];
}

static uint64_t draw64(uint64_t key, int64_t t)
{
    return word_of(key, (uint64_t)t, 0) << 32 | word_of(key, (uint64_t)t, UINT32_C(1) << 23);
}

static int64_t degree(const graph *g, int64_t i) { return g->rowptr[i + 1] - g->rowptr[i]; }

/* Chances, not divided by their sum. */
static int64_t weights_of(double *w, const graph *g, FtB_Saint_kind kind)
{
    const int64_t n = kind == FTB_SAINT_EDGE ? g->nvals : g->n;
    for (int64_t t = 0; t < n; t++)
        w[t] = kind == FTB_SAINT_WALK;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            const int64_t j = g->column[e];
            if (kind == FTB_SAINT_NODE)
                w[j] += g->value ? (double)g->value[e] * g->value[e] : 1;
            if (kind == FTB_SAINT_EDGE)
                w[e] = 1.0 / (double)degree(g, i) + 1.0 / (double)(degree(g, j) ? degree(g, j) : 1);
        }
    return n;
}

/* Marks the vertices of a subgraph. */
static void draw_slowly(bool *in, const graph *g, const FtB_Saint_options *o, uint64_t key)
{
    double *w = malloc(sizeof *w * (size_t)(g->n + g->nvals + 1)), total = 0;
    const int64_t n = weights_of(w, g, o->kind);
    for (int64_t t = 0; t < n; t++)
        total += w[t];
    for (int64_t i = 0; i < g->n; i++)
        in[i] = false;
    for (int64_t t = 0; t < o->budget; t++) {
        const double aim = (double)(draw64(key, t) >> 11) * 0x1p-53 * total;
        double sum = 0;
        int64_t at = -1;
        for (int64_t p = 0; p < n && at < 0; p++)
            if ((sum += w[p]) > aim)
                at = p;
        if (o->kind == FTB_SAINT_WALK)
            at = (int64_t)((unsigned __int128)draw64(key, t) * (uint64_t)g->n >> 64);
        assert_true(at >= 0);
        if (o->kind == FTB_SAINT_EDGE) {
            int64_t i = 0;
            while (g->rowptr[i + 1] <= at)
                i++;
            in[i] = true;
            in[g->column[at]] = true;
            continue;
        }
        in[at] = true;
        ref_row r = {.selector = FTB_SAMPLE_UNIFORM, .replace = true, .k = 1};
        r.seed = ref_mix(key, (uint64_t)at, UINT64_C(0xff000020) << 32 | (uint64_t)t);
        for (int64_t step = 0; step < o->length && o->kind == FTB_SAINT_WALK && degree(g, at) > 0; step++) {
            int64_t *place;
            r.vertex = (uint64_t)at;
            r.hop = (uint64_t)step;
            r.degree = degree(g, at);
            assert_int_equal(ref_pick(&place, &r), 1);
            at = g->column[g->rowptr[at] + place[0]];
            in[at] = true;
            free(place);
        }
    }
    free(w);
}

static void check_saint(const graph *g, const FtB_Saint_options *o)
{
    bool in[60];
    int32_t vertex[60] = {0}, *entry = calloc((size_t)g->nvals + 1, sizeof *entry);
    float *value = malloc(sizeof *value * (size_t)(g->nvals + 1));
    FtB_Saint saint;
    FtB_Sample s;
    for (int64_t t = 0; t < o->samples; t++) {
        draw_slowly(in, g, o, ref_mix(o->seed, (uint64_t)t, LIST | 1));
        for (int64_t i = 0; i < g->n; i++) {
            vertex[i] += in[i];
            for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
                entry[e] += in[i] && in[g->column[e]];
        }
    }
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
            value[e] = (float)((g->value ? g->value[e] : 1) * (entry[e] ? (double)vertex[i] / entry[e] : 1));
    assert_ok(FtB_Saint_new(&saint, g->A, o));
    for (int64_t i = 0; i < g->n; i++)
        assert_true(FtB_Saint_loss(saint)[i] == (double)o->samples / (vertex[i] ? vertex[i] : 1));
    for (int64_t batch = 0; batch < 3; batch++) {
        int64_t at = 0;
        draw_slowly(in, g, o, ref_mix(o->seed, (uint64_t)batch, LIST));
        assert_ok(FtB_Saint_batch(&s, saint, batch));
        const FtB_Ids v = FtB_Sample_vertices(s);
        for (int64_t i = 0; i < g->n; i++)
            if (in[i]) {
                assert_true(at < v.count);
                assert_int_equal(v.at[at++], i);
            }
        assert_int_equal(at, v.count);
        check_layer(g, s, value, false);
        FtB_Sample_free(&s);
    }
    assert_ok(FtB_Saint_free(&saint));
    assert_ok(FtB_Saint_free(&saint));
    free(entry);
    free(value);
}

static void saints(void **state)
{
    (void)state;
    const int cases = rng_cases(60);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = random_graph(&r);
        double w[60], total = 0;
        const FtB_Saint_kind kind = (FtB_Saint_kind)(c % 3);
        const FtB_Saint_options o = {.size = sizeof o,
                                     .kind = kind,
                                     .budget = 1 + rng_below(&r, 20),
                                     .length = kind == FTB_SAINT_WALK ? 1 + rng_below(&r, 4) : 0,
                                     .samples = 1 + rng_below(&r, 8),
                                     .seed = rng_bits(&r) | 1,
                                     .edges = true};
        (void)weights_of(w, &g, FTB_SAINT_NODE);
        for (int64_t i = 0; i < g.n; i++)
            total += w[i];
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        if (kind == FTB_SAINT_WALK || total > 0)
            check_saint(&g, &o);
        FtB_Matrix_free(&g.A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- chances */

/* Subgraphs of one draw: which vertex, or which pair. */
static void chances(void **state)
{
    (void)state;
    enum { N = 4, BATCHES = 20000 };
    static const float weight[N][N] = {{0, 1, 2, 0}, {0.5, 0, 0, 3}, {1, 0, 1, 2}, {0, 0, 1, 0}};
    int64_t I[N * N], J[N * N], nvals = 0;
    float X[N * N];
    FtB_Matrix A;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (weight[i][j] > 0) {
                I[nvals] = i;
                J[nvals] = j;
                X[nvals++] = weight[i][j];
            }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 1, nvals, I, J, X, FTB_DUP_ERROR, NULL));
    graph g = graph_of(A);
    for (int kind = 0; kind < 3; kind++) {
        double w[N * N], chance[1 << N] = {0}, total = 0;
        int64_t count[1 << N] = {0};
        FtB_Saint saint;
        const int64_t n = weights_of(w, &g, (FtB_Saint_kind)kind);
        for (int64_t t = 0; t < n; t++)
            total += w[t];
        for (int64_t i = 0; i < N; i++) {
            if (kind == FTB_SAINT_NODE)
                chance[1 << i] += w[i] / total;
            for (int64_t e = g.rowptr[i]; e < g.rowptr[i + 1] && kind != FTB_SAINT_NODE; e++)
                chance[1 << i | 1 << g.column[e]] +=
                    kind == FTB_SAINT_EDGE ? w[e] / total : 1.0 / (double)(N * degree(&g, i));
        }
        assert_ok(FtB_Saint_new(&saint, A,
                                FTB_SAINT_OPTIONS(.kind = (FtB_Saint_kind)kind, .budget = 1, .samples = 1,
                                                  .length = kind == FTB_SAINT_WALK, .seed = 3)));
        for (int64_t b = 0; b < BATCHES; b++) {
            FtB_Sample s;
            int set = 0;
            assert_ok(FtB_Saint_batch(&s, saint, b));
            for (int64_t t = 0; t < FtB_Sample_vertices(s).count; t++)
                set |= 1 << FtB_Sample_vertices(s).at[t];
            count[set]++;
            FtB_Sample_free(&s);
        }
        check_chances(count, chance, 1 << N, "subgraphs");
        FtB_Saint_free(&saint);
    }
    FtB_Matrix_free(&A);
}

/* ---- bits */

static void threads(void **state)
{
    (void)state;
    enum { N = 3000, NVALS = 40000 };
    rng r = rng_new();
    int64_t *I = malloc(sizeof *I * NVALS), *J = malloc(sizeof *J * NVALS);
    float *X = malloc(sizeof *X * NVALS);
    FtB_Matrix A;
    for (int64_t e = 0; e < NVALS; e++) {
        I[e] = rng_below(&r, N);
        J[e] = rng_below(&r, 1 + rng_below(&r, N));
        X[e] = (float)rng_unit(&r);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 1, NVALS, I, J, X, FTB_DUP_FIRST, NULL));
    for (int kind = 0; kind < 3; kind++) {
        FtB_Sample first = NULL;
        for (int t = 1; t <= 8; t++) {
            FtB_Saint saint;
            FtB_Sample s;
            assert_ok(FtB_Context_set_threads(NULL, t));
            assert_ok(FtB_Saint_new(
                &saint, A,
                FTB_SAINT_OPTIONS(.kind = (FtB_Saint_kind)kind, .budget = 800, .samples = 4, .seed = 9)));
            assert_ok(FtB_Saint_batch(&s, saint, 5));
            FtB_Saint_free(&saint);
            if (t == 1) {
                first = s;
                continue;
            }
            int64_t nvals, there;
            const void *column[2], *value[2];
            const FtB_Ids v = FtB_Sample_vertices(first), w = FtB_Sample_vertices(s);
            assert_int_equal(v.count, w.count);
            assert_memory_equal(v.at, w.at, sizeof *v.at * (size_t)v.count);
            assert_ok(FtB_Matrix_shape(FtB_Sample_layer(first, 0), NULL, NULL, &nvals, NULL, NULL));
            assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, 0), NULL, NULL, &there, NULL, NULL));
            assert_int_equal(nvals, there);
            assert_ok(FtB_Matrix_csr(FtB_Sample_layer(first, 0), NULL, &column[0], &value[0]));
            assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, 0), NULL, &column[1], &value[1]));
            assert_memory_equal(column[0], column[1], sizeof(int32_t) * (size_t)nvals);
            assert_memory_equal(value[0], value[1], sizeof(float) * (size_t)nvals);
            FtB_Sample_free(&s);
        }
        FtB_Sample_free(&first);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&A);
    free(I);
    free(J);
    free(X);
}

/* Memory and so work do not follow the graph: of a million vertices, three are asked for. */
static void memory_follows_vertices(void **state)
{
    (void)state;
    enum { N = 1000000 };
    int64_t *rowptr = malloc(sizeof *rowptr * (N + 1)), peak;
    int32_t *column = malloc(sizeof *column * N);
    static const int64_t ids[] = {7, N - 1, 8};
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Sample s;
    for (int64_t i = 0; i <= N; i++)
        rowptr[i] = i;
    for (int64_t i = 0; i < N; i++)
        column[i] = (int32_t)((i + 1) % N);
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, N, N, 0, rowptr, column, NULL));
    assert_ok(FtB_subgraph(&s, A, ids, 3, FTB_SUBGRAPH_OPTIONS(.edges = true)));
    assert_ok(FtB_Context_memory(ctx, NULL, &peak));
    assert_true(peak < 100000);
    assert_int_equal(FtB_Sample_edges(s, 0).count, 1);
    assert_int_equal(FtB_Sample_edges(s, 0).at[0], 7);
    FtB_Sample_free(&s);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    free(rowptr);
    free(column);
}

/* ---- refusals */

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 6, 6, 1, 0.9), R = rng_matrix(&r, FTB_FP32, 6, 7, 1, 0.5);
    FtB_Matrix wide = rng_matrix(&r, FTB_FP32, 6, 6, 2, 0.9), none = rng_matrix(&r, FTB_FP32, 6, 6, 1, 0), N;
    const int64_t ids[] = {0, 5, 3, 5, 6}, zero = 0;
    const float nan_value = NAN;
    FtB_Sample s;
    FtB_Saint saint;
    assert_ok(FtB_Matrix_build(&N, FTB_FP32, 6, 6, 1, 1, &zero, &zero, &nan_value, FTB_DUP_ERROR, NULL));
    assert_fails(GrB_NULL_POINTER, "sample is NULL", FtB_subgraph(NULL, A, ids, 1, NULL));
    assert_fails(GrB_NULL_POINTER, "A", FtB_subgraph(&s, NULL, ids, 1, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 6 x 7", FtB_subgraph(&s, R, ids, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "ids has 5 twice", FtB_subgraph(&s, A, ids, 4, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "ids[4] is 6; expected 0 to 5", FtB_subgraph(&s, A, ids, 5, NULL));
    assert_fails(GrB_INVALID_VALUE, "nids is -1", FtB_subgraph(&s, A, ids, -1, NULL));
    assert_fails(GrB_NULL_POINTER, "ids is NULL", FtB_subgraph(&s, A, NULL, 1, NULL));
    assert_null(s);
    assert_ok(FtB_subgraph(&s, A, NULL, 0, NULL));
    FtB_Sample_free(&s);
    assert_fails(GrB_NULL_POINTER, "saint is NULL", FtB_Saint_new(NULL, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 6 x 7", FtB_Saint_new(&saint, R, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 2 values", FtB_Saint_new(&saint, wide, NULL));
    assert_fails(GrB_INVALID_VALUE, "no vertex", FtB_Saint_new(&saint, none, NULL));
    assert_fails(GrB_INVALID_VALUE, "no entry",
                 FtB_Saint_new(&saint, none, FTB_SAINT_OPTIONS(.kind = FTB_SAINT_EDGE)));
    assert_fails(GrB_INVALID_VALUE, "squares of A's values", FtB_Saint_new(&saint, N, NULL));
    assert_fails(GrB_INVALID_VALUE, "kind is 3",
                 FtB_Saint_new(&saint, A, FTB_SAINT_OPTIONS(.kind = (FtB_Saint_kind)3)));
    assert_fails(GrB_INVALID_VALUE, "budget is -1",
                 FtB_Saint_new(&saint, A, FTB_SAINT_OPTIONS(.budget = -1)));
    assert_fails(GrB_INVALID_VALUE, "samples is -2",
                 FtB_Saint_new(&saint, A, FTB_SAINT_OPTIONS(.samples = -2)));
    assert_fails(GrB_INVALID_VALUE, "length goes with",
                 FtB_Saint_new(&saint, A, FTB_SAINT_OPTIONS(.length = 2)));
    assert_null(saint);
    assert_fails(GrB_NULL_POINTER, "saint", FtB_Saint_batch(&s, NULL, 0));
    assert_null(FtB_Saint_loss(NULL));
    assert_ok(FtB_Saint_new(&saint, A, FTB_SAINT_OPTIONS(.budget = 2, .samples = 1)));
    assert_fails(GrB_INVALID_VALUE, "batch is -1", FtB_Saint_batch(&s, saint, -1));
    assert_fails(GrB_NULL_POINTER, "sample is NULL", FtB_Saint_batch(NULL, saint, 0));
    FtB_Saint_free(&saint);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&wide);
    FtB_Matrix_free(&none);
    FtB_Matrix_free(&N);
}

typedef struct drawing {
    FtB_Matrix A;
    FtB_Saint_options options;
} drawing;

static GrB_Info draw_once(void *arg)
{
    static const int64_t ids[] = {3, 1, 0, 5};
    drawing *d = arg;
    FtB_Saint saint = NULL;
    FtB_Sample s = NULL;
    GrB_Info info = FtB_subgraph(&s, d->A, ids, 4, FTB_SUBGRAPH_OPTIONS(.edges = true));
    FtB_Sample_free(&s);
    if (info == GrB_SUCCESS)
        info = FtB_Saint_new(&saint, d->A, &d->options);
    if (info == GrB_SUCCESS)
        info = FtB_Saint_batch(&s, saint, 1);
    if (info != GrB_SUCCESS)
        assert_null(s);
    FtB_Sample_free(&s);
    FtB_Saint_free(&saint);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    drawing d = {.A = rng_matrix(&r, FTB_FP32, 8, 8, 1, 0.8),
                 .options = {.size = sizeof d.options, .budget = 3, .samples = 2}};
    for (int kind = 0; kind < 3; kind++) {
        d.options.kind = (FtB_Saint_kind)kind;
        fail_every_allocation(draw_once, NULL, &d);
    }
    FtB_Matrix_free(&d.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(induced),
        cmocka_unit_test(saints),
        cmocka_unit_test(chances),
        cmocka_unit_test(threads),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(memory_follows_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
