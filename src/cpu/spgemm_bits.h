/* Counting messages for hot columns: the right operand's most frequent columns as a bit matrix over the
 * inner index, summed by carry-save adders. */
#ifndef FTB_CPU_SPGEMM_BITS_H
#define FTB_CPU_SPGEMM_BITS_H

#include "core/isa.h"

#include <stdint.h>

#define FTB_BITS_LINE 512 /* columns that are summed together: one cache line of each row */

/* counts[c] = number of t < n whose table row k[t] has bit c set, c < ncolumns (a multiple of
 * FTB_BITS_LINE); a row is ncolumns / 64 words, aligned to 64 bytes. n < 2^31. */
FTB_CELLS(void, ftb_spgemm_bits,
          (const uint64_t *table, int64_t ncolumns, const int32_t *k, int64_t n, uint32_t *counts))

#endif
