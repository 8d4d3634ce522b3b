/* Expressions as sources of kernels (expression.h): a function `message`, whose operators are spelled as
 * those of the host, and FTB_GPU_TEXT's kernels around it. In FP32 all but pow and lgamma have the host's
 * bits. */
#include "gpu/expression.h"

#include "gpu/text_source.h"

#include <stdio.h>

/* ---- what can be written */

static bool is_read(const ftb_program *p, int f) { return p->names[f].value >= 0; }

static bool is_index(const ftb_feed *feed) { return !feed->data && !feed->owner; }

/* One for all, which is the host's. */
static bool is_number(const ftb_feed *feed)
{
    return feed->constant || (feed->data && !feed->owner && feed->side == FTB_SIDE_NONE);
}

const int64_t *ftb_gpu_expression_from(const ftb_message *m, const ftb_program *p)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (is_read(p, f) && m->feeds[f].at)
            return m->feeds[f].at;
    return NULL;
}

static bool feed_fits(const ftb_feed *feed, ftb_side side, const int64_t *rowptr, const int64_t *at)
{
    if ((feed->at && (side || feed->at != at)) || feed->whole ||
        (feed->degree && (feed->degree != rowptr || (!side && feed->side != FTB_SIDE_ROW))))
        return false;
    return feed->width == 1 || !is_number(feed);
}

static bool code_fits(const ftb_code *code)
{
    return code->kind <= FTB_CODE_SELECT ||
           (code->kind == FTB_CODE_FEATURE &&
            (code->op == FTB_OP_DOT || code->op == FTB_OP_SUM || code->op == FTB_OP_MEAN));
}

bool ftb_gpu_expression_fits(const ftb_message *m, const ftb_program *p, ftb_side side, const int64_t *rowptr)
{
    const int64_t *const at = ftb_gpu_expression_from(m, p);
    int feeds = 0;
    for (int c = 0; c < p->ncodes; c++)
        if (!code_fits(&p->codes[c]))
            return false;
    for (int f = 0; f < m->nfeeds; f++) {
        if (is_read(p, f) && !feed_fits(&m->feeds[f], side, rowptr, at))
            return false;
        feeds += is_read(p, f);
    }
    return !m->function && feeds <= FTB_EXPRESSION_FEEDS;
}

/* ---- the source */

static const char *stored_type(FtB_Type type)
{
    return type == FTB_FP16 ? "f16" : type == FTB_BF16 ? "bf16" : ftb_print_stored_type(type);
}

static const char *place_of(const ftb_feed *feed)
{
    return feed->at                      ? "a.from[e]"
           : feed->side == FTB_SIDE_ROW  ? "i"
           : feed->side == FTB_SIDE_COL  ? "j"
           : feed->side == FTB_SIDE_EDGE ? "e"
                                         : "0";
}

/* const <type> v<value> = feed f, the slot-th that is read. */
static void put_feed(ftb_printer *w, const ftb_feed *feed, int slot, int value)
{
    const FtB_Type compute = ftb_type_compute(feed->type);
    const char *type = ftb_print_type(compute), *stored = stored_type(feed->type);
    ftb_print(w, "    const %s v%d = ", type, value);
    if (is_number(feed)) {
        ftb_print(w,
                  compute == FTB_FP32   ? "ftb_float_of((uint32_t)a.number[%d]);\n"
                  : compute == FTB_FP64 ? "ftb_double_of(a.number[%d]);\n"
                                        : "a.number[%d];\n",
                  slot);
    } else if (is_index(feed) && feed->degree) {
        ftb_print(w, "a.rowptr[i + 1] - a.rowptr[i];\n");
    } else if (is_index(feed)) {
        ftb_print(w, "%s;\n", place_of(feed));
    } else {
        const bool half = feed->type == FTB_FP16 || feed->type == FTB_BF16;
        ftb_print(w, "%s(static_cast<const %s *>(a.data[%d])[%s * a.ld[%d]", half ? "value_of" : type, stored,
                  slot, place_of(feed), slot);
        if (feed->heads > 1)
            ftb_print(w, " + h * %lld", (long long)feed->width);
        ftb_print(w, "%s]);\n", feed->width > 1 ? " + f" : "");
    }
}

static int64_t width_of(const ftb_program *p, const ftb_code *code)
{
    int64_t width = 1;
    for (int a = 0; a < code->count; a++)
        width = ftb_max(width, p->values[p->args[code->first + a]].width);
    return width;
}

static void put_values(ftb_printer *w, const ftb_message *m, const ftb_program *p, int64_t width, int end);

/* const <type> v<out> = ...; of code c, a sum over features: all that has as many is made again inside. */
static void put_feature(ftb_printer *w, const ftb_message *m, const ftb_program *p, int c)
{
    const ftb_code *code = &p->codes[c];
    const FtB_Type out = p->values[code->out].type;
    const int *args = p->args + code->first;
    const char *type = out == FTB_INT64 ? "uint64_t" : ftb_print_type(out);
    const int64_t width = width_of(p, code);
    ftb_print(w, "    const auto item%d = [&](int64_t f) {\n    (void)f;\n", c);
    put_values(w, m, p, width, c);
    ftb_print(w,
              code->op == FTB_OP_DOT ? "    return (%s)v%d * (%s)v%d;\n    };\n"
                                     : "    return (%s)v%d;\n    };\n",
              type, args[0], type, args[code->count - 1]);
    ftb_print(w, "    const %s v%d = (%s)sum_features<%s>(%lld, item%d)", ftb_print_type(out), code->out,
              ftb_print_type(out), type, (long long)width, c);
    if (code->op == FTB_OP_MEAN)
        ftb_print(w, " / (%s)%lld", type, (long long)width);
    ftb_print(w, ";\n");
}

