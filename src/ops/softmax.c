/* S = softmax of A's entries over rows or columns, and its gradient: arguments, and where it is run.
 *
 * FP64 where an operand has more than FP32 holds, else FP32; what has another type is cast on the host. Where
 * rows are listed (core/hypersparse.h), these are all that there is. */
#include "core/watch.h"
#include "cpu/softmax_run.h"
#include "ops/backends.h"
#include "ops/block/blocks.h"
#include "ops/merge.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_softmax
#undef FtB_softmax_grad

/* ---- arguments */

static GrB_Info check_operand(FtB_Matrix A, const char *name)
{
    if (A->width < 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: width 0; expected entries with values", name);
    return GrB_SUCCESS;
}

static GrB_Info check_output(FtB_Matrix S, const char *name, FtB_Matrix A)
{
    if (!ftb_type_float(S->type))
        return ftb_fail(GrB_DOMAIN_MISMATCH, "%s: dtype %s; expected a floating one", name,
                        FtB_Type_name(S->type));
    if (S->pattern->nrows != A->pattern->nrows || S->pattern->ncols != A->pattern->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %lld x %lld; expected %lld x %lld", name,
                        (long long)S->pattern->nrows, (long long)S->pattern->ncols,
                        (long long)A->pattern->nrows, (long long)A->pattern->ncols);
    return GrB_SUCCESS;
}

static bool needs_fp64(FtB_Type type)
{
    return type == FTB_FP64 || (ftb_type_integer(type) && FtB_Type_size(type) > 2);
}

/* *values: A's in `type`, its own, or a copy. */
static GrB_Info values_as(ftb_buffer **values, FtB_Matrix A, FtB_Type type)
{
    FtB_Block V = NULL;
    const void *data;
    void *copy = NULL;
    int64_t ld;
    if (A->type == type) {
        *values = ftb_buffer_retain(A->values);
        return GrB_SUCCESS;
    }
    GrB_Info info = ftb_buffer_ask_as(A->values, FTB_READ, "A");
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_values(&V, A);
    if (info == GrB_SUCCESS)
        info = ftb_block_as(&data, &ld, &copy, V, type);
    FtB_Block_free(&V);
    if (info == GrB_SUCCESS && !(*values = ftb_buffer_adopt(A->ctx, copy)))
        info = ftb_nomem();
    return info;
}

/* Where the result is computed: S's own values, if they are of A's pattern and of the right type and may be
 * written; else new ones. */
static bool writes_in_place(FtB_Matrix S, FtB_Matrix A, FtB_Type type)
{
    return S->pattern == A->pattern && S->width == A->width && S->type == type && S->values &&
           ftb_buffer_write(S->values);
}

static ftb_buffer *output(FtB_Matrix S, FtB_Matrix A, FtB_Type type)
{
    if (writes_in_place(S, A, type))
        return ftb_buffer_retain(S->values);
    return ftb_buffer_adopt(S->ctx,
                            ftb_new(S->ctx, A->pattern->nvals, (size_t)A->width * FtB_Type_size(type)));
}

/* A device is asked for what needs no cast. */
static const ftb_backend *who_runs(FtB_Matrix S, FtB_Matrix A, FtB_Matrix D, const ftb_softmax_product *s)
{
    bool as_is = S->type == s->type && A->type == s->type && (!D || D->type == s->type);
    return as_is ? FTB_WHO_FITS(S->ctx, softmax, s) : NULL;
}

static GrB_Info normalise_all(FtB_Matrix S, FtB_Matrix A, FtB_Matrix D, FtB_By by)
{
    GrB_Info info;
    FtB_Matrix T = NULL;
    ftb_buffer *in = NULL, *d = NULL, *out = NULL;
    bool wide = needs_fp64(S->type) || needs_fp64(A->type) || (D && needs_fp64(D->type));
    ftb_softmax_product s = {.ctx = S->ctx,
                             .p = ftb_pattern_rows(A->pattern),
                             .heads = A->width,
                             .type = wide ? FTB_FP64 : FTB_FP32,
                             .gradient = D != NULL};
    if (by == FTB_BY_COLUMN) {
        FTB_CHECK(ftb_pattern_transpose_listed(A->pattern, &s.p, &s.from));
        s.p = ftb_pattern_rows(s.p);
    }
    FTB_CHECK(values_as(&in, A, s.type));
    if (D)
        FTB_CHECK(values_as(&d, D, s.type));
    if (!(out = output(S, A, s.type))) {
        info = ftb_nomem();
        goto done;
    }
    const int64_t bytes = A->pattern->nvals * A->width * (int64_t)FtB_Type_size(s.type);
    const ftb_place places[] = {
        {.values = in, .read = &s.in, .name = D ? "S" : "A"},
        {.values = d, .read = &s.d, .name = "dS"},
        {.values = out, .write = &s.out, .whole = out->bytes == bytes, .name = D ? "dA" : "S"}};
    FTB_RUN(info, who_runs(S, A, D, &s), softmax, places, &s);
    if (info != GrB_SUCCESS || out == S->values)
        goto done;
    info = ftb_matrix_make(&T, s.ctx, s.type, A->width, ftb_pattern_retain(A->pattern), out);
    out = NULL;
    if (info == GrB_SUCCESS && (info = ftb_matrix_become(S, T)) != GrB_SUCCESS)
        FtB_Matrix_free(&T);
done:
    ftb_buffer_release(in);
    ftb_buffer_release(d);
    ftb_buffer_release(out);
    return info;
}

static GrB_Info check_by(FtB_By by)
{
    if (by != FTB_BY_ROW && by != FTB_BY_COLUMN)
        return ftb_fail(GrB_INVALID_VALUE, "by: %d; expected FTB_BY_ROW or FTB_BY_COLUMN", (int)by);
    return GrB_SUCCESS;
}

GrB_Info FtB_softmax(FtB_Arg S, FtB_Arg A, FtB_By by)
{
    FtB_Matrix out, in;
    GrB_Info info;
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&out, S, "S", false));
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&in, A, "A", false));
    FTB_CHECK(check_operand(in, "A"));
    FTB_CHECK(check_output(out, "S", in));
    FTB_CHECK(check_by(by));
    info = normalise_all(out, in, NULL, by);
done:
    return info;
}

GrB_Info FtB_softmax_grad(FtB_Arg dA, FtB_Arg S, FtB_Arg dS, FtB_By by)
{
    FtB_Matrix out, in, d;
    GrB_Info info;
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&out, dA, "dA", false));
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&in, S, "S", false));
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&d, dS, "dS", false));
    FTB_CHECK(check_operand(in, "S"));
    FTB_CHECK(check_output(out, "dA", in));
    FTB_CHECK(check_by(by));
    if (d->width != in->width || d->pattern->nvals != in->pattern->nvals ||
        d->pattern->nrows != in->pattern->nrows || d->pattern->ncols != in->pattern->ncols) {
        info = ftb_fail(GrB_DIMENSION_MISMATCH,
                        "dS: %lld x %lld, %lld entries of width %lld; expected S's %lld x %lld, %lld entries "
                        "of width %lld",
                        (long long)d->pattern->nrows, (long long)d->pattern->ncols,
                        (long long)d->pattern->nvals, (long long)d->width, (long long)in->pattern->nrows,
                        (long long)in->pattern->ncols, (long long)in->pattern->nvals, (long long)in->width);
        goto done;
    }
    info = normalise_all(out, in, d, by);
done:
    return info;
}
