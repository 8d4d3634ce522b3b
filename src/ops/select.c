/* C<M> = accum(C, some entries of A): those whose expression is not zero, or the k largest of each row.
 *
 * Both decide a byte per entry first, then keep in one more pass. The k-th largest value of a row comes
 * from a heap of k keys, integers that are ordered as the values are: O(n + k log k log(n/k)) for a row
 * of n entries in random order, n log k at worst. */
#include "ops/call.h"

#include <omp.h>

/* The slots' macros are for callers: these are the functions. */
#undef FtB_select
#undef FtB_select_topk

/* ---- keeping entries */

#define ROWS_PER_PART 256

typedef struct keeper {
    const ftb_pattern *p;
    const uint8_t *keep;
    int64_t *rowptr;
    char *colidx, *values;
    const char *old_values;
    size_t column, entry; /* bytes */
} keeper;

static void keep_row(const keeper *w, int64_t i)
{
    int64_t at = w->rowptr[i];
    const char *columns = w->p->colidx;
    for (int64_t e = w->p->rowptr[i]; e < w->p->rowptr[i + 1]; e++)
        if (w->keep[e]) {
            memcpy(w->colidx + (size_t)at * w->column, columns + (size_t)e * w->column, w->column);
            if (w->entry)
                memcpy(w->values + (size_t)at * w->entry, w->old_values + (size_t)e * w->entry, w->entry);
            at++;
        }
}

GrB_Info ftb_keep(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A, const uint8_t *keep)
{
    ftb_pattern *p = A->pattern, *pattern;
    int threads = ftb_threads_for(ctx, p->nvals + p->nrows);
    ftb_buffer *rowptr = ftb_buffer_new(ctx, p->nrows + 1, sizeof(int64_t)), *colidx = NULL, *values = NULL;
    GrB_Info info = GrB_SUCCESS;
    *T = NULL;
    if (!rowptr)
        return ftb_nomem();
    keeper w = {.p = p, .keep = keep, .rowptr = ftb_buffer_data(rowptr), .column = ftb_col_size(p->ncols)};
#pragma omp parallel for num_threads(threads) schedule(dynamic, ROWS_PER_PART)
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t count = 0;
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            count += keep[e] != 0;
        w.rowptr[i + 1] = count;
    }
    int64_t nvals = ftb_rows_sum(w.rowptr, p->nrows);
    colidx = ftb_buffer_new(ctx, nvals, w.column);
    if (!colidx || (A->width > 0 && !(values = ftb_values_new(ctx, nvals, A->width, A->type))))
        FTB_CHECK(ftb_nomem());
    w.colidx = ftb_buffer_data(colidx);
    if (values) {
        w.values = ftb_buffer_data(values);
        w.old_values = ftb_values(A);
        w.entry = (size_t)A->width * FtB_Type_size(A->type);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, ROWS_PER_PART)
    for (int64_t i = 0; i < p->nrows; i++)
        keep_row(&w, i);
    pattern = ftb_pattern_new(ctx, p->nrows, p->ncols, rowptr, colidx);
    rowptr = colidx = NULL;
    if (pattern)
        pattern->multi = p->multi;
    info = ftb_matrix_make(T, ctx, A->type, A->width, pattern, values);
    values = NULL;
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_buffer_release(values);
    return info;
}

/* ---- select by expression */

