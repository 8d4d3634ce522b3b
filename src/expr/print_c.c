/* Programs to C, instruction by instruction, as semirings/operators.def and real.h spell operators and in the
 * interpreter's order; whoever prints a loop around them says where operands are. */
#include "expr/print_c.h"

#include <stdarg.h>
#include <stdio.h>

void ftb_print(ftb_printer *w, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    size_t length = (size_t)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    length = ftb_min(length, sizeof line - 1);
    if (w->bytes)
        memcpy(w->bytes + w->used, line, length);
    w->used += length;
}

static const struct {
    const char *integer, *real;
} forms[FTB_NOPERATORS] = {
#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, rises, integer, real, dx, dy, summary)   \
    {#integer, #real},
#include "operators.def"
#undef FTB_OPERATOR
};

static const char *const monoids[FTB_NMONOIDS] = {
#define FTB_MONOID(id, name, identity, idempotent, rule, combine, summary) [FTB_##id] = #combine,
#include "monoids.def"
#undef FTB_MONOID
};

const char *ftb_print_monoid(ftb_monoid monoid) { return monoids[monoid]; }

void ftb_print_class(ftb_printer *w, FtB_Type t)
{
    static const char *const names[] = {"u8", "i64", "u64", "f32", "f64"};
    ftb_print(w, "#undef FTB_CLASS\n#define FTB_CLASS %s\n", names[ftb_class(t)]);
}

/* Types of values in the code; truths are as wide as floats, so that loops vectorise. */
const char *ftb_print_type(FtB_Type t)
{
    static const char *const names[] = {"int32_t", "int64_t", "uint64_t", "float", "double"};
    return names[ftb_class(t)];
}

const char *ftb_print_stored_type(FtB_Type t)
{
    static const char *const names[] = {
        [FTB_BOOL] = "uint8_t",    [FTB_INT8] = "int8_t",     [FTB_INT16] = "int16_t",
        [FTB_INT32] = "int32_t",   [FTB_INT64] = "int64_t",   [FTB_UINT8] = "uint8_t",
        [FTB_UINT16] = "uint16_t", [FTB_UINT32] = "uint32_t", [FTB_UINT64] = "uint64_t",
        [FTB_FP32] = "float",      [FTB_FP64] = "double",     [FTB_FP16] = NULL,
        [FTB_BF16] = NULL};
    return names[t];
}

/* The type an operator's form is written for. */
static const char *form_type(ftb_operator op, FtB_Type t)
{
    ftb_rule rule = ftb_operators[op].rule;
    bool wraps = rule == FTB_RULE_WRAP || rule == FTB_RULE_INTEGER || rule == FTB_RULE_CONVERT;
    return wraps && t == FTB_INT64 ? "uint64_t" : ftb_print_type(t);
}

void ftb_print_operators(ftb_printer *w, const ftb_program *p)
{
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        if (code->kind != FTB_CODE_ELEMENT)
            continue;
        FtB_Type in = p->values[p->args[code->first]].type;
        bool real = in == FTB_FP32 || in == FTB_FP64;
        const char *type = form_type(code->op, in);
        ftb_print_class(w, in);
        ftb_print(w, "static inline %s op%d(%s x%s%s%s)\n{\n    typedef %s T;\n    return (%s)(%s);\n}\n",
                  ftb_print_type(p->values[code->out].type), c, type, code->count > 1 ? ", " : "",
                  code->count > 1 ? type : "", code->count > 1 ? " y" : "", type,
                  ftb_print_type(p->values[code->out].type),
                  real ? forms[code->op].real : forms[code->op].integer);
    }
}

/* A value cast to another type, as the casts of eval_kernels.c. */
void ftb_print_cast(ftb_printer *w, FtB_Type to, FtB_Type from, const char *value)
{
    bool real = from == FTB_FP32 || from == FTB_FP64;
    if (to == FTB_BOOL && from != FTB_BOOL)
        ftb_print(w, "(%s != 0)", value);
    else if (real && (to == FTB_INT64 || to == FTB_UINT64))
        ftb_print(w, "%s((double)%s)", to == FTB_INT64 ? "ftb_int64_of" : "ftb_uint64_of", value);
    else
        ftb_print(w, "(%s)%s", ftb_print_type(to), value);
}

void ftb_print_constant(ftb_printer *w, const ftb_program *p, int value)
{
    const ftb_value *v = &p->values[value];
    uint64_t cell = p->constants[v->index];
    uint32_t half;
    uint8_t truth;
    memcpy(&half, &cell, sizeof half);
    memcpy(&truth, &cell, sizeof truth);
    ftb_print(w, "    const %s v%d = ", ftb_print_type(v->type), value);
    if (v->type == FTB_FP32)
        ftb_print(w, "ftb_float_of(UINT32_C(%lu));\n", (unsigned long)half);
    else if (v->type == FTB_FP64)
        ftb_print(w, "ftb_double_of(UINT64_C(%llu));\n", (unsigned long long)cell);
    else if (v->type == FTB_BOOL)
        ftb_print(w, "%d;\n", truth);
    else
        ftb_print(w, "(%s)UINT64_C(%llu);\n", ftb_print_type(v->type), (unsigned long long)cell);
}

void ftb_print_code(ftb_printer *w, const ftb_program *p, int c)
{
    const ftb_code *code = &p->codes[c];
    const ftb_value *out = &p->values[code->out];
    const int *args = p->args + code->first;
    ftb_print(w, "            const %s v%d = ", ftb_print_type(out->type), code->out);
    if (code->kind == FTB_CODE_ELEMENT) {
        const char *type = form_type(code->op, p->values[args[0]].type);
        ftb_print(w, "op%d((%s)v%d", c, type, args[0]);
        if (code->count > 1)
            ftb_print(w, ", (%s)v%d", type, args[1]);
        ftb_print(w, ")");
    } else if (code->kind == FTB_CODE_SELECT) {
        ftb_print(w, "v%d ? v%d : v%d", args[0], args[1], args[2]);
    } else {
        char name[16];
        snprintf(name, sizeof name, "v%d", args[0]);
        ftb_print_cast(w, out->type, p->values[args[0]].type, name);
    }
    ftb_print(w, ";\n");
}
