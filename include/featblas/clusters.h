/* ClusterGCN: partitions of a graph, and mini-batches of their parts. Part of featblas.h; docs/sampling.md.
 */
#ifndef FEATBLAS_CLUSTERS_H
#define FEATBLAS_CLUSTERS_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Options of FtB_partition; made by FTB_PARTITION_OPTIONS(.seed = 7). Zero means the default. */
typedef struct FtB_Partition_options {
    size_t size;   /**< set by the macro */
    uint64_t seed; /**< another partition for each, from vertices in another order; 0: as they are numbered */
} FtB_Partition_options;

/** Cuts a graph into parts of about as many vertices, at most 3 % more than the mean where that can be, so
 * that few edges are between parts: by METIS (Karypis and Kumar, 1998), which is opened when it is first
 * needed: FeatBLAS is built, and does all else, without it. Directions are not looked at: an edge of i and j
 * is as heavy as there are entries (i, j) and (j, i). Parts may be empty where they are nearly as many as
 * vertices. METIS's own memory is not counted; while it works, it draws by rand() and catches SIGABRT and
 * SIGTERM, and calls of this function wait for each other.
 *  @param[out] labels a part, 0 to nparts - 1, for each vertex: n of them, the caller's; unchanged on
 * failure.
 *  @param A n x n. @param nparts 1 to n. @param options NULL for the defaults.
 *  @return GrB_NOT_IMPLEMENTED (METIS is not there), GrB_NULL_POINTER, GrB_INVALID_VALUE (nparts),
 * GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY, FTB_LIMIT (more vertices or entries than this METIS counts),
 * GrB_PANIC (METIS fails). */
GrB_Info FtB_partition(int32_t *labels, FtB_Matrix A, int64_t nparts, const FtB_Partition_options *options);

/** How good a partition is.
 *  @param[out] cut entries of A whose row and column are in two parts; may be NULL. @param[out] largest
 * vertices of the largest part; may be NULL. @param A n x n. @param labels of FtB_partition, or of anywhere:
 * n of them.
 *  @param nparts labels are 0 to nparts - 1. @return GrB_INDEX_OUT_OF_BOUNDS (a label), GrB_INVALID_VALUE,
 * GrB_NULL_POINTER, GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_partition_measure(int64_t *cut, int64_t *largest, FtB_Matrix A, const int32_t *labels,
                               int64_t nparts);

/* ----------------------------------------------------------------------------------- mini-batches */

/** Options of FtB_Clusters_new; made by FTB_CLUSTERS_OPTIONS(.batch = 20). Zero means the default. */
typedef struct FtB_Clusters_options {
    size_t size;     /**< set by the macro */
    int64_t batch;   /**< clusters of a mini-batch; 1 */
    uint64_t seed;   /**< of the order of clusters in each epoch; 0: the context's */
    bool edges;      /**< FtB_Sample_edges is wanted */
    bool structural; /**< layers have no values, whatever A has */
} FtB_Clusters_options;

typedef struct FtB_Clusters_opaque *FtB_Clusters; /**< a graph whose vertices are in clusters */

/** Prepares mini-batches of clusters: Chiang et al., "Cluster-GCN", KDD 2019. Clusters come in another random
 * order each epoch, each once; those without vertices never. Memory is 8 bytes a vertex.
 *  @param[out] clusters the new object; NULL on failure. @param A n x n, which may be freed. @param labels
 * the cluster of each vertex, n of them, copied: of FtB_partition, or of anywhere. @param nparts labels are 0
 * to nparts - 1. @param options NULL for the defaults.
 *  @return GrB_INDEX_OUT_OF_BOUNDS (a label), GrB_INVALID_VALUE, GrB_NULL_POINTER, GrB_DIMENSION_MISMATCH,
 * GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Clusters_new(FtB_Clusters *clusters, FtB_Matrix A, const int32_t *labels, int64_t nparts,
                          const FtB_Clusters_options *options);

/** Releases it. @param[in,out] clusters set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Clusters_free(FtB_Clusters *clusters);

/** Batches of an epoch. @param clusters any; 0 for NULL. */
int64_t FtB_Clusters_batches(FtB_Clusters clusters);

/** All entries of A among the vertices of a batch's clusters, also those between two of these. The same for
 * the same seed, epoch and batch.
 *  @param[out] sample a new sample of one layer, which is square; its vertices are ascending. NULL on
 * failure.
 *  @param clusters of FtB_Clusters_new. @param epoch 0 or more. @param batch 0 to FtB_Clusters_batches - 1.
 *  @return GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Clusters_batch(FtB_Sample *sample, FtB_Clusters clusters, int64_t epoch, int64_t batch);

#ifdef __cplusplus
}
#endif

#endif
