/* Random expressions over operands of every type, width and stride, against a small recursive evaluator
 * written from docs/semirings.md; every instruction set must give the same bits.
 * Labels: property */
#include "support/check.h"

#include "core/isa.h"
#include "expr/expr.h"
#include "support/random.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CASES 4000
#define ITEMS FTB_BATCH
#define MAX_WIDTH 24
#define NNAMES 8

/* ---- expressions */

typedef enum form {
    NAME,
    INTEGER,
    REAL, /* leaves */
    ADD,
    SUB,
    MUL,
    DIV,
    LT,
    LE,
    GT,
    GE,
    EQ,
    NE,
    AND,
    OR, /* binary, infix */
    NEG,
    NOT,
    MIN,
    MAX,
    IDIV,
    LEAKY,
    BITAND,
    BITOR,
    BITXOR,
    DOT, /* f(x, y) */
    POW,
    ELU,
    ABS,
    RELU,
    STEP,
    FLOOR,
    CEIL,
    SQRT,
    SUM,
    MEAN, /* f(x) */
    EXP,
    LOG,
    LOG1P,
    TANH,
    SIGMOID,
    TO_BOOL,
    TO_INT8,
    TO_INT16,
    TO_INT32,
    TO_INT64,
    TO_UINT8,
    TO_UINT16,
    TO_UINT32,
    TO_UINT64,
    TO_FP32,
    TO_FP64,
    SELECT,
    VECTOR,
    COMPONENT,
    NKINDS
} form;

static const char *const spelling[NKINDS] = {[ADD] = "+",
                                             [SUB] = "-",
                                             [MUL] = "*",
                                             [DIV] = "/",
                                             [LT] = "<",
                                             [LE] = "<=",
                                             [GT] = ">",
                                             [GE] = ">=",
                                             [EQ] = "==",
                                             [NE] = "!=",
                                             [AND] = "&&",
                                             [OR] = "||",
                                             [NEG] = "-",
                                             [NOT] = "!",
                                             [MIN] = "min",
                                             [MAX] = "max",
                                             [IDIV] = "idiv",
                                             [LEAKY] = "leaky_relu",
                                             [BITAND] = "bitand",
                                             [BITOR] = "bitor",
                                             [BITXOR] = "bitxor",
                                             [DOT] = "dot",
                                             [POW] = "pow",
                                             [ELU] = "elu",
                                             [ABS] = "abs",
                                             [RELU] = "relu",
                                             [STEP] = "step",
                                             [FLOOR] = "floor",
                                             [CEIL] = "ceil",
                                             [SQRT] = "sqrt",
                                             [SUM] = "sum",
                                             [MEAN] = "mean",
                                             [EXP] = "exp",
                                             [LOG] = "log",
                                             [LOG1P] = "log1p",
                                             [TANH] = "tanh",
                                             [SIGMOID] = "sigmoid",
                                             [TO_BOOL] = "bool",
                                             [TO_INT8] = "int8",
                                             [TO_INT16] = "int16",
                                             [TO_INT32] = "int32",
                                             [TO_INT64] = "int64",
                                             [TO_UINT8] = "uint8",
                                             [TO_UINT16] = "uint16",
                                             [TO_UINT32] = "uint32",
                                             [TO_UINT64] = "uint64",
                                             [TO_FP32] = "fp32",
                                             [TO_FP64] = "fp64"};

typedef struct node {
    form kind;
    int nkids, name, component;
    double real;
    int64_t integer;
    const char *literal;
    struct node *kid[3];
} node;

typedef struct pool {
    node nodes[512];
    int used;
} pool;

static node *make(pool *p, form kind, int nkids)
{
    node *n = &p->nodes[p->used++];
    memset(n, 0, sizeof *n);
    n->kind = kind;
    n->nkids = nkids;
    return n;
}

