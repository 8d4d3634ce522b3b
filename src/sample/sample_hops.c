/* A sample whose hops a device draws together (verbs/hops_product.h): what is asked of it, and layers of what
 * it made. */
#include "sample/sample_hops.h"

#include "core/draws.h"
#include "ops/backends.h"

#include <stdio.h>

_Static_assert((int)FTB_SAMPLE_PLAN == (int)FTB_HOPS_TEXT, "the same text");

/* Why hops are drawn each by itself: NULL, where vertices are merged, if only within trees, and have rows in
 * every layer, and no text is evaluated. */
static const char *why_each(const ftb_selector *selector, const FtB_Sample_options *o)
{
    const ftb_sample_product *p = &selector->product;
    if (o->apart || o->once || o->self)
        return o->apart  ? "vertices that are not merged"
               : o->once ? "vertices picked of once"
                         : "self entries";
    if (ftb_sample_filters(p))
        return "entries that are left out";
    if (p->selector == FTB_SAMPLE_WEIGHTED && !selector->tables)
        return selector->text ? "no tables of the weights so far" : "a key that is no text has no tables";
    if (ftb_sample_scales(p) || (p->key && p->selector != FTB_SAMPLE_WEIGHTED))
        return p->key ? "the host evaluates the key" : "the host's selector";
    return NULL;
}

static ftb_hops_way way_of(const char *plan)
{
    return !plan ? FTB_HOPS_PLANNED : strcmp(plan, "queue") == 0 ? FTB_HOPS_QUEUE : FTB_HOPS_LEVELS;
}

/* The arrays become the sample's, also on failure. */
static GrB_Info take_layer(FtB_Sample s, const ftb_selector *selector, bool multi, ftb_hop *hop, int h)
{
    const FtB_Matrix A = selector->A;
    int64_t ncols = s->nseeds;
    s->edges[h] = hop->entries;
    s->picked[h] = hop->picks;
    s->found[h + 1] = hop->nfresh;
    for (int g = 0; g <= h; g++)
        ncols += s->found[g + 1];
    ftb_pattern *pattern = ftb_pattern_new(s->ctx, hop->nrows, ncols, hop->rowptr, hop->columns);
    if (pattern)
        pattern->multi = multi;
    return ftb_matrix_make(&s->layer[h], s->ctx, A->type, hop->values ? A->width : 0, pattern, hop->values);
}

/* What a device made is the sample's. */
static GrB_Info take(FtB_Sample s, const ftb_selector *selector, const ftb_hops_product *p)
{
    const bool multi = selector->product.replace || selector->A->pattern->multi;
    GrB_Info info = GrB_SUCCESS;
    memcpy(s->plan, p->text, sizeof s->plan);
    ftb_delete(s->vertices);
    ftb_delete(s->trees);
    s->vertices = p->vertices;
    s->trees = p->vertex_trees;
    s->nvertices = p->nvertices;
    for (int h = 0; h < s->nhops; h++) {
        const GrB_Info made = take_layer(s, selector, multi, &p->hop[h], h);
        info = info == GrB_SUCCESS ? made : info;
        s->work += p->hop[h].nrows + p->hop[h].picks;
    }
    return info;
}

/* Draws of each hop; *words, ftb_new()ed, are those of trees. */
static GrB_Info seed_hops(uint64_t **words, ftb_hops_product *p, FtB_Sample s, uint64_t seed, int64_t batch)
{
    uint64_t *next = NULL;
    if (s->trees && !(next = *words = ftb_new(s->ctx, 2 * s->nseeds * s->nhops, sizeof *next)))
        return ftb_nomem();
    for (int h = 0; h < s->nhops; h++) {
        p->hop[h].seed = seed;
        p->hop[h].stream = ftb_draw_stream(&p->hop[h].seed, (uint64_t)batch, (uint64_t)h);
        if (!s->trees)
            continue;
        p->hop[h].seeds = next;
        p->hop[h].streams = next + s->nseeds;
        ftb_sample_seed_trees(next, next + s->nseeds, s, &(ftb_tree_draws){seed, batch, h});
        next += 2 * s->nseeds;
    }
    return GrB_SUCCESS;
}

/* *why: NULL, or why nothing was done. */
static GrB_Info draw(const char **why, FtB_Sample s, const ftb_selector *selector,
                     const FtB_Sample_options *o, const int64_t *fanouts)
{
    const ftb_verb_limits *can = ftb_device(s->ctx)->verbs->limits;
    const FtB_Matrix A = selector->A;
    const ftb_sample_product *pick = &selector->product;
    ftb_hop hop[FTB_HOPS_MOST] = {{.k = 0}};
    const bool weighted = pick->selector == FTB_SAMPLE_WEIGHTED;
    ftb_hops_product p = {.ctx = s->ctx,
                          .p = A->pattern,
                          .seeds = s->vertices,
                          .nseeds = s->nseeds,
                          .trees = s->trees,
                          .ntrees = s->nseeds,
                          .nhops = s->nhops,
                          .hop = hop,
                          .selector = pick->selector,
                          .replace = pick->replace,
                          .threshold = pick->threshold,
                          .key = pick->values && !weighted ? A->values : NULL,
                          .key_type = pick->type,
                          .tables = weighted ? selector->tables : NULL,
                          .values = !o->structural && A->width > 0 ? A->values : NULL,
                          .value_bytes = A->width * (int64_t)FtB_Type_size(A->type),
                          .edges = o->edges,
                          .way = way_of(o->plan)};
    uint64_t *words = NULL;
    for (int h = 0; h < s->nhops; h++)
        hop[h].k = fanouts[h];
    *why = can->hops_fit(&p) ? NULL : "no kernels for all of them";
    GrB_Info info = *why ? GrB_SUCCESS : seed_hops(&words, &p, s, pick->seed, o->batch);
    if (*why || info != GrB_SUCCESS)
        return info;
    ftb_use use;
    ftb_use_begin(&use);
    info = can->hops(&p);
    ftb_use_end(&use);
    ftb_delete(words);
    if (info == GrB_SUCCESS)
        return take(s, selector, &p);
    *why = "the device had no room, or was lost, or the host has something to say of a row"; /* nothing is
                                                                                                left */
    return ftb_device_failed(info) ? GrB_SUCCESS : info;
}

GrB_Info ftb_sample_hops(bool *done, FtB_Sample s, ftb_selector *selector, const FtB_Sample_options *o,
                         const int64_t *fanouts)
{
    const ftb_backend *device = ftb_device(s->ctx);
    const ftb_verb_limits *can = device ? device->verbs->limits : NULL;
    *done = false;
    if (!can || !can->hops)
        return GrB_SUCCESS;
    GrB_Info info = ftb_selector_tables(selector);
    const char *why = s->nhops > FTB_HOPS_MOST ? "more than 16" : why_each(selector, o);
    if (info == GrB_SUCCESS && !why)
        info = draw(&why, s, selector, o, fanouts);
    *done = info == GrB_SUCCESS && !why;
    if (why)
        snprintf(s->plan, sizeof s->plan, "hops each by itself: %s", why);
    return info;
}
