/* The two ways of dense products on a GPU, between which the verb chooses (dense.c). */
#ifndef FTB_GPU_DENSE_WAYS_H
#define FTB_GPU_DENSE_WAYS_H

#include "gpu/context.h"
#include "plan/gpu_dense_plan.h"
#include "verbs/dense_product.h"

/* Who makes a product that is not empty; `cublas`: as if it were there, or not. */
ftb_gpu_dense_plan ftb_gpu_plan_dense(const ftb_gpu_device *d, const ftb_dense_product *product, bool cublas);
/* By our kernel. */
GrB_Info ftb_gpu_own_dense(ftb_gpu_device *d, const ftb_dense_product *product);
/* Whether cuBLAS can be used on a GPU, which is found out once. */
bool ftb_gpu_cublas_ready(ftb_gpu_device *d);
/* By cuBLAS, of at least one value and term. GrB_NO_VALUE: cuBLAS has nothing for this GPU, nor ever will. */
GrB_Info ftb_gpu_cublas_dense(ftb_gpu_device *d, const ftb_dense_product *product);

#endif
