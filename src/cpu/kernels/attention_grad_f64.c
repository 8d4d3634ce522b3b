/* The FP64 cell of attention_grad.c. */
#define FTB_REAL64
#include "cpu/kernels/attention_grad.c"
