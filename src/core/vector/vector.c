/* Sparse vectors: objects. What is inside them is vector_forms.c's. */
#include "core/vector/vector_forms.h"

#include "core/search.h"
#include "core/watch.h"

static GrB_Info check_vector(FtB_Vector v, const char *name)
{
    if (!v)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected an FtB_Vector", name);
    if (v->magic != FTB_MAGIC_VECTOR)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s is not an FtB_Vector, or was freed", name);
    return GrB_SUCCESS;
}

GrB_Info ftb_vector_check_shape(const char *call, FtB_Type type, int64_t size)
{
    if (!ftb_type_valid(type))
        return ftb_fail(GrB_INVALID_VALUE, "%s: type is %d, which is not an FtB_Type", call, (int)type);
    if (size < 0 || size == INT64_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "%s: size is %lld; expected 0 to 2^63 - 2", call, (long long)size);
    return GrB_SUCCESS;
}

GrB_Info ftb_vector_make(FtB_Vector *out, FtB_Context ctx, ftb_vector *v)
{
    *out = NULL;
    FtB_Vector made = ftb_new0(ctx, 1, sizeof *made);
    if (!made) {
        ftb_vector_clear(v);
        return ftb_nomem();
    }
    made->magic = FTB_MAGIC_VECTOR;
    made->ctx = ctx ? ctx : ftb_context();
    made->v = *v;
    *v = (ftb_vector){.form = FTB_VECTOR_LIST};
    *out = made;
    return GrB_SUCCESS;
}

void ftb_vector_become(FtB_Vector v, ftb_vector *content)
{
    ftb_vector_clear(&v->v);
    v->v = *content;
    *content = (ftb_vector){.form = FTB_VECTOR_LIST};
}

GrB_Info FtB_Vector_new(FtB_Vector *v, FtB_Type type, int64_t size)
{
    ftb_vector empty;
    if (!v)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Vector_new: v is NULL");
    *v = NULL;
    GrB_Info info = ftb_vector_check_shape("FtB_Vector_new", type, size);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Context ctx = ftb_context();
    info = ftb_vector_room(&empty, ctx, FTB_VECTOR_LIST, type, size, 0);
    return info == GrB_SUCCESS ? ftb_vector_make(v, ctx, &empty) : info;
}

/* ---- building */

static GrB_Info check_entries(FtB_Type type, int64_t size, int64_t nvals, const int64_t *I, const void *X,
                              FtB_Dup dup)
{
    static const char call[] = "FtB_Vector_build";
    GrB_Info info = ftb_vector_check_shape(call, type, size);
    if (info != GrB_SUCCESS)
        return info;
    if (nvals < 0 || (int)dup < FTB_DUP_SUM || (int)dup >= FTB_DUP_KEEP)
        return nvals < 0 ? ftb_fail(GrB_INVALID_VALUE, "%s: nvals is %lld; expected 0 or more", call,
                                    (long long)nvals)
                         : ftb_fail(GrB_INVALID_VALUE,
                                    "%s: dup is %d; expected a rule that leaves one entry at a place "
                                    "(FTB_DUP_SUM to FTB_DUP_ERROR)",
                                    call, (int)dup);
    if (nvals > 0 && (!I || (!X && dup != FTB_DUP_COUNT)))
        return ftb_fail(GrB_NULL_POINTER, "%s: %s is NULL; expected %lld %s", call, I ? "X" : "I",
                        (long long)nvals, I ? "values" : "places");
    for (int64_t t = 0; t < nvals; t++)
        if (I[t] < 0 || I[t] >= size)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "%s: I[%lld] is %lld; expected 0 to %lld", call,
                            (long long)t, (long long)I[t], (long long)size - 1);
    return GrB_SUCCESS;
}

