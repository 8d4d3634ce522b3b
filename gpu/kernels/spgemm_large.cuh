/* Rows of a sparse x sparse product that are too long for a warp's hash and too short for dense cells
 * (spgemm_rows.cuh): a block has one hash, adds what each left entry meets in the order of these, and then
 * sorts the columns by a bitonic network. No cell is looked at that nothing hits. Each warp has columns of
 * its own, so that the order needs no barrier, and reads all of a short segment for them; of a long one the
 * block adds all side by side, and then waits. */
#ifndef FTB_SPGEMM_LARGE_CUH
#define FTB_SPGEMM_LARGE_CUH

#include "gpu/kernels/spgemm_rows.cuh"

namespace
{

/* Column and slot of an entry; what is behind the last of them. */
typedef unsigned long long Place;
constexpr Place NOWHERE = ~0ull;

/* Right entries of a left one from which all warps add them together, between barriers; a warp adds those of
 * shorter ones that fall to it, and waits for nobody. Rests on no measurement. */
constexpr int TOGETHER = 256;

/* Which of the block's warps adds to a column. */
__device__ __forceinline__ int warp_of(int column)
{
    static_assert(FTB_SPGEMM_LARGE_BLOCK == 4 * WARP, "two bits name a warp");
    return static_cast<int>(static_cast<unsigned>(column) * 2654435769u >> 30);
}

/* To each cell in the order of the left entries. The segments of as many of these as there are threads are
 * found side by side. */
template <class M>
__device__ __forceinline__ void add_products(const ftb_spgemm_arguments &a, const ftb_spgemm_unit &u,
                                             Segment *segments, Cells<M> &cells, int *columns)
{
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (long long x0 = u.begin; x0 < u.end; x0 += threads) {
        __syncthreads();
        if (x0 + thread < u.end)
            segments[thread] = segment_of(a, x0 + thread, u.first, u.last);
        __syncthreads();
        const int many = static_cast<int>(min(static_cast<long long>(threads), u.end - x0));
        bool met = true; /* the block, since it last added anything */
        for (int t = 0; t < many; t++) {
            const Segment s = segments[t];
            if (s.begin == s.end)
                continue; /* the whole block */
            const bool all = s.end - s.begin >= TOGETHER;
            const int step = all ? threads : WARP;
            if (all && !met)
                __syncthreads();
            const M message(a, u, x0 + t);
            for (long long p = s.begin + thread % step; p < s.end; p += step) {
                const int column = __ldg(a.bcol + p);
                if (all || warp_of(column) == thread / WARP)
                    cells.add(message, slot_of(columns, a.slots, column), column, p);
            }
            if (all)
                __syncthreads();
            else
                __syncwarp();
            met = all;
        }
    }
}

/* Ones, whose order cannot show. */
__device__ __forceinline__ void add_products(const ftb_spgemm_arguments &a, const ftb_spgemm_unit &u,
                                             Segment *, Cells<Pair> &cells, int *columns)
{
    __syncthreads();
    walk_columns(a, u, [&](int column) { atomicAdd(cells.values + slot_of(columns, a.slots, column), 1u); });
}

/* The first n places in ascending order; n2: the next power of two, up to which there is room. */
__device__ __forceinline__ void sort_places(Place *places, int n, int n2)
{
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (int k = n + thread; k < n2; k += threads)
        places[k] = NOWHERE;
    for (int size = 2; size <= n2; size *= 2)
        for (int far = size / 2; far > 0; far /= 2) {
            __syncthreads();
            for (int k = thread; k < n2 / 2; k += threads) {
                const int low = 2 * (k & -far) | (k & (far - 1)), high = low + far; /* far: a power of 2 */
                const Place x = places[low], y = places[high];
                if ((x > y) == ((low & size) == 0)) {
                    places[low] = y;
                    places[high] = x;
                }
            }
        }
    __syncthreads();
}

template <class M> __device__ __forceinline__ void large_unit(const ftb_spgemm_arguments &a)
{
    FTB_DYNAMIC_SHARED(unsigned char, memory);
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int unit = __ldg(a.order + blockIdx.x);
    const ftb_spgemm_unit u = a.units[unit];
    int *const taken = reinterpret_cast<int *>(memory);
    Segment *const segments = reinterpret_cast<Segment *>(memory + 16);
    Place *const places = reinterpret_cast<Place *>(segments + FTB_SPGEMM_LARGE_BLOCK);
    int *const columns = reinterpret_cast<int *>(places + a.slots / 2);
    Cells<M> cells(columns + a.slots, a.slots);
    for (int s = thread; s < a.slots; s += threads) {
        cells.clear(s);
        columns[s] = -1;
    }
    if (thread == 0)
        *taken = 0;
    add_products(a, u, segments, cells, columns);
    __syncthreads();
    for (int s = thread; s < a.slots; s += threads)
        if (columns[s] >= 0 && !(a.off_diagonal && columns[s] == u.row))
            places[atomicAdd(taken, 1)] = static_cast<Place>(columns[s]) << 32 | static_cast<unsigned>(s);
    __syncthreads();
    const int n = *taken;
    int n2 = 1;
    while (n2 < n)
        n2 *= 2;
    if constexpr (!M::MARKED)
        if (a.statistics) {
            read_statistics(a, unit, n, [&](int c) {
                return static_cast<unsigned>(cells.values[static_cast<unsigned>(places[c])]);
            });
            return;
        }
    sort_places(places, n, n2);
    for (int k = thread; k < n; k += threads)
        cells.put(a, static_cast<int>(places[k] & 0xffffffffu), static_cast<int>(places[k] >> 32), u.at + k);
    if (thread == 0)
        a.counts[unit] = n;
}

} // namespace

#endif
