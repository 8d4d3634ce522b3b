/* Entries of columns, counted by threads that have counts of their own: the columns that matter are those
 * which all threads meet, so that counters which they share would have them wait for each other. */
#include "core/column_counts.h"

static void count_some(uint32_t *count, const ftb_pattern *p, int64_t begin, int64_t end)
{
    const int32_t *const col = p->colidx;
    for (int64_t e = begin; e < end && !p->wide; e++)
        count[col[e]] += count[col[e]] < UINT32_MAX;
    for (int64_t e = begin; e < end && p->wide; e++)
        count[ftb_col(p, e)] += count[ftb_col(p, e)] < UINT32_MAX;
}

/* So many threads that clearing and adding their counts is little beside the entries. */
void ftb_column_counts(uint32_t *count, const ftb_pattern *p, FtB_Context ctx)
{
    enum { ENTRIES = 4 }; /* of a thread, for each column */
    const int64_t n = p->ncols;
    int64_t threads = ftb_min(ftb_threads_for(ctx, p->nvals), p->nvals / ENTRIES / ftb_max(n, 1));
    uint32_t *own = NULL;
    while (threads > 1 && !(own = ftb_new0(ctx, (threads - 1) * n, sizeof *own)))
        threads /= 2;
    threads = ftb_max(threads, 1);
    memset(count, 0, (size_t)n * sizeof *count);
#pragma omp parallel num_threads((int)threads)
    {
#pragma omp for schedule(static)
        for (int64_t t = 0; t < threads; t++)
            count_some(t ? own + (t - 1) * n : count, p, p->nvals / threads * t,
                       t + 1 < threads ? p->nvals / threads * (t + 1) : p->nvals);
#pragma omp for schedule(static)
        for (int64_t j = 0; j < n; j++)
            for (int64_t t = 1; t < threads; t++)
                count[j] += ftb_min(own[(t - 1) * n + j], UINT32_MAX - count[j]);
    }
    ftb_delete(own);
}
