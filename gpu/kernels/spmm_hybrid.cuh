/* Sparse x block, hybrid: as in the direct form (spmm_direct.cuh) in FP32, winners aside; the sources that
 * many rows share come from shared memory (the hybrid partitioning of Hu et al., "FeatGraph", SC 2020,
 * section IV-A, here decided for each block of rows).
 *
 * Pieces of rows, by falling length, are taken in blocks of 512. A column that a block uses often enough is
 * hot there. A block's hot columns, ascending, are taken a tile at a time: 32 features of each are copied
 * into shared memory, where the next tile's are on their way while this one's are added; a group of lanes has
 * as many pieces as lanes, and keeps the sums, or keys, of all of them in registers over all tiles. What is
 * in no tile follows as in the direct form, piece by piece: so a row's terms are added in the order of its
 * hot entries, then of the others, whatever the tiles are, and bits of sums depend on which columns are hot
 * and on nothing that runs first; those of min and max on nothing. Blocks at the end that have no hot columns
 * are left to the direct kernel.
 *
 * Sectors of 32 bytes, of a block with m hot columns in t tiles, whose p pieces have n hot entries, in q
 * pairs of a piece and a tile; T = d / 32 tiles of features, v bytes a value, 8 lanes of 4 values:
 *
 *     T v m  +  T (m / 4 columns + 80 t + 32 where what begins + 6 p results and where they go
 *               + 2 (n / 8 + q / 2) places, and 3 (n / 8 + q / 2) weights)
 *
 * of which the first is the work. The direct form reads T v for each of the n entries, too; a column that is
 * used u times costs a u-th of that, and one pass over the banks of shared memory an entry and T (of FP32).
 */
#ifndef FTB_SPMM_HYBRID_CUH
#define FTB_SPMM_HYBRID_CUH

#include "gpu/kernels/spmm_direct.cuh"
#include "gpu/kernels/spmm_hybrid.h"

/* Of shared memory, as FP32. */
static __device__ __forceinline__ void read_tile(float (&v)[4], const float *at)
{
    const float4 q = *reinterpret_cast<const float4 *>(at);
    v[0] = q.x;
    v[1] = q.y;
    v[2] = q.z;
    v[3] = q.w;
}
static __device__ __forceinline__ void read_tile(float (&v)[1], const float *at) { v[0] = *at; }
template <class STORED> static __device__ __forceinline__ void read_tile(float (&v)[4], const STORED *at)
{
    const ushort4 q = *reinterpret_cast<const ushort4 *>(at);
    v[0] = value_of(STORED{q.x});
    v[1] = value_of(STORED{q.y});
    v[2] = value_of(STORED{q.z});
    v[3] = value_of(STORED{q.w});
}
template <class STORED> static __device__ __forceinline__ void read_tile(float (&v)[1], const STORED *at)
{
    v[0] = value_of(*at);
}

/* Begins to copy this lane's features, from f on, of a tile's columns. Single values of 16 bits are too
 * short to be copied while the thread goes on. */
template <int LANES, int VALUES, class STORED>
static __device__ __forceinline__ void stage(const ftb_spmm_hybrid_arguments &h, int tile, STORED *to, int f)
{
    const int thread = static_cast<int>(threadIdx.x), first = __ldg(h.column_start + tile);
    const int n = __ldg(h.column_start + tile + 1) - first;
    const STORED *const x = static_cast<const STORED *>(h.direct.x) + f;
    for (int k = thread / LANES; f < h.direct.d && k < n; k += FTB_SPMM_HYBRID_BLOCK / LANES) {
        const STORED *const from = x + __ldg(h.columns + first + k) * h.direct.ldx;
        STORED *const at = to + k * LANES * VALUES + thread % LANES * VALUES;
        if constexpr (VALUES * sizeof(STORED) >= 4)
            ftb_copy_async<VALUES * sizeof(STORED)>(at, from);
        else
            *at = *from;
    }
    ftb_copy_commit();
}

