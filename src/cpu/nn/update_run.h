/* Steps of optimisers, on the host. */
#ifndef FTB_UPDATE_RUN_H
#define FTB_UPDATE_RUN_H

#include "verbs/update_product.h"

GrB_Info ftb_update_run(const ftb_update_product *p);
GrB_Info ftb_sum_squares_run(const ftb_sum_squares_product *p);

#endif
