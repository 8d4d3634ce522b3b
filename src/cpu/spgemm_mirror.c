/* Full rows of a symmetric product C = C' at half the products: the upper triangle is computed and
 * retained, then row i is emitted as the entries (j, i) of earlier rows followed by its own (i, j).
 *
 * A retained row is its columns, in 16 bits where they fit, then its values, in blocks that get huge pages:
 * fresh pages, which the kernel clears, are what retaining costs (0.25 to 4 s per GB). Rows of a chunk find
 * their entries in earlier rows through one cursor per earlier row and thread, which only moves forward
 * because a thread's chunks ascend. If the triangle outgrows the memory limit, the caller starts again with
 * full rows; nothing has been delivered by then. */
#include "cpu/spgemm_run.h"

#define BLOCK_BYTES (INT64_C(16) << 20)
#define AHEAD 8 /* earlier rows whose entries are fetched: a run of some dozens in each */
#define INLINE static inline __attribute__((always_inline))

typedef struct block { /* rows follow */
    struct block *before;
} block;

typedef struct pool { /* of a thread */
    _Alignas(FTB_LINE) block *last;
    char *at; /* free bytes of the last block */
    int64_t left;
    uint32_t *lower; /* entries (j, i) with j < i of each row, among this thread's rows j */
    GrB_Info info;
} pool;

typedef struct gatherer {
    _Alignas(FTB_LINE) int64_t *cursor; /* per row: first retained entry not yet passed */
    int64_t row0, row1;                 /* rows gathered */
    int64_t *fill;                      /* row1 - row0 + 1: where each row's lower entries are */
    int32_t *cols;
    char *values;
    int64_t room, rows_room;
} gatherer;

typedef struct retained {
    const ftb_spgemm_form *form;
    FtB_Sink sink;
    size_t value;        /* bytes of a retained entry */
    size_t lower_value;  /* bytes of it that (j, i) needs, at its end */
    bool narrow;         /* counts are retained in 32 bits */
    bool id16;           /* columns in 16 */
    int64_t block_bytes; /* of rows */
    char **row;          /* columns, then from the next multiple of 8 bytes values */
    int64_t *count;
    int64_t *lower; /* entries (j, i) with j < i of each row */
    const ftb_spgemm_chunks *schedule;
    pool *pool;         /* per thread */
    gatherer *gatherer; /* per thread */
} retained;

static int64_t values_at(const retained *r, int64_t n) { return (n * (r->id16 ? 2 : 4) + 7) & ~INT64_C(7); }

INLINE int64_t column_at(const char *row, bool id16, int64_t e)
{
    return id16 ? ((const uint16_t *)(const void *)row)[e] : ((const int32_t *)(const void *)row)[e];
}

/* ---- first half: compute and retain */

static char *reserve(const retained *r, pool *own, int64_t bytes)
{
    const int64_t head = 64;
    bytes = (bytes + 7) & ~INT64_C(7);
    if (own->info != GrB_SUCCESS)
        return NULL;
    if (bytes > own->left) {
        int64_t room = ftb_max(bytes, r->block_bytes);
        block *b = ftb_new(r->form->product->ctx, head + room, 1);
        if (!b) {
            own->info = ftb_nomem();
            return NULL;
        }
        b->before = own->last;
        own->last = b;
        own->at = (char *)b + head;
        own->left = room;
    }
    char *at = own->at;
    own->at += bytes;
    own->left -= bytes;
    return at;
}

static int64_t retain_row(void *state, ftb_worker *w, int64_t i, void *cols, void *values)
{
    const retained *r = state;
    pool *own = &r->pool[w->number];
    int64_t n = ftb_worker_row(w, i, cols, values);
    char *row = n > 0 ? reserve(r, own, values_at(r, n) + n * (int64_t)r->value) : NULL;
    if (!row)
        return 0; /* empty, or a failure that check_pool reports */
    const int32_t *from = cols;
    char *to = row + values_at(r, n);
    r->row[i] = row;
    r->count[i] = n;
    if (r->id16)
        for (int64_t e = 0; e < n; e++)
            ((uint16_t *)(void *)row)[e] = (uint16_t)from[e];
    else
        memcpy(row, from, (size_t)n * sizeof *from);
    if (r->narrow)
        for (int64_t e = 0; e < n; e++)
            ((uint32_t *)(void *)to)[e] = (uint32_t)((const int64_t *)values)[e];
    else
        memcpy(to, values, (size_t)n * r->value);
    for (int64_t e = from[0] == i; e < n; e++)
        own->lower[from[e]]++;
    return 0; /* the next row takes its place in the chunk, which stays in cache */
}

