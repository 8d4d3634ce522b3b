/* C<M> = accum(C, ...) of sparse vectors entry by entry: f(A), some of A, A + B, A .* B, rows of a matrix
 * reduced.
 *
 * Texts know a vector's place as i, and j is 0. A selection is the vector under a mask, which the text makes.
 */
#include "ops/vector/vector_elementwise.h"

#include "cpu/reduce_run.h"
#include "cpu/vector/mxv_run.h"
#include "cpu/vector/vector_map_run.h"
#include "cpu/vector/vector_merge_run.h"
#include "ops/vector/vectors.h"

typedef struct elementwise {
    ftb_vector_call call;
    FtB_Vector A, B;
    FtB_Op op;
} elementwise;

static GrB_Info begin(elementwise *e, const ftb_slots *slots)
{
    *e = (elementwise){.A = NULL};
    GrB_Info info = ftb_vector_begin(&e->call, slots->C, slots->M, slots->accum, slots->desc);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t size = e->call.C->v.size;
    FTB_CHECK(ftb_arg_op(&e->op, slots->op, "op", false));
    FTB_CHECK(ftb_arg_vector(&e->A, slots->A, "A", false));
    FTB_CHECK(ftb_vector_check_size(e->A, "A", size, "as C"));
    if (slots->has_B)
        FTB_CHECK(ftb_arg_vector(&e->B, slots->B, "B", false));
    FTB_CHECK(ftb_vector_check_size(e->B, "B", size, "as C"));
done:
    return info;
}

static GrB_Info end(elementwise *e, GrB_Info info)
{
    FtB_Op_free(&e->op);
    return ftb_vector_end(&e->call, info);
}

/* op over A's entries and, where there is one, B's: one value of them. threads 0: only its type is wanted. */
static GrB_Info make_map(ftb_map **map, const elementwise *e, int threads)
{
    const ftb_map_input x = ftb_vector_entries(&e->A->v),
                        y = e->B ? ftb_vector_entries(&e->B->v) : (ftb_map_input){NULL, FTB_INT8, 1, 1};
    GrB_Info info = ftb_map_new(map, e->call.ctx, e->op, &x, e->B ? &y : NULL, NULL, threads);
    if (info == GrB_SUCCESS)
        info = ftb_map_check_rows(*map, e->A->v.size, 1);
    if (info == GrB_SUCCESS && (*map)->width != 1)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "op gives %lld values for an entry; a vector's are one value",
                        (long long)(*map)->width);
    return info;
}

/* *T: a value of `type` for each of A's entries. */
static GrB_Info map_entries(ftb_vector *T, const elementwise *e, ftb_map *map, FtB_Type type)
{
    GrB_Info info = ftb_vector_like(T, e->call.ctx, &e->A->v, type);
    if (info != GrB_SUCCESS)
        return info;
    ftb_map_output(map, T->values, type);
    return ftb_vector_map_run(map, &e->A->v);
}

GrB_Info ftb_vector_apply(const ftb_slots *slots)
{
    elementwise e;
    ftb_map *map = NULL;
    ftb_vector T = {.form = FTB_VECTOR_LIST};
    GrB_Info info = begin(&e, slots);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(make_map(&map, &e, ftb_vector_map_threads(e.call.ctx, &e.A->v)));
    const FtB_Type type = e.call.accum ? map->type : e.call.C->v.type; /* one cast: here, or by accum */
    FTB_CHECK(ftb_vector_write_check(e.call.C, e.call.M, e.call.accum, type));
    FTB_CHECK(map_entries(&T, &e, map, type));
    info = ftb_vector_write(e.call.C, e.call.M, &e.call.flags, e.call.accum, &T);
done:
    ftb_vector_clear(&T);
    ftb_map_delete(map);
    return end(&e, info);
}

GrB_Info ftb_vector_select(const ftb_slots *slots)
{
    elementwise e;
    ftb_map *map = NULL;
    ftb_vector keep = {.form = FTB_VECTOR_LIST}, T = keep, nothing = keep;
    GrB_Info info = begin(&e, slots);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(make_map(&map, &e, ftb_vector_map_threads(e.call.ctx, &e.A->v)));
    FTB_CHECK(ftb_vector_write_check(e.call.C, e.call.M, e.call.accum, e.A->v.type));
    FTB_CHECK(map_entries(&keep, &e, map, FTB_BOOL));
    nothing.size = e.A->v.size;
    nothing.type = e.A->v.type;
    ftb_vector_merge job = {
        .ctx = e.call.ctx, .left = &e.A->v, .right = &nothing, .lone_left = true, .type = e.A->v.type};
    ftb_vector_masked(&job, &keep, &(ftb_flags){.structural = false});
    FTB_CHECK(ftb_vector_merged(&T, &job, NULL));
    info = ftb_vector_write(e.call.C, e.call.M, &e.call.flags, e.call.accum, &T);
done:
    ftb_vector_clear(&keep);
    ftb_vector_clear(&T);
    ftb_map_delete(map);
    return end(&e, info);
}

