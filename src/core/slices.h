/* Destination slices: a pattern's entries, regrouped by slices of consecutive rows, whose results stay in L1,
 * and ordered by column within a slice: sources are read in order, once a slice. It is the path of edges
 * through Graphicionado (Ham et al., MICRO 2016), where a scratchpad holds the slice.
 *
 * An entry is a word of 32 bits, (column within its block) << 13 | (row within its slice); a block is what a
 * slice has of 2^19 consecutive columns. There is no loop over rows or columns whose end would have to be
 * foreseen, and half of CSR's bytes are not there. Entries of a row stay in their order. Built in parallel,
 * kept with the pattern. */
#ifndef FTB_SLICES_H
#define FTB_SLICES_H

#include "core/core.h"

#define FTB_SLICE_BITS 13
#define FTB_SLICE_ROWS (1 << FTB_SLICE_BITS)           /* at most */
#define FTB_SLICE_COLUMNS (1 << (32 - FTB_SLICE_BITS)) /* of a block */

typedef struct ftb_slices {
    int64_t count;        /* slices */
    const int64_t *row;   /* count + 1: the first row of each */
    const int64_t *block; /* count + 1: the first block of each */
    const int64_t
        *start; /* of each block, and one more: its first word; blocks at a slice's end may be empty */
    const int64_t *high;  /* of each block: its first column / FTB_SLICE_COLUMNS */
    const uint32_t *word; /* nvals; a slice's begin at rowptr[row] */
} ftb_slices;

/* The slices of p, made on first use; they live as long as p. */
GrB_Info ftb_slices_get(ftb_slices *slices, ftb_pattern *p);
bool ftb_slices_there(ftb_pattern *p); /* whether they are made */
/* Bytes that they take, at most; and those that are held beside while they are made by so many threads, if no
 * row has more than `longest` entries. */
int64_t ftb_slices_bytes(int64_t nrows, int64_t ncols, int64_t nvals);
int64_t ftb_slices_scratch(int64_t nvals, int64_t longest, int threads);

#endif
