/* Programs to C: one function that reduces rows of messages, element by element.
 *
 * Operators are spelled as semirings/operators.def and real.h spell them, in the interpreter's order. What is
 * gained: nothing is copied, values between instructions stay in registers, and the compiler fuses multiplies
 * with adds (of the time per value of tanh(src * dst + edge), width 128, AVX-512: interpreter 0.94 ns,
 * without fusing 0.83, with it 0.58). So sums of reals differ from the interpreter's in the last places;
 * functions stay within the same bounds. The bits depend on neither threads nor batches. */
#include "expr/jit.h"
#include "expr/program.h"

#define AHEAD 4       /* entries, of which rows are prefetched */
#define LEAST_WIDTH 8 /* below, loops over features hardly vectorise: the interpreter's run over entries */

typedef struct writer {
    char *bytes; /* NULL: only counts */
    size_t used;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(writer *w, const char *format, ...)
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
#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, integer, real, dx, dy, summary)          \
    {#integer, #real},
#include "operators.def"
#undef FTB_OPERATOR
};

static const struct {
    const char *combine;
} monoids[FTB_NMONOIDS] = {
#define FTB_MONOID(id, name, identity, terminal, idempotent, rule, combine, summary) [FTB_##id] = {#combine},
#include "monoids.def"
#undef FTB_MONOID
};

/* Types of values in the code; truths are as wide as floats, so that loops vectorise. */
static const char *value_type(FtB_Type t)
{
    static const char *const names[] = {"int32_t", "int64_t", "uint64_t", "float", "double"};
    return names[ftb_class(t)];
}

static const char *stored_type(FtB_Type t)
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
    return wraps && t == FTB_INT64 ? "uint64_t" : value_type(t);
}

/* ---- what can be written */

static bool can_write(const ftb_message *m, const ftb_program *p)
{
    int64_t width = ftb_program_width(p);
    if (width < LEAST_WIDTH)
        return false;
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        if (code->kind > FTB_CODE_SELECT || p->values[code->out].width > width)
            return false;
        for (int a = 0; a < code->count; a++)
            if (p->values[p->args[code->first + a]].width > width)
                return false;
    }
    for (int f = 0; f < m->nfeeds; f++)
        if (ftb_program_uses(p, f) && (m->feeds[f].whole || !stored_type(m->feeds[f].type)))
            return false;
    return true;
}

/* ---- declarations */

static void put_operators(writer *w, const ftb_program *p)
{
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        if (code->kind != FTB_CODE_ELEMENT)
            continue;
        FtB_Type in = p->values[p->args[code->first]].type;
        bool real = in == FTB_FP32 || in == FTB_FP64;
        const char *type = form_type(code->op, in);
        put(w, "static inline %s op%d(%s x%s%s%s)\n{\n    typedef %s T;\n    return (%s)(%s);\n}\n",
            value_type(p->values[code->out].type), c, type, code->count > 1 ? ", " : "",
            code->count > 1 ? type : "", code->count > 1 ? " y" : "", type,
            value_type(p->values[code->out].type), real ? forms[code->op].real : forms[code->op].integer);
    }
}

/* A value cast to another type, as the casts of eval_kernels.c. */
static void put_cast(writer *w, FtB_Type to, FtB_Type from, const char *value)
{
    bool real = from == FTB_FP32 || from == FTB_FP64;
    if (to == FTB_BOOL && from != FTB_BOOL)
        put(w, "(%s != 0)", value);
    else if (real && (to == FTB_INT64 || to == FTB_UINT64))
        put(w, "%s((double)%s)", to == FTB_INT64 ? "ftb_int64_of" : "ftb_uint64_of", value);
    else
        put(w, "(%s)%s", value_type(to), value);
}

static void put_constant(writer *w, const ftb_program *p, int value)
{
    const ftb_value *v = &p->values[value];
    uint64_t cell = p->constants[v->index];
    uint32_t half;
    uint8_t truth;
    memcpy(&half, &cell, sizeof half);
    memcpy(&truth, &cell, sizeof truth);
    put(w, "    const %s v%d = ", value_type(v->type), value);
    if (v->type == FTB_FP32)
        put(w, "ftb_float_of(UINT32_C(%lu));\n", (unsigned long)half);
    else if (v->type == FTB_FP64)
        put(w, "ftb_double_of(UINT64_C(%llu));\n", (unsigned long long)cell);
    else if (v->type == FTB_BOOL)
        put(w, "%d;\n", truth);
    else
        put(w, "(%s)UINT64_C(%llu);\n", value_type(v->type), (unsigned long long)cell);
}

