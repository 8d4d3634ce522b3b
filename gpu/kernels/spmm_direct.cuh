/* Sparse x block, direct, in FP32 of x in FP32, FP16 or BF16, and in FP64 where x or w is:
 *
 *     y(i, :) = sum over the entries e = (i, k) of w(e, head) x(k, :)   [/ entries of i]   [+ y(i, :)]
 *
 * or the greatest or least of them, with the entry that won.
 *
 * A group of lanes takes a piece of a row, and of it a tile of features, 16 bytes of x a lane (4 of FP32, 8
 * of 16 bits, 2 of FP64) where they are aligned. The group reads column indices together, hands them round by
 * shuffles, and has four rows of x on their way at a time, in registers as they are stored. Rows up to a
 * bound are one piece, longer ones are cut, and a second kernel joins what their pieces gave, in the order of
 * the pieces: so bits depend on the bound and on nothing that runs first. It is a kernel of its own, and not
 * the work of whichever block ends last, for that would need a counter a row, cleared before, and a fence a
 * piece, and there are few such rows. The host lists the pieces by falling length, so that the groups of a
 * warp end together. Small d has several groups in a warp. A mean is the sum divided, not times a reciprocal,
 * as the host has it. Min and max are found on keys, as the host finds them: integers that are ordered as the
 * values are, NaN below every number and -0 below 0, for min turned round. The first of equal keys wins.
 *
 * Sectors of 32 bytes, of n entries, r rows, d a multiple of 8 and one tile, where no row is cut; v bytes a
 * value of x, t of y, v a weight:
 *
 *     n d v / 32  +  n / 8 columns  +  n t / 32 weights  +  r (d t / 32 + 4 for the piece + d / 2 winners)
 *
 * (weights that are elsewhere take n / 4 for where, and n; with 8 values a lane, y is written 4 at a time,
 * and asked for twice). The first term is the work; the rest is a twentieth of it at most from 512 bytes a
 * row and degree 32 on. Each source that includes this has kernels of some of the table's types, so that who
 * wants one need not compile all. */
#ifndef FTB_SPMM_DIRECT_CUH
#define FTB_SPMM_DIRECT_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/spmm_direct.h"
#include "gpu/kernels/vectors.cuh"

enum Reduce { PLUS, BEST };
enum Edge { COPY, EDGE, HEADS };

/* Rows of x on their way at a time: with more, keys and winners would not stay in registers beside weights.
 */
template <int REDUCE, int KIND, int VALUES, class T> struct Flight {
    enum { MANY = REDUCE == BEST && (VALUES == 8 ? KIND != COPY : KIND == HEADS && sizeof(T) == 8) ? 2 : 4 };
};

/* FP32 that is computed with in FP64. */
struct f32as64 {
    float value;
};

/* What is computed in, of x as it is stored. */
template <class STORED> struct Computed {
    typedef f32 type;
};
template <> struct Computed<f64> {
    typedef f64 type;
};
template <> struct Computed<f32as64> {
    typedef f64 type;
};

/* ---- memory */

/* So many bytes of x, on their way or there, and the values in them. */
template <int BYTES> struct Words;
template <> struct Words<16> {
    unsigned word[4];
    __device__ __forceinline__ void load(const void *at)
    {
        const uint4 q = __ldg(static_cast<const uint4 *>(at));
        word[0] = q.x;
        word[1] = q.y;
        word[2] = q.z;
        word[3] = q.w;
    }
};
template <> struct Words<8> {
    unsigned word[2];
    __device__ __forceinline__ void load(const void *at)
    {
        const uint2 q = __ldg(static_cast<const uint2 *>(at));
        word[0] = q.x;
        word[1] = q.y;
    }
};
template <> struct Words<4> {
    unsigned word[1];
    __device__ __forceinline__ void load(const void *at)
    {
        word[0] = __ldg(static_cast<const unsigned *>(at));
    }
};
template <> struct Words<2> {
    unsigned word[1];
    __device__ __forceinline__ void load(const void *at)
    {
        word[0] = __ldg(static_cast<const unsigned short *>(at));
    }
};

static __device__ __forceinline__ f32 value_in(const unsigned *word, int q, f32)
{
    return __uint_as_float(word[q]);
}
static __device__ __forceinline__ f64 value_in(const unsigned *word, int q, f64)
{
    return __longlong_as_double(static_cast<long long>(word[2 * q + 1]) << 32 | word[2 * q]);
}
static __device__ __forceinline__ f64 value_in(const unsigned *word, int q, f32as64)
{
    return __uint_as_float(word[q]);
}
template <class STORED> static __device__ __forceinline__ f32 value_in(const unsigned *word, int q, STORED)
{
    return value_of(STORED{static_cast<unsigned short>(word[q / 2] >> q % 2 * 16)});
}