static GrB_Info check_pool(void *state, ftb_worker *w, const ftb_chunk *chunk)
{
    const retained *r = state;
    (void)chunk;
    return r->pool[w->number].info;
}

/* ---- second half: gather, finish, deliver */

static GrB_Info make_gatherer(gatherer *g, const retained *r, const ftb_spgemm_chunks *schedule)
{
    FtB_Context ctx = r->form->product->ctx;
    g->rows_room = schedule->rows;
    for (int64_t c = 0; c < schedule->count; c++) {
        int64_t room = 0;
        for (int64_t i = schedule->row[c]; i < schedule->row[c + 1]; i++)
            room += r->lower[i];
        g->room = ftb_max(g->room, room);
    }
    g->cursor = ftb_new(ctx, r->form->p.nrows, sizeof *g->cursor);
    g->fill = ftb_new(ctx, g->rows_room + 2, sizeof *g->fill);
    g->cols = ftb_new(ctx, g->room, sizeof *g->cols);
    g->values = ftb_new(ctx, g->room, r->lower_value);
    if (!g->cursor || !g->fill || !g->cols || !g->values)
        return ftb_nomem();
    for (int64_t j = 0; j < r->form->p.nrows; j++) /* past the diagonal */
        g->cursor[j] = r->count[j] > 0 && column_at(r->row[j], r->id16, 0) == j;
    return GrB_SUCCESS;
}

static void free_gatherer(gatherer *g)
{
    ftb_delete(g->cursor);
    ftb_delete(g->fill);
    ftb_delete(g->cols);
    ftb_delete(g->values);
}

