/* Verbs as their products' comments say them (ref_device.h). */
#include "oracle/ref_device.h"

#include "cpu/block/apply_run.h"
#include "cpu/message_run.h"
#include "cpu/nn/map_rows_run.h"
#include "cpu/reduce.h"
#include "oracle/ref_graph.h"
#include "oracle/ref_nn_verbs.h"
#include "oracle/ref_sample.h"
#include "oracle/ref_spgemm.h"
#include "oracle/ref_vertex.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>

static void *zeros(int64_t count, size_t size)
{
    void *x = calloc((size_t)count + 1, size);
    if (!x)
        abort();
    return x;
}

/* ---- sparse x block */

static int64_t whole_at(const void *x, FtB_Type type, int64_t k)
{
    int64_t value;
    ftb_cast(&value, FTB_INT64, (const char *)x + (size_t)k * FtB_Type_size(type), type, 1);
    return value;
}

static double message(ftb_form form, double x, double y)
{
    switch (form) {
    case FTB_FORM_MUL:
        return x * y;
    case FTB_FORM_ADD:
        return x + y;
    case FTB_FORM_SUB:
        return x - y;
    case FTB_FORM_RSUB:
        return y - x;
    case FTB_FORM_DIV:
        return x / y;
    default:
        return x;
    }
}

static int64_t whole_message(ftb_form form, int64_t x, int64_t y)
{
    const uint64_t a = (uint64_t)x, b = (uint64_t)y; /* which wrap */
    switch (form) {
    case FTB_FORM_MUL:
        return (int64_t)(a * b);
    case FTB_FORM_ADD:
        return (int64_t)(a + b);
    case FTB_FORM_SUB:
        return (int64_t)(a - b);
    case FTB_FORM_RSUB:
        return (int64_t)(b - a);
    case FTB_FORM_COPY:
        return x;
    default:
        abort();
    }
}

static bool goes_first(bool least, double x, double y)
{
    if (isnan(x) || isnan(y))
        return !isnan(x);
    return x == y ? signbit(x) == least && signbit(y) != least : least ? x < y : x > y;
}

/* Feature f of row i. */
static double sum_of(const ftb_spmm_product *p, int64_t i, int64_t f)
{
    const int64_t head = f / p->width, inside = f % p->width;
    const int64_t value = (p->yheads > 1 ? head : 0) * p->ywidth + (p->ywidth > 1 ? inside : 0);
    double all = 0;
    for (int64_t e = p->p->rowptr[i]; e < p->p->rowptr[i + 1]; e++) {
        double x = ref_get(p->x, p->stored, ftb_col(p->p, e) * p->ldx + f);
        double m = message(p->form, x,
                           p->y ? ref_get(p->y, p->ystored, (p->at ? p->at[e] : e) * p->ldy + value) : 0);
        if (!p->kind.best)
            all += m;
        else if (e == p->p->rowptr[i] || goes_first(p->least, m, all))
            all = m;
    }
    const int64_t count = p->p->rowptr[i + 1] - p->p->rowptr[i];
    return p->mean && count ? all / (double)count : all;
}

static int64_t whole_sum_of(const ftb_spmm_product *p, int64_t i, int64_t f)
{
    const int64_t head = f / p->width, inside = f % p->width;
    const int64_t value = (p->yheads > 1 ? head : 0) * p->ywidth + (p->ywidth > 1 ? inside : 0);
    int64_t all = 0;
    for (int64_t e = p->p->rowptr[i]; e < p->p->rowptr[i + 1]; e++) {
        int64_t x = whole_at(p->x, p->stored, ftb_col(p->p, e) * p->ldx + f);
        int64_t m = whole_message(
            p->form, x, p->y ? whole_at(p->y, p->ystored, (p->at ? p->at[e] : e) * p->ldy + value) : 0);
        if (!p->kind.best)
            all = (int64_t)((uint64_t)all + (uint64_t)m);
        else if (e == p->p->rowptr[i] || (p->least ? m < all : m > all))
            all = m;
    }
    return all;
}

