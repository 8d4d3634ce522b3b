/* Dot products of rows by spans of lanes, which share a head: what values of entries and attention have in
 * common. FLIGHT rows are on their way at a time, and their sums over the span are made together: while there
 * are several, a lane gives half of them away and keeps the other half, so that FLIGHT sums take FLIGHT - 1
 * shuffles and log2(span / FLIGHT) more, not log2(span) each. */
#ifndef FTB_DOTS_CUH
#define FTB_DOTS_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/vectors.cuh"

enum { FLIGHT = 4 };

/* Sums of FLIGHT values over the lanes of a span; lane k of it gets that of value k % FLIGHT. */
template <int SPAN>
static __device__ __forceinline__ float sum_over(unsigned group, float (&value)[FLIGHT], int part)
{
    static_assert(SPAN >= FLIGHT, "a lane keeps one value in the end");
    for (int half = FLIGHT / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) {
            const bool upper = (part & half) != 0;
            const float given = upper ? value[k] : value[k + half];
            value[k] = (upper ? value[k + half] : value[k]) + __shfl_xor_sync(group, given, half);
        }
    float sum = value[0];
    for (int far = FLIGHT; far < SPAN; far *= 2)
        sum += __shfl_xor_sync(group, sum, far);
    return sum;
}

/* Adds what the lane has of dot products of FLIGHT rows, those of x that are not NULL, with the row y. */
template <int STEP, int VALUES>
static __device__ __forceinline__ void multiply(float (&sum)[FLIGHT], const float *const (&x)[FLIGHT],
                                                const float *y, const float (&first)[VALUES], int features)
{
#pragma unroll 1 /* else what the rounds have on their way takes registers that attention lacks */
    for (int f = 0; f < features; f += STEP) {
        float v[FLIGHT][VALUES], by[VALUES];
        for (int q = 0; q < VALUES; q++)
            by[q] = first[q];
        if (f > 0)
            load(by, y + f);
        for (int u = 0; u < FLIGHT; u++)
            if (x[u])
                load(v[u], x[u] + f);
        for (int u = 0; u < FLIGHT; u++)
            for (int q = 0; q < VALUES; q++)
                if (x[u])
                    sum[u] = fmaf(v[u][q], by[q], sum[u]);
    }
}

#endif
