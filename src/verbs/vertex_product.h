/* Supersteps of vertex programs, beside the products that others have, too: what the verbs `vertex_renew`,
 * `vertex_flags` and `vertex_sums` compute. Flags are bytes, 0 or 1, one for each vertex. */
#ifndef FTB_VERTEX_PRODUCT_H
#define FTB_VERTEX_PRODUCT_H

#include "core/core.h"

/* New values of a field, of its type, beside those that it has: changed(i) = whether a value of row i has
 * other bits (NaN is NaN, whatever its bits), and with `store` those that have are written. Of rows that do
 * not apply nothing is changed. */
typedef struct ftb_vertex_renew_product {
    FtB_Context ctx;
    FtB_Type type; /* no reals of 16 bits */
    int64_t nrows, ncols;
    const void *fresh; /* rows side by side */
    void *state;       /* row i at state + i * ld values; without `store` it is only read */
    int64_t ld;
    const uint8_t *who; /* that apply; NULL: all */
    uint8_t *changed;   /* NULL: not wanted */
    bool more;          /* changed(i) stays where it is */
    bool store;
} ftb_vertex_renew_product;

/* out(i) = with(i), and whether a value of row i of x is not 0, or, with `zeros`, is 0. */
typedef struct ftb_vertex_flags_product {
    FtB_Context ctx;
    int64_t nrows, ncols; /* ncols: of x, rows side by side */
    const uint8_t *x;     /* NULL: all are as is wanted */
    bool zeros;
    const uint8_t *with;    /* NULL: all */
    const int64_t *weights; /* of each; NULL: 0 */
    uint8_t *out;           /* may be `with` */
    int64_t *counts;        /* two: of the flags that are set, and the sum of their weights */
} ftb_vertex_flags_product;

/* sums(b) = the sum of x(b * each) .. x((b + 1) * each - 1), one after the other; the last may be shorter. */
typedef struct ftb_vertex_sums_product {
    FtB_Context ctx;
    int64_t count, each;
    const double *x;
    double *sums; /* (count + each - 1) / each */
} ftb_vertex_sums_product;

#endif
