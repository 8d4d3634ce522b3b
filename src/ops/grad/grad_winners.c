/* Gradients of min and max of sources: only winners get any, so nothing is done per edge.
 *
 *     C(i,:) = post(h(i,:)),   h(i,f) = best over k of u(k,f),   won by k*(i,f)
 *     dh = (d post / d h)' dC,   du(k*(i,f), f) += dh(i,f),   and so on through u and post, vertex by vertex
 *
 * This wants a message that is rewritten to a copy of one value per source (relu((src + dst) @ W) is). Others
 * compare every edge with the winner (gradient.c). It costs rows x features where that costs edges x
 * features.
 */
#include "ops/grad/grad.h"

#include "cpu/winners_run.h"

struct ftb_winners {
    ftb_rewritten r;
    ftb_message post; /* of g->forward, over h, count and what is computed once per row; shallow */
    FtB_Block pre[FTB_MAX_PRE], h, dh, du;
    FtB_Block won; /* of each source: whether it won anything, as BOOL */
};

void ftb_winners_delete(struct ftb_winners *w)
{
    if (!w)
        return;
    for (int x = 0; x < w->r.npre; x++)
        FtB_Block_free(&w->pre[x]);
    FtB_Block_free(&w->h);
    FtB_Block_free(&w->dh);
    FtB_Block_free(&w->du);
    FtB_Block_free(&w->won);
    ftb_rewritten_clear(&w->r);
    ftb_delete(w);
}

/* ---- h */

/* Room for as many rows as there are vertices of a side, which is not cleared. */
static GrB_Info new_rows(FtB_Block *X, const ftb_grad *g, FtB_Type type, int64_t nrows, int64_t ncols)
{
    return ftb_block_view(X, g->ctx, type, nrows, ncols, ncols,
                          ftb_buffer_adopt(g->ctx, ftb_new(g->ctx, nrows * ncols, FtB_Type_size(type))));
}

/* h(i,f) = x(k*(i,f), f). */
static GrB_Info gather(struct ftb_winners *w, const ftb_grad *g, const ftb_feed *from)
{
    ftb_feed x = *from;
    ftb_winners_product p = {.ctx = g->ctx,
                             .p = g->p,
                             .ldwon = g->saved->ld,
                             .values = g->forward.heads * x.width,
                             .type = x.type,
                             .x = x.data,
                             .ldx = x.ld,
                             .xvalues = x.heads * x.width};
    GrB_Info info = new_rows(&w->h, g, x.type, g->p->nrows, p.values);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_place places[] = {{.X = g->saved, .read = &p.won},
                                {.feed = &x, .read = &p.x},
                                {.X = w->h, .write = &p.out, .whole = true}};
    FTB_RUN(info, x.owner ? FTB_WHO_FITS(g->ctx, winners, &p) : NULL, winners, places, &p);
    return info;
}

static GrB_Info push(ftb_message *m, const char *name, const ftb_feed *feed)
{
    if (m->nfeeds == FTB_MAX_FEEDS)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: more than %d names in one gradient", FTB_MAX_FEEDS);
    m->feeds[m->nfeeds] = *feed;
    snprintf(m->feeds[m->nfeeds++].name, FTB_NAME_LENGTH, "%s", name);
    return GrB_SUCCESS;
}

static GrB_Info push_rows(ftb_message *m, const char *name, ftb_side side, FtB_Block X)
{
    const ftb_feed feed = ftb_block_feed(X, m->heads, side);
    return push(m, name, &feed);
}

/* Everything that post reads. */
static GrB_Info fill_post(struct ftb_winners *w, const ftb_grad *g, const ftb_feed *x)
{
    GrB_Info info = gather(w, g, x);
    ftb_feed count = {.side = FTB_SIDE_ROW,
                      .type = FTB_INT64,
                      .nrows = g->p->nrows,
                      .ld = 1,
                      .heads = 1,
                      .width = 1,
                      .degree = g->p->rowptr};
    w->post = g->forward;
    w->post.expr = w->r.post;
    if (info == GrB_SUCCESS)
        info = push_rows(&w->post, "h", FTB_SIDE_ROW, w->h);
    if (info == GrB_SUCCESS)
        info = push(&w->post, "count", &count);
    for (int n = 0; n < w->r.npre && info == GrB_SUCCESS; n++)
        if (w->r.pre[n].side == FTB_SIDE_ROW)
            info = push_rows(&w->post, w->r.pre[n].name, FTB_SIDE_ROW, w->pre[n]);
    return info;
}

/* ---- dh and du */

/* The gradient of m's expression with respect to a name, for each vertex of one side. */
static GrB_Info differentiate(FtB_Block *Y, const ftb_message *m, const char *name, ftb_side side,
                              int64_t nrows)
{
    ftb_derivative d;
    GrB_Info info = ftb_gradient(&d, m, name);
    if (info == GrB_SUCCESS && d.expr)
        info = ftb_grad_vertices(Y, m, &(ftb_vertex_values){.expr = d.expr, .side = side, .nrows = nrows});
    ftb_derivative_clear(&d);
    return info;
}

