/* Sparse vectors as matrices of one column in plain sight, and random outputs, masks, accumulators and
 * descriptors of them (ref_case.h). */
#ifndef TESTS_REF_VECTOR_H
#define TESTS_REF_VECTOR_H

#include "oracle/ref_dense.h"
#include "support/some_vectors.h"

ref_matrix *ref_read_vector(FtB_Vector v, bool row); /* size x 1; row: 1 x size */
/* v has R's places and values; R of one column. `what` is printed where it fails. */
void ref_check_vector(FtB_Vector v, const ref_matrix *R, double tolerance, const char *what);
GrB_Vector ref_export_vector(FtB_Vector v); /* NULL where GraphBLAS has no such */

typedef struct ref_vector_case {
    FtB_Vector C, M; /* M: NULL, or C itself, or another */
    ref_flags flags;
    const ref_op *accum;
    ref_matrix *old, *mask;  /* what C and M were */
    GrB_Vector grb_C, grb_M; /* copies, where GraphBLAS has such; else NULL */
    char what[512];
} ref_vector_case;

/* Arguments of an operation whose result has so many places; C and M have any form inside. */
ref_vector_case ref_vector_case_new(rng *r, int64_t size, int transposes);
/* C must be what the write rule makes of T, a column. Consumes T. */
void ref_vector_case_check(const ref_vector_case *c, ref_matrix *T, double tolerance);
/* C must be what GraphBLAS made of grb_C. */
void ref_vector_case_check_grb(const ref_vector_case *c, double tolerance);
void ref_vector_case_free(ref_vector_case *c);

#endif
