/* The FP64 cell of sddmm_sum.c. */
#define FTB_REAL64
#include "cpu/kernels/sddmm_sum.c"
