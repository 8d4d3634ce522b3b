/* Factors of ratings by their definitions: rating after rating in long double, and normal equations by
 * elimination with pivots. */
#ifndef REF_FACTORIZE_H
#define REF_FACTORIZE_H

#include "featblas.h"

typedef struct ref_ratings {
    int64_t nrows, ncols, count, k;
    int64_t *i, *j; /* row by row */
    double *x;      /* less the offset */
} ref_ratings;

ref_ratings ref_ratings_of(FtB_Matrix R, int64_t k, double offset);
void ref_ratings_free(ref_ratings *r);
/* Factors are nrows x k and ncols x k. `once`: lambda counts once for a row and a column. */
double ref_ratings_rmse(const ref_ratings *r, const double *U, const double *V);
double ref_ratings_objective(const ref_ratings *r, const double *U, const double *V, double lambda,
                             bool once);
/* The best U for V, or, of `columns`, the best V for U; those without ratings become 0. */
void ref_ratings_solve(const ref_ratings *r, double *U, double *V, bool columns, double lambda, bool once);
/* A step of both along the gradient. */
void ref_ratings_step(const ref_ratings *r, double *U, double *V, double rate, double lambda, bool once);
/* Stochastic steps, row by row: of four ratings of a row at a time, whose errors are of the factors before.
 */
void ref_ratings_descend(const ref_ratings *r, double *U, double *V, double rate, double lambda);

#endif
