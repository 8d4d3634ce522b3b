/* What the host and the kernels of picked and spread rows (gather.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_GATHER_LISTS_H
#define FTB_GATHER_LISTS_H

#include "gpu/kernels/row_items.h"

/* Row to[t] of y becomes row from[t] of x, no row of y comes twice; NULL: t. */
typedef struct ftb_gather_arguments {
    ftb_row_items items; /* an item is a unit of bytes */
    const long long *from, *to;
    const void *x;
    void *y;
    long long ldx, ldy; /* units */
} ftb_gather_arguments;

/* Row t of y becomes row from[t], which is row place[from[t]] of `kept`, or, where that is -1, of x, which is
 * memory of the host. */
typedef struct ftb_gather_kept_arguments {
    ftb_row_items items; /* an item is a unit of bytes */
    const long long *from;
    const int *place; /* NULL: none is kept */
    const void *kept, *x;
    void *y;
    long long ldkept, ldx, ldy; /* units */
    unsigned long long *hits;   /* rises by the rows that are kept */
} ftb_gather_kept_arguments;

/* Row rows[s] of y has rows order[k] of x added, cuts[s] <= k < cuts[s + 1], one after the other. cuts NULL:
 * k is s alone; order NULL: it is k. */
typedef struct ftb_scatter_arguments {
    ftb_row_items items; /* an item is `values` of a row, the last may be fewer */
    const long long *rows, *cuts, *order;
    long long ncols, ldx, ldy;
    const void *x;
    void *y;
} ftb_scatter_arguments;

/* Every variant: of gather_<bytes> and gather_kept_<bytes>, X(bytes, type), addresses, distances and lengths
 * of rows are multiples of its unit; of scatter_<type>_<values>, X(type, values), as those of copy
 * (copy_rows.h). */
#define FTB_GATHER(X) X(16, uint4) X(8, uint2) X(4, unsigned) X(2, unsigned short) X(1, unsigned char)
#define FTB_SCATTER(X) X(f32, 4) X(f32, 1) X(f64, 2) X(f64, 1)

#endif
