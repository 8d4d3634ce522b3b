/* Sums of values, FP32 and FP64, made in FP64:
 *
 *     COLUMNS    out(f)    = sum over rows i of x(i, f)
 *     ROWS       out(i, h) = sum over the values v of head h of x(i, h, v)
 *     PATTERN    out(i, f) = sum over the entries e of row i of x(e, f)
 *
 * Of columns in two passes (columns.cuh). Eight lanes take a row's head, which is a sector of FP32. A warp
 * takes a piece of a row, up to 32 values of its entries side by side, and as many entries as then are lanes
 * left; pieces of rows that were cut leave their sums, which a second kernel adds in the order of the pieces.
 * Sums of lanes are joined as trees. Bits depend on the shape alone. The limit is the memory's bandwidth:
 * each value is read once, in whole sectors but for ROWS of fewer than eight values. */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/reduce_parts.h"

namespace
{

typedef float f32;
typedef double f64;

template <class T>
__device__ __forceinline__ void put(const ftb_reduce_arguments &a, long long at, double sum)
{
    T *const to = static_cast<T *>(a.out) + at;
    *to = a.add ? *to + static_cast<T>(sum) : static_cast<T>(sum);
}

template <class T> __device__ __forceinline__ void rows(const ftb_reduce_arguments &a)
{
    enum { LANES = FTB_REDUCE_LANES };
    const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES;
    const unsigned group = (FTB_FULL_WARP >> (32 - LANES)) << (thread % 32 - lane);
    const long long k = static_cast<long long>(blockIdx.x) * (FTB_REDUCE_BLOCK / LANES) + thread / LANES;
    if (k >= a.nrows * a.heads)
        return; /* with the whole group */
    const T *const x = static_cast<const T *>(a.x) + k / a.heads * a.ld + k % a.heads * a.width;
    double sum = 0;
    for (int v = lane; v < a.width; v += LANES)
        sum += __ldg(x + v);
    for (int far = 1; far < LANES; far *= 2)
        sum += __shfl_xor_sync(group, sum, far);
    if (lane == 0)
        put<T>(a, k, sum);
}

template <class T> __device__ __forceinline__ void pattern(const ftb_reduce_arguments &a)
{
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, tile = static_cast<int>(blockIdx.y);
    const long long number = static_cast<long long>(blockIdx.x) * (FTB_REDUCE_BLOCK / 32) + thread / 32;
    if (number >= a.npieces)
        return;
    const ftb_spmm_piece p = a.pieces[number];
    int across = 1; /* lanes side by side */
    while (across < 32 && across < a.width - tile * 32)
        across *= 2;
    const int f = tile * 32 + lane % across;
    const T *const x = static_cast<const T *>(a.x) + f;
    double sum = 0;
    for (long long e = p.begin + lane / across; f < a.width && e < p.end; e += 32 / across)
        sum += __ldg(x + e * a.width);
    for (int far = across; far < 32; far *= 2)
        sum += __shfl_xor_sync(FTB_FULL_WARP, sum, far);
    if (lane >= across || f >= a.width)
        return;
    if (p.slot < 0)
        put<T>(a, p.row * static_cast<long long>(a.width) + f, p.begin == p.end ? a.fill : sum);
    else
        a.partial[p.slot * static_cast<long long>(a.width) + f] = sum;
}

template <class T>
__device__ __forceinline__ void join_cut(const ftb_reduce_arguments &a, const ftb_spmm_cut &cut)
{
    const int f = static_cast<int>(blockIdx.x) * FTB_REDUCE_BLOCK + static_cast<int>(threadIdx.x);
    if (f >= a.width)
        return;
    double sum = 0;
    for (int k = 0; k < cut.count; k++)
        sum += a.partial[(cut.slot + k) * static_cast<long long>(a.width) + f];
    put<T>(a, cut.row * static_cast<long long>(a.width) + f, sum);
}

} // namespace

#define REDUCE(type)                                                                                         \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        reduce_##type##_columns(ftb_reduce_arguments a)                                                      \
    {                                                                                                        \
        sum_part<1>(a.parts, [&](double(&sum)[1], long long i, long long f) {                                \
            sum[0] += __ldg(static_cast<const type *>(a.x) + i * a.ld + f);                                  \
        });                                                                                                  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        reduce_##type##_join(ftb_reduce_arguments a)                                                         \
    {                                                                                                        \
        sum_parts<1>(a.parts, [&](long long f, const double(&sum)[1]) { put<type>(a, f, sum[0]); });         \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_REDUCE_BLOCK)                                           \
        reduce_##type##_rows(ftb_reduce_arguments a)                                                         \
    {                                                                                                        \
        rows<type>(a);                                                                                       \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_REDUCE_BLOCK)                                           \
        reduce_##type##_pattern(ftb_reduce_arguments a)                                                      \
    {                                                                                                        \
        pattern<type>(a);                                                                                    \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_REDUCE_BLOCK)                                           \
        reduce_##type##_cut(ftb_reduce_arguments a, const ftb_spmm_cut *cuts)                                \
    {                                                                                                        \
        join_cut<type>(a, cuts[blockIdx.y]);                                                                 \
    }                                                                                                        \
    FTB_KERNEL(reduce_##type##_columns);                                                                     \
    FTB_KERNEL(reduce_##type##_join);                                                                        \
    FTB_KERNEL(reduce_##type##_rows);                                                                        \
    FTB_KERNEL(reduce_##type##_pattern);                                                                     \
    FTB_KERNEL(reduce_##type##_cut);
FTB_REDUCE(REDUCE)
