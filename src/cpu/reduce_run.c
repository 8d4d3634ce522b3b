/* Rows, columns and all entries reduced by a monoid (reduce_run.h).
 *
 * A row belongs to one thread, and slices of what is reduced as a whole have a fixed size, so that threads
 * cannot show. */
#include "cpu/reduce_run.h"

#include "cpu/block/apply_run.h"
#include "cpu/fold.h"
#include "cpu/reduce.h"

#include <omp.h>

#define PARTS_PER_THREAD 16
#define SLICE (INT64_C(1) << 16) /* values, in reductions to one entry */
#define SLICE_ROWS 64            /* of a block at least: partial results then are few beside what is read */

typedef struct work {
    const ftb_reduce_product *product;
    ftb_fold fold;
    int64_t nrows, ncols; /* of the result */
    void *totals;         /* the product's out, or, to be added to it, our own */
} work;

/* Whether to stop: not once results go where they stay. */
static bool stops(const work *w)
{
    return (w->product->interruptible || w->product->add) && ftb_cancelled(w->product->ctx);
}

static void *total(const work *w, const void *totals, int64_t i)
{
    return (char *)(uintptr_t)totals + (size_t)(i * w->ncols) * FtB_Type_size(w->fold.result);
}

static bool absent(const ftb_reduce_product *r, int64_t i)
{
    return r->what == FTB_REDUCE_PATTERN && r->p->rowptr[i] == r->p->rowptr[i + 1];
}

/* ---- rows */

static void fill_absent(const work *w, int64_t first, int64_t end)
{
    const ftb_reduce_product *r = w->product;
    double fill = 0; /* bytes of the result's type */
    ftb_cast(&fill, r->result, &r->fill, FTB_FP64, 1);
    for (int64_t i = first; i < end; i++)
        if (absent(r, i))
            ftb_fill(total(w, w->totals, i), w->ncols, &fill, FtB_Type_size(r->result));
}

static void fold_pattern(const work *w)
{
    const ftb_reduce_product *r = w->product;
    const ftb_pattern *p = r->p;
    size_t item = r->from ? (size_t)r->width * FtB_Type_size(r->from) : 0;
    int64_t parts = ftb_min((int64_t)w->fold.threads * PARTS_PER_THREAD, ftb_max(p->nrows, 1));
#pragma omp parallel for num_threads(w->fold.threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
        int64_t first = ftb_pattern_cut(p, part, parts);
        int64_t end = ftb_pattern_cut(p, part + 1, parts);
        const ftb_segments rows = {.x = r->x ? (const char *)r->x + (size_t)p->rowptr[first] * item : NULL,
                                   .start = p->rowptr + first,
                                   .nrows = end - first,
                                   .width = r->width,
                                   .ld = r->width};
        if (first == end || stops(w))
            continue;
        ftb_fold_rows(&w->fold, omp_get_thread_num(), &rows, total(w, w->totals, first));
        if (r->fills && !r->add)
            fill_absent(w, first, end);
    }
}

/* Rows (with heads: heads of rows) of a block. */
static void fold_rows(const work *w)
{
    const ftb_reduce_product *r = w->product;
    const int64_t heads = r->heads, width = r->width, ncols = heads * width;
    bool steady = heads == 1 || r->ld == ncols; /* all heads of all rows are one step apart */
    ftb_block_pieces pieces = ftb_pieces_of(r->nrows, ncols, false);
    if (!steady) {
        pieces.rows = 1;
        pieces.count = r->nrows;
    }
#pragma omp parallel for num_threads(w->fold.threads) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        ftb_block_piece at = ftb_piece_at(&pieces, p);
        const ftb_segments rows = {.x =
                                       (const char *)r->x + (size_t)(at.row * r->ld) * FtB_Type_size(r->from),
                                   .nrows = at.nrows * heads,
                                   .count = width,
                                   .step = heads == 1 ? r->ld : width,
                                   .width = 1,
                                   .ld = 1};
        if (!stops(w))
            ftb_fold_rows(&w->fold, omp_get_thread_num(), &rows, total(w, w->totals, at.row));
    }
}

/* ---- everything to one entry */

