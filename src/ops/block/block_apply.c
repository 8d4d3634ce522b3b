/* C<M> = accum(C, f(A)) and C<M> = accum(C, f(A, B)) on blocks: arguments, and where they are run.
 *
 * What is only put or added is the verb's. Else rows are computed and written piece by piece on the host
 * (src/cpu/block/write_run.c), so that nothing of C's size is stored in between and every
 * value crosses the memory bus once each way. An operand that shares bytes with C in another place than its
 * own is copied first. All that can fail is done before the first piece; from there on the call cannot be
 * cancelled.
 */
#include "ops/backends.h"
#include "ops/block/block_map.h"

#include "ops/call.h"

typedef struct block_call {
    FtB_Context ctx; /* C's */
    FtB_Block C, M, operand[2];
    ftb_flags flags;
    FtB_Op accum, op;
    FtB_Block copy[2]; /* of operands; ours */
    bool plain;        /* all of C is written as it is computed, or added to */
    ftb_block_map *map;
    ftb_block_writer *writer;
    int threads;
    char *scratch; /* per thread: a piece of results */
    size_t room;   /* bytes of scratch per thread */
} block_call;

static GrB_Info unwrap(block_call *c, const ftb_slots *s)
{
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(ftb_arg_block_anywhere(&c->C, s->C, "C", false));
    c->ctx = c->C->ctx;
    FTB_CHECK(ftb_arg_block(&c->M, s->M, "M", true));
    FTB_CHECK(ftb_arg_block_anywhere(&c->operand[0], s->A, "A", false));
    if (s->has_B)
        FTB_CHECK(ftb_arg_block_anywhere(&c->operand[1], s->B, "B", false));
    FTB_CHECK(ftb_arg_descriptor(&c->flags, s->desc));
    if (c->flags.transpose0 || c->flags.transpose1)
        return ftb_fail(GrB_INVALID_VALUE,
                        "the descriptor says transpose, which is for matrices: %s is a block",
                        c->flags.transpose0 ? "A" : "B");
    FTB_CHECK(ftb_arg_op(&c->accum, s->accum, "accum", true));
    FTB_CHECK(ftb_arg_op(&c->op, s->op, "op", false));
done:
    return info;
}

/* A block of one row stands for as many as C has, where there is something to repeat it for. */
static bool repeats(const block_call *c, int which)
{
    const FtB_Block X = c->operand[which];
    return c->operand[1] && X->nrows == 1 && c->C->nrows != 1;
}

static GrB_Info check_rows(const block_call *c)
{
    for (int which = 0; which < 2; which++) {
        const FtB_Block X = c->operand[which];
        if (!X || X->nrows == c->C->nrows || repeats(c, which))
            continue;
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld, but C is %lld x %lld", which ? "B" : "A",
                        (long long)X->nrows, (long long)X->ncols, (long long)c->C->nrows,
                        (long long)c->C->ncols);
    }
    return GrB_SUCCESS;
}

/* Blocks without columns hold nothing that a text could name; *empty: there is nothing to do. */
static GrB_Info check_columns(const block_call *c, bool *empty)
{
    *empty = c->C->ncols == 0;
    for (int which = 0; which < 2; which++) {
        const FtB_Block X = c->operand[which];
        if (X && X->ncols == 0 && !*empty)
            return ftb_fail(GrB_DIMENSION_MISMATCH, "%s has no columns, but C has %lld", which ? "B" : "A",
                            (long long)c->C->ncols);
    }
    return GrB_SUCCESS;
}

/* What is read must not change while C is written. */
static GrB_Info unalias(block_call *c)
{
    GrB_Info info = ftb_op_unalias(c->op, c->ctx, c->C);
    for (int which = 0; which < 2 && info == GrB_SUCCESS; which++) {
        FtB_Block X = c->operand[which];
        if (!X || ftb_block_alias(c->C, X) != FTB_ALIAS_OTHER)
            continue;
        info = ftb_buffer_ask_as(X->owner, FTB_READ, which ? "B" : "A");
        if (info == GrB_SUCCESS)
            info = ftb_block_copy(&c->copy[which], c->ctx, X);
        c->operand[which] = c->copy[which];
    }
    return info;
}

static ftb_block_operand rows_of(const block_call *c, int which)
{
    const FtB_Block X = c->operand[which];
    if (!X)
        return (ftb_block_operand){0};
    return (ftb_block_operand){ftb_block_address(X), X->type, X->ncols, X->ld, X->heads, repeats(c, which)};
}

static bool is_plain(const block_call *c)
{
    ftb_monoid sum = FTB_PLUS;
    if (c->M || c->flags.complement)
        return false;
    return !c->accum || (ftb_op_is_monoid(&sum, c->accum, c->C->type) && sum == FTB_PLUS);
}

/* threads: 0 where only what it gives is asked for. */
static GrB_Info compile(block_call *c, int threads)
{
    const ftb_block_operand x = rows_of(c, 0), y = rows_of(c, 1);
    ftb_block_map_delete(c->map);
    GrB_Info info = ftb_block_map_new(&c->map, c->ctx, c->op, &x, c->operand[1] ? &y : NULL, threads);
    if (info == GrB_SUCCESS)
        info = ftb_block_map_check(c->map, c->C->nrows);
    if (info == GrB_SUCCESS && ftb_block_map_ncols(c->map) != c->C->ncols)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "op makes %lld values of a row, but C has %lld columns",
                        (long long)ftb_block_map_ncols(c->map), (long long)c->C->ncols);
    return info;
}

