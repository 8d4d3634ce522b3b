/* Steps of factors over ratings. */
#ifndef FTB_CPU_FACTORIZE_KERNELS_H
#define FTB_CPU_FACTORIZE_KERNELS_H

#include "core/core.h"
#include "core/isa.h"
#include "cpu/kernels/heads.h"

enum {
    FTB_FACTORS_MOST = 512,
    FTB_FACTORS_ABREAST = 64, /* so many of several rows are solved together */
    FTB_FACTORS_BATCH = 32    /* ratings whose factors stay in L1 */
};

/* Ratings of one row at a time: a visit is all of a row, or a part of it. */
typedef struct ftb_ratings {
    const int32_t *row;   /* of each visit; NULL: visit i is row i */
    const int64_t *start; /* of each visit, and the end: its first rating */
    const int32_t *column;
    const void *value; /* of the factors' type */
} ftb_ratings;

typedef struct ftb_factors {
    ftb_ratings ratings;
    void *own, *other;       /* of the rows, of the columns: `pitch` apart, zeros behind nfactors */
    void *next;              /* ftb_factorize_gradient: the rows' after the step */
    int64_t nfactors, pitch; /* a multiple of FTB_LANES */
    double rate, lambda;
    bool once; /* lambda counts once for a row, not for each of its ratings */
} ftb_factors;

/* All functions: visits first to last - 1. */

/* Stochastic gradient descent: e = value - dot(own, other), then
 *     own += rate (e other - lambda own), other += rate (e own - lambda other)
 * of four ratings of a visit at a time, whose errors are of the factors before, as is `own` in all four. */
FTB_CELLS(void, ftb_factorize_descend_f32, (const ftb_factors *f, int64_t first, int64_t last))
FTB_CELLS(void, ftb_factorize_descend_f64, (const ftb_factors *f, int64_t first, int64_t last))
/* next = own + rate (sum of e other - lambda own). */
FTB_CELLS(void, ftb_factorize_gradient_f32, (const ftb_factors *f, int64_t first, int64_t last))
FTB_CELLS(void, ftb_factorize_gradient_f64, (const ftb_factors *f, int64_t first, int64_t last))
/* Adds e^2 up. */
FTB_CELLS(double, ftb_factorize_error_f32, (const ftb_factors *f, int64_t first, int64_t last))
FTB_CELLS(double, ftb_factorize_error_f64, (const ftb_factors *f, int64_t first, int64_t last))
/* Own becomes what has the least sum of e^2 and lambda dot(own, own). Returns the first visit of which the
 * equations have no one solution, from where on nothing is done; -1: there is none. room: values of the
 * factors' type, so many as ftb_factorize_solve_room says. */
FTB_CELLS(int64_t, ftb_factorize_solve_f32, (const ftb_factors *f, int64_t first, int64_t last, void *room))
FTB_CELLS(int64_t, ftb_factorize_solve_f64, (const ftb_factors *f, int64_t first, int64_t last, void *room))
static inline int64_t ftb_factorize_solve_room(int64_t pitch)
{
    return FTB_FACTORS_BATCH * (pitch + 1) +
           (pitch <= FTB_FACTORS_ABREAST ? 3 * FTB_LANES * pitch * (pitch + 1) : 2 * pitch * (pitch + 1));
}

#endif
