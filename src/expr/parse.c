/* Text to tree: recursive descent, with precedence climbing for the binary operators. From loose to tight:
 *
 *     c ? x : y    ||    &&    < <= > >= == !=    + -    * / @    unary - ! +    x[index]
 *
 * Nesting is bounded (FTB_MAX_NESTING), and with it the stack. */
#include "core/locale.h"
#include "expr/tree.h"

#include <math.h>
#include <stdlib.h>

#define MAX_ARGUMENTS 64

typedef struct parser {
    ftb_expr *e;
    ftb_token token; /* the next one */
    int depth;
    bool nomem; /* an allocation failed: then the error is not the text's */
} parser;

static int expression(parser *p);

static int column(const parser *p) { return p->e->column0 + p->token.start + 1; }

/* Says that something else was expected here; returns -1, as all of these do after an error. */
static int expected(const parser *p, const char *what)
{
    const char *advice = "", *text = p->e->text + p->token.start;
    if (p->token.kind == FTB_TOKEN_BAD && *text == '=')
        advice = "; equality is ==";
    else if (p->token.kind == FTB_TOKEN_BAD && *text == '^')
        advice = "; powers are pow(x, y)";
    else if (p->token.kind == FTB_TOKEN_BAD && (*text == '&' || *text == '|'))
        advice = "; and is &&, or is ||";
    if (p->token.kind == FTB_TOKEN_END)
        ftb_fail(GrB_INVALID_VALUE, "%s: expected %s at column %d, where the text ends", p->e->what, what,
                 column(p));
    else
        ftb_fail(GrB_INVALID_VALUE, "%s: expected %s at column %d, found '%.*s'%s", p->e->what, what,
                 column(p), ftb_min(p->token.length, 40), text, advice);
    return -1;
}

static void advance(parser *p) { p->token = ftb_token_next(p->e->text, p->token.start + p->token.length); }

static bool at_symbol(const parser *p, const char *symbol)
{
    return p->token.kind == FTB_TOKEN_SYMBOL && (size_t)p->token.length == strlen(symbol) &&
           memcmp(p->e->text + p->token.start, symbol, (size_t)p->token.length) == 0;
}

static bool accept(parser *p, const char *symbol)
{
    bool there = at_symbol(p, symbol);
    if (there)
        advance(p);
    return there;
}

static bool nested(parser *p)
{
    if (++p->depth <= FTB_MAX_NESTING)
        return true;
    ftb_fail(GrB_INVALID_VALUE, "%s: nested more than %d deep at column %d", p->e->what, FTB_MAX_NESTING,
             column(p));
    return false;
}

static int add_node(parser *p, const ftb_node *node, int count, const int *args)
{
    int made = ftb_tree_add(p->e, node, count, args);
    p->nomem = p->nomem || made == FTB_TREE_NOMEM;
    return made;
}

static int add(parser *p, ftb_operator op, int start, int count, const int *args)
{
    return add_node(p, &(ftb_node){.op = op, .column = start + 1}, count, args);
}

static int add_real(parser *p, int start, double value)
{
    ftb_node node = {.op = FTB_OP_REAL, .column = start + 1};
    node.real = value;
    return add_node(p, &node, 0, NULL);
}

/* strtod, whatever the program's locale. */
static double real_value(const char *text)
{
    locale_t c = ftb_c_locale();
    return c ? strtod_l(text, NULL, c) : strtod(text, NULL);
}

static int number(parser *p)
{
    const char *text = p->e->text + p->token.start;
    ftb_node node = {.op = FTB_OP_LITERAL, .column = p->token.start + 1};
    uint64_t value = 0;
    bool real = p->token.kind == FTB_TOKEN_REAL;
    for (int c = 0; c < p->token.length && !real; c++)
        real = __builtin_mul_overflow(value, 10U, &value) ||
               __builtin_add_overflow(value, (uint64_t)(text[c] - '0'), &value);
    advance(p);
    if (real)
        return add_real(p, node.column - 1, real_value(text));
    if (value > INT64_MAX)
        node.op = FTB_OP_HUGE;
    node.integer = (int64_t)value;
    return add_node(p, &node, 0, NULL);
}

