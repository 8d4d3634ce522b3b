/* C<M> = accum(C, A + B) and C<M> = accum(C, A .* B): union and intersection of two patterns.
 *
 * Both are the row merge of merge.c. As in GraphBLAS, an entry that stands alone in a union is cast to
 * the dtype that op gives; where op makes vectors of scalars it is repeated. */
#include "ops/call.h"

#include "ops/block/block_map.h"
#include "ops/vector/vector_elementwise.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_eWiseAdd
#undef FtB_eWiseMult

static GrB_Info check_operands(const ftb_call *call)
{
    if (call->A->pattern->multi || call->B->pattern->multi)
        return ftb_fail(GrB_INVALID_VALUE, "%s has parallel edges, which have no partner in the other matrix",
                        call->A->pattern->multi ? "A" : "B");
    return GrB_SUCCESS;
}

/* Dtype and width of op's results; lone entries must fit beside them. */
static GrB_Info check_result(const ftb_call *call, bool lone, FtB_Type *type, int64_t *width)
{
    ftb_map *map = NULL;
    ftb_map_input x = ftb_map_entries(call->A), y = ftb_map_entries(call->B);
    GrB_Info info = ftb_map_new(&map, call->ctx, call->op, &x, &y, NULL, 0);
    if (info != GrB_SUCCESS)
        return info;
    *type = map->type;
    *width = map->width;
    ftb_map_delete(map);
    int64_t a = x.width, b = y.width;
    if (lone && ((a != *width && a != 1) || (b != *width && b != 1)))
        return ftb_fail(
            GrB_DIMENSION_MISMATCH,
            "op gives %lld values per entry, which entries of A alone (width %lld) or B alone (width "
            "%lld) cannot stand beside",
            (long long)*width, (long long)a, (long long)b);
    return ftb_write_check(call->C, call->M, &call->flags, call->accum, *type, *width);
}

static GrB_Info ewise(const ftb_slots *slots, bool lone)
{
    ftb_call call;
    FtB_Matrix T = NULL;
    if (slots->C.kind == FTB_KIND_BLOCK)
        return ftb_block_elementwise(slots);
    if (slots->C.kind == FTB_KIND_VECTOR)
        return ftb_vector_ewise(slots, lone);
    ftb_merge_rule rule = {.lone_left = lone, .lone_right = lone, .combine = true};
    GrB_Info info = ftb_call_begin(&call, slots);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(check_operands(&call));
    FTB_CHECK(check_result(&call, lone, &rule.type, &rule.width));
    rule.left = call.A;
    rule.right = call.B;
    rule.op = call.op;
    FTB_CHECK(ftb_merge(&T, NULL, call.ctx, &rule));
    FTB_CHECK(ftb_write(call.C, call.M, &call.flags, call.accum, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    return ftb_call_end(&call, info);
}

GrB_Info FtB_eWiseAdd(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg B, FtB_Arg desc)
{
    const ftb_slots slots = {C, M, accum, op, A, B, desc, .has_op = true, .has_B = true};
    return ewise(&slots, true);
}

GrB_Info FtB_eWiseMult(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg B, FtB_Arg desc)
{
    const ftb_slots slots = {C, M, accum, op, A, B, desc, .has_op = true, .has_B = true};
    return ewise(&slots, false);
}
