/* Vectors of four heads of sixteen features, mixed: feature f of head h is value 4 f + h of a row, so that a
 * vector holds four features of each head (cpu/kernels/attention_fours.c). Additions are fused where there
 * are such. */
#ifndef FTB_CPU_FOURS_H
#define FTB_CPU_FOURS_H

#include "cpu/kernels/exp.h"
#include "cpu/kernels/sixteen.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define HEADS 4
#define ENTRIES 4 /* of a step */
#define GROUPS 4  /* vectors of four heads */
#define LOG2_E 0x1.71547652b82fep+0

/* ---- vectors */

FTB_INLINE lanes lanes_madd(lanes x, lanes y, lanes z)
{
    for (int p = 0; p < FTB_PARTS; p++)
#if defined(__AVX512F__)
        z.at[p] = (part)_mm512_fmadd_ps((__m512)x.at[p], (__m512)y.at[p], (__m512)z.at[p]);
#elif defined(__AVX2__)
        z.at[p] = (part)_mm256_fmadd_ps((__m256)x.at[p], (__m256)y.at[p], (__m256)z.at[p]);
#else
        z.at[p] += x.at[p] * y.at[p];
#endif
    return z;
}

/* Four values, repeated. */
FTB_INLINE lanes lanes_repeat(const real *four)
{
    lanes all;
#if defined(__AVX512F__)
    all.at[0] = (part)_mm512_broadcast_f32x4(_mm_loadu_ps(four));
#elif defined(__AVX2__)
    all.at[0] = all.at[1] = (part)_mm256_broadcast_ps((const __m128 *)four);
#else
    for (int p = 0; p < FTB_PARTS; p++)
        all.at[p] = *(const part_unaligned *)four;
#endif
    return all;
}

/* Four values, then zeros. */
FTB_INLINE lanes lanes_low(const real *four)
{
    lanes all;
#if defined(__AVX512F__)
    all.at[0] = (part)_mm512_zextps128_ps512(_mm_loadu_ps(four));
#elif defined(__AVX2__)
    all.at[0] = (part)_mm256_zextps128_ps256(_mm_loadu_ps(four));
    all.at[1] = (part){0};
#else
    all = lanes_all(0);
    all.at[0] = *(const part_unaligned *)four;
#endif
    return all;
}

/* Four values from each of four places. */
FTB_INLINE lanes lanes_of_fours(const real *a, const real *b, const real *c, const real *d)
{
    real all[FTB_LANES];
    memcpy(all, a, 4 * sizeof *a);
    memcpy(all + 4, b, 4 * sizeof *b);
    memcpy(all + 8, c, 4 * sizeof *c);
    memcpy(all + 12, d, 4 * sizeof *d);
    return lanes_load(all);
}

/* The quarters of each of four vectors added: (0 + 2) + (1 + 3). */
FTB_INLINE lanes lanes_quarters(const lanes v[4])
{
    lanes all;
#if defined(__AVX512F__)
    __m512 a = (__m512)v[0].at[0], b = (__m512)v[1].at[0], c = (__m512)v[2].at[0], d = (__m512)v[3].at[0];
    a = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee);
    c = _mm512_shuffle_f32x4(c, d, 0x44) + _mm512_shuffle_f32x4(c, d, 0xee);
    all.at[0] = (part)(_mm512_shuffle_f32x4(a, c, 0x88) + _mm512_shuffle_f32x4(a, c, 0xdd));
#elif defined(__AVX2__)
    for (int p = 0; p < 2; p++)
        all.at[p] = (part)fold_4((__m256)(v[2 * p].at[0] + v[2 * p].at[1]),
                                 (__m256)(v[2 * p + 1].at[0] + v[2 * p + 1].at[1]));
#else
    for (int p = 0; p < 4; p++)
        all.at[p] = (v[p].at[0] + v[p].at[2]) + (v[p].at[1] + v[p].at[3]);
#endif
    return all;
}

/* x, but not less than `least`; NaN stays. */
FTB_INLINE part part_at_least(part x, real least)
{
#if defined(__AVX512F__)
    return (part)_mm512_max_ps(_mm512_set1_ps(least), (__m512)x);
#elif defined(__AVX2__)
    return (part)_mm256_max_ps(_mm256_set1_ps(least), (__m256)x);
#else
    return part_choose((words)(x < (part){0} + least), (part){0} + least, x);
#endif
}

/* 2^x for x < 128, within 2 units in the last place; 0 below 2^-127, NaN for NaN. x = n + r, |r| <= 1 / 2,
 * and (2^r - 1) / r interpolated at Chebyshev's points, 5e-9 from it; 2^-127 is made as 0. */
FTB_INLINE lanes lanes_exp2(lanes x)
{
    static const real term[] = {
        1, 0x1.62e43p-1F, 0x1.ebfbep-3F, 0x1.c6af6cp-5F, 0x1.3b2a54p-7F, 0x1.5f089p-10F, 0x1.44138ap-13F};
    lanes r, shifted, y = lanes_all(term[6]);
    for (int p = 0; p < FTB_PARTS; p++) {
        part cut = part_at_least(x.at[p], -127);
        shifted.at[p] = cut + EXP_MAGIC;
        r.at[p] = cut - (shifted.at[p] - EXP_MAGIC);
    }
    for (int t = 5; t >= 0; t--)
        y = lanes_madd(y, r, lanes_all(term[t]));
    for (int p = 0; p < FTB_PARTS; p++)
        y.at[p] *= part_power(shifted.at[p]);
    return y;
}

/* ---- mixed rows */

/* to(4 g + f, h) = from(h, 4 g + f) of four values each way. */
FTB_INLINE void fours_transpose(float *to, int64_t to_ld, const float *from, int64_t from_ld)
{
#if defined(__SSE__)
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_ld), c = _mm_loadu_ps(from + 2 * from_ld),
           d = _mm_loadu_ps(from + 3 * from_ld);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + to_ld, b);
    _mm_storeu_ps(to + 2 * to_ld, c);
    _mm_storeu_ps(to + 3 * to_ld, d);
#else
    for (int h = 0; h < HEADS; h++)
        for (int f = 0; f < 4; f++)
            to[f * to_ld + h] = from[h * from_ld + f];
#endif
}

FTB_INLINE void fours_mix(float *to, const float *from)
{
    for (int g = 0; g < GROUPS; g++)
        fours_transpose(to + g * FTB_LANES, HEADS, from + g * 4, FTB_LANES);
}

#endif
