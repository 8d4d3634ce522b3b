/* Sums and products by side.
 *
 * norm[i] * edge * src * norm[k] is read as a chain of factors, and written again with those that depend on
 * one kind of vertex next to each other: edge * (src * norm[k]) * norm[i]. (src + dst) @ W becomes
 * src @ W + dst @ W, and [src, dst] @ W the same with the rows of W that each meets. Whole numbers wrap, so
 * their sums and products may be reordered freely; reals are rounded in another order. Types stay: a chain
 * ends where a type changes, and a group must have the chain's.
 */
#include "expr/work.h"

static bool is_float(FtB_Type t) { return t == FTB_FP32 || t == FTB_FP64; }

static bool is_link(const ftb_chain *chain, ftb_operator op)
{
    if (op == FTB_OP_NEG)
        return true;
    return chain->sum ? op == FTB_OP_ADD || op == FTB_OP_SUB : op == FTB_OP_MUL || op == FTB_OP_DIV;
}

static bool collect(ftb_work *w, ftb_chain *chain, int node, bool inverse)
{
    ftb_operator op = ftb_work_at(w, node)->op;
    ftb_shape shape = ftb_work_shape(w, node);
    if (is_link(chain, op) && shape.type == chain->type) {
        if (op == FTB_OP_NEG) {
            chain->negative ^= !chain->sum;
            return collect(w, chain, ftb_work_arg(w, node, 0), inverse ^ chain->sum);
        }
        bool second = op == FTB_OP_SUB || op == FTB_OP_DIV;
        return collect(w, chain, ftb_work_arg(w, node, 0), inverse) &&
               collect(w, chain, ftb_work_arg(w, node, 1), inverse ^ second);
    }
    if (chain->count == FTB_MAX_TERMS)
        return false;
    /* Whole numbers that meet each other instead of a real could wrap. */
    if (is_float(chain->type) && !is_float(shape.type) && !shape.weak)
        return false;
    chain->terms[chain->count].node = node;
    chain->terms[chain->count++].inverse = inverse;
    return true;
}

bool ftb_chain_of(ftb_work *w, ftb_chain *chain, int node)
{
    ftb_operator op = ftb_work_at(w, node)->op;
    *chain = (ftb_chain){.sum = op == FTB_OP_ADD || op == FTB_OP_SUB, .type = ftb_work_shape(w, node).type};
    return collect(w, chain, node, false);
}

int ftb_chain_make(ftb_work *w, const ftb_chain *chain, uint32_t set, bool *inverse)
{
    ftb_operator join = chain->sum ? FTB_OP_ADD : FTB_OP_MUL, part = chain->sum ? FTB_OP_SUB : FTB_OP_DIV;
    int made = -1, first = -1;
    *inverse = true;
    for (int t = 0; t < chain->count; t++)
        if (set >> t & 1)
            *inverse = *inverse && chain->terms[t].inverse;
    /* One that has the chain's type comes first, so that all others meet it. */
    for (int t = chain->count - 1; t >= 0; t--)
        if ((set >> t & 1) && chain->terms[t].inverse == *inverse &&
            (first < 0 || ftb_work_shape(w, chain->terms[t].node).type == chain->type))
            first = t;
    if (first >= 0)
        made = chain->terms[first].node;
    for (int t = 0; t < chain->count; t++)
        if (t != first && (set >> t & 1))
            made =
                ftb_work_op(w, chain->terms[t].inverse == *inverse ? join : part, made, chain->terms[t].node);
    return made;
}

typedef struct groups {
    uint32_t col, row, none, rest;
    int ncol, nrow, nnone;
} groups;

static groups group(const ftb_work *w, const ftb_chain *chain)
{
    groups g = {0};
    for (int t = 0; t < chain->count; t++) {
        uint8_t sides = w->sides[chain->terms[t].node];
        uint32_t bit = UINT32_C(1) << t;
        if (sides == FTB_SIDE_COL) {
            g.col |= bit;
            g.ncol++;
        } else if (sides == FTB_SIDE_ROW) {
            g.row |= bit;
            g.nrow++;
        } else if (sides == FTB_SIDE_NONE) {
            g.none |= bit;
            g.nnone++;
        } else {
            g.rest |= bit;
        }
    }
    if (g.col) {
        g.col |= g.none;
        g.ncol += g.nnone;
        g.none = 0;
    } else if (g.row) {
        g.row |= g.none;
        g.nrow += g.nnone;
        g.none = 0;
    }
    return g;
}

