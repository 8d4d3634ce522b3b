/* Recording: tapes, nodes, leaves, and the errors that variables carry along. */
#include "nn/schedule.h"

#include "core/spare.h"
#include "ops/ops.h"

#include <stdio.h>

/* The slots' macros are for callers: these are the functions. */
#undef FtB_input

/* ---- errors */

FtB_Var ftb_var_failed(FtB_Tape tape, GrB_Info info)
{
    if (tape && tape->status == GrB_SUCCESS) {
        tape->status = info;
        tape->message = ftb_strdup(tape->ctx, FtB_error()); /* NULL: the message is lost, the error is not */
    }
    return (FtB_Var){tape, -1};
}

static GrB_Info check_tape(FtB_Tape tape)
{
    if (!tape)
        return ftb_fail(GrB_NULL_POINTER, "tape is NULL; expected an FtB_Tape");
    if (tape->magic != FTB_MAGIC_TAPE)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "tape is not an FtB_Tape, or was freed");
    return GrB_SUCCESS;
}

GrB_Info FtB_Tape_status(FtB_Tape tape)
{
    GrB_Info info = check_tape(tape);
    if (info == GrB_SUCCESS && tape->status != GrB_SUCCESS)
        info = ftb_fail(tape->status, "%s", tape->message ? tape->message : "recording failed");
    return info;
}

static bool on_some_tape(FtB_Var x) { return x.tape && x.tape->magic == FTB_MAGIC_TAPE; }

FtB_Tape ftb_var_tape(FtB_Var x, FtB_Var y)
{
    return on_some_tape(x) ? x.tape : on_some_tape(y) ? y.tape : NULL;
}

ftb_nn_node *ftb_var_of(FtB_Tape tape, FtB_Var x, const char *call, const char *name)
{
    GrB_Info info;
    if (tape && tape->status != GrB_SUCCESS)
        return NULL;
    if (!on_some_tape(x))
        info = ftb_fail(GrB_NULL_POINTER, "%s: %s is not a variable of a tape", call, name);
    else if (x.tape != tape)
        info = ftb_fail(GrB_INVALID_VALUE, "%s: %s is a variable of another tape", call, name);
    else if (x.node < 0)
        info = ftb_fail(GrB_INVALID_VALUE, "%s: %s is a variable that was not recorded", call, name);
    else if (x.node >= tape->count)
        info = ftb_fail(GrB_INVALID_VALUE, "%s: %s is variable %lld of a tape that has %lld", call, name,
                        (long long)x.node, (long long)tape->count);
    else
        return tape->nodes[x.node];
    ftb_var_failed(tape, info);
    return NULL;
}

ftb_nn_node *ftb_var(FtB_Var x, const char *call, const char *name)
{
    return ftb_var_of(on_some_tape(x) ? x.tape : NULL, x, call, name);
}

/* ---- nodes */

static void node_delete(ftb_nn_node *n)
{
    if (n->op && n->op->clear)
        n->op->clear(n);
    ftb_delete(n->state);
    FtB_Parameter_free(&n->parameter);
    ftb_watch_end(&n->values);
    FtB_Matrix_free(&n->graph);
    FtB_Block_free(&n->value);
    FtB_Block_free(&n->grad);
    FtB_Block_free(&n->extra);
    FtB_Matrix_free(&n->edges);
    FtB_Matrix_free(&n->grad_edges);
    ftb_delete(n);
}

static bool node_room(FtB_Tape tape)
{
    if (tape->count < tape->room)
        return true;
    int64_t room = ftb_max(2 * tape->room, 64);
    if (!ftb_resize(tape->ctx, (void **)&tape->nodes, room, sizeof *tape->nodes))
        return false;
    tape->room = room;
    return true;
}

