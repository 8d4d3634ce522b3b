/* Means over heads, and their gradients, which are spread or added:
 *
 *     MEAN     y(i,f) = factor times the sum over h of x(i,h,f), in the order of heads
 *     SPREAD   y(i,h,f) = factor x(i,f) for every h          ADD      y(i,h,f) += factor x(i,f)
 *
 * A thread has 16 bytes of a head, or one value, in every head of a row: all is read and written once. The
 * limit is the memory's bandwidth. */
#include "gpu/kernels/items.cuh"
#include "gpu/kernels/mean_heads_rows.h"

namespace
{

enum What { MEAN, SPREAD, ADD };

template <class T, int N>
__device__ __forceinline__ void mean(const ftb_mean_heads_arguments &a, T *y, const T *x)
{
    T sum[N];
    read_values(sum, x, N);
#pragma unroll 4
    for (long long h = 1; h < a.heads; h++) {
        T v[N];
        read_values(v, x + h * a.width, N);
        for (int k = 0; k < N; k++)
            sum[k] += v[k];
    }
    for (int k = 0; k < N; k++)
        sum[k] *= static_cast<T>(a.factor);
    write_values(y, sum, N);
}

template <class T, bool ADDS, int N>
__device__ __forceinline__ void spread(const ftb_mean_heads_arguments &a, T *y, const T *x)
{
    T v[N];
    read_values(v, x, N);
    for (int k = 0; k < N; k++)
        v[k] *= static_cast<T>(a.factor);
    for (long long h = 0; h < a.heads; h++) {
        T to[N] = {};
        if constexpr (ADDS)
            read_values(to, y + h * a.width, N);
        for (int k = 0; k < N; k++)
            to[k] = v[k] + to[k]; /* 0 is added, too: -0 becomes 0, as on the host */
        write_values(y + h * a.width, to, N);
    }
}

template <class T, int WHAT, int N>
__device__ __forceinline__ void take_item(const ftb_mean_heads_arguments &a)
{
    long long row, item;
    if (!find_item(a.items, row, item))
        return;
    const T *const x = static_cast<const T *>(a.x) + row * a.ldx + item * N;
    T *const y = static_cast<T *>(a.y) + row * a.ldy + item * N;
    if constexpr (WHAT == MEAN)
        mean<T, N>(a, y, x);
    else
        spread<T, WHAT == ADD, N>(a, y, x);
}

} // namespace

#define MEAN_HEADS(type, what, values)                                                                       \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        mean_heads_##type##_##what##_##values(ftb_mean_heads_arguments a)                                    \
    {                                                                                                        \
        take_item<type, what, values>(a);                                                                    \
    }                                                                                                        \
    FTB_KERNEL(mean_heads_##type##_##what##_##values);
FTB_MEAN_HEADS(MEAN_HEADS)
