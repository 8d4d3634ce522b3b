/* Costs from measured times: the constants under which the rules predict what was measured. */
#ifndef FTB_PLAN_FIT_H
#define FTB_PLAN_FIT_H

#include "plan/wisdom.h"

/* One plan of one product, on one thread. Those of one product stand one after the other. */
typedef struct ftb_sample {
    int product; /* its number */
    ftb_plan_kind kind;
    ftb_any_facts facts;
    ftb_choice choice;
    double seconds; /* measured */
    double weight;  /* of its error: the faster the plan beside others, the more it matters */
} ftb_sample;

/* Seconds that the rules predict of a sample under the machine's costs; 0: the choice cannot be. */
double ftb_sample_predict(const ftb_sample *sample, const ftb_machine_facts *machine);
/* How much slower than the fastest of a product is the one that the rules would choose of its samples: the
 * mean over products, a factor; 1 where there are none. */
double ftb_samples_regret(const ftb_sample *samples, int64_t count, const ftb_machine_facts *machine);
/* Moves the machine's costs, which become calibrated, to where the weighted squares of log(predicted /
 * measured) are least. A cost that no sample depends on stays; none moves further than a factor of 16, and
 * none at all where what they would choose of the samples is slower than what it was.
 * Returns the mean error, a factor: 1.1 is ten percent. */
double ftb_fit_costs(ftb_machine_facts *machine, const ftb_sample *samples, int64_t count);

#endif
