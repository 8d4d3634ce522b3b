/* CSR arrays of a file that is not to be trusted, to a matrix. */
#include "core/duplicates.h"
#include "core/words.h"
#include "io/input.h"

void ftb_arrays_clear(ftb_arrays *a)
{
    ftb_delete(a->rowptr);
    ftb_delete(a->colidx);
    ftb_delete(a->values);
    a->rowptr = NULL;
    a->colidx = a->values = NULL;
}

GrB_Info ftb_read_array(void **array, FtB_Context ctx, ftb_input *in, int64_t count, size_t size,
                        const char *what)
{
    const int64_t step = 16 << 20;
    int64_t bytes, done = 0;
    *array = NULL;
    if (__builtin_mul_overflow(count, size, &bytes))
        return ftb_fail(FTB_FORMAT, "%s: the %s cannot be that long", ftb_input_name(in), what);
    int64_t known = ftb_input_size(in);
    if (known >= 0 && bytes > known)
        return ftb_fail(FTB_FORMAT, "%s: ends early, in the %s", ftb_input_name(in), what);
    do {
        int64_t room = known >= 0 ? bytes : ftb_min(bytes, ftb_max(step, 2 * done));
        if (!ftb_resize(ctx, array, room, 1))
            return ftb_nomem();
        GrB_Info info = ftb_input_exactly(in, (char *)*array + done, room - done, what);
        if (info != GrB_SUCCESS)
            return info;
        done = room;
    } while (done < bytes);
    return GrB_SUCCESS;
}

static inline int64_t column(const ftb_arrays *a, int64_t e)
{
    return a->column_bytes == 8 ? ((const int64_t *)a->colidx)[e] : ((const int32_t *)a->colidx)[e];
}

GrB_Info ftb_arrays_check_rowptr(const ftb_arrays *a, const char *what)
{
    const int64_t *rowptr = a->rowptr;
    int64_t wrong = INT64_MAX;
#pragma omp parallel for schedule(static) num_threads(ftb_threads(a->ctx))                                   \
    reduction(min                                                                                            \
              : wrong) if (a->nrows > 65536)
    for (int64_t i = 0; i < a->nrows; i++)
        if (rowptr[i] > rowptr[i + 1])
            wrong = ftb_min(wrong, i);
    if (wrong < INT64_MAX)
        return ftb_fail(FTB_FORMAT, "%s: %s fall from %lld to %lld at row %lld", a->name, what,
                        (long long)rowptr[wrong], (long long)rowptr[wrong + 1], (long long)wrong);
    if (rowptr[0] != 0 || rowptr[a->nrows] != a->nvals)
        return ftb_fail(FTB_FORMAT, "%s: %s go from %lld to %lld; expected 0 to %lld", a->name, what,
                        (long long)rowptr[0], (long long)rowptr[a->nrows], (long long)a->nvals);
    return GrB_SUCCESS;
}

/* Checks the columns; *ascending: strictly, in each row. */
static GrB_Info check_columns(const ftb_arrays *a, bool *ascending)
{
    char below[FTB_WORDS];
    int64_t wrong = INT64_MAX, falls = 0;
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ftb_threads(a->ctx)) reduction(min : wrong)               \
    reduction(+ : falls) if (a->nvals > 65536)
    for (int64_t i = 0; i < a->nrows; i++)
        for (int64_t e = a->rowptr[i], before = -1; e < a->rowptr[i + 1]; e++) {
            int64_t j = column(a, e);
            if (j < 0 || j >= a->ncols)
                wrong = ftb_min(wrong, e);
            falls += j <= before;
            before = j;
        }
    *ascending = falls == 0;
    if (wrong < INT64_MAX)
        return ftb_fail(FTB_FORMAT, "%s: entry %lld has column %lld; expected %s", a->name, (long long)wrong,
                        (long long)column(a, wrong), ftb_below_text(below, a->ncols));
    return GrB_SUCCESS;
}

/* Columns of the width that a pattern has. */
static GrB_Info fit_columns(ftb_arrays *a)
{
    int bytes = (int)ftb_col_size(a->ncols);
    if (bytes == a->column_bytes)
        return GrB_SUCCESS;
    if (bytes == 4) { /* in place, from the front */
        int64_t *from = a->colidx;
        int32_t *to = a->colidx;
        for (int64_t e = 0; e < a->nvals; e++) {
            int32_t j = (int32_t)from[e];
            memcpy(&to[e], &j, sizeof j);
        }
        if (!ftb_resize(a->ctx, &a->colidx, a->nvals, 4))
            return ftb_nomem();
    } else {
        int64_t *wide = ftb_new(a->ctx, a->nvals, sizeof *wide);
        if (!wide)
            return ftb_nomem();
        for (int64_t e = 0; e < a->nvals; e++)
            wide[e] = column(a, e);
        ftb_delete(a->colidx);
        a->colidx = wide;
    }
    a->column_bytes = bytes;
    return GrB_SUCCESS;
}

