/* C<M> = accum(C, A'), and vectors as matrices of one column. */
#include "ops/parts/lines.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_transpose

GrB_Info ftb_matrix_of_line(FtB_Matrix *A, FtB_Context ctx, const ftb_vector *v, bool row)
{
    ftb_vector list = {.form = FTB_VECTOR_LIST};
    int64_t *zeros = NULL;
    *A = NULL;
    GrB_Info info = v->form == FTB_VECTOR_LIST ? GrB_SUCCESS : ftb_vector_as(&list, ctx, v, FTB_VECTOR_LIST);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_vector *u = v->form == FTB_VECTOR_LIST ? v : &list;
    if (!(zeros = ftb_new0(ctx, u->nvals, sizeof *zeros)))
        FTB_CHECK(ftb_nomem());
    info = FtB_Matrix_build(A, u->type, row ? 1 : u->size, row ? u->size : 1, 1, u->nvals,
                            row ? zeros : u->index, row ? u->index : zeros, u->values, FTB_DUP_ERROR, NULL);
done:
    ftb_delete(zeros);
    ftb_vector_clear(&list);
    return info;
}

/* A, or the vector in its place as a matrix, read as the call wants it: turned, unless the descriptor turns
 * it again. */
static GrB_Info turned(FtB_Matrix *T, FtB_Context ctx, FtB_Arg A, bool again)
{
    FtB_Matrix matrix = NULL;
    FtB_Vector u = NULL;
    GrB_Info info = A.kind == FTB_KIND_VECTOR ? ftb_arg_vector(&u, A, "A", false)
                                              : ftb_arg_matrix_listed(&matrix, A, "A", false);
    if (info != GrB_SUCCESS)
        return info;
    if (u)
        return ftb_matrix_of_line(T, ctx, &u->v, !again);
    return again ? ftb_matrix_copy(T, ctx, matrix) : ftb_matrix_transpose_listed(T, matrix);
}

static GrB_Info into_matrix(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg desc)
{
    FtB_Matrix out = NULL, mask = NULL, T = NULL;
    FtB_Op op = NULL;
    ftb_flags flags;
    GrB_Info info;
    FTB_CHECK(ftb_arg_matrix_listed(&out, C, "C", false));
    FTB_CHECK(ftb_arg_matrix_listed(&mask, M, "M", true));
    FTB_CHECK(ftb_arg_descriptor(&flags, desc));
    FTB_CHECK(ftb_arg_op(&op, accum, "accum", true));
    FTB_CHECK(turned(&T, out->ctx, A, flags.transpose0));
    const ftb_pattern *p = T->pattern;
    if (p->nrows != out->pattern->nrows || p->ncols != out->pattern->ncols)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH, "C is %lld x %lld; expected %lld x %lld, the shape of A%s",
                           (long long)out->pattern->nrows, (long long)out->pattern->ncols,
                           (long long)p->nrows, (long long)p->ncols, flags.transpose0 ? "" : "'"));
    FTB_CHECK(ftb_write(out, mask, &flags, op, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    FtB_Op_free(&op);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(out->ctx);
    return info;
}

/* What is one column. */
static GrB_Info into_vector(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg desc)
{
    ftb_vector_call call;
    ftb_vector v = {.form = FTB_VECTOR_LIST};
    FtB_Matrix T = NULL;
    GrB_Info info = ftb_vector_begin(&call, C, M, accum, desc);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(turned(&T, call.ctx, A, call.flags.transpose0));
    if (T->pattern->ncols != 1 || T->pattern->nrows != call.C->v.size)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH,
                           "A%s is %lld x %lld; expected %lld x 1, since C is a vector",
                           call.flags.transpose0 ? "" : "'", (long long)T->pattern->nrows,
                           (long long)T->pattern->ncols, (long long)call.C->v.size));
    FTB_CHECK(ftb_line_of(&v, call.ctx, T, false, "A"));
    info = ftb_vector_write(call.C, call.M, &call.flags, call.accum, &v);
done:
    ftb_vector_clear(&v);
    FtB_Matrix_free(&T);
    return ftb_vector_end(&call, info);
}

GrB_Info FtB_transpose(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg desc)
{
    return C.kind == FTB_KIND_VECTOR ? into_vector(C, M, accum, A, desc) : into_matrix(C, M, accum, A, desc);
}
