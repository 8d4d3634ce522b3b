/* Y(i,:) = sum over j of softmax_j(score(i, j)) v(j,:), head by head.
 *
 * Where the score is dot(src, dst), times a number, or leaky_relu(src + dst) of one value per head, and
 * nothing else has a part in it, this is FtB_attention, which stores nothing per entry but is given
 * log-sum-exps of rows for the gradient. Other texts are four nodes: messages on edges, softmax, dropout, a
 * product. Velickovic et al., "Graph attention networks", ICLR 2018. */
#include "nn/multiply.h"
#include "ops/attention.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_attend

static const char call_name[] = "FtB_attend";

typedef struct attend {
    FtB_Semiring semiring;
    FtB_Matrix A;
    double dropout;
} attend;

enum { DST, SRC, VALUES, INPUTS }; /* inputs of the node */

static FtB_Attention_options options_of(const attend *a, const ftb_nn_call *c)
{
    return (FtB_Attention_options){.size = sizeof(FtB_Attention_options),
                                   .dropout = c->training ? a->dropout : 0,
                                   .seed = c->seed,
                                   .lse = c->extra};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const attend *a = n->state;
    const FtB_Attention_options options = options_of(a, c);
    return ftb_attention_seeded(c->seed_at, FTB_ARG(c->out), FTB_ARG(a->A), FtB_Arg_none(),
                                FTB_ARG(a->semiring), FTB_ARG(c->in[DST]), FTB_ARG(c->in[SRC]),
                                FTB_ARG(c->in[VALUES]), &options, FtB_Arg_none());
}

/* FtB_attention_grad replaces what outputs hold; what is to be added is computed aside. */
static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const attend *a = n->state;
    const FtB_Attention_options options = options_of(a, c);
    FtB_Block to[INPUTS] = {NULL}, aside[INPUTS] = {NULL};
    GrB_Info info = GrB_SUCCESS;
    for (int k = 0; k < INPUTS && info == GrB_SUCCESS; k++) {
        FtB_Block din = c->din[k];
        if (din && c->add[k])
            info = FtB_Block_new(&aside[k], din->nrows, din->ncols, din->type);
        to[k] = aside[k] ? aside[k] : din;
    }
    if (info == GrB_SUCCESS)
        info = ftb_attention_grad_seeded(c->seed_at, FTB_ARG(to[DST]), FTB_ARG(to[SRC]), FTB_ARG(to[VALUES]),
                                         FTB_ARG(c->dout), FTB_ARG(a->A), FTB_ARG(a->semiring),
                                         FTB_ARG(c->in[DST]), FTB_ARG(c->in[SRC]), FTB_ARG(c->in[VALUES]),
                                         FTB_ARG(c->out), &options, FtB_Arg_none());
    for (int k = 0; k < INPUTS; k++) {
        if (aside[k] && info == GrB_SUCCESS)
            info = FtB_apply(c->din[k], NULL, ftb_plus_if(true, c->din[k]), "x", aside[k], NULL);
        FtB_Block_free(&aside[k]);
    }
    return info;
}

static void clear(ftb_nn_node *n)
{
    attend *a = n->state;
    FtB_Semiring_free(&a->semiring);
    FtB_Matrix_free(&a->A);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    const attend *a = n->state;
    const ftb_pattern *p = a->A->pattern;
    fprintf(file, "attention, softmax by row of %s, times values; %lld x %lld, %lld entries, %lld heads",
            a->semiring->text, (long long)p->nrows, (long long)p->ncols, (long long)p->nvals,
            (long long)n->heads);
}

static const ftb_nn_op op = {.name = "attend",
                             .flags = FTB_NN_NEEDS_IN | FTB_NN_NEEDS_OUT,
                             .forward = forward,
                             .gradient = gradient,
                             .print = print,
                             .clear = clear};

/* ---- recording */

