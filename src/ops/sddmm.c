/* C<M> = accum(C, A (x) B'), two blocks under a sparse mask: a message for every entry that M admits.
 *
 * The result has M's pattern, or what a valued mask admits of it; into an empty C, and under replace, it
 * becomes C without a merge, so that a structural mask's pattern is shared. Otherwise the write rule of
 * matrices applies.
 *
 * Where the mask lists its rows (core/hypersparse.h), the host takes those rows of A, and of B, that meet an
 * entry. */
#include "ops/sddmm.h"

#include "core/watch.h"
#include "cpu/block/write_run.h"
#include "cpu/entries/keep_run.h"
#include "expr/score.h"
#include "ops/call.h"
#include "ops/plan_object.h"

typedef struct sddmm_call {
    FtB_Context ctx; /* C's */
    FtB_Matrix C, M;
    FtB_Block A, B;
    FtB_Op accum;
    FtB_Semiring semiring;
    ftb_flags flags;
    FtB_Matrix admitted; /* M, or what a valued M admits of it */
    FtB_Matrix filtered; /* ours, the same */
    ftb_pattern *p;    /* its entries; where rows are listed, those rows, and columns, that have some: then */
    FtB_Block held[2]; /* ours: A and B of these */
    ftb_message message;
    ftb_message_type type;
} sddmm_call;

static GrB_Info check_flags(const sddmm_call *c)
{
    if (c->flags.transpose0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "desc: TRANSPOSE0 of a block; A's rows are those of C as they are");
    if (!c->flags.transpose1)
        return ftb_fail(GrB_INVALID_VALUE,
                        "desc: a product of two blocks reads B transposed; expected TRANSPOSE1 to be set, as "
                        "in FTB_DESC_T1 or FTB_DESC_ST1");
    if (c->flags.complement)
        return ftb_fail(GrB_INVALID_VALUE,
                        "M: complemented; a product of two blocks is computed where M has entries");
    return GrB_SUCCESS;
}

static GrB_Info check_shapes(const sddmm_call *c)
{
    const ftb_pattern *p = c->C->pattern;
    if (c->A->nrows != p->nrows)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "A: %lld rows; expected %lld, the rows of C",
                        (long long)c->A->nrows, (long long)p->nrows);
    if (c->B->nrows != p->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "B: %lld rows; expected %lld, the columns of C",
                        (long long)c->B->nrows, (long long)p->ncols);
    return ftb_mask_check(c->M, &c->flags, p->nrows, p->ncols);
}

static GrB_Info read_slots(sddmm_call *c, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                           FtB_Arg B, FtB_Arg desc)
{
    GrB_Info info;
    if (M.kind == FTB_KIND_NONE)
        return ftb_fail(GrB_NULL_POINTER,
                        "M is NULL; a product of two blocks is computed where a mask has entries: expected "
                        "an FtB_Matrix");
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&c->C, C, "C", false));
    c->ctx = c->C->ctx;
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&c->M, M, "M", false));
    FTB_CHECK(ftb_arg_block_anywhere(&c->A, A, "A", false));
    FTB_CHECK(ftb_arg_block_anywhere(&c->B, B, "B", false));
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(check_flags(c));
    FTB_CHECK(check_shapes(c));
    FTB_CHECK(ftb_arg_op(&c->accum, accum, "accum", true));
    info = ftb_arg_semiring(&c->semiring, semiring, "semiring");
done:
    return info;
}

/* The entries of M that admit, as a matrix: M itself, if all do. */
static GrB_Info admit(sddmm_call *c)
{
    int64_t nvals = c->M->pattern->nvals;
    c->admitted = c->M;
    if (c->flags.structural || c->M->width == 0)
        return GrB_SUCCESS;
    GrB_Info info = ftb_buffer_ask_as(c->M->values, FTB_READ, "M");
    if (info != GrB_SUCCESS)
        return info;
    ftb_mask mask = ftb_mask_of(c->M, false);
    uint8_t *keep = ftb_new(c->ctx, nvals, 1);
    if (!keep)
        return ftb_nomem();
    int64_t count = ftb_keep_admitted(c->ctx, keep, &mask, nvals);
    if (count < nvals) {
        info = ftb_keep(&c->filtered, c->ctx, c->M, keep);
        c->admitted = c->filtered;
    }
    ftb_delete(keep);
    return info;
}

