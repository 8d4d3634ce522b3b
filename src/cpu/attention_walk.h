/* Walks of attention kernels over the entries of a pattern, as a plan says. */
#ifndef FTB_ATTENTION_WALK_H
#define FTB_ATTENTION_WALK_H

#include "cpu/kernels/attention_kernels.h"
#include "cpu/padded.h"
#include "plan/sddmm_plan.h"

/* One walk over the entries of a pattern. */
typedef struct ftb_attention_walk {
    FtB_Context ctx;
    ftb_pattern *p;
    FtB_Type type;
    ftb_attention_job job;  /* of all heads; without visits and sources */
    ftb_padded x, x_values; /* the sources; x without heads where job.scores makes the scores */
    void **args;            /* job.scores' argument, per thread; NULL: none */
    int threads;
    bool fours; /* four heads together, which leaves acc and most, or gradients, as they will be, of all rows
                 */
} ftb_attention_walk;

/* Heads that kernels take together where sources come in segments: four, or one. (attention_walk_fours.c) */
int64_t ftb_attention_together(const ftb_attention_job *job, FtB_Type type);
/* Whether kernels take heads one after the other, sixteen entries at a time. (attention_walk.c) */
bool ftb_attention_head_by_head(const ftb_attention_job *job);
/* The job, or sources, of heads first .. first + count - 1. (attention_walk.c) */
ftb_attention_job ftb_attention_job_of(const ftb_attention_walk *w, int64_t first, int64_t count);
ftb_padded ftb_attention_heads_of(const ftb_padded *p, int64_t first, int64_t count);
/* The walk over segments, four heads together. (attention_walk_fours.c) */
GrB_Info ftb_attention_run_fours(ftb_attention_walk *w, const ftb_sddmm_plan *plan);
/* Runs the kernel over all entries. (attention_walk.c) */
GrB_Info ftb_attention_walk_run(ftb_attention_walk *w, const ftb_sddmm_plan *plan);

#endif
