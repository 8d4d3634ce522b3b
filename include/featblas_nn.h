/*
 * FeatBLAS for graph neural networks: layers as masked products over semirings, their gradients, and
 * training.
 *
 * A tape records operations as they are called; nothing is computed then, but shapes are checked.
 * FtB_evaluate(&Y, y) computes a variable; FtB_backward(loss) computes a loss and the gradients of every
 * parameter below it. Both may be called again and again on one record (an epoch each): dropout draws anew,
 * what depends on constants alone is computed once, and memory is reused by a plan made from the record.
 *
 *     FtB_Tape_new(&tape, seed);
 *     FtB_Var x = FtB_input(tape, X);
 *     x = FtB_elu(FtB_gat(layer1, A, FtB_dropout(x, 0.6)));
 *     x = FtB_gat(layer2, A, FtB_dropout(x, 0.6));
 *     FtB_Var loss = FtB_cross_entropy(x, labels, train);
 *     for (int epoch = 0; epoch < 200; epoch++) {
 *         FtB_backward(loss);
 *         FtB_Optimizer_step(adam);
 *     }
 *
 * Errors: a call that cannot be recorded returns a variable that every later call refuses; FtB_evaluate and
 * FtB_backward then return the first error, with its message. A variable is either dense, rows x columns (a
 * row per vertex), or lies on edges: one row per entry of a matrix, in CSR order. Neighbours: row i of A
 * names the vertices whose messages i receives; A is m x n where n sources send to m targets.
 *
 * Bits depend on the seed, the record and the plans of its products, not on threads
 * (FtB_Context_set_deterministic: nor on the machine's caches). A tape is used by one
 * thread at a time; parameters may be shared by tapes that do not run at the same time.
 */
#ifndef FEATBLAS_NN_H
#define FEATBLAS_NN_H

#include "featblas.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FtB_Tape_opaque *FtB_Tape;           /**< a record of operations */
typedef struct FtB_Parameter_opaque *FtB_Parameter; /**< a block that is learned, with its gradient */
typedef struct FtB_Layer_opaque *FtB_Layer;         /**< parameters and how they are used */

/** A variable of a tape, by value; nothing needs to be released. */
typedef struct FtB_Var {
    FtB_Tape tape; /**< whose it is */
    int64_t node;  /**< its number there; -1: the call that should have made it failed */
} FtB_Var;

/** A name in an expression and the variable that it stands for; made by FTB_OPERAND(name, x). */
typedef struct FtB_Operand {
    const char *name; /**< "src", "dst", "edge", "x" or a free name of the text; at most 31 characters */
    FtB_Var var;      /**< its variable */
} FtB_Operand;

/* --------------------------------------------------------------------------------------- tape */

/** Makes an empty tape in the engaged context. While a tape or a loader is there, arrays of 1 MB and more
 * that are freed in its context are kept for a few runs or batches, since the next ones will want such: with
 * what is in use a quarter beyond the most that was, and none of it where a memory limit or the system needs
 * it.
 * @param[out] tape the new one, NULL on failure.
 *  @param seed of dropout. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Tape_new(FtB_Tape *tape, uint64_t seed);

/** Says that nothing recorded from now on will be differentiated: layers then choose the order of their
 * products for one evaluation. @param tape any. @return GrB_NULL_POINTER. */
GrB_Info FtB_Tape_inference(FtB_Tape tape);

/** The first error of recording; GrB_SUCCESS if there was none. @param tape any. */
GrB_Info FtB_Tape_status(FtB_Tape tape);

/** Forgets what was recorded and releases its values; memory for further records is kept. Variables become
 *  invalid, an earlier error is cleared. @param tape any. @return GrB_NULL_POINTER. */
GrB_Info FtB_Tape_reset(FtB_Tape tape);

/** Prints what will run: each operation as the product that it is, with shapes, plan, bytes and predicted
 * time. Runs nothing. @param x the result that is wanted (of a loss: with its gradients). @param file where.
 *  @return GrB_NULL_POINTER, FTB_IO, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Tape_explain(FtB_Var x, FILE *file);

/** Releases a tape. @param[in,out] tape set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Tape_free(FtB_Tape *tape);

/** Computes a variable for use: without dropout, batch norm by its running statistics. Keeps nothing for
 *  gradients. @param[out] Y a view of the result, NULL on failure; valid until the tape's next run.
 *  @param y any variable. @return the first error of recording, or of what runs. */
GrB_Info FtB_evaluate(FtB_Block *Y, FtB_Var y);

