/* Which entries of a matrix stay (keep_run.h).
 *
 * The k-th largest value of a row comes from a heap of k keys, integers that are ordered as the values are:
 * O(n + k log k log(n/k)) for a row of n entries in random order, n log k at worst. */
#include "cpu/entries/keep_run.h"

#include <omp.h>

#define ROWS_PER_PART 256

int64_t ftb_rows_sum(int64_t *rowptr, int64_t nrows)
{
    rowptr[0] = 0;
    for (int64_t i = 0; i < nrows; i++)
        rowptr[i + 1] += rowptr[i];
    return rowptr[nrows];
}

int64_t ftb_row_at(const int64_t *rowptr, int64_t nrows, int64_t entry)
{
    int64_t first = 0, end = nrows; /* rowptr[first] <= entry < rowptr[end] */
    while (first + 1 < end) {
        const int64_t middle = first + (end - first) / 2;
        if (rowptr[middle] <= entry)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* ---- keeping entries */

static int threads_for(FtB_Context ctx, const ftb_pattern *p)
{
    return ftb_threads_for(ctx, p->nvals + p->nrows);
}

int64_t ftb_keep_admitted(FtB_Context ctx, uint8_t *keep, const ftb_mask *mask, int64_t nvals)
{
    int64_t count = 0;
#pragma omp parallel for num_threads(ftb_threads_for(ctx, nvals)) reduction(+ : count)
    for (int64_t e = 0; e < nvals; e++)
        count += keep[e] = ftb_mask_admits(mask, e);
    return count;
}

int64_t ftb_keep_count(const ftb_kept *w)
{
    const ftb_pattern *p = w->p;
#pragma omp parallel for num_threads(threads_for(w->ctx, p)) schedule(dynamic, ROWS_PER_PART)
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t count = 0;
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            count += w->keep[e] != 0;
        w->rowptr[i + 1] = count;
    }
    return ftb_rows_sum(w->rowptr, p->nrows);
}

static void keep_row(const ftb_kept *w, int64_t i)
{
    int64_t at = w->rowptr[i];
    const char *columns = w->p->colidx;
    const size_t column = ftb_col_size(w->p->ncols);
    for (int64_t e = w->p->rowptr[i]; e < w->p->rowptr[i + 1]; e++)
        if (w->keep[e]) {
            memcpy((char *)w->colidx + (size_t)at * column, columns + (size_t)e * column, column);
            if (w->entry)
                memcpy((char *)w->values + (size_t)at * w->entry,
                       (const char *)w->old_values + (size_t)e * w->entry, w->entry);
            at++;
        }
}

void ftb_keep_fill(const ftb_kept *w)
{
#pragma omp parallel for num_threads(threads_for(w->ctx, w->p)) schedule(dynamic, ROWS_PER_PART)
    for (int64_t i = 0; i < w->p->nrows; i++)
        keep_row(w, i);
}

/* ---- top k */

/* A thread's scratch memory. */
typedef struct chooser {
    _Alignas(FTB_LINE) FtB_Type compute;
    uint64_t keys[FTB_BATCH];
    double values[FTB_BATCH]; /* of any compute type */
    uint64_t *heap;           /* the k largest keys so far, the least on top */
} chooser;

#define SIGN UINT64_C(0x8000000000000000)

/* Keys of values, ordered as they are; equal values have equal keys; 0: NaN, or nothing less exists. */
static void make_keys(chooser *c, const ftb_entries *A, int64_t first, int64_t count)
{
    const char *from = A->values;
    const int64_t *integers = (const int64_t *)(const void *)c->values;
    FtB_Type to = c->compute == FTB_FP32 ? FTB_FP64 : c->compute == FTB_BOOL ? FTB_UINT64 : c->compute;
    ftb_cast(c->values, to, from + (size_t)first * FtB_Type_size(A->type), A->type, count);
    for (int64_t t = 0; t < count; t++) {
        if (to == FTB_FP64) {
            double value = c->values[t] + 0.0; /* -0 becomes 0 */
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            c->keys[t] = value != value ? 0 : bits & SIGN ? ~bits : bits | SIGN;
        } else {
            c->keys[t] = (uint64_t)integers[t] ^ (to == FTB_INT64 ? SIGN : 0);
        }
    }
}

/* Puts `key` in place of the least of n keys. */
static void sift(uint64_t *heap, int64_t n, uint64_t key)
{
    int64_t at = 0;
    for (int64_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= key)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = key;
}

/* Marks the k largest of entries first .. end - 1. */
static void choose(chooser *c, const ftb_entries *A, int64_t k, int64_t first, int64_t end, uint8_t *keep)
{
    bool real = ftb_type_float(c->compute);
    int64_t numbers = 0;
    for (int64_t t = 0; t < k; t++)
        c->heap[t] = 0; /* below every number, or equal to the least integer: of which any do */
    for (int64_t e = first; e < end; e += FTB_BATCH) {
        int64_t count = ftb_min(end - e, FTB_BATCH);
        make_keys(c, A, e, count);
        for (int64_t t = 0; t < count; t++) {
            numbers += !real || c->keys[t] != 0;
            if (c->keys[t] > c->heap[0])
                sift(c->heap, k, c->keys[t]);
        }
    }
    uint64_t least = c->heap[0];
    int64_t ties = ftb_min(k, numbers);
    for (int64_t t = 0; t < k; t++)
        ties -= c->heap[t] > least; /* so many of the entries that equal the least are chosen */
    for (int64_t e = first; e < end; e += FTB_BATCH) {
        int64_t count = ftb_min(end - e, FTB_BATCH);
        make_keys(c, A, e, count);
        for (int64_t t = 0; t < count; t++) {
            bool number = !real || c->keys[t] != 0, tie = number && c->keys[t] == least && ties > 0;
            keep[e + t] = (number && c->keys[t] > least) || tie;
            ties -= tie;
        }
    }
}

static void choose_row(chooser *c, const ftb_entries *A, int64_t k, int64_t i, uint8_t *keep)
{
    int64_t first = A->p->rowptr[i], end = A->p->rowptr[i + 1], all = ftb_min(k, end - first);
    bool real = A->width > 0 && ftb_type_float(A->type);
    if (all == 0 || A->width == 0 || (all == end - first && !real)) { /* nothing to compare */
        memset(keep + first, 0, (size_t)(end - first));
        memset(keep + first, 1, (size_t)all);
    } else {
        choose(c, A, all, first, end, keep);
    }
}

GrB_Info ftb_keep_topk(FtB_Context ctx, uint8_t *keep, const ftb_entries *A, int64_t k)
{
    const ftb_pattern *p = A->p;
    int threads = threads_for(ctx, p);
    int64_t longest = 0;
    for (int64_t i = 0; i < p->nrows; i++)
        longest = ftb_max(longest, p->rowptr[i + 1] - p->rowptr[i]);
    int64_t room = ftb_min(k, longest);
    chooser *choosers = ftb_new(ctx, threads, sizeof *choosers);
    uint64_t *heaps = room <= INT64_MAX / threads ? ftb_new(ctx, room * threads, sizeof *heaps) : NULL;
    GrB_Info info = choosers && heaps ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
        for (int t = 0; t < threads; t++) {
            choosers[t].compute = ftb_type_compute(A->type);
            choosers[t].heap = heaps + t * room;
        }
#pragma omp parallel for num_threads(threads) schedule(dynamic, ROWS_PER_PART)
        for (int64_t i = 0; i < p->nrows; i++)
            if (!ftb_cancelled(ctx))
                choose_row(&choosers[omp_get_thread_num()], A, k, i, keep);
        info = ftb_check_cancelled(ctx);
    }
    ftb_delete(choosers);
    ftb_delete(heaps);
    return info;
}
