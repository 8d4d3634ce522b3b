/* Rows put into rows, on the host. */
#ifndef FTB_COPY_RUN_H
#define FTB_COPY_RUN_H

#include "verbs/copy_product.h"

GrB_Info ftb_copy_run(const ftb_copy_product *p);

#endif