/* Rows of `width` values, ld apart, reduced slice by slice. */
static GrB_Info fold_slices(const work *w)
{
    const ftb_reduce_product *r = w->product;
    const ftb_fold *f = &w->fold;
    int64_t slice = ftb_max(SLICE_ROWS, SLICE / ftb_max(f->width, 1)), count = r->nrows,
            slices = (count + slice - 1) / slice;
    size_t size = f->from ? FtB_Type_size(f->from) : 0, item = (size_t)f->width * FtB_Type_size(f->result);
    char *partial = ftb_new(f->ctx, slices * f->width, FtB_Type_size(f->result));
    if (!partial)
        return ftb_nomem();
#pragma omp parallel for num_threads(f->threads) schedule(dynamic)
    for (int64_t s = 0; s < slices; s++) {
        const ftb_segments one = {.x = size ? (const char *)r->x + (size_t)(s * slice * r->ld) * size : NULL,
                                  .nrows = 1,
                                  .count = ftb_min(slice, count - s * slice),
                                  .width = f->width,
                                  .ld = r->ld};
        if (!ftb_cancelled(f->ctx))
            ftb_fold_rows(f, omp_get_thread_num(), &one, partial + (size_t)s * item);
    }
    GrB_Info info = ftb_check_cancelled(f->ctx);
    if (info == GrB_SUCCESS)
        ftb_fold_partial(f, partial, slices, w->totals);
    ftb_delete(partial);
    return info;
}

/* ---- all of them */

/* `count` values from row `first`, column `col` on, of rows that have entries. */
static void add_rows(const work *w, int64_t first, int64_t col, int64_t count)
{
    const FtB_Type type = w->product->result;
    const size_t at = (size_t)col * FtB_Type_size(type);
    ftb_monoid_apply(FTB_PLUS, type, (char *)total(w, w->product->out, first) + at,
                     (char *)total(w, w->totals, first) + at, count);
}

/* What was reduced aside is added: rows without entries keep what they have. */
static void add_totals(const work *w)
{
    const ftb_reduce_product *r = w->product;
    const int threads = ftb_threads_for_values(r->ctx, w->nrows * w->ncols);
    const ftb_block_pieces pieces = ftb_pieces_of(w->nrows, w->ncols, true);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        const ftb_block_piece at = ftb_piece_at(&pieces, p);
        const int64_t last = at.row + at.nrows;
        for (int64_t first = at.row, end; first < last; first = end) {
            const bool gone = absent(r, first);
            for (end = first + 1; end < last && absent(r, end) == gone;)
                end++;
            if (!gone)
                add_rows(w, first, at.col, (end - first - 1) * w->ncols + at.ncols);
        }
    }
}

static int threads_for(const ftb_reduce_product *r)
{
    if (r->what == FTB_REDUCE_ALL)
        return ftb_threads_for(r->ctx, r->nrows);
    if (r->what == FTB_REDUCE_PATTERN)
        return ftb_threads_for_values(r->ctx, r->p->nvals + r->p->nrows);
    return ftb_threads_for_values(r->ctx, r->nrows * r->heads * r->width);
}

static GrB_Info reduce(work *w)
{
    const ftb_reduce_product *r = w->product;
    GrB_Info info = GrB_SUCCESS;
    if (r->what == FTB_REDUCE_PATTERN)
        fold_pattern(w);
    else if (r->what == FTB_REDUCE_ROWS)
        fold_rows(w);
    else
        info = fold_slices(w);
    if (info == GrB_SUCCESS && (r->interruptible || r->add))
        info = ftb_check_cancelled(r->ctx);
    return info;
}

GrB_Info ftb_reduce_run(const ftb_reduce_product *r)
{
    work w = {.product = r, .totals = r->out};
    void *own = NULL;
    w.nrows = r->what == FTB_REDUCE_PATTERN ? r->p->nrows : r->what == FTB_REDUCE_ROWS ? r->nrows : 1;
    w.ncols = r->what == FTB_REDUCE_ROWS      ? r->heads
              : r->what == FTB_REDUCE_COLUMNS ? r->heads * r->width
                                              : r->width;
    GrB_Info info = ftb_fold_begin(&w.fold, r, r->what == FTB_REDUCE_ROWS ? 1 : w.ncols, threads_for(r));
    if (info == GrB_SUCCESS && r->add) {
        w.totals = own = ftb_new(r->ctx, w.nrows * w.ncols, FtB_Type_size(r->result));
        info = own ? GrB_SUCCESS : ftb_nomem();
    }
    if (info == GrB_SUCCESS)
        info = reduce(&w);
    if (info == GrB_SUCCESS && r->add)
        add_totals(&w);
    ftb_delete(own);
    ftb_fold_end(&w.fold);
    return info;
}
