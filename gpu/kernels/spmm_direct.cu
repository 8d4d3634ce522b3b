/* Sparse x block, direct, FP32:
 *
 *     y(i, :) = sum over the entries e = (i, k) of w(e, head) x(k, :)   [/ entries of i]   [+ y(i, :)]
 *
 * A group of lanes takes a piece of a row, and of it a tile of features, 4 a lane (16 bytes) where they are
 * aligned. The group reads column indices together, hands them round by shuffles, and has FLIGHT rows of x on
 * their way at a time. Rows up to a bound are one piece, longer ones are cut, and a second kernel adds what
 * their pieces gave, in the order of the pieces: so bits depend on the bound and on nothing that runs first.
 * It is a kernel of its own, and not the work of whichever block ends last, for that would need a counter a
 * row, cleared before, and a fence a piece, and there are few such rows. The host lists the pieces by falling
 * length, so that the groups of a warp end together. Small d has several groups in a warp. A mean is the sum
 * divided, not times a reciprocal, as the host has it.
 *
 * Sectors of 32 bytes, of n entries, r rows, d a multiple of 8 and one tile, where no row is cut:
 *
 *     n d / 8  +  n / 8 columns (and as many weights)  +  r (d / 8 + 4 for the piece)
 *
 * The first term is the work; the rest is a twentieth of it at most from d = 128 and degree 32 on. */
#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/spmm_direct.h"

enum Edge { COPY, EDGE, HEADS };
enum { FLIGHT = 4 };

static __device__ __forceinline__ void load(float (&v)[4], const float *at)
{
    const float4 q = __ldg(reinterpret_cast<const float4 *>(at));
    v[0] = q.x;
    v[1] = q.y;
    v[2] = q.z;
    v[3] = q.w;
}
static __device__ __forceinline__ void load(float (&v)[1], const float *at) { v[0] = __ldg(at); }

static __device__ __forceinline__ void store(float *at, const float (&v)[4])
{
    *reinterpret_cast<float4 *>(at) = make_float4(v[0], v[1], v[2], v[3]);
}
static __device__ __forceinline__ void store(float *at, const float (&v)[1]) { *at = v[0]; }

/* Not through the read-only cache: y is written. */
static __device__ __forceinline__ void add_old(float (&v)[4], const float *at)
{
    const float4 q = *reinterpret_cast<const float4 *>(at);
    v[0] += q.x;
    v[1] += q.y;
    v[2] += q.z;
    v[3] += q.w;
}
static __device__ __forceinline__ void add_old(float (&v)[1], const float *at) { v[0] += *at; }

/* Entries k .. k + FLIGHT - 1 of the LANES whose columns and weights the group holds, `count` of them there:
 * all loads, then all sums, in the entries' order. Every lane of the group takes part in the shuffles; those
 * without features (x is NULL) do nothing else. */
template <int KIND, int LANES, int VALUES>
static __device__ __forceinline__ void take(float (&sum)[VALUES], const ftb_spmm_direct_arguments &a,
                                            unsigned group, int column, float weight, const float *x,
                                            const float *w, int k, int count)
{
    float v[FLIGHT][VALUES], by[FLIGHT];
    for (int u = 0; u < FLIGHT; u++) {
        const int j = __shfl_sync(group, column, k + u, LANES);
        by[u] = KIND == EDGE ? __shfl_sync(group, weight, k + u, LANES) : 1;
        if (x && k + u < count) {
            load(v[u], x + j * a.ldx);
            if (KIND == HEADS)
                by[u] = __ldg(w + (k + u) * a.ldw);
        }
    }
    for (int u = 0; u < FLIGHT; u++)
        for (int q = 0; q < VALUES; q++)
            if (x && k + u < count)
                sum[q] += KIND == COPY ? v[u][q] : by[u] * v[u][q];
}

template <int KIND, int LANES, int VALUES>
static __device__ __forceinline__ void spmm_direct(const ftb_spmm_direct_arguments &a)
{
    const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES;
    const long long number =
        static_cast<long long>(blockIdx.x) * (FTB_SPMM_DIRECT_BLOCK / LANES) + thread / LANES;
    if (number >= a.npieces)
        return; /* with the whole group */
    const unsigned group = (FTB_FULL_WARP >> (32 - LANES)) << (thread % 32 - lane);
    const int f = (static_cast<int>(blockIdx.y) * LANES + lane) * VALUES;
    const bool mine = f < a.d;
    const ftb_spmm_piece *const p = a.pieces + number;
    const long long begin = p->begin, end = p->end;
    const float *const x = mine ? a.x + f : nullptr;
    float sum[VALUES] = {};
    for (long long base = begin; base < end; base += LANES) {
        const int count = static_cast<int>(end - base < LANES ? end - base : LANES);
        const int column = lane < count ? __ldg(a.colidx + base + lane) : 0;
        const float weight = KIND == EDGE && lane < count ? __ldg(a.w + (base + lane) * a.ldw) : 0;
        const float *const w = KIND == HEADS && mine ? a.w + base * a.ldw + f / a.width : nullptr;
        for (int k = 0; k < count; k += FLIGHT)
            take<KIND, LANES, VALUES>(sum, a, group, column, weight, x, w, k, count);
    }
    if (!mine)
        return;
    const int row = p->row, slot = p->slot;
    float *const to = slot < 0 ? a.y + row * a.ldy + f : a.partial + slot * a.ldp + f;
    if (slot < 0 && a.mean && end - begin > 1)
        for (int q = 0; q < VALUES; q++)
            sum[q] /= static_cast<float>(end - begin);
    if (slot < 0 && a.add)
        add_old(sum, to);
    store(to, sum);
}

/* The rows that were cut: one a block in y of the grid, a feature a thread. */
extern "C" __global__ void __launch_bounds__(FTB_SPMM_DIRECT_BLOCK)
    spmm_direct_f32_merge(ftb_spmm_direct_arguments a, const ftb_spmm_cut *cuts)
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
FTB_KERNEL(spmm_direct_f32_merge);

#define VARIANT(edge, lanes, values)                                                                         \
    extern "C" __global__ void __launch_bounds__(FTB_SPMM_DIRECT_BLOCK, FTB_SPMM_DIRECT_BLOCKS)              \
        spmm_direct_f32_##edge##_##lanes##x##values(ftb_spmm_direct_arguments a)                             \
    {                                                                                                        \
        spmm_direct<edge, lanes, values>(a);                                                                 \
    }                                                                                                        \
    FTB_KERNEL(spmm_direct_f32_##edge##_##lanes##x##values);
FTB_SPMM_DIRECT(VARIANT)
