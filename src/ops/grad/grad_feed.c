/* The gradient with respect to one feed of a message: summed over what shares a row of the feed.
 *
 *     of a row's values        over the row's entries: a product with the same pattern
 *     of a column's            over the column's entries: a product with the transpose
 *     of an entry's            stored
 *     of a scalar, or one row   over all entries
 *     of W in x @ W            sum of x' grad (grad_whole.c) */
#include "ops/grad/grad.h"

#include "cpu/block/gather_run.h"

/* The heads of each row become one, as the feed has one for all: summed in FP64, from 0 on. */
static GrB_Info fold_heads(FtB_Block *T, int64_t heads)
{
    const FtB_Type type = (*T)->type;
    FtB_Block sum = NULL, rounded = NULL;
    GrB_Info info = ftb_grad_text(&sum, FTB_FP64, "x + 0", *T, NULL, heads);
    if (info == GrB_SUCCESS && type == FTB_FP32)
        info = ftb_grad_text(&rounded, type, "x", sum, NULL, 1);
    if (info == GrB_SUCCESS) {
        FtB_Block_free(T);
        *T = rounded ? rounded : sum;
        sum = rounded ? sum : NULL;
    }
    FtB_Block_free(&sum);
    return info;
}

GrB_Info ftb_grad_total(FtB_Block *T)
{
    FtB_Block sum = NULL;
    GrB_Info info = ftb_grad_outer(&sum, (*T)->ctx, NULL, *T, 1, (*T)->ncols);
    if (info == GrB_SUCCESS) {
        FtB_Block_free(T);
        *T = sum;
    }
    return info;
}

static GrB_Info sum_whole(FtB_Block *T, const ftb_grad *g, ftb_expr *expr)
{
    GrB_Info info = ftb_grad_sum(T, &g->forward, g->p, expr);
    return info == GrB_SUCCESS ? ftb_grad_total(T) : info;
}

/* Entry x of p is row at[x] of the feed. */
static GrB_Info reorder(FtB_Block *T, const int64_t *at)
{
    const FtB_Block X = *T;
    FtB_Block Y = NULL;
    ftb_scatter_product p = {.ctx = X->ctx,
                             .rows = at,
                             .count = X->nrows,
                             .ncols = X->ncols,
                             .nrows = X->nrows,
                             .ldx = X->ld,
                             .ldy = X->ncols,
                             .xtype = X->type,
                             .ytype = X->type,
                             .how = FTB_SCATTER_REPLACE};
    GrB_Info info = ftb_block_view(
        &Y, X->ctx, X->type, X->nrows, X->ncols, X->ncols,
        ftb_buffer_adopt(X->ctx, ftb_new(X->ctx, X->nrows * X->ncols, FtB_Type_size(X->type))));
    const ftb_place places[] = {{.X = X, .read = &p.x}, {.X = Y, .write = &p.y, .whole = true}};
    if (info == GrB_SUCCESS)
        FTB_RUN(info, FTB_WHO(X->ctx, scatter), scatter, places, &p);
    if (info == GrB_SUCCESS) {
        FtB_Block_free(T);
        *T = Y;
        Y = NULL;
    }
    FtB_Block_free(&Y);
    return info;
}

static GrB_Info sum_side(FtB_Block *T, ftb_grad *g, const ftb_feed *feed, ftb_expr *expr)
{
    GrB_Info info;
    switch (feed->side) {
    case FTB_SIDE_NONE:
        return sum_whole(T, g, expr);
    case FTB_SIDE_ROW:
        return ftb_grad_sum(T, &g->forward, g->p, expr);
    case FTB_SIDE_EDGE:
        info = ftb_grad_store(T, &g->forward, g->p, expr);
        return info == GrB_SUCCESS && feed->at ? reorder(T, feed->at) : info;
    default:
        info = ftb_grad_need_back(g);
        return info == GrB_SUCCESS ? ftb_grad_sum(T, &g->back, g->q, expr) : info;
    }
}

static GrB_Info differentiate(FtB_Block *T, ftb_grad *g, const ftb_feed *feed)
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
static GrB_Info call_gradient(FtB_Block *T, ftb_grad *g, const ftb_feed *feed)
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
        return info == GrB_SUCCESS && feed->side == FTB_SIDE_NONE ? ftb_grad_total(T) : info;
    }
    info = ftb_grad_store(T, &m, g->p, NULL);
    return info == GrB_SUCCESS && feed->at ? reorder(T, feed->at) : info;
}

GrB_Info ftb_grad_feed(FtB_Block *T, ftb_grad *g, int f)
{
    const ftb_feed *feed = &g->forward.feeds[f];
    *T = NULL;
    if (feed->side != FTB_SIDE_NONE && ftb_grad_sums_fit(g))
        return ftb_grad_sums(T, g, feed);
    GrB_Info info = ftb_grad_complete(g);
    if (info == GrB_SUCCESS)
        info = g->winners            ? ftb_winners_feed(T, g, g->winners, f)
               : g->forward.function ? call_gradient(T, g, feed)
                                     : differentiate(T, g, feed);
    if (info == GrB_SUCCESS && *T && !feed->whole && feed->heads == 1 && g->forward.heads > 1)
        info = fold_heads(T, g->forward.heads);
    if (info != GrB_SUCCESS)
        FtB_Block_free(T);
    return info;
}