static node *leaf(pool *p, rng *r)
{
    static const struct {
        const char *text;
        bool real;
    } literals[] = {{"0", 0},   {"1", 0},   {"3", 0},    {"300", 0}, {"70000", 0},
                    {"0.5", 1}, {"0.1", 1}, {"2.25", 1}, {"1e40", 1}};
    int64_t pick = rng_below(r, 14);
    if (pick >= 9) {
        node *n = make(p, NAME, 0);
        n->name = (int)rng_below(r, NNAMES);
        return n;
    }
    node *n = make(p, literals[pick].real ? REAL : INTEGER, 0);
    n->literal = literals[pick].text;
    n->real = atof(n->literal);
    n->integer = atoll(n->literal);
    return n;
}

/* FP32 has functions of its own (test_expr_kernels); here they are asked in FP64, where the C library's
 * bits are expected. An exponent is an operand: a literal 2 is computed as a product. */
static node *in_fp64(pool *p, node *x)
{
    node *n = make(p, TO_FP64, 1);
    n->kid[0] = x;
    return n;
}

static node *random_tree(pool *p, rng *r, int depth)
{
    if (depth == 0 || rng_below(r, 6) == 0)
        return leaf(p, r);
    form k = (form)(ADD + rng_below(r, NKINDS - ADD));
    int nkids = k == SELECT                           ? 3
                : k == VECTOR                         ? 2 + (int)rng_below(r, 2)
                : (k <= OR || (k >= MIN && k <= ELU)) ? 2
                                                      : 1;
    node *n = make(p, k, nkids);
    for (int c = 0; c < nkids; c++)
        n->kid[c] = random_tree(p, r, depth - 1);
    if (k == POW || k == ELU || (k >= EXP && k <= SIGMOID))
        n->kid[0] = in_fp64(p, n->kid[0]);
    if (k == POW || k == ELU) {
        n->kid[1] = make(p, NAME, 0);
        n->kid[1]->name = (int)rng_below(r, NNAMES);
    }
    n->component = (int)rng_below(r, 3);
    return n;
}

static int level(const node *n)
{
    switch (n->kind) {
    case SELECT:
        return 0;
    case OR:
        return 1;
    case AND:
        return 2;
    case LT:
    case LE:
    case GT:
    case GE:
    case EQ:
    case NE:
        return 3;
    case ADD:
    case SUB:
        return 4;
    case MUL:
    case DIV:
        return 5;
    case NEG:
    case NOT:
        return 6;
    default:
        return 7;
    }
}

/* Writes n with parentheses only where `least`, the level of its place, asks for them. */
static char *print(char *to, const node *n, int least)
{
    int own = level(n);
    bool comparison = own == 3;
    if (own < least)
        to += sprintf(to, "(");
    if (n->kind == NAME)
        to += sprintf(to, "n%d", n->name);
    else if (n->kind <= REAL)
        to += sprintf(to, "%s", n->literal);
    else if (n->kind <= OR) {
        to = print(to, n->kid[0], own + comparison);
        to += sprintf(to, " %s ", spelling[n->kind]);
        to = print(to, n->kid[1], own + 1);
    } else if (n->kind <= NOT) {
        to += sprintf(to, "%s", spelling[n->kind]);
        to = print(to, n->kid[0], own);
    } else if (n->kind == SELECT) {
        to = print(to, n->kid[0], 1);
        to += sprintf(to, " ? ");
        to = print(to, n->kid[1], 0);
        to += sprintf(to, " : ");
        to = print(to, n->kid[2], 0);
    } else if (n->kind == COMPONENT) {
        to = print(to, n->kid[0], 7);
        to += sprintf(to, "[%d]", n->component);
    } else {
        to += n->kind == VECTOR ? sprintf(to, "[") : sprintf(to, "%s(", spelling[n->kind]);
        for (int c = 0; c < n->nkids; c++) {
            to = print(to, n->kid[c], 0);
            to += sprintf(to, "%s", c + 1 < n->nkids ? ", " : n->kind == VECTOR ? "]" : ")");
        }
    }
    if (own < least)
        to += sprintf(to, ")");
    return to;
}

/* ---- the evaluator */

typedef union cell {
    int64_t i;
    uint64_t u;
    double d;
} cell;

typedef struct value {
    FtB_Type type;
    bool weak, wide, literal; /* literal: an integer known when compiling */
    int width;                /* 0: an error */
    cell at[MAX_WIDTH];       /* FP32 as the double it equals */
} value;

