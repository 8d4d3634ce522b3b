/* What the documents' fragments are run in: tests/docs/check_docs.py makes a function of each, before() makes
 * what it takes for granted, and no call may have failed after it. */
#ifndef TESTS_DOCS_COMMON_H
#define TESTS_DOCS_COMMON_H

#include <featblas.h>
#include <featblas_nn.h>
#include <math.h>
#include <stdlib.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != GrB_SUCCESS) {                                                                         \
            fprintf(stdout, "%s:%d: %s\n", __FILE__, __LINE__, FtB_error());                                 \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Ends the program if any call of this thread failed, or the last one. */
static inline void no_error(const char *where, GrB_Info info)
{
    if (info == GrB_SUCCESS && !*FtB_error())
        return;
    fprintf(stdout, "%s: %s\n", where, FtB_error());
    exit(1);
}

/* n vertices in a ring, each of which hears both neighbours; a value on every edge. */
static inline FtB_Matrix ring(int64_t count)
{
    FtB_Matrix A;
    int64_t *I = malloc(2 * (size_t)count * sizeof *I), *J = malloc(2 * (size_t)count * sizeof *J);
    float *values = malloc(2 * (size_t)count * sizeof *values);
    for (int64_t e = 0; e < 2 * count; e++) {
        I[e] = e / 2;
        J[e] = (e / 2 + (e % 2 ? 1 : count - 1)) % count;
        values[e] = 0.5f;
    }
    OK(FtB_Matrix_build(&A, FTB_FP32, count, count, 1, 2 * count, I, J, values, FTB_DUP_SUM, NULL));
    free(I);
    free(J);
    free(values);
    return A;
}

#endif
