/* C<M> = accum(C, A (x) B), two sparse matrices over a semiring: arguments, plan, run, write rule. */
#include "ops/block/blocks.h"
#include "ops/plan_object.h"
#include "ops/spgemm/spgemm.h"
#include "ops/vector/mxv.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_mxm
#undef FtB_mxm_plan
#undef FtB_mxm_arg

typedef struct call {
    FtB_Matrix C; /* NULL: sink */
    FtB_Sink sink;
    FtB_Matrix M, A, B;
    FtB_Matrix E;     /* of FtB_mxm_arg */
    FtB_Sink winners; /* ours: collects E */
    FtB_Op accum;
    ftb_flags flags;
    FtB_Context ctx;
    ftb_spgemm_product *product;
} call;

static GrB_Info read_output(call *c, FtB_Arg C, FtB_Arg M, FtB_Arg accum)
{
    GrB_Info info = ftb_product_output(&c->C, &c->sink, &c->ctx, C);
    if (info != GrB_SUCCESS || !c->sink)
        return info;
    if (accum.kind != FTB_KIND_NONE)
        return ftb_fail(GrB_INVALID_VALUE, "accum: a sink has no old entries to accumulate; expected NULL");
    if (M.kind != FTB_KIND_NONE && c->flags.complement)
        return ftb_fail(GrB_INVALID_VALUE, "M: complemented masks need a matrix as C");
    return GrB_SUCCESS;
}

static GrB_Info read_slots(call *c, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg B, FtB_Arg desc)
{
    GrB_Info info;
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(read_output(c, C, M, accum));
    FTB_CHECK(ftb_arg_matrix_listed(&c->M, M, "M", true));
    FTB_CHECK(ftb_arg_matrix_listed(&c->A, A, "A", false));
    FTB_CHECK(ftb_arg_matrix_listed(&c->B, B, "B", false));
    FTB_CHECK(ftb_arg_op(&c->accum, accum, "accum", true));
    if (c->A->width > 1 && c->B->width > 1 && c->A->width != c->B->width)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "B: width %lld; expected 0, 1 or A's width, %lld",
                        (long long)c->B->width, (long long)c->A->width);
done:
    return info;
}

static GrB_Info check_shape(FtB_Matrix C, const char *name, const ftb_spgemm_product *product)
{
    const int64_t nrows = ftb_rows_in_all(product->left);
    const ftb_spgemm *p = &product->p;
    if (!C || (C->pattern->nrows == nrows && C->pattern->ncols == p->ncols))
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %lld x %lld; expected %lld x %lld, the shape of A x B", name,
                    (long long)C->pattern->nrows, (long long)C->pattern->ncols, (long long)nrows,
                    (long long)p->ncols);
}

/* The complement of no mask admits no entry. */
static GrB_Info want_nothing(ftb_spgemm_product *product)
{
    const uint8_t *none = ftb_arena_new0(&product->arena, product->p.nrows, 1);
    if (!none)
        return ftb_nomem();
    ftb_product_want(product, none);
    return GrB_SUCCESS;
}

/* Everything up to the plan. */
static GrB_Info prepare_call(call *c, FtB_Arg semiring)
{
    GrB_Info info;
    FtB_Semiring s = NULL;
    FTB_CHECK(ftb_arg_semiring(&s, semiring, "semiring"));
    FTB_CHECK(
        ftb_product_new(&c->product, c->ctx, &s, c->A, c->flags.transpose0, c->B, c->flags.transpose1,
                        c->M && c->sink ? FTB_LISTED_LEFT : FTB_LISTED_BOTH)); /* a mask has B's columns */
    ftb_spgemm_product *product = c->product;
    FTB_CHECK(check_shape(c->C, "C", product));
    FTB_CHECK(check_shape(c->E, "E", product));
    if (c->M)
        FTB_CHECK(ftb_mask_check(c->M, &c->flags, ftb_rows_in_all(product->left), product->p.ncols));
    if (!c->M && c->flags.complement)
        FTB_CHECK(want_nothing(product));
    if (c->M && !c->flags.complement && !product->p.column) {
        FTB_CHECK(ftb_product_mask(product, c->M));
        product->m = ftb_values(product->mask);
        product->admits = ftb_mask_of(product->mask, c->flags.structural);
    }
    if (c->M && c->sink && !product->mask) {
        info = ftb_fail(GrB_INVALID_VALUE, "M: a sink takes masks over fewer than 2^31 columns");
        goto done;
    }
    product->winners = c->winners;
    product->counted = c->sink && ftb_sink_counts(c->sink);
    FTB_CHECK(ftb_product_message(product, NULL, NULL, NULL, false));
    product->facts.slot_only = product->mask && (c->sink || product->message.used[FTB_NAME_M]);
    FTB_CHECK(ftb_finish_compile(&product->finish, product, NULL, NULL));
    ftb_product_reserve(product, c->sink, false);
done:
    FtB_Semiring_free(&s);
    return info;
}

static GrB_Info run_call(call *c)
{
    FtB_Matrix T = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_spgemm_plan_take(c->product, c->flags.plan, false));
    if (c->sink) {
        info = ftb_product_to_sink(c->product, c->sink, false);
        goto done;
    }
    FTB_CHECK(ftb_product_to_matrix(&T, c->product, c->accum ? (FtB_Type)0 : c->C->type));
    FTB_CHECK(ftb_write(c->C, c->M, &c->flags, c->accum, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    return info;
}

static GrB_Info end_call(call *c, GrB_Info info)
{
    FtB_Sink_free(&c->winners);
    FtB_Op_free(&c->accum);
    return ftb_product_end(c->product, c->ctx, info);
}

/* What decides which kind of product it is; one with features has the graph first. */
static GrB_Info check_operands(FtB_Arg A, FtB_Arg B)
{
    if (A.kind == FTB_KIND_NONE || B.kind == FTB_KIND_NONE)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected an FtB_Matrix, an FtB_Block or an FtB_Vector",
                        A.kind == FTB_KIND_NONE ? "A" : "B");
    if (A.kind == FTB_KIND_BLOCK && B.kind == FTB_KIND_MATRIX)
        return ftb_fail(
            GrB_INVALID_VALUE,
            "A is an FtB_Block and B is an FtB_Matrix; expected them the other way round, or two blocks");
    return GrB_SUCCESS;
}

