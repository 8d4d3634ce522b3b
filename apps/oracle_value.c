/* Expressions for --check, evaluated node by node in long double: 64 bits of mantissa hold every whole number
 * that the library computes with, and sums of their products do not wrap. Of the library only the parser is
 * used. */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>

typedef struct node_value {
    int width;
    bool real; /* else whole numbers */
    long double x[ORACLE_WIDTH];
} node_value;

/* ---- single operators */

static long double least(long double x, long double y) { return isnan(x) || y < x ? y : x; }
static long double greatest(long double x, long double y) { return isnan(x) || y > x ? y : x; }

static long double log_choose(long double n, long double k)
{
    return lgammal(n + 1) - lgammal(k + 1) - lgammal(n - k + 1);
}

/* P(X >= x) of [x, N, K, n], term by term. */
static long double hypergeometric(const long double *v)
{
    long double N = v[1], K = v[2], n = v[3], low = fmaxl(0, n + K - N), sum = 0;
    if (!(N >= 0 && K >= 0 && n >= 0 && K <= N && n <= N) || isnan(v[0]))
        return NAN;
    if (ceill(v[0]) <= low)
        return 1;
    const long double first = ceill(v[0]), last = fminl(n, K);
    for (int64_t t = 0; first + (long double)t <= last; t++) {
        long double y = first + (long double)t;
        sum += expl(log_choose(K, y) + log_choose(N - K, n - y) - log_choose(N, n));
    }
    return fminl(1, sum);
}

/* int8(x) and its like: reals saturate, whole numbers wrap. */
static long double narrow(long double x, bool real, int bits, bool is_signed)
{
    long double beyond = ldexpl(1, is_signed ? bits - 1 : bits), first = is_signed ? -beyond : 0;
    if (isnan(x))
        return 0;
    if (real)
        return fminl(fmaxl(truncl(x), first), beyond - 1);
    long double rest = fmodl(x - first, ldexpl(1, bits));
    return first + rest + (rest < 0 ? ldexpl(1, bits) : 0);
}

static long double convert(ftb_operator op, long double x, bool real)
{
    switch (op) {
    case FTB_OP_BOOL:
        return x != 0;
    case FTB_OP_INT8:
        return narrow(x, real, 8, true);
    case FTB_OP_INT16:
        return narrow(x, real, 16, true);
    case FTB_OP_INT32:
        return narrow(x, real, 32, true);
    case FTB_OP_INT64:
        return narrow(x, real, 64, true);
    case FTB_OP_UINT8:
        return narrow(x, real, 8, false);
    case FTB_OP_UINT16:
        return narrow(x, real, 16, false);
    case FTB_OP_UINT32:
        return narrow(x, real, 32, false);
    case FTB_OP_UINT64:
        return narrow(x, real, 64, false);
    case FTB_OP_FP32:
        return (long double)(float)x;
    default: /* fp64: no less than that */
        return x;
    }
}

static long double bitwise(ftb_operator op, long double x, long double y)
{
    uint64_t a = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x, b = y < 0 ? (uint64_t)(int64_t)y : (uint64_t)y;
    uint64_t z = op == FTB_OP_BITAND ? a & b : op == FTB_OP_BITOR ? a | b : a ^ b;
    return x < 0 || y < 0 ? (long double)(int64_t)z : (long double)z;
}

static long double function(ftb_operator op, long double x, long double y)
{
    switch (op) {
    case FTB_OP_EXP:
        return expl(x);
    case FTB_OP_EXPM1:
        return expm1l(x);
    case FTB_OP_LOG:
        return logl(x);
    case FTB_OP_LOG1P:
        return log1pl(x);
    case FTB_OP_LOG2:
        return log2l(x);
    case FTB_OP_LGAMMA:
        return lgammal(x);
    case FTB_OP_SQRT:
        return sqrtl(x);
    case FTB_OP_POW:
        return powl(x, y);
    case FTB_OP_TANH:
        return tanhl(x);
    case FTB_OP_SIGMOID:
        return 1 / (1 + expl(-x));
    case FTB_OP_ERF:
        return erfl(x);
    case FTB_OP_LEAKY_RELU:
        return x > 0 ? x : x * y;
    case FTB_OP_ELU:
        return x > 0 ? x : y * expm1l(x);
    default: /* a new one, which agrees with nothing */
        return NAN;
    }
}

