/* Communities by label propagation, as LDBC Graphalytics has it (CDLP): all at once, and the least of labels
 * that are as frequent. The mode of a list is no sum of any kind, so that these rounds are no program of
 * texts. Raghavan, Albert and Kumara, "Near linear time algorithm to detect community structures in
 * large-scale networks", Phys. Rev. E 2007. */
#include "cpu/graph/communities_run.h"
#include "vertex/algorithm.h"

enum { ROUNDS = 10 };

static GrB_Info check_options(FtB_Run_options *o, const FtB_Run_options *given)
{
    GrB_Info info = ftb_start_at(o, given, NULL, -1, "FtB_communities");
    if (info == GrB_SUCCESS && o->rounds < 0)
        info =
            ftb_fail(GrB_INVALID_VALUE, "options: rounds is %lld; expected 0 or more", (long long)o->rounds);
    o->rounds = o->rounds > 0 ? o->rounds : ROUNDS;
    return info;
}

/* Rounds until nothing changes any more, or all are done. */
static GrB_Info vote(ftb_communities *w, const FtB_Run_options *o, int32_t *labels, int32_t *next,
                     int64_t *rounds)
{
    GrB_Info info = ftb_communities_new(w);
    w->labels = labels;
    w->next = next;
    w->changed = w->p->nvals;
    if (o->explain)
        fprintf(o->explain, "%-9s %12s %10s\n", "round", "changed", "seconds");
    for (*rounds = 0; info == GrB_SUCCESS && *rounds < o->rounds && w->changed > 0;) {
        const double start = ftb_seconds();
        info = ftb_progress(w->ctx, (double)*rounds, (double)o->rounds, "rounds");
        if (info == GrB_SUCCESS)
            info = ftb_communities_run(w);
        if (info != GrB_SUCCESS)
            break;
        ++*rounds;
        if (o->explain)
            fprintf(o->explain, "%-9lld %12lld %10.6f\n", (long long)*rounds, (long long)w->changed,
                    ftb_seconds() - start);
        int32_t *swap = (int32_t *)(uintptr_t)w->labels;
        w->labels = w->next;
        w->next = swap;
    }
    ftb_communities_delete(w);
    return info;
}

GrB_Info FtB_communities(FtB_Block labels, FtB_Matrix A, const FtB_Run_options *options)
{
    const FtB_Context ctx = ftb_context();
    FtB_Run_options o;
    ftb_communities w = {.ctx = ctx};
    int32_t *first = NULL, *second = NULL;
    int64_t rounds = 0;
    GrB_Info info;
    FTB_CHECK(ftb_check_result(labels, "labels", A, 1, FTB_TYPE_BIT(FTB_INT32) | FTB_TYPE_BIT(FTB_INT64)));
    FTB_CHECK(check_options(&o, options));
    FTB_CHECK(ftb_simple_graph(&w.p, ctx, A));
    FTB_CHECK(ftb_pattern_transpose(w.p, &w.t, NULL));
    w.t = w.t == w.p ? NULL : w.t; /* each vote twice: the same label wins */
    first = ftb_new(ctx, w.p->nrows, sizeof *first);
    second = ftb_new(ctx, w.p->nrows, sizeof *second);
    if (!first || !second)
        FTB_CHECK(ftb_nomem());
    for (int64_t v = 0; v < w.p->nrows; v++)
        first[v] = (int32_t)v;
    FTB_CHECK(vote(&w, &o, first, second, &rounds));
    FTB_CHECK(ftb_set_column(labels, w.labels, FTB_INT32));
    if (o.supersteps)
        *o.supersteps = rounds;
done:
    ftb_pattern_release(w.p);
    ftb_delete(first);
    ftb_delete(second);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}