/** Computes a loss as training does, and the gradient of every parameter below it, which replaces the
 *  parameter's earlier one. @param loss 1 x 1. @return as FtB_evaluate; GrB_DIMENSION_MISMATCH. */
GrB_Info FtB_backward(FtB_Var loss);

/** Keeps a variable's value through FtB_backward, for FtB_value. @param x any. @return x. */
FtB_Var FtB_keep(FtB_Var x);

/** The value of a variable that the last run computed and kept: the loss or what was evaluated, and what
 *  FtB_keep named. @param[out] X a view, NULL on failure; valid until the next run. @param x a variable.
 *  @return GrB_NO_VALUE if it was not kept. */
GrB_Info FtB_value(FtB_Block *X, FtB_Var x);

/** The value of a 1 x 1 variable, as FtB_value. @param[out] value its value. @param x 1 x 1.
 *  @return as FtB_value. */
GrB_Info FtB_scalar(double *value, FtB_Var x);

/** Shape of a variable; any output may be NULL. @param x any. @param[out] nrows rows (of one on edges:
 * entries).
 *  @param[out] ncols columns. @return the first error of recording. */
GrB_Info FtB_Var_shape(FtB_Var x, int64_t *nrows, int64_t *ncols);

/* --------------------------------------------------------------------------------- parameters */

/** Makes a parameter of zeros. @param[out] p the new one, NULL on failure. @param name copied; what files
 * call it. @param nrows,ncols dimensions. @param type FTB_FP32 or FTB_FP64. @return as FtB_Block_new. */
GrB_Info FtB_Parameter_new(FtB_Parameter *p, const char *name, int64_t nrows, int64_t ncols, FtB_Type type);

/** The value of a parameter, to be read or written. @param[out] X a view. @param p any.
 *  @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Parameter_value(FtB_Block *X, FtB_Parameter p);

/** The gradient that the last FtB_backward gave. @param[out] X a view. @param p any.
 *  @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Parameter_gradient(FtB_Block *X, FtB_Parameter p);

/** The name of a parameter; valid while it lives. @param p any. */
const char *FtB_Parameter_name(FtB_Parameter p);

/** Whether FtB_backward computes its gradient (default true). @param p any. @param trained false: it is a
 *  constant. To be called before it is recorded. @return GrB_NULL_POINTER. */
GrB_Info FtB_Parameter_set_trained(FtB_Parameter p, bool trained);

/** Releases a handle; layers, tapes and optimisers that use the parameter keep it alive.
 *  @param[in,out] p set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Parameter_free(FtB_Parameter *p);

/* ------------------------------------------------------------------------------------- leaves */

/** Records the caller's data: it is referenced, not copied. What depends on such data alone is computed once,
 * and again after the data have changed (FtB_Block_changed, FtB_Matrix_changed).
 *  @param tape any. @param X slot: FtB_Block of FP32 or FP64, or a sparse FtB_Matrix of features (width <=
 * 1), which stays sparse in products with dense parameters. */
FtB_Var FtB_input(FtB_Tape tape, FtB_Arg X);

/** The same for a block that nobody else needs: once constants have read it and no other record reads it, its
 *  memory goes, or is used for a constant. FtB_keep prevents that. Later records cannot read it then.
 *  @param tape any. @param[in,out] X the caller's handle, freed and set to NULL, also where recording fails.
 */
FtB_Var FtB_input_take(FtB_Tape tape, FtB_Block *X);

/** Records the values of a matrix's entries as a variable on its edges. @param tape any. @param A width >= 1.
 */
FtB_Var FtB_input_edges(FtB_Tape tape, FtB_Matrix A);

/** Records a parameter. @param tape any. @param p any. */
FtB_Var FtB_parameter(FtB_Tape tape, FtB_Parameter p);

/* ----------------------------------------------------------------------------------- products */

/** Y = A (x) src over a semiring: FtB_mxm of a matrix and a block. Its gradients with respect to every
 * operand are derived from the text. @param semiring slot: FtB_Semiring or text, "plus : src * edge".
 *  @param A m x n; its values are `edge` unless an operand has that name. @param operands "src" (n rows,
 *  required), "dst" (m rows), "edge" (on the edges of A), and free names: 1 x 1 for scalars, one row for
 *  vectors that a text names whole, blocks that it indexes ([i], [j]) or multiplies (@).
 *  @param count how many, 1 to 32. @return m x the message's width. */
FtB_Var FtB_multiply(FtB_Arg semiring, FtB_Matrix A, const FtB_Operand *operands, size_t count);

