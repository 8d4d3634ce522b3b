/* Gradients of messages: reverse-mode differentiation over the tree.
 *
 * Nodes are visited from the root down; each hands its adjoint, (d message / d node)' grad, to its arguments,
 * by the derivatives of semirings/operators.def or, for operators over features, by rules below. An adjoint
 * that is the same for all values of a node is kept as one value; where one value met a vector, its adjoint
 * is the sum over the vector. Griewank and Walther, "Evaluating Derivatives", 2008. */
#include "expr/work.h"

typedef struct reverse {
    ftb_work w;
    const ftb_message *m;
    ftb_derivative *d;
    int forward;   /* nodes of the message itself */
    int *adjoint;  /* of each of them, -1: none */
    uint8_t *path; /* of each: depends on the name */
    int64_t *width;
    int wanted, zero;
    char extra[FTB_MAX_FEEDS + 4][FTB_NAME_LENGTH];
} reverse;

void ftb_derivative_clear(ftb_derivative *d)
{
    ftb_expr_release(d->expr);
    for (int p = 0; p < d->nouter; p++) {
        ftb_expr_release(d->left[p]);
        ftb_expr_release(d->right[p]);
    }
    *d = (ftb_derivative){0};
}

/* ---- nodes with widths */

static int note(reverse *r, int node, int64_t width)
{
    if (node >= 0)
        r->width[node] = width;
    return node;
}

static int make(reverse *r, ftb_operator op, int x, int y)
{
    if (x < 0 || (ftb_operators[op].arity == 2 && y < 0))
        return -1;
    int64_t width = ftb_max(r->width[x], y >= 0 ? r->width[y] : 1);
    return note(r, ftb_work_op(&r->w, op, x, y), op == FTB_OP_SUM ? 1 : width);
}

static int integer(reverse *r, int64_t value) { return note(r, ftb_work_integer(&r->w, value), 1); }

static int choose(reverse *r, int condition, int yes, int no)
{
    const int args[3] = {condition, yes, no};
    if (condition < 0 || yes < 0 || no < 0)
        return -1;
    int64_t width = ftb_max(r->width[condition], ftb_max(r->width[yes], r->width[no]));
    return note(r, ftb_work_node(&r->w, &(ftb_node){.op = FTB_OP_SELECT, .column = 1}, 3, args), width);
}

static int vector(reverse *r, int count, const int *parts)
{
    int64_t width = 0;
    for (int p = 0; p < count; p++) {
        if (parts[p] < 0)
            return -1;
        width += r->width[parts[p]];
    }
    return note(r, ftb_work_node(&r->w, &(ftb_node){.op = FTB_OP_VECTOR, .column = 1}, count, parts), width);
}

static int component(reverse *r, int x, int64_t at)
{
    const int args[2] = {x, integer(r, at)};
    if (x >= 0 && r->width[x] == 1)
        return x;
    return note(r, ftb_work_node(&r->w, &(ftb_node){.op = FTB_OP_INDEX, .column = 1}, 2, args), 1);
}

/* x as wide as `like`, of which it is one value so far. */
static int widen(reverse *r, int x, int like)
{
    if (x < 0 || r->width[x] == r->width[like])
        return x;
    return choose(r, make(r, FTB_OP_EQ, like, like), x, x);
}

/* `width` values, value f from part(r, f, arg): vectors of vectors, since one has 64 parts at most. */
static int spread(reverse *r, int64_t width, int (*part)(reverse *r, int64_t f, const int64_t *arg),
                  const int64_t *arg)
{
    int outer[64], inner[64], count = 0;
    if (width > 64 * 64)
        return -1;
    for (int64_t f = 0; f < width; count++) {
        int parts = 0;
        for (; parts < 64 && f < width; f++)
            inner[parts++] = part(r, f, arg);
        outer[count] = parts == 1 ? inner[0] : vector(r, parts, inner);
    }
    return count == 1 ? outer[0] : vector(r, count, outer);
}

/* ---- products with derivatives */

