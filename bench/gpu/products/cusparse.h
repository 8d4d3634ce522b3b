/* The functions of cuSPARSE that products are timed with (cusparse.c): its header is not needed to build.
 * Handles and descriptors are pointers, statuses and enumerations without negative values unsigned.
 * signatures.c compares. */
#ifndef PRODUCTS_CUSPARSE_H
#define PRODUCTS_CUSPARSE_H

#include <stddef.h>
#include <stdint.h>

#define PRODUCTS_SPARSE_CALLS(CALL)                                                                          \
    CALL(cusparseCreate, (void **handle))                                                                    \
    CALL(cusparseSetStream, (void *handle, struct CUstream_st *stream))                                      \
    CALL(cusparseCreateCsr,                                                                                  \
         (void **matrix, int64_t nrows, int64_t ncols, int64_t nvals, void *rowptr, void *colidx,            \
          void *values, unsigned offsets, unsigned columns, unsigned base, unsigned type))                   \
    CALL(cusparseDestroySpMat, (const void *matrix))                                                         \
    CALL(cusparseCreateDnMat, (void **matrix, int64_t nrows, int64_t ncols, int64_t ld, void *values,        \
                               unsigned type, unsigned order))                                               \
    CALL(cusparseDestroyDnMat, (const void *matrix))                                                         \
    CALL(cusparseSpMM_bufferSize,                                                                            \
         (void *handle, unsigned a, unsigned b, const void *alpha, const void *A, const void *X,             \
          const void *beta, void *C, unsigned type, unsigned algorithm, size_t *bytes))                      \
    CALL(cusparseSpMM_preprocess,                                                                            \
         (void *handle, unsigned a, unsigned b, const void *alpha, const void *A, const void *X,             \
          const void *beta, void *C, unsigned type, unsigned algorithm, void *buffer))                       \
    CALL(cusparseSpMM,                                                                                       \
         (void *handle, unsigned a, unsigned b, const void *alpha, const void *A, const void *X,             \
          const void *beta, void *C, unsigned type, unsigned algorithm, void *buffer))                       \
    CALL(cusparseSDDMM_bufferSize,                                                                           \
         (void *handle, unsigned a, unsigned b, const void *alpha, const void *Y, const void *X,             \
          const void *beta, void *S, unsigned type, unsigned algorithm, size_t *bytes))                      \
    CALL(cusparseSDDMM_preprocess,                                                                           \
         (void *handle, unsigned a, unsigned b, const void *alpha, const void *Y, const void *X,             \
          const void *beta, void *S, unsigned type, unsigned algorithm, void *buffer))                       \
    CALL(cusparseSDDMM,                                                                                      \
         (void *handle, unsigned a, unsigned b, const void *alpha, const void *Y, const void *X,             \
          const void *beta, void *S, unsigned type, unsigned algorithm, void *buffer))

struct CUstream_st;

typedef struct products_sparse {
#define PRODUCTS_SPARSE_MEMBER(name, arguments) unsigned(*name) arguments;
    PRODUCTS_SPARSE_CALLS(PRODUCTS_SPARSE_MEMBER)
#undef PRODUCTS_SPARSE_MEMBER
} products_sparse;

enum {
    SPARSE_REAL = 0, /* CUDA_R_32F */
    SPARSE_BASE_ZERO = 0,
    SPARSE_INDEX_32 = 2,
    SPARSE_COLUMNS = 1,
    SPARSE_ROWS = 2,
    SPARSE_SDDMM_DEFAULT = 0,
    SPARSE_SPMM_DEFAULT = 0,
    SPARSE_SPMM_CSR_ALG1 = 4,
    SPARSE_SPMM_CSR_ALG2 = 6,
    SPARSE_SPMM_CSR_ALG3 = 12
};

#endif
