/* Neighbourhoods of vertices that walks visit: each hop walks from all vertices that were found so far, keeps
 * those that were visited most, and numbers them, targets first (FtB_pinsage). */
#include "core/draws.h"
#include "cpu/sample/sample_run.h"
#include "cpu/sample/visits_run.h"
#include "ops/backends.h"
#include "sample/sample_object.h"
#include "sample/walker.h"

typedef struct call {
    FtB_Sample sample;
    FtB_Context ctx;
    FtB_Matrix A;
    ftb_walker walker;
    uint64_t seed;
    int64_t length;
    /* the hop at hand */
    int64_t *walks, *rowptr;
    ftb_visits visits;
    int32_t *local;
} call;

static GrB_Info check_hops(const int64_t *fanouts, int nhops)
{
    if (nhops < 0)
        return ftb_fail(GrB_INVALID_VALUE, "nhops is %d; expected 0 or more", nhops);
    if (!fanouts && nhops > 0)
        return ftb_fail(GrB_NULL_POINTER, "fanouts is NULL; expected %d numbers", nhops);
    for (int h = 0; h < nhops; h++)
        if (fanouts[h] < -1)
            return ftb_fail(GrB_INVALID_VALUE, "fanouts[%d] is %lld; expected 0 or more, or -1 for all", h,
                            (long long)fanouts[h]);
    return GrB_SUCCESS;
}

static GrB_Info begin(call *c, const int64_t *seeds, int64_t nseeds, const int64_t *fanouts, int nhops,
                      const FtB_Walk_options *options)
{
    GrB_Info info = ftb_arg_matrix_anywhere(&c->A, FTB_ARG(c->A), "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_check_square(c->A);
    if (info == GrB_SUCCESS)
        info = ftb_check_vertices(c->ctx, seeds, nseeds, c->A->pattern->nrows, "seeds");
    if (info == GrB_SUCCESS)
        info = check_hops(fanouts, nhops);
    if (info == GrB_SUCCESS && c->length < 0)
        info = ftb_fail(GrB_INVALID_VALUE, "length is %lld; expected 0 or more", (long long)c->length);
    if (info == GrB_SUCCESS)
        info = ftb_walker_begin(&c->walker, c->ctx, c->A, options, "FtB_pinsage");
    c->seed = c->walker.selector.product.seed;
    return info == GrB_SUCCESS ? ftb_sample_new(&c->sample, c->ctx, seeds, nseeds, nhops) : info;
}

/* Walks from all vertices, and whom they visit most. */
static GrB_Info visit(call *c, int64_t k, int hop)
{
    const int64_t nrows = c->sample->nvertices, each = c->walker.options.each;
    int64_t width, all;
    if (c->length == INT64_MAX || __builtin_mul_overflow(each, c->length + 1, &width) ||
        __builtin_mul_overflow(width, nrows, &all))
        width = all = INT64_MAX; /* refused by the allocator, with its message */
    c->walks = ftb_new(c->ctx, all, sizeof *c->walks);
    c->rowptr = ftb_new(c->ctx, nrows + 1, sizeof *c->rowptr);
    if (!c->walks || !c->rowptr)
        return ftb_nomem();
    const ftb_walk_list list = {
        .starts = c->sample->vertices, .count = nrows * each, .length = c->length, .out = c->walks};
    c->walker.selector.product.seed = ftb_random_mix(c->seed, (uint64_t)hop, FTB_DRAW_LIST);
    GrB_Info info = ftb_walker_run(&c->walker, &list);
    if (info != GrB_SUCCESS)
        return info;
    c->visits = (ftb_visits){.ctx = c->ctx,
                             .walks = c->walks,
                             .own = c->sample->vertices,
                             .nrows = nrows,
                             .width = width,
                             .k = k,
                             .wide = c->A->pattern->wide,
                             .rowptr = c->rowptr};
    return ftb_visits_run(&c->visits);
}

/* Numbers for whom they visit; counts go with them, as entries of picks do. */
static GrB_Info relabel(call *c, int hop)
{
    FtB_Sample s = c->sample;
    const ftb_place nothing[] = {{.X = NULL}};
    GrB_Info info = GrB_SUCCESS;
    c->local = ftb_new(c->ctx, c->rowptr[s->nvertices], sizeof *c->local);
    if (!c->local)
        return ftb_nomem();
    ftb_relabel_product p = {.ctx = c->ctx,
                             .known = s->vertices,
                             .nknown = s->nvertices,
                             .bound = c->A->pattern->ncols,
                             .nrows = s->nvertices,
                             .rowptr = c->rowptr,
                             .columns = c->visits.columns,
                             .wide = c->visits.wide,
                             .local = c->local,
                             .entries = c->visits.counts,
                             .work = &s->work};
    FTB_RUN(info, FTB_WHO_FITS(c->ctx, relabel, &p), relabel, nothing, &p);
    if (info == GrB_SUCCESS) {
        ftb_sample_take(s, &p);
        s->found[hop + 1] = p.nfresh;
    }
    return info;
}

static GrB_Info make_layer(call *c, int64_t nrows, int hop)
{
    const int64_t count = c->rowptr[nrows];
    float *weights = ftb_new(c->ctx, count, sizeof *weights);
    if (!weights)
        return ftb_nomem();
    ftb_cast(weights, FTB_FP32, c->visits.counts, FTB_INT64, count);
    c->sample->picked[hop] = count;
    ftb_buffer *rowptr = ftb_buffer_adopt(c->ctx, c->rowptr), *colidx = ftb_buffer_adopt(c->ctx, c->local);
    c->rowptr = NULL;
    c->local = NULL;
    ftb_pattern *pattern = ftb_pattern_new(c->ctx, nrows, c->sample->nvertices, rowptr, colidx);
    return ftb_matrix_make(&c->sample->layer[hop], c->ctx, FTB_FP32, 1, pattern,
                           ftb_buffer_adopt(c->ctx, weights));
}

static void end_hop(call *c)
{
    ftb_delete(c->walks);
    ftb_delete(c->rowptr);
    ftb_delete(c->local);
    ftb_delete(c->visits.columns);
    ftb_delete(c->visits.counts);
    c->walks = c->rowptr = NULL;
    c->local = NULL;
    c->visits = (ftb_visits){.ctx = NULL};
}

GrB_Info FtB_pinsage(FtB_Sample *sample, FtB_Matrix A, const int64_t *seeds, int64_t nseeds,
                     const int64_t *fanouts, int nhops, int64_t length, const FtB_Walk_options *options)
{
    call c = {.A = A, .ctx = ftb_context(), .length = length};
    if (!sample)
        return ftb_fail(GrB_NULL_POINTER, "FtB_pinsage: sample is NULL");
    *sample = NULL;
    GrB_Info info = begin(&c, seeds, nseeds, fanouts, nhops, options);
    for (int h = 0; h < nhops && info == GrB_SUCCESS; h++) {
        const int64_t nrows = c.sample->nvertices;
        info = visit(&c, fanouts[h], h);
        if (info == GrB_SUCCESS)
            info = relabel(&c, h);
        if (info == GrB_SUCCESS)
            info = make_layer(&c, nrows, h);
        end_hop(&c);
    }
    if (info == GrB_SUCCESS) {
        *sample = c.sample;
        c.sample = NULL;
    }
    FtB_Sample_free(&c.sample);
    ftb_walker_end(&c.walker);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.ctx);
    return info;
}
