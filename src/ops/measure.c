/* FTB_MEASURE for products with feature blocks: the plan as it is and each other way that there is are run,
 * and from the best of them, where it has segments, the neighbours by segment, tile and parts of the rows.
 * What is fastest becomes the plan. Sparse x block and dot products have the same bits from all; the bits of
 * attention are those of the plan that is found. */
#include "ops/sddmm.h"
#include "ops/spmm.h"
#include "plan/wisdom.h"

#include <math.h>

#define ENOUGH_SECONDS 10 /* of trials */
#define CLEARLY 0.97      /* of the best time so far: less is noise */

typedef union either {
    ftb_spmm_plan spmm;
    ftb_sddmm_plan sddmm;
} either;

typedef struct search {
    ftb_wisdom_entry best; /* its case says of which operation */
    union {
        const ftb_spmm_facts *spmm;
        const ftb_sddmm_facts *sddmm;
    } facts;
    union {
        ftb_spmm_trial spmm;
        ftb_sddmm_trial sddmm;
    } trial;
    void *run;
    either given, plan; /* plan: what is tried */
    double spent;
} search;

/* ---- plans of either kind */

static bool is_spmm(const search *s) { return s->best.when.op == FTB_WISDOM_SPMM; }

static ftb_choice chosen(const search *s)
{
    return is_spmm(s) ? ftb_spmm_chosen(&s->plan.spmm) : ftb_sddmm_chosen(&s->plan.sddmm);
}

static bool choose(search *s, const ftb_choice *choice, ftb_origin origin)
{
    s->plan = s->given;
    return is_spmm(s) ? ftb_spmm_choose(&s->plan.spmm, s->facts.spmm, choice, origin)
                      : ftb_sddmm_choose(&s->plan.sddmm, s->facts.sddmm, choice, origin);
}

static GrB_Info run_once(const search *s)
{
    return is_spmm(s) ? s->trial.spmm(s->run, &s->plan.spmm) : s->trial.sddmm(s->run, &s->plan.sddmm);
}

/* ---- the search */

/* The better of two runs, of which the first builds and warms what is kept. */
static GrB_Info time_plan(int64_t *nanoseconds, search *s)
{
    GrB_Info info = GrB_SUCCESS;
    double best = INFINITY;
    for (int run = 0; run < 2 && info == GrB_SUCCESS; run++) {
        double start = ftb_seconds();
        info = run_once(s);
        double took = ftb_seconds() - start;
        s->spent += took;
        best = ftb_min(took, best);
    }
    *nanoseconds = (int64_t)(1e9 * best);
    return info;
}

static bool same_choice(ftb_choice a, ftb_choice b)
{
    a.nanoseconds = b.nanoseconds = 0;
    return memcmp(&a, &b, sizeof a) == 0;
}

/* What the rule makes of the choice, if that is possible and another one than the best. */
static GrB_Info try_choice(search *s, const ftb_choice *wanted)
{
    ftb_choice *best = &s->best.choice;
    if (s->spent > ENOUGH_SECONDS || !choose(s, wanted, FTB_ORIGIN_MODEL) || same_choice(chosen(s), *best))
        return GrB_SUCCESS;
    ftb_choice choice = chosen(s);
    GrB_Info info = time_plan(&choice.nanoseconds, s);
    if (info == GrB_SUCCESS && (double)choice.nanoseconds < CLEARLY * (double)best->nanoseconds)
        *best = choice;
    return info;
}

typedef enum number { SEGMENT, TILE, PARTS, NUMBERS } number;

/* Half of a number and, where that is not better, twice as much. Other segments and tiles have other parts,
 * which are left to the rule. */
static GrB_Info try_neighbours(search *s, number which)
{
    const ftb_choice from = s->best.choice;
    GrB_Info info = GrB_SUCCESS;
    for (int twice = 0; twice < 2 && info == GrB_SUCCESS && same_choice(from, s->best.choice); twice++) {
        ftb_choice choice = from;
        int64_t *x = which == SEGMENT ? &choice.segment : which == TILE ? &choice.tile : &choice.parts;
        if (which != PARTS)
            choice.parts = 0;
        *x = twice ? 2 * *x : *x / 2;
        info = try_choice(s, &choice);
    }
    return info;
}

/* The plan that is found is left in s->plan; ctx remembers it. */
static GrB_Info find_best(search *s, bool free_choice, FtB_Context ctx)
{
    ftb_choice *best = &s->best.choice;
    s->plan = s->given;
    *best = chosen(s);
    const int32_t first = best->family;
    GrB_Info info = time_plan(&best->nanoseconds, s);
    for (const ftb_way *way = ftb_ways[s->best.when.op]; way->name && info == GrB_SUCCESS; way++)
        if (way->family != first)
            info = try_choice(s, &(ftb_choice){.family = way->family});
    for (number n = SEGMENT; n < NUMBERS && best->segment && info == GrB_SUCCESS; n++)
        info = try_neighbours(s, n);
    if (info != GrB_SUCCESS)
        return info;
    choose(s, best, FTB_ORIGIN_TRIAL);
    if (free_choice)
        ftb_wisdom_add(ctx, &s->best, 1); /* without memory nothing is remembered */
    return GrB_SUCCESS;
}

GrB_Info ftb_spmm_measure(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, ftb_spmm_trial trial, void *run,
                          FtB_Context ctx)
{
    search s = {.facts.spmm = facts, .trial.spmm = trial, .run = run, .given.spmm = *plan};
    ftb_wisdom_of_spmm(&s.best.when, facts);
    GrB_Info info = find_best(&s, !plan->asked.forced, ctx);
    if (info == GrB_SUCCESS)
        *plan = s.plan.spmm;
    return info;
}

GrB_Info ftb_sddmm_measure(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, ftb_sddmm_trial trial,
                           void *run, FtB_Context ctx)
{
    search s = {.facts.sddmm = facts, .trial.sddmm = trial, .run = run, .given.sddmm = *plan};
    ftb_wisdom_of_sddmm(&s.best.when, facts);
    GrB_Info info = find_best(&s, !plan->asked.forced, ctx);
    if (info == GrB_SUCCESS)
        *plan = s.plan.sddmm;
    return info;
}
