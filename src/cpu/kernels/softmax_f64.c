/* The FP64 cell of softmax.c. */
#define FTB_REAL64
#include "cpu/kernels/softmax.c"
