/* The benchmark graph movielens-20m, seed 1: its products and the entries of its projection are those that
 * docs/generators.md states. Labels: slow */
#include "gen/gen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void require(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fail_msg("%d: %s %s", (int)info, gen_error(), FtB_error());
}

static void test_counts(void **state)
{
    gen_graph g = {0};
    FtB_Matrix A = NULL;
    FtB_Sink sink = NULL;
    FtB_Stats stats;
    int64_t products = 0, largest = 0;
    (void)state;
    require(gen_make_movielens(&g, 1));
    assert_true(g.nrows == 138493 && g.ncols == 26744 && g.nvals == 20000000);
    for (int64_t i = 0; i < g.nrows; i++) {
        int64_t degree = g.rowptr[i + 1] - g.rowptr[i];
        products += degree * degree;
        largest = degree > largest ? degree : largest;
    }
    assert_int_equal(products, INT64_C(10669189738));
    assert_int_equal(largest, 4136);

    require(gen_matrix(&A, &g));
    require(FtB_Sink_stats(&sink));
    require(FtB_project(sink, A, "count", FTB_PROJECT_OPTIONS(.triangle = true, .self_loops = true)));
    require(FtB_Sink_get_stats(sink, &stats));
    /* 239,605,748 entries off the diagonal, half of them in a triangle; 22,919 items that somebody rated */
    assert_int_equal(stats.nvals, 239605748 / 2 + 22919);
    assert_true(stats.sum == (10669189738.0 + 20000000) / 2);
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&A);
    gen_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