/* The chain with its groups as single terms; `node` itself where nothing is to be won. */
static int regroup_chain(ftb_work *w, int node)
{
    ftb_chain chain, short_chain;
    if (!ftb_chain_of(w, &chain, node))
        return node;
    groups g = group(w, &chain);
    if (g.ncol < 2 && g.nrow < 2)
        return node;
    short_chain = chain;
    short_chain.count = 0;
    const uint32_t sets[2] = {g.col, g.row};
    for (int s = 0; s < 2; s++) {
        if (!sets[s])
            continue;
        int at = short_chain.count++;
        int made = ftb_chain_make(w, &chain, sets[s], &short_chain.terms[at].inverse);
        short_chain.terms[at].node = made;
        if (made < 0 || ftb_work_shape(w, made).type != chain.type)
            return node;
    }
    for (int t = 0; t < chain.count; t++)
        if ((g.rest | g.none) >> t & 1)
            short_chain.terms[short_chain.count++] = chain.terms[t];
    bool inverse;
    int made = ftb_chain_make(w, &short_chain, UINT32_MAX, &inverse);
    if (made >= 0 && inverse)
        return node;
    if (made >= 0 && chain.negative)
        made = ftb_work_op(w, FTB_OP_NEG, made, -1);
    return made >= 0 && ftb_work_shape(w, made).type == chain.type ? made : node;
}

/* ---- x @ W */

static bool one_side(const ftb_work *w, int node) { return ftb_work_row(w, node) || ftb_work_col(w, node); }

/* The rows of W, from `first` on, that an expression meets. */
typedef struct rows_of {
    int W;
    int64_t first, count, all;
} rows_of;

static int multiply(ftb_work *w, int x, rows_of r)
{
    if (r.count == r.all)
        return ftb_work_op(w, FTB_OP_MATMUL, x, r.W);
    const int args[] = {x, r.W, ftb_work_integer(w, r.first)};
    return args[2] < 0 ? -1 : ftb_work_node(w, &(ftb_node){.op = FTB_OP_MATMUL, .column = 1}, 3, args);
}

static int distribute(ftb_work *w, int x, rows_of r);

/* [x, y, ...] @ W: each part with its rows. Parts that depend on entries stay in the loop, if others leave
 * it. All are of the vector's type, so that none is computed in a narrower one. */
static int distribute_parts(ftb_work *w, int x, rows_of r)
{
    enum { MOST_PARTS = 8 };
    const int count = ftb_work_at(w, x)->count;
    int product[MOST_PARTS], apart = 0;
    int64_t end = r.first + r.count;
    if (count > MOST_PARTS)
        return -1;
    for (int a = count - 1; a >= 0; a--) { /* the last made is hoisted, and named, first */
        int part = ftb_work_arg(w, x, a);
        const ftb_shape shape = ftb_work_shape(w, part);
        if (shape.type != ftb_work_shape(w, x).type)
            return -1;
        end -= shape.width;
        rows_of own = {r.W, end, shape.width, r.all};
        product[a] = distribute(w, part, own);
        apart += product[a] >= 0 && w->sides[part] != 0;
        if (product[a] < 0)
            product[a] = multiply(w, part, own);
    }
    for (int a = 1; a < count; a++)
        product[0] = ftb_work_op(w, FTB_OP_ADD, product[0], product[a]);
    return apart > 0 ? product[0] : -1;
}

