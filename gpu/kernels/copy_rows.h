/* What the host and the kernels of copied rows (copy.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_COPY_ROWS_H
#define FTB_COPY_ROWS_H

#include "gpu/kernels/row_items.h"

typedef struct ftb_copy_arguments {
    ftb_row_items items; /* an item is `values` of a row, the last may be fewer */
    long long ncols, ldx, ldy;
    const void *x; /* PUT, ADD: row i at x + i * ldx; ldx 0: one row for all */
    void *y;
    double value; /* FILL */
} ftb_copy_arguments;

/* Every variant, X(type, what, values), called copy_<type>_<what>_<values>: for more than one value, x and y
 * and the distances of their rows are multiples of 16 bytes. */
#define FTB_COPY_WHATS(X, type, values) X(type, PUT, values) X(type, ADD, values) X(type, FILL, values)
#define FTB_COPY(X)                                                                                          \
    FTB_COPY_WHATS(X, f32, 4)                                                                                \
    FTB_COPY_WHATS(X, f32, 1)                                                                                \
    FTB_COPY_WHATS(X, f64, 2)                                                                                \
    FTB_COPY_WHATS(X, f64, 1)

/* copy_turned_<bytes>, X(bytes, word): y(i, j) = x(j, i), of any type of as many. A block has a tile of 32 x
 * 32 values; `tiles`: those side by side in a row of y. */
typedef struct ftb_copy_turned_arguments {
    const void *x;
    void *y;
    long long nrows, ncols, ldx, ldy; /* of y */
    unsigned tiles;
} ftb_copy_turned_arguments;
enum { FTB_COPY_TILE = 32, FTB_COPY_TURNED_BLOCK = 256 };
#define FTB_COPY_TURNED(X) X(8, unsigned long long) X(4, unsigned) X(2, unsigned short) X(1, unsigned char)

#endif
