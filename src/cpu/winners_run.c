/* What winning entries stand for (winners_run.h). */
#include "cpu/winners_run.h"

#define FEATURES 16 /* of a thread's turn: a cache line of FP32 */

/* The column of the entry that won value f of row i; -1: none did. */
static int64_t column_of(const ftb_winners_product *w, int64_t i, int64_t f)
{
    const int64_t e = ((const int64_t *)w->won)[i * w->ldwon + f];
    return e >= 0 && e < w->p->nvals ? ftb_col(w->p, e) : -1;
}

GrB_Info ftb_winners_run(const ftb_winners_product *w)
{
    const size_t size = FtB_Type_size(w->type);
    const int64_t nrows = w->p->nrows, values = w->values;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for(w->ctx, nrows *values))
    for (int64_t i = 0; i < nrows; i++) {
        char *out = (char *)w->out + (size_t)(i * values) * size;
        for (int64_t f = 0; f < values; f++, out += size) {
            const int64_t k = column_of(w, i, f);
            if (k < 0)
                memset(out, 0, size);
            else
                memcpy(out, (const char *)w->x + (size_t)(k * w->ldx + f % w->xvalues) * size, size);
        }
    }
    return GrB_SUCCESS;
}

/* Features first .. last - 1 of all rows, in their order, by one thread. */
static void scatter_features(const ftb_winners_product *w, int64_t first, int64_t last)
{
    const size_t size = FtB_Type_size(w->type);
    for (int64_t k = 0; k < w->p->ncols; k++)
        memset((char *)w->out + (size_t)(k * w->values + first) * size, 0, (size_t)(last - first) * size);
    for (int64_t i = 0; i < w->p->nrows; i++)
        for (int64_t f = first; f < last; f++) {
            const int64_t k = column_of(w, i, f), to = k * w->values + f, from = i * w->ldx + f;
            if (k < 0)
                continue;
            if (w->type == FTB_FP32)
                ((float *)w->out)[to] += ((const float *)w->x)[from];
            else
                ((double *)w->out)[to] += ((const double *)w->x)[from];
        }
}

static void mark_winners(const ftb_winners_product *w)
{
    memset(w->any, 0, (size_t)w->p->ncols);
    for (int64_t i = 0; i < w->p->nrows; i++)
        for (int64_t f = 0; f < w->values; f++) {
            const int64_t k = column_of(w, i, f);
            if (k >= 0)
                ((uint8_t *)w->any)[k] = 1;
        }
}

GrB_Info ftb_winners_grad_run(const ftb_winners_product *w)
{
    const int64_t values = w->values;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for(w->ctx, w->p->nrows *values))
    for (int64_t first = 0; first < values; first += FEATURES)
        scatter_features(w, first, ftb_min(first + FEATURES, values));
    mark_winners(w);
    return GrB_SUCCESS;
}
