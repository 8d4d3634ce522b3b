/* Dtypes and casts. A cast runs in batches that stay in L1: values are read into INT64, UINT64 or FP64
 * (each holds every value of the types that go through it) and written from there, so 13 readers and 3 x 13
 * writers cover all 169 pairs. Both halves are plain loops that compilers vectorise. */
#include "core/core.h"
#include "core/half.h"
#include "core/words.h"

#include <math.h>

static const struct {
    const char *name;
    uint8_t size, bits;
    FtB_Type compute;
} types[] = {
    [FTB_BOOL] = {"bool", 1, 1, FTB_BOOL},        [FTB_INT8] = {"int8", 1, 8, FTB_INT64},
    [FTB_INT16] = {"int16", 2, 16, FTB_INT64},    [FTB_INT32] = {"int32", 4, 32, FTB_INT64},
    [FTB_INT64] = {"int64", 8, 64, FTB_INT64},    [FTB_UINT8] = {"uint8", 1, 8, FTB_UINT64},
    [FTB_UINT16] = {"uint16", 2, 16, FTB_UINT64}, [FTB_UINT32] = {"uint32", 4, 32, FTB_UINT64},
    [FTB_UINT64] = {"uint64", 8, 64, FTB_UINT64}, [FTB_FP32] = {"fp32", 4, 32, FTB_FP32},
    [FTB_FP64] = {"fp64", 8, 64, FTB_FP64},       [FTB_FP16] = {"fp16", 2, 16, FTB_FP32},
    [FTB_BF16] = {"bf16", 2, 16, FTB_FP32},
};

bool ftb_type_valid(FtB_Type type) { return (int)type >= FTB_BOOL && (int)type <= FTB_BF16; }

bool ftb_type_integer(FtB_Type type) { return type >= FTB_INT8 && type <= FTB_UINT64; }

bool ftb_type_float(FtB_Type type) { return type >= FTB_FP32 && type <= FTB_BF16; }

int ftb_type_bits(FtB_Type type) { return ftb_type_valid(type) ? types[type].bits : 0; }

FtB_Type ftb_type_compute(FtB_Type type) { return types[type].compute; }

size_t FtB_Type_size(FtB_Type type) { return ftb_type_valid(type) ? types[type].size : 0; }

const char *FtB_Type_name(FtB_Type type) { return ftb_type_valid(type) ? types[type].name : "unknown"; }

/* ---- 16-bit floats */

static double from_fp16(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double x;
    if (exponent == 31)
        x = fraction ? (double)NAN : (double)INFINITY;
    else
        x = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return h & 0x8000 ? -x : x;
}

static double from_bf16(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The 16-bit float with `fraction` fraction bits and exponent bias `bias` that is nearest to x, ties to
 * even. Works on the bits of the double: shifts the significand down to the target's precision (further
 * for subnormals), rounds, and lets a carry run into the exponent, where it ends as infinity. */
static uint16_t to_16(double x, int fraction, int bias)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint16_t infinity = (uint16_t)((2 * bias + 1) << fraction);
    if (isnan(x))
        return (uint16_t)(sign | infinity | 1 << (fraction - 1));
    int exponent = (int)(bits >> 52 & 2047) - 1023 + bias;
    if (exponent > 2 * bias)
        return sign | infinity;
    uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int shift = 52 - fraction + (exponent < 1 ? 1 - exponent : 0);
    if (shift > 54)
        return sign;
    uint64_t kept = significand >> shift, rest = significand & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    if (exponent > 1) /* kept has the implicit bit, worth one exponent step */
        kept += (uint64_t)(exponent - 1) << fraction;
    return (uint16_t)(sign | kept);
}

static uint16_t to_fp16(double x) { return to_16(x, 10, 15); }

static uint16_t to_bf16(double x) { return to_16(x, 7, 127); }

/* A double from a 64-bit magnitude, rounded to odd, so that a second rounding to 16 bits is exact. */
static double odd_from_magnitude(uint64_t u)
{
    return u >> 53 ? (double)((u >> 11 | ((u & 2047) != 0)) << 11) : (double)u;
}

