/* Softmax of values of entries by row and head, FP32, and its gradient:
 *
 *     FORWARD     out(e, h) = exp(in(e, h) - max) / sum of exp(in - max),  lse(i, h) = max + log(sum)
 *     GRADIENT    out(e, h) = in(e, h) (d(e, h) - sum of in d)
 *
 * where max and sums are over the entries of e's row, and dropout may then drop values of FORWARD. A row of
 * which all is -infinity, or nothing is there, has a sum of 0, an lse of -infinity, and zeros.
 *
 * A team takes a row: a group of lanes, or a block where the row is long. Its values are one array, entry by
 * entry, which the team's lanes read side by side: a lane stays with one head. Where entries lie apart, as a
 * column's do, a list says where each is. It keeps the first KEEP values
 * in registers and reads what is beyond again, three times in all. What the lanes of a head have is joined as
 * a tree of a fixed shape: bits depend on the row's length, the heads and the team's size.
 *
 * Sectors of 32 bytes, of n entries in r rows, heads a multiple of 8, where `beyond` entries are further back
 * in their rows than KEEP times the entries that a team has side by side (lanes / heads):
 *
 *     (2 n + 2 beyond) heads / 8  +  r (4 for the piece + heads / 8 of lse)
 *
 * and half as much more for the gradient. Other numbers of heads begin rows amid a sector: one more for each
 * 32 values. Entries that lie apart have sectors of their own each, and 8 bytes of the list as often as they
 * are reached. The limit is the memory's bandwidth. */
#include "gpu/kernels/edge_dropout.cuh"
#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/softmax_rows.h"

