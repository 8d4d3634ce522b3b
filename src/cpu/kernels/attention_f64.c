/* The FP64 cell of attention.c. */
#define FTB_REAL64
#include "cpu/kernels/attention.c"