typedef struct world {
    ftb_name names[NNAMES];
    ftb_operand operands[NNAMES];
    char label[NNAMES][8];
} world;

static bool real(FtB_Type t) { return t == FTB_FP32 || t == FTB_FP64; }

static double as_double(FtB_Type t, cell c)
{
    return real(t) ? c.d : t == FTB_UINT64 ? (double)c.u : (double)c.i;
}

static cell cast(FtB_Type to, FtB_Type from, cell c)
{
    cell out = c;
    double x = as_double(from, c);
    if (to == FTB_BOOL)
        out.i = real(from) ? x != 0 : c.i != 0;
    else if (to == FTB_FP64)
        out.d = x;
    else if (to == FTB_FP32)
        out.d = from == FTB_INT64 || from == FTB_BOOL ? (float)c.i
                : from == FTB_UINT64                  ? (float)c.u
                                                      : (float)x;
    else if (real(from) && to == FTB_INT64)
        out.i = isnan(x) ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
    else if (real(from))
        out.u = isnan(x) || x <= 0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
    return out;
}

static value convert(value v, FtB_Type to)
{
    for (int f = 0; f < v.width; f++)
        v.at[f] = cast(to, v.type, v.at[f]);
    v.type = to;
    return v;
}

static bool blocks_single(const value *v) /* keeps a result from being FP32 */
{
    if (v->weak && v->literal && v->type == FTB_INT64)
        return v->at[0].i < INT16_MIN || v->at[0].i > UINT16_MAX;
    if (v->weak && v->literal && v->type == FTB_FP64)
        return v->at[0].d != 0 && isfinite(v->at[0].d) &&
               (fabs(v->at[0].d) > (double)FLT_MAX || fabs(v->at[0].d) < (double)FLT_MIN);
    return v->wide;
}

static FtB_Type meet_real(const value *v, int count)
{
    FtB_Type t = FTB_FP64;
    for (int a = 0; a < count; a++)
        if (v[a].type == FTB_FP32)
            t = FTB_FP32;
    for (int a = 0; a < count; a++)
        if ((v[a].type == FTB_FP64 && !v[a].weak) || blocks_single(&v[a]))
            t = FTB_FP64;
    return t;
}

static FtB_Type meet(const value *v, int count)
{
    bool has_unsigned = false, has_signed = false;
    for (int a = 0; a < count; a++) {
        if (real(v[a].type))
            return meet_real(v, count);
        has_unsigned |= v[a].type == FTB_UINT64;
        has_signed |= v[a].type == FTB_INT64 && !(v[a].literal && v[a].at[0].i >= 0);
    }
    return has_unsigned && !has_signed ? FTB_UINT64 : FTB_INT64;
}

static int meet_width(const value *v, int count)
{
    int width = 1;
    for (int a = 0; a < count; a++)
        if (v[a].width == 0 || (v[a].width != 1 && width != 1 && v[a].width != width))
            return 0;
        else if (v[a].width != 1)
            width = v[a].width;
    return width;
}

/* float and double results of + - * / sqrt in double, rounded to float: the same as in float. */
static double rounded(FtB_Type t, double x) { return t == FTB_FP32 ? (float)x : x; }

static cell arithmetic(form k, FtB_Type t, cell x, cell y)
{
    cell z = {0};
    if (real(t)) {
        z.d = rounded(t, k == ADD ? x.d + y.d : k == SUB ? x.d - y.d : k == MUL ? x.d * y.d : -x.d);
        return z;
    }
    z.u = k == ADD ? x.u + y.u : k == SUB ? x.u - y.u : k == MUL ? x.u * y.u : 0 - x.u;
    return z;
}

static int order(FtB_Type t, cell x, cell y) /* -1, 0, 1; 2: not ordered */
{
    if (real(t))
        return x.d < y.d ? -1 : x.d > y.d ? 1 : x.d == y.d ? 0 : 2;
    if (t == FTB_UINT64)
        return x.u < y.u ? -1 : x.u > y.u;
    return x.i < y.i ? -1 : x.i > y.i;
}

