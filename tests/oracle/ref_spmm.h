/* Sparse x block by the book: one loop over rows, features and entries, in double. */
#ifndef TESTS_REF_SPMM_H
#define TESTS_REF_SPMM_H

#include "featblas.h"

typedef struct ref_spmm_case {
    const char *text;    /* "plus : edge * src"; dst is bound */
    const char *reducer; /* plus, times, min, max, mean */
    double (*message)(double src, double edge, double dst);
} ref_spmm_case;
extern const ref_spmm_case ref_spmm_cases[];
extern const int ref_spmm_count;

/* How the result is written. */
typedef struct ref_spmm_write {
    FtB_Block mask;                            /* n x 1, or NULL */
    bool structural, complement, replace, add; /* add: accum is plus */
    double fill;
} ref_spmm_write;

/* out(i, f) for i < rows of A (or A'), f < heads x width: `old` written over. winner (or NULL): the winning
 * entry of A (A'), -1 for none. */
void ref_spmm(double *out, int64_t *winner, const ref_spmm_case *c, FtB_Matrix A, bool transpose, FtB_Block X,
              FtB_Block D, int64_t heads, const ref_spmm_write *write, const double *old);

#endif
