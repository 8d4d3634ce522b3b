/* Rows of a block picked and put, of any type, as bytes; and added, where several may go to one row:
 *
 *     gather     y(to(t),:) = x(from(t),:)
 *     scatter    y(rows(s),:) = (y(rows(s),:) + x(order(k),:)) + x(order(k + 1),:) ...
 *
 * A thread has a unit of a row, of 16 bytes if that can be. Sums have the order of their list, so that bits
 * depend on it alone: a row to which many go is one after the other. x, or y, is read and written anywhere:
 * the limit is how fast that goes. */
#include "gpu/kernels/gather_lists.h"
#include "gpu/kernels/items.cuh"

namespace
{

template <class UNIT> __device__ __forceinline__ void gather(const ftb_gather_arguments &a)
{
    long long t, unit;
    if (!find_item(a.items, t, unit))
        return;
    const long long from = a.from ? a.from[t] : t, to = a.to ? a.to[t] : t;
    static_cast<UNIT *>(a.y)[to * a.ldy + unit] = static_cast<const UNIT *>(a.x)[from * a.ldx + unit];
}

template <class T, int N> __device__ __forceinline__ void scatter(const ftb_scatter_arguments &a)
{
    long long s, item;
    if (!find_item(a.items, s, item))
        return;
    const long long first = a.cuts ? a.cuts[s] : s, end = a.cuts ? a.cuts[s + 1] : s + 1;
    const long long f = item * N, left = a.ncols - f;
    T *const y = static_cast<T *>(a.y) + a.rows[s] * a.ldy + f;
    const T *const x = static_cast<const T *>(a.x) + f;
    T sum[N];
    read_values(sum, y, left);
#pragma unroll 4
    for (long long k = first; k < end; k++) {
        T v[N];
        read_values(v, x + (a.order ? a.order[k] : k) * a.ldx, left);
        for (int n = 0; n < N; n++)
            sum[n] += v[n];
    }
    write_values(y, sum, left);
}

} // namespace

#define GATHER(bytes, unit)                                                                                  \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK) gather_##bytes(ftb_gather_arguments a) \
    {                                                                                                        \
        gather<unit>(a);                                                                                     \
    }                                                                                                        \
    FTB_KERNEL(gather_##bytes);
#define SCATTER(type, values)                                                                                \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        scatter_##type##_##values(ftb_scatter_arguments a)                                                   \
    {                                                                                                        \
        scatter<type, values>(a);                                                                            \
    }                                                                                                        \
    FTB_KERNEL(scatter_##type##_##values);
FTB_GATHER(GATHER)
FTB_SCATTER(SCATTER)
