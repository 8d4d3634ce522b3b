/* Dropout: Y = X .* mask / (1 - p), where value k of a run is kept or not by its own draw; the gradient draws
 * the same mask again, so nothing is stored. Of a sparse input the entries are dropped. Srivastava et al.,
 * JMLR 2014. */
#include "cpu/nn/dropout_run.h"
#include "nn/shape.h"
#include "ops/backends.h"

typedef struct dropout {
    double probability;
} dropout;

static GrB_Info run(const ftb_nn_call *c, FtB_Block Y, FtB_Block X, double probability, bool add)
{
    ftb_dropout_product p = {.ctx = Y->ctx,
                             .type = Y->type,
                             .nrows = Y->nrows,
                             .ncols = Y->ncols,
                             .ldx = X->ld,
                             .ldy = Y->ld,
                             .seed = c->seed,
                             .seed_at = c->seed_at,
                             .probability = probability,
                             .add = add};
    const ftb_place places[] = {{.X = X, .read = &p.x}, {.X = Y, .write = &p.y, .whole = !add}};
    const ftb_backend *who = FTB_WHO(p.ctx, dropout);
    GrB_Info info;
    FTB_RUN(info, who, dropout, places, &p);
    return info;
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    FtB_Block x = c->in[0];
    GrB_Info info = GrB_SUCCESS;
    if (!x) { /* entries without values count as 1 */
        info = ftb_block_fill(c->out, 1);
        x = c->out;
    }
    if (info == GrB_SUCCESS && c->training)
        info = run(c, c->out, x, ((const dropout *)n->state)->probability, false);
    else if (info == GrB_SUCCESS && !ftb_block_same(x, c->out))
        info = ftb_columns_copy(c->out, 0, x, 0, x->ncols, false);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const dropout *d = n->state;
    return run(c, c->din[0], c->dout, d->probability, c->add[0]);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "dropout %g", ((const dropout *)n->state)->probability);
}

static const ftb_nn_op op = {.name = "dropout",
                             .flags = FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE | FTB_NN_RANDOM,
                             .forward = forward,
                             .gradient = gradient,
                             .print = print};

FtB_Var FtB_dropout(FtB_Var x, double probability)
{
    const ftb_nn_node *in = ftb_var(x, "FtB_dropout", "x");
    if (!in)
        return ftb_var_lost(x);
    if (!(probability >= 0 && probability <= 1 - 0x1p-16))
        return ftb_var_failed(
            x.tape,
            ftb_fail(GrB_INVALID_VALUE, "FtB_dropout: probability is %g; expected 0 <= p < 1", probability));
    if (probability == 0 || x.tape->inference)
        return x;
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, in->nrows, in->ncols, sizeof(dropout));
    if (!n)
        return ftb_var_lost(x);
    ((dropout *)n->state)->probability = probability;
    return ftb_node_like(n, in);
}
