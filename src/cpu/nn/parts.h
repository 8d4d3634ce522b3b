/* Rows in parts that depend on their number alone, so that the bits of sums do not depend on threads. */
#ifndef FTB_PARTS_H
#define FTB_PARTS_H

#include "core/core.h"

#define FTB_PART_ROWS 256 /* of a partial sum, and */
#define FTB_MOST_PARTS 64 /* more rows than these many parts hold make the parts longer */

static inline int64_t ftb_parts(int64_t nrows)
{
    return ftb_max(1, ftb_min(FTB_MOST_PARTS, (nrows + FTB_PART_ROWS - 1) / FTB_PART_ROWS));
}
/* Part p is the rows from cut p to cut p + 1. */
static inline int64_t ftb_parts_cut(int64_t nrows, int64_t part) { return nrows * part / ftb_parts(nrows); }
/* to, of FP32 or FP64, becomes the values, or has them added. (parts.c) */
void ftb_parts_put(void *to, FtB_Type type, const double *values, int64_t count, bool add);

#endif
