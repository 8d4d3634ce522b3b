/* Whether a product with a vector pushes from the vector's entries or pulls over the matrix: by the work of
 * each. One of the two walks the matrix by rows as it is, the other its transpose, which is made once: when
 * it would have saved as much as it takes. */
#include "plan/mxv_plan.h"

#include "plan/vertex_plan.h"

/* Those of a superstep with these messages; nanoseconds. */
static ftb_vertex_costs costs_of(const ftb_mxv_facts *f, int threads)
{
    const double share = f->receivers > 0 ? (double)f->open / (double)f->receivers : 0;
    return ftb_vertex_costs_of(&(ftb_vertex_facts){.n = f->receivers,
                                                   .nvals = f->nvals,
                                                   .active = f->entries,
                                                   .edges = f->edges,
                                                   .threads = threads,
                                                   .first = f->first,
                                                   .plain = f->plain,
                                                   .far = f->far,
                                                   .open = f->open,
                                                   .left = (int64_t)(share * (double)f->nvals)});
}

/* The lesser of the two; while the pattern that it wants is not there, the other one, until that pays. */
static ftb_mxv_way choose_lesser(ftb_mxv_plan *plan, const ftb_mxv_facts *f)
{
    const bool push = plan->push_seconds <= plan->pull_seconds, made = push ? f->push_made : f->pull_made;
    const double saved =
        1e9 * (push ? plan->pull_seconds - plan->push_seconds : plan->push_seconds - plan->pull_seconds);
    if (!made && f->missed + saved < costs_of(f, plan->threads).transpose) {
        plan->missed = saved;
        return push ? FTB_MXV_PULL : FTB_MXV_PUSH;
    }
    return push ? FTB_MXV_PUSH : FTB_MXV_PULL;
}

static ftb_mxv_way choose(ftb_mxv_plan *plan, const ftb_mxv_facts *f)
{
    const ftb_mxv_way asked = plan->forced & FTB_MXV_SET_WAY ? plan->asked : FTB_MXV_AUTO;
    if (f->all && (asked == FTB_MXV_ALL || (asked == FTB_MXV_AUTO && !f->first)))
        return FTB_MXV_ALL;
    if (!f->may_push)
        return FTB_MXV_PULL;
    return asked == FTB_MXV_PUSH || asked == FTB_MXV_PULL ? asked : choose_lesser(plan, f);
}

void ftb_rule_mxv(ftb_mxv_plan *plan, const ftb_mxv_facts *f)
{
    const int threads = plan->forced & FTB_MXV_SET_THREADS ? (int)plan->asked_threads : f->threads;
    plan->threads = threads > 0 ? threads : 1;
    plan->missed = 0;
    const ftb_vertex_costs costs = costs_of(f, plan->threads);
    plan->push_seconds = 1e-9 * costs.push;
    plan->pull_seconds = 1e-9 * costs.pull;
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
    if (made.way != way || (facts->all && !facts->first && way != FTB_MXV_ALL)) /* that would be other bits */
        return false;
    made.origin = origin;
    *plan = made;
    return true;
}
