/* Sparse x block of few features, slice by slice of the rows. */
#ifndef FTB_SPMM_SLICED_RUN_H
#define FTB_SPMM_SLICED_RUN_H

#include "cpu/spmm_run.h"

/* Allocates all that it needs before anything is written. (spmm_sliced_run.c) */
GrB_Info ftb_spmm_sliced_run(const ftb_spmm_product *product, const ftb_spmm_plan *plan);

#endif
