/* What the parts of a tape share: nodes, operations, parameters.
 *
 * A node is a recorded operation and its result. Recording checks shapes; schedule.c says when each value and
 * gradient is needed and which piece of memory holds it; run.c calls the operations in that order. */
#ifndef FTB_NN_H
#define FTB_NN_H

#include "core/watch.h"
#include "expr/expr.h"
#include "featblas_nn.h"
#include "verbs/dense_product.h"

#define FTB_MAGIC_TAPE 0x46544261
#define FTB_MAGIC_PARAMETER 0x46544270
#define FTB_MAGIC_LAYER 0x46544279

#define FTB_NN_INPUTS 32

struct FtB_Parameter_opaque {
    uint32_t magic;
    atomic_llong refs;
    FtB_Context ctx;
    char *name;
    bool trained;
    FtB_Block value, gradient; /* gradient: made when it is first needed */
};
FtB_Parameter ftb_parameter_retain(FtB_Parameter p);
GrB_Info ftb_parameter_check(FtB_Parameter p, const char *name);

/* ---- operations */

typedef struct ftb_nn_node ftb_nn_node;

/* What an operation sees when it runs. Blocks have the heads of their nodes. */
typedef struct ftb_nn_call {
    FtB_Context ctx;
    bool training;
    uint64_t seed;                      /* of this node, in this run */
    const uint64_t *seed_at;            /* where a device finds it instead, as it is recorded; else NULL */
    FtB_Block out, dout;                /* dout: NULL in forward */
    FtB_Matrix out_edges, dout_edges;   /* the same on edges, else NULL */
    FtB_Block in[FTB_NN_INPUTS];        /* NULL where the operation said it needs no value */
    FtB_Matrix in_edges[FTB_NN_INPUTS]; /* of inputs on edges, and sparse inputs */
    FtB_Block din[FTB_NN_INPUTS]; /* gradients to be written, the last input's first; NULL: not wanted */
    FtB_Matrix din_edges[FTB_NN_INPUTS];
    bool add[FTB_NN_INPUTS]; /* add to din[k] instead */
    bool relu;               /* of out, too: only where the operation `takes` it */
    FtB_Block extra;         /* what forward keeps for the gradient; NULL unless training */
} ftb_nn_call;

enum {
    FTB_NN_NEEDS_OUT = 1,     /* the gradient reads out */
    FTB_NN_NEEDS_IN = 2,      /* the gradient reads the inputs; needs() says which, if it is there */
    FTB_NN_IN_PLACE = 4,      /* out may be in[0]'s memory */
    FTB_NN_GRAD_IN_PLACE = 8, /* din[0] may be dout's memory (never with add) */
    FTB_NN_RANDOM = 16        /* differs from run to run in training */
};

typedef struct ftb_nn_op {
    const char *name;
    unsigned flags;
    /* They ask for what they read and write (core/buffer.h): most have a verb run (ops/backends.h), or call a
     * function of the library; others begin with ftb_nn_ask_host. */
    GrB_Info (*forward)(ftb_nn_node *n, const ftb_nn_call *c);
    GrB_Info (*gradient)(ftb_nn_node *n, const ftb_nn_call *c);
    /* Whether the gradient of n reads input k; NULL: all, if FTB_NN_NEEDS_IN. */
    bool (*needs)(const ftb_nn_node *n, int k);
    /* Whether forward can put relu(out) in place of out. NULL: no. */
    bool (*takes_relu)(const ftb_nn_node *n);
    /* What runs, for people: "plus : src, 2708 x 2708, 13264 entries"; a line without its end. NULL: nothing.
     */
    void (*print)(const ftb_nn_node *n, FILE *file);
    /* The plan of its product, made from shapes alone; NULL: none. */
    GrB_Info (*plan)(FtB_Plan *plan, const ftb_nn_node *n);
    /* Multiplications and additions of its dense product; NULL: none. */
    double (*operations)(const ftb_nn_node *n);
    void (*clear)(ftb_nn_node *n); /* releases what state holds, not state itself; NULL: nothing */
} ftb_nn_op;

/* Predicted seconds of a layer's products, on one thread: A (X W), (A X) W. 0: there was nothing to choose.
 */
typedef struct ftb_nn_order {
    double first, after;
} ftb_nn_order;

struct ftb_nn_node {
    const ftb_nn_op *op; /* NULL: a leaf */
    FtB_Tape tape;
    int64_t nrows, ncols, heads; /* of a variable on edges: entries x width */
    FtB_Type type;
    FtB_Matrix graph; /* a sparse input, or the matrix on whose edges it lies: retained; else NULL */
    bool sparse;      /* a sparse input, or made from one: graph's pattern holds its values */
    int nin;
    int64_t in[FTB_NN_INPUTS];
    int64_t number; /* in the tape */
    int64_t root;   /* the node whose memory this one is a view of: itself as a rule */
    bool gradient;  /* some trained parameter lies below */
    bool constant;  /* nothing below it changes from run to run */
    bool keep;
    bool taken;              /* a leaf that may go once nothing reads it, or made of one */
    ftb_nn_order order;      /* of a layer's result */
    FtB_Parameter parameter; /* of a leaf, retained */
    void *state;             /* the operation's, ftb_new()ed */
    ftb_watch values;        /* that it reads and that are no input's: a leaf's own, a product's matrix's */
    bool derived;            /* a leaf that stands for what a layer has made of its values */
    int64_t extra_rows, extra_cols; /* kept from forward to gradient; 0: nothing */
    FtB_Type extra_type;
    /* where it is, during a run */
    FtB_Block value, grad, extra;
    FtB_Matrix edges, grad_edges; /* the same on the edges of graph */
    bool ready;                   /* a constant that was computed, or a leaf */
};

