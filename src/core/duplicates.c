/* The duplicate rules: several entries at one position become one.
 *
 * Integers are summed in 128 bits, which no sum leaves, and truncated. FP32 sums
 * are rounded to FP32 after every addition (a double holds the exact sum of two floats well enough that
 * rounding twice changes nothing); 16-bit floats accumulate in FP32 and are rounded once. */
#include "core/duplicates.h"

#include <math.h>

/* Values may lie at any address, since records are packed: they are copied before they are read. */
static uint64_t load_integer(const void *value, FtB_Type type)
{
    int64_t wide = 0;
    ftb_cast(&wide, FTB_INT64, memcpy(&wide, value, FtB_Type_size(type)), type, 1);
    return (uint64_t)wide;
}

static double load_real(const void *value, FtB_Type type)
{
    double wide = 0;
    ftb_cast(&wide, FTB_FP64, memcpy(&wide, value, FtB_Type_size(type)), type, 1);
    return wide;
}

/* Whether x replaces the extreme found so far. */
static bool beats_integer(uint64_t x, uint64_t best, FtB_Type type, FtB_Dup rule)
{
    bool is_signed = type >= FTB_INT8 && type <= FTB_INT64;
    bool less = is_signed ? (int64_t)x < (int64_t)best : x < best;
    return rule == FTB_DUP_MIN ? less : x != best && !less;
}

static bool beats_real(double x, double best, FtB_Dup rule) /* NaN loses to every number */
{
    return best != best || (rule == FTB_DUP_MIN ? x < best : x > best);
}

/* Members of one group: plane f of entry t. */
typedef struct group {
    FtB_Type type;
    size_t size, stride; /* bytes of a value, and from one entry to the next */
    const char *base;
    const uint64_t *at;
    uint64_t mask;
    int64_t count;
} group;

static const void *member(const group *g, int64_t t, int64_t f)
{
    return g->base + (size_t)(g->at[t] & g->mask) * g->stride + (size_t)f * g->size;
}

/* 128 bits hold all that 2^63 values of 64 bits add up to. */
static __int128 widened(uint64_t x, FtB_Type type)
{
    return type >= FTB_INT8 && type <= FTB_INT64 ? (__int128)(int64_t)x : (__int128)x;
}

/* Returns whether the type holds the value; else what it keeps is the value modulo its range. */
static bool merge_integers(void *out, const group *g, int64_t f, FtB_Dup rule)
{
    uint64_t value = load_integer(member(g, 0, f), g->type);
    __int128 sum = widened(value, g->type);
    for (int64_t t = 1; t < g->count; t++) {
        uint64_t x = load_integer(member(g, t, f), g->type);
        if (rule == FTB_DUP_SUM && g->type == FTB_BOOL)
            value |= x;
        else if (rule == FTB_DUP_SUM)
            sum += widened(x, g->type);
        else if (beats_integer(x, value, g->type, rule))
            value = x;
    }
    if (rule == FTB_DUP_SUM && g->type != FTB_BOOL)
        value = (uint64_t)sum;
    ftb_cast(out, g->type, &value, FTB_UINT64, 1); /* wraps */
    return rule != FTB_DUP_SUM || g->type == FTB_BOOL || widened(load_integer(out, g->type), g->type) == sum;
}

/* Returns false where finite values became infinite, for want of range. */
static bool merge_reals(void *out, const group *g, int64_t f, FtB_Dup rule)
{
    double value = load_real(member(g, 0, f), g->type), sum = value;
    for (int64_t t = 1; t < g->count; t++) {
        double x = load_real(member(g, t, f), g->type);
        sum += x;
        if (rule == FTB_DUP_SUM)
            value = g->type == FTB_FP64 ? value + x : (double)(float)(value + x);
        else if (beats_real(x, value, rule))
            value = x;
    }
    ftb_cast(out, g->type, &value, FTB_FP64, 1);
    return rule != FTB_DUP_SUM || g->type == FTB_FP64 || !isfinite(sum) || isfinite(load_real(out, g->type));
}

/* Returns whether the type holds the number exactly. */
static bool put_count(void *out, FtB_Type type, int64_t count)
{
    ftb_cast(out, type, &count, FTB_INT64, 1);
    return ftb_type_float(type) ? load_real(out, type) == (double)count
                                : load_integer(out, type) == (uint64_t)count;
}

bool ftb_merge_entries(void *out, FtB_Type type, int64_t width, FtB_Dup rule, const void *base, size_t stride,
                       const uint64_t *at, uint64_t mask, int64_t count)
{
    size_t size = FtB_Type_size(type);
    bool fits = true;
    group g = {
        .type = type, .size = size, .stride = stride, .base = base, .at = at, .mask = mask, .count = count};
    if (rule == FTB_DUP_FIRST || rule == FTB_DUP_LAST) {
        memcpy(out, member(&g, rule == FTB_DUP_FIRST ? 0 : count - 1, 0), size * (size_t)width);
        return true;
    }
    for (int64_t f = 0; f < width; f++) {
        void *value = (char *)out + (size_t)f * size;
        if (rule == FTB_DUP_COUNT)
            fits &= put_count(value, type, count);
        else if (ftb_type_float(type))
            fits &= merge_reals(value, &g, f, rule);
        else
            fits &= merge_integers(value, &g, f, rule);
    }
    return fits;
}
