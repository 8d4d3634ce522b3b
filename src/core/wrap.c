/* The caller's CSR arrays as a matrix: used in place when sorted, else copied in order. */
#include "core/core.h"

#define SMALL (INT64_C(1) << 15) /* entries; below, threads cost more than they bring */

static inline int64_t column(const void *colidx, bool wide, int64_t e)
{
    return wide ? ((const int64_t *)colidx)[e] : ((const int32_t *)colidx)[e];
}

/* First entry of a row whose column is out of range, or -1. Clears *ascending if the columns do not. */
static int64_t check_row(const void *colidx, bool wide, int64_t first, int64_t last, int64_t ncols,
                         bool *ascending)
{
    int64_t previous = -1;
    for (int64_t e = first; e < last; e++) {
        int64_t j = column(colidx, wide, e);
        if (j < 0 || j >= ncols)
            return e;
        if (j <= previous)
            *ascending = false;
        previous = j;
    }
    return -1;
}

static GrB_Info check_rowptr(const char *call, int64_t nrows, const int64_t *rowptr)
{
    if (rowptr[0] != 0)
        return ftb_fail(GrB_INVALID_VALUE, "%s: rowptr[0] is %lld; expected 0", call, (long long)rowptr[0]);
    for (int64_t i = 0; i < nrows; i++)
        if (rowptr[i] > rowptr[i + 1])
            return ftb_fail(GrB_INVALID_VALUE,
                            "%s: rowptr[%lld] is %lld, less than rowptr[%lld], which is %lld", call,
                            (long long)i + 1, (long long)rowptr[i + 1], (long long)i, (long long)rowptr[i]);
    return GrB_SUCCESS;
}

GrB_Info ftb_csr_check(const char *call, FtB_Context ctx, int64_t nrows, int64_t ncols, const int64_t *rowptr,
                       const void *colidx, bool wide, bool *ascending)
{
    GrB_Info info = check_rowptr(call, nrows, rowptr);
    if (info != GrB_SUCCESS)
        return info;
    if (rowptr[nrows] > 0 && !colidx)
        return ftb_fail(GrB_NULL_POINTER, "%s: colidx is NULL; expected %lld columns", call,
                        (long long)rowptr[nrows]);
    int64_t bad_row = nrows;
    bool sorted = true;
    int threads = rowptr[nrows] > SMALL ? ftb_threads(ctx) : 1;
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads) reduction(min : bad_row) reduction(&& : sorted)
    for (int64_t i = 0; i < nrows; i++) {
        bool row_sorted = true;
        if (check_row(colidx, wide, rowptr[i], rowptr[i + 1], ncols, &row_sorted) >= 0)
            bad_row = ftb_min(bad_row, i);
        sorted = sorted && row_sorted;
    }
    *ascending = sorted;
    if (bad_row == nrows)
        return GrB_SUCCESS;
    int64_t e = check_row(colidx, wide, rowptr[bad_row], rowptr[bad_row + 1], ncols, &sorted);
    return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS,
                    "%s: colidx[%lld], in row %lld, is %lld; expected a column of %lld x %lld", call,
                    (long long)e, (long long)bad_row, (long long)column(colidx, wide, e), (long long)nrows,
                    (long long)ncols);
}

GrB_Info ftb_csr_sorted(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                        const int64_t *rowptr, const void *colidx, bool wide, const void *values)
{
    FtB_Context ctx = ftb_context();
    int64_t nvals = rowptr[nrows], *I = ftb_new(ctx, nvals, sizeof *I), *J = NULL;
    GrB_Info info = GrB_OUT_OF_MEMORY;
    if (!I || (!wide && !(J = ftb_new(ctx, nvals, sizeof *J)))) {
        info = ftb_nomem();
        goto done;
    }
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            I[e] = i;
            if (J)
                J[e] = column(colidx, wide, e);
        }
    info =
        FtB_Matrix_build(A, type, nrows, ncols, width, nvals, I, J ? J : colidx, values, FTB_DUP_ERROR, NULL);
done:
    ftb_delete(I);
    ftb_delete(J);
    return info;
}

GrB_Info FtB_Matrix_wrap_csr(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                             const int64_t *rowptr, const void *colidx, const void *values)
{
    const char *call = "FtB_Matrix_wrap_csr";
    if (!A)
        return ftb_fail(GrB_NULL_POINTER, "%s: A is NULL", call);
    *A = NULL;
    GrB_Info info = ftb_matrix_check_shape(call, type, nrows, ncols, width);
    if (info != GrB_SUCCESS)
        return info;
    if (!rowptr)
        return ftb_fail(GrB_NULL_POINTER, "%s: rowptr is NULL; expected %lld positions", call,
                        (long long)nrows + 1);
    FtB_Context ctx = ftb_context();
    bool ascending, wide = ftb_col_size(ncols) == 8;
    info = ftb_csr_check(call, ctx, nrows, ncols, rowptr, colidx, wide, &ascending);
    if (info != GrB_SUCCESS)
        return info;
    if (rowptr[nrows] > 0 && width > 0 && !values)
        return ftb_fail(GrB_NULL_POINTER, "%s: values is NULL; expected %lld x %lld values", call,
                        (long long)rowptr[nrows], (long long)width);
    if (!ascending) {
        info = ftb_csr_sorted(A, type, nrows, ncols, width, rowptr, colidx, wide, values);
        return info == GrB_INVALID_VALUE ? ftb_wrap_error(info, "%s: ", call) : info;
    }
    const int64_t nvals = rowptr[nrows], value = width * (int64_t)FtB_Type_size(type);
    ftb_pattern *pattern =
        ftb_pattern_new(ctx, nrows, ncols, ftb_buffer_wrap(ctx, rowptr, (nrows + 1) * 8, false),
                        ftb_buffer_wrap(ctx, colidx, nvals * (int64_t)ftb_col_size(ncols), false));
    return ftb_matrix_make(A, ctx, type, width, pattern,
                           width ? ftb_buffer_wrap(ctx, values, nvals * value, false) : NULL);
}
