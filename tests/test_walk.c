/* FtB_walk: walks against slow ones with the same draws; how often steps are taken, by chi-square tests that
 * a right walker with other seeds would fail once in a million times each; the same bits for all threads,
 * orders of starts and instruction sets; work that follows the steps; what is refused. */
#include "support/check.h"

#include "core/isa.h"
#include "oracle/ref_sample.h"
#include "sample/walker.h"
#include "support/chi_square.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>

/* ---- slowly */

static uint32_t word_of(uint64_t key, uint64_t vertex, const ref_row *r, int word)
{
    /* vertex (64) | batch (32) | block 1 of draws (24) | hop (8) */
    const uint32_t counter[4] = {(uint32_t)vertex, (uint32_t)(vertex >> 32), (uint32_t)r->batch,
                                 1 | (uint32_t)r->hop << 24};
    const uint32_t with[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    uint32_t out[4];
    ref_philox(out, counter, with);
    return out[word];
}

static bool has(const int64_t *rowptr, const int32_t *column, int64_t i, int64_t j)
{
    for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
        if (column[e] == j)
            return true;
    return false;
}

typedef struct graph {
    FtB_Matrix A;
    int64_t n;
    const int64_t *rowptr;
    const int32_t *column;
    const double *weight;
} graph;

/* One step from `at`, after `before`; -1: there is none. */
static int64_t slow_step(const graph *g, int64_t at, int64_t before, const FtB_Walk_options *o, uint64_t key,
                         ref_row r)
{
    const double p = o->p > 0 ? o->p : 1, q = o->q > 0 ? o->q : 1;
    double most = 1 / p > 1 / q ? 1 / p : 1 / q;
    most = most > 1 ? most : 1;
    for (uint64_t try = 0;; try++) {
        int64_t *place;
        r.seed = try == 0 ? key : ref_mix(key, try, UINT64_C(0xff000021) << 32);
        r.vertex = (uint64_t)at;
        r.degree = g->rowptr[at + 1] - g->rowptr[at];
        r.weight = g->weight + g->rowptr[at];
        const int64_t count = ref_pick(&place, &r), e = count > 0 ? g->rowptr[at] + place[0] : -1;
        free(place);
        if (e < 0)
            return -1;
        const int64_t x = g->column[e];
        if (before < 0)
            return x;
        const double b = x == before ? 1 / p : has(g->rowptr, g->column, before, x) ? 1 : 1 / q;
        if ((double)word_of(r.seed, (uint64_t)at, &r, 1) < b / most * 0x1p32)
            return x;
    }
}

static void check_walk(const graph *g, const int64_t *walk, int64_t length, int64_t start, int64_t number,
                       const FtB_Walk_options *o)
{
    int64_t at = start, before = -1;
    ref_row r = {.selector = o->key ? FTB_SAMPLE_WEIGHTED : FTB_SAMPLE_UNIFORM, .replace = true, .k = 1};
    assert_int_equal(walk[0], start);
    for (int64_t t = 0; t < length; t++) {
        uint64_t seed = o->seed;
        r.batch = (uint64_t)o->batch;
        r.hop = (uint64_t)t;
        if (t > 254 || o->batch > UINT32_MAX) {
            seed = ref_mix(seed, r.batch, UINT64_C(0xff000000) << 32 | (uint64_t)t);
            r.batch = r.hop = 0;
        }
        const uint64_t key = ref_mix(seed, (uint64_t)start, UINT64_C(0xff000020) << 32 | (uint64_t)number);
        int64_t next = -1, last = at;
        if (at >= 0 && (double)word_of(key, (uint64_t)at, &r, 0) < o->restart * 0x1p32) {
            next = start;
            last = -1;
        } else if (at >= 0)
            next = slow_step(g, at, before, o, key, r);
        assert_int_equal(walk[t + 1], next);
        before = last;
        at = next;
    }
}

static graph make_graph(rng *r, int64_t n, int64_t degree)
{
    graph g = {.n = n};
    const int64_t nvals = n * degree;
    int64_t *I = malloc(sizeof *I * (size_t)(nvals + 1)), *J = malloc(sizeof *J * (size_t)(nvals + 1));
    double *X = malloc(sizeof *X * (size_t)(nvals + 1));
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, n)); /* rows of small numbers are long, some others empty */
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

