/* cells[c] += values[code[t]][half byte c of table row k[t]], row by row: tabulated messages of 512 columns
 * at once.
 *
 * Of an operand with up to 15 distinct values, the messages of one left entry are 16 floats, which a
 * permutation looks up for a whole vector of columns: about a tenth of a cycle per column, where scattering
 * costs 3.5 per entry. It wins where a row holds more than a tenth of the hottest 512 columns (AVX2: a
 * quarter; there is no such instruction below). Cells get the same sums in the same order as scattered ones:
 * a column that the row lacks adds -0.0, which changes nothing.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spgemm_bits.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#define HALF (FTB_BITS_LINE / 2) /* bytes of a line; byte b holds column b below and b + HALF above */
#define AHEAD 16
#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
/* low[c] and high[c] += the messages of 16 bytes. */
INLINE void add_bytes(const uint8_t *row, __m512 values, float *low, float *high)
{
    __m512i at =
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)row)); /* 4 bits of each are looked at */
    __m512 x = _mm512_permutexvar_ps(at, values), y = _mm512_permutexvar_ps(_mm512_srli_epi32(at, 4), values);
    _mm512_storeu_ps(low, _mm512_add_ps(_mm512_loadu_ps(low), x));
    _mm512_storeu_ps(high, _mm512_add_ps(_mm512_loadu_ps(high), y));
}

INLINE void add_row(const uint8_t *row, const float *values, float *cells)
{
    __m512 table = _mm512_loadu_ps(values);
    for (int b = 0; b < HALF; b += 16)
        add_bytes(row + b, table, cells + b, cells + HALF + b);
}
#elif defined(__AVX2__)
/* values[bits 0 to 3 of each `at`]: from the first or the last 8 by bit 3. */
INLINE __m256 look_up(__m256i at, __m256 first, __m256 last)
{
    __m256 x = _mm256_permutevar8x32_ps(first, at), y = _mm256_permutevar8x32_ps(last, at);
    return _mm256_blendv_ps(x, y, _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
}

INLINE void add_row(const uint8_t *row, const float *values, float *cells)
{
    __m256 first = _mm256_loadu_ps(values), last = _mm256_loadu_ps(values + 8);
    for (int b = 0; b < HALF; b += 8) {
        float *low = cells + b, *high = low + HALF;
        __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(row + b)));
        _mm256_storeu_ps(low, _mm256_add_ps(_mm256_loadu_ps(low), look_up(at, first, last)));
        at = _mm256_srli_epi32(at, 4);
        _mm256_storeu_ps(high, _mm256_add_ps(_mm256_loadu_ps(high), look_up(at, first, last)));
    }
}
#else
INLINE void add_row(const uint8_t *row, const float *values, float *cells)
{
    for (int b = 0; b < HALF; b++) {
        cells[b] += values[row[b] & 15];
        cells[b + HALF] += values[row[b] >> 4];
    }
}
#endif

void FTB_CELL(ftb_spgemm_lookup)(const uint64_t *table, int64_t nrows, int64_t ncolumns, const int32_t *k,
                                 const uint8_t *code, int64_t n, const float (*values)[16], float *cells)
{
    for (int64_t v = 0; v < ncolumns / FTB_BITS_LINE; v++) {
        const uint8_t *base = (const uint8_t *)table + v * nrows * HALF;
        for (int64_t t = 0; t < n; t++) {
            if (t + AHEAD < n)
                for (int b = 0; b < HALF; b += 64)
                    __builtin_prefetch(base + (int64_t)k[t + AHEAD] * HALF + b);
            add_row(base + (int64_t)k[t] * HALF, values[code[t]], cells + v * FTB_BITS_LINE);
        }
    }
}