static bool is_integer(const reverse *r, int node, int64_t value)
{
    const ftb_node *n = ftb_work_at(&r->w, node);
    return n->op == FTB_OP_LITERAL && n->integer == value;
}

/* a * d. Conditions choose instead of multiplying, so that what is not chosen does not matter. */
static int times(reverse *r, int a, int d)
{
    if (a < 0 || d < 0)
        return -1;
    const ftb_node n = *ftb_work_at(&r->w, d);
    int x = n.count > 0 ? ftb_work_arg(&r->w, d, 0) : -1, y = n.count > 1 ? ftb_work_arg(&r->w, d, 1) : -1;
    if (is_integer(r, d, 0) || a == r->zero)
        return r->zero;
    if (is_integer(r, d, 1))
        return a;
    if (n.op == FTB_OP_NEG)
        return make(r, FTB_OP_NEG, times(r, a, x), -1);
    if (n.op == FTB_OP_DIV)
        return make(r, FTB_OP_DIV, times(r, a, x), y);
    if (n.op < FTB_NOPERATORS && ftb_operators[n.op].rule == FTB_RULE_COMPARE)
        return choose(r, d, a, r->zero);
    if (n.op == FTB_OP_SELECT)
        return choose(r, x, times(r, a, y), times(r, a, ftb_work_arg(&r->w, d, 2)));
    return make(r, FTB_OP_MUL, a, d);
}

/* A text over x and y, with nodes for these. */
static int read_text(reverse *r, const char *text, int x, int y)
{
    ftb_expr *e = NULL;
    int map[64], made = -1;
    GrB_Info info = ftb_expr_parse(&e, r->w.ctx, text, "derivative", 0);
    if (info != GrB_SUCCESS) {
        r->w.info = info;
        return -1;
    }
    for (int n = 0; n < e->nnodes; n++) {
        int args[3] = {-1, -1, -1};
        const ftb_node *node = &e->nodes[n];
        for (int a = 0; a < node->count; a++)
            args[a] = map[ftb_tree_arg(e, n, a)];
        if (node->op == FTB_OP_NAME)
            made = ftb_tree_is_name(e, n, "x") ? x : y;
        else if (node->count == 0)
            made = note(r, ftb_work_node(&r->w, node, 0, NULL), 1);
        else
            made = node->op == FTB_OP_SELECT ? choose(r, args[0], args[1], args[2])
                                             : make(r, node->op, args[0], args[1]);
        map[n] = made;
    }
    made = map[e->root];
    ftb_expr_release(e);
    return made;
}

/* ---- rules */

/* c joins the adjoint of `node`, which met values of `width`. */
static void add(reverse *r, int node, int c, int64_t width)
{
    if (!r->path[node] || c < 0 || c == r->zero)
        return;
    if (r->width[node] == 1 && width > 1)
        c = r->width[c] == 1 ? make(r, FTB_OP_MUL, c, integer(r, width)) : make(r, FTB_OP_SUM, c, -1);
    r->adjoint[node] = r->adjoint[node] < 0 ? c : make(r, FTB_OP_ADD, r->adjoint[node], c);
}

static void elementwise(reverse *r, int node, int a)
{
    const ftb_node n = *ftb_work_at(&r->w, node);
    const ftb_operator_row *row = &ftb_operators[n.op];
    int x = ftb_work_arg(&r->w, node, 0), y = n.count > 1 ? ftb_work_arg(&r->w, node, 1) : -1;
    for (int p = 0; p < n.count; p++) {
        int argument = p == 0 ? x : y;
        const char *text = p == 0 ? row->dx : row->dy;
        if (!r->path[argument])
            continue;
        if (!*text) {
            r->w.info = ftb_fail(GrB_DOMAIN_MISMATCH, "%s: %s has no derivative, at column %d",
                                 r->w.tree->what, row->spelling, r->w.tree->column0 + n.column);
            return;
        }
        add(r, argument, times(r, a, read_text(r, text, x, y)), r->width[node]);
    }
}

static int part_of(reverse *r, int64_t f, const int64_t *arg)
{
    return component(r, (int)arg[0], arg[1] + f);
}

