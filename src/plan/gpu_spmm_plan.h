/* The planner's rule for sparse x block on a GPU: the direct form, or the hybrid one, which reads sources
 * that many rows share from shared memory. No GPU was there to measure on: what it counts with that is no
 * figure of the GPU's rests on no measurement (rule_gpu_spmm.c). */
#ifndef FTB_PLAN_GPU_SPMM_H
#define FTB_PLAN_GPU_SPMM_H

#include "featblas.h"
#include "plan/choice.h"
#include "plan/machine.h"

/* How often blocks of rows use their sources (gpu/spmm_form.h). Class b: 2^b to 2^(b+1) - 1 times. */
enum { FTB_GPU_USES = 12 };
typedef struct ftb_gpu_density {
    bool known;
    double columns[FTB_GPU_USES], entries[FTB_GPU_USES]; /* pairs of a block and a column; their entries */
    double blocks[FTB_GPU_USES];                         /* by their most used column */
} ftb_gpu_density;

/* Algorithms of cuSPARSE's: bits of all but the last may differ from run to run. */
typedef enum ftb_gpu_sparse_algorithm {
    FTB_GPU_SPARSE_DEFAULT,
    FTB_GPU_SPARSE_CSR_ALG1,
    FTB_GPU_SPARSE_CSR_ALG2,
    FTB_GPU_SPARSE_CSR_ALG3,
    FTB_GPU_SPARSE_ALGORITHMS
} ftb_gpu_sparse_algorithm;
const char *ftb_gpu_sparse_name(ftb_gpu_sparse_algorithm algorithm); /* "csr_alg3" */

/* What is known of a product beside the facts for the host's plan. */
typedef struct ftb_gpu_spmm_facts {
    ftb_gpu_facts gpu;       /* of no multiprocessors: none runs it */
    int at_once;             /* features of a row that can be read at a time: 8, 4, 2 or 1 */
    bool staged;             /* the hybrid form has a kernel for it */
    bool exact;              /* of which no bit depends on the form: min and max */
    bool fixed;              /* what bits depend on is not to be chosen by the GPU's figures: direct */
    FtB_Precision precision; /* that tensor cores' kernel for it may round to; FP32: there is none */
    bool sparse;             /* cuSPARSE is there, and makes it */
    bool relaxed;            /* bits may differ from run to run */
    int64_t device;          /* a number of the GPU's own, for wisdom */
    ftb_gpu_density density;
} ftb_gpu_spmm_facts;

typedef struct ftb_gpu_spmm_plan {
    bool hybrid;
    bool bulk;         /* hybrid: tiles come by bulk copies where there are such */
    bool tensor;       /* hybrid, by tensor cores where a tile is dense: */
    int dense;         /* of 128 places of a tile's strip, entries from which it is multiplied */
    int lanes, values; /* of a group, which takes a piece of a row; consecutive features of a lane */
    bool vectors;      /* hybrid: tiles are read four features at a time */
    const char *why;   /* direct: why it is, for people */
    int threshold;     /* hybrid: uses by a block of rows from which a source is read from a tile */
    int64_t tile;      /* hybrid: sources of a tile */
    double hot;        /* hybrid: share of the entries that are read from tiles */
    bool sparse;       /* cuSPARSE does it, in place of either, by */
    ftb_gpu_sparse_algorithm algorithm;
    double seconds, direct_seconds,
        hybrid_seconds;    /* predicted; of what cannot be INFINITY; cuSPARSE's is 0 */
    ftb_origin origin;     /* MODEL after every rule; else seconds are measured */
    double tensor_seconds; /* 0: they were not looked at */
} ftb_gpu_spmm_plan;

/* Below so many seconds of the direct form the hybrid one is not looked at, unless it was asked for. Rests on
 * no measurement. */
#define FTB_GPU_SPMM_SMALL 50e-6

struct ftb_spmm_facts;
struct ftb_spmm_asked;
/* Which plan is made of the facts, of what of them is of the GPU, and of what was asked for alone. */
void ftb_rule_gpu_spmm(ftb_gpu_spmm_plan *plan, const struct ftb_spmm_facts *facts,
                       const ftb_gpu_spmm_facts *gpu, const struct ftb_spmm_asked *asked);
/* Lets tensor cores have what such a plan has, where facts->gpu says that they may, and they are predicted to
 * be faster, or were asked for. `gpu` has how rows are read. (rule_gpu_tensor.c) */
void ftb_rule_gpu_tensor(ftb_gpu_spmm_plan *plan, const struct ftb_spmm_facts *facts,
                         const ftb_gpu_spmm_facts *gpu, const struct ftb_spmm_asked *asked);
/* Families of its choices: DIRECT, HYBRID and TENSOR as plans ask for them, and from here on cuSPARSE's
 * algorithms. */
enum { FTB_GPU_SPMM_SPARSE = 16 };
struct ftb_spmm_plan;
/* Whether what was asked for says which form. */
bool ftb_gpu_spmm_asked(const struct ftb_spmm_asked *asked);
/* A plan's choice, and the plan that the rule makes of one, but for what was forced already; as of the host's
 * (spmm_plan.h). Hybrid, by tensor cores or not: its segment is the threshold, its tile sources of a tile.
 * (choice.c) */
ftb_choice ftb_gpu_spmm_chosen(const ftb_gpu_spmm_plan *plan);
bool ftb_gpu_spmm_choose(struct ftb_spmm_plan *plan, const struct ftb_spmm_facts *facts,
                         const ftb_choice *choice, ftb_origin origin);
void ftb_explain_gpu_spmm(const ftb_gpu_spmm_plan *plan, FILE *file);

#endif
