/* FTB_MEASURE for sparse x block: the direct form, the partition that the cost model likes best, and from the
 * better of them the neighbours by segment and tile are run on scratch memory; what is faster becomes the
 * plan. The bits of the result are the same for all. */
#include "ops/ops.h"
#include "ops/spmm.h"

#define ENOUGH_SECONDS 10 /* of trials */
#define CLEARLY 0.97      /* of the best time so far: less is noise */

typedef struct search {
    const ftb_spmm_product *product;
    const ftb_spmm_facts *facts;
    ftb_spmm_plan best;
    double seconds, spent;
} search;

/* The better of two runs, of which the first builds and warms what is kept. */
static GrB_Info time_plan(double *seconds, search *s, const ftb_spmm_plan *plan)
{
    GrB_Info info = GrB_SUCCESS;
    for (int run = 0; run < 2 && info == GrB_SUCCESS; run++) {
        double start = ftb_seconds();
        info = ftb_spmm_run(s->product, plan);
        double took = ftb_seconds() - start;
        s->spent += took;
        *seconds = run == 0 || took < *seconds ? took : *seconds;
    }
    return info;
}

static bool same_choice(const ftb_spmm_plan *a, const ftb_spmm_plan *b)
{
    return a->family == b->family && a->segment == b->segment && a->tile == b->tile;
}

/* The plan that the rule makes of these choices, if that is another one than the best. */
static GrB_Info try_plan(search *s, ftb_spmm_family family, int64_t segment, int64_t tile, unsigned choices)
{
    ftb_spmm_plan plan = s->best;
    double seconds = 0;
    if (plan.forced & choices || s->spent > ENOUGH_SECONDS)
        return GrB_SUCCESS;
    plan.family = family;
    plan.segment = ftb_max(1, ftb_min(segment, 65536));
    plan.tile = ftb_max(1, tile);
    plan.forced |= choices;
    ftb_rule_spmm(&plan, s->facts, ftb_machine_here());
    if (plan.family != family || same_choice(&plan, &s->best))
        return GrB_SUCCESS;
    GrB_Info info = time_plan(&seconds, s, &plan);
    if (info == GrB_SUCCESS && seconds < CLEARLY * s->seconds) {
        unsigned forced = s->best.forced;
        s->best = plan;
        s->best.forced = forced;
        s->seconds = seconds;
    }
    return info;
}

GrB_Info ftb_spmm_measure(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_spmm_product *product)
{
    search s = {.product = product, .facts = facts, .best = *plan};
    const ftb_spmm_family other =
        plan->family == FTB_SPMM_PARTITIONED ? FTB_SPMM_DIRECT : FTB_SPMM_PARTITIONED;
    const unsigned both = FTB_SPMM_SET_KERNEL | FTB_SPMM_SET_SEGMENT;
    GrB_Info info;
    FTB_CHECK(time_plan(&s.seconds, &s, plan));
    FTB_CHECK(try_plan(&s, other, 0, 0, FTB_SPMM_SET_KERNEL));
    for (int doubled = 0; doubled < 2 && s.best.family == FTB_SPMM_PARTITIONED; doubled++) {
        int64_t segment = doubled ? 2 * s.best.segment : s.best.segment / 2;
        FTB_CHECK(try_plan(&s, s.best.family, segment, s.best.tile, both | FTB_SPMM_SET_TILE));
    }
    for (int doubled = 0; doubled < 2 && s.best.family == FTB_SPMM_PARTITIONED; doubled++) {
        int64_t tile = doubled ? 2 * s.best.tile : s.best.tile / 2;
        FTB_CHECK(try_plan(&s, s.best.family, s.best.segment, tile, both | FTB_SPMM_SET_TILE));
    }
    s.best.forced |= FTB_SPMM_SET_KERNEL | FTB_SPMM_SET_TILE;
    if (s.best.family == FTB_SPMM_PARTITIONED)
        s.best.forced |= FTB_SPMM_SET_SEGMENT;
    *plan = s.best;
    plan->seconds = s.seconds;
    plan->origin = FTB_ORIGIN_TRIAL;
done:
    return info;
}
