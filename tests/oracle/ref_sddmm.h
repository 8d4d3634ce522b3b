/* Messages of two blocks under a mask, entry by entry, head by head, in double precision: slow and obvious.
 */
#ifndef TESTS_REF_SDDMM_H
#define TESTS_REF_SDDMM_H

#include "oracle/ref_dense.h"

/* What a message sees of one head. */
typedef struct ref_edge {
    const double *src, *dst;
    double edge;
    int64_t width;
} ref_edge;

typedef struct ref_score {
    const char *text;                              /* without the reducer */
    int64_t (*f)(double *z, const ref_edge *edge); /* returns the values per head */
    bool real;                                     /* also of integers */
    bool edge;                                     /* reads edge */
    bool wide;                                     /* as many values as the operands have */
} ref_score;

int ref_scores(void);
const ref_score *ref_score_of(int which);
/* The values of a block as doubles, packed. malloc()ed. */
double *ref_block(FtB_Block X);
/* T(i,j) for every (i,j) that M admits. Blocks have equal heads, or one of them 1. */
ref_matrix *ref_sddmm(const ref_score *s, FtB_Block Y, FtB_Block X, const ref_matrix *M,
                      const ref_flags *flags);

#endif
