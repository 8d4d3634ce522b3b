/* Fused attention: what its two directions share. */
#ifndef FTB_OPS_ATTENTION_H
#define FTB_OPS_ATTENTION_H

#include "cpu/attention.h"
#include "ops/blocks.h"
#include "ops/padded.h"
#include "ops/score.h"
#include "ops/spmm.h"
#include "plan/sddmm.h"

/* One walk over the entries of a pattern. */
typedef struct ftb_attention_walk {
    FtB_Context ctx;
    ftb_pattern *p;
    FtB_Type type;
    ftb_attention_job job;  /* of all heads; without visits and sources */
    ftb_padded x, x_values; /* the sources; x without heads where job.scores makes the scores */
    void **args;            /* job.scores' argument, per thread; NULL: none */
    int threads;
    bool fours; /* four heads together, which leaves acc and most as they will be, of all rows */
} ftb_attention_walk;

/* What the planner wants to know of a walk over p. (attention_walk.c) */
ftb_sddmm_facts ftb_attention_facts(const ftb_pattern *p, const ftb_attention_job *job, FtB_Type type,
                                    int threads);
/* Heads that kernels take together where sources come in segments: four, or one. (attention_fours.c) */
int64_t ftb_attention_together(const ftb_attention_job *job, FtB_Type type);
/* The job, or sources, of heads first .. first + count - 1. (attention_walk.c) */
ftb_attention_job ftb_attention_job_of(const ftb_attention_walk *w, int64_t first, int64_t count);
ftb_padded ftb_attention_heads_of(const ftb_padded *p, int64_t first, int64_t count);
/* The walk over segments, four heads together. (attention_fours.c) */
GrB_Info ftb_attention_run_fours(ftb_attention_walk *w, const ftb_sddmm_plan *plan);
/* Runs the kernel over all entries. (attention_walk.c) */
GrB_Info ftb_attention_run(ftb_attention_walk *w, const ftb_sddmm_plan *plan);

/* The slots that both directions read. */
typedef struct ftb_attention_call {
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Block Q, K, V;
    FtB_Semiring semiring;
    ftb_flags flags;
    FtB_Attention_options options;
    ftb_message message;
    ftb_message_type score_type;
    ftb_program *program;
    ftb_score score;
    int64_t heads, width, value_width; /* as given, per head; width: of what scores are made of */
    FtB_Type type;                     /* in which all is computed */
    ftb_sddmm_facts facts;             /* of the forward walk */
    ftb_sddmm_plan plan;
} ftb_attention_call;

GrB_Info ftb_attention_begin(ftb_attention_call *c, FtB_Context ctx, FtB_Arg A, FtB_Arg semiring, FtB_Arg Q,
                             FtB_Arg K, FtB_Arg V, const FtB_Attention_options *options, FtB_Arg desc);
GrB_Info ftb_attention_end(ftb_attention_call *c, GrB_Info info);
/* The options and form, for a kernel. */
void ftb_attention_describe(ftb_attention_job *job, const ftb_attention_call *c);
/* lse, if any: m x heads, floating; `output`: it must be writable. */
GrB_Info ftb_attention_check_lse(const ftb_attention_call *c, bool output);
/* A block as a feed. */
ftb_feed ftb_attention_feed(FtB_Block X, int64_t heads, ftb_side side);
/* Heads that are `padded` values wide move together to `width`, row by row; rows stay ld values apart. */
void ftb_attention_compact(void *T, FtB_Type type, int64_t rows, int64_t ld, int64_t heads, int64_t padded,
                           int64_t width, int threads);

/* Attention in three steps. result: rows x heads x value_width; lse: rows x heads of c->type, or NULL. Needs
 * c->facts.can_stage. (attention_staged.c) */
GrB_Info ftb_attention_staged(ftb_spmm_result *result, const ftb_attention_call *c,
                              const ftb_attention_job *job, void *lse);

#endif
