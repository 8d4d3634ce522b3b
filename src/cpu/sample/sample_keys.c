/* Picks that every entry of a row has a say in: by weight, the largest, those beyond a threshold, by chance
 * of their own, or of their columns (LABOR-0).
 *
 * A thread takes rows until their entries fill its scratch memory, has the expression evaluated for all of
 * them, and decides row by row. Weights become a table of the row that is drawn through (sample/row_draws.h);
 * or tables of all rows, to be kept (sample/draw_run.c). LABOR-0 keeps an entry where its column's draw is
 * below k / degree, so that rows share columns (Balin and Catalyurek, NeurIPS 2023). */
#include "cpu/sample/row_draws.h"
#include "cpu/sample/row_filter.h"

#include "core/draws.h"
#include "cpu/entries/entry_map.h"
#include "cpu/entries/keep_run.h"
#include "cpu/kernels/sample_kernels.h"

#include <math.h>
#include <omp.h>

#define ROOM 4096 /* entries that are evaluated together: their values and draws stay in L1 and L2 */
#define ROWS 256  /* that a thread takes at a time */

enum { ALL_ZERO = -1, TOO_LONG = -2 };

typedef struct timed {
    int64_t time, place;
} timed;

typedef struct chooser {
    _Alignas(FTB_LINE) const ftb_sample_product *s;
    double *value;          /* of entries of the rows at hand */
    uint32_t *word;         /* a row's draws */
    ftb_alias_slot *slots;  /* its table */
    ftb_alias_slot *tables; /* all rows' get these, and nothing is picked; NULL: picks are made */
    ftb_row_draws draws;
    timed *timed;  /* a row's entries that are there, with their times */
    double *store; /* or the values are put here, a row's from offset on; NULL: they are not */
    const int64_t *offset;
    int64_t *counts; /* of all rows' picks, where there is room for more */
    int64_t work;
    int64_t bad_row;   /* the first that cannot be picked of; -1: none */
    int64_t bad_entry; /* its entry; or one of these */
    double bad_value;
} chooser;

static int64_t limit(const ftb_sample_product *s, int64_t count)
{
    return s->k >= 0 ? ftb_min(s->k, count) : count;
}

/* ---- the k least keys */

/* Whether a comes behind b: its key is larger, or equal and its place is. */
static inline bool behind(const double *key, int64_t a, int64_t b)
{
    return key[a] > key[b] || (key[a] == key[b] && a > b);
}

/* Sinks `place` from the root `at` of a heap of n places, those behind others on top. */
static void sink(int64_t *heap, int64_t n, int64_t at, const double *key, int64_t place)
{
    for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && behind(key, heap[child + 1], heap[child]))
            child++;
        if (!behind(key, heap[child], place))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = place;
}

