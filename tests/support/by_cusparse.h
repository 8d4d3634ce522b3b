/* What tests of products by the made-up cuSPARSE (fake_cuda/fake_cusparse.c) share. */
#ifndef SUPPORT_BY_CUSPARSE_H
#define SUPPORT_BY_CUSPARSE_H

#include "gpu/context.h"
#include "support/rng.h"

enum { ROWS = 40, COLS = 30, KEPT = 16, OF_A_PRODUCT = 3 };

/* Products that it made, those that were prepared, and its objects that are there. */
extern struct by_cusparse_counts {
    int (*made)(void), (*prepared)(void), (*live)(void);
} by_cusparse;

/* Multiplies and checks the result: what sums from the last to the first give, or else within a bound. */
typedef void by_cusparse_multiply(const void *product, bool backwards);

int by_cusparse_start(void **state);
ftb_gpu_device *by_cusparse_device(void);
/* Reals in rows that are `gap` apart. */
FtB_Block by_cusparse_block(rng *r, int64_t nrows, int64_t ncols, int64_t gap);
/* That cuSPARSE makes the product, or does not. */
void by_cusparse_is(by_cusparse_multiply *multiply, const void *product, bool cusparse);
/* That all which is kept goes where memory is wanted. */
void by_cusparse_gives_way(void);
/* That what was measured of a product is of this GPU, and goes through a file. */
void by_cusparse_remembered(by_cusparse_multiply *multiply, const void *product);

#endif