/* The admitted entries, by all rows, or by those that have some. */
static GrB_Info hold_rows(sddmm_call *c)
{
    GrB_Info info;
    FTB_CHECK(admit(c));
    c->p = c->admitted->pattern;
    if (!c->p->listed || ftb_device(c->ctx))
        return ftb_pattern_all_rows(c->p, "M");
    FTB_CHECK(ftb_pattern_both(c->p->listed, &c->p));
    FTB_CHECK(ftb_block_pick(&c->held[0], c->ctx, c->A, c->p->numbers, c->p->nrows, "A"));
    FTB_CHECK(ftb_block_pick(&c->held[1], c->ctx, c->B, c->p->columns, c->p->ncols, "B"));
    c->A = c->held[0];
    c->B = c->held[1];
done:
    return info;
}

/* A block's rows as an operand. One without columns is one of zeros: their dot product is that of no terms.
 */
static GrB_Info add_operand(sddmm_call *c, const char *name, ftb_side side, FtB_Block X)
{
    FtB_Block zeros = NULL;
    if (X->ncols > 0)
        return ftb_message_block(&c->message, name, side, X, X->heads);
    GrB_Info info = ftb_block_like(&zeros, c->ctx, X, X->nrows, X->heads);
    if (info == GrB_SUCCESS)
        info = ftb_message_block(&c->message, name, side, zeros, X->heads);
    FtB_Block_free(&zeros);
    return info;
}

static GrB_Info check_columns(const sddmm_call *c)
{
    if (c->A->ncols > 0 && c->B->ncols > 0)
        return GrB_SUCCESS;
    if (c->A->ncols != c->B->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld columns, B has %lld; expected both to have some",
                        (long long)c->A->ncols, (long long)c->B->ncols);
    if (ftb_score_of(&c->message, &c->type).kind != FTB_SCORE_DOT)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "A and B have no columns; of such there are only dot products of reals, which are 0");
    return GrB_SUCCESS;
}

static GrB_Info make_message(sddmm_call *c)
{
    static const char *const rename[] = {"a", "dst", "b", "src", NULL};
    ftb_message *m = &c->message;
    ftb_program *program = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_message_new(m, c->ctx, c->semiring, rename));
    if (c->semiring->domain)
        FTB_CHECK(ftb_message_over_features(m));
    FTB_CHECK(add_operand(c, "dst", FTB_SIDE_ROW, c->A));
    FTB_CHECK(add_operand(c, "src", FTB_SIDE_COL, c->B));
    FTB_CHECK(ftb_message_values(m, "edge", c->admitted, NULL));
    FTB_CHECK(ftb_message_indices(m, c->p, false, NULL));
    if (c->p->numbers) {
        FTB_CHECK(ftb_message_number(m, FTB_SIDE_ROW, c->p->numbers, c->p->all_rows, "rows"));
        FTB_CHECK(ftb_message_number(m, FTB_SIDE_COL, c->p->columns, c->C->pattern->ncols, "columns"));
    }
    ftb_message_argument(m, "dst", "A");
    ftb_message_argument(m, "src", "B");
    ftb_message_argument(m, "edge", "M");
    FTB_CHECK(ftb_message_compile(&c->type, &program, m));
    FTB_CHECK(check_columns(c));
    if (c->C->pattern->nvals > 0)
        info = ftb_write_check(c->C, c->M, &c->flags, c->accum, c->type.message, m->heads * c->type.width);
done:
    ftb_program_delete(program);
    return info;
}

/* Whether C's values may become the messages where they lie, which saves fresh pages: of the same pattern and
 * kind. Views of them (FtB_Matrix_values) see that, as they see all that is written there. */
static bool replaces_values(const sddmm_call *c)
{
    ftb_buffer *values = c->C->values;
    return c->C->pattern == c->admitted->pattern && !c->accum && c->C->type == c->type.message &&
           c->C->width == c->message.heads * c->type.width && values && ftb_buffer_write(values);
}

