/* Means over heads, row after row over threads (mean_heads_run.h). */
#include "cpu/nn/mean_heads_run.h"

#include "cpu/kernels/rows.h"

static char *row(const void *x, int64_t ld, int64_t i, FtB_Type type)
{
    return (char *)(uintptr_t)x + (size_t)(i * ld) * FtB_Type_size(type);
}

GrB_Info ftb_mean_heads_run(const ftb_mean_heads_product *p)
{
    const int64_t values = p->nrows * p->heads * p->width;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, values))
    for (int64_t i = 0; i < p->nrows; i++)
        FTB_PICK_REAL(ftb_heads_sum, p->type)
    (row(p->y, p->ldy, i, p->type), row(p->x, p->ldx, i, p->type), p->heads, p->width, 1 / (double)p->heads);
    return GrB_SUCCESS;
}

GrB_Info ftb_mean_heads_grad_run(const ftb_mean_heads_product *p)
{
    const int64_t values = p->nrows * p->heads * p->width;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, values))
    for (int64_t i = 0; i < p->nrows; i++)
        FTB_PICK_REAL(ftb_heads_spread, p->type)
    (row(p->y, p->ldy, i, p->type), row(p->x, p->ldx, i, p->type), p->heads, p->width, 1 / (double)p->heads,
     p->add);
    return GrB_SUCCESS;
}
