/* Between which bounds the values of a program lie, by interval arithmetic in FP64, and whether a whole
 * number among them may leave its 64 bits. Reals are not followed: they lie anywhere. Conversions that a
 * text spells out (int8(x), uint64(x)) keep what they document and do not count as wrapping. */
#include "expr/range.h"
#include "expr/program.h"

#include <math.h>
#include <string.h>

#define REALS ((ftb_range){-HUGE_VAL, HUGE_VAL})

typedef struct ranger {
    const ftb_program *p;
    ftb_range *of; /* of each value */
    bool wraps;
} ranger;

static ftb_range type_range(FtB_Type type)
{
    if (type == FTB_BOOL)
        return (ftb_range){0, 1};
    if (!ftb_type_integer(type))
        return REALS;
    bool is_signed = type <= FTB_INT64;
    double beyond = ldexp(1, ftb_type_bits(type) - is_signed); /* of 64 bits: the last double before it */
    return (ftb_range){is_signed ? -beyond : 0, beyond < 0x1p53 ? beyond - 1 : nextafter(beyond, 0)};
}

static ftb_range hull(ftb_range x, ftb_range y)
{
    return (ftb_range){fmin(x.least, y.least), fmax(x.most, y.most)};
}

static ftb_range product(ftb_range x, ftb_range y)
{
    double a = x.least * y.least, b = x.least * y.most, c = x.most * y.least, d = x.most * y.most;
    return (ftb_range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

static double magnitude(ftb_range x) { return fmax(fabs(x.least), fabs(x.most)); }

static bool within(ftb_range x, ftb_range y) { return x.least >= y.least && x.most <= y.most; }

bool ftb_range_fits(ftb_range x, FtB_Type type) { return within(x, type_range(type)); }

ftb_range ftb_range_of(const void *values, FtB_Type type, int64_t count)
{
    if (!ftb_type_integer(type))
        return type_range(type);
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int64_t e = 0; e < count; e++) {
        double x = ftb_get_real(values, type, e);
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    return count > 0 ? (ftb_range){least, most} : (ftb_range){0, 0};
}

/* Of a bound block, whatever part of it is met. */
static ftb_range block_range(const ftb_held *h)
{
    const size_t size = FtB_Type_size(h->type), row = (size_t)h->ld * size;
    if (!h->data)
        return type_range(h->type);
    const char *first = h->data + (size_t)h->first * row;
    ftb_range all = ftb_range_of(first, h->type, ftb_min(h->nrows, 1) * h->ncols);
    for (int64_t r = 1; r < h->nrows; r++)
        all = hull(all, ftb_range_of(first + (size_t)r * row, h->type, h->ncols));
    return all;
}

static ftb_range times(ftb_range x, double count) { return (ftb_range){x.least * count, x.most * count}; }

/* Of an operator of one argument that rises: the values of the ends. */
static ftb_range ends(ftb_operator op, ftb_range x)
{
    const ftb_code code = {.kind = FTB_CODE_ELEMENT, .op = op};
    ftb_range to;
    uint64_t cell;
    ftb_fold(&cell, &code, FTB_FP64, FTB_FP64, (const void *[]){&x.least});
    memcpy(&to.least, &cell, sizeof cell);
    ftb_fold(&cell, &code, FTB_FP64, FTB_FP64, (const void *[]){&x.most});
    memcpy(&to.most, &cell, sizeof cell);
    return to;
}

/* Of a whole-numbered op before it is cut to its type. */
static ftb_range operate(ftb_operator op, ftb_range x, ftb_range y, FtB_Type type)
{
    bool natural = x.least >= 0 && y.least >= 0;
    switch (op) {
    case FTB_OP_ADD:
        return (ftb_range){x.least + y.least, x.most + y.most};
    case FTB_OP_SUB:
        return (ftb_range){x.least - y.most, x.most - y.least};
    case FTB_OP_MUL:
        return product(x, y);
    case FTB_OP_NEG:
        return (ftb_range){-x.most, -x.least};
    case FTB_OP_MIN:
        return (ftb_range){fmin(x.least, y.least), fmin(x.most, y.most)};
    case FTB_OP_MAX:
        return (ftb_range){fmax(x.least, y.least), fmax(x.most, y.most)};
    case FTB_OP_ABS:
        return (ftb_range){0, magnitude(x)};
    case FTB_OP_STEP:
        return (ftb_range){0, 1};
    case FTB_OP_IDIV:
        return (ftb_range){natural ? 0 : -magnitude(x), magnitude(x)};
    case FTB_OP_BITAND:
        return natural ? (ftb_range){0, fmin(x.most, y.most)} : type_range(type);
    case FTB_OP_BITOR:
    case FTB_OP_BITXOR:
        return natural ? (ftb_range){0, x.most + y.most} : type_range(type);
    default:
        return ftb_operators[op].rises ? ends(op, x) : type_range(type);
    }
}

/* The type that a spelt-out conversion to fewer bits cuts to; 0: none. */
static FtB_Type narrowed(ftb_operator op)
{
    static const FtB_Type types[] = {
        [FTB_OP_INT8] = FTB_INT8,   [FTB_OP_INT16] = FTB_INT16,   [FTB_OP_INT32] = FTB_INT32,
        [FTB_OP_UINT8] = FTB_UINT8, [FTB_OP_UINT16] = FTB_UINT16, [FTB_OP_UINT32] = FTB_UINT32,
    };
    return op < (ftb_operator)(sizeof types / sizeof *types) ? types[op] : (FtB_Type)0;
}

/* Whether results that leave the type were asked for. */
static bool spelt_out(const ranger *r, const ftb_code *code)
{
    if (code->kind == FTB_CODE_ELEMENT)
        return narrowed(code->op) || (code->op >= FTB_OP_BITAND && code->op <= FTB_OP_BITXOR);
    /* Only a text turns signed to unsigned; reals saturate. */
    FtB_Type from = r->p->values[r->p->args[code->first]].type;
    return code->kind == FTB_CODE_CAST && from != FTB_UINT64;
}

static ftb_range of_code(const ranger *r, const ftb_code *code)
{
    const ftb_program *p = r->p;
    const int *args = p->args + code->first;
    ftb_range x = r->of[args[0]], y = code->count > 1 ? r->of[args[1]] : (ftb_range){0, 0};
    FtB_Type type = p->values[code->out].type;
    double width = (double)p->values[args[0]].width;
    switch (code->kind) {
    case FTB_CODE_ELEMENT: {
        FtB_Type narrow = narrowed(code->op);
        return !narrow                         ? operate(code->op, x, y, type)
               : within(x, type_range(narrow)) ? x
                                               : type_range(narrow);
    }
    case FTB_CODE_SELECT:
        return hull(y, r->of[args[2]]);
    case FTB_CODE_FEATURE:
        return times(code->op == FTB_OP_DOT ? product(x, y) : x, width);
    case FTB_CODE_VECTOR:
        for (int a = 1; a < code->count; a++)
            x = hull(x, r->of[args[a]]);
        return x;
    case FTB_CODE_GATHER:
        return block_range(&p->blocks[code->block]);
    case FTB_CODE_MATMUL:
        return times(product(x, block_range(&p->blocks[code->block])), width);
    default: /* the same value, cast or picked */
        return x;
    }
}

static void follow(ranger *r, const ftb_range *names)
{
    const ftb_program *p = r->p;
    for (int v = 0; v < p->nvalues; v++) {
        const ftb_value *value = &p->values[v];
        r->of[v] = type_range(value->type);
        if (value->source == FTB_FROM_OPERAND && ftb_type_integer(value->type))
            r->of[v] = names[value->index];
        if (value->source == FTB_FROM_CONSTANT)
            r->of[v] = ftb_range_of(&p->constants[value->index], value->type, 1);
    }
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        FtB_Type type = p->values[code->out].type;
        if (!ftb_type_integer(type))
            continue;
        ftb_range x = of_code(r, code);
        bool fits = ftb_range_fits(x, type);
        r->wraps = r->wraps || !(fits || spelt_out(r, code));
        r->of[code->out] = fits ? x : type_range(type);
    }
}

GrB_Info ftb_program_range(const ftb_program *p, const ftb_range *names, int64_t count, ftb_range *results,
                           bool *wraps)
{
    ranger r = {.p = p, .of = ftb_new(p->ctx, p->nvalues, sizeof *r.of)};
    if (!r.of)
        return ftb_nomem();
    follow(&r, names);
    const ftb_code *root = &p->codes[p->values[p->root].index];
    int64_t at = 0;
    results[at++] = r.of[p->root];
    for (int a = 0; root->kind == FTB_CODE_VECTOR && a < root->count; a++) {
        int arg = p->args[root->first + a];
        for (int64_t w = 0; w < p->values[arg].width && at <= count; w++)
            results[at++] = r.of[arg];
    }
    for (; at <= count; at++)
        results[at] = r.of[p->root];
    *wraps = r.wraps;
    ftb_delete(r.of);
    return GrB_SUCCESS;
}
