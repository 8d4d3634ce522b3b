/* Rewriting of messages: what leaves the reduction (peel.c), sums and products by side (regroup.c), what is
 * computed once per vertex, and the form that is left (match.c).
 *
 * All stages stand in one tree (work.h). Where a stage would change the result's type or finds no room, the
 * message stays as it was before it. */
#include "expr/work.h"

#include "core/words.h"

typedef struct rewriter {
    ftb_work w;
    const ftb_message *m;
    ftb_rewritten *r;
    bool reduce;
    int core, post; /* post -1: h */
    int node[FTB_MAX_PRE], name[FTB_MAX_PRE];
    char names[2 * FTB_MAX_PRE + 2][FTB_NAME_LENGTH];
} rewriter;

void ftb_rewritten_clear(ftb_rewritten *r)
{
    for (int p = 0; p < r->npre; p++)
        ftb_expr_release(r->pre[p].expr);
    ftb_expr_release(r->core);
    ftb_expr_release(r->post);
    *r = (ftb_rewritten){0};
}

/* ---- once per vertex */

static bool is_taken(const ftb_message *m, const char *name)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (strcmp(m->feeds[f].name, name) == 0)
            return true;
    return false;
}

/* h and count, then u, u2, ... for what depends on columns and v, v2, ... on rows, as far as they are free.
 */
static void choose_names(rewriter *t, const char **list)
{
    ftb_put_word(t->names[0], FTB_NAME_LENGTH, "h");
    ftb_put_word(t->names[1], FTB_NAME_LENGTH, "count");
    for (int side = 0; side < 2; side++)
        for (int p = 0, number = 1; p < FTB_MAX_PRE; p++) {
            char *name = t->names[2 + side * FTB_MAX_PRE + p];
            do {
                if (number == 1)
                    snprintf(name, FTB_NAME_LENGTH, "%c", "uv"[side]);
                else
                    snprintf(name, FTB_NAME_LENGTH, "%c%d", "uv"[side], number);
                number++;
            } while (is_taken(t->m, name));
        }
    for (int n = 0; n < 2 * FTB_MAX_PRE + 2; n++)
        list[n] = t->names[n];
}

/* The name that stands for `node`, which depends on one kind of vertex; -1 if there is none. */
static int pre_of(rewriter *t, int node)
{
    ftb_rewritten *r = t->r;
    for (int p = 0; p < r->npre; p++)
        if (t->node[p] == node)
            return t->name[p];
    if (r->npre == FTB_MAX_PRE)
        return -1;
    ftb_pre *pre = &r->pre[r->npre];
    ftb_shape shape = ftb_work_shape(&t->w, node);
    pre->side = (ftb_side)t->w.sides[node];
    int same_side = 0;
    for (int p = 0; p < r->npre; p++)
        same_side += r->pre[p].side == pre->side;
    const char *name = t->names[2 + (pre->side == FTB_SIDE_ROW) * FTB_MAX_PRE + same_side];
    int made = ftb_work_name(&t->w, name, pre->side, shape.type, shape.width);
    if (made < 0)
        return -1;
    ftb_put_word(pre->name, sizeof pre->name, name);
    t->node[r->npre] = node;
    t->name[r->npre++] = made;
    return made;
}

/* Whether a feed can stand for it: whole numbers that come from a few bits are known to be small, and those
 * of a feed are not. */
static bool can_stand(rewriter *t, int node, int root)
{
    ftb_shape shape = ftb_work_shape(&t->w, node);
    return node == root || shape.wide || (shape.type && shape.type != FTB_INT64 && shape.type != FTB_UINT64);
}

/* by[n]: the name for each largest subexpression of `root` that depends on one kind of vertex. `products`:
 * only x @ W are wanted. */
static int hoist(rewriter *t, int root, bool products, int *by)
{
    ftb_work *w = &t->w;
    uint8_t *needed = ftb_new0(w->ctx, root + 1, sizeof *needed);
    if (!needed) {
        w->info = ftb_nomem();
        return -1;
    }
    needed[root] = 1;
    for (int n = root; n >= 0; n--) {
        by[n] = -1;
        if (!needed[n] || ftb_work_leaf(w, n))
            continue;
        bool one = w->sides[n] == FTB_SIDE_COL || w->sides[n] == FTB_SIDE_ROW;
        if (one && (products ? ftb_work_at(w, n)->op == FTB_OP_MATMUL : can_stand(t, n, root)))
            by[n] = pre_of(t, n);
        for (int a = 0; by[n] < 0 && a < ftb_work_at(w, n)->count; a++)
            needed[ftb_work_arg(w, n, a)] = 1;
    }
    ftb_delete(needed);
    return ftb_work_replace(w, root, by);
}

/* ---- the stages */

