/* Sums of values, FP32 and FP64, made in FP64:
 *
 *     COLUMNS    out(f)    = sum over rows i of x(i, f)
 *     ROWS       out(i, h) = sum over the values v of head h of x(i, h, v)
 *     PATTERN    out(i, f) = sum over the entries e of row i of x(e, f)
 *
 * Of columns in two passes (columns.cuh), of entries as entry_sums.cuh has it. Eight lanes take a row's head,
 * which is a sector of FP32; their sums are joined as a tree. Bits depend on the shape alone. The limit is
 * the memory's bandwidth: each value is read once, in whole sectors but for ROWS of fewer than eight values.
 */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/entry_sums.cuh"
#include "gpu/kernels/reduce_parts.h"

namespace
{

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
        put_real<T>(a.out, k, sum, a.add);
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
        sum_parts<1>(a.parts,                                                                                \
                     [&](long long f, const double(&sum)[1]) { put_real<type>(a.out, f, sum[0], a.add); });  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_REDUCE_BLOCK)                                           \
        reduce_##type##_rows(ftb_reduce_arguments a)                                                         \
    {                                                                                                        \
        rows<type>(a);                                                                                       \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_ENTRY_SUMS_BLOCK)                                       \
        reduce_##type##_pattern(ftb_reduce_arguments a)                                                      \
    {                                                                                                        \
        sum_entries(                                                                                         \
            a.entries,                                                                                       \
            [&](const ftb_spmm_piece &, long long e, int f) {                                                \
                return static_cast<double>(__ldg(static_cast<const type *>(a.x) + e * a.entries.width + f)); \
            },                                                                                               \
            [&](const ftb_spmm_piece &p, int f, double sum) {                                                \
                put_real<type>(a.out, p.row * static_cast<long long>(a.entries.width) + f,                   \
                               p.begin == p.end ? a.fill : sum, a.add);                                      \
            });                                                                                              \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_ENTRY_SUMS_BLOCK)                                       \
        reduce_##type##_cut(ftb_reduce_arguments a, const ftb_spmm_cut *cuts)                                \
    {                                                                                                        \
        join_cut(a.entries, cuts[blockIdx.y], [&](int row, int f, double sum) {                              \
            put_real<type>(a.out, row * static_cast<long long>(a.entries.width) + f, sum, a.add);            \
        });                                                                                                  \
    }                                                                                                        \
    FTB_KERNEL(reduce_##type##_columns);                                                                     \
    FTB_KERNEL(reduce_##type##_join);                                                                        \
    FTB_KERNEL(reduce_##type##_rows);                                                                        \
    FTB_KERNEL(reduce_##type##_pattern);                                                                     \
    FTB_KERNEL(reduce_##type##_cut);
FTB_REDUCE(REDUCE)
