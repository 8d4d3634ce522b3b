/* Columns brought to mean 0 and variance 1, and the gradients:
 *
 *     y = (x - mean) s gain + shift,  s = 1 / sqrt(variance + eps)
 *     dgain = s sum of dy (x - mean),  dshift = sum of dy
 *     dx = gain s (dy - mean of dy - (x - mean) s^2 mean of dy (x - mean))
 *
 * Means, then variances about them, are sums over rows in FP64 (columns.cuh), so that x is read three times.
 * What moves the running moments comes last: all else can be done again. */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/items.cuh"
#include "gpu/kernels/norm_rows.h"

namespace
{

template <class T> __device__ __forceinline__ T at(const void *x, long long k)
{
    return static_cast<const T *>(x)[k];
}

template <class T> __device__ __forceinline__ double gain_of(const ftb_norm_arguments &a, long long f)
{
    return a.gain ? static_cast<double>(at<T>(a.gain, f)) : 1;
}

/* x - mean of a column, as the host rounds it. */
template <class T> __device__ __forceinline__ T centred(const ftb_norm_arguments &a, long long i, long long f)
{
    return at<T>(a.x, i * a.ldx + f) - static_cast<T>(static_cast<const double *>(a.stats)[f]);
}

template <class T>
__device__ __forceinline__ void move(void *running, long long f, double momentum, double value)
{
    T *const to = static_cast<T *>(running) + f;
    *to = static_cast<T>((1 - momentum) * static_cast<double>(*to) + momentum * value);
}

template <class T> __device__ __forceinline__ void follow(const ftb_norm_arguments &a)
{
    const long long f = static_cast<long long>(blockIdx.x) * FTB_NORM_BLOCK + threadIdx.x;
    if (f >= a.ncols)
        return;
    move<T>(a.running_mean, f, a.momentum, static_cast<const double *>(a.stats)[f]);
    move<T>(a.running_variance, f, a.momentum, a.slope[f]);
}

template <class T> __device__ __forceinline__ void given(const ftb_norm_arguments &a)
{
    const long long f = static_cast<long long>(blockIdx.x) * FTB_NORM_BLOCK + threadIdx.x;
    if (f >= a.ncols)
        return;
    double *const stats = static_cast<double *>(a.stats);
    stats[f] = static_cast<double>(at<T>(a.mean, f));
    stats[a.ncols + f] = 1 / sqrt(static_cast<double>(at<T>(a.variance, f)) + a.eps);
}

template <class T> __device__ __forceinline__ void forward(const ftb_norm_arguments &a)
{
    long long i, f;
    if (!find_item(a.items, i, f))
        return;
    const T scale = static_cast<T>(static_cast<const double *>(a.stats)[a.ncols + f] * gain_of<T>(a, f)),
            shift = a.shift ? at<T>(a.shift, f) : T(0);
    static_cast<T *>(a.y)[i * a.ldy + f] = centred<T>(a, i, f) * scale + shift;
}

/* Coefficients of dx. */
template <class T>
__device__ __forceinline__ void join_gradient(const ftb_norm_arguments &a, long long f, double along,
                                              double sum)
{
    const double s = static_cast<const double *>(a.stats)[a.ncols + f],
                 each = gain_of<T>(a, f) * s / static_cast<double>(a.nrows);
    a.slope[f] = each * s * s * along;
    a.slope[a.ncols + f] = each * sum;
    if (a.dgain)
        put_real<T>(a.dgain, f, along * s, a.add_dgain);
    if (a.dshift)
        put_real<T>(a.dshift, f, sum, a.add_dshift);
}

template <class T> __device__ __forceinline__ void gradient(const ftb_norm_arguments &a)
{
    long long i, f;
    if (!find_item(a.items, i, f))
        return;
    const T scale = static_cast<T>(static_cast<const double *>(a.stats)[a.ncols + f] * gain_of<T>(a, f));
    const T d = at<T>(a.dy, i * a.lddy + f) * scale - centred<T>(a, i, f) * static_cast<T>(a.slope[f]) -
                static_cast<T>(a.slope[a.ncols + f]);
    T *const dx = static_cast<T *>(a.dx) + i * a.lddx + f;
    *dx = a.add_dx ? *dx + d : d;
}

} // namespace

#define SUMS(type, name, count, item, put)                                                                   \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        batch_norm_##type##_##name(ftb_norm_arguments a)                                                     \
    {                                                                                                        \
        sum_part<count>(a.parts, [&](double(&sum)[count], long long i, long long f) { item; });              \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        batch_norm_##type##_##name##_join(ftb_norm_arguments a)                                              \
    {                                                                                                        \
        sum_parts<count>(a.parts, [&](long long f, const double(&sum)[count]) { put; });                     \
    }                                                                                                        \
    FTB_KERNEL(batch_norm_##type##_##name);                                                                  \
    FTB_KERNEL(batch_norm_##type##_##name##_join);
#define EACH(type, name, block, function)                                                                    \
    extern "C" __global__ void __launch_bounds__(block) batch_norm_##type##name(ftb_norm_arguments a)        \
    {                                                                                                        \
        function<type>(a);                                                                                   \
    }                                                                                                        \
    FTB_KERNEL(batch_norm_##type##name);
#define BATCH_NORM(type)                                                                                     \
    SUMS(type, mean, 1, sum[0] += static_cast<double>(at<type>(a.x, i * a.ldx + f)),                         \
         static_cast<double *>(a.stats)[f] = sum[0] / static_cast<double>(a.nrows))                          \
    SUMS(type, variance, 1,                                                                                  \
         const double d =                                                                                    \
             static_cast<double>(at<type>(a.x, i * a.ldx + f)) - static_cast<const double *>(a.stats)[f];    \
         sum[0] += d * d, static_cast<double *>(a.stats)[a.ncols + f] =                                      \
                              1 / sqrt(sum[0] / static_cast<double>(a.nrows) + a.eps);                       \
         a.slope[f] = sum[0] / static_cast<double>(a.nrows - 1))                                             \
    SUMS(type, grad_part, 2, const double dy = static_cast<double>(at<type>(a.dy, i * a.lddy + f));          \
         sum[0] += dy * static_cast<double>(centred<type>(a, i, f));                                         \
         sum[1] += dy, join_gradient<type>(a, f, sum[0], sum[1]))                                            \
    EACH(type, _follow, FTB_NORM_BLOCK, follow)                                                              \
    EACH(type, _given, FTB_NORM_BLOCK, given)                                                                \
    EACH(type, , FTB_ROW_ITEMS_BLOCK, forward)                                                               \
    EACH(type, _grad, FTB_ROW_ITEMS_BLOCK, gradient)
FTB_NORM(BATCH_NORM)
