/* FtB_Plan: printing, forcing and reading what the planner decided. */
#include "core/locale.h"
#include "ops/plan_object.h"

#include "plan/wisdom.h"

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
                                     .machine = ftb_wisdom_machine(product->ctx),
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
                                     .machine = ftb_wisdom_machine(ctx),
                                     .kind = FTB_PLAN_SPMM,
                                     .spmm_facts = *facts,
                                     .spmm_plan = *choices};
    *out = plan;
    return GrB_SUCCESS;
}

GrB_Info ftb_plan_make_sddmm(FtB_Plan *out, FtB_Context ctx, const ftb_sddmm_facts *facts,
                             const ftb_sddmm_plan *choices)
{
    FtB_Plan plan = ftb_new(ctx, 1, sizeof *plan);
    if (!plan)
        return ftb_nomem();
    *plan = (struct FtB_Plan_opaque){.magic = FTB_MAGIC_PLAN,
                                     .ctx = ftb_context_retain(ctx),
                                     .machine = ftb_wisdom_machine(ctx),
                                     .kind = facts->attention ? FTB_PLAN_ATTENTION : FTB_PLAN_SDDMM,
                                     .sddmm_facts = *facts,
                                     .sddmm_plan = *choices};
    *out = plan;
    return GrB_SUCCESS;
}

static GrB_Info check_kind(FtB_Plan plan, ftb_plan_kind kind)
{
    static const char *const names[] = {
        [FTB_PLAN_SPGEMM] = "two sparse matrices",
        [FTB_PLAN_SPMM] = "sparse x block",
        [FTB_PLAN_SDDMM] = "block x block'",
        [FTB_PLAN_ATTENTION] = "attention",
    };
    GrB_Info info = check_plan(plan);
    if (info == GrB_SUCCESS && plan->kind != kind)
        info = ftb_fail(GrB_INVALID_VALUE, "plan: made for %s; this is %s", names[plan->kind], names[kind]);
    return info;
}

GrB_Info ftb_plan_spmm(const ftb_spmm_facts **facts, const ftb_spmm_plan **choices, FtB_Plan plan)
{
    GrB_Info info = check_kind(plan, FTB_PLAN_SPMM);
    if (info != GrB_SUCCESS)
        return info;
    *facts = &plan->spmm_facts;
    *choices = &plan->spmm_plan;
    return GrB_SUCCESS;
}

static bool same_entries(const ftb_sddmm_facts *a, const ftb_sddmm_facts *b)
{
    return a->nrows == b->nrows && a->ncols == b->ncols && a->nvals == b->nvals && a->heads == b->heads &&
           a->features == b->features && a->source_bytes == b->source_bytes &&
           a->entry_bytes == b->entry_bytes && a->program == b->program;
}

GrB_Info ftb_plan_sddmm(ftb_sddmm_plan *choices, const ftb_sddmm_facts *facts, FtB_Plan plan)
{
    GrB_Info info = GrB_SUCCESS;
    *choices = (ftb_sddmm_plan){0};
    if (plan) {
        info = check_kind(plan, facts->attention ? FTB_PLAN_ATTENTION : FTB_PLAN_SDDMM);
        if (info != GrB_SUCCESS)
            return info;
        const ftb_sddmm_facts *made = &plan->sddmm_facts;
        if (!same_entries(made, facts))
            return ftb_fail(
                GrB_INVALID_VALUE,
                "plan: made for another product (%lld x %lld, %lld entries, %lld features in %lld "
                "heads, %s); this one is %lld x %lld with %lld entries, %lld features in %lld "
                "heads, %s",
                (long long)made->nrows, (long long)made->ncols, (long long)made->nvals,
                (long long)made->features, (long long)made->heads, made->kernel, (long long)facts->nrows,
                (long long)facts->ncols, (long long)facts->nvals, (long long)facts->features,
                (long long)facts->heads, facts->kernel);
        *choices = plan->sddmm_plan;
    }
    ftb_rule_sddmm(choices, facts, plan ? &plan->machine : ftb_machine_here());
    return info;
}

GrB_Info ftb_plan_sddmm_wisely(ftb_sddmm_plan *choices, const ftb_sddmm_facts *facts, FtB_Plan plan,
                               FtB_Context ctx)
{
    if (plan)
        return ftb_plan_sddmm(choices, facts, plan);
    *choices = (ftb_sddmm_plan){0};
    if (!ftb_wisdom_sddmm(choices, facts, ctx)) {
        const ftb_machine_facts machine = ftb_wisdom_machine(ctx);
        ftb_rule_sddmm(choices, facts, &machine);
    }
    return GrB_SUCCESS;
}

