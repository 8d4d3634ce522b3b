/* What operations on sparse matrices do before and after their own work. */
#include "ops/call.h"

GrB_Info ftb_call_ask(const ftb_call *call)
{
    static const char *const names[] = {"C", "M", "A", "B"};
    const FtB_Matrix all[] = {call->C, call->M, call->A, call->B};
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < 4 && info == GrB_SUCCESS; n++)
        if (all[n])
            info = ftb_buffer_ask_as(all[n]->values, FTB_READ, names[n]);
    return info;
}

static GrB_Info unwrap(ftb_call *call, const ftb_slots *s)
{
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&call->C, s->C, "C", false));
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&call->M, s->M, "M", true));
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&call->A, s->A, "A", false));
    if (s->has_B)
        FTB_CHECK(ftb_arg_matrix_listed_anywhere(&call->B, s->B, "B", false));
    if (!s->anywhere)
        FTB_CHECK(ftb_call_ask(call));
    FTB_CHECK(ftb_arg_descriptor(&call->flags, s->desc));
    FTB_CHECK(ftb_arg_op(&call->accum, s->accum, "accum", true));
    if (s->has_op)
        FTB_CHECK(ftb_arg_op(&call->op, s->op, "op", false));
done:
    return info;
}

static GrB_Info check_shape(FtB_Matrix C, FtB_Matrix A, const char *name, bool transpose)
{
    int64_t nrows = transpose ? A->pattern->ncols : A->pattern->nrows;
    int64_t ncols = transpose ? A->pattern->nrows : A->pattern->ncols;
    if (nrows == C->pattern->nrows && ncols == C->pattern->ncols)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld%s, but C is %lld x %lld", name,
                    (long long)nrows, (long long)ncols, transpose ? " after its transpose" : "",
                    (long long)C->pattern->nrows, (long long)C->pattern->ncols);
}

GrB_Info ftb_call_begin(ftb_call *call, const ftb_slots *slots)
{
    *call = (ftb_call){0};
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(unwrap(call, slots));
    call->ctx = call->C->ctx;
    FTB_CHECK(ftb_mask_check(call->M, &call->flags, call->C->pattern->nrows, call->C->pattern->ncols));
    FTB_CHECK(check_shape(call->C, call->A, "A", call->flags.transpose0));
    if (call->B)
        FTB_CHECK(check_shape(call->C, call->B, "B", call->flags.transpose1));
    if (call->flags.transpose0) {
        FTB_CHECK(ftb_matrix_transpose_listed(&call->transposed[0], call->A));
        call->A = call->transposed[0];
    }
    if (call->B && call->flags.transpose1) {
        FTB_CHECK(ftb_matrix_transpose_listed(&call->transposed[1], call->B));
        call->B = call->transposed[1];
    }
    if (call->A->pattern->listed && !call->B) {
        FTB_CHECK(ftb_matrix_rows(&call->held, call->A));
        call->A = call->held;
    }
done:
    return info;
}

GrB_Info ftb_call_end(ftb_call *call, GrB_Info info)
{
    FtB_Matrix_free(&call->transposed[0]);
    FtB_Matrix_free(&call->transposed[1]);
    FtB_Matrix_free(&call->held);
    FtB_Op_free(&call->accum);
    FtB_Op_free(&call->op);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(call->ctx);
    return info;
}

ftb_map_input ftb_map_entries(FtB_Matrix A)
{
    ftb_map_input input = {NULL, FTB_INT8, 1, 1}; /* whatever A's dtype: 1 is an integer */
    if (A->width > 0)
        input = (ftb_map_input){ftb_values(A), A->type, A->width, A->width};
    return input;
}

ftb_buffer *ftb_values_new(FtB_Context ctx, int64_t nvals, int64_t width, FtB_Type type)
{
    int64_t count;
    if (__builtin_mul_overflow(nvals, width, &count))
        count = INT64_MAX;
    return ftb_buffer_new(ctx, count, FtB_Type_size(type));
}
