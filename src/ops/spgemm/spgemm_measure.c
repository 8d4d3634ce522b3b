/* Plans of sparse x sparse products: made into objects, taken from them, and found by trial. What trials vary
 * is what the cost model is least sure of (renaming, accumulator of short rows); they run sampled rows, on
 * scratch memory. */
#include "ops/backends.h"
#include "ops/plan_object.h"
#include "ops/spgemm/spgemm.h"
#include "plan/wisdom.h"

#define SAMPLED_PRODUCTS 2e7 /* about 30 ms a candidate */

/* Whether there is anything that wisdom and trials could choose: names that are taken already, and slots,
 * leave nothing. */
static bool has_choice(const ftb_spgemm_product *product) { return !product->p.column && !product->mask; }

GrB_Info ftb_spgemm_plan_take(ftb_spgemm_product *product, FtB_Plan plan, bool estimate)
{
    if (estimate) /* for a plan, which will be held while the product runs */
        product->reserve += FTB_PLAN_BYTES;
    GrB_Info info = plan ? ftb_plan_check_kind(plan, FTB_PLAN_SPGEMM) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_product_plan(product, plan ? &plan->plan.spgemm : NULL, estimate);
    if (info != GrB_SUCCESS || (!plan && !ftb_wisdom_any(product->ctx)))
        return info;
    const ftb_any_facts facts = {.spgemm = product->facts};
    if (plan)
        return ftb_plan_check_same(FTB_PLAN_SPGEMM, &plan->facts, &facts);
    ftb_any_plan wise = {.spgemm = {0}};
    if (has_choice(product) && ftb_wisdom_plan(&wise, FTB_PLAN_SPGEMM, &facts, product->ctx))
        product->plan = wise.spgemm;
    return GrB_SUCCESS;
}

/* Seconds for the sampled rows under a plan, in a form of its own. */
static GrB_Info run_sample(void *run, const ftb_any_plan *plan, double *seconds)
{
    const ftb_spgemm_product *product = run;
    ftb_spgemm_form *form = NULL;
    ftb_worker *w = NULL;
    int64_t entries = ftb_min(product->facts.longest_row, product->p.nids);
    void *cols = ftb_new(product->ctx, entries + FTB_SWEEP_ROOM, 8);
    GrB_Info info = cols ? ftb_spgemm_form_new(&form, product, &plan->spgemm) : ftb_nomem();
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(ftb_worker_new(&w, form));
    int64_t step = ftb_max((int64_t)(product->facts.products / SAMPLED_PRODUCTS), 1) | 1;
    double start = ftb_seconds();
    for (int64_t i = step / 2; i < product->p.nrows; i += step)
        ftb_worker_row(w, i, cols, w->h);
    *seconds = ftb_seconds() - start;
done:
    ftb_worker_delete(w);
    ftb_spgemm_form_delete(form);
    ftb_delete(cols);
    return info;
}

/* FTB_MEASURE */
static GrB_Info measure(ftb_spgemm_product *product)
{
    const ftb_any_facts facts = {.spgemm = product->facts};
    ftb_any_plan plan = {.spgemm = product->plan};
    if (!has_choice(product))
        return GrB_SUCCESS;
    GrB_Info info = ftb_plan_measure(&plan, FTB_PLAN_SPGEMM, &facts, run_sample, product, product->ctx);
    if (info == GrB_SUCCESS)
        product->plan = plan.spgemm;
    return info;
}

GrB_Info ftb_spgemm_plan_make(FtB_Plan *plan, ftb_spgemm_product *product, FtB_Effort effort)
{
    GrB_Info info = effort == FTB_MEASURE ? measure(product) : GrB_SUCCESS;
    const ftb_backend *who = product->semiring->function ? NULL : FTB_WHO_FITS(product->ctx, spgemm, product);
    if (info == GrB_SUCCESS && who && who->verbs->limits && who->verbs->limits->spgemm_plan)
        info = who->verbs->limits->spgemm_plan(&product->plan, &product->facts, product);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_plan_new(plan, product->ctx, FTB_PLAN_SPGEMM, &(ftb_any_facts){.spgemm = product->facts},
                        &(ftb_any_plan){.spgemm = product->plan});
    ftb_buffer *const reads[] = {product->A->values, product->B->values,
                                 product->mask ? product->mask->values : NULL};
    if (info == GrB_SUCCESS)
        ftb_plan_place(*plan, who != NULL, reads, 3);
    return info;
}