/** As FtB_multiply with the transpose of A: n x m. */
FtB_Var FtB_multiply_transposed(FtB_Arg semiring, FtB_Matrix A, const FtB_Operand *operands, size_t count);

/** A message on each entry of A, unreduced: FtB_mxm of two blocks under a mask. @param semiring slot; its
 * reducer is not used. @param A m x n. @param operands as of FtB_multiply; "src" and "dst" are required.
 *  @param count how many, 1 to 32. @return a variable on A's edges, of the message's width. */
FtB_Var FtB_on_edges(FtB_Arg semiring, FtB_Matrix A, const FtB_Operand *operands, size_t count);

/** Softmax of a variable on edges over the entries of each row or column, as FtB_softmax. @param e on edges.
 *  @param by row or column. */
FtB_Var FtB_edge_softmax(FtB_Var e, FtB_By by);

/** Y = softmax by row of the scores on A's entries, times v: FtB_attention, which stores nothing per entry
 * where scores are dot products, or leaky_relu(src + dst), and is the three steps for other texts.
 *  @param score slot: FtB_Semiring or text, one value per head. @param A m x n. @param dropout probability
 * that a weight becomes 0 in training. @param operands "src" (keys, n rows), "dst" (queries, m rows),
 * "values" (n rows, required), "edge", free names. @param count how many, 2 to 32. */
FtB_Var FtB_attend(FtB_Arg score, FtB_Matrix A, double dropout, const FtB_Operand *operands, size_t count);

/** x w: a dense product, or sparse times dense where x is a sparse input. @param x n x a, or on edges, where
 * the result then lies. @param w a x b. */
FtB_Var FtB_matmul(FtB_Var x, FtB_Var w);

/** x w + bias. @param x n x a. @param w a x b. @param bias 1 x b, or NULL. */
FtB_Var FtB_linear(FtB_Var x, FtB_Parameter w, FtB_Parameter bias);

/* ----------------------------------------------------------------------------- value by value */

/** An expression over rows of its operands; gradients are derived. @param text over the operands' names, as
 * of FtB_apply: "x * sigmoid(y)", "x / sqrt(dot(x, x))". @param operands the first gives the shape: others
 * have as many rows, or one row or column for all. With heads the text is about one head. On edges: all are.
 *  @param count how many, 1 to 32. */
FtB_Var FtB_map(const char *text, const FtB_Operand *operands, size_t count);

FtB_Var FtB_relu(FtB_Var x);                     /**< x where x > 0, else 0; NaN stays NaN */
FtB_Var FtB_leaky_relu(FtB_Var x, double slope); /**< x, or slope x below 0 */
FtB_Var FtB_elu(FtB_Var x);                      /**< x, or exp(x) - 1 below 0 */
FtB_Var FtB_sigmoid(FtB_Var x);                  /**< 1 / (1 + exp(-x)) */
FtB_Var FtB_tanh(FtB_Var x);                     /**< hyperbolic tangent */
FtB_Var FtB_gelu(FtB_Var x);                     /**< x Phi(x), Phi the normal distribution function */
FtB_Var FtB_scale(FtB_Var x, double factor);     /**< factor x */
FtB_Var FtB_add(FtB_Var x, FtB_Var y);           /**< x + y; y may have one row or column, or both */
FtB_Var FtB_subtract(FtB_Var x, FtB_Var y);      /**< x - y; y may have one row or column, or both */
FtB_Var FtB_times(FtB_Var x, FtB_Var y);         /**< x y, value by value; y as of FtB_add */

/** Dropout: in training each value becomes 0 with this probability (a multiple of 2^-16), the others grow by
 * 1 / (1 - probability). What value number k of a run gets depends on the tape's seed, the run, the operation
 * and k alone (Philox4x32-10). Of a sparse input, its entries are dropped. @param x any. @param probability
 * in [0, 1). */
FtB_Var FtB_dropout(FtB_Var x, double probability);

/* ------------------------------------------------------------------------------------- shapes */

/** The same values seen as heads of equal width: products then work head by head. @param x dense or on edges.
 *  @param heads divides the columns. */
FtB_Var FtB_heads(FtB_Var x, int64_t heads);

/** The mean over heads: n x (heads width) becomes n x width. @param x dense, with heads. */
FtB_Var FtB_mean_heads(FtB_Var x);

/** Columns side by side. @param x,y as many rows, or on the edges of one pattern. */
FtB_Var FtB_concat(FtB_Var x, FtB_Var y);

/** Columns first to first + count - 1. @param x dense. @param first,count inside x. */
FtB_Var FtB_columns(FtB_Var x, int64_t first, int64_t count);

