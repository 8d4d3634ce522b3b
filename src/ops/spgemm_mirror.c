/* Full rows of a symmetric product C = C' at half the products: the upper triangle is computed and
 * retained, then row i is emitted as the entries (j, i) of earlier rows followed by its own (i, j).
 *
 * Rows of a chunk find their entries in earlier rows through one cursor per earlier row and thread, which
 * only moves forward because a thread's chunks ascend. If the triangle outgrows the memory limit, the
 * caller starts again with full rows; nothing has been delivered by then. */
#include "ops/spgemm.h"

typedef struct retained {
    ftb_product *product;
    FtB_Sink sink;
    size_t value;   /* bytes of a retained entry */
    bool narrow;    /* counts are retained in 32 bits */
    int64_t *start; /* per row, into its chunk's arrays */
    int64_t *count;
    int64_t *chunk_of;
    int64_t nchunks;
    int32_t **cols; /* per chunk, exactly filled */
    char **values;
    int64_t *lower; /* entries (j, i) with j < i of each row */
    const ftb_schedule *schedule;
    struct gatherer *gatherer; /* per thread */
} retained;

typedef struct gatherer {
    int64_t *cursor;    /* per row: first retained entry not yet passed */
    int64_t row0, row1; /* rows gathered */
    int64_t *fill;      /* row1 - row0 + 1: where each row's lower entries are */
    int32_t *cols;
    char *values;
    int64_t room, rows_room;
} gatherer;

/* ---- first half: compute and retain */

static int64_t make_half(void *state, ftb_worker *w, int64_t i, void *cols, void *values)
{
    (void)state;
    return ftb_worker_row(w, i, cols, values);
}

static GrB_Info retain_chunk(void *state, ftb_worker *w, const ftb_chunk *chunk)
{
    retained *r = state;
    (void)w;
    FtB_Context ctx = r->product->ctx;
    int64_t at = -1, lo = 0, hi = r->schedule->count;
    while (hi - lo > 1) { /* the chunk's number */
        int64_t mid = (lo + hi) / 2;
        if (r->schedule->row[mid] <= chunk->row0)
            lo = mid;
        else
            hi = mid;
    }
    at = lo;
    int32_t *cols = ftb_new(ctx, chunk->nvals, sizeof *cols);
    char *values = ftb_new(ctx, chunk->nvals, r->value);
    r->cols[at] = cols;
    r->values[at] = values;
    if (!cols || !values)
        return ftb_nomem();
    memcpy(cols, chunk->cols, (size_t)chunk->nvals * sizeof *cols);
    if (r->narrow)
        for (int64_t e = 0; e < chunk->nvals; e++)
            ((uint32_t *)values)[e] = (uint32_t)((const int64_t *)chunk->values)[e];
    else
        memcpy(values, chunk->values, (size_t)chunk->nvals * r->value);
    for (int64_t t = 0; t < chunk->nrows; t++) {
        int64_t i = chunk->row0 + t;
        r->start[i] = chunk->rowptr[t];
        r->count[i] = chunk->rowptr[t + 1] - chunk->rowptr[t];
        r->chunk_of[i] = at;
    }
    return GrB_SUCCESS;
}

static GrB_Info count_half(void *state, const ftb_chunk *chunk)
{
    retained *r = state;
    const int32_t *cols = chunk->cols;
    for (int64_t t = 0; t < chunk->nrows; t++)
        for (int64_t e = chunk->rowptr[t]; e < chunk->rowptr[t + 1]; e++)
            r->lower[cols[e]] += cols[e] != chunk->row0 + t;
    return GrB_SUCCESS;
}

/* ---- second half: gather, finish, deliver */

static GrB_Info make_gatherer(gatherer *g, const retained *r, const ftb_schedule *schedule)
{
    FtB_Context ctx = r->product->ctx;
    g->rows_room = schedule->rows;
    for (int64_t c = 0; c < schedule->count; c++) {
        int64_t room = 0;
        for (int64_t i = schedule->row[c]; i < schedule->row[c + 1]; i++)
            room += r->lower[i];
        g->room = ftb_max(g->room, room);
    }
    g->cursor = ftb_new0(ctx, r->product->p.nrows, sizeof *g->cursor);
    g->fill = ftb_new(ctx, g->rows_room + 2, sizeof *g->fill);
    g->cols = ftb_new(ctx, g->room, sizeof *g->cols);
    g->values = ftb_new(ctx, g->room, r->value);
    return g->cursor && g->fill && g->cols && g->values ? GrB_SUCCESS : ftb_nomem();
}