static GrB_Info spmm(const ftb_spmm_product *p, const ftb_spmm_plan *plan)
{
    (void)plan;
    const bool whole = p->kind.type == FTB_INT64;
    for (int64_t i = 0; i < p->p->nrows; i++)
        for (int64_t f = 0; f < p->heads * p->width; f++) {
            const int64_t to = i * p->ldo + f;
            if (p->p->rowptr[i] == p->p->rowptr[i + 1] && (p->add || p->empty == FTB_EMPTY_ANYTHING))
                continue;
            if (whole)
                ((int64_t *)p->out)[to] = (int64_t)((uint64_t)whole_sum_of(p, i, f) +
                                                    (uint64_t)(p->add ? ((int64_t *)p->out)[to] : 0));
            else
                ref_put(p->out, p->kind.type, to,
                        sum_of(p, i, f) + (p->add ? ref_get(p->out, p->kind.type, to) : 0));
        }
    return GrB_SUCCESS;
}

/* ---- dense blocks */

static GrB_Info dense(const ftb_dense_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t j = 0; j < p->ncols; j++) {
            double sum = p->add ? ref_get(p->c, p->type, i * p->ldc + j) : 0;
            for (int64_t k = 0; k < p->inner; k++)
                sum += ref_get(p->a, p->type, p->what == FTB_ATB ? k * p->lda + i : i * p->lda + k) *
                       ref_get(p->b, p->type, p->what == FTB_ABT ? j * p->ldb + k : k * p->ldb + j);
            ref_put(p->c, p->type, i * p->ldc + j, sum);
        }
    return GrB_SUCCESS;
}

/* ---- attention */

static double feed_at(const ftb_feed *x, int64_t row, int64_t head, int64_t k)
{
    return ref_get(x->data, x->type, row * x->ld + (x->heads > 1 ? head : 0) * x->width + k);
}

static double kept(const ftb_attention_product *p, int64_t e, int64_t head)
{
    if (p->dropout == 0)
        return 1;
    philox4x32_ctr_t counter = {{(uint32_t)e, (uint32_t)(e >> 32), (uint32_t)(head / 4), 0}};
    philox4x32_key_t key = {{(uint32_t)p->seed, (uint32_t)(p->seed >> 32)}};
    return philox4x32(counter, key).v[head % 4] < p->dropout * 0x1p32 ? 0 : 1 / (1 - p->dropout);
}

/* *slope: of the score's own function, by the sum or the dot product. */
static double score(const ftb_attention_product *p, int64_t i, int64_t j, int64_t head, double *slope)
{
    double sum = 0;
    if (p->kind == FTB_SCORE_ADD) {
        sum = feed_at(&p->x, j, head, 0) + feed_at(&p->y, i, head, 0);
        *slope = sum > 0 ? 1 : p->slope;
        return sum * *slope;
    }
    for (int64_t k = 0; k < p->x.width; k++)
        sum += feed_at(&p->x, j, head, k) * feed_at(&p->y, i, head, k);
    *slope = p->scale;
    return sum * p->scale;
}

static void attend(const ftb_attention_product *p, int64_t i, int64_t head)
{
    const int64_t first = p->p->rowptr[i], last = p->p->rowptr[i + 1];
    double most = -INFINITY, sum = 0, slope;
    for (int64_t e = first; e < last; e++)
        most = fmax(most, score(p, i, ftb_col(p->p, e), head, &slope));
    for (int64_t e = first; e < last && most > -INFINITY; e++)
        sum += exp(score(p, i, ftb_col(p->p, e), head, &slope) - most);
    for (int64_t v = 0; v < p->value_width; v++) {
        double all = 0;
        for (int64_t e = first; e < last && sum > 0; e++)
            all += exp(score(p, i, ftb_col(p->p, e), head, &slope) - most) / sum * kept(p, e, head) *
                   feed_at(&p->v, ftb_col(p->p, e), head, v);
        ref_put(p->out, p->type, i * p->ldo + head * p->value_width + v, all);
    }
    if (p->lse)
        ref_put(p->lse, p->type, i * p->heads + head, sum > 0 ? most + log(sum) : -INFINITY);
}

