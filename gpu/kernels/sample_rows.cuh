/* Rows of sampling, and who has one: a thread an entry or a pick of all rows, a warp or a block a row. */
#ifndef FTB_SAMPLE_ROWS_CUH
#define FTB_SAMPLE_ROWS_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/sample_steps.h"

namespace
{

constexpr unsigned long long NO_KEY = ~0ull;
constexpr int WARP = 32;

__device__ __forceinline__ unsigned long long bits_of(double x)
{
    return static_cast<unsigned long long>(__double_as_longlong(x));
}
__device__ __forceinline__ double double_of(unsigned long long bits)
{
    return __longlong_as_double(static_cast<long long>(bits));
}

struct Row {
    long long vertex, begin, degree;
};

__device__ __forceinline__ Row row_at(const ftb_sample_rows &a, long long r)
{
    const long long vertex = a.rows ? a.rows[r] : r, begin = a.rowptr[vertex];
    return {vertex, begin, a.rowptr[vertex + 1] - begin};
}

/* The key and the counter's second half of a row's draws. */
__device__ __forceinline__ unsigned long long seed_of(const ftb_sample_rows &a, long long r)
{
    return a.seeds ? a.seeds[a.trees[r]] : a.seed;
}
__device__ __forceinline__ unsigned long long stream_of(const ftb_sample_rows &a, long long r)
{
    return a.streams ? a.streams[a.trees[r]] : a.stream;
}

__device__ __forceinline__ long long thread_place()
{
    return static_cast<long long>(blockIdx.x) * FTB_SAMPLE_BLOCK + static_cast<int>(threadIdx.x);
}

/* The row that has number `at` of those of all rows: the last that begins there or before, and has some. */
__device__ __forceinline__ long long row_with(const long long *from, long long nrows, long long at)
{
    long long low = 0, high = nrows - 1;
    while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (from[middle + 1] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Pick `at` is an entry. */
__device__ __forceinline__ void put(const ftb_sample_rows &a, long long at, long long entry)
{
    if (a.entries)
        a.entries[at] = entry;
    a.columns[at] = __ldg(a.colidx + entry);
}

/* Of a warp's lanes, which have keys of rows side by side: one more for those rows whose key is one. */
__device__ __forceinline__ void count_keys(const ftb_sample_rows &a, long long row, unsigned long long key)
{
    const long long counted = key != NO_KEY ? row : -1;
    const unsigned same = __match_any_sync(FTB_FULL_WARP, counted);
    if (counted >= 0 && (same & ((1u << threadIdx.x % WARP) - 1)) == 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(a.to + row),
                  static_cast<unsigned long long>(__popc(same)));
}

/* Threads that have a row: a warp, or a block. */
template <int THREADS> struct Threads {
    static constexpr int WARPS = THREADS / WARP;
    int thread, lane, warp;
    int *sums; /* WARPS; a block's */
    __device__ __forceinline__ void sync() const
    {
        if (THREADS == WARP)
            __syncwarp();
        else
            __syncthreads();
    }
    /* How many threads before this one say so; *all: of all. */
    __device__ __forceinline__ int before(bool says, int *all) const
    {
        const unsigned who = __ballot_sync(FTB_FULL_WARP, says);
        int upto = __popc(who & ((1u << lane) - 1));
        *all = __popc(who);
        if (THREADS == WARP)
            return upto;
        if (lane == 0)
            sums[warp] = *all;
        sync();
        *all = 0;
        for (int w = 0; w < WARPS; w++) {
            upto += w < warp ? sums[w] : 0;
            *all += sums[w];
        }
        sync();
        return upto;
    }
};

} // namespace

#endif