static GrB_Info find_dh(struct ftb_winners *w, const ftb_grad *g)
{
    ftb_expr *grad = NULL;
    if (w->r.post)
        return differentiate(&w->dh, &w->post, "h", FTB_SIDE_ROW, g->p->nrows);
    GrB_Info info = ftb_expr_parse(&grad, g->ctx, "grad", "gradient", 0);
    if (info == GrB_SUCCESS)
        info =
            ftb_grad_vertices(&w->dh, &g->forward,
                              &(ftb_vertex_values){.expr = grad, .side = FTB_SIDE_ROW, .nrows = g->p->nrows});
    ftb_expr_release(grad);
    return info;
}

static GrB_Info find_du(struct ftb_winners *w, const ftb_grad *g)
{
    ftb_winners_product p = {.ctx = g->ctx,
                             .p = g->p,
                             .ldwon = g->saved->ld,
                             .values = w->dh->ncols,
                             .type = w->dh->type,
                             .ldx = w->dh->ld,
                             .xvalues = w->dh->ncols};
    GrB_Info info = new_rows(&w->du, g, p.type, g->p->ncols, p.values);
    if (info == GrB_SUCCESS)
        info = new_rows(&w->won, g, FTB_BOOL, g->p->ncols, 1);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_place places[] = {{.X = g->saved, .read = &p.won},
                                {.X = w->dh, .read = &p.x},
                                {.X = w->du, .write = &p.out, .whole = true},
                                {.X = w->won, .write = &p.any, .whole = true}};
    FTB_RUN(info, FTB_WHO_FITS(g->ctx, winners_grad, &p), winners_grad, places, &p);
    return info;
}

/* ---- whether it can be done, and what is needed for it */

static GrB_Info prepare(struct ftb_winners *w, const ftb_grad *g, bool *usable)
{
    ftb_message plain = g->forward;
    GrB_Info info = ftb_rewrite(&w->r, &plain, true, false);
    *usable = info == GrB_SUCCESS && w->r.form == FTB_FORM_COPY;
    const ftb_feed *stored = *usable ? ftb_message_find(&g->forward, w->r.x) : NULL;
    ftb_feed x = {0};
    if (stored)
        x = *stored;
    for (int n = 0; n < w->r.npre && *usable && info == GrB_SUCCESS; n++) {
        const ftb_pre *pre = &w->r.pre[n];
        int64_t nrows = pre->side == FTB_SIDE_ROW ? g->p->nrows : g->p->ncols;
        info = ftb_grad_vertices(&w->pre[n], &g->forward,
                                 &(ftb_vertex_values){.expr = pre->expr, .side = pre->side, .nrows = nrows});
        if (info == GrB_SUCCESS && strcmp(pre->name, w->r.x) == 0)
            x = ftb_block_feed(w->pre[n], g->forward.heads, FTB_SIDE_COL);
    }
    *usable = *usable && x.data && !x.at && x.width == g->type.width;
    if (!*usable || info != GrB_SUCCESS)
        return info;
    if (w->r.post)
        info = fill_post(w, g, &x);
    if (info == GrB_SUCCESS)
        info = find_dh(w, g);
    *usable = info == GrB_SUCCESS && w->dh && w->dh->ncols == g->forward.heads * x.width &&
              (w->dh->type == FTB_FP32 || w->dh->type == FTB_FP64);
    return info == GrB_SUCCESS && *usable ? find_du(w, g) : info;
}

GrB_Info ftb_winners_new(struct ftb_winners **out, const ftb_grad *g)
{
    bool usable = false;
    *out = NULL;
    if (g->on_edges || !g->saved || g->forward.function)
        return GrB_SUCCESS;
    struct ftb_winners *w = ftb_new0(g->ctx, 1, sizeof *w);
    if (!w)
        return ftb_nomem();
    GrB_Info info = prepare(w, g, &usable);
    if (info == GrB_SUCCESS && usable)
        *out = w;
    else
        ftb_winners_delete(w);
    return info;
}

/* ---- the gradient of a feed */

/* Zeros where sources won nothing. */
static GrB_Info clear_losers(FtB_Block *Y, const struct ftb_winners *w)
{
    FtB_Block won = NULL;
    const GrB_Info info = ftb_grad_text(&won, (*Y)->type, "y ? x : 0", *Y, w->won, 1);
    if (info == GrB_SUCCESS) {
        FtB_Block_free(Y);
        *Y = won;
    }
    return info;
}

/* An expression for each vertex of one side; zeros in rows that do not take part: those without entries, and
 * sources that won nothing. */
static GrB_Info find_part(FtB_Block *Y, const struct ftb_winners *w, const ftb_grad *g, const ftb_message *m,
                          ftb_side side, const ftb_expr *expr)
{
    const bool rows = side == FTB_SIDE_ROW;
    GrB_Info info = ftb_grad_vertices(Y, m,
                                      &(ftb_vertex_values){.expr = expr,
                                                           .side = side,
                                                           .nrows = rows ? g->p->nrows : g->p->ncols,
                                                           .present = rows ? g->p : NULL});
    return info == GrB_SUCCESS && !rows ? clear_losers(Y, w) : info;
}