/* dot(x, y) * s is dot(x * s, y), where s is one value of a vertex or of all: for results on edges. */
static int scale_dot(ftb_work *w, int core)
{
    ftb_chain chain;
    ftb_operator op = ftb_work_at(w, core)->op;
    int dot = -1;
    if ((op != FTB_OP_MUL && op != FTB_OP_DIV && op != FTB_OP_NEG) || !ftb_chain_of(w, &chain, core))
        return core;
    for (int t = 0; t < chain.count; t++) {
        int node = chain.terms[t].node;
        bool one = w->sides[node] != (FTB_SIDE_COL | FTB_SIDE_ROW) && !(w->sides[node] & FTB_SIDE_EDGE);
        if (!one && (dot >= 0 || chain.terms[t].inverse || ftb_work_at(w, node)->op != FTB_OP_DOT))
            return core;
        if (!one)
            dot = t;
    }
    if (dot < 0)
        return core;
    int xy[2] = {ftb_work_arg(w, chain.terms[dot].node, 0), ftb_work_arg(w, chain.terms[dot].node, 1)};
    int col = ftb_work_col(w, xy[0]) ? 0 : 1;
    if (!ftb_work_col(w, xy[col]))
        return core;
    for (int t = 0; t < chain.count; t++) {
        int s = chain.terms[t].node, to = w->sides[s] == FTB_SIDE_ROW ? 1 - col : col;
        if (ftb_work_shape(w, s).width != 1)
            return core;
        if (t != dot)
            xy[to] = ftb_work_op(w, chain.terms[t].inverse ? FTB_OP_DIV : FTB_OP_MUL, xy[to], s);
    }
    if (chain.negative)
        xy[0] = ftb_work_op(w, FTB_OP_NEG, xy[0], -1);
    int made = ftb_work_op(w, FTB_OP_DOT, xy[0], xy[1]);
    return made >= 0 && ftb_work_shape(w, made).type == chain.type ? made : core;
}

/* Entries of a pattern without values are a feed that is 1: as a literal it leaves products. */
static void fold_ones(rewriter *t)
{
    ftb_work *w = &t->w;
    int root = w->tree->root, ones = 0, *by = ftb_new(w->ctx, root + 1, sizeof *by);
    ftb_shape was = ftb_work_shape(w, root);
    if (!by) {
        w->info = ftb_nomem();
        return;
    }
    for (int n = 0; n <= root; n++) {
        int name = ftb_work_find(w, n);
        const ftb_feed *feed = name >= 0 ? &t->m->feeds[name] : NULL;
        by[n] = -1;
        if (feed && feed->side == FTB_SIDE_NONE && feed->type == FTB_INT8 && !feed->constant && feed->data &&
            feed->width == 1 && feed->heads == 1 && *(const int8_t *)feed->data == 1) {
            by[n] = ftb_work_integer(w, 1);
            ones++;
        }
    }
    for (int n = 0; n <= root && ones > 0; n++) {
        ftb_operator op = ftb_work_at(w, n)->op;
        for (int a = op == FTB_OP_DIV; a < 2 && (op == FTB_OP_MUL || op == FTB_OP_DIV); a++) {
            int other = ftb_work_arg(w, n, 1 - a), one = by[ftb_work_arg(w, n, a)];
            if (by[n] < 0 && one >= 0 && ftb_work_at(w, one)->op == FTB_OP_LITERAL &&
                ftb_work_shape(w, other).type == ftb_work_shape(w, n).type)
                by[n] = by[other] >= 0 ? by[other] : other;
        }
    }
    int made = ones > 0 ? ftb_work_replace(w, root, by) : -1;
    if (made >= 0 && ftb_work_shape(w, made).type == was.type && ftb_work_shape(w, made).width == was.width)
        w->tree->root = made;
    ftb_delete(by);
}

/* Core and post of what was peeled; false if the result would not be what it was. */
static bool settle(rewriter *t, const ftb_peeled *p, FtB_Type type, int64_t width)
{
    ftb_work *w = &t->w;
    t->core = ftb_regroup(w, p->core);
    t->post = -1;
    t->r->mean = false;
    t->r->monoid = p->monoid;
    if (!t->reduce || (p->nsteps == 0 && !p->mean))
        return true;
    ftb_shape core = ftb_work_shape(w, t->core);
    int h = ftb_work_name(w, "h", FTB_SIDE_RESULT, ftb_monoid_type(p->monoid, core.type), core.width);
    int count = ftb_work_name(w, "count", FTB_SIDE_RESULT, FTB_INT64, 1);
    t->post = h < 0 || count < 0 ? -1 : ftb_peeled_post(w, p, h, count);
    ftb_shape shape = ftb_work_shape(w, t->post);
    t->r->mean = p->mean && !p->all && p->nsteps == 0 && ftb_work_shape(w, h).type == type;
    return t->post >= 0 && shape.type == type && shape.width == width;
}