/** Rows of x by number, repeated or not. @param x dense. @param rows copied. @param count how many. */
FtB_Var FtB_rows(FtB_Var x, const int64_t *rows, int64_t count);

/** How FtB_pool reduces. */
typedef enum FtB_Pool { FTB_POOL_SUM = 0, FTB_POOL_MEAN, FTB_POOL_MAX } FtB_Pool;

/** One row per graph of a batch, from the rows of its vertices. @param x dense, n rows. @param graph n
 * numbers, 0 to ngraphs - 1; copied. @param ngraphs rows of the result; graphs without vertices give 0.
 *  @param pool how. */
FtB_Var FtB_pool(FtB_Var x, const int64_t *graph, int64_t ngraphs, FtB_Pool pool);

/* ------------------------------------------------------------------------------ normalisation */

/** (x - mean) / sqrt(variance + eps) of each row, times gain plus shift. @param x dense. @param gain,shift 1
 * x columns, or NULL. @param eps 1e-5 as a rule. Source: Ba et al., "Layer normalization", 2016. */
FtB_Var FtB_layer_norm(FtB_Var x, FtB_Parameter gain, FtB_Parameter shift, double eps);

/** The same by columns; training updates the running statistics, evaluation uses them. @param x dense.
 *  @param gain,shift 1 x columns, or NULL. @param mean,variance 1 x columns, not trained: running statistics
 *  (start with 0 and 1). @param momentum weight of a new value, 0.1 as a rule. @param eps 1e-5 as a rule.
 *  Source: Ioffe and Szegedy, "Batch normalization", ICML 2015. */
FtB_Var FtB_batch_norm(FtB_Var x, FtB_Parameter gain, FtB_Parameter shift, FtB_Parameter mean,
                       FtB_Parameter variance, double momentum, double eps);

/* ------------------------------------------------------------------------------------- losses */

/** The mean over the masked rows of -log softmax(x)[label]. @param x n x classes. @param labels n classes, 0
 * to classes - 1 where masked; copied. @param mask n bytes, not 0: counted; copied; NULL: all rows.
 *  @return 1 x 1 */
FtB_Var FtB_cross_entropy(FtB_Var x, const int32_t *labels, const uint8_t *mask);

/** The mean over masked rows and columns of the binary cross-entropy of sigmoid(x) and targets. @param x n x
 * d.
 *  @param targets n x d, in [0, 1]; may depend on parameters, and has a gradient then. @param mask n bytes or
 * NULL. @return 1 x 1 */
FtB_Var FtB_binary_cross_entropy(FtB_Var x, FtB_Var targets, const uint8_t *mask);

/** The mean over masked rows and columns of (x - targets)^2. @param x,targets n x d; both may depend on
 * parameters, as in an autoencoder. @param mask n bytes or NULL. @return 1 x 1 */
FtB_Var FtB_squared_error(FtB_Var x, FtB_Var targets, const uint8_t *mask);

/* ---------------------------------------------------------------------------- your own operation */

/** What an operation of the caller's sees: views, valid during the call. */
typedef struct FtB_Operation_call {
    FtB_Block out;        /**< forward: to be written; gradient: as it was written */
    const FtB_Block *in;  /**< values of the inputs */
    FtB_Block dout;       /**< gradient: of out */
    const FtB_Block *din; /**< gradient: to be written; NULL where it is not wanted */
    bool training;        /**< a run of FtB_backward */
    const void *arg;      /**< the caller's */
} FtB_Operation_call;

/** An operation in C: a function and its gradient. */
typedef struct FtB_Operation {
    const char *name;                                    /**< for explain and messages */
    GrB_Info (*forward)(const FtB_Operation_call *call); /**< writes out */
    /** writes every din that is not NULL; NULL: there is none, the inputs count as constants */
    GrB_Info (*gradient)(const FtB_Operation_call *call);
} FtB_Operation;

/** Records an operation of the caller's, which runs in every run, whatever its inputs are. @param operation
 * copied. @param inputs its inputs, dense or on edges. @param count 1 to 32.
 *  @param nrows,ncols shape of its result, of the first input's dtype. @param arg handed over; must outlive
 * the record. */
FtB_Var FtB_custom(const FtB_Operation *operation, const FtB_Var *inputs, size_t count, int64_t nrows,
                   int64_t ncols, const void *arg);

#ifdef __cplusplus
}
#endif

#include "featblas/nn_layers.h"

#include "featblas/nn_train.h"

#include "featblas/nn_slots.h"

#endif
