/* An entry for a row's own vertex, where none was picked. */
#include "cpu/entries/keep_run.h"
#include "cpu/sample/sample_run.h"

#define ROW_WORK 16 /* a row costs as much as so many entries of other operations */

/* Where `number` is in an ascending row, or would be. */
static int64_t find(const int32_t *local, int64_t count, int64_t number)
{
    int64_t first = 0, end = count;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (local[middle] < number)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* p's entry (i, i), or -1. */
static int64_t diagonal(const ftb_pattern *p, int64_t i)
{
    int64_t first, end;
    ftb_pattern_own(p, i, &first, &end);
    return first < end ? first : -1;
}

/* Whether row r has an entry for its own vertex, which among the seeds may have an earlier number than r's.
 */
static bool has_own(const ftb_self_rows *rows, int64_t r)
{
    const int32_t *local = rows->local + rows->rowptr[r];
    const int64_t count = rows->rowptr[r + 1] - rows->rowptr[r], number = rows->row0 + r;
    const int64_t at = find(local, count, number);
    bool own = at < count && local[at] == number;
    for (int64_t t = 0; t < at && !own && number < rows->nseeds; t++)
        own = local[t] < rows->nseeds && rows->vertices[local[t]] == rows->vertices[number];
    return own;
}

static void move_row(const ftb_self_rows *rows, const ftb_self_rows *to, int64_t r)
{
    const int64_t begin = rows->rowptr[r], count = rows->rowptr[r + 1] - begin, at = to->rowptr[r];
    const int64_t before = find(rows->local + begin, count, rows->row0 + r);
    const int64_t more = to->rowptr[r + 1] - at - count;
    for (int64_t t = 0; t < count; t++) {
        const int64_t place = at + t + (t >= before ? more : 0);
        to->local[place] = rows->local[begin + t];
        if (rows->entries)
            to->entries[place] = rows->entries[begin + t];
        if (rows->scale)
            to->scale[place] = rows->scale[begin + t];
    }
    if (more) {
        to->local[at + before] = (int32_t)(rows->row0 + r);
        if (rows->entries)
            to->entries[at + before] = diagonal(rows->p, rows->vertices[rows->row0 + r]);
        if (rows->scale)
            to->scale[at + before] = 1;
    }
}

GrB_Info ftb_sample_self(ftb_self_rows *rows)
{
    ftb_self_rows to = *rows;
    const int threads = ftb_threads_for(rows->ctx, ROW_WORK * rows->nrows);
    to.local = NULL;
    to.entries = NULL;
    to.scale = NULL;
    to.rowptr = ftb_new(rows->ctx, rows->nrows + 1, sizeof *to.rowptr);
    if (!to.rowptr)
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < rows->nrows; r++)
        to.rowptr[r + 1] = rows->rowptr[r + 1] - rows->rowptr[r] + !has_own(rows, r);
    const int64_t all = ftb_rows_sum(to.rowptr, rows->nrows);
    to.local = ftb_new(rows->ctx, all, sizeof *to.local);
    to.entries = rows->entries ? ftb_new(rows->ctx, all, sizeof *to.entries) : NULL;
    to.scale = rows->scale ? ftb_new(rows->ctx, all, sizeof *to.scale) : NULL;
    if (!to.local || (rows->entries && !to.entries) || (rows->scale && !to.scale)) {
        ftb_delete(to.rowptr);
        ftb_delete(to.local);
        ftb_delete(to.entries);
        ftb_delete(to.scale);
        return ftb_nomem();
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < rows->nrows; r++)
        move_row(rows, &to, r);
    ftb_delete(rows->rowptr);
    ftb_delete(rows->local);
    ftb_delete(rows->entries);
    ftb_delete(rows->scale);
    *rows = to;
    return GrB_SUCCESS;
}

GrB_Info ftb_sample_reorder(FtB_Context ctx, int64_t *order, const int64_t *entries, double **scale,
                            int64_t count)
{
    double *moved = ftb_new(ctx, count, sizeof *moved);
    if (!moved)
        return ftb_nomem();
#pragma omp parallel for num_threads(ftb_threads_for(ctx, count)) schedule(static)
    for (int64_t t = 0; t < count; t++) {
        moved[t] = (*scale)[order[t]];
        order[t] = entries[order[t]];
    }
    ftb_delete(*scale);
    *scale = moved;
    return GrB_SUCCESS;
}

void ftb_sample_scaled(const ftb_scaled_values *v)
{
#pragma omp parallel for num_threads(ftb_threads_for(v->ctx, v->count * v->width)) schedule(static)
    for (int64_t t = 0; t < v->count; t++)
        for (int64_t f = 0; f < v->width; f++) {
            const int64_t e = v->entries[t], at = t * v->width + f;
            const double x = v->from && e >= 0 ? ftb_get_real(v->from, v->type, e * v->width + f) : 1;
            if (v->to_type == FTB_FP64)
                ((double *)v->to)[at] = x * v->scale[t];
            else
                ((float *)v->to)[at] = (float)(x * v->scale[t]);
        }
}

void ftb_sample_values(FtB_Context ctx, char *to, const char *from, const int64_t *entries, int64_t count,
                       size_t size, const char *one)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, count)) schedule(static)
    for (int64_t t = 0; t < count; t++)
        memcpy(to + (size_t)t * size, entries[t] < 0 ? one : from + (size_t)entries[t] * size, size);
}
