/* The planner's rule for sparse x block on a GPU: the direct form, or the hybrid one, which reads sources
 * that many rows share from shared memory. No GPU was there to measure on: what it counts with that is no
 * figure of the GPU's rests on no measurement (rule_gpu_spmm.c). */
#ifndef FTB_PLAN_GPU_SPMM_H
#define FTB_PLAN_GPU_SPMM_H

#include "plan/machine.h"

/* How often blocks of rows use their sources (gpu/spmm_form.h). Class b: 2^b to 2^(b+1) - 1 times. */
enum { FTB_GPU_USES = 12 };
typedef struct ftb_gpu_density {
    bool known;
    double columns[FTB_GPU_USES], entries[FTB_GPU_USES]; /* pairs of a block and a column; their entries */
    double blocks[FTB_GPU_USES];                         /* by their most used column */
} ftb_gpu_density;

/* What is known of a product beside the facts for the host's plan. */
typedef struct ftb_gpu_spmm_facts {
    ftb_gpu_facts gpu; /* of no multiprocessors: none runs it */
    bool vectors;      /* rows can be read four features at a time */
    bool staged;       /* the hybrid form has a kernel for it */
    bool fixed;        /* what bits depend on is not to be chosen by the GPU's figures: direct */
    ftb_gpu_density density;
} ftb_gpu_spmm_facts;

typedef struct ftb_gpu_spmm_plan {
    bool hybrid;
    int lanes, values; /* of a group, which takes a piece of a row; consecutive features of a lane */
    bool vectors;      /* hybrid: tiles are read four features at a time */
    int threshold;     /* hybrid: uses by a block of rows from which a source is read from a tile */
    int64_t tile;      /* hybrid: sources of a tile */
    double hot;        /* hybrid: share of the entries that are read from tiles */
    double seconds, direct_seconds, hybrid_seconds; /* predicted; of what cannot be INFINITY */
} ftb_gpu_spmm_plan;

/* Below so many seconds of the direct form the hybrid one is not looked at, unless it was asked for. Rests on
 * no measurement. */
#define FTB_GPU_SPMM_SMALL 50e-6

struct ftb_spmm_facts;
struct ftb_spmm_asked;
/* Which plan is made of the facts, of what of them is of the GPU, and of what was asked for alone. */
void ftb_rule_gpu_spmm(ftb_gpu_spmm_plan *plan, const struct ftb_spmm_facts *facts,
                       const ftb_gpu_spmm_facts *gpu, const struct ftb_spmm_asked *asked);
void ftb_explain_gpu_spmm(const ftb_gpu_spmm_plan *plan, const ftb_gpu_spmm_facts *gpu, FILE *file);

#endif
