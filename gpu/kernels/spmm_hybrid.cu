/* Sparse x block, hybrid, of x in FP32 (spmm_hybrid.cuh), and what brings the values of entries into the
 * order of the form, however x is stored. */
#include "gpu/kernels/spmm_hybrid.cuh"

extern "C" __global__ void __launch_bounds__(FTB_SPMM_HYBRID_WEIGHTS_BLOCK)
    spmm_hybrid_weights(ftb_spmm_hybrid_weights a)
{
    const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
    const int k = block * (FTB_SPMM_HYBRID_WEIGHTS_BLOCK >> a.shift) + (thread >> a.shift);
    if (k >= a.entries)
        return;
    const long long e = __ldg(a.order + k);
    const float *const from = a.w + (a.from ? __ldg(a.from + e) : e) * a.ldw;
    float *const to = a.to + static_cast<long long>(k) * a.heads;
    for (int head = thread & ((1 << a.shift) - 1); head < a.heads; head += 1 << a.shift)
        to[head] = __ldg(from + head);
}
FTB_KERNEL(spmm_hybrid_weights);

FTB_SPMM_HYBRID_F32(FTB_SPMM_HYBRID_KERNEL)
