/* Uniform picks of entries of rows: as many steps as picks, whatever the rows' lengths.
 *
 * Rows that have no more entries than are asked for keep all. Of the others, those of up to FTB_PICK_MOST
 * picks wait until sixteen go through a kernel together (kernels/sample.c), and the rest are picked of one by
 * one, with a set of the positions so far (Floyd's algorithm). What takes time is where picks point: a column
 * lies anywhere in memory, so columns are fetched as rows are picked of and read when a chunk's rows all are.
 */
#include "cpu/sample/sample_run.h"

#include "core/draws.h"
#include "cpu/entries/keep_run.h"
#include "cpu/kernels/sample_kernels.h"
#include "cpu/sample/place_set.h"
#include "cpu/sample/rows_columns.h"

#include <omp.h>

#define AHEAD 32    /* rows between the fetch of a row's pointers and its use */
#define CHUNK 256   /* rows that a thread takes at a time, whose columns are read when all are picked */
#define ROW_WORK 16 /* a row costs as much as so many entries of other operations, a pick half of that */

/* Scratch memory of one thread, in lines of its own. */
typedef struct picker {
    _Alignas(FTB_LINE) const ftb_sample_product *s;
    int32_t at[FTB_PICK_ROWS * FTB_PICK_MOST];
    uint64_t *place, *scratch, *set; /* of rows that are picked of by themselves */
    int64_t waiting[FTB_PICK_ROWS];  /* rows that are picked of together */
    int nwaiting;
    int64_t work;
} picker;

static inline int64_t row_begin(const ftb_sample_product *s, int64_t r)
{
    return s->p->rowptr[ftb_sample_row(s, r)];
}

static int threads_for(const ftb_sample_product *s)
{
    const int64_t picks = s->entries ? s->rowptr[s->nrows] : s->nrows;
    return ftb_threads_for(s->ctx, ROW_WORK * (s->nrows + picks / 2));
}

static void count_rows(const ftb_sample_product *s)
{
#pragma omp parallel for num_threads(threads_for(s)) schedule(static)
    for (int64_t r = 0; r < s->nrows; r++) {
        if (s->rows && r + AHEAD < s->nrows)
            __builtin_prefetch(&s->p->rowptr[s->rows[r + AHEAD]]);
        const int64_t degree = ftb_sample_degree(s, r);
        s->rowptr[r + 1] = s->k >= 0 && (s->replace ? degree > 0 : degree > s->k) ? s->k : degree;
    }
    ftb_rows_sum(s->rowptr, s->nrows);
}

/* ---- rows by themselves */

static void pick_row(picker *w, int64_t r)
{
    const ftb_sample_product *s = w->s;
    const int64_t to = s->rowptr[r], count = s->rowptr[r + 1] - to, begin = row_begin(s, r);
    const int64_t degree = ftb_sample_degree(s, r);
    const uint64_t vertex = (uint64_t)ftb_sample_row(s, r), seed = ftb_sample_seed(s, r);
    const int64_t size = s->replace ? 0 : ftb_set_size(count);
    for (int64_t t = 0; t < size; t++)
        w->set[t] = FTB_SET_FREE;
    for (int64_t t = 0; t < count; t++) {
        const uint64_t n = (uint64_t)(s->replace ? degree : degree - count + t + 1);
        uint64_t place = ftb_draw_below(n, seed, vertex, ftb_sample_stream(s, r), (uint64_t)t);
        if (size && !ftb_set_add(w->set, (uint64_t)size - 1, place)) {
            place = n - 1;
            ftb_set_add(w->set, (uint64_t)size - 1, place);
        }
        w->place[t] = place;
    }
    if (count == 0)
        return;
    const uint64_t *sorted = ftb_sort(w->place, w->scratch, count, 0, 64 - __builtin_clzll((uint64_t)degree));
    for (int64_t t = 0; t < count; t++)
        s->entries[to + t] = begin + (int64_t)sorted[t];
}

/* ---- rows of a chunk */

/* Columns of picks, which were fetched. */
static void put_columns(const ftb_sample_product *s, int64_t first, int64_t end)
{
    if (s->p->wide)
        for (int64_t t = first; t < end; t++)
            ((int64_t *)s->columns)[t] = ((const int64_t *)s->p->colidx)[s->entries[t]];
    else
        for (int64_t t = first; t < end; t++)
            ((int32_t *)s->columns)[t] = ((const int32_t *)s->p->colidx)[s->entries[t]];
}

/* Fetches the column of pick `to`, entry e. */
static inline void put_entry(picker *w, int64_t to, int64_t e)
{
    const ftb_sample_product *s = w->s;
    s->entries[to] = e;
    __builtin_prefetch((const char *)s->p->colidx + e * (s->p->wide ? 8 : 4));
}

static void keep_row(picker *w, int64_t r)
{
    const int64_t begin = row_begin(w->s, r), to = w->s->rowptr[r], count = w->s->rowptr[r + 1] - to;
    for (int64_t t = 0; t < count; t++)
        put_entry(w, to + t, begin + t);
}

