/* Attention over the entries e = (i, j) of a pattern, FP32, for every head h:
 *
 *     out(i, h, :) = sum over e of w(e, h) v(j, h, :),   w(e, h) = exp(s(e, h) - max) / sum of exp(s - max)
 *     s(e, h) = scale dot(x(j, h), y(i, h))    or    leaky_relu(x(j, h) + y(i, h), slope)
 *     lse(i, h) = max + log(sum)
 *
 * where max and sum are over the row, and dropout may drop some of w. Nothing is stored per entry.
 *
 * A group of lanes takes a piece of a row, and a span of it a head; FLIGHT rows of x, and of v, are on their
 * way at a time (dots.cuh). Of those entries lane k of a span has the score of entry k % FLIGHT, and so its
 * exponential and its draw; weights go round by shuffles. What the piece has gathered is scaled down as the
 * greatest score so far rises: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
 * Pieces of rows that were cut leave their sums and their greatest score, and a second kernel joins them in
 * the order of the pieces. A row without entries, or of which all scores are -infinity, has zeros and an lse
 * of -infinity. Bits depend on the variant and on where rows are cut, and on nothing that runs first.
 *
 * Sectors of 32 bytes, of n entries in r rows, heads that are as wide as a tile, d and dv values of all
 * heads:
 *
 *     n (d + dv + 1) / 8  +  r (d / 8 + dv / 8 + 4 for the piece + heads / 8 of lse)
 *
 * with n heads in place of n d / 8 for leaky_relu, one sector for 8 heads. The first term is the work: it is
 * what sddmm and spmm move, without the three times that values of entries are moved there. Values that are
 * wider than a tile have a group a tile, each of which makes the scores again. */
#include "gpu/kernels/attention_lanes.cuh"
#include "gpu/kernels/attention_rows.h"
#include "gpu/kernels/dots.cuh"
#include "gpu/kernels/edge_dropout.cuh"

namespace
{

/* The scores of FLIGHT entries, of which the lane gets that of entry part % FLIGHT; own: its column, ADD. */
template <int SCORE, int SPAN, int VALUES> struct Scores {
    const float *x, *y; /* DOT: from the lane's first feature on; NULL: it has none */
    float first[VALUES];
    __device__ __forceinline__ Scores(const ftb_attention_arguments &a, const Lane &l, int row)
        : x(nullptr), y(nullptr), first{}
    {
        const int f = l.part * VALUES;
        if (!l.mine || f >= a.width)
            return;
        x = a.x + static_cast<long long>(l.head) * a.headx + f;
        y = a.y + row * a.ldy + static_cast<long long>(l.head) * a.heady + f;
        load(first, y);
    }
    __device__ __forceinline__ float of(const ftb_attention_arguments &a, const Lane &l,
                                        const int (&column)[FLIGHT], int, int count) const
    {
        const float *rows[FLIGHT];
        float sums[FLIGHT] = {};
        for (int u = 0; u < FLIGHT; u++)
            rows[u] = x && u < count ? x + column[u] * a.ldx : nullptr;
        multiply<SPAN * VALUES>(sums, rows, y, first, x ? a.width - l.part * VALUES : 0);
        return a.scale * sum_over<SPAN>(l.group, sums, l.part);
    }
};
template <int SPAN, int VALUES> struct Scores<ADD, SPAN, VALUES> {
    const float *x;
    float y;
    __device__ __forceinline__ Scores(const ftb_attention_arguments &a, const Lane &l, int row)
        : x(l.mine ? a.x + static_cast<long long>(l.head) * a.headx : nullptr),
          y(l.mine ? __ldg(a.y + row * a.ldy + static_cast<long long>(l.head) * a.heady) : 0)
    {
    }
    __device__ __forceinline__ float of(const ftb_attention_arguments &a, const Lane &l,
                                        const int (&)[FLIGHT], int own, int count) const
    {
        const float z = x && l.part % FLIGHT < count ? __ldg(x + own * a.ldx) + y : 0;
        return z * (z > 0 ? 1 : a.slope);
    }
};

/* What a piece has come to. */
template <int VALUES> struct Running {
    float most = -infinity(), sum = 0; /* sum: of the entries that the lane has the scores of */
    float acc[VALUES] = {};
};

/* FLIGHT entries from `entry` on, `count` of them there. */
template <int SCORE, int LANES, int SPAN, int VALUES>
__device__ __forceinline__ void take(Running<VALUES> &r, const ftb_attention_arguments &a, const Lane &l,
                                     const Scores<SCORE, SPAN, VALUES> &scores, const int (&column)[FLIGHT],
                                     int own_column, long long entry, int count)
{
    const float *const from = a.v + static_cast<long long>(l.head) * a.headv + l.f;
    const int own = l.part % FLIGHT;
    float v[FLIGHT][VALUES];
    for (int u = 0; u < FLIGHT; u++)
        if (l.values && u < count)
            load(v[u], from + column[u] * a.ldv);
    float score = scores.of(a, l, column, own_column, count);
    score = own < count ? score : -infinity();
    float most = score;
    for (int far = 1; far < FLIGHT; far *= 2)
        most = fmaxf(most, __shfl_xor_sync(l.group, most, far));
    most = fmaxf(r.most, most);
    const float base = base_of(most), factor = expf(r.most - base);
    float weight = expf(score - base);
    r.most = most;
    r.sum = r.sum * factor + weight;
    if (own < count && l.mine)
        weight *= keep_of(a.drop, entry + own, l.head);
    for (int q = 0; q < VALUES; q++)
        r.acc[q] *= factor;
    for (int u = 0; u < FLIGHT; u++) {
        const float by = __shfl_sync(l.group, weight, l.span + u, LANES);
        for (int q = 0; q < VALUES; q++)
            if (l.values && u < count)
                r.acc[q] = fmaf(by, v[u][q], r.acc[q]);
    }
}

template <int SPAN, int VALUES>
__device__ __forceinline__ void finish(Running<VALUES> &r, const ftb_attention_arguments &a, const Lane &l,
                                       const ftb_spmm_piece &p)
{
    float sum = r.sum;
    for (int far = 1; far < FLIGHT; far *= 2)
        sum += __shfl_xor_sync(l.group, sum, far);
    if (!l.values)
        return;
    const bool whole = p.slot < 0;
    const long long at = static_cast<long long>(whole ? p.row : p.slot) * a.heads + l.head;
    if (l.f == 0 && whole && a.lse)
        a.lse[at] = r.most + logf(sum);
    if (l.f == 0 && !whole) {
        a.state[2 * at] = r.most;
        a.state[2 * at + 1] = sum;
    }
    const float by = sum == 0 ? 0 : 1 / sum;
    for (int q = 0; q < VALUES && whole; q++)
        r.acc[q] *= by;
    store(whole ? a.out + p.row * a.ldo + static_cast<long long>(l.head) * a.value_width + l.f
                : a.partial + at * a.value_width + l.f,
          r.acc);
}

template <int SCORE, int LANES, int SPAN, int VALUES>
__device__ __forceinline__ void attend(const ftb_attention_arguments &a)
{
    const int lane = static_cast<int>(threadIdx.x) % LANES;
    const long long number = static_cast<long long>(blockIdx.x) * (FTB_ATTENTION_BLOCK / LANES) +
                             static_cast<int>(threadIdx.x) / LANES;
    if (number >= a.npieces)
        return; /* with the whole group */
    const ftb_spmm_piece p = a.pieces[number];
    const Lane l = lane_of<LANES, SPAN, VALUES>(a.heads, a.value_width);
    const Scores<SCORE, SPAN, VALUES> scores(a, l, p.row);
    Running<VALUES> r;
    for (long long base = p.begin; base < p.end; base += LANES) {
        const int count = static_cast<int>(p.end - base < LANES ? p.end - base : LANES);
        const int mine = lane < count ? __ldg(a.colidx + base + lane) : 0;
        for (int k = 0; k < count; k += FLIGHT) {
            int column[FLIGHT];
            for (int u = 0; u < FLIGHT; u++)
                column[u] = __shfl_sync(l.group, mine, k + u, LANES);
            const int own = SCORE == ADD ? __shfl_sync(l.group, mine, k + l.part % FLIGHT, LANES) : 0;
            take<SCORE, LANES>(r, a, l, scores, column, own, base + k, count - k);
        }
    }
    finish<SPAN>(r, a, l, p);
}

} // namespace