GrB_Info ftb_vector_ewise(const ftb_slots *slots, bool lone)
{
    elementwise e;
    ftb_map *map = NULL;
    ftb_vector T = {.form = FTB_VECTOR_LIST};
    GrB_Info info = begin(&e, slots);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(make_map(&map, &e, 0));
    FTB_CHECK(ftb_vector_write_check(e.call.C, e.call.M, e.call.accum, map->type));
    ftb_vector_merge job = {.ctx = e.call.ctx,
                            .left = &e.A->v,
                            .right = &e.B->v,
                            .lone_left = lone,
                            .lone_right = lone,
                            .combine = true,
                            .type = map->type};
    FTB_CHECK(ftb_vector_merged(&T, &job, e.op));
    info = ftb_vector_write(e.call.C, e.call.M, &e.call.flags, e.call.accum, &T);
done:
    ftb_vector_clear(&T);
    ftb_map_delete(map);
    return end(&e, info);
}

/* ---- reductions */

static GrB_Info describe(ftb_reduce_product *r, FtB_Arg monoid, FtB_Matrix A)
{
    FtB_Type given = 0;
    GrB_Info info = ftb_arg_monoid(&r->monoid, &given, monoid, "monoid");
    if (info != GrB_SUCCESS)
        return info;
    if (A->width > 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "A has entries of width %lld; a vector's are one value",
                        (long long)A->width);
    r->what = FTB_REDUCE_PATTERN;
    r->heads = r->width = r->ld = 1;
    r->nrows = A->pattern->nvals;
    r->from = A->width ? A->type : (FtB_Type)0;
    r->domain = given ? given : r->from ? r->from : FTB_INT8;
    r->type = ftb_monoid_type(r->monoid, ftb_type_compute(r->domain));
    r->result = given ? given : r->type;
    r->interruptible = true;
    return GrB_SUCCESS;
}

/* *T: A's rows that have entries; where they are listed, that list. */
static GrB_Info reduce_rows(ftb_vector *T, ftb_reduce_product *r, FtB_Matrix A)
{
    ftb_pattern *p = ftb_pattern_rows(A->pattern);
    const bool listed = p->numbers != NULL;
    GrB_Info info = ftb_vector_room(T, r->ctx, listed ? FTB_VECTOR_LIST : FTB_VECTOR_BITMAP, r->result,
                                    A->pattern->nrows, listed ? p->nrows : 0);
    if (info != GrB_SUCCESS)
        return info;
    if (listed && p->nrows > 0)
        memcpy(T->index, p->numbers, (size_t)p->nrows * sizeof *T->index);
    r->p = p;
    r->x = A->width ? ftb_values(A) : NULL;
    r->out = T->values;
    info = ftb_reduce_run(r);
    if (info == GrB_SUCCESS && !listed)
        ftb_mxv_mark(T, A->pattern, NULL, A->pattern->nrows);
    return info;
}

GrB_Info ftb_vector_reduce(FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg monoid, FtB_Arg A, FtB_Arg desc)
{
    ftb_vector_call call;
    FtB_Matrix matrix, turned = NULL;
    ftb_vector T = {.form = FTB_VECTOR_LIST};
    ftb_reduce_product r = {.ctx = NULL};
    GrB_Info info = ftb_vector_begin(&call, y, M, accum, desc);
    if (info != GrB_SUCCESS)
        goto done;
    r.ctx = call.ctx;
    FTB_CHECK(ftb_arg_matrix_listed(&matrix, A, "A", false));
    const bool turn = call.flags.transpose0;
    FTB_CHECK(ftb_vector_check_size(call.C, "y", turn ? matrix->pattern->ncols : matrix->pattern->nrows,
                                    turn ? "the columns of A" : "the rows of A"));
    FTB_CHECK(describe(&r, monoid, matrix));
    FTB_CHECK(ftb_vector_write_check(call.C, call.M, call.accum, r.result));
    if (turn)
        FTB_CHECK(ftb_matrix_transpose_listed(&turned, matrix));
    FTB_CHECK(reduce_rows(&T, &r, turn ? turned : matrix));
    info = ftb_vector_write(call.C, call.M, &call.flags, call.accum, &T);
done:
    ftb_vector_clear(&T);
    FtB_Matrix_free(&turned);
    return ftb_vector_end(&call, info);
}

GrB_Info ftb_vector_packed(const void **values, void **own, FtB_Vector v)
{
    ftb_vector list;
    *values = v->v.values;
    *own = NULL;
    if (v->v.form != FTB_VECTOR_BITMAP)
        return GrB_SUCCESS;
    GrB_Info info = ftb_vector_as(&list, v->ctx, &v->v, FTB_VECTOR_LIST);
    if (info != GrB_SUCCESS)
        return info;
    *values = *own = list.values;
    list.values = NULL;
    ftb_vector_clear(&list);
    return GrB_SUCCESS;
}
