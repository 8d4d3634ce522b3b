/* Dense products on the host. */
#ifndef FTB_DENSE_RUN_H
#define FTB_DENSE_RUN_H

#include "verbs/dense_product.h"

/* Bits do not depend on threads. Allocates all that it needs before anything is written. */
GrB_Info ftb_dense_run(const ftb_dense_product *p);
/* Operations a second of one thread, FP32; measured once, in a few milliseconds. */
double ftb_dense_rate(void);
/* Why dense products take several times longer than they should, and what mends it; NULL: they do not. */
const char *ftb_dense_slow(void);

#endif
