/* What the host and the kernels of sums of outer products (outer.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_OUTER_SUMS_H
#define FTB_OUTER_SUMS_H

#include "gpu/kernels/column_parts.h"

typedef struct ftb_outer_arguments {
    ftb_column_parts parts; /* of items, and of cells of the sum */
    const void *l, *r;      /* packed rows of a and of b values */
    double *sum;            /* packed, a x b */
    long long b;
    int add; /* not 0: to what is there */
} ftb_outer_arguments;

/* X(l, r), outer_<l>_<r>: the first pass, as columns.cuh has it; none: there is no l, and a is 1. The second
 * is outer_join. */
#define FTB_OUTER_OF(X, r) X(none, r) X(f32, r) X(f64, r)
#define FTB_OUTER(X) FTB_OUTER_OF(X, f32) FTB_OUTER_OF(X, f64)

#endif
