/* FTB_MEASURE for products with feature blocks: the plan as it is and each other way that there is are run.
 * From the best of them, where it has segments, segment, tile and parts of the rows are each tried over their
 * whole range, by factors of two, from the best outwards until that is twice as slow; then half-way to the
 * next powers. The context says for how many seconds. What is fastest becomes the plan. Sparse x block and
 * dot products have the same bits from all; the bits of attention are those of the plan that is found. */
#include "ops/sddmm.h"
#include "ops/spmm.h"
#include "plan/wisdom.h"

#include <math.h>

#define FAR_SLOWER 2.0 /* times the best: nothing beyond is better */
#define CLEARLY 0.97   /* of the best time so far: less is noise */

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
    ftb_machine_facts machine;
    either given, plan; /* plan: what is tried */
    double spent, enough;
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
    return is_spmm(s) ? ftb_spmm_choose(&s->plan.spmm, s->facts.spmm, &s->machine, choice, origin)
                      : ftb_sddmm_choose(&s->plan.sddmm, s->facts.sddmm, &s->machine, choice, origin);
}

static GrB_Info run_once(const search *s)
{
    return is_spmm(s) ? s->trial.spmm(s->run, &s->plan.spmm) : s->trial.sddmm(s->run, &s->plan.sddmm);
}

typedef enum number { SEGMENT, TILE, PARTS, NUMBERS } number;

/* The largest that a number can be; what the operation does not have stays. */
static int64_t most_of(const search *s, number which)
{
    if (which == SEGMENT)
        return FTB_MOST_SEGMENT;
    if (which == TILE)
        return is_spmm(s) ? s->facts.spmm->features : s->facts.sddmm->source_bytes;
    return is_spmm(s) ? ftb_min(FTB_MOST_PARTS, s->facts.spmm->nrows) : 0;
}

/* ---- the search */

/* The better of two runs, of which the first builds and warms what is kept; one, if that is far from the best
 * already and nothing was built. */
static GrB_Info time_choice(ftb_choice *choice, search *s)
{
    GrB_Info info = GrB_SUCCESS;
    double best = INFINITY;
    for (int run = 0; run < 2 && info == GrB_SUCCESS; run++) {
        const double start = ftb_seconds();
        info = run_once(s);
        const double took = ftb_seconds() - start;
        s->spent += took;
        best = ftb_min(took, best);
        if (!choice->segment && s->best.choice.nanoseconds > 0 &&
            1e9 * best > FAR_SLOWER * (double)s->best.choice.nanoseconds)
            break;
    }
    choice->nanoseconds = (int64_t)(1e9 * best);
    return info;
}

static bool same_choice(ftb_choice a, ftb_choice b)
{
    a.nanoseconds = b.nanoseconds = 0;
    return memcmp(&a, &b, sizeof a) == 0;
}

/* What the rule makes of the choice, if that is possible and another one than *from; *ratio: its time beside
 * the best so far, INFINITY if it was not run. */
static GrB_Info try_choice(search *s, const ftb_choice *wanted, const ftb_choice *from, double *ratio)
{
    ftb_choice *best = &s->best.choice;
    *ratio = INFINITY;
    if (s->spent > s->enough || !choose(s, wanted, FTB_ORIGIN_MODEL))
        return GrB_SUCCESS;
    ftb_choice choice = chosen(s);
    if (same_choice(choice, *from) || same_choice(choice, *best))
        return GrB_SUCCESS;
    GrB_Info info = time_choice(&choice, s);
    *ratio = (double)choice.nanoseconds / (double)best->nanoseconds;
    if (info == GrB_SUCCESS && *ratio < CLEARLY)
        *best = choice;
    return info;
}

static int64_t *number_of(ftb_choice *choice, number which)
{
    return which == SEGMENT ? &choice->segment : which == TILE ? &choice->tile : &choice->parts;
}

/* One number of `from` times up / down. Other segments and tiles have other parts, which are left to the
 * rule. */
