/* The FP64 cell of attention_grad.c. */
#define FTB_REAL64
#include "cpu/attention_grad.c"
