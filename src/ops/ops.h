/* What the operations share. */
#ifndef FTB_OPS_H
#define FTB_OPS_H

#include "core/core.h"
#include "expr/expr.h"
#include "io/io.h"

/* C<M> = accum(C, T), GraphBLAS's write rule (C API 2.0, section 2.3). M and accum may be NULL. T has
 * C's shape and any dtype; it is consumed on success. C's width becomes T's; it must equal C's own where
 * old entries stay. C may be M. C is unchanged on failure. (write.c) */
GrB_Info ftb_write(FtB_Matrix C, FtB_Matrix M, const ftb_flags *flags, FtB_Op accum, FtB_Matrix T);
/* What ftb_write would refuse, for a T of this dtype and width: call it before computing T. (write.c) */
GrB_Info ftb_write_check(FtB_Matrix C, FtB_Matrix M, const ftb_flags *flags, FtB_Op accum, FtB_Type type,
                         int64_t width);
/* Shape and width rules of a mask, shared by all operations. `shape` as m x n of C. */
GrB_Info ftb_mask_check(FtB_Matrix M, const ftb_flags *flags, int64_t nrows, int64_t ncols);

/* A named weight of FtB_project: a row of semirings/weights.def (weights.c). */
typedef struct ftb_weight {
    const char *name;
    bool unweighted; /* entries count as 1 */
    /* New value of each entry before the product; NULL: x. Over x, i, j, di, dj, si, sj, qi, qj, nrows, ncols
     * and total (the sum of all x) of R, made to be projected onto its columns. */
    const char *prepare;
    const char *semiring; /* "plus : a * b" */
    /* Over h (h0, h1, ... if wider), i, j, di, dj, si, sj, qi, qj, nrows, ncols; NULL: h. */
    const char *epilogue;
    const char *formula; /* for people, plain text */
    const char *summary; /* one line */
} ftb_weight;
const ftb_weight *ftb_weights(int *count);
const ftb_weight *ftb_weight_find(const char *name); /* NULL if unknown */

#endif
