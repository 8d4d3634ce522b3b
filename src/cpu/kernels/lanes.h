/* Sums of products in sixteen lanes, and vectors of values as wide as the instruction set's.
 *
 *     dot(x, y) = the lanes' sums, added in halves (l + 8, l + 4, l + 2, l + 1)
 *     lane l    = the sum of x(f) y(f) over f = l mod 16
 *
 * as in cpu/kernels/feature_kernels.c. The order is the same for every instruction set, nothing is fused, so
 * bits are too. Heads are padded with zeros to the lanes they need (ftb_lanes_width), which changes no sum.
 *
 * A file that includes this is a cell of a dtype as well: FTB_REAL is float unless said otherwise. */
#ifndef FTB_CPU_LANES_H
#define FTB_CPU_LANES_H

#include "core/core.h"
#include "core/isa.h"
#include "cpu/kernels/heads.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#ifdef FTB_REAL64
#define FTB_REAL double
#define FTB_REAL_SIZE 8
#define FTB_REAL_CELL(name) FTB_CELL(FTB_ISA_PASTE(name, _f64))
#else
#define FTB_REAL float
#define FTB_REAL_SIZE 4
#define FTB_REAL_CELL(name) FTB_CELL(FTB_ISA_PASTE(name, _f32))
#endif

#if defined(__AVX512F__)
#define FTB_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define FTB_VECTOR_BYTES 32
#else
#define FTB_VECTOR_BYTES 16
#endif
#define FTB_PARTS (FTB_LANES * FTB_REAL_SIZE / FTB_VECTOR_BYTES) /* registers that hold the lanes */
#define FTB_INLINE static inline __attribute__((always_inline))

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

typedef FTB_REAL real;
typedef real part __attribute__((vector_size(FTB_VECTOR_BYTES), may_alias));
typedef real part_unaligned __attribute__((vector_size(FTB_VECTOR_BYTES), aligned(FTB_REAL_SIZE), may_alias));
typedef struct lanes {
    part at[FTB_PARTS];
} lanes;
typedef real quad __attribute__((vector_size(4 * FTB_REAL_SIZE), may_alias));
typedef real quad_unaligned
    __attribute__((vector_size(4 * FTB_REAL_SIZE), aligned(FTB_REAL_SIZE), may_alias));

FTB_INLINE lanes lanes_load(const real *x)
{
    lanes v;
    for (int p = 0; p < FTB_PARTS; p++)
        v.at[p] = ((const part_unaligned *)x)[p];
    return v;
}

FTB_INLINE void lanes_store(real *x, lanes v)
{
    for (int p = 0; p < FTB_PARTS; p++)
        ((part_unaligned *)x)[p] = v.at[p];
}

FTB_INLINE lanes lanes_all(real x)
{
    lanes v;
    for (int p = 0; p < FTB_PARTS; p++)
        v.at[p] = x + (part){0};
    return v;
}

FTB_INLINE lanes lanes_add(lanes x, lanes y)
{
    for (int p = 0; p < FTB_PARTS; p++)
        x.at[p] += y.at[p];
    return x;
}

FTB_INLINE lanes lanes_mul(lanes x, lanes y)
{
    for (int p = 0; p < FTB_PARTS; p++)
        x.at[p] *= y.at[p];
    return x;
}

/* ---- the totals of four sums of lanes at once: what a transposed reduction saves is three quarters of the
 * steps */