static double odd_from_int64(int64_t x)
{
    return x < 0 ? -odd_from_magnitude(-(uint64_t)x) : odd_from_magnitude((uint64_t)x);
}

/* ---- floats to integers: truncate, saturate, NaN to 0 */

static int64_t to_int64(double x)
{
    if (!(x > -9223372036854775808.0))
        return isnan(x) ? 0 : INT64_MIN;
    return x < 9223372036854775808.0 ? (int64_t)x : INT64_MAX;
}

static uint64_t to_uint64(double x)
{
    if (!(x > 0)) /* also NaN */
        return 0;
    return x < 18446744073709551616.0 ? (uint64_t)x : UINT64_MAX;
}

static double clamped(double x, double low, double high)
{
    double y = x > low ? x : low; /* NaN becomes low, and is put right below */
    y = y < high ? y : high;
    return x == x ? y : 0;
}

/* ---- loops */

#define BATCH 256

typedef union batch {
    int64_t i[BATCH];
    uint64_t u[BATCH];
    double f[BATCH];
} batch;

#define NATIVE(X)                                                                                            \
    X(FTB_INT8, int8_t, i, INT8_MIN, INT8_MAX)                                                               \
    X(FTB_INT16, int16_t, i, INT16_MIN, INT16_MAX)                                                           \
    X(FTB_INT32, int32_t, i, INT32_MIN, INT32_MAX)                                                           \
    X(FTB_UINT8, uint8_t, u, 0, UINT8_MAX)                                                                   \
    X(FTB_UINT16, uint16_t, u, 0, UINT16_MAX)                                                                \
    X(FTB_UINT32, uint32_t, u, 0, UINT32_MAX)

#define LOOP(statement)                                                                                      \
    for (int64_t t = 0; t < count; t++)                                                                      \
        statement;                                                                                           \
    break

/* Values of type st, into the union's member for that type. */
static void read_batch(batch *b, const void *src, FtB_Type st, int64_t count)
{
    const uint16_t *half = src;
    switch (st) {
#define READ(type, ctype, member, low, high)                                                                 \
    case type:                                                                                               \
        LOOP(b->member[t] = ((const ctype *)src)[t]);
        NATIVE(READ)
#undef READ
    case FTB_BOOL:
        LOOP(b->u[t] = ((const uint8_t *)src)[t] != 0);
    case FTB_INT64:
    case FTB_UINT64:
    case FTB_FP64:
        memcpy(b, src, (size_t)count * 8);
        break;
    case FTB_FP32:
        LOOP(b->f[t] = (double)((const float *)src)[t]);
    case FTB_FP16:
        LOOP(b->f[t] = from_fp16(half[t]));
    case FTB_BF16:
        LOOP(b->f[t] = from_bf16(half[t]));
    }
}

static void write_from_real(void *dst, FtB_Type dt, const batch *b, int64_t count)
{
    switch (dt) {
#define WRITE(type, ctype, member, low, high)                                                                \
    case type:                                                                                               \
        LOOP(((ctype *)dst)[t] = (ctype)clamped(b->f[t], low, high));
        NATIVE(WRITE)
#undef WRITE
    case FTB_BOOL:
        LOOP(((uint8_t *)dst)[t] = b->f[t] != 0);
    case FTB_INT64:
        LOOP(((int64_t *)dst)[t] = to_int64(b->f[t]));
    case FTB_UINT64:
        LOOP(((uint64_t *)dst)[t] = to_uint64(b->f[t]));
    case FTB_FP32:
        LOOP(((float *)dst)[t] = (float)b->f[t]);
    case FTB_FP64:
        memcpy(dst, b, (size_t)count * 8);
        break;
    case FTB_FP16:
        LOOP(((uint16_t *)dst)[t] = to_fp16(b->f[t]));
    case FTB_BF16:
        LOOP(((uint16_t *)dst)[t] = to_bf16(b->f[t]));
    }
}

