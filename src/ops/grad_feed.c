/* The gradient with respect to one feed of a message: summed over what shares a row of the feed.
 *
 *     of a row's values        over the row's entries: a product with the same pattern
 *     of a column's            over the column's entries: a product with the transpose
 *     of an entry's            stored
 *     of a scalar              over everything
 *     of W in x @ W            sum of x' grad (grad_whole.c) */
#include "ops/grad.h"

/* The heads of each row become one, as the feed has one for all. */
static void fold_heads(ftb_rows *T, int64_t heads)
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

/* All rows and heads as one value, in a tree of sums so that rounding stays small. */
static double sum_all(const ftb_rows *T, int64_t first, int64_t count)
{
    double sum = 0;
    if (count > 64)
        return sum_all(T, first, count / 2) + sum_all(T, first + count / 2, count - count / 2);
    for (int64_t v = first; v < first + count; v++)
        sum += ftb_get_real(T->data, T->type, v);
    return sum;
}

GrB_Info ftb_grad_total(ftb_rows *T, const ftb_grad *g)
{
    double *sum = ftb_new(g->ctx, 1, sizeof *sum);
    if (!sum)
        return ftb_nomem();
    *sum = sum_all(T, 0, T->nrows * T->width);
    ftb_delete(T->data);
    *T = (ftb_rows){sum, FTB_FP64, 1, 1};
    return GrB_SUCCESS;
}

static GrB_Info sum_scalar(ftb_rows *T, const ftb_grad *g, ftb_expr *expr)
{
    GrB_Info info = ftb_grad_sum(T, &g->forward, g->p, expr);
    return info == GrB_SUCCESS ? ftb_grad_total(T, g) : info;
}

/* Entry x of p is row at[x] of the feed. */
static GrB_Info reorder(ftb_rows *T, FtB_Context ctx, const int64_t *at)
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

static GrB_Info sum_side(ftb_rows *T, ftb_grad *g, const ftb_feed *feed, ftb_expr *expr)
{
    GrB_Info info;
    switch (feed->side) {
    case FTB_SIDE_NONE:
        return sum_scalar(T, g, expr);
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

static GrB_Info differentiate(ftb_rows *T, ftb_grad *g, const ftb_feed *feed)
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

GrB_Info ftb_grad_feed(ftb_rows *T, ftb_grad *g, int f)
{
    const ftb_feed *feed = &g->forward.feeds[f];
    *T = (ftb_rows){0};
    GrB_Info info = g->winners ? ftb_winners_feed(T, g, g->winners, f) : differentiate(T, g, feed);
    if (info != GrB_SUCCESS) {
        ftb_delete(T->data);
        T->data = NULL;
    } else if (T->data && feed->side != FTB_SIDE_NONE && feed->heads == 1 && g->forward.heads > 1) {
        fold_heads(T, g->forward.heads);
    }
    return info;
}