/* ---- as it is computed */

static GrB_Info run_plain(block_call *c, const ftb_backend *who)
{
    ftb_apply_product p = {.ctx = c->ctx,
                           .op = c->op,
                           .map = who ? NULL : c->map,
                           .x = rows_of(c, 0),
                           .y = rows_of(c, 1),
                           .binary = c->operand[1] != NULL,
                           .nrows = c->C->nrows,
                           .ncols = c->C->ncols,
                           .type = c->C->type,
                           .ldo = c->C->ld,
                           .add = c->accum != NULL};
    const ftb_place places[] = {{.X = c->operand[0], .read = &p.x.data, .name = "A"},
                                {.X = c->operand[1], .read = &p.y.data, .name = "B"},
                                {.X = c->C, .write = &p.out, .whole = !p.add, .name = "C"}};
    GrB_Info info;
    if (who && !FTB_FITS(who, apply, &p))
        who = NULL;
    FTB_RUN(info, who, apply, places, &p);
    return info;
}

/* Whether the types and names are those that a device is asked for, as far as is known before compiling. */
static bool may_leave(const block_call *c)
{
    const FtB_Type type = c->C->type;
    if (!c->plain || !FTB_WHO(c->ctx, apply) || (type != FTB_FP32 && type != FTB_FP64) ||
        (c->op->domain && c->op->domain != type))
        return false;
    for (int which = 0; which < 2; which++)
        if (c->copy[which] || (c->operand[which] && c->operand[which]->type != type))
            return false;
    for (int b = 0; b < c->op->nbound; b++)
        if (c->op->bound[b].block)
            return false;
    return true;
}

/* On the device, if that may do it: *done. */
static GrB_Info run_away(block_call *c, bool *done)
{
    *done = false;
    GrB_Info info = may_leave(c) ? compile(c, 0) : GrB_SUCCESS;
    if (info != GrB_SUCCESS || !c->map)
        return info;
    *done = ftb_block_map_elementwise(c->map) && ftb_block_map_type(c->map) == c->C->type;
    return *done ? run_plain(c, FTB_WHO(c->ctx, apply)) : GrB_SUCCESS;
}

/* ---- by the write rule */

static GrB_Info prepare_write(block_call *c)
{
    int64_t ncols = c->C->ncols, values = ftb_max(FTB_BLOCK_PIECE, ncols);
    GrB_Info info = ftb_block_writer_new(&c->writer, c->C, c->M, &c->flags, c->accum,
                                         ftb_block_map_type(c->map), ncols, NULL, c->threads);
    if (info != GrB_SUCCESS)
        return info;
    c->room = (size_t)values * 8;
    c->scratch = ftb_new(c->ctx, values > INT64_MAX / c->threads ? INT64_MAX : values * c->threads, 8);
    return c->scratch ? GrB_SUCCESS : ftb_nomem();
}

static GrB_Info run_here(block_call *c)
{
    GrB_Info info = ftb_buffer_ask_as(c->C->owner, FTB_UPDATE, "C");
    for (int which = 0; which < 2 && info == GrB_SUCCESS; which++)
        if (c->operand[which])
            info = ftb_buffer_ask_as(c->operand[which]->owner, FTB_READ, which ? "B" : "A");
    c->threads = ftb_threads_for_values(c->ctx, c->C->nrows * c->C->ncols);
    if (info == GrB_SUCCESS)
        info = compile(c, c->threads);
    if (info != GrB_SUCCESS)
        return info;
    if (c->plain && ftb_block_map_type(c->map) == c->C->type)
        return run_plain(c, NULL);
    info = prepare_write(c);
    if (info == GrB_SUCCESS)
        ftb_block_writer_map(c->writer, c->map, c->scratch, c->room);
    return info;
}

GrB_Info ftb_block_elementwise(const ftb_slots *slots)
{
    block_call c = {0};
    bool empty = false, done = false;
    GrB_Info info = unwrap(&c, slots);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(check_rows(&c));
    FTB_CHECK(check_columns(&c, &empty));
    FTB_CHECK(ftb_block_write_check(c.C, c.M, &c.flags, NULL, c.C->nrows, c.C->ncols, c.C->type));
    FTB_CHECK(ftb_check_cancelled(c.ctx));
    if (empty)
        goto done;
    FTB_CHECK(unalias(&c));
    c.plain = is_plain(&c);
    FTB_CHECK(run_away(&c, &done));
    if (!done)
        info = run_here(&c);
done:
    ftb_delete(c.scratch);
    ftb_block_writer_delete(c.writer);
    ftb_block_map_delete(c.map);
    FtB_Block_free(&c.copy[0]);
    FtB_Block_free(&c.copy[1]);
    FtB_Op_free(&c.accum);
    FtB_Op_free(&c.op);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.ctx);
    return info;
}
