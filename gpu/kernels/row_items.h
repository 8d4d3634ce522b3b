/* How the threads of a grid share out rows of items, on which the host (gpu/items.h) and kernels (items.cuh)
 * agree. Read by C, nvcc and NVRTC. */
#ifndef FTB_ROW_ITEMS_H
#define FTB_ROW_ITEMS_H

/* An item is what one thread does: a value, a vector of them. A block has 2^lanes threads side by side in
 * each of its rows, and the grid is a line: `tiles` blocks side by side, then the next rows. */
typedef struct ftb_row_items {
    long long nrows, width; /* items of a row */
    int lanes;
    unsigned tiles;
} ftb_row_items;

enum { FTB_ROW_ITEMS_BLOCK = 256 };

#endif