static void random_cases(void **state)
{
    (void)state;
    static const double some[] = {0, 0.25, 1, 4};
    const int cases = rng_cases(200);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 1 + rng_below(&r, 80), rng_below(&r, 8));
        int64_t starts[20], length = c % 40 == 7 ? 260 : rng_below(&r, 12), nrows, ncols;
        const int64_t nstarts = rng_below(&r, 20);
        const FtB_Walk_options o = {.size = sizeof o,
                                    .key = rng_below(&r, 3) == 0 ? "x" : NULL,
                                    .restart = rng_below(&r, 2) ? 0 : rng_unit(&r),
                                    .p = some[rng_below(&r, 4)],
                                    .q = some[rng_below(&r, 4)],
                                    .each = rng_below(&r, 4),
                                    .seed = rng_bits(&r) | 1,
                                    .batch = rng_below(&r, 5) ? rng_below(&r, 9) : INT64_C(1) << 33};
        const int64_t each = o.each > 0 ? o.each : 1;
        FtB_Block W;
        FtB_Type type;
        for (int64_t t = 0; t < nstarts; t++)
            starts[t] = rng_below(&r, g.n);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        assert_ok(FtB_walk(&W, g.A, starts, nstarts, length, &o));
        assert_ok(FtB_Block_shape(W, &nrows, &ncols, NULL, &type, NULL));
        assert_int_equal(nrows, nstarts * each);
        assert_int_equal(ncols, length + 1);
        assert_int_equal(type, FTB_INT64);
        const int64_t *walks = block_values(W);
        for (int64_t w = 0; w < nrows; w++)
            check_walk(&g, walks + w * ncols, length, starts[w / each], w % each, &o);
        FtB_Block_free(&W);
        FtB_Matrix_free(&g.A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- bits */

static void threads_and_orders(void **state)
{
    (void)state;
    enum { N = 3000, STARTS = 17000, LENGTH = 6, ROW = LENGTH + 1 }; /* more than a piece */
    rng r = rng_new();
    graph g = make_graph(&r, N, 10);
    int64_t *starts = malloc(sizeof *starts * STARTS), *turned = malloc(sizeof *turned * STARTS);
    for (int64_t t = 0; t < STARTS; t++) {
        starts[t] = t * 7919 % N;
        turned[STARTS - 1 - t] = starts[t];
    }
    for (int c = 0; c < 4; c++) {
        FtB_Block first, W;
        const FtB_Walk_options o = {.size = sizeof o,
                                    .key = c == 1 ? "x" : NULL,
                                    .restart = c == 2 ? 0.2 : 0,
                                    .p = c == 3 ? 0.5 : 0,
                                    .q = c == 3 ? 2 : 0,
                                    .seed = 42};
        assert_ok(FtB_Context_set_threads(NULL, 1));
        assert_ok(FtB_walk(&first, g.A, starts, STARTS, LENGTH, &o));
        const int64_t *a = block_values(first);
        for (int threads = 2; threads <= 8; threads++) {
            assert_ok(FtB_Context_set_threads(NULL, threads));
            ftb_isa_force(threads % 3);
            assert_ok(FtB_walk(&W, g.A, starts, STARTS, LENGTH, &o));
            assert_memory_equal(a, block_values(W), sizeof *a * STARTS * ROW);
            FtB_Block_free(&W);
        }
        ftb_isa_force(-1);
        assert_ok(FtB_walk(&W, g.A, turned, STARTS, LENGTH, &o));
        const int64_t *b = block_values(W);
        for (int64_t t = 0; t < STARTS; t++)
            assert_memory_equal(a + t * ROW, b + (STARTS - 1 - t) * ROW, sizeof *a * ROW);
        FtB_Block_free(&W);
        FtB_Block_free(&first);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free(starts);
    free(turned);
    FtB_Matrix_free(&g.A);
}

/* ---- chances */

enum { V = 5, WALKS = 20000 };

/* Five vertices; from row 4 there is no way. */
static const double small[V][V] = {
    {0, 1, 2, 0.5, 0}, {3, 0, 1, 0, 0.25}, {1, 1, 0.5, 2, 0}, {1, 0, 4, 0, 1}, {0, 0, 0, 0, 0}};

static FtB_Matrix small_graph(void)
{
    int64_t I[V * V], J[V * V], nvals = 0;
    double X[V * V];
    FtB_Matrix A;
    for (int i = 0; i < V; i++)
        for (int j = 0; j < V; j++)
            if (small[i][j] > 0) {
                I[nvals] = i;
                J[nvals] = j;
                X[nvals++] = small[i][j];
            }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, V, V, 1, nvals, I, J, X, FTB_DUP_ERROR, NULL));
    return A;
}

