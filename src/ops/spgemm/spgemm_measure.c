/* FTB_MEASURE for sparse x sparse products: the choices that the cost model is least sure of (renaming,
 * accumulator of short rows) are timed on sampled rows, on scratch memory, and the best is kept. What was
 * forced stays. */
#include "ops/spgemm/spgemm.h"

#define SAMPLED_PRODUCTS 2e7 /* about 30 ms a candidate */

/* Seconds for the sampled rows under a plan, in a form of its own. */
static GrB_Info time_candidate(const ftb_product *product, const ftb_spgemm_plan *plan, double *best)
{
    ftb_spgemm_form *form = NULL;
    ftb_worker *w = NULL;
    int64_t entries = ftb_min(product->facts.longest_row, product->p.nids);
    void *cols = ftb_new(product->ctx, entries + FTB_SWEEP_ROOM, 8);
    GrB_Info info = cols ? ftb_spgemm_form_new(&form, product, plan) : ftb_nomem();
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(ftb_worker_new(&w, form));
    int64_t step = ftb_max((int64_t)(product->facts.products / SAMPLED_PRODUCTS), 1) | 1;
    for (int repeat = 0; repeat < 2; repeat++) { /* the first warms caches and pages */
        double start = ftb_seconds();
        for (int64_t i = step / 2; i < product->p.nrows; i += step)
            ftb_worker_row(w, i, cols, w->h);
        *best = ftb_seconds() - start;
    }
done:
    ftb_worker_delete(w);
    ftb_spgemm_form_delete(form);
    ftb_delete(cols);
    return info;
}

GrB_Info ftb_spgemm_measure(ftb_product *product)
{
    static const struct {
        const char *key, *value;
        unsigned bit;
    } candidates[] = {{"relabel", "0", FTB_SET_RELABEL},
                      {"relabel", "1", FTB_SET_RELABEL},
                      {"accumulator", "hash", FTB_SET_ACCUMULATOR}};
    const ftb_spgemm_plan given = product->plan;
    double least = 0;
    if (product->p.column || product->mask) /* renamed already, or slots: nothing to choose */
        return GrB_SUCCESS;
    GrB_Info info = time_candidate(product, &given, &least);
    for (size_t c = 0; c < sizeof candidates / sizeof candidates[0] && info == GrB_SUCCESS; c++) {
        ftb_spgemm_plan plan = given;
        double time = 0;
        if (given.forced & candidates[c].bit ||
            ftb_spgemm_plan_set(&plan, candidates[c].key, candidates[c].value) ||
            !ftb_rule_spgemm(&plan, &product->facts, ftb_machine_here()))
            continue;
        info = time_candidate(product, &plan, &time);
        if (info == GrB_SUCCESS && time < 0.97 * least) {
            least = time;
            product->plan = plan;
        }
    }
    return info;
}
