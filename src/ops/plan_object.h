/* A plan as an object: what the rule decided, and for which product. */
#ifndef FTB_OPS_PLAN_H
#define FTB_OPS_PLAN_H

#include "ops/spgemm/spgemm.h"
#include "plan/sddmm_plan.h"
#include "plan/spmm_plan.h"

typedef enum ftb_plan_kind {
    FTB_PLAN_SPGEMM,
    FTB_PLAN_SPMM,
    FTB_PLAN_SDDMM,
    FTB_PLAN_ATTENTION
} ftb_plan_kind;

struct FtB_Plan_opaque {
    uint32_t magic;
    FtB_Context ctx;
    ftb_plan_kind kind;        /* which pair is meant */
    ftb_machine_facts machine; /* that it was made for */
    ftb_spgemm_facts facts;
    ftb_spgemm_plan plan;
    ftb_spmm_facts spmm_facts;
    ftb_spmm_plan spmm_plan;
    ftb_sddmm_facts sddmm_facts; /* block x block', and attention */
    ftb_sddmm_plan sddmm_plan;
};

#define FTB_PLAN_BYTES ((int64_t)sizeof(struct FtB_Plan_opaque) + 128) /* counted for one */
GrB_Info ftb_plan_make(FtB_Plan *plan, const ftb_product *product);
/* Plans the product, by `plan` where it is not NULL: refused if it was made for another product. */
GrB_Info ftb_plan_apply(ftb_product *product, FtB_Plan plan, bool estimate);
/* The same for sparse x block. ftb_plan_spmm: the facts and choices of a plan for one, else refused. */
GrB_Info ftb_plan_make_spmm(FtB_Plan *plan, FtB_Context ctx, const ftb_spmm_facts *facts,
                            const ftb_spmm_plan *choices);
GrB_Info ftb_plan_spmm(const ftb_spmm_facts **facts, const ftb_spmm_plan **choices, FtB_Plan plan);
/* The same for block x block' and attention, of which facts->attention says which it is. */
GrB_Info ftb_plan_make_sddmm(FtB_Plan *plan, FtB_Context ctx, const ftb_sddmm_facts *facts,
                             const ftb_sddmm_plan *choices);
/* The choices for a product as described: by the plan (refused if it was made for another one), or, if that
 * is NULL, by the rule. */
GrB_Info ftb_plan_sddmm(ftb_sddmm_plan *choices, const ftb_sddmm_facts *facts, FtB_Plan plan);
/* The same; without a plan, by what the context knows of the machine and of the case. */
GrB_Info ftb_plan_sddmm_wisely(ftb_sddmm_plan *choices, const ftb_sddmm_facts *facts, FtB_Plan plan,
                               FtB_Context ctx);
/* FtB_mxm_plan of sparse x block. (spmm.c) */
GrB_Info ftb_spmm_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                            FtB_Arg B, FtB_Arg desc, FtB_Effort effort);
/* The same of block x block'. (sddmm.c) */
GrB_Info ftb_sddmm_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                             FtB_Arg B, FtB_Arg desc, FtB_Effort effort);

#endif
