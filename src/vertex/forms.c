/* Texts that loops over edges need not evaluate: what each of them amounts to. */
#include "expr/tree.h"
#include "vertex/run.h"

#include <math.h>

/* ---- messages */

static bool is_one_name(const ftb_expr *e, const char *name)
{
    return e && ftb_tree_is_name(e, e->root, name);
}

/* Whether all that a text reads is the same for all vertices, and edges. */
static bool is_same(const ftb_vertex_text *t, bool sent_is)
{
    for (int f = 0; f < t->m.nfeeds; f++) {
        const bool sent = t->of[f].kind == FTB_VERTEX_MESSAGE && sent_is;
        if (t->m.feeds[f].side != FTB_SIDE_NONE && !sent)
            return false;
    }
    return t->program != NULL;
}

/* Whether a receiver's first message, in the order of senders, says all: of `any` by definition; where all
 * are alike; and the least number is the first sender's, along the edges of one direction. */
static void find_first(FtB_Run r)
{
    ftb_vertex_work *w = &r->work;
    const ftb_vertex_text *send = &w->texts[FTB_VERTEX_SEND], *combine = &w->texts[FTB_VERTEX_COMBINE];
    const bool id = is_one_name(r->program->send, "id"), copies = is_one_name(combine->m.expr, "message");
    const bool least = w->monoid == FTB_MIN && id && copies && r->program->direction != FTB_BOTH;
    const bool alike = ftb_monoid_idempotent(w->monoid) && is_same(combine, is_same(send, false));
    w->first = w->monoid == FTB_ANY || least || alike;
    w->numbers = w->first && id && copies && w->reduced == FTB_INT64;
}

/* What is left of the text in a loop that knows it. */
static ftb_vertex_plain find_plain(const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    const ftb_vertex_text *t = &w->texts[FTB_VERTEX_COMBINE];
    const ftb_vertex_plain plain = ftb_vertex_plain_of(t->m.expr, "message");
    if (!ftb_vertex_plain_knows(w->monoid, w->reduced) || t->type != w->reduced || w->width != 1 ||
        (plain > FTB_PLAIN_COPY && r->reads_edges && (r->A->type != w->reduced || r->A->width != 1)))
        return FTB_PLAIN_NONE;
    return plain;
}

/* ---- settled */

/* A number that is written out; integers that FP32 holds. */
static bool is_number(const ftb_expr *e, int at, double *x, bool *whole)
{
    const ftb_node *node = &e->nodes[at];
    const bool minus = node->op == FTB_OP_NEG;
    if (minus)
        node = &e->nodes[ftb_tree_arg(e, at, 0)];
    *whole = node->op == FTB_OP_LITERAL;
    *x = *whole ? (double)node->integer : node->op == FTB_OP_REAL ? node->real : NAN;
    *x = minus ? -*x : *x;
    return *x == *x && (!*whole || fabs(*x) <= 1 << 24);
}

/* x op c, of reals as they are stored. */
static void bound_real(ftb_vertex_test *t, ftb_operator op, double c)
{
    const bool few = t->type == FTB_FP32;
    c = few ? (double)(float)c : c;
    const double below = few ? (double)nextafterf((float)c, -INFINITY) : nextafter(c, -INFINITY);
    const double above = few ? (double)nextafterf((float)c, INFINITY) : nextafter(c, INFINITY);
    t->low = op == FTB_OP_LT || op == FTB_OP_LE ? -(double)INFINITY : op == FTB_OP_GT ? above : c;
    t->high = op == FTB_OP_GT || op == FTB_OP_GE ? (double)INFINITY : op == FTB_OP_LT ? below : c;
    if ((op == FTB_OP_LT && c == -(double)INFINITY) || (op == FTB_OP_GT && c == (double)INFINITY)) {
        t->low = 1; /* nothing is */
        t->high = 0;
    }
}

static void bound_integer(ftb_vertex_test *t, ftb_operator op, int64_t c)
{
    const bool few = t->type == FTB_INT32;
    t->least = op == FTB_OP_LT || op == FTB_OP_LE ? (few ? INT32_MIN : INT64_MIN)
               : op == FTB_OP_GT                  ? c + 1
                                                  : c;
    t->most = op == FTB_OP_GT || op == FTB_OP_GE ? (few ? INT32_MAX : INT64_MAX)
              : op == FTB_OP_LT                  ? c - 1
                                                 : c;
}

static ftb_operator turned(ftb_operator op) /* c op x is x turned(op) c */
{
    switch (op) {
    case FTB_OP_LT:
        return FTB_OP_GT;
    case FTB_OP_LE:
        return FTB_OP_GE;
    case FTB_OP_GT:
        return FTB_OP_LT;
    case FTB_OP_GE:
        return FTB_OP_LE;
    default:
        return op;
    }
}

