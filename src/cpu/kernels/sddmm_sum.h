/* Kernels of scores leaky_relu(x(j, h) + y(i, h)) on entries (i, j), one value per head. */
#ifndef FTB_CPU_SDDMM_SUM_H
#define FTB_CPU_SDDMM_SUM_H

#include "core/isa.h"
#include "cpu/kernels/heads.h"

typedef struct ftb_sums_job {
    const int64_t *rowptr;
    const void *column;
    int column_size; /* bytes: 4 or 8 */
    int64_t heads;
    const void *x, *y; /* of columns and of rows, ld values apart */
    int64_t xld, yld;
    double slope;     /* 1: no leaky_relu */
    const void *grad; /* entries x heads: the gradient of the scores */
    void *out;        /* entries x heads */
    void *sum;        /* rows x heads */
} ftb_sums_job;

/* out(e, h) = leaky_relu(x(j, h) + y(i, h), slope) for the entries of rows first .. last - 1. (sddmm_sum.c)
 */
FTB_CELLS(void, ftb_sums_f32, (const ftb_sums_job *s, int64_t first, int64_t last))
FTB_CELLS(void, ftb_sums_f64, (const ftb_sums_job *s, int64_t first, int64_t last))
/* out(e, h) = grad(e, h) times the derivative of the above; sum(i, h) = their sum over row i. */
FTB_CELLS(void, ftb_sums_grad_f32, (const ftb_sums_job *s, int64_t first, int64_t last))
FTB_CELLS(void, ftb_sums_grad_f64, (const ftb_sums_job *s, int64_t first, int64_t last))
/* sum(j, h) = sum over t of out(entry[t], h), t of row j of the job's rowptr: column sums, given the
 * transpose's rows and where its entries come from. */
FTB_CELLS(void, ftb_sums_listed_f32,
          (const ftb_sums_job *s, const int64_t *entry, int64_t first, int64_t last))
FTB_CELLS(void, ftb_sums_listed_f64,
          (const ftb_sums_job *s, const int64_t *entry, int64_t first, int64_t last))

#endif
