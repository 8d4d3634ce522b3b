/* Arithmetic on one value, as the tables in semirings/ spell it. Everything here is inlined into loops
 * that the compiler vectorises, and gives the same bits for every instruction set: no fused
 * multiply-add, no reassociation. */
#ifndef FTB_SCALAR_H
#define FTB_SCALAR_H

#ifndef FTB_STANDALONE /* in code that is compiled at run time (jit_loop.c) */
#include "expr/expr.h"

/* The classes of compute types, as indices of kernel tables. */
enum { FTB_CLASS_BOOL, FTB_CLASS_INT64, FTB_CLASS_UINT64, FTB_CLASS_FP32, FTB_CLASS_FP64, FTB_NCLASSES };

static inline int ftb_class(FtB_Type compute)
{
    switch (compute) {
    case FTB_BOOL:
        return FTB_CLASS_BOOL;
    case FTB_INT64:
        return FTB_CLASS_INT64;
    case FTB_UINT64:
        return FTB_CLASS_UINT64;
    case FTB_FP32:
        return FTB_CLASS_FP32;
    default:
        return FTB_CLASS_FP64;
    }
}

#endif

typedef void (*ftb_combine)(void *restrict x, const void *restrict y, int64_t count);

static inline uint32_t ftb_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t ftb_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Least and greatest: NaN loses to every number, and -0 counts as less than 0, so that the order of the
 * arguments never shows. */
#define FTB_SCALAR_EXTREMES(suffix, T, negative)                                                             \
    static inline T ftb_least_##suffix(T x, T y)                                                             \
    {                                                                                                        \
        return (x < y) | (y != y) | ((x == y) & negative(x)) ? x : y;                                        \
    }                                                                                                        \
    static inline T ftb_greatest_##suffix(T x, T y)                                                          \
    {                                                                                                        \
        return (x > y) | (y != y) | ((x == y) & negative(y)) ? x : y;                                        \
    }
#define FTB_NEGATIVE_F32(x) (int)(ftb_bits_f32(x) >> 31)
#define FTB_NEGATIVE_F64(x) (int)(ftb_bits_f64(x) >> 63)
FTB_SCALAR_EXTREMES(f32, float, FTB_NEGATIVE_F32)
FTB_SCALAR_EXTREMES(f64, double, FTB_NEGATIVE_F64)

#define FTB_SCALAR_INTEGER_EXTREMES(suffix, T)                                                               \
    static inline T ftb_least_##suffix(T x, T y) { return x < y ? x : y; }                                   \
    static inline T ftb_greatest_##suffix(T x, T y) { return x > y ? x : y; }
FTB_SCALAR_INTEGER_EXTREMES(u8, uint8_t)
FTB_SCALAR_INTEGER_EXTREMES(i64, int64_t)
FTB_SCALAR_INTEGER_EXTREMES(u64, uint64_t)

#ifndef __cplusplus
#define FTB_SCALAR_GENERIC(name, x)                                                                          \
    _Generic((x), uint8_t                                                                                    \
             : name##_u8, int64_t                                                                            \
             : name##_i64, uint64_t                                                                          \
             : name##_u64, float                                                                             \
             : name##_f32, double                                                                            \
             : name##_f64)
#define FTB_REAL(f32, f64, x) _Generic((x), float : f32, double : f64)
#define FTB_INTEGER(i64, u64, x) _Generic((x), int64_t : i64, uint64_t : u64)
#else /* sources of kernels: what they print says for which class */
#define FTB_PASTED(name, suffix) name##_##suffix
#define FTB_OF_CLASS(name, suffix) FTB_PASTED(name, suffix)
#define FTB_SCALAR_GENERIC(name, x) FTB_OF_CLASS(name, FTB_CLASS)
#define FTB_REAL_f32(f32, f64) f32
#define FTB_REAL_f64(f32, f64) f64
#define FTB_REAL(f32, f64, x) FTB_OF_CLASS(FTB_REAL, FTB_CLASS)(f32, f64)
#define FTB_INTEGER_i64(i64, u64) i64
#define FTB_INTEGER_u64(i64, u64) u64
#define FTB_INTEGER(i64, u64, x) FTB_OF_CLASS(FTB_INTEGER, FTB_CLASS)(i64, u64)
#endif
#define FTB_LEAST(x, y) FTB_SCALAR_GENERIC(ftb_least, x)(x, y)
#define FTB_GREATEST(x, y) FTB_SCALAR_GENERIC(ftb_greatest, x)(x, y)

/* x / 0 is 0; the least integer / -1 wraps. */
static inline int64_t ftb_idiv_i64(int64_t x, int64_t y)
{
    return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}
static inline uint64_t ftb_idiv_u64(uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; }
#define FTB_INTEGER_DIV(x, y) FTB_INTEGER(ftb_idiv_i64, ftb_idiv_u64, x)(x, y)

/* Conversions as ftb_cast makes them: cut off towards zero, saturate, NaN gives 0. */
static inline int64_t ftb_int64_of(double x)
{
    return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}
static inline uint64_t ftb_uint64_of(double x)
{
    return !(x > 0) ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
}

#endif
