/* C(I, J)<M> = accum(C(I, J), A) of matrices.
 *
 *     S = A's entries at the rows and columns of C that I and J say
 *     Z = C without C(I, J) (with an accumulator: C), and S
 *     C = Z where the mask admits; elsewhere nothing with replace, else what C had
 *
 * A row or a column is taken out, assigned to as a vector (assign_vector.c), and put back. Where rows are
 * listed (core/hypersparse.h), those alone are gone through. */
#include "ops/parts/assign.h"
#include "cpu/entries/extract_run.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_assign

typedef struct assign_call {
    FtB_Context ctx;
    FtB_Matrix C, M;
    ftb_flags flags;
    FtB_Op accum;
    ftb_index_list rows, columns; /* of C */
} assign_call;

/* ---- what is put there */

/* A's entries by C's rows and columns. */
static GrB_Info place_matrix(FtB_Matrix *S, const assign_call *c, FtB_Matrix A)
{
    const ftb_pattern *p = ftb_pattern_rows(A->pattern), *to = c->C->pattern;
    if (!c->rows.at && !c->columns.at)
        return ftb_matrix_copy(S, c->ctx, A);
    int64_t *I = ftb_new(c->ctx, p->nvals, sizeof *I), *J = ftb_new(c->ctx, p->nvals, sizeof *J);
    GrB_Info info = I && J ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
        ftb_place_entries(c->ctx, p, c->rows.at, c->columns.at, I, J);
        info = FtB_Matrix_build(S, A->type, to->nrows, to->ncols, A->width, p->nvals, I, J, ftb_values(A),
                                FTB_DUP_ERROR, NULL);
    }
    ftb_delete(I);
    ftb_delete(J);
    return info;
}

/* Entries without values are 1, and are so in as many values as C's have. */
static GrB_Info give_values(FtB_Matrix S, const assign_call *c)
{
    const int8_t one = 1;
    const int64_t nvals = S->pattern->nvals, width = c->C->width;
    if (S->width > 0 || width == 0)
        return GrB_SUCCESS;
    ftb_buffer *values = ftb_values_new(c->ctx, nvals, width, FTB_INT8);
    if (!values)
        return ftb_nomem();
    ftb_fill(ftb_buffer_data(values), nvals * width, &one, 1);
    S->values = values;
    S->type = FTB_INT8;
    S->width = width;
    return GrB_SUCCESS;
}

/* Entries of a pattern, each the number. */
static GrB_Info number_matrix(FtB_Matrix *S, FtB_Context ctx, ftb_pattern *pattern, const ftb_assigned *x)
{
    ftb_buffer *values = pattern ? ftb_values_new(ctx, pattern->nvals, 1, x->type) : NULL;
    if (values)
        ftb_fill(ftb_buffer_data(values), pattern->nvals,
                 x->type == FTB_FP64 ? (const void *)&x->real : &x->integer, 8);
    return ftb_matrix_make(S, ctx, x->type, 1, pattern, values);
}

static ftb_region region_of(const assign_call *c)
{
    return (ftb_region){c->rows.sorted, c->rows.count, c->columns.sorted, c->columns.count};
}

/* A's entries that are inside of C(I, J), or outside. */
static GrB_Info keep_some(FtB_Matrix *T, const assign_call *c, FtB_Matrix A, bool inside)
{
    const ftb_region region = region_of(c);
    uint8_t *keep = ftb_new(c->ctx, A->pattern->nvals, 1);
    if (!keep)
        return ftb_nomem();
    ftb_mark_region(c->ctx, keep, ftb_pattern_rows(A->pattern), &region, inside);
    GrB_Info info = ftb_keep(T, c->ctx, A, keep);
    ftb_delete(keep);
    return info;
}

/* Where the mask says so; C(I, J) is left to the merge. */
static GrB_Info number_by_mask(FtB_Matrix *S, const assign_call *c, const ftb_assigned *x)
{
    FtB_Matrix kept = NULL;
    GrB_Info info = keep_some(&kept, c, c->M, true);
    if (info == GrB_SUCCESS)
        info = number_matrix(S, c->ctx, ftb_pattern_retain(kept->pattern), x);
    FtB_Matrix_free(&kept);
    return info;
}

