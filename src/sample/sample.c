/* Neighbourhoods of seeds, hop by hop: pick entries of the rows of all vertices that were found so far,
 * number what they point at, targets first (FtB_sample). */
#include "sample/sample_object.h"

#include "core/draws.h"
#include "core/options.h"
#include "core/words.h"
#include "cpu/sample/induced_run.h"
#include "cpu/sample/sample_run.h"
#include "ops/backends.h"
#include "sample/sample_hops.h"
#include "sample/selector.h"

typedef struct call {
    FtB_Sample sample;
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Sample_options options;
    ftb_selector selector;
    uint64_t *tree_seeds, *tree_streams;
    /* the hop at hand */
    int64_t row0, nrows; /* vertices that are picked of */
    ftb_picks picks;
    int32_t *local;
    double *before; /* scales of the hop before's layer */
} call;

/* ---- arguments */

static GrB_Info check_hops(const call *c, const int64_t *fanouts, int nhops)
{
    char name[FTB_WORDS];
    if (nhops < 0)
        return ftb_fail(GrB_INVALID_VALUE, "nhops is %d; expected 0 or more", nhops);
    if (!fanouts && nhops > 0)
        return ftb_fail(GrB_NULL_POINTER, "fanouts is NULL; expected %d numbers", nhops);
    GrB_Info info = GrB_SUCCESS;
    for (int h = 0; h < nhops && info == GrB_SUCCESS; h++) {
        snprintf(name, sizeof name, "fanouts[%d]", h);
        info = ftb_selector_check(&c->selector, fanouts[h], name);
    }
    return info;
}

static GrB_Info check_options(const call *c)
{
    if (c->options.batch < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: batch is %lld; expected 0 or more",
                        (long long)c->options.batch);
    if (c->options.plan && strcmp(c->options.plan, "levels") != 0 && strcmp(c->options.plan, "queue") != 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: plan is \"%.40s\"; expected \"levels\" or \"queue\"",
                        c->options.plan);
    if (c->options.key && c->options.key_op)
        return ftb_fail(GrB_INVALID_VALUE, "options: both key and key_op are given; expected one of them");
    if (c->options.times.at && !c->options.disjoint)
        return ftb_fail(GrB_INVALID_VALUE, "options: times go with disjoint trees; expected disjoint");
    if (c->options.stack < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: stack is %lld; expected 0 or more",
                        (long long)c->options.stack);
    if (c->options.induced && c->options.apart)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: induced means nothing where each pick is a vertex, apart");
    return GrB_SUCCESS;
}

