/* S = some of what A has no entry for: FtB_sample_negative. */
#include "core/draws.h"
#include "core/options.h"
#include "cpu/sample/negative_run.h"
#include "sample/selector.h"

/* The slots' macro is for callers: this is the function. */
#undef FtB_sample_negative

static GrB_Info check_shape(FtB_Matrix S, FtB_Matrix A, int64_t nrows)
{
    const ftb_pattern *p = S->pattern;
    if (p->nrows == nrows && p->ncols == A->pattern->ncols)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "S is %lld x %lld; expected %lld x %lld", (long long)p->nrows,
                    (long long)p->ncols, (long long)nrows, (long long)A->pattern->ncols);
}

static GrB_Info begin(ftb_negative *w, FtB_Matrix S, FtB_Arg rows, int64_t k, FtB_Matrix A,
                      const FtB_Negative_options *o)
{
    int64_t most;
    *w = (ftb_negative){.ctx = S->ctx,
                        .p = A->pattern,
                        .k = k,
                        .replace = o->replace,
                        .loops = o->loops,
                        .global = o->global};
    GrB_Info info = ftb_selector_rows(&w->rows, &w->nrows, rows, A);
    if (info == GrB_SUCCESS)
        info = check_shape(S, A, w->nrows);
    if (info != GrB_SUCCESS)
        return info;
    if (o->global && w->rows)
        return ftb_fail(GrB_INVALID_VALUE, "rows is given, and options: global, of all of A; expected NULL");
    if (k < 0)
        return ftb_fail(GrB_INVALID_VALUE, "k is %lld; expected 0 or more", (long long)k);
    if (o->batch < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: batch is %lld; expected 0 or more", (long long)o->batch);
    if (k >> 48 || (!o->global && __builtin_mul_overflow(w->nrows, k, &most)))
        return ftb_fail(GrB_OUT_OF_MEMORY, "%lld picks, of %lld rows, are too many", (long long)k,
                        (long long)w->nrows);
    w->seed = o->seed ? o->seed : S->ctx->seed;
    w->stream = ftb_draw_stream(&w->seed, (uint64_t)o->batch, 0);
    w->seed = ftb_random_mix(w->seed, 0, FTB_DRAW_NEGATIVE);
    return info;
}

GrB_Info FtB_sample_negative(FtB_Arg s, FtB_Arg rows, int64_t k, FtB_Arg a,
                             const FtB_Negative_options *options)
{
    FtB_Negative_options o = {0};
    FtB_Matrix S, A, made = NULL;
    ftb_negative w;
    GrB_Info info = ftb_options_read(&o, sizeof o, options, "FtB_sample_negative", "FTB_NEGATIVE_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&S, s, "S", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&A, a, "A", false);
    if (info == GrB_SUCCESS)
        info = begin(&w, S, rows, k, A, &o);
    if (info == GrB_SUCCESS)
        info = ftb_check_cancelled(S->ctx);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(S->ctx);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_negative_run(&w);
    if (info != GrB_SUCCESS) {
        ftb_delete(w.rowptr);
        ftb_delete(w.columns);
        return info;
    }
    ftb_pattern *pattern = ftb_pattern_new(w.ctx, w.nrows, w.p->ncols, ftb_buffer_adopt(w.ctx, w.rowptr),
                                           ftb_buffer_adopt(w.ctx, w.columns));
    if (pattern)
        pattern->multi = w.replace;
    info = ftb_matrix_make(&made, w.ctx, S->type, 0, pattern, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_matrix_become(S, made);
    if (info != GrB_SUCCESS)
        FtB_Matrix_free(&made);
    return info;
}
