/* Sparse x block, direct, in FP64 (spmm_direct.cuh), and what joins the pieces of rows that were cut. */
#include "gpu/kernels/spmm_direct.cuh"

FTB_SPMM_DIRECT_MERGES(f64)
FTB_SPMM_DIRECT_64(FTB_SPMM_DIRECT_KERNEL)
