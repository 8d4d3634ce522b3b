/* Sparse x vector and vector x sparse: FtB_mxm and FtB_mxm_plan hand over. (mxv.c) */
#ifndef FTB_OPS_MXV_H
#define FTB_OPS_MXV_H

#include "ops/ops.h"

GrB_Info ftb_mxv(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc);
GrB_Info ftb_mxv_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                           FtB_Arg B, FtB_Arg desc, FtB_Effort effort);

#endif