/* Expressions between commas, up to `close`; their number, or -1. */
static int list(parser *p, const char *close, const char *what, int *args)
{
    int count = 0;
    if (accept(p, close))
        return 0;
    do {
        if (count == MAX_ARGUMENTS)
            return expected(p, "no more than 64 of them");
        args[count] = expression(p);
        if (args[count++] < 0)
            return -1;
    } while (accept(p, ","));
    return accept(p, close) ? count : expected(p, what);
}

static int unknown_function(const parser *p, const char *name, int length, int start)
{
    char known[768] = "";
    size_t used = 0;
    for (ftb_operator op = 0; op < FTB_NOPERATORS; op++) {
        const char *spelling = ftb_operators[op].spelling;
        size_t bytes = strlen(spelling);
        if (ftb_operator_find(spelling, (int64_t)bytes) != op || used + bytes + 3 > sizeof known)
            continue;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", spelling);
    }
    ftb_fail(GrB_INVALID_VALUE, "%s: unknown function '%.*s' at column %d; known functions: %s", p->e->what,
             ftb_min(length, 40), name, p->e->column0 + start + 1, known);
    return -1;
}

/* After "name (": the arguments. min and max take two or more; a fallback stands in for a second one. */
static int call(parser *p, int start, int length)
{
    const char *name = p->e->text + start;
    ftb_operator op = ftb_operator_find(name, length);
    if (op == FTB_NOPERATORS)
        return unknown_function(p, name, length, start);
    int args[MAX_ARGUMENTS], count = list(p, ")", "',' or ')'", args);
    if (count < 0)
        return -1;
    const ftb_operator_row *row = &ftb_operators[op];
    if (count == 1 && row->arity == 2 && !isnan(row->fallback)) {
        args[1] = add_real(p, start, row->fallback);
        if (args[1] < 0)
            return -1;
        count = 2;
    }
    bool many = op == FTB_OP_MIN || op == FTB_OP_MAX;
    if (many ? count < 2 : count != row->arity) {
        ftb_fail(GrB_INVALID_VALUE, "%s: %s at column %d takes %d argument%s%s, not %d", p->e->what,
                 row->spelling, p->e->column0 + start + 1, row->arity, row->arity == 1 ? "" : "s",
                 many ? " or more" : "", count);
        return -1;
    }
    int node = add(p, op, start, row->arity, args);
    for (int a = 2; many && a < count && node >= 0; a++)
        node = add(p, op, start, 2, (const int[]){node, args[a]});
    return node;
}

static int name(parser *p)
{
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"inf", HUGE_VAL}, {"nan", NAN}, {"pi", 3.14159265358979323846}};
    int start = p->token.start, length = p->token.length;
    const char *text = p->e->text + start;
    advance(p);
    if (accept(p, "("))
        return call(p, start, length);
    for (size_t c = 0; c < sizeof constants / sizeof *constants; c++)
        if (strlen(constants[c].name) == (size_t)length &&
            memcmp(text, constants[c].name, (size_t)length) == 0)
            return add_real(p, start, constants[c].value);
    ftb_node node = {.op = FTB_OP_TRUTH, .column = start + 1};
    bool yes = length == 4 && memcmp(text, "true", 4) == 0, no = length == 5 && memcmp(text, "false", 5) == 0;
    node.integer = yes;
    if (!yes && !no) {
        node.op = FTB_OP_NAME;
        node.name.start = start;
        node.name.length = length;
    }
    if (length > FTB_NAME_MAX) {
        ftb_fail(GrB_INVALID_VALUE, "%s: the name at column %d is longer than %d characters", p->e->what,
                 p->e->column0 + start + 1, FTB_NAME_MAX);
        return -1;
    }
    return add_node(p, &node, 0, NULL);
}

static int vector(parser *p, int start)
{
    int args[MAX_ARGUMENTS], count = list(p, "]", "',' or ']'", args);
    if (count != 0)
        return count < 0 ? -1 : add(p, FTB_OP_VECTOR, start, count, args);
    ftb_fail(GrB_INVALID_VALUE, "%s: the vector at column %d is empty", p->e->what,
             p->e->column0 + start + 1);
    return -1;
}

