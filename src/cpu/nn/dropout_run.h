/* Dropout, on the host. */
#ifndef FTB_DROPOUT_RUN_H
#define FTB_DROPOUT_RUN_H

#include "verbs/dropout_product.h"

GrB_Info ftb_dropout_run(const ftb_dropout_product *p);

#endif
