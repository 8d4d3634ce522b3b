/* The fit: one cost after the other is made larger or smaller by a factor as long as that helps, with factors
 * that become finer. A weak pull to where it began keeps costs in place that the samples do not tell apart.
 */
#include "plan/fit.h"

#include <math.h>
#include <string.h>

#define PULL 0.01     /* of log(cost / begin)^2, beside a sample's error */
#define FURTHEST 16.0 /* factor from the begin */
#define ROUNDS 12     /* with one factor, at most */

double ftb_sample_predict(const ftb_sample *sample, const ftb_machine_facts *machine)
{
    const ftb_plan_row *row = &ftb_plan_rows[sample->kind];
    ftb_any_plan plan;
    double seconds = 0;
    memset(&plan, 0, sizeof plan);
    if (row->choose(&plan, &sample->facts, machine, &sample->choice, FTB_ORIGIN_MODEL))
        row->get(&plan, &sample->facts, "seconds", &seconds);
    return seconds;
}

/* Of the samples that can be predicted. */
static double errors(const ftb_machine_facts *machine, const ftb_sample *samples, int64_t count,
                     double *counted)
{
    double sum = 0;
    *counted = 0;
    for (int64_t s = 0; s < count; s++) {
        const double predicted = ftb_sample_predict(&samples[s], machine);
        if (predicted > 0 && samples[s].seconds > 0) {
            const double error = log(predicted / samples[s].seconds);
            sum += samples[s].weight * error * error;
            *counted += samples[s].weight;
        }
    }
    return sum;
}

/* Errors, and how far costs are from the begin. */
static double strain(ftb_machine_facts *machine, ftb_costs *begin, const ftb_sample *samples, int64_t count)
{
    double counted;
    double sum = errors(machine, samples, count, &counted);
    for (int c = 0; c < FTB_NCOSTS; c++) {
        const double moved = log(*ftb_cost_at(&machine->costs, c) / *ftb_cost_at(begin, c));
        sum += PULL * moved * moved;
    }
    return sum;
}

/* Whether one cost moved. */
static bool move(ftb_machine_facts *machine, ftb_costs *begin, int cost, double factor,
                 const ftb_sample *samples, int64_t count, double *least)
{
    double *at = ftb_cost_at(&machine->costs, cost);
    const double was = *at, from = *ftb_cost_at(begin, cost);
    for (int up = 0; up < 2; up++) {
        *at = up ? was * factor : was / factor;
        if (*at > FURTHEST * from || *at < from / FURTHEST)
            continue;
        const double now = strain(machine, begin, samples, count);
        if (now < *least) {
            *least = now;
            return true;
        }
    }
    *at = was;
    return false;
}

/* Rates that were measured by themselves stay. */
static bool is_measured(const ftb_machine_facts *machine, const double *cost)
{
    const ftb_costs *k = &machine->costs;
    return (cost == &k->l2_read && machine->l2_rate > 0) || (cost == &k->l3_read && machine->l3_rate > 0) ||
           (cost == &k->memory_read && machine->memory_rate > 0);
}

double ftb_fit_costs(ftb_machine_facts *machine, const ftb_sample *samples, int64_t count)
{
    static const double factors[] = {2, 1.4, 1.2, 1.1, 1.05};
    ftb_costs begin = machine->costs = ftb_machine_costs(machine);
    double counted;
    machine->calibrated = true;
    double least = strain(machine, &begin, samples, count);
    for (int f = 0; f < (int)(sizeof factors / sizeof *factors); f++) {
        bool moved = true;
        for (int round = 0; moved && round < ROUNDS; round++) {
            moved = false;
            for (int c = 0; c < FTB_NCOSTS; c++)
                if (!is_measured(machine, ftb_cost_at(&machine->costs, c)))
                    moved = move(machine, &begin, c, factors[f], samples, count, &least) || moved;
        }
    }
    const double sum = errors(machine, samples, count, &counted);
    return counted > 0 ? exp(sqrt(sum / counted)) : 1;
}
