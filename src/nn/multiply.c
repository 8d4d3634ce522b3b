/* Y = A (x) src over a semiring, and messages on edges: FtB_mxm, with gradients from FtB_mxm_grad.
 *
 * Operands are inputs in the order of the caller's list; those that are not src, dst or edge are bound to the
 * semiring before each run in which their memory has moved. */
#include "nn/multiply.h"
#include "nn/shape.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_multiply
#undef FtB_multiply_transposed
#undef FtB_on_edges

typedef struct multiply {
    FtB_Semiring semiring, bound; /* bound: to the blocks below */
    FtB_Matrix A;
    bool transposed, on_edges;
    bool itself;        /* gradients are products of the same kind: sum_gradient */
    int src, dst, edge; /* inputs; -1: none */
    char name[FTB_NN_INPUTS][FTB_NAME_LENGTH];
    const void *memory[FTB_NN_INPUTS]; /* that bound was made for */
    unsigned reads;                    /* bit k: the gradient reads input k */
} multiply;

static bool is_free(const multiply *m, int k) { return k != m->src && k != m->dst && k != m->edge; }

/* The semiring with what the text may name beside src and edge. */
static GrB_Info bind(multiply *m, const ftb_nn_node *n, const ftb_nn_call *c)
{
    FtB_Binding bindings[FTB_NN_INPUTS];
    size_t count = 0;
    bool moved = !m->bound;
    for (int k = 0; k < n->nin; k++) {
        if (!is_free(m, k) && (k != m->dst || m->on_edges))
            continue;
        moved |= m->memory[k] != ftb_block_address(c->in[k]);
        m->memory[k] = ftb_block_address(c->in[k]);
        bindings[count++] = (FtB_Binding){m->name[k], FTB_ARG(c->in[k])};
    }
    if (count == 0 || !moved)
        return GrB_SUCCESS;
    FtB_Semiring_free(&m->bound);
    return (FtB_Semiring_bind)(&m->bound, m->semiring, bindings, count);
}

static FtB_Matrix matrix_of(const multiply *m, const ftb_nn_call *c)
{
    return m->edge >= 0 ? c->in_edges[m->edge] : m->A;
}

/* A product on edges that could not be written in place came with memory of its own: back to where it
 * belongs. */
static GrB_Info settle(GrB_Info info, FtB_Matrix edges, FtB_Block values)
{
    if (info != GrB_SUCCESS || edges->values == values->owner)
        return info;
    struct FtB_Block_opaque own = *values;
    own.owner = edges->values;
    own.offset = 0;
    info = ftb_columns_copy(values, 0, &own, 0, values->ncols, false);
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer_release(edges->values);
    edges->values = ftb_buffer_retain(values->owner);
    return info;
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    multiply *m = n->state;
    GrB_Info info = bind(m, n, c);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Semiring s = m->bound ? m->bound : m->semiring;
    FtB_Descriptor desc = m->transposed ? FTB_DESC_T0 : NULL;
    if (m->on_edges)
        return settle(
            FtB_mxm(c->out_edges, matrix_of(m, c), NULL, s, c->in[m->dst], c->in[m->src], FTB_DESC_RST1),
            c->out_edges, c->out);
    if (c->extra)
        return FtB_mxm_arg(c->out, c->extra, NULL, s, matrix_of(m, c), c->in[m->src], desc);
    return FtB_mxm(c->out, NULL, NULL, s, matrix_of(m, c), c->in[m->src], desc);
}

/* Whether a text is the sum of sources, or of sources times the edges' values. */
static bool is_sum(const char *text)
{
    static const char *const sums[] = {"plus:src", "plus:b", "plus:src*edge", "plus:edge*src", "plus:a*b"};
    char plain[16];
    size_t length = 0;
    for (; *text && length + 1 < sizeof plain; text++)
        if (*text != ' ')
            plain[length++] = *text;
    plain[length] = '\0';
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        if (!*text && strcmp(plain, sums[k]) == 0)
            return true;
    return false;
}

/* d src = A' dY; d edge(e, h) = dot(dY(i, h, :), src(j, h, :)). */
static GrB_Info sum_gradient(const multiply *m, const ftb_nn_call *c)
{
    FtB_Block dsrc = c->din[m->src];
    FtB_Matrix dedge = m->edge >= 0 ? c->din_edges[m->edge] : NULL;
    GrB_Info info = GrB_SUCCESS;
    if (dedge)
        info = settle(FtB_mxm(dedge, m->A, NULL, FTB_PLUS_DOT, c->dout, c->in[m->src], FTB_DESC_RST1), dedge,
                      c->din[m->edge]);
    if (info == GrB_SUCCESS && dsrc)
        info = FtB_mxm(dsrc, NULL, ftb_plus_if(c->add[m->src], dsrc), m->semiring, matrix_of(m, c), c->dout,
                       m->transposed ? NULL : FTB_DESC_T0);
    return info;
}

