/* Dot products on entries by cuSPARSE, a way of the verb sddmm (gpu/sddmm.c). */
#ifndef FTB_GPU_CUSPARSE_SDDMM_H
#define FTB_GPU_CUSPARSE_SDDMM_H

#include "gpu/cusparse/cusparse_product.h"
#include "verbs/sddmm_product.h"

/* Whether it makes such products: dots in FP32, of one head. */
bool ftb_gpu_cusparse_sddmm_fits(const ftb_sddmm_product *product);
/* A product that fits. GrB_NO_VALUE: cuSPARSE has nothing for it, and nothing was done. */
GrB_Info ftb_gpu_cusparse_sddmm(ftb_gpu_device *d, const ftb_sddmm_product *product);

#endif
