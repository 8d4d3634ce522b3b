/* Fused attention: what its two directions share. */
#ifndef FTB_OPS_ATTENTION_H
#define FTB_OPS_ATTENTION_H

#include "cpu/attention_run.h"
#include "expr/score.h"
#include "ops/block/blocks.h"
#include "ops/spmm.h"

/* The slots that both directions read. */
typedef struct ftb_attention_call {
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Block Q, K, V;
    FtB_Semiring semiring;
    ftb_flags flags;
    FtB_Attention_options options;
    const uint64_t *seed_at; /* ftb_attention_product */
    ftb_message message;
    ftb_message_type score_type;
    ftb_program *program;
    ftb_score score;
    int64_t heads, value_width; /* as given */
    FtB_Type type;              /* in which all is computed */
    ftb_sddmm_facts facts;      /* of the forward walk */
    ftb_sddmm_plan plan;
} ftb_attention_call;

/* FtB_attention and FtB_attention_grad of a tape: with a place for the seed (ftb_attention_product). */
GrB_Info ftb_attention_seeded(const uint64_t *seed_at, FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring,
                              FtB_Arg Q, FtB_Arg K, FtB_Arg V, const FtB_Attention_options *options,
                              FtB_Arg desc);
GrB_Info ftb_attention_grad_seeded(const uint64_t *seed_at, FtB_Arg dQ, FtB_Arg dK, FtB_Arg dV, FtB_Arg dC,
                                   FtB_Arg A, FtB_Arg semiring, FtB_Arg Q, FtB_Arg K, FtB_Arg V, FtB_Arg C,
                                   const FtB_Attention_options *options, FtB_Arg desc);

/* c is zeroed, but for seed_at. */
GrB_Info ftb_attention_begin(ftb_attention_call *c, FtB_Context ctx, FtB_Arg A, FtB_Arg semiring, FtB_Arg Q,
                             FtB_Arg K, FtB_Arg V, const FtB_Attention_options *options, FtB_Arg desc);
GrB_Info ftb_attention_end(ftb_attention_call *c, GrB_Info info);
/* The product, without what it writes; operands are the host's, and not asked for. */
ftb_attention_product ftb_attention_describe_call(const ftb_attention_call *c);
/* Asks for the operands on the host. */
GrB_Info ftb_attention_ask(const ftb_attention_call *c);
/* lse, if any: m x heads, floating; `output`: it must be writable. Not asked for. */
GrB_Info ftb_attention_check_lse(const ftb_attention_call *c, bool output);
/* Attention in three steps, wherever the operands are, to C and lse, which are no operands: rows x heads
 * value_width of c->type, and rows x heads of it, packed; lse NULL: not wanted. It may be written although C
 * is not, on failure. Needs c->facts.can_stage. (attention_staged.c) */
GrB_Info ftb_attention_staged(const ftb_attention_call *c, FtB_Block C, FtB_Block lse);

#endif
