/* Sums over rows, K for each column, in FP64 and in two passes:
 *
 *     total(k, f) = sum over rows i of what `item` adds to sum[k] for (i, f)
 *
 * The first pass (sum_part) leaves the sums of each part of the rows in `partial`, the second (sum_parts)
 * joins them and hands every column's totals to `put`. In both a thread adds every 256 / 2^lanes-th row in
 * order, and a block's threads are joined as a tree of a fixed shape. */
#ifndef FTB_COLUMNS_CUH
#define FTB_COLUMNS_CUH

#include "gpu/kernels/column_parts.h"
#include "gpu/kernels/kernel.cuh"

struct Column {
    long long column;
    int first, step; /* of rows */
    bool there;
};

static __device__ __forceinline__ Column find_column(const ftb_column_parts &c)
{
    const int thread = static_cast<int>(threadIdx.x);
    Column at;
    at.column = (static_cast<long long>(blockIdx.x % c.tiles) << c.lanes) + (thread & ((1 << c.lanes) - 1));
    at.first = thread >> c.lanes;
    at.step = FTB_COLUMN_PARTS_BLOCK >> c.lanes;
    at.there = at.column < c.ncols;
    return at;
}

/* The sums of all threads of a column, in its first one. */
template <int K>
static __device__ __forceinline__ void join_rows(double (&sum)[K], const ftb_column_parts &c,
                                                 const Column &at)
{
    __shared__ double shared[K][FTB_COLUMN_PARTS_BLOCK];
    const int thread = static_cast<int>(threadIdx.x);
    for (int half = at.step / 2; half > 0; half /= 2) {
        for (int k = 0; k < K; k++)
            shared[k][thread] = sum[k];
        __syncthreads();
        if (at.first < half)
            for (int k = 0; k < K; k++)
                sum[k] += shared[k][thread + (half << c.lanes)];
        __syncthreads();
    }
}

/* Value k of an array becomes what was made in FP64, or has it added: rounded once. */
template <class T>
static __device__ __forceinline__ void put_real(void *array, long long k, double value, bool add)
{
    T *const to = static_cast<T *>(array) + k;
    *to = static_cast<T>(add ? static_cast<double>(*to) + value : value);
}

/* item(sum, i, f) adds row i's to the K sums of column f. */
template <int K, class ITEM>
static __device__ __forceinline__ void sum_part(const ftb_column_parts &c, ITEM item)
{
    const Column at = find_column(c);
    const long long part = blockIdx.x / c.tiles;
    const long long first = c.nrows * part / c.parts, end = c.nrows * (part + 1) / c.parts;
    double sum[K] = {};
    if (at.there) {
#pragma unroll 4
        for (long long i = first + at.first; i < end; i += at.step)
            item(sum, i, at.column);
    }
    join_rows(sum, c, at);
    if (at.there && at.first == 0)
        for (int k = 0; k < K; k++)
            c.partial[(part * K + k) * c.ncols + at.column] = sum[k];
}

/* put(f, total): by one thread for each column. */
template <int K, class PUT>
static __device__ __forceinline__ void sum_parts(const ftb_column_parts &c, PUT put)
{
    const Column at = find_column(c);
    double sum[K] = {};
    if (at.there) {
#pragma unroll 4
        for (long long part = at.first; part < c.parts; part += at.step)
            for (int k = 0; k < K; k++)
                sum[k] += c.partial[(part * K + k) * c.ncols + at.column];
    }
    join_rows(sum, c, at);
    if (at.there && at.first == 0)
        put(at.column, sum);
}

#endif
