/* Values reduced by a monoid: arrays element by element, and messages of one row into it. */
#ifndef FTB_REDUCE_H
#define FTB_REDUCE_H

#include "expr/expr.h"

/* x[f] = m(x[f], y[f]) for f < count; t is a compute type. min and max: NaN loses to every number. */
void ftb_monoid_apply(ftb_monoid m, FtB_Type t, void *x, const void *y, int64_t count);
/* x[f] = monoid over x[f], z[0 * width + f], z[1 * width + f], ... in this order, f < width. fresh: x holds
 * nothing yet (sums begin with +0, the others with the first message). */
typedef void (*ftb_segment)(void *x, const void *z, int64_t count, int64_t width, bool fresh);
ftb_segment ftb_segment_of(ftb_monoid m, FtB_Type reduced);
/* The same for min and max, with the winning entries: first + t of message t. Ties: the smallest. */
void ftb_segment_arg(ftb_monoid m, FtB_Type reduced, void *x, int64_t *arg, const void *z, int64_t count,
                     int64_t width, int64_t first, bool fresh);

#endif