/* ---- one entry and head */

/* The row of a feed that an entry reads. */
static void put_place(writer *w, const ftb_feed *feed, int f)
{
    const char *place = feed->side == FTB_SIDE_ROW    ? "i"
                        : feed->side == FTB_SIDE_COL  ? "j"
                        : feed->side == FTB_SIDE_EDGE ? "e"
                                                      : "0";
    if (feed->at)
        put(w, "a%d[%s]", f, place);
    else
        put(w, "%s", place);
}

/* Where an operand is; its value, if it is the same for all features. */
static void put_operand(writer *w, const ftb_message *m, int f, int value)
{
    const ftb_feed *feed = &m->feeds[f];
    const char *stored = stored_type(feed->type), *type = value_type(ftb_type_compute(feed->type));
    if (!feed->data) {
        put(w, "        const int64_t v%d = ", value);
        if (feed->degree) {
            put(w, "d%d[", f);
            put_place(w, feed, f);
            put(w, " + 1] - d%d[", f);
        }
        put_place(w, feed, f);
        put(w, feed->degree ? "];\n" : ";\n");
        return;
    }
    put(w, "        const %s *const p%d = d%d + ", stored, f, f);
    put_place(w, feed, f);
    put(w, " * l%d;\n", f);
    if (feed->width == 1)
        put(w, "        const %s v%d = (%s)p%d[%s];\n", type, value, type, f, feed->heads > 1 ? "h" : "0");
}

static void put_code(writer *w, const ftb_program *p, int c)
{
    const ftb_code *code = &p->codes[c];
    const ftb_value *out = &p->values[code->out];
    const int *args = p->args + code->first;
    put(w, "            const %s v%d = ", value_type(out->type), code->out);
    if (code->kind == FTB_CODE_ELEMENT) {
        const char *type = form_type(code->op, p->values[args[0]].type);
        put(w, "op%d((%s)v%d", c, type, args[0]);
        if (code->count > 1)
            put(w, ", (%s)v%d", type, args[1]);
        put(w, ")");
    } else if (code->kind == FTB_CODE_SELECT) {
        put(w, "v%d ? v%d : v%d", args[0], args[1], args[2]);
    } else {
        char name[16];
        snprintf(name, sizeof name, "v%d", args[0]);
        put_cast(w, out->type, p->values[args[0]].type, name);
    }
    put(w, ";\n");
}

/* The messages of entry e in all heads, into T. */
static void put_entry(writer *w, const ftb_message *m, const ftb_program *p, const ftb_message_type *type,
                      bool wide_columns, bool fresh)
{
    char root[16];
    put(w, "        const int64_t j = ((const %s *)c->colidx)[e];\n        (void)j;\n",
        wide_columns ? "int64_t" : "int32_t");
    put(w, "        for (int64_t h = 0; h < %lld; h++) {\n", (long long)m->heads);
    for (int f = 0; f < m->nfeeds; f++)
        if (p->names[f].value >= 0)
            put_operand(w, m, f, p->names[f].value);
    for (int c = 0; c < p->ncodes; c++)
        if (p->values[p->codes[c].out].width == 1)
            put_code(w, p, c);
    put(w, "        for (int64_t f = 0; f < %lld; f++) {\n", (long long)type->width);
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        const char *compute = value_type(ftb_type_compute(feed->type));
        if (p->names[f].value >= 0 && feed->width > 1)
            put(w, "            const %s v%d = (%s)p%d[%s%lld + f];\n", compute, p->names[f].value, compute,
                f, feed->heads > 1 ? "h * " : "0 * ", (long long)feed->width);
    }
    for (int c = 0; c < p->ncodes; c++)
        if (p->values[p->codes[c].out].width > 1)
            put_code(w, p, c);
    snprintf(root, sizeof root, "v%d", p->root);
    put(w, "            const R y = ");
    if (type->reduced == FTB_BOOL)
        put(w, "(R)(%s != 0)", root);
    else
        put_cast(w, type->reduced, type->message, root);
    put(w, ";\n            R *const t = T + h * %lld + f;\n", (long long)type->width);
    if (!fresh)
        put(w, "            const R x = *t;\n            *t = (R)(%s);\n",
            monoids[m->reducer.monoid].combine);
    else
        put(w, "            *t = %s;\n", m->reducer.monoid == FTB_PLUS ? "(R)(0 + y)" : "y");
    put(w, "        }\n        }\n");
}

