/* Real functions, as semirings/operators.def spells them.
 *
 * FP64 goes to the C library. FP32 is computed here, without branches, so that the loops around it vectorise,
 * and with the same bits for every instruction set. exp, expm1, tanh and sigmoid, which messages and layers
 * are made of, are computed in FP32: within 1.0, 1.6, 1.3 and 2.3 units in the last place (over every 97th
 * float), at half the time of double precision. The others are computed in double precision, by polynomials
 * that leave an error near 1e-9, and rounded once: below 0.6 units. */
#ifndef FTB_REAL_H
#define FTB_REAL_H

#ifndef FTB_STANDALONE
#include "expr/scalar.h"
#include <math.h>
#endif

static inline double ftb_double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exp(x) = scale * (1 + q): x = n ln 2 + r, |r| <= ln 2 / 2, scale = 2^n, q = exp(r) - 1 by its series
 * (the first term left out is r^9/9! < 2.1e-10). Arguments beyond 150, where FP32 ends, are cut to it. */
static inline double ftb_exp_parts(double x, double *q)
{
    const double magic = 0x1.8p52, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    x = x < -150 ? -150 : x;
    x = x > 150 ? 150 : x;
    double shifted = x * 0x1.71547652b82fep+0 + magic, n = shifted - magic;
    double r = (x - n * ln2_high) - n * ln2_low;
    double p = 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    *q = r + r * r * p;
    return ftb_double_of((ftb_bits_f64(shifted) << 52) + ftb_bits_f64(1.0));
}

/* log(x) of a positive normal x: x = 2^k m, sqrt(1/2) <= m < sqrt(2), s = (m - 1) / (m + 1),
 * log m = 2 (s + s^3/3 + ...); the first term left out is 2 s^13/13 < 2e-11 s. */
static inline double ftb_log_core(double x)
{
    const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd), one = UINT64_C(0x3ff0000000000000);
    uint64_t moved = ftb_bits_f64(x) - root_half + one, biased = moved >> 52;
    double m = ftb_double_of(ftb_bits_f64(x) - (biased << 52) + one);
    double k = ftb_double_of(UINT64_C(0x4330000000000000) | biased) - (0x1p52 + 1023);
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    return k * 0x1.62e42fefa39efp-1 + (2 * s + s * z * p);
}

/* The same for every x. */
static inline double ftb_log_all(double x)
{
    double y = ftb_log_core(x);
    y = x == 0 ? -HUGE_VAL : y;
    y = x < 0 ? (double)NAN : y;
    return x == HUGE_VAL || x != x ? x : y;
}

static inline float ftb_float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define FTB_EXP_MAGIC 0x1.8p23F /* rounds to a whole number when it is added */
/* q of exp(x) = 2^k (1 + q), q = r + r^2 p(r), as ftb_exp_parts; p is Cephes's. The two parts of ln 2 make
 * k ln 2 exact. k is in the low bits of *shifted. */
static inline float ftb_exp_part_f32(float x, float *shifted)
{
    const float ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
    *shifted = x * 0x1.715476p+0F + FTB_EXP_MAGIC;
    float n = *shifted - FTB_EXP_MAGIC, r = (x - n * ln2_high) - n * ln2_low;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    return r + r * r * p;
}
/* 2^k is applied in two halves, so that results may be subnormal, or overflow. */
static inline float ftb_exp_f32(float x)
{
    x = x < -104 ? -104 : x;
    x = x > 89 ? 89 : x;
    float shifted, y = 1 + ftb_exp_part_f32(x, &shifted);
    int32_t k = (int32_t)(ftb_bits_f32(shifted) - ftb_bits_f32(FTB_EXP_MAGIC)), half = k >> 1;
    return y * ftb_float_of((uint32_t)(half + 127) << 23) * ftb_float_of((uint32_t)(k - half + 127) << 23);
}
/* 2^k q + (2^k - 1); half of 2^k is applied, so that it does not overflow before the result does, and not
 * where k is 0, so that tiny results keep their bits. The sign is x's, also of zeros. */
static inline float ftb_expm1_f32(float x)
{
    float cut = x < -30 ? -30 : x, shifted;
    cut = cut > 89 ? 89 : cut;
    float q = ftb_exp_part_f32(cut, &shifted);
    float half = ftb_float_of((ftb_bits_f32(shifted) - ftb_bits_f32(FTB_EXP_MAGIC) + 126) << 23);
    float y = 2 * (half * q + (half - 0.5F));
    return copysignf(shifted == FTB_EXP_MAGIC ? q : y, x);
}
static inline float ftb_log_f32(float x) { return (float)ftb_log_all(x); }
static inline float ftb_log2_f32(float x) { return (float)(ftb_log_all(x) * 0x1.71547652b82fep+0); }
/* log(1 + x) = log(u) x / (u - 1) with u = 1 + x rounded: the error of u cancels (Kahan). */
static inline float ftb_log1p_f32(float x)
{
    double u = 1 + (double)x, y = ftb_log_all(u), d = u - 1;
    double corrected = y * ((double)x / d);
    return d == 0 ? x : x < HUGE_VALF && x > -1 ? (float)corrected : (float)y;
}
/* Near 0 an odd polynomial (Cephes's), else 1 - 2 / (exp(2 |x|) + 1). */
static inline float ftb_tanh_f32(float x)
{
    float size = fabsf(x), z = x * x, p = -5.70498872745e-3F;
    p = p * z + 2.06390887954e-2F;
    p = p * z - 5.37397155531e-2F;
    p = p * z + 1.33314422036e-1F;
    p = p * z - 3.33332819422e-1F;
    float near = x + x * (z * p), far = 1 - 2 / (ftb_exp_f32(2 * size) + 1);
    return copysignf(size < 0.625F ? near : far, x);
}
/* exp(-|x|) does not overflow. */
static inline float ftb_sigmoid_f32(float x)
{
    float e = ftb_exp_f32(-fabsf(x));
    return (x > 0 ? 1 : e) / (1 + e);
}
/* Below 1 the series 2 / sqrt(pi) (x - x^3/3 + x^5/10 - ...), whose first term left out is 1e-10; else
 * 1 - exp(-x^2) p(1 / (1 + x / 2)), p fitted at Chebyshev's points of 1 .. 4.2 to within 3e-11; beyond, 1. */
