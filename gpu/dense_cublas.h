/* Dense products by cuBLAS. */
#ifndef FTB_GPU_DENSE_CUBLAS_H
#define FTB_GPU_DENSE_CUBLAS_H

#include "gpu/context.h"
#include "verbs/dense_product.h"

/* Whether it can be used on a GPU, which is found out once. */
bool ftb_gpu_cublas_ready(ftb_gpu_device *d);
/* The product, of at least one term. GrB_NO_VALUE: cuBLAS has nothing for this GPU, nor ever will. */
GrB_Info ftb_gpu_cublas_dense(ftb_gpu_device *d, const ftb_dense_product *product);

#endif
