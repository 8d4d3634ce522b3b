/* Sparse x block, direct, in FP32, of x in FP32, FP16 or BF16:
 *
 *     y(i, :) = sum over the entries e = (i, k) of w(e, head) x(k, :)   [/ entries of i]   [+ y(i, :)]
 *
 * or the greatest or least of them, with the entry that won.
 *
 * A group of lanes takes a piece of a row, and of it a tile of features, 4 a lane (16 bytes of FP32) where
 * they are aligned. The group reads column indices together, hands them round by shuffles, and has FLIGHT
 * rows of x on their way at a time. Rows up to a bound are one piece, longer ones are cut, and a second
 * kernel joins what their pieces gave, in the order of the pieces: so bits depend on the bound and on nothing
 * that runs first. It is a kernel of its own, and not the work of whichever block ends last, for that would
 * need a counter a row, cleared before, and a fence a piece, and there are few such rows. The host lists the
 * pieces by falling length, so that the groups of a warp end together. Small d has several groups in a warp.
 * A mean is the sum divided, not times a reciprocal, as the host has it. Min and max are found on keys, as
 * the host finds them: integers that are ordered as the values are, NaN below every number and -0 below 0,
 * for min turned round. The first of equal keys wins.
 *
 * Sectors of 32 bytes, of n entries, r rows, d a multiple of 8 and one tile, where no row is cut:
 *
 *     n d / 8  +  n / 8 columns (and as many weights)  +  r (d / 8 + 4 for the piece + d / 2 for the winners)
 *
 * (weights that are elsewhere take n / 4 for where, and n).
 *
 * The first term is the work; the rest is a twentieth of it at most from d = 128 and degree 32 on. With x in
 * 16 bits it is half of that. Each source that includes this has kernels of some of the table's types, so
 * that who wants one need not compile all. */
#ifndef FTB_SPMM_DIRECT_CUH
#define FTB_SPMM_DIRECT_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/spmm_direct.h"
#include "gpu/kernels/vectors.cuh"

enum Reduce { PLUS, BEST };
enum Edge { COPY, EDGE, HEADS };
enum { FLIGHT = 4 };

/* Two at a time: each of their sectors is asked for twice. */
static __device__ __forceinline__ void store(long long *at, const long long (&v)[4])
{
    for (int q = 0; q < 4; q += 2)
        *reinterpret_cast<int4 *>(at + q) =
            make_int4(static_cast<int>(v[q]), static_cast<int>(v[q] >> 32), static_cast<int>(v[q + 1]),
                      static_cast<int>(v[q + 1] >> 32));
}
static __device__ __forceinline__ void store(long long *at, const long long (&v)[1]) { *at = v[0]; }

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

enum { NAN_KEY = -0x7fffffff }; /* below it is no key, so that searches begin with it */

/* flip: 0 for the greatest, -1 for the least. */
static __device__ __forceinline__ int key_of(float z, int flip)
{
    const int bits = __float_as_int(z);
    return z != z ? NAN_KEY : bits ^ ((bits >> 31) & 0x7fffffff) ^ flip;
}
static __device__ __forceinline__ float value_of(int key, int flip)
{
    const int bits = key ^ flip;
    return __int_as_float(key == NAN_KEY ? 0x7fffffff : bits ^ ((bits >> 31) & 0x7fffffff));
}

/* What a piece has come to: sums, or keys and which entries of the piece they are of. */
template <int REDUCE, int VALUES> struct Running {
    float sum[VALUES] = {};
    __device__ __forceinline__ explicit Running(const ftb_spmm_direct_arguments &) {}
    __device__ __forceinline__ void take(int q, float z, int) { sum[q] += z; }
};
template <int VALUES> struct Running<BEST, VALUES> {
    int flip, key[VALUES], won[VALUES];
    __device__ __forceinline__ explicit Running(const ftb_spmm_direct_arguments &a) : flip(a.least ? -1 : 0)
    {
        for (int q = 0; q < VALUES; q++) {
            key[q] = NAN_KEY;
            won[q] = 0;
        }
    }
    __device__ __forceinline__ void take(int q, float z, int entry)
    {
        const int other = key_of(z, flip);
        won[q] = other > key[q] ? entry : won[q];
        key[q] = other > key[q] ? other : key[q];
    }
};

/* What another kernel has added up already (spmm_hybrid.cuh). */
template <int VALUES>
static __device__ __forceinline__ void begin_with(Running<PLUS, VALUES> &r, const float *at)
{
    add_old(r.sum, at);
}
template <int VALUES>
static __device__ __forceinline__ void begin_with(Running<BEST, VALUES> &, const float *)
{
}

