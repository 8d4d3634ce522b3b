/* Rows of a block picked and put, of any type, as bytes; and added, where several may go to one row:
 *
 *     gather     y(to(t),:) = x(from(t),:)
 *     kept       y(t,:) = kept(place(from(t)),:), or x(from(t),:) of the host, where it has no place
 *     scatter    y(rows(s),:) = (y(rows(s),:) + x(order(k),:)) + x(order(k + 1),:) ...
 *
 * A thread has a unit of a row, of 16 bytes if that can be. Sums have the order of their list, so that bits
 * depend on it alone: a row to which many go is one after the other. x, or y, is read and written anywhere:
 * the limit is how fast that goes. Of rows on the host lanes side by side ask for units side by side, so that
 * they come over the bus in as few pieces as can be. */
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

template <class UNIT> __device__ __forceinline__ void gather_kept(const ftb_gather_kept_arguments &a)
{
    long long t, unit;
    const bool there = find_item(a.items, t, unit);
    const long long from = there ? a.from[t] : 0;
    const int place = there && a.place ? a.place[from] : -1;
    if (there) {
        const UNIT *const row = place >= 0 ? static_cast<const UNIT *>(a.kept) + place * a.ldkept
                                           : static_cast<const UNIT *>(a.x) + from * a.ldx;
        static_cast<UNIT *>(a.y)[t * a.ldy + unit] = row[unit];
    }
    const unsigned hits = __ballot_sync(FTB_FULL_WARP, place >= 0 && unit == 0);
    if (hits && threadIdx.x % 32 == 0)
        atomicAdd(a.hits, static_cast<unsigned long long>(__popc(hits)));
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
#define KEPT(bytes, unit)                                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        gather_kept_##bytes(ftb_gather_kept_arguments a)                                                     \
    {                                                                                                        \
        gather_kept<unit>(a);                                                                                \
    }                                                                                                        \
    FTB_KERNEL(gather_kept_##bytes);
#define SCATTER(type, values)                                                                                \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        scatter_##type##_##values(ftb_scatter_arguments a)                                                   \
    {                                                                                                        \
        scatter<type, values>(a);                                                                            \
    }                                                                                                        \
    FTB_KERNEL(scatter_##type##_##values);
FTB_GATHER(GATHER)
FTB_GATHER(KEPT)
FTB_SCATTER(SCATTER)

/* place[rows[t]] = t, no row twice. */
extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)
    gather_places(const long long *rows, long long count, int *place)
{
    const long long t =
        static_cast<long long>(blockIdx.x) * FTB_ROW_ITEMS_BLOCK + static_cast<int>(threadIdx.x);
    if (t < count)
        place[rows[t]] = static_cast<int>(t);
}
FTB_KERNEL(gather_places);
