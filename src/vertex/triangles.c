/* Triangles of a graph, in all and by vertex. */
#include "cpu/graph/triangles_run.h"
#include "vertex/algorithm.h"

GrB_Info FtB_triangles(int64_t *total, FtB_Block each, FtB_Matrix A)
{
    const FtB_Context ctx = ftb_context();
    ftb_triangles w = {.ctx = ctx};
    int64_t sum = 0;
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(each ? ftb_check_result(each, "each", A, 1, FTB_TYPE_BIT(FTB_INT64) | FTB_TYPE_BIT(FTB_FP64))
                   : ftb_check_graph(A));
    if (!total && !each)
        FTB_CHECK(ftb_fail(GrB_NULL_POINTER, "total and each are NULL; expected one of them"));
    FTB_CHECK(ftb_simple_graph(&w.p, ctx, A));
    if (!(w.each = ftb_new(ctx, w.p->nrows, sizeof *w.each)))
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_triangles_run(&w));
    for (int64_t v = 0; v < w.p->nrows; v++)
        sum += w.each[v];
    if (each)
        FTB_CHECK(ftb_set_column(each, w.each, FTB_INT64));
    if (total)
        *total = sum / 3;
done:
    ftb_pattern_release(w.p);
    ftb_delete(w.each);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}
