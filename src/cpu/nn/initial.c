/* Initial values by counter (initial.h).
 *
 *     uniform: a (2 u - 1)        u: 53 bits of a draw's two words
 *     normal:  a sqrt(-2 ln u) cos(2 pi v), and sin for the second of a pair: Box and Muller, 1958
 *
 * Draw k / 2 has four words, two for each of its two values. All is computed in FP64 and rounded once. */
#include "cpu/nn/initial.h"

#include "core/draws.h"

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

void ftb_initial_draw(FtB_Block X, uint64_t seed, double scale, bool normal)
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

void ftb_initial_fill(FtB_Block X, double value)
{
    for (int64_t k = 0; k < X->nrows * X->ncols; k++)
        put(X, k, value);
}
