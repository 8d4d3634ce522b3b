/* Runs of vertex programs (vertex_calls.h). */
#include "support/vertex_calls.h"

#include "support/check.h"

void vertex_runs(FtB_Matrix A)
{
    FtB_Block X;
    FtB_Program p;
    int64_t n, some[1000];
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Block_new(&X, n, 4, FTB_FP32));
    for (int64_t v = 0; v < 1000; v++)
        some[v] = v * n / 1000;
    assert_ok(
        FtB_Program_new(&p, FTB_PROGRAM(.send = "x + indegree", .combine = "max : message * edge",
                                        .apply = "x = x + received", .active = "id != 3",
                                        .until = "sum(new.x) < 0", .rounds = 3, .direction = FTB_BOTH)));
    for (int way = FTB_WAY_AUTO; way <= FTB_WAY_SLICES; way++)
        assert_ok(
            FtB_run(p, A, FTB_STATE("x", X), FTB_RUN_OPTIONS(.way = (FtB_Way)way, .start = {some, 1000})));
    assert_ok(FtB_run(p, A, FTB_STATE("x", X), NULL));
    FtB_Program_free(&p);
    FtB_Block_free(&X);
}

void vertex_programs(FtB_Matrix A)
{
    FtB_Block d, p;
    int64_t n;
    const int64_t sources[] = {0, 1, 2, 3};
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Block_new(&d, n, 4, FTB_FP64));
    assert_ok(FtB_Block_new(&p, n, 4, FTB_INT64));
    assert_ok(FtB_bfs(d, p, A, sources, 4, NULL));
    assert_ok(FtB_sssp(d, A, sources, 4, NULL));
    assert_ok(FtB_pagerank(d, A, FTB_PAGERANK(.sources = {sources, 4})));
    FtB_Block_free(&d);
    FtB_Block_free(&p);
    assert_ok(FtB_Block_new(&d, n, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&p, n, 1, FTB_INT64));
    assert_ok(FtB_components(p, A, NULL));
    assert_ok(FtB_pagerank(d, A, FTB_PAGERANK(.kind = FTB_PAGERANK_NETWORKX)));
    assert_ok(FtB_pagerank(d, A, FTB_PAGERANK(.method = FTB_PAGERANK_CHANGES, .start = d)));
    assert_ok(FtB_pagerank(d, A, FTB_PAGERANK(.method = FTB_PAGERANK_SWEEPS)));
    FtB_Block_free(&d);
    FtB_Block_free(&p);
}

void shape_programs(FtB_Matrix A)
{
    FtB_Matrix upper;
    FtB_Block d, p;
    int64_t n, total;
    const int64_t sources[] = {0, 1, 2, 3};
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Block_new(&d, n, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&p, n, 1, FTB_INT64));
    assert_ok(FtB_Matrix_new(&upper, FTB_FP32, n, n, 1));
    assert_ok(FtB_select(upper, NULL, NULL, "i < j", A, NULL));
    assert_ok(FtB_triangles(&total, p, A));
    assert_ok(FtB_clustering(d, A, NULL));
    assert_ok(FtB_betweenness(d, A, sources, 1, NULL));
    assert_ok(FtB_betweenness(d, A, sources, 4, NULL));
    assert_ok(FtB_communities(p, A, NULL));
    assert_ok(FtB_topological(p, NULL, upper));
    FtB_Matrix_free(&upper);
    FtB_Block_free(&d);
    FtB_Block_free(&p);
}

void rating_programs(FtB_Matrix R)
{
    FtB_Block U, V;
    int64_t nrows, ncols;
    double rmse;
    assert_ok(FtB_Matrix_shape(R, &nrows, &ncols, NULL, NULL, NULL));
    assert_ok(FtB_Block_new(&U, nrows, 4, FTB_FP32));
    assert_ok(FtB_Block_new(&V, ncols, 4, FTB_FP32));
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++)
        assert_ok(FtB_factorize(
            U, V, R, FTB_FACTORIZE(.method = (FtB_Factorize_method)method, .rounds = 1, .rate = 1e-6)));
    assert_ok(FtB_factorize_error(&rmse, U, V, R, 0));
    FtB_Block_free(&U);
    FtB_Block_free(&V);
}
