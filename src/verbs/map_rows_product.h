/* Expressions over rows: what the verb `map_rows` computes. */
#ifndef FTB_MAP_ROWS_PRODUCT_H
#define FTB_MAP_ROWS_PRODUCT_H

#include "expr/message.h"

/* y(i,:) = program over rows i of m's feeds, or over the one row that some have for all, head by head; `fold`
 * heads of it are summed into one. Or y, of one row, = the sum of that over all rows. Feeds are as
 * ftb_aggregate_product has them. */
typedef struct ftb_map_rows_product {
    const ftb_message *m;
    const ftb_program *program;
    ftb_side side; /* ROW or COL: of the feeds that have rows */
    int64_t nrows, fold;
    bool sum;
    FtB_Type type; /* of y: FP32 or FP64; or any, without fold, sum and add */
    int64_t ncols;
    void *y; /* may be a feed, row for row */
    int64_t ldy;
    bool add;             /* to y */
    ftb_pattern *present; /* its rows without entries become 0, with `add` they stay; NULL: all have
                             some. No sums */
} ftb_map_rows_product;

#endif
