/* Y(i,:) = expression over rows i of the operands, per head; gradients by ftb_gradient (expr/rewrite.h).
 *
 * Rows go through the expression in tiles that stay in L1. The gradient of an operand of one row is summed
 * over rows, that of one head for all over heads: in FP64, in parts that depend on the number of rows alone.
 */
#include "expr/rewrite.h"
#include "nn/multiply.h"
#include "nn/shape.h"
#include "ops/vertices.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_map

typedef struct map {
    char name[FTB_NN_INPUTS][FTB_NAME_LENGTH]; /* of the inputs */
    ftb_expr *expr;
    ftb_program *forward, *gradient[FTB_NN_INPUTS]; /* NULL: not wanted, or the text does not use the input */
    unsigned reads;                                 /* bit k: gradients that are wanted read input k */
} map;

/* ---- operands as feeds */

static void add_feed(ftb_message *m, const char *name, ftb_side side, const ftb_nn_node *x, FtB_Block X)
{
    ftb_feed *feed = &m->feeds[m->nfeeds++];
    *feed = (ftb_feed){.side = side,
                       .type = x->type,
                       .nrows = x->nrows,
                       .ld = X ? X->ld : x->ncols,
                       .heads = x->heads,
                       .width = x->ncols / x->heads,
                       .offset = X ? X->offset : 0,
                       .owner = X ? X->owner : NULL};
    snprintf(feed->name, sizeof feed->name, "%s", name);
}

/* The message of n's expression; c: with the values of a run, and dout as "grad" if there is one. */
static void describe(ftb_message *m, const ftb_nn_node *n, const ftb_nn_call *c, bool grad)
{
    const map *a = n->state;
    *m = (ftb_message){.ctx = n->tape->ctx, .expr = a->expr, .heads = n->heads};
    for (int k = 0; k < n->nin; k++) {
        const ftb_nn_node *x = ftb_node_in(n, k);
        add_feed(m, a->name[k], x->nrows == n->nrows ? FTB_SIDE_ROW : FTB_SIDE_NONE, x, c ? c->in[k] : NULL);
    }
    if (grad)
        add_feed(m, "grad", FTB_SIDE_ROW, n, c ? c->dout : NULL);
}

/* ---- running */

/* Y = program over the rows of m's feeds; summed, where Y has one row for them all. */
static GrB_Info run(ftb_message *m, const ftb_program *program, int64_t nrows, FtB_Block Y, bool add,
                    int64_t fold)
{
    const ftb_map_rows_product p = {.program = program,
                                    .side = FTB_SIDE_ROW,
                                    .nrows = nrows,
                                    .fold = fold,
                                    .sum = Y->nrows != nrows,
                                    .add = add};
    return ftb_map_rows(Y, FTB_WHO(m->ctx, map_rows), m, &p);
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const map *a = n->state;
    ftb_message m;
    describe(&m, n, c, false);
    return run(&m, a->forward, n->nrows, c->out, false, 1);
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const map *a = n->state;
    ftb_message m;
    GrB_Info info = GrB_SUCCESS;
    describe(&m, n, c, true);
    for (int k = n->nin - 1; k >= 0 && info == GrB_SUCCESS; k--) {
        const ftb_nn_node *x = ftb_node_in(n, k);
        int64_t fold = x->heads == 1 ? n->heads : 1;
        if (!c->din[k])
            continue;
        if (!a->gradient[k]) { /* the text does not use it */
            if (!c->add[k])
                info = ftb_block_fill(c->din[k], 0);
        } else {
            info = run(&m, a->gradient[k], n->nrows, c->din[k], c->add[k], fold);
        }
    }
    return info;
}

static bool needs(const ftb_nn_node *n, int k) { return (((const map *)n->state)->reads >> k & 1) != 0; }

static void clear(ftb_nn_node *n)
{
    map *a = n->state;
    ftb_expr_release(a->expr);
    ftb_program_delete(a->forward);
    for (int k = 0; k < FTB_NN_INPUTS; k++)
        ftb_program_delete(a->gradient[k]);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "%s, %lld rows", ftb_expr_text(((const map *)n->state)->expr), (long long)n->nrows);
}

static const ftb_nn_op op = {.name = "map",
                             .flags = FTB_NN_NEEDS_IN | FTB_NN_IN_PLACE,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print,
                             .clear = clear};

/* ---- recording */

