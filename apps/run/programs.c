/* The library's vertex programs, a row each. To add one, write what calls it and a row;
 * cmd_run.c has the options and says in its description what it writes. */
#include "run/programs.h"

#include "core/core.h"

#include <math.h>

static FtB_Run_options options_of(run_work *w)
{
    return (FtB_Run_options){.size = sizeof(FtB_Run_options),
                             .rounds = w->values->rounds,
                             .explain = w->explain,
                             .supersteps = &w->supersteps};
}

static GrB_Info bfs(run_work *w)
{
    const FtB_Run_options o = options_of(w);
    FtB_Block levels = NULL, parents = NULL;
    GrB_Info info = FtB_Block_new(&w->X, w->n, 2 * w->nsources, FTB_INT64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_columns(&levels, w->X, 0, w->nsources);
    if (info == GrB_SUCCESS)
        info = FtB_Block_columns(&parents, w->X, w->nsources, w->nsources);
    if (info == GrB_SUCCESS)
        info = FtB_bfs(levels, parents, w->A, w->sources, w->nsources, &o);
    FtB_Block_free(&levels);
    FtB_Block_free(&parents);
    w->vertices = w->nsources;
    return info;
}

static GrB_Info sssp(run_work *w)
{
    const FtB_Run_options o = options_of(w);
    GrB_Info info = FtB_Block_new(&w->X, w->n, w->nsources, FTB_FP64);
    return info == GrB_SUCCESS ? FtB_sssp(w->X, w->A, w->sources, w->nsources, &o) : info;
}

static GrB_Info components(run_work *w)
{
    const FtB_Run_options o = options_of(w);
    GrB_Info info = FtB_Block_new(&w->X, w->n, 1, FTB_INT64);
    w->vertices = 0;
    return info == GrB_SUCCESS ? FtB_components(w->X, w->A, &o) : info;
}

/* --from: as many finite numbers as there are ranks. */
static GrB_Info read_start(const run_work *w, FtB_Block *start, int64_t k)
{
    const char *path = w->values->from;
    int64_t nrows, ncols, ld;
    void *at;
    GrB_Info info = FtB_Block_read(start, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_FP64));
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(*start, &nrows, &ncols, &ld, NULL, &at);
    if (info != GrB_SUCCESS)
        return info;
    if (nrows != w->n || ncols != k)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "--from: %s is %lld x %lld; expected %lld x %lld%s", path,
                        (long long)nrows, (long long)ncols, (long long)w->n, (long long)k,
                        nrows == w->n && ncols == k + 1 ? ", without the vertices' numbers" : "");
    for (int64_t v = 0; v < nrows; v++)
        for (int64_t c = 0; c < ncols; c++)
            if (!isfinite(((const double *)at)[v * ld + c]))
                return ftb_fail(GrB_INVALID_VALUE,
                                "--from: %s: the rank of vertex %lld is %g; expected a finite number", path,
                                (long long)(v + w->names.base), ((const double *)at)[v * ld + c]);
    return GrB_SUCCESS;
}

static GrB_Info pagerank(run_work *w)
{
    const run_values *v = w->values;
    FtB_Block start = NULL;
    w->what = v->method == FTB_PAGERANK_SWEEPS ? "sweeps" : NULL;
    const int64_t k = w->sources ? w->nsources : 1;
    GrB_Info info = FtB_Block_new(&w->X, w->n, k, FTB_FP64);
    if (info == GrB_SUCCESS && v->from)
        info = read_start(w, &start, k);
    if (info == GrB_SUCCESS)
        info = FtB_pagerank(
            w->X, w->A,
            FTB_PAGERANK(.kind = v->definition < 0 ? FTB_PAGERANK_GAP : (FtB_Pagerank_kind)v->definition,
                         .method = v->method < 0 ? FTB_PAGERANK_ROUNDS : (FtB_Pagerank_method)v->method,
                         .damping = isnan(v->damping) ? 0 : v->damping,
                         .tolerance = isnan(v->tolerance) ? 0 : v->tolerance, .rounds = v->rounds,
                         .explain = w->explain, .supersteps = &w->supersteps,
                         .sources = {w->sources, w->nsources}, .start = start));
    FtB_Block_free(&start);
    return info;
}