static bool compare(form k, int o)
{
    switch (k) {
    case LT:
        return o == -1;
    case LE:
        return o == -1 || o == 0;
    case GT:
        return o == 1;
    case GE:
        return o == 1 || o == 0;
    case EQ:
        return o == 0;
    default:
        return o != 0;
    }
}

static cell extreme(form k, FtB_Type t, cell x, cell y)
{
    int o = order(t, x, y);
    if (o == 2)
        return isnan(x.d) ? y : x;
    if (o == 0 && real(t))
        return signbit(x.d) == (k == MIN) ? x : y;
    return (o < 0) == (k == MIN) ? x : y;
}

static cell ordered(form k, FtB_Type t, cell x, cell y)
{
    cell zero = {0}, z = x;
    if (k == MIN || k == MAX)
        return extreme(k, t, x, y);
    if (real(t)) {
        z.d = k == ABS     ? fabs(x.d)
              : k == RELU  ? (x.d > 0      ? x.d
                              : isnan(x.d) ? x.d
                                           : 0)
              : k == STEP  ? x.d > 0
              : k == FLOOR ? floor(x.d)
              : k == CEIL  ? ceil(x.d)
                           : trunc(rounded(t, x.d / y.d));
        return z;
    }
    bool positive = order(t, x, zero) > 0;
    switch (k) {
    case ABS:
        z.u = positive ? x.u : 0 - x.u;
        break;
    case RELU:
        z = positive ? x : zero;
        break;
    case STEP:
        z.i = positive;
        break;
    case IDIV:
        if (y.u == 0)
            z = zero;
        else if (t == FTB_UINT64)
            z.u = x.u / y.u;
        else if (y.i == -1)
            z.u = 0 - x.u;
        else
            z.i = x.i / y.i;
        break;
    default:
        break;
    }
    return z;
}

static double function(form k, FtB_Type t, double x, double y)
{
    switch (k) {
    case DIV:
        return rounded(t, x / y);
    case SQRT:
        return rounded(t, sqrt(x));
    case LEAKY:
        return x > 0 ? x : rounded(t, x * y);
    case POW:
        return pow(x, y);
    case ELU:
        return x > 0 ? x : y * expm1(x);
    case EXP:
        return exp(x);
    case LOG:
        return log(x);
    case LOG1P:
        return log1p(x);
    case TANH:
        return tanh(x);
    default:
        return 1 / (1 + exp(-x));
    }
}

static value to_type(form k, value v)
{
    static const FtB_Type target[] = {FTB_BOOL,   FTB_INT8,   FTB_INT16,  FTB_INT32, FTB_INT64, FTB_UINT8,
                                      FTB_UINT16, FTB_UINT32, FTB_UINT64, FTB_FP32,  FTB_FP64};
    FtB_Type t = target[k - TO_BOOL];
    static const double low[] = {0, -128, -32768, -2147483648.0, 0, 0, 0, 0},
                        high[] = {0, 127, 32767, 2147483647, 0, 255, 65535, 4294967295.0};
    int row = (int)k - (int)TO_BOOL;
    for (int f = 0; f < v.width; f++) {
        cell c = v.at[f];
        if (real(v.type) && row < 8 && high[row] != 0)
            c.d = c.d < low[row] ? low[row] : c.d > high[row] ? high[row] : c.d;
        c = cast(ftb_type_compute(t), v.type, c);
        if (row < 8 && t != FTB_BOOL && t != FTB_INT64) { /* wrap */
            int bits = ftb_type_bits(t);
            c.u = c.u << (64 - bits) >> (64 - bits);
            if (t <= FTB_INT64 && c.u >> (bits - 1))
                c.u |= ~UINT64_C(0) << bits;
        }
        v.at[f] = c;
    }
    v.type = ftb_type_compute(t);
    v.weak = false;
    v.wide = ftb_type_integer(t) && ftb_type_bits(t) > 16;
    return v;
}

