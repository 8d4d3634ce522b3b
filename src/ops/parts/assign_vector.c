/* C(I)<M> = accum(C(I), A) of vectors.
 *
 *     S = A's entries at the places of C that I says
 *     Z = C with these places taken from S (with an accumulator: where S has an entry)
 *     C = Z where the mask admits; elsewhere nothing with replace, else what C had
 *
 * Of all places the first two are the write rule's own, and without a mask the last is; then a bitmap changes
 * in place where little does. */
#include "cpu/vector/vector_merge_run.h"
#include "cpu/vector/vector_parts_run.h"
#include "ops/parts/assign.h"

bool ftb_is_number(ftb_assigned *x, FtB_Arg arg)
{
    *x = (ftb_assigned){
        .type = arg.kind == FTB_KIND_REAL ? FTB_FP64 : FTB_INT64, .real = arg.real, .integer = arg.integer};
    return arg.kind == FTB_KIND_REAL || arg.kind == FTB_KIND_INTEGER;
}

/* ---- what is put there */

/* A list of the places, with no values yet. */
static GrB_Info list_places(ftb_vector *S, FtB_Context ctx, const ftb_index_list *places, FtB_Type type,
                            int64_t size)
{
    GrB_Info info = ftb_vector_room(S, ctx, FTB_VECTOR_LIST, type, size, places->count);
    if (info == GrB_SUCCESS && places->count > 0)
        memcpy(S->index, places->sorted, (size_t)places->count * sizeof *S->index);
    return info;
}

/* A number at all places that are meant; of all places, where a mask says so. */
static GrB_Info spread_number(ftb_vector *S, const ftb_vector_call *call, const ftb_assigned *x,
                              const ftb_index_list *places)
{
    const int64_t size = call->C->v.size;
    const bool by_mask = !places->at && call->M && !call->flags.complement;
    GrB_Info info = places->at ? list_places(S, call->ctx, places, x->type, size)
                    : by_mask  ? ftb_vector_like(S, call->ctx, &call->M->v, x->type)
                               : ftb_vector_room(S, call->ctx, FTB_VECTOR_DENSE, x->type, size, size);
    if (info == GrB_SUCCESS)
        ftb_vector_fill(call->ctx, S, x->type == FTB_FP64 ? (const void *)&x->real : &x->integer);
    return info;
}

static GrB_Info spread(ftb_vector *S, const ftb_vector_call *call, const ftb_vector *u, const ftb_assigned *x,
                       const ftb_index_list *places)
{
    if (!u)
        return spread_number(S, call, x, places);
    return places->at ? ftb_vector_put(S, call->ctx, u, places->sorted, places->from, call->C->v.size)
                      : ftb_vector_as(S, call->ctx, u, u->form);
}

/* ---- some places */

static GrB_Info change_some(ftb_vector_call *call, ftb_vector *S, const ftb_index_list *places)
{
    const FtB_Vector C = call->C;
    const bool masked = call->M || call->flags.complement;
    ftb_vector region = {.form = FTB_VECTOR_LIST}, Z = region;
    GrB_Info info = list_places(&region, call->ctx, places, FTB_BOOL, C->v.size);
    if (info != GrB_SUCCESS)
        return info;
    ftb_vector_merge job = {.ctx = call->ctx,
                            .left = &C->v,
                            .right = S,
                            .mask = &region,
                            .lone_left = call->accum != NULL,
                            .lone_right = true,
                            .outside = true,
                            .combine = call->accum != NULL,
                            .type = C->v.type};
    if (!masked) {
        info = ftb_vector_change(C, &job, call->accum);
        goto done;
    }
    FTB_CHECK(ftb_vector_merged(&Z, &job, call->accum));
    info = ftb_vector_write(C, call->M, &call->flags, NULL, &Z);
done:
    ftb_vector_clear(&Z);
    ftb_vector_clear(&region);
    return info;
}

GrB_Info ftb_assign_vector(ftb_vector_call *call, const ftb_vector *u, const ftb_assigned *x,
                           const ftb_index_list *places)
{
    ftb_vector S = {.form = FTB_VECTOR_LIST};
    GrB_Info info = ftb_vector_write_check(call->C, call->M, call->accum, u ? u->type : x->type);
    if (info == GrB_SUCCESS)
        info = spread(&S, call, u, x, places);
    if (info == GrB_SUCCESS)
        info = places->at ? change_some(call, &S, places)
                          : ftb_vector_write(call->C, call->M, &call->flags, call->accum, &S);
    ftb_vector_clear(&S);
    return info;
}

GrB_Info ftb_assign_to_vector(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg I, FtB_Arg J,
                              FtB_Arg desc)
{
    ftb_vector_call call;
    ftb_index_list places = {.at = NULL};
    ftb_assigned x;
    FtB_Vector u = NULL;
    GrB_Info info = ftb_vector_begin(&call, C, M, accum, desc);
    if (info != GrB_SUCCESS)
        goto done;
    if (J.kind != FTB_KIND_NONE)
        FTB_CHECK(ftb_fail(GrB_INVALID_VALUE, "J is %s; expected NULL, since C is a vector",
                           ftb_kind_name(J.kind)));
    if (!ftb_is_number(&x, A))
        FTB_CHECK(ftb_arg_vector(&u, A, "A", false));
    FTB_CHECK(ftb_index_list_take(&places, call.ctx, I, "I", call.C->v.size));
    FTB_CHECK(ftb_index_list_once(&places, "I"));
    FTB_CHECK(ftb_vector_check_size(u, "A", places.count, "as I has numbers"));
    info = ftb_assign_vector(&call, u ? &u->v : NULL, &x, &places);
done:
    ftb_index_list_clear(&places);
    return ftb_vector_end(&call, info);
}
