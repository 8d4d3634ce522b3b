/* The verbs `head_dots` and `head_dots_grad` on a GPU. Sums over rows are made in FP64; the products of a
 * head are added in the order of kernels/head_dots.cu, which is not the host's. */
#include "gpu/columns.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/head_dots_rows.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/head_dots.cu"

static GrB_Info check(const ftb_head_dots_product *p)
{
    if (p->width > 0 && p->heads > INT_MAX / p->width)
        return ftb_fail(FTB_NO_DEVICE, "head_dots: kernels have no rows of %lld x %lld values",
                        (long long)p->heads, (long long)p->width);
    return GrB_SUCCESS;
}

/* How many values of x, or of dx, and of a are read at once. */
static int values_of(const ftb_head_dots_product *p, const void *x, int64_t ldx)
{
    const int64_t size = (int64_t)FtB_Type_size(p->type);
    const bool vectors = ftb_gpu_vectors(x, ldx, size) && ftb_gpu_vectors(p->a, p->width, size);
    return vectors ? (int)(16 / size) : 1;
}

static int span_of(int64_t width)
{
    const int warp = 32;
    int span = 1;
    while (span < warp && span * FTB_HEAD_DOTS_FEATURES < width)
        span *= 2;
    return span;
}

GrB_Info ftb_gpu_head_dots(const ftb_head_dots_product *p)
{
    const int values = values_of(p, p->x, p->ldx);
    ftb_head_dots_arguments a = {.width = (int)p->width,
                                 .span = span_of(p->width),
                                 .x = p->x,
                                 .a = p->a,
                                 .out = p->y,
                                 .ldx = p->ldx,
                                 .ldo = p->ldy};
    const GrB_Info info = check(p);
    char name[64];
    if (info != GrB_SUCCESS)
        return info;
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, p->nrows, p->heads * a.span);
    snprintf(name, sizeof name, "head_dots_%s_DOT_%d", ftb_gpu_real(p->type), values);
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, SOURCE, name, grid, (void *[]){&a});
}

/* ---- gradients */

static ftb_head_dots_arguments arguments(const ftb_head_dots_product *p)
{
    return (ftb_head_dots_arguments){
        .width = (int)p->width, .x = p->x, .a = p->a, .dy = p->dy, .ldx = p->ldx, .lddy = p->lddy};
}

static GrB_Info gradient_of_x(ftb_gpu_device *d, const ftb_head_dots_product *p)
{
    const int values = values_of(p, p->dx, p->lddx);
    ftb_head_dots_arguments a = arguments(p);
    char name[64];
    a.out = p->dx;
    a.ldo = p->lddx;
    a.add = p->add_dx;
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, p->nrows, p->heads * p->width / values);
    snprintf(name, sizeof name, "head_dots_%s_DX_%d", ftb_gpu_real(p->type), values);
    return ftb_gpu_launch(d, p->ctx, SOURCE, name, grid, (void *[]){&a});
}

/* A pass of the gradient of a. */
static GrB_Info pass(ftb_gpu_device *d, const ftb_head_dots_product *p, const ftb_gpu_columns *c, bool first)
{
    ftb_head_dots_arguments a = arguments(p);
    char name[64];
    a.parts = c->parts;
    a.out = p->da;
    a.add = p->add_da;
    snprintf(name, sizeof name, "head_dots_%s_%s", ftb_gpu_real(p->type), first ? "DA" : "JOIN");
    return ftb_gpu_launch(d, p->ctx, SOURCE, name, first ? c->first : c->second, (void *[]){&a});
}

/* What is written comes behind what may fail for want of room. */
GrB_Info ftb_gpu_head_dots_grad(const ftb_head_dots_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    ftb_gpu_columns c = {.bytes = 0};
    GrB_Info info = check(p);
    if (info == GrB_SUCCESS && p->da)
        info = ftb_gpu_columns_new(&c, d, p->ctx, p->nrows, p->heads * p->width, 1);
    if (info == GrB_SUCCESS && p->da)
        info = pass(d, p, &c, true);
    if (info == GrB_SUCCESS && p->dx)
        info = gradient_of_x(d, p);
    if (info == GrB_SUCCESS && p->da) {
        info = ftb_gpu_half_done(pass(d, p, &c, false), p->dx && p->add_dx);
    }
    ftb_gpu_columns_delete(&c, d);
    return info;
}
