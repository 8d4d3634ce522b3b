/* The first rows of a sparse variable: Y = X(0 .. count - 1, :), whose entries are X's first. What a layer's
 * targets are where they are the first of its sources and features are sparse. */
#include "nn/layers/layer.h"
#include "nn/shape.h"

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    (void)n;
    if (!c->in[0]) /* entries without values count as 1 */
        return ftb_block_fill(c->out, 1);
    struct FtB_Block_opaque first = *c->in[0];
    first.nrows = c->out->nrows;
    return ftb_columns_copy(c->out, 0, &first, 0, 1, false);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "the first %lld of %lld rows", (long long)n->nrows, (long long)ftb_node_in(n, 0)->nrows);
}

static const ftb_nn_op op = {.name = "rows", .forward = forward, .print = print};

/* A matrix of the pattern's first rows, for its pattern alone. */
static GrB_Info first_rows(FtB_Matrix *A, const FtB_Matrix X, int64_t count)
{
    ftb_pattern *p = X->pattern,
                *q = ftb_pattern_new(p->ctx, count, p->ncols, ftb_buffer_retain(p->rowptr_owner),
                                     ftb_buffer_retain(p->colidx_owner));
    if (!q)
        return ftb_nomem();
    q->multi = p->multi;
    return ftb_matrix_make(A, X->ctx, X->type, 0, q, NULL);
}

FtB_Var ftb_sparse_rows(FtB_Var x, int64_t count)
{
    const ftb_nn_node *in = x.tape->nodes[x.node];
    FtB_Matrix A;
    GrB_Info info = first_rows(&A, in->graph, count);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(x.tape, info);
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, count, in->ncols, 0);
    if (n && ftb_node_on_edges(n, A) == GrB_SUCCESS)
        n->sparse = true;
    FtB_Matrix_free(&A);
    return n && n->sparse ? ftb_node_var(n) : ftb_var_lost(x);
}