static int primary(parser *p)
{
    int start = p->token.start;
    if (p->token.kind == FTB_TOKEN_INTEGER || p->token.kind == FTB_TOKEN_REAL)
        return number(p);
    if (p->token.kind == FTB_TOKEN_NAME)
        return name(p);
    if (accept(p, "[")) {
        return vector(p, start);
    }
    if (accept(p, "(")) {
        int inner = expression(p);
        return inner < 0 || accept(p, ")") ? inner : expected(p, "')' or an operator");
    }
    return expected(p, "a number, a name, a function, '(' or '['");
}

static int postfix(parser *p)
{
    int node = primary(p), start = p->token.start;
    while (node >= 0 && accept(p, "[")) {
        int index = expression(p);
        if (index < 0)
            return -1;
        if (!accept(p, "]"))
            return expected(p, "']'");
        node = add(p, FTB_OP_INDEX, start, 2, (const int[]){node, index});
        start = p->token.start;
    }
    return node;
}

static int unary(parser *p)
{
    int start = p->token.start;
    bool minus = at_symbol(p, "-"), not = at_symbol(p, "!");
    if (!minus && !not &&!at_symbol(p, "+"))
        return postfix(p);
    advance(p);
    if (!nested(p))
        return -1;
    int node = unary(p);
    p->depth--;
    if (node < 0 || (!minus && !not ))
        return node;
    return add(p, minus ? FTB_OP_NEG : FTB_OP_NOT, start, 1, &node);
}

typedef struct infix {
    ftb_operator op;
    int level;
} infix;

#define COMPARISONS 3

static infix infix_here(const parser *p)
{
    static const infix table[] = {{FTB_OP_OR, 1},    {FTB_OP_AND, 2}, {FTB_OP_LT, 3},  {FTB_OP_LE, 3},
                                  {FTB_OP_GT, 3},    {FTB_OP_GE, 3},  {FTB_OP_EQ, 3},  {FTB_OP_NE, 3},
                                  {FTB_OP_ADD, 4},   {FTB_OP_SUB, 4}, {FTB_OP_MUL, 5}, {FTB_OP_DIV, 5},
                                  {FTB_OP_MATMUL, 5}};
    for (size_t o = 0; o < sizeof table / sizeof *table; o++)
        if (at_symbol(p, ftb_operators[table[o].op].spelling))
            return table[o];
    return (infix){FTB_NOPERATORS, 0};
}

/* Operators of at least `level`, left-associative. */
static int binary(parser *p, int level)
{
    int left = unary(p);
    bool compared = false;
    for (infix o = infix_here(p); left >= 0 && o.level >= level; o = infix_here(p)) {
        int start = p->token.start;
        if (o.level == COMPARISONS && compared)
            return expected(p, "no second comparison (write x < y && y < z)");
        compared = o.level == COMPARISONS;
        advance(p);
        int right = binary(p, o.level + 1);
        if (right < 0)
            return -1;
        left = add(p, o.op, start, 2, (const int[]){left, right});
    }
    return left;
}

static int expression(parser *p)
{
    if (!nested(p))
        return -1;
    int node = binary(p, 1), start = p->token.start;
    if (node >= 0 && accept(p, "?")) {
        int yes = expression(p);
        if (yes < 0)
            return -1;
        if (!accept(p, ":"))
            return expected(p, "':' or an operator");
        int no = expression(p);
        if (no < 0)
            return -1;
        node = add(p, FTB_OP_SELECT, start, 3, (const int[]){node, yes, no});
    }
    p->depth--;
    return node;
}

GrB_Info ftb_expr_parse(ftb_expr **e, FtB_Context ctx, const char *text, const char *what, int column0)
{
    *e = NULL;
    if (strnlen(text, FTB_MAX_TEXT + 1) > FTB_MAX_TEXT)
        return ftb_fail(GrB_INVALID_VALUE, "%s: the text is longer than %d characters", what, FTB_MAX_TEXT);
    ftb_expr *made = ftb_tree_new(ctx, text, what, column0);
    if (!made)
        return ftb_nomem();
    parser p = {.e = made};
    p.token = ftb_token_next(made->text, 0);
    made->root = expression(&p);
    if (made->root >= 0 && p.token.kind != FTB_TOKEN_END)
        made->root = expected(&p, "an operator or the end");
    if (made->root < 0) {
        ftb_expr_release(made);
        return p.nomem ? ftb_nomem() : GrB_INVALID_VALUE;
    }
    *e = made;
    return GrB_SUCCESS;
}