/* A matrix of one row becomes a list. */
static GrB_Info list_of_row(ftb_vector *v, FtB_Context ctx, FtB_Matrix row)
{
    const ftb_pattern *p = row->pattern;
    GrB_Info info = ftb_vector_room(v, ctx, FTB_VECTOR_LIST, row->type, p->ncols, p->nvals);
    if (info != GrB_SUCCESS)
        return info;
    ftb_cast(v->index, FTB_INT64, p->colidx, p->wide ? FTB_INT64 : FTB_INT32, p->nvals);
    ftb_cast(v->values, v->type, ftb_values(row), v->type, p->nvals);
    return ftb_vector_settle(v, ctx);
}

/* Entries are sorted and merged as those of a row. */
GrB_Info FtB_Vector_build(FtB_Vector *v, FtB_Type type, int64_t size, int64_t nvals, const int64_t *I,
                          const void *X, FtB_Dup dup)
{
    ftb_vector content = {.form = FTB_VECTOR_LIST};
    FtB_Matrix row = NULL;
    int64_t *zeros = NULL;
    if (!v)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Vector_build: v is NULL");
    *v = NULL;
    FtB_Context ctx = ftb_context();
    GrB_Info info = check_entries(type, size, nvals, I, X, dup);
    if (info != GrB_SUCCESS)
        return info;
    if (!(zeros = ftb_new0(ctx, nvals, sizeof *zeros)))
        FTB_CHECK(ftb_nomem());
    info = FtB_Matrix_build(&row, type, 1, size, 1, nvals, zeros, I, X, dup, NULL);
    if (info != GrB_SUCCESS) {
        info = ftb_wrap_error(info, "FtB_Vector_build: ");
        goto done;
    }
    FTB_CHECK(list_of_row(&content, ctx, row));
    info = ftb_vector_make(v, ctx, &content);
done:
    ftb_vector_clear(&content);
    FtB_Matrix_free(&row);
    ftb_delete(zeros);
    return info;
}

GrB_Info FtB_Vector_dup(FtB_Vector *u, FtB_Vector v)
{
    ftb_vector content;
    if (!u)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Vector_dup: u is NULL");
    *u = NULL;
    GrB_Info info = check_vector(v, "v");
    if (info != GrB_SUCCESS)
        return info;
    FtB_Context ctx = ftb_context();
    info = ftb_vector_as(&content, ctx, &v->v, v->v.form);
    return info == GrB_SUCCESS ? ftb_vector_make(u, ctx, &content) : info;
}

/* ---- blocks */

GrB_Info FtB_Vector_from_block(FtB_Vector *v, FtB_Block X)
{
    ftb_vector content;
    if (!v)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Vector_from_block: v is NULL");
    *v = NULL;
    GrB_Info info = ftb_arg_block(&X, (FtB_Arg){.kind = FTB_KIND_BLOCK, .handle = X}, "X", false);
    if (info != GrB_SUCCESS)
        return info;
    if (X->ncols != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "FtB_Vector_from_block: X is %lld x %lld; expected one column", (long long)X->nrows,
                        (long long)X->ncols);
    FtB_Context ctx = ftb_context();
    const size_t each = FtB_Type_size(X->type);
    const char *from = ftb_block_data(X);
    info = ftb_vector_room(&content, ctx, FTB_VECTOR_DENSE, X->type, X->nrows, X->nrows);
    if (info != GrB_SUCCESS)
        return info;
    char *to = content.values;
#pragma omp parallel for num_threads(ftb_threads_for_values(ctx, X->nrows)) schedule(static)
    for (int64_t i = 0; i < X->nrows; i++)
        memcpy(to + (size_t)i * each, from + (size_t)(i * X->ld) * each, each);
    info = ftb_vector_settle(&content, ctx); /* without places there are no entries, either */
    return info == GrB_SUCCESS ? ftb_vector_make(v, ctx, &content) : info;
}

/* A block's column gets one value everywhere, then those of the entries. */
static void write_column(FtB_Block X, const ftb_vector *v, const void *values, double fill)
{
    const size_t each = FtB_Type_size(X->type);
    const bool list = v->form == FTB_VECTOR_LIST;
    const int64_t count = list ? v->nvals : v->size;
    const int threads = ftb_threads_for_values(X->ctx, v->size);
    char *to = ftb_block_data(X);
    double one = 0; /* bytes of X's dtype */
    ftb_cast(&one, X->type, &fill, FTB_FP64, 1);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < v->size; i++)
        memcpy(to + (size_t)(i * X->ld) * each, &one, each);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t t = 0; t < count; t++)
        if (!v->present || v->present[t])
            memcpy(to + (size_t)((list ? v->index[t] : t) * X->ld) * each,
                   (const char *)values + (size_t)t * each, each);
}