/* Whether sum_gradient can do it: values of edges that are learned are one per head, and not added to. */
static bool sums_plainly(const ftb_nn_node *n, const multiply *m, const char *text, const ftb_nn_shape *shape)
{
    const ftb_nn_node *edge = m->edge >= 0 ? ftb_node_in(n, m->edge) : NULL;
    return !m->on_edges && is_sum(text) &&
           (!edge || !edge->gradient || (!m->transposed && edge->ncols == shape->heads));
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    multiply *m = n->state;
    if (m->itself && !(m->edge >= 0 && c->add[m->edge]))
        return sum_gradient(m, c);
    FtB_Gradient wanted[FTB_NN_INPUTS];
    size_t count = 0;
    GrB_Info info = bind(m, n, c);
    if (info != GrB_SUCCESS)
        return info;
    for (int k = n->nin - 1; k >= 0; k--)
        if (c->din[k])
            wanted[count++] = (FtB_Gradient){
                m->name[k], k == m->edge ? FTB_ARG(c->din_edges[k]) : FTB_ARG(c->din[k]), c->add[k]};
    FtB_Semiring s = m->bound ? m->bound : m->semiring;
    if (m->on_edges)
        return (FtB_mxm_grad)(FTB_ARG(c->dout_edges), FTB_ARG(s), FTB_ARG(c->in[m->dst]),
                              FTB_ARG(c->in[m->src]), FTB_ARG(matrix_of(m, c)), FtB_Arg_none(), wanted, count,
                              FTB_ARG(FTB_DESC_RST1));
    return (FtB_mxm_grad)(FTB_ARG(c->dout), FTB_ARG(s), FTB_ARG(matrix_of(m, c)), FTB_ARG(c->in[m->src]),
                          FtB_Arg_none(), FTB_ARG(c->extra), wanted, count,
                          m->transposed ? FTB_ARG(FTB_DESC_T0) : FtB_Arg_none());
}

static bool needs(const ftb_nn_node *n, int k)
{
    const multiply *m = n->state;
    return (m->reads >> k & 1) != 0;
}

static void clear(ftb_nn_node *n)
{
    multiply *m = n->state;
    FtB_Semiring_free(&m->semiring);
    FtB_Semiring_free(&m->bound);
    FtB_Matrix_free(&m->A);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    const multiply *m = n->state;
    const ftb_pattern *p = m->A->pattern;
    fprintf(file, "%s of %s, %lld x %lld%s, %lld entries", m->on_edges ? "message" : "product",
            m->semiring->text, (long long)p->nrows, (long long)p->ncols, m->transposed ? " transposed" : "",
            (long long)p->nvals);
}

/* The call of forward, on stand-ins. */
static GrB_Info plan_with(FtB_Plan *made, const multiply *m, FtB_Semiring s, FtB_Matrix A, FtB_Block const *X,
                          FtB_Block Y)
{
    FtB_Matrix C = NULL;
    if (!m->on_edges)
        return FtB_mxm_plan(made, Y, NULL, NULL, s, A, X[m->src], m->transposed ? FTB_DESC_T0 : NULL,
                            FTB_ESTIMATE);
    GrB_Info info = ftb_matrix_over(&C, A->pattern, Y);
    if (info == GrB_SUCCESS)
        info = FtB_mxm_plan(made, C, A, NULL, s, X[m->dst], X[m->src], FTB_DESC_RST1, FTB_ESTIMATE);
    FtB_Matrix_free(&C);
    return info;
}

static GrB_Info plan(FtB_Plan *made, const ftb_nn_node *n)
{
    const multiply *m = n->state;
    FtB_Block X[FTB_NN_INPUTS] = {NULL}, Y = NULL;
    FtB_Matrix A = NULL;
    FtB_Semiring bound = NULL;
    FtB_Binding bindings[FTB_NN_INPUTS];
    size_t count = 0;
    GrB_Info info = ftb_nn_stand_in(&Y, n, false);
    for (int k = 0; k < n->nin && info == GrB_SUCCESS; k++) {
        info = ftb_nn_stand_in(&X[k], ftb_node_in(n, k), is_free(m, k));
        if (is_free(m, k) || (k == m->dst && !m->on_edges))
            bindings[count++] = (FtB_Binding){m->name[k], FTB_ARG(X[k])};
    }
    if (info == GrB_SUCCESS)
        info = (FtB_Semiring_bind)(&bound, m->semiring, bindings, count);
    if (info == GrB_SUCCESS)
        info = m->edge >= 0 ? ftb_matrix_over(&A, m->A->pattern, X[m->edge]) : ftb_matrix_share(&A, m->A);
    if (info == GrB_SUCCESS)
        info = plan_with(made, m, bound, A, X, Y);
    for (int k = 0; k < n->nin; k++)
        FtB_Block_free(&X[k]);
    FtB_Block_free(&Y);
    FtB_Matrix_free(&A);
    FtB_Semiring_free(&bound);
    return info;
}

