/* Sparse x block by cuSPARSE, a way of the verb spmm (gpu/spmm.c). */
#ifndef FTB_GPU_CUSPARSE_SPMM_H
#define FTB_GPU_CUSPARSE_SPMM_H

#include "gpu/context.h"
#include "plan/gpu_spmm_plan.h"
#include "verbs/spmm_product.h"

/* Whether it makes such products: sums in FP32 of src, or of src times one weight an entry. */
bool ftb_gpu_cusparse_spmm_fits(const ftb_spmm_product *product);
/* Whether it can be used on a GPU, which is found out once, but for want of memory. */
bool ftb_gpu_cusparse_ready(ftb_gpu_device *d);
/* A product that fits. GrB_NO_VALUE: cuSPARSE has nothing for it, and nothing was done. */
GrB_Info ftb_gpu_cusparse_spmm(ftb_gpu_device *d, const ftb_spmm_product *product,
                               ftb_gpu_sparse_algorithm algorithm);
/* Between _enter and _leave: what is kept for later products is given up; whether there was any. */
bool ftb_gpu_cusparse_drop(ftb_gpu_device *d);

#endif