/* First entry of row j at or after `at` with a column from i up: doubling, then halving. */
static int64_t seek(const char *row, bool id16, int64_t at, int64_t count, int64_t i)
{
    int64_t step = 1, lo = at;
    while (lo + step < count && column_at(row, id16, lo + step) < i) {
        lo += step;
        step *= 2;
    }
    int64_t hi = ftb_min(lo + step, count);
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (column_at(row, id16, mid) < i)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The entries of earlier row j with columns in [row0, row1) to their rows; `size` bytes of each value. */
INLINE void gather_row(const retained *r, gatherer *g, int64_t j, bool id16, size_t size)
{
    const char *row = r->row[j];
    int64_t count = r->count[j], e = g->cursor[j], row0 = g->row0, row1 = g->row1;
    const size_t value = r->value;
    const char *values = row + values_at(r, count) + (value - size);
    if (e < count && column_at(row, id16, e) < row0)
        e = seek(row, id16, e, count, row0);
    for (; e < count; e++) {
        int64_t i = column_at(row, id16, e);
        if (i >= row1)
            break;
        int64_t to = g->fill[i - row0]++;
        g->cols[to] = (int32_t)j;
        memcpy(g->values + (size_t)to * size, values + (size_t)e * value, size);
    }
    g->cursor[j] = e;
}

/* Each row is read where its cursor is: too few entries at a time for the hardware to fetch them early. */
static void prefetch_row(const retained *r, const gatherer *g, int64_t j)
{
    int64_t e = g->cursor[j];
    if (e >= r->count[j])
        return;
    const char *ids = r->row[j] + (size_t)e * (r->id16 ? 2 : 4),
               *values = r->row[j] + values_at(r, r->count[j]) + (size_t)e * r->value;
    for (int line = 0; line < 3; line++)
        __builtin_prefetch(ids + 64 * line);
    for (int line = 0; line < 12; line++)
        __builtin_prefetch(values + 64 * line);
}

/* Collects the entries (j, i), j < i, of rows [row0, row1). */
static void gather(const retained *r, gatherer *g, int64_t row0, int64_t row1)
{
    int64_t n = 0;
    g->row0 = row0;
    g->row1 = row1;
    for (int64_t i = row0; i < row1; i++) {
        g->fill[i - row0] = n;
        n += r->lower[i];
    }
    for (int64_t j = 0; j < row1; j++) {
        if (j + AHEAD < row1)
            prefetch_row(r, g, j + AHEAD);
        if (r->count[j] == 0)
            continue;
        if (r->id16 && r->lower_value == 4)
            gather_row(r, g, j, true, 4);
        else if (r->id16 && r->lower_value == 8)
            gather_row(r, g, j, true, 8);
        else if (r->lower_value == 4)
            gather_row(r, g, j, r->id16, 4);
        else
            gather_row(r, g, j, r->id16, r->lower_value);
    }
    for (int64_t i = row1 - 1; i >= row0; i--) /* fill[] points behind each row: back to its start */
        g->fill[i - row0] -= r->lower[i];
}

/* n items of `size` bytes, `stride` bytes apart. */
INLINE void pick_items(char *to, const char *from, int64_t n, size_t size, size_t stride)
{
    for (int64_t e = 0; e < n; e++)
        memcpy(to + (size_t)e * size, from + (size_t)e * stride, size);
}

/* n retained values as entries of h from `at` on; those of earlier rows are read as (j, i). */
static void put_values(const retained *r, char *h, int64_t at, const char *values, int64_t n, bool earlier)
{
    const ftb_spgemm_form *form = r->form;
    const size_t size = FtB_Type_size(form->product->sum_type), width = (size_t)form->product->width;
    if (form->dual && !earlier) { /* of pairs (i, j), (j, i) the first */
        if (size == 4)
            pick_items(h + (size_t)at * 4, values, n, 4, 8);
        else
            pick_items(h + (size_t)at * size, values, n, size, r->value);
    } else if (earlier && !form->dual && width > 1) {
        for (int64_t e = 0; e < n; e++)
            for (size_t c = 0; c < width; c++)
                memcpy(h + ((size_t)(at + e) * width + c) * size,
                       values + ((size_t)e * width + (c < 8 ? (size_t)form->product->swap[c] : c)) * size,
                       size);
    } else if (r->narrow) {
        for (int64_t e = 0; e < n; e++)
            ((int64_t *)(void *)h)[at + e] = ((const uint32_t *)(const void *)values)[e];
    } else {
        memcpy(h + (size_t)at * size * width, values, (size_t)n * size * width);
    }
}

static void put_columns(const retained *r, int32_t *cols, const char *row, int64_t n)
{
    if (r->id16)
        for (int64_t e = 0; e < n; e++)
            cols[e] = ((const uint16_t *)(const void *)row)[e];
    else
        memcpy(cols, row, (size_t)n * sizeof *cols);
}

static int64_t make_full(void *state, ftb_worker *w, int64_t i, void *cols, void *values)
{
    retained *r = state;
    gatherer *g = &r->gatherer[w->number];
    if (r->form->product->keep_rows &&
        !r->form->product->keep_rows[i]) /* its own half is empty, not what others share with it */
        return 0;
    if (i < g->row0 || i >= g->row1) {
        int64_t c = 0, hi = r->schedule->count;
        while (hi - c > 1) {
            int64_t mid = (c + hi) / 2;
            if (r->schedule->row[mid] <= i)
                c = mid;
            else
                hi = mid;
        }
        gather(r, g, r->schedule->row[c], r->schedule->row[c + 1]);
    }
    int64_t below = r->lower[i], own = r->count[i], from = g->fill[i - g->row0];
    char *h = r->form->product->finish.epilogue ? w->h : values;
    memcpy(cols, g->cols + from, (size_t)below * sizeof *g->cols);
    put_values(r, h, 0, g->values + (size_t)from * r->lower_value, below, true);
    if (own > 0) {
        put_columns(r, (int32_t *)cols + below, r->row[i], own);
        put_values(r, h, below, r->row[i] + values_at(r, own), own, false);
    }
    return ftb_finish_row(w->finisher, i, below + own, cols, h, values);
}

static GrB_Info deliver_full(void *state, const ftb_chunk *chunk)
{
    const retained *r = state;
    const ftb_finish *finish = &r->form->product->finish;
    FtB_Rows rows = {.row0 = chunk->row0,
                     .nrows = chunk->nrows,
                     .ncols = r->form->p.ncols,
                     .rowptr = chunk->rowptr,
                     .colidx = chunk->cols,
                     .values = chunk->values,
                     .type = finish->out_type,
                     .width = finish->out_width};
    return ftb_sink_rows(r->sink, &rows);
}

/* Now that full rows are known, chunks are cut by their entries. */
static GrB_Info schedule_full(ftb_spgemm_chunks *s, const retained *r)
{
    int64_t nrows = r->form->p.nrows;
    int64_t *full = ftb_new(r->form->product->ctx, nrows, sizeof *full);
    if (!full)
        return ftb_nomem();
    for (int64_t i = 0; i < nrows; i++)
        full[i] = r->lower[i] + r->count[i];
    GrB_Info info = ftb_spgemm_chunks_make(s, r->form, full);
    ftb_delete(full);
    return info;
}

static GrB_Info emit_full(retained *r)
{
    const ftb_spgemm_form *form = r->form;
    int threads = form->plan.threads;
    ftb_spgemm_chunks schedule = {0};
    GrB_Info info = schedule_full(&schedule, r);
    if (info != GrB_SUCCESS)
        return info;
    r->schedule = &schedule;
    r->gatherer = ftb_new0(form->product->ctx, threads, sizeof *r->gatherer);
    if (!r->gatherer) {
        info = ftb_nomem();
        goto done;
    }
    for (int t = 0; t < threads; t++)
        FTB_CHECK(make_gatherer(&r->gatherer[t], r, &schedule));
    ftb_pipeline line = {.form = form,
                         .schedule = &schedule,
                         .make = make_full,
                         .deliver = deliver_full,
                         .state = r,
                         .type = form->product->finish.out_type,
                         .width = form->product->finish.out_width};
    info = ftb_pipeline_run(&line);
done:
    for (int t = 0; r->gatherer && t < threads; t++)
        free_gatherer(&r->gatherer[t]);
    ftb_delete(r->gatherer);
    r->gatherer = NULL;
    r->schedule = NULL;
    ftb_spgemm_chunks_free(&schedule);
    return info;
}

static void free_retained(retained *r)
{
    for (int t = 0; r->pool && t < r->form->plan.threads; t++) {
        for (block *b = r->pool[t].last; b;) {
            block *before = b->before;
            ftb_delete(b);
            b = before;
        }
        ftb_delete(r->pool[t].lower);
    }
    ftb_delete(r->pool);
    ftb_delete(r->row);
    ftb_delete(r->count);
    ftb_delete(r->lower);
}

static GrB_Info make_retained(retained *r)
{
    const ftb_spgemm_form *form = r->form;
    FtB_Context ctx = form->product->ctx;
    int64_t nrows = form->p.nrows, most = 0;
    for (int64_t i = 0; i < nrows; i++)
        most += ftb_min(form->row_products[i], form->p.nids);
    r->block_bytes = ftb_min(most, BLOCK_BYTES / (int64_t)(r->value + 4)) * (int64_t)(r->value + 4);
    r->row = ftb_new0(ctx, nrows, sizeof *r->row);
    r->count = ftb_new0(ctx, nrows, sizeof *r->count);
    r->lower = ftb_new0(ctx, nrows, sizeof *r->lower);
    r->pool = ftb_new0(ctx, form->plan.threads, sizeof *r->pool);
    if (!r->row || !r->count || !r->lower || !r->pool)
        return ftb_nomem();
    for (int t = 0; t < form->plan.threads; t++) {
        r->pool[t].lower = ftb_new0(ctx, nrows, sizeof *r->pool[t].lower);
        if (!r->pool[t].lower)
            return ftb_nomem();
    }
    return GrB_SUCCESS;
}

/* Counts keep 32 bits. */
static bool retains_counts(const ftb_spgemm_product *product)
{
    return product->p.message == FTB_MESSAGE_PAIR && !product->constant;
}

static bool retains_id16(const ftb_spgemm_product *product) { return product->p.ncols <= 65536; }

int64_t ftb_mirror_entry_bytes(const ftb_spgemm_product *product)
{
    int64_t values = product->dual_table ? 2 : product->width;
    return (retains_id16(product) ? 2 : 4) +
           (retains_counts(product) ? 4 : (int64_t)FtB_Type_size(product->sum_type) * values);
}

GrB_Info ftb_spgemm_form_run_mirror(const ftb_spgemm_form *form, const ftb_spgemm_chunks *schedule,
                                    FtB_Sink sink, bool *delivered)
{
    retained r = {.form = form,
                  .sink = sink,
                  .narrow = retains_counts(form->product),
                  .id16 = retains_id16(form->product)};
    int64_t width = form->dual ? 2 : form->product->width;
    r.value = r.narrow ? 4 : FtB_Type_size(form->product->sum_type) * (size_t)width;
    r.lower_value = form->dual ? r.value / 2 : r.value;
    GrB_Info info = make_retained(&r);
    if (info != GrB_SUCCESS)
        goto done;
    ftb_pipeline line = {.form = form,
                         .schedule = schedule,
                         .make = retain_row,
                         .chunk = check_pool,
                         .state = &r,
                         .type = form->product->sum_type,
                         .width = width,
                         .counts = true};
    info = ftb_pipeline_run(&line);
    if (info != GrB_SUCCESS)
        goto done;
    for (int t = 0; t < form->plan.threads; t++)
        for (int64_t i = 0; i < form->p.nrows; i++)
            r.lower[i] += r.pool[t].lower[i];
    *delivered = true;
    info = emit_full(&r);
done:
    free_retained(&r);
    return info;
}
