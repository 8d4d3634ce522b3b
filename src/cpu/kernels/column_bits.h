/* A bit for each column of a row of up to 64 values. */
#ifndef FTB_COLUMN_BITS_H
#define FTB_COLUMN_BITS_H

#include "core/isa.h"
#include "featblas.h"

#include <stdbool.h>

/* Where x, a row of k values of INT32, INT64 or FP64, is `at`, and where it is not below 0
 * (bits of no column may be either). Returns whether
 * none is above `at`, or NaN. */
FTB_CELLS(bool, ftb_bits_read,
          (const void *x, FtB_Type type, int k, int64_t at, uint64_t *equal, uint64_t *reached))
/* Puts a value of `size` bytes, 4 or 8, where there is a bit. */
FTB_CELLS(void, ftb_bits_write, (void *x, int size, uint64_t bits, const void *value))

#endif
