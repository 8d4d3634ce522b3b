/* Rows of entries normalised (softmax_run.h).
 *
 * A row's entries lie together: it is normalised where it lies. Where they lie apart, as a column's do, they
 * are gathered, normalised, and put back; each row belongs to one thread, so that bits do not depend on how
 * many there are. */
#include "cpu/softmax_run.h"

#include "cpu/attention_run.h"
#include "cpu/kernels/softmax.h"

#include <math.h>
#include <omp.h>

#define PARTS_PER_THREAD 32

typedef struct work {
    const ftb_softmax_product *product;
    size_t entry;    /* bytes */
    int64_t longest; /* entries of a row that lie apart */
    char *scratch;   /* per thread */
    size_t room;
    ftb_attention_job drops;
} work;

static const char *at(const void *values, size_t offset) { return (const char *)values + offset; }

/* Rows that lie at in (and d), to out. */
static void normalise(const work *w, void *out, const void *in, const void *d, const int64_t *start,
                      int64_t nrows, void *scratch)
{
    const ftb_softmax_product *s = w->product;
    if (s->gradient)
        FTB_PICK_REAL(ftb_softmax_grad_rows, s->type)(out, in, d, start, nrows, s->heads, scratch);
    else
        FTB_PICK_REAL(ftb_softmax_rows, s->type)(out, in, start, nrows, s->heads, scratch);
}

static void gather(const work *w, char *to, const void *values, int64_t first, int64_t count)
{
    for (int64_t t = 0; t < count; t++)
        memcpy(to + (size_t)t * w->entry, at(values, (size_t)w->product->from[first + t] * w->entry),
               w->entry);
}

/* Row i, whose entries lie apart. */
static void one_row(const work *w, int64_t i, char *scratch)
{
    const ftb_softmax_product *s = w->product;
    int64_t first = s->p->rowptr[i], count = s->p->rowptr[i + 1] - first;
    size_t column = (size_t)w->longest * w->entry;
    char *in = scratch + w->room - 2 * column, *d = in + column;
    gather(w, in, s->in, first, count);
    if (s->gradient)
        gather(w, d, s->d, first, count);
    normalise(w, in, in, d, s->p->rowptr + i, 1, scratch);
    for (int64_t t = 0; t < count; t++)
        memcpy((char *)s->out + (size_t)s->from[first + t] * w->entry, in + (size_t)t * w->entry, w->entry);
}

/* Of each head, over `count` entries that begin at `values`. */
static void greatest(const ftb_softmax_product *s, void *most, const void *values, int64_t count,
                     void *scratch)
{
    FTB_PICK_REAL(ftb_softmax_greatest, s->type)(most, values, count, s->heads, scratch);
}

/* log(sum of exponentials) = the greatest score - log(the greatest weight), which is 0 where all scores are
 * -infinity. Of scores with NaN all weights are: their greatest is -infinity, and its log NaN. */
static void keep_lse(const ftb_softmax_product *s, int64_t i, const void *score, const void *weight)
{
    for (int64_t h = 0; h < s->heads; h++) {
        const bool any = s->p->rowptr[i] < s->p->rowptr[i + 1];
        const double w = any ? ftb_get_real(weight, s->type, h) : 0;
        double lse = -INFINITY;
        if (w != 0)
            lse = ftb_get_real(score, s->type, h) - log(w);
        ftb_cast((char *)s->lse + (size_t)(i * s->heads + h) * FtB_Type_size(s->type), s->type, &lse,
                 FTB_FP64, 1);
    }
}

/* Row i, with what is wanted of it beside. */
static void one_row_kept(const work *w, int64_t i, char *scratch)
{
    const ftb_softmax_product *s = w->product;
    const int64_t first = s->p->rowptr[i], count = s->p->rowptr[i + 1] - first;
    const char *in = at(s->in, (size_t)first * w->entry);
    char *out = (char *)s->out + (size_t)first * w->entry;
    void *score = scratch, *weight = scratch + 8 * s->heads;
    scratch += 16 * s->heads;
    if (s->lse && count > 0)
        greatest(s, score, in, count, scratch);
    if (count > 0)
        normalise(w, out, in, NULL, s->p->rowptr + i, 1, scratch);
    if (s->lse && count > 0)
        greatest(s, weight, out, count, scratch);
    if (s->lse)
        keep_lse(s, i, score, weight);
    if (w->drops.drop && count > 0)
        FTB_PICK_REAL(ftb_attention_drop, s->type)(&w->drops, first, count, out);
}

static void run_part(const work *w, int64_t row, int64_t last, char *scratch)
{
    const ftb_softmax_product *s = w->product;
    size_t first = (size_t)s->p->rowptr[row] * w->entry;
    if (s->lse || w->drops.drop) {
        for (int64_t i = row; i < last; i++)
            one_row_kept(w, i, scratch);
        return;
    }
    if (!s->from)
        normalise(w, (char *)s->out + first, at(s->in, first), s->gradient ? at(s->d, first) : NULL,
                  s->p->rowptr + row, last - row, scratch);
    for (int64_t i = row; s->from && i < last; i++)
        one_row(w, i, scratch);
}

GrB_Info ftb_softmax_run(const ftb_softmax_product *s)
{
    const ftb_pattern *p = s->p;
    const int threads = ftb_threads_for(s->ctx, p->nvals * s->heads);
    work w = {.product = s, .entry = (size_t)s->heads * FtB_Type_size(s->type)};
    for (int64_t i = 0; s->from && i < p->nrows; i++)
        w.longest = ftb_max(w.longest, p->rowptr[i + 1] - p->rowptr[i]);
    w.room = (size_t)(ftb_softmax_scratch(s->heads) + 2 * s->heads) * 8 + 2 * (size_t)w.longest * w.entry;
    w.drops = ftb_attention_describe(
        &(ftb_attention_product){.heads = s->heads, .dropout = s->dropout, .seed = s->seed});
    w.scratch = ftb_new(s->ctx, threads, w.room);
    if (!w.scratch)
        return ftb_nomem();
    const int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        if (s->interruptible && ftb_cancelled(s->ctx))
            continue;
        char *scratch = w.scratch + (size_t)omp_get_thread_num() * w.room;
        run_part(&w, ftb_pattern_cut(p, part, parts), ftb_pattern_cut(p, part + 1, parts), scratch);
    }
    ftb_delete(w.scratch);
    return s->interruptible ? ftb_check_cancelled(s->ctx) : GrB_SUCCESS;
}
