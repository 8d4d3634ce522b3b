/* Pairs that a pattern has no entry for, without making its complement.
 *
 * Of row i they are numbered by column; of all, row by row, by sums that are kept with the pattern. Numbers
 * are drawn as places of uniform picks are (Floyd's algorithm), and stand for a column: the one that has as
 * many before it that are no entries, which is looked for by halving the row. */
#include "cpu/sample/negative_run.h"

#include "core/draws.h"
#include "core/search.h"
#include "cpu/entries/keep_run.h"
#include "cpu/sample/place_set.h"

#include <omp.h>
#include <stdlib.h>

#define ROW_WORK 64 /* a pick costs as much as so many entries of other operations */

/* A row's entries, and (i, i) with them where it does not count. */
typedef struct row {
    const ftb_pattern *p;
    int64_t begin, end;
    int64_t own, before; /* the column added, with so many entries before it; -1: none is */
} row;

static row row_at(const ftb_pattern *p, int64_t i, bool loops)
{
    row x = {.p = p, .begin = p->rowptr[i], .end = p->rowptr[i + 1], .own = -1};
    if (loops || p->nrows != p->ncols)
        return x;
    const int64_t at = ftb_first_entry(x.p, x.begin, x.end, i);
    if (at < x.end && ftb_col(p, at) == i)
        return x;
    x.own = i;
    x.before = at - x.begin;
    return x;
}

/* The t-th column that does not count, from 0 on. */
static int64_t taken_at(const row *x, int64_t t)
{
    if (x->own < 0 || t < x->before)
        return ftb_col(x->p, x->begin + t);
    return t == x->before ? x->own : ftb_col(x->p, x->begin + t - 1);
}

static int64_t taken_count(const row *x) { return x->end - x->begin + (x->own >= 0); }

/* How many columns do not count, where entries may be parallel. */
static int64_t distinct(const row *x)
{
    int64_t count = taken_count(x);
    for (int64_t e = x->begin + 1; x->p->multi && e < x->end; e++)
        count -= ftb_col(x->p, e) == ftb_col(x->p, e - 1);
    return count;
}

/* The column with `number` before it that count. */
static int64_t column_at(const row *x, int64_t number)
{
    int64_t first = 0, end = taken_count(x);
    if (x->p->multi) { /* parallel ones are passed over */
        int64_t column = number, last = -1;
        for (int64_t t = 0; t < end && taken_at(x, t) <= column; t++) {
            column += taken_at(x, t) != last;
            last = taken_at(x, t);
        }
        return column;
    }
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (taken_at(x, middle) - middle > number)
            end = middle;
        else
            first = middle + 1;
    }
    return number + first;
}

/* ---- sums, kept with the pattern: how many pairs are before each row's */

static GrB_Info count_pairs(ftb_derived *to, ftb_pattern *p, const void *loops)
{
    int64_t *sums = ftb_new(p->ctx, p->nrows + 1, sizeof *sums);
    if (!sums)
        return ftb_nomem();
    sums[0] = 0;
#pragma omp parallel for num_threads(ftb_threads_for(p->ctx, p->nvals + p->nrows)) schedule(dynamic, 4096)
    for (int64_t i = 0; i < p->nrows; i++) {
        const row x = row_at(p, i, *(const bool *)loops);
        sums[i + 1] = p->ncols - distinct(&x);
    }
    ftb_rows_sum(sums, p->nrows);
    to->buffers[0] = ftb_buffer_adopt(p->ctx, sums);
    return to->buffers[0] ? GrB_SUCCESS : ftb_nomem();
}

static GrB_Info ask_pairs(const int64_t **sums, const ftb_negative *w)
{
    static const char kind;
    const ftb_derived *found;
    int64_t all;
    if (__builtin_mul_overflow(w->p->nrows, w->p->ncols, &all) || all >> 62)
        return ftb_fail(FTB_LIMIT, "A is %lld x %lld; expected less than 2^62 pairs", (long long)w->p->nrows,
                        (long long)w->p->ncols);
    const GrB_Info info = ftb_derived_ask(&found, w->p, &kind, w->loops, count_pairs, &w->loops);
    if (info == GrB_SUCCESS)
        *sums = ftb_buffer_data(found->buffers[0]);
    return info;
}

