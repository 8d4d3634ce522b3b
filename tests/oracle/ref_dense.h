/* Sparse matrices as plain dense arrays with presence flags, and numbers that never overflow: what the
 * oracles compute on. Slow and obvious. */
#ifndef TESTS_REF_DENSE_H
#define TESTS_REF_DENSE_H

#include "featblas.h"

typedef struct ref_number {
    bool real;        /* which of the two is meant */
    __int128 integer; /* wide enough for every intermediate of the tests */
    double number;
} ref_number;

ref_number ref_integer(int64_t x);
ref_number ref_real(double x);
double ref_double(ref_number x);
bool ref_true(ref_number x);
/* x as a value of `type`: integers wrap, reals saturate, NaN gives 0, anything but 0 is true. */
ref_number ref_cast(ref_number x, FtB_Type type);
/* Real if one of the operands is; `/` always. */
ref_number ref_add(ref_number x, ref_number y);
ref_number ref_subtract(ref_number x, ref_number y);
ref_number ref_multiply(ref_number x, ref_number y);
ref_number ref_divide(ref_number x, ref_number y);
ref_number ref_least(ref_number x, ref_number y); /* NaN loses to every number */
ref_number ref_greatest(ref_number x, ref_number y);
bool ref_less(ref_number x, ref_number y);

typedef struct ref_matrix {
    FtB_Type type;
    int64_t nrows, ncols, width; /* width 0: every value is 1 */
    bool *present;               /* nrows x ncols */
    ref_number *values;          /* nrows x ncols x max(width, 1) */
} ref_matrix;

ref_matrix *ref_new(FtB_Type type, int64_t nrows, int64_t ncols, int64_t width);
ref_matrix *ref_read(FtB_Matrix A, bool transpose);
FtB_Matrix ref_build(const ref_matrix *R); /* values cast to R's dtype; fails the test if that fails */
void ref_free(ref_matrix *R);
/* A has R's shape, width, dtype and pattern, and its values: integers exactly, reals within tolerance *
 * max(1, |value|). `what` is printed where it fails. */
void ref_check(FtB_Matrix A, const ref_matrix *R, double tolerance, const char *what);
static inline bool *ref_at(const ref_matrix *R, int64_t i, int64_t j)
{
    return &R->present[i * R->ncols + j];
}
static inline ref_number *ref_value(const ref_matrix *R, int64_t i, int64_t j)
{
    return &R->values[(i * R->ncols + j) * (R->width > 0 ? R->width : 1)];
}

/* How the arguments are read: a descriptor in plain sight, and the same one in both libraries. */
typedef struct ref_flags {
    bool replace, structural, complement, transpose0, transpose1;
    FtB_Descriptor descriptor; /* NULL if nothing is set */
    GrB_Descriptor grb;
} ref_flags;
#define REF_FLAGS 32
ref_flags ref_flags_of(int which); /* 0 .. REF_FLAGS - 1: all combinations */

/* A binary operator, as an argument and in plain sight. */
typedef struct ref_op {
    const char *text; /* NULL: grb */
    GrB_BinaryOp grb;
    FtB_Type domain; /* of grb: operands and result are cast to it; 0: to nothing */
    ref_number (*f)(ref_number x, ref_number y);
} ref_op;
FtB_Arg ref_op_arg(const ref_op *op); /* NULL: the empty slot */
ref_number ref_op_apply(const ref_op *op, ref_number x, ref_number y);
int ref_ops(void); /* how many there are; the first ones are texts, and all of them without GraphBLAS */
const ref_op *ref_op_of(int which);

bool ref_mask(const ref_matrix *M, const ref_flags *flags, int64_t i, int64_t j); /* M may be NULL */
/* C<M> = accum(C, T); accum may be NULL. The new C. */
ref_matrix *ref_write(const ref_matrix *C, const ref_matrix *M, const ref_flags *flags, const ref_op *accum,
                      const ref_matrix *T);

#endif
