/* Sparse vectors. Part of featblas.h. */
#ifndef FEATBLAS_VECTOR_H
#define FEATBLAS_VECTOR_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A vector has an entry, one value of its dtype, at some of its places 0 to size - 1. Inside it is a list of
 * places and values, a bitmap, or dense, as its entries are few, many or all: the library chooses, and the
 * choice does not show. A vector lives on the host, whatever the context's device. (A vector without gaps
 * whose values move to devices is an FtB_Block of one column.)
 *
 * Products, element-wise operations, masks and accumulators take a vector as GraphBLAS takes a GrB_Vector:
 * as a matrix of one column, or of one row where it stands left of a matrix. */

/** Makes a vector without entries; takes no memory for its size.
 *  @param[out] v the new vector, NULL on failure. @param type dtype of the values. @param size 0 to 2^63 - 2.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Vector_new(FtB_Vector *v, FtB_Type type, int64_t size);

/** Builds a vector from entries in any order. Parallel; bits do not depend on the threads.
 *  @param[out] v the new vector, NULL on failure. @param type dtype of @p X and of the values. @param size
 * places. @param nvals number of entries. @param I place of each. @param X value of each; copied (rule count:
 * may be NULL). @param dup rule for entries of one place, as of FtB_Matrix_build, but for FTB_DUP_KEEP.
 *  @return GrB_INDEX_OUT_OF_BOUNDS (the message names the entry), GrB_NULL_POINTER, GrB_INVALID_VALUE,
 *  GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Vector_build(FtB_Vector *v, FtB_Type type, int64_t size, int64_t nvals, const int64_t *I,
                          const void *X, FtB_Dup dup);

/** Makes a vector of all values of a block's only column; they are copied.
 *  @param[out] v the new vector, NULL on failure; of X's dtype. @param X n x 1 (FtB_Block_columns gives one
 * of more). @return GrB_NULL_POINTER, GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Vector_from_block(FtB_Vector *v, FtB_Block X);

/** Copies a vector to a block's only column, cast to its dtype. @param X size x 1. @param v any.
 *  @param fill for places without an entry. @return GrB_NULL_POINTER, GrB_DIMENSION_MISMATCH,
 *  GrB_INVALID_VALUE (X must not be written), GrB_OUT_OF_MEMORY, FTB_NO_DEVICE. */
GrB_Info FtB_Vector_to_block(FtB_Block X, FtB_Vector v, double fill);

/** Copies a vector. @param[out] u the copy, NULL on failure. @param v any. @return GrB_NULL_POINTER,
 * GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Vector_dup(FtB_Vector *u, FtB_Vector v);

/** Size, entries and dtype; any output may be NULL. @param v any. @param[out] size places.
 *  @param[out] nvals entries. @param[out] type dtype. @return GrB_NULL_POINTER. */
GrB_Info FtB_Vector_shape(FtB_Vector v, int64_t *size, int64_t *nvals, FtB_Type *type);

/** Copies the entries out, ascending. @param v any. @param[out] I places, nvals of them (FtB_Vector_shape);
 * NULL if not wanted. @param[out] X values of v's dtype, nvals of them; NULL if not wanted.
 *  @return GrB_NULL_POINTER. */
GrB_Info FtB_Vector_tuples(FtB_Vector v, int64_t *I, void *X);

/** Reads an entry. @param v any. @param i 0 to size - 1. @param[out] x a value of v's dtype.
 *  @return GrB_NO_VALUE (there is none; x is left alone), GrB_INDEX_OUT_OF_BOUNDS, GrB_NULL_POINTER. */
GrB_Info FtB_Vector_get(FtB_Vector v, int64_t i, void *x);

/** Writes an entry, or puts one there. Cost: up to all entries, of which FtB_Vector_build takes many at once.
 *  @param v any. @param i 0 to size - 1. @param x a value of v's dtype.
 *  @return GrB_INDEX_OUT_OF_BOUNDS, GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Vector_set(FtB_Vector v, int64_t i, const void *x);

/** Removes an entry, if there is one. Cost: up to all entries. @param v any. @param i 0 to size - 1.
 *  @return GrB_INDEX_OUT_OF_BOUNDS, GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Vector_remove(FtB_Vector v, int64_t i);

/** Copies a GraphBLAS vector of a built-in type; @p G keeps its content. A caller that shares G between
 * threads materialises it first. @param[out] v the new vector, NULL on failure; of G's dtype. @param G any.
 *  @return as FtB_Matrix_import. */
GrB_Info FtB_Vector_import(FtB_Vector *v, GrB_Vector G);

/** Copies a vector to a new GraphBLAS vector: FP16 and BF16 as FP32. @param[out] G the new vector, NULL on
 * failure. @param v any. @return as FtB_Matrix_export. */
GrB_Info FtB_Vector_export(GrB_Vector *G, FtB_Vector v);

/** Releases a vector. @param[in,out] v set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Vector_free(FtB_Vector *v);

#ifdef __cplusplus
}
#endif

#endif
