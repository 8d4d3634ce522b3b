/* Shortest paths of many columns, which are walked together in their place (cpu/graph/paths_shared.c) where a
 * vertex has many edges, and on a path, where they do not fall together, one by one then: where an allocation
 * fails, all is as it was.
 * Their values are looked at in tests/test_paths.c, too. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "support/fail_alloc.h"

#include <math.h>

typedef struct sharing {
    bool all; /* begin */
    bool hub; /* a vertex that nobody reaches has edges to many */
} sharing;

static GrB_Info run(void *arg)
{
    enum { N = 1300, PATH = N - 1, HUB = 16, K = 40, LD = K + 1, EDGES = PATH - 1 + HUB };
    const sharing *how = arg;
    static int64_t I[EDGES], J[EDGES], start[K];
    static float first[N * LD], dist[N * LD];
    FtB_Matrix A = NULL;
    FtB_Block D = NULL;
    FtB_Program p = NULL;
    for (int e = 0; e < EDGES; e++) {
        I[e] = e < PATH - 1 ? e : PATH;
        J[e] = e < PATH - 1 ? e + 1 : e - PATH + 1;
    }
    for (int t = 0; t < N * LD; t++)
        first[t] = INFINITY;
    for (int c = 0; c < K; c++) {
        start[c] = 31 * c;
        first[start[c] * LD + c] = (float)c;
    }
    memcpy(dist, first, sizeof first);
    GrB_Info info =
        FtB_Matrix_build(&A, FTB_FP32, N, N, 0, how->hub ? EDGES : PATH - 1, I, J, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_wrap(&D, dist, N, K, LD, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Program_new(
            &p, FTB_PROGRAM(.send = "d", .combine = "min : message + edge", .apply = "d = min(d, received)"));
    if (info == GrB_SUCCESS)
        info = FtB_run(p, A, FTB_STATE("d", D),
                       FTB_RUN_OPTIONS(.start = {how->all ? NULL : start, how->all ? 0 : K}));
    if (info != GrB_SUCCESS)
        assert_memory_equal(dist, first, sizeof first);
    for (int t = 0; t < N * LD && info == GrB_SUCCESS; t++) {
        const int v = t / LD, c = t % LD;
        assert_true(c == K || v < 31 * c || v == PATH ? isinf(dist[t]) : dist[t] == (float)(c + v - 31 * c));
    }
    FtB_Program_free(&p);
    FtB_Block_free(&D);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    for (int c = 0; c < 5; c++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + c / 2 % 2));
        fail_every_allocation(run, NULL, &(sharing){.all = c % 2, .hub = c < 4});
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
