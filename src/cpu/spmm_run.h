/* Sparse x block on plain memory, by kernels, as a plan says. */
#ifndef FTB_SPMM_RUN_H
#define FTB_SPMM_RUN_H

#include "cpu/kernels/spmm_kernels.h"
#include "plan/spmm_plan.h"
#include "verbs/spmm_product.h"

/* DIRECT or PARTITIONED. Allocates all that it needs before anything is written. (spmm_run.c) */
GrB_Info ftb_spmm_run(const ftb_spmm_product *product, const ftb_spmm_plan *plan);
/* Rows of `out`, ldo apart, that have entries in p, += those of `more`, `count` apart and long. (spmm_run.c)
 */
void ftb_add_rows(const ftb_pattern *p, void *out, int64_t ldo, const void *more, int64_t count,
                  FtB_Type type, int threads);
/* Features [feature, feature + count) of row i of `out` over its number of entries, if it has any. */
void ftb_spmm_divide_rows(const ftb_spmm_product *product);
/* The kernel that takes the place of the direct family's where there is one feature; NULL: none does, and
 * such a product must be planned direct, since the kernel adds in an order of its own. (spmm_run.c) */
ftb_spmm_row ftb_spmm_vector(const ftb_spmm_product *product);

#endif
