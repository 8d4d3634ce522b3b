/* Running sums, and numbers in their order.
 *
 *     scan_sum, scan_top, scan_put    sums of tiles; theirs, by one block; those of each tile's values
 *     order_count, order_move         a digit of 8 bits: a warp has a tile, counts its digits, and once it is
 *                                     known where those of each tile begin moves them there, in their order
 *
 * Whole numbers: bits depend on nothing. */
#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/sample_steps.h"

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

/* x[0 .. n - 1], from `base` on, in place. Threads take values side by side. */
__device__ __forceinline__ long long scan(long long *x, long long n, long long base)
{
    for (long long first = 0; first < n; first += FTB_SCAN_BLOCK) {
        const long long at = first + static_cast<int>(threadIdx.x), own = at < n ? x[at] : 0;
        long long all;
        const long long before = sum_before(own, &all);
        if (at < n)
            x[at] = base + before;
        base += all;
    }
    return base;
}

__device__ __forceinline__ int digit_of(const ftb_order_arguments &a, unsigned long long number)
{
    return static_cast<int>(number >> a.shift) & (FTB_ORDER_DIGITS - 1);
}

constexpr int ORDER_WARPS = FTB_SAMPLE_BLOCK / WARP;

} // namespace

extern "C" __global__ void __launch_bounds__(FTB_SCAN_BLOCK) sample_scan_sum(ftb_scan_arguments a)
{
    const long long first = static_cast<long long>(blockIdx.x) * FTB_SCAN_TILE;
    long long own = 0, all;
    for (int k = 0; k < FTB_SCAN_EACH; k++) {
        const long long at = first + k * FTB_SCAN_BLOCK + static_cast<int>(threadIdx.x);
        own += at < a.n ? a.x[at] : 0;
    }
    (void)sum_before(own, &all);
    if (threadIdx.x == 0)
        a.sums[blockIdx.x] = all;
}
FTB_KERNEL(sample_scan_sum);

/* Of the tiles' sums, or of all values where there are few. */
extern "C" __global__ void __launch_bounds__(FTB_SCAN_BLOCK) sample_scan_top(ftb_scan_arguments a)
{
    const long long tiles = (a.n + FTB_SCAN_TILE - 1) / FTB_SCAN_TILE;
    const long long all = scan(a.sums ? a.sums : a.x, a.sums ? tiles : a.n, 0);
    if (threadIdx.x == 0)
        a.x[a.n] = all;
}
FTB_KERNEL(sample_scan_top);

extern "C" __global__ void __launch_bounds__(FTB_SCAN_BLOCK) sample_scan_put(ftb_scan_arguments a)
{
    const long long first = static_cast<long long>(blockIdx.x) * FTB_SCAN_TILE;
    (void)scan(a.x + first, min(a.n - first, static_cast<long long>(FTB_SCAN_TILE)), a.sums[blockIdx.x]);
}
FTB_KERNEL(sample_scan_put);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_order_count(ftb_order_arguments a)
{
    __shared__ int counted[ORDER_WARPS][FTB_ORDER_DIGITS];
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    const long long tile = static_cast<long long>(blockIdx.x) * ORDER_WARPS + warp;
    if (tile >= a.ntiles)
        return; /* the whole warp */
    for (int d = lane; d < FTB_ORDER_DIGITS; d += WARP)
        counted[warp][d] = 0;
    __syncwarp();
    for (int t = lane; t < FTB_ORDER_TILE; t += WARP) {
        const long long at = tile * FTB_ORDER_TILE + t;
        if (at < a.n)
            atomicAdd(&counted[warp][digit_of(a, a.from[at])], 1);
    }
    __syncwarp();
    for (int d = lane; d < FTB_ORDER_DIGITS; d += WARP)
        a.counts[d * a.ntiles + tile] = counted[warp][d];
}
FTB_KERNEL(sample_order_count);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_order_move(ftb_order_arguments a)
{
    __shared__ long long next[ORDER_WARPS][FTB_ORDER_DIGITS];
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    const long long tile = static_cast<long long>(blockIdx.x) * ORDER_WARPS + warp;
    if (tile >= a.ntiles)
        return; /* the whole warp */
    for (int d = lane; d < FTB_ORDER_DIGITS; d += WARP)
        next[warp][d] = a.counts[d * a.ntiles + tile];
    __syncwarp();
    for (int t = lane; t < FTB_ORDER_TILE; t += WARP) {
        const long long at = tile * FTB_ORDER_TILE + t;
        const bool there = at < a.n;
        const unsigned long long number = there ? a.from[at] : 0;
        const int digit = there ? digit_of(a, number) : FTB_ORDER_DIGITS;
        const unsigned same = __match_any_sync(FTB_FULL_WARP, digit), below = (1u << lane) - 1;
        const long long to = there ? next[warp][digit] + __popc(same & below) : 0;
        __syncwarp(); /* all have read where theirs go */
        if (there && (same & below) == 0)
            next[warp][digit] += __popc(same);
        __syncwarp();
        if (there) {
            a.to[to] = number;
            a.with_to[to] = a.with_from[at];
        }
    }
}
FTB_KERNEL(sample_order_move);
