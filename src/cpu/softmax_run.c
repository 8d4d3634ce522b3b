/* Rows of entries normalised (softmax_run.h).
 *
 * A row's entries lie together: it is normalised where it lies. Where they lie apart, as a column's do, they
 * are gathered, normalised, and put back; each row belongs to one thread, so that bits do not depend on how
 * many there are. */
#include "cpu/softmax_run.h"

#include "cpu/kernels/softmax.h"

#include <omp.h>

#define PARTS_PER_THREAD 32

typedef struct work {
    const ftb_softmax_product *product;
    size_t entry;    /* bytes */
    int64_t longest; /* entries of a row that lie apart */
    char *scratch;   /* per thread */
    size_t room;
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

static void run_part(const work *w, int64_t row, int64_t last, char *scratch)
{
    const ftb_softmax_product *s = w->product;
    size_t first = (size_t)s->p->rowptr[row] * w->entry;
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
    w.room = (size_t)ftb_softmax_scratch(s->heads) * 8 + 2 * (size_t)w.longest * w.entry;
    w.scratch = ftb_new(s->ctx, threads, w.room);
    if (!w.scratch)
        return ftb_nomem();
    const int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        char *scratch = w.scratch + (size_t)omp_get_thread_num() * w.room;
        run_part(&w, ftb_pattern_cut(p, part, parts), ftb_pattern_cut(p, part + 1, parts), scratch);
    }
    ftb_delete(w.scratch);
    return GrB_SUCCESS;
}
