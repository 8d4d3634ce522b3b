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
 * start.
 *  @return as FtB_run; GrB_INDEX_OUT_OF_BOUNDS of a source. */
GrB_Info FtB_bfs(FtB_Block levels, FtB_Block parents, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                 const FtB_Run_options *options);

/** Shortest paths, by Bellman and Ford: dist(v, c) = the least sum of entries along a path from sources[c] to
 * v; infinite where there is none. Entries may be negative; one that is NaN is none.
 *  @param dist n x nsources, FP32 or FP64, in which sums are taken. @param A n x n of width <= 1; entries are
 * 1 where there are no values. @param sources,nsources,options as of FtB_bfs.
 *  @return as FtB_bfs; GrB_INVALID_VALUE, whose message names the vertices, of a cycle of negative length
 * that a source reaches; dist then holds what was found by then. */
GrB_Info FtB_sssp(FtB_Block dist, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                  const FtB_Run_options *options);

/** Weakly connected components: labels(v) = the least number of a vertex that v is connected with, along
 * entries in either direction. @param labels n x 1, INT64, or INT32 where n allows it. @param A n x n; values
 * do not matter. Of a symmetric A whose transpose was asked for before, most rows are not read.
 *  @param options as of FtB_run, but for start. @return as FtB_run. */
GrB_Info FtB_components(FtB_Block labels, FtB_Matrix A, const FtB_Run_options *options);

/** Whose PageRank. */
typedef enum FtB_Pagerank_kind {
    FTB_PAGERANK_GAP =
        0, /**< rank = (1 - d) / n + d * sum of rank / outdegree: what vertices without edges have is lost;
              ends where the changes sum up to less than the tolerance, 1e-4. The GAP benchmark's */
    FTB_PAGERANK_NETWORKX /**< by the shares of the entries' values, those of vertices without any to all
                             alike; ends where they sum up to less than n times the tolerance, 1e-6.
                             networkx's pagerank */
} FtB_Pagerank_kind;

/** Options of FtB_pagerank; made by FTB_PAGERANK(.damping = 0.9). Zero means the default. */
typedef struct FtB_Pagerank_options {
    size_t size;            /**< set by the macro */
    FtB_Pagerank_kind kind; /**< GAP's */
    double damping;         /**< d; 0.85 */
    double tolerance;       /**< the kind's own */
    int64_t rounds;         /**< supersteps at most; 100 */
    FILE *explain;          /**< as of FtB_Run_options */
    int64_t *supersteps;    /**< [out] how many there were; NULL */
} FtB_Pagerank_options;

/** PageRank, from 1 / n each. @param ranks n x 1, FP32 or FP64. @param A n x n of width <= 1, where (i, j) is
 * a link from i to j. @param options NULL for the defaults. @return as FtB_run; GrB_NO_VALUE where the rounds
 * were over before the changes were small enough: ranks are those of the last. */
GrB_Info FtB_pagerank(FtB_Block ranks, FtB_Matrix A, const FtB_Pagerank_options *options);

#define FTB_PAGERANK(...) FTB_OPTIONS_OF(FtB_Pagerank_options, __VA_ARGS__)

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
