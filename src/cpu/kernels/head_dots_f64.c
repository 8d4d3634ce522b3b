/* The FP64 cell of head_dots.c. */
#define FTB_REAL64
#include "cpu/kernels/head_dots.c"
