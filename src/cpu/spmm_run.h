/* Sparse x block on plain memory, by kernels, as a plan says. */
#ifndef FTB_SPMM_RUN_H
#define FTB_SPMM_RUN_H

#include "cpu/kernels/spmm_kernels.h"
#include "plan/spmm_plan.h"
#include "verbs/spmm_product.h"

/* DIRECT, PARTITIONED or SLICED. Allocates all that it needs before anything is written. (spmm_run.c) */
GrB_Info ftb_spmm_run(const ftb_spmm_product *product, const ftb_spmm_plan *plan);
/* Rows of `out`, ldo apart, that have entries in p, += those of `more`, `count` apart and long. (spmm_run.c)
 */
void ftb_add_rows(const ftb_pattern *p, void *out, int64_t ldo, const void *more, int64_t count,
                  FtB_Type type, int threads);
/* Rows of `out` over their numbers of entries, if they have any. (spmm_run.c) */
void ftb_spmm_divide_rows(const ftb_spmm_product *product);
/* What is left to do with features [feature, feature + count) of rows [first, last): means are divided, rows
 * without entries filled. (spmm_run.c) */
void ftb_spmm_end_rows(const ftb_spmm_product *product, int64_t feature, int64_t count, int64_t first,
                       int64_t last);
/* How the direct family sums over one feature: as it does over more; in lanes, which is an order of its own
 * for sums of reals; or in the order of the entries, where sources do not fit L2. */
typedef enum ftb_spmm_sums { FTB_SUMS_PLAIN, FTB_SUMS_LANES, FTB_SUMS_ORDERED } ftb_spmm_sums;
ftb_spmm_sums ftb_spmm_sums_of(const ftb_spmm_product *product); /* (spmm_run.c) */
/* Whether rows of the product can be sliced: all of them are wanted. (spmm_run.c) */
ftb_spmm_slices ftb_spmm_slices_of(const ftb_spmm_product *product);

#endif
