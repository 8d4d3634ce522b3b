/* The verbs `mean_heads` and `mean_heads_grad` on a GPU. Every value is the host's, to the bit. */
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/mean_heads_rows.h"

#include <stdio.h>

static GrB_Info launch(const ftb_mean_heads_product *p, const char *what)
{
    const int64_t size = (int64_t)FtB_Type_size(p->type);
    const bool vectors = ftb_gpu_vectors(p->x, p->ldx, size) && ftb_gpu_vectors(p->y, p->ldy, size) &&
                         p->width * size % 16 == 0;
    const int values = vectors ? (int)(16 / size) : 1;
    ftb_mean_heads_arguments a = {.heads = p->heads,
                                  .width = p->width,
                                  .ldx = p->ldx,
                                  .ldy = p->ldy,
                                  .x = p->x,
                                  .y = p->y,
                                  .factor = 1 / (double)p->heads};
    char name[64];
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, p->nrows, p->width / values);
    snprintf(name, sizeof name, "mean_heads_%s_%s_%d", ftb_gpu_real(p->type), what, values);
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, "gpu/kernels/mean_heads.cu", name, grid,
                          (void *[]){&a});
}

GrB_Info ftb_gpu_mean_heads(const ftb_mean_heads_product *p) { return launch(p, "MEAN"); }

GrB_Info ftb_gpu_mean_heads_grad(const ftb_mean_heads_product *p)
{
    return launch(p, p->add ? "ADD" : "SPREAD");
}
