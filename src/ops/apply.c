/* C<M> = accum(C, f(A)): every entry becomes what an expression makes of it; the pattern is shared. */
#include "ops/call.h"

#include "ops/block/block_map.h"

#include <omp.h>

/* The slots' macros are for callers: these are the functions. */
#undef FtB_apply

#define PARTS_PER_THREAD 16

GrB_Info ftb_map_run(ftb_map *map, FtB_Matrix A, int threads)
{
    const ftb_pattern *p = A->pattern;
    int64_t parts = ftb_max(1, ftb_min((int64_t)threads * PARTS_PER_THREAD, p->nvals / FTB_BATCH));
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
        ftb_batch *batch = &map->batches[omp_get_thread_num()];
        int64_t first = ftb_pattern_cut(p, part, parts);
        int64_t end = ftb_pattern_cut(p, part + 1, parts);
        if (ftb_cancelled(map->ctx))
            continue;
        for (int64_t i = first; i < end; i++)
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
                ftb_batch_push(batch, e, e, e, i, ftb_col(p, e));
        ftb_batch_flush(batch);
    }
    return ftb_check_cancelled(map->ctx);
}

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
    FTB_CHECK(ftb_map_run(map, call.A, threads));
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
