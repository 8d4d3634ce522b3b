/* The verb `dropout` on a GPU. Draws and bits are the host's. */
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/dropout_draws.h"

#include <math.h>
#include <stdio.h>

GrB_Info ftb_gpu_dropout(const ftb_dropout_product *p)
{
    const int64_t count = p->nrows * p->ncols;
    const bool flat = p->ldx == p->ncols && p->ldy == p->ncols;
    const unsigned threshold = (unsigned)lrint(p->probability * 65536);
    ftb_dropout_arguments a = {.count = count,
                               .ncols = flat ? count : p->ncols,
                               .ldx = p->ldx,
                               .ldy = p->ldy,
                               .x = p->x,
                               .y = p->y,
                               .seed = p->seed,
                               .seed_at = (const unsigned long long *)p->seed_at,
                               .threshold = threshold,
                               .scale = (float)(1 / (1 - threshold / 65536.0))};
    const ftb_gpu_grid grid = {
        .x = (count + FTB_DROPOUT_VALUES - 1) / FTB_DROPOUT_VALUES, .y = 1, .threads = FTB_DROPOUT_THREADS};
    char name[64];
    snprintf(name, sizeof name, "dropout_%s_%s", ftb_gpu_real(p->type), p->add ? "ADD" : "PUT");
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, "gpu/kernels/dropout.cu", name, grid,
                          (void *[]){&a});
}
