/* The values of featblas/graphblas_types.h, for tests that include <GraphBLAS.h> and cannot see them. */
#ifndef TESTS_GRB_TYPES_H
#define TESTS_GRB_TYPES_H

#include <stddef.h>

/* X(name): every enumerator of our GrB_Info. */
#define GRB_INFOS(X)                                                                                         \
    X(GrB_SUCCESS)                                                                                           \
    X(GrB_NO_VALUE)                                                                                          \
    X(GrB_UNINITIALIZED_OBJECT)                                                                              \
    X(GrB_NULL_POINTER)                                                                                      \
    X(GrB_INVALID_VALUE)                                                                                     \
    X(GrB_INVALID_INDEX)                                                                                     \
    X(GrB_DOMAIN_MISMATCH)                                                                                   \
    X(GrB_DIMENSION_MISMATCH)                                                                                \
    X(GrB_OUTPUT_NOT_EMPTY)                                                                                  \
    X(GrB_NOT_IMPLEMENTED)                                                                                   \
    X(GrB_PANIC)                                                                                             \
    X(GrB_OUT_OF_MEMORY)                                                                                     \
    X(GrB_INSUFFICIENT_SPACE)                                                                                \
    X(GrB_INVALID_OBJECT)                                                                                    \
    X(GrB_INDEX_OUT_OF_BOUNDS)                                                                               \
    X(GrB_EMPTY_OBJECT)

typedef struct grb_value {
    const char *name;
    int value;
} grb_value;
extern const grb_value grb_infos[]; /* in the order of GRB_INFOS */
extern const size_t grb_info_size, grb_index_size, grb_handle_size;

#endif
