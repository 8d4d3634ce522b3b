/* Betweenness against the definition over all pairs (oracle/ref_shape.c), against the same as two vertex
 * programs, and on large graphs against Brandes's own lists in wider arithmetic: pushed or pulled, with a
 * scale beside the numbers of paths or without, by 1 to 8 threads, of one source or many, the same bits; more
 * paths than FP64 counts; sources that are drawn; what is refused; allocations that fail; cancelling. */
#include "support/check.h"

#include "cpu/graph/betweenness_run.h"
#include "featblas_vertex.h"
#include "oracle/ref_shape.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/vertex_graphs.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 40, TUPLES = 400 };

/* Of few edges a vertex, so that paths are long, or of more, so that they are many. */
static FtB_Matrix make_graph(rng *r, bool keep)
{
    int64_t I[2 * TUPLES], J[2 * TUPLES], count = 0;
    FtB_Matrix A;
    const int64_t n = 1 + rng_below(r, MOST), tuples = rng_below(r, 1 + (rng_below(r, 3) ? 2 : 5) * n);
    const bool both = rng_below(r, 2);
    for (int64_t e = 0; e < tuples; e++) {
        I[count] = rng_below(r, n);
        J[count++] = rng_below(r, n);
        if (both) {
            I[count] = J[count - 1];
            J[count] = I[count - 1];
            count++;
        }
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, n, n, 0, count, I, J, NULL, keep ? FTB_DUP_KEEP : FTB_DUP_FIRST,
                               NULL));
    return A;
}

static bool near(double x, long double y, double by) { return fabsl(x - y) <= by * (1 + fabsl(y)); }

static void by_definition(void **state)
{
    (void)state;
    int between = 0;
    const int cases = rng_cases(250);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_graph(&r, c % 2);
        ref_graph g = ref_graph_of(A);
        const int64_t k = rng_below(&r, 4) ? rng_below(&r, 8) : g.n; /* of which some come again */
        int64_t sources[MOST + 8], times[MOST] = {0};
        long double expected[MOST];
        FtB_Block B, F;
        for (int64_t s = 0; s < k; s++) {
            sources[s] = k == g.n ? s : rng_below(&r, g.n);
            times[sources[s]]++;
        }
        ref_betweenness(&g, sources, k, expected);
        assert_ok(FtB_Block_new(&B, g.n, 1, FTB_FP64));
        assert_ok(FtB_Block_new(&F, g.n, 1, FTB_FP32));
        assert_ok(FtB_betweenness(B, A, sources, k, NULL));
        assert_ok(FtB_betweenness(F, A, k == g.n ? NULL : sources, k == g.n ? 0 : k,
                                  FTB_BETWEENNESS(.normalized = true)));
        for (int64_t v = 0; v < g.n; v++) {
            const long double pairs = (long double)(k - times[v]) * (long double)(g.n - 2);
            assert_true(near(((const double *)block_values(B))[v], expected[v], 1e-14));
            assert_true(near((double)((const float *)block_values(F))[v], pairs > 0 ? expected[v] / pairs : 0,
                             FLT_EPSILON));
            between += expected[v] > 2;
        }
        FtB_Block_free(&B);
        FtB_Block_free(&F);
        FtB_Matrix_free(&A);
        ref_graph_free(&g);
    }
    assert_true(cases < 250 || between > 1000);
}

/* ---- as vertex programs, of k sources side by side */

static const FtB_Program_texts forward = {.size = sizeof forward,
                                          .send = "level == round - 1 ? paths : 0",
                                          .combine = "plus : message",
                                          .apply = "paths = level < 0 ? received : paths; "
                                                   "level = level < 0 && received > 0 ? round : level",
                                          .active = "new.level == round"};
/* `last` is the greatest level; round 1 sends from there. */
static const FtB_Program_texts backward = {.size = sizeof backward,
                                           .send = "level == last - round + 1 ? (1 + gain) / paths : 0",
                                           .combine = "plus : message",
                                           .apply = "gain = level == last - round ? paths * received : gain",
                                           .active = "true",
                                           .applies = FTB_APPLY_ALL,
                                           .direction = FTB_IN};

