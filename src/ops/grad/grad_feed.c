/* The gradient with respect to one feed of a message: summed over what shares a row of the feed.
 *
 *     of a row's values        over the row's entries: a product with the same pattern
 *     of a column's            over the column's entries: a product with the transpose
 *     of an entry's            stored
 *     of a scalar, or one row   over all entries
 *     of W in x @ W            sum of x' grad (grad_whole.c) */
#include "ops/grad/grad.h"

#include "ops/merge.h"

/* The heads of each row become one, as the feed has one for all. */
static void fold_heads(ftb_grad_rows *T, int64_t heads)
{
    int64_t width = T->width / heads;
    for (int64_t r = 0; r < T->nrows; r++)
        for (int64_t f = 0; f < width; f++) {
            double sum = 0;
            for (int64_t h = 0; h < heads; h++)
                sum += ftb_get_real(T->data, T->type, (r * heads + h) * width + f);
            if (T->type == FTB_FP32)
                ((float *)T->data)[r * width + f] = (float)sum;
            else
                ((double *)T->data)[r * width + f] = sum;
        }
    T->width = width;
}

/* sum[v] = value v of rows first .. last - 1; row: room for one. */
static void sum_rows(double *sum, double *row, const ftb_grad_rows *T, int64_t first, int64_t last)
{
    size_t bytes = (size_t)T->width * FtB_Type_size(T->type);
    for (int64_t r = first; r < last; r++) {
        ftb_cast(row, FTB_FP64, (const char *)T->data + (size_t)r * bytes, T->type, T->width);
        for (int64_t v = 0; v < T->width; v++)
            sum[v] += row[v];
    }
}

/* Parts do not depend on the number of threads, and so the bits do not. */
GrB_Info ftb_grad_total(ftb_grad_rows *T, const ftb_grad *g)
{
    int64_t width = T->width, parts = ftb_max(1, ftb_min(64, T->nrows / 256)),
            each = (T->nrows + parts - 1) / parts;
    double *sums = ftb_new0(g->ctx, 2 * parts * width, sizeof *sums);
    if (!sums)
        return ftb_nomem();
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for(g->ctx, T->nrows *width))
    for (int64_t part = 0; part < parts; part++)
        sum_rows(sums + 2 * part * width, sums + (2 * part + 1) * width, T, part * each,
                 ftb_min((part + 1) * each, T->nrows));
    for (int64_t part = 1; part < parts; part++)
        for (int64_t v = 0; v < width; v++)
            sums[v] += sums[2 * part * width + v];
    ftb_delete(T->data);
    *T = (ftb_grad_rows){sums, FTB_FP64, 1, width};
    return GrB_SUCCESS;
}

static GrB_Info sum_whole(ftb_grad_rows *T, const ftb_grad *g, ftb_expr *expr)
{
    GrB_Info info = ftb_grad_sum(T, &g->forward, g->p, expr);
    return info == GrB_SUCCESS ? ftb_grad_total(T, g) : info;
}

/* Entry x of p is row at[x] of the feed. */
static GrB_Info reorder(ftb_grad_rows *T, FtB_Context ctx, const int64_t *at)
{
    size_t bytes = (size_t)T->width * FtB_Type_size(T->type);
    char *to = ftb_new(ctx, T->nrows, bytes);
    if (!to)
        return ftb_nomem();
    for (int64_t x = 0; x < T->nrows; x++)
        memcpy(to + (size_t)at[x] * bytes, (const char *)T->data + (size_t)x * bytes, bytes);
    ftb_delete(T->data);
    T->data = to;
    return GrB_SUCCESS;
}

