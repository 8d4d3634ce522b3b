/* Verbs of whole graphs as their products' comments say them (ref_device.h). */
#ifndef TESTS_ORACLE_REF_GRAPH_H
#define TESTS_ORACLE_REF_GRAPH_H

#include "verbs/verbs.h"

GrB_Info ref_components(const ftb_components_product *product);
GrB_Info ref_paths(const ftb_paths_product *product);

#endif
