/* The FP64 cell of norm.c. */
#define FTB_REAL64
#include "cpu/kernels/norm.c"