typedef struct ftb_schedule ftb_schedule; /* schedule.h */

struct FtB_Tape_opaque {
    uint32_t magic;
    FtB_Context ctx;
    uint64_t seed, run; /* run: how many of FtB_backward there were */
    bool inference;
    GrB_Info status;
    char *message; /* of status */
    int64_t count, room;
    ftb_nn_node **nodes;
    ftb_schedule *schedules; /* of targets that were run, newest first */
    ftb_schedule *bound;     /* whose memory the nodes hold */
    int64_t nslots;
    struct ftb_slot *slots; /* memory that values share */
};

/* Asks for all that a call reads and writes on the host. (run.c) */
GrB_Info ftb_nn_ask_host(const ftb_nn_node *n, const ftb_nn_call *c);

/* ---- recording (tape.c) */

/* A variable as an argument `name`: its node, or NULL with the tape's status set. */
ftb_nn_node *ftb_var(FtB_Var x, const char *call, const char *name);
/* The same of several arguments, all on `tape`, which knows what is wrong with any of them. */
ftb_nn_node *ftb_var_of(FtB_Tape tape, FtB_Var x, const char *call, const char *name);
/* The tape that learns of mistakes in x and y: x's, or y's where x is no variable; NULL: of neither. */
FtB_Tape ftb_var_tape(FtB_Var x, FtB_Var y);
/* Records an error: keeps this thread's message, gives the variable that failed. */
FtB_Var ftb_var_failed(FtB_Tape tape, GrB_Info info);
/* y + x w, of y's shape: in y's memory where nobody else needs it. (nn/linear.c) */
FtB_Var ftb_matmul_onto(FtB_Var y, FtB_Var x, FtB_Var w);
/* Whether n is the relu of its input. (nn/activation.c) */
bool ftb_node_is_relu(const ftb_nn_node *n);
/* Whether n is rows 0, 1, 2 ... of its input. (nn/rows.c) */
bool ftb_rows_are_first(const ftb_nn_node *n);
/* The variable that follows from x, which had failed or was refused. */
static inline FtB_Var ftb_var_lost(FtB_Var x) { return (FtB_Var){x.tape, -1}; }
/* A node over inputs of one tape, dense nrows x ncols of in[0]'s type and one head, in *n to be refined
 * before the next call; state_size bytes of zeroed state. NULL: failed, the tape knows. */
ftb_nn_node *ftb_node_new(FtB_Tape tape, const ftb_nn_op *op, const int64_t *in, int nin, int64_t nrows,
                          int64_t ncols, size_t state_size);
/* That n lies on the edges of graph. */
GrB_Info ftb_node_on_edges(ftb_nn_node *n, FtB_Matrix graph);
/* That n has the heads of x and lies where x does: on edges, or at a sparse input's entries. */
FtB_Var ftb_node_like(ftb_nn_node *n, const ftb_nn_node *x);
static inline FtB_Var ftb_node_var(const ftb_nn_node *n) { return (FtB_Var){n->tape, n->number}; }
/* That the tape holds what was made of these values, which cannot be made again: running refuses once they
 * have changed. False: no memory, as the tape knows. */
bool ftb_tape_made_of(FtB_Tape tape, const ftb_watch *values);
/* Rows and columns as they are stored: of what lies on edges, entries x width; of what is sparse, entries
 * x 1. */
void ftb_node_stored(const ftb_nn_node *n, int64_t *nrows, int64_t *ncols);
static inline ftb_nn_node *ftb_node_in(const ftb_nn_node *n, int k) { return n->tape->nodes[n->in[k]]; }
static inline bool ftb_node_dense(const ftb_nn_node *n) { return !n->graph; }
/* n is m x n, or lies on edges: "2708 x 16 fp32". Writes at most `room` bytes. */
const char *ftb_node_shape(const ftb_nn_node *n, char *text, size_t room);

/* Square root of a variance; 0 up to 1e-5, where its derivative counts as 0 (activation.c). */
FtB_Var ftb_deviation(FtB_Var x);

/* A matrix of a pattern over the memory of a block, nvals x width. */
GrB_Info ftb_matrix_over(FtB_Matrix *A, ftb_pattern *p, FtB_Block values);

/* accum slot of an output that may be added to. */
static inline FtB_Arg ftb_plus_if(bool add, FtB_Block to)
{
    FtB_Op plus = to->type == FTB_FP32 ? &ftb_plus_fp32 : &ftb_plus_fp64;
    return add ? FtB_Arg_make(FTB_KIND_OP, plus, 0, 0) : FtB_Arg_none();
}

/* ---- dense products (dense.c): row-major, FP32 or FP64, all of one type.
 * C = A B, A' B or A B', or C += where add, on the device or the host; blocks are asked for. Bits do not
 * depend on threads. */
GrB_Info ftb_dense_multiply(ftb_dense_form what, FtB_Block C, FtB_Block A, FtB_Block B, bool add,
                            FtB_Context ctx);
/* C = A B on the host, with passes over C that are made piece by piece, while it is in the caches. */
typedef struct ftb_dense_ends {
    FtB_Block row; /* each row of C begins as it; NULL: as 0, or, */
    bool add;      /* with this, as it is */
    bool relu;     /* and ends as its relu */
} ftb_dense_ends;
GrB_Info ftb_dense_multiply_here(FtB_Block C, FtB_Block A, FtB_Block B, const ftb_dense_ends *ends,
                                 FtB_Context ctx);
/* Whether dense products are the host's. */
bool ftb_dense_is_here(FtB_Context ctx);

#endif