/* FIELD op number, or number op FIELD. */
static void find_test(FtB_Run r)
{
    ftb_vertex_work *w = &r->work;
    const ftb_expr *e = r->program->settled;
    const ftb_vertex_text *t = &w->texts[w->settled];
    ftb_operator op = e->nodes[e->root].op;
    double x = 0;
    bool whole = false;
    if (op < FTB_OP_LT || op > FTB_OP_NE || t->m.nfeeds != 1 || t->of[0].kind != FTB_VERTEX_STATE)
        return;
    const ftb_vertex_state *s = &r->states[t->of[0].index];
    const int left = ftb_tree_arg(e, e->root, 0), right = ftb_tree_arg(e, e->root, 1);
    const bool field_first = e->nodes[left].op == FTB_OP_NAME;
    if (!s->vertex || s->block->ncols != 1 || e->nodes[field_first ? left : right].op != FTB_OP_NAME ||
        !is_number(e, field_first ? right : left, &x, &whole))
        return;
    ftb_vertex_test test = {.there = true,
                            .state = t->of[0].index,
                            .type = s->block->type,
                            .ld = s->block->ld,
                            .beyond = op == FTB_OP_NE};
    op = field_first ? op : turned(op);
    if (test.type == FTB_FP32 && !whole && x != 0 && !isinf(x) && !isnormal((float)x))
        return; /* the comparison is one of FP64 then */
    if (test.type == FTB_FP32 || test.type == FTB_FP64)
        bound_real(&test, op, x);
    else if ((test.type == FTB_INT32 || test.type == FTB_INT64) && whole)
        bound_integer(&test, op, (int64_t)x);
    else
        return;
    w->test = test;
}

/* ---- searches from several sources */

static bool same_tree(const ftb_expr *a, int x, const ftb_expr *b, int y)
{
    const ftb_node *p = &a->nodes[x], *q = &b->nodes[y];
    if (p->op != q->op || p->count != q->count)
        return false;
    if (p->op == FTB_OP_NAME)
        return p->name.length == q->name.length &&
               memcmp(a->text + p->name.start, b->text + q->name.start, (size_t)p->name.length) == 0;
    if (p->op == FTB_OP_LITERAL)
        return p->integer == q->integer;
    for (int t = 0; t < p->count; t++)
        if (!same_tree(a, ftb_tree_arg(a, x, t), b, ftb_tree_arg(b, y, t)))
            return false;
    return p->count > 0;
}

/* *same: whether an expression is a text, in which %1$s is the level and %2$s what says that nothing came. */
static GrB_Info is_text(bool *same, const ftb_expr *e, FtB_Context ctx, const char *text, const char *level)
{
    char written[200];
    ftb_expr *other = NULL;
    snprintf(written, sizeof written, text, level);
    GrB_Info info = ftb_expr_parse(&other, ctx, written, "form", 0);
    *same = *same && info == GrB_SUCCESS && same_tree(e, e->root, other, other->root);
    ftb_expr_release(other);
    return info;
}

static bool is_level(FtB_Type type) { return type == FTB_INT32 || type == FTB_INT64 || type == FTB_FP64; }

/* FtB_bfs's texts for several columns, whatever its fields are called: `level`, and with parents `parent`. */
static GrB_Info find_search(FtB_Run r)
{
    const struct FtB_Program_opaque *p = r->program;
    ftb_vertex_work *w = &r->work;
    const bool parents = p->nassigned == 2;
    const ftb_monoid monoid = parents ? FTB_MIN : FTB_OR;
    GrB_Info info = GrB_SUCCESS;
    if (p->nassigned > 2 || !p->settled || p->active || p->priority || p->all_apply || p->nsums > 0 ||
        w->monoid != monoid || !is_one_name(w->texts[FTB_VERTEX_COMBINE].m.expr, "message") ||
        (parents && p->direction == FTB_BOTH))
        return info;
    for (int level = 0; level < p->nassigned && info == GrB_SUCCESS && !r->bits.there; level++) {
        const char *name = p->assigned[level].field;
        const ftb_vertex_field *f = &w->fields[level], *g = &w->fields[1 - level];
        bool same = f->ncols <= 64 && is_level(f->type) &&
                    (!parents || (g->ncols == f->ncols && g->type == FTB_INT64));
        FTB_CHECK(is_text(&same, p->settled, r->ctx, "%s >= 0", name));
        FTB_CHECK(
            is_text(&same, p->send, r->ctx, parents ? "%s == round - 1 ? id : n" : "%s == round - 1", name));
        FTB_CHECK(is_text(&same, p->assigned[level].expr, r->ctx,
                          parents ? "%1$s < 0 && received < n ? round : %1$s"
                                  : "%1$s < 0 && received ? round : %1$s",
                          name));
        if (parents) {
            char text[120];
            snprintf(text, sizeof text, "%%s < 0 && received < n ? received : %s",
                     p->assigned[1 - level].field);
            FTB_CHECK(is_text(&same, p->assigned[1 - level].expr, r->ctx, text, name));
        }
        r->bits = (ftb_vertex_bits){.there = same,
                                    .level = level,
                                    .parent = parents ? 1 - level : -1,
                                    .all = f->ncols < 64 ? (UINT64_C(1) << f->ncols) - 1 : ~UINT64_C(0)};
    }
done:
    return info;
}

GrB_Info ftb_vertex_forms(FtB_Run r)
{
    ftb_vertex_work *w = &r->work;
    for (int t = 0; t < w->ntexts; t++)
        for (int f = 0; f < w->texts[t].m.nfeeds; f++)
            w->reads_changed |= w->texts[t].of[f].kind == FTB_VERTEX_CHANGED;
    const bool counts = w->monoid == FTB_PLUS || w->monoid == FTB_TIMES;
    r->any_way = (counts ? !ftb_type_float(w->reduced) : w->monoid != FTB_ANY) &&
                 ftb_vertex_plain_of(w->texts[FTB_VERTEX_COMBINE].m.expr, "message") != FTB_PLAIN_NONE;
    find_first(r);
    w->plain = w->first ? FTB_PLAIN_NONE : find_plain(r);
    if (w->settled >= 0)
        find_test(r);
    return find_search(r);
}
