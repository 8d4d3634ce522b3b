/* Reductions by a monoid: what the verb `reduce` computes. */
#ifndef FTB_REDUCE_PRODUCT_H
#define FTB_REDUCE_PRODUCT_H

#include "core/core.h"
#include "expr/expr.h"

/* x has `nrows` rows of heads x width values, ld apart; of PATTERN and ALL they are entries, packed, of one
 * head. */
typedef enum ftb_reduce_form {
    FTB_REDUCE_PATTERN, /* out(i, :) = over the entries of row i of p */
    FTB_REDUCE_ROWS,    /* out(i, h) = over the values of head h in row i */
    FTB_REDUCE_COLUMNS, /* out(0, f) = over all rows */
    FTB_REDUCE_ALL      /* the same, of entries */
} ftb_reduce_form;

typedef struct ftb_reduce_product {
    FtB_Context ctx;
    ftb_reduce_form what;
    ftb_monoid monoid;
    FtB_Type from;   /* of x; 0: entries have no values, and are 1 */
    FtB_Type domain; /* they are cast to it first */
    FtB_Type type;   /* in which the monoid works */
    FtB_Type result; /* of out. A device is asked where all four are one, of numbers */
    const ftb_pattern *p;
    int64_t nrows, heads, width, ld;
    const void *x;
    void *out;          /* packed */
    bool add;           /* out += instead, with all four types one */
    bool fills;         /* PATTERN: rows without entries get `fill`, unless `add`; else they are left alone */
    double fill;        /* cast to `result` */
    bool interruptible; /* out is scratch: what was begun may be left */
} ftb_reduce_product;

#endif
