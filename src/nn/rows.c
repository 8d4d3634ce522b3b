/* Y(t,:) = X(rows[t],:). dX(i,:) is the sum of dY(t,:) over t with rows[t] = i, in their order. */
#include "core/words.h"
#include "nn/shape.h"

typedef struct rows {
    int64_t *at; /* as many as the node has rows */
    bool first;  /* these are 0, 1, 2 ... */
} rows;

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    return FtB_gather(c->out, c->in[0], ((const rows *)n->state)->at, n->nrows);
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    GrB_Info info = c->add[0] ? GrB_SUCCESS : ftb_block_fill(c->din[0], 0);
    return info == GrB_SUCCESS
               ? FtB_scatter(c->din[0], "x + y", c->dout, ((const rows *)n->state)->at, n->nrows)
               : info;
}

static void clear(ftb_nn_node *n) { ftb_delete(((rows *)n->state)->at); }

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "%lld of %lld rows", (long long)n->nrows, (long long)ftb_node_in(n, 0)->nrows);
}

static const ftb_nn_op op = {
    .name = "rows", .forward = forward, .gradient = gradient, .print = print, .clear = clear};

bool ftb_rows_are_first(const ftb_nn_node *n) { return n->op == &op && ((const rows *)n->state)->first; }

static GrB_Info check(const ftb_nn_node *x, const int64_t *at, int64_t count)
{
    if (count < 0)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_rows: count is %lld; expected >= 0", (long long)count);
    if (!at && count > 0)
        return ftb_fail(GrB_NULL_POINTER, "FtB_rows: rows is NULL; expected %lld numbers", (long long)count);
    char below[FTB_WORDS];
    for (int64_t t = 0; t < count; t++)
        if (at[t] < 0 || at[t] >= x->nrows)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "FtB_rows: rows[%lld] is %lld; expected %s",
                            (long long)t, (long long)at[t], ftb_below_text(below, x->nrows));
    return GrB_SUCCESS;
}

FtB_Var FtB_rows(FtB_Var x, const int64_t *at, int64_t count)
{
    const ftb_nn_node *in = ftb_var_dense(x, "FtB_rows", "x");
    GrB_Info info = in ? check(in, at, count) : GrB_SUCCESS;
    if (!in || info != GrB_SUCCESS)
        return in ? ftb_var_failed(x.tape, info) : ftb_var_lost(x);
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, count, in->ncols, sizeof(rows));
    if (!n)
        return ftb_var_lost(x);
    rows *r = n->state;
    r->at = ftb_new(x.tape->ctx, count, sizeof *at);
    if (!r->at)
        return ftb_var_failed(x.tape, ftb_nomem());
    r->first = true;
    for (int64_t t = 0; t < count; t++) {
        r->at[t] = at[t];
        r->first &= at[t] == t;
    }
    return ftb_node_like(n, in);
}
