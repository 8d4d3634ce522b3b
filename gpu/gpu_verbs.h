/* The verbs that GPUs have (verbs/verbs.h), and of which products. */
#ifndef FTB_GPU_VERBS_H
#define FTB_GPU_VERBS_H

#include "verbs/verbs.h"

GrB_Info ftb_gpu_spmm(const ftb_spmm_product *product, const ftb_spmm_plan *plan);
bool ftb_gpu_spmm_fits(const ftb_spmm_product *product);
GrB_Info ftb_gpu_softmax(const ftb_softmax_product *product);
bool ftb_gpu_softmax_fits(const ftb_softmax_product *product);
GrB_Info ftb_gpu_sddmm(const ftb_sddmm_product *product, const ftb_sddmm_plan *plan);
bool ftb_gpu_sddmm_fits(const ftb_sddmm_product *product);
GrB_Info ftb_gpu_attention(const ftb_attention_product *product, const ftb_sddmm_plan *plan);
bool ftb_gpu_attention_fits(const ftb_attention_product *product);

#endif
