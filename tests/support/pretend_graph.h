/* Verbs of whole graphs of the device that does not exist. */
#ifndef TESTS_PRETEND_GRAPH_H
#define TESTS_PRETEND_GRAPH_H

#include "verbs/verbs.h"

GrB_Info pretend_components(const ftb_components_product *product);
GrB_Info pretend_paths(const ftb_paths_product *product);

#endif
