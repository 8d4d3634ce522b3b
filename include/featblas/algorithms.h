/* The vertex programs that come with the library. Part of featblas_vertex.h; docs/vertex-programs.md. */
#ifndef FEATBLAS_ALGORITHMS_H
#define FEATBLAS_ALGORITHMS_H

#ifndef FEATBLAS_VERTEX_H
#error "include <featblas_vertex.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Breadth-first search: levels(v, c) = edges of a shortest path from sources[c] to v, along the entries of
 * A.
 *  @param levels n x nsources, INT32, INT64 or FP64; 0 at the source, -1 where there is no
 * path. @param parents NULL, or n x nsources, INT64: the vertex before v on such a path, the least of those;
 * a source's is itself, and -1 where there is no path. @param A n x n; values do not matter.
 *  @param sources 0 to n - 1, each a column. @param nsources how many. @param options as of FtB_run, but for
 * start and frontier.
 *  @return as FtB_run; GrB_INDEX_OUT_OF_BOUNDS of a source. */
GrB_Info FtB_bfs(FtB_Block levels, FtB_Block parents, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                 const FtB_Run_options *options);

/** Shortest paths: dist(v, c) = the least sum of entries along a path from sources[c] to v, added from the
 * source on; infinite where there is none. An entry that is NaN is none. By buckets of distances (Meyer and
 * Sanders' delta-stepping), or, where an entry is negative or options name a way, by Bellman and Ford: with
 * the same bits.
 *  @param dist n x nsources, FP32 or FP64, in which sums are taken. @param A n x n of width <= 1; entries are
 * 1 where there are no values. @param sources,nsources,options as of FtB_bfs.
 *  @return as FtB_bfs; GrB_INVALID_VALUE, whose message names the vertices, of a cycle of negative length
 * that a source reaches; dist then holds what was found by then. */
GrB_Info FtB_sssp(FtB_Block dist, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                  const FtB_Run_options *options);

/** Weakly connected components: labels(v) = the least number of a vertex that v is connected with, along
 * entries in either direction. @param labels n x 1, INT64, or INT32 where n allows it. @param A n x n; values
 * do not matter. Of a symmetric A whose transpose was asked for before, most rows are not read.
 *  @param options as of FtB_run, but for start and frontier. @return as FtB_run. */
GrB_Info FtB_components(FtB_Block labels, FtB_Matrix A, const FtB_Run_options *options);

/** Whose PageRank. */
typedef enum FtB_Pagerank_kind {
    FTB_PAGERANK_GAP =
        0, /**< rank = (1 - d) / n + d * sum of rank / outdegree: what vertices without edges have is lost;
              ends where the changes sum up to less than the tolerance, 1e-4. The GAP benchmark's */
    FTB_PAGERANK_NETWORKX, /**< by the shares of the entries' values, those of vertices without any to all
                              alike; ends where they sum up to less than n times the tolerance, 1e-6.
                              networkx's pagerank */
    FTB_PAGERANK_LDBC /**< GAP's, but that what vertices without entries have goes to all alike; ends after as
                         many rounds as were asked for, 10. LDBC Graphalytics' */
} FtB_Pagerank_kind;

/** How ranks are found: in the end, and of one definition, they are the same. */
typedef enum FtB_Pagerank_method {
    FTB_PAGERANK_ROUNDS = 0, /**< as the definition says, by supersteps over all vertices */
    FTB_PAGERANK_CHANGES,    /**< vertices send what their rank changes by, where it matters, as in GraphMat's
                                incremental PageRank: after few changes of a graph, from the ranks before it.
                                Ends where a round would change all ranks together by less than the tolerance
                                allows. Not of LDBC's; damping is less than 1 */
    FTB_PAGERANK_SWEEPS /**< in place: slices of vertices one after the other, each from what those before
                           it have become (blocked Gauss-Seidel), in fewer sweeps than there are rounds.
                           Slices are the same for any threads. Fewer than 2^31 vertices; not LDBC's;
                           damping is less than 1 */
} FtB_Pagerank_method;

/** Options of FtB_pagerank; made by FTB_PAGERANK(.damping = 0.9). Zero means the default.
 *
 * Personalised ranks are those of a surfer who begins again at a vertex of his own, and not at any: in the
 * definitions it stands in the place of 1 / n, also where what is lost goes. */
typedef struct FtB_Pagerank_options {
    size_t size;            /**< set by the macro */
    FtB_Pagerank_kind kind; /**< GAP's */
    double damping;         /**< d; 0.85 */
    double tolerance;       /**< the kind's own; LDBC's has none */
    int64_t rounds;         /**< supersteps at most, or, of LDBC's, in all; 100, LDBC's 10, by changes 1000 */
    FILE *explain;          /**< as of FtB_Run_options */
    int64_t *supersteps;    /**< [out] how many there were, or sweeps; NULL */
    FtB_Ids sources;        /**< personalised: where the surfer of each column begins; at NULL: he does not */
    FtB_Block teleport;     /**< or NULL, or n x k, FP32 or FP64: the chance of each column's surfer to begin
                               at a vertex, 0 or more; a column is divided by its sum. networkx's
                               personalization */
    FtB_Pagerank_method method; /**< how ranks are found */
    FtB_Block start; /**< NULL, or n x k, FP32 or FP64, also `ranks` itself: ranks to begin with, finite;
                        a column with one beyond 64 is divided by its greatest, but of LDBC's; else
                        they are 1 / n each, or by changes nothing */
} FtB_Pagerank_options;

