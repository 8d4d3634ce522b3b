/* Rows of dense blocks, picked and spread: what the verbs `gather` and `scatter` compute. */
#ifndef FTB_GATHER_PRODUCT_H
#define FTB_GATHER_PRODUCT_H

#include "core/core.h"
#include "expr/expr.h"

/* Y(t,:) = X(rows[t],:) for t < count. X and Y share no bytes. */
typedef struct ftb_gather_product {
    FtB_Context ctx;
    const int64_t *rows; /* the host's, each less than X's number of rows */
    int64_t count, ncols;
    const void *x;
    void *y;
    int64_t ldx, ldy;      /* values from one row to the next, as stored */
    FtB_Type xtype, ytype; /* a device is asked where they are one */
} ftb_gather_product;

/* Y(rows[t],:) = accum(Y(rows[t],:), X(t,:)) for t < count, in this order wherever a row comes again. */
typedef struct ftb_scatter_product {
    FtB_Context ctx;
    const int64_t *rows;         /* the host's, each less than nrows */
    int64_t count, ncols, nrows; /* nrows: of Y */
    const void *x;
    void *y;
    int64_t ldx, ldy;
    FtB_Type xtype, ytype;
    /* How. A device is asked to replace and to add values of one type. */
    enum { FTB_SCATTER_REPLACE, FTB_SCATTER_FOLD, FTB_SCATTER_MAP } how;
    ftb_monoid monoid;         /* FOLD: of values as they are, of one compute type */
    struct ftb_block_map *map; /* MAP: compiled for the host's threads (cpu/block/apply_run.h) */
} ftb_scatter_product;

#endif