static __device__ __forceinline__ f32 weight_at(const void *w, long long at, int, f32)
{
    return __ldg(static_cast<const float *>(w) + at);
}
static __device__ __forceinline__ f64 weight_at(const void *w, long long at, int wide, f64)
{
    return wide ? __ldg(static_cast<const double *>(w) + at) : __ldg(static_cast<const float *>(w) + at);
}

/* 16 bytes at a time; of more each sector is asked for twice. */
static __device__ __forceinline__ void store(float *at, const float (&v)[8])
{
    for (int q = 0; q < 8; q += 4)
        *reinterpret_cast<float4 *>(at + q) = make_float4(v[q], v[q + 1], v[q + 2], v[q + 3]);
}
static __device__ __forceinline__ void store(double *at, const double (&v)[2])
{
    *reinterpret_cast<double2 *>(at) = make_double2(v[0], v[1]);
}
static __device__ __forceinline__ void store(double *at, const double (&v)[1]) { *at = v[0]; }
template <int VALUES>
static __device__ __forceinline__ void store(long long *at, const long long (&v)[VALUES])
{
    for (int q = 0; q < VALUES; q += 2)
        *reinterpret_cast<int4 *>(at + q) =
            make_int4(static_cast<int>(v[q]), static_cast<int>(v[q] >> 32), static_cast<int>(v[q + 1]),
                      static_cast<int>(v[q + 1] >> 32));
}
static __device__ __forceinline__ void store(long long *at, const long long (&v)[1]) { *at = v[0]; }

/* Not through the read-only cache: y is written. */
template <int VALUES> static __device__ __forceinline__ void add_old(float (&v)[VALUES], const float *at)
{
    for (int k = 0; k < VALUES; k += 4) {
        const float4 q = *reinterpret_cast<const float4 *>(at + k);
        v[k] += q.x;
        v[k + 1] += q.y;
        v[k + 2] += q.z;
        v[k + 3] += q.w;
    }
}
static __device__ __forceinline__ void add_old(float (&v)[1], const float *at) { v[0] += *at; }
static __device__ __forceinline__ void add_old(double (&v)[2], const double *at)
{
    const double2 q = *reinterpret_cast<const double2 *>(at);
    v[0] += q.x;
    v[1] += q.y;
}
static __device__ __forceinline__ void add_old(double (&v)[1], const double *at) { v[0] += *at; }

/* Where a piece's features from f on go, and where what comes before its entries is. */
template <class T>
static __device__ __forceinline__ T *place_of(const ftb_spmm_direct_arguments &a, const ftb_spmm_piece &p,
                                              int f)
{
    return p.slot < 0 ? static_cast<T *>(a.y) + p.row * a.ldy + f
                      : static_cast<T *>(a.partial) + p.slot * a.ldp + f;
}
template <class T>
static __device__ __forceinline__ T *start_of(const ftb_spmm_direct_arguments &a, const ftb_spmm_piece &p,
                                              int f)
{
    return p.slot < 0 ? static_cast<T *>(a.start) + p.row * a.ldstart + f
                      : static_cast<T *>(a.partial) + p.slot * a.ldp + f;
}

/* ---- what a piece has come to */

/* Integers as wide as the values; flip: 0 for the greatest, -1 for the least. Below NONE is no key, so that
 * searches begin with it. */
template <class T> struct Keys;
template <> struct Keys<f32> {
    typedef int key;
    static constexpr key NONE = -0x7fffffff;
    static __device__ __forceinline__ key of(float z, int flip)
    {
        const int bits = __float_as_int(z);
        return z != z ? NONE : bits ^ ((bits >> 31) & 0x7fffffff) ^ flip;
    }
    static __device__ __forceinline__ float value(key k, int flip)
    {
        const int bits = k ^ flip;
        return __int_as_float(k == NONE ? 0x7fffffff : bits ^ ((bits >> 31) & 0x7fffffff));
    }
};
template <> struct Keys<f64> {
    typedef long long key;
    static constexpr key NONE = -0x7fffffffffffffff;
    static __device__ __forceinline__ key of(double z, int flip)
    {
        const long long bits = __double_as_longlong(z);
        return z != z ? NONE : bits ^ ((bits >> 63) & 0x7fffffffffffffff) ^ flip;
    }
    static __device__ __forceinline__ double value(key k, int flip)
    {
        const long long bits = k ^ flip;
        return __longlong_as_double(k == NONE ? 0x7fffffffffffffff
                                              : bits ^ ((bits >> 63) & 0x7fffffffffffffff));
    }
};

