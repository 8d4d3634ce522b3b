/* Dot products of each row's heads with a vector a head, and their gradients:
 *
 *     DOT    y(i,h) = dot(x(i,h,:), a(h,:))
 *     DX     dx(i,h,:) = dy(i,h) a(h,:)
 *     DA     da(h,:) = sum over i of dy(i,h) x(i,h,:), in FP64
 *
 * DOT: a span of lanes has a head of a row, four consecutive features a lane, and joins what they have as a
 * tree; the order is the span's, which the width decides, however features are read. DX: a thread has 16
 * bytes of a row, or one value. DA: columns.cuh. x, or dx, is read, or written, once, a and dy from a cache:
 * the limit is the memory's bandwidth. */
#include "gpu/kernels/columns.cuh"
#include "gpu/kernels/head_dots_rows.h"
#include "gpu/kernels/items.cuh"

namespace
{

enum { FEATURES = FTB_HEAD_DOTS_FEATURES };

/* What a lane has of a dot product. N: values that are read at once. */
template <class T, int N>
__device__ __forceinline__ T dot_of(const T *x, const T *a, int width, int lane, int span)
{
    T sum = 0;
    for (int f = lane * FEATURES; f < width; f += span * FEATURES)
        for (int part = 0; part < FEATURES; part += N) {
            T v[N], w[N];
            read_values(v, x + f + part, width - f - part);
            read_values(w, a + f + part, width - f - part);
            for (int k = 0; k < N; k++)
                sum += v[k] * w[k];
        }
    return sum;
}

template <class T, int N> __device__ __forceinline__ void dot(const ftb_head_dots_arguments &a)
{
    long long row, item;
    const bool there = find_item(a.items, row, item);
    const int head = static_cast<int>(item / a.span), lane = static_cast<int>(item) & (a.span - 1);
    const long long first = static_cast<long long>(head) * a.width;
    T sum = 0;
    if (there)
        sum = dot_of<T, N>(static_cast<const T *>(a.x) + row * a.ldx + first,
                           static_cast<const T *>(a.a) + first, a.width, lane, a.span);
    for (int half = a.span / 2; half > 0; half /= 2) /* by all lanes of the warp */
        sum += __shfl_xor_sync(FTB_FULL_WARP, sum, half);
    if (there && lane == 0)
        static_cast<T *>(a.out)[row * a.ldo + head] = sum;
}

template <class T, int N> __device__ __forceinline__ void gradient_of_x(const ftb_head_dots_arguments &a)
{
    long long row, item;
    if (!find_item(a.items, row, item))
        return;
    const int f = static_cast<int>(item * N);
    const T factor = static_cast<const T *>(a.dy)[row * a.lddy + f / a.width];
    T *const to = static_cast<T *>(a.out) + row * a.ldo + f;
    T v[N], old[N];
    read_values(v, static_cast<const T *>(a.a) + f, N);
    if (a.add)
        read_values(old, to, N);
    for (int k = 0; k < N; k++)
        v[k] = a.add ? old[k] + factor * v[k] : factor * v[k];
    write_values(to, v, N);
}

template <class T> __device__ __forceinline__ void gradient_of_a(const ftb_head_dots_arguments &a)
{
    const int head = static_cast<int>(find_column(a.parts).column / a.width);
    sum_part<1>(a.parts, [=](double(&sum)[1], long long i, long long f) {
        sum[0] += static_cast<double>(static_cast<const T *>(a.dy)[i * a.lddy + head]) *
                  static_cast<double>(static_cast<const T *>(a.x)[i * a.ldx + f]);
    });
}

template <class T> __device__ __forceinline__ void join(const ftb_head_dots_arguments &a)
{
    sum_parts<1>(a.parts, [=](long long f, const double(&sum)[1]) { put_real<T>(a.out, f, sum[0], a.add); });
}

} // namespace

#define HEAD_DOTS(type, values)                                                                              \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        head_dots_##type##_DOT_##values(ftb_head_dots_arguments a)                                           \
    {                                                                                                        \
        dot<type, values>(a);                                                                                \
    }                                                                                                        \
    FTB_KERNEL(head_dots_##type##_DOT_##values);                                                             \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        head_dots_##type##_DX_##values(ftb_head_dots_arguments a)                                            \
    {                                                                                                        \
        gradient_of_x<type, values>(a);                                                                      \
    }                                                                                                        \
    FTB_KERNEL(head_dots_##type##_DX_##values);
#define HEAD_DOTS_DA(type)                                                                                   \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        head_dots_##type##_DA(ftb_head_dots_arguments a)                                                     \
    {                                                                                                        \
        gradient_of_a<type>(a);                                                                              \
    }                                                                                                        \
    FTB_KERNEL(head_dots_##type##_DA);                                                                       \
    extern "C" __global__ void __launch_bounds__(FTB_COLUMN_PARTS_BLOCK)                                     \
        head_dots_##type##_JOIN(ftb_head_dots_arguments a)                                                   \
    {                                                                                                        \
        join<type>(a);                                                                                       \
    }                                                                                                        \
    FTB_KERNEL(head_dots_##type##_JOIN);
FTB_HEAD_DOTS(HEAD_DOTS)
FTB_HEAD_DOTS_DA(HEAD_DOTS_DA)
