/* A program on Graphicionado, superstep by superstep: frontiers are those of FtB_run. */
#include "vertex/pipeline_walk.h"

#include "core/search.h"
#include "vertex/algorithm.h"

#include <math.h>

/* ---- a superstep */

/* changed: the vertices that apply changes, which ascend; NULL: all. */
static GrB_Info superstep(ftb_pipeline_totals *t, ftb_pipeline_walk *w, const int64_t *active,
                          int64_t nactive, const int64_t *changed, int64_t nchanged)
{
    const int64_t n = w->p->nrows, slice = ftb_pipeline_slice(w->machine, w->program, n);
    t->supersteps++;
    t->slices = 0;
    GrB_Info info = ftb_check_cancelled(w->ctx);
    for (int64_t first = 0; first < n && info == GrB_SUCCESS; first += slice, t->slices++) {
        const int64_t end = ftb_min(first + slice, n);
        ftb_pipeline_counts c = ftb_pipeline_count(w, active, nactive, first, end);
        c.changed = changed ? ftb_first_not_below(changed, nchanged, end) -
                                  ftb_first_not_below(changed, nchanged, first)
                            : c.vertices;
        ftb_pipeline_add(t, w->machine, w->program, &c);
        info = ftb_check_cancelled(w->ctx);
    }
    return info;
}

static const char *binds(const ftb_pipeline_totals *now, const ftb_pipeline_totals *before)
{
    int most = 0;
    for (int s = 0; s < FTB_PIPE_STAGES; s++)
        if (now->bound[s] - before->bound[s] > now->bound[most] - before->bound[most])
            most = s;
    return ftb_pipeline_stage_names[most];
}

static void tell(FILE *each, const ftb_pipeline_totals *now, const ftb_pipeline_totals *before)
{
    if (!each)
        return;
    if (now->supersteps == 1)
        fprintf(each, "%-9s %12s %14s %14s  %s\n", "superstep", "active", "edges", "cycles", "binds");
    fprintf(each, "%-9lld %12lld %14lld %14.0f  %s\n", (long long)now->supersteps,
            (long long)(now->active - before->active), (long long)(now->edges - before->edges),
            now->cycles - before->cycles, binds(now, before));
}

/* ---- frontiers */

/* A slice of all vertices is the same in every superstep: one is walked, and counts for all. */
static GrB_Info run_all(ftb_pipeline_totals *t, ftb_pipeline_walk *w, int64_t rounds, FILE *each)
{
    ftb_pipeline_totals one = {0};
    const GrB_Info info = superstep(&one, w, NULL, w->p->nrows, NULL, 0);
    for (int64_t r = 0; r < rounds && info == GrB_SUCCESS; r++) {
        const ftb_pipeline_totals before = *t;
        t->supersteps++;
        t->slices = one.slices;
        t->active += one.active;
        t->edges += one.edges;
        t->stalls += one.stalls;
        t->cycles += one.cycles;
        t->fill += one.fill;
        t->bytes += one.bytes;
        for (int s = 0; s < FTB_PIPE_STAGES; s++) {
            t->stage[s] += one.stage[s];
            t->bound[s] += one.bound[s];
        }
        tell(each, t, &before);
    }
    return info;
}

/* Lists the vertices whose distance is another than before, and remembers it. */
static int64_t list_changed(int64_t *list, double *before, const double *dist, int64_t n)
{
    int64_t count = 0;
    for (int64_t v = 0; v < n; v++)
        if (dist[v] != before[v]) {
            before[v] = dist[v];
            list[count++] = v;
        }
    return count;
}

