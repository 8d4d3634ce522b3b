/* Whether a product with a vector pushes from the vector's entries or pulls over the matrix: by the work of
 * each. Messages cost the same either way; a push gathers and sorts their edges, a pull looks at every entry
 * and every row of the matrix. One of the two walks the matrix by rows as it is, the other its transpose,
 * which is made once: it pays where as many products are to come as there were that would have used it. */
#include "plan/mxv_plan.h"

/* Nanoseconds; orders of magnitude on one Zen 3 core, as of supersteps (rule_vertex.c), which rest on no
 * measurement of a machine. */
#define GATHER 3.0     /* an edge to be brought together */
#define SORT 9.0       /* and sorted: three passes of a radix sort */
#define LOOK 1.2       /* an entry of a pull: its column, and a bit */
#define ROW 2.5        /* a row of a pull, and a place of the result */
#define TRANSPOSE 10.0 /* an entry of a pattern that is not there yet */

static double transpose_of(const ftb_mxv_facts *f, bool made)
{
    const double uses = f->uses > 0 ? (double)f->uses : 1;
    return made ? 0 : (double)f->nvals * TRANSPOSE / uses;
}

static ftb_mxv_way choose(const ftb_mxv_plan *plan, const ftb_mxv_facts *f)
{
    const ftb_mxv_way asked = plan->forced & FTB_MXV_SET_WAY ? plan->asked : FTB_MXV_AUTO;
    if (f->all && (asked == FTB_MXV_AUTO || asked == FTB_MXV_ALL))
        return FTB_MXV_ALL;
    if (!f->may_push)
        return FTB_MXV_PULL;
    if (asked == FTB_MXV_PUSH || asked == FTB_MXV_PULL)
        return asked;
    return plan->push_seconds <= plan->pull_seconds ? FTB_MXV_PUSH : FTB_MXV_PULL;
}

void ftb_rule_mxv(ftb_mxv_plan *plan, const ftb_mxv_facts *f)
{
    const int threads = plan->forced & FTB_MXV_SET_THREADS ? (int)plan->asked_threads : f->threads;
    const double many = threads > 0 ? threads : 1;
    plan->threads = threads > 0 ? threads : 1;
    plan->push_seconds =
        1e-9 * ((double)f->edges * (GATHER / many + SORT) + transpose_of(f, f->push_made) / many);
    plan->pull_seconds =
        1e-9 / many * ((double)f->nvals * LOOK + (double)f->receivers * ROW + transpose_of(f, f->pull_made));
    plan->way = choose(plan, f);
    plan->seconds = plan->way == FTB_MXV_PUSH   ? plan->push_seconds
                    : plan->way == FTB_MXV_PULL ? plan->pull_seconds
                                                : 0;
    plan->origin = FTB_ORIGIN_MODEL;
}

bool ftb_mxv_choose(ftb_mxv_plan *plan, const ftb_mxv_facts *facts, ftb_mxv_way way, ftb_origin origin)
{
    ftb_mxv_plan made = *plan;
    if (!(made.forced & FTB_MXV_SET_WAY) || made.chosen & FTB_MXV_SET_WAY) {
        made.asked = way;
        made.forced |= FTB_MXV_SET_WAY;
        made.chosen |= FTB_MXV_SET_WAY;
    }
    ftb_rule_mxv(&made, facts);
    if (made.way != way || (facts->all && way != FTB_MXV_ALL)) /* that would be other bits */
        return false;
    made.origin = origin;
    *plan = made;
    return true;
}