/* What all nodes have; `inputs` are numbers of nodes. */
static ftb_nn_node *node_add(FtB_Tape tape, const ftb_nn_op *op, int64_t nrows, int64_t ncols, FtB_Type type,
                             size_t state_size)
{
    if (ftb_cancelled(tape->ctx)) {
        ftb_cancel_clear(tape->ctx);
        ftb_var_failed(tape, ftb_fail(FTB_CANCELLED, "recording was cancelled"));
        return NULL;
    }
    ftb_nn_node *n = node_room(tape) ? ftb_new0(tape->ctx, 1, sizeof *n) : NULL;
    if (n && state_size && !(n->state = ftb_new0(tape->ctx, 1, state_size))) {
        ftb_delete(n);
        n = NULL;
    }
    if (!n) {
        ftb_var_failed(tape, ftb_nomem());
        return NULL;
    }
    n->op = op;
    n->tape = tape;
    n->nrows = nrows;
    n->ncols = ncols;
    n->heads = 1;
    n->type = type;
    n->number = n->root = tape->count;
    tape->nodes[tape->count++] = n;
    return n;
}

ftb_nn_node *ftb_node_new(FtB_Tape tape, const ftb_nn_op *op, const int64_t *in, int nin, int64_t nrows,
                          int64_t ncols, size_t state_size)
{
    ftb_nn_node *n = node_add(tape, op, nrows, ncols, tape->nodes[in[0]]->type, state_size);
    if (!n)
        return NULL;
    n->nin = nin;
    n->constant = true;
    for (int k = 0; k < nin; k++) {
        const ftb_nn_node *input = tape->nodes[in[k]];
        n->in[k] = in[k];
        n->gradient |= input->gradient;
        n->constant &= input->constant;
        n->taken |= input->taken;
        if (input->type == FTB_FP64)
            n->type = FTB_FP64;
    }
    if (op->flags & FTB_NN_RANDOM)
        n->constant = false;
    return n;
}

void ftb_node_stored(const ftb_nn_node *n, int64_t *nrows, int64_t *ncols)
{
    *nrows = n->sparse ? n->graph->pattern->nvals : n->nrows;
    *ncols = n->sparse ? 1 : n->ncols;
}

const char *ftb_node_shape(const ftb_nn_node *n, char *text, size_t room)
{
    const char *type = FtB_Type_name(n->type);
    if (n->sparse)
        snprintf(text, room, "%lld x %lld, %lld entries", (long long)n->nrows, (long long)n->ncols,
                 (long long)n->graph->pattern->nvals);
    else if (n->graph)
        snprintf(text, room, "%lld edges x %lld %s", (long long)n->nrows, (long long)n->ncols, type);
    else
        snprintf(text, room, "%lld x %lld %s", (long long)n->nrows, (long long)n->ncols, type);
    return text;
}

GrB_Info ftb_node_on_edges(ftb_nn_node *n, FtB_Matrix graph)
{
    GrB_Info info = ftb_matrix_share(&n->graph, graph);
    if (info != GrB_SUCCESS)
        ftb_var_failed(n->tape, info);
    return info;
}

FtB_Var ftb_node_like(ftb_nn_node *n, const ftb_nn_node *x)
{
    n->heads = x->heads;
    if (x->graph && ftb_node_on_edges(n, x->graph) != GrB_SUCCESS)
        return (FtB_Var){n->tape, -1};
    n->sparse = x->sparse;
    return ftb_node_var(n);
}

/* ---- leaves */

bool ftb_tape_made_of(FtB_Tape tape, const ftb_watch *values)
{
    ftb_nn_node *n = values->owner ? node_add(tape, NULL, 0, 0, FTB_FP32, 0) : NULL;
    if (!n)
        return !values->owner;
    n->values = *values;
    ftb_buffer_retain(values->owner);
    n->derived = n->constant = n->ready = true;
    return true;
}