static GrB_Info begin(call *c, const int64_t *seeds, int64_t nseeds, const int64_t *fanouts, int nhops,
                      const FtB_Sample_options *options)
{
    GrB_Info info =
        ftb_options_read(&c->options, sizeof c->options, options, "FtB_sample", "FTB_SAMPLE_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&c->A, FTB_ARG(c->A), "A", false);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_check_square(c->A);
    if (info == GrB_SUCCESS)
        info = ftb_check_vertices(c->ctx, seeds, nseeds, c->A->pattern->nrows, "seeds");
    if (info == GrB_SUCCESS)
        info = check_options(c);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_selector_options how = {.key = c->options.key ? FTB_ARG(c->options.key)
                                                            : FTB_ARG(c->options.key_op),
                                      .selector = c->options.selector,
                                      .replace = c->options.replace,
                                      .threshold = c->options.threshold,
                                      .iterations = c->options.iterations,
                                      .times = c->options.times,
                                      .until = c->options.until,
                                      .nuntil = nseeds,
                                      .until_of = "the seeds",
                                      .exclude = c->options.exclude,
                                      .reverses = c->options.reverses,
                                      .seed = c->options.seed};
    info = ftb_selector_begin(&c->selector, c->ctx, c->A, &how);
    return info == GrB_SUCCESS ? check_hops(c, fanouts, nhops) : info;
}

/* The object with its seeds. */
static GrB_Info make_sample(call *c, const int64_t *seeds, int64_t nseeds, int nhops)
{
    const GrB_Info info = ftb_sample_new(&c->sample, c->ctx, seeds, nseeds, nhops);
    FtB_Sample s = c->sample;
    if (info != GrB_SUCCESS)
        return info;
    s->once = c->options.once;
    s->stack = c->options.stack;
    s->disjoint = c->options.disjoint;
    if (!c->options.disjoint && !c->options.stack)
        return GrB_SUCCESS;
    c->tree_streams = ftb_new(c->ctx, nseeds, sizeof *c->tree_streams);
    s->trees = ftb_new(c->ctx, nseeds, sizeof *s->trees);
    c->tree_seeds = ftb_new(c->ctx, nseeds, sizeof *c->tree_seeds);
    if (!s->trees || !c->tree_seeds || !c->tree_streams)
        return ftb_nomem();
    for (int64_t t = 0; t < nseeds; t++)
        s->trees[t] = (int32_t)(s->disjoint ? t : t / s->stack);
    return GrB_SUCCESS;
}

/* ---- a hop */

static GrB_Info pick(call *c, int64_t k, int hop)
{
    ftb_sample_product *p = &c->selector.product;
    const uint64_t seed = p->seed;
    if (c->sample->trees)
        ftb_sample_seed_trees(c->tree_seeds, c->tree_streams, c->sample,
                              &(ftb_tree_draws){seed, c->options.batch, hop});
    p->stream = ftb_draw_stream(&p->seed, (uint64_t)c->options.batch, (uint64_t)hop);
    p->work = &c->sample->work;
    if (c->sample->trees) {
        p->seeds = c->tree_seeds;
        p->streams = c->options.stack ? c->tree_streams : NULL;
        p->trees = c->sample->trees + c->row0;
        p->ntrees = c->sample->nseeds;
    }
    const GrB_Info info = ftb_pick(&c->picks, &c->selector, c->sample->vertices + c->row0, c->nrows, k);
    p->seed = seed;
    return info;
}

/* Numbers for picked columns; c->local takes the place of c->picks.columns. Entries go along, or, where there
 * are scales, the numbers of the picks. */
static GrB_Info relabel(call *c, int hop)
{
    FtB_Sample s = c->sample;
    const int64_t count = c->picks.rowptr[c->nrows];
    const ftb_place nothing[] = {{.X = NULL}};
    const bool wide = c->A->pattern->wide;
    GrB_Info info = GrB_SUCCESS;
    int64_t *order = c->picks.scale ? ftb_new(c->ctx, count, sizeof *order) : NULL;
    if (c->picks.scale && !order)
        return ftb_nomem();
    for (int64_t t = 0; order && t < count; t++)
        order[t] = t;
    if (wide && !(c->local = ftb_new(c->ctx, count, sizeof *c->local))) {
        ftb_delete(order);
        return ftb_nomem();
    }
    ftb_relabel_product p = {.ctx = c->ctx,
                             .known = s->vertices,
                             .nknown = s->nvertices,
                             .bound = c->A->pattern->ncols,
                             .trees = s->trees,
                             .ntrees = s->nseeds,
                             .nrows = c->nrows,
                             .row0 = c->row0,
                             .rowptr = c->picks.rowptr,
                             .columns = c->picks.columns,
                             .wide = wide,
                             .apart = c->options.apart,
                             .local = wide ? c->local : c->picks.columns,
                             .entries = order ? order : c->picks.entries,
                             .work = &s->work};
    if (!wide) {
        c->local = c->picks.columns;
        c->picks.columns = NULL;
    }
    FTB_RUN(info, FTB_WHO_FITS(c->ctx, relabel, &p), relabel, nothing, &p);
    if (info == GrB_SUCCESS) {
        ftb_sample_take(s, &p);
        s->found[hop + 1] = p.nfresh;
    }
    if (info == GrB_SUCCESS && order) {
        info = ftb_sample_reorder(c->ctx, order, c->picks.entries, &c->picks.scale, count);
        if (info == GrB_SUCCESS) {
            ftb_delete(c->picks.entries);
            c->picks.entries = order;
            order = NULL;
        }
    }
    ftb_delete(order);
    return info;
}

static GrB_Info add_self(call *c)
{
    ftb_self_rows rows = {.ctx = c->ctx,
                          .p = c->A->pattern,
                          .vertices = c->sample->vertices,
                          .nseeds = c->options.apart || c->options.disjoint ? 0 : c->sample->nseeds,
                          .nrows = c->nrows,
                          .row0 = c->row0,
                          .rowptr = c->picks.rowptr,
                          .local = c->local,
                          .entries = c->picks.entries,
                          .scale = c->picks.scale};
    const GrB_Info info = ftb_sample_self(&rows);
    c->picks.rowptr = rows.rowptr;
    c->local = rows.local;
    c->picks.entries = rows.entries;
    c->picks.scale = rows.scale;
    return info;
}

/* The hop's layer, of the arrays at hand. */
static GrB_Info make_layer(call *c, int hop)
{
    FtB_Sample s = c->sample;
    ftb_picked_values picked = {.type = c->A->type};
    GrB_Info info = GrB_SUCCESS;
    if (!c->options.structural)
        info = ftb_pick_values(&picked, &c->selector,
                               &(ftb_pick_list){.entries = c->picks.entries,
                                                .scale = c->picks.scale,
                                                .count = c->picks.rowptr[c->nrows],
                                                .ones = c->options.self});
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *rowptr = ftb_buffer_adopt(c->ctx, c->picks.rowptr),
               *colidx = ftb_buffer_adopt(c->ctx, c->local);
    c->picks.rowptr = NULL;
    c->local = NULL;
    ftb_pattern *pattern = ftb_pattern_new(c->ctx, c->nrows, s->nvertices, rowptr, colidx);
    if (pattern)
        pattern->multi = c->options.replace || c->A->pattern->multi;
    info = ftb_matrix_make(&s->layer[hop], c->ctx, picked.type, picked.width, pattern, picked.values);
    s->edges[hop] = c->picks.entries;
    c->picks.entries = NULL;
    ftb_delete(c->before);
    c->before = c->picks.scale;
    c->picks.scale = NULL;
    return info;
}

static GrB_Info run_hop(call *c, int64_t k, int hop)
{
    FtB_Sample s = c->sample;
    c->row0 = c->options.once && hop > 0 ? s->nvertices - s->found[hop] : 0;
    c->nrows = s->nvertices - c->row0;
    GrB_Info info = ftb_check_cancelled(c->ctx);
    if (info == GrB_SUCCESS)
        info = pick(c, k, hop);
    if (info == GrB_SUCCESS)
        info = relabel(c, hop);
    if (info == GrB_SUCCESS && c->options.self)
        info = add_self(c);
    if (info != GrB_SUCCESS)
        return info;
    s->picked[hop] = c->picks.rowptr[c->nrows];
    if (c->options.once && hop > 0)
        info = ftb_picks_join(c->ctx, &c->picks, &c->local, &c->nrows,
                              &(ftb_hop_before){.layer = c->sample->layer[hop - 1],
                                                .entries = c->sample->edges[hop - 1],
                                                .scale = c->before});
    return info == GrB_SUCCESS ? make_layer(c, hop) : info;
}

/* All entries among the vertices. */
static GrB_Info induce(call *c)
{
    const FtB_Context ctx = c->ctx;
    FtB_Sample s = c->sample;
    ftb_induced w = {
        .ctx = ctx, .p = c->A->pattern, .vertices = s->vertices, .trees = s->trees, .count = s->nvertices};
    ftb_picked_values picked = {.type = c->A->type};
    GrB_Info info = ftb_induced_run(&w);
    if (info == GrB_SUCCESS && !c->options.structural)
        info = ftb_pick_values(&picked, &c->selector,
                               &(ftb_pick_list){.entries = w.entries, .count = w.rowptr[w.count]});
    s->induced_edges = w.entries;
    if (info != GrB_SUCCESS) {
        ftb_delete(w.rowptr);
        ftb_delete(w.columns);
        return info;
    }
    ftb_pattern *pattern = ftb_pattern_new(ctx, w.count, w.count, ftb_buffer_adopt(ctx, w.rowptr),
                                           ftb_buffer_adopt(ctx, w.columns));
    if (pattern)
        pattern->multi = c->A->pattern->multi;
    info = ftb_matrix_make(&s->induced, ctx, picked.type, picked.width, pattern, picked.values);
    if (info == GrB_SUCCESS && !c->options.edges) {
        ftb_delete(s->induced_edges);
        s->induced_edges = NULL;
    }
    return info;
}

GrB_Info FtB_sample(FtB_Sample *sample, FtB_Matrix A, const int64_t *seeds, int64_t nseeds,
                    const int64_t *fanouts, int nhops, const FtB_Sample_options *options)
{
    call c = {.A = A, .ctx = ftb_context()};
    if (!sample)
        return ftb_fail(GrB_NULL_POINTER, "FtB_sample: sample is NULL");
    *sample = NULL;
    GrB_Info info = begin(&c, seeds, nseeds, fanouts, nhops, options);
    if (info == GrB_SUCCESS)
        info = make_sample(&c, seeds, nseeds, nhops);
    bool done = false;
    if (info == GrB_SUCCESS)
        info = ftb_sample_hops(&done, c.sample, &c.selector, &c.options, fanouts);
    for (int h = 0; h < nhops && info == GrB_SUCCESS && !done; h++)
        info = run_hop(&c, fanouts[h], h);
    if (info == GrB_SUCCESS && c.options.induced)
        info = induce(&c);
    if (info == GrB_SUCCESS)
        info =
            ftb_sample_name_whole(c.sample, c.A, c.before && !c.options.structural); /* scales: all or none */
    for (int h = 0; h < nhops && info == GrB_SUCCESS && !c.options.edges; h++) {
        ftb_delete(c.sample->edges[h]);
        c.sample->edges[h] = NULL;
    }
    if (info == GrB_SUCCESS) {
        *sample = c.sample;
        c.sample = NULL;
    }
    ftb_picks_delete(&c.picks);
    ftb_delete(c.local);
    ftb_delete(c.before);
    ftb_delete(c.tree_seeds);
    ftb_delete(c.tree_streams);
    FtB_Sample_free(&c.sample);
    ftb_selector_end(&c.selector);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.ctx);
    return info;
}
