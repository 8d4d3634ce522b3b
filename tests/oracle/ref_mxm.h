/* C(i,j) = reducer over k of message(A(i,k), B(k,j)), by three loops. */
#ifndef TESTS_REF_MXM_H
#define TESTS_REF_MXM_H

#include "oracle/ref_dense.h"

#define REF_WIDEST 8 /* values of a message */

typedef struct ref_pair { /* what a message may look at */
    const ref_number *a, *b;
    int64_t width_a, width_b; /* values; 1 for matrices of width 0 */
    int64_t i, j, k, di, dj, dk;
    ref_number m; /* the mask's entry */
} ref_pair;

typedef enum ref_reducer {
    REF_PLUS,
    REF_TIMES,
    REF_MIN,
    REF_MAX,
    REF_ANY,
    REF_OR,
    REF_AND,
    REF_XOR,
    REF_XNOR,
    REF_MEAN
} ref_reducer;

/* A semiring, as an argument and in plain sight. */
typedef struct ref_semiring {
    const char *text; /* NULL: grb */
    GrB_Semiring grb;
    FtB_Type domain; /* of grb: inputs, messages and results are cast to it; 0: to nothing */
    ref_reducer reducer;
    int64_t width; /* values of a message; 0: as many as the wider input has */
    bool inexact;  /* rounds, also for small integers */
    bool scalars;  /* for inputs of width <= 1 only */
    bool mask;     /* uses m */
    void (*message)(ref_number *z, const ref_pair *p, int64_t width);
} ref_semiring;

int ref_semirings(void); /* how many there are; without GraphBLAS the texts */
int ref_texts(void);     /* how many of them, the first ones, are texts */
ref_semiring ref_semiring_of(int which);
FtB_Arg ref_semiring_arg(const ref_semiring *s);
int64_t ref_semiring_width(const ref_semiring *s, int64_t width_a, int64_t width_b);

/* A and B after their transposes. M is used for the name m alone, and may be NULL. T's values are not
 * cast. winner, if not NULL, gets k of the least (greatest) message per entry. */
ref_matrix *ref_mxm(const ref_semiring *s, const ref_matrix *A, const ref_matrix *B, const ref_matrix *M,
                    ref_matrix *winner);

#endif
