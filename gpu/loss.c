/* The verbs `loss` and `loss_grad` on a GPU, where targets are of the type of x. */
#include "gpu/columns.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/loss_rows.h"

#include <stdio.h>

#define SOURCE "gpu/kernels/loss.cu"

bool ftb_gpu_loss_fits(const ftb_loss_product *p)
{
    return p->what == FTB_LOSS_CLASSES || p->targets == p->type;
}

static ftb_loss_arguments arguments_of(const ftb_loss_product *p)
{
    const bool classes = p->what == FTB_LOSS_CLASSES;
    return (ftb_loss_arguments){.what = (int)p->what,
                                .nrows = p->nrows,
                                .ncols = p->ncols,
                                .x = p->x,
                                .t = classes ? NULL : p->t,
                                .ldx = p->ldx,
                                .ldt = p->ldt,
                                .labels = p->labels,
                                .mask = p->mask,
                                .terms = (double)p->counted * (classes ? 1 : (double)p->ncols),
                                .out = p->out,
                                .dout = p->dout,
                                .dx = p->dx,
                                .dt = p->dt,
                                .lddx = p->lddx,
                                .lddt = p->lddt,
                                .add_dx = p->add_dx,
                                .add_dt = p->add_dt};
}

static GrB_Info launch(const ftb_loss_product *p, const char *what, ftb_gpu_grid grid, ftb_loss_arguments *a)
{
    char name[40];
    snprintf(name, sizeof name, "loss_%s_%s", ftb_gpu_real(p->type), what);
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, SOURCE, name, grid, (void *[]){a});
}

GrB_Info ftb_gpu_loss(const ftb_loss_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    ftb_loss_arguments a = arguments_of(p);
    ftb_gpu_columns rows;
    GrB_Info info = ftb_gpu_columns_new(&rows, d, p->ctx, p->nrows, 1, 1);
    if (info != GrB_SUCCESS)
        return info;
    a.rows = rows.parts;
    info = launch(p, "part", rows.first, &a);
    if (info == GrB_SUCCESS)
        info = launch(p, "join", rows.second, &a);
    ftb_gpu_columns_delete(&rows, d);
    return info;
}

GrB_Info ftb_gpu_loss_grad(const ftb_loss_product *p)
{
    ftb_loss_arguments a = arguments_of(p);
    const ftb_gpu_grid grid = {.x = (p->nrows + FTB_LOSS_ROWS_BLOCK - 1) / FTB_LOSS_ROWS_BLOCK,
                               .y = 1,
                               .threads = FTB_LOSS_ROWS_BLOCK};
    return p->ncols > 0 ? launch(p, "grad", grid, &a) : GrB_SUCCESS;
}
