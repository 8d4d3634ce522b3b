/* Connected components, on the host. */
#ifndef FTB_COMPONENTS_RUN_H
#define FTB_COMPONENTS_RUN_H

#include "verbs/components_product.h"

GrB_Info ftb_components_run(const ftb_components_product *p);

#endif
