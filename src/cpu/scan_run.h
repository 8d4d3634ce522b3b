/* What a plan wants to know of the host's values. */
#ifndef FTB_SCAN_RUN_H
#define FTB_SCAN_RUN_H

#include "expr/range.h"

/* ftb_range_of, by several threads. */
ftb_range ftb_scan_range(const void *values, FtB_Type type, int64_t count, int threads);
/* The largest magnitude, as FP64; NaN has none. */
double ftb_scan_magnitude(const void *values, FtB_Type type, int64_t count, int threads);

#endif
