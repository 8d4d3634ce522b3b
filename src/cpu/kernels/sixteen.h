/* Sixteen dot products at once, by a transposed reduction: vectors are added in pairs until one holds the
 * sixteen sums, fifteen steps of one shuffle, one or two blends and one addition for all, where four at a
 * time (lanes_totals) take nine shuffles for four. The order of each sum is that of cpu/kernels/lanes.h, so
 * bits are too. Pairs are added as soon as both are there, so that few registers are taken. */
#ifndef FTB_CPU_SIXTEEN_H
#define FTB_CPU_SIXTEEN_H

#include "cpu/kernels/lanes.h"

/* Whether that is faster than four at a time, four times. */
#if defined(__AVX512F__) || (defined(__AVX2__) && FTB_REAL_SIZE == 4)
#define SIXTEEN_FOLDS 1
#else
#define SIXTEEN_FOLDS 0
#endif

/* Sources' and rows' values of sixteen products. */
typedef struct sixteen {
    const real *x[FTB_LANES], *y[FTB_LANES];
    int64_t groups;
} sixteen;

/* The sums of lanes of product k, of at most FTB_LANES_PIECE groups. */
FTB_INLINE lanes sixteen_lanes(const sixteen *s, int k)
{
    lanes sum = lanes_mul(lanes_load(s->x[k]), lanes_load(s->y[k]));
    for (int64_t g = 1; g < s->groups; g++)
        sum = lanes_add(sum,
                        lanes_mul(lanes_load(s->x[k] + g * FTB_LANES), lanes_load(s->y[k] + g * FTB_LANES)));
    return sum;
}

#if defined(__AVX512F__) && FTB_REAL_SIZE == 4
/* Lanes of both, l and l + 8 (4, 2, 1) added. */
FTB_INLINE __m512 fold_8(__m512 a, __m512 b)
{
    return _mm512_mask_blend_ps(0xff00, a, b) + _mm512_shuffle_f32x4(a, b, 0x4e);
}
FTB_INLINE __m512 fold_4(__m512 a, __m512 b)
{
    __m512 crossed = _mm512_mask_blend_ps(0x0f0f, a, b);
    return _mm512_mask_blend_ps(0xf0f0, a, b) + _mm512_shuffle_f32x4(crossed, crossed, 0xb1);
}
FTB_INLINE __m512 fold_2(__m512 a, __m512 b)
{
    return _mm512_mask_blend_ps(0xcccc, a, b) + _mm512_shuffle_ps(a, b, 0x4e);
}
FTB_INLINE __m512 fold_1(__m512 a, __m512 b)
{
    return _mm512_mask_blend_ps(0xaaaa, a, b) + _mm512_permute_ps(_mm512_mask_blend_ps(0x5555, a, b), 0xb1);
}
/* Products k, k + 4, k + 8 and k + 12: four lanes of each. */
FTB_INLINE __m512 sixteen_column(const sixteen *s, int k)
{
    __m512 even = fold_8((__m512)sixteen_lanes(s, k).at[0], (__m512)sixteen_lanes(s, k + 8).at[0]);
    __m512 odd = fold_8((__m512)sixteen_lanes(s, k + 4).at[0], (__m512)sixteen_lanes(s, k + 12).at[0]);
    return fold_4(even, odd);
}
FTB_INLINE lanes sixteen_totals(const sixteen *s)
{
    __m512 even = fold_2(sixteen_column(s, 0), sixteen_column(s, 2));
    __m512 odd = fold_2(sixteen_column(s, 1), sixteen_column(s, 3));
    return (lanes){{(part)fold_1(even, odd)}};
}
#elif defined(__AVX2__) && FTB_REAL_SIZE == 4
FTB_INLINE __m256 fold_4(__m256 a, __m256 b)
{
    return _mm256_blend_ps(a, b, 0xf0) + _mm256_permute2f128_ps(a, b, 0x21);
}
FTB_INLINE __m256 fold_2(__m256 a, __m256 b)
{
    return _mm256_blend_ps(a, b, 0xcc) + _mm256_shuffle_ps(a, b, 0x4e);
}
FTB_INLINE __m256 fold_1(__m256 a, __m256 b)
{
    return _mm256_blend_ps(a, b, 0xaa) + _mm256_permute_ps(_mm256_blend_ps(a, b, 0x55), 0xb1);
}
FTB_INLINE __m256 sixteen_half(const sixteen *s, int k)
{
    lanes x = sixteen_lanes(s, k);
    return (__m256)(x.at[0] + x.at[1]);
}
FTB_INLINE __m256 sixteen_column(const sixteen *s, int k)
{
    __m256 first = sixteen_half(s, k);
    return fold_4(first, sixteen_half(s, k + 4));
}
FTB_INLINE __m256 eight_totals(const sixteen *s, int k)
{
    __m256 even = sixteen_column(s, k);
    even = fold_2(even, sixteen_column(s, k + 2));
    __m256 odd = sixteen_column(s, k + 1);
    odd = fold_2(odd, sixteen_column(s, k + 3));
    return fold_1(even, odd);
}
FTB_INLINE lanes sixteen_totals(const sixteen *s)
{
    lanes all;
    all.at[0] = (part)eight_totals(s, 0);
    all.at[1] = (part)eight_totals(s, 8);
    return all;
}
#else
FTB_INLINE lanes sixteen_totals(const sixteen *s)
{
    real all[FTB_LANES];
    for (int k = 0; k < FTB_LANES; k += 4) {
        quad q = lanes_totals(sixteen_lanes(s, k), sixteen_lanes(s, k + 1), sixteen_lanes(s, k + 2),
                              sixteen_lanes(s, k + 3));
        memcpy(all + k, &q, sizeof q);
    }
    return lanes_load(all);
}
#endif

/* The first `count` of products of any length. */
FTB_INLINE lanes sixteen_quads(const sixteen *s, int64_t count)
{
    real all[FTB_LANES] = {0};
    for (int64_t k = 0; k < count; k += 4) {
        quad q = lanes_dots(s->x + k, s->y + k, s->groups);
        memcpy(all + k, &q, sizeof q);
    }
    return lanes_load(all);
}

#endif
