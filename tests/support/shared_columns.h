/* Matrices whose rows share columns, and the forms that GPUs have of them. */
#ifndef TESTS_SHARED_COLUMNS_H
#define TESTS_SHARED_COLUMNS_H

#include "featblas.h"
#include "support/rng.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct shape {
    int64_t nrows, ncols, degree, hub; /* hub: entries of one row */
} shared_shape;

/* Low columns are used much; some rows are empty. `heads` values an entry. */
FtB_Matrix shared_columns(rng *r, const shared_shape *of, int heads);

/* Forms of gpu/spmm_form.h that are there. */
int hybrid_forms(FtB_Matrix A);
static inline bool has_hybrid_form(FtB_Matrix A) { return hybrid_forms(A) > 0; }

#endif