static void free_gatherer(gatherer *g)
{
    ftb_delete(g->cursor);
    ftb_delete(g->fill);
    ftb_delete(g->cols);
    ftb_delete(g->values);
}

/* First entry of row j at or after `at` with a column from i up: doubling, then halving. */
static int64_t seek(const int32_t *cols, int64_t at, int64_t count, int64_t i)
{
    int64_t step = 1, lo = at;
    while (lo + step < count && cols[lo + step] < i) {
        lo += step;
        step *= 2;
    }
    int64_t hi = ftb_min(lo + step, count);
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (cols[mid] < i)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
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
        const int32_t *cols = r->cols[r->chunk_of[j]] + r->start[j];
        const char *values = r->values[r->chunk_of[j]] + (size_t)r->start[j] * r->value;
        int64_t count = r->count[j], e = g->cursor[j];
        if (e < count && cols[e] < row0)
            e = seek(cols, e, count, row0);
        for (; e < count && cols[e] < row1; e++) {
            if (cols[e] == j)
                continue;
            int64_t to = g->fill[cols[e] - row0]++;
            g->cols[to] = (int32_t)j;
            if (r->value == 8)
                memcpy(g->values + 8 * to, values + 8 * e, 8);
            else if (r->value == 4)
                memcpy(g->values + 4 * to, values + 4 * e, 4);
            else
                memcpy(g->values + (size_t)to * r->value, values + (size_t)e * r->value, r->value);
        }
        g->cursor[j] = e;
    }
    for (int64_t i = row1 - 1; i >= row0; i--) /* fill[] points behind each row: back to its start */
        g->fill[i - row0] -= r->lower[i];
}

/* n retained values as entries of h from `at` on; those of earlier rows are read as (j, i). */
static void put_values(const retained *r, char *h, int64_t at, const char *values, int64_t n, bool earlier)
{
    const ftb_product *product = r->product;
    size_t size = FtB_Type_size(product->sum_type);
    if (product->dual) { /* pairs (i, j), (j, i) */
        for (int64_t e = 0; e < n; e++)
            memcpy(h + (size_t)(at + e) * size, values + (size_t)(2 * e + earlier) * size, size);
        return;
    }
    if (earlier && product->width > 1) {
        for (int64_t e = 0; e < n; e++)
            for (int64_t c = 0; c < product->width; c++)
                memcpy(h + (size_t)((at + e) * product->width + c) * size,
                       values + (size_t)(e * product->width + (c < 8 ? product->swap[c] : c)) * size, size);
        return;
    }
    if (!r->narrow)
        memcpy(h + (size_t)at * r->value, values, (size_t)n * r->value);
    else
        for (int64_t e = 0; e < n; e++)
            ((int64_t *)(void *)h)[at + e] = ((const uint32_t *)(const void *)values)[e];
}

static int64_t make_full(void *state, ftb_worker *w, int64_t i, void *cols, void *values)
{
    retained *r = state;
    gatherer *g = &r->gatherer[w->number];
    if (r->product->keep_rows &&
        !r->product->keep_rows[i]) /* its own half is empty, not what others share with it */
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
    char *h = r->product->finish.epilogue ? w->h : values;
    const char *own_values = r->values[r->chunk_of[i]] + (size_t)r->start[i] * r->value;
    memcpy(cols, g->cols + from, (size_t)below * sizeof *g->cols);
    memcpy((int32_t *)cols + below, r->cols[r->chunk_of[i]] + r->start[i], (size_t)own * sizeof *g->cols);
    put_values(r, h, 0, g->values + (size_t)from * r->value, below, true);
    put_values(r, h, below, own_values, own, false);
    return ftb_finish_row(w->finisher, i, below + own, cols, h, values);
}