static GrB_Info triangles(run_work *w)
{
    GrB_Info info = FtB_Block_new(&w->X, w->n, 1, FTB_INT64);
    w->what = "triangles";
    return info == GrB_SUCCESS ? FtB_triangles(&w->supersteps, w->X, w->A) : info;
}

static GrB_Info clustering(run_work *w)
{
    GrB_Info info = FtB_Block_new(&w->X, w->n, 1, FTB_FP64);
    w->what = "coefficients";
    w->supersteps = w->n;
    if (info != GrB_SUCCESS)
        return info;
    return FtB_clustering(w->X, w->A, FTB_CLUSTERING(.undirected = w->values->undirected != 0));
}

/* Each source once, where it comes first. */
static GrB_Info unite_sources(run_work *w)
{
    uint8_t *seen = ftb_new0(ftb_context(), w->n, 1);
    int64_t kept = 0;
    if (!seen)
        return ftb_nomem();
    for (int64_t t = 0; t < w->nsources; t++) {
        const int64_t v = w->sources[t];
        if (!seen[v])
            w->sources[kept++] = v;
        seen[v] = 1;
    }
    w->nsources = kept;
    ftb_delete(seen);
    return GrB_SUCCESS;
}

static GrB_Info betweenness(run_work *w)
{
    const run_values *v = w->values;
    GrB_Info info = w->sources ? unite_sources(w) : GrB_SUCCESS;
    const int64_t count = w->sources ? w->nsources : v->samples;
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&w->X, w->n, 1, FTB_FP64);
    w->what = "sources";
    w->supersteps = count ? count : w->n;
    if (info != GrB_SUCCESS)
        return info;
    return FtB_betweenness(
        w->X, w->A, w->sources, count,
        FTB_BETWEENNESS(.normalized = v->normalized != 0, .seed = (uint64_t)(v->seed < 0 ? 0 : v->seed)));
}

static GrB_Info communities(run_work *w)
{
    const FtB_Run_options o = options_of(w);
    GrB_Info info = FtB_Block_new(&w->X, w->n, 1, FTB_INT64);
    w->what = "rounds";
    w->vertices = 0;
    return info == GrB_SUCCESS ? FtB_communities(w->X, w->A, &o) : info;
}

static GrB_Info topological(run_work *w)
{
    const int64_t *level = NULL;
    GrB_Info info = FtB_Block_new(&w->X, w->n, 1, FTB_INT64);
    w->what = "levels";
    if (info == GrB_SUCCESS)
        info = FtB_topological(w->X, NULL, w->A);
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(w->X, NULL, NULL, NULL, NULL, (void **)(uintptr_t)&level);
    for (int64_t v = 0; v < w->n && info == GrB_SUCCESS; v++)
        w->supersteps = level[v] >= w->supersteps ? level[v] + 1 : w->supersteps;
    return info;
}

const run_program run_programs[] = {
    {"bfs", " sources rounds explain ", true, {32, 20, 2}, bfs},
    {"sssp", " sources rounds explain ", true, {32, 18, 8}, sssp},
    {"pagerank",
     " sources definition method from damping tolerance rounds explain ",
     false,
     {64, 54, 4},
     pagerank},
    {"components", " rounds explain ", false, {20, 0, 1}, components},
    {"triangles", "", false, {72, 0, 4}, triangles},
    {"clustering", " undirected ", false, {108, 0, 4}, clustering},
    {"betweenness", " sources samples seed normalized ", false, {64, 0, 2}, betweenness},
    {"communities", " rounds explain ", false, {32, 0, 1}, communities},
    {"topological", "", false, {48, 0, 8}, topological},
    {"cf", " factors method lambda rate offset held-out items seed rounds ", false, {0, 0, 0}, NULL},
};
const int run_programs_count = sizeof run_programs / sizeof *run_programs;
