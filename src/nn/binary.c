/* Sums, differences and products of two variables; the second may have one row or one column for all, or be
 * 1 x 1. */
#include "nn/nn.h"

enum { ADD, SUBTRACT, TIMES };
static const char *const texts[] = {"x + y", "x - y", "x * y"}, *const names[] = {"add", "subtract", "times"};

typedef struct binary {
    int what;
} binary;

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    return FtB_eWiseMult(c->out, NULL, NULL, texts[((const binary *)n->state)->what], c->in[0], c->in[1],
                         NULL);
}

/* to = or += whole, summed over the rows, the columns, or both. */
static GrB_Info fold(FtB_Block to, bool add, FtB_Block whole)
{
    FtB_Block column = NULL;
    if (to->ncols == whole->ncols || to->nrows == whole->nrows)
        return FtB_reduce(to, NULL, ftb_plus_if(add, to), "plus", whole, to->nrows == 1 ? FTB_DESC_T0 : NULL);
    GrB_Info info = FtB_Block_new(&column, whole->nrows, 1, whole->type);
    if (info == GrB_SUCCESS)
        info = FtB_reduce(column, NULL, NULL, "plus", whole, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_reduce(to, NULL, ftb_plus_if(add, to), "plus", column, FTB_DESC_T0);
    FtB_Block_free(&column);
    return info;
}

/* dx or dy += what text makes of dout and the other operand. */
static GrB_Info share(FtB_Block to, bool add, const char *text, FtB_Block dout, FtB_Block other)
{
    FtB_Block whole = NULL;
    if (!add && ftb_block_address(to) == ftb_block_address(dout) && strcmp(text, "x") == 0)
        return GrB_SUCCESS; /* it lies where it should */
    if (to->nrows == dout->nrows && to->ncols == dout->ncols)
        return FtB_eWiseMult(to, NULL, ftb_plus_if(add, to), text, dout, other, NULL);
    GrB_Info info = FtB_Block_new(&whole, dout->nrows, dout->ncols, dout->type);
    if (info == GrB_SUCCESS)
        info = FtB_eWiseMult(whole, NULL, NULL, text, dout, other, NULL);
    if (info == GrB_SUCCESS)
        info = fold(to, add, whole);
    FtB_Block_free(&whole);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    int what = ((const binary *)n->state)->what;
    GrB_Info info = GrB_SUCCESS;
    if (c->din[1]) /* first: dx may be in dout's memory */
        info = share(c->din[1], c->add[1],
                     what == TIMES ? "x * y"
                     : what == ADD ? "x"
                                   : "-x",
                     c->dout, what == TIMES ? c->in[0] : c->dout);
    if (info == GrB_SUCCESS && c->din[0])
        info = share(c->din[0], c->add[0], what == TIMES ? "x * y" : "x", c->dout,
                     what == TIMES ? c->in[1] : c->dout);
    return info;
}

static bool needs(const ftb_nn_node *n, int k)
{
    return ((const binary *)n->state)->what == TIMES && ftb_node_in(n, 1 - k)->gradient;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "%s", texts[((const binary *)n->state)->what]);
}

static const ftb_nn_op op = {.name = "binary",
                             .flags = FTB_NN_NEEDS_IN | FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print};

static FtB_Var record(FtB_Var x, FtB_Var y, int what)
{
    char shape[2][80];
    FtB_Tape tape = ftb_var_tape(x, y);
    const ftb_nn_node *a = ftb_var_of(tape, x, names[what], "x"), *b = ftb_var_of(tape, y, names[what], "y");
    if (!a || !b)
        return (FtB_Var){tape, -1};
    bool places = a->graph ? b->graph && b->graph->pattern == a->graph->pattern : !b->graph;
    if (a->sparse || b->sparse || !places || a->type != b->type || (b->nrows != a->nrows && b->nrows != 1) ||
        (b->ncols != a->ncols && b->ncols != 1))
        return ftb_var_failed(
            x.tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                             "%s: x is %s, y is %s; expected y of x's shape, one row or one column of it, "
                             "or 1 x 1",
                             names[what], ftb_node_shape(a, shape[0], sizeof shape[0]),
                             ftb_node_shape(b, shape[1], sizeof shape[1])));
    const int64_t in[2] = {x.node, y.node};
    ftb_nn_node *n = ftb_node_new(x.tape, &op, in, 2, a->nrows, a->ncols, sizeof(binary));
    if (!n)
        return ftb_var_lost(x);
    ((binary *)n->state)->what = what;
    return ftb_node_like(n, a);
}

FtB_Var FtB_add(FtB_Var x, FtB_Var y) { return record(x, y, ADD); }
FtB_Var FtB_subtract(FtB_Var x, FtB_Var y) { return record(x, y, SUBTRACT); }
FtB_Var FtB_times(FtB_Var x, FtB_Var y) { return record(x, y, TIMES); }
