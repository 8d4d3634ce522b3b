/* A plan as an object: what the rule decided, and for which product. */
#ifndef FTB_OPS_PLAN_H
#define FTB_OPS_PLAN_H

#include "ops/spgemm.h"
#include "plan/spmm.h"

struct FtB_Plan_opaque {
    uint32_t magic;
    FtB_Context ctx;
    bool block; /* sparse x block: the second pair is meant, else the first */
    ftb_spgemm_facts facts;
    ftb_spgemm_plan plan;
    ftb_spmm_facts spmm_facts;
    ftb_spmm_plan spmm_plan;
};

GrB_Info ftb_plan_make(FtB_Plan *plan, const ftb_product *product);
/* Plans the product, by `plan` where it is not NULL: refused if it was made for another product. */
GrB_Info ftb_plan_apply(ftb_product *product, FtB_Plan plan, bool estimate);
/* The same for sparse x block. ftb_plan_spmm: the facts and choices of a plan for one, else refused. */
GrB_Info ftb_plan_make_spmm(FtB_Plan *plan, FtB_Context ctx, const ftb_spmm_facts *facts,
                            const ftb_spmm_plan *choices);
GrB_Info ftb_plan_spmm(const ftb_spmm_facts **facts, const ftb_spmm_plan **choices, FtB_Plan plan);
/* FtB_mxm_plan of sparse x block. (spmm.c) */
GrB_Info ftb_spmm_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                            FtB_Arg B, FtB_Arg desc);

#endif
