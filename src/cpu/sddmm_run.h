/* Values for the entries of a pattern from rows of two blocks, on plain memory, as a plan says. */
#ifndef FTB_SDDMM_RUN_H
#define FTB_SDDMM_RUN_H

#include "cpu/kernels/sddmm_kernels.h"
#include "cpu/kernels/sddmm_sum.h"
#include "cpu/padded.h"
#include "plan/sddmm_plan.h"

/* out(e, h) = scale * dot(y(i, h), x(j, h)) for the entries e = (i, j) of p. */
typedef struct ftb_sddmm_product {
    FtB_Context ctx;
    ftb_pattern *p;
    ftb_padded x, y; /* of one floating type and as many heads */
    double scale;
    void *out; /* nvals x heads of that type */
    int threads;
    bool interruptible; /* out is scratch: what was begun may be left */
} ftb_sddmm_product;
/* What the planner wants to know. */
ftb_sddmm_facts ftb_sddmm_facts_of(const ftb_sddmm_product *product);
/* Lays out the rows of y, unless an earlier run did, and computes. Allocates all that it needs before
 * anything is written. The caller clears y. (sddmm_run.c) */
GrB_Info ftb_sddmm_run(ftb_sddmm_product *product, const ftb_sddmm_plan *plan);

/* Scores leaky_relu(x + y) as the job says, all but its output, into `out`. (sddmm_run.c) */
GrB_Info ftb_sddmm_run_sums(void *out, ftb_sums_job *s, FtB_Type type, const ftb_pattern *p, FtB_Context ctx,
                            bool interruptible);

#endif
