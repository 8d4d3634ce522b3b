/* Sparse matrices: a shared pattern and, unless the width is 0, nvals x width values. */
#include "core/draw_tables.h"
#include "core/hypersparse.h"

static GrB_Info check_matrix(FtB_Matrix A, const char *name)
{
    if (!A)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected an FtB_Matrix", name);
    if (A->magic != FTB_MAGIC_MATRIX)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s is not an FtB_Matrix, or was freed", name);
    return GrB_SUCCESS;
}

GrB_Info ftb_matrix_check_shape(const char *call, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width)
{
    if (!ftb_type_valid(type))
        return ftb_fail(GrB_INVALID_VALUE, "%s: type is %d, which is not an FtB_Type", call, (int)type);
    if (nrows < 0 || ncols < 0 || nrows == INT64_MAX || ncols == INT64_MAX)
        return ftb_fail(GrB_INVALID_VALUE,
                        "%s: the shape is %lld x %lld; expected dimensions from 0 to 2^63 - 2", call,
                        (long long)nrows, (long long)ncols);
    if (width < 0 || width > INT64_MAX / 8)
        return ftb_fail(GrB_INVALID_VALUE, "%s: width is %lld; expected 0 (pattern only) to 2^60 - 1", call,
                        (long long)width);
    return GrB_SUCCESS;
}

/* A buffer of count x width values, zeroed; the product is overflow-checked. */
static ftb_buffer *new_values(FtB_Context ctx, FtB_Type type, int64_t count, int64_t width)
{
    int64_t total;
    if (__builtin_mul_overflow(count, width, &total))
        total = INT64_MAX; /* refused by the allocator, with its message */
    return ftb_buffer_new(ctx, total, FtB_Type_size(type));
}

static GrB_Info make_handle(FtB_Matrix *A, FtB_Context ctx, FtB_Type type, int64_t width,
                            ftb_pattern *pattern, ftb_buffer *values)
{
    *A = NULL;
    FtB_Matrix made = pattern && (values || width == 0) ? ftb_new0(ctx, 1, sizeof *made) : NULL;
    if (!made) {
        ftb_pattern_release(pattern);
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    made->magic = FTB_MAGIC_MATRIX;
    made->ctx = ctx ? ctx : ftb_context();
    made->type = type;
    made->width = width;
    made->pattern = pattern;
    made->values = values;
    *A = made;
    return GrB_SUCCESS;
}

GrB_Info ftb_matrix_make(FtB_Matrix *A, FtB_Context ctx, FtB_Type type, int64_t width, ftb_pattern *pattern,
                         ftb_buffer *values)
{
    GrB_Info info = make_handle(A, ctx, type, width, pattern, values);
    if (info == GrB_SUCCESS)
        ftb_buffer_describe(values, &(ftb_content){FTB_KIND_MATRIX, type, ftb_rows_in_all(pattern),
                                                   pattern->ncols, pattern->nvals, width});
    return info;
}

GrB_Info ftb_matrix_view(FtB_Matrix *V, FtB_Matrix A, ftb_pattern *pattern)
{
    return make_handle(V, A->ctx, A->type, A->width, pattern, ftb_buffer_retain(A->values));
}

/* A matrix over `pattern` (adopted, also on failure) with values of zero. */
static GrB_Info make_zero(FtB_Matrix *A, FtB_Context ctx, FtB_Type type, int64_t width, ftb_pattern *pattern)
{
    ftb_buffer *values = pattern && width ? new_values(ctx, type, pattern->nvals, width) : NULL;
    return ftb_matrix_make(A, ctx, type, width, pattern, values);
}

GrB_Info ftb_matrix_share(FtB_Matrix *B, FtB_Matrix A)
{
    return ftb_matrix_make(B, A->ctx, A->type, A->width, ftb_pattern_retain(A->pattern),
                           ftb_buffer_retain(A->values));
}

GrB_Info FtB_Matrix_new(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width)
{
    if (!A)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_new: A is NULL");
    *A = NULL;
    GrB_Info info = ftb_matrix_check_shape("FtB_Matrix_new", type, nrows, ncols, width);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Context ctx = ftb_context();
    return make_zero(A, ctx, type, width, ftb_pattern_empty(ctx, nrows, ncols));
}

GrB_Info FtB_Matrix_like(FtB_Matrix *S, FtB_Matrix A, int64_t width, FtB_Type type)
{
    if (!S)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_like: S is NULL");
    *S = NULL;
    GrB_Info info = check_matrix(A, "A");
    if (info == GrB_SUCCESS)
        info = ftb_matrix_check_shape("FtB_Matrix_like", type, 0, 0, width);
    if (info != GrB_SUCCESS)
        return info;
    return make_zero(S, ftb_context(), type, width, ftb_pattern_retain(A->pattern));
}

/* How many values A holds. */
static int64_t value_count(FtB_Matrix A) { return A->pattern->nvals * A->width; }

#define SLICE (INT64_C(1) << 16) /* values per step of a parallel copy */

static void cast_all(FtB_Context ctx, void *dst, FtB_Type dt, const void *src, FtB_Type st, int64_t count)
{
    size_t ds = FtB_Type_size(dt), ss = FtB_Type_size(st);
    int threads = count > SLICE ? ftb_threads(ctx) : 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < count; first += SLICE)
        ftb_cast((char *)dst + (size_t)first * ds, dt, (const char *)src + (size_t)first * ss, st,
                 ftb_min(SLICE, count - first));
}

