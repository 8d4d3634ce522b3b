/* The verb `copy` on a GPU. Every value is the host's, to the bit. */
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/copy_rows.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/copy.cu"

static GrB_Info turn(const ftb_copy_product *p)
{
    const int64_t tiles = (p->ncols + FTB_COPY_TILE - 1) / FTB_COPY_TILE,
                  rows = (p->nrows + FTB_COPY_TILE - 1) / FTB_COPY_TILE;
    const bool fits = tiles <= INT_MAX && rows <= INT_MAX; /* else no launch has as many blocks */
    ftb_copy_turned_arguments a = {.x = p->x,
                                   .y = p->y,
                                   .nrows = p->nrows,
                                   .ncols = p->ncols,
                                   .ldx = p->ldx,
                                   .ldy = p->ldy,
                                   .tiles = fits ? (unsigned)tiles : 1};
    char name[32];
    snprintf(name, sizeof name, "copy_turned_%d", (int)FtB_Type_size(p->type));
    return ftb_gpu_launch(
        ftb_gpu_of(ftb_device(p->ctx)), p->ctx, SOURCE, name,
        (ftb_gpu_grid){.x = fits ? tiles * rows : INT64_MAX, .y = 1, .threads = FTB_COPY_TURNED_BLOCK},
        (void *[]){&a});
}

GrB_Info ftb_gpu_copy(const ftb_copy_product *p)
{
    if (p->turned)
        return turn(p);
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
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, SOURCE, name, grid, (void *[]){&a});
}