/* Sums, or keys and which entries of the piece they are of. */
template <int REDUCE, class T, int VALUES> struct Running {
    T sum[VALUES] = {};
    __device__ __forceinline__ explicit Running(const ftb_spmm_direct_arguments &) {}
    __device__ __forceinline__ void take(int q, T z, int) { sum[q] += z; }
};
template <class T, int VALUES> struct Running<BEST, T, VALUES> {
    int flip, won[VALUES];
    typename Keys<T>::key key[VALUES];
    __device__ __forceinline__ explicit Running(const ftb_spmm_direct_arguments &a) : flip(a.least ? -1 : 0)
    {
        for (int q = 0; q < VALUES; q++) {
            key[q] = Keys<T>::NONE;
            won[q] = 0;
        }
    }
    __device__ __forceinline__ void take(int q, T z, int entry)
    {
        const typename Keys<T>::key other = Keys<T>::of(z, flip);
        won[q] = other > key[q] ? entry : won[q];
        key[q] = other > key[q] ? other : key[q];
    }
};

/* What another kernel has come to already (spmm_hybrid.cuh). */
template <class T, int VALUES>
static __device__ __forceinline__ void begin_with(Running<PLUS, T, VALUES> &r, const T *at)
{
    add_old(r.sum, at);
}
template <class T, int VALUES>
static __device__ __forceinline__ void begin_with(Running<BEST, T, VALUES> &r, const T *at)
{
    for (int q = 0; q < VALUES; q++)
        r.key[q] = Keys<T>::of(at[q], r.flip);
}

template <class T, int VALUES>
static __device__ __forceinline__ void finish(Running<PLUS, T, VALUES> &r, const ftb_spmm_direct_arguments &a,
                                              const ftb_spmm_piece &p, int f)
{
    const bool whole = p.slot < 0;
    T *const to = place_of<T>(a, p, f);
    if (whole && a.mean && p.end - p.begin > 1)
        for (int q = 0; q < VALUES; q++)
            r.sum[q] /= static_cast<T>(p.end - p.begin);
    if (whole && a.add)
        add_old(r.sum, to);
    store(to, r.sum);
}
template <class T, int VALUES>
static __device__ __forceinline__ void finish(Running<BEST, T, VALUES> &r, const ftb_spmm_direct_arguments &a,
                                              const ftb_spmm_piece &p, int f)
{
    const bool whole = p.slot < 0, empty = p.begin == p.end;
    T *const to = place_of<T>(a, p, f);
    T best[VALUES];
    long long won[VALUES];
    for (int q = 0; q < VALUES; q++) {
        best[q] = empty ? static_cast<T>(a.empty) : Keys<T>::value(r.key[q], r.flip);
        won[q] = empty ? -1 : p.begin + r.won[q];
    }
    if (whole && a.add)
        add_old(best, to);
    store(to, best);
    if (a.won)
        store(whole ? a.won + p.row * a.ldwon + f : a.partial_won + p.slot * a.ldp + f, won);
}

/* ---- a row that was cut: one a block in y of the grid, a feature a thread */

template <class T>
static __device__ __forceinline__ void merge_sums(const ftb_spmm_direct_arguments &a, const ftb_spmm_cut &cut)
{
    const int f = static_cast<int>(blockIdx.x * FTB_SPMM_DIRECT_BLOCK + threadIdx.x);
    if (f >= a.d)
        return;
    const T *const from = static_cast<const T *>(a.partial) + cut.slot * a.ldp + f;
    T sum = 0;
    for (int k = 0; k < cut.count; k++)
        sum += from[k * a.ldp];
    if (a.mean)
        sum /= static_cast<T>(cut.entries);
    T *const to = static_cast<T *>(a.y) + cut.row * a.ldy + f;
    *to = a.add ? sum + *to : sum;
}

template <class T>
static __device__ __forceinline__ void merge_best(const ftb_spmm_direct_arguments &a, const ftb_spmm_cut &cut)
{
    const int f = static_cast<int>(blockIdx.x * FTB_SPMM_DIRECT_BLOCK + threadIdx.x);
    if (f >= a.d)
        return;
    const T *const from = static_cast<const T *>(a.partial) + cut.slot * a.ldp + f;
    Running<BEST, T, 1> r(a);
    for (int k = 0; k < cut.count; k++)
        r.take(0, from[k * a.ldp], k);
    const T best = Keys<T>::value(r.key[0], r.flip);
    T *const to = static_cast<T *>(a.y) + cut.row * a.ldy + f;
    *to = a.add ? best + *to : best;
    if (a.won)
        a.won[cut.row * a.ldwon + f] = a.partial_won[(cut.slot + r.won[0]) * a.ldp + f];
}

