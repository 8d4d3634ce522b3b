/* Rows in parts (vertex_parts.h). */
#include "cpu/vertex/vertex_parts.h"

#define PARTS 512 /* at most */

static void move_down(int64_t *list, int64_t to, int64_t from, int64_t count)
{
    if (list && to != from)
        memmove(list + to, list + from, (size_t)count * sizeof *list);
}

GrB_Info ftb_vertex_by_parts(const ftb_vertex_parts *x, int64_t *count)
{
    const ftb_vertex_work *w = x->w;
    const ftb_pattern *a = x->by->rows[0], *b = x->by->rows[1];
    const int64_t all = a->nvals + (b ? b->nvals : 0) + w->n;
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, all));
    const int64_t parts = threads == 1 ? 1 : ftb_min(32 * (int64_t)threads, PARTS);
    int64_t begin[PARTS + 1], found[PARTS] = {0};
    for (int64_t p = 0; p <= parts; p++)
        begin[p] = ftb_rows_cut(w->n, a->rowptr, b ? b->rowptr : NULL, p, parts);
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int64_t p = 0; p < parts; p++)
        if (x->whole || !ftb_stops(w->ctx, &stopped))
            found[p] = x->rows(x->arg, begin[p], begin[p + 1]);
    *count = 0;
    for (int64_t p = 0; p < parts; *count += found[p++])
        for (int l = 0; l < FTB_VERTEX_LISTS; l++)
            move_down(x->lists[l], *count, begin[p], found[p]);
    return x->whole ? GrB_SUCCESS : ftb_check_stopped(w->ctx, &stopped);
}