/* A new buffer with A's values cast to `type`. */
static ftb_buffer *copy_values(FtB_Context ctx, FtB_Matrix A, FtB_Type type)
{
    int64_t count = value_count(A);
    void *copy = ftb_new(ctx, count, FtB_Type_size(type));
    if (copy)
        cast_all(ctx, copy, type, ftb_values(A), A->type, count);
    return ftb_buffer_adopt(ctx, copy);
}

GrB_Info FtB_Matrix_dup(FtB_Matrix *B, FtB_Matrix A)
{
    if (!B)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_dup: B is NULL");
    *B = NULL;
    GrB_Info info = check_matrix(A, "A");
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask_as(A->values, FTB_READ, "A");
    if (info != GrB_SUCCESS)
        return info;
    FtB_Context ctx = ftb_context();
    ftb_buffer *values = NULL;
    if (A->width && !(values = copy_values(ctx, A, A->type)))
        return ftb_nomem();
    return ftb_matrix_make(B, ctx, A->type, A->width, ftb_pattern_retain(A->pattern), values);
}

GrB_Info FtB_Matrix_shape(FtB_Matrix A, int64_t *nrows, int64_t *ncols, int64_t *nvals, int64_t *width,
                          FtB_Type *type)
{
    GrB_Info info = check_matrix(A, "A");
    if (info != GrB_SUCCESS)
        return info;
    if (nrows)
        *nrows = A->pattern->nrows;
    if (ncols)
        *ncols = A->pattern->ncols;
    if (nvals)
        *nvals = A->pattern->nvals;
    if (width)
        *width = A->width;
    if (type)
        *type = A->type;
    return GrB_SUCCESS;
}

GrB_Info FtB_Matrix_csr(FtB_Matrix A, const int64_t **rowptr, const void **colidx, const void **values)
{
    GrB_Info info = check_matrix(A, "A");
    if (info == GrB_SUCCESS && rowptr)
        info = ftb_pattern_all_rows(A->pattern, "A");
    if (info != GrB_SUCCESS)
        return info;
    if (rowptr)
        *rowptr = A->pattern->rowptr;
    if (colidx)
        *colidx = A->pattern->colidx;
    if (values && A->values)
        info = ftb_device_error(ftb_buffer_lend(A->values), "A");
    if (values)
        *values = info == GrB_SUCCESS ? ftb_values(A) : NULL;
    return info;
}

GrB_Info FtB_Matrix_tuples(FtB_Matrix A, int64_t *I, int64_t *J, void *X)
{
    GrB_Info info = check_matrix(A, "A");
    if (info == GrB_SUCCESS && X)
        info = ftb_buffer_ask_as(A->values, FTB_READ, "A");
    if (info != GrB_SUCCESS)
        return info;
    const ftb_pattern *p = ftb_pattern_rows(A->pattern);
    for (int64_t r = 0; I && r < p->nrows; r++)
        for (int64_t e = p->rowptr[r]; e < p->rowptr[r + 1]; e++)
            I[e] = ftb_row_number(p, r);
    if (J)
        ftb_cast(J, FTB_INT64, p->colidx, p->wide ? FTB_INT64 : FTB_INT32, p->nvals);
    if (X && value_count(A) > 0)
        memcpy(X, ftb_values(A), (size_t)value_count(A) * FtB_Type_size(A->type));
    return GrB_SUCCESS;
}

