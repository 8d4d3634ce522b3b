/* The messages of a product's gradients: those of the product itself, over its pattern and its transpose, and
 * what gradients read beside them. */
#include "ops/grad/grad.h"

static GrB_Info make_message(ftb_message *m, const ftb_grad *g, bool transposed)
{
    static const char *const sparse[] = {"a", "edge", "b", "src", NULL}, *const dense[] = {"a", "dst", "b",
                                                                                           "src", NULL};
    /* What was transposed twice is as A is. */
    const int64_t *at = !transposed ? g->at : g->at ? NULL : g->from;
    GrB_Info info = ftb_message_new(m, g->ctx, g->semiring, g->on_edges ? dense : sparse);
    if (info == GrB_SUCCESS && g->on_edges && g->semiring->domain)
        info = ftb_message_over_features(m);
    if (info == GrB_SUCCESS)
        info = ftb_message_block(m, "src", transposed ? FTB_SIDE_ROW : FTB_SIDE_COL, g->src, g->src->heads);
    if (info == GrB_SUCCESS && g->dst)
        info = ftb_message_block(m, "dst", transposed ? FTB_SIDE_COL : FTB_SIDE_ROW, g->dst, g->dst->heads);
    if (info == GrB_SUCCESS)
        info = ftb_message_values(m, "edge", g->A, at);
    if (info == GrB_SUCCESS)
        info = ftb_message_indices(m, transposed ? g->q : g->p, transposed, at);
    return info;
}

/* ---- what gradients read */

static GrB_Info push(ftb_message *m, const char *name, const ftb_feed *feed)
{
    if (ftb_message_find(m, name))
        return GrB_SUCCESS;
    if (m->nfeeds == FTB_MAX_FEEDS)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: more than %d names in one gradient", FTB_MAX_FEEDS);
    m->feeds[m->nfeeds] = *feed;
    ftb_buffer_retain(feed->owner);
    snprintf(m->feeds[m->nfeeds++].name, FTB_NAME_LENGTH, "%s", name);
    return GrB_SUCCESS;
}

/* The feed, of a side, heads and a width, over X; the caller's operands outlive what is made here. */
static ftb_feed over_block(FtB_Block X, const ftb_feed *shape)
{
    ftb_feed feed = ftb_block_feed(X, shape->heads, shape->side);
    feed.width = shape->width;
    return feed;
}

/* The gradient of the result, by row or by entry. */
static ftb_feed grad_feed(const ftb_grad *g, bool transposed)
{
    ftb_feed feed = {
        .side = transposed ? FTB_SIDE_COL : FTB_SIDE_ROW, .heads = g->forward.heads, .width = g->type.width};
    if (g->on_edges) {
        feed.side = FTB_SIDE_EDGE;
        feed.type = g->dE->type;
        feed.data = g->dE->values ? g->dE->values->host : NULL;
        feed.owner = g->dE->values;
        feed.nrows = g->p->nvals;
        feed.ld = g->dE->width;
        feed.at = transposed ? g->from : NULL;
        return feed;
    }
    return over_block(g->dC, &feed);
}

static GrB_Info push_all(ftb_message *m, const ftb_grad *g, bool transposed)
{
    ftb_side row = transposed ? FTB_SIDE_COL : FTB_SIDE_ROW;
    ftb_feed grad = grad_feed(g, transposed),
             e = {.side = FTB_SIDE_EDGE, .type = FTB_INT64, .heads = 1, .width = 1};
    ftb_feed di = {.side = row, .type = FTB_INT64, .nrows = g->p->nrows, .heads = 1, .width = 1};
    GrB_Info info = push(m, "grad", &grad);
    di.ld = e.ld = 1;
    di.degree = g->p->rowptr;
    e.nrows = g->p->nvals;
    e.at = transposed ? g->from : NULL;
    if (info == GrB_SUCCESS && m->reducer.mean && !g->on_edges)
        info = push(m, "di", &di);
    if (info == GrB_SUCCESS && g->saved) {
        const ftb_feed saved = over_block(g->saved, &grad);
        info = push(m, "e'", &e);
        if (info == GrB_SUCCESS)
            info = push(m, "saved", &saved);
    }
    for (int f = 0; f < g->nfeeds && info == GrB_SUCCESS; f++)
        if (g->whole[f]) {
            char name[FTB_NAME_LENGTH];
            const ftb_feed whole = ftb_whole_feed(g->whole[f]);
            snprintf(name, sizeof name, "%.*s'", FTB_NAME_MAX, g->forward.feeds[f].name);
            info = push(m, name, &whole);
        }
    return info;
}

static GrB_Info transpose_block(FtB_Block *T, FtB_Context ctx, FtB_Block W)
{
    const GrB_Info info =
        ftb_block_view(T, ctx, W->type, W->ncols, W->nrows, W->nrows,
                       ftb_buffer_adopt(ctx, ftb_new(ctx, W->nrows * W->ncols, FtB_Type_size(W->type))));
    return info == GrB_SUCCESS ? ftb_block_put(&(ftb_copy_product){.ldx = W->ld, .turned = true}, *T, W)
                               : info;
}

/* ---- both directions */

GrB_Info ftb_grad_begin(ftb_grad *g)
{
    ftb_program *program = NULL;
    GrB_Info info = make_message(&g->forward, g, false);
    g->nfeeds = g->forward.nfeeds;
    if (info == GrB_SUCCESS)
        info = ftb_message_compile(&g->type, &program, &g->forward);
    ftb_program_delete(program);
    return info;
}

GrB_Info ftb_grad_complete(ftb_grad *g)
{
    if (g->complete)
        return GrB_SUCCESS;
    GrB_Info info = GrB_SUCCESS;
    for (int f = 0; f < g->nfeeds && info == GrB_SUCCESS; f++)
        if (g->forward.feeds[f].whole)
            info = transpose_block(&g->whole[f], g->ctx, g->forward.feeds[f].whole);
    if (info == GrB_SUCCESS)
        info = push_all(&g->forward, g, false);
    if (info == GrB_SUCCESS)
        info = ftb_winners_new(&g->winners, g);
    g->complete = info == GrB_SUCCESS;
    return info;
}

/* Whether the messages read something by entry, whose places over the transpose take 8 bytes each. */
static bool reads_entries(const ftb_grad *g)
{
    if (g->on_edges || g->saved)
        return true;
    for (int f = 0; f < g->nfeeds; f++)
        if (g->forward.feeds[f].side == FTB_SIDE_EDGE && !g->at)
            return true;
    return false;
}

GrB_Info ftb_grad_need_back(ftb_grad *g)
{
    if (g->has_back)
        return GrB_SUCCESS;
    GrB_Info info = ftb_pattern_transpose(g->p, &g->q, reads_entries(g) ? &g->from : NULL);
    if (info == GrB_SUCCESS)
        info = make_message(&g->back, g, true);
    if (info == GrB_SUCCESS)
        info = push_all(&g->back, g, true);
    g->has_back = info == GrB_SUCCESS;
    return info;
}

void ftb_grad_end(ftb_grad *g)
{
    ftb_winners_delete(g->winners);
    ftb_message_clear(&g->forward);
    ftb_message_clear(&g->back);
    FtB_Block_free(&g->by_column);
    FtB_Block_free(&g->by_row);
    for (int f = 0; f < FTB_MAX_FEEDS; f++)
        FtB_Block_free(&g->whole[f]);
}
