/* The co-occurrence counts A'A of users x items: how many users have both item i and item j. Items are
 * numbered by falling popularity, so that the triangle j > i gives each row the columns that are less
 * popular. */
#pragma once

#include "../support/device.cuh"

namespace facts
{
namespace counts
{

constexpr int COUNTS_BLOCK = 1024;

/* What is kept of a row, a tile or all: how many pairs have a count, their sum, the largest, and a sum in
 * which each count is weighted by its place, so that counts in wrong places show. */
struct Statistics {
    unsigned long long sum, placed;
    int pairs;
    unsigned largest;
};

/* A user's items are ids[rowptr[u]] ..., ascending. For each item, and each user that has it, a segment of
 * `ids`: what the row of that item has to count for that user. */
struct Lists {
    int nitems;
    const uint16_t *ids;
    const int *itemptr;
    const int2 *segments;
    bool triangle;
    int first_column; /* columns before it are left out */

    __host__ __device__ int begin(int row) const
    {
        return !triangle ? 0 : row + 1 > first_column ? row + 1 : first_column;
    }
};

__host__ __device__ inline unsigned long long weight(int item)
{
    unsigned x = static_cast<unsigned>(item) * 0x9E3779B1u + 0x7F4A7C15u;
    x = (x ^ x >> 15) * 0x85EBCA77u;
    return (x ^ x >> 13) | 1u;
}

__host__ __device__ inline void add_count(Statistics &s, int row, int column, unsigned count)
{
    s.sum += count;
    s.placed += count * (weight(row) * weight(column));
    s.pairs += count > 0;
    s.largest = s.largest > count ? s.largest : count;
}

/* Over a block of at most COUNTS_BLOCK threads; the result is in thread 0. */
__device__ inline Statistics block_sum(Statistics s)
{
    __shared__ Statistics warps[COUNTS_BLOCK / WARP];
    const int warp = static_cast<int>(threadIdx.x) / WARP,
              nwarps = (static_cast<int>(blockDim.x) + WARP - 1) / WARP;
#pragma unroll
    for (int by = WARP / 2; by > 0; by /= 2) {
        s.sum += __shfl_xor_sync(FULL_WARP, s.sum, by);
        s.placed += __shfl_xor_sync(FULL_WARP, s.placed, by);
        s.pairs += __shfl_xor_sync(FULL_WARP, s.pairs, by);
        s.largest = max(s.largest, __shfl_xor_sync(FULL_WARP, s.largest, by));
    }
    if (threadIdx.x % WARP == 0)
        warps[warp] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < nwarps; w++) {
            s.sum += warps[w].sum;
            s.placed += warps[w].placed;
            s.pairs += warps[w].pairs;
            s.largest = max(s.largest, warps[w].largest);
        }
    return s;
}

} // namespace counts
} // namespace facts
