/* The planner's rule for dot products on entries on a GPU: our kernel, or cuSPARSE where it is asked for, by
 * hand or by what was measured. How long either takes nothing foretells. */
#ifndef FTB_PLAN_GPU_SDDMM_H
#define FTB_PLAN_GPU_SDDMM_H

#include "plan/choice.h"

#include <stdio.h>

/* What is known of a product beside the facts for the host's plan. */
typedef struct ftb_gpu_sddmm_facts {
    bool there;     /* a GPU runs it */
    bool sparse;    /* cuSPARSE is there, and makes it */
    int64_t device; /* a number of the GPU's own, for wisdom */
} ftb_gpu_sddmm_facts;

typedef struct ftb_gpu_sddmm_plan {
    bool sparse;       /* cuSPARSE does it, in place of our kernel */
    double seconds;    /* 0, unless they are measured */
    ftb_origin origin; /* MODEL after every rule */
} ftb_gpu_sddmm_plan;

struct ftb_sddmm_asked;
struct ftb_sddmm_facts;
struct ftb_sddmm_plan;
void ftb_rule_gpu_sddmm(ftb_gpu_sddmm_plan *plan, const ftb_gpu_sddmm_facts *facts,
                        const struct ftb_sddmm_asked *asked);
/* Of the plan as it stands: what was asked for by hand and what a trial found there with that. */
void ftb_rule_gpu_sddmm_there(struct ftb_sddmm_plan *plan, const struct ftb_sddmm_facts *facts);
/* A plan's choice, of the families ROWS and CUSPARSE, and the plan that the rule makes of one, but for what
 * was forced already; as of the host's (sddmm_plan.h). (choice.c) */
ftb_choice ftb_gpu_sddmm_chosen(const ftb_gpu_sddmm_plan *plan);
bool ftb_gpu_sddmm_choose(struct ftb_sddmm_plan *plan, const struct ftb_sddmm_facts *facts,
                          const ftb_choice *choice, ftb_origin origin);
void ftb_explain_gpu_sddmm(const ftb_gpu_sddmm_plan *plan, const struct ftb_sddmm_asked *asked, FILE *file);

#endif