/* What a call is about. */
typedef struct call {
    ftb_nn_operands scores; /* without the values */
    const ftb_nn_node *values;
    FtB_Semiring semiring;
    FtB_Matrix A;
    ftb_nn_shape shape;
    double dropout;
} call;

static GrB_Info check_values(const call *c, const ftb_nn_node *v)
{
    char shape[80];
    int64_t heads = c->shape.heads;
    if (v->graph || v->nrows != c->A->pattern->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "operand 'values' is %s; expected %lld dense rows",
                        ftb_node_shape(v, shape, sizeof shape), (long long)c->A->pattern->ncols);
    if (c->shape.ncols != heads)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "score: %lld values on each entry, of %lld heads; expected one per head",
                        (long long)c->shape.ncols, (long long)heads);
    if (heads != 1 && v->heads != heads)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "operand 'values' has %lld heads, the score has %lld; expected as many (FtB_heads)",
                        (long long)v->heads, (long long)heads);
    return GrB_SUCCESS;
}

static GrB_Info check_rows(const call *c)
{
    char shape[80];
    const ftb_nn_operands *o = &c->scores;
    const ftb_pattern *p = c->A->pattern;
    const int at[2] = {o->src, o->dst};
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "dst" : "src";
        int64_t nrows = k ? p->nrows : p->ncols;
        if (at[k] < 0)
            return ftb_fail(GrB_NULL_POINTER, "operand '%s' is missing", name);
        const ftb_nn_node *n = o->tape->nodes[o->in[at[k]]];
        if (n->graph || n->nrows != nrows)
            return ftb_fail(GrB_DIMENSION_MISMATCH, "operand '%s' is %s; expected %lld dense rows", name,
                            ftb_node_shape(n, shape, sizeof shape), (long long)nrows);
    }
    return GrB_SUCCESS;
}

/* Takes the values out of the list; NULL and a message if there are none. */
static const ftb_nn_node *take_values(ftb_nn_operands *o)
{
    for (int k = 0; k < o->count; k++) {
        if (strcmp(o->name[k], "values") != 0)
            continue;
        const ftb_nn_node *values = o->tape->nodes[o->in[k]];
        o->count--;
        memmove(o->in + k, o->in + k + 1, (size_t)(o->count - k) * sizeof *o->in);
        memmove(o->name + k, o->name + k + 1, (size_t)(o->count - k) * sizeof *o->name);
        o->src -= o->src > k;
        o->dst -= o->dst > k;
        o->edge -= o->edge > k;
        return values;
    }
    ftb_fail(GrB_NULL_POINTER, "operand 'values' is missing");
    return NULL;
}

/* Values of entries are divided among the heads of the call, the values' too: where src and dst have one, it
 * becomes one of as many. */
static GrB_Info share_heads(call *c)
{
    ftb_nn_operands *o = &c->scores;
    int64_t edges = o->edge >= 0 ? o->tape->nodes[o->in[o->edge]]->ncols : c->A->width, heads = 1;
    for (int k = 0; k < o->count; k++)
        if (k != o->edge)
            heads = ftb_max(heads, o->tape->nodes[o->in[k]]->heads);
    if (heads > 1 || edges <= 1 || c->values->heads == 1)
        return GrB_SUCCESS;
    const FtB_Var src = ftb_node_var(o->tape->nodes[o->in[o->src]]);
    FtB_Var all = src;
    for (int64_t h = 1; h < c->values->heads; h++)
        all = FtB_concat(all, src);
    all = FtB_heads(all, c->values->heads);
    o->in[o->src] = all.node;
    return FtB_Tape_status(o->tape);
}

