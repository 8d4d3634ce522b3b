/* Rows brought to mean 0 and variance 1, and the gradients:
 *
 *     h = (x - mean) s,  y = h gain + shift,  s = 1 / sqrt(variance + eps)
 *     dgain = sum over rows of dy h,  dshift = sum over rows of dy
 *     dx = s (g - mean of g - h mean of g h),  g = dy gain
 *
 * A warp takes a row, which it reads twice after the first time, then from L1 or L2. Sums are made in FP64;
 * those over rows in two passes (columns.cuh), before dx, which may be dy, is written. */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/norm_rows.h"

namespace
{

/* The sum of what all lanes have. */
__device__ __forceinline__ double total(double sum)
{
    for (int far = 1; far < 32; far *= 2)
        sum += __shfl_xor_sync(FTB_FULL_WARP, sum, far);
    return sum;
}

/* The warp's row; false: it has none. */
__device__ __forceinline__ bool find_row(const ftb_norm_arguments &a, long long &row, int &lane)
{
    const int thread = static_cast<int>(threadIdx.x);
    lane = thread % 32;
    row = static_cast<long long>(blockIdx.x) * (FTB_NORM_BLOCK / 32) + thread / 32;
    return row < a.nrows;
}

template <class T> __device__ __forceinline__ T value(const void *row, long long f, T otherwise)
{
    return row ? __ldg(static_cast<const T *>(row) + f) : otherwise;
}

template <class T> __device__ __forceinline__ void forward(const ftb_norm_arguments &a)
{
    long long i;
    int lane;
    if (!find_row(a, i, lane))
        return;                                                 /* with the whole warp */
    const T *const x = static_cast<const T *>(a.x) + i * a.ldx; /* may be y */
    T *const y = static_cast<T *>(a.y) + i * a.ldy;
    double sum = 0, squares = 0;
    for (long long f = lane; f < a.ncols; f += 32)
        sum += x[f];
    const T mean = static_cast<T>(total(sum) / static_cast<double>(a.ncols));
    for (long long f = lane; f < a.ncols; f += 32) {
        const double d = static_cast<double>(x[f] - mean);
        squares += d * d;
    }
    const T scale = static_cast<T>(1 / sqrt(total(squares) / static_cast<double>(a.ncols) + a.eps));
    for (long long f = lane; f < a.ncols; f += 32) {
        const T h = (x[f] - mean) * scale;
        y[f] = h * value<T>(a.gain, f, 1) + value<T>(a.shift, f, 0);
    }
    if (a.stats && lane == 0) {
        static_cast<T *>(a.stats)[2 * i] = mean;
        static_cast<T *>(a.stats)[2 * i + 1] = scale;
    }
}

template <class T> __device__ __forceinline__ void gradient(const ftb_norm_arguments &a)
{
    long long i;
    int lane;
    if (!find_row(a, i, lane))
        return;
    const T *const x = static_cast<const T *>(a.x) + i * a.ldx, *const stats =
                                                                    static_cast<const T *>(a.stats) + 2 * i;
    const T *const dy = static_cast<const T *>(a.dy) + i * a.lddy; /* may be dx */
    T *const dx = static_cast<T *>(a.dx) + i * a.lddx;
    const T mean = stats[0], scale = stats[1];
    double sum = 0, along = 0;
    for (long long f = lane; f < a.ncols; f += 32) {
        const double g = static_cast<double>(dy[f] * value<T>(a.gain, f, 1));
        sum += g;
        along += g * static_cast<double>((x[f] - mean) * scale);
    }
    const T middle = static_cast<T>(total(sum) / static_cast<double>(a.ncols)),
            slope = static_cast<T>(total(along) / static_cast<double>(a.ncols));
    for (long long f = lane; f < a.ncols; f += 32) {
        const T h = (x[f] - mean) * scale, g = dy[f] * value<T>(a.gain, f, 1);
        const T d = (g - middle - h * slope) * scale;
        dx[f] = a.add_dx ? dx[f] + d : d;
    }
}

} // namespace

#define LAYER_NORM(type)                                                                                     \
    extern "C" __global__ void __launch_bounds__(FTB_NORM_BLOCK) layer_norm_##type(ftb_norm_arguments a)     \
    {                                                                                                        \
        forward<type>(a);                                                                                    \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_NORM_BLOCK)                                             \
        layer_norm_##type##_grad(ftb_norm_arguments a)                                                       \
    {                                                                                                        \
        gradient<type>(a);                                                                                   \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        layer_norm_##type##_part(ftb_norm_arguments a)                                                       \
    {                                                                                                        \
        sum_part<2>(a.parts, [&](double(&sum)[2], long long i, long long f) {                                \
            const type *const stats = static_cast<const type *>(a.stats) + 2 * i;                            \
            const type x = static_cast<const type *>(a.x)[i * a.ldx + f];                                    \
            const double dy = static_cast<double>(static_cast<const type *>(a.dy)[i * a.lddy + f]);          \
            sum[0] += dy * static_cast<double>((x - stats[0]) * stats[1]);                                   \
            sum[1] += dy;                                                                                    \
        });                                                                                                  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        layer_norm_##type##_join(ftb_norm_arguments a)                                                       \
    {                                                                                                        \
        sum_parts<2>(a.parts, [&](long long f, const double(&sum)[2]) {                                      \
            if (a.dgain)                                                                                     \
                put_real<type>(a.dgain, f, sum[0], a.add_dgain);                                             \
            if (a.dshift)                                                                                    \
                put_real<type>(a.dshift, f, sum[1], a.add_dshift);                                           \
        });                                                                                                  \
    }                                                                                                        \
    FTB_KERNEL(layer_norm_##type);                                                                           \
    FTB_KERNEL(layer_norm_##type##_grad);                                                                    \
    FTB_KERNEL(layer_norm_##type##_part);                                                                    \
    FTB_KERNEL(layer_norm_##type##_join);
FTB_NORM(LAYER_NORM)
