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

#include "ops/merge.h"

struct ftb_winners {
    ftb_rewritten r;
    ftb_message post; /* of g->forward, over h, count and what is computed once per row; shallow */
    ftb_grad_rows pre[FTB_MAX_PRE], h, dh, du;
    uint8_t *won; /* of each source: whether it won anything */
};

void ftb_winners_delete(struct ftb_winners *w)
{
    if (!w)
        return;
    for (int x = 0; x < w->r.npre; x++)
        ftb_delete(w->pre[x].data);
    ftb_delete(w->h.data);
    ftb_delete(w->dh.data);
    ftb_delete(w->du.data);
    ftb_delete(w->won);
    ftb_rewritten_clear(&w->r);
    ftb_delete(w);
}

/* ---- h */

static ftb_feed feed_of(const ftb_message *m, ftb_side side, const ftb_grad_rows *rows)
{
    return (ftb_feed){.side = side,
                      .type = rows->type,
                      .data = rows->data,
                      .nrows = rows->nrows,
                      .ld = rows->width,
                      .heads = m->heads,
                      .width = rows->width / m->heads};
}

/* h(i,f) = x(k*(i,f), f). */
static GrB_Info gather(struct ftb_winners *w, const ftb_grad *g, const ftb_feed *x)
{
    int64_t values = g->forward.heads * x->width, *k = NULL;
    size_t size = FtB_Type_size(x->type);
    w->h = (ftb_grad_rows){.type = x->type, .nrows = g->p->nrows, .width = values};
    w->h.data = ftb_new0(g->ctx, g->p->nrows * values, size);
    if (!w->h.data)
        return ftb_nomem();
#pragma omp parallel for private(k) num_threads(ftb_threads_for(g->ctx, g->p->nrows *values))
    for (int64_t i = 0; i < g->p->nrows; i++) {
        k = (int64_t *)ftb_block_data(g->saved) + i * g->saved->ld;
        for (int64_t f = 0; f < values; f++)
            if (k[f] >= 0 && k[f] < g->p->nvals)
                memcpy((char *)w->h.data + (size_t)(i * values + f) * size,
                       (const char *)x->data +
                           (size_t)(ftb_col(g->p, k[f]) * x->ld + (x->heads == 1 ? f % x->width : f)) * size,
                       size);
    }
    return GrB_SUCCESS;
}

static GrB_Info push(ftb_message *m, const char *name, const ftb_feed *feed)
{
    if (m->nfeeds == FTB_MAX_FEEDS)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: more than %d names in one gradient", FTB_MAX_FEEDS);
    m->feeds[m->nfeeds] = *feed;
    snprintf(m->feeds[m->nfeeds++].name, FTB_NAME_LENGTH, "%s", name);
    return GrB_SUCCESS;
}

/* Everything that post reads. */
static GrB_Info fill_post(struct ftb_winners *w, const ftb_grad *g, const ftb_feed *x)
{
    GrB_Info info = gather(w, g, x);
    ftb_feed h = feed_of(&g->forward, FTB_SIDE_ROW, &w->h);
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
        info = push(&w->post, "h", &h);
    if (info == GrB_SUCCESS)
        info = push(&w->post, "count", &count);
    for (int n = 0; n < w->r.npre && info == GrB_SUCCESS; n++)
        if (w->r.pre[n].side == FTB_SIDE_ROW) {
            ftb_feed pre = feed_of(&g->forward, FTB_SIDE_ROW, &w->pre[n]);
            info = push(&w->post, w->r.pre[n].name, &pre);
        }
    return info;
}

/* ---- dh and du */

/* The gradient of m's expression with respect to a name, for each vertex of one side. */
static GrB_Info differentiate(ftb_grad_rows *Y, const ftb_message *m, const char *name, ftb_side side,
                              int64_t nrows)
{
    ftb_derivative d;
    GrB_Info info = ftb_gradient(&d, m, name);
    if (info == GrB_SUCCESS && d.expr)
        info = ftb_grad_vertices(Y, m, side, nrows, d.expr);
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
        info = ftb_grad_vertices(&w->dh, &g->forward, FTB_SIDE_ROW, g->p->nrows, grad);
    ftb_expr_release(grad);
    return info;
}

