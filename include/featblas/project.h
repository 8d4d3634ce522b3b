/* Projection of bipartite graphs. Part of featblas.h. */
#ifndef FEATBLAS_PROJECT_H
#define FEATBLAS_PROJECT_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------- projection */

/** Onto which side FtB_project projects. */
typedef enum FtB_Side { FTB_COLS = 0, FTB_ROWS = 1 } FtB_Side;

/** Options of FtB_project; made by FTB_PROJECT_OPTIONS(.top_k = 20). Zero means the default. */
typedef struct FtB_Project_options {
    size_t size;            /**< set by the macro */
    FtB_Side onto;          /**< FTB_COLS: C = R' R; FTB_ROWS: C = R R' */
    const char *epilogue;   /**< expression over h, i, j, di, dj, si, sj, ...; NULL: h */
    const char *where;      /**< keep entries for which this is not zero; may use w, the weight */
    double min_weight;      /**< keep entries w >= min_weight, if use_min_weight */
    bool use_min_weight;    /**< whether min_weight counts */
    bool unweighted;        /**< every entry of R counts as 1 */
    bool self_loops;        /**< keep the diagonal */
    bool triangle;          /**< only j > i (j >= i with self_loops) */
    int64_t top_k;          /**< the k largest weights of each row; 0: all */
    int64_t min_degree;     /**< only vertices with at least this many entries in R */
    int64_t max_degree;     /**< only vertices with at most this many; 0: any */
    const int64_t *sources; /**< only these rows of C; NULL: all */
    int64_t nsources;       /**< how many */
    const int64_t *targets; /**< only these columns of C; NULL: all */
    int64_t ntargets;       /**< how many */
    FtB_Plan plan;          /**< a plan to use; NULL: make one */
} FtB_Project_options;

/** Projects a bipartite graph: C(i,j) = epilogue(reducer over k of message(R(k,i), R(k,j))).
 *  @param C slot: FtB_Matrix n x n (its content is replaced), or FtB_Sink. @param R slot: FtB_Matrix of
 *  width <= 1. @param weight slot: FtB_Semiring, GrB_Semiring, semiring text, or the name of a weight
 *  such as "jaccard" (docs/weights.md). A named weight is carried in FP64 where whole numbers might leave
 * their 64 bits; a text keeps its types, and the plan says that they may wrap. @param options NULL for the
 * defaults: full, no diagonal.
 *  @return as FtB_mxm. Source: Zhou et al., Phys. Rev. E 76, 046115 (2007); docs/weights.md. */
GrB_Info FtB_project(FtB_Arg C, FtB_Arg R, FtB_Arg weight, const FtB_Project_options *options);

#ifdef __cplusplus
}
#endif

#endif
