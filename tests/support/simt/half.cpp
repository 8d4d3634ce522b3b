/* 16-bit reals as CUDA's intrinsics convert them: to nearest, ties to even; NaN to the one that they give. */
#include "simt_calls.h"

#include <cmath>
#include <cstring>

namespace
{

uint32_t bits_of(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* bits >> drop, to nearest, ties to even; 0 < drop < 32 */
uint32_t rounded(uint32_t bits, unsigned drop)
{
    const uint32_t half = 1u << (drop - 1), kept = bits >> drop, rest = bits & ((half << 1) - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

} // namespace

extern "C" float simt_half_to_float(unsigned short bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size;
    if (exponent == 31)
        size = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        size = std::ldexp(static_cast<float>(fraction), -24);
    else
        size = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return bits >> 15 ? -size : size;
}

extern "C" unsigned short simt_float_to_half(float value)
{
    const uint32_t bits = bits_of(value), size = bits & 0x7fffffff;
    const unsigned sign = bits >> 16 & 0x8000;
    if (size > 0x7f800000)
        return 0x7fff;
    unsigned result;
    if (size >= 0x477ff000) /* 65520, half way to what would come next */
        result = 0x7c00;
    else if (size >= 0x38800000) /* 2^-14 */
        result = rounded(size - (112u << 23), 13);
    else if (size <= 0x33000000) /* 2^-25, half of the least */
        result = 0;
    else
        result = rounded((size & 0x7fffff) | 0x800000, 126 - (size >> 23));
    return static_cast<unsigned short>(sign | result);
}

extern "C" unsigned short simt_float_to_bfloat16(float value)
{
    const uint32_t bits = bits_of(value);
    return static_cast<unsigned short>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded(bits, 16));
}

/* The bits of an FP32 whose last 13 are 0: to nearest, ties away from zero, as cvt.rna has it. */
extern "C" unsigned simt_float_to_tf32(float value)
{
    const uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fffffff;
    return (bits & 0x7fffffff) == 0x7f800000 ? bits : (bits + 0x1000) & ~0x1fffu;
}
