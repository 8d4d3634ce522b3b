/* Values of entries e = (i, j) from rows of two blocks, for every head h, FP32:
 *
 *     DOT    out(e, h) = scale dot(x(j, h), y(i, h))
 *     ADD    out(e, h) = leaky_relu(x(j, h) + y(i, h), slope)
 *
 * A group of lanes takes a piece of a row, so that it knows the row, and long rows are shared out; every
 * value is one group's, and nothing is merged.
 *
 * DOT: the lanes of a span share a head, and a group has as many heads side by side as spans. The first
 * features of y that a lane has stay in registers (dots.cuh).
 * Sectors of 32 bytes, of n entries in m pieces, one head that is as wide as the span's tile, d = width:
 *
 *     n d / 8  +  n / 8 columns  +  n / 4 of out  +  m (d / 8 of y + 4 for the piece)
 *
 * What is wider than the tile reads the rest of y once every FLIGHT entries.
 *
 * ADD: a lane takes one head of one entry, and the next lane what comes next in out. The rows of x are the
 * work, one sector or more each:
 *
 *     n max(1, heads / 8) of x  +  n heads (1 / 8 of out + 1 / 32 of columns)  +  y, as often  +  4 m
 *
 * In both x is gathered, and the limit is how fast that goes. */
#include "gpu/kernels/dots.cuh"
#include "gpu/kernels/sddmm_direct.h"

namespace
{

/* The group's piece; -1: there is none. */
template <int LANES> __device__ __forceinline__ long long piece_number(const ftb_sddmm_direct_arguments &a)
{
    const long long number = static_cast<long long>(blockIdx.x) * (FTB_SDDMM_DIRECT_BLOCK / LANES) +
                             static_cast<int>(threadIdx.x) / LANES;
    return number < a.npieces ? number : -1;
}

template <int LANES, int SPAN, int VALUES>
__device__ __forceinline__ void dots(const ftb_sddmm_direct_arguments &a)
{
    const long long number = piece_number<LANES>(a);
    if (number < 0)
        return; /* with the whole group */
    const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES, part = lane % SPAN;
    const unsigned group = (FTB_FULL_WARP >> (32 - LANES)) << (thread % 32 - lane);
    const int head = static_cast<int>(blockIdx.y) * (LANES / SPAN) + lane / SPAN, f = part * VALUES;
    const bool mine = head < a.heads && f < a.width;
    const ftb_spmm_piece p = a.pieces[number];
    const float *const x = mine ? a.x + static_cast<long long>(head) * a.headx + f : nullptr;
    const float *const y = mine ? a.y + p.row * a.ldy + static_cast<long long>(head) * a.heady + f : nullptr;
    float first[VALUES] = {};
    if (mine)
        load(first, y);
    for (long long base = p.begin; base < p.end; base += LANES) {
        const int count = static_cast<int>(p.end - base < LANES ? p.end - base : LANES);
        const int column = lane < count ? __ldg(a.colidx + base + lane) : 0;
        for (int k = 0; k < count; k += FLIGHT) {
            const float *rows[FLIGHT];
            float sums[FLIGHT] = {};
            for (int u = 0; u < FLIGHT; u++) {
                const int j = __shfl_sync(group, column, k + u, LANES);
                rows[u] = mine && k + u < count ? x + j * a.ldx : nullptr;
            }
            multiply<SPAN * VALUES>(sums, rows, y, first, mine ? a.width - f : 0);
            const float sum = sum_over<SPAN>(group, sums, part);
            if (head < a.heads && part < FLIGHT && k + part < count)
                a.out[(base + k + part) * a.heads + head] = a.scale * sum;
        }
    }
}

template <int LANES> __device__ __forceinline__ void adds(const ftb_sddmm_direct_arguments &a)
{
    const long long number = piece_number<LANES>(a);
    if (number < 0)
        return;
    const ftb_spmm_piece p = a.pieces[number];
    const int count = static_cast<int>(p.end - p.begin) * a.heads;
    const float *const y = a.y + p.row * a.ldy;
    float *const out = a.out + p.begin * a.heads;
    for (int t = static_cast<int>(threadIdx.x) % LANES; t < count; t += LANES) {
        const int entry = t / a.heads, head = t - entry * a.heads;
        const float z = __ldg(a.x + __ldg(a.colidx + p.begin + entry) * a.ldx + head * a.headx) +
                        __ldg(y + head * a.heady);
        out[t] = z * (z > 0 ? 1 : a.slope);
    }
}

} // namespace

#define KERNEL(name, what)                                                                                   \
    extern "C" __global__ void __launch_bounds__(FTB_SDDMM_DIRECT_BLOCK, FTB_SDDMM_DIRECT_BLOCKS)            \
        name(ftb_sddmm_direct_arguments a)                                                                   \
    {                                                                                                        \
        what(a);                                                                                             \
    }                                                                                                        \
    FTB_KERNEL(name);
#define DOT(lanes, span, values)                                                                             \
    KERNEL(sddmm_direct_f32_DOT_##lanes##x##span##x##values, (dots<lanes, span, values>))
#define ADD(lanes) KERNEL(sddmm_direct_f32_ADD_##lanes, adds<lanes>)
FTB_SDDMM_DIRECT_DOT(DOT)
FTB_SDDMM_DIRECT_ADD(ADD)