/* Steps on from v after t (-1: none): chances by the definition. */
static void chances_of(double chance[V], int t, int v, const FtB_Walk_options *o, int start)
{
    const double p = o->p > 0 ? o->p : 1, q = o->q > 0 ? o->q : 1;
    double sum = 0;
    for (int x = 0; x < V; x++) {
        const double w = small[v][x] > 0 ? (o->key ? small[v][x] : 1) : 0;
        chance[x] = t < 0 ? w : x == t ? w / p : small[t][x] > 0 ? w : w / q;
        sum += chance[x];
    }
    for (int x = 0; x < V; x++)
        chance[x] = (1 - o->restart) * chance[x] / sum + (x == start ? o->restart : 0);
}

/* Walks from vertex 0 of three steps: what follows each pair, and what follows the start. */
static void transitions(void **state)
{
    (void)state;
    static const FtB_Walk_options trials[] = {{.q = 1},
                                              {.key = "x"},
                                              {.p = 0.25, .q = 4},
                                              {.p = 4, .q = 0.25},
                                              {.p = 3, .q = 2},
                                              {.key = "x", .p = 0.5, .q = 3},
                                              {.restart = 0.3},
                                              {.key = "x", .restart = 0.15}};
    FtB_Matrix A = small_graph();
    const int64_t start = 0;
    for (size_t c = 0; c < sizeof trials / sizeof *trials; c++) {
        FtB_Walk_options o = trials[c];
        int64_t first[V] = {0}, then[V][V] = {{0}};
        double chance[V];
        FtB_Block W;
        o.size = sizeof o;
        o.seed = 100 + c;
        o.each = WALKS;
        assert_ok(FtB_walk(&W, A, &start, 1, 2, &o));
        const int64_t *w = block_values(W);
        for (int64_t t = 0; t < WALKS; t++) {
            first[w[3 * t + 1]]++;
            if (w[3 * t + 2] >= 0)
                then[w[3 * t + 1]][w[3 * t + 2]]++;
            else
                assert_int_equal(w[3 * t + 1], 4);
        }
        chances_of(chance, -1, 0, &o, 0);
        check_chances(first, chance, V, "first steps");
        for (int v = 0; v < V - 1; v++) {
            if (first[v] == 0)
                continue;
            /* A walk that is at its start went back there: A(0, 0) is not stored. */
            chances_of(chance, v == 0 ? -1 : 0, v, &o, 0);
            check_chances(then[v], chance, V, "second steps");
        }
        FtB_Block_free(&W);
    }
    FtB_Matrix_free(&A);
}

/* First steps of two walks that differ in one thing alone have nothing to do with each other; nor have two
 * steps of a walk. */
