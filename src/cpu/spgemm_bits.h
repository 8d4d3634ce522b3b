/* Counting messages for hot columns: the right operand's most frequent columns as a bit matrix over the
 * inner index, summed by carry-save adders. */
#ifndef FTB_CPU_SPGEMM_BITS_H
#define FTB_CPU_SPGEMM_BITS_H

#include "core/isa.h"

#include <stdint.h>

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

#endif