static GrB_Info attention(const ftb_attention_product *p, const ftb_sddmm_plan *plan)
{
    (void)plan;
    if (p->kind == FTB_SCORE_ANY)
        abort(); /* no device is asked for it */
    for (int64_t i = 0; i < p->p->nrows; i++)
        for (int64_t head = 0; head < p->heads; head++)
            attend(p, i, head);
    return GrB_SUCCESS;
}

typedef struct gradients {
    double *q, *k, *v; /* packed */
} gradients;

static void attend_grad(const ftb_attention_grad_product *g, int64_t i, int64_t head, const gradients *to)
{
    const ftb_attention_product *p = &g->of;
    const int64_t vw = p->value_width, w = p->x.width, here = i * p->heads + head;
    const double lse = ref_get(g->lse, p->type, here);
    double delta = 0, slope;
    for (int64_t v = 0; v < vw; v++)
        delta += ref_get(g->d, p->type, i * g->ldd + head * vw + v) *
                 ref_get(g->t, p->type, i * g->ldt + head * vw + v);
    for (int64_t e = p->p->rowptr[i]; e < p->p->rowptr[i + 1] && lse > -INFINITY; e++) {
        const int64_t j = ftb_col(p->p, e), there = j * p->heads + head;
        const double weight = exp(score(p, i, j, head, &slope) - lse), keep = kept(p, e, head);
        double dot = 0;
        for (int64_t v = 0; v < vw; v++) {
            const double d = ref_get(g->d, p->type, i * g->ldd + head * vw + v);
            dot += d * feed_at(&p->v, j, head, v);
            to->v[there * vw + v] += weight * keep * d;
        }
        const double ds = weight * (dot * keep - delta) * slope;
        for (int64_t k = 0; k < w; k++) {
            const bool add = p->kind == FTB_SCORE_ADD;
            to->q[here * w + k] += add ? ds : ds * feed_at(&p->x, j, head, k);
            to->k[there * w + k] += add ? ds : ds * feed_at(&p->y, i, head, k);
        }
    }
}

static void put_rows(void *out, FtB_Type type, int64_t ld, const double *from, int64_t rows, int64_t count)
{
    for (int64_t i = 0; out && i < rows; i++)
        for (int64_t k = 0; k < count; k++)
            ref_put(out, type, i * ld + k, from[i * count + k]);
}

static GrB_Info attention_grad(const ftb_attention_grad_product *g, const ftb_attention_grad_plan *plan)
{
    (void)plan;
    const ftb_attention_product *p = &g->of;
    const int64_t m = p->p->nrows, n = p->p->ncols, w = p->heads * p->x.width, vw = p->heads * p->value_width;
    const gradients to = {zeros(m * w, sizeof(double)), zeros(n * w, sizeof(double)),
                          zeros(n * vw, sizeof(double))};
    for (int64_t i = 0; i < m; i++)
        for (int64_t head = 0; head < p->heads; head++)
            attend_grad(g, i, head, &to);
    put_rows(g->q, p->type, g->ldq, to.q, m, w);
    put_rows(g->k, p->type, g->ldk, to.k, n, w);
    put_rows(g->v, p->type, g->ldv, to.v, n, vw);
    free(to.q);
    free(to.k);
    free(to.v);
    return GrB_SUCCESS;
}

/* ---- entries */

static GrB_Info sddmm(const ftb_sddmm_product *p, const ftb_sddmm_plan *plan)
{
    (void)plan;
    const ftb_attention_product scored = {
        .kind = p->kind, .x = p->x, .y = p->y, .scale = p->scale, .slope = p->slope};
    double slope;
    for (int64_t i = 0; i < p->p->nrows; i++)
        for (int64_t e = p->p->rowptr[i]; e < p->p->rowptr[i + 1]; e++)
            for (int64_t head = 0; head < p->heads; head++)
                ref_put(p->out, p->type, e * p->heads + head,
                        score(&scored, i, ftb_col(p->p, e), head, &slope));
    return GrB_SUCCESS;
}