/* All places of C(I, J); NULL on failure. */
static ftb_pattern *whole_region(const assign_call *c)
{
    const ftb_region region = region_of(c);
    const ftb_pattern *to = c->C->pattern;
    int64_t count;
    if (__builtin_mul_overflow(region.nrows, region.ncolumns, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    if (count == 0)
        return ftb_pattern_empty(c->ctx, to->nrows, to->ncols);
    ftb_buffer *colidx = ftb_buffer_new(c->ctx, count, ftb_col_size(to->ncols)),
               *rowptr = colidx ? ftb_buffer_new(c->ctx, region.nrows + 1, sizeof(int64_t)) : NULL;
    if (rowptr)
        ftb_fill_region(c->ctx, &region, ftb_buffer_data(rowptr), ftb_buffer_data(colidx),
                        ftb_col_size(to->ncols) == 8);
    ftb_pattern *p = ftb_pattern_new(c->ctx, region.nrows, to->ncols, rowptr, colidx);
    if (!p || !region.rows)
        return p;
    ftb_buffer *numbers = ftb_buffer_new(c->ctx, region.nrows, sizeof(int64_t));
    if (numbers)
        memcpy(ftb_buffer_data(numbers), region.rows, (size_t)region.nrows * sizeof(int64_t));
    return ftb_pattern_whole(ftb_pattern_number(p, to->nrows, numbers));
}

/* ---- the rule */

/* Z, of C's dtype and width. */
static GrB_Info combine(FtB_Matrix *Z, const assign_call *c, FtB_Matrix S)
{
    FtB_Matrix rest = NULL;
    ftb_merge_rule rule = {.left = c->C,
                           .right = S,
                           .lone_left = true,
                           .lone_right = true,
                           .combine = c->accum != NULL,
                           .op = c->C->width > 0 ? c->accum : NULL,
                           .type = c->C->type,
                           .width = c->C->width};
    GrB_Info info = c->accum ? GrB_SUCCESS : keep_some(&rest, c, c->C, false);
    if (info != GrB_SUCCESS)
        return info;
    if (rest)
        rule.left = rest;
    info = ftb_merge(Z, NULL, c->ctx, &rule);
    FtB_Matrix_free(&rest);
    return info;
}

static GrB_Info write(assign_call *c, FtB_Matrix S)
{
    FtB_Matrix Z = NULL;
    GrB_Info info = combine(&Z, c, S);
    if (info == GrB_SUCCESS)
        info = ftb_write(c->C, c->M, &c->flags, NULL, Z);
    if (info != GrB_SUCCESS)
        FtB_Matrix_free(&Z);
    return info;
}

static GrB_Info check_entries(const assign_call *c, FtB_Matrix A)
{
    if (c->C->pattern->multi || A->pattern->multi)
        return ftb_fail(GrB_INVALID_VALUE, "%s has parallel edges, which cannot be assigned",
                        c->C->pattern->multi ? "C" : "A");
    if (A->width != c->C->width && A->width != 0)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "A has entries of width %lld, C of width %lld; expected the same",
                        (long long)A->width, (long long)c->C->width);
    return ftb_write_check(c->C, c->M, &c->flags, c->accum, A->width ? A->type : FTB_INT8, c->C->width);
}

static GrB_Info assign_matrix(assign_call *c, FtB_Matrix A)
{
    const bool turn = c->flags.transpose0;
    const int64_t nrows = turn ? A->pattern->ncols : A->pattern->nrows;
    const int64_t ncols = turn ? A->pattern->nrows : A->pattern->ncols;
    FtB_Matrix turned = NULL, S = NULL;
    if (nrows != c->rows.count || ncols != c->columns.count)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "A%s is %lld x %lld; expected %lld x %lld, as the lists",
                        turn ? "'" : "", (long long)nrows, (long long)ncols, (long long)c->rows.count,
                        (long long)c->columns.count);
    GrB_Info info = check_entries(c, A);
    if (info == GrB_SUCCESS && turn)
        info = ftb_matrix_transpose_listed(&turned, A);
    if (info == GrB_SUCCESS)
        info = place_matrix(&S, c, turned ? turned : A);
    if (info == GrB_SUCCESS)
        info = give_values(S, c);
    if (info == GrB_SUCCESS)
        info = write(c, S);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&turned);
    return info;
}

static GrB_Info check_scalars(const assign_call *c, const char *what)
{
    if (c->C->width > 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "C has entries of width %lld; expected 0 or 1, since A is %s",
                        (long long)c->C->width, what);
    if (c->C->pattern->multi)
        return ftb_fail(GrB_INVALID_VALUE, "C has parallel edges, which cannot be assigned");
    return GrB_SUCCESS;
}

static GrB_Info assign_number(assign_call *c, const ftb_assigned *x)
{
    FtB_Matrix S = NULL;
    GrB_Info info = check_scalars(c, "a number");
    if (info == GrB_SUCCESS)
        info = ftb_write_check(c->C, c->M, &c->flags, c->accum, x->type, c->C->width);
    if (info == GrB_SUCCESS)
        info = c->M && !c->flags.complement && !c->M->pattern->multi
                   ? number_by_mask(&S, c, x)
                   : number_matrix(&S, c->ctx, whole_region(c), x);
    if (info == GrB_SUCCESS)
        info = write(c, S);
    FtB_Matrix_free(&S);
    return info;
}

/* ---- a row or a column */

