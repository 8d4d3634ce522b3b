/* The plan of sparse x block on a GPU, for people. */
#include "plan/gpu_spmm_plan.h"

#include <math.h>

static const char *const algorithms[] = {[FTB_GPU_SPARSE_DEFAULT] = "default",
                                         [FTB_GPU_SPARSE_CSR_ALG1] = "csr_alg1",
                                         [FTB_GPU_SPARSE_CSR_ALG2] = "csr_alg2",
                                         [FTB_GPU_SPARSE_CSR_ALG3] = "csr_alg3"};

const char *ftb_gpu_sparse_name(ftb_gpu_sparse_algorithm algorithm) { return algorithms[algorithm]; }

static void explain_sparse(const ftb_gpu_spmm_plan *plan, FILE *file)
{
    fprintf(file, "on the GPU       cuSPARSE's %s <- %s", ftb_gpu_sparse_name(plan->algorithm),
            ftb_origin_mark(plan->origin, true));
    if (plan->origin != FTB_ORIGIN_MODEL)
        fprintf(file, "; %.3g s", plan->seconds);
    fprintf(file, "\n                 %s\n",
            plan->algorithm == FTB_GPU_SPARSE_CSR_ALG3
                ? "its bits are the same at every run, by its documentation"
                : "its bits may differ from run to run, which the context allows");
}

void ftb_explain_gpu_spmm(const ftb_gpu_spmm_plan *plan, FILE *file)
{
    char mark[40];
    if (plan->sparse) {
        explain_sparse(plan, file);
        return;
    }
    snprintf(mark, sizeof mark, " <- %s", ftb_origin_mark(plan->origin, false));
    fprintf(file, "on the GPU       direct 1.00%s", plan->hybrid ? "" : mark);
    if (isfinite(plan->hybrid_seconds))
        fprintf(file, "   hybrid %.2f%s", plan->hybrid_seconds / plan->direct_seconds,
                plan->hybrid && !plan->tensor ? mark : "");
    if (plan->tensor_seconds > 0 && isfinite(plan->tensor_seconds))
        fprintf(file, "   tensor %.2f%s", plan->tensor_seconds / plan->direct_seconds,
                plan->tensor ? mark : "");
    fprintf(file, "; %s %.3g s\n", plan->origin == FTB_ORIGIN_MODEL ? "predicted" : "measured",
            plan->seconds);
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
