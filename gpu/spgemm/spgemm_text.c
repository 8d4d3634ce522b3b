/* Texts of sparse x sparse products, printed as for the host's compiler over the host's own functions
 * (spgemm_text.h): in FP32 all but pow and lgamma have the host's bits. Each program is a namespace with its
 * operators, and a function of what its names are. */
#include "gpu/spgemm/spgemm_text.h"

#include <stdio.h>

int ftb_gpu_spgemm_texts(const ftb_spgemm_product *p)
{
    const int rows = p->mask ? FTB_SPGEMM_TEXT_ROWS | FTB_SPGEMM_TEXT_MASK : FTB_SPGEMM_TEXT_ROWS;
    return (p->p.message == FTB_MESSAGE_PROGRAM ? rows : 0) |
           (p->finish.epilogue || p->finish.where ? FTB_SPGEMM_TEXT_FINISH : 0);
}

int64_t ftb_gpu_spgemm_mark(const ftb_spgemm_product *p)
{
    return p->p.message != FTB_MESSAGE_PROGRAM ? 0 : p->reducer.mean ? 4 : 1;
}

/* ---- what can be written */

/* The code that lays the result's values side by side; NULL: there is one. */
static const ftb_code *vector_of(const ftb_program *p)
{
    const ftb_value *root = &p->values[p->root];
    return root->source == FTB_FROM_CODE && p->codes[root->index].kind == FTB_CODE_VECTOR
               ? &p->codes[root->index]
               : NULL;
}

/* Number `v` of the values of a program's result. */
static int value_of(const ftb_program *p, int v)
{
    const ftb_code *vector = vector_of(p);
    return vector ? p->args[vector->first + v] : p->root;
}

/* One value each, of operators alone; a vector only as the result. */
static bool program_fits(const ftb_program *p, bool vectors)
{
    const ftb_code *vector = vector_of(p);
    if (p->nblocks > 0 || (vector && (!vectors || vector->count != p->values[p->root].width)))
        return false;
    for (int c = 0; c < p->ncodes; c++)
        if (&p->codes[c] != vector &&
            (p->codes[c].kind > FTB_CODE_SELECT || p->values[p->codes[c].out].width != 1))
            return false;
    for (int n = 0; n < p->nnames; n++)
        if (p->names[n].value >= 0 && p->names[n].width != 1)
            return false;
    return true;
}

bool ftb_gpu_spgemm_text_fits(const ftb_spgemm_product *p)
{
    const ftb_finish *f = &p->finish;
    const ftb_sparse_message *m = &p->message;
    const bool rows = p->p.message == FTB_MESSAGE_PROGRAM;
    if (rows && (!m->program || m->awidth != 1 || m->bwidth != 1 || m->used[FTB_NAME_M] ||
                 p->width > FTB_SPGEMM_MOST_VALUES || !program_fits(m->program, true)))
        return false;
    return (!f->epilogue || program_fits(f->epilogue, false)) &&
           (!f->where || program_fits(f->where, false)) && f->in_width <= FTB_SPGEMM_MOST_VALUES;
}

/* ---- the source */

/* In memory, as kernels have it. */
static const char *type_of(FtB_Type type)
{
    return type == FTB_FP32     ? "float"
           : type == FTB_FP64   ? "double"
           : type == FTB_INT64  ? "long long"
           : type == FTB_UINT64 ? "unsigned long long"
                                : "unsigned char";
}

/* A figure of a vertex, which is 0 where none is known. */
static void put_figure(ftb_printer *w, const char *what, char vertex)
{
    const char *const side = vertex == 'i' ? "ROW" : vertex == 'j' ? "COL" : "INNER";
    ftb_print(w, "(a.figures.%s[FTB_SPGEMM_%s] ? a.figures.%s[FTB_SPGEMM_%s][%c] : 0)", what, side, what,
              side, vertex);
}

