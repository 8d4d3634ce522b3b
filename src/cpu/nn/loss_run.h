/* Losses on the host. */
#ifndef FTB_LOSS_RUN_H
#define FTB_LOSS_RUN_H

#include "verbs/loss_product.h"

GrB_Info ftb_loss_run(const ftb_loss_product *p);
GrB_Info ftb_loss_grad_run(const ftb_loss_product *p);

#endif
