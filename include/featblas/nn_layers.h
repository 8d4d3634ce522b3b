/* Layers of graph neural networks. Part of featblas_nn.h. */
#ifndef FEATBLAS_NN_LAYERS_H
#define FEATBLAS_NN_LAYERS_H

#ifndef FEATBLAS_NN_H
#error "include <featblas_nn.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Options of FtB_Layer_new; made by FTB_LAYER_OPTIONS(...). Zero means the default; which layers read a
 * field is said in FTB_LAYERS below, and of others it is refused. */
typedef struct FtB_Layer_options {
    size_t size;        /**< set by the macro */
    const char *name;   /**< begins the parameters' names, "conv1" gives "conv1.lin.weight"; NULL: none */
    FtB_Type type;      /**< of parameters: FTB_FP32 (0) or FTB_FP64 */
    uint64_t seed;      /**< of the initial values, together with the parameters' names */
    int64_t heads;      /**< attention heads; 0: 1. `out` columns each */
    bool average;       /**< heads are averaged: `out` columns; else they stand side by side: heads * out */
    bool no_bias;       /**< no bias is added to the result */
    bool no_self_loops; /**< self-loops are not added */
    const char *aggregate; /**< "mean", "max", "pool", "sum" */
    double dropout;        /**< of attention weights */
    double slope;          /**< of leaky ReLU; 0: 0.2 */
    double eps;            /**< weight of a vertex's own features is 1 + eps */
    bool train_eps;        /**< eps is learned */
    int64_t hops;          /**< powers of the adjacency matrix; 0: 2, of APPNP 10 */
    double teleport;       /**< of APPNP; 0: 0.1 */
    int64_t hidden;        /**< columns inside a layer's MLP; 0: out */
    int64_t edge_width;    /**< features per edge; 0: none */
    int64_t relations;     /**< edge types */
    double log_degree;     /**< mean of log(degree + 1) over the training graph; 0: of the graph at hand */
    bool residual;         /**< the target's own features are added, by a linear map */
    int64_t in_dst;        /**< columns of the targets' features; 0: as many as of the sources' */
    bool no_root;          /**< the target's own features are left out */
    bool normalize;        /**< rows of the result are divided by their length */
    bool batch_norm;       /**< batch norm inside a layer's MLP, before its nonlinearity */
} FtB_Layer_options;

/** The kinds: X(name, options it reads, what it computes for target i). */
/* clang-format off */
#define FTB_LAYERS(X)                                                                                        \
    X(appnp, "hops, teleport, no_self_loops", "z_i <- (1 - a) (sum over j of z_j / sqrt(d_i d_j)) + a x_i, K times") \
    X(edgeconv, "aggregate, hidden, no_bias", "max over j of h([x_i, x_j - x_i]), h a map, or two (hidden) and relu between") \
    X(gat, "heads, average, slope, dropout, edge_width, in_dst, residual, no_bias, no_self_loops", "sum over j of softmax(leaky_relu(a_s . x_j W + a_t . x_i W)) x_j W") \
    X(gatv2, "heads, average, slope, dropout, edge_width, in_dst, residual, no_bias, no_self_loops", "sum over j of softmax(a . leaky_relu(x_j W_l + x_i W_r)) x_j W_l") \
    X(gcn, "no_bias, no_self_loops", "sum over j of x_j W / sqrt(d_i d_j)") \
    X(gin, "eps, train_eps, hidden, batch_norm, no_bias", "relu(((1 + eps) x_i + sum over j of x_j) W + b) W' + b'") \
    X(mlp, "aggregate, no_bias", "max over j of relu((x_i + x_j) W + b)") \
    X(pna, "log_degree, no_bias", "[x_i, S, a_i S, S / a_i] W, S = mean, min, max, std over j of [x_i, x_j] U") \
    X(rgcn, "relations, in_dst, no_bias, no_root", "sum over types r of (mean over j of x_j) W_r, + x_i W + b") \
    X(sage, "aggregate, normalize, in_dst, no_bias, no_root", "(mean over j of x_j) W_l + b + x_i W_r") \
    X(sgc, "hops, no_bias, no_self_loops", "sum over j of (S^K)_ij x_j W + b") \
    X(transformer, "heads, average, dropout, edge_width, in_dst, no_bias, no_root", "sum over j of softmax((x_j K) . (x_i Q) / sqrt(out)) x_j V + x_i W + b")
/* clang-format on */

/** Makes a layer and draws its parameters. @param[out] layer the new one, NULL on failure. @param kind a name
 * of FTB_LAYERS. @param in columns of the features. @param out columns of the result (per head). @param
 * options NULL for the defaults. @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT.
 */
GrB_Info FtB_Layer_new(FtB_Layer *layer, const char *kind, int64_t in, int64_t out,
                       const FtB_Layer_options *options);

/** Records a layer. @param layer any. @param A m x n: row i names the neighbours that i hears (of rgcn its
 * values are edge types from 0; of gcn, sgc and appnp weights, if it has values; others do not read them). It
 * is referenced; what is made of it is kept for the next call, until its values change (FtB_Matrix_changed),
 * after which a tape with an earlier record of the layer refuses to run. @param src features of the n
 * sources. @param dst features of the m targets. The same variable as src where A is square, and where the
 * targets are the first m of the sources, as of a hop of a sample: self-loops are those of the targets then,
 * and gcn, sgc and appnp, of one step, normalise by the degrees of the graph that was sampled, with what was
 * picked of a row standing for all of it (of an A that is no hop: by the sums of its own rows and columns).
 * @param edge features on A's edges, or FTB_NO_VAR. */
FtB_Var FtB_Layer_apply(FtB_Layer layer, FtB_Matrix A, FtB_Var src, FtB_Var dst, FtB_Var edge);

/** @name FtB_gcn(layer, A, x) and its like: FtB_Layer_apply on one set of vertices, or a hop of it (x has
 *  a row for each column of A), for a layer of that kind.
 *  @{ */
#define FTB_LAYER_DECLARE(name, options, formula)                                                            \
    FtB_Var FtB_##name(FtB_Layer layer, FtB_Matrix A, FtB_Var x);
FTB_LAYERS(FTB_LAYER_DECLARE)
#undef FTB_LAYER_DECLARE
/** @} */

/** No variable. */
#ifdef __cplusplus
#define FTB_NO_VAR (FtB_Var{nullptr, -1})
#else
#define FTB_NO_VAR ((FtB_Var){NULL, -1})
#endif

/** How many parameters a layer has. @param layer any; 0 for NULL. */
int64_t FtB_Layer_count(FtB_Layer layer);

/** A parameter of a layer: borrowed, valid while the layer lives. @param layer any. @param at 0 to count - 1.
 *  @return NULL outside. */
FtB_Parameter FtB_Layer_parameter(FtB_Layer layer, int64_t at);

/** Releases a layer; tapes keep what they recorded of it alive. @param[in,out] layer set to NULL.
 *  @return GrB_SUCCESS. */
GrB_Info FtB_Layer_free(FtB_Layer *layer);

#ifdef __cplusplus
}
#endif

#endif
