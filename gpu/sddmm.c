/* The verb `sddmm` on a GPU: dot products, and leaky_relu(src + dst), of FP32 (kernels/sddmm_direct.cu). A
 * dot product's bits depend on the width, and on whether rows can be read four values at a time. Or cuSPARSE
 * makes dot products, where a plan says so: the rest of the host's plan has no say here. */
#include "gpu/cusparse/cusparse_sddmm.h"
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/sddmm_direct.h"
#include "gpu/launch.h"
#include "gpu/pieces.h"
#include "plan/wisdom.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/sddmm_direct.cu"
#define MOST_HEADS FTB_GPU_MOST_Y /* each may be a block in y of the grid */

bool ftb_gpu_sddmm_fits(const ftb_sddmm_product *s)
{
    if (s->type != FTB_FP32 || s->x.type != FTB_FP32 || s->y.type != FTB_FP32 || s->x.at || s->y.at ||
        s->p->wide || s->p->nrows > INT_MAX || s->heads > MOST_HEADS || s->x.width > INT_MAX)
        return false;
    return ftb_gpu_load(ftb_gpu_of(ftb_device(s->ctx)), SOURCE) == GrB_SUCCESS;
}

static ftb_gpu_spans spans_of(const ftb_sddmm_product *s)
{
    return ftb_gpu_spans_of(s->heads, s->x.width,
                            s->x.width % 4 == 0 && ftb_gpu_vectors(s->x.data, s->x.ld, sizeof(float)) &&
                                ftb_gpu_vectors(s->y.data, s->y.ld, sizeof(float)));
}

static GrB_Info launch(ftb_gpu_device *d, ftb_sddmm_direct_arguments *a, const ftb_sddmm_product *s)
{
    char name[48];
    ftb_gpu_grid grid = {.y = 1, .threads = FTB_SDDMM_DIRECT_BLOCK};
    int lanes;
    if (s->kind == FTB_SCORE_ADD) {
        lanes = s->p->nvals * s->heads > 16 * s->p->nrows ? 32 : 8;
        snprintf(name, sizeof name, "sddmm_direct_f32_ADD_%d", lanes);
    } else {
        const ftb_gpu_spans of = spans_of(s);
        lanes = of.lanes;
        grid.y = (s->heads + lanes / of.span - 1) / (lanes / of.span);
        snprintf(name, sizeof name, "sddmm_direct_f32_DOT_%dx%dx%d", lanes, of.span, of.values);
    }
    const int groups = FTB_SDDMM_DIRECT_BLOCK / lanes;
    grid.x = (a->npieces + groups - 1) / groups;
    return ftb_gpu_launch(d, s->ctx, SOURCE, name, grid, (void *[]){a});
}

/* ---- the plan */

static ftb_gpu_sddmm_facts describe(ftb_gpu_device *d, bool sparse)
{
    const ftb_gpu_facts facts = ftb_gpu_planned(d);
    return (ftb_gpu_sddmm_facts){.there = true, .sparse = sparse, .device = ftb_gpu_number(d->gpu, &facts)};
}

/* Before operands are there: all that is to be known. */
GrB_Info ftb_gpu_sddmm_plan_of(ftb_sddmm_plan *plan, ftb_sddmm_facts *facts, const ftb_sddmm_product *s)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    facts->gpu = describe(d, ftb_gpu_cusparse_sddmm_fits(s) && ftb_gpu_cusparse_ready(d));
    ftb_sddmm_plan made = *plan;
    made.asked.forced &= ~plan->asked.chosen;
    made.asked.chosen = 0;
    const bool free_choice = !(made.asked.forced & FTB_SDDMM_SET_KERNEL) && !plan->there.family;
    ftb_any_facts any = {.sddmm = *facts};
    ftb_any_plan known = {.sddmm = made};
    if (free_choice && !ftb_deterministic(s->ctx) &&
        ftb_wisdom_plan(&known, FTB_PLAN_GPU_SDDMM, &any, s->ctx))
        plan->gpu = known.sddmm.gpu;
    else
        ftb_rule_gpu_sddmm_there(plan, facts);
    return GrB_SUCCESS;
}

/* Whether cuSPARSE makes it: where it is asked for, was tried, or wisdom has it. It, a quarter of a gigabyte,
 * is looked for only then. */
static bool is_for_cusparse(ftb_gpu_device *d, const ftb_sddmm_product *s, const ftb_sddmm_plan *plan)
{
    if (!plan || !ftb_gpu_cusparse_sddmm_fits(s))
        return false;
    ftb_sddmm_asked asked = plan->asked;
    asked.forced &= ~asked.chosen;
    asked.chosen = 0;
    ftb_any_facts any = {.sddmm = {.nrows = s->p->nrows,
                                   .ncols = s->p->ncols,
                                   .nvals = s->p->nvals,
                                   .heads = s->heads,
                                   .features = s->x.width,
                                   .gpu = describe(d, true)}};
    ftb_any_plan made = {.sddmm = {.there = plan->there, .asked = asked}};
    if (plan->there.family || asked.forced & FTB_SDDMM_SET_KERNEL) {
        ftb_rule_gpu_sddmm_there(&made.sddmm, &any.sddmm);
    } else {
        if (ftb_deterministic(s->ctx) || !ftb_wisdom_any(s->ctx))
            return false;
        any.sddmm.degrees = *ftb_pattern_degrees(s->p);
        if (!ftb_wisdom_plan(&made, FTB_PLAN_GPU_SDDMM, &any, s->ctx))
            return false;
    }
    return made.sddmm.gpu.sparse && ftb_gpu_cusparse_ready(d);
}

/* ---- the verb */

GrB_Info ftb_gpu_sddmm(const ftb_sddmm_product *s, const ftb_sddmm_plan *plan)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    const int *colidx;
    ftb_gpu_pieces p;
    GrB_Info info = is_for_cusparse(d, s, plan) ? ftb_gpu_cusparse_sddmm(d, s) : GrB_NO_VALUE;
    if (info != GrB_NO_VALUE) /* else we do it */
        return info;
    info = ftb_gpu_rows_ask(&p, &colidx, s->p, d);
    if (info != GrB_SUCCESS)
        return info;
    ftb_sddmm_direct_arguments a = {.npieces = p.npieces - p.nempty,
                                    .pieces = p.pieces,
                                    .colidx = colidx,
                                    .x = s->x.data,
                                    .y = s->y.data,
                                    .out = s->out,
                                    .ldx = s->x.ld,
                                    .ldy = s->y.ld,
                                    .heads = (int)s->heads,
                                    .width = (int)s->x.width,
                                    .headx = ftb_gpu_head_step(&s->x),
                                    .heady = ftb_gpu_head_step(&s->y),
                                    .scale = (float)s->scale,
                                    .slope = (float)s->slope};
    return launch(d, &a, s);
}
