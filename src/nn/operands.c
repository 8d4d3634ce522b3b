/* Operands of products by name, and the shape of a message over them, found before they hold anything. */
#include "nn/multiply.h"

#include "core/hypersparse.h"
#include "expr/rewrite.h"
#include "expr/score.h"
#include "ops/spmm.h"

static int find(const ftb_nn_operands *o, const char *name)
{
    for (int k = 0; k < o->count; k++)
        if (strcmp(o->name[k], name) == 0)
            return k;
    return -1;
}

/* What is wrong with the list, whatever its variables are. */
static GrB_Info check_list(const char *call, const FtB_Operand *operands, size_t count)
{
    if (!operands || count == 0)
        return ftb_fail(GrB_NULL_POINTER, "%s: no operands", call);
    if (count > FTB_NN_INPUTS)
        return ftb_fail(GrB_INVALID_VALUE, "%s: %zu operands; at most %d", call, count, FTB_NN_INPUTS);
    for (size_t k = 0; k < count; k++) {
        const char *name = operands[k].name;
        if (!name)
            return ftb_fail(GrB_NULL_POINTER, "%s: operand %zu has no name", call, k);
        if (strlen(name) > FTB_NAME_MAX)
            return ftb_fail(GrB_INVALID_VALUE,
                            "%s: operand %zu is named '%.40s'; expected at most %d characters", call, k, name,
                            FTB_NAME_MAX);
        for (size_t j = 0; j < k; j++)
            if (strcmp(operands[j].name, name) == 0)
                return ftb_fail(GrB_INVALID_VALUE, "%s: two operands are named '%s'", call, name);
    }
    return GrB_SUCCESS;
}

bool ftb_nn_operands_read(ftb_nn_operands *o, const char *call, const FtB_Operand *operands, size_t count)
{
    *o = (ftb_nn_operands){.src = -1, .dst = -1, .edge = -1};
    for (size_t k = 0; operands && k < count && !o->tape; k++)
        o->tape = ftb_var_tape(operands[k].var, FTB_NO_VAR);
    GrB_Info info = check_list(call, operands, count);
    if (info != GrB_SUCCESS) {
        ftb_var_failed(o->tape, info);
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        char what[FTB_NAME_LENGTH + 16];
        snprintf(what, sizeof what, "operand '%s'", operands[k].name);
        const ftb_nn_node *n = ftb_var_of(o->tape, operands[k].var, call, what);
        if (!n)
            return false;
        snprintf(o->name[o->count], FTB_NAME_LENGTH, "%s", operands[k].name);
        o->in[o->count++] = n->number;
    }
    o->src = find(o, "src");
    o->dst = find(o, "dst");
    o->edge = find(o, "edge");
    return true;
}

/* ---- a stand-in of a node's shape */

/* Values of src, dst and edge are never read. What else is bound may be copied into a program: it is there,
 * or as large. */
GrB_Info ftb_nn_stand_in(FtB_Block *X, const ftb_nn_node *n, bool bound)
{
    static double nothing[8];
    GrB_Info info;
    if (bound && n->ready && n->value)
        return FtB_Block_heads(X, n->value, n->heads);
    if (bound)
        info = FtB_Block_new(X, n->nrows, n->ncols, n->type);
    else
        info = ftb_block_view(X, n->tape->ctx, n->type, n->nrows, n->ncols, n->ncols,
                              ftb_buffer_wrap(n->tape->ctx, nothing, sizeof nothing, true));
    if (info == GrB_SUCCESS)
        (*X)->heads = n->heads;
    return info;
}

/* The semiring with its free names, and dst of a sparse product, bound to stand-ins. */
static GrB_Info bind(FtB_Semiring *bound, FtB_Semiring s, const ftb_nn_operands *o, FtB_Block const *X,
                     bool on_edges)
{
    FtB_Binding bindings[FTB_NN_INPUTS];
    size_t count = 0;
    for (int k = 0; k < o->count; k++)
        if (k != o->src && k != o->edge && (k != o->dst || !on_edges))
            bindings[count++] = (FtB_Binding){o->name[k], FTB_ARG(X[k])};
    return (FtB_Semiring_bind)(bound, s, bindings, count);
}

/* The message over stand-ins X, on a pattern without entries. */
static GrB_Info fill(ftb_message *m, ftb_pattern *p, FtB_Semiring s, FtB_Matrix A, const ftb_nn_operands *o,
                     FtB_Block const *X, bool on_edges)
{
    static const char *const sparse[] = {"a", "edge", "b", "src", NULL}, *const dense[] = {"a", "dst", "b",
                                                                                           "src", NULL};
    struct FtB_Matrix_opaque edges = {.magic = FTB_MAGIC_MATRIX,
                                      .ctx = A->ctx,
                                      .type = A->type,
                                      .width = A->width,
                                      .pattern = p,
                                      .values = X[o->src]->owner};
    if (o->edge >= 0) {
        edges.type = X[o->edge]->type;
        edges.width = X[o->edge]->ncols;
    }
    GrB_Info info = ftb_message_new(m, A->ctx, s, on_edges ? dense : sparse);
    if (info == GrB_SUCCESS)
        info = ftb_message_block(m, "src", FTB_SIDE_COL, X[o->src], X[o->src]->heads);
    if (info == GrB_SUCCESS && o->dst >= 0 && on_edges)
        info = ftb_message_block(m, "dst", FTB_SIDE_ROW, X[o->dst], X[o->dst]->heads);
    if (info == GrB_SUCCESS)
        info = ftb_message_values(m, "edge", &edges, NULL);
    return info == GrB_SUCCESS ? ftb_message_indices(m, p, false, NULL) : info;
}

