/* C<M> = accum(C, some entries of A): those whose expression is not zero, or the k largest of each row.
 *
 * Both decide a byte per entry first, then keep in one more pass (src/cpu/entries/keep_run.c). */
#include "cpu/entries/keep_run.h"
#include "ops/vector/vector_elementwise.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_select
#undef FtB_select_topk

/* ---- keeping entries */

GrB_Info ftb_keep(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A, const uint8_t *keep)
{
    ftb_pattern *p = ftb_pattern_rows(A->pattern), *pattern;
    ftb_buffer *rowptr = NULL, *colidx = NULL, *values = NULL;
    GrB_Info info;
    *T = NULL;
    if (!(rowptr = ftb_buffer_new(ctx, p->nrows + 1, sizeof(int64_t))))
        return ftb_nomem();
    ftb_kept w = {.ctx = ctx, .p = p, .keep = keep, .rowptr = ftb_buffer_data(rowptr)};
    int64_t nvals = ftb_keep_count(&w);
    colidx = ftb_buffer_new(ctx, nvals, ftb_col_size(p->ncols));
    if (!colidx || (A->width > 0 && !(values = ftb_values_new(ctx, nvals, A->width, A->type))))
        FTB_CHECK(ftb_nomem());
    w.colidx = ftb_buffer_data(colidx);
    if (values) {
        w.values = ftb_buffer_data(values);
        w.old_values = ftb_values(A);
        w.entry = (size_t)A->width * FtB_Type_size(A->type);
    }
    ftb_keep_fill(&w);
    pattern = ftb_pattern_number_as(ftb_pattern_new(ctx, p->nrows, p->ncols, rowptr, colidx), p);
    rowptr = colidx = NULL;
    if (pattern)
        pattern->multi = p->multi;
    info = ftb_matrix_make(T, ctx, A->type, A->width, pattern, values);
    values = NULL;
    if (info == GrB_SUCCESS && (info = ftb_matrix_whole(*T)) != GrB_SUCCESS)
        FtB_Matrix_free(T);
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_buffer_release(values);
    return info;
}

/* ---- select by expression */

GrB_Info FtB_select(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc)
{
    ftb_call call;
    ftb_map *map = NULL;
    FtB_Matrix T = NULL;
    uint8_t *keep = NULL;
    const ftb_slots slots = {.C = C, .M = M, .accum = accum, .op = op, .A = A, .desc = desc, .has_op = true};
    if (C.kind == FTB_KIND_VECTOR)
        return ftb_vector_select(&slots);
    GrB_Info info = ftb_call_begin(&call, &slots);
    if (info != GrB_SUCCESS)
        goto done;
    int threads = ftb_threads_for(call.ctx, call.A->pattern->nvals);
    ftb_map_input x = ftb_map_entries(call.A);
    FTB_CHECK(ftb_map_new(&map, call.ctx, call.op, &x, NULL, call.A->pattern, threads));
    FTB_CHECK(ftb_map_check_rows(map, ftb_rows_in_all(call.A->pattern), call.A->pattern->ncols));
    if (map->width != 1)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH,
                           "op gives %lld values per entry; expected one, zero or not",
                           (long long)map->width));
    FTB_CHECK(ftb_write_check(call.C, call.M, &call.flags, call.accum, call.A->type, call.A->width));
    keep = ftb_new(call.ctx, call.A->pattern->nvals, 1);
    if (!keep)
        FTB_CHECK(ftb_nomem());
    ftb_map_output(map, keep, FTB_BOOL);
    FTB_CHECK(ftb_map_run(map, call.A->pattern));
    FTB_CHECK(ftb_keep(&T, call.ctx, call.A, keep));
    FTB_CHECK(ftb_write(call.C, call.M, &call.flags, call.accum, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    ftb_delete(keep);
    ftb_map_delete(map);
    return ftb_call_end(&call, info);
}

/* ---- top k */

GrB_Info FtB_select_topk(FtB_Arg C, FtB_Arg M, FtB_Arg accum, int64_t k, FtB_Arg A, FtB_Arg desc)
{
    ftb_call call;
    FtB_Matrix T = NULL;
    uint8_t *keep = NULL;
    const ftb_slots slots = {.C = C, .M = M, .accum = accum, .A = A, .desc = desc};
    GrB_Info info = ftb_call_begin(&call, &slots);
    if (info != GrB_SUCCESS)
        goto done;
    if (k < 0)
        FTB_CHECK(ftb_fail(GrB_INVALID_VALUE, "k is %lld; expected 0 or more", (long long)k));
    if (call.A->width > 1)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH,
                           "entries of A have width %lld, which has no order; expected 0 or 1",
                           (long long)call.A->width));
    FTB_CHECK(ftb_write_check(call.C, call.M, &call.flags, call.accum, call.A->type, call.A->width));
    keep = ftb_new(call.ctx, call.A->pattern->nvals, 1);
    if (!keep)
        FTB_CHECK(ftb_nomem());
    const ftb_entries entries = {call.A->pattern, ftb_values(call.A), call.A->type, call.A->width};
    FTB_CHECK(ftb_keep_topk(call.ctx, keep, &entries, k));
    FTB_CHECK(ftb_keep(&T, call.ctx, call.A, keep));
    FTB_CHECK(ftb_write(call.C, call.M, &call.flags, call.accum, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    ftb_delete(keep);
    return ftb_call_end(&call, info);
}