static int one_hot(reverse *r, int64_t f, const int64_t *arg) { return f == arg[1] ? (int)arg[0] : r->zero; }

static void parts(reverse *r, int node, int a)
{
    const ftb_node n = *ftb_work_at(&r->w, node);
    int64_t before = 0;
    for (int p = 0; p < n.count; p++) {
        int part = ftb_work_arg(&r->w, node, p);
        const int64_t arg[2] = {a, before};
        if (r->path[part])
            add(r, part, r->width[a] == 1 ? a : spread(r, r->width[part], part_of, arg), r->width[part]);
        before += r->width[part];
    }
}

/* dW = left' right, taken apart where left is a sum of parts that depend on one kind of vertex each: then one
 * of the two can be summed before they are multiplied. */
static void outer(reverse *r, int left, int right)
{
    ftb_work *w = &r->w;
    ftb_derivative *d = r->d;
    if (left < 0 || right < 0 || w->info != GrB_SUCCESS)
        return;
    const ftb_node n = *ftb_work_at(w, left);
    int x = n.count > 0 ? ftb_work_arg(w, left, 0) : -1, y = n.count > 1 ? ftb_work_arg(w, left, 1) : -1;
    bool apart = !ftb_work_row(w, left) && !ftb_work_col(w, left);
    if (apart && n.op == FTB_OP_NEG) {
        outer(r, x, make(r, FTB_OP_NEG, right, -1));
    } else if (apart && (n.op == FTB_OP_ADD || n.op == FTB_OP_SUB) && r->width[x] == r->width[y]) {
        outer(r, x, right);
        outer(r, y, n.op == FTB_OP_SUB ? make(r, FTB_OP_NEG, right, -1) : right);
    } else if (apart && (n.op == FTB_OP_MUL || n.op == FTB_OP_DIV) && r->width[y] == 1) {
        outer(r, x, make(r, n.op, right, y));
    } else if (apart && n.op == FTB_OP_MUL && r->width[x] == 1) {
        outer(r, y, make(r, n.op, right, x));
    } else if (d->nouter == FTB_MAX_PRE) {
        w->info = ftb_fail(GrB_INVALID_VALUE, "%s: more than %d products for the gradient of one block",
                           w->tree->what, FTB_MAX_PRE);
    } else {
        int pair = d->nouter++;
        w->info = ftb_work_extract(&d->left[pair], w, left);
        if (w->info == GrB_SUCCESS)
            w->info = ftb_work_extract(&d->right[pair], w, right);
    }
}

static int nought(reverse *r, int64_t f, const int64_t *arg)
{
    (void)f, (void)arg;
    return r->zero;
}

/* x as the columns from `first` on of `all`, zeros beside it. */
static int among_zeros(reverse *r, int x, int64_t first, int64_t all)
{
    int parts[3], count = 0;
    int64_t rest = all - first - r->width[x];
    if (first > 0)
        parts[count++] = spread(r, first, nought, NULL);
    parts[count++] = x;
    if (rest > 0)
        parts[count++] = spread(r, rest, nought, NULL);
    return count == 1 ? x : vector(r, count, parts);
}

/* x @ W, or x @ W's rows from a third argument on, as many as x is wide. */
static void matmul(reverse *r, int node, int a)
{
    int x = ftb_work_arg(&r->w, node, 0), W = ftb_work_arg(&r->w, node, 1), f = ftb_work_find(&r->w, W);
    const FtB_Block rows = r->w.names[f].rows;
    bool some = ftb_work_at(&r->w, node)->count == 3;
    int64_t first = some ? ftb_work_at(&r->w, ftb_work_arg(&r->w, node, 2))->integer : 0;
    a = widen(r, a, node);
    if (W == r->wanted)
        outer(r, some ? among_zeros(r, x, first, rows->nrows) : x, a);
    if (!r->path[x] || a < 0)
        return;
    char name[FTB_NAME_LENGTH];
    snprintf(name, sizeof name, "%.*s'", FTB_NAME_MAX, r->w.names[f].name);
    const int args[2] = {a, ftb_work_whole(&r->w, name, rows->type, rows->ncols, rows->nrows)};
    if (args[1] >= 0)
        r->width[args[1]] = rows->nrows;
    int made = ftb_work_node(&r->w, &(ftb_node){.op = FTB_OP_MATMUL, .column = 1}, 2, args);
    made = note(r, made, rows->nrows);
    const int64_t part[2] = {made, first};
    add(r, x, some && made >= 0 ? spread(r, r->width[x], part_of, part) : made, r->width[x]);
}

