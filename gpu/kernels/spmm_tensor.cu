/* Sparse x block by tensor cores, of x in FP32 (spmm_tensor.cuh). */
#include "gpu/kernels/spmm_tensor.cuh"

FTB_SPMM_TENSOR_F32(FTB_SPMM_TENSOR_KERNEL)