#if defined(__AVX512F__) && FTB_REAL_SIZE == 4
FTB_INLINE quad lanes_totals(lanes a_, lanes b_, lanes c_, lanes d_)
{
    __m512 a = (__m512)a_.at[0], b = (__m512)b_.at[0], c = (__m512)c_.at[0], d = (__m512)d_.at[0];
    __m512 ab = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee);
    __m512 cd = _mm512_shuffle_f32x4(c, d, 0x44) + _mm512_shuffle_f32x4(c, d, 0xee);
    __m512 all = _mm512_shuffle_f32x4(ab, cd, 0x88) + _mm512_shuffle_f32x4(ab, cd, 0xdd);
    all += _mm512_permute_ps(all, 0x4e);
    all += _mm512_permute_ps(all, 0xb1);
    const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    return (quad)_mm512_castps512_ps128(_mm512_permutexvar_ps(first, all));
}
#elif defined(__AVX512F__)
FTB_INLINE quad lanes_totals(lanes a_, lanes b_, lanes c_, lanes d_)
{
    __m512d a = (__m512d)(a_.at[0] + a_.at[1]), b = (__m512d)(b_.at[0] + b_.at[1]);
    __m512d c = (__m512d)(c_.at[0] + c_.at[1]), d = (__m512d)(d_.at[0] + d_.at[1]);
    __m512d ab = _mm512_shuffle_f64x2(a, b, 0x44) + _mm512_shuffle_f64x2(a, b, 0xee);
    __m512d cd = _mm512_shuffle_f64x2(c, d, 0x44) + _mm512_shuffle_f64x2(c, d, 0xee);
    __m512d all = _mm512_shuffle_f64x2(ab, cd, 0x88) + _mm512_shuffle_f64x2(ab, cd, 0xdd);
    all += _mm512_permute_pd(all, 0x55);
    const __m512i first = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
    return (quad)_mm512_castpd512_pd256(_mm512_permutexvar_pd(first, all));
}
#elif defined(__AVX2__) && FTB_REAL_SIZE == 4
FTB_INLINE quad lanes_totals(lanes a_, lanes b_, lanes c_, lanes d_)
{
    __m256 a = (__m256)(a_.at[0] + a_.at[1]), b = (__m256)(b_.at[0] + b_.at[1]);
    __m256 c = (__m256)(c_.at[0] + c_.at[1]), d = (__m256)(d_.at[0] + d_.at[1]);
    __m256d ab = _mm256_castps_pd(_mm256_permute2f128_ps(a, b, 0x20) + _mm256_permute2f128_ps(a, b, 0x31));
    __m256d cd = _mm256_castps_pd(_mm256_permute2f128_ps(c, d, 0x20) + _mm256_permute2f128_ps(c, d, 0x31));
    __m256 all = _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)) + _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd));
    all += _mm256_permute_ps(all, 0xb1); /* a . c . b . d . */
    const __m256i first = _mm256_setr_epi32(0, 4, 2, 6, 0, 4, 2, 6);
    return (quad)_mm256_castps256_ps128(_mm256_permutevar8x32_ps(all, first));
}
#elif defined(__AVX2__)
FTB_INLINE __m256d lanes_fold(lanes x) { return (__m256d)((x.at[0] + x.at[2]) + (x.at[1] + x.at[3])); }
FTB_INLINE quad lanes_totals(lanes a_, lanes b_, lanes c_, lanes d_)
{
    __m256d a = lanes_fold(a_), b = lanes_fold(b_), c = lanes_fold(c_), d = lanes_fold(d_);
    __m256d ab = _mm256_permute2f128_pd(a, b, 0x20) + _mm256_permute2f128_pd(a, b, 0x31);
    __m256d cd = _mm256_permute2f128_pd(c, d, 0x20) + _mm256_permute2f128_pd(c, d, 0x31);
    __m256d all = _mm256_unpacklo_pd(ab, cd) + _mm256_unpackhi_pd(ab, cd); /* a c b d */
    return (quad)_mm256_permute4x64_pd(all, 0xd8);
}
#else
FTB_INLINE real lanes_total_one(lanes x)
{
    real at[FTB_LANES];
    for (int half = FTB_PARTS / 2; half > 0; half /= 2)
        for (int p = 0; p < half; p++)
            x.at[p] += x.at[p + half];
    memcpy(at, &x.at[0], sizeof x.at[0]);
    for (int half = FTB_VECTOR_BYTES / FTB_REAL_SIZE / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            at[l] += at[l + half];
    return at[0];
}
FTB_INLINE quad lanes_totals(lanes a, lanes b, lanes c, lanes d)
{
    return (quad){lanes_total_one(a), lanes_total_one(b), lanes_total_one(c), lanes_total_one(d)};
}
#endif

#define FTB_LANES_PIECE                                                                                      \
    (256 / FTB_LANES) /* groups of lanes that are summed at once; pieces are added in order */

/* Four dot products of `groups` x 16 values, a constant where the caller is compiled for one width; added to
 * `total` if that is not the first piece. */
FTB_INLINE quad lanes_dots_add(quad total, bool add, const real *const x[4], const real *const y[4],
                               int64_t groups)
{
    for (int64_t begin = 0; begin < groups; begin += FTB_LANES_PIECE) {
        int64_t end = groups - begin < FTB_LANES_PIECE ? groups : begin + FTB_LANES_PIECE;
        lanes sum[4];
        for (int k = 0; k < 4; k++)
            sum[k] = lanes_mul(lanes_load(x[k] + begin * FTB_LANES), lanes_load(y[k] + begin * FTB_LANES));
        for (int64_t g = begin + 1; g < end; g++)
            for (int k = 0; k < 4; k++)
                sum[k] = lanes_add(
                    sum[k], lanes_mul(lanes_load(x[k] + g * FTB_LANES), lanes_load(y[k] + g * FTB_LANES)));
        quad piece = lanes_totals(sum[0], sum[1], sum[2], sum[3]);
        total = add || begin ? (quad)(total + piece) : piece;
    }
    return total;
}

FTB_INLINE quad lanes_dots(const real *const x[4], const real *const y[4], int64_t groups)
{
    return lanes_dots_add((quad){0}, false, x, y, groups);
}

/* The same sum of a head narrower than the lanes: width 1, 2, 4 or 8. */
FTB_INLINE real lanes_dot_narrow(const real *x, const real *y, int64_t width)
{
    real z[FTB_LANES / 2];
    for (int64_t f = 0; f < width; f++)
        z[f] = x[f] * y[f];
    for (int64_t half = width / 2; half > 0; half /= 2)
        for (int64_t l = 0; l < half; l++)
            z[l] += z[l + half];
    return z[0];
}

/* Eight of them, of width 8, side by side. */
#if defined(__AVX512F__) && FTB_REAL_SIZE == 4
FTB_INLINE void lanes_dots_of_8(real *out, const real *x, const real *y)
{
    __m512 z[4];
    for (int k = 0; k < 4; k++)
        z[k] = _mm512_loadu_ps(x + 16 * k) * _mm512_loadu_ps(y + 16 * k);
    __m512 ab = _mm512_shuffle_f32x4(z[0], z[1], 0x88) + _mm512_shuffle_f32x4(z[0], z[1], 0xdd);
    __m512 cd = _mm512_shuffle_f32x4(z[2], z[3], 0x88) + _mm512_shuffle_f32x4(z[2], z[3], 0xdd);
    __m512 all = _mm512_shuffle_ps(ab, cd, 0x44) + _mm512_shuffle_ps(ab, cd, 0xee);
    all += _mm512_permute_ps(all, 0xb1); /* of each quarter: one of ab's heads, twice, and one of cd's */
    const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 4, 8, 12, 2, 6, 10, 14);
    _mm256_storeu_ps(out, _mm512_castps512_ps256(_mm512_permutexvar_ps(first, all)));
}
#elif defined(__AVX2__) && FTB_REAL_SIZE == 4
FTB_INLINE void lanes_dots_of_8(real *out, const real *x, const real *y)
{
    __m256 z[8], half[4];
    for (int k = 0; k < 8; k++)
        z[k] = _mm256_loadu_ps(x + 8 * k) * _mm256_loadu_ps(y + 8 * k);
    for (int k = 0; k < 4; k++)
        half[k] = _mm256_permute2f128_ps(z[k], z[k + 4], 0x20) + _mm256_permute2f128_ps(z[k], z[k + 4], 0x31);
    __m256 ab = _mm256_shuffle_ps(half[0], half[1], 0x44) + _mm256_shuffle_ps(half[0], half[1], 0xee);
    __m256 cd = _mm256_shuffle_ps(half[2], half[3], 0x44) + _mm256_shuffle_ps(half[2], half[3], 0xee);
    _mm256_storeu_ps(out, _mm256_shuffle_ps(ab, cd, 0x88) + _mm256_shuffle_ps(ab, cd, 0xdd));
}
#else
FTB_INLINE void lanes_dots_of_8(real *out, const real *x, const real *y)
{
    for (int64_t h = 0; h < 8; h++)
        out[h] = lanes_dot_narrow(x + 8 * h, y + 8 * h, 8);
}
#endif

FTB_INLINE int64_t lanes_column(const void *column, int size, int64_t at)
{
    return size == 2   ? ((const uint16_t *)column)[at]
           : size == 4 ? ((const int32_t *)column)[at]
                       : ((const int64_t *)column)[at];
}

#endif