static int by_place(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Places of the k least keys that are not NaN, of which there are as many. */
void ftb_least_keys(int64_t *place, const double *key, int64_t degree, int64_t k)
{
    int64_t count = 0, t = 0;
    for (; count < k; t++)
        if (key[t] == key[t])
            place[count++] = t;
    for (int64_t at = k / 2; at-- > 0;)
        sink(place, k, at, key, place[at]);
    for (; k > 0 && t < degree; t++)
        if (behind(key, place[0], t))
            sink(place, k, 0, key, t);
    qsort(place, (size_t)k, sizeof *place, by_place);
}

/* ---- one row: its places that are picked, into `place` (NULL, where there is no room: how many alone) */

static void draw_words(chooser *w, int64_t r, int64_t degree)
{
    const ftb_sample_product *s = w->s;
    FTB_PICK(ftb_draw_words)
    (w->word, ftb_sample_seed(s, r), (uint64_t)ftb_sample_row(s, r), ftb_sample_stream(s, r), 0, degree);
}

/* Through a table of the row, made for it. */
static int64_t choose_weighted(chooser *w, int64_t r, double *value, int64_t degree, int64_t *place)
{
    const ftb_sample_product *s = w->s;
    const bool all = !s->replace && (s->k < 0 || s->k >= degree);
    int64_t some = 0;
    const ftb_row_filter filter = ftb_row_filter_of(s, r);
    int64_t count = 0; /* of all */
    for (int64_t t = 0; t < degree; t++) {
        some += value[t] > 0;
        if (all && value[t] > 0 && ftb_row_admits(&filter, t))
            place[count++] = t;
    }
    if (degree == 0)
        return 0;
    if (degree > INT32_MAX || some == 0) {
        w->bad_row = r;
        w->bad_entry = degree > INT32_MAX ? TOO_LONG : ALL_ZERO;
        return 0;
    }
    if (all)
        return count;
    ftb_alias_make(w->slots, value, degree);
    return ftb_draw_row(&w->draws, r, w->slots, (ftb_drawn){0, NULL, NULL}, place);
}

static int64_t choose_largest(chooser *w, double *value, int64_t degree, int64_t *place)
{
    int64_t numbers = 0;
    for (int64_t t = 0; t < degree; t++) {
        numbers += value[t] == value[t];
        value[t] = -value[t];
    }
    const int64_t count = limit(w->s, numbers);
    ftb_least_keys(place, value, degree, count);
    return count;
}

static int64_t choose_beyond(chooser *w, const double *value, int64_t degree, int64_t *place)
{
    int64_t count = 0;
    for (int64_t t = 0; t < degree; t++)
        if (value[t] >= w->s->threshold) {
            if (place)
                place[count] = t;
            count++;
        }
    return count;
}

static int64_t choose_by_chance(chooser *w, int64_t r, const double *value, int64_t degree, int64_t *place)
{
    int64_t count = 0;
    draw_words(w, r, degree);
    for (int64_t t = 0; t < degree; t++)
        if ((double)w->word[t] < value[t] * 0x1p32) {
            if (place)
                place[count] = t;
            count++;
        }
    return count;
}

static int64_t choose_labor(chooser *w, int64_t r, int64_t degree, int64_t *place)
{
    const ftb_sample_product *s = w->s;
    const int64_t begin = s->p->rowptr[ftb_sample_row(s, r)];
    const uint64_t seed = ftb_random_mix(ftb_sample_seed(s, r), 0, FTB_DRAW_SHARED);
    const ftb_row_filter filter = ftb_row_filter_of(s, r);
    int64_t count = 0, there = 0;
    for (int64_t t = 0; t < degree; t++)
        there += ftb_row_admits(&filter, t);
    const bool all = s->k < 0 || s->k >= there;
    for (int64_t at = 0; at < degree; at += FTB_PICK_ROWS) {
        const int64_t here = ftb_min(degree - at, FTB_PICK_ROWS);
        int64_t column[FTB_PICK_ROWS] = {0};
        uint32_t word[FTB_PICK_ROWS];
        for (int64_t t = 0; t < here; t++)
            column[t] = ftb_col(s->p, begin + at + t);
        if (!all)
            FTB_PICK(ftb_draw_vertices)(word, seed, column, ftb_sample_stream(s, r));
        for (int64_t t = 0; t < here; t++)
            if ((all || (unsigned __int128)word[t] * (uint64_t)there < (unsigned __int128)s->k << 32) &&
                ftb_row_admits(&filter, at + t)) {
                if (place)
                    place[count] = at + t;
                count++;
            }
    }
    return count;
}

static int earlier_first(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
                              : (x->place > y->place) - (x->place < y->place);
}

static int64_t choose_last(chooser *w, int64_t r, int64_t degree, int64_t *place)
{
    const ftb_row_filter filter = ftb_row_filter_of(w->s, r);
    int64_t there = 0;
    for (int64_t t = 0; t < degree; t++)
        if (ftb_row_admits(&filter, t))
            w->timed[there++] = (timed){filter.times[t], t};
    const int64_t count = limit(w->s, there);
    if (count < there)
        qsort(w->timed, (size_t)there, sizeof *w->timed, earlier_first);
    for (int64_t t = 0; t < count; t++)
        place[t] = w->timed[there - count + t].place;
    if (count > 0)
        qsort(place, (size_t)count, sizeof *place, by_place);
    return count;
}

/* ---- rows */

static bool takes_weights(const ftb_sample_product *s)
{
    return s->selector == FTB_SAMPLE_WEIGHTED || s->selector == FTB_SAMPLE_BERNOULLI;
}

static int64_t choose(chooser *w, int64_t r, double *value, int64_t degree, int64_t *place)
{
    switch (w->s->selector) {
    case FTB_SAMPLE_WEIGHTED:
        return choose_weighted(w, r, value, degree, place);
    case FTB_SAMPLE_TOPK:
        return choose_largest(w, value, degree, place);
    case FTB_SAMPLE_THRESHOLD:
        return choose_beyond(w, value, degree, place);
    case FTB_SAMPLE_BERNOULLI:
        return choose_by_chance(w, r, value, degree, place);
    case FTB_SAMPLE_LAST:
        return choose_last(w, r, degree, place);
    default:
        return choose_labor(w, r, degree, place);
    }
}

/* Whether rows get room for k picks before anybody knows whether so many can be: then keys are looked at
 * once. */
static bool has_room(const ftb_sample_product *s)
{
    return s->selector == FTB_SAMPLE_WEIGHTED || s->selector == FTB_SAMPLE_TOPK ||
           s->selector == FTB_SAMPLE_LAST;
}

void ftb_sample_room(const ftb_sample_product *s, int64_t most)
{
    for (int64_t r = 0; r < s->nrows; r++) {
        const int64_t degree = ftb_sample_degree(s, r);
        s->rowptr[r + 1] = s->replace ? (degree > 0 ? s->k : 0) : most >= 0 ? ftb_min(most, degree) : degree;
    }
    ftb_rows_sum(s->rowptr, s->nrows);
}

void ftb_sample_close(const ftb_sample_product *s, const int64_t *counts)
{
    const size_t column = ftb_col_size(s->p->ncols);
    int64_t at = 0;
    for (int64_t r = 0; r < s->nrows; r++) {
        const int64_t from = s->rowptr[r];
        const size_t count = (size_t)counts[r];
        if (from != at) {
            memmove(s->entries + at, s->entries + from, count * sizeof *s->entries);
            memmove((char *)s->columns + (size_t)at * column,
                    (const char *)s->columns + (size_t)from * column, count * column);
        }
        if (from != at && s->scale)
            memmove(s->scale + at, s->scale + from, count * sizeof *s->scale);
        s->rowptr[r] = at;
        at += counts[r];
    }
    s->rowptr[s->nrows] = at;
}

static void put_table(ftb_alias_slot *slots, double *value, int64_t degree)
{
    bool fine = degree <= INT32_MAX;
    for (int64_t t = 0; t < degree; t++)
        fine &= value[t] >= 0 && value[t] < (double)INFINITY;
    if (degree > 0 && !(fine && ftb_alias_make(slots, value, degree)))
        slots->other = -1;
}

static void store_row(chooser *w, int64_t r, const double *value)
{
    const int64_t degree = ftb_sample_degree(w->s, r);
    memcpy(w->store + w->offset[r], value, (size_t)degree * sizeof *value);
    for (int64_t t = degree; t-- > 0;)
        if (!(value[t] - value[t] == 0)) {
            w->bad_row = r;
            w->bad_entry = w->s->p->rowptr[ftb_sample_row(w->s, r)] + t;
            w->bad_value = value[t];
        }
}

/* What is not there gets a value that is not picked. */
static void leave_out(const ftb_sample_product *s, int64_t r, double *value, int64_t degree)
{
    const ftb_row_filter filter = ftb_row_filter_of(s, r);
    for (int64_t t = 0; t < degree; t++)
        if (!ftb_row_admits(&filter, t))
            value[t] = s->selector == FTB_SAMPLE_BERNOULLI ? 0 : (double)NAN;
}

/* Decides on a row whose values are there. */
static void choose_row(chooser *w, int64_t r, double *value)
{
    const ftb_sample_product *s = w->s;
    const int64_t begin = s->p->rowptr[ftb_sample_row(s, r)], degree = ftb_sample_degree(s, r);
    w->work += degree + 1;
    if (w->store) {
        store_row(w, r, value);
        return;
    }
    if (w->tables) {
        put_table(w->tables + begin, value, degree);
        return;
    }
    for (int64_t t = 0; takes_weights(s) && t < degree; t++)
        if (!(value[t] >= 0 && value[t] < (double)INFINITY)) {
            w->bad_row = r;
            w->bad_entry = begin + t;
            w->bad_value = value[t];
            return;
        }
    if (s->selector != FTB_SAMPLE_WEIGHTED && value && ftb_sample_filters(s))
        leave_out(s, r, value, degree);
    int64_t *place = s->entries ? s->entries + s->rowptr[r] : NULL;
    const int64_t count = choose(w, r, value, degree, place);
    if (!place) {
        s->rowptr[r + 1] = count;
        return;
    }
    if (w->counts)
        w->counts[r] = count;
    for (int64_t t = 0; t < count; t++) {
        const int64_t e = place[t] += begin;
        if (s->p->wide)
            ((int64_t *)s->columns)[s->rowptr[r] + t] = ((const int64_t *)s->p->colidx)[e];
        else
            ((int32_t *)s->columns)[s->rowptr[r] + t] = ((const int32_t *)s->p->colidx)[e];
    }
}

/* Values of the entries of rows first to end - 1 go to scratch memory, which has room for them. */
static void choose_rows(chooser *w, ftb_batch *batch, int64_t first, int64_t end)
{
    const ftb_sample_product *s = w->s;
    const size_t size = s->values ? FtB_Type_size(s->type) : 0;
    int64_t at = s->key ? w->value - (double *)s->key->out : 0;
    double *value = w->value;
    for (int64_t r = first; s->values && r < end; r++) {
        const int64_t degree = ftb_sample_degree(s, r);
        ftb_cast(value, FTB_FP64, (const char *)s->values + (size_t)s->p->rowptr[ftb_sample_row(s, r)] * size,
                 s->type, degree);
        value += degree;
    }
    for (int64_t r = first; s->key && r < end; r++) {
        const int64_t i = ftb_sample_row(s, r);
        for (int64_t e = s->p->rowptr[i]; e < s->p->rowptr[i + 1]; e++)
            ftb_batch_push(batch, e, e, at++, i, ftb_col(s->p, e));
    }
    if (s->key)
        ftb_batch_flush(batch);
    value = w->value;
    for (int64_t r = first; r < end && w->bad_row < 0; r++) {
        choose_row(w, r, value);
        value += w->value ? ftb_sample_degree(s, r) : 0;
    }
}

static void choose_part(chooser *w, ftb_batch *batch, int64_t first, int64_t end, int64_t room)
{
    int64_t from = first, filled = 0;
    for (int64_t r = first; r < end && w->bad_row < 0; r++) {
        const int64_t degree = ftb_sample_degree(w->s, r);
        if (filled + degree > room) {
            choose_rows(w, batch, from, r);
            from = r;
            filled = 0;
        }
        filled += degree;
    }
    choose_rows(w, batch, from, end);
}

/* What was wrong with the first row that had something. */
static GrB_Info complain(const ftb_sample_product *s, const chooser *choosers, int threads,
                         const atomic_bool *stopped)
{
    const chooser *first = NULL;
    for (int t = 0; t < threads; t++)
        if (choosers[t].bad_row >= 0 && (!first || choosers[t].bad_row < first->bad_row))
            first = &choosers[t];
    if (!first)
        return ftb_check_stopped(s->ctx, stopped);
    const long long row = (long long)ftb_sample_row(s, first->bad_row);
    if (first->bad_entry < 0)
        return ftb_fail(GrB_INVALID_VALUE, "key: the weights of row %lld of A %s", row,
                        first->bad_entry == ALL_ZERO ? "are all 0; expected one above 0"
                                                     : "are more than 2^31 - 1; expected less");
    return ftb_fail(GrB_INVALID_VALUE, "key is %g for A(%lld, %lld); expected a finite number%s",
                    first->bad_value, row, (long long)ftb_col(s->p, first->bad_entry),
                    first->store ? "" : ", 0 or more");
}

/* Has all rows decided on; their tables or their values made, where `like` has room for them. */
static GrB_Info run_choosers(const ftb_sample_product *s, const chooser *like)
{
    GrB_Info info = GrB_SUCCESS;
    atomic_bool stopped = false;
    int64_t most = 0, entries = 0;
    for (int64_t r = 0; r < s->nrows; r++) {
        most = ftb_max(most, ftb_sample_degree(s, r));
        entries += ftb_sample_degree(s, r);
    }
    const int64_t room = ftb_max(most, ROOM);
    /* A thread has room for the longest row: no more of them than there would be rows of that length. */
    const int64_t many = ftb_min((int64_t)ftb_threads_for(s->ctx, entries + s->nrows), entries / room + 1);
    const int threads = (int)(s->key ? ftb_min(many, (int64_t)s->key->nbatches) : many);
    const bool valued = s->key || s->values, draws = s->selector == FTB_SAMPLE_WEIGHTED && !like->tables;
    double *values = valued ? ftb_new(s->ctx, room * threads, sizeof *values) : NULL;
    uint32_t *words = valued && !draws ? ftb_new(s->ctx, room * threads, sizeof *words) : NULL;
    ftb_alias_slot *slots = draws ? ftb_new(s->ctx, most * threads, sizeof *slots) : NULL;
    timed *stamps = s->selector == FTB_SAMPLE_LAST ? ftb_new(s->ctx, most * threads, sizeof *stamps) : NULL;
    chooser *choosers = ftb_new0(s->ctx, threads, sizeof *choosers);
    if (!choosers || (s->selector == FTB_SAMPLE_LAST && !stamps) ||
        (valued && (!values || !(draws ? (void *)slots : words))))
        FTB_CHECK(ftb_nomem());
    if (s->key)
        ftb_map_output(s->key, values, FTB_FP64);
    for (int t = 0; t < threads; t++)
        choosers[t] = (chooser){.s = s,
                                .counts = like->counts,
                                .tables = like->tables,
                                .store = like->store,
                                .offset = like->offset,
                                .value = valued ? values + t * room : NULL,
                                .word = words ? words + t * room : NULL,
                                .slots = slots ? slots + t * most : NULL,
                                .timed = stamps ? stamps + t * most : NULL,
                                .draws = {.s = s},
                                .bad_row = -1};
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < s->nrows; first += ROWS) {
        const int t = omp_get_thread_num();
        if (!ftb_stops(s->ctx, &stopped))
            choose_part(&choosers[t], s->key ? &s->key->batches[t] : NULL, first,
                        ftb_min(s->nrows, first + ROWS), room);
    }
    info = complain(s, choosers, threads, &stopped);
    for (int t = 0; t < threads; t++) {
        if (choosers[t].draws.failed)
            info = ftb_nomem();
        if (s->work && s->entries)
            *s->work += choosers[t].work;
        ftb_delete(choosers[t].draws.scratch);
    }
done:
    ftb_delete(values);
    ftb_delete(words);
    ftb_delete(slots);
    ftb_delete(stamps);
    ftb_delete(choosers);
    return info;
}

