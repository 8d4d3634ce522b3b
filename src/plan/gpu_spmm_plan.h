/* The planner's rule for sparse x block on a GPU, direct form. No GPU was there to measure on: what it counts
 * with that is no figure of the GPU's rests on no measurement (rule_gpu_spmm.c). */
#ifndef FTB_PLAN_GPU_SPMM_H
#define FTB_PLAN_GPU_SPMM_H

#include "plan/spmm_plan.h"

typedef struct ftb_gpu_spmm_plan {
    int lanes, values; /* of a group, which takes a piece of a row; consecutive features of a lane */
    double seconds;    /* predicted */
} ftb_gpu_spmm_plan;

/* `vectors`: rows can be read four features at a time. Which plan is made of the facts and the GPU alone. */
void ftb_rule_gpu_spmm(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, bool vectors,
                       const ftb_gpu_facts *gpu);

#endif
