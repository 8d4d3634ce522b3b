/* Reductions by a monoid, on the host. */
#ifndef FTB_REDUCE_RUN_H
#define FTB_REDUCE_RUN_H

#include "verbs/reduce_product.h"

/* Bits do not depend on threads. Allocates all that it needs before anything is written. */
GrB_Info ftb_reduce_run(const ftb_reduce_product *product);

#endif