/* Signed and unsigned sources differ only where the target is a float: integers wrap. */
static void write_from_integer(void *dst, FtB_Type dt, const batch *b, bool is_signed, int64_t count)
{
    switch (dt) {
#define WRITE(type, ctype, member, low, high)                                                                \
    case type:                                                                                               \
        LOOP(((ctype *)dst)[t] = (ctype)b->u[t]);
        NATIVE(WRITE)
#undef WRITE
    case FTB_BOOL:
        LOOP(((uint8_t *)dst)[t] = b->u[t] != 0);
    case FTB_INT64:
    case FTB_UINT64:
        memcpy(dst, b, (size_t)count * 8);
        break;
    case FTB_FP32:
        if (is_signed) {
            LOOP(((float *)dst)[t] = (float)b->i[t]);
        }
        LOOP(((float *)dst)[t] = (float)b->u[t]);
    case FTB_FP64:
        if (is_signed) {
            LOOP(((double *)dst)[t] = (double)b->i[t]);
        }
        LOOP(((double *)dst)[t] = (double)b->u[t]);
    case FTB_FP16:
        LOOP(((uint16_t *)dst)[t] =
                 to_fp16(is_signed ? odd_from_int64(b->i[t]) : odd_from_magnitude(b->u[t])));
    case FTB_BF16:
        LOOP(((uint16_t *)dst)[t] =
                 to_bf16(is_signed ? odd_from_int64(b->i[t]) : odd_from_magnitude(b->u[t])));
    }
}

/* FP32 and 16-bit floats, the pairs that storage in 16 bits makes common. */
static bool is_half_pair(FtB_Type dt, FtB_Type st)
{
    return (dt == FTB_FP32 && st >= FTB_FP16) || (st == FTB_FP32 && dt >= FTB_FP16);
}

static void cast_halves(void *dst, FtB_Type dt, const void *src, FtB_Type st, int64_t count)
{
    batch b; /* dst may be src */
    memcpy(&b, src, (size_t)count * types[st].size);
    if (st == FTB_FP16)
        FTB_PICK(ftb_fp32_from_fp16)(dst, (const uint16_t *)&b, count);
    else if (st == FTB_BF16)
        FTB_PICK(ftb_fp32_from_bf16)(dst, (const uint16_t *)&b, count);
    else if (dt == FTB_FP16)
        FTB_PICK(ftb_fp16_from_fp32)(dst, (const float *)&b, count);
    else
        FTB_PICK(ftb_bf16_from_fp32)(dst, (const float *)&b, count);
}

void ftb_cast(void *dst, FtB_Type dt, const void *src, FtB_Type st, int64_t count)
{
    size_t ds = types[dt].size, ss = types[st].size;
    bool halves = is_half_pair(dt, st);
    if (dt == st && dt != FTB_BOOL) {
        if (dst != src && count > 0)
            memcpy(dst, src, (size_t)count * ds);
        return;
    }
    int64_t batches = (count + BATCH - 1) / BATCH;
    for (int64_t n = 0; n < batches; n++) {
        /* In place, a wider target overwrites sources further on: go from the end. */
        int64_t first = (ds > ss ? batches - 1 - n : n) * BATCH, size = ftb_min(BATCH, count - first);
        batch b;
        void *target = (char *)dst + (size_t)first * ds;
        if (halves) {
            cast_halves(target, dt, (const char *)src + (size_t)first * ss, st, size);
            continue;
        }
        read_batch(&b, (const char *)src + (size_t)first * ss, st, size);
        if (ftb_type_float(st))
            write_from_real(target, dt, &b, size);
        else
            write_from_integer(target, dt, &b, st >= FTB_INT8 && st <= FTB_INT64, size);
    }
}

/* What a type holds of numbers of other types. */
typedef struct bounds {
    bool whole;       /* of reals only whole ones */
    double low, high; /* of reals: from low to below high; floats: and what is not finite */
    int64_t least;    /* of signed integers */
    uint64_t most;    /* of any */
} bounds;

