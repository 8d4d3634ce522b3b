/* Steps of SGD and Adam, value by value, as src/cpu/kernels/update.c has them, in the same order of
 * operations; and the sum of the squares of gradients that are cut to `clip`, in FP64.
 *
 * A thread has 16 bytes of every array, or one value where one does not begin at a multiple of them. A step
 * reads and writes all once: the limit is the memory's bandwidth. */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/items.cuh"
#include "gpu/kernels/update_steps.h"

namespace
{

enum Rule { SGD, MOMENTUM, NESTEROV, ADAM };

template <class T> __device__ __forceinline__ T cut(T g, T clip)
{
    return g > clip ? clip : g < -clip ? -clip : g;
}
__device__ __forceinline__ float root_of(float x) { return sqrtf(x); }
__device__ __forceinline__ double root_of(double x) { return sqrt(x); }

template <class T, int RULE>
__device__ __forceinline__ void step(const ftb_update_numbers &a, T &w, T g, T &m, T &v)
{
    const T rate = static_cast<T>(a.rate), beta1 = static_cast<T>(a.beta1);
    const T d = cut(g, static_cast<T>(a.clip)) * static_cast<T>(a.scale) + static_cast<T>(a.decay) * w;
    if constexpr (RULE == SGD) {
        w -= rate * d;
    } else if constexpr (RULE == MOMENTUM || RULE == NESTEROV) {
        m = beta1 * m + d;
        w -= rate * (RULE == NESTEROV ? d + beta1 * m : m);
    } else {
        m = beta1 * m + static_cast<T>(1 - a.beta1) * d;
        v = static_cast<T>(a.beta2) * v + static_cast<T>(1 - a.beta2) * d * d;
        w = w * static_cast<T>(a.keep) -
            rate * m / (root_of(v) * static_cast<T>(a.root) + static_cast<T>(a.eps));
    }
}

template <class T, int RULE, int N> __device__ __forceinline__ void update(const ftb_update_arguments &a)
{
    long long row, item;
    if (!find_item(a.items, row, item))
        return;
    const long long k = item * N, left = a.count - k;
    T w[N], g[N], m[N] = {}, v[N] = {};
    read_values(w, static_cast<const T *>(a.values) + k, left);
    read_values(g, static_cast<const T *>(a.gradient) + k, left);
    if constexpr (RULE != SGD)
        read_values(m, static_cast<const T *>(a.first) + k, left);
    if constexpr (RULE == ADAM)
        read_values(v, static_cast<const T *>(a.second) + k, left);
    const ftb_update_numbers how = a.how_at ? *a.how_at : a.how;
    for (int n = 0; n < N; n++)
        step<T, RULE>(how, w[n], g[n], m[n], v[n]);
    write_values(static_cast<T *>(a.values) + k, w, left);
    if constexpr (RULE != SGD)
        write_values(static_cast<T *>(a.first) + k, m, left);
    if constexpr (RULE == ADAM)
        write_values(static_cast<T *>(a.second) + k, v, left);
}

template <class T> __device__ __forceinline__ void sum_squares(const ftb_sum_squares_arguments &a)
{
    const T *const gradient = static_cast<const T *>(a.gradient), clip = static_cast<T>(a.clip);
    sum_part<1>(a.parts, [=](double(&sum)[1], long long i, long long) {
        const double g = static_cast<double>(cut(gradient[i], clip));
        sum[0] += g * g;
    });
}

} // namespace

#define UPDATE(type, rule, values)                                                                           \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        update_##type##_##rule##_##values(ftb_update_arguments a)                                            \
    {                                                                                                        \
        update<type, rule, values>(a);                                                                       \
    }                                                                                                        \
    FTB_KERNEL(update_##type##_##rule##_##values);
#define SUM_SQUARES(type)                                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        sum_squares_##type(ftb_sum_squares_arguments a)                                                      \
    {                                                                                                        \
        sum_squares<type>(a);                                                                                \
    }                                                                                                        \
    FTB_KERNEL(sum_squares_##type);
FTB_UPDATE(UPDATE)
FTB_SUM_SQUARES(SUM_SQUARES)

extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)
    sum_squares_join(ftb_sum_squares_arguments a)
{
    sum_parts<1>(a.parts, [=](long long, const double(&sum)[1]) { *a.sum = sum[0]; });
}
FTB_KERNEL(sum_squares_join);