/* x @ W for x as wide as the rows; -1 if a part depends on more than one kind of vertex. */
static int distribute(ftb_work *w, int x, rows_of r)
{
    if (ftb_work_shape(w, x).width != r.count)
        return -1;
    if (one_side(w, x))
        return multiply(w, x, r);
    const ftb_node n = *ftb_work_at(w, x);
    int a = n.count > 0 ? ftb_work_arg(w, x, 0) : -1, b = n.count > 1 ? ftb_work_arg(w, x, 1) : -1, made;
    switch (n.op) {
    case FTB_OP_VECTOR:
        return distribute_parts(w, x, r);
    case FTB_OP_NEG:
        return ftb_work_op(w, FTB_OP_NEG, distribute(w, a, r), -1);
    case FTB_OP_ADD:
    case FTB_OP_SUB:
        made = distribute(w, b, r); /* the last made is hoisted, and named, first */
        return ftb_work_op(w, n.op, distribute(w, a, r), made);
    case FTB_OP_MUL:
    case FTB_OP_DIV:
        if (ftb_work_shape(w, b).width == 1 && (made = distribute(w, a, r)) >= 0)
            return ftb_work_op(w, n.op, made, b);
        if (n.op == FTB_OP_MUL && ftb_work_shape(w, a).width == 1)
            return ftb_work_op(w, FTB_OP_MUL, distribute(w, b, r), a);
        return -1;
    default:
        return -1;
    }
}

int ftb_distribute(ftb_work *w, int node)
{
    int x = ftb_work_arg(w, node, 0), W = ftb_work_arg(w, node, 1), block = ftb_work_find(w, W);
    if (one_side(w, x) || block < 0 || !w->names[block].block || ftb_work_at(w, node)->count != 2)
        return -1;
    int64_t rows = w->names[block].rows->nrows;
    int made = distribute(w, x, (rows_of){W, 0, rows, rows});
    return made >= 0 && ftb_work_shape(w, made).type == ftb_work_shape(w, node).type ? made : -1;
}

/* ---- all of it */

/* sum(x * y) over features, x and y of different vertices: a dot product. */
static int as_dot(ftb_work *w, int node)
{
    int x = ftb_work_arg(w, node, 0);
    if (ftb_work_at(w, x)->op != FTB_OP_MUL || ftb_work_shape(w, x).width < 2)
        return node;
    int a = ftb_work_arg(w, x, 0), b = ftb_work_arg(w, x, 1);
    if ((w->sides[a] | w->sides[b]) != (FTB_SIDE_COL | FTB_SIDE_ROW) || !one_side(w, a) || !one_side(w, b))
        return node;
    int dot = ftb_work_op(w, FTB_OP_DOT, a, b);
    return dot >= 0 && ftb_work_shape(w, dot).type == ftb_work_shape(w, node).type ? dot : node;
}

static int simplify(ftb_work *w, int node)
{
    if (one_side(w, node))
        return node;
    switch (ftb_work_at(w, node)->op) {
    case FTB_OP_MATMUL: {
        int made = ftb_distribute(w, node);
        return made >= 0 ? ftb_regroup(w, made) : node;
    }
    case FTB_OP_SUM:
        return as_dot(w, node);
    case FTB_OP_ADD:
    case FTB_OP_SUB:
    case FTB_OP_MUL:
    case FTB_OP_DIV:
        return regroup_chain(w, node);
    default:
        return node;
    }
}

int ftb_regroup(ftb_work *w, int node)
{
    int result = node, *by = node >= 0 ? ftb_new(w->ctx, node + 1, sizeof *by) : NULL;
    uint8_t *needed = by ? ftb_new(w->ctx, node + 1, sizeof *needed) : NULL;
    if (!needed) {
        if (node >= 0)
            w->info = ftb_nomem();
        goto done;
    }
    ftb_work_mark(w, node, NULL, needed);
    for (int n = 0; n <= node; n++) {
        int args[64];
        const ftb_node like = *ftb_work_at(w, n);
        if (!needed[n])
            continue;
        for (int a = 0; a < like.count; a++)
            args[a] = by[ftb_work_arg(w, n, a)];
        int made = like.count ? ftb_work_node(w, &like, like.count, args) : n;
        result = by[n] = made >= 0 ? simplify(w, made) : n;
    }
done:
    ftb_delete(needed);
    ftb_delete(by);
    return w->info == GrB_SUCCESS ? result : node;
}
