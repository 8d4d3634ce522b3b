/* Sparse x block, direct, of x in FP32 (spmm_direct.cuh), and what joins the pieces of rows that were cut,
 * however x was stored. */
#include "gpu/kernels/spmm_direct.cuh"

/* The rows that were cut: one a block in y of the grid, a feature a thread. */
extern "C" __global__ void __launch_bounds__(FTB_SPMM_DIRECT_BLOCK)
    spmm_direct_f32_PLUS_merge(ftb_spmm_direct_arguments a, const ftb_spmm_cut *cuts)
{
    const int f = static_cast<int>(blockIdx.x * FTB_SPMM_DIRECT_BLOCK + threadIdx.x);
    if (f >= a.d)
        return;
    const ftb_spmm_cut *const cut = cuts + blockIdx.y;
    const float *const from = a.partial + cut->slot * a.ldp + f;
    float sum = 0;
    for (int k = 0; k < cut->count; k++)
        sum += from[k * a.ldp];
    if (a.mean)
        sum /= static_cast<float>(cut->entries);
    float *const to = a.y + cut->row * a.ldy + f;
    *to = a.add ? sum + *to : sum;
}
FTB_KERNEL(spmm_direct_f32_PLUS_merge);

extern "C" __global__ void __launch_bounds__(FTB_SPMM_DIRECT_BLOCK)
    spmm_direct_f32_BEST_merge(ftb_spmm_direct_arguments a, const ftb_spmm_cut *cuts)
{
    const int f = static_cast<int>(blockIdx.x * FTB_SPMM_DIRECT_BLOCK + threadIdx.x);
    if (f >= a.d)
        return;
    const ftb_spmm_cut *const cut = cuts + blockIdx.y;
    const float *const from = a.partial + cut->slot * a.ldp + f;
    Running<BEST, 1> r(a);
    for (int k = 0; k < cut->count; k++)
        r.take(0, from[k * a.ldp], k);
    const float best = value_of(r.key[0], r.flip);
    float *const to = a.y + cut->row * a.ldy + f;
    *to = a.add ? best + *to : best;
    if (a.won)
        a.won[cut->row * a.ldwon + f] = a.partial_won[(cut->slot + r.won[0]) * a.ldp + f];
}
FTB_KERNEL(spmm_direct_f32_BEST_merge);

FTB_SPMM_DIRECT_F32(FTB_SPMM_DIRECT_KERNEL)