static void visit(reverse *r, int node, int a)
{
    const ftb_node n = *ftb_work_at(&r->w, node);
    int x = n.count > 0 ? ftb_work_arg(&r->w, node, 0) : -1,
        y = n.count > 1 ? ftb_work_arg(&r->w, node, 1) : -1;
    int64_t wide = x < 0 ? 1 : ftb_max(r->width[x], y >= 0 ? r->width[y] : 1);
    switch (n.op) {
    case FTB_OP_DOT:
        add(r, x, times(r, a, y), wide);
        add(r, y, times(r, a, x), wide);
        break;
    case FTB_OP_SUM:
        add(r, x, a, wide);
        break;
    case FTB_OP_MEAN:
        add(r, x, wide == 1 ? a : make(r, FTB_OP_DIV, a, integer(r, wide)), wide);
        break;
    case FTB_OP_SELECT:
        add(r, y, choose(r, x, a, r->zero), r->width[node]);
        add(r, ftb_work_arg(&r->w, node, 2), choose(r, x, r->zero, a), r->width[node]);
        break;
    case FTB_OP_VECTOR:
        parts(r, node, a);
        break;
    case FTB_OP_INDEX: {
        const int64_t arg[2] = {a, ftb_work_at(&r->w, y)->integer};
        add(r, x, r->width[x] == 1 ? a : spread(r, r->width[x], one_hot, arg), r->width[x]);
        break;
    }
    case FTB_OP_MATMUL:
        matmul(r, node, a);
        break;
    default:
        elementwise(r, node, a);
    }
}

/* ---- the whole of it */

/* The gradient of a message: "grad" itself, or what a reduction makes of it. */
static int seed(reverse *r, FtB_Type type, bool reduced)
{
    int64_t width = r->width[r->w.tree->root];
    const ftb_reducer reducer = r->m->reducer;
    int grad = note(r, ftb_work_name(&r->w, "grad", FTB_SIDE_ROW, type, width), width);
    if (!reduced || (reducer.monoid == FTB_PLUS && !reducer.mean))
        return grad;
    if (reducer.mean) {
        int di = note(r, ftb_work_name(&r->w, "di", FTB_SIDE_ROW, FTB_INT64, 1), 1);
        return make(r, FTB_OP_DIV, grad, type == FTB_FP32 ? make(r, FTB_OP_FP32, di, -1) : di);
    }
    if (reducer.monoid != FTB_MIN && reducer.monoid != FTB_MAX) {
        r->w.info = ftb_fail(GrB_DOMAIN_MISMATCH,
                             "semiring: the reducer %s has no gradient; plus, mean, min and max have",
                             ftb_monoid_name(reducer.monoid));
        return -1;
    }
    int saved = note(r, ftb_work_name(&r->w, "saved", FTB_SIDE_ROW, FTB_INT64, width), width);
    int e = note(r, ftb_work_name(&r->w, "e'", FTB_SIDE_EDGE, FTB_INT64, 1), 1);
    return choose(r, make(r, FTB_OP_EQ, saved, e), grad, r->zero);
}

/* Marks what depends on the name. */
static bool find_path(reverse *r, const char *name)
{
    r->wanted = -1;
    for (int n = 0; n < r->forward; n++) {
        if (ftb_tree_is_name(r->w.tree, n, name))
            r->wanted = n;
        r->path[n] = n == r->wanted;
        for (int a = 0; a < ftb_work_at(&r->w, n)->count; a++)
            r->path[n] |= r->path[ftb_work_arg(&r->w, n, a)];
    }
    return r->wanted >= 0;
}

