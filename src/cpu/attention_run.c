/* Attention on the host: each row's greatest score, sum of exponentials and weighted sum, which a walk over
 * the entries brings up to date, and what is left to do with them (attention_run.h). */
#include "cpu/attention_run.h"

#include "cpu/attention_scores.h"
#include "cpu/attention_walk.h"

#include <math.h>

ftb_attention_job ftb_attention_describe(const ftb_attention_product *product)
{
    double p = product->dropout;
    return (ftb_attention_job){.heads = product->heads,
                               .width =
                                   product->kind == FTB_SCORE_ANY ? 0 : ftb_lanes_width(product->x.width),
                               .value_width = ftb_lanes_width(product->value_width),
                               .add = product->kind == FTB_SCORE_ADD,
                               .scale = product->scale,
                               .slope = product->slope,
                               .drop = ftb_dropped_below(p),
                               .kept = 1 / (1 - p),
                               .seed = product->seed};
}

/* The segments are a part of what the bits depend on: they must not depend on the memory that is left. */
ftb_sddmm_facts ftb_attention_facts(const ftb_attention_product *product, bool backward, int threads)
{
    static const char *const names[2][3] = {
        {"attention_program_f32", "attention_dot_f32", "attention_add_f32"},
        {"attention_program_f64", "attention_dot_f64", "attention_add_f64"}};
    ftb_attention_job job = ftb_attention_describe(product);
    job.backward = backward;
    const FtB_Type type = product->type;
    int64_t size = (int64_t)FtB_Type_size(type), heads = job.heads;
    int64_t one = job.width + job.value_width, together = ftb_attention_together(&job, type);
    ftb_sddmm_facts facts = {.nrows = product->p->nrows,
                             .ncols = product->p->ncols,
                             .nvals = product->p->nvals,
                             .source_bytes = one * heads * size,
                             .row_bytes = (2 * one + 4) * heads * size,
                             .piece_bytes = heads > 1 && job.width > 0 ? one * together * size : 0,
                             .piece = together,
                             .memory_left = INT64_MAX,
                             .heads = heads,
                             .features = one * heads,
                             .threads = threads,
                             .attention = true,
                             .one_piece = together > 1 || ftb_attention_head_by_head(&job),
                             .kernel = names[type == FTB_FP64][job.width == 0 ? 0
                                                               : job.add      ? 2
                                                                              : 1]};
    facts.degrees = *ftb_pattern_degrees(product->p);
    return facts;
}

void ftb_attention_compact(void *to, int64_t ldto, const void *from, int64_t ldfrom, FtB_Type type,
                           int64_t rows, int64_t heads, int64_t padded, int64_t width, int threads)
{
    size_t size = FtB_Type_size(type);
    if (to == from && padded == width)
        return;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < rows; i++) {
        char *row = (char *)to + (size_t)(i * ldto) * size;
        const char *old = (const char *)from + (size_t)(i * ldfrom) * size;
        for (int64_t h = to == from; h < heads; h++)
            memmove(row + (size_t)(h * width) * size, old + (size_t)(h * padded) * size,
                    (size_t)width * size);
    }
}

/* ---- state */

typedef struct forward {
    const ftb_attention_product *product;
    ftb_attention_walk w;
    ftb_padded y;
    void *most, *sum,
        *acc; /* of scratch: the product's own lse and out, if that is wanted and this will do */
} forward;

