/* Dot products on entries by cuSPARSE (cusparse_sddmm.h): S = scale (Y X') where S has entries, of row-major
 * blocks, so that X' lies by columns, which its documentation calls the fastest.
 *
 * It has one algorithm, DEFAULT, whose bits by its documentation are the same at every run. */
#include "gpu/cusparse/cusparse_sddmm.h"

#include "gpu/cusparse/cusparse.h"

#include <limits.h>

bool ftb_gpu_cusparse_sddmm_fits(const ftb_sddmm_product *s)
{
    return s->kind == FTB_SCORE_DOT && s->type == FTB_FP32 && s->x.type == FTB_FP32 &&
           s->y.type == FTB_FP32 && s->heads == 1 && !s->x.at && !s->y.at && !s->p->wide && s->p->nvals > 0 &&
           s->p->nvals <= INT_MAX && s->p->nrows < INT_MAX;
}

GrB_Info ftb_gpu_cusparse_sddmm(ftb_gpu_device *d, const ftb_sddmm_product *s)
{
    const ftb_gpu_sparse_product product = {.ctx = s->ctx,
                                            .dots = true,
                                            .p = s->p,
                                            .values = s->out,
                                            .left = {.nrows = s->p->nrows,
                                                     .ncols = s->x.width,
                                                     .ld = s->y.ld,
                                                     .at = (void *)(uintptr_t)s->y.data},
                                            .right = {.nrows = s->x.width,
                                                      .ncols = s->p->ncols,
                                                      .ld = s->x.ld,
                                                      .at = (void *)(uintptr_t)s->x.data,
                                                      .by_columns = true},
                                            .algorithm = FTB_CUSPARSE_SDDMM_DEFAULT,
                                            .alpha = (float)s->scale};
    return ftb_gpu_cusparse_run(d, &product);
}
