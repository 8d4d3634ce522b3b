/* Dot products on entries on a GPU: which way, and that way for people. */
#include "plan/sddmm_plan.h"

static bool asks(const ftb_sddmm_asked *asked)
{
    return asked->forced & FTB_SDDMM_SET_KERNEL && asked->family == FTB_SDDMM_CUSPARSE;
}

void ftb_rule_gpu_sddmm(ftb_gpu_sddmm_plan *plan, const ftb_gpu_sddmm_facts *facts,
                        const ftb_sddmm_asked *asked)
{
    *plan = (ftb_gpu_sddmm_plan){.sparse = facts->sparse && asks(asked)};
}

void ftb_rule_gpu_sddmm_there(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts)
{
    ftb_sddmm_plan there = *plan;
    there.asked.forced &= ~plan->asked.chosen;
    there.asked.chosen = 0;
    if (!plan->there.family || !ftb_gpu_sddmm_choose(&there, facts, &plan->there, FTB_ORIGIN_TRIAL))
        ftb_rule_gpu_sddmm(&there.gpu, &facts->gpu, &there.asked);
    plan->gpu = there.gpu;
}

void ftb_explain_gpu_sddmm(const ftb_gpu_sddmm_plan *plan, const ftb_sddmm_asked *asked, FILE *file)
{
    const bool by_hand = asks(asked) && !(asked->chosen & FTB_SDDMM_SET_KERNEL);
    fprintf(file, "on the GPU       %s <- %s", plan->sparse ? "cuSPARSE's SDDMM" : "direct",
            ftb_origin_mark(plan->origin, plan->sparse && by_hand));
    if (plan->origin != FTB_ORIGIN_MODEL)
        fprintf(file, "; %.3g s", plan->seconds);
    fputc('\n', file);
    if (plan->sparse)
        fputs("                 its bits are the same at every run, by its documentation\n", file);
}
