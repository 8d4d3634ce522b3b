/* counts[c] = sum over t of bit c of table row k[t]: positional population counts.
 *
 * Sixteen rows at a time go through a tree of carry-save adders (Harley and Seal; Mula, Kurz, Lemire,
 * "Faster population counts using AVX2 instructions", Computer Journal 2018) whose carries ripple into
 * bit-sliced counters. 512 columns cost about two cycles per row, where scattering costs 1.4 cycles per
 * entry: it wins where a row holds more than a few of the hottest 512 columns.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spgemm_bits.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define WORDS (FTB_BITS_LINE / 64)
#define SLICES 32
#define AHEAD 32
#define INLINE static inline __attribute__((always_inline))

#pragma GCC diagnostic ignored "-Wpsabi" /* lines are passed between inlined functions only */
typedef uint64_t line __attribute__((vector_size(64)));

/* *low + x + y = low' + 2 carry, bit by bit. */
INLINE line add3(line *low, line x, line y)
{
#ifdef __AVX512F__ /* two instructions; compilers find five */
    __m512i a = (__m512i)*low, b = (__m512i)x, c = (__m512i)y;
    *low = (line)_mm512_ternarylogic_epi64(a, b, c, 0x96);
    return (line)_mm512_ternarylogic_epi64(a, b, c, 0xe8);
#else
    line half = *low ^ x, carry = (*low & x) | (half & y);
    *low = half ^ y;
    return carry;
#endif
}

/* Adds four rows to the counters of weight 1 and 2; the carry has weight 4. */
INLINE line add_rows4(line *s, line a, line b, line c, line d)
{
    line two = add3(&s[0], a, b), more = add3(&s[0], c, d);
    return add3(&s[1], two, more);
}

INLINE void ripple(line *s, int from, int top, line carry)
{
    for (int b = from; b < top; b++) {
        line next = s[b] & carry;
        s[b] ^= carry;
        carry = next;
    }
}

/* Bit-sliced counters of 512 columns to numbers. */
INLINE void unslice(const line *s, int top, uint32_t *counts)
{
    for (int w = 0; w < WORDS; w++)
        for (int half = 0; half < 2; half++) {
            uint32_t sum[32] = {0};
            for (int b = 0; b < top; b++) {
                uint32_t bits = (uint32_t)(s[b][w] >> (32 * half));
                for (uint32_t lane = 0; lane < 32; lane++)
                    sum[lane] |= ((bits >> lane) & 1) << b;
            }
            for (int lane = 0; lane < 32; lane++)
                counts[64 * w + 32 * half + lane] = sum[lane];
        }
}

void FTB_CELL(ftb_spgemm_bits)(const uint64_t *table, int64_t nrows, int64_t ncolumns, const int32_t *k,
                               int64_t n, uint32_t *counts)
{
    int top = 64 - __builtin_clzll((unsigned long long)n | 16); /* counts up to n; at least 5 slices */
    for (int64_t v = 0; v < ncolumns / FTB_BITS_LINE; v++) {
        const line *base = (const line *)(const void *)table + v * nrows;
        line s[SLICES] = {0};
        int64_t t = 0;
#define ROW(at) base[k[at]]
        for (; t + 16 <= n; t += 16) {
            if (t + 16 + AHEAD <= n)
                for (int a = 0; a < 16; a++)
                    __builtin_prefetch(&ROW(t + AHEAD + a));
            line c0 = add_rows4(s, ROW(t), ROW(t + 1), ROW(t + 2), ROW(t + 3));
            line c1 = add_rows4(s, ROW(t + 4), ROW(t + 5), ROW(t + 6), ROW(t + 7));
            line eight0 = add3(&s[2], c0, c1);
            c0 = add_rows4(s, ROW(t + 8), ROW(t + 9), ROW(t + 10), ROW(t + 11));
            c1 = add_rows4(s, ROW(t + 12), ROW(t + 13), ROW(t + 14), ROW(t + 15));
            line eight1 = add3(&s[2], c0, c1);
            ripple(s, 4, top, add3(&s[3], eight0, eight1));
        }
        for (; t < n; t++)
            ripple(s, 0, top, ROW(t));
#undef ROW
        unslice(s, top, counts + v * FTB_BITS_LINE);
    }
}

void FTB_CELL(ftb_spgemm_cross)(const uint16_t *from, const uint32_t *column, uint32_t least, int64_t n,
                                uint32_t *counts)
{
    for (int64_t c = 0; c < n; c++)
        counts[c] = column[c] < least ? 0 : from[c];
}
