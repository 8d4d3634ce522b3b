/* cuSPARSE, NVIDIA's products of sparse matrices: found by its name when it is first asked for. As with the
 * driver (driver.h), neither its headers nor its library is needed to build. It does what a plan says that it
 * does: by hand, or where a measurement found it to be faster (FTB_MEASURE). */
#ifndef FTB_GPU_CUSPARSE_H
#define FTB_GPU_CUSPARSE_H

#include "gpu/library.h"

#include <stdint.h>

struct CUstream_st;

/* A row per function that is called. Handles and descriptors are pointers; all return a cusparseStatus_t, an
 * enumeration without negative values, as those of types, orders and algorithms are. */
#define FTB_CUSPARSE_CALLS(CALL)                                                                             \
    CALL(cusparseGetProperty, (unsigned property, int *value))                                               \
    CALL(cusparseCreate, (void **handle))                                                                    \
    CALL(cusparseDestroy, (void *handle))                                                                    \
    CALL(cusparseSetStream, (void *handle, struct CUstream_st *stream))                                      \
    CALL(cusparseCreateCsr,                                                                                  \
         (void **matrix, int64_t nrows, int64_t ncols, int64_t nvals, void *rowptr, void *colidx,            \
          void *values, unsigned offsets, unsigned columns, unsigned base, unsigned type))                   \
    CALL(cusparseCsrSetPointers, (void *matrix, void *rowptr, void *colidx, void *values))                   \
    CALL(cusparseDestroySpMat, (const void *matrix))                                                         \
    CALL(cusparseCreateDnMat, (void **matrix, int64_t nrows, int64_t ncols, int64_t ld, void *values,        \
                               unsigned type, unsigned order))                                               \
    CALL(cusparseDnMatSetValues, (void *matrix, void *values))                                               \
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

typedef struct ftb_cusparse_calls {
#define FTB_CUSPARSE_MEMBER(name, arguments) unsigned(*name) arguments;
    FTB_CUSPARSE_CALLS(FTB_CUSPARSE_MEMBER)
#undef FTB_CUSPARSE_MEMBER
} ftb_cusparse_calls;

enum {
    FTB_CUSPARSE_MAJOR = 0, /* properties */
    FTB_CUSPARSE_MINOR = 1,
    FTB_CUSPARSE_REAL = 0, /* CUDA_R_32F */
    FTB_CUSPARSE_BASE_ZERO = 0,
    FTB_CUSPARSE_INDEX_32 = 2,
    FTB_CUSPARSE_COLUMNS = 1, /* orders */
    FTB_CUSPARSE_ROWS = 2,
    FTB_CUSPARSE_SDDMM_DEFAULT = 0,
    FTB_CUSPARSE_SPMM_DEFAULT = 0, /* algorithms */
    FTB_CUSPARSE_SPMM_CSR_ALG1 = 4,
    FTB_CUSPARSE_SPMM_CSR_ALG2 = 6,
    FTB_CUSPARSE_SPMM_CSR_ALG3 = 12,
    FTB_CUSPARSE_ALLOC_FAILED = 2, /* statuses */
    FTB_CUSPARSE_ARCH_MISMATCH = 4,
    FTB_CUSPARSE_NOT_SUPPORTED = 10
};

typedef struct ftb_cusparse {
    ftb_cusparse_calls call;
    ftb_found found;
} ftb_cusparse;

/* Opens one by its name or path, "" for none. What was found, or why there is nothing, is in *c. */
void ftb_cusparse_open(ftb_cusparse *c, const char *path);
/* This process's, opened by the first who asks, or what FEATBLAS_CUSPARSE names. */
const ftb_cusparse *ftb_cusparse_here(void);

#endif
