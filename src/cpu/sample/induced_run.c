/* The entries of a matrix among some of its vertices: those whose column is found in a sorted list. */
#include "cpu/sample/induced_run.h"

#include "cpu/entries/keep_run.h"

#include <stdlib.h>

typedef struct vertex {
    int64_t id;
    int32_t tree, number;
} vertex;

typedef struct found {
    int32_t column;
    int64_t entry;
} found;

static int by_vertex(const void *a, const void *b)
{
    const vertex *x = a, *y = b;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_column(const void *a, const void *b)
{
    const found *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* The number of a tree's vertex; -1: it is not there. */
static int32_t number_of(const vertex *list, int64_t count, int64_t id, int32_t tree)
{
    int64_t first = 0, end = count;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        const vertex *v = &list[middle];
        if (v->tree < tree || (v->tree == tree && v->id < id))
            first = middle + 1;
        else
            end = middle;
    }
    return first < count && list[first].tree == tree && list[first].id == id ? list[first].number : -1;
}

/* Entries of row r into `to`, NULL: how many alone. */
static int64_t find_row(const ftb_induced *w, const vertex *list, int64_t r, found *to)
{
    const int64_t i = w->vertices[r];
    int64_t count = 0;
    for (int64_t e = w->p->rowptr[i]; e < w->p->rowptr[i + 1]; e++) {
        const int32_t number = number_of(list, w->count, ftb_col(w->p, e), w->trees ? w->trees[r] : 0);
        if (number >= 0 && to)
            to[count] = (found){number, e};
        count += number >= 0;
    }
    return count;
}

GrB_Info ftb_induced_run(ftb_induced *w)
{
    GrB_Info info = GrB_SUCCESS;
    int64_t degrees = 0, all = 0;
    found *entries = NULL;
    vertex *list = ftb_new(w->ctx, w->count, sizeof *list);
    w->columns = NULL;
    w->entries = NULL;
    w->rowptr = ftb_new(w->ctx, w->count + 1, sizeof *w->rowptr);
    if (!list || !w->rowptr)
        FTB_CHECK(ftb_nomem());
    for (int64_t v = 0; v < w->count; v++) {
        list[v] = (vertex){w->vertices[v], w->trees ? w->trees[v] : 0, (int32_t)v};
        degrees += w->p->rowptr[w->vertices[v] + 1] - w->p->rowptr[w->vertices[v]];
    }
    qsort(list, (size_t)w->count, sizeof *list, by_vertex);
    const int threads = ftb_threads_for(w->ctx, degrees + w->count);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t r = 0; r < w->count; r++)
        w->rowptr[r + 1] = find_row(w, list, r, NULL);
    all = ftb_rows_sum(w->rowptr, w->count);
    entries = ftb_new(w->ctx, all, sizeof *entries);
    w->columns = ftb_new(w->ctx, all, sizeof *w->columns);
    w->entries = ftb_new(w->ctx, all, sizeof *w->entries);
    if (!entries || !w->columns || !w->entries)
        FTB_CHECK(ftb_nomem());
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t r = 0; r < w->count; r++) {
        const int64_t count = find_row(w, list, r, entries + w->rowptr[r]);
        if (count > 0)
            qsort(entries + w->rowptr[r], (size_t)count, sizeof *entries, by_column);
        for (int64_t t = w->rowptr[r]; t < w->rowptr[r + 1]; t++) {
            w->columns[t] = entries[t].column;
            w->entries[t] = entries[t].entry;
        }
    }
done:
    ftb_delete(list);
    ftb_delete(entries);
    return info;
}