static bounds bounds_of(FtB_Type to)
{
    /* The largest finite value, and half of what is between it and the next. */
    static const double end[] = {
        [FTB_FP32] = 0x1.ffffffp127, [FTB_FP64] = INFINITY, [FTB_FP16] = 65520, [FTB_BF16] = 0x1.ffp127};
    if (ftb_type_float(to))
        return (bounds){.low = -end[to],
                        .high = end[to],
                        .least = to == FTB_FP16 ? -65519 : INT64_MIN,
                        .most = to == FTB_FP16 ? 65519 : UINT64_MAX};
    const bool is_signed = to <= FTB_INT64;
    const int bits = (int)(8 * types[to].size) - is_signed;
    return (bounds){.whole = true,
                    .low = is_signed ? -ldexp(1, bits) : 0,
                    .high = ldexp(1, bits),
                    .least = is_signed ? -1 - (int64_t)((UINT64_C(1) << bits) - 1) : 0,
                    .most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1};
}

static bool holds_real(const bounds *b, double x)
{
    return b->whole ? x >= b->low && x < b->high && x == trunc(x)
                    : (x > b->low && x < b->high) || !isfinite(x);
}
static bool holds_signed(const bounds *b, int64_t x)
{
    return x >= b->least && (x < 0 || (uint64_t)x <= b->most);
}

/* Whole pieces are looked at without a way out, so that many values are at a time. */
#define FIND(type, fits)                                                                                     \
    static int64_t find_##type(const bounds *b, const type *x, int64_t count)                                \
    {                                                                                                        \
        enum { PIECE = 1024 };                                                                               \
        for (int64_t first = 0; first < count; first += PIECE) {                                             \
            const int64_t end = ftb_min(first + PIECE, count);                                               \
            bool all = true;                                                                                 \
            for (int64_t k = first; k < end; k++)                                                            \
                all &= fits;                                                                                 \
            for (int64_t k = first; !all && k < end; k++)                                                    \
                if (!(fits))                                                                                 \
                    return k;                                                                                \
        }                                                                                                    \
        return -1;                                                                                           \
    }
FIND(double, holds_real(b, x[k]))
FIND(float, holds_real(b, (double)x[k]))
FIND(int64_t, holds_signed(b, x[k]))
FIND(uint64_t, x[k] <= b->most)

int64_t ftb_find_unfit(FtB_Type to, const void *values, FtB_Type from, int64_t count)
{
    if (to == from || to == FTB_BOOL || to == FTB_FP64)
        return -1;
    const bounds b = bounds_of(to);
    switch (from) {
    case FTB_FP64:
        return find_double(&b, values, count);
    case FTB_FP32:
        return find_float(&b, values, count);
    case FTB_INT64:
        return find_int64_t(&b, values, count);
    case FTB_UINT64:
        return find_uint64_t(&b, values, count);
    default:
        break;
    }
    for (int64_t k = 0; k < count; k++)
        if (ftb_type_float(from) ? !holds_real(&b, ftb_get_real(values, from, k))
                                 : !holds_signed(&b, ftb_get_integer(values, from, k)))
            return k;
    return -1;
}

char *ftb_value_text(char *text, const void *values, FtB_Type type, int64_t at)
{
    if (ftb_type_float(type))
        snprintf(text, FTB_WORDS, "%.*g", type == FTB_FP64 ? 15 : 7, ftb_get_real(values, type, at));
    else if (type == FTB_UINT64)
        snprintf(text, FTB_WORDS, "%llu", (unsigned long long)ftb_get_integer(values, type, at));
    else
        snprintf(text, FTB_WORDS, "%lld", (long long)ftb_get_integer(values, type, at));
    return text;
}

double ftb_get_real(const void *values, FtB_Type type, int64_t at)
{
    double x;
    ftb_cast(&x, FTB_FP64, (const char *)values + (size_t)at * types[type].size, type, 1);
    return x;
}

int64_t ftb_get_integer(const void *values, FtB_Type type, int64_t at)
{
    int64_t x;
    ftb_cast(&x, FTB_INT64, (const char *)values + (size_t)at * types[type].size, type, 1);
    return x;
}
