/* The verbs `layer_norm` and `batch_norm` and their gradients on a GPU (kernels/layer_norm.cu,
 * batch_norm.cu). Sums are made in FP64, in an order of the GPU's own. */
#include "gpu/columns.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/norm_rows.h"

#include <stdio.h>

typedef struct norm {
    ftb_gpu_device *d;
    const ftb_norm_product *p;
    const char *source, *verb;
    ftb_norm_arguments a;
} norm;

static norm norm_of(const ftb_norm_product *p, const char *source, const char *verb)
{
    return (norm){.d = ftb_gpu_of(ftb_device(p->ctx)),
                  .p = p,
                  .source = source,
                  .verb = verb,
                  .a = {.nrows = p->nrows,
                        .ncols = p->ncols,
                        .x = p->x,
                        .gain = p->gain,
                        .shift = p->shift,
                        .y = p->y,
                        .eps = p->eps,
                        .momentum = p->momentum,
                        .stats = p->keep ? p->keep : (void *)(uintptr_t)p->kept,
                        .mean = p->mean,
                        .variance = p->variance,
                        .running_mean = p->running_mean,
                        .running_variance = p->running_variance,
                        .dy = p->dy,
                        .dx = p->dx,
                        .dgain = p->dgain,
                        .dshift = p->dshift,
                        .ldx = p->ldx,
                        .ldy = p->ldy,
                        .lddy = p->lddy,
                        .lddx = p->lddx,
                        .add_dx = p->add_dx,
                        .add_dgain = p->add_dgain,
                        .add_dshift = p->add_dshift}};
}

static GrB_Info launch(norm *n, const char *what, ftb_gpu_grid grid)
{
    char name[48];
    snprintf(name, sizeof name, "%s_%s%s", n->verb, ftb_gpu_real(n->p->type), what);
    return ftb_gpu_launch(n->d, n->p->ctx, n->source, name, grid, (void *[]){&n->a});
}

static GrB_Info each_value(norm *n, const char *what)
{
    return launch(n, what, ftb_gpu_items(&n->a.items, n->p->nrows, n->p->ncols));
}

static GrB_Info each_column(norm *n, const char *what)
{
    return launch(n, what,
                  (ftb_gpu_grid){.x = (n->p->ncols + FTB_NORM_BLOCK - 1) / FTB_NORM_BLOCK,
                                 .y = 1,
                                 .threads = FTB_NORM_BLOCK});
}

static GrB_Info each_row(norm *n, const char *what)
{
    const int64_t rows = FTB_NORM_BLOCK / 32;
    return launch(n, what,
                  (ftb_gpu_grid){.x = (n->p->nrows + rows - 1) / rows, .y = 1, .threads = FTB_NORM_BLOCK});
}

/* Sums over rows, by `part` and `join`. */
static GrB_Info sums(norm *n, int count, const char *part, const char *join)
{
    ftb_gpu_columns c;
    GrB_Info info = ftb_gpu_columns_new(&c, n->d, n->p->ctx, n->p->nrows, n->p->ncols, count);
    if (info != GrB_SUCCESS)
        return info;
    n->a.parts = c.parts;
    info = launch(n, part, c.first);
    if (info == GrB_SUCCESS)
        info = launch(n, join, c.second);
    ftb_gpu_columns_delete(&c, n->d);
    return info;
}

/* ---- layer norm */

#define LAYER "gpu/kernels/layer_norm.cu", "layer_norm"

GrB_Info ftb_gpu_layer_norm(const ftb_norm_product *p)
{
    norm n = norm_of(p, LAYER);
    return each_row(&n, "");
}

GrB_Info ftb_gpu_layer_norm_grad(const ftb_norm_product *p)
{
    norm n = norm_of(p, LAYER);
    GrB_Info info = p->dgain || p->dshift ? sums(&n, 2, "_part", "_join") : GrB_SUCCESS;
    if (info == GrB_SUCCESS && p->dx)
        info = ftb_gpu_half_done(each_row(&n, "_grad"), p->add_dgain || p->add_dshift);
    return info;
}

/* ---- batch norm */

#define BATCH "gpu/kernels/batch_norm.cu", "batch_norm"

bool ftb_gpu_batch_norm_fits(const ftb_norm_product *p) { return p->nrows > 0; }

static GrB_Info batch(norm *n)
{
    const ftb_norm_product *p = n->p;
    GrB_Info info;
    if (!p->running_mean) {
        info = each_column(n, "_given");
        return info == GrB_SUCCESS ? each_value(n, "") : info;
    }
    info = sums(n, 1, "_mean", "_mean_join");
    if (info == GrB_SUCCESS)
        info = sums(n, 1, "_variance", "_variance_join");
    if (info == GrB_SUCCESS)
        info = each_value(n, "");
    return info == GrB_SUCCESS ? ftb_gpu_half_done(each_column(n, "_follow"), p->y == p->x) : info;
}

/* Room for what goes from one launch to the next: moments that nobody keeps, and two rows beside them. */
static GrB_Info with_room(norm *n, GrB_Info (*run)(norm *))
{
    const int64_t bytes = 4 * n->p->ncols * (int64_t)sizeof(double);
    const ftb_memory *memory = n->d->row.memory;
    void *room;
    GrB_Info info = bytes > 0 ? ftb_device_room(&room, &n->d->row, n->p->ctx, bytes) : GrB_SUCCESS;
    if (info != GrB_SUCCESS || bytes == 0)
        return info;
    n->a.slope = room;
    if (!n->a.stats)
        n->a.stats = n->a.slope + 2 * n->p->ncols;
    info = run(n);
    memory->free(&n->d->row, room, bytes);
    return info;
}

GrB_Info ftb_gpu_batch_norm(const ftb_norm_product *p)
{
    norm n = norm_of(p, BATCH);
    return with_room(&n, batch);
}

static GrB_Info batch_grad(norm *n)
{
    GrB_Info info = sums(n, 2, "_grad_part", "_grad_part_join");
    if (info == GrB_SUCCESS && n->p->dx)
        info = ftb_gpu_half_done(each_value(n, "_grad"), n->p->add_dgain || n->p->add_dshift);
    return info;
}

GrB_Info ftb_gpu_batch_norm_grad(const ftb_norm_product *p)
{
    norm n = norm_of(p, BATCH);
    return with_room(&n, batch_grad);
}