static GrB_Info cast_values(ftb_arrays *a, FtB_Type wanted)
{
    int64_t count = a->nvals * a->width;
    size_t from = FtB_Type_size(a->type), to = FtB_Type_size(wanted);
    if (a->width == 0 || wanted == a->type) {
        a->type = wanted;
        return GrB_SUCCESS;
    }
    const int64_t bad = ftb_find_unfit(wanted, a->values, a->type, count);
    if (bad >= 0) {
        char value[FTB_WORDS];
        return ftb_fail(FTB_FORMAT, "%s: value %lld, from 0, is %s, which %s cannot hold", a->name,
                        (long long)bad, ftb_value_text(value, a->values, a->type, bad),
                        FtB_Type_name(wanted));
    }
    void *values = to > from ? ftb_new(a->ctx, count, to) : a->values;
    if (!values)
        return ftb_nomem();
    ftb_cast(values, wanted, a->values, a->type, count);
    if (values != a->values) {
        ftb_delete(a->values);
        a->values = values;
    }
    a->type = wanted;
    return ftb_resize(a->ctx, &a->values, count, to) ? GrB_SUCCESS : ftb_nomem();
}

/* The type of 64 bits that takes what of `type` was too much. */
static FtB_Type widest(FtB_Type type, FtB_Dup dup)
{
    if (ftb_type_float(type))
        return FTB_FP64;
    return type >= FTB_UINT8 && type <= FTB_UINT64 && dup == FTB_DUP_SUM ? FTB_UINT64 : FTB_INT64;
}

GrB_Info ftb_build_merged(FtB_Matrix *A, ftb_arrays *a, const int64_t *I, const int64_t *J,
                          const FtB_Read_options *options)
{
    const FtB_Dup dup = options->duplicates;
    const FtB_Type wide = widest(a->type, dup);
    ftb_clash clash = {0};
    GrB_Info info = cast_values(a, options->type ? options->type : a->type);
    if (info == GrB_SUCCESS)
        info = ftb_build_strictly(A, a->type, a->nrows, a->ncols, a->width, a->nvals, I, J, a->values, dup,
                                  NULL, &clash);
    if (clash.beyond && !options->type && wide != a->type) {
        info = dup == FTB_DUP_COUNT ? GrB_SUCCESS : cast_values(a, wide);
        clash = (ftb_clash){0};
        if (info == GrB_SUCCESS)
            info = ftb_build_strictly(A, wide, a->nrows, a->ncols, a->width, a->nvals, I, J, a->values, dup,
                                      NULL, &clash);
    }
    if (clash.refused)
        return ftb_wrap_error(info, "%s: ", a->name);
    return clash.beyond || info == GrB_INDEX_OUT_OF_BOUNDS ? ftb_wrap_error(FTB_FORMAT, "%s: ", a->name)
                                                           : info;
}

/* By way of tuples: columns in any order, duplicates. */
static GrB_Info rebuild(FtB_Matrix *A, ftb_arrays *a, const FtB_Read_options *options)
{
    int64_t *I = ftb_new(a->ctx, a->nvals, sizeof *I), *J = ftb_new(a->ctx, a->nvals, sizeof *J);
    GrB_Info info = I && J ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
        for (int64_t i = 0; i < a->nrows; i++)
            for (int64_t e = a->rowptr[i]; e < a->rowptr[i + 1]; e++) {
                I[e] = i;
                J[e] = column(a, e);
            }
        ftb_delete(a->colidx);
        a->colidx = NULL;
        info = ftb_build_merged(A, a, I, J, options);
    }
    ftb_delete(I);
    ftb_delete(J);
    return info;
}

static GrB_Info adopt(FtB_Matrix *A, ftb_arrays *a)
{
    ftb_buffer *rowptr = ftb_buffer_adopt(a->ctx, a->rowptr), *colidx = ftb_buffer_adopt(a->ctx, a->colidx),
               *values = a->width > 0 ? ftb_buffer_adopt(a->ctx, a->values) : NULL;
    a->rowptr = NULL;
    a->colidx = a->values = NULL;
    if (!rowptr || !colidx || (a->width > 0 && !values)) {
        ftb_buffer_release(rowptr);
        ftb_buffer_release(colidx);
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    ftb_pattern *pattern = ftb_pattern_new(a->ctx, a->nrows, a->ncols, rowptr, colidx);
    if (!pattern) {
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    return ftb_matrix_make(A, a->ctx, a->type, a->width, pattern, values);
}

GrB_Info ftb_arrays_build(FtB_Matrix *A, ftb_arrays *a, const FtB_Read_options *options)
{
    bool ascending;
    GrB_Info info;
    FTB_CHECK(ftb_arrays_check_rowptr(a, "row pointers"));
    FTB_CHECK(check_columns(a, &ascending));
    if (a->type == FTB_BOOL && a->width > 0) /* only 0 and 1 are values of the C type */
        for (int64_t e = 0; e < a->nvals * a->width; e++)
            ((uint8_t *)a->values)[e] = ((uint8_t *)a->values)[e] != 0;
    FTB_CHECK(cast_values(a, options->type ? options->type : a->type));
    if (ascending && options->duplicates != FTB_DUP_COUNT) {
        FTB_CHECK(fit_columns(a));
        FTB_CHECK(adopt(A, a));
    } else {
        FTB_CHECK(rebuild(A, a, options));
    }
done:
    ftb_arrays_clear(a);
    return info;
}