static void by_programs(FtB_Matrix A, const int64_t *sources, int64_t k, double *sums)
{
    FtB_Program out, back;
    FtB_Block paths, level, gain;
    int64_t n, last = 0;
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Program_new(&out, &forward));
    assert_ok(FtB_Program_new(&back, &backward));
    assert_ok(FtB_Block_new(&paths, n, k, FTB_FP64));
    assert_ok(FtB_Block_new(&gain, n, k, FTB_FP64));
    assert_ok(FtB_Block_new(&level, n, k, FTB_INT64));
    int64_t *l = block_values(level);
    for (int64_t t = 0; t < n * k; t++)
        l[t] = -1;
    for (int64_t s = 0; s < k; s++) {
        ((double *)block_values(paths))[sources[s] * k + s] = 1;
        l[sources[s] * k + s] = 0;
    }
    assert_ok(
        FtB_run(out, A, FTB_STATE("paths", paths, "level", level), FTB_RUN_OPTIONS(.start = {sources, k})));
    for (int64_t t = 0; t < n * k; t++)
        last = l[t] > last ? l[t] : last;
    if (last > 1)
        assert_ok(FtB_run(back, A, FTB_STATE("paths", paths, "level", level, "gain", gain, "last", last),
                          FTB_RUN_OPTIONS(.rounds = last - 1)));
    for (int64_t v = 0; v < n; v++) {
        sums[v] = 0;
        for (int64_t s = 0; s < k; s++)
            sums[v] += ((const double *)block_values(gain))[v * k + s];
    }
    FtB_Program_free(&out);
    FtB_Program_free(&back);
    FtB_Block_free(&paths);
    FtB_Block_free(&level);
    FtB_Block_free(&gain);
}

static void beside_programs(void **state)
{
    (void)state;
    const int cases = rng_cases(60);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_graph(&r, false);
        FtB_Block B;
        int64_t n, sources[5];
        const int64_t k = 1 + rng_below(&r, 5);
        double sums[MOST];
        assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
        for (int64_t s = 0; s < k; s++)
            sources[s] = rng_below(&r, n);
        by_programs(A, sources, k, sums);
        assert_ok(FtB_Block_new(&B, n, 1, FTB_FP64));
        assert_ok(FtB_betweenness(B, A, sources, k, NULL));
        for (int64_t v = 0; v < n; v++)
            assert_true(near(((const double *)block_values(B))[v], (long double)sums[v], 1e-13));
        FtB_Block_free(&B);
        FtB_Matrix_free(&A);
    }
}

/* ---- large graphs: every way has the same bits, and they are right */

static void by_lists(ftb_pattern *p, const int64_t *sources, int64_t k, long double *sums)
{
    const size_t n = (size_t)p->nrows;
    int64_t *level = malloc(n * sizeof *level), *list = malloc(n * sizeof *list);
    long double *paths = malloc(n * sizeof *paths), *gain = malloc(n * sizeof *gain);
    memset(sums, 0, n * sizeof *sums);
    for (int64_t s = 0; s < k; s++) {
        int64_t count = 0;
        for (size_t v = 0; v < n; v++) {
            level[v] = -1;
            paths[v] = gain[v] = 0;
        }
        list[count++] = sources[s];
        level[sources[s]] = 0;
        paths[sources[s]] = 1;
        for (int64_t t = 0; t < count; t++)
            for (int64_t u = list[t], e = p->rowptr[u]; e < p->rowptr[u + 1]; e++) {
                const int64_t v = ftb_col(p, e);
                if (level[v] < 0) {
                    level[v] = level[u] + 1;
                    list[count++] = v;
                }
                paths[v] += level[v] == level[u] + 1 ? paths[u] : 0;
            }
        for (int64_t t = count - 1; t > 0; t--) {
            const int64_t u = list[t];
            for (int64_t e = p->rowptr[u]; e < p->rowptr[u + 1]; e++)
                if (level[ftb_col(p, e)] == level[u] + 1)
                    gain[u] += paths[u] / paths[ftb_col(p, e)] * (1 + gain[ftb_col(p, e)]);
            sums[u] += gain[u];
        }
    }
    free(level);
    free(list);
    free(paths);
    free(gain);
}

/* Runs it by all ways; the first result is left in sums. */
static void all_ways(FtB_Matrix A, const int64_t *sources, int64_t k, double *sums)
{
    ftb_pattern *out = A->pattern, *in;
    const size_t bytes = (size_t)out->nrows * sizeof *sums;
    double *more = malloc(bytes);
    assert_ok(ftb_pattern_transpose(out, &in, NULL));
    for (int c = 0; c < 18; c++) {
        FtB_Context ctx;
        assert_ok(FtB_Context_new(&ctx));
        assert_ok(FtB_Context_set_threads(ctx, 1 + c / 6 * 7 / 2)); /* 1, 4, 8 */
        ftb_betweenness w = {.ctx = ctx,
                             .out = out,
                             .in = in,
                             .sources = sources,
                             .nsources = k,
                             .sums = c ? more : sums,
                             .way = (FtB_Way)(c % 3),
                             .scaled = c / 3 % 2};
        assert_ok(ftb_betweenness_run(&w));
        if (c)
            assert_memory_equal(more, sums, bytes);
        FtB_Context_free(&ctx);
    }
    free(more);
}

