/* Rows put into rows, or added, or one value put:
 *
 *     PUT     y(i,:) = x(i,:)        ADD     y(i,:) += x(i,:)        FILL     y(i,:) = value
 *     turned  y(i,j) = x(j,i)
 *
 * A thread has 16 bytes of a row, or one value where rows do not begin at multiples of them. What is read and
 * written is read and written once, side by side: the limit is the memory's bandwidth. What is turned goes
 * through a tile in shared memory, whose rows are a word longer, so that its columns lie in 32 banks. */
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

template <class T> __device__ __forceinline__ void turn(const ftb_copy_turned_arguments &a)
{
    enum { TILE = FTB_COPY_TILE, ROWS = FTB_COPY_TURNED_BLOCK / TILE };
    __shared__ T tile[TILE][TILE + 1];
    const int x = static_cast<int>(threadIdx.x) % TILE, y = static_cast<int>(threadIdx.x) / TILE;
    const long long row0 = static_cast<long long>(blockIdx.x / a.tiles) * TILE,
                    col0 = static_cast<long long>(blockIdx.x % a.tiles) * TILE;
    for (int k = y; k < TILE; k += ROWS)
        if (col0 + k < a.ncols && row0 + x < a.nrows)
            tile[k][x] = static_cast<const T *>(a.x)[(col0 + k) * a.ldx + row0 + x];
    __syncthreads();
    for (int k = y; k < TILE; k += ROWS)
        if (row0 + k < a.nrows && col0 + x < a.ncols)
            static_cast<T *>(a.y)[(row0 + k) * a.ldy + col0 + x] = tile[x][k];
}

} // namespace

#define COPY(type, what, values)                                                                             \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        copy_##type##_##what##_##values(ftb_copy_arguments a)                                                \
    {                                                                                                        \
        copy<type, what, values>(a);                                                                         \
    }                                                                                                        \
    FTB_KERNEL(copy_##type##_##what##_##values);
#define TURNED(bytes, word)                                                                                  \
    extern "C" __global__ void __launch_bounds__(FTB_COPY_TURNED_BLOCK)                                      \
        copy_turned_##bytes(ftb_copy_turned_arguments a)                                                     \
    {                                                                                                        \
        turn<word>(a);                                                                                       \
    }                                                                                                        \
    FTB_KERNEL(copy_turned_##bytes);
FTB_COPY(COPY)
FTB_COPY_TURNED(TURNED)
