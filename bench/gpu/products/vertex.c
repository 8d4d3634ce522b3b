/* Vertex programs on a GPU beside the host: PageRank by GAP's definition, breadth-first search and distances
 * from d sources. Where the planner says who does a superstep, and where the device is asked for all of them;
 * distances by Bellman and Ford there, and else by buckets on the host, as FtB_sssp does. First values are
 * put on the host, and so go there in each call; results stay. Before anything is timed, they are compared
 * with the host's. */
#include "products.h"

#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCES = 64 };

typedef struct search {
    products_what what;
    FtB_Matrix A;
    FtB_Block X; /* of every who its own */
    FtB_Program program;
    const char *device;
    FtB_Way way;
    int64_t nsources, sources[MOST_SOURCES];
} search;

/* Column c is 0 at source c, and infinite elsewhere. */
static GrB_Info run_distances(search *s)
{
    if (s->way == FTB_WAY_AUTO)
        return FtB_sssp(s->X, s->A, s->sources, s->nsources, NULL);
    GrB_Info info = ftb_buffer_ask(s->X->owner, FTB_UPDATE);
    float *x = info == GrB_SUCCESS ? ftb_block_data(s->X) : NULL;
    for (int64_t t = 0; x && t < s->X->nrows * s->nsources; t++)
        x[t] = INFINITY;
    for (int64_t c = 0; x && c < s->nsources; c++)
        x[s->sources[c] * s->nsources + c] = 0;
    if (info == GrB_SUCCESS)
        info = FtB_Block_changed(s->X);
    return info == GrB_SUCCESS ? FtB_run(s->program, s->A, FTB_STATE("dist", s->X),
                                         FTB_RUN_OPTIONS(.start = {s->sources, s->nsources}, .way = s->way))
                               : info;
}

static GrB_Info run(search *s)
{
    GrB_Info info = FtB_Context_set_device(NULL, s->device);
    if (info != GrB_SUCCESS)
        return info;
    info = s->what == PRODUCTS_RANKS ? FtB_pagerank(s->X, s->A, NULL)
           : s->what == PRODUCTS_LEVELS
               ? FtB_bfs(s->X, NULL, s->A, s->sources, s->nsources, FTB_RUN_OPTIONS(.way = s->way))
               : run_distances(s);
    const GrB_Info back = FtB_Context_set_device(NULL, "gpu");
    return info == GrB_SUCCESS ? back : info;
}

static bool time_searches(products_who *who, int calls, double *seconds)
{
    const double start = products_now();
    bool ok = true;
    for (int n = 0; ok && n < calls; n++)
        ok = products_ok(who, run(who->state));
    ok = products_ok(who, products_wait()) && ok;
    *seconds = (products_now() - start) / calls;
    return ok;
}

static void end_search(void *state)
{
    search *s = state;
    FtB_Block_free(&s->X);
    FtB_Matrix_free(&s->A);
    FtB_Program_free(&s->program);
    free(s);
}

/* Lengths of 1 to 255, as GAP has them. */
static bool make(products_who *who, search *s, const products_graph *g)
{
    const bool lengths = s->what == PRODUCTS_LENGTHS, ranks = s->what == PRODUCTS_RANKS;
    const FtB_Type type = s->what == PRODUCTS_LEVELS ? FTB_INT32 : FTB_FP32;
    bool ok = products_ok(who, FtB_Matrix_like(&s->A, g->A, lengths, FTB_FP32)) &&
              products_ok(who, FtB_Block_new(&s->X, g->g.nrows, ranks ? 1 : s->nsources, type)) &&
              products_ok(who, FtB_Program_new(&s->program,
                                               FTB_PROGRAM(.send = "dist", .combine = "min : message + edge",
                                                           .apply = "dist = min(dist, received)")));
    float *w = ok && lengths ? ftb_buffer_data(s->A->values) : NULL;
    for (int64_t e = 0; w && e < g->g.nvals; e++)
        w[e] = (float)(1 + ((uint32_t)e * 2654435761u >> 8) % 255);
    return ok;
}

/* The largest difference, of ranks over their size; levels and distances are to be the same. */
static double error_of(const search *s, const search *host)
{
    const int64_t count = host->X->nrows * host->X->ncols;
    const void *x = ftb_block_data(s->X), *y = ftb_block_data(host->X);
    double most = s->what == PRODUCTS_RANKS ? 0 : memcmp(x, y, (size_t)count * 4) != 0;
    for (int64_t t = 0; s->what == PRODUCTS_RANKS && t < count; t++)
        most = fmax(most, fabs((double)((const float *)x)[t] - (double)((const float *)y)[t]) /
                              (double)((const float *)y)[t]);
    return most;
}

/* Beside what the host had before, who is the last. */
static bool check(products_result *r, products_who *who, search *s, search *host)
{
    const double start = products_now();
    if (!products_ok(who, run(s)) || !products_ok(who, products_wait()))
        return false;
    if (s != host && r->first <= 0)
        r->first = products_now() - start;
    if (!products_ok(who, ftb_buffer_ask(s->X->owner, FTB_READ)))
        return false;
    const double error = error_of(s, host);
    r->error = fmax(r->error, error);
    if (error > 1e-4)
        products_say(who, "failed: the result is not the host's");
    return error <= 1e-4;
}

void products_programs(products_result *r, const products_graph *g)
{
    static const struct {
        const char *name, *device;
        FtB_Way way;
    } ways[] = {{"FeatBLAS", "gpu", FTB_WAY_AUTO},
                {"FeatBLAS, all there", "gpu", FTB_WAY_PULL},
                {"FeatBLAS, host", "cpu", FTB_WAY_AUTO}};
    products_who *whos[3];
    search *searches[3] = {NULL};
    for (int n = 0; n < 3; n++) {
        whos[n] = products_add(r, ways[n].name);
        searches[n] = calloc(1, sizeof *searches[n]);
        if (!whos[n] || !searches[n]) {
            free(searches[n]);
            return;
        }
        search *s = searches[n];
        *s = (search){.what = r->of.what,
                      .device = ways[n].device,
                      .way = ways[n].way,
                      .nsources = ftb_min(r->of.d, MOST_SOURCES)};
        for (int64_t c = 0; c < s->nsources; c++) /* spread over the graph */
            s->sources[c] = (int64_t)((uint64_t)(c + 1) * 2654435761u % (uint64_t)g->g.nrows);
        whos[n]->time = time_searches;
        whos[n]->state = s;
        whos[n]->end = end_search;
    }
    for (int n = 2; n >= 0; n--) /* the host first */
        if (!make(whos[n], searches[n], g) || !check(r, whos[n], searches[n], searches[2]))
            whos[n]->time = NULL;
}