namespace
{

enum { KEEP = 4 };

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

/* Those who share a row; of: what lane `from` has, for which all of them ask at once. */
template <int LANES> struct Team {
    int lane;
    unsigned group;
    __device__ __forceinline__ float of(float value, int from) const
    {
        return __shfl_sync(group, value, from, LANES);
    }
};
template <> struct Team<FTB_SOFTMAX_BLOCK> {
    int lane;
    float *shared; /* a value a lane */
    __device__ __forceinline__ float of(float value, int from) const
    {
        __syncthreads(); /* what was asked before has been read */
        shared[lane] = value;
        __syncthreads();
        return shared[from];
    }
};

/* A lane's entries, `step` apart, of one head, of a row that begins at entry `begin`. Lanes that are left
 * over have none, and take part. */
struct Share {
    long long begin, count;
    int entry, step, width, head;
};
template <int LANES>
__device__ __forceinline__ Share share_of(const Team<LANES> &team, int heads, int head0, long long begin,
                                          long long count)
{
    Share s;
    s.width = heads - head0 < LANES ? heads - head0 : LANES;
    s.step = LANES / s.width;
    s.entry = team.lane / s.width;
    s.head = head0 + team.lane % s.width;
    s.begin = begin;
    s.count = s.entry < s.step ? count : 0;
    return s;
}

/* Where value e of the row is. */
__device__ __forceinline__ long long place_of(const ftb_softmax_arguments &a, const Share &s, long long e)
{
    return (a.from ? __ldg(a.from + s.begin + e) : s.begin + e) * a.heads + s.head;
}

/* The sum, or the greatest, of what the lanes of a head have; NaN is no greatest, but is seen in the sum. */
template <bool GREATEST, int LANES>
__device__ __forceinline__ float joined(const Team<LANES> &team, const Share &s, float value)
{
    for (int n = s.step; n > 1; n = (n + 1) / 2) {
        const int half = (n + 1) / 2;
        const float other = team.of(value, (team.lane + half * s.width) % LANES);
        if (s.entry + half < n)
            value = GREATEST ? fmaxf(value, other) : value + other;
    }
    return team.of(value, team.lane % s.width);
}

__device__ __forceinline__ void put(const ftb_softmax_arguments &a, const Share &s, long long e, float value)
{
    a.out[place_of(a, s, e)] = value * keep_of(a.drop, s.begin + e, s.head);
}

template <int LANES>
__device__ __forceinline__ void forward(const ftb_softmax_arguments &a, const Team<LANES> &team, int row,
                                        long long begin, long long count, int head0)
{
    const Share s = share_of(team, a.heads, head0, begin, count);
    const float *const in = a.in; /* not through the read-only cache: it may be out */
    const long long beyond = s.entry + static_cast<long long>(KEEP) * s.step;
    float kept[KEEP], most = -infinity(), sum = 0;
    for (int k = 0; k < KEEP; k++) {
        const long long e = s.entry + k * s.step;
        kept[k] = e < s.count ? in[place_of(a, s, e)] : -infinity();
        most = fmaxf(most, kept[k]);
    }
    for (long long e = beyond; e < s.count; e += s.step)
        most = fmaxf(most, in[place_of(a, s, e)]);
    most = joined<true>(team, s, most);
    const float base = most == -infinity() ? 0 : most;
    for (int k = 0; k < KEEP; k++) {
        kept[k] = expf(kept[k] - base);
        sum += s.entry + k * s.step < s.count ? kept[k] : 0;
    }
    for (long long e = beyond; e < s.count; e += s.step)
        sum += expf(in[place_of(a, s, e)] - base);
    sum = joined<false>(team, s, sum);
    const float by = sum == 0 ? 0 : 1 / sum;
    for (int k = 0; k < KEEP; k++)
        if (s.entry + k * s.step < s.count)
            put(a, s, s.entry + k * s.step, kept[k] * by);
    for (long long e = beyond; e < s.count; e += s.step)
        put(a, s, e, expf(in[place_of(a, s, e)] - base) * by);
    if (a.lse && s.entry == 0)
        a.lse[static_cast<long long>(row) * a.heads + s.head] = most + logf(sum);
}

template <int LANES>
__device__ __forceinline__ void gradient(const ftb_softmax_arguments &a, const Team<LANES> &team,
                                         long long begin, long long count, int head0)
{
    const Share s = share_of(team, a.heads, head0, begin, count);
    const float *const in = a.in, *const d = a.d;
    const long long beyond = s.entry + static_cast<long long>(KEEP) * s.step;
    float kept[KEEP], with[KEEP], sum = 0;
    for (int k = 0; k < KEEP; k++) {
        const long long e = s.entry + k * s.step;
        kept[k] = e < s.count ? in[place_of(a, s, e)] : 0;
        with[k] = e < s.count ? d[place_of(a, s, e)] : 0;
        sum = fmaf(kept[k], with[k], sum);
    }
    for (long long e = beyond; e < s.count; e += s.step)
        sum = fmaf(in[place_of(a, s, e)], d[place_of(a, s, e)], sum);
    sum = joined<false>(team, s, sum);
    for (int k = 0; k < KEEP; k++)
        if (s.entry + k * s.step < s.count)
            a.out[place_of(a, s, s.entry + k * s.step)] = kept[k] * (with[k] - sum);
    for (long long e = beyond; e < s.count; e += s.step) {
        const long long at = place_of(a, s, e);
        a.out[at] = in[at] * (d[at] - sum);
    }
}

enum What { FORWARD, GRADIENT };
template <int WHAT, int LANES>
__device__ __forceinline__ void take_row(const ftb_softmax_arguments &a, const Team<LANES> &team, int row,
                                         long long begin, long long count)
{
    for (int head0 = 0; head0 < a.heads; head0 += LANES)
        if (WHAT == FORWARD)
            forward(a, team, row, begin, count, head0);
        else
            gradient(a, team, begin, count, head0);
}

template <int WHAT, int LANES> __device__ __forceinline__ void take_piece(const ftb_softmax_arguments &a)
{
    const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES;
    const long long number =
        static_cast<long long>(blockIdx.x) * (FTB_SOFTMAX_BLOCK / LANES) + thread / LANES;
    if (number >= a.npieces || a.pieces[number].slot >= 0)
        return; /* with the whole group */
    const ftb_spmm_piece *const p = a.pieces + number;
    const Team<LANES> team = {lane, (FTB_FULL_WARP >> (32 - LANES)) << (thread % 32 - lane)};
    take_row<WHAT>(a, team, p->row, p->begin, p->end - p->begin);
}

} // namespace

#define PIECES(what, lanes)                                                                                  \
    extern "C" __global__ void __launch_bounds__(FTB_SOFTMAX_BLOCK, FTB_SOFTMAX_BLOCKS)                      \
        softmax_f32_##what##_##lanes(ftb_softmax_arguments a)                                                \
    {                                                                                                        \
        take_piece<what, lanes>(a);                                                                          \
    }                                                                                                        \
    FTB_KERNEL(softmax_f32_##what##_##lanes);
#define CUT(what)                                                                                            \
    extern "C" __global__ void __launch_bounds__(FTB_SOFTMAX_BLOCK, FTB_SOFTMAX_BLOCKS)                      \
        softmax_f32_##what##_cut(ftb_softmax_arguments a, const ftb_spmm_cut *cuts)                          \
    {                                                                                                        \
        __shared__ float shared[FTB_SOFTMAX_BLOCK];                                                          \
        const Team<FTB_SOFTMAX_BLOCK> team = {static_cast<int>(threadIdx.x), shared};                        \
        const ftb_spmm_cut *const cut = cuts + blockIdx.x;                                                   \
        take_row<what>(a, team, cut->row, a.rowptr[cut->row], cut->entries);                                 \
    }                                                                                                        \
    FTB_KERNEL(softmax_f32_##what##_cut);
FTB_SOFTMAX(PIECES)
FTB_SOFTMAX_CUT(CUT)
