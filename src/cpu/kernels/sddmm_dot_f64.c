/* The FP64 cell of sddmm_dot.c. */
#define FTB_REAL64
#include "cpu/kernels/sddmm_dot.c"
