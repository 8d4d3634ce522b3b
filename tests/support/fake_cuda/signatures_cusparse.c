/* What gpu/cusparse/cusparse.h declares is what the toolkit's header says. Compiled where nvcc is, never run:
 * each function is called as it is declared here, so that arguments of another number or kind are errors.
 * void * stands for all kinds of pointers. */
#include "gpu/cusparse/cusparse.h"

#include <cusparse.h>

#define DECLARE(name, arguments) unsigned call_##name arguments;
FTB_CUSPARSE_CALLS(DECLARE)
#undef DECLARE

unsigned call_cusparseGetProperty(unsigned property, int *value)
{
    return cusparseGetProperty((libraryPropertyType)property, value);
}
unsigned call_cusparseDestroy(void *handle) { return cusparseDestroy(handle); }
unsigned call_cusparseCsrSetPointers(void *matrix, void *rowptr, void *colidx, void *values)
{
    return cusparseCsrSetPointers(matrix, rowptr, colidx, values);
}
unsigned call_cusparseDnMatSetValues(void *matrix, void *values)
{
    return cusparseDnMatSetValues(matrix, values);
}
unsigned call_cusparseCreate(void **handle) { return cusparseCreate((cusparseHandle_t *)handle); }
unsigned call_cusparseSetStream(void *handle, struct CUstream_st *stream)
{
    return cusparseSetStream(handle, stream);
}
unsigned call_cusparseCreateCsr(void **matrix, int64_t nrows, int64_t ncols, int64_t nvals, void *rowptr,
                                void *colidx, void *values, unsigned offsets, unsigned columns, unsigned base,
                                unsigned type)
{
    return cusparseCreateCsr((cusparseSpMatDescr_t *)matrix, nrows, ncols, nvals, rowptr, colidx, values,
                             offsets, columns, base, type);
}
unsigned call_cusparseDestroySpMat(const void *matrix) { return cusparseDestroySpMat(matrix); }
unsigned call_cusparseCreateDnMat(void **matrix, int64_t nrows, int64_t ncols, int64_t ld, void *values,
                                  unsigned type, unsigned order)
{
    return cusparseCreateDnMat((cusparseDnMatDescr_t *)matrix, nrows, ncols, ld, values, type, order);
}
unsigned call_cusparseDestroyDnMat(const void *matrix) { return cusparseDestroyDnMat(matrix); }

/* The three calls of a product differ in their last argument alone. */
#define PRODUCT(name, last_type, last)                                                                       \
    unsigned call_##name(void *handle, unsigned a, unsigned b, const void *alpha, const void *A,             \
                         const void *X, const void *beta, void *C, unsigned type, unsigned algorithm,        \
                         last_type last)                                                                     \
    {                                                                                                        \
        return name(handle, a, b, alpha, A, X, beta, C, type, algorithm, last);                              \
    }
PRODUCT(cusparseSpMM_bufferSize, size_t *, bytes)
PRODUCT(cusparseSpMM_preprocess, void *, buffer)
PRODUCT(cusparseSpMM, void *, buffer)
PRODUCT(cusparseSDDMM_bufferSize, size_t *, bytes)
PRODUCT(cusparseSDDMM_preprocess, void *, buffer)
PRODUCT(cusparseSDDMM, void *, buffer)

#define IS(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
IS(FTB_CUSPARSE_MAJOR, MAJOR_VERSION);
IS(FTB_CUSPARSE_MINOR, MINOR_VERSION);
IS(FTB_CUSPARSE_ALLOC_FAILED, CUSPARSE_STATUS_ALLOC_FAILED);
IS(FTB_CUSPARSE_ARCH_MISMATCH, CUSPARSE_STATUS_ARCH_MISMATCH);
IS(FTB_CUSPARSE_NOT_SUPPORTED, CUSPARSE_STATUS_NOT_SUPPORTED);
IS(FTB_CUSPARSE_REAL, CUDA_R_32F);
IS(FTB_CUSPARSE_BASE_ZERO, CUSPARSE_INDEX_BASE_ZERO);
IS(FTB_CUSPARSE_INDEX_32, CUSPARSE_INDEX_32I);
IS(FTB_CUSPARSE_COLUMNS, CUSPARSE_ORDER_COL);
IS(FTB_CUSPARSE_ROWS, CUSPARSE_ORDER_ROW);
IS(FTB_CUSPARSE_SDDMM_DEFAULT, CUSPARSE_SDDMM_ALG_DEFAULT);
IS(FTB_CUSPARSE_SPMM_DEFAULT, CUSPARSE_SPMM_ALG_DEFAULT);
IS(FTB_CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG1);
IS(FTB_CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG2);
IS(FTB_CUSPARSE_SPMM_CSR_ALG3, CUSPARSE_SPMM_CSR_ALG3);
