/* Y = X(:, first .. first + count - 1). dX is dY there and 0 elsewhere. */
#include "core/words.h"
#include "nn/shape.h"

typedef struct columns {
    int64_t first;
} columns;

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    return ftb_columns_copy(c->out, 0, c->in[0], ((const columns *)n->state)->first, n->ncols, false);
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    GrB_Info info = c->add[0] ? GrB_SUCCESS : ftb_block_fill(c->din[0], 0);
    return info == GrB_SUCCESS ? ftb_columns_copy(c->din[0], ((const columns *)n->state)->first, c->dout, 0,
                                                  n->ncols, c->add[0])
                               : info;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    int64_t first = ((const columns *)n->state)->first;
    fprintf(file, "columns %lld to %lld of %lld", (long long)first, (long long)(first + n->ncols - 1),
            (long long)ftb_node_in(n, 0)->ncols);
}

static const ftb_nn_op op = {.name = "columns", .forward = forward, .gradient = gradient, .print = print};

FtB_Var FtB_columns(FtB_Var x, int64_t first, int64_t count)
{
    char below[FTB_WORDS];
    const ftb_nn_node *in = ftb_var_dense(x, "FtB_columns", "x");
    if (!in)
        return ftb_var_lost(x);
    if (first < 0 || count < 1 || first > in->ncols - count)
        return ftb_var_failed(x.tape,
                              ftb_fail(GrB_INDEX_OUT_OF_BOUNDS,
                                       "FtB_columns: %lld columns from %lld on; expected some of x's, %s",
                                       (long long)count, (long long)first, ftb_below_text(below, in->ncols)));
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, in->nrows, count, sizeof(columns));
    if (!n)
        return ftb_var_lost(x);
    ((columns *)n->state)->first = first;
    return ftb_node_var(n);
}