static GrB_Info sddmm_grad(const ftb_sddmm_grad_product *p)
{
    const int64_t m = p->p->nrows, n = p->p->ncols, heads = p->heads;
    double *dx = zeros(n * heads, sizeof(double)), *dy = zeros(m * heads, sizeof(double));
    for (int64_t i = 0; i < m; i++)
        for (int64_t e = p->p->rowptr[i]; e < p->p->rowptr[i + 1]; e++)
            for (int64_t head = 0; head < heads; head++) {
                const int64_t j = ftb_col(p->p, e);
                const bool above = feed_at(&p->x, j, head, 0) + feed_at(&p->y, i, head, 0) > 0;
                const double d = ref_get(p->grad, p->type, e * heads + head) * (above ? 1 : p->slope);
                dx[j * heads + head] += d;
                dy[i * heads + head] += d;
            }
    put_rows(p->dx, p->type, heads, dx, n, heads);
    put_rows(p->dy, p->type, heads, dy, m, heads);
    free(dx);
    free(dy);
    return GrB_SUCCESS;
}

static GrB_Info outer(const ftb_outer_product *p)
{
    for (int64_t x = 0; x < p->a; x++)
        for (int64_t y = 0; y < p->b; y++) {
            long double sum = 0; /* both sides may be FP64 */
            for (int64_t t = 0; t < p->items; t++)
                sum += (p->l ? (long double)ref_get(p->l, p->ltype, t * p->a + x) : 1) *
                       (long double)ref_get(p->r, p->rtype, t * p->b + y);
            double *to = (double *)p->sum + x * p->b + y;
            *to = (double)(sum + (p->add ? *to : 0));
        }
    return GrB_SUCCESS;
}

static void softmax_row(const ftb_softmax_product *s, int64_t i, int64_t head, double *row)
{
    const int64_t first = s->p->rowptr[i], count = s->p->rowptr[i + 1] - first;
    const ftb_attention_product drops = {.dropout = s->dropout, .seed = s->seed};
    double most = -INFINITY, sum = 0;
    for (int64_t t = 0; t < count; t++) {
        const int64_t k = (s->from ? s->from[first + t] : first + t) * s->heads + head;
        row[t] = ref_get(s->in, s->type, k);
        most = isnan(most) || row[t] < most ? most : row[t]; /* one that is NaN is greatest */
        sum += s->gradient ? row[t] * ref_get(s->d, s->type, k) : 0;
    }
    for (int64_t t = 0; !s->gradient && t < count; t++)
        sum += row[t] = most == -INFINITY ? 0 : exp(row[t] - most);
    for (int64_t t = 0; t < count; t++) {
        const int64_t k = (s->from ? s->from[first + t] : first + t) * s->heads + head;
        ref_put(s->out, s->type, k,
                s->gradient ? row[t] * (ref_get(s->d, s->type, k) - sum)
                : sum == 0  ? 0
                            : row[t] / sum * kept(&drops, k / s->heads, head));
    }
    if (s->lse)
        ref_put(s->lse, s->type, i * s->heads + head, sum == 0 ? -INFINITY : most + log(sum));
}

static GrB_Info softmax(const ftb_softmax_product *s)
{
    double *row = zeros(s->p->nvals, sizeof *row);
    for (int64_t i = 0; i < s->p->nrows; i++)
        for (int64_t head = 0; head < s->heads; head++)
            softmax_row(s, i, head, row);
    free(row);
    return GrB_SUCCESS;
}

/* ---- winning entries */

