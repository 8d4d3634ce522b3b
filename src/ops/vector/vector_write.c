/* C<M> = accum(C, T) of sparse vectors: the write rule (ops/write.c), in place where little changes.
 *
 * A few entries into a bitmap take their own time, not the bitmap's: so do steps of a search that add to a
 * set of what was seen. */
#include "cpu/vector/vector_merge_run.h"
#include "ops/vector/vectors.h"

GrB_Info ftb_vector_check_size(FtB_Vector v, const char *name, int64_t size, const char *expected)
{
    if (!v || v->v.size == size)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "%s has %lld places; expected %lld, %s", name,
                    (long long)v->v.size, (long long)size, expected);
}

ftb_map_input ftb_vector_entries(const ftb_vector *v) { return (ftb_map_input){v->values, v->type, 1, 1}; }

void ftb_vector_masked(ftb_vector_merge *job, const ftb_vector *M, const ftb_flags *flags)
{
    job->mask = M;
    job->complement = flags->complement;
    job->admits = M && !flags->structural ? ftb_mask_by(M->values, M->type) : (ftb_mask){0};
}

/* ---- arguments */

GrB_Info ftb_vector_begin(ftb_vector_call *call, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg desc)
{
    *call = (ftb_vector_call){0};
    GrB_Info info;
    FTB_CHECK(ftb_arg_vector(&call->C, C, "C", false));
    call->ctx = call->C->ctx;
    FTB_CHECK(ftb_arg_vector(&call->M, M, "M", true));
    FTB_CHECK(ftb_arg_descriptor(&call->flags, desc));
    FTB_CHECK(ftb_arg_op(&call->accum, accum, "accum", true));
    FTB_CHECK(ftb_vector_check_size(call->M, "M", call->C->v.size, "as C"));
    info = ftb_check_cancelled(call->ctx);
done:
    return info;
}

GrB_Info ftb_vector_end(ftb_vector_call *call, GrB_Info info)
{
    FtB_Op_free(&call->accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(call->ctx);
    return info;
}

GrB_Info ftb_vector_write_check(FtB_Vector C, FtB_Vector M, FtB_Op accum, FtB_Type type)
{
    GrB_Info info = ftb_vector_check_size(M, "M", C->v.size, "as C");
    if (info != GrB_SUCCESS || !accum)
        return info;
    ftb_map *map = NULL;
    const int64_t any = 0;
    const ftb_map_input x = {&any, C->v.type, 1, 1}, y = {&any, type, 1, 1};
    info = ftb_accum_error(ftb_map_new(&map, C->ctx, accum, &x, &y, NULL, 0));
    if (info == GrB_SUCCESS && map->width != 1)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "accum: makes %lld values of two; expected one",
                        (long long)map->width);
    if (info == GrB_SUCCESS)
        info = ftb_accum_error(ftb_map_check_rows(map, C->v.size, 1));
    ftb_map_delete(map);
    return info;
}

/* ---- merging */

/* The map of a merge, with as many batches as it has threads. */
static GrB_Info make_map(ftb_vector_merge *job, FtB_Op op)
{
    const ftb_map_input x = ftb_vector_entries(job->left), y = ftb_vector_entries(job->right);
    job->threads = ftb_vector_merge_threads(job);
    if (!job->combine)
        return GrB_SUCCESS;
    GrB_Info info = ftb_map_new(&job->map, job->ctx, op, &x, &y, NULL, job->threads);
    if (info == GrB_SUCCESS)
        info = ftb_map_check_rows(job->map, job->left->size, 1);
    return info;
}

GrB_Info ftb_vector_merged(ftb_vector *T, ftb_vector_merge *job, FtB_Op op)
{
    *T = (ftb_vector){.form = FTB_VECTOR_LIST};
    GrB_Info info = make_map(job, op);
    if (info == GrB_SUCCESS)
        info = ftb_vector_merge_new(T, job);
    ftb_map_delete(job->map);
    job->map = NULL;
    return info;
}

/* C becomes T as a whole. */
static GrB_Info replace(FtB_Vector C, ftb_vector *T)
{
    GrB_Info info = ftb_vector_cast(T, C->ctx, C->v.type);
    if (info == GrB_SUCCESS)
        info = ftb_vector_settle(T, C->ctx);
    if (info == GrB_SUCCESS)
        ftb_vector_become(C, T);
    return info;
}

GrB_Info ftb_vector_change(FtB_Vector C, ftb_vector_merge *job, FtB_Op op)
{
    ftb_vector Z;
    GrB_Info info = make_map(job, op);
    if (info == GrB_SUCCESS && !ftb_vector_merge_in_place(&info, &C->v, job)) {
        info = ftb_vector_merge_new(&Z, job);
        if (info == GrB_SUCCESS)
            ftb_vector_become(C, &Z);
    }
    ftb_map_delete(job->map);
    job->map = NULL;
    return info;
}

GrB_Info ftb_vector_write(FtB_Vector C, FtB_Vector M, const ftb_flags *flags, FtB_Op accum, ftb_vector *T)
{
    const bool all = !M && !flags->complement;
    ftb_vector_merge job = {.ctx = C->ctx,
                            .left = &C->v,
                            .right = T,
                            .lone_left = accum != NULL,
                            .lone_right = true,
                            .outside = !flags->replace,
                            .combine = accum != NULL,
                            .type = C->v.type};
    ftb_vector_masked(&job, M ? &M->v : NULL, flags);
    GrB_Info info = ftb_vector_write_check(C, M, accum, T->type);
    if (info == GrB_SUCCESS)
        info = all && (!accum || C->v.nvals == 0) ? replace(C, T) : ftb_vector_change(C, &job, accum);
    ftb_vector_clear(T);
    return info;
}
