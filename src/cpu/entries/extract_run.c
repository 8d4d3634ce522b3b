/* C = A(I, J) by rows (extract_run.h). A row meets a list of columns from its shorter side: each of its
 * entries is looked for in the list, or each of the list's in the row. Where the list does not ascend, what
 * is found is put in the order of the result. */
#include "cpu/entries/extract_run.h"

#include "core/hypersparse.h"
#include "core/search.h"

#include <omp.h>

#define ROWS_PER_PART 64

typedef struct found { /* an entry of a row of the result */
    int64_t column, entry;
} found;

/* ---- one row */

static void put(found *to, int64_t *count, int64_t column, int64_t entry)
{
    if (to)
        to[*count] = (found){column, entry};
    ++*count;
}

/* Every entry of a row is looked for in the list. */
static int64_t seek_in_list(const ftb_extract_job *w, int64_t first, int64_t end, found *to)
{
    const ftb_column_list *l = &w->columns;
    int64_t count = 0;
    for (int64_t e = first; e < end; e++) {
        const int64_t j = ftb_col(w->p, e);
        for (int64_t q = ftb_first_not_below(l->sorted, l->count, j); q < l->count && l->sorted[q] == j; q++)
            put(to, &count, l->from ? l->from[q] : q, e);
    }
    return count;
}

/* Every column of the list is looked for in the row. */
static int64_t seek_in_row(const ftb_extract_job *w, int64_t first, int64_t end, found *to)
{
    const ftb_column_list *l = &w->columns;
    int64_t count = 0;
    for (int64_t q = 0; q < l->count; q++) {
        const int64_t j = l->sorted[q];
        for (int64_t e = ftb_first_entry(w->p, first, end, j); e < end && ftb_col(w->p, e) == j; e++)
            put(to, &count, l->from ? l->from[q] : q, e);
    }
    return count;
}

/* What is found in row s; to: NULL, or room for it. */
static int64_t seek(const ftb_extract_job *w, int64_t s, found *to)
{
    const int64_t i = w->rows ? w->rows[s] : s, first = w->p->rowptr[i], end = w->p->rowptr[i + 1];
    int64_t count = 0;
    if (w->columns.sorted)
        return end - first <= w->columns.count ? seek_in_list(w, first, end, to)
                                               : seek_in_row(w, first, end, to);
    for (int64_t e = first; to && e < end; e++)
        put(to, &count, ftb_col(w->p, e), e);
    return end - first;
}

static bool comes_before(const found *x, const found *y)
{
    return x->column < y->column || (x->column == y->column && x->entry < y->entry);
}

static void sift(found *heap, int64_t count, int64_t at)
{
    const found moved = heap[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_before(&heap[child], &heap[child + 1]))
            child++;
        if (!comes_before(&moved, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* By column, then by entry: a heap needs no room. */
static void sort_found(found *list, int64_t count)
{
    for (int64_t t = count / 2 - 1; t >= 0; t--)
        sift(list, count, t);
    for (int64_t last = count - 1; last > 0; last--) {
        const found most = list[0];
        list[0] = list[last];
        list[last] = most;
        sift(list, last, 0);
    }
}

/* ---- all rows */

static int threads_for(const ftb_extract_job *w)
{
    return ftb_threads_for(w->ctx, (w->rows ? 0 : w->p->nvals) + 16 * w->nrows);
}

GrB_Info ftb_extract_count(const ftb_extract_job *w)
{
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(threads_for(w)) schedule(dynamic, ROWS_PER_PART)
    for (int64_t s = 0; s < w->nrows; s++)
        if (!ftb_stops(w->ctx, &stopped))
            w->rowptr[s + 1] = seek(w, s, NULL);
    return ftb_check_stopped(w->ctx, &stopped);
}

static void fill_row(const ftb_extract_job *w, int64_t s, found *room)
{
    const int64_t at = w->rowptr[s], count = seek(w, s, room);
    if (w->columns.from)
        sort_found(room, count);
    for (int64_t t = 0; t < count; t++) {
        if (w->wide)
            ((int64_t *)w->colidx)[at + t] = room[t].column;
        else
            ((int32_t *)w->colidx)[at + t] = (int32_t)room[t].column;
        w->entries[at + t] = room[t].entry;
    }
}

GrB_Info ftb_extract_fill(const ftb_extract_job *w)
{
    const int threads = threads_for(w);
    int64_t longest = 0, size;
    for (int64_t s = 0; s < w->nrows; s++)
        longest = ftb_max(longest, w->rowptr[s + 1] - w->rowptr[s]);
    if (__builtin_mul_overflow(longest, threads, &size))
        size = INT64_MAX;
    found *rooms = ftb_new(w->ctx, size, sizeof *rooms);
    atomic_bool stopped = false;
    if (!rooms)
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(dynamic, ROWS_PER_PART)
    for (int64_t s = 0; s < w->nrows; s++)
        if (!ftb_stops(w->ctx, &stopped))
            fill_row(w, s, rooms + longest * omp_get_thread_num());
    ftb_delete(rooms);
    return ftb_check_stopped(w->ctx, &stopped);
}

void ftb_extract_values(FtB_Context ctx, void *to, const void *from, const int64_t *entries, int64_t count,
                        size_t bytes)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, count)) schedule(static)
    for (int64_t e = 0; e < count; e++)
        memcpy((char *)to + (size_t)e * bytes, (const char *)from + (size_t)entries[e] * bytes, bytes);
}

/* ---- what an assignment leaves */

static bool is_in(const int64_t *list, int64_t count, int64_t x)
{
    if (!list)
        return true;
    const int64_t at = ftb_first_not_below(list, count, x);
    return at < count && list[at] == x;
}

void ftb_mark_region(FtB_Context ctx, uint8_t *keep, const ftb_pattern *p, const ftb_region *r, bool inside)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, p->nvals + p->nrows))                              \
    schedule(dynamic, ROWS_PER_PART)
    for (int64_t i = 0; i < p->nrows; i++) {
        const bool row = is_in(r->rows, r->nrows, ftb_row_number(p, i));
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            keep[e] = (row && is_in(r->columns, r->ncolumns, ftb_col(p, e))) == inside;
    }
}

void ftb_fill_region(FtB_Context ctx, const ftb_region *r, int64_t *rowptr, void *colidx, bool wide)
{
    for (int64_t s = 0; s <= r->nrows; s++)
        rowptr[s] = s * r->ncolumns;
#pragma omp parallel for num_threads(ftb_threads_for(ctx, r->nrows * r->ncolumns)) schedule(static)
    for (int64_t s = 0; s < r->nrows; s++)
        for (int64_t t = 0; t < r->ncolumns; t++) {
            const int64_t j = r->columns ? r->columns[t] : t, at = s * r->ncolumns + t;
            if (wide)
                ((int64_t *)colidx)[at] = j;
            else
                ((int32_t *)colidx)[at] = (int32_t)j;
        }
}

void ftb_place_entries(FtB_Context ctx, const ftb_pattern *p, const int64_t *rows, const int64_t *columns,
                       int64_t *I, int64_t *J)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, p->nvals + p->nrows))                              \
    schedule(dynamic, ROWS_PER_PART)
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            const int64_t j = ftb_col(p, e);
            I[e] = rows ? rows[ftb_row_number(p, i)] : ftb_row_number(p, i);
            J[e] = columns ? columns[j] : j;
        }
}
