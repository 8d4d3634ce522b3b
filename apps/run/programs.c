/* The library's vertex programs, a row each. To add one, write what calls it and a row;
 * cmd_run.c has the options and says in its description what it writes. */
#include "run/programs.h"

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

static GrB_Info pagerank(run_work *w)
{
    const run_values *v = w->values;
    GrB_Info info = FtB_Block_new(&w->X, w->n, 1, FTB_FP64);
    if (info != GrB_SUCCESS)
        return info;
    return FtB_pagerank(w->X, w->A,
                        FTB_PAGERANK(.kind = v->definition > 0 ? FTB_PAGERANK_NETWORKX : FTB_PAGERANK_GAP,
                                     .damping = isnan(v->damping) ? 0 : v->damping,
                                     .tolerance = isnan(v->tolerance) ? 0 : v->tolerance, .rounds = v->rounds,
                                     .explain = w->explain, .supersteps = &w->supersteps));
}

const run_program run_programs[] = {
    {"bfs", " sources ", true, bfs},
    {"sssp", " sources ", true, sssp},
    {"pagerank", " definition damping tolerance ", false, pagerank},
    {"components", "", false, components},
};
const int run_programs_count = sizeof run_programs / sizeof *run_programs;
