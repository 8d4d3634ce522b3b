/* Expressions over rows: what the verb `map_rows` computes. */
#ifndef FTB_MAP_ROWS_PRODUCT_H
#define FTB_MAP_ROWS_PRODUCT_H

#include "expr/message.h"

/* y(i,:) = program over rows i of m's feeds, or over the one row that some have for all, head by head; `fold`
 * heads of it are summed into one. Or y, of one row, = the sum of that over all rows. */
typedef struct ftb_map_rows_product {
    const ftb_message *m;
    const ftb_program *program;
    int64_t nrows, fold;
    bool sum;
    FtB_Type type; /* of y: FP32 or FP64 */
    int64_t ncols;
    void *y; /* may be a feed, row for row */
    int64_t ldy;
    bool add; /* to y */
} ftb_map_rows_product;

#endif
