/* The FP64 cell of update.c. */
#define FTB_REAL64
#include "cpu/kernels/update.c"
