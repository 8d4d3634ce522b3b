/* The verb `reduce` on a GPU: sums of FP32 and FP64 (kernels/reduce.cu). */
#include "gpu/columns.h"
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/reduce_parts.h"
#include "gpu/pieces.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/reduce.cu"

bool ftb_gpu_reduce_fits(const ftb_reduce_product *r)
{
    return r->monoid == FTB_PLUS && (r->type == FTB_FP32 || r->type == FTB_FP64) && r->heads <= INT_MAX &&
           r->width <= INT_MAX && (r->what != FTB_REDUCE_PATTERN || r->p->nrows <= INT_MAX);
}

static GrB_Info launch(ftb_gpu_device *d, const ftb_reduce_product *r, const char *what, ftb_gpu_grid grid,
                       ftb_reduce_arguments *a)
{
    char name[40];
    snprintf(name, sizeof name, "reduce_%s_%s", ftb_gpu_real(r->type), what);
    return ftb_gpu_launch(d, r->ctx, SOURCE, name, grid, (void *[]){a});
}

static GrB_Info columns(ftb_gpu_device *d, const ftb_reduce_product *r, ftb_reduce_arguments *a)
{
    ftb_gpu_columns c;
    GrB_Info info = ftb_gpu_columns_new(&c, d, r->ctx, r->nrows, r->heads * r->width, 1);
    if (info != GrB_SUCCESS)
        return info;
    a->parts = c.parts;
    info = launch(d, r, "columns", c.first, a);
    if (info == GrB_SUCCESS)
        info = launch(d, r, "join", c.second, a);
    ftb_gpu_columns_delete(&c, d);
    return info;
}

static GrB_Info rows(ftb_gpu_device *d, const ftb_reduce_product *r, ftb_reduce_arguments *a)
{
    const int64_t groups = FTB_REDUCE_BLOCK / FTB_REDUCE_LANES;
    return launch(
        d, r, "rows",
        (ftb_gpu_grid){.x = (r->nrows * r->heads + groups - 1) / groups, .y = 1, .threads = FTB_REDUCE_BLOCK},
        a);
}

static GrB_Info pattern(ftb_gpu_device *d, const ftb_reduce_product *r, ftb_reduce_arguments *a)
{
    char kernel[40], cut[40];
    ftb_gpu_pieces p;
    GrB_Info info = ftb_gpu_pieces_ask(&p, (ftb_pattern *)(uintptr_t)r->p, d);
    if (info != GrB_SUCCESS)
        return info;
    if (!r->fills || r->add)
        p.npieces -= p.nempty;
    snprintf(kernel, sizeof kernel, "reduce_%s_pattern", ftb_gpu_real(r->type));
    snprintf(cut, sizeof cut, "reduce_%s_cut", ftb_gpu_real(r->type));
    a->entries.width = (int)r->width;
    return ftb_gpu_sum_entries(d, r->ctx, &p, &a->entries, r->add, SOURCE, (const char *[]){kernel, cut}, a);
}

GrB_Info ftb_gpu_reduce(const ftb_reduce_product *r)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(r->ctx));
    ftb_reduce_arguments a = {.x = r->x,
                              .out = r->out,
                              .ld = r->ld,
                              .nrows = r->nrows,
                              .heads = (int)r->heads,
                              .width = (int)r->width,
                              .add = r->add,
                              .fill = r->fill};
    return r->what == FTB_REDUCE_PATTERN ? pattern(d, r, &a)
           : r->what == FTB_REDUCE_ROWS  ? rows(d, r, &a)
                                         : columns(d, r, &a);
}