static void independence(void **state)
{
    (void)state;
    enum { D = 4 };
    FtB_Matrix A;
    int64_t I[D * D], J[D * D], starts[2] = {0, 1};
    double chance[D * D];
    for (int t = 0; t < D * D; t++) {
        I[t] = t / D;
        J[t] = t % D;
        chance[t] = 1.0 / (D * D);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, D, D, 0, D * D, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (int c = 0; c < 5; c++) {
        static const char *const what[] = {"seeds", "batches", "starts", "numbers", "steps"};
        FtB_Block W[2];
        int64_t count[D * D] = {0};
        for (int s = 0; s < 2; s++)
            assert_ok(FtB_walk(&W[s], A, starts + (c == 2 ? s : 0), 1, 2,
                               FTB_WALK_OPTIONS(.each = WALKS, .seed = 5 + (c == 0 ? (uint64_t)s : 0),
                                                .batch = c == 1 ? s : 0)));
        const int64_t *a = block_values(W[0]), *b = block_values(W[1]);
        for (int64_t t = 0; t + 1 < WALKS; t++)
            count[a[3 * t + 1] * D + (c == 4 ? a[3 * t + 2] : b[3 * (t + (c == 3)) + 1])]++;
        check_chances(count, chance, D * D, what[c]);
        FtB_Block_free(&W[0]);
        FtB_Block_free(&W[1]);
    }
    FtB_Matrix_free(&A);
}

/* ---- work */

/* node2vec's walks to and from a hub of so many neighbours, which it also has an edge to itself. */
static int64_t work_of_hub(int64_t degree)
{
    const int64_t n = degree + 1, nvals = 2 * degree + 1;
    int64_t *rowptr = malloc(sizeof *rowptr * (size_t)(n + 1)), at = 0, work = 0;
    int64_t *out = malloc(sizeof *out * 100 * 9), start = 0;
    int32_t *column = malloc(sizeof *column * (size_t)nvals);
    FtB_Context ctx; /* its own, on no device: the host's work is counted */
    FtB_Matrix A;
    ftb_walker w;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    for (int64_t i = 0; i <= n; i++) {
        rowptr[i] = at;
        for (int64_t t = 0; i == 0 && t <= degree; t++)
            column[at++] = (int32_t)t;
        if (i > 0 && i < n)
            column[at++] = 0;
    }
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, n, n, 0, rowptr, column, NULL));
    assert_ok(
        ftb_walker_begin(&w, ctx, A, FTB_WALK_OPTIONS(.seed = 1, .each = 100, .p = 2, .q = 0.5), "test"));
    w.selector.product.work = &work;
    const ftb_walk_list list = {.starts = &start, .count = 100, .length = 8, .out = out};
    assert_ok(ftb_walker_run(&w, &list));
    ftb_walker_end(&w);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    free(rowptr);
    free(column);
    free(out);
    return work;
}

static void work_follows_steps(void **state)
{
    (void)state;
    const int64_t small_hub = work_of_hub(100), hub = work_of_hub(1000000);
    assert_true(small_hub >= 2 * 100 * 8); /* a row and a pick a step */
    assert_true(hub < small_hub * 3 / 2);
}

/* Memory is the result's, and a piece of the walks'. */
static void memory_follows_walks(void **state)
{
    (void)state;
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Block W;
    rng r = rng_new();
    int64_t before, peak, start = 0;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_set_threads(ctx, 1));
    A = rng_matrix(&r, FTB_FP32, 50, 50, 0, 0.5);
    assert_ok(FtB_Context_memory(ctx, &before, NULL));
    assert_ok(FtB_walk(&W, A, &start, 1, 9, FTB_WALK_OPTIONS(.each = 300000)));
    assert_ok(FtB_Context_memory(ctx, NULL, &peak));
    assert_true(peak - before < 300000 * 80 + (4 << 20));
    FtB_Block_free(&W);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

