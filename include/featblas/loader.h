/* Mini-batches: a loader that samples, gathers and hands over, some batches ahead. Part of featblas.h;
 * docs/sampling.md. */
#ifndef FEATBLAS_LOADER_H
#define FEATBLAS_LOADER_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FtB_Loader_opaque *FtB_Loader; /**< seeds in an order, and what makes batches of them */
typedef struct FtB_Batch_opaque *FtB_Batch;   /**< hops, features and labels of some seeds */

#define FTB_LOADER_HOPS 16 /**< at most */

/** Which rows of features a GPU keeps that has no room for all of them. */
typedef enum FtB_Cache_by {
    FTB_CACHE_DEGREE = 0, /**< those of the vertices that most rows of A have an entry for. Lin et al.,
                             "PaGraph", SoCC 2020 */
    FTB_CACHE_SAMPLED     /**< those that batches drawn beforehand have most often. Yang et al., "GNNLab",
                             EuroSys 2022 */
} FtB_Cache_by;

/** Options of FtB_Loader_new; made by FTB_LOADER(.fanout = {15, 10}, .seed = 7). Zero means the default. */
typedef struct FtB_Loader_options {
    size_t size;                       /**< set by the macro */
    int64_t fanout[FTB_LOADER_HOPS];   /**< picks of a vertex, for each hop from the seeds on; -1: all; 0 ends
                                          the list */
    int64_t batch;                     /**< seeds of a batch; 0: 1024 */
    uint64_t seed;                     /**< of the order and of all picks; 0: the context's */
    const FtB_Sample_options *sampler; /**< how picks are made, FTB_SAMPLE_OPTIONS(...), but for seed, batch
                                          and stack, which are the loader's. Copied; what it points at stays
                                          the caller's, and must be there until the loader is freed. NULL:
                                          uniform */
    bool in_order;         /**< seeds come as they were given; else in another random order each epoch */
    bool drop_last;        /**< seeds that do not fill a batch are left out of the epoch */
    int64_t epoch;         /**< number of the first epoch */
    int ahead;             /**< batches that a thread of the loader's own makes ahead of who asks; 0: 1, in a
                              context with one thread none; -1: none. Each is made when it is asked for then. On
                              a GPU the thread's work goes to a stream of its own, beside what is computed */
    int threads;           /**< that this thread uses; 0: half of the context's, one at least */
    FtB_Block targets;     /**< a row for each vertex, for FtB_Batch_targets; NULL: none */
    int64_t cache_bytes;   /**< of a GPU's memory, for rows of dense features that it keeps; the others it
                              reads from the host's memory. 0: all of them where they fit, else as much as
                              remains; -1: it keeps none. Without a GPU this and the next three mean nothing */
    double cache_share;    /**< or the share of the rows that it keeps, above 0 to 1 */
    FtB_Cache_by cache_by; /**< which */
    int64_t cache_batches; /**< drawn beforehand for FTB_CACHE_SAMPLED; 0: 16 */
    FtB_Clusters clusters; /**< of A: batches are these clusters' subgraphs, in their order, and no other
                              option says which; stays the caller's, and must be there until the loader is
                              freed. NULL: batches are of seeds */
} FtB_Loader_options;

/** Makes a loader. What batches hold depends on the seed, the seeds and the number of epoch and batch: not on
 * threads, on how many are made ahead, or on which were asked for before. It takes 8 bytes a seed (12 with
 * labels) and the batches that are there: one that was handed out, and `ahead`; nothing follows the graph's
 * size, but with clusters 4 bytes a vertex. Large arrays that are freed are kept for the next batches, as by
 * FtB_Tape_new. A batch of clusters has those of the seeds that are in them, ascending, none or more, before
 * their other vertices, ascending; its hop 0 are the seeds' rows of the subgraph, all further hops the
 * subgraph.
 *  @param[out] loader the new one, NULL on failure. @param A n x n; row i has what vertex i aggregates.
 * Referenced. @param X slot: features, a row for each vertex: FtB_Block, or FtB_Matrix of width 0 or 1
 * (sparse ones); NULL: none. Referenced. @param labels n classes, of which those of the seeds are copied;
 * NULL: none.
 * @param seeds 0 to n - 1, copied: the vertices that are trained on; with clusters each once. @param nseeds
 * how many. @param options fanouts, and what else.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_INDEX_OUT_OF_BOUNDS (a seed), GrB_DIMENSION_MISMATCH,
 * GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Loader_new(FtB_Loader *loader, FtB_Matrix A, FtB_Arg X, const int32_t *labels,
                        const int64_t *seeds, int64_t nseeds, const FtB_Loader_options *options);

/** The next batch; NULL at the end of an epoch, once, after which the next one begins, and on failure, after
 * which the same batch is tried again. FtB_Loader_status tells which of the two. What was made ahead is
 * handed over without work. Memory that does not suffice for making batches ahead is no error: a batch is
 * then made here. @param loader one thread at a time.
 *  @return the loader's own batch, which lives until the next call; its matrices and blocks longer, where
 * tapes hold them. */