static bool has_vector(FtB_Arg A, FtB_Arg B)
{
    return A.kind == FTB_KIND_VECTOR || B.kind == FTB_KIND_VECTOR;
}

GrB_Info FtB_mxm(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc)
{
    call c = {0};
    GrB_Info info;
    FTB_CHECK(check_operands(A, B));
    if (has_vector(A, B))
        return ftb_mxv(C, M, accum, semiring, A, B, desc);
    if (A.kind == FTB_KIND_BLOCK)
        return ftb_sddmm(C, M, accum, semiring, A, B, desc);
    if (B.kind == FTB_KIND_BLOCK)
        return ftb_spmm(C, (FtB_Arg){0}, M, accum, semiring, A, B, desc);
    FTB_CHECK(read_slots(&c, C, M, accum, A, B, desc));
    FTB_CHECK(prepare_call(&c, semiring));
    info = run_call(&c);
done:
    return end_call(&c, info);
}

GrB_Info FtB_mxm_plan(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                      FtB_Arg B, FtB_Arg desc, FtB_Effort effort)
{
    call c = {0};
    GrB_Info info;
    if (!plan)
        return ftb_fail(GrB_NULL_POINTER, "plan: NULL; expected where to put the plan");
    *plan = NULL;
    FTB_CHECK(check_operands(A, B));
    if (has_vector(A, B))
        return ftb_mxv_plan_call(plan, C, M, accum, semiring, A, B, desc, effort);
    if (A.kind == FTB_KIND_BLOCK)
        return ftb_sddmm_plan_call(plan, C, M, accum, semiring, A, B, desc, effort);
    if (B.kind == FTB_KIND_BLOCK)
        return ftb_spmm_plan_call(plan, C, M, accum, semiring, A, B, desc, effort);
    FTB_CHECK(read_slots(&c, C, M, accum, A, B, desc));
    FTB_CHECK(prepare_call(&c, semiring));
    FTB_CHECK(ftb_spgemm_plan_take(c.product, c.flags.plan, true));
    info = ftb_spgemm_plan_make(plan, c.product, effort);
done:
    return end_call(&c, info);
}

/* Replaces T by the part of it that the mask admits. */
static GrB_Info through_mask(FtB_Matrix *T, FtB_Matrix M, const ftb_flags *flags)
{
    FtB_Matrix empty = NULL;
    ftb_pattern *pattern = ftb_pattern_empty((*T)->ctx, (*T)->pattern->nrows, (*T)->pattern->ncols);
    ftb_buffer *values = ftb_buffer_new((*T)->ctx, 0, 1);
    if (!pattern || !values) {
        ftb_pattern_release(pattern);
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    GrB_Info info = ftb_matrix_make(&empty, (*T)->ctx, (*T)->type, (*T)->width, pattern, values);
    if (info == GrB_SUCCESS)
        info = ftb_write(empty, M, flags, NULL, *T);
    if (info != GrB_SUCCESS) {
        FtB_Matrix_free(&empty);
        return info;
    }
    *T = empty;
    return GrB_SUCCESS;
}

static GrB_Info read_winners(call *c, FtB_Arg E)
{
    GrB_Info info = ftb_arg_matrix_listed(&c->E, E, "E", false);
    if (info != GrB_SUCCESS)
        return info;
    if (!c->C)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "C: a sink; expected an FtB_Matrix");
    if (c->E->type != FTB_INT64 || c->E == c->C)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "E: dtype %s; expected an INT64 matrix other than C",
                        FtB_Type_name(c->E->type));
    return GrB_SUCCESS;
}

GrB_Info FtB_mxm_arg(FtB_Arg C, FtB_Arg E, FtB_Arg M, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc)
{
    call c = {0};
    FtB_Matrix T = NULL, W = NULL;
    FtB_Arg none = {0};
    GrB_Info info;
    FTB_CHECK(check_operands(A, B));
    if (A.kind != FTB_KIND_BLOCK && B.kind == FTB_KIND_BLOCK)
        return ftb_spmm(C, E, M, none, semiring, A, B, desc);
    FTB_CHECK(read_slots(&c, C, M, none, A, B, desc));
    FTB_CHECK(read_winners(&c, E));
    c.flags.replace = true;
    FTB_CHECK(ftb_sink_matrix(&c.winners, c.E->ctx, &W, FTB_INT64));
    FTB_CHECK(prepare_call(&c, semiring));
    FTB_CHECK(ftb_spgemm_plan_take(c.product, c.flags.plan, false));
    FTB_CHECK(ftb_product_to_matrix(&T, c.product, c.C->type));
    FTB_CHECK(ftb_product_number(&W, c.product));
    if (c.M || c.flags.complement) { /* both through the mask before either output changes */
        FTB_CHECK(through_mask(&T, c.M, &c.flags));
        FTB_CHECK(through_mask(&W, c.M, &c.flags));
    }
    FTB_CHECK(ftb_matrix_become(c.C, T));
    T = NULL;
    FTB_CHECK(ftb_matrix_become(c.E, W));
    W = NULL;
done:
    FtB_Matrix_free(&T);
    FtB_Matrix_free(&W);
    return end_call(&c, info);
}