static int64_t winner(const ftb_winners_product *w, int64_t i, int64_t f)
{
    const int64_t e = whole_at(w->won, FTB_INT64, i * w->ldwon + f);
    return e < 0 || e >= w->p->nvals ? -1 : ftb_col(w->p, e);
}

static GrB_Info winners(const ftb_winners_product *w)
{
    const size_t size = FtB_Type_size(w->type);
    memset(w->out, 0, (size_t)(w->p->nrows * w->values) * size);
    for (int64_t t = 0; t < w->p->nrows * w->values; t++) {
        const int64_t k = winner(w, t / w->values, t % w->values);
        if (k >= 0)
            memcpy((char *)w->out + (size_t)t * size,
                   (const char *)w->x + (size_t)(k * w->ldx + t % w->values % w->xvalues) * size, size);
    }
    return GrB_SUCCESS;
}

/* For every value of every column, all rows. */
static GrB_Info winners_grad(const ftb_winners_product *w)
{
    for (int64_t k = 0; k < w->p->ncols; k++) {
        ((bool *)w->any)[k] = false;
        for (int64_t f = 0; f < w->values; f++) {
            double sum = 0;
            for (int64_t i = 0; i < w->p->nrows; i++) {
                const bool wins = winner(w, i, f) == k;
                sum += wins ? ref_get(w->x, w->type, i * w->ldx + f) : 0;
                ((bool *)w->any)[k] |= wins;
            }
            ref_put(w->out, w->type, k * w->values + f, sum);
        }
    }
    return GrB_SUCCESS;
}

/* ---- rows of blocks */

static GrB_Info gather(const ftb_gather_product *g)
{
    for (int64_t t = 0; t < g->count; t++)
        for (int64_t j = 0; j < g->ncols; j++)
            ftb_cast((char *)g->y + (size_t)(t * g->ldy + j) * FtB_Type_size(g->ytype), g->ytype,
                     (const char *)g->x + (size_t)(g->rows[t] * g->ldx + j) * FtB_Type_size(g->xtype),
                     g->xtype, 1);
    return GrB_SUCCESS;
}

static GrB_Info scatter(const ftb_scatter_product *s)
{
    const size_t size = FtB_Type_size(s->ytype);
    const bool whole = ftb_type_integer(s->ytype);
    if (s->how == FTB_SCATTER_MAP || s->xtype != s->ytype ||
        (s->how == FTB_SCATTER_FOLD && s->monoid != FTB_PLUS))
        abort(); /* no device is asked for it */
    for (int64_t t = 0; t < s->count; t++)
        for (int64_t j = 0; j < s->ncols; j++) {
            const int64_t from = t * s->ldx + j, to = s->rows[t] * s->ldy + j;
            if (s->how == FTB_SCATTER_REPLACE) {
                memcpy((char *)s->y + (size_t)to * size, (const char *)s->x + (size_t)from * size, size);
            } else if (whole) {
                const int64_t sum = (int64_t)((uint64_t)whole_at(s->y, s->ytype, to) +
                                              (uint64_t)whole_at(s->x, s->xtype, from));
                ftb_cast((char *)s->y + (size_t)to * size, s->ytype, &sum, FTB_INT64, 1);
            } else {
                ref_put(s->y, s->ytype, to, ref_get(s->y, s->ytype, to) + ref_get(s->x, s->xtype, from));
            }
        }
    return GrB_SUCCESS;
}

/* ---- reductions */

/* out[to] = the monoid of count values that begin at x[from] and are `step` apart. */
static void fold(const ftb_reduce_product *r, int64_t to, int64_t from, int64_t count, int64_t step)
{
    const size_t size = FtB_Type_size(r->result);
    char *out = (char *)r->out + (size_t)to * size, all[8];
    const bool sums = ftb_type_float(r->type) && r->monoid == FTB_PLUS;
    double sum = r->add && sums ? ref_get(r->out, r->result, to) : 0;
    ftb_monoid_identity(r->monoid, r->type, all);
    for (int64_t t = 0; t < count; t++)
        if (sums)
            sum += ref_get(r->x, r->type, from + t * step);
        else if (t == 0)
            memcpy(all, (const char *)r->x + (size_t)from * size, size);
        else
            ftb_monoid_apply(r->monoid, r->type, all, (const char *)r->x + (size_t)(from + t * step) * size,
                             1);
    if (sums)
        ref_put(r->out, r->result, to, sum);
    else if (r->add)
        ftb_monoid_apply(FTB_PLUS, r->type, out, all, 1);
    else
        memcpy(out, all, size);
}