/* What must be the same for a plan to be used; values may change. A product whose winners are wanted, too, is
 * not mirrored, and takes the plan that was made without. */
static bool same_product(const ftb_spgemm_facts *a, const ftb_spgemm_facts *b)
{
    return a->nrows == b->nrows && a->ncols == b->ncols && a->ninner == b->ninner && a->avals == b->avals &&
           a->bvals == b->bvals && a->products <= b->products && a->products >= b->products &&
           a->longest_row == b->longest_row && (a->symmetric == b->symmetric || b->winner_bytes > 0) &&
           a->masked == b->masked && a->half_wanted == b->half_wanted && a->value_bytes == b->value_bytes;
}

GrB_Info ftb_plan_apply(ftb_product *product, FtB_Plan plan, bool estimate)
{
    if (estimate) /* for a plan, which will be held while the product runs */
        product->reserve += FTB_PLAN_BYTES;
    if (!plan)
        return ftb_product_plan(product, NULL, estimate);
    GrB_Info info = check_kind(plan, FTB_PLAN_SPGEMM);
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
    const ftb_machine_facts *machine = plan->sddmm_facts.standard ? ftb_machine_standard() : &plan->machine;
    locale_t before = ftb_locale_enter();
    if (plan->kind == FTB_PLAN_SPMM)
        ftb_explain_spmm(&plan->spmm_plan, &plan->spmm_facts, machine, file);
    else if (plan->kind == FTB_PLAN_SPGEMM)
        ftb_explain_spgemm(&plan->plan, &plan->facts, machine, file);
    else
        ftb_explain_sddmm(&plan->sddmm_plan, &plan->sddmm_facts, machine, file);
    ftb_locale_leave(before);
    return ferror(file) ? ftb_fail(FTB_IO, "file: writing the plan failed") : GrB_SUCCESS;
}

GrB_Info FtB_Plan_set(FtB_Plan plan, const char *key, const char *value)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!key || !value)
        return ftb_fail(GrB_NULL_POINTER, "%s: NULL; expected text", key ? "value" : "key");
    const ftb_machine_facts *machine = &plan->machine;
    const char *expected = plan->kind == FTB_PLAN_SPMM ? ftb_spmm_plan_set(&plan->spmm_plan, key, value)
                           : plan->kind == FTB_PLAN_SPGEMM
                               ? ftb_spgemm_plan_set(&plan->plan, key, value)
                               : ftb_sddmm_plan_set(&plan->sddmm_plan, &plan->sddmm_facts, key, value);
    if (expected)
        return ftb_fail(GrB_INVALID_VALUE, "plan: %s = '%s'; expected %s", key, value, expected);
    if (plan->kind == FTB_PLAN_SPMM)
        ftb_rule_spmm(&plan->spmm_plan, &plan->spmm_facts, machine);
    else if (plan->kind == FTB_PLAN_SPGEMM)
        ftb_rule_spgemm(&plan->plan, &plan->facts, machine);
    else
        ftb_rule_sddmm(&plan->sddmm_plan, &plan->sddmm_facts, machine);
    return GrB_SUCCESS;
}

GrB_Info FtB_Plan_get(FtB_Plan plan, const char *key, double *value)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!key || !value)
        return ftb_fail(GrB_NULL_POINTER, "%s: NULL", key ? "value" : "key");
    static const char *const known[] = {
        [FTB_PLAN_SPGEMM] = ("products, entries_bound, entries_estimate, entries_error, result_bytes, bytes, "
                             "least_limit, limit, seconds, chunks, threads, triangle, mirror, relabel, hot, "
                             "cross, ids, widened, "
                             "wraps"),
        [FTB_PLAN_SPMM] = ("segment, segments, tile, tiles, parts, ordered, partitioned, uses, threads, "
                           "bytes, partition_bytes, "
                           "seconds, direct_seconds, partitioned_seconds"),
        [FTB_PLAN_SDDMM] = "segment, segments, tile, threads, visits, seconds, direct_seconds",
        [FTB_PLAN_ATTENTION] = "staged, segment, segments, tile, threads, visits, seconds, direct_seconds",
    };
    bool found = plan->kind == FTB_PLAN_SPMM
                     ? ftb_spmm_plan_get(&plan->spmm_plan, &plan->spmm_facts, key, value)
                 : plan->kind == FTB_PLAN_SPGEMM
                     ? ftb_spgemm_plan_get(&plan->plan, &plan->facts, key, value)
                     : ftb_sddmm_plan_get(&plan->sddmm_plan, &plan->sddmm_facts, key, value);
    if (!found)
        return ftb_fail(GrB_INVALID_VALUE, "plan: unknown figure '%s'; known are %s", key, known[plan->kind]);
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