static GrB_Info read(call *c, FtB_Arg score)
{
    c->values = take_values(&c->scores);
    GrB_Info info = c->values ? ftb_arg_matrix(&c->A, FTB_ARG(c->A), "A", false) : GrB_NULL_POINTER;
    if (info == GrB_SUCCESS && !(c->dropout >= 0 && c->dropout < 1))
        info = ftb_fail(GrB_INVALID_VALUE, "dropout is %g; expected 0 <= p < 1", c->dropout);
    if (info == GrB_SUCCESS)
        info = ftb_arg_semiring(&c->semiring, score, "score");
    if (info == GrB_SUCCESS)
        info = check_rows(c);
    if (info == GrB_SUCCESS)
        info = share_heads(c);
    if (info == GrB_SUCCESS)
        info = ftb_nn_message_shape(&c->shape, c->semiring, &c->scores, c->A, false, true);
    return info == GrB_SUCCESS ? check_values(c, c->values) : info;
}

#define SHORT_ROWS 16 /* entries, on average: what the fused kernels take in one step */

/* Whether one node does it: its gradient is known, and rows fill its steps. Weights of short rows take no
 * more than a few times the operands' memory, and their kernels work on all heads and entries alike (Cora, 8
 * heads of 8: an epoch took 17 ms fused, 5 ms in stages). */
static bool is_fused(const call *c)
{
    const ftb_nn_operands *o = &c->scores;
    if (c->A->pattern->nvals < SHORT_ROWS * c->A->pattern->nrows)
        return false;
    for (int k = 0; k < o->count; k++)
        if (o->tape->nodes[o->in[k]]->heads != c->shape.heads)
            return false;
    return c->shape.known_score && o->count == 2 && c->values->heads == c->shape.heads;
}

static FtB_Var fused(call *c)
{
    const ftb_nn_operands *o = &c->scores;
    const int64_t in[INPUTS] = {[DST] = o->in[o->dst], [SRC] = o->in[o->src], [VALUES] = c->values->number};
    ftb_nn_node *n =
        ftb_node_new(o->tape, &op, in, INPUTS, c->A->pattern->nrows, c->values->ncols, sizeof(attend));
    if (!n)
        return (FtB_Var){o->tape, -1};
    attend *a = n->state;
    n->heads = c->shape.heads;
    n->constant &= c->dropout == 0;
    a->dropout = o->tape->inference ? 0 : c->dropout;
    if (n->gradient) {
        n->extra_rows = n->nrows;
        n->extra_cols = n->heads;
        n->extra_type = n->type;
    }
    a->semiring = c->semiring;
    c->semiring = NULL;
    ftb_watch_matrix(&n->values, c->A);
    GrB_Info info = ftb_matrix_share(&a->A, c->A);
    return info == GrB_SUCCESS ? ftb_node_var(n) : ftb_var_failed(o->tape, info);
}

static FtB_Var staged(const call *c)
{
    const ftb_nn_operands *o = &c->scores;
    FtB_Operand list[FTB_NN_INPUTS];
    for (int k = 0; k < o->count; k++)
        list[k] = (FtB_Operand){o->name[k], {o->tape, o->in[k]}};
    FtB_Var e = (FtB_on_edges)(FTB_ARG(c->semiring), c->A, list, (size_t)o->count);
    e = FtB_dropout(FtB_edge_softmax(e, FTB_BY_ROW), c->dropout);
    return FtB_multiply("plus : edge * src", c->A, FTB_OPERAND("edge", e),
                        FTB_OPERAND("src", ftb_node_var(c->values)));
}

FtB_Var FtB_attend(FtB_Arg score, FtB_Matrix A, double dropout, const FtB_Operand *operands, size_t count)
{
    call c = {.A = A, .dropout = dropout};
    if (!ftb_nn_operands_read(&c.scores, call_name, operands, count))
        return (FtB_Var){c.scores.tape, -1};
    GrB_Info info = read(&c, score);
    FtB_Var y;
    if (info != GrB_SUCCESS)
        y = ftb_var_failed(c.scores.tape, ftb_wrap_error(info, "%s: ", call_name));
    else
        y = is_fused(&c) ? fused(&c) : staged(&c);
    FtB_Semiring_free(&c.semiring);
    return y;
}