static void fold_entries(const ftb_reduce_product *r, int64_t i)
{
    const int64_t first = r->p->rowptr[i], count = r->p->rowptr[i + 1] - first;
    for (int64_t f = 0; f < r->width; f++)
        if (count)
            fold(r, i * r->width + f, first * r->ld + f, count, r->ld);
        else if (r->fills && !r->add)
            ref_put(r->out, r->result, i * r->width + f, r->fill);
}

static GrB_Info reduce(const ftb_reduce_product *r)
{
    const int64_t columns = r->heads * r->width;
    for (int64_t i = 0; r->what == FTB_REDUCE_PATTERN && i < r->p->nrows; i++)
        fold_entries(r, i);
    for (int64_t k = 0; r->what == FTB_REDUCE_ROWS && k < r->nrows * r->heads; k++)
        fold(r, k, k / r->heads * r->ld + k % r->heads * r->width, r->width, 1);
    for (int64_t f = 0; (r->what == FTB_REDUCE_COLUMNS || r->what == FTB_REDUCE_ALL) && f < columns; f++)
        fold(r, f, f, r->nrows, r->ld);
    return GrB_SUCCESS;
}

/* ---- the table */

/* The library's interpreter, in which texts have an oracle of their own. */
static GrB_Info aggregate(const ftb_aggregate_product *product) { return ftb_aggregate_run(product); }
static GrB_Info messages(const ftb_messages_product *product) { return ftb_messages_run(product); }
static GrB_Info apply(const ftb_apply_product *product) { return ftb_apply_run(product); }
static GrB_Info map_rows(const ftb_map_rows_product *product) { return ftb_map_rows_run(product); }

/* Without weights, of which it would have to refuse some. */
static bool has_no_weights(const ftb_sample_product *s)
{
    return s->selector == FTB_SAMPLE_UNIFORM || s->selector == FTB_SAMPLE_LABOR;
}
static const ftb_verb_limits limits = {.sample = has_no_weights};

const ftb_verbs ref_verbs = {
    .limits = &limits,
    .spmm = spmm,
    .spgemm = ref_spgemm,
    .aggregate = aggregate,
    .messages = messages,
    .winners = winners,
    .winners_grad = winners_grad,
    .dense = dense,
    .attention = attention,
    .attention_grad = attention_grad,
    .sddmm = sddmm,
    .sddmm_grad = sddmm_grad,
    .outer = outer,
    .softmax = softmax,
    .gather = gather,
    .scatter = scatter,
    .reduce = reduce,
    .apply = apply,
    .copy = ref_copy,
    .dropout = ref_dropout,
    .head_dots = ref_head_dots,
    .head_dots_grad = ref_head_dots_grad,
    .mean_heads = ref_mean_heads,
    .mean_heads_grad = ref_mean_heads_grad,
    .layer_norm = ref_layer_norm,
    .layer_norm_grad = ref_layer_norm_grad,
    .batch_norm = ref_batch_norm,
    .batch_norm_grad = ref_batch_norm_grad,
    .loss = ref_loss,
    .loss_grad = ref_loss_grad,
    .update = ref_update,
    .sum_squares = ref_sum_squares,
    .map_rows = map_rows,
    .sample = ref_sample,
    .relabel = ref_relabel,
    .components = ref_components,
    .paths = ref_paths,
    .vertex_renew = ref_vertex_renew,
    .vertex_flags = ref_vertex_flags,
    .vertex_sums = ref_vertex_sums,
};
