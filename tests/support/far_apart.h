/* Matrices of 4e9 x 4e9 for tests, of a few rows and columns that matter, and the same of these alone. */
#ifndef TESTS_FAR_APART_H
#define TESTS_FAR_APART_H

#include "core/core.h"
#include "support/rng.h"

#define N INT64_C(4000000000)
#define FEW 12 /* rows and columns that matter, at most */

/* Where number i of a few is: ascending; the ends, and neighbours, are among them. */
void far_apart(rng *r, int64_t map[FEW]);

typedef struct tuples {
    int64_t nvals, width, *I, *J;
    FtB_Type type;
    void *X;
} tuples;
tuples tuples_of(FtB_Matrix A); /* free_tuples releases */
void free_tuples(tuples *t);

/* A of a few, far apart. */
FtB_Matrix spread(FtB_Matrix A, const int64_t *map);
FtB_Vector spread_vector(FtB_Vector v, const int64_t *map);
/* What must hold of listed rows. */
void assert_listed(FtB_Matrix A);
/* B must be what A is, far apart; rows or columns whose map is NULL are not moved. */
void assert_spread(FtB_Matrix B, FtB_Matrix A, const int64_t *rows, const int64_t *columns);
void assert_spread_vector(FtB_Vector u, FtB_Vector v, const int64_t *map);

#endif
