/* Softmax of entries, and its gradient, on the host. */
#ifndef FTB_SOFTMAX_RUN_H
#define FTB_SOFTMAX_RUN_H

#include "verbs/softmax_product.h"

/* Bits do not depend on threads. Allocates all that it needs before anything is written. */
GrB_Info ftb_softmax_run(const ftb_softmax_product *product);

#endif
