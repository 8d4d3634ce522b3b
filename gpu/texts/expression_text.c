/* A program as the functions of a kernel's source: its operators are spelled as those of the host, and what
 * is summed is summed in the host's order.
 *
 * A value is made where it is needed, from what has as many values or one. A sum over features, a part of
 * [...] and one value of a vector make what they need of other widths again, in a function of their own. Not
 * so of products x @ W, which would be made once for every value that needs them: there lanes share the
 * vector (expression_text.h), which a function `shared<n>` makes value by value, for some items at a time, so
 * that a value of W that was read serves all of them. */
#include "gpu/texts/expression_text.h"

#include "expr/program.h"

#include <stdio.h>

/* ---- feeds */

bool ftb_gpu_reads(const ftb_message *m, const ftb_program *p, int f)
{
    return m->feeds[f].whole ? ftb_program_uses(p, f) : p->names[f].value >= 0;
}

bool ftb_gpu_is_index(const ftb_feed *feed) { return !feed->data && !feed->owner; }

bool ftb_gpu_is_number(const ftb_feed *feed)
{
    return feed->constant || (feed->data && !feed->owner && feed->side == FTB_SIDE_NONE);
}

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
    if (ftb_gpu_is_number(feed)) {
        ftb_print(w,
                  compute == FTB_FP32   ? "ftb_float_of((uint32_t)a.number[%d]);\n"
                  : compute == FTB_FP64 ? "ftb_double_of(a.number[%d]);\n"
                                        : "a.number[%d];\n",
                  slot);
    } else if (ftb_gpu_is_index(feed) && feed->degree) {
        ftb_print(w, "a.rowptr[i + 1] - a.rowptr[i];\n");
    } else if (ftb_gpu_is_index(feed)) {
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

/* ---- values */

typedef struct text {
    ftb_printer *w;
    const ftb_message *m;
    const ftb_program *p;
    const ftb_gpu_shared *s;
    int made; /* vectors that lanes share already */
} text;

static bool is_shared(const text *x, int value)
{
    return x->s->place[value] >= 0 && x->s->place[value] < x->made;
}

static int64_t width_of(const ftb_program *p, const ftb_code *code)
{
    int64_t width = 1;
    for (int a = 0; a < code->count; a++)
        width = ftb_max(width, p->values[p->args[code->first + a]].width);
    return width;
}

/* The type that sums of a type are made in. */
static const char *sum_type(FtB_Type type) { return type == FTB_INT64 ? "uint64_t" : ftb_print_type(type); }

static void put_values(const text *x, int64_t width, int end, bool inside);

/* Begins a function of f called <name><c>, and of all that has `width` values what it needs. */
static void begin_function(const text *x, const char *name, int c, int64_t width)
{
    ftb_print(x->w, "    const auto %s%d = [&](int64_t f) {\n    (void)f;\n", name, c);
    put_values(x, width, c, true);
}

/* const <type> v<out> = ...; of code c, a sum over features: all that has as many is made again inside. */
static void put_feature(const text *x, int c)
{
    const ftb_code *code = &x->p->codes[c];
    const FtB_Type out = x->p->values[code->out].type;
    const int *args = x->p->args + code->first;
    const char *type = sum_type(out);
    const int64_t width = width_of(x->p, code);
    begin_function(x, "item", c, width);
    ftb_print(x->w,
              code->op == FTB_OP_DOT ? "    return (%s)v%d * (%s)v%d;\n    };\n"
                                     : "    return (%s)v%d;\n    };\n",
              type, args[0], type, args[code->count - 1]);
    ftb_print(x->w, "    const %s v%d = (%s)sum_features<%s>(%lld, item%d)", ftb_print_type(out), code->out,
              ftb_print_type(out), type, (long long)width, c);
    if (code->op == FTB_OP_MEAN)
        ftb_print(x->w, " / (%s)%lld", type, (long long)width);
    ftb_print(x->w, ";\n");
}

/* One value of a vector. */
static void put_component(const text *x, int c)
{
    const ftb_code *code = &x->p->codes[c];
    const int from = x->p->args[code->first];
    begin_function(x, "one", c, x->p->values[from].width);
    ftb_print(x->w, "    return v%d;\n    };\n    const %s v%d = one%d(%lld);\n", from,
              ftb_print_type(x->p->values[code->out].type), code->out, c, (long long)code->component);
}

/* Arguments side by side: the one that f falls into. */
static void put_vector(const text *x, int c)
{
    const ftb_code *code = &x->p->codes[c];
    const int *args = x->p->args + code->first;
    int64_t before = 0;
    for (int a = 0; a < code->count; a++) {
        const int64_t width = x->p->values[args[a]].width;
        if (width == 1)
            continue;
        char name[40];
        snprintf(name, sizeof name, "part%d_", a);
        begin_function(x, name, c, width);
        ftb_print(x->w, "    return v%d;\n    };\n", args[a]);
    }
    ftb_print(x->w, "    const %s v%d = ", ftb_print_type(x->p->values[code->out].type), code->out);
    for (int a = 0; a < code->count; a++) {
        const int64_t width = x->p->values[args[a]].width, end = before + width;
        if (a + 1 < code->count)
            ftb_print(x->w, "f < %lld ? ", (long long)end);
        if (width == 1)
            ftb_print(x->w, "v%d", args[a]);
        else
            ftb_print(x->w, "part%d_%d(f - %lld)", a, c, (long long)before);
        ftb_print(x->w, a + 1 < code->count ? " : " : ";\n");
        before = end;
    }
}

static void put_code(const text *x, int c)
{
    const ftb_code *code = &x->p->codes[c];
    switch (code->kind) {
    case FTB_CODE_FEATURE:
        put_feature(x, c);
        break;
    case FTB_CODE_COMPONENT:
        put_component(x, c);
        break;
    case FTB_CODE_VECTOR:
        put_vector(x, c);
        break;
    case FTB_CODE_MATMUL: /* made for all items together */
        ftb_print(x->w, "    const %s v%d = product%d[t];\n", ftb_print_type(x->p->values[code->out].type),
                  code->out, c);
        break;
    default:
        ftb_print_code(x->w, x->p, c);
    }
}

static void put_shared(const text *x, int value)
{
    const ftb_value *v = &x->p->values[value];
    ftb_print(x->w,
              v->width > 1 ? "    const %s v%d = shared.x%d[f * ITEMS + t];\n"
                           : "    const %s v%d = shared.x%d[t];\n",
              ftb_print_type(v->type), value, x->s->place[value]);
}

/* What has `width` values and is needed: feeds, and codes before `end`. inside: of a function, whose f is
 * another, no products. */
static void put_values(const text *x, int64_t width, int end, bool inside)
{
    int slot = -1;
    for (int f = 0; f < x->m->nfeeds; f++) {
        const int value = x->p->names[f].value;
        slot += ftb_gpu_reads(x->m, x->p, f);
        if (value < 0 || !x->s->needed[value] || x->p->values[value].width != width)
            continue;
        if (is_shared(x, value))
            put_shared(x, value);
        else
            put_feed(x->w, &x->m->feeds[f], slot, value);
        ftb_print(x->w, "    (void)v%d;\n", value);
    }
    for (int c = 0; c < end; c++) {
        const int out = x->p->codes[c].out;
        if (!x->s->needed[out] || x->p->values[out].width != width)
            continue;
        if (is_shared(x, out))
            put_shared(x, out);
        else if (inside && x->s->product[out])
            continue;
        else
            put_code(x, c);
        ftb_print(x->w, "    (void)v%d;\n", out);
    }
}

/* Marks what a value is made of, up to vectors that lanes share. */
static void mark(const text *x, int value)
{
    bool *needed = x->s->needed;
    memset(needed, 0, (size_t)x->p->nvalues * sizeof *needed);
    needed[value] = true;
    for (int c = x->p->ncodes - 1; c >= 0; c--) {
        const ftb_code *code = &x->p->codes[c];
        if (!needed[code->out] || is_shared(x, code->out) || code->kind == FTB_CODE_MATMUL)
            continue;
        for (int a = 0; a < code->count; a++)
            needed[x->p->args[code->first + a]] = true;
    }
}

static void put_constants(const text *x)
{
    for (int v = 0; v < x->p->nvalues; v++)
        if (x->p->values[v].source == FTB_FROM_CONSTANT && x->s->needed[v])
            ftb_print_constant(x->w, x->p, v);
}

/* What makes value number `value`: of an item, at f of h. */
static void put_made(const text *x, int value)
{
    const int64_t width = x->p->values[value].width;
    put_constants(x);
    put_values(x, 1, x->p->ncodes, false);
    if (width > 1)
        put_values(x, width, x->p->ncodes, false);
}

/* The root as it is stored, or a value as it is. */
static void put_result(const text *x, FtB_Type result)
{
    char root[16];
    snprintf(root, sizeof root, "v%d", x->p->root);
    if (result == FTB_BOOL)
        ftb_print(x->w, "(S)(%s != 0);\n", root);
    else
        ftb_print_cast(x->w, result, x->p->values[x->p->root].type, root);
    if (result != FTB_BOOL)
        ftb_print(x->w, ";\n");
}

/* ---- value by value */

static void put_plain(const text *x, FtB_Type result)
{
    const long long width = ftb_program_width(x->p);
    ftb_print(x->w, "static __device__ S message(const ftb_expression_arguments &a, int64_t i, int64_t j, "
                    "int64_t e, int64_t v)\n{\n");
    ftb_print(x->w, "    const int64_t h = v / %lld, f = v %% %lld;\n", width, width);
    ftb_print(x->w, "    (void)a, (void)i, (void)j, (void)e, (void)h, (void)f;\n");
    mark(x, x->p->root);
    put_made(x, x->p->root);
    ftb_print(x->w, "    return ");
    put_result(x, result);
    ftb_print(x->w, "}\n");
}

/* ---- where lanes share vectors */

/* Which of the feeds that are read a block right of @ is. */
static int slot_of(const text *x, int name)
{
    int slot = 0;
    for (int f = 0; f < name; f++)
        slot += ftb_gpu_reads(x->m, x->p, f);
    return slot;
}

/* The products that are needed, of all items, at f. */
static void put_products(const text *x)
{
    for (int c = 0; c < x->p->ncodes; c++) {
        const ftb_code *code = &x->p->codes[c];
        if (code->kind != FTB_CODE_MATMUL || !x->s->needed[code->out] || is_shared(x, code->out))
            continue;
        const ftb_held *h = &x->p->blocks[code->block];
        const int slot = slot_of(x, h->name);
        const char *type = sum_type(x->p->values[code->out].type);
        ftb_print(x->w, "    %s product%d[ITEMS];\n", type, c);
        ftb_print(
            x->w, "    multiply(product%d, shared.x%d, static_cast<const %s *>(a.data[%d]) + %lld * a.ld[%d]",
            c, x->s->place[x->p->args[code->first]], stored_type(h->type), slot, (long long)h->first, slot);
        ftb_print(x->w, "%s, a.ld[%d], %lld);\n", h->ncols > 1 ? " + f" : "", slot, (long long)h->nrows);
    }
}

/* Values f of items: out[t] of vector `value`, or of the result. */
static void put_grouped(const text *x, int value, const char *name, const char *type, FtB_Type result)
{
    ftb_print(
        x->w,
        "static __device__ __forceinline__ void %s(const ftb_expression_arguments &a, const Shared &shared,"
        " const Places &at, int64_t h, int64_t f, %s (&out)[ITEMS])\n{\n",
        name, type);
    ftb_print(x->w, "    (void)a, (void)shared, (void)h, (void)f;\n");
    mark(x, value);
    put_products(x);
    ftb_print(x->w, "#pragma unroll\n    for (int t = 0; t < ITEMS; t++) {\n");
    ftb_print(x->w, "    const int64_t i = at.i[t], j = at.j[t], e = at.e[t];\n"
                    "    (void)i, (void)j, (void)e;\n");
    put_made(x, value);
    ftb_print(x->w, "    out[t] = ");
    if (value == x->p->root && x->made == x->s->count)
        put_result(x, result);
    else
        ftb_print(x->w, "v%d;\n", value);
    ftb_print(x->w, "    }\n}\n");
}

/* share: lanes make the vectors one after the other, each its values. */
static void put_share(const text *x)
{
    ftb_print(x->w, "static __device__ __forceinline__ void share(const ftb_expression_arguments &a, Shared "
                    "&shared, const Places &at, int64_t h, int lane, unsigned mask)\n{\n");
    for (int n = 0; n < x->s->count; n++) {
        const ftb_value *v = &x->p->values[x->s->vectors[n]];
        ftb_print(x->w, "    for (int f = lane; f < %lld; f += LANES) {\n", (long long)v->width);
        ftb_print(x->w, "        %s x[ITEMS];\n        shared%d(a, shared, at, h, f, x);\n",
                  ftb_print_type(v->type), n);
        ftb_print(x->w,
                  "#pragma unroll\n        for (int t = 0; t < ITEMS; t++)\n"
                  "            shared.x%d[f * ITEMS + t] = x[t];\n    }\n    __syncwarp(mask);\n",
                  n);
    }
    ftb_print(x->w, "}\n");
}

static void put_groups(text *x, FtB_Type result)
{
    ftb_print(x->w, "struct Places {\n    int64_t i[ITEMS], j[ITEMS], e[ITEMS];\n};\nstruct Shared {\n");
    for (int n = 0; n < x->s->count; n++) {
        const ftb_value *v = &x->p->values[x->s->vectors[n]];
        ftb_print(x->w, "    __align__(16) %s x%d[%lld * ITEMS];\n", ftb_print_type(v->type), n,
                  (long long)v->width);
    }
    ftb_print(x->w, "};\n");
    for (x->made = 0; x->made < x->s->count; x->made++) {
        const int value = x->s->vectors[x->made];
        char name[24];
        snprintf(name, sizeof name, "shared%d", x->made);
        put_grouped(x, value, name, ftb_print_type(x->p->values[value].type), result);
    }
    put_share(x);
    put_grouped(x, x->p->root, "message", "S", result);
}

void ftb_gpu_print_message(ftb_printer *w, const ftb_message *m, const ftb_program *p,
                           const ftb_gpu_shared *s, FtB_Type result)
{
    text x = {.w = w, .m = m, .p = p, .s = s};
    if (s->count > 0)
        put_groups(&x, result);
    else
        put_plain(&x, result);
}