static FtB_Var leaf_block(FtB_Tape tape, FtB_Block X)
{
    ftb_nn_node *n = X->type == FTB_FP32 || X->type == FTB_FP64
                         ? node_add(tape, NULL, X->nrows, X->ncols, X->type, 0)
                         : NULL;
    if (X->type != FTB_FP32 && X->type != FTB_FP64)
        return ftb_var_failed(tape, ftb_fail(GrB_DOMAIN_MISMATCH,
                                             "FtB_input: X has dtype %s; expected fp32 or fp64",
                                             FtB_Type_name(X->type)));
    if (!n)
        return (FtB_Var){tape, -1};
    n->heads = X->heads;
    n->constant = n->ready = true;
    ftb_watch_block(&n->values, X);
    GrB_Info info = FtB_Block_heads(&n->value, X, X->heads);
    return info == GrB_SUCCESS ? ftb_node_var(n) : ftb_var_failed(tape, info);
}

/* A matrix as features (sparse) or as a variable on its own edges. */
static FtB_Var leaf_matrix(FtB_Tape tape, FtB_Matrix A, bool sparse)
{
    FtB_Type type = A->type == FTB_FP64 ? FTB_FP64 : FTB_FP32;
    ftb_nn_node *n = sparse ? node_add(tape, NULL, A->pattern->nrows, A->pattern->ncols, type, 0)
                            : node_add(tape, NULL, A->pattern->nvals, A->width, type, 0);
    if (!n || ftb_node_on_edges(n, A) != GrB_SUCCESS)
        return (FtB_Var){tape, -1};
    n->sparse = sparse;
    n->constant = n->ready = true;
    ftb_watch_matrix(&n->values, A);
    GrB_Info info = ftb_matrix_share(&n->edges, A);
    if (info == GrB_SUCCESS && A->width > 0)
        info = FtB_Matrix_values(&n->value, A);
    return info == GrB_SUCCESS ? ftb_node_var(n) : ftb_var_failed(tape, info);
}

FtB_Var FtB_input(FtB_Tape tape, FtB_Arg X)
{
    FtB_Block block = NULL;
    FtB_Matrix A = NULL;
    if (check_tape(tape) != GrB_SUCCESS)
        return (FtB_Var){NULL, -1};
    if (tape->status != GrB_SUCCESS)
        return (FtB_Var){tape, -1};
    GrB_Info info = X.kind == FTB_KIND_MATRIX ? ftb_arg_matrix(&A, X, "FtB_input: X", false)
                                              : ftb_arg_block(&block, X, "FtB_input: X", false);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(tape, info);
    if (A && A->width > 1)
        return ftb_var_failed(tape,
                              ftb_fail(GrB_INVALID_VALUE,
                                       "FtB_input: X has %lld values per entry; sparse features have one",
                                       (long long)A->width));
    return A ? leaf_matrix(tape, A, true) : leaf_block(tape, block);
}

FtB_Var FtB_input_take(FtB_Tape tape, FtB_Block *X)
{
    if (!X)
        return ftb_var_failed(check_tape(tape) == GrB_SUCCESS ? tape : NULL,
                              ftb_fail(GrB_NULL_POINTER, "FtB_input_take: X is NULL"));
    FtB_Var x = FtB_input(tape, FTB_ARG(*X));
    if (x.node >= 0) {
        tape->nodes[x.node]->taken = true;
        ftb_watch_end(&tape->nodes[x.node]->values);
    }
    FtB_Block_free(X);
    return x;
}

FtB_Var FtB_input_edges(FtB_Tape tape, FtB_Matrix A)
{
    if (check_tape(tape) != GrB_SUCCESS)
        return (FtB_Var){NULL, -1};
    if (tape->status != GrB_SUCCESS)
        return (FtB_Var){tape, -1};
    GrB_Info info = ftb_arg_matrix(&A, FTB_ARG(A), "FtB_input_edges: A", false);
    if (info == GrB_SUCCESS && A->width < 1)
        info = ftb_fail(GrB_INVALID_VALUE, "FtB_input_edges: the entries of A have no values");
    if (info == GrB_SUCCESS && A->type != FTB_FP32 && A->type != FTB_FP64)
        info = ftb_fail(GrB_DOMAIN_MISMATCH, "FtB_input_edges: A has dtype %s; expected fp32 or fp64",
                        FtB_Type_name(A->type));
    return info == GrB_SUCCESS ? leaf_matrix(tape, A, false) : ftb_var_failed(tape, info);
}