static GrB_Info run_frontiers(ftb_pipeline_totals *t, ftb_pipeline_walk *w, FtB_Run run, FtB_Block D,
                              FILE *each)
{
    const int64_t n = w->p->nrows;
    int64_t *lists[2] = {ftb_new(w->ctx, n, 8), ftb_new(w->ctx, n, 8)}, count = 0;
    double *before = ftb_new(w->ctx, n, sizeof *before);
    void *dist = NULL;
    GrB_Info info = lists[0] && lists[1] && before ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(D, NULL, NULL, NULL, NULL, &dist);
    for (int64_t v = 0; v < n && info == GrB_SUCCESS; v++)
        before[v] = INFINITY;
    if (info == GrB_SUCCESS)
        count = list_changed(lists[0], before, dist, n);
    for (bool more = count > 0; more && info == GrB_SUCCESS;) {
        const ftb_pipeline_totals last = *t;
        int64_t *const active = lists[t->supersteps % 2], *const changed = lists[1 - t->supersteps % 2];
        if ((info = FtB_Run_step(run, &more)) != GrB_SUCCESS)
            break;
        const int64_t nchanged = list_changed(changed, before, dist, n);
        info = superstep(t, w, active, count, changed, nchanged);
        tell(each, t, &last);
        count = nchanged;
    }
    if (info == GrB_SUCCESS && count > 0)
        info =
            ftb_fail(GrB_INVALID_VALUE,
                     "A: still changes after %lld supersteps: a cycle is of negative length", (long long)n);
    ftb_delete(lists[0]);
    ftb_delete(lists[1]);
    ftb_delete(before);
    return info;
}

static GrB_Info run_from(ftb_pipeline_totals *t, ftb_pipeline_walk *w, FtB_Matrix A, int64_t source,
                         FILE *each)
{
    FtB_Program program = NULL;
    FtB_Run run = NULL;
    FtB_Block D = NULL;
    void *dist;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&D, w->p->nrows, 1, FTB_FP64));
    FTB_CHECK(FtB_Block_shape(D, NULL, NULL, NULL, NULL, &dist));
    for (int64_t v = 0; v < w->p->nrows; v++)
        ((double *)dist)[v] = v == source ? 0 : INFINITY;
    FTB_CHECK(FtB_Block_changed(D));
    FTB_CHECK(FtB_Program_new(
        &program, FTB_PROGRAM(.send = "dist",
                              .combine = w->program->weighted ? "min : message + edge" : "min : message + 1",
                              .apply = "dist = min(dist, received)")));
    FTB_CHECK(FtB_Run_new(&run, program, A, FTB_STATE("dist", D),
                          FTB_RUN_OPTIONS(.start = {&source, 1}, .rounds = w->p->nrows)));
    info = run_frontiers(t, w, run, D, each);
done:
    FtB_Run_free(&run);
    FtB_Program_free(&program);
    FtB_Block_free(&D);
    return info;
}

GrB_Info ftb_pipeline_predict(ftb_pipeline_totals *t, const ftb_pipeline_machine *m,
                              const ftb_pipeline_program *p, FtB_Matrix A, int64_t source, int64_t rounds,
                              FILE *each)
{
    ftb_pipeline_walk w;
    *t = (ftb_pipeline_totals){0};
    GrB_Info info = ftb_check_graph(A);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_pipeline_walk_new(&w, A->ctx, m, p, A->pattern);
    if (info == GrB_SUCCESS)
        info = p->all ? run_all(t, &w, rounds, each) : run_from(t, &w, A, source, each);
    ftb_pipeline_walk_free(&w);
    return info;
}

/* ---- bipartite graphs */

GrB_Info ftb_pipeline_bipartite(FtB_Matrix *G, FtB_Matrix A)
{
    const ftb_pattern *p = A->pattern;
    const int64_t nvals = p->nvals, n = p->nrows + p->ncols;
    int64_t *I = ftb_new(A->ctx, 2 * nvals, sizeof *I), *J = ftb_new(A->ctx, 2 * nvals, sizeof *J);
    GrB_Info info = I && J ? FtB_Matrix_tuples(A, I, J, NULL) : ftb_nomem();
    for (int64_t e = 0; e < nvals && info == GrB_SUCCESS; e++) {
        J[nvals + e] = I[e];
        I[nvals + e] = J[e] += p->nrows;
    }
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_build(G, FTB_BOOL, n, n, 0, 2 * nvals, I, J, NULL, FTB_DUP_KEEP, NULL);
    ftb_delete(I);
    ftb_delete(J);
    return info;
}
