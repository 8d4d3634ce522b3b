/* Random outputs, masks, accumulators and descriptors, and what an operation must have made of them. */
#ifndef TESTS_REF_CASE_H
#define TESTS_REF_CASE_H

#include "oracle/ref_dense.h"
#include "support/rng.h"

typedef struct ref_case {
    FtB_Matrix C, M; /* M: NULL, or C itself, or another */
    ref_flags flags;
    const ref_op *accum;
    ref_matrix *old, *mask;  /* what C and M were */
    GrB_Matrix grb_C, grb_M; /* copies, where GraphBLAS has such matrices and accumulators; else NULL */
    char what[512];
} ref_case;

/* Arguments for an operation whose result has this shape and width. transposes: how many inputs may be. */
ref_case ref_case_new(rng *r, int64_t nrows, int64_t ncols, int64_t width, int transposes);
/* C must be what the write rule makes of T. Consumes T. */
void ref_case_check(const ref_case *c, ref_matrix *T, double tolerance);
/* C must be what GraphBLAS made of grb_C. */
void ref_case_check_grb(const ref_case *c, double tolerance);
void ref_case_free(ref_case *c);

int64_t ref_dimension(rng *r); /* 0, 1, or a few; now and then enough for more than one batch and thread */
FtB_Type ref_grb_type(rng *r); /* one of GraphBLAS's 11 */

#endif