/* What a name stands for that messages, epilogues and filters have alike. */
static void put_name(ftb_printer *w, const char *name)
{
    if (strcmp(name, "nrows") == 0 || strcmp(name, "ncols") == 0)
        ftb_print(w, "a.figures.%s", name);
    else if (strlen(name) == 1)
        ftb_print(w, "%s", name);
    else
        put_figure(w, name[0] == 'd' ? "degree" : name[0] == 's' ? "sum" : "square", name[1]);
}

static void put_row_name(ftb_printer *w, const char *name)
{
    if (name[0] == 'h')
        ftb_print(w, "h[%c]", name[1] ? name[1] : '0');
    else
        put_name(w, name);
}

/* Names of a message before those that are bound. */
static int known_of(const ftb_sparse_message *m)
{
    int known = 0;
    for (int k = 0; k < FTB_MESSAGE_NAMES; k++)
        known += m->index[k] >= 0;
    return known;
}

/* An operand's value, which is cast already; every entry of a pattern is 1. */
static void put_value(ftb_printer *w, const char *of, const char *at, FtB_Type type)
{
    ftb_print(w, "(a.%s ? __ldg(static_cast<const %s *>(a.%s) + %s) : %s(1))", of, type_of(type), of, at,
              ftb_print_type(type));
}

/* Place n of a message's names. */
static void put_message_name(ftb_printer *w, const ftb_sparse_message *m, int n)
{
    if (n >= known_of(m))
        ftb_print(
            w, m->names[n].type == FTB_FP64 ? "ftb_double_of(a.figures.number[%d])" : "a.figures.number[%d]",
            n - known_of(m));
    else if (n == m->index[FTB_NAME_A])
        put_value(w, "a", "x", m->atype);
    else if (n == m->index[FTB_NAME_B])
        put_value(w, "b", "e", m->btype);
    else
        put_name(w, m->names[n].name);
}

/* The values of a program's operands, constants and codes; m: a message's, NULL: of a row. */
static void put_values(ftb_printer *w, const ftb_program *p, const ftb_sparse_message *m)
{
    const ftb_code *vector = vector_of(p);
    for (int v = 0; v < p->nvalues; v++)
        if (p->values[v].source == FTB_FROM_CONSTANT)
            ftb_print_constant(w, p, v);
    for (int n = 0; n < p->nnames; n++) {
        const int value = p->names[n].value;
        if (value < 0)
            continue;
        const char *const type = ftb_print_type(p->values[value].type);
        ftb_print(w, "    const %s v%d = (%s)", type, value, type);
        if (m)
            put_message_name(w, m, n);
        else
            put_row_name(w, p->names[n].name);
        ftb_print(w, ";\n    (void)v%d;\n", value);
    }
    for (int c = 0; c < p->ncodes; c++)
        if (&p->codes[c] != vector) {
            ftb_print_code(w, p, c);
            ftb_print(w, "    (void)v%d;\n", p->codes[c].out);
        }
}

/* Value v of a program's result, as `type` stores it. */
static void put_result(ftb_printer *w, const ftb_program *p, int v, FtB_Type type)
{
    const int value = value_of(p, v);
    char name[16];
    snprintf(name, sizeof name, "v%d", value);
    if (type == FTB_BOOL)
        ftb_print(w, "(unsigned char)(%s != 0)", name);
    else
        ftb_print_cast(w, type, p->values[value].type, name);
}

static void put_message(ftb_printer *w, const ftb_spgemm_product *product)
{
    const ftb_program *p = product->message.program;
    ftb_print(w, "typedef %s S;\n#define TEXT_VALUES %lld\n#define SUM %d\n#define MEAN %d\n",
              type_of(product->sum_type), (long long)product->width, product->reducer.monoid == FTB_PLUS,
              product->reducer.mean);
    ftb_print(w, "namespace message_text\n{\n");
    ftb_print_operators(w, p);
    ftb_print(w,
              "}\nstatic __device__ __forceinline__ void message(const ftb_spgemm_arguments &a, int64_t i, "
              "int64_t j, int64_t k, int64_t x, int64_t e, S *z)\n{\n    using namespace message_text;\n"
              "    (void)a, (void)i, (void)j, (void)k, (void)x, (void)e;\n");
    put_values(w, p, &product->message);
    for (int v = 0; v < product->width; v++) {
        ftb_print(w, "    z[%d] = ", v);
        put_result(w, p, v, product->sum_type);
        ftb_print(w, ";\n");
    }
    ftb_print(w, "}\n");
    ftb_print_class(w, product->sum_type);
    ftb_print(w, "static __device__ __forceinline__ S combine(S x, S y) { (void)y; return (S)(%s); }\n",
              ftb_print_monoid(product->reducer.monoid));
}