static GrB_Info new_state(forward *f)
{
    const ftb_attention_product *p = f->product;
    ftb_attention_job *job = &f->w.job;
    int64_t rows = p->p->nrows, heads = p->heads, states, values;
    size_t size = FtB_Type_size(p->type);
    const double least = -INFINITY;
    job->acc_ld = heads * job->value_width;
    job->state_ld = heads;
    if (__builtin_mul_overflow(rows, heads, &states) || __builtin_mul_overflow(rows, job->acc_ld, &values))
        states = values = INT64_MAX; /* refused by the allocator, with its message */
    f->most = p->scratch && p->lse ? p->lse : ftb_new(p->ctx, states, size);
    f->acc = p->scratch && p->ldo == job->acc_ld ? p->out : ftb_new0(p->ctx, values, size);
    f->sum = f->w.fours ? NULL : ftb_new0(p->ctx, states, size);
    if (!f->most || !f->acc || (!f->sum && !f->w.fours))
        return ftb_nomem();
    for (int64_t t = 0; !f->w.fours && t < states; t++)
        ftb_cast((char *)f->most + (size_t)t * size, p->type, &least, FTB_FP64, 1);
    job->most = f->most;
    job->sum = f->sum;
    job->acc = f->acc;
    return GrB_SUCCESS;
}

static void delete_state(forward *f)
{
    if (f->most != f->product->lse)
        ftb_delete(f->most);
    if (f->acc != f->product->out)
        ftb_delete(f->acc);
    ftb_delete(f->sum);
}

static GrB_Info walk(forward *f, const ftb_sddmm_plan *plan)
{
    const ftb_attention_product *p = f->product;
    ftb_attention_walk *w = &f->w;
    GrB_Info info;
    w->x_values = ftb_padded_of(&p->v, p->heads, p->type);
    if (p->kind == FTB_SCORE_ANY) {
        w->job.scores = ftb_attention_scores_run;
        w->job.y = f->acc; /* not read */
        FTB_CHECK(ftb_attention_scores_new(&w->args, p, w->threads));
    } else {
        w->x = ftb_padded_of(&p->x, p->heads, p->type);
        f->y = ftb_padded_of(&p->y, p->heads, p->type);
        FTB_CHECK(ftb_padded_all(&f->y, p->ctx, p->p->nrows, w->threads));
        w->job.y = f->y.data;
        w->job.yld = f->y.ld;
    }
    info = ftb_attention_walk_run(w, plan);
done:
    ftb_attention_scores_delete(w->args, w->threads);
    ftb_padded_clear(&f->y);
    return info;
}

/* acc / sum of every row and head; most becomes the log of the sum of exponentials. */
static void finish(const forward *f)
{
    const FtB_Type type = f->product->type;
    int64_t rows = f->product->p->nrows, heads = f->product->heads, width = f->w.job.value_width;
    bool wide = type == FTB_FP64;
#pragma omp parallel for schedule(static) num_threads(f->w.threads)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t h = 0; h < heads; h++) {
            int64_t at = i * heads + h;
            double sum = ftb_get_real(f->sum, type, at), most = ftb_get_real(f->most, type, at);
            double lse = sum == 0 ? -INFINITY : most + log(sum), factor = sum == 0 ? 0 : 1 / sum;
            ftb_cast((char *)f->most + (size_t)at * FtB_Type_size(type), type, &lse, FTB_FP64, 1);
            for (int64_t v = 0; v < width; v++)
                if (wide)
                    ((double *)f->acc)[at * width + v] *= factor;
                else
                    ((float *)f->acc)[at * width + v] *= (float)factor;
        }
}

GrB_Info ftb_attention_run(const ftb_attention_product *product, const ftb_sddmm_plan *plan)
{
    forward f = {.product = product,
                 .w = {.ctx = product->ctx,
                       .p = product->p,
                       .type = product->type,
                       .job = ftb_attention_describe(product),
                       .threads = plan->threads}};
    GrB_Info info;
    f.w.fours = plan->segment && ftb_attention_together(&f.w.job, product->type) > 1;
    FTB_CHECK(new_state(&f));
    FTB_CHECK(walk(&f, plan));
    if (!f.w.fours)
        finish(&f);
    ftb_attention_compact(product->out, product->ldo, f.acc, f.w.job.acc_ld, product->type, product->p->nrows,
                          product->heads, f.w.job.value_width, product->value_width, f.w.threads);
    if (product->lse && product->lse != f.most)
        memcpy(product->lse, f.most,
               (size_t)(product->p->nrows * product->heads) * FtB_Type_size(product->type));
done:
    delete_state(&f);
    return info;
}
