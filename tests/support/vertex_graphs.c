#include "support/vertex_graphs.h"

#include "support/check.h"
#include "support/rng.h"

#include <stdlib.h>

FtB_Matrix large_graph(void)
{
    rng r = {11};
    FtB_Matrix A;
    int64_t *I = malloc(EDGES * sizeof *I), *J = malloc(EDGES * sizeof *J);
    double *X = malloc(EDGES * sizeof *X);
    for (int64_t e = 0; e < EDGES; e++) {
        I[e] = rng_below(&r, 1 + rng_below(&r, LARGE));
        J[e] = rng_below(&r, LARGE);
        X[e] = 2 * rng_unit(&r) - 1;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, LARGE, LARGE, 1, EDGES, I, J, X, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_csr(A, &(const int64_t *){NULL}, NULL, NULL)); /* tests look at all rows */
    free(I);
    free(J);
    free(X);
    return A;
}

FtB_Matrix path(int64_t n)
{
    FtB_Matrix A;
    int64_t *I = malloc((size_t)n * sizeof *I), *J = malloc((size_t)n * sizeof *J);
    for (int64_t e = 0; e + 1 < n; e++) {
        I[e] = e;
        J[e] = e + 1;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, n, n, 0, n > 0 ? n - 1 : 0, I, J, NULL, FTB_DUP_SUM, NULL));
    free(I);
    free(J);
    return A;
}

bool was_whole(FILE *told)
{
    char line[200] = "";
    bool whole = false;
    rewind(told);
    while (fgets(line, sizeof line, told))
        whole = whole || strstr(line, " whole ");
    fclose(told);
    return whole;
}
