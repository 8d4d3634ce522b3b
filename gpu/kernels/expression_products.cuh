/* x @ W for some items at a time, in the host's order (cpu/kernels/feature_kernels.c): every sum begins with
 * 0 and takes its terms one after the other. A value of W that was read serves all items. */
#ifndef FTB_EXPRESSION_PRODUCTS_CUH
#define FTB_EXPRESSION_PRODUCTS_CUH

#include "gpu/kernels/vectors.cuh"

template <class T, class STORED> static __device__ __forceinline__ T as_value(STORED x)
{
    return static_cast<T>(x);
}
template <class T> static __device__ __forceinline__ T as_value(f16 x) { return static_cast<T>(value_of(x)); }
template <class T> static __device__ __forceinline__ T as_value(bf16 x)
{
    return static_cast<T>(value_of(x));
}

/* sum[t] = x[0][t] w[0] + x[1][t] w[ld] + ..., depth terms. */
template <class T, class X, class STORED, int ITEMS_>
static __device__ __forceinline__ void multiply(T (&sum)[ITEMS_], const X *x, const STORED *w, long long ld,
                                                int depth)
{
#pragma unroll
    for (int t = 0; t < ITEMS_; t++)
        sum[t] = 0;
#pragma unroll 4
    for (int p = 0; p < depth; p++) {
        const T one = as_value<T>(w[p * ld]);
#pragma unroll
        for (int t = 0; t < ITEMS_; t++)
            sum[t] = sum[t] + static_cast<T>(x[p * ITEMS_ + t]) * one;
    }
}

#endif
