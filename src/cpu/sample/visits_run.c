/* The vertices that walks visit most often: of each row, sorted, runs are counted, and the longest runs stay.
 */
#include "cpu/sample/visits_run.h"

#include <omp.h>
#include <stdlib.h>

typedef struct visited {
    int64_t vertex, count;
} visited;

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_count(const void *a, const void *b)
{
    const visited *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static int by_vertex(const void *a, const void *b)
{
    const visited *x = a, *y = b;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Runs of row r into `runs`: how many stay. `sorted` has room for the row. */
static int64_t count_row(const ftb_visits *v, int64_t r, int64_t *sorted, visited *runs)
{
    const int64_t *row = v->walks + r * v->width;
    int64_t some = 0, count = 0;
    for (int64_t t = 0; t < v->width; t++)
        if (row[t] >= 0 && row[t] != v->own[r])
            sorted[some++] = row[t];
    qsort(sorted, (size_t)some, sizeof *sorted, by_number);
    for (int64_t t = 0; t < some; t++) {
        if (t == 0 || sorted[t] != sorted[t - 1])
            runs[count++] = (visited){sorted[t], 0};
        runs[count - 1].count++;
    }
    if (v->k < 0 || count <= v->k)
        return count;
    qsort(runs, (size_t)count, sizeof *runs, by_count);
    qsort(runs, (size_t)v->k, sizeof *runs, by_vertex);
    return v->k;
}

/* Rows move together. */
static void close_gaps(ftb_visits *v, int64_t room)
{
    const size_t column = v->wide ? 8 : 4;
    int64_t at = 0;
    v->rowptr[0] = 0;
    for (int64_t r = 0; r < v->nrows; r++) {
        const int64_t count = v->rowptr[r + 1];
        memmove((char *)v->columns + (size_t)at * column,
                (const char *)v->columns + (size_t)(r * room) * column, (size_t)count * column);
        memmove(v->counts + at, v->counts + r * room, (size_t)count * sizeof *v->counts);
        v->rowptr[r + 1] = at += count;
    }
}

GrB_Info ftb_visits_run(ftb_visits *v)
{
    const int64_t room = v->k < 0 ? v->width : ftb_min(v->k, v->width);
    const int threads = ftb_threads_for(v->ctx, 16 * v->nrows * v->width);
    int64_t *sorted = ftb_new(v->ctx, threads * v->width, sizeof *sorted);
    visited *runs = ftb_new(v->ctx, threads * v->width, sizeof *runs);
    v->columns = ftb_new(v->ctx, v->nrows * room, v->wide ? 8 : 4);
    v->counts = ftb_new(v->ctx, v->nrows * room, sizeof *v->counts);
    if (!sorted || !runs || !v->columns || !v->counts) {
        ftb_delete(v->columns);
        ftb_delete(v->counts);
        v->columns = v->counts = NULL;
        ftb_delete(sorted);
        ftb_delete(runs);
        return ftb_nomem();
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
    for (int64_t r = 0; r < v->nrows; r++) {
        visited *mine = runs + omp_get_thread_num() * v->width;
        const int64_t count = count_row(v, r, sorted + omp_get_thread_num() * v->width, mine);
        for (int64_t t = 0; t < count; t++) {
            v->counts[r * room + t] = mine[t].count;
            if (v->wide)
                ((int64_t *)v->columns)[r * room + t] = mine[t].vertex;
            else
                ((int32_t *)v->columns)[r * room + t] = (int32_t)mine[t].vertex;
        }
        v->rowptr[r + 1] = count;
    }
    close_gaps(v, room);
    ftb_delete(sorted);
    ftb_delete(runs);
    return GrB_SUCCESS;
}