/* Picks of the rows that wait, of which there are sixteen at most. */
static void pick_waiting(picker *w)
{
    const ftb_sample_product *s = w->s;
    ftb_pick_rows rows = {.degree = {0}};
    for (int l = 0; l < w->nwaiting; l++) {
        rows.vertex[l] = (uint64_t)ftb_sample_row(s, w->waiting[l]);
        rows.seed[l] = ftb_sample_seed(s, w->waiting[l]);
        rows.stream[l] = ftb_sample_stream(s, w->waiting[l]);
        rows.degree[l] = (uint32_t)ftb_sample_degree(s, w->waiting[l]);
    }
    if (w->nwaiting)
        FTB_PICK(ftb_pick_uniform)(w->at, &rows, s->k, s->replace);
    for (int l = 0; l < w->nwaiting; l++) {
        const int64_t begin = row_begin(s, w->waiting[l]), to = s->rowptr[w->waiting[l]];
        for (int64_t t = 0; t < s->k; t++)
            put_entry(w, to + t, begin + w->at[t * FTB_PICK_ROWS + l]);
    }
    w->nwaiting = 0;
}

/* Rows first to end - 1: all of what is short, and picks of sixteen others at a time. */
static void pick_rows(picker *w, int64_t first, int64_t end)
{
    const ftb_sample_product *s = w->s;
    for (int64_t r = first; r < end; r++) {
        const int64_t degree = ftb_sample_degree(s, r);
        if (s->rowptr[r + 1] - s->rowptr[r] == degree && !s->replace) {
            keep_row(w, r);
        } else if (s->k > FTB_PICK_MOST || degree > INT32_MAX) {
            pick_row(w, r);
        } else if (degree > 0) {
            w->waiting[w->nwaiting++] = r;
            if (w->nwaiting == FTB_PICK_ROWS)
                pick_waiting(w);
        }
    }
    pick_waiting(w);
    put_columns(s, s->rowptr[first], s->rowptr[end]);
    w->work += end - first + s->rowptr[end] - s->rowptr[first];
}

/* ---- all rows */

static void pickers_delete(picker *w, int threads)
{
    for (int t = 0; w && t < threads; t++)
        ftb_delete(w[t].place);
    ftb_delete(w);
}

/* The most picks of a row that is picked of by itself, or more, if not many: what its scratch memory follows.
 */
static int64_t most_picks(const ftb_sample_product *s)
{
    int64_t most = 0;
    if (s->k <= FTB_PICK_MOST)
        return ftb_max(0, s->k);
    for (int64_t r = 0; r < s->nrows; r++) {
        const int64_t count = s->rowptr[r + 1] - s->rowptr[r];
        if (count > most && (s->replace || count < ftb_sample_degree(s, r)))
            most = count;
    }
    return most;
}

static picker *pickers_new(const ftb_sample_product *s, int threads)
{
    picker *w = ftb_new0(s->ctx, threads, sizeof *w);
    const int64_t most = most_picks(s),
                  room = most <= INT64_MAX / 64 ? 2 * most + ftb_set_size(most) : INT64_MAX;
    for (int t = 0; w && t < threads; t++) {
        w[t].s = s;
        w[t].place = ftb_new(s->ctx, room, sizeof *w[t].place);
        if (!w[t].place) {
            pickers_delete(w, threads);
            return NULL;
        }
        w[t].scratch = w[t].place + most;
        w[t].set = w[t].scratch + most;
    }
    return w;
}

static GrB_Info pick_all(const ftb_sample_product *s)
{
    const int threads = threads_for(s);
    picker *pickers = pickers_new(s, threads);
    atomic_bool stopped = false;
    if (!pickers)
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < s->nrows; first += CHUNK) {
        picker *w = &pickers[omp_get_thread_num()];
        const int64_t end = ftb_min(s->nrows, first + CHUNK);
        if (ftb_stops(s->ctx, &stopped))
            continue;
        for (int64_t r = first; s->rows && r < end; r++)
            __builtin_prefetch(&s->p->rowptr[s->rows[r]]);
        pick_rows(w, first, end);
    }
    for (int t = 0; s->work && t < threads; t++)
        *s->work += pickers[t].work;
    pickers_delete(pickers, threads);
    return ftb_check_stopped(s->ctx, &stopped);
}

GrB_Info ftb_sample_run(const ftb_sample_product *s)
{
    if (ftb_sample_scales(s)) {
        if (s->entries)
            return ftb_sample_together(s);
        ftb_sample_room(s, s->selector == FTB_SAMPLE_LABOR || s->p->multi ? -1 : s->k);
        return GrB_SUCCESS;
    }
    const bool of_some = s->selector == FTB_SAMPLE_UNIFORM && ftb_sample_filters(s);
    if (of_some && !s->entries) {
        ftb_sample_room(s, s->k);
        return GrB_SUCCESS;
    }
    if ((s->tables || of_some) && s->entries) {
        bool bad;
        const GrB_Info info = ftb_sample_by_draws(s, &bad);
        if (info != GrB_SUCCESS || !bad)
            return info;
        if (of_some)
            return ftb_fail(FTB_LIMIT, "a row has 2^31 entries or more; with times or exclude expected less");
    }
    if (s->selector != FTB_SAMPLE_UNIFORM)
        return ftb_sample_by_keys(s);
    if (s->entries)
        return pick_all(s);
    count_rows(s);
    return GrB_SUCCESS;
}
