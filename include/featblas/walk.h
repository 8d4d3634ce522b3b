/* Random walks, and neighbours that they find. Part of featblas.h; docs/sampling.md. */
#ifndef FEATBLAS_WALK_H
#define FEATBLAS_WALK_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Options of FtB_walk; made by FTB_WALK_OPTIONS(.seed = 7). Zero means the default. */
typedef struct FtB_Walk_options {
    size_t size;     /**< set by the macro */
    const char *key; /**< text, as of FtB_select_sample: steps have chances as the entries' weights; NULL: all
                        alike */
    FtB_Op key_op;   /**< or an operator in its place */
    double restart;  /**< the chance that a step goes back to the start, below 1 */
    double p; /**< node2vec: from t to v, a step on to x is as likely as it would be, divided by p where x is
                 t, by 1 where A has (t, x), by q else; 0: 1. Grover and Leskovec, KDD 2016 */
    double q; /**< as p */
    int64_t each;  /**< walks from every start; 0: one */
    uint64_t seed; /**< 0: the context's */
    int64_t batch; /**< draws of two batches have nothing to do with each other */
} FtB_Walk_options;

/** Walks along the rows of A: from vertex i, one of the columns of row i is next. A walk's draws follow from
 * seed, batch, its start, its number among the start's walks, and the step, and from nothing else: of starts
 * that are equal, walks are. Time and memory follow the steps; with a key, the lengths of the rows that are
 * met.
 *  @param[out] walks new block, INT64, nstarts * each rows of 1 + length vertices: row s * each + n is walk n
 * of starts[s], which it begins with; -1 from where a row had no entry. NULL on failure. @param A n x n.
 *  @param starts 0 to n - 1, nstarts of them. @param nstarts how many. @param length steps. @param options
 * NULL for the defaults. @return GrB_INDEX_OUT_OF_BOUNDS (a start), GrB_INVALID_VALUE (length; an option; a
 * weight that is NaN, negative or infinite; a row that is met and whose weights are all 0),
 * GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_walk(FtB_Block *walks, FtB_Matrix A, const int64_t *starts, int64_t nstarts, int64_t length,
                  const FtB_Walk_options *options);

/** Draws neighbourhoods whose entries are vertices that walks visit, as PinSAGE does: in hop h a vertex has
 * entries for the fanouts[h] vertices, other than itself, that the walks from it visit most often, ties: the
 * least. Equal vertices have equal entries, whatever the others are; hops have walks of their own. Ying et
 * al., "Graph convolutional neural networks for web-scale recommender systems", KDD 2018.
 *  @param[out] sample the new object, as FtB_sample makes it, without edges; layers are FP32 of width 1,
 * values the numbers of visits. NULL on failure. @param A n x n. @param seeds 0 to n - 1, nseeds of them.
 * @param nseeds how many. @param fanouts entries of a vertex, for each hop from the seeds on; -1: all that
 * are visited. @param nhops how many. @param length steps of a walk. @param options of walks, `each` for each
 * vertex; NULL for the defaults. @return as FtB_walk; FTB_LIMIT where there are 2^31 vertices. */
GrB_Info FtB_pinsage(FtB_Sample *sample, FtB_Matrix A, const int64_t *seeds, int64_t nseeds,
                     const int64_t *fanouts, int nhops, int64_t length, const FtB_Walk_options *options);

#ifdef __cplusplus
}
#endif

#endif