/* Takes it out, assigns, and puts it back. */
static GrB_Info assign_line(assign_call *c, FtB_Vector u, FtB_Vector mask, bool row)
{
    const ftb_index_list *across = row ? &c->rows : &c->columns, *along = row ? &c->columns : &c->rows;
    const ftb_index_list all = {.count = row ? c->C->pattern->ncols : c->C->pattern->nrows};
    FtB_Matrix line = NULL, S = NULL;
    FtB_Vector v = NULL;
    ftb_vector content = {.form = FTB_VECTOR_LIST};
    assign_call back = *c;
    GrB_Info info;
    FTB_CHECK(ftb_extract_matrix(&line, c->ctx, c->C, row ? across : &all, row ? &all : across));
    FTB_CHECK(ftb_line_of(&content, c->ctx, line, row, "C"));
    FTB_CHECK(ftb_vector_make(&v, c->ctx, &content));
    ftb_vector_call call = {.ctx = c->ctx, .C = v, .M = mask, .flags = c->flags, .accum = c->accum};
    FTB_CHECK(ftb_assign_vector(&call, &u->v, NULL, along));
    FtB_Matrix_free(&line);
    FTB_CHECK(ftb_matrix_of_line(&line, c->ctx, &v->v, row));
    back.M = NULL;
    back.accum = NULL;
    back.flags = (ftb_flags){.replace = false};
    back.rows = row ? *across : all;
    back.columns = row ? all : *across;
    FTB_CHECK(place_matrix(&S, &back, line));
    info = write(&back, S);
done:
    ftb_vector_clear(&content);
    FtB_Vector_free(&v);
    FtB_Matrix_free(&line);
    FtB_Matrix_free(&S);
    return info;
}

static GrB_Info assign_vector(assign_call *c, FtB_Arg M, FtB_Arg A)
{
    const int64_t rows = c->rows.count, columns = c->columns.count;
    FtB_Vector u, mask;
    GrB_Info info;
    FTB_CHECK(check_scalars(c, "a vector"));
    FTB_CHECK(ftb_arg_vector(&u, A, "A", false));
    FTB_CHECK(ftb_arg_vector(&mask, M, "M", true));
    const bool row = columns != 1 || (rows == 1 && mask && mask->v.size == c->C->pattern->ncols &&
                                      mask->v.size != c->C->pattern->nrows);
    if (rows != 1 && columns != 1)
        FTB_CHECK(
            ftb_fail(GrB_DIMENSION_MISMATCH,
                     "I and J are of %lld and %lld numbers; expected one of a row or of a column, since A "
                     "is a vector",
                     (long long)rows, (long long)columns));
    FTB_CHECK(ftb_vector_check_size(u, "A", row ? columns : rows, "as the longer list has numbers"));
    FTB_CHECK(ftb_vector_check_size(mask, "M", row ? c->C->pattern->ncols : c->C->pattern->nrows,
                                    row ? "as the row" : "as the column"));
    info = assign_line(c, u, mask, row);
done:
    return info;
}

/* ---- calls */

static GrB_Info begin(assign_call *c, FtB_Arg C, FtB_Arg accum, FtB_Arg I, FtB_Arg J, FtB_Arg desc)
{
    GrB_Info info;
    FTB_CHECK(ftb_arg_matrix_listed(&c->C, C, "C", false));
    c->ctx = c->C->ctx;
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(ftb_arg_op(&c->accum, accum, "accum", true));
    FTB_CHECK(ftb_index_list_take(&c->rows, c->ctx, I, "I", c->C->pattern->nrows));
    FTB_CHECK(ftb_index_list_once(&c->rows, "I"));
    FTB_CHECK(ftb_index_list_take(&c->columns, c->ctx, J, "J", c->C->pattern->ncols));
    info = ftb_index_list_once(&c->columns, "J");
done:
    return info;
}

static GrB_Info end(assign_call *c, GrB_Info info)
{
    ftb_index_list_clear(&c->rows);
    ftb_index_list_clear(&c->columns);
    FtB_Op_free(&c->accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    return info;
}

GrB_Info FtB_assign(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg I, FtB_Arg J, FtB_Arg desc)
{
    assign_call c = {.ctx = NULL};
    FtB_Matrix matrix;
    ftb_assigned x;
    GrB_Info info;
    if (C.kind == FTB_KIND_VECTOR)
        return ftb_assign_to_vector(C, M, accum, A, I, J, desc);
    FTB_CHECK(begin(&c, C, accum, I, J, desc));
    if (A.kind == FTB_KIND_VECTOR) {
        info = assign_vector(&c, M, A);
        goto done;
    }
    FTB_CHECK(ftb_arg_matrix_listed(&c.M, M, "M", true));
    if (ftb_is_number(&x, A)) {
        info = assign_number(&c, &x);
        goto done;
    }
    FTB_CHECK(ftb_arg_matrix_listed(&matrix, A, "A", false));
    info = assign_matrix(&c, matrix);
done:
    return end(&c, info);
}
