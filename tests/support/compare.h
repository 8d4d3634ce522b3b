/* Checks and comparisons of matrices. All of them fail the test with a message that says where. */
#ifndef TESTS_COMPARE_H
#define TESTS_COMPARE_H

#include "featblas.h"

/* Row pointers rise from 0 to nvals; columns are in range and ascend (strictly, unless `multi`). */
void assert_valid(FtB_Matrix A, bool multi);
/* A's pattern, with row pointers of all rows. */
const struct ftb_pattern *all_rows_of(FtB_Matrix A);
/* Same shape, width, dtype, pattern and value bits. */
void assert_same(FtB_Matrix A, FtB_Matrix B);
/* Same shape, width and pattern; values agree to |a - b| <= tolerance * max(1, |a|, |b|), or are both NaN. */
void assert_close(FtB_Matrix A, FtB_Matrix B, double tolerance);
/* Value f of entry (i, j) as a double; 1 for width 0; `absent` where no entry is. Slow. */
double value_at(FtB_Matrix A, int64_t i, int64_t j, int64_t f, double absent);

#endif
