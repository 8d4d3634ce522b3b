/* Random numbers and matrices for tests. The cases are the same in every run, so that a failure is of the
 * change that it shows with; FEATBLAS_SEED=n in the environment tries others, FEATBLAS_SEED=random ever new
 * ones, FEATBLAS_CASES=n as many. The seed is printed once. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include "featblas.h"

typedef struct rng {
    uint64_t state;
} rng;

int rng_cases(int usual);             /* how many random cases a test tries: FEATBLAS_CASES, else `usual` */
rng rng_case(int number);             /* of case `number` alone, from the run's seed */
rng rng_new(void);                    /* from the run's seed; each call begins another stream */
uint64_t rng_bits(rng *r);            /* 64 random bits */
int64_t rng_below(rng *r, int64_t n); /* 0 .. n - 1; n > 0 */
double rng_unit(rng *r);              /* [0, 1) */
FtB_Type rng_type(rng *r);            /* one of the 13 */

/* count small values of any type, exact in all of them: -4 .. 4 (0 .. 8 if unsigned, 0 or 1 if BOOL). */
void rng_values(rng *r, void *values, FtB_Type type, int64_t count);
/* count arbitrary values: any bits, also NaN and infinities; BOOL is 0 or 1. */
void rng_any_values(rng *r, void *values, FtB_Type type, int64_t count);
/* count reals in [-1, 1), rounded to the type. */
void rng_reals(rng *r, void *values, FtB_Type type, int64_t count);
/* A matrix with about density * nrows * ncols distinct entries (some rows stay empty) and small values. */
FtB_Matrix rng_matrix(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width, double density);
/* A block of small values; every other one with a leading dimension. */
FtB_Block rng_block(rng *r, int64_t nrows, int64_t ncols, FtB_Type type);
/* A block with heads, filled by one of the above; most lie in memory that is wider. */
typedef void (*rng_fill)(rng *r, void *values, FtB_Type type, int64_t count);
FtB_Block rng_heads(rng *r, FtB_Type type, int64_t nrows, int64_t heads, int64_t width, rng_fill fill);

#endif