GrB_Info FtB_select(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc)
{
    ftb_call call;
    ftb_map *map = NULL;
    FtB_Matrix T = NULL;
    uint8_t *keep = NULL;
    const ftb_slots slots = {.C = C, .M = M, .accum = accum, .op = op, .A = A, .desc = desc, .has_op = true};
    GrB_Info info = ftb_call_begin(&call, &slots);
    if (info != GrB_SUCCESS)
        goto done;
    int threads = ftb_threads_for(call.ctx, call.A->pattern->nvals);
    ftb_map_input x = ftb_map_entries(call.A);
    FTB_CHECK(ftb_map_new(&map, call.ctx, call.op, &x, NULL, call.A->pattern, threads));
    FTB_CHECK(ftb_map_check_rows(map, call.A->pattern->nrows, call.A->pattern->ncols));
    if (map->width != 1)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH,
                           "op gives %lld values per entry; expected one, zero or not",
                           (long long)map->width));
    FTB_CHECK(ftb_write_check(call.C, call.M, &call.flags, call.accum, call.A->type, call.A->width));
    keep = ftb_new(call.ctx, call.A->pattern->nvals, 1);
    if (!keep)
        FTB_CHECK(ftb_nomem());
    ftb_map_output(map, keep, FTB_BOOL);
    FTB_CHECK(ftb_map_run(map, call.A, threads));
    FTB_CHECK(ftb_keep(&T, call.ctx, call.A, keep));
    FTB_CHECK(ftb_write(call.C, call.M, &call.flags, call.accum, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    ftb_delete(keep);
    ftb_map_delete(map);
    return ftb_call_end(&call, info);
}

/* ---- top k */

/* A thread's scratch memory. */
typedef struct chooser {
    FtB_Type compute;
    uint64_t keys[FTB_BATCH];
    double values[FTB_BATCH]; /* of any compute type */
    uint64_t *heap;           /* the k largest keys so far, the least on top */
} chooser;

#define SIGN UINT64_C(0x8000000000000000)

/* Keys of values, ordered as they are; equal values have equal keys; 0: NaN, or nothing less exists. */
static void make_keys(chooser *c, FtB_Matrix A, int64_t first, int64_t count)
{
    const char *from = ftb_values(A);
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
static void choose(chooser *c, FtB_Matrix A, int64_t k, int64_t first, int64_t end, uint8_t *keep)
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

static void choose_row(chooser *c, FtB_Matrix A, int64_t k, int64_t i, uint8_t *keep)
{
    int64_t first = A->pattern->rowptr[i], end = A->pattern->rowptr[i + 1], all = ftb_min(k, end - first);
    bool real = A->width > 0 && ftb_type_float(A->type);
    if (all == 0 || A->width == 0 || (all == end - first && !real)) { /* nothing to compare */
        memset(keep + first, 0, (size_t)(end - first));
        memset(keep + first, 1, (size_t)all);
    } else {
        choose(c, A, all, first, end, keep);
    }
}

static GrB_Info choose_all(FtB_Context ctx, FtB_Matrix A, int64_t k, uint8_t *keep)
{
    const ftb_pattern *p = A->pattern;
    int threads = ftb_threads_for(ctx, p->nvals + p->nrows);
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

GrB_Info FtB_select_topk(FtB_Arg C, FtB_Arg M, FtB_Arg accum, int64_t k, FtB_Arg A, FtB_Arg desc)
{
    ftb_call call;
    FtB_Matrix T = NULL;
    uint8_t *keep = NULL;
    const ftb_slots slots = {.C = C, .M = M, .accum = accum, .A = A, .desc = desc};
    GrB_Info info = ftb_call_begin(&call, &slots);
    if (info != GrB_SUCCESS)
        goto done;
    if (k < 0)
        FTB_CHECK(ftb_fail(GrB_INVALID_VALUE, "k is %lld; expected 0 or more", (long long)k));
    if (call.A->width > 1)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH,
                           "entries of A have width %lld, which has no order; expected 0 or 1",
                           (long long)call.A->width));
    FTB_CHECK(ftb_write_check(call.C, call.M, &call.flags, call.accum, call.A->type, call.A->width));
    keep = ftb_new(call.ctx, call.A->pattern->nvals, 1);
    if (!keep)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(choose_all(call.ctx, call.A, k, keep));
    FTB_CHECK(ftb_keep(&T, call.ctx, call.A, keep));
    FTB_CHECK(ftb_write(call.C, call.M, &call.flags, call.accum, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    ftb_delete(keep);
    return ftb_call_end(&call, info);
}
