/* The verb `attention_grad` on a GPU: of what the verb `attention` has there (kernels/attention_grad.cu), by
 * a walk over the pattern's rows for q and one over its transpose's for k and v. The host's plan has no say
 * here. */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/attention_grad_rows.h"
#include "gpu/launch.h"
#include "gpu/pieces.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/attention_grad.cu"

bool ftb_gpu_attention_grad_fits(const ftb_attention_grad_product *g)
{
    const ftb_attention_product *s = &g->of;
    if (!ftb_gpu_attention_reads(s) || (g->transpose && (g->transpose->wide || s->p->ncols > INT_MAX)) ||
        s->heads > FTB_GPU_MOST_Y / (ftb_max(s->x.width, s->value_width) / 32 + 1))
        return false;
    return ftb_gpu_load(ftb_gpu_of(ftb_device(s->ctx)), SOURCE) == GrB_SUCCESS;
}

/* Rows of heads, as the walks read and write them. */
typedef struct rows {
    const float *at;
    int64_t ld;
} rows;

static rows rows_of(const ftb_feed *x) { return (rows){x->data, x->ld}; }

static bool in_fours(const rows *list, int count)
{
    bool fours = true;
    for (int n = 0; n < count; n++)
        fours &= ftb_gpu_vectors(list[n].at, list[n].ld, sizeof(float));
    return fours;
}

/* One walk, whose arguments are all but where rows and their sums are. */
typedef struct walk {
    const ftb_attention_grad_product *g;
    bool sources;
    ftb_gpu_pieces pieces;
    ftb_attention_grad_arguments a;
} walk;

static ftb_gpu_spans spans_of(const walk *w)
{
    const ftb_attention_grad_arguments *a = &w->a;
    const bool dot = w->g->of.kind == FTB_SCORE_DOT;
    const rows values[] = {{a->other_values, a->ldother_values},
                           {a->own_values, a->ldown_values},
                           {a->grad_values, a->ldgrad_values}},
               scores[] = {{a->other, a->ldother}, {a->own, a->ldown}, {a->grad, a->ldgrad}};
    const bool fours = a->value_width % 4 == 0 && in_fours(values, 3) &&
                       (!dot || (a->width % 4 == 0 && in_fours(scores, 3)));
    return ftb_gpu_spans_of(a->heads, ftb_max(a->width, a->value_width), fours);
}

static GrB_Info launch(ftb_gpu_device *d, walk *w)
{
    ftb_attention_grad_arguments *a = &w->a;
    const ftb_gpu_spans of = spans_of(w);
    const int groups = FTB_ATTENTION_GRAD_BLOCK / of.lanes, heads = of.lanes / of.span,
              tile = of.span * of.values;
    const int64_t tiles = (ftb_max(a->width, a->value_width) + tile - 1) / tile,
                  features = (int64_t)a->heads * (a->width + a->value_width);
    char name[64];
    snprintf(name, sizeof name, "attention_grad_f32_%s_%s_%dx%dx%d", w->sources ? "SOURCES" : "QUERIES",
             w->g->of.kind == FTB_SCORE_DOT ? "DOT" : "ADD", of.lanes, of.span, of.values);
    GrB_Info info = ftb_gpu_launch(d, w->g->of.ctx, SOURCE, name,
                                   (ftb_gpu_grid){.x = (a->npieces + groups - 1) / groups,
                                                  .y = (a->heads + heads - 1) / heads * tiles,
                                                  .threads = FTB_ATTENTION_GRAD_BLOCK},
                                   (void *[]){a});
    if (info != GrB_SUCCESS)
        return info;
    return ftb_gpu_join_cuts(
        d, w->g->of.ctx, &w->pieces, SOURCE, "attention_grad_merge",
        (ftb_gpu_grid){.x = (features + FTB_ATTENTION_GRAD_BLOCK - 1) / FTB_ATTENTION_GRAD_BLOCK,
                       .threads = FTB_ATTENTION_GRAD_BLOCK},
        a);
}