GrB_Info FtB_Vector_to_block(FtB_Block X, FtB_Vector v, double fill)
{
    GrB_Info info = ftb_arg_block_anywhere(&X, (FtB_Arg){.kind = FTB_KIND_BLOCK, .handle = X}, "X", false);
    if (info == GrB_SUCCESS)
        info = check_vector(v, "v");
    if (info != GrB_SUCCESS)
        return info;
    if (X->ncols != 1 || X->nrows != v->v.size)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "FtB_Vector_to_block: X is %lld x %lld; expected %lld x 1",
                        (long long)X->nrows, (long long)X->ncols, (long long)v->v.size);
    if (!X->owner->writable)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Vector_to_block: X wraps memory that must not be written");
    const int64_t count = v->v.form == FTB_VECTOR_LIST ? v->v.nvals : v->v.size;
    void *cast = X->type != v->v.type ? ftb_new(X->ctx, count, FtB_Type_size(X->type)) : v->v.values;
    if (!cast)
        return ftb_nomem();
    if (cast != v->v.values)
        ftb_cast(cast, X->type, v->v.values, v->v.type, count);
    info = ftb_buffer_ask_as(X->owner, ftb_block_whole(X) ? FTB_WRITE : FTB_UPDATE, "X");
    if (info == GrB_SUCCESS) {
        (void)ftb_buffer_write(X->owner);
        write_column(X, &v->v, cast, fill);
    }
    if (cast != v->v.values)
        ftb_delete(cast);
    return info;
}

/* ---- reading and writing */

GrB_Info FtB_Vector_shape(FtB_Vector v, int64_t *size, int64_t *nvals, FtB_Type *type)
{
    GrB_Info info = check_vector(v, "v");
    if (info != GrB_SUCCESS)
        return info;
    if (size)
        *size = v->v.size;
    if (nvals)
        *nvals = v->v.nvals;
    if (type)
        *type = v->v.type;
    return GrB_SUCCESS;
}

GrB_Info FtB_Vector_tuples(FtB_Vector v, int64_t *I, void *X)
{
    GrB_Info info = check_vector(v, "v");
    if (info != GrB_SUCCESS)
        return info;
    const ftb_vector *u = &v->v;
    const size_t each = FtB_Type_size(u->type);
    int64_t at = 0;
    if (u->form != FTB_VECTOR_BITMAP) { /* values are side by side */
        for (int64_t t = 0; I && t < u->nvals; t++)
            I[t] = u->index ? u->index[t] : t;
        if (X && u->nvals > 0)
            memcpy(X, u->values, (size_t)u->nvals * each);
        return GrB_SUCCESS;
    }
    for (int64_t i = 0; i < u->size; i++)
        if (u->present[i]) {
            if (I)
                I[at] = i;
            if (X)
                memcpy((char *)X + (size_t)at * each, (const char *)u->values + (size_t)i * each, each);
            at++;
        }
    return GrB_SUCCESS;
}

static GrB_Info check_place(FtB_Vector v, int64_t i, const char *call)
{
    GrB_Info info = check_vector(v, "v");
    if (info == GrB_SUCCESS && (i < 0 || i >= v->v.size))
        info = ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "%s: i is %lld, of a vector of %lld places", call,
                        (long long)i, (long long)v->v.size);
    return info;
}

static GrB_Info check_value(const void *x, const char *call)
{
    return x ? GrB_SUCCESS : ftb_fail(GrB_NULL_POINTER, "%s: x is NULL; expected a value", call);
}

