/* A pattern with its whole diagonal: A + I without values, as convolutions with self-loops read it.
 *
 * It hangs on the pattern that it was made of, as the transpose does, so that all layers of a model share it
 * and what is derived from it. */
#include "core/search.h"

#define SMALL (INT64_C(1) << 15) /* entries; below, threads cost more than they bring */

void ftb_pattern_own(const ftb_pattern *p, int64_t i, int64_t *first, int64_t *end)
{
    *first = *end = ftb_first_entry(p, p->rowptr[i], p->rowptr[i + 1], i);
    while (*end < p->rowptr[i + 1] && ftb_col(p, *end) == i)
        ++*end;
}

/* Row pointers of the result; whether it is p. */
static bool count(int64_t *rowptr, const ftb_pattern *p)
{
    bool same = true;
#pragma omp parallel for schedule(static) num_threads(ftb_threads(p->ctx)) reduction(&& : same)              \
    if (p->nvals > SMALL)
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t first, end;
        ftb_pattern_own(p, i, &first, &end);
        same = same && end - first == 1;
        rowptr[i + 1] = p->rowptr[i + 1] - p->rowptr[i] - (end - first) + 1;
    }
    rowptr[0] = 0;
    for (int64_t i = 0; i < p->nrows; i++)
        rowptr[i + 1] += rowptr[i];
    return same;
}

static void fill(void *colidx, const int64_t *rowptr, const ftb_pattern *p)
{
    size_t size = ftb_col_size(p->ncols);
#pragma omp parallel for schedule(dynamic, 256) num_threads(ftb_threads(p->ctx)) if (p->nvals > SMALL)
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t first, end, start = p->rowptr[i], stop = p->rowptr[i + 1];
        ftb_pattern_own(p, i, &first, &end);
        char *to = (char *)colidx + (size_t)rowptr[i] * size;
        const char *from = p->colidx;
        memcpy(to, from + (size_t)start * size, (size_t)(first - start) * size);
        to += (size_t)(first - start) * size;
        if (p->wide)
            memcpy(to, &i, size);
        else
            memcpy(to, &(int32_t){(int32_t)i}, size);
        memcpy(to + size, from + (size_t)end * size, (size_t)(stop - end) * size);
    }
}

static GrB_Info build_diagonal(ftb_pattern *p, ftb_pattern **with)
{
    if (p->nvals > INT64_MAX - p->nrows)
        return ftb_fail(GrB_OUT_OF_MEMORY, "too many entries");
    ftb_buffer *rowptr = ftb_buffer_adopt(p->ctx, ftb_new(p->ctx, p->nrows + 1, sizeof(int64_t)));
    if (!rowptr)
        return ftb_nomem();
    *with = p;
    if (count(ftb_buffer_data(rowptr), p)) {
        ftb_buffer_release(rowptr);
        return GrB_SUCCESS;
    }
    const int64_t *ends = ftb_buffer_data(rowptr);
    ftb_buffer *colidx = ftb_buffer_adopt(p->ctx, ftb_new(p->ctx, ends[p->nrows], ftb_col_size(p->ncols)));
    if (!colidx) {
        ftb_buffer_release(rowptr);
        return ftb_nomem();
    }
    fill(ftb_buffer_data(colidx), ends, p);
    ftb_pattern *made = ftb_pattern_new(p->ctx, p->nrows, p->ncols, rowptr, colidx);
    if (!made)
        return ftb_nomem();
    made->multi = p->multi;
    *with = p->diagonal = made;
    return GrB_SUCCESS;
}

GrB_Info ftb_pattern_diagonal(ftb_pattern *p, ftb_pattern **with)
{
    GrB_Info info = GrB_SUCCESS;
    if (p->nrows > p->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%lld x %lld; self-loops need a column for each row",
                        (long long)p->nrows, (long long)p->ncols);
    pthread_mutex_lock(&p->lock);
    *with = p->diagonal;
    if (!p->diagonal)
        info = build_diagonal(p, with);
    pthread_mutex_unlock(&p->lock);
    return info;
}

static GrB_Info count_loops(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    int64_t loops = 0;
    (void)arg;
#pragma omp parallel for schedule(static) num_threads(ftb_threads(p->ctx)) reduction(+ : loops)              \
    if (p->nvals > SMALL)
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t first, end;
        ftb_pattern_own(p, i, &first, &end);
        loops += end - first;
    }
    to->counts[0] = loops;
    return GrB_SUCCESS;
}

GrB_Info ftb_pattern_loops(ftb_pattern *p, int64_t *count)
{
    static const char kind;
    const ftb_derived *found;
    const GrB_Info info = ftb_derived_ask(&found, p, &kind, 0, count_loops, NULL);
    *count = info == GrB_SUCCESS ? found->counts[0] : 0;
    return info;
}