static const ftb_nn_op op = {.name = "multiply",
                             .flags = FTB_NN_NEEDS_IN,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print,
                             .plan = plan,
                             .clear = clear};

/* ---- recording */

static GrB_Info check_operand(const ftb_nn_operands *o, int k, const char *name, int64_t nrows)
{
    char shape[80];
    if (k < 0)
        return ftb_fail(GrB_NULL_POINTER, "operand '%s' is missing", name);
    const ftb_nn_node *n = o->tape->nodes[o->in[k]];
    if (n->graph || n->nrows != nrows)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "operand '%s' is %s; expected %lld dense rows", name,
                        ftb_node_shape(n, shape, sizeof shape), (long long)nrows);
    return GrB_SUCCESS;
}

static GrB_Info check(const ftb_nn_operands *o, FtB_Matrix A, bool transposed, bool on_edges)
{
    const ftb_pattern *p = A->pattern;
    GrB_Info info = check_operand(o, o->src, "src", transposed ? p->nrows : p->ncols);
    if (info == GrB_SUCCESS && (o->dst >= 0 || on_edges))
        info = check_operand(o, o->dst, "dst", transposed ? p->ncols : p->nrows);
    if (info != GrB_SUCCESS || o->edge < 0)
        return info;
    const ftb_nn_node *e = o->tape->nodes[o->in[o->edge]];
    if (!e->graph || e->sparse || e->graph->pattern != p)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "operand 'edge' does not lie on the edges of A");
    return info;
}

/* A node with its state; what fails after it was made, the tape knows. */
static FtB_Var record(FtB_Semiring s, FtB_Matrix A, const ftb_nn_operands *o, const ftb_nn_shape *shape,
                      bool transposed, bool on_edges)
{
    const ftb_pattern *p = A->pattern;
    ftb_nn_node *n = ftb_node_new(o->tape, &op, o->in, o->count,
                                  on_edges     ? p->nvals
                                  : transposed ? p->ncols
                                               : p->nrows,
                                  shape->ncols, sizeof(multiply));
    if (!n)
        return (FtB_Var){o->tape, -1};
    multiply *m = n->state;
    n->type = shape->type;
    n->heads = on_edges ? 1 : shape->heads;
    if (shape->winners && n->gradient) {
        n->extra_rows = n->nrows;
        n->extra_cols = n->ncols;
        n->extra_type = FTB_INT64;
    }
    m->transposed = transposed;
    m->on_edges = on_edges;
    m->src = o->src;
    m->dst = o->dst;
    m->edge = o->edge;
    m->reads = shape->reads;
    m->itself = sums_plainly(n, m, s->text, shape);
    memcpy(m->name, o->name, sizeof m->name);
    GrB_Info info = (FtB_Semiring_bind)(&m->semiring, s, NULL, 0);
    if (m->edge < 0)
        ftb_watch_matrix(&n->values, A);
    if (info == GrB_SUCCESS)
        info = ftb_matrix_share(&m->A, A);
    if (info == GrB_SUCCESS && on_edges)
        info = ftb_node_on_edges(n, A);
    return info == GrB_SUCCESS ? ftb_node_var(n) : ftb_var_failed(o->tape, info);
}

static FtB_Var multiply_any(const char *call, FtB_Arg semiring, FtB_Matrix A, const FtB_Operand *operands,
                            size_t count, bool transposed, bool on_edges)
{
    ftb_nn_operands o;
    ftb_nn_shape shape;
    FtB_Semiring s = NULL;
    if (!ftb_nn_operands_read(&o, call, operands, count))
        return (FtB_Var){o.tape, -1};
    GrB_Info info = ftb_arg_matrix(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_semiring(&s, semiring, "semiring");
    if (info == GrB_SUCCESS)
        info = check(&o, A, transposed, on_edges);
    if (info == GrB_SUCCESS)
        info = ftb_nn_message_shape(&shape, s, &o, A, transposed, on_edges);
    if (info == GrB_SUCCESS && shape.type != FTB_FP32 && shape.type != FTB_FP64)
        info = ftb_fail(GrB_DOMAIN_MISMATCH, "semiring: its messages are %s; expected reals",
                        FtB_Type_name(shape.type));
    FtB_Var y = {o.tape, -1};
    if (info == GrB_SUCCESS)
        y = record(s, A, &o, &shape, transposed, on_edges);
    else
        y = ftb_var_failed(o.tape, ftb_wrap_error(info, "%s: ", call));
    FtB_Semiring_free(&s);
    return y;
}

FtB_Var FtB_multiply(FtB_Arg semiring, FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    return multiply_any("FtB_multiply", semiring, A, operands, count, false, false);
}

FtB_Var FtB_multiply_transposed(FtB_Arg semiring, FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    return multiply_any("FtB_multiply_transposed", semiring, A, operands, count, true, false);
}

FtB_Var FtB_on_edges(FtB_Arg semiring, FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    return multiply_any("FtB_on_edges", semiring, A, operands, count, false, true);
}