FtB_Batch FtB_Loader_next(FtB_Loader loader);

/** What the last FtB_Loader_next ended with, and its message. @param loader any.
 *  @return GrB_SUCCESS also at an epoch's end; as of FtB_sample and FtB_gather; FTB_CANCELLED. */
GrB_Info FtB_Loader_status(FtB_Loader loader);

/** Where the loader is: the batch that FtB_Loader_next gives. @param loader any. @param[out] epoch from 0;
 * may be NULL. @param[out] batch 0 to FtB_Loader_batches, which is the epoch's end; may be NULL.
 *  @return GrB_NULL_POINTER, GrB_UNINITIALIZED_OBJECT. */
GrB_Info FtB_Loader_position(FtB_Loader loader, int64_t *epoch, int64_t *batch);

/** Goes to a position, such as one of an earlier run. @param loader any. @param epoch from 0. @param batch
 * as of FtB_Loader_position.
 *  @return GrB_INVALID_VALUE. */
GrB_Info FtB_Loader_seek(FtB_Loader loader, int64_t epoch, int64_t batch);

/** How many rows of features a GPU has, and how often that was of use: the hit rate is *hits / *gathered.
 * Waits for the GPU. @param loader any. @param[out] kept rows that it has; may be NULL, as the next two.
 * @param[out] gathered rows of all batches that were gathered there. @param[out] hits those of them that it
 * had.
 *  @return FTB_NO_DEVICE where it was lost. All are 0 where no GPU has gathered any. */
GrB_Info FtB_Loader_cache(FtB_Loader loader, int64_t *kept, int64_t *gathered, int64_t *hits);

/** Where features are gathered, for people. @param loader any.
 *  @return a text that lives as long as the loader, until this is asked again; empty before the first batch,
 * and without a GPU; NULL for NULL. */
const char *FtB_Loader_plan(FtB_Loader loader);

/** Batches of an epoch. @param loader any; 0 for NULL. */
int64_t FtB_Loader_batches(FtB_Loader loader);

/** Waits for the batch that is being made, and releases all. @param[in,out] loader set to NULL.
 *  @return GrB_SUCCESS. */
GrB_Info FtB_Loader_free(FtB_Loader *loader);

/** @name What a batch holds, all of it its own. Empty or NULL for NULL.
 *  @{ */
/** What hop @p hop picked, targets x sources in local numbers, as FtB_Sample_layer: a network computes from
 * the last hop to the first. @param b any. @param hop 0: the seeds'. @return NULL if there is no such hop. */
FtB_Matrix FtB_Batch_hop(FtB_Batch b, int hop);
/** Features of all vertices, by local number: input of the last hop. @param b any. @return NULL where they
 * are sparse, or none were given. */
FtB_Block FtB_Batch_features(FtB_Batch b);
/** The same where they are sparse. @param b any. @return NULL where they are not. */
FtB_Matrix FtB_Batch_sparse_features(FtB_Batch b);
/** Classes of the seeds. @param b any. @return NULL where none were given. */
const int32_t *FtB_Batch_labels(FtB_Batch b);
/** Targets of the seeds, a row for each. @param b any. @return NULL where none were given. */
FtB_Block FtB_Batch_targets(FtB_Batch b);
/** The seeds, in the order of the rows of hop 0. @param b any. */
FtB_Ids FtB_Batch_seeds(FtB_Batch b);
/** The vertices by local number: the seeds, then what each hop found. @param b any. */
FtB_Ids FtB_Batch_vertices(FtB_Batch b);
/** The sample: counts, edges and trees. @param b any. @return the batch's own. */
FtB_Sample FtB_Batch_sample(FtB_Batch b);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
