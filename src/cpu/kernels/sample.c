/* Draws of sampling, sixteen at a time.
 *
 * Uniform picks without replacement are Floyd's: draw t is one of the first degree - k + t + 1 positions, and
 * stands for the last of these where it was picked before. Sixteen rows go side by side, a lane each: k^2 / 2
 * comparisons of vectors in place of a set per row, and as many steps to sort them. Bentley and Floyd,
 * "A sample of brilliance", CACM 30(9), 1987.
 *
 * Cells: instruction sets */
#include "cpu/kernels/sample_kernels.h"

#include "core/draws.h"
#include "cpu/kernels/philox.h"
#include "expr/real.h"

#define LANES FTB_PICK_ROWS
_Static_assert(LANES == FTB_PHILOX_LANES, "a lane is a row");

/* Block `block` of the draws of sixteen vertices. */
static inline void vertex_words(uint32_t words[4][LANES], const ftb_pick_rows *rows, uint64_t block)
{
    uint32_t key[2][LANES];
    for (int r = 0; r < LANES; r++) {
        const uint64_t stream = rows->stream[r] | block << 32;
        words[0][r] = (uint32_t)rows->vertex[r];
        words[1][r] = (uint32_t)(rows->vertex[r] >> 32);
        words[2][r] = (uint32_t)stream;
        words[3][r] = (uint32_t)(stream >> 32);
        key[0][r] = (uint32_t)rows->seed[r];
        key[1][r] = (uint32_t)(rows->seed[r] >> 32);
    }
    ftb_philox_lanes(words, key);
}

/* place[r] = ftb_draw_below(n[r], ..., d), of which word[r] has the higher bits. */
static inline void draw_below(uint32_t *restrict place, const uint32_t *restrict n, const uint32_t *word,
                              const ftb_pick_rows *rows, int64_t d)
{
    uint32_t carries = 0;
    for (int r = 0; r < LANES; r++) {
        uint64_t product = (uint64_t)word[r] * n[r];
        place[r] = (uint32_t)(product >> 32);
        carries |= (uint32_t)product > UINT32_MAX - n[r];
    }
    if (carries)
        for (int r = 0; r < LANES; r++)
            place[r] =
                (uint32_t)ftb_draw_below(n[r], rows->seed[r], rows->vertex[r], rows->stream[r], (uint64_t)d);
}

void FTB_CELL(ftb_pick_uniform)(int32_t *at, const ftb_pick_rows *rows, int64_t k, bool replace)
{
    uint32_t words[4][LANES], n[LANES], place[LANES];
    for (int64_t t = 0; t < k; t++) {
        if (t % 4 == 0)
            vertex_words(words, rows, (uint64_t)t / 4);
        const uint32_t left = replace ? 0 : (uint32_t)(k - t - 1); /* draws that are still to come */
        for (int r = 0; r < LANES; r++)
            n[r] = rows->degree[r] > left ? rows->degree[r] - left : 1;
        draw_below(place, n, words[t % 4], rows, t);
        int32_t *to = at + t * LANES;
        for (int64_t s = 0; s < t && !replace; s++) {
            const int32_t *was = at + s * LANES;
            for (int r = 0; r < LANES; r++)
                n[r] |= was[r] == (int32_t)place[r] ? UINT32_C(1) << 31 : 0;
        }
        for (int r = 0; r < LANES; r++)
            to[r] = n[r] >> 31 ? (int32_t)(n[r] & INT32_MAX) - 1 : (int32_t)place[r];
    }
    for (int64_t t = 1; t < k; t++)
        for (int64_t s = t; s > 0; s--) {
            int32_t *low = at + (s - 1) * LANES, *high = at + s * LANES;
            for (int r = 0; r < LANES; r++) {
                int32_t a = low[r], b = high[r];
                low[r] = a < b ? a : b;
                high[r] = a < b ? b : a;
            }
        }
}

void FTB_CELL(ftb_pick_places)(uint32_t *place, uint32_t *fraction, const ftb_pick_rows *rows, uint64_t block)
{
    uint32_t high[4][LANES], low[4][LANES];
    vertex_words(high, rows, block);
    vertex_words(low, rows, block | UINT64_C(1) << FTB_DRAW_BLOCK_BITS);
    for (int d = 0; d < 4; d++)
        for (int r = 0; r < LANES; r++) {
            const uint64_t n = rows->degree[r], product = high[d][r] * n + (low[d][r] * n >> 32);
            place[d * LANES + r] = (uint32_t)(product >> 32);
            fraction[d * LANES + r] = (uint32_t)product;
        }
}

void FTB_CELL(ftb_draw_words)(uint32_t *word, uint64_t seed, uint64_t vertex, uint64_t stream, int64_t first,
                              int64_t count)
{
    uint32_t words[4][LANES], key[2][LANES];
    for (int64_t t = 0; t < count; t += 4 * LANES) {
        const uint64_t block = (uint64_t)(first + t) / 4;
        for (int l = 0; l < LANES; l++) {
            const uint64_t mine = block + (uint64_t)l, beyond = mine >> FTB_DRAW_BLOCK_BITS;
            uint64_t with = seed, half = stream | (mine & ((UINT64_C(1) << FTB_DRAW_BLOCK_BITS) - 1)) << 32;
            if (beyond)
                with = ftb_random_mix(seed, beyond, FTB_DRAW_BLOCKS);
            words[0][l] = (uint32_t)vertex;
            words[1][l] = (uint32_t)(vertex >> 32);
            words[2][l] = (uint32_t)half;
            words[3][l] = (uint32_t)(half >> 32);
            key[0][l] = (uint32_t)with;
            key[1][l] = (uint32_t)(with >> 32);
        }
        ftb_philox_lanes(words, key);
        for (int64_t d = 0; d < 4 * LANES && t + d < count; d++)
            word[t + d] = words[d % 4][d / 4];
    }
}

void FTB_CELL(ftb_draw_vertices)(uint32_t *word, uint64_t seed, const int64_t *vertex, uint64_t stream)
{
    uint32_t words[4][LANES];
    ftb_pick_rows rows;
    for (int l = 0; l < LANES; l++) {
        rows.vertex[l] = (uint64_t)vertex[l];
        rows.seed[l] = seed;
        rows.stream[l] = stream;
    }
    vertex_words(words, &rows, 0);
    for (int l = 0; l < LANES; l++)
        word[l] = words[0][l];
}

void FTB_CELL(ftb_draw_keys)(double *key, const uint32_t *word, const double *weight, int64_t count)
{
    for (int64_t t = 0; t < count; t++)
        key[t] = weight[t] > 0 ? -ftb_log_core(((double)word[t] + 0.5) * 0x1p-32) / weight[t] : (double)NAN;
}
