/* One row per graph of a batch: a product with the matrix of which graph a vertex belongs to,
 *
 *     Y = P (x) X,  P: ngraphs x n, an entry per vertex,
 *
 * so that sums, means, maxima and their gradients are those of FtB_multiply, per head, the same for any
 * number of threads. */
#include "nn/shape.h"

static GrB_Info check(const ftb_nn_node *x, const int64_t *graph, int64_t ngraphs, FtB_Pool pool)
{
    if (pool != FTB_POOL_SUM && pool != FTB_POOL_MEAN && pool != FTB_POOL_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_pool: pool is %d; expected one of FTB_POOL_SUM, MEAN, MAX",
                        (int)pool);
    if (ngraphs < 1)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_pool: ngraphs is %lld; expected 1 or more",
                        (long long)ngraphs);
    if (x->ncols == 0)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "FtB_pool: x has no columns");
    if (!graph && x->nrows > 0)
        return ftb_fail(GrB_NULL_POINTER, "FtB_pool: graph is NULL; expected %lld numbers",
                        (long long)x->nrows);
    for (int64_t i = 0; i < x->nrows; i++)
        if (graph[i] < 0 || graph[i] >= ngraphs)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "FtB_pool: graph[%lld] is %lld; expected 0 to %lld",
                            (long long)i, (long long)graph[i], (long long)ngraphs - 1);
    return GrB_SUCCESS;
}

/* Entry (graph[i], i) for every vertex. */
static GrB_Info membership(FtB_Matrix *P, const int64_t *graph, int64_t n, int64_t ngraphs)
{
    int64_t *vertex = ftb_new(NULL, n, sizeof *vertex);
    if (!vertex)
        return ftb_nomem();
    for (int64_t i = 0; i < n; i++)
        vertex[i] = i;
    GrB_Info info = FtB_Matrix_build(P, FTB_FP32, ngraphs, n, 0, n, graph, vertex, NULL, FTB_DUP_ERROR, NULL);
    ftb_delete(vertex);
    return info;
}

FtB_Var FtB_pool(FtB_Var x, const int64_t *graph, int64_t ngraphs, FtB_Pool pool)
{
    static const char *const texts[] = {"plus : src", "mean : src", "max : src"};
    const ftb_nn_node *in = ftb_var_dense(x, "FtB_pool", "x");
    FtB_Matrix P = NULL;
    if (!in)
        return ftb_var_lost(x);
    GrB_Info info = check(in, graph, ngraphs, pool);
    if (info == GrB_SUCCESS)
        info = membership(&P, graph, in->nrows, ngraphs);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(x.tape, info);
    FtB_Var y = FtB_multiply(texts[pool], P, FTB_OPERAND("src", x));
    FtB_Matrix_free(&P);
    return y;
}