static void check_large(FtB_Matrix A, int64_t k)
{
    assert_ok(FtB_Matrix_csr(A, &(const int64_t *){NULL}, NULL, NULL)); /* all rows are looked at */
    const int64_t n = A->pattern->nrows;
    int64_t sources[100];
    double *sums = malloc((size_t)n * sizeof *sums);
    long double *expected = malloc((size_t)n * sizeof *expected);
    for (int64_t s = 0; s < k; s++)
        sources[s] = s * 37 % n;
    all_ways(A, sources, k, sums);
    by_lists(A->pattern, sources, k, expected);
    for (int64_t v = 0; v < n; v++)
        assert_true(near(sums[v], expected[v], 1e-12));
    free(sums);
    free(expected);
}

/* EDGES entries without parallel ones, in one direction or both. */
static FtB_Matrix without_parallels(bool both)
{
    FtB_Matrix A = large_graph(), B;
    const ftb_pattern *p = A->pattern;
    int64_t *I = malloc(2 * EDGES * sizeof *I), *J = malloc(2 * EDGES * sizeof *J), count = 0;
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            I[count] = i;
            J[count++] = ftb_col(p, e);
            I[count] = ftb_col(p, e);
            J[count] = i;
            count += both;
        }
    assert_ok(FtB_Matrix_build(&B, FTB_FP64, LARGE, LARGE, 0, count, I, J, NULL, FTB_DUP_FIRST, NULL));
    FtB_Matrix_free(&A);
    free(I);
    free(J);
    return B;
}

/* Layers of vertices, each with entries to half of the next layer: times `wide` / 2 as many paths a layer.
 * They are anywhere among n vertices, a prime. */
static FtB_Matrix layers(int64_t count, int64_t wide, int64_t n)
{
    rng r = {3};
    int64_t *I = malloc((size_t)(count * wide * wide) * sizeof *I),
            *J = malloc((size_t)(count * wide * wide) * sizeof *J), at = 0;
    FtB_Matrix A;
    for (int64_t l = 0; l + 1 < count; l++)
        for (int64_t a = 0; a < wide; a++)
            for (int64_t b = 0; b < wide; b++)
                if (rng_below(&r, 2)) {
                    I[at] = (l * wide + a) * 7919 % n;
                    J[at++] = ((l + 1) * wide + b) * 7919 % n;
                }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, n, n, 0, at, I, J, NULL, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    return A;
}

static void large(void **state)
{
    (void)state;
    FtB_Matrix one = without_parallels(false), both = without_parallels(true), many = layers(250, 25, 6257),
               few = layers(6, 20, 100003); /* levels are small beside the graph */
    check_large(one, 1);
    check_large(one, 9);
    check_large(both, 1);
    check_large(both, 30);
    check_large(few, 1);
    if (LDBL_MAX_EXP > 4096)
        check_large(many, 2);
    FtB_Matrix_free(&one);
    FtB_Matrix_free(&both);
    FtB_Matrix_free(&many);
    FtB_Matrix_free(&few);
}

/* A chain of 3000 squares: 2^3000 paths from end to end, and every number is a whole or a half. */
static void squares(void **state)
{
    (void)state;
    enum { LINKS = 3000, N = 3 * LINKS + 1 };
    int64_t *I = malloc(4 * LINKS * sizeof *I), *J = malloc(4 * LINKS * sizeof *J), source = 0;
    FtB_Matrix A;
    FtB_Block B;
    for (int64_t l = 0; l < LINKS; l++)
        for (int64_t side = 0; side < 2; side++) {
            I[4 * l + 2 * side] = 3 * l;
            J[4 * l + 2 * side] = I[4 * l + 2 * side + 1] = 3 * l + 1 + side;
            J[4 * l + 2 * side + 1] = 3 * l + 3;
        }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 0, 4 * LINKS, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&B, N, 1, FTB_FP64));
    assert_ok(FtB_betweenness(B, A, &source, 1, NULL));
    const double *sum = block_values(B);
    for (int64_t v = 0; v < N; v++) {
        const double behind = (double)(N - 1 - (v + 2) / 3 * 3); /* the end of v's square, and all after it */
        assert_true(sum[v] == (v == 0 ? 0 : v % 3 == 0 ? behind : (behind + 1) / 2));
    }
    free(I);
    free(J);
    FtB_Block_free(&B);
    FtB_Matrix_free(&A);
}

/* ---- drawn sources */