static GrB_Info deliver_full(void *state, const ftb_chunk *chunk)
{
    const retained *r = state;
    const ftb_finish *finish = &r->product->finish;
    FtB_Rows rows = {.row0 = chunk->row0,
                     .nrows = chunk->nrows,
                     .ncols = r->product->p.ncols,
                     .rowptr = chunk->rowptr,
                     .colidx = chunk->cols,
                     .values = chunk->values,
                     .type = finish->out_type,
                     .width = finish->out_width};
    return ftb_sink_rows(r->sink, &rows);
}

/* Now that full rows are known, chunks are cut by their entries. */
static GrB_Info schedule_full(ftb_schedule *s, retained *r)
{
    int64_t nrows = r->product->p.nrows;
    int64_t *saved = r->product->row_products;
    int64_t *full = ftb_new(r->product->ctx, nrows, sizeof *full);
    if (!full)
        return ftb_nomem();
    for (int64_t i = 0; i < nrows; i++)
        full[i] = r->lower[i] + r->count[i];
    r->product->row_products = full;
    GrB_Info info = ftb_schedule_make(s, r->product);
    r->product->row_products = saved;
    ftb_delete(full);
    return info;
}

static GrB_Info emit_full(retained *r)
{
    ftb_product *product = r->product;
    int threads = product->plan.threads;
    ftb_schedule schedule = {0};
    GrB_Info info = schedule_full(&schedule, r);
    if (info != GrB_SUCCESS)
        return info;
    r->schedule = &schedule;
    r->gatherer = ftb_new0(product->ctx, threads, sizeof *r->gatherer);
    if (!r->gatherer) {
        info = ftb_nomem();
        goto done;
    }
    for (int t = 0; t < threads; t++)
        FTB_CHECK(make_gatherer(&r->gatherer[t], r, &schedule));
    ftb_pipeline line = {.product = product,
                         .schedule = &schedule,
                         .make = make_full,
                         .deliver = deliver_full,
                         .state = r,
                         .type = product->finish.out_type,
                         .width = product->finish.out_width};
    info = ftb_pipeline_run(&line);
done:
    for (int t = 0; r->gatherer && t < threads; t++)
        free_gatherer(&r->gatherer[t]);
    ftb_delete(r->gatherer);
    r->gatherer = NULL;
    r->schedule = NULL;
    ftb_schedule_free(&schedule);
    return info;
}

static void free_retained(retained *r)
{
    for (int64_t c = 0; c < r->nchunks; c++) {
        if (r->cols)
            ftb_delete(r->cols[c]);
        if (r->values)
            ftb_delete(r->values[c]);
    }
    ftb_delete(r->cols);
    ftb_delete(r->values);
    ftb_delete(r->start);
    ftb_delete(r->count);
    ftb_delete(r->chunk_of);
    ftb_delete(r->lower);
}

GrB_Info ftb_product_run_mirror(ftb_product *product, const ftb_schedule *schedule, FtB_Sink sink,
                                bool *delivered)
{
    FtB_Context ctx = product->ctx;
    int64_t nrows = product->p.nrows;
    GrB_Info info;
    retained r = {.product = product,
                  .sink = sink,
                  .schedule = schedule,
                  .nchunks = schedule->count,
                  .narrow = product->p.message == FTB_MESSAGE_PAIR && !product->constant};
    int64_t width = product->dual ? 2 : product->width;
    r.value = r.narrow ? 4 : FtB_Type_size(product->sum_type) * (size_t)width;
    r.start = ftb_new0(ctx, nrows, sizeof *r.start);
    r.count = ftb_new0(ctx, nrows, sizeof *r.count);
    r.chunk_of = ftb_new0(ctx, nrows, sizeof *r.chunk_of);
    r.lower = ftb_new0(ctx, nrows, sizeof *r.lower);
    r.cols = ftb_new0(ctx, r.nchunks, sizeof *r.cols);
    r.values = ftb_new0(ctx, r.nchunks, sizeof *r.values);
    if (!r.start || !r.count || !r.chunk_of || !r.lower || !r.cols || !r.values) {
        info = ftb_nomem();
        goto done;
    }
    ftb_pipeline line = {.product = product,
                         .schedule = schedule,
                         .make = make_half,
                         .chunk = retain_chunk,
                         .deliver = count_half,
                         .state = &r,
                         .type = product->sum_type,
                         .width = width};
    FTB_CHECK(ftb_pipeline_run(&line));
    *delivered = true;
    info = emit_full(&r);
done:
    free_retained(&r);
    return info;
}
