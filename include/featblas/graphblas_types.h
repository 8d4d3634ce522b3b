/* The types and errors of GraphBLAS that the public headers speak of, for programs without <GraphBLAS.h>.
 *
 * featblas.h includes this file in its place where FEATBLAS_NO_GRAPHBLAS is defined, which featblas/config.h
 * does in a FeatBLAS that was built without GraphBLAS. A program that includes <GraphBLAS.h> before
 * featblas.h gets that one's types; they are the same in memory. Values are those of the GraphBLAS C API 2.0.
 */
#ifndef FEATBLAS_GRAPHBLAS_TYPES_H
#define FEATBLAS_GRAPHBLAS_TYPES_H

#include <stdint.h>

typedef uint64_t GrB_Index;

/** What a call returns. */
typedef enum GrB_Info {
    GrB_SUCCESS = 0,
    GrB_NO_VALUE = 1, /**< there is no such entry */
    GrB_UNINITIALIZED_OBJECT = -1,
    GrB_NULL_POINTER = -2,
    GrB_INVALID_VALUE = -3,
    GrB_INVALID_INDEX = -4,
    GrB_DOMAIN_MISMATCH = -5,
    GrB_DIMENSION_MISMATCH = -6,
    GrB_OUTPUT_NOT_EMPTY = -7,
    GrB_NOT_IMPLEMENTED = -8,
    GrB_PANIC = -101,
    GrB_OUT_OF_MEMORY = -102,
    GrB_INSUFFICIENT_SPACE = -103,
    GrB_INVALID_OBJECT = -104,
    GrB_INDEX_OUT_OF_BOUNDS = -105,
    GrB_EMPTY_OBJECT = -106
} GrB_Info;

typedef struct GrB_Matrix_opaque *GrB_Matrix;
typedef struct GrB_Vector_opaque *GrB_Vector;
typedef struct GrB_Semiring_opaque *GrB_Semiring;
typedef struct GrB_Monoid_opaque *GrB_Monoid;
typedef struct GrB_BinaryOp_opaque *GrB_BinaryOp;
typedef struct GrB_Descriptor_opaque *GrB_Descriptor;

#endif
