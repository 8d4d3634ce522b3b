/* Batches of clusters, as loaders take them. */
#ifndef FTB_CLUSTER_BATCHES_H
#define FTB_CLUSTER_BATCHES_H

#include "core/core.h"

bool ftb_is_clusters(FtB_Clusters c);
/* Whether they are clusters of A. */
bool ftb_clusters_of(FtB_Clusters c, FtB_Matrix A);
/* The vertices of a batch, ascending, in new memory. */
GrB_Info ftb_clusters_draw(FtB_Clusters c, FtB_Context ctx, int64_t epoch, int64_t batch, int64_t **vertices,
                           int64_t *count);
/* A sample of two layers, as of nseeds seeds that are the first of the vertices: layer 1 has all entries
 * among the vertices, layer 0 the seeds' rows of it. */
GrB_Info ftb_clusters_layers(FtB_Sample *sample, FtB_Clusters c, FtB_Context ctx, const int64_t *vertices,
                             int64_t count, int64_t nseeds);

#endif
