/* What winning entries stand for, on the host. */
#ifndef FTB_WINNERS_RUN_H
#define FTB_WINNERS_RUN_H

#include "verbs/winners_product.h"

GrB_Info ftb_winners_run(const ftb_winners_product *w);
GrB_Info ftb_winners_grad_run(const ftb_winners_product *w);

#endif
