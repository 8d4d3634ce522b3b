/* C<M> = accum(C, f(A)): every entry becomes what an expression makes of it; the pattern is shared. */
#include "ops/call.h"

#include "ops/backends.h"
#include "ops/block/block_map.h"
#include "ops/vector/vector_elementwise.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_apply

/* Whether the text is about a value alone, in a type that a device is asked for, and C becomes the result. */
static bool may_leave(const ftb_call *call)
{
    static const char *const places[] = {"i", "j", "di", "dj"};
    const FtB_Type type = call->C->type;
    if (!FTB_WHO(call->ctx, apply) || call->M || call->flags.complement || call->accum ||
        call->A->width == 0 || call->A->type != type || (type != FTB_FP32 && type != FTB_FP64) ||
        (call->op->domain && call->op->domain != type))
        return false;
    for (int b = 0; b < call->op->nbound; b++)
        if (call->op->bound[b].block)
            return false;
    for (int p = 0; p < 4; p++)
        if (ftb_expr_uses(call->op->body, places[p]))
            return false;
    return true;
}

/* Values as rows of a block, on a device. */
static GrB_Info run_away(ftb_call *call)
{
    const FtB_Matrix A = call->A;
    const ftb_backend *who = FTB_WHO(call->ctx, apply);
    ftb_apply_product p = {.ctx = call->ctx,
                           .op = call->op,
                           .x = {NULL, A->type, A->width, A->width, 1, false},
                           .nrows = A->pattern->nvals,
                           .ncols = A->width,
                           .type = A->type,
                           .ldo = A->width};
    FtB_Matrix T = NULL;
    GrB_Info info = ftb_check_cancelled(call->ctx);
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *values = ftb_values_new(call->ctx, p.nrows, A->width, A->type);
    if (!values)
        return ftb_nomem();
    const ftb_place places[] = {{.values = A->values, .read = &p.x.data, .name = "A"},
                                {.values = values, .write = &p.out, .whole = true}};
    if (!FTB_FITS(who, apply, &p))
        who = NULL;
    FTB_RUN(info, who, apply, places, &p);
    if (info != GrB_SUCCESS) {
        ftb_buffer_release(values);
        return info;
    }
    info = ftb_matrix_make(&T, call->ctx, A->type, A->width, ftb_pattern_retain(A->pattern), values);
    if (info == GrB_SUCCESS && (info = ftb_matrix_become(call->C, T)) != GrB_SUCCESS)
        FtB_Matrix_free(&T);
    return info;
}

/* Whether the verb's text is elementwise and gives A's width and type: what does not compile is told of by
 * the host. */
static bool fits_verb(const ftb_call *call)
{
    const FtB_Matrix A = call->A;
    const ftb_block_operand x = {NULL, A->type, A->width, A->width, 1, false};
    ftb_block_map *map = NULL;
    bool fits = may_leave(call) && ftb_block_map_new(&map, call->ctx, call->op, &x, NULL, 0) == GrB_SUCCESS &&
                ftb_block_map_elementwise(map) && ftb_block_map_type(map) == A->type &&
                ftb_block_map_ncols(map) == A->width;
    ftb_block_map_delete(map);
    return fits;
}

GrB_Info FtB_apply(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc)
{
    ftb_call call;
    ftb_map *map = NULL;
    FtB_Matrix T = NULL;
    ftb_buffer *values = NULL;
    const ftb_slots slots = {
        .C = C, .M = M, .accum = accum, .op = op, .A = A, .desc = desc, .has_op = true, .anywhere = true};
    if (C.kind == FTB_KIND_BLOCK)
        return ftb_block_elementwise(&slots);
    if (C.kind == FTB_KIND_VECTOR)
        return ftb_vector_apply(&slots);
    GrB_Info info = ftb_call_begin(&call, &slots);
    if (info != GrB_SUCCESS)
        goto done;
    if (fits_verb(&call)) {
        info = run_away(&call);
        goto done;
    }
    FTB_CHECK(ftb_call_ask(&call));
    int threads = ftb_threads_for(call.ctx, call.A->pattern->nvals);
    ftb_pattern *pattern = call.A->pattern;
    ftb_map_input x = ftb_map_entries(call.A);
    FTB_CHECK(ftb_map_new(&map, call.ctx, call.op, &x, NULL, pattern, threads));
    FTB_CHECK(ftb_map_check_rows(map, ftb_rows_in_all(pattern), pattern->ncols));
    FtB_Type type = call.accum ? map->type : call.C->type; /* one cast: here, or by accum */
    FTB_CHECK(ftb_write_check(call.C, call.M, &call.flags, call.accum, type, map->width));
    values = ftb_values_new(call.ctx, pattern->nvals, map->width, type);
    if (!values)
        FTB_CHECK(ftb_nomem());
    ftb_map_output(map, ftb_buffer_data(values), type);
    FTB_CHECK(ftb_map_run(map, call.A->pattern));
    info = ftb_matrix_make(&T, call.ctx, type, map->width, ftb_pattern_retain(pattern), values);
    values = NULL;
    if (info == GrB_SUCCESS)
        FTB_CHECK(ftb_write(call.C, call.M, &call.flags, call.accum, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    ftb_buffer_release(values);
    ftb_map_delete(map);
    return ftb_call_end(&call, info);
}
