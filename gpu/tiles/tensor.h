/* Tiles of sparse x block, hybrid form, by tensor cores: where operands may be rounded. */
#ifndef FTB_GPU_TENSOR_H
#define FTB_GPU_TENSOR_H

#include "gpu/context.h"
#include "gpu/spmm_form.h"
#include "verbs/spmm_product.h"

/* What operands of a product are rounded to, if its context allows that and there is a kernel; else
 * FTB_PRECISION_FP32. */
FtB_Precision ftb_gpu_tensor_precision(ftb_gpu_device *d, const ftb_spmm_product *s);
/* Adds what tiles have to `starts` of the arguments, whose weights are in the form's order. */
GrB_Info ftb_gpu_launch_tensor(ftb_gpu_device *d, const ftb_spmm_direct_arguments *a,
                               const ftb_spmm_product *s, const ftb_gpu_hybrid *h,
                               const ftb_gpu_spmm_plan *plan);

#endif