/* ---- refusals */

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 6, 6, 1, 0.9), R = rng_matrix(&r, FTB_FP32, 6, 7, 1, 0.5);
    const int64_t starts[] = {0, 6};
    FtB_Block W;
    FtB_Op op;
    assert_ok(FtB_Op_new(&op, "x"));
    assert_fails(GrB_NULL_POINTER, "walks is NULL", FtB_walk(NULL, A, starts, 1, 3, NULL));
    assert_fails(GrB_NULL_POINTER, "A", FtB_walk(&W, NULL, starts, 1, 3, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 6 x 7", FtB_walk(&W, R, starts, 1, 3, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "starts[1] is 6; expected 0 to 5",
                 FtB_walk(&W, A, starts, 2, 3, NULL));
    assert_fails(GrB_INVALID_VALUE, "nstarts is -1", FtB_walk(&W, A, starts, -1, 3, NULL));
    assert_fails(GrB_NULL_POINTER, "starts is NULL", FtB_walk(&W, A, NULL, 1, 3, NULL));
    assert_fails(GrB_INVALID_VALUE, "length is -1", FtB_walk(&W, A, starts, 1, -1, NULL));
    assert_fails(GrB_OUT_OF_MEMORY, "", FtB_walk(&W, A, starts, 1, INT64_MAX, NULL));
    const struct {
        const char *text;
        FtB_Walk_options o;
    } bad[] = {{"batch is -1", {.batch = -1}},
               {"each is -2", {.each = -2}},
               {"restart is 1;", {.restart = 1}},
               {"restart is -0.5", {.restart = -0.5}},
               {"restart is nan", {.restart = (double)NAN}},
               {"p is -1", {.p = -1}},
               {"q is inf", {.q = (double)INFINITY}},
               {"q is nan", {.q = (double)NAN}},
               {"both key and key_op", {.key = "x", .key_op = op}},
               {"key", {.key = "x +"}},
               {"key is -1 for A(", {.key = "0 * x - 1"}},
               {"the weights of row 0 of A are all 0", {.key = "0 * x"}}};
    for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
        FtB_Walk_options o = bad[t].o;
        o.size = sizeof o;
        assert_fails(GrB_INVALID_VALUE, bad[t].text, FtB_walk(&W, A, starts, 1, 3, &o));
        assert_null(W);
    }
    assert_ok(FtB_walk(&W, A, NULL, 0, 0, NULL));
    FtB_Block_free(&W);
    FtB_Op_free(&op);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&R);
}

typedef struct walking {
    FtB_Matrix A;
    FtB_Walk_options options;
} walking;

static GrB_Info walk_once(void *arg)
{
    static const int64_t starts[] = {1, 5, 1};
    const walking *c = arg;
    FtB_Block W;
    FtB_Matrix A;
    GrB_Info info = FtB_Matrix_dup(&A, c->A); /* which keeps what is made of its values */
    if (info != GrB_SUCCESS)
        return info;
    info = FtB_walk(&W, A, starts, 3, 4, &c->options);
    FtB_Matrix_free(&A);
    if (info != GrB_SUCCESS)
        assert_null(W);
    FtB_Block_free(&W);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    walking c = {.A = rng_matrix(&r, FTB_FP32, 30, 30, 1, 0.8), .options = {.size = sizeof c.options}};
    for (int t = 0; t < 2; t++) {
        c.options.key = t ? "x + 9" : NULL;
        c.options.p = t ? 2 : 0;
        fail_every_allocation(walk_once, NULL, &c);
    }
    FtB_Matrix_free(&c.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),       cmocka_unit_test(threads_and_orders),
        cmocka_unit_test(transitions),        cmocka_unit_test(independence),
        cmocka_unit_test(work_follows_steps), cmocka_unit_test(memory_follows_walks),
        cmocka_unit_test(refusals),           cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
