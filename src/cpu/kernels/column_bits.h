/* A bit for each column of a row of up to 64 values. */
#ifndef FTB_COLUMN_BITS_H
#define FTB_COLUMN_BITS_H

#include "core/core.h"
#include "core/isa.h"

/* Where x, a row of k values of INT32, INT64 or FP64, is `at`, and where it is not below 0
 * (bits of no column may be either). Returns whether
 * none is above `at`, or NaN. */
FTB_CELLS(bool, ftb_bits_read,
          (const void *x, FtB_Type type, int k, int64_t at, uint64_t *equal, uint64_t *reached))
/* Puts a value of `size` bytes, 4 or 8, where there is a bit. */
FTB_CELLS(void, ftb_bits_write, (void *x, int size, uint64_t bits, const void *value))

/* Searches whose rows are written once, from a log: of each vertex and column a number of FTB_BITS_DIGITS
 * binary digits, of which each is a word. 0: not reached; 1: it sent when the log began; then the superstep
 * that reached it, from 2 on. */
enum { FTB_BITS_DIGITS = 4, FTB_BITS_NUMBERS = 1 << FTB_BITS_DIGITS };
typedef struct ftb_bits_number {
    uint64_t digit[FTB_BITS_DIGITS];
} ftb_bits_number;

typedef struct ftb_bits_rows {
    const ftb_bits_number *log;
    uint64_t all; /* a bit for each column */
    bool blank; /* rows are not written yet: -1 where nothing is known, of number 1 the vertex is its parent;
                   else only numbers from 2 on are written */
    bool aside; /* rows go to memory, past the caches */
    void *levels;
    int size; /* bytes of a level: 4 or 8 */
    int64_t ld;
    _Alignas(64) union {
        int32_t few[FTB_BITS_NUMBERS];
        int64_t wide[FTB_BITS_NUMBERS]; /* or FP64 */
    } level;                            /* of each number */
    int64_t *parents, ldp;              /* the least neighbour of the number before; NULL: not wanted */
    const ftb_pattern *p;               /* whose rows are receivers */
} ftb_bits_rows;

/* Rows begin .. end - 1. (bits_rows.c) */
FTB_CELLS(void, ftb_bits_rows_write, (const ftb_bits_rows *x, int64_t begin, int64_t end))

#endif