#define FTB_SPMM_DIRECT_MERGES(type)                                                                         \
    extern "C" __global__ void __launch_bounds__(FTB_SPMM_DIRECT_BLOCK)                                      \
        spmm_direct_##type##_PLUS_merge(ftb_spmm_direct_arguments a, const ftb_spmm_cut *cuts)               \
    {                                                                                                        \
        merge_sums<type>(a, cuts[blockIdx.y]);                                                               \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_SPMM_DIRECT_BLOCK)                                      \
        spmm_direct_##type##_BEST_merge(ftb_spmm_direct_arguments a, const ftb_spmm_cut *cuts)               \
    {                                                                                                        \
        merge_best<type>(a, cuts[blockIdx.y]);                                                               \
    }                                                                                                        \
    FTB_KERNEL(spmm_direct_##type##_PLUS_merge);                                                             \
    FTB_KERNEL(spmm_direct_##type##_BEST_merge);

/* ---- pieces */

/* As many entries of a piece as a group has lanes, or fewer, from `base` on, and what a lane holds of its
 * own: the column, the weight, and where that is. */
template <class T> struct Entries {
    long long base, from;
    int count, before, column; /* before: those of the piece that came earlier */
    T weight;
};
template <int KIND, class T>
static __device__ __forceinline__ Entries<T>
read_entries(const ftb_spmm_direct_arguments &a, const ftb_spmm_piece &p, long long base, int lane, int lanes)
{
    Entries<T> e = {base,
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
        e.weight = weight_at(a.w, e.from * a.ldw, a.wide, T());
    return e;
}

/* Entries from k on of those that the group holds: all loads, then all sums, in the entries' order.
 * Every lane of the group takes part in the shuffles; those without features (x is NULL) do nothing else. */
template <int KIND, int LANES, class STORED, int REDUCE, class T, int VALUES>
static __device__ __forceinline__ void take(Running<REDUCE, T, VALUES> &r, const ftb_spmm_direct_arguments &a,
                                            unsigned group, const Entries<T> &e, const STORED *x, int head,
                                            int k)
{
    constexpr int FLIGHT = Flight<REDUCE, KIND, VALUES, T>::MANY;
    Words<int{VALUES * sizeof(STORED)}> v[FLIGHT];
    T by[FLIGHT];
    for (int u = 0; u < FLIGHT; u++) {
        const int j = __shfl_sync(group, e.column, k + u, LANES);
        const long long from =
            KIND == HEADS && a.from ? __shfl_sync(group, e.from, k + u, LANES) : e.base + k + u;
        by[u] = KIND == EDGE ? __shfl_sync(group, e.weight, k + u, LANES) : 1;
        if (x && k + u < e.count) {
            v[u].load(x + j * a.ldx);
            if (KIND == HEADS)
                by[u] = weight_at(a.w, from * a.ldw + head, a.wide, T());
        }
    }
    for (int u = 0; u < FLIGHT; u++)
        for (int q = 0; q < VALUES; q++)
            if (x && k + u < e.count) {
                const T z = value_in(v[u].word, q, STORED());
                r.take(q, KIND == COPY ? z : by[u] * z, e.before + k + u);
            }
}

template <class STORED, int REDUCE, int KIND, int LANES, int VALUES>
static __device__ __forceinline__ void spmm_direct(const ftb_spmm_direct_arguments &a)
{
    typedef typename Computed<STORED>::type T;
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
    const int head = KIND == HEADS ? f / a.width : 0;
    Running<REDUCE, T, VALUES> r(a);
    if (a.rest) {
        walk.begin = __ldg(a.rest + number);
        walk.end = __ldg(a.rest + number + 1);
        if (mine)
            begin_with(r, start_of<T>(a, p, f));
    }
    for (long long base = walk.begin; base < walk.end; base += LANES) {
        const Entries<T> e = read_entries<KIND, T>(a, walk, base, lane, LANES);
        for (int k = 0; k < e.count; k += Flight<REDUCE, KIND, VALUES, T>::MANY)
            take<KIND, LANES>(r, a, group, e, x, head, k);
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