static GrB_Info try_number(search *s, const ftb_choice *from, number which, int64_t up, int64_t down,
                           double *ratio)
{
    ftb_choice choice = *from;
    int64_t *x = number_of(&choice, which);
    *ratio = INFINITY;
    if (*x * up / down < 1 || *x * up / down > most_of(s, which))
        return GrB_SUCCESS;
    if (which != PARTS)
        choice.parts = 0;
    *x = *x * up / down;
    return try_choice(s, &choice, from, ratio);
}

/* A number's whole range by factors of two, downwards and upwards in turn. */
static GrB_Info sweep(search *s, number which)
{
    const ftb_choice from = s->best.choice;
    bool on[2] = {true, true};
    GrB_Info info = GrB_SUCCESS;
    for (int64_t factor = 2; (on[0] || on[1]) && info == GrB_SUCCESS; factor *= 2)
        for (int up = 0; up < 2 && info == GrB_SUCCESS; up++) {
            double ratio;
            if (!on[up])
                continue;
            info = try_number(s, &from, which, up ? factor : 1, up ? 1 : factor, &ratio);
            on[up] = ratio < FAR_SLOWER;
        }
    return info;
}

/* Half-way to the powers of two beside the best. */
static GrB_Info look_near(search *s, number which)
{
    const ftb_choice from = s->best.choice;
    double ratio;
    GrB_Info info = try_number(s, &from, which, 3, 4, &ratio);
    return info == GrB_SUCCESS && ratio > CLEARLY ? try_number(s, &from, which, 3, 2, &ratio) : info;
}

/* The plan that is found is left in s->plan; ctx remembers it. */
static GrB_Info find_best(search *s, bool free_choice, FtB_Context ctx)
{
    ftb_choice *best = &s->best.choice;
    s->plan = s->given;
    *best = chosen(s);
    const ftb_choice first = *best;
    double ratio;
    GrB_Info info = time_choice(best, s);
    for (const ftb_way *way = ftb_ways[s->best.when.op]; way->name && info == GrB_SUCCESS; way++)
        if (way->family != first.family)
            info = try_choice(s, &(ftb_choice){.family = way->family}, &first, &ratio);
    for (number n = SEGMENT; n < NUMBERS && best->segment && info == GrB_SUCCESS; n++)
        info = sweep(s, n);
    for (number n = SEGMENT; n < NUMBERS && best->segment && info == GrB_SUCCESS; n++)
        info = look_near(s, n);
    if (info != GrB_SUCCESS)
        return info;
    choose(s, best, FTB_ORIGIN_TRIAL);
    if (free_choice)
        ftb_wisdom_add(ctx, &s->best, 1, NULL); /* without memory nothing is remembered */
    return GrB_SUCCESS;
}

GrB_Info ftb_spmm_measure(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, ftb_spmm_trial trial, void *run,
                          FtB_Context ctx)
{
    search s = {.facts.spmm = facts,
                .trial.spmm = trial,
                .run = run,
                .machine = ftb_wisdom_machine(ctx),
                .enough = ftb_measure_seconds(ctx),
                .given.spmm = *plan};
    ftb_wisdom_of_spmm(&s.best.when, facts);
    GrB_Info info = find_best(&s, !(plan->asked.forced & ~(unsigned)FTB_SPMM_SET_USES), ctx);
    if (info == GrB_SUCCESS)
        *plan = s.plan.spmm;
    return info;
}

GrB_Info ftb_sddmm_measure(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, ftb_sddmm_trial trial,
                           void *run, FtB_Context ctx)
{
    search s = {.facts.sddmm = facts,
                .trial.sddmm = trial,
                .run = run,
                .machine = ftb_wisdom_machine(ctx),
                .enough = ftb_measure_seconds(ctx),
                .given.sddmm = *plan};
    ftb_wisdom_of_sddmm(&s.best.when, facts);
    GrB_Info info = find_best(&s, !plan->asked.forced, ctx);
    if (info == GrB_SUCCESS)
        *plan = s.plan.sddmm;
    return info;
}
