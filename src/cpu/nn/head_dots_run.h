/* Dot products of heads, on the host. */
#ifndef FTB_HEAD_DOTS_RUN_H
#define FTB_HEAD_DOTS_RUN_H

#include "verbs/head_dots_product.h"

GrB_Info ftb_head_dots_run(const ftb_head_dots_product *p);
GrB_Info ftb_head_dots_grad_run(const ftb_head_dots_product *p);

#endif
