/* Picks that every entry of a row has a say in: by weight, the largest, those beyond a threshold, by chance
 * of their own, or of their columns (LABOR-0).
 *
 * A thread takes rows until their entries fill its scratch memory, has the expression evaluated for all of
 * them, and decides row by row. By weight w, without replacement: the k entries with the least E / w, E
 * exponential, which are those of k draws in a row of what is left with chances as their weights (Efraimidis
 * and Spirakis, "Weighted random sampling with a reservoir", IPL 97, 2006). LABOR-0 keeps an entry where its
 * column's draw is below k / degree, so that rows share columns (Balin and Catalyurek, NeurIPS 2023). */
#include "cpu/sample_run.h"

#include "core/draws.h"
#include "cpu/entries/entry_map.h"
#include "cpu/entries/keep_run.h"
#include "cpu/kernels/sample_kernels.h"

#include <math.h>
#include <omp.h>

#define ROOM 4096 /* entries that are evaluated together: their values and draws stay in L1 and L2 */
#define ROWS 256  /* that a thread takes at a time */

enum { ALL_ZERO = -1, TOO_LARGE = -2 };

typedef struct chooser {
    const ftb_sample_product *s;
    double *value;   /* of entries of the rows at hand */
    uint32_t *word;  /* a row's draws */
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
static void least(int64_t *place, const double *key, int64_t degree, int64_t k)
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
    (w->word, ftb_sample_seed(s, r), (uint64_t)ftb_sample_row(s, r), s->stream, 0, degree);
}

/* k times one of the row, with chances as the weights. false: they have no sum. */
static bool choose_again(chooser *w, int64_t r, double *sum, int64_t degree, int64_t *place)
{
    const ftb_sample_product *s = w->s;
    const uint64_t vertex = (uint64_t)ftb_sample_row(s, r), seed = ftb_sample_seed(s, r);
    int64_t last = 0; /* with a weight */
    for (int64_t t = 1; t < degree; t++) {
        last = sum[t] > 0 ? t : last;
        sum[t] += sum[t - 1];
    }
    if (!(sum[degree - 1] < (double)INFINITY))
        return false;
    for (int64_t t = 0; t < s->k; t++) {
        const uint64_t high = ftb_draw(seed, vertex, s->stream, (uint64_t)t, false),
                       more = ftb_draw(seed, vertex, s->stream, (uint64_t)t, true);
        const double aim = (double)((high << 32 | more) >> 11) * 0x1p-53 * sum[degree - 1];
        int64_t first = 0, end = last; /* the first whose sum is beyond `aim` */
        while (first < end) {
            const int64_t middle = first + (end - first) / 2;
            if (sum[middle] > aim)
                end = middle;
            else
                first = middle + 1;
        }
        place[t] = first;
    }
    qsort(place, (size_t)s->k, sizeof *place, by_place);
    return true;
}

static int64_t choose_weighted(chooser *w, int64_t r, double *value, int64_t degree, int64_t *place)
{
    const ftb_sample_product *s = w->s;
    int64_t some = 0;
    for (int64_t t = 0; t < degree; t++)
        some += value[t] > 0;
    if (degree == 0)
        return 0;
    if (some == 0) {
        w->bad_row = r;
        w->bad_entry = ALL_ZERO;
        return 0;
    }
    const int64_t count = s->replace ? s->k : limit(s, some);
    if (count == 0)
        return 0;
    if (s->replace) {
        if (choose_again(w, r, value, degree, place))
            return count;
        w->bad_row = r;
        w->bad_entry = TOO_LARGE;
        return 0;
    }
    draw_words(w, r, degree);
    FTB_PICK(ftb_draw_keys)(value, w->word, value, degree);
    least(place, value, degree, count);
    return count;
}

static int64_t choose_largest(chooser *w, double *value, int64_t degree, int64_t *place)
{
    int64_t numbers = 0;
    for (int64_t t = 0; t < degree; t++) {
        numbers += value[t] == value[t];
        value[t] = -value[t];
    }
    const int64_t count = limit(w->s, numbers);
    least(place, value, degree, count);
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
    const bool all = s->k < 0 || s->k >= degree;
    const uint64_t seed = ftb_random_mix(ftb_sample_seed(s, r), 0, FTB_DRAW_SHARED);
    int64_t count = 0;
    for (int64_t at = 0; at < degree; at += FTB_PICK_ROWS) {
        const int64_t here = ftb_min(degree - at, FTB_PICK_ROWS);
        int64_t column[FTB_PICK_ROWS] = {0};
        uint32_t word[FTB_PICK_ROWS];
        for (int64_t t = 0; t < here; t++)
            column[t] = ftb_col(s->p, begin + at + t);
        if (!all)
            FTB_PICK(ftb_draw_vertices)(word, seed, column, s->stream);
        for (int64_t t = 0; t < here; t++)
            if (all || (unsigned __int128)word[t] * (uint64_t)degree < (unsigned __int128)s->k << 32) {
                if (place)
                    place[count] = at + t;
                count++;
            }
    }
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
    default:
        return choose_labor(w, r, degree, place);
    }
}

/* Whether rows get room for k picks before anybody knows whether so many can be: then keys are looked at
 * once. */
