/* Sparse x block, hybrid, of x in FP16 and BF16 (spmm_hybrid.cuh). */
#include "gpu/kernels/spmm_hybrid.cuh"

FTB_SPMM_HYBRID_16(FTB_SPMM_HYBRID_KERNEL)
