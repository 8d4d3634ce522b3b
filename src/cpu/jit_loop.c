/* Programs to C: one function that reduces rows of messages, element by element.
 *
 * Operators are spelled as semirings/operators.def and real.h spell them, in the interpreter's order. What is
 * gained: nothing is copied, values between instructions stay in registers, and the compiler fuses multiplies
 * with adds (of the time per value of tanh(src * dst + edge), width 128, AVX-512: interpreter 0.94 ns,
 * without fusing 0.83, with it 0.58). So sums of reals differ from the interpreter's in the last places;
 * functions stay within the same bounds. The bits depend on neither threads nor batches. */
#include "cpu/jit.h"
#include "expr/print_c.h"

#define AHEAD 4       /* entries, of which rows are prefetched */
#define LEAST_WIDTH 8 /* below, loops over features hardly vectorise: the interpreter's run over entries */

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
        if (ftb_program_uses(p, f) && (m->feeds[f].whole || !ftb_print_stored_type(m->feeds[f].type)))
            return false;
    return true;
}

/* ---- one entry and head */

/* The row of a feed that an entry reads. */
static void put_place(ftb_printer *w, const ftb_feed *feed, int f)
{
    const char *place = feed->side == FTB_SIDE_ROW    ? "i"
                        : feed->side == FTB_SIDE_COL  ? "j"
                        : feed->side == FTB_SIDE_EDGE ? "e"
                                                      : "0";
    if (feed->at)
        ftb_print(w, "a%d[%s]", f, place);
    else
        ftb_print(w, "%s", place);
}

/* Where an operand is; its value, if it is the same for all features. */
static void put_operand(ftb_printer *w, const ftb_message *m, int f, int value)
{
    const ftb_feed *feed = &m->feeds[f];
    const char *stored = ftb_print_stored_type(feed->type),
               *type = ftb_print_type(ftb_type_compute(feed->type));
    if (!feed->data) {
        ftb_print(w, "        const int64_t v%d = ", value);
        if (feed->degree) {
            ftb_print(w, "d%d[", f);
            put_place(w, feed, f);
            ftb_print(w, " + 1] - d%d[", f);
        }
        put_place(w, feed, f);
        ftb_print(w, feed->degree ? "];\n" : ";\n");
        return;
    }
    ftb_print(w, "        const %s *const p%d = d%d + ", stored, f, f);
    put_place(w, feed, f);
    ftb_print(w, " * l%d;\n", f);
    if (feed->width == 1)
        ftb_print(w, "        const %s v%d = (%s)p%d[%s];\n", type, value, type, f,
                  feed->heads > 1 ? "h" : "0");
}

/* The messages of entry e in all heads, into T. */
static void put_entry(ftb_printer *w, const ftb_message *m, const ftb_program *p,
                      const ftb_message_type *type, bool wide_columns, bool fresh)
{
    char root[16];
    ftb_print(w, "        const int64_t j = ((const %s *)c->colidx)[e];\n        (void)j;\n",
              wide_columns ? "int64_t" : "int32_t");
    ftb_print(w, "        for (int64_t h = 0; h < %lld; h++) {\n", (long long)m->heads);
    for (int f = 0; f < m->nfeeds; f++)
        if (p->names[f].value >= 0)
            put_operand(w, m, f, p->names[f].value);
    for (int c = 0; c < p->ncodes; c++)
        if (p->values[p->codes[c].out].width == 1)
            ftb_print_code(w, p, c);
    ftb_print(w, "        for (int64_t f = 0; f < %lld; f++) {\n", (long long)type->width);
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        const char *compute = ftb_print_type(ftb_type_compute(feed->type));
        if (p->names[f].value >= 0 && feed->width > 1)
            ftb_print(w, "            const %s v%d = (%s)p%d[%s%lld + f];\n", compute, p->names[f].value,
                      compute, f, feed->heads > 1 ? "h * " : "0 * ", (long long)feed->width);
    }
    for (int c = 0; c < p->ncodes; c++)
        if (p->values[p->codes[c].out].width > 1)
            ftb_print_code(w, p, c);
    snprintf(root, sizeof root, "v%d", p->root);
    ftb_print(w, "            const R y = ");
    if (type->reduced == FTB_BOOL)
        ftb_print(w, "(R)(%s != 0)", root);
    else
        ftb_print_cast(w, type->reduced, type->message, root);
    ftb_print(w, ";\n            R *const t = T + h * %lld + f;\n", (long long)type->width);
    if (!fresh)
        ftb_print(w, "            const R x = *t;\n            *t = (R)(%s);\n",
                  ftb_print_monoid(m->reducer.monoid));
    else
        ftb_print(w, "            *t = %s;\n", m->reducer.monoid == FTB_PLUS ? "(R)(0 + y)" : "y");
    ftb_print(w, "        }\n        }\n");
}

