/* FtB_Plan: printing, forcing and reading what the planner decided. */
#include "ops/plan_object.h"

#include "core/locale.h"
#include "plan/wisdom.h"

static GrB_Info check_plan(FtB_Plan plan)
{
    if (!plan)
        return ftb_fail(GrB_NULL_POINTER, "plan: NULL; expected an FtB_Plan");
    if (plan->magic != FTB_MAGIC_PLAN)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "plan: not an FtB_Plan, or already freed");
    return GrB_SUCCESS;
}

GrB_Info ftb_plan_new(FtB_Plan *out, FtB_Context ctx, ftb_plan_kind kind, const ftb_any_facts *facts,
                      const ftb_any_plan *choices)
{
    FtB_Plan plan = ftb_new(ctx, 1, sizeof *plan);
    if (!plan)
        return ftb_nomem();
    *plan = (struct FtB_Plan_opaque){.magic = FTB_MAGIC_PLAN,
                                     .ctx = ftb_context_retain(ctx),
                                     .kind = kind,
                                     .machine = ftb_wisdom_machine(ctx),
                                     .facts = *facts,
                                     .plan = *choices};
    *out = plan;
    return GrB_SUCCESS;
}

void ftb_plan_place(FtB_Plan plan, bool by_device, ftb_buffer *const *reads, int count)
{
    plan->device = ftb_device(plan->ctx);
    plan->by_device = plan->device && by_device;
    for (int n = 0; plan->device && n < count; n++) {
        ftb_buffer *b = reads[n];
        for (int before = 0; before < n; before++)
            b = reads[before] == b ? NULL : b;
        const int valid = b ? atomic_load(&b->valid) : 0;
        const bool there = (valid & FTB_VALID_DEVICE) && b->where == plan->device;
        plan->to_device += b && !there ? b->bytes : 0;
        plan->to_host += b && !(valid & FTB_VALID_HOST) ? b->bytes : 0;
        plan->stays |= there && !(valid & FTB_VALID_HOST);
    }
}

void ftb_plan_place_message(FtB_Plan plan, bool by_device, const ftb_message *m, ftb_buffer *more)
{
    ftb_buffer *reads[FTB_MAX_FEEDS + 1] = {more};
    for (int f = 0; f < m->nfeeds; f++)
        reads[1 + f] = m->feeds[f].owner;
    ftb_plan_place(plan, by_device, reads, 1 + m->nfeeds);
}

GrB_Info ftb_plan_check_kind(FtB_Plan plan, ftb_plan_kind kind)
{
    GrB_Info info = check_plan(plan);
    if (info == GrB_SUCCESS && plan->kind != kind)
        info = ftb_fail(GrB_INVALID_VALUE, "plan: made for %s; this is %s", ftb_plan_rows[plan->kind].name,
                        ftb_plan_rows[kind].name);
    return info;
}

GrB_Info ftb_plan_check_same(ftb_plan_kind kind, const ftb_any_facts *made, const ftb_any_facts *here)
{
    const ftb_plan_row *row = &ftb_plan_rows[kind];
    char other[256], this[256];
    if (row->same(made, here))
        return GrB_SUCCESS;
    row->describe(other, sizeof other, made, false);
    row->describe(this, sizeof this, here, true);
    return ftb_fail(GrB_INVALID_VALUE, "plan: made for another product (%s); this one is %s", other, this);
}

GrB_Info ftb_plan_choose(ftb_any_plan *choices, ftb_plan_kind kind, const ftb_any_facts *facts, FtB_Plan plan,
                         FtB_Context wise)
{
    memset(choices, 0, sizeof *choices);
    if (plan) {
        GrB_Info info = ftb_plan_check_kind(plan, kind);
        if (info == GrB_SUCCESS)
            info = ftb_plan_check_same(kind, &plan->facts, facts);
        if (info != GrB_SUCCESS)
            return info;
        *choices = plan->plan;
        ftb_plan_rows[kind].rule(choices, facts, &plan->machine);
    } else if (!wise) {
        ftb_plan_rows[kind].rule(choices, facts, ftb_machine_here());
    } else if (!ftb_wisdom_plan(choices, kind, facts, wise)) {
        const ftb_machine_facts machine = ftb_wisdom_machine(wise);
        ftb_plan_rows[kind].rule(choices, facts, &machine);
    }
    return GrB_SUCCESS;
}

/* ---- on a device or not */

static double move_seconds(FtB_Plan plan, int64_t bytes)
{
    const double rate = plan->device && plan->device->memory ? plan->device->memory->rate : 0;
    return rate > 0 ? (double)bytes / rate : 0;
}