/* const <type> <name>_of(...): a program over a row's entry. */
static void put_row_program(ftb_printer *w, const ftb_program *p, const char *name, FtB_Type type)
{
    ftb_print(w, "namespace %s_text\n{\n", name);
    ftb_print_operators(w, p);
    ftb_print(
        w,
        "}\nstatic __device__ __forceinline__ %s %s_of(const ftb_spgemm_finish_arguments &a, int64_t i, "
        "int64_t j, const H *h, W w)\n{\n    using namespace %s_text;\n"
        "    (void)a, (void)i, (void)j, (void)h, (void)w;\n",
        type_of(type), name, name);
    put_values(w, p, NULL);
    ftb_print(w, "    return ");
    put_result(w, p, 0, type);
    ftb_print(w, ";\n}\n");
}

static void put_finish(ftb_printer *w, const ftb_finish *f)
{
    const bool copies = !f->epilogue;
    ftb_print(w, "typedef %s H;\ntypedef %s W;\n#define SUMS %lld\n#define COPIES %d\n", type_of(f->in_type),
              type_of(f->out_type), (long long)f->in_width, copies);
    if (f->epilogue)
        put_row_program(w, f->epilogue, "epilogue", f->out_type);
    if (f->where)
        put_row_program(w, f->where, "where", ftb_program_type(f->where));
    ftb_print(w,
              "static __device__ __forceinline__ W finish(const ftb_spgemm_finish_arguments &a, int64_t i, "
              "int64_t j, const H *h, bool &stays)\n{\n");
    ftb_print(w, "    const W w = %s;\n", copies ? "h[0]" : "epilogue_of(a, i, j, h, W(0))");
    if (f->where)
        ftb_print(w, "    stays = static_cast<double>(where_of(a, i, j, h, w)) != 0;\n");
    ftb_print(w, "    (void)a, (void)i, (void)j, (void)h, (void)stays;\n    return w;\n}\n");
}

static void put(ftb_printer *w, const void *arg)
{
    const ftb_spgemm_product *p = arg;
    const int texts = ftb_gpu_spgemm_texts(p);
    ftb_print(w, "#define FTB_STANDALONE\n#include \"gpu/kernels/c_types.cuh\"\n"
                 "#include \"src/expr/scalar.h\"\n#include \"src/expr/real.h\"\n"
                 "#include \"gpu/kernels/kernel.cuh\"\n#include \"gpu/kernels/spgemm_rows.h\"\n");
    ftb_print(w, "#define TEXTS %d\n", texts);
    if (texts & FTB_SPGEMM_TEXT_ROWS)
        put_message(w, p);
    if (texts & FTB_SPGEMM_TEXT_FINISH)
        put_finish(w, &p->finish);
}

GrB_Info ftb_gpu_spgemm_text_new(ftb_gpu_text *text, const ftb_spgemm_product *product)
{
    return ftb_gpu_text_new(text, product->ctx, put, product, "gpu/kernels/spgemm_text.cuh");
}

void ftb_gpu_spgemm_numbers(ftb_spgemm_figures *figures, const ftb_spgemm_product *product)
{
    const ftb_sparse_message *m = &product->message;
    for (int n = known_of(m); n < m->count; n++)
        if (m->fixed[n].data)
            memcpy(&figures->number[n - known_of(m)], m->fixed[n].data, sizeof figures->number[0]);
}
