/* Sums over the features of an item, in the host's order (cpu/kernels/feature_kernels.c): 16 or more of them
 * in 16 interleaved parts, which are then added in pairs; fewer in order. */
#ifndef FTB_FEATURES_CUH
#define FTB_FEATURES_CUH

template <class T, class ITEM> static __device__ __forceinline__ T sum_features(int64_t width, ITEM item)
{
    enum { PARTS = 16 };
    T rest = 0, sum[PARTS] = {};
    int64_t f = 0;
    for (; f + PARTS <= width; f += PARTS) {
#pragma unroll
        for (int k = 0; k < PARTS; k++)
            sum[k] += item(f + k);
    }
    for (; f < width; f++)
        rest += item(f);
#pragma unroll
    for (int half = PARTS / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0] + rest;
}

#endif