/* How tiles come to shared memory. By lanes, each with its own features, which wait for their own copies; */
template <int LANES, int VALUES> struct ByLanes {
    __device__ __forceinline__ void begin() {}
    template <class STORED>
    __device__ __forceinline__ void bring(const ftb_spmm_hybrid_arguments &h, int tile, STORED *to)
    {
        const int lane = static_cast<int>(threadIdx.x) % LANES;
        stage<LANES, VALUES>(h, tile, to, (static_cast<int>(blockIdx.y) * LANES + lane) * VALUES);
    }
    __device__ __forceinline__ void wait(const ftb_spmm_hybrid_arguments &, int, bool more)
    {
        if (more)
            ftb_copy_wait<1>();
        else
            ftb_copy_wait<0>();
    }
};

/* or, since compute capability 9.0, by the copy engine: a row of a source at a time, which one thread asks
 * for. Rows and where they lie are multiples of 16 bytes. */
template <int LANES, int VALUES> struct ByEngine {
    static __device__ __forceinline__ unsigned long long *barrier_of(int tile)
    {
        __shared__ unsigned long long barriers[FTB_SPMM_HYBRID_STAGES];
        return &barriers[tile % FTB_SPMM_HYBRID_STAGES];
    }
    __device__ __forceinline__ void begin()
    {
        if (threadIdx.x == 0)
            for (int k = 0; k < FTB_SPMM_HYBRID_STAGES; k++)
                ftb_barrier_begin(barrier_of(k));
        __syncthreads();
    }
    template <class STORED>
    __device__ __forceinline__ void bring(const ftb_spmm_hybrid_arguments &h, int tile, STORED *to)
    {
        const int thread = static_cast<int>(threadIdx.x), begin = __ldg(h.column_start + tile),
                  n = __ldg(h.column_start + tile + 1) - begin;
        const int f = static_cast<int>(blockIdx.y) * LANES * VALUES, left = h.direct.d - f;
        const unsigned bytes = static_cast<unsigned>(left < LANES * VALUES ? left : LANES * VALUES) *
                               static_cast<unsigned>(sizeof(STORED));
        const STORED *const x = static_cast<const STORED *>(h.direct.x) + f;
        if (thread == FTB_SPMM_HYBRID_BLOCK - 1)
            ftb_barrier_expect(barrier_of(tile), static_cast<unsigned>(n) * bytes);
#pragma unroll 1
        for (int k = thread; k < n; k += FTB_SPMM_HYBRID_BLOCK)
            ftb_copy_bulk(to + k * LANES * VALUES, x + __ldg(h.columns + begin + k) * h.direct.ldx, bytes,
                          barrier_of(tile));
    }
    /* The first is read again: 64 registers have no room for it. */
    __device__ __forceinline__ void wait(const ftb_spmm_hybrid_arguments &h, int tile, bool)
    {
        const int turn = (tile - __ldg(h.tile_start + blockIdx.x)) / FTB_SPMM_HYBRID_STAGES;
        ftb_barrier_wait(barrier_of(tile), static_cast<unsigned>(turn % 2));
    }
};

/* Entries that are read together. One's way through shared memory takes less than what the other warps of a
 * multiprocessor ask of it meanwhile; with more, four values a lane would not stay in registers. */
template <int VALUES> struct Near {
    enum { MANY = VALUES == 1 ? 4 : 1 };
};

/* What is kept of a piece for a feature. */
template <int REDUCE> struct Kept {
    typedef float type;
    static constexpr type NONE = 0;
    static __device__ __forceinline__ void take(type &all, float z, int) { all += z; }
    static __device__ __forceinline__ float value(type all, int) { return all; }
};
template <> struct Kept<BEST> {
    typedef int type;
    static constexpr type NONE = Keys<f32>::NONE;
    static __device__ __forceinline__ void take(type &all, float z, int flip)
    {
        const int other = Keys<f32>::of(z, flip);
        all = other > all ? other : all;
    }
    static __device__ __forceinline__ float value(type all, int flip) { return Keys<f32>::value(all, flip); }
};

