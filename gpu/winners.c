/* The verbs `winners`, of every type, and `winners_grad` on a GPU (kernels/winners.cu). */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/winning_entries.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/winners.cu"

bool ftb_gpu_winners_fits(const ftb_winners_product *w)
{
    return !w->p->wide && w->p->nrows <= INT_MAX && w->values <= INT_MAX;
}

GrB_Info ftb_gpu_winners(const ftb_winners_product *w)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(w->ctx));
    const int64_t *rowptr;
    const void *colidx;
    char name[32];
    GrB_Info info = ftb_pattern_ask_at(w->p, &d->row, &rowptr, &colidx);
    if (info != GrB_SUCCESS)
        return info;
    ftb_winners_arguments a = {.won = w->won,
                               .colidx = colidx,
                               .x = w->x,
                               .out = w->out,
                               .ldwon = w->ldwon,
                               .ldx = w->ldx,
                               .xvalues = w->xvalues,
                               .nvals = w->p->nvals};
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, w->p->nrows, w->values);
    snprintf(name, sizeof name, "winners_%d", (int)FtB_Type_size(w->type));
    return ftb_gpu_launch(d, w->ctx, SOURCE, name, grid, (void *[]){&a});
}

GrB_Info ftb_gpu_winners_grad(const ftb_winners_product *w)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(w->ctx));
    ftb_winners_grad_arguments a = {.entries.width = (int)w->values,
                                    .won = w->won,
                                    .x = w->x,
                                    .out = w->out,
                                    .any = w->any,
                                    .ldwon = w->ldwon,
                                    .ldx = w->ldx,
                                    .nrows = w->p->ncols};
    const int64_t *from, *rowptr;
    const void *colidx;
    char kernel[32], cut[32];
    ftb_gpu_pieces pieces;
    ftb_pattern *q;
    GrB_Info info = ftb_pattern_transpose(w->p, &q, &from);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_pieces_ask(&pieces, q, d);
    if (info == GrB_SUCCESS)
        info = ftb_pattern_ask_at(q, &d->row, &rowptr, &colidx);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_from_ask(&a.from, q, from, d);
    if (info != GrB_SUCCESS)
        return info;
    a.rowptr = (const long long *)rowptr;
    a.colidx = colidx;
    snprintf(kernel, sizeof kernel, "winners_grad_%s", ftb_gpu_real(w->type));
    snprintf(cut, sizeof cut, "winners_grad_%s_cut", ftb_gpu_real(w->type));
    info =
        ftb_gpu_sum_entries(d, w->ctx, &pieces, &a.entries, false, SOURCE, (const char *[]){kernel, cut}, &a);
    const int64_t rows = FTB_WINNERS_ANY_BLOCK / 32;
    return info != GrB_SUCCESS ? info
                               : ftb_gpu_launch(d, w->ctx, SOURCE, "winners_any",
                                                (ftb_gpu_grid){.x = (a.nrows + rows - 1) / rows,
                                                               .y = 1,
                                                               .threads = FTB_WINNERS_ANY_BLOCK},
                                                (void *[]){&a});
}
