/* Betweenness from sources that are given or drawn, or from all vertices. */
#include "core/draws.h"
#include "core/options.h"
#include "cpu/graph/betweenness_run.h"
#include "vertex/algorithm.h"

/* count of n vertices, each at most once: where one is drawn again, the last of those that it was drawn of
 * stands in for it (Floyd). */
static GrB_Info draw_sources(FtB_Context ctx, int64_t *sources, int64_t count, int64_t n, uint64_t seed)
{
    const uint64_t key = ftb_random_mix(seed, 0, FTB_DRAW_SOURCES);
    uint8_t *taken = ftb_new0(ctx, n, 1);
    if (!taken)
        return ftb_nomem();
    for (int64_t k = 0; k < count; k++) {
        const int64_t last = n - count + k;
        const int64_t v = (int64_t)ftb_draw_below((uint64_t)last + 1, key, (uint64_t)k, 0, 0);
        sources[k] = taken[v] ? last : v;
        taken[sources[k]] = 1;
    }
    ftb_delete(taken);
    return GrB_SUCCESS;
}

/* Sources that the caller left to us. */
static GrB_Info make_sources(ftb_betweenness *w, int64_t **own, int64_t n, uint64_t seed)
{
    if (w->sources)
        return GrB_SUCCESS;
    if (w->nsources < 0 || w->nsources > n)
        return ftb_fail(GrB_INVALID_VALUE, "nsources is %lld, of %lld vertices; expected 0 (all) to as many",
                        (long long)w->nsources, (long long)n);
    const int64_t count = w->nsources > 0 ? w->nsources : n;
    *own = ftb_new(w->ctx, count, sizeof **own);
    if (!*own)
        return ftb_nomem();
    w->sources = *own;
    w->nsources = count;
    for (int64_t v = 0; v < count; v++)
        (*own)[v] = v;
    return count < n ? draw_sources(w->ctx, *own, count, n, seed) : GrB_SUCCESS;
}

/* Over the pairs that a vertex could be between. */
static GrB_Info normalize(const ftb_betweenness *w, int64_t n)
{
    int64_t *times = ftb_new0(w->ctx, n, sizeof *times);
    if (!times)
        return ftb_nomem();
    for (int64_t k = 0; k < w->nsources; k++)
        times[w->sources[k]]++;
    for (int64_t v = 0; v < n; v++) {
        const double pairs = (double)(w->nsources - times[v]) * (double)(n - 2);
        w->sums[v] = pairs > 0 ? w->sums[v] / pairs : 0;
    }
    ftb_delete(times);
    return GrB_SUCCESS;
}

GrB_Info FtB_betweenness(FtB_Block centrality, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                         const FtB_Betweenness_options *options)
{
    const FtB_Context ctx = ftb_context();
    FtB_Betweenness_options o = {.size = 0};
    ftb_betweenness w = {.ctx = ctx, .sources = sources, .nsources = nsources};
    int64_t *own = NULL;
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(
        ftb_check_result(centrality, "centrality", A, 1, FTB_TYPE_BIT(FTB_FP32) | FTB_TYPE_BIT(FTB_FP64)));
    const int64_t n = A->pattern->nrows;
    FTB_CHECK(ftb_options_read(&o, sizeof o, options, "FtB_betweenness", "FTB_BETWEENNESS"));
    if (sources)
        FTB_CHECK(ftb_check_sources(A, sources, nsources));
    FTB_CHECK(ftb_simple_graph(&w.out, ctx, A));
    FTB_CHECK(make_sources(&w, &own, n, o.seed ? o.seed : ctx->seed));
    FTB_CHECK(ftb_pattern_transpose(w.out, &w.in, NULL));
    if (!(w.sums = ftb_new(ctx, n, sizeof *w.sums)))
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_betweenness_run(&w));
    if (o.normalized)
        FTB_CHECK(normalize(&w, n));
    info = ftb_set_column(centrality, w.sums, FTB_FP64);
done:
    ftb_pattern_release(w.out);
    ftb_delete(own);
    ftb_delete(w.sums);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}
