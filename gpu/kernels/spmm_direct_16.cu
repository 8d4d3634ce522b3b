/* Sparse x block, direct, of x in FP16 and BF16 (spmm_direct.cuh). */
#include "gpu/kernels/spmm_direct.cuh"

FTB_SPMM_DIRECT_16(FTB_SPMM_DIRECT_KERNEL)
