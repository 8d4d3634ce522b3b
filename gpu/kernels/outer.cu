/* Sums of rows' outer products, in FP64:
 *
 *     sum(x, y) = sum over items t of l(t, x) r(t, y)      [or of r(t, y)]
 *
 * by columns.cuh, of which a cell is a column: neighbours read neighbours of r, and mostly the same value of
 * l. Each reads its operands from L1 for every product, which is right for sums of rows, and for the small
 * results that gradients of bound blocks have. */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/outer_sums.h"

namespace
{

struct none {
};

template <class T> __device__ __forceinline__ double read(const void *x, long long at)
{
    return static_cast<double>(__ldg(static_cast<const T *>(x) + at));
}
template <> __device__ __forceinline__ double read<none>(const void *, long long) { return 1; }

template <class L, class R> __device__ __forceinline__ void outer(const ftb_outer_arguments &a)
{
    const long long width = a.parts.ncols / a.b;
    sum_part<1>(a.parts, [&](double(&sum)[1], long long t, long long cell) {
        const double x = read<L>(a.l, t * width + cell / a.b), y = read<R>(a.r, t * a.b + cell % a.b);
        sum[0] += x * y;
    });
}

} // namespace

#define OUTER(l, r)                                                                                          \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        outer_##l##_##r(ftb_outer_arguments a)                                                               \
    {                                                                                                        \
        outer<l, r>(a);                                                                                      \
    }                                                                                                        \
    FTB_KERNEL(outer_##l##_##r);
FTB_OUTER(OUTER)

extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK) outer_join(ftb_outer_arguments a)
{
    sum_parts<1>(a.parts, [&](long long cell, const double(&sum)[1]) {
        put_real<double>(a.sum, cell, sum[0], a.add);
    });
}
FTB_KERNEL(outer_join);
