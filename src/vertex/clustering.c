/* Local clustering coefficients: how many of the entries that there could be among a vertex's neighbours
 * there are. */
#include "core/options.h"
#include "cpu/graph/triangles_run.h"
#include "vertex/algorithm.h"

GrB_Info FtB_clustering(FtB_Block coefficients, FtB_Matrix A, const FtB_Clustering_options *options)
{
    const FtB_Context ctx = ftb_context();
    FtB_Clustering_options o = {.size = 0};
    ftb_triangles w = {.ctx = ctx};
    double *share = NULL;
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(ftb_check_result(coefficients, "coefficients", A, 1,
                               FTB_TYPE_BIT(FTB_FP32) | FTB_TYPE_BIT(FTB_FP64)));
    FTB_CHECK(ftb_options_read(&o, sizeof o, options, "FtB_clustering", "FTB_CLUSTERING"));
    FTB_CHECK(ftb_simple_graph(&w.p, ctx, A));
    const int64_t n = w.p->nrows;
    w.entries = !o.undirected;
    w.each = ftb_new(ctx, n, sizeof *w.each);
    w.degrees = ftb_new(ctx, n, sizeof *w.degrees);
    share = ftb_new(ctx, n, sizeof *share);
    if (!w.each || !w.degrees || !share)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_triangles_run(&w));
    for (int64_t v = 0; v < n; v++) {
        const double d = (double)w.degrees[v], there = (double)w.each[v] * (o.undirected ? 2 : 1);
        share[v] = d > 1 ? there / (d * (d - 1)) : 0;
    }
    info = ftb_set_column(coefficients, share, FTB_FP64);
done:
    ftb_pattern_release(w.p);
    ftb_delete(w.each);
    ftb_delete(w.degrees);
    ftb_delete(share);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}
