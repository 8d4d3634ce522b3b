/* What layers share: a kind is a name, parameters made by `make`, and products recorded by `apply`. One file
 * each. */
#ifndef FTB_NN_LAYER_H
#define FTB_NN_LAYER_H

#include "core/number.h"
#include "core/watch.h"
#include "nn/nn.h"

#define FTB_LAYER_PARAMETERS 16

typedef struct ftb_layer_kind ftb_layer_kind;

struct FtB_Layer_opaque {
    uint32_t magic;
    FtB_Context ctx;
    const ftb_layer_kind *kind;
    int64_t in, out;
    FtB_Layer_options options; /* defaults filled in; texts are copies */
    int nparameters;
    FtB_Parameter parameters[FTB_LAYER_PARAMETERS];
    /* What was made of the last graph seen: kept for the next time. */
    FtB_Matrix graph;   /* whose pattern it was made of */
    ftb_watch values;   /* graph's, where something was made of them */
    FtB_Matrix derived; /* with self-loops and the like */
    FtB_Matrix *parts;  /* nparts: one per edge type */
    int64_t nparts;
    FtB_Block scale;  /* of vertices */
    bool loops_apart; /* derived lacks the self-loops, which are added to its products */
};

/* What a layer is applied to. */
typedef struct ftb_layer_call {
    FtB_Layer layer;
    FtB_Tape tape;
    FtB_Matrix A;
    FtB_Var src, dst,
        edge;            /* dst: src itself where A is square, of a hop its first rows; edge.node -1: none */
    bool bipartite;      /* targets are other vertices than sources */
    int64_t columns;     /* of src */
    ftb_nn_order *order; /* what ftb_layer_project_first found is noted here, for people */
} ftb_layer_call;

struct ftb_layer_kind {
    const char *name;
    GrB_Info (*make)(FtB_Layer layer);            /* adds parameters */
    FtB_Var (*apply)(const ftb_layer_call *call); /* records */
};
#define FTB_LAYER_KIND(name, options, formula) extern const ftb_layer_kind ftb_##name;
FTB_LAYERS(FTB_LAYER_KIND)
#undef FTB_LAYER_KIND

/* Adds a parameter "<layer's name>.<name>", drawn by Glorot's rule (weights) or 0. */
typedef enum ftb_start { FTB_START_ZERO, FTB_START_ONE, FTB_START_GLOROT } ftb_start;
GrB_Info ftb_layer_add(FtB_Layer layer, const char *name, int64_t nrows, int64_t ncols, ftb_start start);
/* The same, of `count` weights, nrows x ncols each and drawn as such, on top of one another. */
GrB_Info ftb_layer_add_stack(FtB_Layer layer, const char *name, int64_t count, int64_t nrows, int64_t ncols);
/* A parameter of the layer, by the name that ftb_layer_add was given, on the tape of the call; a failed
 * variable if there is none. */
FtB_Var ftb_layer_var(const ftb_layer_call *call, const char *name);
FtB_Parameter ftb_layer_find(FtB_Layer layer, const char *name); /* NULL: none */
/* Which of `count` names options.aggregate is; none given: the first; unknown: count. */
int ftb_layer_aggregate(FtB_Layer layer, const char *const *names, int count);
/* y plus the parameter "bias", if the layer has one. */
FtB_Var ftb_layer_bias(const ftb_layer_call *call, FtB_Var y);
/* Rows first to first + count - 1 of a parameter. */
FtB_Var ftb_layer_rows(FtB_Var w, int64_t first, int64_t count);
/* Rows 0 to count - 1 of a sparse variable. (nn/sparse_rows.c) */
FtB_Var ftb_sparse_rows(FtB_Var x, int64_t count);
/* Whether x should be multiplied by weights with `out` columns before it is summed over A, so many times,
 * rather than after. (nn/order.c) */
bool ftb_layer_project_first(const ftb_layer_call *call, FtB_Var x, int64_t out, int64_t times);
/* A number for a message's text: the shortest that reads back as the same, with a point in every locale. */
typedef struct ftb_number_text {
    char text[FTB_NUMBER_ROOM + 1];
} ftb_number_text;
static inline ftb_number_text ftb_number(double x)
{
    ftb_number_text n;
    *ftb_format_real(n.text, x, 0, false) = '\0';
    return n;
}
/* ---- of attention layers (attention_layer.c) */

/* Adds a weight for every head: 1 x (heads out), drawn as if it were heads x out. */
GrB_Info ftb_layer_add_heads(FtB_Layer layer, const char *name);
/* Adds "bias", as wide as the result, and with the option residual "res.weight", from `targets` columns. */
GrB_Info ftb_layer_add_result(FtB_Layer layer, int64_t targets);
/* *B: A, or where self-loops are added its pattern with the diagonal. *edge: the features that the call has
 * on the entries of B (a loop has the mean of what the row's other entries have); node -1: none. false: the
 * tape knows why. */
bool ftb_layer_attention_graph(const ftb_layer_call *call, bool loops, FtB_Matrix *B, FtB_Var *edge);
/* Heads of y side by side, or their mean; plus residual and bias. */
FtB_Var ftb_layer_attention_result(const ftb_layer_call *call, FtB_Var y);
/* x on the edges of A as a variable on those of B, A's pattern with the diagonal. (loop_edges.c) */
FtB_Var ftb_loop_edges(FtB_Var x, FtB_Matrix B);
/* n x heads: dot(x(i, h, :), a(h, :)), of x: n x (heads width) and a: 1 x (heads width). (nn/head_dots.c) */
FtB_Var ftb_head_dots(FtB_Var x, FtB_Var a, int64_t heads);
/* *B, borrowed from the layer: the pattern of A with the diagonal, made once per graph. */
GrB_Info ftb_layer_self_loops(FtB_Matrix *B, FtB_Layer layer, FtB_Matrix A);
/* factor D^-1/2 (A + I) D^-1/2 x (propagate.c); I unless options say no_self_loops. All calls of one layer
 * give the same factor. */
FtB_Var ftb_layer_propagate(const ftb_layer_call *call, FtB_Var x, double factor);

#endif
