/* Which form that kernels know a core has. */
#include "expr/work.h"

/* What stands beside x: a value of the edge as it is stored, or of the row, where results stay on the edges.
 */
static bool is_y(const ftb_work *w, int node, bool reduce)
{
    if (w->sides[node] == FTB_SIDE_EDGE)
        return ftb_work_at(w, node)->op == FTB_OP_NAME;
    return !reduce && w->sides[node] == FTB_SIDE_ROW;
}

static ftb_form match_pair(const ftb_work *w, int node, bool reduce, int *x, int *y)
{
    ftb_operator op = ftb_work_at(w, node)->op;
    int a = ftb_work_arg(w, node, 0), b = ftb_work_arg(w, node, 1);
    bool straight = ftb_work_col(w, a) && is_y(w, b, reduce),
         crossed = ftb_work_col(w, b) && is_y(w, a, reduce);
    if (!straight && !crossed)
        return FTB_FORM_ANY;
    *x = straight ? a : b;
    *y = straight ? b : a;
    switch (op) {
    case FTB_OP_ADD:
        return FTB_FORM_ADD;
    case FTB_OP_MUL:
        return FTB_FORM_MUL;
    case FTB_OP_SUB:
        return straight ? FTB_FORM_SUB : FTB_FORM_RSUB;
    case FTB_OP_DIV:
        return straight ? FTB_FORM_DIV : FTB_FORM_ANY;
    default: /* dot */
        return !reduce && w->sides[*y] == FTB_SIDE_ROW ? FTB_FORM_DOT : FTB_FORM_ANY;
    }
}

ftb_form ftb_match(const ftb_work *w, int node, bool reduce, int *x, int *y)
{
    ftb_form form = FTB_FORM_ANY;
    *x = *y = -1;
    if (ftb_work_col(w, node) || (!reduce && w->sides[node] == FTB_SIDE_ROW)) {
        *x = node;
        return FTB_FORM_COPY;
    }
    switch (ftb_work_at(w, node)->op) {
    case FTB_OP_NAME:
        *y = node;
        return w->sides[node] == FTB_SIDE_EDGE ? FTB_FORM_EDGE : FTB_FORM_ANY;
    case FTB_OP_TRUTH:
    case FTB_OP_LITERAL:
    case FTB_OP_REAL:
        return FTB_FORM_ONE;
    case FTB_OP_ADD:
    case FTB_OP_SUB:
    case FTB_OP_MUL:
    case FTB_OP_DIV:
    case FTB_OP_DOT:
        form = match_pair(w, node, reduce, x, y);
        break;
    default:
        break;
    }
    if (form == FTB_FORM_ANY)
        *x = *y = -1;
    return form;
}