/* What a group of lanes is, and what its lanes have of the features. */
struct Group {
    unsigned mask;
    int number, lane, head, flip;
    bool mine; /* there are such features */
};

/* As many entries as the group has lanes, or fewer: one's place in the tile, and its weight. */
struct Places {
    int place;
    float weight;
};
template <int KIND>
static __device__ __forceinline__ Places places_from(const ftb_spmm_hybrid_arguments &h, const Group &g,
                                                     int at, int count)
{
    Places p = {0, 0};
    if (g.lane >= count)
        return p;
    p.place = __ldg(h.entries + at + g.lane);
    if (KIND == EDGE)
        p.weight = weight_at(h.direct.w, static_cast<long long>(at + g.lane) * h.direct.ldw, 0, f32());
    return p;
}

/* Entries from k on of the `count` that the group holds: all reads, then all sums. */
template <int REDUCE, int KIND, int LANES, class STORED, class T, int VALUES>
static __device__ __forceinline__ void take_tile(T (&all)[VALUES], const ftb_spmm_hybrid_arguments &h,
                                                 const Group &g, const STORED *tile, const Places &of,
                                                 int base, int k, int count)
{
    constexpr int NEAR = Near<VALUES>::MANY;
    float v[NEAR][VALUES], by[NEAR];
    for (int u = 0; u < NEAR; u++) {
        const int j = __shfl_sync(g.mask, of.place, k + u, LANES);
        by[u] = KIND == EDGE ? __shfl_sync(g.mask, of.weight, k + u, LANES) : 1;
        if (g.mine && k + u < count) {
            read_tile(v[u], tile + j * LANES * VALUES);
            if (KIND == HEADS)
                by[u] = weight_at(h.direct.w, static_cast<long long>(base + k + u) * h.direct.ldw + g.head, 0,
                                  f32());
        }
    }
    for (int u = 0; u < NEAR; u++)
        for (int q = 0; q < VALUES; q++)
            if (g.mine && k + u < count)
                Kept<REDUCE>::take(all[q], KIND == COPY ? v[u][q] : by[u] * v[u][q], g.flip);
}

/* Adds what the group's pieces have in a tile. */
template <int REDUCE, int KIND, int LANES, class STORED, class T, int VALUES>
static __device__ __forceinline__ void add_tile(T (&all)[LANES][VALUES], const ftb_spmm_hybrid_arguments &h,
                                                const Group &g, int number, const STORED *tile)
{
    const long long pieces = static_cast<long long>(number) * FTB_SPMM_HYBRID_PIECES + g.number * LANES;
    const int count = __ldg(h.count + pieces + g.lane);
    int at = __ldg(h.entry_start + pieces / FTB_SPMM_HYBRID_STEP);
    int n = __shfl_sync(g.mask, count, 0, LANES);
    Places next = places_from<KIND>(h, g, at, n);
#pragma unroll
    for (int r = 0; r < LANES; r++) {
        const int end = at + n;
        Places now = next;
        if (r + 1 < LANES) { /* on their way while this piece's are added */
            n = __shfl_sync(g.mask, count, r + 1, LANES);
            next = places_from<KIND>(h, g, end, n);
        }
#pragma unroll 1
        while (at < end) {
#pragma unroll 1
            for (int k = 0; k < LANES && at + k < end; k += Near<VALUES>::MANY)
                take_tile<REDUCE, KIND, LANES>(all[r], h, g, tile, now, at, k, end - at);
            at += LANES;
            now = places_from<KIND>(h, g, at, end - at);
        }
        at = end;
    }
}

