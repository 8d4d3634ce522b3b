/* Verbs of supersteps as slow loops. */
#ifndef ORACLE_REF_VERTEX_H
#define ORACLE_REF_VERTEX_H

#include "verbs/vertex_product.h"

GrB_Info ref_vertex_renew(const ftb_vertex_renew_product *product);
GrB_Info ref_vertex_flags(const ftb_vertex_flags_product *product);
GrB_Info ref_vertex_sums(const ftb_vertex_sums_product *product);

#endif
