/* Graphs without loops and parallel entries: which entries stay, then these. */
#include "cpu/graph/simple_run.h"

#include "cpu/entries/keep_run.h"

static void mark(uint8_t *keep, const ftb_pattern *p, FtB_Context ctx)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, p->nvals + p->nrows)) schedule(dynamic, 256)
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            const int64_t j = ftb_col(p, e);
            keep[e] = j != i && (e == p->rowptr[i] || ftb_col(p, e - 1) != j);
        }
}

GrB_Info ftb_simple_pattern(ftb_pattern **simple, FtB_Context ctx, ftb_pattern *p)
{
    ftb_buffer *rowptr = NULL, *colidx = NULL;
    uint8_t *keep = NULL;
    int64_t loops;
    *simple = NULL;
    GrB_Info info = ftb_pattern_loops(p, &loops);
    if (info != GrB_SUCCESS)
        return info;
    if (loops == 0 && !p->multi) {
        *simple = ftb_pattern_retain(p);
        return GrB_SUCCESS;
    }
    ftb_kept w = {.ctx = ctx, .p = p};
    w.keep = keep = ftb_new(ctx, p->nvals, 1);
    rowptr = ftb_buffer_adopt(ctx, ftb_new(ctx, p->nrows + 1, sizeof *w.rowptr));
    if (!keep || !rowptr)
        FTB_CHECK(ftb_nomem());
    mark(keep, p, ctx);
    w.rowptr = ftb_buffer_data(rowptr);
    colidx = ftb_buffer_adopt(ctx, ftb_new(ctx, ftb_keep_count(&w), ftb_col_size(p->ncols)));
    if (!colidx)
        FTB_CHECK(ftb_nomem());
    w.colidx = ftb_buffer_data(colidx);
    ftb_keep_fill(&w);
    *simple = ftb_pattern_new(ctx, p->nrows, p->ncols, rowptr, colidx);
    rowptr = colidx = NULL; /* adopted */
    if (!*simple)
        FTB_CHECK(ftb_nomem());
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_delete(keep);
    return info;
}