static bool name_is_free(const char *name)
{
    return strcmp(name, "grad") != 0 && strcmp(name, "saved") != 0 && strcmp(name, "di") != 0;
}

/* The first operand gives rows; the heads are those of the operands that have some. */
static GrB_Info check(const ftb_nn_operands *o, int64_t *heads)
{
    char shape[2][80];
    const ftb_nn_node *first = o->tape->nodes[o->in[0]];
    for (int k = 0; k < o->count; k++) {
        const ftb_nn_node *x = o->tape->nodes[o->in[k]];
        bool rows = x->nrows == first->nrows || (x->nrows == 1 && !x->graph);
        bool place = x->graph ? first->graph && first->graph->pattern == x->graph->pattern
                              : !first->graph || x->nrows == 1;
        if (x->sparse || !rows || !place)
            return ftb_fail(GrB_DIMENSION_MISMATCH,
                            "FtB_map: '%s' is %s, '%s' is %s; expected as many rows, or one for all",
                            o->name[0], ftb_node_shape(first, shape[0], sizeof shape[0]), o->name[k],
                            ftb_node_shape(x, shape[1], sizeof shape[1]));
        if (x->heads > 1 && *heads > 1 && x->heads != *heads)
            return ftb_fail(GrB_DIMENSION_MISMATCH, "FtB_map: '%s' has %lld heads, others have %lld",
                            o->name[k], (long long)x->heads, (long long)*heads);
        if (x->ncols == 0)
            return ftb_fail(GrB_DIMENSION_MISMATCH, "FtB_map: '%s' has no columns", o->name[k]);
        if (!name_is_free(o->name[k]))
            return ftb_fail(GrB_INVALID_VALUE, "FtB_map: no operand can be named '%s': gradients use it",
                            o->name[k]);
        *heads = ftb_max(*heads, x->heads);
    }
    return GrB_SUCCESS;
}

/* The program of what goes to operand k, and what it reads. */
static GrB_Info differentiate(ftb_nn_node *n, int k)
{
    map *a = n->state;
    ftb_message m;
    ftb_derivative d;
    describe(&m, n, NULL, false);
    GrB_Info info = ftb_gradient(&d, &m, a->name[k]);
    if (info != GrB_SUCCESS)
        return info;
    describe(&m, n, NULL, true);
    if (d.expr)
        info = ftb_message_program(&a->gradient[k], &m, d.expr);
    for (int j = 0; d.expr && j < n->nin; j++)
        if (ftb_expr_uses(d.expr, a->name[j]))
            a->reads |= 1u << j;
    ftb_derivative_clear(&d);
    return info;
}

static GrB_Info compile(ftb_nn_node *n, const char *text)
{
    map *a = n->state;
    ftb_message m;
    GrB_Info info = ftb_expr_parse(&a->expr, n->tape->ctx, text, "FtB_map", 0);
    if (info != GrB_SUCCESS)
        return info;
    describe(&m, n, NULL, false);
    info = ftb_message_program(&a->forward, &m, a->expr);
    if (info != GrB_SUCCESS)
        return info;
    n->ncols = n->heads * ftb_program_width(a->forward);
    for (int k = 0; k < n->nin && info == GrB_SUCCESS; k++)
        if (ftb_node_in(n, k)->gradient)
            info = differentiate(n, k);
    return info;
}

FtB_Var FtB_map(const char *text, const FtB_Operand *operands, size_t count)
{
    ftb_nn_operands o;
    int64_t heads = 1;
    if (!ftb_nn_operands_read(&o, "FtB_map", operands, count))
        return (FtB_Var){o.tape, -1};
    GrB_Info info = text ? check(&o, &heads) : ftb_fail(GrB_NULL_POINTER, "FtB_map: text is NULL");
    if (info != GrB_SUCCESS)
        return ftb_var_failed(o.tape, info);
    const ftb_nn_node *first = o.tape->nodes[o.in[0]];
    ftb_nn_node *n = ftb_node_new(o.tape, &op, o.in, o.count, first->nrows, first->ncols, sizeof(map));
    if (!n)
        return (FtB_Var){o.tape, -1};
    map *a = n->state;
    memcpy(a->name, o.name, sizeof a->name);
    n->heads = heads;
    info = compile(n, text);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(o.tape, info);
    if (first->graph && ftb_node_on_edges(n, first->graph) != GrB_SUCCESS)
        return (FtB_Var){o.tape, -1};
    return ftb_node_var(n);
}
