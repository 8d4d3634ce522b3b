/* The verb `sddmm_grad` on a GPU: sums by row, and by column over the transpose, in FP32
 * (kernels/sddmm_grad.cu). */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/kernels/sddmm_grad_sums.h"

#include <limits.h>

#define SOURCE "gpu/kernels/sddmm_grad.cu"

bool ftb_gpu_sddmm_grad_fits(const ftb_sddmm_grad_product *g)
{
    return g->type == FTB_FP32 && !g->x.at && !g->y.at && !g->p->wide && g->p->nrows <= INT_MAX &&
           g->heads <= INT_MAX;
}

/* own: of p's rows, other: of its columns. */
static GrB_Info walk(ftb_gpu_device *d, const ftb_sddmm_grad_product *g, ftb_pattern *p, const int64_t *from,
                     const ftb_feed *own, const ftb_feed *other, void *out)
{
    ftb_gpu_pieces pieces;
    ftb_sddmm_grad_arguments a = {.entries.width = (int)g->heads,
                                  .grad = g->grad,
                                  .own = own->data,
                                  .other = other->data,
                                  .ldown = own->ld,
                                  .ldother = other->ld,
                                  .slope = (float)g->slope,
                                  .out = out};
    GrB_Info info = ftb_gpu_rows_ask(&pieces, &a.colidx, p, d);
    if (info == GrB_SUCCESS && from)
        info = ftb_gpu_from_ask(&a.from, p, from, d);
    return info != GrB_SUCCESS
               ? info
               : ftb_gpu_sum_entries(d, g->ctx, &pieces, &a.entries, false, SOURCE,
                                     (const char *[]){"sddmm_grad_f32_pieces", "sddmm_grad_f32_cut"}, &a);
}

GrB_Info ftb_gpu_sddmm_grad(const ftb_sddmm_grad_product *g)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(g->ctx));
    GrB_Info info = GrB_SUCCESS;
    if (g->dy)
        info = walk(d, g, g->p, NULL, &g->y, &g->x, g->dy);
    if (info == GrB_SUCCESS && g->dx)
        info = walk(d, g, g->q, g->from, &g->x, &g->y, g->dx);
    return info;
}
