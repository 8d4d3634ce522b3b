/* Sums over the features of an item, in the host's order (cpu/kernels/feature_kernels.c): 16 or more of them
 * in 16 interleaved parts, which are then added in pairs; fewer in order. */
#ifndef FTB_FEATURES_CUH
#define FTB_FEATURES_CUH

/* The first HALF of sums become those of pairs, down to one: constants all along, so that nothing is indexed
 * in memory. */
template <int HALF, class T, int N> static __device__ __forceinline__ void add_pairs(T (&sum)[N])
{
#pragma unroll
    for (int k = 0; k < HALF; k++)
        sum[k] += sum[k + HALF];
    if constexpr (HALF > 1)
        add_pairs<HALF / 2>(sum);
}

template <class T, class ITEM> static __device__ __forceinline__ T sum_features(int64_t width, ITEM item)
{
    enum { PARTS = 16 };
    T rest = 0, sum[PARTS] = {};
    int64_t f = 0;
#pragma unroll 1 /* 16 values on their way are enough, and more spill where four items are summed side by    \
                    side */
    for (; f + PARTS <= width; f += PARTS) {
#pragma unroll
        for (int k = 0; k < PARTS; k++)
            sum[k] += item(f + k);
    }
    for (; f < width; f++)
        rest += item(f);
    add_pairs<PARTS / 2>(sum);
    return sum[0] + rest;
}

#endif