/* Features first .. last - 1 of all rows, in their order, by one thread. */
static void scatter_features(struct ftb_winners *w, const ftb_grad *g, int64_t first, int64_t last)
{
    int64_t values = w->du.width, nvals = g->p->nvals;
    for (int64_t i = 0; i < g->p->nrows; i++) {
        const int64_t *e = (const int64_t *)ftb_block_data(g->saved) + i * g->saved->ld;
        for (int64_t f = first; f < last; f++) {
            if (e[f] < 0 || e[f] >= nvals)
                continue;
            int64_t to = ftb_col(g->p, e[f]) * values + f, from = i * values + f;
            if (w->du.type == FTB_FP32)
                ((float *)w->du.data)[to] += ((const float *)w->dh.data)[from];
            else
                ((double *)w->du.data)[to] += ((const double *)w->dh.data)[from];
        }
    }
}

static void mark_winners(struct ftb_winners *w, const ftb_grad *g)
{
    for (int64_t i = 0; i < g->p->nrows; i++)
        for (int64_t f = 0; f < w->du.width; f++) {
            int64_t e = ((const int64_t *)ftb_block_data(g->saved))[i * g->saved->ld + f];
            if (e >= 0 && e < g->p->nvals)
                w->won[ftb_col(g->p, e)] = 1;
        }
}

#define FEATURES 16 /* of a thread's turn: a cache line of FP32 */

static GrB_Info find_du(struct ftb_winners *w, const ftb_grad *g)
{
    int64_t values = w->dh.width;
    w->du = (ftb_grad_rows){.type = w->dh.type, .nrows = g->p->ncols, .width = values};
    w->du.data = ftb_new0(g->ctx, g->p->ncols * values, FtB_Type_size(w->dh.type));
    w->won = ftb_new0(g->ctx, g->p->ncols, 1);
    if (!w->du.data || !w->won)
        return ftb_nomem();
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for(g->ctx, g->p->nrows *values))
    for (int64_t first = 0; first < values; first += FEATURES)
        scatter_features(w, g, first, ftb_min(first + FEATURES, values));
    mark_winners(w, g);
    return GrB_SUCCESS;
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
        info = ftb_grad_vertices(&w->pre[n], &g->forward, pre->side, nrows, pre->expr);
        if (strcmp(pre->name, w->r.x) == 0)
            x = feed_of(&g->forward, FTB_SIDE_COL, &w->pre[n]);
    }
    *usable = *usable && x.data && !x.at && x.width == g->type.width;
    if (!*usable || info != GrB_SUCCESS)
        return info;
    if (w->r.post)
        info = fill_post(w, g, &x);
    if (info == GrB_SUCCESS)
        info = find_dh(w, g);
    *usable = w->dh.width == g->forward.heads * x.width && (w->dh.type == FTB_FP32 || w->dh.type == FTB_FP64);
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

/* Zeros in rows that do not take part: those without entries, and sources that won nothing. */
static void clear_idle(ftb_grad_rows *Y, const struct ftb_winners *w, const ftb_pattern *p, ftb_side side)
{
    size_t bytes = (size_t)Y->width * FtB_Type_size(Y->type);
    for (int64_t r = 0; r < Y->nrows; r++)
        if (side == FTB_SIDE_ROW ? p->rowptr[r] == p->rowptr[r + 1] : !w->won[r])
            memset((char *)Y->data + (size_t)r * bytes, 0, bytes);
}

typedef struct adder { /* what the parts of a message give for one feed */
    ftb_grad *g;
    struct ftb_winners *w;
    const ftb_feed *feed;
    ftb_grad_rows sum;
} adder;

static GrB_Info add_rows(adder *a, ftb_grad_rows *Y)
{
    if (!a->sum.data) {
        a->sum = *Y;
        Y->data = NULL;
        return GrB_SUCCESS;
    }
    int64_t count = a->sum.nrows * a->sum.width;
    double *all = ftb_new(a->g->ctx, count, sizeof *all);
    if (!all)
        return ftb_nomem();
    for (int64_t v = 0; v < count; v++)
        all[v] = ftb_get_real(a->sum.data, a->sum.type, v) + ftb_get_real(Y->data, Y->type, v);
    ftb_delete(a->sum.data);
    a->sum.data = all;
    a->sum.type = FTB_FP64;
    return GrB_SUCCESS;
}

