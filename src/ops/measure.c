/* FTB_MEASURE: the plan as it is and each other way that there is are run.
 * From the best of them, where it has segments, segment, tile and parts of the rows are each tried over their
 * whole range, by factors of two, from the best outwards until that is twice as slow; then half-way to the
 * next powers. The context says for how many seconds. What is fastest becomes the plan. Products have the
 * same bits from all; the bits of attention are those of the plan that is found. */
#include "ops/plan_object.h"
#include "plan/wisdom.h"

#include <math.h>

#define FAR_SLOWER 2.0 /* times the best: nothing beyond is better */
#define CLEARLY 0.97   /* of the best time so far: less is noise */

typedef struct search {
    const ftb_plan_row *row;
    ftb_wisdom_entry best;
    const ftb_any_facts *facts;
    ftb_trial trial;
    void *run;
    ftb_machine_facts machine;
    ftb_any_plan given, plan; /* plan: what is tried */
    double spent, enough;
} search;

static bool choose(search *s, const ftb_choice *choice, ftb_origin origin)
{
    s->plan = s->given;
    return s->row->choose(&s->plan, s->facts, &s->machine, choice, origin);
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
        double seconds = -1;
        info = s->trial(s->run, &s->plan, &seconds);
        const double took = ftb_seconds() - start;
        s->spent += took;
        best = ftb_min(seconds < 0 ? took : seconds, best);
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
    ftb_choice choice = s->row->chosen(&s->plan);
    if (same_choice(choice, *from) || same_choice(choice, *best))
        return GrB_SUCCESS;
    GrB_Info info = time_choice(&choice, s);
    *ratio = (double)choice.nanoseconds / (double)best->nanoseconds;
    if (info == GrB_SUCCESS && *ratio < CLEARLY)
        *best = choice;
    return info;
}

static int64_t *number_of(ftb_choice *choice, ftb_choice_number which)
{
    return which == FTB_SEGMENT ? &choice->segment : which == FTB_TILE ? &choice->tile : &choice->parts;
}

/* One number of `from` times up / down. Other segments and tiles have other parts, which are left to the
 * rule. */
static GrB_Info try_number(search *s, const ftb_choice *from, ftb_choice_number which, int64_t up,
                           int64_t down, double *ratio)
{
    ftb_choice choice = *from;
    int64_t *x = number_of(&choice, which);
    *ratio = INFINITY;
    if (*x * up / down < 1 || *x * up / down > s->row->most(s->facts, which))
        return GrB_SUCCESS;
    if (which != FTB_PARTS)
        choice.parts = 0;
    *x = *x * up / down;
    return try_choice(s, &choice, from, ratio);
}

/* A number's whole range by factors of two, downwards and upwards in turn. */
static GrB_Info sweep(search *s, ftb_choice_number which)
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
static GrB_Info look_near(search *s, ftb_choice_number which)
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
    *best = s->row->chosen(&s->plan);
    const ftb_choice first = *best;
    double ratio;
    GrB_Info info = time_choice(best, s);
    for (const ftb_way *way = s->row->ways; way->name && info == GrB_SUCCESS; way++)
        if (way->family != first.family)
            info = try_choice(s, &(ftb_choice){.family = way->family}, &first, &ratio);
    for (ftb_choice_number n = FTB_SEGMENT; n < FTB_CHOICE_NUMBERS && best->segment && info == GrB_SUCCESS;
         n++)
        info = sweep(s, n);
    for (ftb_choice_number n = FTB_SEGMENT; n < FTB_CHOICE_NUMBERS && best->segment && info == GrB_SUCCESS;
         n++)
        info = look_near(s, n);
    if (info != GrB_SUCCESS)
        return info;
    choose(s, best, FTB_ORIGIN_TRIAL);
    if (free_choice)
        ftb_wisdom_add(ctx, &s->best, 1, NULL); /* without memory nothing is remembered */
    return GrB_SUCCESS;
}

GrB_Info ftb_plan_measure(ftb_any_plan *plan, ftb_plan_kind kind, const ftb_any_facts *facts, ftb_trial trial,
                          void *run, FtB_Context ctx)
{
    search s = {.row = &ftb_plan_rows[kind],
                .facts = facts,
                .trial = trial,
                .run = run,
                .machine = ftb_wisdom_machine(ctx),
                .enough = ftb_measure_seconds(ctx),
                .given = *plan};
    ftb_wisdom_of(&s.best.when, kind, facts);
    GrB_Info info = find_best(&s, !s.row->forced(plan), ctx);
    if (info == GrB_SUCCESS)
        *plan = s.plan;
    return info;
}