/* own: of the rows that are walked; other: of their entries' columns. */
static GrB_Info begin(walk *w, ftb_gpu_device *d, const ftb_attention_grad_product *g, bool sources)
{
    const ftb_attention_product *s = &g->of;
    const rows q = rows_of(&s->y), k = rows_of(&s->x), v = rows_of(&s->v), t = {g->d, g->ldd},
               other = sources ? q : k, own = sources ? k : q, other_values = sources ? t : v,
               own_values = sources ? v : t;
    ftb_pattern *p = sources ? g->transpose : s->p;
    const int *colidx;
    const long long *from = NULL;
    GrB_Info info = ftb_gpu_rows_ask(&w->pieces, &colidx, p, d);
    if (info == GrB_SUCCESS && sources && g->from)
        info = ftb_gpu_from_ask(&from, p, g->from, d);
    w->g = g;
    w->sources = sources;
    w->a = (ftb_attention_grad_arguments){.npieces = w->pieces.npieces,
                                          .pieces = w->pieces.pieces,
                                          .colidx = colidx,
                                          .from = from,
                                          .other = other.at,
                                          .other_values = other_values.at,
                                          .own = own.at,
                                          .own_values = own_values.at,
                                          .lse = g->lse,
                                          .grad = sources ? g->k : g->q,
                                          .grad_values = sources ? g->v : NULL,
                                          .ldother = other.ld,
                                          .ldother_values = other_values.ld,
                                          .ldown = own.ld,
                                          .ldown_values = own_values.ld,
                                          .ldgrad = sources ? g->ldk : g->ldq,
                                          .ldgrad_values = sources ? g->ldv : 0,
                                          .heads = (int)s->heads,
                                          .width = (int)s->x.width,
                                          .value_width = (int)s->value_width,
                                          .scale = (float)s->scale,
                                          .slope = (float)s->slope,
                                          .drop = ftb_gpu_edge_dropout(s->dropout, s->seed, s->seed_at)};
    return info;
}

static GrB_Info make_delta(ftb_gpu_device *d, const ftb_attention_grad_product *g, float *delta)
{
    const int groups = FTB_ATTENTION_GRAD_BLOCK / FTB_ATTENTION_DELTA_LANES;
    ftb_attention_delta_arguments a = {.t = g->t,
                                       .d = g->d,
                                       .delta = delta,
                                       .ldt = g->ldt,
                                       .ldd = g->ldd,
                                       .count = g->of.p->nrows * g->of.heads,
                                       .heads = (int)g->of.heads,
                                       .value_width = (int)g->of.value_width};
    return ftb_gpu_launch(
        d, g->of.ctx, SOURCE, "attention_grad_delta",
        (ftb_gpu_grid){.x = (a.count + groups - 1) / groups, .y = 1, .threads = FTB_ATTENTION_GRAD_BLOCK},
        (void *[]){&a});
}

static GrB_Info run(ftb_gpu_device *d, walk *w, const float *delta, float *partial)
{
    w->a.delta = delta;
    w->a.partial_values = partial;
    w->a.partial = partial + w->pieces.nslots * w->a.heads * w->a.value_width;
    return launch(d, w);
}

GrB_Info ftb_gpu_attention_grad(const ftb_attention_grad_product *g, const ftb_attention_grad_plan *plan)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(g->of.ctx));
    const bool sources = g->k || g->v;
    const int64_t heads = g->of.heads, row = heads * (g->of.x.width + g->of.value_width);
    walk queries = {.g = NULL}, by_source = {.g = NULL};
    void *scratch = NULL;
    (void)plan;
    GrB_Info info = g->q ? begin(&queries, d, g, false) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && sources)
        info = begin(&by_source, d, g, true);
    if (info != GrB_SUCCESS)
        return info;
    /* Sums of slots first, which are read four at a time; one walk comes after the other. */
    const int64_t slots = ftb_max(queries.pieces.nslots, by_source.pieces.nslots) * row,
                  bytes = (slots + g->of.p->nrows * heads) * (int64_t)sizeof(float);
    info = ftb_device_room(&scratch, &d->row, g->of.ctx, bytes);
    if (info != GrB_SUCCESS)
        return info;
    float *const partial = scratch, *const delta = partial + slots;
    info = make_delta(d, g, delta);
    if (info == GrB_SUCCESS && g->q)
        info = run(d, &queries, delta, partial);
    if (info == GrB_SUCCESS && sources)
        info = run(d, &by_source, delta, partial);
    d->row.memory->free(&d->row, scratch, bytes);
    return info;
}
