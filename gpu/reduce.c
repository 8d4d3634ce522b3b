/* The verb `reduce` on a GPU: sums of FP32 and FP64 (kernels/reduce.cu). */
#include "gpu/columns.h"
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
    return ftb_gpu_launch(d, SOURCE, name, grid, (void *[]){a});
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
    const int64_t groups = FTB_REDUCE_BLOCK / 32;
    const bool fills = r->fills && !r->add;
    ftb_gpu_pieces p;
    void *partial = NULL;
    char cut[40];
    GrB_Info info = ftb_gpu_pieces_ask(&p, (ftb_pattern *)(uintptr_t)r->p, d);
    const int64_t bytes = p.nslots * r->width * (int64_t)sizeof(double);
    if (info == GrB_SUCCESS && bytes > 0)
        info = d->row.memory->alloc(&d->row, r->ctx, &partial, bytes);
    if (info != GrB_SUCCESS)
        return info;
    a->pieces = p.pieces;
    a->npieces = p.npieces - (fills ? 0 : p.nempty);
    a->partial = partial;
    info = launch(d, r, "pattern",
                  (ftb_gpu_grid){.x = (a->npieces + groups - 1) / groups,
                                 .y = (r->width + 31) / 32,
                                 .threads = FTB_REDUCE_BLOCK},
                  a);
    snprintf(cut, sizeof cut, "reduce_%s_cut", ftb_gpu_real(r->type));
    if (info == GrB_SUCCESS)
        info = ftb_gpu_half_done(
            ftb_gpu_join_cuts(d, &p, SOURCE, cut,
                              (ftb_gpu_grid){.x = (r->width + FTB_REDUCE_BLOCK - 1) / FTB_REDUCE_BLOCK,
                                             .threads = FTB_REDUCE_BLOCK},
                              a),
            r->add);
    if (partial)
        d->row.memory->free(&d->row, partial, bytes);
    return info;
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
