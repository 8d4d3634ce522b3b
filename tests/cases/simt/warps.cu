/* Operations of warps: what each gives every lane. */
#include "gpu/kernels/kernel.cuh"

/* results[operation * 32 + lane], of 64-bit and of 32-bit values: index, up, down, xor */
extern "C" __global__ void shuffles(const double *wide, const int *narrow, int by, int width,
                                    double *wide_results, int *narrow_results)
{
    const int t = static_cast<int>(threadIdx.x);
    const double w = wide[t];
    const int n = narrow[t];
    wide_results[t] = __shfl_sync(FTB_FULL_WARP, w, by, width);
    wide_results[32 + t] = __shfl_up_sync(FTB_FULL_WARP, w, static_cast<unsigned>(by), width);
    wide_results[64 + t] = __shfl_down_sync(FTB_FULL_WARP, w, static_cast<unsigned>(by), width);
    wide_results[96 + t] = __shfl_xor_sync(FTB_FULL_WARP, w, by, width);
    narrow_results[t] = __shfl_sync(FTB_FULL_WARP, n, by, width);
    narrow_results[32 + t] = __shfl_up_sync(FTB_FULL_WARP, n, static_cast<unsigned>(by), width);
    narrow_results[64 + t] = __shfl_down_sync(FTB_FULL_WARP, n, static_cast<unsigned>(by), width);
    narrow_results[96 + t] = __shfl_xor_sync(FTB_FULL_WARP, n, by, width);
}

/* results[operation * 32 + lane], among lanes of one kind: values[lane] is compared, kinds[lane] says with
 * whom. Which lanes are of one kind is found by a match, and differs: they meet apart from the others. */
extern "C" __global__ void votes(const int *values, const int *kinds, unsigned *results)
{
    const int t = static_cast<int>(threadIdx.x), v = values[t];
    const unsigned mask = __match_any_sync(FTB_FULL_WARP, kinds[t]);
    results[t] = mask;
    results[32 + t] = __ballot_sync(mask, v & 1);
    results[64 + t] = static_cast<unsigned>(__any_sync(mask, v > 0));
    results[96 + t] = static_cast<unsigned>(__all_sync(mask, v > 0));
    results[128 + t] = static_cast<unsigned>(__reduce_add_sync(mask, v));
    results[160 + t] = static_cast<unsigned>(__reduce_min_sync(mask, v));
    results[192 + t] = static_cast<unsigned>(__reduce_max_sync(mask, v));
    results[224 + t] = __reduce_min_sync(mask, static_cast<unsigned>(v));
    results[256 + t] = __reduce_max_sync(mask, static_cast<unsigned>(v));
    results[288 + t] = __reduce_and_sync(mask, static_cast<unsigned>(v));
    results[320 + t] = __reduce_or_sync(mask, static_cast<unsigned>(v));
    results[352 + t] = __reduce_xor_sync(mask, static_cast<unsigned>(v));
    __syncwarp(mask);
}

/* As many threads as there are values; those that are left sum them up, with masks that name lanes which have
 * left, or which the block does not have: nothing waits for these, and nothing is read from them. */
extern "C" __global__ void leaving(const int *values, int stay, int *sum, unsigned *there)
{
    const int t = static_cast<int>(threadIdx.x);
    if (t >= stay)
        return;
    const int v = values[t];
    const int total = __reduce_add_sync(FTB_FULL_WARP, v);
    const unsigned ballot = __ballot_sync(FTB_FULL_WARP, 1);
    __syncwarp();
    __syncthreads();
    if ((t & 31) == 0) {
        atomicAdd(sum, total);
        there[t / 32] = ballot;
    }
}

FTB_KERNEL(shuffles);
FTB_KERNEL(votes);
FTB_KERNEL(leaving);
