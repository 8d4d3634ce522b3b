/* Sparse x block, direct, of x in FP32 (spmm_direct.cuh), and what joins the pieces of rows that were cut,
 * however x was stored. */
#include "gpu/kernels/spmm_direct.cuh"

FTB_SPMM_DIRECT_MERGES(f32)
FTB_SPMM_DIRECT_F32(FTB_SPMM_DIRECT_KERNEL)
