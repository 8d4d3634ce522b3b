/* Y = the caller's function of its inputs, and the caller's gradient of it. That writes and never adds: where
 * a gradient is the sum of several uses it writes a block of ours, which is added. */
#include "nn/nn.h"

typedef struct custom {
    FtB_Operation operation;
    char *name;
    const void *arg;
} custom;

/* One of the caller's functions; what it calls of the library may leave a message. */
static GrB_Info call_out(const custom *u, GrB_Info (*function)(const FtB_Operation_call *),
                         const FtB_Operation_call *call)
{
    ftb_fail(GrB_SUCCESS, "the operation's own function failed");
    GrB_Info info = function(call);
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "'%s' returned %d: ", u->name, (int)info);
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const custom *u = n->state;
    const FtB_Operation_call call = {.out = c->out, .in = c->in, .training = c->training, .arg = u->arg};
    GrB_Info info = ftb_nn_ask_host(n, c);
    return info == GrB_SUCCESS ? call_out(u, u->operation.forward, &call) : info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const custom *u = n->state;
    FtB_Block own[FTB_NN_INPUTS] = {NULL}, din[FTB_NN_INPUTS];
    GrB_Info info = ftb_nn_ask_host(n, c);
    memcpy(din, c->din, sizeof din);
    for (int k = 0; k < n->nin && info == GrB_SUCCESS; k++) {
        const FtB_Block d = c->din[k];
        if (!d || !c->add[k])
            continue;
        info = FtB_Block_new(&own[k], d->nrows, d->ncols, d->type);
        if (info == GrB_SUCCESS)
            own[k]->heads = d->heads;
        din[k] = own[k];
    }
    const FtB_Operation_call call = {
        .out = c->out, .in = c->in, .dout = c->dout, .din = din, .training = true, .arg = u->arg};
    if (info == GrB_SUCCESS)
        info = call_out(u, u->operation.gradient, &call);
    for (int k = n->nin - 1; k >= 0 && info == GrB_SUCCESS; k--)
        if (own[k])
            info = FtB_eWiseMult(c->din[k], NULL, NULL, "x + y", c->din[k], own[k], NULL);
    for (int k = 0; k < n->nin; k++)
        FtB_Block_free(&own[k]);
    return info;
}

static void clear(ftb_nn_node *n) { ftb_delete(((custom *)n->state)->name); }

static void print(const ftb_nn_node *n, FILE *file) { fprintf(file, "%s", ((const custom *)n->state)->name); }

/* Never a constant: it may depend on more than its inputs. */
static const ftb_nn_op op = {.name = "custom",
                             .flags = FTB_NN_NEEDS_OUT | FTB_NN_NEEDS_IN | FTB_NN_RANDOM,
                             .forward = forward,
                             .gradient = gradient,
                             .print = print,
                             .clear = clear};

static GrB_Info check(const FtB_Operation *operation, const FtB_Var *inputs, size_t count)
{
    if (!operation || !operation->forward)
        return ftb_fail(GrB_NULL_POINTER, "FtB_custom: operation has no forward function");
    if (!inputs)
        return ftb_fail(GrB_NULL_POINTER, "FtB_custom: inputs is NULL");
    if (count < 1 || count > FTB_NN_INPUTS)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_custom: %zu inputs; expected 1 to %d", count, FTB_NN_INPUTS);
    return GrB_SUCCESS;
}

static FtB_Var record(FtB_Tape tape, const FtB_Operation *operation, const int64_t *in, size_t count,
                      int64_t nrows, int64_t ncols, const void *arg)
{
    if (nrows < 0 || ncols < 1)
        return ftb_var_failed(tape, ftb_fail(GrB_INVALID_VALUE,
                                             "FtB_custom: the result is %lld x %lld; expected "
                                             "no rows or more, one column or more",
                                             (long long)nrows, (long long)ncols));
    ftb_nn_node *n = ftb_node_new(tape, &op, in, (int)count, nrows, ncols, sizeof(custom));
    if (!n)
        return (FtB_Var){tape, -1};
    custom *u = n->state;
    u->operation = *operation;
    u->arg = arg;
    u->name = ftb_strdup(tape->ctx, operation->name ? operation->name : "custom");
    if (!u->name)
        return ftb_var_failed(tape, ftb_nomem());
    n->type = ftb_node_in(n, 0)->type;
    n->gradient &= operation->gradient != NULL;
    return ftb_node_var(n);
}

FtB_Var FtB_custom(const FtB_Operation *operation, const FtB_Var *inputs, size_t count, int64_t nrows,
                   int64_t ncols, const void *arg)
{
    int64_t in[FTB_NN_INPUTS];
    FtB_Tape tape = NULL;
    for (size_t k = 0; inputs && k < count && !tape; k++)
        tape = ftb_var_tape(inputs[k], FTB_NO_VAR);
    GrB_Info info = check(operation, inputs, count);
    for (size_t k = 0; k < count && info == GrB_SUCCESS; k++) {
        const ftb_nn_node *x = ftb_var_of(tape, inputs[k], "FtB_custom", "an input");
        if (!x)
            return (FtB_Var){tape, -1};
        if (x->sparse)
            info = ftb_fail(GrB_INVALID_VALUE,
                            "FtB_custom: input %zu is sparse; expected rows or values on edges", k);
        in[k] = inputs[k].node;
    }
    return info == GrB_SUCCESS ? record(tape, operation, in, count, nrows, ncols, arg)
                               : ftb_var_failed(tape, info);
}