/** PageRank. Several columns go on until each is near enough, and take far less than one
 * after the other.
 *  @param ranks n x k, FP32 or FP64: k is 1, or as many as the options have sources, or columns of teleport.
 *  @param A n x n of width <= 1, where (i, j) is a link from i to j. @param options NULL for the defaults.
 *  @return as FtB_run; GrB_INDEX_OUT_OF_BOUNDS of a source; GrB_INVALID_VALUE, too, of a value that is not
 * finite where values count; GrB_NO_VALUE where the rounds were over before the changes were small enough:
 * ranks are those of the last. */
GrB_Info FtB_pagerank(FtB_Block ranks, FtB_Matrix A, const FtB_Pagerank_options *options);

/* ----------------------------------------------------------------------------------- a graph's shape
 *
 * These look at the graph without loops and parallel entries: an entry (i, i) is left out, as GAP does, and
 * entries that are there several times count once. (LDBC Graphalytics' graphs have neither.) */

/** Triangles: three vertices with an edge between any two, whichever directions it has.
 *  @param[out] total how many there are; may be NULL. @param each NULL, or n x 1, INT64 or FP64: the
 * triangles that a vertex is in. @param A n x n; values do not matter.
 *  @return GrB_NULL_POINTER, GrB_DIMENSION_MISMATCH, GrB_DOMAIN_MISMATCH, GrB_INVALID_VALUE,
 * GrB_OUT_OF_MEMORY, FTB_LIMIT (2^31 vertices, too), FTB_CANCELLED. */
GrB_Info FtB_triangles(int64_t *total, FtB_Block each, FtB_Matrix A);

/** Options of FtB_clustering; made by FTB_CLUSTERING(.undirected = true). Zero means the default. */
typedef struct FtB_Clustering_options {
    size_t size;     /**< set by the macro */
    bool undirected; /**< an edge that A has in one direction is there in both: networkx's clustering of an
                        undirected graph */
} FtB_Clustering_options;

/** Local clustering coefficients by LDBC Graphalytics' definition: of the d (d - 1) entries that there could
 * be among the d neighbours of a vertex, in either direction, the share that A has; 0 where d < 2. Of a
 * symmetric A they are networkx's.
 *  @param coefficients n x 1, FP32 or FP64. @param A n x n; values do not matter. @param options NULL for the
 * defaults. @return as FtB_triangles. */
GrB_Info FtB_clustering(FtB_Block coefficients, FtB_Matrix A, const FtB_Clustering_options *options);

/** Options of FtB_betweenness; made by FTB_BETWEENNESS(.normalized = true). Zero means the default. */
typedef struct FtB_Betweenness_options {
    size_t size;     /**< set by the macro */
    bool normalized; /**< sums become means over the pairs (s, t), as networkx 3.5 and later has it: they are
                        divided by n - 2, and by the number of sources other than v */
    uint64_t seed;   /**< of sources that are drawn; 0: the context's */
} FtB_Betweenness_options;

/** Betweenness by Brandes's algorithm: centrality(v) = the sum over sources s and all vertices t, both other
 * than v, of the share of the shortest paths from s to t, along the entries of A and each of length 1, that
 * go through v. Where A is symmetric and all vertices are sources, a pair counts in both directions: half of
 * the sum is what is said of graphs without directions. Any number of paths may be shortest. Work is that of
 * two breadth-first searches a source; memory 30 bytes a vertex, for each thread where there are as many
 * sources as threads.
 *  @param centrality n x 1, FP32 or FP64. @param A n x n; values do not matter. @param sources nsources of
 * them, 0 to n - 1; one that is there twice counts twice. NULL: as many are drawn, each at most once.
 *  @param nsources how many; with @p sources NULL, 0: all vertices. @param options NULL for the defaults.
 *  @return as FtB_triangles; GrB_INDEX_OUT_OF_BOUNDS of a source, GrB_INVALID_VALUE (nsources).
 *
 * Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25, 2001. */
GrB_Info FtB_betweenness(FtB_Block centrality, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                         const FtB_Betweenness_options *options);

/** Communities by label propagation, LDBC Graphalytics' CDLP: every vertex begins with its own number, and in
 * each round takes the label that most of its neighbours had before it, the least of those that are as many.
 * A neighbour along an entry and one against it are two votes; who has no neighbour keeps its label. The
 * rounds end earlier where nothing changes any more.
 *  @param labels n x 1, INT64 or INT32. @param A n x n; values do not matter. @param options as of FtB_run,
 * of rounds (0: 10), explain and supersteps. @return as FtB_triangles; GrB_INVALID_VALUE (an option). */
GrB_Info FtB_communities(FtB_Block labels, FtB_Matrix A, const FtB_Run_options *options);

/** Topological order: levels(v) = the most entries on a path that ends at v, so that an entry (i, j) leads
 * from a lower level to a higher one. A loop is a cycle.
 *  @param levels n x 1, INT32, INT64 or FP64. @param order NULL, or n x 1, INT64: all vertices by level, then
 * by number. @param A n x n; values do not matter.
 *  @return as FtB_triangles; GrB_INVALID_VALUE, whose message names the vertices, of a cycle: levels and
 * order are then as they were. */
GrB_Info FtB_topological(FtB_Block levels, FtB_Block order, FtB_Matrix A);

#define FTB_PAGERANK(...) FTB_OPTIONS_OF(FtB_Pagerank_options, __VA_ARGS__)
#define FTB_BETWEENNESS(...) FTB_OPTIONS_OF(FtB_Betweenness_options, __VA_ARGS__)
#define FTB_CLUSTERING(...) FTB_OPTIONS_OF(FtB_Clustering_options, __VA_ARGS__)

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
