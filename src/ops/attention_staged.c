/* Attention in three steps, a verb each: W = scores of the entries; W = softmax of W by row, with dropout; W
 * V.
 *
 * Keeps a value per entry and head, which the fused walk (attention_walk.c) does not, and reads them three
 * times. In return each step has its own plan: segments of the scores' operand alone, then of the values'
 * alone, and tuned kernels for a program's messages in batches. The order of every sum is that of the
 * entries, so the bits depend on nothing of the steps' plans. */
#include "cpu/block/write_run.h"
#include "cpu/softmax_run.h"
#include "ops/attention.h"
#include "ops/backends.h"
#include "ops/merge.h"
#include "ops/sddmm.h"

static GrB_Info make_scores(const ftb_attention_call *c, FtB_Matrix W)
{
    ftb_pattern *p = c->A->pattern;
    const bool as_they_are = c->score_type.message == c->type && c->message.heads == c->heads;
    GrB_Info info = GrB_SUCCESS;
    if (as_they_are && ftb_sddmm_leaves(&c->message, &c->score_type) &&
        ftb_sddmm_over(&info, W->values, &c->message, &c->score_type, p, NULL))
        return info;
    info = ftb_message_ask(&c->message);
    if (info != GrB_SUCCESS)
        return info;
    if (as_they_are)
        return ftb_sddmm_message(ftb_values(W), &c->message, &c->score_type, p, NULL);
    const FtB_Type from = c->score_type.message;
    const int64_t of = c->message.heads; /* one for all, or each its own */
    ftb_plain_rows scores = {ftb_new(c->ctx, p->nvals, (size_t)of * FtB_Type_size(from)), from, p->nvals, of,
                             of};
    if (!scores.data)
        return ftb_nomem();
    info = ftb_sddmm_message(scores.data, &c->message, &c->score_type, p, NULL);
    if (info == GrB_SUCCESS) {
        ftb_rows_wrap(c->ctx, &scores, ftb_semiring_wraps_to(c->semiring, from));
        ftb_rows_spread(c->ctx, ftb_values(W), c->type, c->heads, &scores);
    }
    ftb_delete(scores.data);
    return info;
}

static GrB_Info normalise(const ftb_attention_call *c, FtB_Matrix W, FtB_Block lse)
{
    ftb_softmax_product s = {.ctx = c->ctx,
                             .p = c->A->pattern,
                             .heads = c->heads,
                             .type = c->type,
                             .dropout = c->options.dropout,
                             .seed = c->options.seed,
                             .seed_at = c->seed_at,
                             .interruptible = true};
    const ftb_place places[] = {{.values = W->values, .read = &s.in},
                                {.values = W->values, .write = &s.out},
                                {.X = lse, .write = &s.lse, .whole = true}};
    GrB_Info info;
    FTB_RUN(info, FTB_WHO_FITS(c->ctx, softmax, &s), softmax, places, &s);
    return info;
}

GrB_Info ftb_attention_staged(const ftb_attention_call *c, FtB_Block C, FtB_Block lse)
{
    FtB_Matrix W = NULL;
    int64_t count;
    GrB_Info info;
    if (__builtin_mul_overflow(c->A->pattern->nvals, c->heads, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    FTB_CHECK(ftb_matrix_make(&W, c->ctx, c->type, c->heads, ftb_pattern_retain(c->A->pattern),
                              ftb_buffer_adopt(c->ctx, ftb_new(c->ctx, count, FtB_Type_size(c->type)))));
    FTB_CHECK(make_scores(c, W));
    FTB_CHECK(normalise(c, W, lse));
    info = ftb_spmm(FTB_ARG(C), FtB_Arg_none(), FtB_Arg_none(), FtB_Arg_none(), FTB_ARG(FTB_PLUS_MUL),
                    FTB_ARG(W), FTB_ARG(c->V), FtB_Arg_none());
    if (info == FTB_NO_DEVICE) /* the message has V's name then: the product has another for it */
        (void)ftb_buffer_ask_as(c->V->owner, FTB_READ, "V");
done:
    FtB_Matrix_free(&W);
    return info;
}