static inline float ftb_erf_f32(float x)
{
    double size = fabs((double)x), z = size * size, end = size > 4.2 ? 4.2 : size, t = 1 / (1 + end / 2), q;
    double near = -1.0 / 918086400, far = 0.11925904615463954, scale = ftb_exp_parts(-end * end, &q);
    near = near * z + 1.0 / 76204800;
    near = near * z - 1.0 / 6894720;
    near = near * z + 1.0 / 685440;
    near = near * z - 1.0 / 75600;
    near = near * z + 1.0 / 9360;
    near = near * z - 1.0 / 1320;
    near = near * z + 1.0 / 216;
    near = near * z - 1.0 / 42;
    near = near * z + 1.0 / 10;
    near = near * z - 1.0 / 3;
    near = 1.1283791670955126 * (size + size * (near * z));
    far = far * t - 0.47088178227992084;
    far = far * t + 0.5627731067618134;
    far = far * t - 0.1031726298365644;
    far = far * t + 0.34756502507757236;
    far = far * t + 0.2597658121238721;
    far = far * t + 0.2848982123630421;
    far = far * t - 0.00015306479451693362;
    far = 1 - far * (scale + scale * q);
    return copysignf((float)(size < 1 ? near : far), x);
}
static inline float ftb_elu_f32(float x, float y)
{
    float below = y * ftb_expm1_f32(x);
    return x > 0 ? x : below;
}
static inline float ftb_pow_f32(float x, float y) { return (float)pow((double)x, (double)y); }
static inline double ftb_lgamma_f64(double x)
{
#ifdef __CUDACC__
    return lgamma(x);
#else
    int sign; /* lgamma() would write a global */
    return lgamma_r(x, &sign);
#endif
}
static inline float ftb_lgamma_f32(float x) { return (float)ftb_lgamma_f64(x); }

static inline double ftb_sigmoid_f64(double x) { return 1 / (1 + exp(-x)); }
static inline double ftb_elu_f64(double x, double y) { return x > 0 ? x : y * expm1(x); }

#define FTB_REAL_MIN(x, y) FTB_LEAST(x, y)
#define FTB_REAL_MAX(x, y) FTB_GREATEST(x, y)
#define FTB_REAL_ABS(x) FTB_REAL(fabsf, fabs, x)(x)
#define FTB_REAL_FLOOR(x) FTB_REAL(floorf, floor, x)(x)
#define FTB_REAL_CEIL(x) FTB_REAL(ceilf, ceil, x)(x)
#define FTB_REAL_TRUNC(x) FTB_REAL(truncf, trunc, x)(x)
#define FTB_REAL_SQRT(x) FTB_REAL(sqrtf, sqrt, x)(x)
#define FTB_REAL_EXP(x) FTB_REAL(ftb_exp_f32, exp, x)(x)
#define FTB_REAL_EXPM1(x) FTB_REAL(ftb_expm1_f32, expm1, x)(x)
#define FTB_REAL_LOG(x) FTB_REAL(ftb_log_f32, log, x)(x)
#define FTB_REAL_LOG1P(x) FTB_REAL(ftb_log1p_f32, log1p, x)(x)
#define FTB_REAL_LOG2(x) FTB_REAL(ftb_log2_f32, log2, x)(x)
#define FTB_REAL_LGAMMA(x) FTB_REAL(ftb_lgamma_f32, ftb_lgamma_f64, x)(x)
#define FTB_REAL_TANH(x) FTB_REAL(ftb_tanh_f32, tanh, x)(x)
#define FTB_REAL_SIGMOID(x) FTB_REAL(ftb_sigmoid_f32, ftb_sigmoid_f64, x)(x)
#define FTB_REAL_ERF(x) FTB_REAL(ftb_erf_f32, erf, x)(x)
#define FTB_REAL_POW(x, y) FTB_REAL(ftb_pow_f32, pow, x)(x, y)
#define FTB_REAL_ELU(x, y) FTB_REAL(ftb_elu_f32, ftb_elu_f64, x)(x, y)
#define FTB_REAL_CLAMP(x, low, high)                                                                         \
    (T)((double)(x) < (double)(low)    ? (double)(low)                                                       \
        : (double)(x) > (double)(high) ? (double)(high)                                                      \
                                       : (double)(x))

#endif