static value operand(const world *w, int n, int64_t t)
{
    const ftb_name *name = &w->names[n];
    value v = {.type = ftb_type_compute(name->type), .width = (int)name->width};
    v.wide = ftb_type_integer(name->type) && ftb_type_bits(name->type) > 16;
    for (int f = 0; f < v.width; f++) {
        int64_t at = t * w->operands[n].stride + f;
        if (real(v.type))
            v.at[f].d = ftb_get_real(w->operands[n].data, v.type, at);
        else
            v.at[f].i = ftb_get_integer(w->operands[n].data, v.type, at);
    }
    return v;
}

static value evaluate(const world *w, const node *n, int64_t t);

/* Marks of a result; literal: all its parts are known when compiling (width-1 ones only). */
static value inherit(value z, const value *v, int count)
{
    z.weak = z.literal = true;
    z.wide = false;
    for (int a = 0; a < count; a++) {
        z.weak &= v[a].weak;
        z.wide |= blocks_single(&v[a]);
        z.literal &= v[a].literal && z.width == 1;
    }
    z.wide &= !real(z.type) && z.type != FTB_BOOL;
    return z;
}

static value vector(const value *v, int count)
{
    value z = {.type = FTB_BOOL};
    for (int a = 0; a < count; a++)
        if (v[a].type != FTB_BOOL)
            z.type = meet(v, count);
    for (int a = 0; a < count; a++) {
        if (v[a].width == 0 || z.width + v[a].width > MAX_WIDTH)
            return (value){.width = 0};
        value c = convert(v[a], z.type);
        memcpy(z.at + z.width, c.at, (size_t)c.width * sizeof *c.at);
        z.width += c.width;
    }
    z = inherit(z, v, count);
    z.literal = false;
    return z;
}

static value feature(form k, const value *v, int count)
{
    value z = {.type = meet(v, count), .width = 1};
    int width = meet_width(v, count);
    if (k == MEAN && !real(z.type))
        z.type = FTB_FP64;
    value x = convert(v[0], z.type), y = count > 1 ? convert(v[1], z.type) : x;
    for (int f = 0; f < width; f++) {
        cell term = x.at[x.width > 1 ? f : 0];
        if (k == DOT)
            term = arithmetic(MUL, z.type, term, y.at[y.width > 1 ? f : 0]);
        z.at[0] = f == 0 && width == 1 ? term : arithmetic(ADD, z.type, z.at[0], term);
    }
    if (k == MEAN && width > 1)
        z.at[0].d = rounded(z.type, z.at[0].d / width);
    z = inherit(z, v, count);
    z.literal &= width == 1;
    return z;
}

static value elementwise(const node *n, const value *v, int width)
{
    form k = n->kind;
    int count = n->nkids;
    bool logic = k == AND || k == OR || k == NOT, comparing = k >= LT && k <= NE;
    bool function_of =
        k == DIV || k == SQRT || k == LEAKY || k == POW || k == ELU || (k >= EXP && k <= SIGMOID);
    FtB_Type t = logic ? FTB_BOOL : function_of ? meet_real(v, count) : meet(v, count);
    if ((k == FLOOR || k == CEIL) && !real(t))
        return v[0];
    if (k >= BITAND && k <= BITXOR && real(t))
        return (value){.width = 0};
    if ((k == SUB || k == NEG) && t == FTB_UINT64)
        t = FTB_INT64;
    value x = convert(v[0], t), y = count > 1 ? convert(v[1], t) : x,
          z = {.type = comparing ? FTB_BOOL : t, .width = width};
    for (int f = 0; f < width; f++) {
        cell a = x.at[x.width > 1 ? f : 0], b = y.at[y.width > 1 ? f : 0], *to = &z.at[f];
        if (logic)
            to->i = k == AND ? a.i && b.i : k == OR ? a.i || b.i : !a.i;
        else if (comparing)
            to->i = compare(k, order(t, a, b));
        else if (function_of)
            to->d = function(k, t, a.d, b.d);
        else if (k >= BITAND && k <= BITXOR)
            to->u = k == BITAND ? (a.u & b.u) : k == BITOR ? (a.u | b.u) : (a.u ^ b.u);
        else if (k == ADD || k == SUB || k == MUL || k == NEG)
            *to = arithmetic(k, t, a, b);
        else
            *to = ordered(k, t, a, b);
    }
    return inherit(z, v, count);
}

