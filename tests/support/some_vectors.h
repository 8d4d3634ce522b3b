/* Sparse vectors for tests: random ones, in each form that they have inside, and what they must be. */
#ifndef TESTS_SOME_VECTORS_H
#define TESTS_SOME_VECTORS_H

#include "core/vector/vector_forms.h"
#include "support/rng.h"

/* A vector with about density * size entries of small values, in the form that the library chooses. */
FtB_Vector rng_vector(rng *r, FtB_Type type, int64_t size, double density);
/* The same, of reals in [-1, 1). */
FtB_Vector rng_real_vector(rng *r, FtB_Type type, int64_t size, double density);
/* Puts the same entries into another form; dense only where all places have one: whether it was possible. */
bool force_form(FtB_Vector v, ftb_vector_form form);
/* One of those that are possible. */
void force_any_form(rng *r, FtB_Vector v);

/* What must hold of a vector, in any form. */
void assert_valid_vector(FtB_Vector v);
/* Same size, dtype, entries and value bits; forms may differ. */
void assert_same_vector(FtB_Vector u, FtB_Vector v);

#endif
