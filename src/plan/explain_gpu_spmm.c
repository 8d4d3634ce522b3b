/* The plan of sparse x block on a GPU, for people. */
#include "plan/gpu_spmm_plan.h"

#include <math.h>

void ftb_explain_gpu_spmm(const ftb_gpu_spmm_plan *plan, FILE *file)
{
    fprintf(file, "on the GPU       direct 1.00%s", plan->hybrid ? "" : " <- chosen");
    if (isfinite(plan->hybrid_seconds))
        fprintf(file, "   hybrid %.2f%s", plan->hybrid_seconds / plan->direct_seconds,
                plan->hybrid && !plan->tensor ? " <- chosen" : "");
    if (plan->tensor_seconds > 0 && isfinite(plan->tensor_seconds))
        fprintf(file, "   tensor %.2f%s", plan->tensor_seconds / plan->direct_seconds,
                plan->tensor ? " <- chosen" : "");
    fprintf(file, "; predicted %.3g s\n", plan->seconds);
    if (plan->tensor)
        fprintf(file,
                "tensor cores     where 16 rows of a tile have %d and more entries of 128 places; others in "
                "FP32\n",
                plan->dense);
    if (plan->hybrid)
        fprintf(file,
                "tiles            %.0f %% of the entries from shared memory: of sources that 512 pieces of "
                "rows use "
                "%d times and more, %lld at a time\n"
                "                 the others direct, %d lanes of %d features\n",
                100 * plan->hot, plan->threshold, (long long)plan->tile, plan->lanes, plan->values);
    else
        fprintf(file, "                 %d lanes of %d features; %s\n", plan->lanes, plan->values, plan->why);
}
