/* Trees to text, with the parentheses that the parser needs to read them as they are. */
#include "core/locale.h"
#include "expr/rewrite.h"
#include "expr/tree.h"

#include <math.h>

/* How tightly an operator binds, as the parser has it. */
enum { LOOSEST, SELECT, OR, AND, COMPARE, SUM, PRODUCT, PREFIX, POSTFIX };

typedef struct printer {
    FtB_Context ctx;
    const ftb_expr *e;
    char *text;
    int64_t used, room;
    bool nomem, full;
} printer;

/* Shared subexpressions are printed wherever they are used, which can be without end. */
#define MOST (2 * FTB_MAX_TEXT)

static void put(printer *p, const char *bytes, int64_t count)
{
    if (p->used + count >= p->room && !p->nomem) {
        int64_t room = 2 * (p->used + count) + 64;
        p->nomem = !ftb_resize(p->ctx, (void **)&p->text, room, 1);
        p->room = p->nomem ? p->room : room;
    }
    if (p->nomem)
        return;
    memcpy(p->text + p->used, bytes, (size_t)count);
    p->used += count;
    p->text[p->used] = '\0';
}

static void put_text(printer *p, const char *text) { put(p, text, (int64_t)strlen(text)); }

static void put_number(printer *p, const ftb_node *n)
{
    char text[48];
    locale_t before = ftb_locale_enter();
    if (n->op == FTB_OP_TRUTH)
        snprintf(text, sizeof text, "%s", n->integer ? "true" : "false");
    else if (n->op == FTB_OP_LITERAL)
        snprintf(text, sizeof text, "%lld", (long long)n->integer);
    else if (n->op == FTB_OP_HUGE)
        snprintf(text, sizeof text, "%llu", (unsigned long long)n->integer);
    else if (isnan(n->real) || isinf(n->real))
        snprintf(text, sizeof text, "%s%s", signbit(n->real) ? "-" : "", isnan(n->real) ? "nan" : "inf");
    else
        snprintf(text, sizeof text, "%.17g", n->real);
    if (n->op == FTB_OP_REAL && isfinite(n->real)) {
        for (int digits = 1; digits < 17; digits++) { /* the shortest that reads as the same number */
            char shorter[48];
            double back = 0;
            snprintf(shorter, sizeof shorter, "%.*g", digits, n->real);
            if (sscanf(shorter, "%lf", &back) == 1 && memcmp(&back, &n->real, sizeof back) == 0) {
                memcpy(text, shorter, sizeof text);
                break;
            }
        }
        if (!strpbrk(text, ".e"))
            memcpy(text + strlen(text), ".0", 3);
    }
    ftb_locale_leave(before);
    put_text(p, text);
}

static int level(ftb_operator op)
{
    switch (op) {
    case FTB_OP_SELECT:
        return SELECT;
    case FTB_OP_OR:
        return OR;
    case FTB_OP_AND:
        return AND;
    case FTB_OP_LT:
    case FTB_OP_LE:
    case FTB_OP_GT:
    case FTB_OP_GE:
    case FTB_OP_EQ:
    case FTB_OP_NE:
        return COMPARE;
    case FTB_OP_ADD:
    case FTB_OP_SUB:
        return SUM;
    case FTB_OP_MUL:
    case FTB_OP_DIV:
    case FTB_OP_MATMUL:
        return PRODUCT;
    case FTB_OP_NEG:
    case FTB_OP_NOT:
        return PREFIX;
    default:
        return POSTFIX;
    }
}

static void print(printer *p, int node, int around);

static void put_list(printer *p, int node)
{
    for (int a = 0; a < p->e->nodes[node].count; a++) {
        if (a > 0)
            put_text(p, ", ");
        print(p, ftb_tree_arg(p->e, node, a), LOOSEST);
    }
}

static void put_operator(printer *p, int node)
{
    const ftb_node *n = &p->e->nodes[node];
    const char *spelling = ftb_operators[n->op].spelling;
    int here = level(n->op);
    if (n->op == FTB_OP_SELECT) {
        print(p, ftb_tree_arg(p->e, node, 0), OR);
        put_text(p, " ? ");
        print(p, ftb_tree_arg(p->e, node, 1), SELECT);
        put_text(p, " : ");
        print(p, ftb_tree_arg(p->e, node, 2), SELECT);
    } else if (here == PREFIX) {
        put_text(p, spelling);
        print(p, ftb_tree_arg(p->e, node, 0), PREFIX);
    } else if (here < PREFIX) { /* comparisons do not chain */
        print(p, ftb_tree_arg(p->e, node, 0), here == COMPARE ? here + 1 : here);
        put_text(p, " ");
        put_text(p, spelling);
        put_text(p, " ");
        print(p, ftb_tree_arg(p->e, node, 1), here + 1);
        if (n->count == 3) { /* x @ W from this row on */
            put_text(p, "[");
            print(p, ftb_tree_arg(p->e, node, 2), LOOSEST);
            put_text(p, ":]");
        }
    } else if (n->op == FTB_OP_INDEX) {
        print(p, ftb_tree_arg(p->e, node, 0), POSTFIX);
        put_text(p, "[");
        print(p, ftb_tree_arg(p->e, node, 1), LOOSEST);
        put_text(p, "]");
    } else {
        put_text(p, n->op == FTB_OP_VECTOR ? "[" : spelling);
        put_text(p, n->op == FTB_OP_VECTOR ? "" : "(");
        put_list(p, node);
        put_text(p, n->op == FTB_OP_VECTOR ? "]" : ")");
    }
}

static void print(printer *p, int node, int around)
{
    const ftb_node *n = &p->e->nodes[node];
    if (p->used > MOST) {
        put_text(p, p->full ? "" : "...");
        p->full = true;
    } else if (n->op == FTB_OP_NAME) {
        put(p, p->e->text + n->name.start, n->name.length);
    } else if (n->op > FTB_OP_NAME) {
        put_number(p, n);
    } else if (level(n->op) < around) {
        put_text(p, "(");
        put_operator(p, node);
        put_text(p, ")");
    } else {
        put_operator(p, node);
    }
}

char *ftb_expr_print(FtB_Context ctx, const ftb_expr *e)
{
    printer p = {.ctx = ctx, .e = e};
    print(&p, e->root, LOOSEST);
    if (!p.nomem)
        return p.text;
    ftb_delete(p.text);
    return NULL;
}
