/* Sums over rows, column by column, on which the host (gpu/columns.h) and kernels (columns.cuh) agree. Read
 * by C, nvcc and NVRTC. */
#ifndef FTB_COLUMN_PARTS_H
#define FTB_COLUMN_PARTS_H

/* Rows are cut into parts of about equal size, whose sums go to `partial`, and are added in the order of a
 * tree. A block has 2^lanes threads side by side, the others are further rows; a grid is a line: `tiles`
 * blocks side by side, then, of the first pass, the next part. The shape depends on the numbers of rows and
 * columns alone, and so do the bits. */
typedef struct ftb_column_parts {
    long long nrows, ncols;
    double *partial; /* sum k of part p and column f at partial + (p * sums + k) * ncols + f */
    int lanes, parts;
    unsigned tiles;
} ftb_column_parts;

enum {
    FTB_COLUMN_PARTS_BLOCK = 256,
    FTB_COLUMN_PARTS_ROWS = 4,   /* that a thread of the first pass has before there is another part, */
    FTB_COLUMN_PARTS_MOST = 256, /* and parts at most: enough for any GPU's multiprocessors */
};

#endif