GrB_Info FtB_Vector_get(FtB_Vector v, int64_t i, void *x)
{
    GrB_Info info = check_place(v, i, "FtB_Vector_get");
    if (info == GrB_SUCCESS)
        info = check_value(x, "FtB_Vector_get");
    if (info != GrB_SUCCESS)
        return info;
    const int64_t at = ftb_vector_find(&v->v, i);
    const size_t each = FtB_Type_size(v->v.type);
    if (at < 0)
        return GrB_NO_VALUE;
    memcpy(x, (const char *)v->v.values + (size_t)at * each, each);
    return GrB_SUCCESS;
}

/* Room for one more at place `at` of a list. */
static GrB_Info open_list(ftb_vector *v, FtB_Context ctx, int64_t at)
{
    const size_t each = FtB_Type_size(v->type);
    const int64_t behind = v->nvals - at;
    void *index = v->index;
    if (!ftb_resize(ctx, &index, v->nvals + 1, sizeof *v->index))
        return ftb_nomem();
    v->index = index;
    if (!ftb_resize(ctx, &v->values, v->nvals + 1, each))
        return ftb_nomem();
    char *value = (char *)v->values + (size_t)at * each;
    memmove(v->index + at + 1, v->index + at, (size_t)behind * sizeof *v->index);
    memmove(value + each, value, (size_t)behind * each);
    return GrB_SUCCESS;
}

GrB_Info FtB_Vector_set(FtB_Vector v, int64_t i, const void *x)
{
    GrB_Info info = check_place(v, i, "FtB_Vector_set");
    if (info == GrB_SUCCESS)
        info = check_value(x, "FtB_Vector_set");
    if (info != GrB_SUCCESS)
        return info;
    ftb_vector *u = &v->v;
    int64_t at = ftb_vector_find(u, i);
    const bool more = at < 0;
    if (more && u->form == FTB_VECTOR_LIST) {
        at = ftb_first_not_below(u->index, u->nvals, i);
        info = open_list(u, v->ctx, at);
        if (info != GrB_SUCCESS)
            return info;
        u->index[at] = i;
    } else if (more)
        u->present[at = i] = 1;
    u->nvals += more;
    const size_t each = FtB_Type_size(u->type);
    memcpy((char *)u->values + (size_t)at * each, x, each);
    if (u->form == FTB_VECTOR_LIST || u->nvals == u->size)
        (void)ftb_vector_settle(u, v->ctx); /* where that fails, the form that it has does, too */
    return GrB_SUCCESS;
}

GrB_Info FtB_Vector_remove(FtB_Vector v, int64_t i)
{
    GrB_Info info = check_place(v, i, "FtB_Vector_remove");
    if (info != GrB_SUCCESS)
        return info;
    ftb_vector *u = &v->v, bitmap;
    const size_t each = FtB_Type_size(u->type);
    const int64_t at = ftb_vector_find(u, i), behind = u->nvals - at - 1;
    char *value = (char *)u->values + (size_t)ftb_max(at, 0) * each;
    if (at < 0)
        return GrB_SUCCESS;
    if (u->form == FTB_VECTOR_LIST) {
        memmove(u->index + at, u->index + at + 1, (size_t)behind * sizeof *u->index);
        memmove(value, value + each, (size_t)behind * each);
        u->nvals--;
        return GrB_SUCCESS;
    }
    if (u->form == FTB_VECTOR_DENSE) {
        info = ftb_vector_as(&bitmap, v->ctx, u, FTB_VECTOR_BITMAP);
        if (info != GrB_SUCCESS)
            return info;
        ftb_vector_become(v, &bitmap);
        value = (char *)u->values + (size_t)i * each;
    }
    u->present[i] = 0;
    memset(value, 0, each);
    u->nvals--;
    return GrB_SUCCESS;
}

GrB_Info FtB_Vector_free(FtB_Vector *v)
{
    if (!v || !*v)
        return GrB_SUCCESS;
    GrB_Info info = check_vector(*v, "v");
    if (info != GrB_SUCCESS)
        return info;
    ftb_vector_clear(&(*v)->v);
    (*v)->magic = 0;
    ftb_delete(*v);
    *v = NULL;
    return GrB_SUCCESS;
}
