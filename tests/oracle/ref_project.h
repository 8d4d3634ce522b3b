/* The named weights by their definitions, pair by pair. */
#ifndef TESTS_REF_PROJECT_H
#define TESTS_REF_PROJECT_H

#include "oracle/ref_dense.h"

/* The weight `name` of columns i and j of R; false: they share nothing, or the name is unknown (then
 * *known is false). */
bool ref_weight(const char *name, const ref_matrix *R, int64_t i, int64_t j, double *weight, bool *known);

#endif
