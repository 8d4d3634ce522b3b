/* C<M> = accum(C, A(I, J)): rows and columns of a matrix, places of a vector, by lists.
 *
 * Of A' the lists change places, and what is picked is turned, not A. A row or column that becomes a vector
 * is a matrix of one first. Where A lists its rows, those are looked for in its list. */
#include "core/hypersparse.h"
#include "core/search.h"
#include "cpu/entries/extract_run.h"
#include "cpu/entries/keep_run.h"
#include "cpu/vector/vector_parts_run.h"
#include "ops/parts/lines.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_extract

/* ---- matrices */

/* The matrix of counted and filled entries. */
static GrB_Info make_matrix(FtB_Matrix *T, ftb_extract_job *w, FtB_Matrix A, ftb_buffer *rowptr,
                            int64_t ncols)
{
    const int64_t nvals = ftb_rows_sum(w->rowptr, w->nrows);
    const size_t entry = (size_t)A->width * FtB_Type_size(A->type);
    ftb_buffer *colidx = ftb_buffer_new(w->ctx, nvals, ftb_col_size(ncols)), *values = NULL;
    GrB_Info info = GrB_SUCCESS;
    w->entries = ftb_new(w->ctx, nvals, sizeof *w->entries);
    if (!colidx || !w->entries ||
        (A->width > 0 && !(values = ftb_values_new(w->ctx, nvals, A->width, A->type))))
        FTB_CHECK(ftb_nomem());
    w->colidx = ftb_buffer_data(colidx);
    w->wide = ftb_col_size(ncols) == 8;
    FTB_CHECK(ftb_extract_fill(w));
    if (values)
        ftb_extract_values(w->ctx, ftb_buffer_data(values), ftb_values(A), w->entries, nvals, entry);
    ftb_pattern *pattern = ftb_pattern_new(w->ctx, w->nrows, ncols, ftb_buffer_retain(rowptr), colidx);
    colidx = NULL;
    if (pattern)
        pattern->multi = w->p->multi;
    info = ftb_matrix_make(T, w->ctx, A->type, A->width, pattern, values);
    values = NULL;
done:
    ftb_buffer_release(colidx);
    ftb_buffer_release(values);
    ftb_delete(w->entries);
    return info;
}

GrB_Info ftb_matrix_copy(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A)
{
    const int64_t count = A->pattern->nvals * A->width;
    ftb_buffer *values = A->width ? ftb_values_new(ctx, A->pattern->nvals, A->width, A->type) : NULL;
    if (A->width && !values)
        return ftb_nomem();
    if (values)
        ftb_cast(ftb_buffer_data(values), A->type, ftb_values(A), A->type, count);
    return ftb_matrix_make(T, ctx, A->type, A->width, ftb_pattern_retain(A->pattern), values);
}

/* T = A(I, J), of the rows that p holds. */
static GrB_Info pick_rows(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A, const ftb_pattern *p,
                          const ftb_index_list *rows, const ftb_index_list *columns)
{
    ftb_buffer *rowptr = ftb_buffer_new(ctx, rows->count + 1, sizeof(int64_t));
    if (!rowptr)
        return ftb_nomem();
    ftb_extract_job w = {.ctx = ctx,
                         .p = p,
                         .rows = rows->at,
                         .nrows = rows->count,
                         .columns = {columns->sorted, columns->from, columns->count},
                         .rowptr = ftb_buffer_data(rowptr)};
    GrB_Info info = ftb_extract_count(&w);
    if (info == GrB_SUCCESS)
        info = make_matrix(T, &w, A, rowptr, columns->count);
    ftb_buffer_release(rowptr);
    return info;
}

/* *q: p's listed rows, and an empty one behind them, which stands for all others. */
static GrB_Info with_empty_row(ftb_pattern **q, FtB_Context ctx, const ftb_pattern *p)
{
    ftb_buffer *rowptr = ftb_buffer_new(ctx, p->nrows + 2, sizeof(int64_t));
    if (rowptr) {
        int64_t *to = ftb_buffer_data(rowptr);
        memcpy(to, p->rowptr, (size_t)(p->nrows + 1) * sizeof *to);
        to[p->nrows + 1] = p->nvals;
    }
    *q = ftb_pattern_new(ctx, p->nrows + 1, p->ncols, rowptr, ftb_buffer_retain(p->colidx_owner));
    if (*q)
        (*q)->multi = p->multi;
    return *q ? GrB_SUCCESS : ftb_nomem();
}