#define KERNEL(score, lanes, span, values)                                                                   \
    extern "C" __global__ void __launch_bounds__(FTB_ATTENTION_BLOCK, FTB_ATTENTION_BLOCKS)                  \
        attention_f32_##score##_##lanes##x##span##x##values(ftb_attention_arguments a)                       \
    {                                                                                                        \
        attend<score, lanes, span, values>(a);                                                               \
    }                                                                                                        \
    FTB_KERNEL(attention_f32_##score##_##lanes##x##span##x##values);
FTB_ATTENTION(KERNEL)

/* The rows that were cut: one a block in y of the grid, a value a thread. */
extern "C" __global__ void __launch_bounds__(FTB_ATTENTION_BLOCK)
    attention_f32_merge(ftb_attention_arguments a, const ftb_spmm_cut *cuts)
{
    const long long f = static_cast<long long>(blockIdx.x) * FTB_ATTENTION_BLOCK + threadIdx.x;
    if (f >= static_cast<long long>(a.heads) * a.value_width)
        return;
    const ftb_spmm_cut *const cut = cuts + blockIdx.y;
    const long long head = f / a.value_width, step = static_cast<long long>(a.heads) * a.value_width;
    const float *const state = a.state + 2 * (static_cast<long long>(cut->slot) * a.heads + head);
    const float *const partial = a.partial + cut->slot * step + f;
    float most = -infinity(), sum = 0, acc = 0;
    for (int k = 0; k < cut->count; k++)
        most = fmaxf(most, state[2LL * k * a.heads]);
    for (int k = 0; k < cut->count; k++) {
        const float factor = expf(state[2LL * k * a.heads] - base_of(most));
        sum = fmaf(factor, state[2LL * k * a.heads + 1], sum);
        acc = fmaf(factor, partial[k * step], acc);
    }
    a.out[cut->row * a.ldo + f] = acc * (sum == 0 ? 0 : 1 / sum);
    if (a.lse && f == head * a.value_width)
        a.lse[cut->row * static_cast<long long>(a.heads) + head] = most + logf(sum);
}
FTB_KERNEL(attention_f32_merge);
