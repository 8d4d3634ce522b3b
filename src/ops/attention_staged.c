/* Attention in three steps: S = scores of the entries; S = softmax of S by row, with dropout; S V.
 *
 * Keeps a value per entry and head, which the fused walk (attention_walk.c) does not, and reads them three
 * times. In return each step has its own plan: segments of the scores' operand alone, then of the values'
 * alone, and tuned kernels for a program's messages in batches. The order of every sum is that of the
 * entries, so the bits depend on nothing of the steps' plans. */
#include "cpu/kernels/softmax.h"
#include "ops/attention.h"
#include "ops/merge.h"
#include "ops/sddmm.h"

#include <math.h>
#include <omp.h>

#define PARTS_PER_THREAD 32

typedef struct staged {
    const ftb_attention_call *c;
    ftb_attention_job job; /* dropout */
    ftb_pattern *p;
    char *weight; /* nvals x heads of c->type */
    void *lse;    /* rows x heads of c->type; NULL: not wanted */
    size_t size;  /* of a value */
} staged;

/* ---- scores */

/* Scores of the message's own type, and of one head for all, as weights. */
static void spread(const staged *s, const char *scores)
{
    const ftb_attention_call *c = s->c;
    const FtB_Type from = c->score_type.message;
    const int64_t heads = c->heads, of = c->message.heads;
    const size_t wide = FtB_Type_size(from);
#pragma omp parallel for schedule(static) num_threads(c->plan.threads)
    for (int64_t e = 0; e < s->p->nvals; e++)
        for (int64_t h = 0; h < heads; h++)
            ftb_cast(s->weight + (size_t)(e * heads + h) * s->size, c->type,
                     scores + (size_t)(e * of + (of == 1 ? 0 : h)) * wide, from, 1);
}

static GrB_Info make_scores(staged *s)
{
    const ftb_attention_call *c = s->c;
    if (c->score_type.message == c->type && c->message.heads == c->heads)
        return ftb_sddmm_message(s->weight, &c->message, &c->score_type, s->p, NULL);
    char *scores =
        ftb_new(c->ctx, s->p->nvals, (size_t)c->message.heads * FtB_Type_size(c->score_type.message));
    if (!scores)
        return ftb_nomem();
    GrB_Info info = ftb_sddmm_message(scores, &c->message, &c->score_type, s->p, NULL);
    if (info == GrB_SUCCESS)
        ftb_sddmm_wrap(c->semiring, c->score_type.message, scores, s->p->nvals * c->message.heads);
    if (info == GrB_SUCCESS)
        spread(s, scores);
    ftb_delete(scores);
    return info;
}

/* ---- softmax */

static void normalise(const staged *s, char *at, int64_t i, char *scratch)
{
    FTB_PICK_REAL(ftb_softmax_rows, s->c->type)(at, at, s->p->rowptr + i, 1, s->c->heads, scratch);
}

static void drop(const staged *s, int64_t first, int64_t count, char *at)
{
    FTB_PICK_REAL(ftb_attention_drop, s->c->type)(&s->job, first, count, at);
}

/* Of each head, over `count` entries that begin at `values`. */
static void greatest(const staged *s, void *most, const char *values, int64_t count, void *scratch)
{
    FTB_PICK_REAL(ftb_softmax_greatest, s->c->type)(most, values, count, s->c->heads, scratch);
}

/* log(sum of exponentials) = the greatest score - log(the greatest weight), which is 0 where all scores are
 * -infinity. Of scores with NaN all weights are: their greatest is -infinity, and its log NaN. */
static void keep_lse(const staged *s, int64_t i, const void *score, const void *weight)
{
    for (int64_t h = 0; h < s->c->heads; h++) {
        const bool any = s->p->rowptr[i] < s->p->rowptr[i + 1];
        const double w = any ? ftb_get_real(weight, s->c->type, h) : 0;
        double lse = -INFINITY;
        if (w != 0)
            lse = ftb_get_real(score, s->c->type, h) - log(w);
        ftb_cast((char *)s->lse + (size_t)(i * s->c->heads + h) * s->size, s->c->type, &lse, FTB_FP64, 1);
    }
}

static void one_row(const staged *s, int64_t i, char *scratch)
{
    const int64_t first = s->p->rowptr[i], count = s->p->rowptr[i + 1] - first;
    char *at = s->weight + (size_t)(first * s->c->heads) * s->size;
    void *score = scratch, *weight = scratch + 8 * s->c->heads;
    scratch += 16 * s->c->heads;
    if (s->lse && count > 0)
        greatest(s, score, at, count, scratch);
    if (count > 0)
        normalise(s, at, i, scratch);
    if (s->lse && count > 0)
        greatest(s, weight, at, count, scratch);
    if (s->lse)
        keep_lse(s, i, score, weight);
    if (s->job.drop && count > 0)
        drop(s, first, count, at);
}

static GrB_Info normalise_rows(staged *s)
{
    const int threads = s->c->plan.threads;
    const int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
    const size_t room = 8 * (size_t)(2 * s->c->heads + ftb_softmax_scratch(s->c->heads));
    char *scratch = ftb_new(s->c->ctx, threads, room);
    if (!scratch)
        return ftb_nomem();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        int64_t last = ftb_pattern_cut(s->p, part + 1, parts);
        for (int64_t i = ftb_pattern_cut(s->p, part, parts); i < last && !ftb_cancelled(s->c->ctx); i++)
            one_row(s, i, scratch + (size_t)omp_get_thread_num() * room);
    }
    ftb_delete(scratch);
    return ftb_check_cancelled(s->c->ctx);
}

/* ---- weights times values */

static GrB_Info weigh_values(ftb_spmm_result *result, const ftb_attention_call *c, FtB_Matrix weights)
{
    static const char *const operands[] = {"a", "edge", "b", "src", NULL};
    ftb_message m = {0};
    const ftb_spmm_request request = {.message = &m, .p = c->A->pattern};
    GrB_Info info;
    FTB_CHECK(ftb_message_new(&m, c->ctx, FTB_PLUS_MUL, operands));
    FTB_CHECK(ftb_message_block(&m, "src", FTB_SIDE_COL, c->V, c->V->heads));
    FTB_CHECK(ftb_message_values(&m, "edge", weights, NULL));
    FTB_CHECK(ftb_message_indices(&m, c->A->pattern, false, NULL));
    info = ftb_spmm_message(result, &request);
done:
    ftb_message_clear(&m);
    return info;
}

GrB_Info ftb_attention_staged(ftb_spmm_result *result, const ftb_attention_call *c, void *lse)
{
    ftb_pattern *p = c->A->pattern;
    const ftb_attention_product product = ftb_attention_describe_call(c);
    staged s = {
        .c = c, .job = ftb_attention_describe(&product), .p = p, .lse = lse, .size = FtB_Type_size(c->type)};
    FtB_Matrix weights = NULL;
    int64_t count;
    GrB_Info info;
    if (__builtin_mul_overflow(p->nvals, c->heads, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    s.weight = ftb_new(c->ctx, count, s.size);
    if (!s.weight)
        return ftb_nomem();
    void *owned = s.weight;
    FTB_CHECK(make_scores(&s));
    FTB_CHECK(normalise_rows(&s));
    owned = NULL;
    FTB_CHECK(ftb_matrix_make(&weights, c->ctx, c->type, c->heads, ftb_pattern_retain(p),
                              ftb_buffer_adopt(c->ctx, s.weight)));
    info = weigh_values(result, c, weights);
done:
    ftb_delete(owned);
    FtB_Matrix_free(&weights);
    return info;
}
