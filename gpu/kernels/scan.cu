/* Running sums of whole numbers (scan_tiles.h): of each tile its sum, by a block; of these theirs, by one
 * block; and those of each tile's values from there on. Few values are one block's at once. */
#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/scan_tiles.h"

namespace
{

constexpr int WARP = 32, WARPS = FTB_SCAN_BLOCK / WARP;

/* The sum of the values of the block's threads before this one; *all: of all of them. */
__device__ __forceinline__ long long sum_before(long long own, long long *all)
{
    __shared__ long long sums[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    long long upto = own;
    for (int far = 1; far < WARP; far *= 2) {
        const long long other = __shfl_up_sync(FTB_FULL_WARP, upto, static_cast<unsigned>(far));
        upto += lane >= far ? other : 0;
    }
    if (lane == WARP - 1)
        sums[warp] = upto;
    __syncthreads();
    long long before = upto - own;
    *all = 0;
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? sums[w] : 0;
        *all += sums[w];
    }
    __syncthreads();
    return before;
}

/* to[0 .. n - 1] of x, which may be the same, from `base` on. Threads take values side by side. */
template <class T>
__device__ __forceinline__ long long scan(const T *x, long long *to, long long n, long long base)
{
    for (long long first = 0; first < n; first += FTB_SCAN_BLOCK) {
        const long long at = first + static_cast<int>(threadIdx.x), own = at < n ? x[at] : 0;
        long long all;
        const long long before = sum_before(own, &all);
        if (at < n)
            to[at] = base + before;
        base += all;
    }
    return base;
}

/* Values first, first + 1 ... of what is summed. */
__device__ __forceinline__ long long scan_from(const ftb_scan_arguments &a, long long first, long long n,
                                               long long base)
{
    return a.counts ? scan(a.counts + first, a.to + first, n, base)
                    : scan(a.to + first, a.to + first, n, base);
}

} // namespace

extern "C" __global__ void __launch_bounds__(FTB_SCAN_BLOCK) scan_sum(ftb_scan_arguments a)
{
    const long long first = static_cast<long long>(blockIdx.x) * FTB_SCAN_TILE;
    long long own = 0, all;
    for (int k = 0; k < FTB_SCAN_EACH; k++) {
        const long long at = first + k * FTB_SCAN_BLOCK + static_cast<int>(threadIdx.x);
        own += at >= a.n ? 0 : a.counts ? a.counts[at] : a.to[at];
    }
    (void)sum_before(own, &all);
    if (threadIdx.x == 0)
        a.sums[blockIdx.x] = all;
}
FTB_KERNEL(scan_sum);

/* Of the tiles' sums, or of all values where there are few. */
extern "C" __global__ void __launch_bounds__(FTB_SCAN_BLOCK) scan_top(ftb_scan_arguments a)
{
    const long long tiles = (a.n + FTB_SCAN_TILE - 1) / FTB_SCAN_TILE;
    const long long all = a.sums ? scan(a.sums, a.sums, tiles, 0) : scan_from(a, 0, a.n, 0);
    if (threadIdx.x == 0)
        a.to[a.n] = all;
}
FTB_KERNEL(scan_top);

extern "C" __global__ void __launch_bounds__(FTB_SCAN_BLOCK) scan_put(ftb_scan_arguments a)
{
    const long long first = static_cast<long long>(blockIdx.x) * FTB_SCAN_TILE;
    (void)scan_from(a, first, min(a.n - first, static_cast<long long>(FTB_SCAN_TILE)), a.sums[blockIdx.x]);
}
FTB_KERNEL(scan_put);
