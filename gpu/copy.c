/* The verb `copy` on a GPU. Every value is the host's, to the bit. */
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/copy_rows.h"

#include <stdio.h>

GrB_Info ftb_gpu_copy(const ftb_copy_product *p)
{
    const int64_t size = (int64_t)FtB_Type_size(p->type);
    const bool flat = p->ldy == p->ncols && (!p->x || p->ldx == p->ncols); /* one row */
    const int64_t nrows = flat ? 1 : p->nrows, ncols = flat ? p->nrows * p->ncols : p->ncols;
    const int64_t ldx = flat ? 0 : p->ldx, ldy = flat ? 0 : p->ldy;
    const bool vectors = ftb_gpu_vectors(p->x, ldx, size) && ftb_gpu_vectors(p->y, ldy, size);
    const int values = vectors ? (int)(16 / size) : 1;
    ftb_copy_arguments a = {.ncols = ncols, .ldx = ldx, .ldy = ldy, .x = p->x, .y = p->y, .value = p->value};
    char name[64];
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, nrows, (ncols + values - 1) / values);
    snprintf(name, sizeof name, "copy_%s_%s_%d", ftb_gpu_real(p->type),
             !p->x    ? "FILL"
             : p->add ? "ADD"
                      : "PUT",
             values);
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), "gpu/kernels/copy.cu", name, grid, (void *[]){&a});
}
