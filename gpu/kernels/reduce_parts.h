/* What the host and the kernels of sums (reduce.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_REDUCE_PARTS_H
#define FTB_REDUCE_PARTS_H

#include "gpu/kernels/column_parts.h"
#include "gpu/kernels/entry_sums.h"

typedef struct ftb_reduce_arguments {
    ftb_column_parts parts; /* COLUMNS */
    ftb_entry_sums entries; /* PATTERN: x are packed rows of values */
    const void *x;          /* row i at x + i * ld */
    void *out;              /* packed */
    long long ld, nrows;    /* nrows: ROWS */
    int heads, width;       /* ROWS: values of a head */
    int add;                /* not 0: sums are added to what out has */
    double fill;            /* PATTERN: of rows without entries */
} ftb_reduce_arguments;

/* X(type): f32, f64. COLUMNS: reduce_<type>_columns and _join, as columns.cuh has them. ROWS:
 * reduce_<type>_rows, FTB_REDUCE_LANES lanes a row's head. PATTERN: reduce_<type>_pattern and _cut, as
 * entry_sums.cuh has them. */
#define FTB_REDUCE(X) X(f32) X(f64)
enum { FTB_REDUCE_BLOCK = 128, FTB_REDUCE_LANES = 8 };

#endif
