/* Dot products of heads over threads, part after part of the rows (head_dots_run.h). */
#include "cpu/nn/head_dots_run.h"

#include "cpu/kernels/head_dots.h"
#include "cpu/nn/parts.h"

static void each(void (*kernel)(const ftb_head_dots_job *d, int64_t first, int64_t last),
                 const ftb_head_dots_job *d, const ftb_head_dots_product *p)
{
    const int64_t parts = ftb_parts(p->nrows);
#pragma omp parallel for schedule(static)                                                                    \
    num_threads(ftb_threads_for_values(p->ctx, p->nrows * p->heads * p->width))
    for (int64_t k = 0; k < parts; k++)
        kernel(d, ftb_parts_cut(p->nrows, k), ftb_parts_cut(p->nrows, k + 1));
}

GrB_Info ftb_head_dots_run(const ftb_head_dots_product *p)
{
    const ftb_head_dots_job d = {
        .heads = p->heads, .width = p->width, .x = p->x, .ldx = p->ldx, .a = p->a, .y = p->y, .ldy = p->ldy};
    each(FTB_PICK_REAL(ftb_head_dots, p->type), &d, p);
    return GrB_SUCCESS;
}

static GrB_Info gradient_of_a(const ftb_head_dots_product *p, const ftb_head_dots_job *d)
{
    const int64_t parts = ftb_parts(p->nrows), values = p->heads * p->width;
    double *sums = ftb_new0(p->ctx, 2 * parts * values, sizeof *sums); /* and scratch */
    if (!sums)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, p->nrows *values))
    for (int64_t k = 0; k < parts; k++)
        FTB_PICK_REAL(ftb_head_dots_da, p->type)
    (d, ftb_parts_cut(p->nrows, k), ftb_parts_cut(p->nrows, k + 1), sums + 2 * k * values,
     sums + (2 * k + 1) * values);
    for (int64_t k = 1; k < parts; k++)
        for (int64_t f = 0; f < values; f++)
            sums[f] += sums[2 * k * values + f];
    ftb_parts_put(p->da, p->type, sums, values, p->add_da);
    ftb_delete(sums);
    return GrB_SUCCESS;
}

GrB_Info ftb_head_dots_grad_run(const ftb_head_dots_product *p)
{
    const ftb_head_dots_job d = {.heads = p->heads,
                                 .width = p->width,
                                 .x = p->x,
                                 .ldx = p->ldx,
                                 .a = p->a,
                                 .y = (void *)(uintptr_t)p->dy, /* which gradients only read */
                                 .ldy = p->lddy,
                                 .dx = p->dx,
                                 .lddx = p->lddx,
                                 .add = p->add_dx};
    GrB_Info info = p->da ? gradient_of_a(p, &d) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && p->dx)
        each(FTB_PICK_REAL(ftb_head_dots_dx, p->type), &d, p);
    return info;
}
