/* 16-bit floats to and from FP32 on the bits, without branches, for compilers to vectorise.
 *
 * FP16's exponent, which counts from 15 where FP32's counts from 127, is moved by shifting and adding;
 * subnormal numbers are normalised, and made, by one addition of floats, which rounds as wanted. Everywhere
 * else rounding adds half of the last place less one, plus that place's own bit, so that ties go to even.
 * After F. Giesen, "Float->half variants" (2012).
 *
 * Cells: instruction sets */
#include "core/half.h"

#include <string.h>

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void FTB_CELL(ftb_fp32_from_bf16)(float *restrict to, const uint16_t *restrict from, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        uint32_t bits = (uint32_t)from[t] << 16;
        to[t] = float_of((bits & 0x7fffffff) > 0x7f800000 ? (bits & 0x80000000) | 0x7fc00000 : bits);
    }
}

void FTB_CELL(ftb_bf16_from_fp32)(uint16_t *restrict to, const float *restrict from, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        uint32_t bits = bits_of(from[t]), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        uint32_t nan = (bits >> 16 & 0x8000) | 0x7fc0;
        to[t] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
    }
}

void FTB_CELL(ftb_fp32_from_fp16)(float *restrict to, const uint16_t *restrict from, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        uint32_t half = from[t], sign = (half & 0x8000) << 16, magnitude = (half & 0x7fff) << 13;
        uint32_t normal = magnitude + (UINT32_C(112) << 23);
        uint32_t tiny = bits_of(float_of(magnitude + (UINT32_C(113) << 23)) - 0x1p-14f);
        uint32_t bits = magnitude < UINT32_C(1) << 23 ? tiny : normal;
        bits = magnitude >= UINT32_C(31) << 23 ? 0x7f800000 : bits;
        bits = magnitude > UINT32_C(31) << 23 ? 0x7fc00000 : bits;
        to[t] = float_of(bits | sign);
    }
}

void FTB_CELL(ftb_fp16_from_fp32)(uint16_t *restrict to, const float *restrict from, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        uint32_t bits = bits_of(from[t]), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
        uint32_t normal = (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
        /* 0.5 has its last place at 2^-24, FP16's smallest subnormal */
        uint32_t tiny = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
        uint32_t half = magnitude < UINT32_C(113) << 23 ? tiny : normal;
        half = magnitude >= UINT32_C(143) << 23 ? 0x7c00 : half;
        half = magnitude > 0x7f800000 ? 0x7e00 : half;
        to[t] = (uint16_t)(half | sign);
    }
}