static value evaluate(const world *w, const node *n, int64_t t)
{
    value v[3], z = {.width = 1};
    for (int c = 0; c < n->nkids; c++) {
        v[c] = evaluate(w, n->kid[c], t);
        if (v[c].width == 0)
            return v[c];
    }
    int width = n->kind == VECTOR ? 1 : meet_width(v, n->nkids);
    if (width == 0)
        return (value){.width = 0};
    if (n->kind == NAME)
        return operand(w, n->name, t);
    if (n->kind <= REAL) {
        z.type = n->kind == REAL ? FTB_FP64 : FTB_INT64;
        z.weak = z.literal = true;
        if (n->kind == REAL)
            z.at[0].d = n->real;
        else
            z.at[0].i = n->integer;
        return z;
    }
    if (n->kind >= TO_BOOL && n->kind <= TO_FP64)
        return to_type(n->kind, v[0]);
    if (n->kind == DOT || n->kind == SUM || n->kind == MEAN)
        return feature(n->kind, v, n->nkids);
    if (n->kind == VECTOR)
        return vector(v, n->nkids);
    if (n->kind == COMPONENT) {
        if (n->component >= v[0].width)
            return (value){.width = 0};
        if (v[0].width == 1)
            return v[0];
        z.type = v[0].type;
        z.at[0] = v[0].at[n->component];
        z = inherit(z, v, 1);
        z.literal = false;
        return z;
    }
    if (n->kind == SELECT) {
        bool truths = v[1].type == FTB_BOOL && v[2].type == FTB_BOOL;
        z.type = truths ? FTB_BOOL : meet(v + 1, 2);
        z.width = width;
        value c = convert(v[0], FTB_BOOL), x = convert(v[1], z.type), y = convert(v[2], z.type);
        for (int f = 0; f < width; f++)
            z.at[f] = c.at[c.width > 1 ? f : 0].i ? x.at[x.width > 1 ? f : 0] : y.at[y.width > 1 ? f : 0];
        bool known = v[0].literal;
        z = inherit(z, v + 1, 2);
        z.literal &= known;
        return z;
    }
    return elementwise(n, v, width);
}

/* ---- running both */

static void world_fill(world *w, rng *r, char *memory)
{
    static const double special[] = {0, -0.0, 1, -1, 0.5, HUGE_VAL, -HUGE_VAL, NAN, 1e20, -1e20, 3e-310};
    for (int n = 0; n < NNAMES; n++) {
        char *data = memory + (size_t)n * ITEMS * 8 * 8;
        FtB_Type type = rng_type(r), compute = ftb_type_compute(type);
        int64_t width = rng_below(r, 3) ? 1 : 3, uniform = rng_below(r, 4) == 0,
                stride = uniform ? 0 : width + (rng_below(r, 3) == 0 ? rng_below(r, 4) : 0);
        for (int64_t v = 0; v < ITEMS * 8; v++) {
            double x = rng_below(r, 20) == 0 ? special[rng_below(r, 11)]
                       : rng_below(r, 2)     ? (double)rng_below(r, 9) - 4
                                             : 20 * rng_unit(r) - 10;
            char stored[8], *to = data + (size_t)v * FtB_Type_size(compute);
            ftb_cast(stored, type, &x, FTB_FP64, 1);
            if (ftb_type_integer(type) && rng_below(r, 8) == 0)
                rng_any_values(r, stored, type, 1);
            ftb_cast(to, compute, stored, type, 1);
        }
        snprintf(w->label[n], sizeof w->label[n], "n%d", n);
        w->names[n] = (ftb_name){.name = w->label[n], .type = type, .width = width};
        w->operands[n] = (ftb_operand){data, stride};
    }
}

static bool same_cell(FtB_Type t, const void *got, int64_t at, cell want)
{
    if (!real(t))
        return ftb_get_integer(got, t, at) == want.i;
    double x = ftb_get_real(got, t, at);
    return isnan(x) ? isnan(want.d) : x == want.d && !signbit(x) == !signbit(want.d);
}

