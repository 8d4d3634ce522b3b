/* Subgraphs: of given vertices, around seeds, and drawn. Part of featblas.h; docs/sampling.md. */
#ifndef FEATBLAS_SUBGRAPH_H
#define FEATBLAS_SUBGRAPH_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Options of FtB_subgraph; made by FTB_SUBGRAPH_OPTIONS(.edges = true). Zero means the default. */
typedef struct FtB_Subgraph_options {
    size_t size;     /**< set by the macro */
    bool edges;      /**< FtB_Sample_edges is wanted */
    bool structural; /**< the layer has no values, whatever A has */
} FtB_Subgraph_options;

/** The entries of A between some vertices: layer 0 is square, its row and column r are vertex ids[r]. Time
 * follows the lengths of these rows, memory the result and the vertices asked for.
 *  @param[out] sample a new sample of one layer, whose FtB_Sample_vertices are the ids; NULL on failure.
 *  @param A n x n. @param ids 0 to n - 1, each once, in any order. @param nids how many. @param options NULL
 * for the defaults. @return GrB_INDEX_OUT_OF_BOUNDS, GrB_INVALID_VALUE (a vertex comes again),
 * GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_subgraph(FtB_Sample *sample, FtB_Matrix A, const int64_t *ids, int64_t nids,
                      const FtB_Subgraph_options *options);

/* ----------------------------------------------------------------------------------- GraphSAINT */

/** How GraphSAINT draws the vertices of a subgraph. */
typedef enum FtB_Saint_kind {
    FTB_SAINT_NODE = 0, /**< `budget` vertices, with replacement, with chances as the sum of squares of the
                           values of their columns (1 where A has none) */
    FTB_SAINT_EDGE, /**< `budget` entries (i, j), with replacement, with chances as 1/degree(i) + 1/degree(j),
                       lengths of rows; their ends are the vertices */
    FTB_SAINT_WALK  /**< walks of `length` steps from `budget` vertices, drawn with replacement, all alike */
} FtB_Saint_kind;

/** Options of FtB_Saint_new; made by FTB_SAINT_OPTIONS(.budget = 6000). Zero means the default. */
typedef struct FtB_Saint_options {
    size_t size;         /**< set by the macro */
    FtB_Saint_kind kind; /**< how vertices are drawn */
    int64_t budget;      /**< draws of a subgraph; 1000 */
    int64_t length;      /**< steps of FTB_SAINT_WALK; 2 */
    int64_t samples;     /**< subgraphs that are drawn beforehand, which the weights are estimated by; 50 */
    uint64_t seed;       /**< 0: the context's */
    bool edges;          /**< FtB_Sample_edges is wanted */
} FtB_Saint_options;

typedef struct FtB_Saint_opaque *FtB_Saint; /**< chances and weights of GraphSAINT's subgraphs of a graph */

/** Prepares GraphSAINT: Zeng et al., ICLR 2020. Draws `samples` subgraphs, and counts in how many a vertex v
 * is, C_v, and an entry, C_e. Memory and time follow the graph, and the subgraphs drawn.
 *  @param[out] saint the new object; NULL on failure. @param A n x n, of width 0 or 1, which may be freed.
 *  @param options NULL for the defaults. @return GrB_INVALID_VALUE (an option; values that are not finite; a
 * graph of which nothing can be drawn), GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Saint_new(FtB_Saint *saint, FtB_Matrix A, const FtB_Saint_options *options);

/** Releases it. @param[in,out] saint set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Saint_free(FtB_Saint *saint);

/** Draws subgraph @p batch, the same for the same seed and batch.
 *  @param[out] sample a new sample of one layer, FP32 of width 1, which is square; its vertices are
 * ascending. The value of entry (i, j) is A's (1 where A has none) times C_i / C_ij, what the sum over a row
 * is multiplied by to be right in the mean; 1 where the counts are 0. NULL on failure. @param saint of
 * FtB_Saint_new.
 *  @param batch 0 or more. @return GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Saint_batch(FtB_Sample *sample, FtB_Saint saint, int64_t batch);

/** What a vertex's loss is multiplied by: samples / C_v, samples where it was in none. The sum over a
 * subgraph is then, in the mean, that over all vertices. @param saint of FtB_Saint_new. @return n numbers,
 * which live as long as it; NULL for NULL. */
const double *FtB_Saint_loss(FtB_Saint saint);

#ifdef __cplusplus
}
#endif

#endif
