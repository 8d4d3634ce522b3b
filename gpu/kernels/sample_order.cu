/* Numbers in their order, a digit of 8 bits at a time: a warp has a tile, counts its digits (order_count),
 * and once it is known where those of each tile begin moves them there (order_move), in their order. */
#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/sample_steps.h"

namespace
{

constexpr int WARP = 32;

__device__ __forceinline__ int digit_of(const ftb_order_arguments &a, unsigned long long number)
{
    return static_cast<int>(number >> a.shift) & (FTB_ORDER_DIGITS - 1);
}

constexpr int ORDER_WARPS = FTB_SAMPLE_BLOCK / WARP;

} // namespace

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
