/* Rows normalised, and summed by column, over threads; layer norm, of which one pass over x and dy gives all
 * gradients (norm_run.h). */
#include "cpu/nn/norm_run.h"

#include "cpu/nn/parts.h"

#define CHUNK 64 /* rows that a thread takes at a time */

void ftb_norm_each(ftb_norm_rows kernel, const ftb_norm *c, const ftb_norm_product *p)
{
    const int64_t nrows = p->nrows, chunks = (nrows + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, nrows * c->ncols))
    for (int64_t k = 0; k < chunks; k++)
        kernel(c, k * CHUNK, ftb_min(nrows, (k + 1) * CHUNK));
}

GrB_Info ftb_norm_by_part(double **sums, ftb_norm_parts kernel, const ftb_norm *c, const ftb_norm_product *p)
{
    const int64_t nrows = p->nrows, parts = ftb_parts(nrows), room = 2 * c->ncols;
    double *scratch = ftb_new(p->ctx, parts * room, sizeof *scratch);
    *sums = scratch ? ftb_new0(p->ctx, parts * room, sizeof **sums) : NULL;
    if (!*sums) {
        ftb_delete(scratch);
        return ftb_nomem();
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for_values(p->ctx, nrows * c->ncols))
    for (int64_t k = 0; k < parts; k++)
        kernel(c, ftb_parts_cut(nrows, k), ftb_parts_cut(nrows, k + 1), *sums + k * room, scratch + k * room);
    ftb_delete(scratch);
    return GrB_SUCCESS;
}

GrB_Info ftb_norm_total(double **sums, ftb_norm_parts kernel, const ftb_norm *c, const ftb_norm_product *p)
{
    const int64_t room = 2 * c->ncols;
    GrB_Info info = ftb_norm_by_part(sums, kernel, c, p);
    for (int64_t k = 1; info == GrB_SUCCESS && k < ftb_parts(p->nrows); k++)
        for (int64_t f = 0; f < room; f++)
            (*sums)[f] += (*sums)[k * room + f];
    return info;
}

/* ---- layer norm */

GrB_Info ftb_layer_norm_run(const ftb_norm_product *p)
{
    const ftb_norm d = {.ncols = p->ncols,
                        .x = p->x,
                        .ldx = p->ldx,
                        .out = p->y,
                        .ldout = p->ldy,
                        .gain = p->gain,
                        .shift = p->shift,
                        .stats = p->keep,
                        .eps = p->eps};
    ftb_norm_each(FTB_PICK_REAL(ftb_layer_norm, p->type), &d, p);
    return GrB_SUCCESS;
}

void ftb_norm_give(const ftb_norm_product *p, const double *sums)
{
    if (p->dshift)
        ftb_parts_put(p->dshift, p->type, sums + p->ncols, p->ncols, p->add_dshift);
    if (p->dgain)
        ftb_parts_put(p->dgain, p->type, sums, p->ncols, p->add_dgain);
}

/* dx comes with the sums: a row's gradient is read before it may be written over. */
GrB_Info ftb_layer_norm_grad_run(const ftb_norm_product *p)
{
    const ftb_norm d = {.ncols = p->ncols,
                        .x = p->x,
                        .ldx = p->ldx,
                        .dy = p->dy,
                        .lddy = p->lddy,
                        .out = p->dx,
                        .ldout = p->lddx,
                        .add = p->add_dx,
                        .gain = p->gain,
                        .stats = (void *)(uintptr_t)p->kept, /* which gradients only read */
                        .eps = p->eps};
    double *sums = NULL;
    GrB_Info info = ftb_norm_total(&sums, FTB_PICK_REAL(ftb_layer_norm_grad, p->type), &d, p);
    if (info == GrB_SUCCESS)
        ftb_norm_give(p, sums);
    ftb_delete(sums);
    return info;
}
