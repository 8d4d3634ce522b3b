/* What the host and the kernels of sums (reduce.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_REDUCE_PARTS_H
#define FTB_REDUCE_PARTS_H

#include "gpu/kernels/column_parts.h"
#include "gpu/kernels/spmm_direct.h" /* pieces of rows, and those that were cut */

typedef struct ftb_reduce_arguments {
    ftb_column_parts parts;       /* COLUMNS */
    const void *x;                /* row i at x + i * ld */
    void *out;                    /* packed */
    double *partial;              /* PATTERN: of slots of pieces, packed */
    long long ld, nrows, npieces; /* nrows: ROWS */
    const ftb_spmm_piece *pieces; /* PATTERN: of rows whose entries are packed rows of `width` values */
    int heads, width;             /* ROWS: values of a head; PATTERN: of an entry */
    int add;                      /* not 0: sums are added to what out has */
    double fill;                  /* PATTERN: of rows without entries */
} ftb_reduce_arguments;

/* X(type): f32, f64. COLUMNS: reduce_<type>_columns and _join, as columns.cuh has them. ROWS:
 * reduce_<type>_rows, FTB_REDUCE_LANES lanes a row's head. PATTERN: reduce_<type>_pattern, a warp a piece
 * and, in y of the grid, 32 values; reduce_<type>_cut(arguments, cuts) for rows that were cut, of (values /
 * threads, cuts) blocks. */
#define FTB_REDUCE(X) X(f32) X(f64)
enum { FTB_REDUCE_BLOCK = 128, FTB_REDUCE_LANES = 8 };

#endif
