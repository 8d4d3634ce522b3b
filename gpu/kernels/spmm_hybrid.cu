/* Sparse x block, hybrid, of x in FP32 (spmm_hybrid.cuh), and what brings the values of entries into the
 * order of the form, however x is stored. */
#include "gpu/kernels/spmm_hybrid.cuh"

extern "C" __global__ void __launch_bounds__(FTB_SPMM_HYBRID_WEIGHTS_BLOCK)
    spmm_hybrid_weights(ftb_spmm_hybrid_weights a)
{
    const long long k =
        static_cast<long long>(blockIdx.x) * FTB_SPMM_HYBRID_WEIGHTS_BLOCK + static_cast<int>(threadIdx.x);
    if (k >= a.count)
        return;
    const long long e = __ldg(a.order + k / a.heads);
    a.to[k] = __ldg(a.w + (a.from ? __ldg(a.from + e) : e) * a.ldw + k % a.heads);
}
FTB_KERNEL(spmm_hybrid_weights);

FTB_SPMM_HYBRID_F32(FTB_SPMM_HYBRID_KERNEL)
