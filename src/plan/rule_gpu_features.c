/* Features of batches: what fits the GPU goes there as a whole, since every row is then read at the memory's
 * rate. Of what does not, as many rows are kept as the memory that remains has room for, beside what says
 * where each row is; the others come over the bus, which is fifty times as slow. What is asked for is done,
 * whatever there is room for. */
#include "plan/gpu_features_plan.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
/* Of the free memory; batches, their layers and gradients have the rest. They rest on no measurement. */
#define WHOLE_SHARE 0.7
#define KEPT_SHARE 0.5
#define PLACE 4  /* bytes of a row's place, */
#define LISTED 8 /* and of a kept row's number */

void ftb_rule_gpu_features(ftb_gpu_features_plan *plan, const ftb_gpu_features_facts *f)
{
    const double row = (double)f->row_bytes, n = (double)f->nrows;
    const double left = (double)f->free - (double)f->coming;
    double kept = n;
    if (f->bytes < 0)
        kept = 0;
    else if (f->bytes > 0)
        kept = row > 0 ? (double)f->bytes / row : n;
    else if (f->share > 0)
        kept = f->share * n;
    else if (f->free >= 0 && n * row > left * WHOLE_SHARE)
        kept = (left * KEPT_SHARE - n * PLACE) / (row + LISTED);
    plan->whole = kept >= n && f->bytes >= 0;
    plan->nkept = kept <= 0 ? 0 : (int64_t)MIN(kept, n);
}