/* What tiles gave for a piece: the direct kernel begins with it. */
template <int REDUCE, class T, int VALUES>
static __device__ __forceinline__ void leave(const T (&all)[VALUES], const ftb_spmm_direct_arguments &a,
                                             const ftb_spmm_piece &p, int f, int flip)
{
    float v[VALUES];
    for (int q = 0; q < VALUES; q++)
        v[q] = Kept<REDUCE>::value(all[q], flip);
    store(start_of<f32>(a, p, f), v);
}

template <class COPIES, class STORED, int REDUCE, int KIND, int LANES, int VALUES>
static __device__ __forceinline__ void spmm_hybrid(const ftb_spmm_hybrid_arguments &h)
{
    FTB_DYNAMIC_SHARED(STORED, tiles);
    const ftb_spmm_direct_arguments &a = h.direct;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES;
    const int f = (static_cast<int>(blockIdx.y) * LANES + lane) * VALUES;
    const Group g = {(FTB_FULL_WARP >> (32 - LANES)) << (thread % 32 - lane),
                     thread / LANES,
                     lane,
                     KIND == HEADS ? f / a.width : 0,
                     a.least ? -1 : 0,
                     f < a.d};
    const int stride = h.tile * LANES * VALUES, last = __ldg(h.tile_start + blockIdx.x + 1);
    typename Kept<REDUCE>::type all[LANES][VALUES];
    for (int r = 0; r < LANES; r++)
        for (int q = 0; q < VALUES; q++)
            all[r][q] = Kept<REDUCE>::NONE;
    int k = __ldg(h.tile_start + blockIdx.x);
    COPIES copies;
    copies.begin();
    if (k < last)
        copies.bring(h, k, tiles + k % 2 * stride);
    for (; k < last; k++) {
        if (k + 1 < last)
            copies.bring(h, k + 1, tiles + (k + 1) % 2 * stride);
        copies.wait(h, k, k + 1 < last);
        __syncthreads();
        add_tile<REDUCE, KIND, LANES>(all, h, g, k, tiles + k % 2 * stride + lane * VALUES);
        __syncthreads(); /* all are done with it */
    }
    const long long piece = static_cast<long long>(blockIdx.x) * FTB_SPMM_HYBRID_PIECES + g.number * LANES;
#pragma unroll
    for (int r = 0; r < LANES; r++)
        if (g.mine && piece + r < a.npieces)
            leave<REDUCE>(all[r], a, a.pieces[piece + r], f, g.flip);
}

#define FTB_SPMM_HYBRID_KERNEL(stored, reduce, edge, lanes, values)                                          \
    extern "C" __global__ void __launch_bounds__(FTB_SPMM_HYBRID_BLOCK, FTB_SPMM_HYBRID_BLOCKS)              \
        spmm_hybrid_##stored##_##reduce##_##edge##_##lanes##x##values(ftb_spmm_hybrid_arguments h)           \
    {                                                                                                        \
        spmm_hybrid<ByLanes<lanes, values>, stored, reduce, edge, lanes, values>(h);                         \
    }                                                                                                        \
    FTB_KERNEL(spmm_hybrid_##stored##_##reduce##_##edge##_##lanes##x##values);

#define FTB_SPMM_HYBRID_BULK_KERNEL(stored, reduce, edge, lanes, values)                                     \
    extern "C" __global__ void __launch_bounds__(FTB_SPMM_HYBRID_BLOCK, FTB_SPMM_HYBRID_BLOCKS)              \
        spmm_hybrid_##stored##_##reduce##_##edge##_##lanes##x##values##_bulk(ftb_spmm_hybrid_arguments h)    \
    {                                                                                                        \
        spmm_hybrid<ByEngine<lanes, values>, stored, reduce, edge, lanes, values>(h);                        \
    }                                                                                                        \
    FTB_KERNEL(spmm_hybrid_##stored##_##reduce##_##edge##_##lanes##x##values##_bulk);

#endif
