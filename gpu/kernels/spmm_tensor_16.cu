/* Sparse x block by tensor cores, of x in FP16 and BF16 (spmm_tensor.cuh). */
#include "gpu/kernels/spmm_tensor.cuh"

FTB_SPMM_TENSOR_16(FTB_SPMM_TENSOR_KERNEL)
