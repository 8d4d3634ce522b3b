/* Rows put into rows, or added, or one value put:
 *
 *     PUT     y(i,:) = x(i,:)        ADD     y(i,:) += x(i,:)        FILL     y(i,:) = value
 *
 * A thread has 16 bytes of a row, or one value where rows do not begin at multiples of them. What is read and
 * written is read and written once, side by side: the limit is the memory's bandwidth. */
#include "gpu/kernels/copy_rows.h"
#include "gpu/kernels/items.cuh"

namespace
{

enum What { PUT, ADD, FILL };

template <class T, int WHAT, int N> __device__ __forceinline__ void copy(const ftb_copy_arguments &a)
{
    long long row, item;
    if (!find_item(a.items, row, item))
        return;
    const long long f = item * N, left = a.ncols - f;
    T *const y = static_cast<T *>(a.y) + row * a.ldy + f;
    T v[N];
    if constexpr (WHAT == FILL)
        for (int k = 0; k < N; k++)
            v[k] = static_cast<T>(a.value);
    else
        read_values(v, static_cast<const T *>(a.x) + row * a.ldx + f, left);
    if constexpr (WHAT == ADD) {
        T old[N];
        read_values(old, y, left);
        for (int k = 0; k < N; k++)
            v[k] = old[k] + v[k];
    }
    write_values(y, v, left);
}

} // namespace

#define COPY(type, what, values)                                                                             \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        copy_##type##_##what##_##values(ftb_copy_arguments a)                                                \
    {                                                                                                        \
        copy<type, what, values>(a);                                                                         \
    }                                                                                                        \
    FTB_KERNEL(copy_##type##_##what##_##values);
FTB_COPY(COPY)