FtB_Var FtB_parameter(FtB_Tape tape, FtB_Parameter p)
{
    if (check_tape(tape) != GrB_SUCCESS)
        return (FtB_Var){NULL, -1};
    if (tape->status != GrB_SUCCESS)
        return (FtB_Var){tape, -1};
    GrB_Info info = ftb_parameter_check(p, "FtB_parameter: p");
    if (info != GrB_SUCCESS)
        return ftb_var_failed(tape, info);
    for (int64_t k = 0; k < tape->count;
         k++) /* one node per parameter: its gradient is a sum over all uses */
        if (tape->nodes[k]->parameter == p)
            return ftb_node_var(tape->nodes[k]);
    ftb_nn_node *n = node_add(tape, NULL, p->value->nrows, p->value->ncols, p->value->type, 0);
    if (!n)
        return (FtB_Var){tape, -1};
    n->parameter = ftb_parameter_retain(p);
    n->gradient = p->trained;
    n->ready = true;
    info = FtB_Block_heads(&n->value, p->value, 1);
    if (info == GrB_SUCCESS && n->gradient)
        info = FtB_Parameter_gradient(&n->grad, p);
    return info == GrB_SUCCESS ? ftb_node_var(n) : ftb_var_failed(tape, info);
}

FtB_Var FtB_keep(FtB_Var x)
{
    ftb_nn_node *n = ftb_var(x, "FtB_keep", "x");
    if (!n)
        return (FtB_Var){x.tape, -1};
    n->keep = true;
    ftb_schedules_drop(n->tape);
    return x;
}

GrB_Info FtB_Var_shape(FtB_Var x, int64_t *nrows, int64_t *ncols)
{
    const ftb_nn_node *n = ftb_var(x, "FtB_Var_shape", "x");
    if (!n)
        return x.tape ? FtB_Tape_status(x.tape) : GrB_NULL_POINTER;
    if (nrows)
        *nrows = n->nrows;
    if (ncols)
        *ncols = n->ncols;
    return GrB_SUCCESS;
}

/* ---- tapes */

GrB_Info FtB_Tape_new(FtB_Tape *tape, uint64_t seed)
{
    if (!tape)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Tape_new: tape is NULL");
    *tape = NULL;
    FtB_Tape made = ftb_new0(NULL, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_TAPE;
    made->ctx = ftb_context_retain(ftb_context());
    ftb_spare_begin(made->ctx);
    made->seed = seed;
    *tape = made;
    return GrB_SUCCESS;
}

GrB_Info FtB_Tape_inference(FtB_Tape tape)
{
    GrB_Info info = check_tape(tape);
    if (info == GrB_SUCCESS)
        tape->inference = true;
    return info;
}

static void clear(FtB_Tape tape)
{
    ftb_schedules_drop(tape);
    for (int64_t k = 0; k < tape->count; k++)
        node_delete(tape->nodes[k]);
    tape->count = 0;
    ftb_delete(tape->message);
    tape->message = NULL;
    tape->status = GrB_SUCCESS;
}

GrB_Info FtB_Tape_reset(FtB_Tape tape)
{
    GrB_Info info = check_tape(tape);
    if (info == GrB_SUCCESS)
        clear(tape);
    return info;
}

GrB_Info FtB_Tape_free(FtB_Tape *tape)
{
    if (!tape || !*tape || (*tape)->magic != FTB_MAGIC_TAPE)
        return GrB_SUCCESS;
    FtB_Tape old = *tape;
    ftb_spare_end(old->ctx);
    clear(old);
    ftb_slots_release(old);
    ftb_delete(old->nodes);
    FtB_Context ctx = old->ctx;
    old->magic = 0;
    ftb_delete(old);
    ftb_context_release(ctx);
    *tape = NULL;
    return GrB_SUCCESS;
}
