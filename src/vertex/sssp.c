/* Shortest paths: at once, where no entry is negative (known.c), else by Bellman and Ford. Such a run that
 * goes on and on is looked at for a negative cycle, the more seldom the longer it takes (negative_cycle.c).
 */
#include "vertex/algorithm.h"
#include "vertex/run.h"

#include <math.h>

#define FIRST_LOOK                                                                                           \
    64 /* supersteps; then after twice as many, and so on, and once there were as many as vertices */

typedef struct watch {
    FtB_Matrix A;
    FtB_Block dist;
    int64_t next;
    double edges; /* that were walked along so far */
} watch;

static GrB_Info look(watch *w, const FtB_Superstep *about)
{
    const int64_t n = w->dist->nrows;
    const double nvals = (double)ftb_max(w->A->pattern->nvals, 1);
    const bool must = about->round >= n;
    w->edges += (double)about->edges;
    if (about->round < w->next && about->round != n)
        return GrB_SUCCESS;
    w->next = 2 * ftb_max(about->round, w->next);
    for (int64_t c = 0; c < w->dist->ncols; c++) {
        char *cycle;
        GrB_Info info = ftb_negative_cycle(&cycle, w->A, w->dist, c, must ? (double)n + 1 : w->edges / nvals);
        if (info != GrB_SUCCESS)
            return info;
        if (*cycle)
            info = ftb_fail(GrB_INVALID_VALUE,
                            "A: the cycle %s is of negative length, and is reached from source %lld", cycle,
                            (long long)c);
        ftb_delete(cycle);
        if (info != GrB_SUCCESS)
            return info;
    }
    return about->round >= 2 * n + FIRST_LOOK
               ? ftb_fail(GrB_INVALID_VALUE, "A: sums along a cycle grow less by rounding alone, without end")
               : GrB_SUCCESS;
}

static GrB_Info run(FtB_Program program, FtB_Matrix A, FtB_Block dist, const FtB_Run_options *o)
{
    watch w = {.A = A, .dist = dist, .next = FIRST_LOOK};
    FtB_Superstep about = {.round = 0};
    FtB_Run steps = NULL;
    bool more = true;
    GrB_Info info = FtB_Run_new(&steps, program, A, FTB_STATE("dist", dist), o);
    if (info == GrB_SUCCESS)
        info = ftb_vertex_whole(steps);
    while (info == GrB_SUCCESS && more) {
        info = FtB_Run_step(steps, &more);
        if (info == GrB_SUCCESS)
            info = FtB_Run_about(steps, &about);
        if (info == GrB_SUCCESS && more)
            info = look(&w, &about);
    }
    if (o->supersteps)
        *o->supersteps = about.round;
    FtB_Run_free(&steps);
    return info;
}

GrB_Info FtB_sssp(FtB_Block dist, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                  const FtB_Run_options *options)
{
    FtB_Program program = NULL;
    FtB_Run_options o;
    GrB_Info info;
    FTB_CHECK(ftb_check_result(dist, "dist", A, nsources, FTB_TYPE_BIT(FTB_FP32) | FTB_TYPE_BIT(FTB_FP64)));
    if (A->width > 1)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld values per entry; expected 1 or none",
                           (long long)A->width));
    FTB_CHECK(ftb_check_sources(A, sources, nsources));
    FTB_CHECK(ftb_start_at(&o, options, sources, nsources, "FtB_sssp"));
    FTB_CHECK(FtB_Program_new(&program, FTB_PROGRAM(.send = "dist", .combine = "min : message + edge",
                                                    .apply = "dist = min(dist, received)")));
    FTB_CHECK(ftb_set_sources(dist, (double)INFINITY, 0, false, sources, nsources));
    if (nsources > 0)
        info = run(program, A, dist, &o);
done:
    FtB_Program_free(&program);
    if (info == FTB_CANCELLED && dist)
        ftb_cancel_clear(dist->ctx);
    return info;
}
