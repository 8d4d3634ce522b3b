/* sums[c] += sum over t of factor[t] * (nibble c of table row k[t]): rows of small whole numbers.
 *
 * Ratings and their like are a unit times a whole number up to 15, so the products of 512 columns are summed
 * together in 16-bit lanes, which hold 291 terms before they go to 32-bit sums. 512 columns cost a few dozen
 * cycles and 256 bytes per row, where scattering costs 2.5 cycles and three bytes per entry: it wins where a
 * row holds more than a tenth of the hottest 512 columns. Half bytes, since memory is what limits it.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spgemm_bits.h"

#if defined(__AVX512BW__)
#define LANES 32
#define VECTORS 8
#elif defined(__AVX2__)
#define LANES 16
#define VECTORS 4
#else
#define LANES 8
#define VECTORS 4
#endif

#define ROW_BYTES (FTB_BITS_LINE / 2)
#define HALF (FTB_BITS_LINE / 2) /* byte b holds column b below and b + HALF above */
#define PASS (LANES * VECTORS)   /* bytes whose sums are in registers */
#define MOST_TERMS (UINT16_MAX / (FTB_NIBBLE * FTB_NIBBLE))
#define AHEAD 16
#define INLINE static inline __attribute__((always_inline))

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors stay within this file */
typedef uint8_t bytes __attribute__((vector_size(LANES), may_alias));
typedef uint16_t words __attribute__((vector_size(2 * LANES)));

/* sum[b] and sum[b + HALF] += the terms of PASS bytes; n <= MOST_TERMS, and `ahead` more may be fetched. */
INLINE void add_terms(const uint8_t *base, const int32_t *k, const uint8_t *factor, int64_t n, int64_t ahead,
                      uint32_t *sum)
{
    words low[VECTORS] = {0}, high[VECTORS] = {0};
    for (int64_t t = 0; t < n; t++) {
        const uint8_t *row = base + (int64_t)k[t] * ROW_BYTES;
        if (t + AHEAD < n + ahead)
            for (int b = 0; b < PASS; b += 64)
                __builtin_prefetch(base + (int64_t)k[t + AHEAD] * ROW_BYTES + b);
        words scale = (words){0} + (uint16_t)factor[t];
        for (int v = 0; v < VECTORS; v++) {
            words x = __builtin_convertvector(*(const bytes *)(row + v * LANES), words);
            low[v] += (x & 15) * scale;
            high[v] += (x >> 4) * scale;
        }
    }
    uint16_t part[2][PASS];
    memcpy(part[0], low, sizeof part[0]);
    memcpy(part[1], high, sizeof part[1]);
    for (int b = 0; b < PASS; b++) {
        sum[b] += part[0][b];
        sum[b + HALF] += part[1][b];
    }
}

void FTB_CELL(ftb_spgemm_nibbles)(const uint64_t *table, int64_t nrows, int64_t ncolumns, const int32_t *k,
                                  const uint8_t *factor, int64_t n, uint32_t *sums)
{
    for (int64_t v = 0; v < ncolumns / FTB_BITS_LINE; v++) {
        const uint8_t *base = (const uint8_t *)table + v * nrows * ROW_BYTES;
        for (int b = 0; b < ROW_BYTES; b += PASS)
            for (int64_t t = 0; t < n; t += MOST_TERMS) {
                int64_t terms = n - t < MOST_TERMS ? n - t : MOST_TERMS;
                add_terms(base + b, k + t, factor + t, terms, n - t - terms, sums + v * FTB_BITS_LINE + b);
            }
    }
}

void FTB_CELL(ftb_spgemm_cells)(const uint32_t *sums, int64_t n, float unit, float *cells)
{
    for (int64_t c = 0; c < n; c++)
        cells[c] = sums[c] == 0 ? -0.0f : (float)(int32_t)sums[c] * unit;
}

void FTB_CELL(ftb_spgemm_cross_sums)(const float *from, int64_t stride, const uint32_t *column,
                                     uint32_t least, int64_t n, float *cells)
{
    for (int64_t c = 0; c < n; c += FTB_CROSS_TILE)
        for (int64_t t = 0; t < FTB_CROSS_TILE && c + t < n; t++)
            cells[c + t] = column[c + t] < least ? -0.0f : from[c / FTB_CROSS_TILE * stride + t];
}
