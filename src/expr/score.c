/* What a message's tree says, where it is one of the forms that kernels over edges are written for. */
#include "expr/score.h"

#include "expr/tree.h"

#include <math.h>

static const ftb_feed *feed_of(const ftb_message *m, int node)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (ftb_tree_is_name(m->expr, node, m->feeds[f].name))
            return &m->feeds[f];
    return NULL;
}

/* Whether a node is one number for all edges. */
static bool number(double *value, const ftb_message *m, int node)
{
    const ftb_expr *e = m->expr;
    const ftb_node *n = &e->nodes[node];
    double x, y;
    switch (n->op) {
    case FTB_OP_LITERAL:
        *value = (double)n->integer;
        return true;
    case FTB_OP_REAL:
        *value = n->real;
        return true;
    case FTB_OP_NAME: {
        const ftb_feed *feed = feed_of(m, node);
        if (!feed || !feed->constant)
            return false;
        *value = ftb_get_real(feed->data, feed->type, 0);
        return true;
    }
    case FTB_OP_SQRT:
        if (!number(&x, m, ftb_tree_arg(e, node, 0)))
            return false;
        *value = sqrt(x);
        return true;
    case FTB_OP_DIV:
        if (!number(&x, m, ftb_tree_arg(e, node, 0)) || !number(&y, m, ftb_tree_arg(e, node, 1)))
            return false;
        *value = x / y;
        return true;
    default:
        return false;
    }
}

/* The two feeds of a node's arguments, one read by the column and one by the row; real and as wide. */
static bool operands(ftb_score *s, const ftb_message *m, int node)
{
    const ftb_feed *a = feed_of(m, ftb_tree_arg(m->expr, node, 0));
    const ftb_feed *b = feed_of(m, ftb_tree_arg(m->expr, node, 1));
    if (!a || !b)
        return false;
    s->x = a->side == FTB_SIDE_COL ? a : b;
    s->y = a->side == FTB_SIDE_COL ? b : a;
    return s->x->side == FTB_SIDE_COL && s->y->side == FTB_SIDE_ROW && s->x->width == s->y->width &&
           ftb_type_float(s->x->type) && ftb_type_float(s->y->type) && s->x->data && s->y->data &&
           !s->x->at && !s->y->at;
}

static bool match_dot(ftb_score *s, const ftb_message *m)
{
    const ftb_expr *e = m->expr;
    int node = e->root;
    double factor;
    s->scale = 1;
    if (e->nodes[node].op == FTB_OP_MUL && number(&factor, m, ftb_tree_arg(e, node, 0))) {
        s->scale = factor;
        node = ftb_tree_arg(e, node, 1);
    } else if ((e->nodes[node].op == FTB_OP_MUL || e->nodes[node].op == FTB_OP_DIV) &&
               number(&factor, m, ftb_tree_arg(e, node, 1))) {
        s->scale = e->nodes[node].op == FTB_OP_MUL ? factor : 1 / factor;
        node = ftb_tree_arg(e, node, 0);
    }
    return e->nodes[node].op == FTB_OP_DOT && operands(s, m, node);
}

static bool match_add(ftb_score *s, const ftb_message *m)
{
    const ftb_expr *e = m->expr;
    int node = e->root;
    s->slope = 1;
    if (e->nodes[node].op == FTB_OP_LEAKY_RELU) {
        s->slope = ftb_operators[FTB_OP_LEAKY_RELU].fallback;
        if (e->nodes[node].count == 2 && !number(&s->slope, m, ftb_tree_arg(e, node, 1)))
            return false;
        node = ftb_tree_arg(e, node, 0);
    }
    return e->nodes[node].op == FTB_OP_ADD && operands(s, m, node) && s->x->width == 1;
}

ftb_score ftb_score_of(const ftb_message *m, const ftb_message_type *type)
{
    ftb_score s = {.kind = FTB_SCORE_ANY};
    if (!m->expr || (type->message != FTB_FP32 && type->message != FTB_FP64))
        return s;
    if (match_dot(&s, m))
        s.kind = FTB_SCORE_DOT;
    else if (match_add(&s, m))
        s.kind = FTB_SCORE_ADD;
    return s;
}
