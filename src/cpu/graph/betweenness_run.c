/* Betweenness: sources one after the other, each by all threads, or, where there are as many sources as
 * threads, several at a time, each by a thread that has arrays of its own; they add to the sums in the order
 * of the sources. */
#include "cpu/graph/betweenness_run.h"

#include "cpu/graph/betweenness_search.h"

#include <omp.h>

enum { WORD = 64, ROUND = 64 /* sources of a worker between two reports */ };

/* How many sources at a time. */
static int count_workers(const ftb_betweenness *w)
{
    const int64_t n = w->in->nrows, bytes = w->scaled ? FTB_BETWEENNESS_SCALED_BYTES : FTB_BETWEENNESS_BYTES,
                  work = ftb_min(w->nsources, 1000) * (n + 2 * w->in->nvals);
    int64_t workers = ftb_threads_for(w->ctx, work);
    if (workers > w->nsources)
        return 1;
    while (workers > 1 && ftb_memory_left(w->ctx) / workers / bytes < n)
        workers /= 2;
    return (int)workers;
}

static bool run_source(ftb_betweenness_search *s, int64_t source, atomic_bool *stopped, atomic_bool *large)
{
    if (atomic_load(stopped) || atomic_load(large))
        return false;
    const bool done = ftb_betweenness_search_run(s, source);
    if (!done)
        atomic_store(s->large ? large : stopped, true);
    return done;
}

/* Sources first .. last - 1, by each worker or by one. */
static void run_some(const ftb_betweenness *w, ftb_betweenness_search *list, int workers, int64_t first,
                     int64_t last, atomic_bool *stopped, atomic_bool *large)
{
    if (workers == 1) {
        for (int64_t t = first; t < last; t++)
            if (run_source(list, w->sources[t], stopped, large))
                ftb_betweenness_search_add(list);
        return;
    }
#pragma omp parallel for num_threads(workers) schedule(dynamic, 1) ordered
    for (int64_t t = first; t < last; t++) {
        ftb_betweenness_search *s = &list[omp_get_thread_num()];
        const bool done = run_source(s, w->sources[t], stopped, large);
#pragma omp ordered
        if (done)
            ftb_betweenness_search_add(s);
    }
}

static void mark_none(ftb_betweenness *w)
{
    const int64_t *rowptr = w->in->rowptr;
    for (int64_t v = 0; v < w->in->nrows; v++)
        if (rowptr[v] == rowptr[v + 1])
            w->none[v / WORD] |= UINT64_C(1) << (v % WORD);
        else
            w->nothers++;
}

/* *again: numbers of paths want a scale. */
static GrB_Info run_all(const ftb_betweenness *w, bool *again)
{
    const int workers = count_workers(w), inside = workers > 1 ? 1 : ftb_threads(w->ctx);
    const int64_t some = (int64_t)ROUND * workers;
    ftb_betweenness_search *list = ftb_new0(w->ctx, workers, sizeof *list);
    atomic_bool stopped = false, large = false;
    GrB_Info info = list ? GrB_SUCCESS : ftb_nomem();
    memset(w->sums, 0, (size_t)w->in->nrows * sizeof *w->sums);
    for (int k = 0; k < workers && info == GrB_SUCCESS; k++)
        info = ftb_betweenness_search_new(&list[k], w, inside);
    for (int64_t t = 0; t < w->nsources && info == GrB_SUCCESS && !large; t += some) {
        info = ftb_progress(w->ctx, (double)t, (double)w->nsources, "sources");
        if (info != GrB_SUCCESS)
            break;
        run_some(w, list, workers, t, ftb_min(t + some, w->nsources), &stopped, &large);
        info = ftb_check_stopped(w->ctx, &stopped);
    }
    *again = large;
    for (int k = 0; k < workers && list; k++)
        ftb_betweenness_search_delete(&list[k]);
    ftb_delete(list);
    return info;
}

GrB_Info ftb_betweenness_run(ftb_betweenness *w)
{
    bool again = false;
    w->nothers = 0;
    w->none = ftb_new0(w->ctx, (w->in->nrows + WORD - 1) / WORD, sizeof *w->none);
    if (!w->none)
        return ftb_nomem();
    mark_none(w);
    GrB_Info info = run_all(w, &again);
    if (info == GrB_SUCCESS && again) {
        w->scaled = true;
        info = run_all(w, &again);
    }
    ftb_delete(w->none);
    w->none = NULL;
    return info;
}
