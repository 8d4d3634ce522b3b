/* Functions of each value, y = f(x), with gradients from y where that is enough: x's memory is then free for
 * y. */
#include "nn/nn.h"

#include "expr/expr.h"

/* Gradients: over x, the gradient of the result, and y, the result (or the input). `c` is bound to a number.
 */
typedef struct function {
    const char *name, *forward, *gradient;
    bool from_input;
} function;

static const function
    relu = {"relu", "relu(x)", "y > 0 ? x : 0", false},
    leaky_relu = {"leaky_relu", "x > 0 ? x : c * x", "y > 0 ? x : c * x", false},
    leaky_relu_any = {"leaky_relu", "x > 0 ? x : c * x", "y > 0 ? x : c * x", true},
    elu = {"elu", "x > 0 ? x : expm1(x)", "y > 0 ? x : x * (y + 1)", false},
    sigmoid = {"sigmoid", "sigmoid(x)", "x * y * (1 - y)", false},
    hyperbolic = {"tanh", "tanh(x)", "x * (1 - y * y)", false},
    gelu = {"gelu", "0.5 * x * (1 + erf(0.7071067811865476 * x))",
            "x * (0.5 * (1 + erf(0.7071067811865476 * y)) + 0.3989422804014327 * y * exp(-0.5 * y * y))",
            true},
    multiple = {"scale", "c * x", "c * x", false},
    deviation = {"deviation", "x > 0.00001 ? sqrt(x) : 0", "y > 0 ? 0.5 * x / y : 0", false};

typedef struct activation {
    const function *f;
    FtB_Op forward, gradient;
    double c;
} activation;

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    return FtB_apply(c->out, NULL, NULL, ((const activation *)n->state)->forward, c->in[0], NULL);
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const activation *a = n->state;
    return FtB_eWiseMult(c->din[0], NULL, ftb_plus_if(c->add[0], c->din[0]), a->gradient, c->dout,
                         a->f->from_input ? c->in[0] : c->out, NULL);
}

static bool needs(const ftb_nn_node *n, int k)
{
    (void)k;
    return ((const activation *)n->state)->f->from_input;
}

static void clear(ftb_nn_node *n)
{
    activation *a = n->state;
    FtB_Op_free(&a->forward);
    FtB_Op_free(&a->gradient);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    const activation *a = n->state;
    fprintf(file, "%s: %s", a->f->name, a->f->forward);
    if (strchr(a->f->forward, 'c') != NULL)
        fprintf(file, ", c = %g", a->c);
}

static const ftb_nn_op from_output = {.name = "activation",
                                      .flags = FTB_NN_NEEDS_OUT | FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE,
                                      .forward = forward,
                                      .gradient = gradient,
                                      .print = print,
                                      .clear = clear},
                       from_input = {.name = "activation",
                                     .flags = FTB_NN_NEEDS_IN | FTB_NN_GRAD_IN_PLACE,
                                     .forward = forward,
                                     .gradient = gradient,
                                     .needs = needs,
                                     .print = print,
                                     .clear = clear};

bool ftb_node_is_relu(const ftb_nn_node *n)
{
    return n->op == &from_output && ((const activation *)n->state)->f == &relu;
}

/* The text with c bound, where it has one. */
static GrB_Info make(FtB_Op *op, const char *text, double c)
{
    FtB_Op plain = NULL;
    GrB_Info info = FtB_Op_new(&plain, text);
    if (info != GrB_SUCCESS)
        return info;
    if (!ftb_expr_uses(plain->body, "c")) {
        *op = plain;
        return info;
    }
    info = FtB_Op_bind(op, plain, FTB_BIND("c", c));
    FtB_Op_free(&plain);
    return info;
}

static FtB_Var record(FtB_Var x, const function *f, double c)
{
    const ftb_nn_node *in = ftb_var(x, f->name, "x");
    if (!in)
        return ftb_var_lost(x);
    if (in->sparse)
        return ftb_var_failed(
            x.tape, ftb_fail(GrB_INVALID_VALUE, "%s: x is sparse; expected a dense variable", f->name));
    ftb_nn_node *n = ftb_node_new(x.tape, f->from_input ? &from_input : &from_output, &x.node, 1, in->nrows,
                                  in->ncols, sizeof(activation));
    if (!n)
        return ftb_var_lost(x);
    activation *a = n->state;
    a->f = f;
    a->c = c;
    GrB_Info info = make(&a->forward, f->forward, c);
    if (info == GrB_SUCCESS)
        info = make(&a->gradient, f->gradient, c);
    return info == GrB_SUCCESS ? ftb_node_like(n, in) : ftb_var_failed(x.tape, info);
}

FtB_Var FtB_relu(FtB_Var x) { return record(x, &relu, 0); }
FtB_Var FtB_leaky_relu(FtB_Var x, double slope)
{
    return record(x, slope > 0 ? &leaky_relu : &leaky_relu_any,
                  slope); /* else the sign of y does not tell x's */
}
FtB_Var FtB_elu(FtB_Var x) { return record(x, &elu, 0); }
FtB_Var FtB_sigmoid(FtB_Var x) { return record(x, &sigmoid, 0); }
FtB_Var FtB_tanh(FtB_Var x) { return record(x, &hyperbolic, 0); }
FtB_Var FtB_gelu(FtB_Var x) { return record(x, &gelu, 0); }
FtB_Var FtB_scale(FtB_Var x, double factor) { return record(x, &multiple, factor); }
FtB_Var ftb_deviation(FtB_Var x) { return record(x, &deviation, 0); }
