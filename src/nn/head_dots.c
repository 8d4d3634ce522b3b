/* y(i, h) = dot(x(i, h, :), a(h, :)): half of an attention score for each row and head.
 *
 *     dx(i, h, :) = dy(i, h) a(h, :),   da(h, :) = sum over i of dy(i, h) x(i, h, :)
 *
 * As dense products with the block-diagonal matrix D, columns of x by heads, that holds a(h, :) in its column
 * h: CBLAS makes more multiplications than needed, but of a kind that hardly counts beside reading x.
 */
#include "nn/layer.h"

/* D of a. */
static GrB_Info diagonal(FtB_Block *D, FtB_Block a, int64_t heads)
{
    size_t size = FtB_Type_size(a->type);
    int64_t width = a->ncols / heads;
    GrB_Info info = FtB_Block_new(D, a->ncols, heads, a->type);
    for (int64_t k = 0; info == GrB_SUCCESS && k < a->ncols; k++)
        memcpy((char *)(*D)->data + (size_t)(k * heads + k / width) * size,
               (const char *)a->data + (size_t)k * size, size);
    return info;
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    FtB_Block D = NULL;
    GrB_Info info = diagonal(&D, c->in[1], n->ncols);
    if (info == GrB_SUCCESS)
        info = ftb_dense_multiply(FTB_AB, c->out, c->in[0], D, false, c->ctx);
    FtB_Block_free(&D);
    return info;
}

/* da = (add ? da : 0) + what x' dy has where D is not zero. */
static GrB_Info weights(FtB_Block da, const ftb_nn_call *c, int64_t heads)
{
    FtB_Block D = NULL;
    int64_t width = da->ncols / heads;
    GrB_Info info = FtB_Block_new(&D, da->ncols, heads, da->type);
    if (info == GrB_SUCCESS)
        info = ftb_dense_multiply(FTB_ATB, D, c->in[0], c->dout, false, c->ctx);
    for (int64_t k = 0; info == GrB_SUCCESS && k < da->ncols; k++)
        if (da->type == FTB_FP32)
            ((float *)da->data)[k] = ((const float *)D->data)[k * heads + k / width] +
                                     (c->add[1] ? ((const float *)da->data)[k] : 0);
        else
            ((double *)da->data)[k] = ((const double *)D->data)[k * heads + k / width] +
                                      (c->add[1] ? ((const double *)da->data)[k] : 0);
    FtB_Block_free(&D);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    FtB_Block D = NULL;
    GrB_Info info = c->din[1] ? weights(c->din[1], c, n->ncols) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && c->din[0])
        info = diagonal(&D, c->in[1], n->ncols);
    if (info == GrB_SUCCESS && c->din[0])
        info = ftb_dense_multiply(FTB_ABT, c->din[0], c->dout, D, c->add[0], c->ctx);
    FtB_Block_free(&D);
    return info;
}

static bool needs(const ftb_nn_node *n, int k) { return ftb_node_in(n, 1 - k)->gradient; }

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "dot(x, a) of %lld rows and %lld heads", (long long)n->nrows, (long long)n->ncols);
}

static const ftb_nn_op op = {.name = "head_dots",
                             .flags = FTB_NN_NEEDS_IN,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print};

FtB_Var ftb_head_dots(FtB_Var x, FtB_Var a, int64_t heads)
{
    x = FtB_heads(x, heads);
    a = FtB_heads(a, heads);
    const ftb_nn_node *nx = ftb_var(x, "head_dots", "x"), *na = nx ? ftb_var(a, "head_dots", "a") : NULL;
    if (!na)
        return ftb_var_lost(x);
    char shape[2][80];
    if (na->nrows != 1 || na->ncols != nx->ncols || na->type != nx->type)
        return ftb_var_failed(x.tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                                               "x is %s, a is %s; expected one row of x's columns and dtype",
                                               ftb_node_shape(nx, shape[0], sizeof shape[0]),
                                               ftb_node_shape(na, shape[1], sizeof shape[1])));
    const int64_t in[2] = {x.node, a.node};
    ftb_nn_node *n = ftb_node_new(x.tape, &op, in, 2, nx->nrows, heads, 0);
    if (!n)
        return ftb_var_lost(x);
    n->heads = heads;
    return ftb_node_var(n);
}
