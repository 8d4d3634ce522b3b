/* Means over heads, on the host. */
#ifndef FTB_MEAN_HEADS_RUN_H
#define FTB_MEAN_HEADS_RUN_H

#include "verbs/mean_heads_product.h"

GrB_Info ftb_mean_heads_run(const ftb_mean_heads_product *p);
GrB_Info ftb_mean_heads_grad_run(const ftb_mean_heads_product *p);

#endif
