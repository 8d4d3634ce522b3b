/* Rows of items as threads share them out, and vectors of 16 bytes: reading and writing as many values as are
 * left. What is read may be what another statement of the thread writes: nothing goes through the read-only
 * cache. */
#ifndef FTB_ITEMS_CUH
#define FTB_ITEMS_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/row_items.h"

/* The thread's item; false: it has none. */
static __device__ __forceinline__ bool find_item(const ftb_row_items &items, long long &row, long long &item)
{
    const int thread = static_cast<int>(threadIdx.x), lane = thread & ((1 << items.lanes) - 1);
    row = static_cast<long long>(blockIdx.x / items.tiles) * (FTB_ROW_ITEMS_BLOCK >> items.lanes) +
          (thread >> items.lanes);
    item = (static_cast<long long>(blockIdx.x % items.tiles) << items.lanes) + lane;
    return row < items.nrows && item < items.width;
}

static __device__ __forceinline__ void read_vector(float (&v)[4], const float *at)
{
    const float4 q = *reinterpret_cast<const float4 *>(at);
    v[0] = q.x;
    v[1] = q.y;
    v[2] = q.z;
    v[3] = q.w;
}
static __device__ __forceinline__ void read_vector(double (&v)[2], const double *at)
{
    const double2 q = *reinterpret_cast<const double2 *>(at);
    v[0] = q.x;
    v[1] = q.y;
}
static __device__ __forceinline__ void write_vector(float *at, const float (&v)[4])
{
    *reinterpret_cast<float4 *>(at) = make_float4(v[0], v[1], v[2], v[3]);
}
static __device__ __forceinline__ void write_vector(double *at, const double (&v)[2])
{
    *reinterpret_cast<double2 *>(at) = make_double2(v[0], v[1]);
}

/* The values at `at`, of which the row has `left`; others are 0, and are not written. */
template <class T, int N>
static __device__ __forceinline__ void read_values(T (&v)[N], const T *at, long long left)
{
    if constexpr (N > 1)
        if (left >= N) {
            read_vector(v, at);
            return;
        }
    for (int k = 0; k < N; k++)
        v[k] = k < left ? at[k] : 0;
}
template <class T, int N>
static __device__ __forceinline__ void write_values(T *at, const T (&v)[N], long long left)
{
    if constexpr (N > 1)
        if (left >= N) {
            write_vector(at, v);
            return;
        }
    for (int k = 0; k < N; k++)
        if (k < left)
            at[k] = v[k];
}

#endif