/* W's part in an expression of vertices. */
static GrB_Info add_whole(adder *a, const ftb_message *m, ftb_side side, int64_t nrows,
                          const ftb_derivative *d)
{
    const FtB_Block W = a->feed->whole;
    GrB_Info info = GrB_SUCCESS;
    if (!a->sum.data) {
        a->sum = (ftb_grad_rows){ftb_new0(a->g->ctx, W->nrows * W->ncols, sizeof(double)), FTB_FP64, W->nrows,
                                 W->ncols};
        if (!a->sum.data)
            return ftb_nomem();
    }
    for (int pair = 0; pair < d->nouter && info == GrB_SUCCESS; pair++) {
        ftb_grad_rows L = {0}, R = {0};
        info = ftb_grad_vertices(&L, m, side, nrows, d->left[pair]);
        if (info == GrB_SUCCESS)
            info = ftb_grad_vertices(&R, m, side, nrows, d->right[pair]);
        if (info == GrB_SUCCESS) {
            clear_idle(&L, a->w, a->g->p, side);
            clear_idle(&R, a->w, a->g->p, side);
            info = ftb_grad_outer(a->sum.data, a->g->ctx, &L, &R, W->nrows, W->ncols);
        }
        ftb_delete(L.data);
        ftb_delete(R.data);
    }
    return info;
}

/* What m, an expression of one side's vertices, gives for the feed. */
static GrB_Info add_part(adder *a, const ftb_message *m, ftb_side side)
{
    ftb_derivative d;
    ftb_grad_rows Y = {0};
    int64_t nrows = side == FTB_SIDE_ROW ? a->g->p->nrows : a->g->p->ncols;
    if (!ftb_expr_uses(m->expr, a->feed->name))
        return GrB_SUCCESS;
    GrB_Info info = ftb_gradient(&d, m, a->feed->name);
    if (info == GrB_SUCCESS && a->feed->whole) {
        info = add_whole(a, m, side, nrows, &d);
    } else if (info == GrB_SUCCESS && d.expr) {
        info = ftb_grad_vertices(&Y, m, side, nrows, d.expr);
        if (info == GrB_SUCCESS) {
            clear_idle(&Y, a->w, a->g->p, side);
            info = a->feed->side == FTB_SIDE_NONE ? ftb_grad_total(&Y, a->g) : GrB_SUCCESS;
        }
        if (info == GrB_SUCCESS)
            info = add_rows(a, &Y);
    }
    ftb_delete(Y.data);
    ftb_derivative_clear(&d);
    return info;
}

/* The same with another gradient to start from. */
static GrB_Info add_part_from(adder *a, ftb_expr *expr, ftb_side side, const ftb_grad_rows *grad)
{
    ftb_message m = a->g->forward;
    m.expr = expr;
    for (int f = 0; f < m.nfeeds; f++)
        if (strcmp(m.feeds[f].name, "grad") == 0) {
            m.feeds[f] = feed_of(&m, side, grad);
            snprintf(m.feeds[f].name, FTB_NAME_LENGTH, "grad");
        }
    return add_part(a, &m, side);
}

static GrB_Info copy_du(adder *a)
{
    ftb_grad_rows Y = a->w->du;
    size_t bytes = (size_t)(Y.nrows * Y.width) * FtB_Type_size(Y.type);
    Y.data = ftb_new(a->g->ctx, (int64_t)bytes, 1);
    if (!Y.data)
        return ftb_nomem();
    memcpy(Y.data, a->w->du.data, bytes);
    GrB_Info info = add_rows(a, &Y);
    ftb_delete(Y.data);
    return info;
}

GrB_Info ftb_winners_feed(ftb_grad_rows *T, ftb_grad *g, struct ftb_winners *w, int f)
{
    adder a = {.g = g, .w = w, .feed = &g->forward.feeds[f]};
    GrB_Info info = strcmp(w->r.x, a.feed->name) == 0 ? copy_du(&a) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && w->r.post)
        info = add_part(&a, &w->post, FTB_SIDE_ROW);
    for (int n = 0; n < w->r.npre && info == GrB_SUCCESS; n++) {
        const ftb_pre *pre = &w->r.pre[n];
        ftb_grad_rows dv = {0};
        if (!ftb_expr_uses(pre->expr, a.feed->name))
            continue;
        if (pre->side == FTB_SIDE_ROW && w->r.post)
            info = differentiate(&dv, &w->post, pre->name, FTB_SIDE_ROW, g->p->nrows);
        if (info == GrB_SUCCESS && (pre->side == FTB_SIDE_COL || dv.data))
            info = add_part_from(&a, pre->expr, pre->side, dv.data ? &dv : &w->du);
        ftb_delete(dv.data);
    }
    if (info == GrB_SUCCESS)
        *T = a.sum;
    else
        ftb_delete(a.sum.data);
    return info;
}
