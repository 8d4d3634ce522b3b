/* FtB_Plan: printing, forcing and reading what the planner decided. */
#include "ops/plan.h"

static GrB_Info check_plan(FtB_Plan plan)
{
    if (!plan)
        return ftb_fail(GrB_NULL_POINTER, "plan: NULL; expected an FtB_Plan");
    if (plan->magic != FTB_MAGIC_PLAN)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "plan: not an FtB_Plan, or already freed");
    return GrB_SUCCESS;
}

GrB_Info ftb_plan_make(FtB_Plan *out, const ftb_product *product)
{
    FtB_Plan plan = ftb_new(product->ctx, 1, sizeof *plan);
    if (!plan)
        return ftb_nomem();
    *plan = (struct FtB_Plan_opaque){.magic = FTB_MAGIC_PLAN,
                                     .ctx = ftb_context_retain(product->ctx),
                                     .facts = product->facts,
                                     .plan = product->plan};
    *out = plan;
    return GrB_SUCCESS;
}

GrB_Info ftb_plan_make_spmm(FtB_Plan *out, FtB_Context ctx, const ftb_spmm_facts *facts,
                            const ftb_spmm_plan *choices)
{
    FtB_Plan plan = ftb_new(ctx, 1, sizeof *plan);
    if (!plan)
        return ftb_nomem();
    *plan = (struct FtB_Plan_opaque){.magic = FTB_MAGIC_PLAN,
                                     .ctx = ftb_context_retain(ctx),
                                     .block = true,
                                     .spmm_facts = *facts,
                                     .spmm_plan = *choices};
    *out = plan;
    return GrB_SUCCESS;
}

GrB_Info ftb_plan_spmm(const ftb_spmm_facts **facts, const ftb_spmm_plan **choices, FtB_Plan plan)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!plan->block)
        return ftb_fail(GrB_INVALID_VALUE, "plan: made for two sparse matrices; this is sparse x block");
    *facts = &plan->spmm_facts;
    *choices = &plan->spmm_plan;
    return GrB_SUCCESS;
}

/* What must be the same for a plan to be used; values may change. */
static bool same_product(const ftb_spgemm_facts *a, const ftb_spgemm_facts *b)
{
    return a->nrows == b->nrows && a->ncols == b->ncols && a->ninner == b->ninner && a->avals == b->avals &&
           a->bvals == b->bvals && a->products <= b->products && a->products >= b->products &&
           a->longest_row == b->longest_row && a->symmetric == b->symmetric && a->masked == b->masked &&
           a->half_wanted == b->half_wanted && a->value_bytes == b->value_bytes;
}

GrB_Info ftb_plan_apply(ftb_product *product, FtB_Plan plan, bool estimate)
{
    if (!plan)
        return ftb_product_plan(product, NULL, estimate);
    GrB_Info info = check_plan(plan);
    if (info == GrB_SUCCESS && plan->block)
        info = ftb_fail(GrB_INVALID_VALUE, "plan: made for sparse x block; this is of two sparse matrices");
    if (info == GrB_SUCCESS)
        info = ftb_product_plan(product, &plan->plan, estimate);
    if (info == GrB_SUCCESS && !same_product(&plan->facts, &product->facts))
        return ftb_fail(GrB_INVALID_VALUE,
                        "plan: made for another product (%lld x %lld, %.0f products); this one is "
                        "%lld x %lld with %.0f products",
                        (long long)plan->facts.nrows, (long long)plan->facts.ncols, plan->facts.products,
                        (long long)product->facts.nrows, (long long)product->facts.ncols,
                        product->facts.products);
    return info;
}

GrB_Info FtB_Plan_explain(FtB_Plan plan, FILE *file)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!file)
        return ftb_fail(GrB_NULL_POINTER, "file: NULL; expected an open FILE");
    if (plan->block)
        ftb_explain_spmm(&plan->spmm_plan, &plan->spmm_facts, ftb_machine_here(), file);
    else
        ftb_explain_spgemm(&plan->plan, &plan->facts, ftb_machine_here(), file);
    return ferror(file) ? ftb_fail(FTB_IO, "file: writing the plan failed") : GrB_SUCCESS;
}

GrB_Info FtB_Plan_set(FtB_Plan plan, const char *key, const char *value)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!key || !value)
        return ftb_fail(GrB_NULL_POINTER, "%s: NULL; expected text", key ? "value" : "key");
    const char *expected = plan->block ? ftb_spmm_plan_set(&plan->spmm_plan, key, value)
                                       : ftb_spgemm_plan_set(&plan->plan, key, value);
    if (expected)
        return ftb_fail(GrB_INVALID_VALUE, "plan: %s = '%s'; expected %s", key, value, expected);
    if (plan->block)
        ftb_rule_spmm(&plan->spmm_plan, &plan->spmm_facts, ftb_machine_here());
    else
        ftb_rule_spgemm(&plan->plan, &plan->facts, ftb_machine_here());
    return GrB_SUCCESS;
}

GrB_Info FtB_Plan_get(FtB_Plan plan, const char *key, double *value)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!key || !value)
        return ftb_fail(GrB_NULL_POINTER, "%s: NULL", key ? "value" : "key");
    if (plan->block && !ftb_spmm_plan_get(&plan->spmm_plan, &plan->spmm_facts, key, value))
        return ftb_fail(GrB_INVALID_VALUE,
                        "plan: unknown figure '%s'; known are segment, segments, tile, tiles, partitioned, "
                        "threads, bytes, partition_bytes, seconds, direct_seconds, partitioned_seconds",
                        key);
    if (!plan->block && !ftb_spgemm_plan_get(&plan->plan, &plan->facts, key, value))
        return ftb_fail(
            GrB_INVALID_VALUE,
            "plan: unknown figure '%s'; known are products, entries_bound, "
            "entries_estimate, entries_error, result_bytes, bytes, least_limit, seconds, chunks, threads, "
            "triangle, mirror, relabel, hot, cross, ids",
            key);
    return GrB_SUCCESS;
}

GrB_Info FtB_Plan_free(FtB_Plan *plan)
{
    if (plan && *plan) {
        (*plan)->magic = 0;
        ftb_context_release((*plan)->ctx);
        ftb_delete(*plan);
        *plan = NULL;
    }
    return GrB_SUCCESS;
}