static void check_items(const world *w, const node *root, const char *text, const ftb_program *p,
                        const void *out, int64_t count, rng *r)
{
    int64_t width = ftb_program_width(p);
    for (int n = 0; n < 12; n++) {
        int64_t t = n == 0 ? 0 : n == 1 ? count - 1 : rng_below(r, count);
        value z = evaluate(w, root, t);
        if (z.type != ftb_program_type(p) || z.width != width)
            fail_msg("%s: %s x %d; expected %s x %d", text, FtB_Type_name(ftb_program_type(p)), (int)width,
                     FtB_Type_name(z.type), z.width);
        for (int f = 0; f < z.width; f++)
            if (!same_cell(z.type, out, t * width + f, z.at[f]))
                fail_msg("%s: item %d, value %d of %s: %.17g (%lld); expected %.17g (%lld)", text, (int)t, f,
                         FtB_Type_name(z.type), ftb_get_real(out, z.type, t * width + f),
                         (long long)ftb_get_integer(out, z.type, t * width + f), as_double(z.type, z.at[f]),
                         (long long)z.at[f].i);
    }
}

static void assert_same_bits(FtB_Type t, const void *x, const void *y, int64_t count, const char *text,
                             int isa)
{
    for (int64_t v = 0; v < count; v++) {
        size_t size = FtB_Type_size(t);
        bool same = memcmp((const char *)x + (size_t)v * size, (const char *)y + (size_t)v * size, size) == 0;
        if (!same && !(real(t) && isnan(ftb_get_real(x, t, v)) && isnan(ftb_get_real(y, t, v))))
            fail_msg("%s: %s gives other bits than baseline at %d", text, ftb_isa_name(isa), (int)v);
    }
}

/* Compiles, runs for every instruction set, compares; false if the expression is rightly refused. */
static bool run_case(const world *w, const node *root, const char *text, rng *r, char *out[2])
{
    FtB_Context ctx = ftb_context();
    ftb_expr *e = NULL;
    ftb_program *p = NULL;
    assert_ok(ftb_expr_parse(&e, ctx, text, "test", 0));
    GrB_Info info = ftb_program_new(&p, ctx, e, NNAMES, w->names, false);
    ftb_expr_release(e);
    bool valid = evaluate(w, root, 0).width > 0;
    if (valid != (info == GrB_SUCCESS))
        fail_msg("%s: %d, %s; expected %s", text, (int)info, FtB_error(), valid ? "success" : "an error");
    if (!valid)
        return false;
    static const int64_t counts[] = {1, 2, 15, 16, 17, 100, 1000, ITEMS};
    int64_t count = counts[rng_below(r, 8)];
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        if (ftb_isa_force(isa) != isa)
            continue;
        ftb_machine *m = NULL;
        assert_ok(ftb_machine_new(&m, ctx, p));
        for (int twice = 0; twice < 2; twice++) /* nothing of a run may show in the next */
            ftb_machine_run(m, count, w->operands, out[isa != FTB_ISA_BASELINE]);
        ftb_machine_delete(m);
        if (isa != FTB_ISA_BASELINE)
            assert_same_bits(ftb_program_type(p), out[0], out[1], count * ftb_program_width(p), text, isa);
    }
    ftb_isa_force(-1);
    check_items(w, root, text, p, out[0], count, r);
    ftb_program_delete(p);
    return true;
}

static void test_random(void **state)
{
    (void)state;
    rng r = rng_new();
    static pool p;
    static world w;
    char *memory = malloc((size_t)NNAMES * ITEMS * 64),
         *out[2] = {malloc(ITEMS * MAX_WIDTH * 8), malloc(ITEMS * MAX_WIDTH * 8)};
    char *text = malloc(1 << 16);
    assert_true(memory && out[0] && out[1] && text);
    int valid = 0;
    for (int c = 0; c < CASES; c++) {
        if (c % 50 == 0)
            world_fill(&w, &r, memory);
        p.used = 0;
        const node *root = random_tree(&p, &r, 1 + (int)rng_below(&r, 4));
        print(text, root, 0);
        valid += run_case(&w, root, text, &r, out);
    }
    printf("%d of %d expressions are valid\n", valid, CASES);
    assert_true(valid > CASES / 4);
    free(memory);
    free(out[0]);
    free(out[1]);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