static double host_seconds(FtB_Plan plan)
{
    return plan->plan.spmm.seconds + move_seconds(plan, plan->to_host);
}

/* 0: nobody knows: only of sparse x block is it predicted, and not cuSPARSE's. */
static double device_seconds(FtB_Plan plan)
{
    const double there = plan->kind == FTB_PLAN_SPMM && plan->by_device ? plan->plan.spmm.gpu.seconds : 0;
    return there > 0 ? there + move_seconds(plan, plan->to_device) : 0;
}

bool ftb_plan_on_host(FtB_Plan plan)
{
    const double there = device_seconds(plan);
    return plan->placing == FTB_ON_HOST ||
           (plan->placing == FTB_BY_COST && !plan->stays && there > 0 && host_seconds(plan) < there);
}

static bool runs_there(FtB_Plan plan) { return plan->by_device && !ftb_plan_on_host(plan); }

static int64_t moves(FtB_Plan plan) { return runs_there(plan) ? plan->to_device : plan->to_host; }

static const char *const placings[] = {
    [FTB_ON_DEVICE] = "device", [FTB_ON_HOST] = "host", [FTB_BY_COST] = "cost"};

static GrB_Info set_place(FtB_Plan plan, const char *value)
{
    for (int n = 0; plan->kind == FTB_PLAN_SPMM && n < (int)(sizeof placings / sizeof *placings); n++)
        if (strcmp(value, placings[n]) == 0) {
            plan->placing = (ftb_placing)n;
            return GrB_SUCCESS;
        }
    return ftb_fail(GrB_INVALID_VALUE, "plan: place = '%s'; expected %s", value,
                    plan->kind == FTB_PLAN_SPMM ? "device, host or cost" : "a plan of sparse x block");
}

static void explain_device(FtB_Plan plan, FILE *file)
{
    const bool there = runs_there(plan);
    fprintf(file, "device           %s %s; %.1f MiB of operands are %s first", plan->device->name,
            there             ? "runs it"
            : plan->by_device ? "could run it, the host does it"
                              : "does not have it, the host does it",
            0x1p-20 * (double)moves(plan), there ? "sent" : "brought home");
    const double seconds = move_seconds(plan, moves(plan));
    if (seconds > 0)
        fprintf(file, ", about %.3g s", seconds);
    fputc('\n', file);
    if (device_seconds(plan) > 0)
        fprintf(file, "                 with what moves %.3g s there, %.3g s on the host%s\n",
                device_seconds(plan), host_seconds(plan),
                plan->placing == FTB_BY_COST
                    ? plan->stays ? "; operands that are there alone stay there" : "; the less of the two"
                : plan->placing == FTB_ON_HOST ? "; the host was asked for"
                                               : "");
}

GrB_Info FtB_Plan_explain(FtB_Plan plan, FILE *file)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!file)
        return ftb_fail(GrB_NULL_POINTER, "file: NULL; expected an open FILE");
    locale_t before = ftb_locale_enter();
    ftb_plan_rows[plan->kind].explain(&plan->plan, &plan->facts, &plan->machine, file);
    if (plan->device)
        explain_device(plan, file);
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
    if (strcmp(key, "place") == 0)
        return set_place(plan, value);
    const ftb_plan_row *row = &ftb_plan_rows[plan->kind];
    const char *expected = row->set(&plan->plan, &plan->facts, key, value);
    if (expected)
        return ftb_fail(GrB_INVALID_VALUE, "plan: %s = '%s'; expected %s", key, value, expected);
    row->rule(&plan->plan, &plan->facts, &plan->machine);
    return GrB_SUCCESS;
}

GrB_Info FtB_Plan_get(FtB_Plan plan, const char *key, double *value)
{
    GrB_Info info = check_plan(plan);
    if (info != GrB_SUCCESS)
        return info;
    if (!key || !value)
        return ftb_fail(GrB_NULL_POINTER, "%s: NULL", key ? "value" : "key");
    const ftb_plan_row *row = &ftb_plan_rows[plan->kind];
    bool found = row->get(&plan->plan, &plan->facts, key, value);
    if (!found && strcmp(key, "moved_bytes") == 0) {
        *value = (double)moves(plan);
        found = true;
    }
    if (!found && strcmp(key, "moved_seconds") == 0) {
        *value = move_seconds(plan, moves(plan));
        found = true;
    }
    if (!found && strcmp(key, "on_host") == 0) {
        *value = !runs_there(plan);
        found = true;
    }
    if (!found)
        return ftb_fail(GrB_INVALID_VALUE,
                        "plan: unknown figure '%s'; known are %s, moved_bytes, moved_seconds, on_host", key,
                        row->figures);
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
