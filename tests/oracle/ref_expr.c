/* The evaluator: types, widths and values as docs/semirings.md says, written without a look at src/expr. */
#include "oracle/ref_expr.h"

#include <float.h>
#include <math.h>

double ref_cell_real(FtB_Type t, cell c)
{
    return ref_real(t) ? c.d : t == FTB_UINT64 ? (double)c.u : (double)c.i;
}

static cell cast(FtB_Type to, FtB_Type from, cell c)
{
    cell out = c;
    double x = ref_cell_real(from, c);
    if (to == FTB_BOOL)
        out.i = ref_real(from) ? x != 0 : c.i != 0;
    else if (to == FTB_FP64)
        out.d = x;
    else if (to == FTB_FP32)
        out.d = from == FTB_INT64 || from == FTB_BOOL ? (float)c.i
                : from == FTB_UINT64                  ? (float)c.u
                                                      : (float)x;
    else if (ref_real(from) && to == FTB_INT64)
        out.i = isnan(x) ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
    else if (ref_real(from))
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
        if (ref_real(v[a].type))
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
    if (ref_real(t)) {
        z.d = rounded(t, k == ADD ? x.d + y.d : k == SUB ? x.d - y.d : k == MUL ? x.d * y.d : -x.d);
        return z;
    }
    z.u = k == ADD ? x.u + y.u : k == SUB ? x.u - y.u : k == MUL ? x.u * y.u : 0 - x.u;
    return z;
}

static int order(FtB_Type t, cell x, cell y) /* -1, 0, 1; 2: not ordered */
{
    if (ref_real(t))
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
    if (o == 0 && ref_real(t))
        return signbit(x.d) == (k == MIN) ? x : y;
    return (o < 0) == (k == MIN) ? x : y;
}

static cell ordered(form k, FtB_Type t, cell x, cell y)
{
    cell zero = {0}, z = x;
    if (k == MIN || k == MAX)
        return extreme(k, t, x, y);
    if (ref_real(t)) {
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
        if (ref_real(v.type) && row < 8 && high[row] != 0)
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
        if (ref_real(v.type))
            v.at[f].d = ftb_get_real(w->operands[n].data, v.type, at);
        else
            v.at[f].i = ftb_get_integer(w->operands[n].data, v.type, at);
    }
    return v;
}

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
    z.wide &= !ref_real(z.type) && z.type != FTB_BOOL;
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
    if (k == MEAN && !ref_real(z.type))
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
    if ((k == FLOOR || k == CEIL) && !ref_real(t))
        return v[0];
    if (k >= BITAND && k <= BITXOR && ref_real(t))
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

value ref_expr_value(const world *w, const node *n, int64_t t)
{
    value v[3], z = {.width = 1};
    for (int c = 0; c < n->nkids; c++) {
        v[c] = ref_expr_value(w, n->kid[c], t);
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
