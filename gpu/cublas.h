/* cuBLAS, for large dense products: found by its name when the first of them is wanted. As with the driver
 * (driver.h), neither its headers nor its library is needed to build. */
#ifndef FTB_GPU_CUBLAS_H
#define FTB_GPU_CUBLAS_H

#include "gpu/library.h"

#include <stdint.h>

struct CUstream_st;
struct cublasContext;

/* A row per function that is called. All return a cublasStatus_t, an enumeration without negative values, as
 * all others are but that of algorithms. */
#define FTB_CUBLAS_CALLS(CALL)                                                                               \
    CALL(cublasGetProperty, (unsigned property, int *value))                                                 \
    CALL(cublasCreate_v2, (struct cublasContext * *handle))                                                  \
    CALL(cublasDestroy_v2, (struct cublasContext * handle))                                                  \
    CALL(cublasSetMathMode, (struct cublasContext * handle, unsigned mode))                                  \
    CALL(cublasSetStream_v2, (struct cublasContext * handle, struct CUstream_st * stream))                   \
    CALL(cublasSetWorkspace_v2, (struct cublasContext * handle, void *workspace, size_t bytes))              \
    CALL(cublasSgemm_v2_64, (struct cublasContext * handle, unsigned transa, unsigned transb, int64_t m,     \
                             int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda,          \
                             const float *b, int64_t ldb, const float *beta, float *c, int64_t ldc))         \
    CALL(cublasDgemm_v2_64, (struct cublasContext * handle, unsigned transa, unsigned transb, int64_t m,     \
                             int64_t n, int64_t k, const double *alpha, const double *a, int64_t lda,        \
                             const double *b, int64_t ldb, const double *beta, double *c, int64_t ldc))      \
    CALL(cublasGemmEx_64, (struct cublasContext * handle, unsigned transa, unsigned transb, int64_t m,       \
                           int64_t n, int64_t k, const void *alpha, const void *a, unsigned atype,           \
                           int64_t lda, const void *b, unsigned btype, int64_t ldb, const void *beta,        \
                           void *c, unsigned ctype, int64_t ldc, unsigned compute, int algorithm))

typedef struct ftb_cublas_calls {
#define FTB_CUBLAS_MEMBER(name, arguments) unsigned(*name) arguments;
    FTB_CUBLAS_CALLS(FTB_CUBLAS_MEMBER)
#undef FTB_CUBLAS_MEMBER
} ftb_cublas_calls;

enum {
    FTB_CUBLAS_MAJOR = 0, /* properties */
    FTB_CUBLAS_MINOR = 1,
    FTB_CUBLAS_N = 0, /* operations */
    FTB_CUBLAS_T = 1,
    FTB_CUBLAS_DEFAULT = 0, /* modes of arithmetic */
    FTB_CUBLAS_PEDANTIC = 2,
    FTB_CUBLAS_FP32 = 0,       /* a type */
    FTB_CUBLAS_FAST_FP16 = 74, /* types of computing */
    FTB_CUBLAS_FAST_BF16 = 75,
    FTB_CUBLAS_FAST_TF32 = 77,
    FTB_CUBLAS_ANY = -1,         /* algorithm */
    FTB_CUBLAS_ALLOC_FAILED = 3, /* statuses */
    FTB_CUBLAS_ARCH_MISMATCH = 8,
    FTB_CUBLAS_NOT_SUPPORTED = 15,
    FTB_CUBLAS_WORKSPACE = 32 << 20 /* bytes: what NVIDIA recommends for Hopper, and more than others need */
};

typedef struct ftb_cublas {
    ftb_cublas_calls call;
    ftb_found found;
} ftb_cublas;

/* Opens one by its name or path, "" for none. What was found, or why there is nothing, is in *c. */
void ftb_cublas_open(ftb_cublas *c, const char *path);
/* Opens the first of a list, which ends with NULL, that is there and of no newer a major version than `cuda`,
 * a driver's. */
void ftb_cublas_find(ftb_cublas *c, const char *const *paths, int cuda);
/* This process's, opened by the first who asks: the newest that the driver can run, or what FEATBLAS_CUBLAS
 * names. */
const ftb_cublas *ftb_cublas_here(void);

#endif
