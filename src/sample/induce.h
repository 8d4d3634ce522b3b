/* Samples of one square layer: all entries among some vertices. */
#ifndef FTB_INDUCE_H
#define FTB_INDUCE_H

#include "core/core.h"

/* What the layer's values are; NULL: A's. Of entries that are given by their places in A, in the rows of the
 * layer. On success *values has one FP32 for each. */
typedef struct ftb_induced_values {
    GrB_Info (*make)(ftb_buffer **values, const void *arg, const int64_t *vertices, int64_t count,
                     const int64_t *rowptr, const int64_t *entries);
    const void *arg;
} ftb_induced_values;

/* *sample: of vertices, each there once. On failure it is NULL. */
GrB_Info ftb_induce(FtB_Sample *sample, FtB_Context ctx, FtB_Matrix A, const int64_t *vertices, int64_t count,
                    const FtB_Subgraph_options *options, const ftb_induced_values *values);

#endif