static GrB_Info compile(ftb_nn_shape *shape, const ftb_message *m, bool on_edges)
{
    ftb_message_type found;
    ftb_program *program = NULL;
    shape->heads = m->heads;
    shape->winners = !on_edges && (m->reducer.monoid == FTB_MIN || m->reducer.monoid == FTB_MAX);
    if (!on_edges)
        return ftb_spmm_shape(m, &shape->type, &shape->ncols);
    GrB_Info info = ftb_message_compile(&found, &program, m);
    ftb_program_delete(program);
    if (info == GrB_SUCCESS) {
        ftb_score score = ftb_score_of(m, &found);
        shape->type = found.message;
        shape->ncols = m->heads * found.width;
        shape->known_score = score.kind != FTB_SCORE_ANY && strcmp(score.x->name, "src") == 0 &&
                             strcmp(score.y->name, "dst") == 0;
    }
    return info;
}

/* ---- what gradients read */

static bool uses_operand(const ftb_expr *e, const char *name)
{
    static const char *const ways[] = {"%s", "%s[i]", "%s[j]", "%s[k]", "%s[e]", "%s'"};
    char text[FTB_NAME_LENGTH + 4];
    for (size_t w = 0; e && w < sizeof ways / sizeof *ways; w++) {
        snprintf(text, sizeof text, ways[w], name);
        if (ftb_expr_uses(e, text))
            return true;
    }
    return false;
}

static bool derivative_uses(const ftb_derivative *d, const char *name)
{
    bool uses = uses_operand(d->expr, name);
    for (int k = 0; k < d->nouter; k++)
        uses |= uses_operand(d->left[k], name) || uses_operand(d->right[k], name);
    return uses;
}

/* Adds to `reads` what the gradients of a feed read. Texts without a gradient are refused here, where they
 * are recorded. */
static GrB_Info read_by(unsigned *reads, const ftb_message *m, const char *feed, const ftb_nn_operands *o)
{
    ftb_derivative d = {0};
    GrB_Info info = ftb_gradient(&d, m, feed);
    for (int k = 0; k < o->count && info == GrB_SUCCESS; k++)
        if (derivative_uses(&d, o->name[k]))
            *reads |= 1u << k;
    ftb_derivative_clear(&d);
    return info;
}

static GrB_Info find_reads(unsigned *reads, const ftb_message *m, const ftb_nn_operands *o)
{
    GrB_Info info = GrB_SUCCESS;
    if (m->function) {
        *reads = ~0u;
        return info;
    }
    for (int k = 0; k < o->count; k++) {
        if (!o->tape->nodes[o->in[k]]->gradient)
            continue;
        size_t length = strlen(o->name[k]);
        for (int f = 0; f < m->nfeeds && info == GrB_SUCCESS; f++)
            if (strncmp(m->feeds[f].name, o->name[k], length) == 0 &&
                (m->feeds[f].name[length] == '\0' || m->feeds[f].name[length] == '['))
                info = read_by(reads, m, m->feeds[f].name, o);
    }
    return info;
}

GrB_Info ftb_nn_message_shape(ftb_nn_shape *shape, FtB_Semiring s, const ftb_nn_operands *o, FtB_Matrix A,
                              bool transposed, bool on_edges)
{
    FtB_Block X[FTB_NN_INPUTS] = {NULL};
    FtB_Semiring bound = NULL;
    ftb_message m = {0};
    const ftb_pattern *a = A->pattern;
    GrB_Info info = GrB_SUCCESS;
    ftb_pattern *p = transposed ? ftb_pattern_empty(A->ctx, a->ncols, a->nrows)
                                : ftb_pattern_empty(A->ctx, a->nrows, a->ncols);
    *shape = (ftb_nn_shape){0};
    if (!p)
        return ftb_nomem();
    info = ftb_pattern_all_rows(p, "A");
    for (int k = 0; k < o->count && info == GrB_SUCCESS; k++)
        info = ftb_nn_stand_in(&X[k], o->tape->nodes[o->in[k]], k != o->src && k != o->dst && k != o->edge);
    if (info == GrB_SUCCESS)
        info = bind(&bound, s, o, X, on_edges);
    if (info == GrB_SUCCESS)
        info = fill(&m, p, bound, A, o, X, on_edges);
    if (info == GrB_SUCCESS)
        info = compile(shape, &m, on_edges);
    if (info == GrB_SUCCESS)
        info = find_reads(&shape->reads, &m, o);
    ftb_message_clear(&m);
    FtB_Semiring_free(&bound);
    for (int k = 0; k < o->count; k++)
        FtB_Block_free(&X[k]);
    ftb_pattern_release(p);
    return info;
}
