#include "support/shared_columns.h"

#include "support/check.h"

#include "core/core.h"

#include <stdlib.h>

FtB_Matrix shared_columns(rng *r, const shared_shape *of, int heads)
{
    bool *there = calloc((size_t)(of->nrows * of->ncols), 1);
    const int64_t most = of->nrows * of->degree + of->hub;
    int64_t *I = malloc((size_t)most * sizeof *I), *J = malloc((size_t)most * sizeof *J), n = 0;
    assert_true(there && I && J);
    for (int64_t i = 0; i < of->nrows; i++) {
        const int64_t degree = i == of->nrows / 2 ? of->hub : rng_below(r, of->degree);
        for (int64_t k = 0; k < degree; k++) {
            const int64_t j =
                degree == of->hub ? k : rng_below(r, 1 + rng_below(r, 1 + rng_below(r, of->ncols)));
            if (j >= of->ncols || there[i * of->ncols + j])
                continue;
            there[i * of->ncols + j] = true;
            I[n] = i;
            J[n++] = j;
        }
    }
    float *w = malloc((size_t)(n * ftb_max(1, heads) + 1) * sizeof *w);
    rng_reals(r, w, FTB_FP32, n * ftb_max(1, heads));
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, of->nrows, of->ncols, heads, n, I, J, heads ? w : NULL,
                               FTB_DUP_ERROR, NULL));
    free(there);
    free(I);
    free(J);
    free(w);
    return A;
}

int hybrid_forms(FtB_Matrix A)
{
    int count = 0;
    for (const ftb_derived *of = A->pattern->derived; of; of = of->next)
        count += of->forget != NULL;
    return count;
}