static bool wraps(const sddmm_call *c) { return ftb_semiring_wraps_to(c->semiring, c->type.message) != 0; }

/* Whether C becomes what is computed: what M admits, and nothing else. */
static bool becomes(const sddmm_call *c)
{
    return c->C->pattern->nvals == 0 || (c->flags.replace && !c->accum);
}

/* All that is read, on the host, where C is merged with the result. */
static GrB_Info ask(const sddmm_call *c)
{
    GrB_Info info = ftb_message_ask(&c->message);
    return info == GrB_SUCCESS ? ftb_buffer_ask_as(c->C->values, FTB_READ, "C") : info;
}

/* T: the messages, as a matrix over the admitted entries. */
static GrB_Info compute(FtB_Matrix *T, const sddmm_call *c)
{
    ftb_pattern *p = c->p;
    int64_t width = c->message.heads * c->type.width, count;
    *T = NULL;
    if (__builtin_mul_overflow(p->nvals, width, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    void *values = ftb_new(c->ctx, count, FtB_Type_size(c->type.message));
    if (!values)
        return ftb_nomem();
    ftb_buffer *made = ftb_buffer_adopt(c->ctx, values);
    if (!made)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    if (!becomes(c) || wraps(c) || !ftb_sddmm_leaves(&c->message, &c->type) ||
        !ftb_sddmm_over(&info, made, &c->message, &c->type, p, c->flags.plan)) {
        info = ask(c);
        if (info == GrB_SUCCESS)
            info = ftb_sddmm_message(values, &c->message, &c->type, p, c->flags.plan);
        if (info == GrB_SUCCESS)
            ftb_rows_wrap(c->ctx, &(ftb_plain_rows){values, c->type.message, p->nvals, width, width},
                          ftb_semiring_wraps_to(c->semiring, c->type.message));
    }
    if (info != GrB_SUCCESS) {
        ftb_buffer_release(made);
        return info;
    }
    return ftb_matrix_make(T, c->ctx, c->type.message, width, ftb_pattern_retain(c->admitted->pattern), made);
}

static GrB_Info end_call(sddmm_call *c, GrB_Info info)
{
    ftb_message_clear(&c->message);
    FtB_Matrix_free(&c->filtered);
    FtB_Block_free(&c->held[0]);
    FtB_Block_free(&c->held[1]);
    FtB_Semiring_free(&c->semiring);
    FtB_Op_free(&c->accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    return info;
}

GrB_Info ftb_sddmm(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc)
{
    sddmm_call c = {0};
    FtB_Matrix T = NULL;
    GrB_Info info;
    FTB_CHECK(read_slots(&c, C, M, accum, semiring, A, B, desc));
    FTB_CHECK(hold_rows(&c));
    FTB_CHECK(make_message(&c));
    if (replaces_values(&c) && !wraps(&c) &&
        ftb_sddmm_over(&info, c.C->values, &c.message, &c.type, c.p, c.flags.plan))
        goto done;
    FTB_CHECK(compute(&T, &c));
    if (becomes(&c))
        info = ftb_matrix_become(c.C, T);
    else
        info = ftb_write(c.C, c.M, &c.flags, c.accum, T);
    if (info == GrB_SUCCESS)
        T = NULL;
done:
    FtB_Matrix_free(&T);
    return end_call(&c, info);
}

GrB_Info ftb_sddmm_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                             FtB_Arg B, FtB_Arg desc, FtB_Effort effort)
{
    sddmm_call c = {0};
    GrB_Info info;
    FTB_CHECK(read_slots(&c, C, M, accum, semiring, A, B, desc));
    FTB_CHECK(hold_rows(&c));
    FTB_CHECK(make_message(&c));
    if (effort == FTB_MEASURE)
        FTB_CHECK(ask(&c));
    const bool there = replaces_values(&c) && !wraps(&c) && ftb_sddmm_leaves(&c.message, &c.type);
    info = ftb_sddmm_make_plan(plan, &c.message, &c.type, c.p, c.flags.plan, effort, there);
    if (info == GrB_SUCCESS)
        ftb_plan_place_message(*plan, there, &c.message, NULL);
done:
    return end_call(&c, info);
}