/* ---- draws */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* `count` of `all` numbers, ascending, into number; the set has room for them. */
static void draw_numbers(const ftb_negative *w, uint64_t vertex, int64_t count, int64_t all, uint64_t *number,
                         uint64_t *set)
{
    const int64_t size = w->replace ? 0 : ftb_set_size(count);
    for (int64_t t = 0; t < size; t++)
        set[t] = FTB_SET_FREE;
    for (int64_t t = 0; t < count; t++) {
        const uint64_t n = (uint64_t)(w->replace ? all : all - count + t + 1);
        number[t] = ftb_draw_below(n, w->seed, vertex, w->stream, (uint64_t)t);
        if (!w->replace && !ftb_set_add(set, (uint64_t)size - 1, number[t])) {
            number[t] = n - 1;
            ftb_set_add(set, (uint64_t)size - 1, number[t]);
        }
    }
    if (count > 0)
        qsort(number, (size_t)count, sizeof *number, by_number);
}

static int64_t row_id(const ftb_negative *w, int64_t r) { return w->rows ? w->rows[r] : r; }

static int64_t picks_of(const ftb_negative *w, int64_t all)
{
    return w->replace && all > 0 ? w->k : ftb_min(w->k, all);
}

static void put(const ftb_negative *w, int64_t at, int64_t column)
{
    if (w->p->wide)
        ((int64_t *)w->columns)[at] = column;
    else
        ((int32_t *)w->columns)[at] = (int32_t)column;
}

static GrB_Info run_rows(ftb_negative *w, const int64_t *sums)
{
    GrB_Info info = GrB_SUCCESS;
    int64_t most = 0;
    uint64_t *scratch = NULL;
    for (int64_t r = 0; r < w->nrows; r++) {
        const int64_t i = row_id(w, r);
        w->rowptr[r + 1] = picks_of(w, sums[i + 1] - sums[i]);
        most = ftb_max(most, w->rowptr[r + 1]);
    }
    const int64_t all = ftb_rows_sum(w->rowptr, w->nrows),
                  room = most + (w->replace ? 0 : ftb_set_size(most));
    const int threads = ftb_threads_for(w->ctx, ROW_WORK * all);
    w->columns = ftb_new(w->ctx, all, ftb_col_size(w->p->ncols));
    scratch = ftb_new(w->ctx, room * threads, sizeof *scratch);
    if (!w->columns || !scratch)
        FTB_CHECK(ftb_nomem());
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t r = 0; r < w->nrows; r++) {
        uint64_t *number = scratch + omp_get_thread_num() * room;
        const int64_t i = row_id(w, r), count = w->rowptr[r + 1] - w->rowptr[r];
        const row x = row_at(w->p, i, w->loops);
        draw_numbers(w, (uint64_t)i, count, sums[i + 1] - sums[i], number, number + most);
        for (int64_t t = 0; t < count; t++)
            put(w, w->rowptr[r] + t, column_at(&x, (int64_t)number[t]));
    }
done:
    ftb_delete(scratch);
    return info;
}

static GrB_Info run_all(ftb_negative *w, const int64_t *sums)
{
    GrB_Info info = GrB_SUCCESS;
    const int64_t all = sums[w->nrows], count = picks_of(w, all);
    const int threads = ftb_threads_for(w->ctx, ROW_WORK * count);
    uint64_t *number = ftb_new(w->ctx, count, sizeof *number);
    uint64_t *set = ftb_new(w->ctx, w->replace ? 0 : ftb_set_size(count), sizeof *set);
    w->columns = ftb_new(w->ctx, count, ftb_col_size(w->p->ncols));
    if (!number || !set || !w->columns)
        FTB_CHECK(ftb_nomem());
    draw_numbers(w, 0, count, all, number, set);
    for (int64_t r = 1; r <= w->nrows; r++)
        w->rowptr[r] = 0;
    for (int64_t t = 0; t < count; t++)
        w->rowptr[ftb_row_at(sums, w->nrows, (int64_t)number[t]) + 1]++;
    ftb_rows_sum(w->rowptr, w->nrows);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = ftb_row_at(sums, w->nrows, (int64_t)number[t]);
        const row x = row_at(w->p, i, w->loops);
        put(w, t, column_at(&x, (int64_t)number[t] - sums[i]));
    }
done:
    ftb_delete(number);
    ftb_delete(set);
    return info;
}

GrB_Info ftb_negative_run(ftb_negative *w)
{
    const int64_t *sums = NULL;
    w->columns = NULL;
    w->rowptr = NULL;
    const GrB_Info info = ask_pairs(&sums, w);
    if (info != GrB_SUCCESS)
        return info;
    w->rowptr = ftb_new(w->ctx, w->nrows + 1, sizeof *w->rowptr);
    if (!w->rowptr)
        return ftb_nomem();
    w->rowptr[0] = 0;
    return w->global ? run_all(w, sums) : run_rows(w, sums);
}
