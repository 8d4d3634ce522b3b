/* A plan as an object: what the rule decided, and for which product. */
#ifndef FTB_OPS_PLAN_H
#define FTB_OPS_PLAN_H

#include "ops/spgemm.h"

struct FtB_Plan_opaque {
    uint32_t magic;
    FtB_Context ctx;
    ftb_spgemm_facts facts;
    ftb_spgemm_plan plan;
};

GrB_Info ftb_plan_make(FtB_Plan *plan, const ftb_product *product);
/* Plans the product, by `plan` where it is not NULL: refused if it was made for another product. */
GrB_Info ftb_plan_apply(ftb_product *product, FtB_Plan plan, bool estimate);

#endif
