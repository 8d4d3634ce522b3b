/* Expressions over rows, on the host. */
#ifndef FTB_MAP_ROWS_RUN_H
#define FTB_MAP_ROWS_RUN_H

#include "verbs/map_rows_product.h"

GrB_Info ftb_map_rows_run(const ftb_map_rows_product *p);

#endif