static long double compare(ftb_operator op, long double x, long double y)
{
    switch (op) {
    case FTB_OP_LT:
        return x < y;
    case FTB_OP_LE:
        return x <= y;
    case FTB_OP_GT:
        return x > y;
    case FTB_OP_GE:
        return x >= y;
    case FTB_OP_EQ:
        return x == y;
    case FTB_OP_NE:
        return x != y;
    case FTB_OP_AND:
        return x != 0 && y != 0;
    case FTB_OP_OR:
        return x != 0 || y != 0;
    default:
        return x == 0;
    }
}

static long double arithmetic(ftb_operator op, long double x, long double y, bool real)
{
    switch (op) {
    case FTB_OP_ADD:
        return x + y;
    case FTB_OP_SUB:
        return x - y;
    case FTB_OP_MUL:
        return x * y;
    case FTB_OP_NEG:
        return -x;
    case FTB_OP_DIV:
        return x / y;
    case FTB_OP_MIN:
        return least(x, y);
    case FTB_OP_MAX:
        return greatest(x, y);
    case FTB_OP_ABS:
        return fabsl(x);
    case FTB_OP_RELU:
        return x > 0 ? x : isnan(x) ? x : 0;
    case FTB_OP_STEP:
        return x > 0;
    case FTB_OP_FLOOR:
        return floorl(x);
    case FTB_OP_CEIL:
        return ceill(x);
    case FTB_OP_IDIV:
        return !real && y == 0 ? 0 : truncl(x / y);
    default: /* a new one, which agrees with nothing */
        return NAN;
    }
}

static long double element(ftb_operator op, long double x, long double y, bool real)
{
    switch (ftb_operators[op].rule) {
    case FTB_RULE_INTEGER:
        return bitwise(op, x, y);
    case FTB_RULE_COMPARE:
    case FTB_RULE_LOGIC:
        return compare(op, x, y);
    case FTB_RULE_CONVERT:
        return convert(op, x, real);
    case FTB_RULE_REAL:
        return op == FTB_OP_DIV ? x / y : function(op, x, y);
    default:
        return arithmetic(op, x, y, real);
    }
}

/* ---- nodes */

static long double at(const node_value *v, int f) { return v->x[v->width == 1 ? 0 : f]; }

static bool result_real(ftb_operator op, bool some_real)
{
    ftb_rule rule = ftb_operators[op].rule;
    return rule == FTB_RULE_REAL || op == FTB_OP_FP32 || op == FTB_OP_FP64 ||
           (some_real && (rule == FTB_RULE_WRAP || rule == FTB_RULE_ORDER));
}

static void feature(node_value *out, ftb_operator op, const node_value *x, const node_value *y)
{
    long double sum = 0;
    *out = (node_value){.width = 1,
                        .real = op == FTB_OP_MEAN || op == FTB_OP_HYPERGEOM_SF || x->real || y->real};
    for (int f = 0; f < (x->width > y->width ? x->width : y->width); f++)
        sum += at(x, f) * (op == FTB_OP_DOT ? at(y, f) : 1);
    out->x[0] = op == FTB_OP_HYPERGEOM_SF ? hypergeometric(x->x) : op == FTB_OP_MEAN ? sum / x->width : sum;
}

/* Argument `place` of a node. */
static const node_value *argument(const formula *f, const node_value *values, int node, int place)
{
    return &values[ftb_tree_arg(f->expr, node, place)];
}

static void vector(const formula *f, node_value *values, int node)
{
    node_value *out = &values[node];
    *out = (node_value){0};
    for (int a = 0; a < f->expr->nodes[node].count; a++) {
        const node_value *part = argument(f, values, node, a);
        out->real = out->real || part->real;
        for (int w = 0; w < part->width && out->width < ORACLE_WIDTH; w++)
            out->x[out->width++] = part->x[w];
    }
}

static void leaf(const formula *f, node_value *out, int node, const oracle_number *named)
{
    const ftb_node *n = &f->expr->nodes[node];
    *out = (node_value){.width = 1, .real = n->op == FTB_OP_REAL};
    if (n->op == FTB_OP_NAME) {
        out->real = named[f->name[node]].real;
        out->x[0] = named[f->name[node]].x;
    } else {
        out->x[0] = n->op == FTB_OP_REAL   ? (long double)n->real
                    : n->op == FTB_OP_HUGE ? (long double)(uint64_t)n->integer
                                           : (long double)n->integer;
    }
}

