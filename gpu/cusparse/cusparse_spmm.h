/* Sparse x block by cuSPARSE, a way of the verb spmm (gpu/spmm.c). */
#ifndef FTB_GPU_CUSPARSE_SPMM_H
#define FTB_GPU_CUSPARSE_SPMM_H

#include "gpu/cusparse/cusparse_product.h"
#include "plan/gpu_spmm_plan.h"
#include "verbs/spmm_product.h"

/* Whether it makes such products: sums in FP32 of src, or of src times one weight an entry. */
bool ftb_gpu_cusparse_spmm_fits(const ftb_spmm_product *product);
/* A product that fits. GrB_NO_VALUE: cuSPARSE has nothing for it, and nothing was done. */
GrB_Info ftb_gpu_cusparse_spmm(ftb_gpu_device *d, const ftb_spmm_product *product,
                               ftb_gpu_sparse_algorithm algorithm);

#endif
