/* A sample whose hops a device draws together (verbs/hops_product.h): what is asked of it, and layers of what
 * it made. */
#include "sample/sample_hops.h"

#include "core/draws.h"
#include "ops/backends.h"

_Static_assert((int)FTB_SAMPLE_PLAN == (int)FTB_HOPS_TEXT, "the same text");

/* Where vertices are merged and have rows in every layer, and no text is evaluated. */
static bool is_plain(const ftb_selector *selector, const FtB_Sample_options *o)
{
    return !o->disjoint && !o->apart && !o->once && !o->self && !o->stack && !selector->product.key &&
           !ftb_sample_scales(&selector->product) && !ftb_sample_filters(&selector->product);
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

GrB_Info ftb_sample_hops(bool *done, FtB_Sample s, const ftb_selector *selector, const FtB_Sample_options *o,
                         const int64_t *fanouts)
{
    const ftb_backend *device = ftb_device(s->ctx);
    const ftb_verb_limits *can = device ? device->verbs->limits : NULL;
    const FtB_Matrix A = selector->A;
    const ftb_sample_product *pick = &selector->product;
    ftb_hop hop[FTB_HOPS_MOST] = {{.k = 0}};
    const bool valued = !o->structural && A->width > 0;
    ftb_hops_product p = {.ctx = s->ctx,
                          .p = A->pattern,
                          .seeds = s->vertices,
                          .nseeds = s->nseeds,
                          .nhops = s->nhops,
                          .hop = hop,
                          .selector = pick->selector,
                          .replace = pick->replace,
                          .threshold = pick->threshold,
                          .key = pick->values ? A->values : NULL,
                          .key_type = pick->type,
                          .values = valued ? A->values : NULL,
                          .value_bytes = A->width * (int64_t)FtB_Type_size(A->type),
                          .edges = o->edges,
                          .way = way_of(o->plan)};
    *done = false;
    if (!can || !can->hops || !is_plain(selector, o) || s->nhops > FTB_HOPS_MOST)
        return GrB_SUCCESS;
    for (int h = 0; h < s->nhops; h++) {
        hop[h].k = fanouts[h];
        hop[h].seed = pick->seed;
        hop[h].stream = ftb_draw_stream(&hop[h].seed, (uint64_t)o->batch, (uint64_t)h);
    }
    if (!can->hops_fit(&p))
        return GrB_SUCCESS;
    ftb_use use;
    ftb_use_begin(&use);
    GrB_Info info = can->hops(&p);
    ftb_use_end(&use);
    if (info != GrB_SUCCESS) /* nothing is left of it */
        return ftb_device_failed(info) ? GrB_SUCCESS : info;
    *done = true;
    memcpy(s->plan, p.text, sizeof s->plan);
    ftb_delete(s->vertices);
    s->vertices = p.vertices;
    s->nvertices = p.nvertices;
    for (int h = 0; h < s->nhops; h++) {
        const GrB_Info made = take_layer(s, selector, pick->replace || A->pattern->multi, &hop[h], h);
        info = info == GrB_SUCCESS ? made : info;
        s->work += hop[h].nrows + hop[h].picks;
    }
    return info;
}
