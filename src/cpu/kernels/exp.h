/* exp(x) of vectors for x <= 0, as softmax needs it: within 2 units in the last place, 0 below the smallest
 * normal number, NaN for NaN; the same bits for every instruction set.
 *
 * x = n ln 2 + r, |r| <= ln 2 / 2: exp(x) = 2^n exp(r), exp(r) by its series. */
#ifndef FTB_CPU_EXP_H
#define FTB_CPU_EXP_H

#include "cpu/kernels/lanes.h"

#include <math.h>

#ifdef FTB_REAL64
typedef int64_t word;
typedef uint64_t uword;
#define EXP_LEAST -708.0
#define EXP_MAGIC 0x1.8p52
#define EXP_SHIFT 52
#define EXP_LN2_HIGH 0x1.62e42fefa0000p-1
#define EXP_LN2_LOW 0x1.cf79abc9e3b39p-40
#define EXP_TERMS 12 /* r^13 / 13! < 1.7e-16 */
#else
typedef int32_t word;
typedef uint32_t uword;
#define EXP_LEAST -87.0F
#define EXP_MAGIC 0x1.8p23F
#define EXP_SHIFT 23
#define EXP_LN2_HIGH 0x1.62e4p-1F
#define EXP_LN2_LOW 0x1.7f7d1cp-20F
#define EXP_TERMS 7 /* r^8 / 8! < 5.2e-9 */
#endif
typedef word words __attribute__((vector_size(FTB_VECTOR_BYTES), may_alias));
typedef uword uwords __attribute__((vector_size(FTB_VECTOR_BYTES), may_alias));

/* mask ? x : y, lane by lane; masks are 0 or all ones. */
FTB_INLINE part part_choose(words mask, part x, part y)
{
    return (part)(((words)x & mask) | ((words)y & ~mask));
}

/* 2^n of n + EXP_MAGIC; of a NaN anything, but nothing overflows. */
FTB_INLINE part part_power(part shifted)
{
    return (part)(((uwords)shifted << EXP_SHIFT) + (uwords)((part){0} + 1));
}

FTB_INLINE part part_exp(part x)
{
    static const real term[] = {1,
                                1,
                                (real)(1.0 / 2),
                                (real)(1.0 / 6),
                                (real)(1.0 / 24),
                                (real)(1.0 / 120),
                                (real)(1.0 / 720),
                                (real)(1.0 / 5040),
                                (real)(1.0 / 40320),
                                (real)(1.0 / 362880),
                                (real)(1.0 / 3628800),
                                (real)(1.0 / 39916800),
                                (real)(1.0 / 479001600)};
    words under = (words)(x < (part){0} + EXP_LEAST);
    part cut = part_choose(under, (part){0} + EXP_LEAST, x);
    part shifted = cut * (real)0x1.71547652b82fep+0 + EXP_MAGIC, n = shifted - EXP_MAGIC;
    part r = (cut - n * EXP_LN2_HIGH) - n * EXP_LN2_LOW;
    part p = (part){0} + term[EXP_TERMS];
    for (int t = EXP_TERMS - 1; t >= 0; t--)
        p = p * r + term[t];
    return (part)((words)(p * part_power(shifted)) & ~under);
}

FTB_INLINE lanes lanes_exp(lanes x)
{
    for (int p = 0; p < FTB_PARTS; p++)
        x.at[p] = part_exp(x.at[p]);
    return x;
}

/* The greater; x where y is NaN. */
FTB_INLINE lanes lanes_greater(lanes x, lanes y)
{
    for (int p = 0; p < FTB_PARTS; p++)
        x.at[p] = part_choose((words)(y.at[p] > x.at[p]), y.at[p], x.at[p]);
    return x;
}

FTB_INLINE lanes lanes_subtract(lanes x, lanes y)
{
    for (int p = 0; p < FTB_PARTS; p++)
        x.at[p] -= y.at[p];
    return x;
}

/* The first count of 16 values, and `rest` for the others. */
FTB_INLINE lanes lanes_load_some(const real *x, int64_t count, real rest)
{
    real some[FTB_LANES];
    for (int64_t l = 0; l < FTB_LANES; l++)
        some[l] = l < count ? x[l] : rest;
    return lanes_load(some);
}

FTB_INLINE void lanes_store_some(real *x, lanes v, int64_t count)
{
    real some[FTB_LANES];
    lanes_store(some, v);
    memcpy(x, some, (size_t)count * sizeof *x);
}

/* exp of one value, by the same steps. */
FTB_INLINE real real_exp(real x)
{
    real one[FTB_VECTOR_BYTES / FTB_REAL_SIZE];
    part y = part_exp((part){0} + x);
    memcpy(one, &y, sizeof one);
    return one[0];
}

/* ---- passes over a row's values, sixteen at a time, with a maximum and a sum for each lane of a period
 * (ftb_softmax_period of cpu/kernels/softmax.h) */

FTB_INLINE real combine_two(real x, real y, bool greatest) { return !greatest ? x + y : y > x ? y : x; }

/* Combines the lanes of each head in place, the greatest or the sum: in halves where sixteen lanes hold whole
 * rounds of the heads, else in ascending order. */
FTB_INLINE void combine(real *lane, int64_t lanes_count, int64_t heads, bool greatest)
{
    if (lanes_count == FTB_LANES) {
        for (int64_t half = FTB_LANES / 2; half >= heads; half /= 2)
            for (int64_t l = 0; l < half; l++)
                lane[l] = combine_two(lane[l], lane[l + half], greatest);
    } else {
        for (int64_t l = heads, h = 0; l < lanes_count; l++, h = h + 1 == heads ? 0 : h + 1)
            lane[h] = combine_two(lane[h], lane[l], greatest);
    }
    for (int64_t l = heads; l < lanes_count; l++)
        lane[l] = lane[l - heads];
}

FTB_INLINE void fill(real *lane, int64_t count, real value)
{
    for (int64_t l = 0; l < count; l++)
        lane[l] = value;
}

/* The next vector of a period. */
FTB_INLINE real *next(real *at, real *begin, int64_t period)
{
    return at + FTB_LANES == begin + period * FTB_LANES ? begin : at + FTB_LANES;
}

FTB_INLINE void row_greatest(const real *in, int64_t values, real *most, int64_t period)
{
    real *at = most;
    int64_t x = 0;
    for (; x + FTB_LANES <= values; x += FTB_LANES, at = next(at, most, period))
        lanes_store(at, lanes_greater(lanes_load(at), lanes_load(in + x)));
    if (x < values)
        lanes_store(at, lanes_greater(lanes_load(at), lanes_load_some(in + x, values - x, -INFINITY)));
}

FTB_INLINE void row_exp(real *out, const real *in, int64_t values, real *most, real *sum, int64_t period)
{
    int64_t x = 0, at = 0;
    for (; x + FTB_LANES <= values; x += FTB_LANES) {
        lanes y = lanes_exp(lanes_subtract(lanes_load(in + x), lanes_load(most + at)));
        lanes_store(out + x, y);
        lanes_store(sum + at, lanes_add(lanes_load(sum + at), y));
        at = at + FTB_LANES == period * FTB_LANES ? 0 : at + FTB_LANES;
    }
    if (x < values) {
        lanes y =
            lanes_exp(lanes_subtract(lanes_load_some(in + x, values - x, -INFINITY), lanes_load(most + at)));
        lanes_store_some(out + x, y, values - x);
        lanes_store(sum + at, lanes_add(lanes_load(sum + at), y));
    }
}

#endif
