/* Hot columns: the right operand's most frequent columns as a matrix over the inner index, of bits for
 * counting messages, summed by carry-save adders, of half bytes for products of small whole factors and for
 * tabulated messages. */
#ifndef FTB_CPU_SPGEMM_BITS_H
#define FTB_CPU_SPGEMM_BITS_H

#include "core/isa.h"

#include <stdint.h>
#include <string.h>

#define FTB_BITS_LINE 512 /* columns that are summed together: one cache line of each row */

/* counts[c] = number of t < n whose table row k[t] has bit c set, c < ncolumns (a multiple of
 * FTB_BITS_LINE). The table, aligned to 64 bytes, is [line of columns][nrows][FTB_BITS_LINE bits]. n < 2^31.
 */
FTB_CELLS(void, ftb_spgemm_bits,
          (const uint64_t *table, int64_t nrows, int64_t ncolumns, const int32_t *k, int64_t n,
           uint32_t *counts))

/* counts[c] = from[c] where column[c] is at least `least`, else 0. */
FTB_CELLS(void, ftb_spgemm_cross,
          (const uint16_t *from, const uint32_t *column, uint32_t least, int64_t n, uint32_t *counts))

#define FTB_NIBBLE 15 /* the largest factor */

/* sums[c] += sum over t < n of factor[t] * (the half byte of column c in table row k[t]), c < ncolumns (a
 * multiple of FTB_BITS_LINE). Factors are at most FTB_NIBBLE. The table, aligned to 64 bytes, is
 * [line of columns][nrows][FTB_BITS_LINE / 2 bytes]; byte b of a line holds column b in its lower half and
 * column FTB_BITS_LINE / 2 + b in its upper. */
FTB_CELLS(void, ftb_spgemm_nibbles,
          (const uint64_t *table, int64_t nrows, int64_t ncolumns, const int32_t *k, const uint8_t *factor,
           int64_t n, uint32_t *sums))

/* cells[c] = unit * sums[c], or -0.0 where that is zero; sums are below 2^31. In place if need be. */
FTB_CELLS(void, ftb_spgemm_cells, (const uint32_t *sums, int64_t n, float unit, float *cells))

/* cells[c] += values[code[t]][the half byte of column c in table row k[t]] for t = 0, 1, ... n - 1, in this
 * order. The table is as above, of codes of the right operand's values from 1; values[][0] is -0.0. */
FTB_CELLS(void, ftb_spgemm_lookup,
          (const uint64_t *table, int64_t nrows, int64_t ncolumns, const int32_t *k, const uint8_t *code,
           int64_t n, const float (*values)[16], float *cells))

#define FTB_CROSS_TILE 16 /* floats of a cache line */

/* cells[c] = from[c / FTB_CROSS_TILE * stride + c % FTB_CROSS_TILE] where column[c] is at least `least`, else
 * -0.0. */
FTB_CELLS(void, ftb_spgemm_cross_sums,
          (const float *from, int64_t stride, const uint32_t *column, uint32_t least, int64_t n,
           float *cells))

#endif
