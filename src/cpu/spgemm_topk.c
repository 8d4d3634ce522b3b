/* The k largest of each row of a symmetric product, from one triangle and without retaining it: entry
 * (i, j) is offered to the heaps of row i and of row j. Threads keep heaps of their own, merged at the end;
 * the rule (larger value, then smaller column) is a total order, so the result does not depend on them. */
#include "cpu/spgemm_run.h"

#include <math.h>
#include <stdlib.h>

typedef struct heaps { /* of one thread; row i's are at i * k, the least one first once there are k */
    double *value;
    int32_t *col;
    int32_t *held;
    double *least; /* what a value must exceed; -infinity until k are held */
} heaps;

typedef struct run {
    const ftb_spgemm_form *form;
    int64_t k;
    heaps *of; /* per thread */
} run;

int64_t ftb_topk_bytes(const ftb_spgemm_product *product)
{
    return product->p.nrows * (12 * product->finish.top_k + 12);
}

static GrB_Info make_heaps(heaps *h, const ftb_spgemm_form *form, int64_t k)
{
    FtB_Context ctx = form->product->ctx;
    int64_t n = form->p.nrows;
    h->value = ftb_new(ctx, n * k, sizeof *h->value);
    h->col = ftb_new(ctx, n * k, sizeof *h->col);
    h->held = ftb_new0(ctx, n, sizeof *h->held);
    h->least = ftb_new(ctx, n, sizeof *h->least);
    if (!h->value || !h->col || !h->held || !h->least)
        return ftb_nomem();
    for (int64_t i = 0; i < n; i++)
        h->least[i] = -INFINITY;
    return GrB_SUCCESS;
}

static void free_heaps(heaps *h)
{
    ftb_delete(h->value);
    ftb_delete(h->col);
    ftb_delete(h->held);
    ftb_delete(h->least);
}

static bool below(double a, int32_t i, double b, int32_t j) { return a < b || (a <= b && i > j); }

static void sift_down(double *value, int32_t *col, int64_t n, int64_t at)
{
    for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && below(value[child + 1], col[child + 1], value[child], col[child]))
            child++;
        if (!below(value[child], col[child], value[at], col[at]))
            return;
        double v = value[at];
        int32_t c = col[at];
        value[at] = value[child];
        col[at] = col[child];
        value[child] = v;
        col[child] = c;
        at = child;
    }
}

/* w exceeds h->least[row], or the heap has room. Columns come in ascending order: equal values lose. */
static void take(heaps *h, int64_t k, int64_t row, double w, int32_t col)
{
    double *value = h->value + row * k;
    int32_t *cols = h->col + row * k;
    if (h->held[row] < k) {
        value[h->held[row]] = w;
        cols[h->held[row]++] = col;
        if (h->held[row] < k)
            return;
        for (int64_t at = k / 2 - 1; at >= 0; at--)
            sift_down(value, cols, k, at);
    } else {
        value[0] = w;
        cols[0] = col;
        sift_down(value, cols, k, 0);
    }
    h->least[row] = value[0];
}

static inline void offer(heaps *h, int64_t k, int64_t row, double w, int32_t col)
{
    if (w > h->least[row] || (h->held[row] < k && !isnan(w)))
        take(h, k, row, w, col);
}

static int64_t offer_row(void *state, ftb_worker *w, int64_t i, void *cols, void *values)
{
    const run *r = state;
    const ftb_finish *finish = &r->form->product->finish;
    heaps *h = &r->of[w->number];
    void *raw = finish->epilogue ? w->h : values;
    int64_t n = ftb_worker_row(w, i, cols, raw);
    n = ftb_finish_row(w->finisher, i, n, cols, raw, values);
    const int32_t *col = cols;
    for (int64_t t = 0; t < n; t++) {
        double x = finish->out_type == FTB_FP64   ? ((const double *)values)[t]
                   : finish->out_type == FTB_FP32 ? (double)((const float *)values)[t]
                                                  : (double)((const int64_t *)values)[t];
        offer(h, r->k, i, x, col[t]);
        if (col[t] != i)
            offer(h, r->k, col[t], x, (int32_t)i);
    }
    return 0;
}

typedef struct candidate {
    double value;
    int32_t col;
} candidate;

static int by_rank(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    return below(a->value, a->col, b->value, b->col) ? 1 : -1;
}

static int by_column(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    return (a->col > b->col) - (a->col < b->col);
}

/* The k best that the threads hold for row i, in column order. */
static int64_t merge_row(const run *r, int64_t i, candidate *c)
{
    int64_t n = 0, k = r->k;
    for (int t = 0; t < r->form->plan.threads; t++)
        for (int64_t s = 0; s < r->of[t].held[i]; s++)
            c[n++] = (candidate){r->of[t].value[i * k + s], r->of[t].col[i * k + s]};
    if (n > k)
        qsort(c, (size_t)n, sizeof *c, by_rank);
    n = ftb_min(n, k);
    qsort(c, (size_t)n, sizeof *c, by_column);
    return n;
}