typedef struct adder { /* what the parts of a message give for one feed */
    ftb_grad *g;
    struct ftb_winners *w;
    const ftb_feed *feed;
    FtB_Block sum; /* NULL: nothing yet */
} adder;

/* *Y is added: the first one is taken as it is, sums are made in FP64. */
static GrB_Info add_rows(adder *a, FtB_Block *Y)
{
    FtB_Block all = NULL;
    if (!a->sum) {
        a->sum = *Y;
        *Y = NULL;
        return GrB_SUCCESS;
    }
    GrB_Info info = ftb_grad_text(&all, FTB_FP64, "x", a->sum, NULL, 1);
    if (info == GrB_SUCCESS)
        info = ftb_grad_add(all, *Y);
    FtB_Block_free(info == GrB_SUCCESS ? &a->sum : &all);
    if (info == GrB_SUCCESS)
        a->sum = all;
    return info;
}

/* W's part in an expression of vertices. */
static GrB_Info add_whole(adder *a, const ftb_message *m, ftb_side side, const ftb_derivative *d)
{
    const FtB_Block W = a->feed->whole;
    GrB_Info info = GrB_SUCCESS;
    for (int pair = 0; pair < d->nouter && info == GrB_SUCCESS; pair++) {
        FtB_Block L = NULL, R = NULL;
        info = find_part(&L, a->w, a->g, m, side, d->left[pair]);
        if (info == GrB_SUCCESS)
            info = find_part(&R, a->w, a->g, m, side, d->right[pair]);
        if (info == GrB_SUCCESS)
            info = ftb_grad_outer(&a->sum, a->g->ctx, L, R, W->nrows, W->ncols);
        FtB_Block_free(&L);
        FtB_Block_free(&R);
    }
    return info;
}

/* What m, an expression of one side's vertices, gives for the feed. */
static GrB_Info add_part(adder *a, const ftb_message *m, ftb_side side)
{
    ftb_derivative d;
    FtB_Block Y = NULL;
    if (!ftb_expr_uses(m->expr, a->feed->name))
        return GrB_SUCCESS;
    GrB_Info info = ftb_gradient(&d, m, a->feed->name);
    if (info == GrB_SUCCESS && a->feed->whole) {
        info = add_whole(a, m, side, &d);
    } else if (info == GrB_SUCCESS && d.expr) {
        info = find_part(&Y, a->w, a->g, m, side, d.expr);
        if (info == GrB_SUCCESS && a->feed->side == FTB_SIDE_NONE)
            info = ftb_grad_total(&Y);
        if (info == GrB_SUCCESS)
            info = add_rows(a, &Y);
    }
    FtB_Block_free(&Y);
    ftb_derivative_clear(&d);
    return info;
}

/* The same with another gradient to start from. */
static GrB_Info add_part_from(adder *a, ftb_expr *expr, ftb_side side, FtB_Block grad)
{
    ftb_message m = a->g->forward;
    m.expr = expr;
    for (int f = 0; f < m.nfeeds; f++)
        if (strcmp(m.feeds[f].name, "grad") == 0) {
            m.feeds[f] = ftb_block_feed(grad, m.heads, side);
            snprintf(m.feeds[f].name, FTB_NAME_LENGTH, "grad");
        }
    return add_part(a, &m, side);
}

/* The sources' own: a view, which sums leave as it is. */
static GrB_Info share_du(adder *a)
{
    const FtB_Block du = a->w->du;
    return ftb_block_view(&a->sum, du->ctx, du->type, du->nrows, du->ncols, du->ld,
                          ftb_buffer_retain(du->owner));
}

GrB_Info ftb_winners_feed(FtB_Block *T, ftb_grad *g, struct ftb_winners *w, int f)
{
    adder a = {.g = g, .w = w, .feed = &g->forward.feeds[f]};
    GrB_Info info = strcmp(w->r.x, a.feed->name) == 0 ? share_du(&a) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && w->r.post)
        info = add_part(&a, &w->post, FTB_SIDE_ROW);
    for (int n = 0; n < w->r.npre && info == GrB_SUCCESS; n++) {
        const ftb_pre *pre = &w->r.pre[n];
        FtB_Block dv = NULL;
        if (!ftb_expr_uses(pre->expr, a.feed->name))
            continue;
        if (pre->side == FTB_SIDE_ROW && w->r.post)
            info = differentiate(&dv, &w->post, pre->name, FTB_SIDE_ROW, g->p->nrows);
        if (info == GrB_SUCCESS && (pre->side == FTB_SIDE_COL || dv))
            info = add_part_from(&a, pre->expr, pre->side, dv ? dv : w->du);
        FtB_Block_free(&dv);
    }
    if (info != GrB_SUCCESS)
        FtB_Block_free(&a.sum);
    *T = a.sum;
    return info;
}