/* ---- the function */

static void put_locals(writer *w, const ftb_message *m, const ftb_program *p)
{
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        if (p->names[f].value < 0)
            continue;
        if (feed->data || feed->degree)
            put(w, "    const %s *const d%d = c->data[%d];\n", stored_type(feed->type), f, f);
        if (feed->data)
            put(w, "    const int64_t l%d = c->ld[%d];\n", f, f);
        if (feed->at)
            put(w, "    const int64_t *const a%d = c->at[%d];\n", f, f);
    }
    for (int v = 0; v < p->nvalues; v++)
        if (p->values[v].source == FTB_FROM_CONSTANT)
            put_constant(w, p, v);
}

/* Rows that are read some entries later, by columns. */
static void put_prefetch(writer *w, const ftb_message *m, const ftb_program *p, bool wide_columns)
{
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        int64_t bytes = feed->heads * feed->width * (int64_t)FtB_Type_size(feed->type);
        if (p->names[f].value < 0 || feed->side != FTB_SIDE_COL || !feed->data || feed->at)
            continue;
        put(w,
            "            const char *const n%d = (const char *)(d%d + ((const %s *)c->colidx)[e + %d < "
            "c->nvals ? e + "
            "%d : e] * l%d);\n",
            f, f, wide_columns ? "int64_t" : "int32_t", AHEAD, AHEAD, f);
        put(w,
            "            for (int64_t b = 0; b < %lld; b += 64)\n                __builtin_prefetch(n%d + "
            "b);\n",
            (long long)ftb_min(bytes, 1024), f);
    }
}

static void put_source(writer *w, const ftb_message *m, const ftb_program *p, const ftb_message_type *type,
                       bool wide_columns)
{
    long long values = (long long)(m->heads * type->width);
    put_operators(w, p);
    put(w, "typedef %s R;\n", stored_type(type->reduced));
    put(w,
        "void " FTB_JIT_ENTRY "(const ftb_jit_call *c);\nvoid " FTB_JIT_ENTRY "(const ftb_jit_call *c)\n{\n");
    put_locals(w, m, p);
    put(w, "    for (int64_t place = c->first; place < c->last; place++) {\n"
           "        const int64_t i = c->rows ? c->rows[place] : place, end = c->rowptr[i + 1];\n"
           "        int64_t e = c->rowptr[i];\n"
           "        R *restrict T = (R *)c->out + i * c->ld_out;\n"
           "        if (e == end) {\n");
    put(w,
        "            for (int64_t f = 0; f < %lld; f++)\n                T[f] = *(const R *)c->identity;\n"
        "            continue;\n        }\n        {\n",
        values);
    put_entry(w, m, p, type, wide_columns, true);
    put(w, "        }\n        for (e++; e < end; e++) {\n");
    put_prefetch(w, m, p, wide_columns);
    put_entry(w, m, p, type, wide_columns, false);
    put(w, "        }\n    }\n}\n");
}

char *ftb_codegen(const ftb_message *m, const ftb_program *p, const ftb_message_type *type, bool wide_columns)
{
    static const char standalone[] = "#define FTB_STANDALONE\n";
    if (!can_write(m, p))
        return NULL;
    size_t before = sizeof standalone - 1 + strlen(ftb_jit_prelude);
    writer w = {NULL, before};
    put_source(&w, m, p, type, wide_columns);
    char *source = ftb_new(m->ctx, (int64_t)w.used + 1, 1);
    if (!source)
        return NULL;
    memcpy(source, standalone, sizeof standalone);
    memcpy(source + sizeof standalone - 1, ftb_jit_prelude, strlen(ftb_jit_prelude));
    w = (writer){source, before};
    put_source(&w, m, p, type, wide_columns);
    source[w.used] = '\0';
    return source;
}