/* The same where A lists its rows. */
static GrB_Info pick_listed(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A, const ftb_index_list *rows,
                            const ftb_index_list *columns)
{
    ftb_pattern *p = A->pattern->listed, *q = NULL;
    int64_t *held = NULL;
    GrB_Info info;
    if (!rows->at) {
        const ftb_index_list all = {.count = p->nrows};
        FTB_CHECK(pick_rows(T, ctx, A, p, &all, columns));
        ftb_pattern_number_as((*T)->pattern, p); /* which is T's alone */
        info = ftb_matrix_whole(*T);
    } else {
        FTB_CHECK(with_empty_row(&q, ctx, p));
        if (!(held = ftb_new(ctx, rows->count, sizeof *held)))
            FTB_CHECK(ftb_nomem());
        for (int64_t s = 0; s < rows->count; s++) {
            const int64_t r = ftb_first_not_below(p->numbers, p->nrows, rows->at[s]);
            held[s] = r < p->nrows && p->numbers[r] == rows->at[s] ? r : p->nrows;
        }
        const ftb_index_list some = {.at = held, .count = rows->count};
        info = pick_rows(T, ctx, A, q, &some, columns);
    }
done:
    if (info != GrB_SUCCESS)
        FtB_Matrix_free(T);
    ftb_delete(held);
    ftb_pattern_release(q);
    return info;
}

GrB_Info ftb_extract_matrix(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A, const ftb_index_list *rows,
                            const ftb_index_list *columns)
{
    *T = NULL;
    if (!rows->at && !columns->at)
        return ftb_matrix_copy(T, ctx, A);
    return A->pattern->listed ? pick_listed(T, ctx, A, rows, columns)
                              : pick_rows(T, ctx, A, A->pattern, rows, columns);
}

GrB_Info ftb_line_of(ftb_vector *v, FtB_Context ctx, FtB_Matrix A, bool row, const char *name)
{
    const ftb_pattern *p = ftb_pattern_rows(A->pattern);
    const int8_t one = 1;
    *v = (ftb_vector){.form = FTB_VECTOR_LIST};
    if (A->width > 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s has entries of width %lld; a vector's are one value",
                        name, (long long)A->width);
    if (p->multi)
        return ftb_fail(GrB_INVALID_VALUE, "%s has parallel edges, which a vector cannot hold", name);
    GrB_Info info = ftb_vector_room(v, ctx, FTB_VECTOR_LIST, A->width ? A->type : FTB_BOOL,
                                    row ? p->ncols : A->pattern->nrows, p->nvals);
    if (info != GrB_SUCCESS)
        return info;
    if (row)
        ftb_cast(v->index, FTB_INT64, p->colidx, p->wide ? FTB_INT64 : FTB_INT32, p->nvals);
    else
        for (int64_t i = 0; i < p->nrows; i++)
            if (p->rowptr[i + 1] > p->rowptr[i])
                v->index[p->rowptr[i]] = ftb_row_number(p, i);
    if (A->width)
        ftb_cast(v->values, v->type, ftb_values(A), A->type, p->nvals);
    else
        ftb_fill(v->values, p->nvals, &one, 1);
    return GrB_SUCCESS;
}

/* ---- calls */

typedef struct extract_call {
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Vector u; /* in A's place */
    ftb_flags flags;
    ftb_index_list rows, columns; /* of A as it lies */
} extract_call;

/* *T = A(I, J), or A'(I, J). */
static GrB_Info pick(FtB_Matrix *T, const extract_call *c)
{
    FtB_Matrix picked = NULL;
    GrB_Info info =
        ftb_extract_matrix(c->flags.transpose0 ? &picked : T, c->ctx, c->A, &c->rows, &c->columns);
    if (info == GrB_SUCCESS && picked)
        info = ftb_matrix_transpose_listed(T, picked);
    FtB_Matrix_free(&picked);
    return info;
}

static GrB_Info read_lists(extract_call *c, FtB_Arg I, FtB_Arg J)
{
    const bool turn = c->flags.transpose0;
    GrB_Info info;
    if (c->u) {
        if (J.kind != FTB_KIND_NONE)
            return ftb_fail(GrB_INVALID_VALUE, "J is %s; expected NULL, since A is a vector",
                            ftb_kind_name(J.kind));
        return ftb_index_list_take(&c->rows, c->ctx, I, "I", c->u->v.size);
    }
    FTB_CHECK(ftb_index_list_take(turn ? &c->columns : &c->rows, c->ctx, I, "I",
                                  turn ? c->A->pattern->ncols : c->A->pattern->nrows));
    info = ftb_index_list_take(turn ? &c->rows : &c->columns, c->ctx, J, "J",
                               turn ? c->A->pattern->nrows : c->A->pattern->ncols);
done:
    return info;
}