static GrB_Info sum_side(ftb_grad_rows *T, ftb_grad *g, const ftb_feed *feed, ftb_expr *expr)
{
    GrB_Info info;
    switch (feed->side) {
    case FTB_SIDE_NONE:
        return sum_whole(T, g, expr);
    case FTB_SIDE_ROW:
        return ftb_grad_sum(T, &g->forward, g->p, expr);
    case FTB_SIDE_EDGE:
        info = ftb_grad_store(T, &g->forward, g->p, expr);
        return info == GrB_SUCCESS && feed->at ? reorder(T, g->ctx, feed->at) : info;
    default:
        info = ftb_grad_need_back(g);
        return info == GrB_SUCCESS ? ftb_grad_sum(T, &g->back, g->q, expr) : info;
    }
}

static GrB_Info differentiate(ftb_grad_rows *T, ftb_grad *g, const ftb_feed *feed)
{
    ftb_derivative d;
    GrB_Info info = g->on_edges ? ftb_gradient(&d, &g->forward, feed->name)
                                : ftb_gradient_reduced(&d, &g->forward, feed->name);
    if (info != GrB_SUCCESS)
        return info;
    if (feed->whole)
        info = ftb_grad_whole(T, g, &d, feed->whole->nrows, feed->whole->ncols);
    else if (d.expr)
        info = sum_side(T, g, feed, d.expr);
    ftb_derivative_clear(&d);
    return info;
}

/* What the gradient that came with a C function gives, as a message. */
static GrB_Info call_gradient(ftb_grad_rows *T, ftb_grad *g, const ftb_feed *feed)
{
    bool columns = feed->side == FTB_SIDE_COL;
    ftb_monoid monoid = g->forward.reducer.monoid;
    if (!g->on_edges && monoid != FTB_PLUS && monoid != FTB_MIN && monoid != FTB_MAX)
        return ftb_fail(GrB_DOMAIN_MISMATCH,
                        "semiring: the reducer %s has no gradient; plus, mean, min and max have",
                        ftb_monoid_name(monoid));
    if (!g->forward.gradient)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "semiring: a C function without a gradient; "
                                             "FtB_Semiring_set_gradient gives it one");
    GrB_Info info = columns ? ftb_grad_need_back(g) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    ftb_message m = columns ? g->back : g->forward;
    m.gradient_of = feed->name[0] == 's' ? 1 : feed->name[0] == 'd' ? 2 : 3;
    m.gradient_mean = m.reducer.mean && !g->on_edges;
    m.function_width = feed->width;
    if (feed->side != FTB_SIDE_EDGE) {
        info = ftb_grad_sum(T, &m, columns ? g->q : g->p, NULL);
        return info == GrB_SUCCESS && feed->side == FTB_SIDE_NONE ? ftb_grad_total(T, g) : info;
    }
    info = ftb_grad_store(T, &m, g->p, NULL);
    return info == GrB_SUCCESS && feed->at ? reorder(T, g->ctx, feed->at) : info;
}

/* Rows as a block, which owns them; NULL of none. */
static GrB_Info as_block(FtB_Block *T, FtB_Context ctx, const ftb_grad_rows *rows)
{
    return rows->data ? ftb_block_view(T, ctx, rows->type, rows->nrows, rows->width, rows->width,
                                       ftb_buffer_adopt(ctx, rows->data))
                      : GrB_SUCCESS;
}

GrB_Info ftb_grad_feed(FtB_Block *T, ftb_grad *g, int f)
{
    const ftb_feed *feed = &g->forward.feeds[f];
    ftb_grad_rows rows = {0};
    *T = NULL;
    if (feed->side != FTB_SIDE_NONE && ftb_grad_sums_fit(g))
        return ftb_grad_sums(T, g, feed);
    GrB_Info info = ftb_grad_complete(g);
    if (info == GrB_SUCCESS)
        info = g->winners            ? ftb_winners_feed(&rows, g, g->winners, f)
               : g->forward.function ? call_gradient(&rows, g, feed)
                                     : differentiate(&rows, g, feed);
    if (info != GrB_SUCCESS) {
        ftb_delete(rows.data);
        return info;
    }
    if (rows.data && !feed->whole && feed->heads == 1 && g->forward.heads > 1)
        fold_heads(&rows, g->forward.heads);
    return as_block(T, g->ctx, &rows);
}