GrB_Info FtB_Matrix_values(FtB_Block *V, FtB_Matrix A)
{
    if (!V)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_values: V is NULL");
    *V = NULL;
    GrB_Info info = check_matrix(A, "A");
    if (info != GrB_SUCCESS)
        return info;
    if (A->width == 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Matrix_values: A (%lld x %lld) has width 0 and stores no values",
                        (long long)A->pattern->nrows, (long long)A->pattern->ncols);
    return ftb_block_view(V, A->ctx, A->type, A->pattern->nvals, A->width, A->width,
                          ftb_buffer_retain(A->values));
}

void ftb_draw_tables_delete(ftb_draw_tables *a)
{
    if (!a)
        return;
    ftb_buffer_release(a->made);
    ftb_watch_end(&a->values);
    ftb_delete(a->text);
    ftb_delete(a);
}

/* Frees what A refers to, but not A. */
static void release_content(FtB_Matrix A)
{
    for (int kind = 0; kind < FTB_TABLES_KINDS; kind++) {
        ftb_draw_tables_delete(A->tables[kind]);
        A->tables[kind] = NULL;
    }
    ftb_pattern_release(A->pattern);
    ftb_buffer_release(A->values);
    A->pattern = NULL;
    A->values = NULL;
}

GrB_Info FtB_Matrix_free(FtB_Matrix *A)
{
    if (!A || !*A)
        return GrB_SUCCESS;
    GrB_Info info = check_matrix(*A, "A");
    if (info != GrB_SUCCESS)
        return info;
    release_content(*A);
    (*A)->magic = 0;
    ftb_delete(*A);
    *A = NULL;
    return GrB_SUCCESS;
}

GrB_Info ftb_matrix_become(FtB_Matrix C, FtB_Matrix T)
{
    ftb_buffer *cast = NULL;
    GrB_Info info = ftb_matrix_whole(T);
    if (info != GrB_SUCCESS)
        return info;
    if (T->values && T->type != C->type) {
        info = ftb_buffer_ask(T->values, FTB_READ);
        if (info != GrB_SUCCESS)
            return info;
        if (!(cast = copy_values(C->ctx, T, C->type)))
            return ftb_nomem();
    }
    release_content(C);
    C->width = T->width;
    C->pattern = ftb_pattern_retain(T->pattern);
    C->values = cast ? cast : ftb_buffer_retain(T->values);
    return FtB_Matrix_free(&T);
}

GrB_Info ftb_matrix_transpose(FtB_Matrix *T, FtB_Matrix A)
{
    GrB_Info info = ftb_matrix_transpose_listed(T, A);
    if (info == GrB_SUCCESS && (info = ftb_pattern_all_rows((*T)->pattern, "the transpose")) != GrB_SUCCESS)
        FtB_Matrix_free(T);
    return info;
}

GrB_Info ftb_matrix_transpose_listed(FtB_Matrix *T, FtB_Matrix A)
{
    ftb_pattern *pattern;
    const int64_t *from;
    *T = NULL;
    GrB_Info info = ftb_pattern_transpose_listed(A->pattern, &pattern, &from);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(A->values, FTB_READ);
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *values = NULL;
    if (A->width) {
        int64_t nvals = pattern->nvals;
        size_t entry = (size_t)A->width * FtB_Type_size(A->type);
        char *moved = ftb_new(A->ctx, value_count(A), FtB_Type_size(A->type));
        if (!moved)
            return ftb_nomem();
        const char *old = ftb_values(A);
#pragma omp parallel for schedule(static) num_threads(nvals > SLICE ? ftb_threads(A->ctx) : 1)
        for (int64_t e = 0; e < nvals; e++)
            memcpy(moved + (size_t)e * entry, old + (size_t)from[e] * entry, entry);
        if (!(values = ftb_buffer_adopt(A->ctx, moved)))
            return ftb_nomem();
    }
    return ftb_matrix_make(T, A->ctx, A->type, A->width, ftb_pattern_retain(pattern), values);
}