static GrB_Info end_lists(extract_call *c, GrB_Info info)
{
    ftb_index_list_clear(&c->rows);
    ftb_index_list_clear(&c->columns);
    return info;
}

static GrB_Info extract_matrix(FtB_Arg C, FtB_Arg M, FtB_Arg accum, extract_call *c, FtB_Arg I, FtB_Arg J)
{
    FtB_Matrix out = NULL, mask = NULL, T = NULL;
    FtB_Op op = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_arg_matrix_listed(&out, C, "C", false));
    c->ctx = out->ctx;
    FTB_CHECK(ftb_arg_matrix_listed(&mask, M, "M", true));
    FTB_CHECK(ftb_arg_op(&op, accum, "accum", true));
    FTB_CHECK(read_lists(c, I, J));
    const int64_t nrows = c->flags.transpose0 ? c->columns.count : c->rows.count;
    const int64_t ncols = c->flags.transpose0 ? c->rows.count : c->columns.count;
    if (out->pattern->nrows != nrows || out->pattern->ncols != ncols)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH, "C is %lld x %lld; expected %lld x %lld, as the lists",
                           (long long)out->pattern->nrows, (long long)out->pattern->ncols, (long long)nrows,
                           (long long)ncols));
    FTB_CHECK(ftb_write_check(out, mask, &c->flags, op, c->A->type, c->A->width));
    FTB_CHECK(pick(&T, c));
    FTB_CHECK(ftb_write(out, mask, &c->flags, op, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    FtB_Op_free(&op);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    return info;
}

/* A vector's places, or the entries of a row or a column. */
static GrB_Info pick_line(ftb_vector *T, const extract_call *c)
{
    FtB_Matrix line = NULL;
    if (c->u)
        return c->rows.at ? ftb_vector_pick(T, c->ctx, &c->u->v, c->rows.at, c->rows.count)
                          : ftb_vector_as(T, c->ctx, &c->u->v, c->u->v.form);
    GrB_Info info = ftb_extract_matrix(&line, c->ctx, c->A, &c->rows, &c->columns);
    if (info == GrB_SUCCESS)
        info = ftb_line_of(T, c->ctx, line, c->columns.count != 1, "A");
    FtB_Matrix_free(&line);
    return info;
}

static GrB_Info check_line(const extract_call *c, FtB_Vector out)
{
    const int64_t rows = c->rows.count, columns = c->columns.count;
    if (c->u)
        return ftb_vector_check_size(out, "C", rows, "as I has numbers");
    if (columns != 1 && rows != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "I and J are of %lld and %lld numbers; expected one of a row or of a column, since C "
                        "is a vector",
                        (long long)(c->flags.transpose0 ? columns : rows),
                        (long long)(c->flags.transpose0 ? rows : columns));
    return ftb_vector_check_size(out, "C", columns == 1 ? rows : columns, "as the longer list has numbers");
}

static GrB_Info extract_vector(FtB_Arg C, FtB_Arg M, FtB_Arg accum, extract_call *c, FtB_Arg I, FtB_Arg J,
                               FtB_Arg desc)
{
    ftb_vector_call call;
    ftb_vector T = {.form = FTB_VECTOR_LIST};
    GrB_Info info = ftb_vector_begin(&call, C, M, accum, desc);
    if (info != GrB_SUCCESS)
        goto done;
    c->ctx = call.ctx;
    FTB_CHECK(read_lists(c, I, J));
    FTB_CHECK(check_line(c, call.C));
    FTB_CHECK(ftb_vector_write_check(call.C, call.M, call.accum, c->u ? c->u->v.type : c->A->type));
    FTB_CHECK(pick_line(&T, c));
    info = ftb_vector_write(call.C, call.M, &call.flags, call.accum, &T);
done:
    ftb_vector_clear(&T);
    return ftb_vector_end(&call, info);
}

GrB_Info FtB_extract(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg I, FtB_Arg J, FtB_Arg desc)
{
    extract_call c = {.ctx = NULL};
    GrB_Info info = A.kind == FTB_KIND_VECTOR && C.kind == FTB_KIND_VECTOR
                        ? ftb_arg_vector(&c.u, A, "A", false)
                        : ftb_arg_matrix_listed(&c.A, A, "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_descriptor(&c.flags, desc);
    if (info != GrB_SUCCESS)
        return info;
    if (c.u)
        c.flags.transpose0 = false; /* of a vector, nothing to read otherwise */
    info = C.kind == FTB_KIND_VECTOR ? extract_vector(C, M, accum, &c, I, J, desc)
                                     : extract_matrix(C, M, accum, &c, I, J);
    return end_lists(&c, info);
}
