/* Counts row by row into a dense row of accumulators in shared memory, one block a row: WIDTH bits for an
 * accumulator, IDS columns of 16 bits in one load of a lane. Rows are in order of falling work, so that the
 * longest start first. The row is read out as statistics, or stored compactly: counted, a place reserved,
 * filled, columns ascending.
 *
 * 16 bits need counts below 65,536. A count is at most the lesser of both items' users, which leaves pairs
 * among the few items with more; here the plain kernel's largest count says that none is reached. 8 bits
 * serve rows of items with at most 255 users. */
#pragma once

#include "counts.cuh"

namespace facts
{
namespace counts
{

template <int IDS> struct Load;
template <> struct Load<2> {
    using Type = unsigned;
};
template <> struct Load<4> {
    using Type = uint2;
};
template <> struct Load<8> {
    using Type = uint4;
};

template <int WIDTH> __host__ __device__ int accumulator_words(int columns)
{
    return (columns + 32 / WIDTH - 1) / (32 / WIDTH);
}

template <int WIDTH> __device__ void count_one(unsigned *accumulators, int column)
{
    constexpr int EACH = 32 / WIDTH;
    atomicAdd(&accumulators[column / EACH], 1u << (column % EACH * WIDTH % 32));
}

template <int WIDTH> __device__ unsigned count_of(const unsigned *accumulators, int column)
{
    constexpr int EACH = 32 / WIDTH;
    return accumulators[column / EACH] >> (column % EACH * WIDTH % 32) & (FULL_WARP >> (32 - WIDTH));
}

/* Adds a row's products up; `lanes` neighbouring lanes take a user together. */
template <int WIDTH, int IDS>
__device__ void accumulate(const Lists &l, int row, int lanes, unsigned *accumulators)
{
    const int begin = l.begin(row), words = accumulator_words<WIDTH>(l.nitems - begin);
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), step = static_cast<int>(blockDim.x) / lanes;
    for (int k = static_cast<int>(threadIdx.x); k < words; k += static_cast<int>(blockDim.x))
        accumulators[k] = 0;
    __syncthreads();
    const int last = l.itemptr[row + 1];
    int e = l.itemptr[row] + static_cast<int>(threadIdx.x) / lanes;
    int2 next = {0, 0};
    if (e < last)
        next = l.segments[e];
    for (; e < last; e += step) {
        const int2 segment = next;
        if (e + step < last)
            next = l.segments[e + step];
        for (int p = (segment.x & ~(IDS - 1)) + lane * IDS; p < segment.y; p += lanes * IDS) {
            const typename Load<IDS>::Type loaded =
                *reinterpret_cast<const typename Load<IDS>::Type *>(l.ids + p);
            uint16_t ids[IDS];
            memcpy(ids, &loaded, sizeof ids);
#pragma unroll
            for (int q = 0; q < IDS; q++)
                if (p + q >= segment.x && p + q < segment.y)
                    count_one<WIDTH>(accumulators, ids[q] - begin);
        }
    }
    __syncthreads();
}

template <int WIDTH, int IDS>
__global__ __launch_bounds__(COUNTS_BLOCK) void dense_rows(const Lists l, int first_row, int lanes,
                                                           Statistics *rows)
{
    DYNAMIC_SHARED(memory);
    unsigned *accumulators = reinterpret_cast<unsigned *>(memory);
    const int row = first_row + static_cast<int>(blockIdx.x), begin = l.begin(row);
    accumulate<WIDTH, IDS>(l, row, lanes, accumulators);
    Statistics s = {};
    for (int k = static_cast<int>(threadIdx.x); k < l.nitems - begin; k += static_cast<int>(blockDim.x))
        add_count(s, row, begin + k, count_of<WIDTH>(accumulators, k));
    s = block_sum(s);
    if (threadIdx.x == 0)
        rows[row] = s;
}

/* Rows stored one behind another in the order in which they are done. */
struct Stored {
    unsigned long long *cursor, *row_start, capacity;
    int *row_count;
    uint16_t *columns;
    unsigned *values;
};

/* Where each warp's entries go, of a row with `mine` of them in this warp. */
__device__ inline unsigned long long reserve(const Stored &out, int row, int mine)
{
    __shared__ int sums[COUNTS_BLOCK / WARP];
    __shared__ unsigned long long start;
    const int warp = static_cast<int>(threadIdx.x) / WARP, nwarps = static_cast<int>(blockDim.x) / WARP;
    if (threadIdx.x % WARP == 0)
        sums[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        int all = 0;
        for (int w = 0; w < nwarps; w++) {
            const int own = sums[w];
            sums[w] = all;
            all += own;
        }
        start = atomicAdd(out.cursor, static_cast<unsigned long long>(all));
        out.row_start[row] = start;
        out.row_count[row] = all;
    }
    __syncthreads();
    return start + static_cast<unsigned long long>(sums[warp]);
}

template <int WIDTH, int IDS>
__global__ __launch_bounds__(COUNTS_BLOCK) void dense_rows_stored(const Lists l, int first_row, int lanes,
                                                                  Stored out)
{
    DYNAMIC_SHARED(memory);
    unsigned *accumulators = reinterpret_cast<unsigned *>(memory);
    const int row = first_row + static_cast<int>(blockIdx.x), begin = l.begin(row),
              columns = l.nitems - begin;
    accumulate<WIDTH, IDS>(l, row, lanes, accumulators);
    const int lane = static_cast<int>(threadIdx.x) % WARP, nwarps = static_cast<int>(blockDim.x) / WARP;
    const int chunk = ((columns + nwarps - 1) / nwarps + WARP - 1) / WARP * WARP;
    const int from = static_cast<int>(threadIdx.x) / WARP * chunk, to = min(from + chunk, columns);
    int mine = 0;
    for (int k = from; k < to; k += WARP)
        mine +=
            __popc(__ballot_sync(FULL_WARP, k + lane < to && count_of<WIDTH>(accumulators, k + lane) > 0));
    unsigned long long at = reserve(out, row, mine);
    for (int k = from; k < to; k += WARP) {
        const unsigned count = k + lane < to ? count_of<WIDTH>(accumulators, k + lane) : 0;
        const unsigned found = __ballot_sync(FULL_WARP, count > 0);
        const unsigned long long place = at + static_cast<unsigned>(__popc(found & ((1u << lane) - 1)));
        if (count > 0 && place < out.capacity) {
            out.columns[place] = static_cast<uint16_t>(begin + k + lane);
            out.values[place] = count;
        }
        at += static_cast<unsigned>(__popc(found));
    }
}

/* The plain way, for comparison: the triangle as a whole matrix, each product added where it belongs. */
static __global__ __launch_bounds__(COUNTS_BLOCK) void plain_products(const Lists l, unsigned *matrix)
{
    const int row = static_cast<int>(blockIdx.x);
    for (int e = l.itemptr[row] + static_cast<int>(threadIdx.x); e < l.itemptr[row + 1];
         e += static_cast<int>(blockDim.x))
        for (int p = l.segments[e].x; p < l.segments[e].y; p++)
            atomicAdd(&matrix[static_cast<size_t>(row) * static_cast<size_t>(l.nitems) + l.ids[p]], 1u);
}

/* Statistics of the rows of a matrix, columns from row + 1 up to `columns`. */
static __global__ __launch_bounds__(COUNTS_BLOCK) void plain_statistics(const unsigned *matrix, int nitems,
                                                                        int columns, Statistics *rows)
{
    const int row = static_cast<int>(blockIdx.x);
    Statistics s = {};
    for (int j = row + 1 + static_cast<int>(threadIdx.x); j < columns; j += static_cast<int>(blockDim.x))
        add_count(s, row, j,
                  matrix[static_cast<size_t>(row) * static_cast<size_t>(nitems) + static_cast<size_t>(j)]);
    s = block_sum(s);
    if (threadIdx.x == 0)
        rows[row] = s;
}

/* Counts what is wrong with stored rows: an entry that is not the matrix's, columns that do not ascend. */
static __global__ __launch_bounds__(COUNTS_BLOCK) void compare_stored(const unsigned *matrix, int nitems,
                                                                      Stored out, unsigned long long *wrong)
{
    const int row = static_cast<int>(blockIdx.x);
    const unsigned long long start = out.row_start[row];
    for (int k = static_cast<int>(threadIdx.x); k < out.row_count[row]; k += static_cast<int>(blockDim.x)) {
        const unsigned long long at = start + static_cast<unsigned>(k);
        const bool right = at < out.capacity && out.columns[at] < nitems &&
                           (k == 0 || out.columns[at - 1] < out.columns[at]) &&
                           matrix[static_cast<size_t>(row) * static_cast<size_t>(nitems) + out.columns[at]] ==
                               out.values[at];
        if (!right)
            atomicAdd(wrong, 1ull);
    }
}

} // namespace counts
} // namespace facts
