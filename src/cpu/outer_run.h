/* Sums of outer products, on the host. */
#ifndef FTB_OUTER_RUN_H
#define FTB_OUTER_RUN_H

#include "verbs/outer_product.h"

GrB_Info ftb_outer_run(const ftb_outer_product *p);

#endif
