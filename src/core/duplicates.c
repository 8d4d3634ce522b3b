/* The duplicate rules: several entries at one position become one.
 *
 * Integers are summed modulo 2^64, which is right for every width and sign once truncated. FP32 sums
 * are rounded to FP32 after every addition (a double holds the exact sum of two floats well enough that
 * rounding twice changes nothing); 16-bit floats accumulate in FP32 and are rounded once. */
#include "core/core.h"

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

static void merge_integers(void *out, const group *g, int64_t f, FtB_Dup rule)
{
    uint64_t value = load_integer(member(g, 0, f), g->type);
    for (int64_t t = 1; t < g->count; t++) {
        uint64_t x = load_integer(member(g, t, f), g->type);
        if (rule == FTB_DUP_SUM)
            value = g->type == FTB_BOOL ? value | x : value + x;
        else if (beats_integer(x, value, g->type, rule))
            value = x;
    }
    ftb_cast(out, g->type, &value, FTB_UINT64, 1); /* wraps */
}

static void merge_reals(void *out, const group *g, int64_t f, FtB_Dup rule)
{
    double value = load_real(member(g, 0, f), g->type);
    for (int64_t t = 1; t < g->count; t++) {
        double x = load_real(member(g, t, f), g->type);
        if (rule == FTB_DUP_SUM)
            value = g->type == FTB_FP64 ? value + x : (double)(float)(value + x);
        else if (beats_real(x, value, rule))
            value = x;
    }
    ftb_cast(out, g->type, &value, FTB_FP64, 1);
}

void ftb_merge_duplicates(void *out, FtB_Type type, int64_t width, FtB_Dup rule, const void *base,
                          size_t stride, const uint64_t *at, uint64_t mask, int64_t count)
{
    size_t size = FtB_Type_size(type);
    group g = {
        .type = type, .size = size, .stride = stride, .base = base, .at = at, .mask = mask, .count = count};
    if (rule == FTB_DUP_FIRST || rule == FTB_DUP_LAST) {
        memcpy(out, member(&g, rule == FTB_DUP_FIRST ? 0 : count - 1, 0), size * (size_t)width);
        return;
    }
    for (int64_t f = 0; f < width; f++) {
        void *value = (char *)out + (size_t)f * size;
        if (rule == FTB_DUP_COUNT)
            ftb_cast(value, type, &count, FTB_INT64, 1);
        else if (ftb_type_float(type))
            merge_reals(value, &g, f, rule);
        else
            merge_integers(value, &g, f, rule);
    }
}
