/* Sampling: some entries of rows, and neighbourhoods of seeds. Part of featblas.h; docs/sampling.md. */
#ifndef FEATBLAS_SAMPLE_H
#define FEATBLAS_SAMPLE_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ selecting */

/** Which entries of a row are picked. Picks follow from the seed, the batch, the hop and the row's number,
 * and from nothing else. */
typedef enum FtB_Selector {
    FTB_SAMPLE_DEFAULT = 0, /**< by weight where there is a key, else uniform */
    FTB_SAMPLE_UNIFORM,     /**< k entries, all sets of k alike; all where there are no more */
    FTB_SAMPLE_WEIGHTED,  /**< k entries one after the other, with chances as the key of those that are left;
                             never one with key 0 */
    FTB_SAMPLE_TOPK,      /**< the k with the largest key; ties: the first. Never NaN */
    FTB_SAMPLE_THRESHOLD, /**< those whose key is at least `threshold` */
    FTB_SAMPLE_BERNOULLI, /**< each with its key as the probability */
    FTB_SAMPLE_LABOR,     /**< LABOR-0: each where a draw of its column, which all rows share, is below k /
                            degree: about k a row, of fewer vertices. Balin and Catalyurek, NeurIPS 2023. With
                            `iterations`, LABOR-i: columns that many rows want have larger chances, and values are
                            divided by these */
    FTB_SAMPLE_FASTGCN,   /**< k columns for all rows together, drawn with replacement with chances as the
                             sums of the key's squares (NULL: of the values', or of ones) over all rows of
                             A; rows keep their entries in these, with values times (times drawn) / (k
                             chance): sums over rows are right in the mean. Chen, Ma and Xiao, ICLR 2018 */
    FTB_SAMPLE_LADIES, /**< the same, with sums over the rows that are picked of. Zou et al., NeurIPS 2019 */
    FTB_SAMPLE_LAST    /**< the k with the latest of `times`; ties: the last */
} FtB_Selector;

/** Options of FtB_select_sample; made by FTB_SELECT_OPTIONS(.seed = 7). Zero means the default. */
typedef struct FtB_Select_options {
    size_t size;           /**< set by the macro */
    FtB_Selector selector; /**< which entries */
    bool replace;          /**< exactly k picks, an entry may come again; uniform and weighted */
    double threshold;      /**< of FTB_SAMPLE_THRESHOLD */
    uint64_t seed;         /**< 0: the context's */
    int64_t batch;         /**< draws of two batches have nothing to do with each other */
    int64_t hop;           /**< nor have those of two hops */
    FtB_Matrix edges; /**< becomes S's pattern, INT64, width 1: each entry's place in A. NULL: not wanted */
    int iterations;   /**< of LABOR's importance; with more than 0, and with FASTGCN and LADIES, values are
                         corrected: FP64 if A's are, else FP32, and of width 1 where A has none */
    FtB_Ids times;    /**< of A's entries, as many as it has: those later than `until` are not there */
    FtB_Ids until;    /**< for each row that is picked of; goes with `times` */
    FtB_Ids exclude;  /**< places in A of entries that are not there, in any order */
    bool reverses;    /**< nor are, for such an entry (i, j), those of (j, i) */
} FtB_Select_options;

/** Keeps entries of some rows: S(r,:) = some entries of A(rows[r],:), with their values. Memory and time
 * follow the picks; where a key or LABOR-0 decides, the lengths of these rows.
 *  @param S slot: FtB_Matrix count x n, whose content is replaced; values are cast to its dtype. With
 *  replacement an entry that was picked again is there again. @param rows slot: FtB_Ids, rows of A in any
 * order, also again; NULL: all of them; or an FtB_Matrix Q count x m, which stands for rows of Q A: where
 * each of its rows has one entry, of value 1, these are rows of A, else the product is made, and its row r
 * has the draws of vertex r. @param k picks of a row; -1: all (not with replacement). THRESHOLD and BERNOULLI
 * take -1. @param key slot: FtB_Op or text over x, i, j, di, dj and what is bound, one value an entry, taken
 * as FP64; dj counts the columns of all of A, once. By weight of a text, A keeps tables of 8 bytes an entry
 * once that pays (docs/sampling.md). NULL: uniform. @param A slot: FtB_Matrix m x n.
 * @param options NULL for the defaults. @return GrB_INDEX_OUT_OF_BOUNDS (a row), GrB_INVALID_VALUE (k; a
 * weight that is NaN, negative or infinite; a row whose weights are all 0), GrB_DIMENSION_MISMATCH,
 * GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_select_sample(FtB_Arg S, FtB_Arg rows, int64_t k, FtB_Arg key, FtB_Arg A,
                           const FtB_Select_options *options);

/* ------------------------------------------------------------------------------ neighbourhoods */

typedef struct FtB_Sample_opaque *FtB_Sample; /**< vertices and layers that FtB_sample drew */

