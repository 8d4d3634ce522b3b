/* Whether a product with a vector pushes from the vector's entries or pulls over the matrix: by the work of
 * each. One of the two walks the matrix by rows as it is, the other its transpose, which is made once: when
 * it would have saved as much as it takes. */
#include "plan/mxv_plan.h"

/* Nanoseconds. Where the first message decides they are those of supersteps (rule_vertex.c), which were
 * measured; the others are orders of magnitude, which rest on no measurement. Messages themselves cost the
 * same either way. */
#define GATHER 3.0     /* of a push: an edge to be brought together */
#define SORT 9.0       /* and sorted: three passes of a radix sort */
#define LOOK 1.2       /* of a pull: an entry of the matrix, its column, and a bit */
#define ROW 2.5        /* a row, and a place of the result */
#define SENDER 15.0    /* of a push where the first message decides: a row, which is far away */
#define EDGE 2.2       /* and an edge: a mark of its receiver */
#define CLAIM 10.0     /* a receiver that was found: its place in the order */
#define VERTEX 0.6     /* of such a pull: a row, admitted or not */
#define OPEN 15.0      /* one that is */
#define TRANSPOSE 10.0 /* an entry of a pattern that is not there yet */

static double at_most(double x, double y) { return x < y ? x : y; }

static void predict(ftb_mxv_plan *plan, const ftb_mxv_facts *f)
{
    const double threads = plan->threads, edges = (double)f->edges, open = (double)f->open;
    const double share = f->receivers > 0 ? open / (double)f->receivers : 0, left = share * (double)f->nvals;
    double push = edges * (GATHER / threads + SORT);
    double pull = (left * LOOK + (double)f->receivers * ROW) / threads;
    if (f->first) {
        /* A row finds one that meets the vector among nvals / edges entries. */
        const double looks = at_most(left, open * (double)f->nvals / (edges > 1 ? edges : 1));
        push = (double)f->entries * SENDER + edges * EDGE + at_most(edges, (double)f->receivers) * CLAIM;
        pull = ((double)f->receivers * VERTEX + open * OPEN + looks * LOOK) / threads;
    }
    plan->push_seconds = 1e-9 * push;
    plan->pull_seconds = 1e-9 * pull;
}

/* The lesser of the two; while the pattern that it wants is not there, the other one, until that pays. */
static ftb_mxv_way choose_lesser(ftb_mxv_plan *plan, const ftb_mxv_facts *f)
{
    const bool push = plan->push_seconds <= plan->pull_seconds, made = push ? f->push_made : f->pull_made;
    const double saved =
        1e9 * (push ? plan->pull_seconds - plan->push_seconds : plan->push_seconds - plan->pull_seconds);
    if (!made && f->missed + saved < (double)f->nvals * TRANSPOSE / plan->threads) {
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
    predict(plan, f);
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
