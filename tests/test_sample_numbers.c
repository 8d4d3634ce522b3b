/* Numbers of picked vertices, which come from marks where these are few beside the picks, and else from a
 * table: a graph, and the same among many more vertices, have the same samples, on any threads. */
#include "support/check.h"

#include "support/rng.h"

#include <stdlib.h>

enum { N = 3000, DEGREE = 12, MANY = 1000000, SEEDS = 400, HOPS = 2 };

/* Of `size` vertices, of which the first N have edges, some of them many. */
static FtB_Matrix make_graph(rng r, int64_t size)
{
    FtB_Matrix A;
    int64_t *I = malloc(sizeof *I * N * DEGREE), *J = malloc(sizeof *J * N * DEGREE);
    double *X = malloc(sizeof *X * N * DEGREE);
    assert_true(I && J && X);
    for (int64_t e = 0; e < N * DEGREE; e++) {
        I[e] = rng_below(&r, 1 + rng_below(&r, N));
        J[e] = rng_below(&r, N);
        X[e] = rng_unit(&r);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, size, size, 1, N * DEGREE, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

static void assert_ids(FtB_Ids a, FtB_Ids b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, sizeof *a.at * (size_t)a.count);
}

static void assert_same(FtB_Sample a, FtB_Sample b)
{
    assert_ids(FtB_Sample_vertices(a), FtB_Sample_vertices(b));
    for (int h = 0; h < HOPS; h++) {
        const int64_t *p, *q;
        const void *i, *j, *x, *y;
        int64_t m, n, count, k, l, others;
        assert_ok(FtB_Matrix_shape(FtB_Sample_layer(a, h), &m, &n, NULL, &count, NULL));
        assert_ok(FtB_Matrix_shape(FtB_Sample_layer(b, h), &k, &l, NULL, &others, NULL));
        assert_true(m == k && n == l && count == others);
        assert_ok(FtB_Matrix_csr(FtB_Sample_layer(a, h), &p, &i, &x));
        assert_ok(FtB_Matrix_csr(FtB_Sample_layer(b, h), &q, &j, &y));
        assert_memory_equal(p, q, sizeof *p * (size_t)(m + 1));
        assert_memory_equal(i, j, sizeof(int32_t) * (size_t)count);
        assert_memory_equal(x, y, sizeof(double) * (size_t)count);
        assert_ids(FtB_Sample_edges(a, h), FtB_Sample_edges(b, h));
    }
}

static void marks_and_table(void **state)
{
    (void)state;
    static const int64_t fanouts[HOPS] = {7, 5};
    rng r = rng_new();
    for (int c = 0; c < 8; c++) {
        FtB_Matrix few = make_graph(r, N), many = make_graph(r, MANY);
        int64_t seeds[SEEDS];
        FtB_Sample first, s;
        const FtB_Sample_options o = {.size = sizeof o,
                                      .seed = 5 + (uint64_t)c,
                                      .edges = true,
                                      .self = c & 1,
                                      .replace = c & 2,
                                      .once = c & 4};
        for (int t = 0; t < SEEDS; t++)
            seeds[t] = rng_below(&r, N); /* some come again */
        assert_ok(FtB_Context_set_threads(NULL, 1));
        assert_ok(FtB_sample(&first, few, seeds, SEEDS, fanouts, HOPS, &o));
        for (int threads = 1; threads <= 4; threads++) {
            assert_ok(FtB_Context_set_threads(NULL, threads));
            for (int way = 0; way < 2; way++) {
                assert_ok(FtB_sample(&s, way ? many : few, seeds, SEEDS, fanouts, HOPS, &o));
                assert_same(first, s);
                FtB_Sample_free(&s);
            }
        }
        FtB_Sample_free(&first);
        FtB_Matrix_free(&few);
        FtB_Matrix_free(&many);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(marks_and_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
