/* y(i, h) = dot(x(i, h, :), a(h, :)): half of an attention score for each row and head.
 *
 *     dx(i, h, :) = dy(i, h) a(h, :),   da(h, :) = sum over i of dy(i, h) x(i, h, :)
 *
 * The sum goes over parts of the rows that depend on their number alone, so that bits do not depend on
 * threads. */
#include "cpu/kernels/head_dots.h"
#include "nn/layers/layer.h"
#include "nn/norm.h"
#include "ops/merge.h"

static ftb_head_dots_job dots_of(const ftb_nn_node *n, const ftb_nn_call *c, FtB_Block y)
{
    const FtB_Block x = c->in[0];
    return (ftb_head_dots_job){.heads = n->ncols,
                               .width = ftb_node_in(n, 0)->ncols / n->ncols,
                               .x = x ? ftb_block_data(x) : NULL,
                               .ldx = x ? x->ld : 0,
                               .a = c->in[1] ? ftb_block_data(c->in[1]) : NULL,
                               .y = ftb_block_data(y),
                               .ldy = y->ld,
                               .dx = c->din[0] ? ftb_block_data(c->din[0]) : NULL,
                               .lddx = c->din[0] ? c->din[0]->ld : 0,
                               .add = c->add[0]};
}

static void each(void (*kernel)(const ftb_head_dots_job *d, int64_t first, int64_t last),
                 const ftb_head_dots_job *d, int64_t nrows, FtB_Context ctx)
{
    int64_t parts = ftb_norm_count(nrows);
#pragma omp parallel for schedule(static)                                                                    \
    num_threads(ftb_threads_for_values(ctx, nrows * d->heads * d->width))
    for (int64_t p = 0; p < parts; p++)
        kernel(d, ftb_norm_cut(nrows, p), ftb_norm_cut(nrows, p + 1));
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const ftb_head_dots_job d = dots_of(n, c, c->out);
    each(FTB_PICK_REAL(ftb_head_dots, n->type), &d, n->nrows, c->ctx);
    return GrB_SUCCESS;
}

static GrB_Info gradient_of_a(const ftb_nn_node *n, const ftb_nn_call *c, const ftb_head_dots_job *d)
{
    int64_t parts = ftb_norm_count(n->nrows), values = d->heads * d->width;
    double *sums = ftb_new0(c->ctx, 2 * parts * values, sizeof *sums); /* and scratch */
    if (!sums)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(c->ctx, n->nrows *values))
    for (int64_t p = 0; p < parts; p++)
        FTB_PICK_REAL(ftb_head_dots_da, n->type)
    (d, ftb_norm_cut(n->nrows, p), ftb_norm_cut(n->nrows, p + 1), sums + 2 * p * values,
     sums + (2 * p + 1) * values);
    for (int64_t p = 1; p < parts; p++)
        for (int64_t k = 0; k < values; k++)
            sums[k] += sums[2 * p * values + k];
    ftb_norm_put(c->din[1], sums, c->add[1]);
    ftb_delete(sums);
    return GrB_SUCCESS;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const ftb_head_dots_job d = dots_of(n, c, c->dout);
    GrB_Info info = c->din[1] ? gradient_of_a(n, c, &d) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && c->din[0])
        each(FTB_PICK_REAL(ftb_head_dots_dx, n->type), &d, n->nrows, c->ctx);
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
    FtB_Tape tape = ftb_var_tape(x, a);
    const ftb_nn_node *nx = ftb_var_of(tape, x, "head_dots", "x"),
                      *na = ftb_var_of(tape, a, "head_dots", "a");
    if (!nx || !na)
        return (FtB_Var){tape, -1};
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