static void evaluate(const formula *f, node_value *values, int node, const oracle_number *named)
{
    const ftb_node *n = &f->expr->nodes[node];
    node_value *out = &values[node];
    if (n->op >= FTB_NOPERATORS) {
        leaf(f, out, node, named);
        return;
    }
    const node_value *x = argument(f, values, node, 0), *y = argument(f, values, node, n->count > 1);
    const node_value *z = argument(f, values, node, n->count > 2 ? 2 : 0);
    int width = x->width > y->width ? x->width : y->width;
    if (n->op == FTB_OP_VECTOR) {
        vector(f, values, node);
    } else if (n->op == FTB_OP_INDEX) {
        *out = (node_value){.width = 1, .real = x->real};
        out->x[0] = x->x[(int)y->x[0]];
    } else if (n->op == FTB_OP_SELECT) {
        *out = (node_value){.width = width > z->width ? width : z->width, .real = y->real || z->real};
        for (int w = 0; w < out->width; w++)
            out->x[w] = at(x, w) != 0 ? at(y, w) : at(z, w);
    } else if (ftb_operators[n->op].rule == FTB_RULE_FEATURE) {
        feature(out, n->op, x, y);
    } else {
        *out = (node_value){.width = width, .real = result_real(n->op, x->real || y->real)};
        for (int w = 0; w < width; w++)
            out->x[w] = element(n->op, at(x, w), at(y, w), x->real || y->real);
    }
}

bool formula_values(const formula *f, const oracle_number *named, long double *out)
{
    node_value *values = f->values;
    for (int node = 0; node < f->expr->nnodes; node++)
        evaluate(f, values, node, named);
    memcpy(out, values[f->expr->root].x, (size_t)f->width * sizeof *out);
    return values[f->expr->root].real;
}

long double formula_value(const formula *f, const oracle_number *named)
{
    long double out[ORACLE_WIDTH];
    formula_values(f, named, out);
    return out[0];
}

bool formula_narrows(const formula *f)
{
    for (int node = 0; f->expr && node < f->expr->nnodes; node++)
        if (f->expr->nodes[node].op == FTB_OP_FP32)
            return true;
    return false;
}

/* ---- making */

/* The width of each node's value, by a run on ones; 0 if one is wider than is held. */
static int width_of(const formula *f, int count)
{
    oracle_number ones[ORACLE_NAMES];
    const node_value *values = f->values;
    for (int n = 0; n < count; n++)
        ones[n] = (oracle_number){.x = 1};
    for (int node = 0; node < f->expr->nnodes; node++) {
        int width = 0;
        for (int a = 0; f->expr->nodes[node].op == FTB_OP_VECTOR && a < f->expr->nodes[node].count; a++)
            width += argument(f, values, node, a)->width;
        if (width > ORACLE_WIDTH || f->expr->nodes[node].op == FTB_OP_MATMUL)
            return 0;
        evaluate(f, f->values, node, ones);
    }
    return values[f->expr->root].width;
}

int formula_new(formula *f, const char *text, const char *what, int count, const char *const *names)
{
    if (!text)
        return APP_OK;
    GrB_Info info = ftb_expr_parse(&f->expr, ftb_context(), text, what, 0);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_USAGE);
    size_t nodes = (size_t)f->expr->nnodes;
    f->values = calloc(nodes, sizeof(node_value));
    f->name = calloc(nodes, sizeof *f->name);
    if (!f->values || !f->name)
        return app_fail(APP_MEMORY, "--check: out of memory");
    for (int node = 0; node < f->expr->nnodes; node++) {
        if (f->expr->nodes[node].op != FTB_OP_NAME)
            continue;
        while (f->name[node] < count && !ftb_tree_is_name(f->expr, node, names[f->name[node]]))
            f->name[node]++;
        if (f->name[node] == count)
            return app_fail(APP_USAGE, "--check: %s: a name that it does not know", what);
    }
    f->width = width_of(f, count);
    return f->width > 0 ? APP_OK
                        : app_fail(APP_USAGE, "--check: %s: a value wider than %d", what, ORACLE_WIDTH);
}

void formula_free(formula *f)
{
    ftb_expr_release(f->expr);
    free(f->values);
    free(f->name);
}
