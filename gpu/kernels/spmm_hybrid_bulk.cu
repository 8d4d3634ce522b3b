/* Sparse x block, hybrid, by bulk copies (spmm_hybrid.cuh). GPUs before compute capability 9.0
 * (__CUDA_ARCH__) have no such copies: kernels are there for them, too, and never run. */
#include "gpu/kernels/spmm_hybrid.cuh"

FTB_SPMM_HYBRID_BULK(FTB_SPMM_HYBRID_BULK_KERNEL)
