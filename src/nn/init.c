/* Initial values of parameters, by counter: value k of a block depends on the seed and k alone.
 *
 *     uniform: a (2 u - 1)        u: 53 bits of a draw's two words
 *     normal:  a sqrt(-2 ln u) cos(2 pi v), and sin for the second of a pair: Box and Muller, 1958
 *
 * Draw k / 2 has four words, two for each of its two values. All is computed in FP64 and rounded once. */
#include "nn/draws.h"
#include "nn/training/optimizer.h"

#include <math.h>

#define PIECE 4096 /* values, an even number */

/* In [0, 1). */
static double unit(const uint32_t *words)
{
    return (double)((uint64_t)words[1] << 21 ^ words[0] >> 11) * 0x1p-53;
}

static void draw_pair(double pair[2], uint64_t seed, int64_t k, bool normal)
{
    uint32_t words[4];
    ftb_random_words(words, seed, (uint64_t)k / 2, 0);
    double u = unit(words), v = unit(words + 2);
    if (normal) {
        double r = sqrt(-2 * log(1 - u)), angle = 2 * M_PI * v;
        pair[0] = r * cos(angle);
        pair[1] = r * sin(angle);
    } else {
        pair[0] = 2 * u - 1;
        pair[1] = 2 * v - 1;
    }
}

static void put(FtB_Block X, int64_t k, double value)
{
    int64_t at = k / X->ncols * X->ld + k % X->ncols;
    if (X->type == FTB_FP32)
        ((float *)ftb_block_data(X))[at] = (float)value;
    else
        ((double *)ftb_block_data(X))[at] = value;
}

static void draw(FtB_Block X, uint64_t seed, double scale, bool normal)
{
    int64_t count = X->nrows * X->ncols, pieces = (count + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(X->ctx, X->nrows * X->ncols))
    for (int64_t p = 0; p < pieces; p++)
        for (int64_t k = p * PIECE; k < ftb_min(count, (p + 1) * PIECE); k += 2) {
            double pair[2];
            draw_pair(pair, seed, k, normal);
            put(X, k, scale * pair[0]);
            if (k + 1 < count)
                put(X, k + 1, scale * pair[1]);
        }
}

static void fill(FtB_Block X, double value)
{
    for (int64_t k = 0; k < X->nrows * X->ncols; k++)
        put(X, k, value);
}

static GrB_Info check(FtB_Block X, FtB_Init how, const FtB_Init_options *o)
{
    GrB_Info info = FtB_Block_shape(X, NULL, NULL, NULL, NULL, NULL);
    if (info != GrB_SUCCESS)
        return info;
    if (X->type != FTB_FP32 && X->type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "FtB_init: X is %s; expected fp32 or fp64",
                        FtB_Type_name(X->type));
    if (!ftb_buffer_write(X->owner))
        return ftb_fail(GrB_INVALID_VALUE, "FtB_init: X wraps memory that must not be written");
    if (how < FTB_INIT_ZEROS || how > FTB_INIT_KAIMING_NORMAL)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_init: how is %d, which is not an FtB_Init", (int)how);
    if (o->fan_in < 0 || o->fan_out < 0 || !isfinite(o->gain))
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_init: fan_in %lld, fan_out %lld, gain %g; expected numbers >= 0",
                        (long long)o->fan_in, (long long)o->fan_out, o->gain);
    return ftb_buffer_ask(X->owner, FTB_UPDATE);
}

GrB_Info FtB_init(FtB_Block X, FtB_Init how, uint64_t seed, const FtB_Init_options *options)
{
    FtB_Init_options o = {.size = sizeof o};
    GrB_Info info = ftb_options_read(&o, sizeof o, options, "FtB_init", "FTB_INIT_OPTIONS");
    if (info == GrB_SUCCESS)
        info = check(X, how, &o);
    if (info != GrB_SUCCESS)
        return info;
    bool kaiming = how == FTB_INIT_KAIMING_UNIFORM || how == FTB_INIT_KAIMING_NORMAL;
    double in = (double)(o.fan_in ? o.fan_in : X->nrows);
    double out = (double)(o.fan_out ? o.fan_out : X->ncols);
    double gain = o.gain != 0 ? o.gain : kaiming ? sqrt(2) : 1;
    double fan = ftb_max(1, kaiming ? in : in + out); /* of an empty block none is needed */
    switch (how) {
    case FTB_INIT_ZEROS:
        fill(X, 0);
        break;
    case FTB_INIT_ONES:
        fill(X, 1);
        break;
    case FTB_INIT_UNIFORM:
    case FTB_INIT_NORMAL:
        draw(X, seed, gain, how == FTB_INIT_NORMAL);
        break;
    case FTB_INIT_GLOROT_UNIFORM:
    case FTB_INIT_GLOROT_NORMAL:
        draw(X, seed, gain * sqrt((how == FTB_INIT_GLOROT_UNIFORM ? 6 : 2) / fan),
             how == FTB_INIT_GLOROT_NORMAL);
        break;
    case FTB_INIT_KAIMING_UNIFORM:
    case FTB_INIT_KAIMING_NORMAL:
        draw(X, seed, gain * sqrt((how == FTB_INIT_KAIMING_UNIFORM ? 3 : 1) / fan),
             how == FTB_INIT_KAIMING_NORMAL);
        break;
    }
    return GrB_SUCCESS;
}