static GrB_Info emit(const run *r, FtB_Sink sink)
{
    const ftb_spgemm_form *form = r->form;
    const ftb_finish *finish = &form->product->finish;
    FtB_Context ctx = form->product->ctx;
    const size_t size = FtB_Type_size(finish->out_type);
    const int64_t row = r->k * (int64_t)(4 + size) + 8; /* of what a chunk took, which is free by now */
    const int64_t at_once = ftb_max(ftb_min(form->plan.chunk_bytes / row, form->p.nrows), 1);
    const int64_t room = at_once * r->k;
    candidate *c = ftb_new(ctx, r->k * form->plan.threads, sizeof *c);
    int64_t *rowptr = ftb_new(ctx, at_once + 1, sizeof *rowptr);
    int32_t *cols = ftb_new(ctx, room, sizeof *cols);
    char *values = ftb_new(ctx, room, size);
    GrB_Info info = c && rowptr && cols && values ? GrB_SUCCESS : ftb_nomem();
    for (int64_t row0 = 0; row0 < form->p.nrows && info == GrB_SUCCESS; row0 += at_once) {
        int64_t n = 0, rows = ftb_min(at_once, form->p.nrows - row0);
        rowptr[0] = 0;
        for (int64_t i = row0; i < row0 + rows; i++) {
            int64_t held = merge_row(r, i, c);
            for (int64_t t = 0; t < held; t++, n++) {
                cols[n] = c[t].col;
                ftb_cast(values + (size_t)n * size, finish->out_type, &c[t].value, FTB_FP64, 1);
            }
            rowptr[i - row0 + 1] = n;
        }
        FtB_Rows chunk = {.row0 = row0,
                          .nrows = rows,
                          .ncols = form->p.ncols,
                          .rowptr = rowptr,
                          .colidx = cols,
                          .values = values,
                          .type = finish->out_type,
                          .width = 1};
        info = ftb_sink_rows(sink, &chunk);
    }
    ftb_delete(c);
    ftb_delete(rowptr);
    ftb_delete(cols);
    ftb_delete(values);
    return info;
}

GrB_Info ftb_spgemm_form_run_topk(const ftb_spgemm_form *form, const ftb_spgemm_chunks *schedule,
                                  FtB_Sink sink)
{
    int threads = form->plan.threads;
    run r = {.form = form, .k = form->product->finish.top_k};
    GrB_Info info = GrB_SUCCESS;
    r.of = ftb_new0(form->product->ctx, threads, sizeof *r.of);
    if (!r.of)
        return ftb_nomem();
    for (int t = 0; t < threads; t++)
        FTB_CHECK(make_heaps(&r.of[t], form, r.k));
    ftb_pipeline line = {.form = form,
                         .schedule = schedule,
                         .make = offer_row,
                         .state = &r,
                         .type = form->product->finish.out_type,
                         .width = 1};
    FTB_CHECK(ftb_pipeline_run(&line));
    info = emit(&r, sink);
done:
    for (int t = 0; t < threads; t++)
        free_heaps(&r.of[t]);
    ftb_delete(r.of);
    return info;
}

/* Whether an expression over rows is the same for (i, j) and (j, i). */
static bool symmetric_text(const ftb_spgemm_product *product, const char *text)
{
    static const char *const h[] = {"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"};
    const char *pairs[2 * 12 + 1] = {"i", "j", "di", "dj", "si", "sj", "qi", "qj"};
    int n = 8;
    ftb_expr *e = NULL;
    if (!text)
        return product->width == 1 && product->swap[0] == 0;
    for (int c = 0; c < 8; c++)
        if (product->swap[c] > c) {
            pairs[n++] = h[c];
            pairs[n++] = h[product->swap[c]];
        }
    if (ftb_expr_parse(&e, product->ctx, text, "epilogue", 0) != GrB_SUCCESS)
        return false;
    bool whole = product->width > 1 && ftb_expr_uses(e, "h"); /* its components change places */
    bool symmetric = !whole && ftb_expr_symmetric(e, pairs);
    ftb_expr_release(e);
    return symmetric;
}

bool ftb_topk_two_sided(const ftb_spgemm_product *product, const char *epilogue, const char *where)
{
    const ftb_finish *finish = &product->finish;
    bool number = finish->out_type == FTB_FP64 || finish->out_type == FTB_FP32 ||
                  (finish->out_type == FTB_INT64 && product->p.message == FTB_MESSAGE_PAIR);
    return finish->use_top_k && finish->top_k > 0 && !finish->upper_only && product->facts.symmetric &&
           !product->dual_table && number && symmetric_text(product, epilogue) &&
           (!where || symmetric_text(product, where));
}