/** Options of FtB_sample; made by FTB_SAMPLE_OPTIONS(.seed = 7). Zero means the default. */
typedef struct FtB_Sample_options {
    size_t size;           /**< set by the macro */
    FtB_Selector selector; /**< which entries, as of FtB_select_sample */
    const char *key;       /**< text, as of FtB_select_sample; NULL: none */
    FtB_Op key_op;         /**< or an operator in its place */
    double threshold;      /**< of FTB_SAMPLE_THRESHOLD */
    uint64_t seed;         /**< 0: the context's */
    int64_t batch;         /**< number of the mini-batch */
    bool replace;          /**< as of FtB_select_sample */
    bool disjoint;         /**< a tree for each seed, which shares no vertices and no draws with others; seeds
                              that are equal have equal trees. FASTGCN, LADIES and LABOR's iterations look at
                              the rows of a tree together */
    bool apart;            /**< vertices are not merged: each pick is one of its own */
    bool once;        /**< a vertex is picked of once, by the hop after it was found: layer h also has the
                         rows of layer h - 1, in their order. The last layer is then what PyG makes */
    bool self;        /**< every row has an entry for its own vertex, too: A's where there is one, else of
                         value 1 and edge -1 */
    bool edges;       /**< FtB_Sample_edges is wanted */
    bool structural;  /**< layers have no values, whatever A has */
    int iterations;   /**< of LABOR's importance, as of FtB_select_sample */
    FtB_Ids times;    /**< of A's entries: a tree has none that is later than its seed's `until`. Needs
                         `disjoint` */
    FtB_Ids until;    /**< of the seeds */
    FtB_Ids exclude;  /**< places in A of entries that are not there, such as those that are predicted */
    bool reverses;    /**< nor are, for such an entry (i, j), those of (j, i) */
    bool induced;     /**< FtB_Sample_induced is wanted */
    int64_t stack;    /**< seeds of a batch: seed t is of batch number batch + t / stack, and batches share no
                         vertices; FtB_Sample_trees tells them, or their trees, apart. 0: all are of one */
    const char *plan; /**< how a GPU draws it: "levels", hop by hop, or "queue", all hops in one kernel where
                         that can be; NULL: as planned. Bits do not depend on it */
} FtB_Sample_options;

/** Draws neighbourhoods: hop h picks fanouts[h] entries of each row of A whose vertex was found so far; those
 * of hop 0 are the seeds. Equal picks for equal (seed, batch, vertex, hop), whatever the threads, the other
 * seeds and their order. Memory and time follow the picks, where a key or LABOR-0 decides the lengths of rows
 * picked of.
 *  @param[out] sample the new object; NULL on failure. @param A n x n; row i has what vertex i aggregates.
 *  @param seeds 0 to n - 1, nseeds of them; one that comes again has a row again. @param nseeds how many.
 *  @param fanouts picks of a vertex, for each hop from the seeds on; -1: all. @param nhops how many. @param
 * options NULL for the defaults. @return as FtB_select_sample; FTB_LIMIT where there are 2^31 vertices. */
GrB_Info FtB_sample(FtB_Sample *sample, FtB_Matrix A, const int64_t *seeds, int64_t nseeds,
                    const int64_t *fanouts, int nhops, const FtB_Sample_options *options);

/** Releases a sample, with its layers and lists. @param[in,out] sample set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Sample_free(FtB_Sample *sample);

/** What hop @p hop picked, as a matrix of local numbers: row r is vertex r of those found before it, column c
 * vertex c of those found with it (targets come first, so that numbers are the same in all layers). To
 * compute from features of all vertices, begin with the last layer. @param sample the sample. @param hop 0:
 * the seeds'.
 *  @return the sample's own matrix, of A's width and dtype; NULL if there is no such hop. */
FtB_Matrix FtB_Sample_layer(FtB_Sample sample, int hop);

/** The vertices' numbers in A: the seeds as they were given, then what each hop found, ascending (with
 * `disjoint` seed by seed). @param sample the sample. @return a list that lives as long as the sample; empty
 * for NULL. */
FtB_Ids FtB_Sample_vertices(FtB_Sample sample);

/** Places in A of the entries of a layer. @param sample made with .edges. @param hop as of FtB_Sample_layer.
 *  @return as many as the layer has entries; empty if they were not wanted. */
FtB_Ids FtB_Sample_edges(FtB_Sample sample, int hop);

/** How many vertices are new: the seeds, then for each hop (PyG's num_sampled_nodes). @param sample the
 * sample.
 *  @return nhops + 1 numbers. */
FtB_Ids FtB_Sample_vertex_counts(FtB_Sample sample);

/** How many entries each hop picked (PyG's num_sampled_edges). @param sample the sample. @return nhops
 * numbers. */
FtB_Ids FtB_Sample_edge_counts(FtB_Sample sample);

/** All entries of A among the vertices that were drawn, of a tree where there are trees, as PyG's directed =
 * False has them: square, row and column v are vertex v's, with A's values. Of a vertex that is there twice,
 * columns are the first's. Time follows the lengths of the vertices' rows.
 *  @param sample made with .induced. @return the sample's own matrix; NULL without. */
FtB_Matrix FtB_Sample_induced(FtB_Sample sample);

/** Places in A of FtB_Sample_induced's entries. @param sample made with .induced and .edges. @return as many
 * as it has; empty if they were not wanted. */
FtB_Ids FtB_Sample_induced_edges(FtB_Sample sample);

/** The samples of stacked batches, each bit for bit what FtB_sample draws for its seeds and its batch's
 * number. @param[out] samples one for each batch, the number of seeds over .stack, rounded up; all NULL on
 * failure. @param stacked made with .stack; it stays as it is. @return GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY.
 */
GrB_Info FtB_Sample_split(FtB_Sample *samples, FtB_Sample stacked);

/** Each vertex's tree, the place of its seed among the seeds (PyG's batch); without .disjoint its batch.
 * @param sample made with .disjoint or .stack.
 *  @return as many as there are vertices; NULL without. */
const int32_t *FtB_Sample_trees(FtB_Sample sample);

/** How a GPU drew it, with what was predicted for either way, or why hops were drawn each by itself, there or
 * by the host, for people. @param sample the sample. @return a text that lives as long as the sample; empty
 * without a GPU; NULL for NULL. */
const char *FtB_Sample_plan(FtB_Sample sample);

#ifdef __cplusplus
}
#endif

#endif
