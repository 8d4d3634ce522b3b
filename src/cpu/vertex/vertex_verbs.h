/* Steps of supersteps as verbs: the host's, for devices that fail; its own supersteps do it in batches
 * (vertex_apply.c). */
#ifndef FTB_VERTEX_VERBS_H
#define FTB_VERTEX_VERBS_H

#include "verbs/vertex_product.h"

GrB_Info ftb_vertex_renew_run(const ftb_vertex_renew_product *product);
GrB_Info ftb_vertex_flags_run(const ftb_vertex_flags_product *product);
GrB_Info ftb_vertex_sums_run(const ftb_vertex_sums_product *product);

#endif
