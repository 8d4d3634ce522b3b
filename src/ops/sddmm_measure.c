/* FTB_MEASURE for products over the entries of a pattern: each way that there is (rows as they lie, segments,
 * attention in steps), and from the best of them the neighbours by segment and tile, are run; what is faster
 * becomes the plan. Dot products have the same bits from all; the bits of attention are those of the plan
 * that is found. */
#include "ops/ops.h"
#include "ops/sddmm.h"
#include "plan/wisdom.h"

#define ENOUGH_SECONDS 10 /* of trials */
#define CLEARLY 0.97      /* of the best time so far: less is noise */

typedef struct search {
    const ftb_sddmm_facts *facts;
    ftb_sddmm_trial trial;
    void *run;
    ftb_sddmm_plan best;
    double seconds, spent;
} search;

/* The better of two runs, of which the first builds and warms what is kept. */
static GrB_Info time_plan(double *seconds, search *s, const ftb_sddmm_plan *plan)
{
    GrB_Info info = GrB_SUCCESS;
    for (int run = 0; run < 2 && info == GrB_SUCCESS; run++) {
        double start = ftb_seconds();
        info = s->trial(s->run, plan);
        double took = ftb_seconds() - start;
        s->spent += took;
        *seconds = run == 0 || took < *seconds ? took : *seconds;
    }
    return info;
}

static bool same_choice(const ftb_sddmm_plan *a, const ftb_sddmm_plan *b)
{
    return ftb_sddmm_family_of(a) == ftb_sddmm_family_of(b) && a->segment == b->segment &&
           (a->segment == 0 || a->tile == b->tile);
}

/* The plan that the rule makes of these choices, if that is another one than the best. */
static GrB_Info try_plan(search *s, ftb_sddmm_family family, int64_t segment, int64_t tile, unsigned choices)
{
    ftb_sddmm_plan plan = s->best;
    double seconds = 0;
    if (plan.forced & choices || s->spent > ENOUGH_SECONDS)
        return GrB_SUCCESS;
    plan.family = family;
    plan.segment = ftb_max(1, ftb_min(segment, 65536));
    plan.tile = ftb_max(1, tile);
    plan.forced |= choices;
    ftb_rule_sddmm(&plan, s->facts, ftb_machine_here());
    if (ftb_sddmm_family_of(&plan) != family || same_choice(&plan, &s->best))
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

GrB_Info ftb_sddmm_measure(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, ftb_sddmm_trial trial,
                           void *run, FtB_Context ctx)
{
    const bool free_choice = !plan->forced;
    static const ftb_sddmm_family families[] = {FTB_SDDMM_ROWS, FTB_SDDMM_SEGMENTS, FTB_SDDMM_STAGED};
    const unsigned both = FTB_SDDMM_SET_KERNEL | FTB_SDDMM_SET_SEGMENT | FTB_SDDMM_SET_TILE;
    search s = {.facts = facts, .trial = trial, .run = run, .best = *plan};
    GrB_Info info;
    FTB_CHECK(time_plan(&s.seconds, &s, plan));
    for (int f = 0; f < 3; f++)
        FTB_CHECK(try_plan(&s, families[f], 0, 0, FTB_SDDMM_SET_KERNEL));
    for (int doubled = 0; doubled < 2 && s.best.segment; doubled++) {
        int64_t segment = doubled ? 2 * s.best.segment : s.best.segment / 2;
        FTB_CHECK(try_plan(&s, FTB_SDDMM_SEGMENTS, segment, s.best.tile, both));
    }
    for (int doubled = 0; doubled < 2 && s.best.segment; doubled++) {
        int64_t tile = doubled ? 2 * s.best.tile : s.best.tile / 2;
        FTB_CHECK(try_plan(&s, FTB_SDDMM_SEGMENTS, s.best.segment, tile, both));
    }
    s.best.family = ftb_sddmm_family_of(&s.best);
    s.best.forced |= s.best.segment ? both : FTB_SDDMM_SET_KERNEL;
    *plan = s.best;
    plan->seconds = s.seconds;
    plan->origin = FTB_ORIGIN_TRIAL;
    if (free_choice)
        ftb_wisdom_keep_sddmm(plan, facts, ctx);
done:
    return info;
}
