/* C<M> = accum(C, f(A)): every entry becomes what an expression makes of it; the pattern is shared. */
#include "ops/call.h"

#include "ops/block/block_map.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_apply

GrB_Info FtB_apply(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc)
{
    ftb_call call;
    ftb_map *map = NULL;
    FtB_Matrix T = NULL;
    ftb_buffer *values = NULL;
    const ftb_slots slots = {.C = C, .M = M, .accum = accum, .op = op, .A = A, .desc = desc, .has_op = true};
    if (C.kind == FTB_KIND_BLOCK)
        return ftb_block_elementwise(&slots);
    GrB_Info info = ftb_call_begin(&call, &slots);
    if (info != GrB_SUCCESS)
        goto done;
    int threads = ftb_threads_for(call.ctx, call.A->pattern->nvals);
    ftb_pattern *pattern = call.A->pattern;
    ftb_map_input x = ftb_map_entries(call.A);
    FTB_CHECK(ftb_map_new(&map, call.ctx, call.op, &x, NULL, pattern, threads));
    FTB_CHECK(ftb_map_check_rows(map, pattern->nrows, pattern->ncols));
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