/* ---- the function */

static void put_locals(ftb_printer *w, const ftb_message *m, const ftb_program *p)
{
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        if (p->names[f].value < 0)
            continue;
        if (feed->data || feed->degree)
            ftb_print(w, "    const %s *const d%d = c->data[%d];\n", ftb_print_stored_type(feed->type), f, f);
        if (feed->data)
            ftb_print(w, "    const int64_t l%d = c->ld[%d];\n", f, f);
        if (feed->at)
            ftb_print(w, "    const int64_t *const a%d = c->at[%d];\n", f, f);
    }
    for (int v = 0; v < p->nvalues; v++)
        if (p->values[v].source == FTB_FROM_CONSTANT)
            ftb_print_constant(w, p, v);
}

/* Rows that are read some entries later, by columns. */
static void put_prefetch(ftb_printer *w, const ftb_message *m, const ftb_program *p, bool wide_columns)
{
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        int64_t bytes = feed->heads * feed->width * (int64_t)FtB_Type_size(feed->type);
        if (p->names[f].value < 0 || feed->side != FTB_SIDE_COL || !feed->data || feed->at)
            continue;
        ftb_print(w,
                  "            const char *const n%d = (const char *)(d%d + ((const %s *)c->colidx)[e + %d < "
                  "c->nvals ? e + "
                  "%d : e] * l%d);\n",
                  f, f, wide_columns ? "int64_t" : "int32_t", AHEAD, AHEAD, f);
        ftb_print(
            w,
            "            for (int64_t b = 0; b < %lld; b += 64)\n                __builtin_prefetch(n%d + "
            "b);\n",
            (long long)ftb_min(bytes, 1024), f);
    }
}

static void put_source(ftb_printer *w, const ftb_message *m, const ftb_program *p,
                       const ftb_message_type *type, bool wide_columns)
{
    long long values = (long long)(m->heads * type->width);
    ftb_print_operators(w, p);
    ftb_print(w, "typedef %s R;\n", ftb_print_stored_type(type->reduced));
    ftb_print(w, "void " FTB_JIT_ENTRY "(const ftb_jit_call *c);\nvoid " FTB_JIT_ENTRY
                 "(const ftb_jit_call *c)\n{\n");
    put_locals(w, m, p);
    ftb_print(w, "    for (int64_t place = c->first; place < c->last; place++) {\n"
                 "        const int64_t i = c->rows ? c->rows[place] : place, end = c->rowptr[i + 1];\n"
                 "        int64_t e = c->rowptr[i];\n"
                 "        R *restrict T = (R *)c->out + i * c->ld_out;\n"
                 "        if (e == end) {\n");
    ftb_print(
        w,
        "            for (int64_t f = 0; f < %lld; f++)\n                T[f] = *(const R *)c->identity;\n"
        "            continue;\n        }\n        {\n",
        values);
    put_entry(w, m, p, type, wide_columns, true);
    ftb_print(w, "        }\n        for (e++; e < end; e++) {\n");
    put_prefetch(w, m, p, wide_columns);
    put_entry(w, m, p, type, wide_columns, false);
    ftb_print(w, "        }\n    }\n}\n");
}

char *ftb_codegen(const ftb_message *m, const ftb_program *p, const ftb_message_type *type, bool wide_columns)
{
    static const char standalone[] = "#define FTB_STANDALONE\n";
    if (!can_write(m, p))
        return NULL;
    size_t before = sizeof standalone - 1 + strlen(ftb_jit_prelude);
    ftb_printer w = {NULL, before};
    put_source(&w, m, p, type, wide_columns);
    char *source = ftb_new(m->ctx, (int64_t)w.used + 1, 1);
    if (!source)
        return NULL;
    memcpy(source, standalone, sizeof standalone);
    memcpy(source + sizeof standalone - 1, ftb_jit_prelude, strlen(ftb_jit_prelude));
    w = (ftb_printer){source, before};
    put_source(&w, m, p, type, wide_columns);
    source[w.used] = '\0';
    return source;
}
