/* The fit: one cost after the other is made larger or smaller by a factor as long as that helps, with factors
 * that become finer. A pull to where it began keeps costs in place that the samples do not tell apart. How
 * strong it must be depends on how well the model can do at all: what it cannot explain would else be
 * explained by costs that make no sense (Zen 5: a head of an entry 7 times as cheap, rows in order at 220
 * GB/s), which other graphs pay for. So the fit is made twice; the first, with a weak pull, says how far off
 * the model stays. */
#include "plan/fit.h"

#include <math.h>
#include <string.h>

#define LEAST_PULL 0.01 /* of log(cost / begin)^2, beside a sample's error */
#define SPREAD                                                                                               \
    0.35 /* of log(cost / begin) among processors: costs here are most often within 1.4 of the table */
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

double ftb_samples_regret(const ftb_sample *samples, int64_t count, const ftb_machine_facts *machine)
{
    double sum = 0;
    int products = 0;
    for (int64_t first = 0, end; first < count; first = end) {
        double fastest = INFINITY, chosen = INFINITY, predicted = INFINITY;
        for (end = first; end < count && samples[end].product == samples[first].product; end++) {
            const double seconds = ftb_sample_predict(&samples[end], machine);
            if (seconds <= 0 || samples[end].seconds <= 0)
                continue;
            fastest = fmin(fastest, samples[end].seconds);
            if (seconds < predicted) {
                predicted = seconds;
                chosen = samples[end].seconds;
            }
        }
        if (predicted < INFINITY) {
            sum += log(chosen / fastest);
            products++;
        }
    }
    return products > 0 ? exp(sum / products) : 1;
}

typedef struct fit {
    ftb_machine_facts *machine;
    ftb_costs begin;
    const ftb_sample *samples;
    int64_t count;
    double pull, least;
} fit;

/* Errors, and how far costs are from the begin. */
static double strain(fit *f)
{
    double counted;
    double sum = errors(f->machine, f->samples, f->count, &counted);
    for (int c = 0; c < FTB_NCOSTS; c++) {
        const double moved = log(*ftb_cost_at(&f->machine->costs, c) / *ftb_cost_at(&f->begin, c));
        sum += f->pull * moved * moved;
    }
    return sum;
}

/* Whether one cost moved. */
static bool move(fit *f, int cost, double factor)
{
    double *at = ftb_cost_at(&f->machine->costs, cost);
    const double was = *at, from = *ftb_cost_at(&f->begin, cost);
    for (int up = 0; up < 2; up++) {
        *at = up ? was * factor : was / factor;
        if (*at > FURTHEST * from || *at < from / FURTHEST)
            continue;
        const double now = strain(f);
        if (now < f->least) {
            f->least = now;
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

/* Of log(predicted / measured). */
static double mean_square(const fit *f)
{
    double counted;
    const double sum = errors(f->machine, f->samples, f->count, &counted);
    return counted > 0 ? sum / counted : 0;
}

/* Returns the mean square that is left. */
static double fit_under(fit *f, double pull)
{
    static const double factors[] = {2, 1.4, 1.2, 1.1, 1.05};
    f->pull = pull;
    f->machine->costs = f->begin;
    f->least = strain(f);
    for (int k = 0; k < (int)(sizeof factors / sizeof *factors); k++) {
        bool moved = true;
        for (int round = 0; moved && round < ROUNDS; round++) {
            moved = false;
            for (int c = 0; c < FTB_NCOSTS; c++)
                if (!is_measured(f->machine, ftb_cost_at(&f->machine->costs, c)))
                    moved = move(f, c, factors[k]) || moved;
        }
    }
    return mean_square(f);
}

double ftb_fit_costs(ftb_machine_facts *machine, const ftb_sample *samples, int64_t count)
{
    fit f = {.machine = machine, .begin = ftb_machine_costs(machine), .samples = samples, .count = count};
    machine->costs = f.begin;
    machine->calibrated = true;
    const double before = ftb_samples_regret(samples, count, machine);
    double square = fit_under(&f, LEAST_PULL), pull = square / (SPREAD * SPREAD);
    if (pull > LEAST_PULL)
        square = fit_under(&f, pull);
    if (ftb_samples_regret(samples, count, machine) > before) {
        machine->costs = f.begin;
        square = mean_square(&f);
    }
    return exp(sqrt(square));
}