static void peel(rewriter *t, bool arg)
{
    ftb_work *w = &t->w;
    int root = w->tree->root;
    ftb_shape shape = ftb_work_shape(w, root);
    if (w->info != GrB_SUCCESS)
        return;
    ftb_reducer reducer = t->m->reducer;
    bool mean = reducer.mean && t->reduce;
    FtB_Type type = ftb_monoid_type(reducer.monoid, shape.type);
    if (mean && type != FTB_FP32)
        type = FTB_FP64;
    ftb_peeled peeled = {.monoid = reducer.monoid, .mean = mean, .core = root}, plain = peeled;
    if (t->reduce && !arg)
        ftb_peel(w, t->m, &peeled);
    if (!settle(t, &peeled, type, shape.width))
        settle(t, &plain, type, shape.width);
    if (!t->reduce)
        t->core = scale_dot(w, t->core);
}

static double value_of(const ftb_node *n) { return n->op == FTB_OP_REAL ? n->real : (double)n->integer; }

static void name_of(const ftb_work *w, int node, char *name)
{
    int at = node >= 0 ? ftb_work_find(w, node) : -1;
    ftb_put_word(name, FTB_NAME_LENGTH, at >= 0 ? w->names[at].name : "");
}

/* The pres, and the form that they leave. */
static void finish(rewriter *t)
{
    ftb_work *w = &t->w;
    ftb_rewritten *r = t->r;
    int x, y, last = ftb_max(t->core, t->post), *by = ftb_new(w->ctx, last + 1, sizeof *by);
    if (!by) {
        w->info = ftb_nomem();
        return;
    }
    FtB_Type type = ftb_work_shape(w, t->core).type;
    ftb_form form = ftb_match(w, t->core, t->reduce, &x, &y);
    int core = hoist(t, t->core, false, by);
    if (core >= 0 && ftb_work_shape(w, core).type == type) {
        x = x >= 0 && by[x] >= 0 ? by[x] : x;
        y = y >= 0 && by[y] >= 0 ? by[y] : y;
        t->core = core;
    } else {
        r->npre = 0;
    }
    r->form =
        (x < 0 || ftb_work_find(w, x) >= 0) && (y < 0 || ftb_work_find(w, y) >= 0) ? form : FTB_FORM_ANY;
    if (r->form != FTB_FORM_ANY) {
        name_of(w, x, r->x);
        name_of(w, y, r->y);
    }
    if (r->form == FTB_FORM_ONE)
        r->value = value_of(ftb_work_at(w, t->core));
    if (t->post >= 0 && w->info == GrB_SUCCESS) {
        int post = hoist(t, t->post, true, by);
        t->post = post >= 0 ? post : t->post;
    }
    ftb_delete(by);
}

static GrB_Info extract(rewriter *t)
{
    ftb_rewritten *r = t->r;
    GrB_Info info = t->w.info;
    if (info == GrB_SUCCESS)
        info = ftb_work_extract(&r->core, &t->w, t->core);
    if (info == GrB_SUCCESS && t->post >= 0)
        info = ftb_work_extract(&r->post, &t->w, t->post);
    for (int p = 0; p < r->npre && info == GrB_SUCCESS; p++)
        info = ftb_work_extract(&r->pre[p].expr, &t->w, t->node[p]);
    return info;
}

/* The message as it stands. */
static GrB_Info keep(ftb_rewritten *r, const ftb_message *m, bool reduce)
{
    ftb_message_type type = {.reduced = FTB_FP32};
    GrB_Info info = GrB_SUCCESS;
    if (m->expr) {
        ftb_program *program = NULL;
        info = ftb_message_compile(&type, &program, m);
        ftb_program_delete(program);
        r->core = ftb_expr_retain(m->expr);
    }
    if (info == GrB_SUCCESS && reduce && m->reducer.mean)
        info = ftb_expr_parse(&r->post, m->ctx, type.reduced == FTB_FP32 ? "h / fp32(count)" : "h / count",
                              "mean", 0);
    return info;
}

GrB_Info ftb_rewrite(ftb_rewritten *r, const ftb_message *m, bool reduce, bool arg)
{
    GrB_Info info;
    *r = (ftb_rewritten){.ctx = m->ctx, .monoid = m->reducer.monoid};
    if (!m->expr || m->expr->nnodes > FTB_WORK_SMALL) {
        info = keep(r, m, reduce);
    } else {
        rewriter *t = ftb_new0(m->ctx, 1, sizeof *t);
        if (!t)
            return ftb_nomem();
        const char *names[2 * FTB_MAX_PRE + 2];
        int room = ftb_min(FTB_WORK_NODES, 12 * m->expr->nnodes + 200);
        t->m = m;
        t->r = r;
        t->reduce = reduce;
        choose_names(t, names);
        if (ftb_work_begin(&t->w, m, room, 2 * FTB_MAX_PRE + 2, names) == GrB_SUCCESS)
            fold_ones(t);
        if (t->w.info == GrB_SUCCESS)
            peel(t, arg);
        if (t->w.info == GrB_SUCCESS)
            finish(t);
        info = extract(t);
        ftb_work_end(&t->w);
        ftb_delete(t);
    }
    if (info != GrB_SUCCESS)
        ftb_rewritten_clear(r);
    return info;
}