static void drawn(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    FtB_Block B, C, D;
    assert_ok(FtB_Block_new(&B, LARGE, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&C, LARGE, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&D, LARGE, 1, FTB_FP64));
    assert_ok(FtB_betweenness(B, A, NULL, 20, FTB_BETWEENNESS(.seed = 5)));
    assert_ok(FtB_betweenness(C, A, NULL, 20, FTB_BETWEENNESS(.seed = 5)));
    assert_ok(FtB_betweenness(D, A, NULL, 20, FTB_BETWEENNESS(.seed = 6)));
    assert_memory_equal(block_values(B), block_values(C), LARGE * 8);
    assert_memory_not_equal(block_values(B), block_values(D), LARGE * 8);
    /* All, drawn: each once. Half of them, in the mean of 40 draws, as all: within five deviations. */
    double mean = 0, all = 0;
    FtB_Matrix_free(&A);
    A = path(30);
    FtB_Block E, F;
    assert_ok(FtB_Block_new(&E, 30, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&F, 30, 1, FTB_FP64));
    assert_ok(FtB_betweenness(E, A, NULL, 0, FTB_BETWEENNESS(.normalized = true)));
    assert_ok(FtB_betweenness(F, A, NULL, 30, FTB_BETWEENNESS(.normalized = true)));
    assert_memory_equal(block_values(E), block_values(F), 30 * 8);
    all = ((const double *)block_values(E))[15];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        assert_ok(FtB_betweenness(F, A, NULL, 15, FTB_BETWEENNESS(.normalized = true, .seed = seed)));
        mean += ((const double *)block_values(F))[15] / 40;
    }
    assert_true(fabs(mean - all) < 5 * 0.5 / sqrt(15 * 40));
    FtB_Block *const blocks[] = {&B, &C, &D, &E, &F};
    for (int b = 0; b < 5; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
}

/* ---- what is refused, and nothing */

static void refused(void **state)
{
    (void)state;
    FtB_Matrix A, none;
    FtB_Block d, i, empty, one;
    const int64_t sources[] = {0, 3};
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 3, 3, 1));
    assert_ok(FtB_Matrix_new(&none, FTB_FP32, 0, 0, 1));
    assert_ok(FtB_Block_new(&d, 3, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&one, 3, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&i, 3, 1, FTB_INT32));
    assert_ok(FtB_Block_new(&empty, 0, 1, FTB_FP64));
    assert_fails(GrB_NULL_POINTER, "centrality is NULL", FtB_betweenness(NULL, A, NULL, 0, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "centrality: dtype int32", FtB_betweenness(i, A, NULL, 0, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "sources[1] is 3; expected 0 to 2",
                 FtB_betweenness(d, A, sources, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "nsources is -1", FtB_betweenness(d, A, sources, -1, NULL));
    assert_fails(GrB_INVALID_VALUE, "nsources is 4, of 3 vertices", FtB_betweenness(d, A, NULL, 4, NULL));
    assert_fails(GrB_INVALID_VALUE, "nsources is -1, of 3", FtB_betweenness(d, A, NULL, -1, NULL));
    ((double *)block_values(d))[1] = 5;
    assert_ok(FtB_betweenness(d, A, sources, 0, FTB_BETWEENNESS(.normalized = true)));
    assert_true(((const double *)block_values(d))[1] == 0);
    assert_ok(FtB_betweenness(empty, none, NULL, 0, FTB_BETWEENNESS(.normalized = true)));
    assert_ok(FtB_betweenness(one, A, NULL, 0, NULL));
    FtB_Block *const blocks[] = {&d, &i, &empty, &one};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&none);
}

static void cancelled(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    FtB_Block B;
    assert_ok(FtB_Block_new(&B, LARGE, 1, FTB_FP64));
    ((double *)block_values(B))[7] = 7;
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_betweenness(B, A, NULL, 0, NULL));
    assert_true(((const double *)block_values(B))[7] == 7);
    FtB_Block_free(&B);
    FtB_Matrix_free(&A);
}

static GrB_Info two_calls(void *arg)
{
    (void)arg;
    static const int64_t I[] = {0, 1, 1, 2, 2, 3}, J[] = {1, 2, 2, 0, 3, 0};
    FtB_Matrix A = NULL;
    FtB_Block d = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, 4, 4, 0, 6, I, J, NULL, FTB_DUP_KEEP, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&d, 4, 1, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_betweenness(d, A, NULL, 2, FTB_BETWEENNESS(.normalized = true));
    if (info == GrB_SUCCESS) {
        const int64_t source = 1;
        ftb_pattern *in;
        double sums[4];
        ftb_betweenness w = {.ctx = A->ctx,
                             .out = A->pattern,
                             .sources = &source,
                             .nsources = 1,
                             .sums = sums,
                             .scaled = true};
        info = ftb_pattern_transpose(A->pattern, &in, NULL);
        w.in = in;
        info = info == GrB_SUCCESS ? ftb_betweenness_run(&w) : info;
    }
    FtB_Block_free(&d);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    fail_every_allocation(two_calls, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_definition), cmocka_unit_test(beside_programs),
                                       cmocka_unit_test(large),         cmocka_unit_test(squares),
                                       cmocka_unit_test(drawn),         cmocka_unit_test(refused),
                                       cmocka_unit_test(cancelled),     cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