/* Where a piece's features from f on go. */
template <int VALUES>
static __device__ __forceinline__ void finish(Running<PLUS, VALUES> &r, const ftb_spmm_direct_arguments &a,
                                              const ftb_spmm_piece &p, int f)
{
    const bool whole = p.slot < 0;
    float *const to = whole ? a.y + p.row * a.ldy + f : a.partial + p.slot * a.ldp + f;
    if (whole && a.mean && p.end - p.begin > 1)
        for (int q = 0; q < VALUES; q++)
            r.sum[q] /= static_cast<float>(p.end - p.begin);
    if (whole && a.add)
        add_old(r.sum, to);
    store(to, r.sum);
}
template <int VALUES>
static __device__ __forceinline__ void finish(Running<BEST, VALUES> &r, const ftb_spmm_direct_arguments &a,
                                              const ftb_spmm_piece &p, int f)
{
    const bool whole = p.slot < 0, empty = p.begin == p.end;
    float *const to = whole ? a.y + p.row * a.ldy + f : a.partial + p.slot * a.ldp + f;
    float best[VALUES];
    long long won[VALUES];
    for (int q = 0; q < VALUES; q++) {
        best[q] = empty ? a.empty : value_of(r.key[q], r.flip);
        won[q] = empty ? -1 : p.begin + r.won[q];
    }
    if (whole && a.add)
        add_old(best, to);
    store(to, best);
    if (a.won)
        store(whole ? a.won + p.row * a.ldwon + f : a.partial_won + p.slot * a.ldp + f, won);
}

/* As many entries of a piece as a group has lanes, or fewer, from `base` on, and what a lane holds of its
 * own: the column, the weight, and where that is. */
struct Entries {
    long long base, from;
    int count, before, column; /* before: those of the piece that came earlier */
    float weight;
};
template <int KIND>
static __device__ __forceinline__ Entries read_entries(const ftb_spmm_direct_arguments &a,
                                                       const ftb_spmm_piece &p, long long base, int lane,
                                                       int lanes)
{
    Entries e = {base,
                 base + lane,
                 static_cast<int>(p.end - base < lanes ? p.end - base : lanes),
                 static_cast<int>(base - p.begin),
                 0,
                 0};
    if (lane >= e.count)
        return e;
    e.column = __ldg(a.colidx + base + lane);
    if (KIND != COPY && a.from)
        e.from = __ldg(a.from + base + lane);
    if (KIND == EDGE)
        e.weight = __ldg(a.w + e.from * a.ldw);
    return e;
}

/* Entries k .. k + FLIGHT - 1 of those that the group holds: all loads, then all sums, in the entries' order.
 * Every lane of the group takes part in the shuffles; those without features (x is NULL) do nothing else. */
template <int KIND, int LANES, class STORED, int REDUCE, int VALUES>
static __device__ __forceinline__ void take(Running<REDUCE, VALUES> &r, const ftb_spmm_direct_arguments &a,
                                            unsigned group, const Entries &e, const STORED *x, const float *w,
                                            int k)
{
    float v[FLIGHT][VALUES], by[FLIGHT];
    for (int u = 0; u < FLIGHT; u++) {
        const int j = __shfl_sync(group, e.column, k + u, LANES);
        const long long from =
            KIND == HEADS && a.from ? __shfl_sync(group, e.from, k + u, LANES) : e.base + k + u;
        by[u] = KIND == EDGE ? __shfl_sync(group, e.weight, k + u, LANES) : 1;
        if (x && k + u < e.count) {
            load(v[u], x + j * a.ldx);
            if (KIND == HEADS)
                by[u] = __ldg(w + from * a.ldw);
        }
    }
    for (int u = 0; u < FLIGHT; u++)
        for (int q = 0; q < VALUES; q++)
            if (x && k + u < e.count)
                r.take(q, KIND == COPY ? v[u][q] : by[u] * v[u][q], e.before + k + u);
}

template <class STORED, int REDUCE, int KIND, int LANES, int VALUES>
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
    const ftb_spmm_piece p = a.pieces[number];
    ftb_spmm_piece walk = p;
    const STORED *const x = mine ? static_cast<const STORED *>(a.x) + f : nullptr;
    const float *const w = KIND == HEADS && mine ? a.w + f / a.width : nullptr;
    Running<REDUCE, VALUES> r(a);
    if (REDUCE == PLUS && a.rest) {
        walk.begin = __ldg(a.rest + number);
        walk.end = __ldg(a.rest + number + 1);
        if (mine)
            begin_with(r, p.slot < 0 ? a.start + p.row * a.ldstart + f : a.partial + p.slot * a.ldp + f);
    }
    for (long long base = walk.begin; base < walk.end; base += LANES) {
        const Entries e = read_entries<KIND>(a, walk, base, lane, LANES);
        for (int k = 0; k < e.count; k += FLIGHT)
            take<KIND, LANES>(r, a, group, e, x, w, k);
    }
    if (mine)
        finish(r, a, p, f);
}

#define FTB_SPMM_DIRECT_KERNEL(stored, reduce, edge, lanes, values)                                          \
    extern "C" __global__ void __launch_bounds__(FTB_SPMM_DIRECT_BLOCK, FTB_SPMM_DIRECT_BLOCKS)              \
        spmm_direct_##stored##_##reduce##_##edge##_##lanes##x##values(ftb_spmm_direct_arguments a)           \
    {                                                                                                        \
        spmm_direct<stored, reduce, edge, lanes, values>(a);                                                 \
    }                                                                                                        \
    FTB_KERNEL(spmm_direct_##stored##_##reduce##_##edge##_##lanes##x##values);

#endif
