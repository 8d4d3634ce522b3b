/* Bounds of what expressions give, to know whether whole numbers may leave their 64 bits. */
#ifndef FTB_EXPR_RANGE_H
#define FTB_EXPR_RANGE_H

#include "expr/expr.h"

/* Bounds of values, both inclusive; reals are not followed and lie anywhere. */
typedef struct ftb_range {
    double least, most;
} ftb_range;
ftb_range ftb_range_of(const void *values, FtB_Type type, int64_t count);
bool ftb_range_fits(ftb_range x, FtB_Type type);
/* results[0]: of all values of a result, results[1 + f]: of value f < count, given the ranges of the
 * whole-numbered among the program's names; *wraps: whole numbers on the way may leave their 64 bits. */
GrB_Info ftb_program_range(const ftb_program *p, const ftb_range *names, int64_t count, ftb_range *results,
                           bool *wraps);

#endif