GrB_Info ftb_sample_tables(const ftb_sample_product *s, ftb_alias_slot *slots)
{
    return run_choosers(s, &(chooser){.tables = slots});
}

GrB_Info ftb_sample_weights(const ftb_sample_product *s, double *weight, const int64_t *offset)
{
    if (s->key || s->values)
        return run_choosers(s, &(chooser){.store = weight, .offset = offset});
    for (int64_t t = 0; t < offset[s->nrows]; t++)
        weight[t] = 1;
    return GrB_SUCCESS;
}

GrB_Info ftb_sample_by_keys(const ftb_sample_product *s)
{
    const bool roomy = has_room(s);
    if (roomy && !s->entries) {
        ftb_sample_room(s, s->k);
        return GrB_SUCCESS;
    }
    int64_t *counts = roomy ? ftb_new0(s->ctx, s->nrows, sizeof *counts) : NULL;
    if (roomy && !counts)
        return ftb_nomem();
    const GrB_Info info = run_choosers(s, &(chooser){.counts = counts});
    if (info == GrB_SUCCESS && !s->entries)
        ftb_rows_sum(s->rowptr, s->nrows);
    if (info == GrB_SUCCESS && counts)
        ftb_sample_close(s, counts);
    ftb_delete(counts);
    return info;
}