static bool has_room(const ftb_sample_product *s)
{
    return s->selector == FTB_SAMPLE_WEIGHTED || s->selector == FTB_SAMPLE_TOPK;
}

static GrB_Info make_room(const ftb_sample_product *s)
{
    for (int64_t r = 0; r < s->nrows; r++) {
        const int64_t degree = ftb_sample_degree(s, r);
        s->rowptr[r + 1] = s->replace ? (degree > 0 ? s->k : 0) : limit(s, degree);
    }
    ftb_rows_sum(s->rowptr, s->nrows);
    return GrB_SUCCESS;
}

/* Rows move together where some have less than their room. */
static void close_gaps(const ftb_sample_product *s, const int64_t *counts)
{
    const size_t column = ftb_col_size(s->p->ncols);
    int64_t at = 0;
    for (int64_t r = 0; r < s->nrows; r++) {
        const int64_t from = s->rowptr[r];
        if (from != at) {
            memmove(s->entries + at, s->entries + from, (size_t)counts[r] * sizeof *s->entries);
            memmove((char *)s->columns + (size_t)at * column,
                    (const char *)s->columns + (size_t)from * column, (size_t)counts[r] * column);
        }
        s->rowptr[r] = at;
        at += counts[r];
    }
    s->rowptr[s->nrows] = at;
}

/* Decides on a row whose values are there. */
static void choose_row(chooser *w, int64_t r, double *value)
{
    const ftb_sample_product *s = w->s;
    const int64_t begin = s->p->rowptr[ftb_sample_row(s, r)], degree = ftb_sample_degree(s, r);
    w->work += degree + 1;
    for (int64_t t = 0; takes_weights(s) && t < degree; t++)
        if (!(value[t] >= 0 && value[t] < (double)INFINITY)) {
            w->bad_row = r;
            w->bad_entry = begin + t;
            w->bad_value = value[t];
            return;
        }
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
static GrB_Info complain(const ftb_sample_product *s, const chooser *choosers, int threads)
{
    const chooser *first = NULL;
    for (int t = 0; t < threads; t++)
        if (choosers[t].bad_row >= 0 && (!first || choosers[t].bad_row < first->bad_row))
            first = &choosers[t];
    if (!first)
        return ftb_check_cancelled(s->ctx);
    const long long row = (long long)ftb_sample_row(s, first->bad_row);
    if (first->bad_entry < 0)
        return ftb_fail(GrB_INVALID_VALUE, "key: the weights of row %lld of A %s", row,
                        first->bad_entry == ALL_ZERO ? "are all 0; expected one above 0"
                                                     : "have no finite sum; expected smaller ones");
    return ftb_fail(GrB_INVALID_VALUE, "key is %g for A(%lld, %lld); expected a finite number, 0 or more",
                    first->bad_value, row, (long long)ftb_col(s->p, first->bad_entry));
}

GrB_Info ftb_sample_by_keys(const ftb_sample_product *s)
{
    GrB_Info info = GrB_SUCCESS;
    int64_t most = 0, entries = 0;
    if (has_room(s) && !s->entries)
        return make_room(s);
    for (int64_t r = 0; r < s->nrows; r++) {
        most = ftb_max(most, ftb_sample_degree(s, r));
        entries += ftb_sample_degree(s, r);
    }
    const int64_t room = ftb_max(most, ROOM);
    /* A thread has room for the longest row: no more of them than there would be rows of that length. */
    const int threads = s->key
                            ? s->key->nbatches
                            : (int)ftb_min(ftb_threads_for(s->ctx, entries + s->nrows), entries / room + 1);
    const bool valued = s->key || s->values, roomy = has_room(s);
    double *values = valued ? ftb_new(s->ctx, room * threads, sizeof *values) : NULL;
    uint32_t *words = valued ? ftb_new(s->ctx, room * threads, sizeof *words) : NULL;
    chooser *choosers = ftb_new0(s->ctx, threads, sizeof *choosers);
    int64_t *counts = roomy ? ftb_new0(s->ctx, s->nrows, sizeof *counts) : NULL;
    if (!choosers || (roomy && !counts) || (valued && (!values || !words)))
        FTB_CHECK(ftb_nomem());
    if (s->key)
        ftb_map_output(s->key, values, FTB_FP64);
    for (int t = 0; t < threads; t++)
        choosers[t] = (chooser){.s = s, .counts = counts, .bad_row = -1};
    for (int t = 0; valued && t < threads; t++) {
        choosers[t].value = values + t * room;
        choosers[t].word = words + t * room;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < s->nrows; first += ROWS) {
        const int t = omp_get_thread_num();
        if (!ftb_cancelled(s->ctx))
            choose_part(&choosers[t], s->key ? &s->key->batches[t] : NULL, first,
                        ftb_min(s->nrows, first + ROWS), room);
    }
    info = complain(s, choosers, threads);
    if (info == GrB_SUCCESS && !s->entries)
        ftb_rows_sum(s->rowptr, s->nrows);
    if (info == GrB_SUCCESS && counts)
        close_gaps(s, counts);
    for (int t = 0; s->work && s->entries && t < threads; t++)
        *s->work += choosers[t].work;
done:
    ftb_delete(values);
    ftb_delete(words);
    ftb_delete(choosers);
    ftb_delete(counts);
    return info;
}
