/* C<M> = accum(C, f(A)) and C<M> = accum(C, f(A, B)) on blocks: a pass over memory.
 *
 * Rows are read, computed and written piece by piece (src/cpu/block/apply_run.c, block_write.c), so that
 * nothing of C's size is stored in between and every value crosses the memory bus once each way. An operand
 * that shares bytes with C in another place than its own is copied first. All that can fail is done before
 * the first piece; from there on the call cannot be cancelled. */
#include "ops/block/block_map.h"

#include "ops/call.h"

#include <omp.h>

typedef struct block_call {
    FtB_Context ctx; /* C's */
    FtB_Block C, M, operand[2];
    ftb_flags flags;
    FtB_Op accum, op;
    FtB_Block copy[2]; /* of operands; ours */
    ftb_block_map *map;
    ftb_block_writer *writer;
    int threads;
    bool direct;   /* results are computed in C itself */
    char *scratch; /* per thread: a piece of results */
    size_t room;   /* bytes of scratch per thread */
} block_call;

static GrB_Info unwrap(block_call *c, const ftb_slots *s)
{
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(ftb_arg_block(&c->C, s->C, "C", false));
    c->ctx = c->C->ctx;
    FTB_CHECK(ftb_arg_block(&c->M, s->M, "M", true));
    FTB_CHECK(ftb_arg_block(&c->operand[0], s->A, "A", false));
    if (s->has_B)
        FTB_CHECK(ftb_arg_block(&c->operand[1], s->B, "B", false));
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
    c->direct = true;
    for (int which = 0; which < 2 && info == GrB_SUCCESS; which++) {
        FtB_Block X = c->operand[which];
        ftb_alias alias = X ? ftb_block_alias(c->C, X) : FTB_ALIAS_NONE;
        if (alias == FTB_ALIAS_SAME)
            c->direct = false;
        if (alias != FTB_ALIAS_OTHER)
            continue;
        info = ftb_block_copy(&c->copy[which], c->ctx, X);
        c->operand[which] = c->copy[which];
    }
    return info;
}

static ftb_block_operand rows_of(const block_call *c, int which)
{
    const FtB_Block X = c->operand[which];
    return (ftb_block_operand){ftb_block_data(X), X->type, X->ncols, X->ld, X->heads, repeats(c, which)};
}

static GrB_Info prepare(block_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    int64_t nrows = c->C->nrows, ncols = c->C->ncols;
    c->threads = ftb_threads_for_values(c->ctx, nrows * ncols);
    FTB_CHECK(unalias(c));
    const ftb_block_operand x = rows_of(c, 0), y = c->operand[1] ? rows_of(c, 1) : x;
    FTB_CHECK(ftb_block_map_new(&c->map, c->ctx, c->op, &x, c->operand[1] ? &y : NULL, c->threads));
    FTB_CHECK(ftb_block_map_check(c->map, nrows));
    if (ftb_block_map_ncols(c->map) != ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "op makes %lld values of a row, but C has %lld columns",
                        (long long)ftb_block_map_ncols(c->map), (long long)ncols);
    FtB_Type type = ftb_block_map_type(c->map);
    FTB_CHECK(
        ftb_block_writer_new(&c->writer, c->C, c->M, &c->flags, c->accum, type, ncols, NULL, c->threads));
    c->direct = c->direct && ftb_block_writer_plain(c->writer) && ftb_block_map_direct(c->map) &&
                type == c->C->type && c->C->ld == ncols;
    if (!c->direct) {
        int64_t values = ftb_max(FTB_BLOCK_PIECE, ncols);
        c->room = (size_t)values * 8;
        c->scratch = ftb_new(c->ctx, values > INT64_MAX / c->threads ? INT64_MAX : values * c->threads, 8);
        if (!c->scratch)
            info = ftb_nomem();
    }
done:
    return info;
}

/* Cannot fail. */
static void run(const block_call *c)
{
    bool split = ftb_block_map_splits(c->map) && ftb_block_writer_splits(c->writer);
    ftb_block_pieces pieces = ftb_pieces_of(c->C->nrows, c->C->ncols, split);
    size_t size = FtB_Type_size(c->C->type);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        ftb_block_piece at = ftb_piece_at(&pieces, p);
        int thread = omp_get_thread_num();
        char *out = c->direct ? (char *)ftb_block_data(c->C) + (size_t)(at.row * c->C->ld + at.col) * size
                              : c->scratch + c->room * (size_t)thread;
        ftb_block_map_run(c->map, thread, &at, NULL, NULL, out);
        if (!c->direct)
            ftb_block_writer_run(c->writer, thread, &at, out);
    }
}

GrB_Info ftb_block_elementwise(const ftb_slots *slots)
{
    block_call c = {0};
    bool empty = false;
    GrB_Info info = unwrap(&c, slots);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(check_rows(&c));
    FTB_CHECK(check_columns(&c, &empty));
    FTB_CHECK(ftb_block_write_check(c.C, c.M, &c.flags, NULL, c.C->nrows, c.C->ncols, c.C->type));
    FTB_CHECK(ftb_check_cancelled(c.ctx));
    if (empty)
        goto done;
    FTB_CHECK(prepare(&c));
    run(&c);
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