static GrB_Info differentiate(reverse *r, const char *name, bool reduced)
{
    ftb_work *w = &r->w;
    FtB_Type type = ftb_work_shape(w, w->tree->root).type;
    if (w->info != GrB_SUCCESS || !find_path(r, name))
        return w->info;
    if (type != FTB_FP32 && type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "%s: gradients are of real messages; this one is %s",
                        w->tree->what, FtB_Type_name(type));
    for (int n = 0; n < r->forward; n++) {
        r->width[n] = ftb_work_shape(w, n).width;
        r->adjoint[n] = -1;
    }
    r->zero = note(r, ftb_work_real(w, 0), 1);
    r->adjoint[w->tree->root] = seed(r, type, reduced);
    for (int n = w->tree->root; n >= 0 && w->info == GrB_SUCCESS && w->tree->nnodes < w->room; n--)
        if (r->path[n] && r->adjoint[n] >= 0 && !ftb_work_leaf(w, n))
            visit(r, n, r->adjoint[n]);
    if (w->info != GrB_SUCCESS)
        return w->info;
    int made = r->adjoint[r->wanted] < 0 ? r->zero : r->adjoint[r->wanted],
        name_at = ftb_work_find(w, r->wanted);
    bool whole = name_at >= 0 && w->names[name_at].block;
    if (!whole)
        made = widen(r, made, r->wanted);
    if (w->info == GrB_SUCCESS && (made < 0 || w->tree->nnodes == w->room))
        return ftb_fail(GrB_INVALID_VALUE, "%s: too long for a gradient", w->tree->what);
    return whole || w->info != GrB_SUCCESS ? w->info : ftb_work_extract(&r->d->expr, w, made);
}

/* Names that gradients may use, behind the message's text. */
static int extra_names(reverse *r, const char **list)
{
    static const char *const fixed[] = {"grad", "di", "saved", "e'"};
    int count = 0;
    for (int x = 0; x < 4; x++)
        snprintf(r->extra[count++], sizeof r->extra[0], "%s", fixed[x]);
    for (int f = 0; f < r->m->nfeeds; f++)
        if (r->m->feeds[f].whole)
            snprintf(r->extra[count++], sizeof r->extra[0], "%.*s'", FTB_NAME_MAX, r->m->feeds[f].name);
    for (int x = 0; x < count; x++)
        list[x] = r->extra[x];
    return count;
}

static GrB_Info gradient(ftb_derivative *d, const ftb_message *m, const char *name, bool reduced)
{
    *d = (ftb_derivative){0};
    if (!m->expr)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "semiring: a message that is a C function has no gradient");
    const char *names[FTB_MAX_FEEDS + 4];
    int room = FTB_MAX_NODES;
    reverse *r = ftb_new0(m->ctx, 1, sizeof *r);
    if (!r)
        return ftb_nomem();
    r->m = m;
    r->d = d;
    r->adjoint = ftb_new(m->ctx, m->expr->nnodes, sizeof *r->adjoint);
    r->path = ftb_new(m->ctx, m->expr->nnodes, sizeof *r->path);
    r->width = ftb_new(m->ctx, room, sizeof *r->width);
    GrB_Info info = r->adjoint && r->path && r->width ? GrB_SUCCESS : ftb_nomem();
    int nnames = extra_names(r, names);
    if (info == GrB_SUCCESS)
        info = ftb_work_begin(&r->w, m, room, nnames, names);
    if (info == GrB_SUCCESS) {
        r->forward = r->w.tree->nnodes;
        info = differentiate(r, name, reduced);
    }
    ftb_work_end(&r->w);
    ftb_delete(r->adjoint);
    ftb_delete(r->path);
    ftb_delete(r->width);
    ftb_delete(r);
    if (info != GrB_SUCCESS)
        ftb_derivative_clear(d);
    return info;
}

GrB_Info ftb_gradient(ftb_derivative *d, const ftb_message *m, const char *name)
{
    return gradient(d, m, name, false);
}

GrB_Info ftb_gradient_reduced(ftb_derivative *d, const ftb_message *m, const char *name)
{
    return gradient(d, m, name, true);
}
