/* Means of losses over the rows that count, and their gradients. A thread has a row: the classes of a network
 * are few. Of a row all is computed in FP64; sums over rows are in two passes (columns.cuh), of an order that
 * the number of rows gives. */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/loss_rows.h"

namespace
{

enum { CLASSES, BINARY, SQUARED };

template <class T> __device__ __forceinline__ double at(const void *x, long long ld, long long i, long long j)
{
    return static_cast<const T *>(x)[i * ld + j];
}

/* Of row i: the greatest x, a NaN before all, and the sum of exp(x - that). */
template <class T>
__device__ __forceinline__ double exponentials(const ftb_loss_arguments &a, long long i, double &most)
{
    double sum = 0;
    most = at<T>(a.x, a.ldx, i, 0);
    for (long long j = 1; j < a.ncols; j++) {
        const double x = at<T>(a.x, a.ldx, i, j);
        most = most != most || x <= most ? most : x;
    }
    for (long long j = 0; j < a.ncols; j++)
        sum += exp(at<T>(a.x, a.ldx, i, j) - most);
    return sum;
}

template <class T> __device__ __forceinline__ double row_loss(const ftb_loss_arguments &a, long long i)
{
    double sum = 0, most;
    if (a.what == CLASSES) {
        const double all = exponentials<T>(a, i, most);
        return (most - at<T>(a.x, a.ldx, i, a.labels[i])) + log(all);
    }
    for (long long j = 0; j < a.ncols; j++) {
        const double x = at<T>(a.x, a.ldx, i, j), t = at<T>(a.t, a.ldt, i, j);
        sum += a.what == BINARY ? log1p(exp(-fabs(x))) + (x > 0 ? x : 0) - x * t : (x - t) * (x - t);
    }
    return sum;
}

template <class T> __device__ __forceinline__ void gradient(const ftb_loss_arguments &a)
{
    const long long i = static_cast<long long>(blockIdx.x) * FTB_LOSS_ROWS_BLOCK + threadIdx.x;
    if (i >= a.nrows)
        return;
    const double factor = at<T>(a.dout, 0, 0, 0) / a.terms;
    const bool counts = !a.mask || a.mask[i];
    double most = 0, sum = 1;
    if (counts && a.what == CLASSES)
        sum = exponentials<T>(a, i, most);
    for (long long j = 0; j < a.ncols; j++) {
        const double x = at<T>(a.x, a.ldx, i, j), t = a.t ? at<T>(a.t, a.ldt, i, j) : 0;
        double of_x = 0, of_t = 0;
        if (counts && a.what == CLASSES)
            of_x = exp(x - most) / sum - (j == a.labels[i]);
        else if (counts)
            of_x = a.what == SQUARED ? 2 * (x - t) : 1 / (1 + exp(-x)) - t;
        if (counts)
            of_t = a.what == SQUARED ? 2 * (t - x) : -x;
        if (a.dx)
            put_real<T>(a.dx, i * a.lddx + j, factor * of_x, a.add_dx);
        if (a.dt)
            put_real<T>(a.dt, i * a.lddt + j, factor * of_t, a.add_dt);
    }
}

} // namespace

#define LOSS(type)                                                                                           \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK, 2)                                  \
        loss_##type##_part(ftb_loss_arguments a)                                                             \
    {                                                                                                        \
        sum_part<1>(a.rows, [&](double(&sum)[1], long long i, long long) {                                   \
            if (!a.mask || a.mask[i])                                                                        \
                sum[0] += row_loss<type>(a, i);                                                              \
        });                                                                                                  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK, 2)                                  \
        loss_##type##_join(ftb_loss_arguments a)                                                             \
    {                                                                                                        \
        sum_parts<1>(a.rows, [&](long long, const double(&sum)[1]) {                                         \
            *static_cast<type *>(a.out) = static_cast<type>(sum[0] / a.terms);                               \
        });                                                                                                  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_LOSS_ROWS_BLOCK, 4)                                     \
        loss_##type##_grad(ftb_loss_arguments a)                                                             \
    {                                                                                                        \
        gradient<type>(a);                                                                                   \
    }                                                                                                        \
    FTB_KERNEL(loss_##type##_part);                                                                          \
    FTB_KERNEL(loss_##type##_join);                                                                          \
    FTB_KERNEL(loss_##type##_grad);
FTB_LOSS_KERNELS(LOSS)
