/* The planner's rule for dense products on a GPU: our own kernel, or cuBLAS. No GPU was there to measure on:
 * what it counts with that is no figure of the GPU's rests on no measurement (rule_gpu_dense.c). */
#ifndef FTB_PLAN_GPU_DENSE_H
#define FTB_PLAN_GPU_DENSE_H

#include "featblas.h"
#include "plan/machine.h"

typedef struct ftb_gpu_dense_facts {
    int64_t nrows, ncols, inner; /* of the result, and what is summed over */
    int64_t value_bytes;         /* 4 or 8 */
    FtB_Precision precision;     /* that operands may be rounded to, by cuBLAS */
    double blocks, padded; /* of our kernel, and values of its tiles, of which some lie beyond the edges */
} ftb_gpu_dense_facts;

typedef struct ftb_gpu_dense_plan {
    bool cublas;
    double seconds; /* predicted */
} ftb_gpu_dense_plan;

/* Which plan is made of the facts and the GPU alone; `cublas`: it is there. */
void ftb_rule_gpu_dense(ftb_gpu_dense_plan *plan, const ftb_gpu_dense_facts *facts, bool cublas,
                        const ftb_gpu_facts *gpu);

#endif