/* What has `width` values of the program's: feeds, and codes before `end`. */
static void put_values(ftb_printer *w, const ftb_message *m, const ftb_program *p, int64_t width, int end)
{
    int slot = 0;
    for (int f = 0; f < m->nfeeds; f++) {
        const int value = p->names[f].value;
        if (!is_read(p, f))
            continue;
        if (m->feeds[f].width == width) {
            put_feed(w, &m->feeds[f], slot, value);
            ftb_print(w, "    (void)v%d;\n", value);
        }
        slot++;
    }
    for (int c = 0; c < end; c++) {
        const int out = p->codes[c].out;
        if (p->values[out].width != width)
            continue;
        if (p->codes[c].kind == FTB_CODE_FEATURE)
            put_feature(w, m, p, c);
        else
            ftb_print_code(w, p, c);
        ftb_print(w, "    (void)v%d;\n", out);
    }
}

static void put_message(ftb_printer *w, const ftb_message *m, const ftb_program *p, FtB_Type result)
{
    const int64_t width = ftb_program_width(p);
    char root[16];
    ftb_print(w,
              "static __device__ S message(const ftb_expression_arguments &a, int64_t i, int64_t j, int64_t "
              "e, int64_t v)\n{\n");
    ftb_print(w, "    const int64_t h = v / %lld, f = v %% %lld;\n", (long long)width, (long long)width);
    ftb_print(w, "    (void)a, (void)i, (void)j, (void)e, (void)h, (void)f;\n");
    for (int v = 0; v < p->nvalues; v++)
        if (p->values[v].source == FTB_FROM_CONSTANT)
            ftb_print_constant(w, p, v);
    put_values(w, m, p, 1, p->ncodes);
    if (width > 1)
        put_values(w, m, p, width, p->ncodes);
    snprintf(root, sizeof root, "v%d", p->root);
    ftb_print(w, "    return ");
    if (result == FTB_BOOL)
        ftb_print(w, "(S)(%s != 0)", root);
    else
        ftb_print_cast(w, result, p->values[p->root].type, root);
    ftb_print(w, ";\n}\n");
}

static bool reads_rows(const ftb_message *m, const ftb_program *p)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (is_read(p, f) && m->feeds[f].side == FTB_SIDE_ROW)
            return true;
    return false;
}

static void put_body(ftb_printer *w, const ftb_message *m, const ftb_program *p, FtB_Type result,
                     ftb_monoid monoid, int kernels)
{
    ftb_print(w, "#define FTB_STANDALONE\n#include \"gpu/kernels/c_types.cuh\"\n"
                 "#include \"src/expr/scalar.h\"\n#include \"src/expr/real.h\"\n"
                 "#include \"gpu/kernels/vectors.cuh\"\n#include \"gpu/kernels/features.cuh\"\n"
                 "#include \"gpu/kernels/expression_arguments.h\"\n");
    ftb_print(w, "typedef %s S;\n#define VALUES %lldll\n", ftb_print_stored_type(result),
              (long long)(m->heads * ftb_program_width(p)));
    ftb_print(w, "#define READS_ROWS %d\n#define SUMS %d\n#define KERNELS %d\n", reads_rows(m, p),
              monoid == FTB_PLUS, kernels);
    ftb_print_operators(w, p);
    put_message(w, m, p, result);
    ftb_print_class(w, ftb_type_compute(result));
    ftb_print(w, "static __device__ S combine(S x, S y) { (void)y; return (S)(%s); }\n",
              ftb_print_monoid(monoid));
}

typedef struct body {
    const ftb_message *m;
    const ftb_program *p;
    FtB_Type result;
    ftb_monoid monoid;
    int kernels;
} body;

static void put(ftb_printer *w, const void *arg)
{
    const body *b = arg;
    put_body(w, b->m, b->p, b->result, b->monoid, b->kernels);
}

GrB_Info ftb_gpu_expression_new(ftb_gpu_expression *e, const ftb_message *m, const ftb_program *p,
                                FtB_Type result, ftb_monoid monoid, int kernels)
{
    ftb_gpu_text text;
    const GrB_Info info = ftb_gpu_text_new(&text, m->ctx, put, &(body){m, p, result, monoid, kernels},
                                           "gpu/kernels/expression.cuh");
    *e = (ftb_gpu_expression){.source = text.source, .result = result};
    memcpy(e->suffix, text.suffix, sizeof e->suffix);
    return info;
}

void ftb_gpu_expression_delete(ftb_gpu_expression *e) { ftb_delete(e->source); }

/* ---- running it */

void ftb_gpu_expression_feeds(ftb_expression_arguments *a, const ftb_message *m, const ftb_program *p)
{
    int slot = 0;
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        if (!is_read(p, f))
            continue;
        if (is_number(feed))
            ftb_cast(&a->number[slot], ftb_type_compute(feed->type), feed->data, feed->type, 1);
        else
            a->data[slot] = feed->data;
        a->ld[slot++] = feed->ld;
    }
}

GrB_Info ftb_gpu_expression_run(ftb_gpu_device *d, const ftb_gpu_expression *e, const char *what,
                                int64_t count, ftb_expression_arguments *a)
{
    char name[80];
    snprintf(name, sizeof name, "expression_%s%s", what, e->suffix);
    return ftb_gpu_launch(d, e->source, name,
                          (ftb_gpu_grid){.x = (count + FTB_EXPRESSION_BLOCK - 1) / FTB_EXPRESSION_BLOCK,
                                         .y = 1,
                                         .threads = FTB_EXPRESSION_BLOCK},
                          (void *[]){a});
}
