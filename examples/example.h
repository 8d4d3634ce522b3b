/* How the examples check every call, and what it gave. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <featblas.h>
#include <stdlib.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != GrB_SUCCESS) {                                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, FtB_error());                                 \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#define CHECK(fact)                                                                                          \
    do {                                                                                                     \
        if (!(fact)) {                                                                                       \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact);                               \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Where the values of an FP32 block lie. */
static inline float *floats(FtB_Block X)
{
    void *values;
    OK(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &values));
    return values;
}

#endif
