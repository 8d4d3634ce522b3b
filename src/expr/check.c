/* Tree to program: names, widths and types (docs/semirings.md, "Types"), one node after the other. */
#include "expr/program.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>

typedef struct compiler {
    ftb_program *p;
    const ftb_expr *e;
    int count;
    const ftb_name *names;
    bool integers_wide, shapes_only; /* shapes_only: no data is read */
    int *value;                      /* of each node; BLOCK - n: the block that is names[n] */
    GrB_Info info;
} compiler;

#define WRONG (-1) /* an error: c->info and the message are set */
#define BLOCK (-2)

static int wrong(compiler *c, GrB_Info info, int node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Errors end with the column of the node. */
static int wrong(compiler *c, GrB_Info info, int node, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c->info =
        ftb_fail(info, "%s: %s at column %d", c->e->what, text, c->e->column0 + c->e->nodes[node].column);
    return WRONG;
}

static ftb_value *at(compiler *c, int value) { return &c->p->values[value]; }
static bool is_float(FtB_Type t) { return t == FTB_FP32 || t == FTB_FP64; }

/* ---- types */

static bool integer_in(compiler *c, int value, int64_t least, int64_t most)
{
    const ftb_value *v = at(c, value);
    if (v->source != FTB_FROM_CONSTANT || v->type != FTB_INT64)
        return false;
    int64_t x = (int64_t)c->p->constants[v->index];
    return x >= least && x <= most;
}

/* Whether a value keeps a result from being FP32: it has integers of more than 16 bits, or is a literal
 * that FP32 cannot reach. */
static bool is_wide(compiler *c, int value)
{
    const ftb_value *v = at(c, value);
    if (v->type == FTB_FP64 && v->weak && v->source == FTB_FROM_CONSTANT) {
        double x = fabs(ftb_get_real(&c->p->constants[v->index], FTB_FP64, 0));
        return x != 0 && x < HUGE_VAL && (x > (double)FLT_MAX || x < (double)FLT_MIN);
    }
    if (v->type == FTB_INT64 && v->weak && v->source == FTB_FROM_CONSTANT)
        return !integer_in(c, value, INT16_MIN, UINT16_MAX);
    return v->wide;
}

static FtB_Type common_float(compiler *c, int count, const int *values)
{
    bool single = false, wide = false;
    for (int a = 0; a < count; a++) {
        const ftb_value *v = at(c, values[a]);
        if (v->type == FTB_FP64 && !v->weak)
            return FTB_FP64;
        single = single || v->type == FTB_FP32;
        wide = wide || is_wide(c, values[a]);
    }
    return single && !wide ? FTB_FP32 : FTB_FP64;
}

/* The type that values meet in: a float if one is; else UINT64 if all are unsigned, else INT64. */
static FtB_Type common(compiler *c, int count, const int *values)
{
    bool is_unsigned = false, is_signed = false;
    for (int a = 0; a < count; a++) {
        FtB_Type t = at(c, values[a])->type;
        if (is_float(t))
            return common_float(c, count, values);
        is_unsigned = is_unsigned || t == FTB_UINT64;
        is_signed = is_signed || (t == FTB_INT64 && !integer_in(c, values[a], 0, INT64_MAX));
    }
    return is_unsigned && !is_signed ? FTB_UINT64 : FTB_INT64;
}

/* Marks a result with what it inherits from the values it is made of. */
static int inherit(compiler *c, int made, int count, const int *values)
{
    bool weak = true, wide = false;
    for (int a = 0; a < count; a++) {
        weak = weak && at(c, values[a])->weak;
        wide = wide || is_wide(c, values[a]);
    }
    FtB_Type t = at(c, made)->type;
    at(c, made)->weak = weak;
    at(c, made)->wide = t != FTB_BOOL && !is_float(t) && wide;
    return made;
}

/* ---- widths */

/* The width that values broadcast to, or 0 (error). */
static int64_t common_width(compiler *c, int node, int count, const int *values)
{
    int64_t width = 1;
    for (int a = 0; a < count; a++) {
        int64_t w = at(c, values[a])->width;
        if (w == width || w == 1)
            continue;
        if (width != 1) {
            wrong(c, GrB_DIMENSION_MISMATCH, node, "widths %lld and %lld do not match in '%s'",
                  (long long)width, (long long)w, ftb_operators[c->e->nodes[node].op].spelling);
            return 0;
        }
        width = w;
    }
    return width;
}

/* ---- elementwise */

/* op over values cast to `type`; the result is of type `result`. */
static int element(compiler *c, int node, ftb_operator op, FtB_Type type, FtB_Type result, int count,
                   const int *values)
{
    int cast[2];
    int64_t width = common_width(c, node, count, values);
    if (!width)
        return WRONG;
    for (int a = 0; a < count; a++)
        cast[a] = ftb_program_cast(c->p, values[a], type);
    ftb_code code = {.kind = FTB_CODE_ELEMENT, .op = op};
    return inherit(c, ftb_program_emit(c->p, code, result, width, count, cast), count, values);
}

/* int8(x) and its like: reals saturate at the target's ends, integers wrap. */
static int convert(compiler *c, int node, ftb_operator op, int x)
{
    static const struct {
        ftb_operator op;
        FtB_Type type;
    } rows[] = {{FTB_OP_BOOL, FTB_BOOL},     {FTB_OP_INT8, FTB_INT8},     {FTB_OP_INT16, FTB_INT16},
                {FTB_OP_INT32, FTB_INT32},   {FTB_OP_INT64, FTB_INT64},   {FTB_OP_UINT8, FTB_UINT8},
                {FTB_OP_UINT16, FTB_UINT16}, {FTB_OP_UINT32, FTB_UINT32}, {FTB_OP_UINT64, FTB_UINT64},
                {FTB_OP_FP32, FTB_FP32},     {FTB_OP_FP64, FTB_FP64}};
    FtB_Type to = FTB_BOOL;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (rows[r].op == op)
            to = rows[r].type;
    FtB_Type compute = ftb_type_compute(to);
    if (to != compute) {
        FtB_Type in = is_float(at(c, x)->type) ? FTB_FP64 : compute;
        x = element(c, node, op, in, in, 1, &x);
    }
    int made = ftb_program_cast(c->p, x, compute);
    bool wide = ftb_type_integer(to) && ftb_type_bits(to) > 16;
    if (at(c, made)->weak || at(c, made)->wide != wide) { /* marks of its own need a value of its own */
        made = ftb_program_emit(c->p, (ftb_code){.kind = FTB_CODE_COPY}, compute, at(c, x)->width, 1, &made);
        at(c, made)->weak = false;
        at(c, made)->wide = wide;
    }
    return made;
}

static int real_function(compiler *c, int node, ftb_operator op, int count, const int *values)
{
    FtB_Type type = common_float(c, count, values);
    if (op == FTB_OP_POW && at(c, values[1])->source == FTB_FROM_CONSTANT) { /* squares are products */
        const ftb_value *y = at(c, values[1]);
        if (ftb_get_real(&c->p->constants[y->index], y->type, 0) == 2) {
            const int square[2] = {values[0], values[0]};
            return inherit(c, element(c, node, FTB_OP_MUL, type, type, 2, square), count, values);
        }
    }
    return element(c, node, op, type, type, count, values);
}

static int elementwise(compiler *c, int node, int count, const int *values)
{
    ftb_operator op = c->e->nodes[node].op;
    FtB_Type type = common(c, count, values);
    switch (ftb_operators[op].rule) {
    case FTB_RULE_WRAP:
        if (type == FTB_UINT64 && (op == FTB_OP_SUB || op == FTB_OP_NEG))
            type = FTB_INT64;
        return element(c, node, op, type, type, count, values);
    case FTB_RULE_ORDER:
        if (!is_float(type) && (op == FTB_OP_FLOOR || op == FTB_OP_CEIL))
            return values[0];
        return element(c, node, op, type, type, count, values);
    case FTB_RULE_INTEGER:
        if (is_float(type))
            return wrong(c, GrB_DOMAIN_MISMATCH, node, "%s takes integers, not reals,",
                         ftb_operators[op].spelling);
        return element(c, node, op, type, type, count, values);
    case FTB_RULE_COMPARE:
        return element(c, node, op, type, FTB_BOOL, count, values);
    case FTB_RULE_LOGIC:
        return element(c, node, op, FTB_BOOL, FTB_BOOL, count, values);
    case FTB_RULE_CONVERT:
        return convert(c, node, op, values[0]);
    default:
        return real_function(c, node, op, count, values);
    }
}

static int select_node(compiler *c, int node, const int *values)
{
    bool truth = at(c, values[1])->type == FTB_BOOL && at(c, values[2])->type == FTB_BOOL;
    FtB_Type type = truth ? FTB_BOOL : common(c, 2, values + 1);
    int64_t width = common_width(c, node, 3, values);
    if (!width)
        return WRONG;
    const int cast[3] = {ftb_program_cast(c->p, values[0], FTB_BOOL), ftb_program_cast(c->p, values[1], type),
                         ftb_program_cast(c->p, values[2], type)};
    int made = ftb_program_emit(c->p, (ftb_code){.kind = FTB_CODE_SELECT}, type, width, 3, cast);
    return inherit(c, made, 2, values + 1);
}

/* ---- vectors */

/* [x, y, ...]. A mix of integers and reals that is going to be summed becomes FP64, in which counts are
 * exact to 2^53. */
static int vector(compiler *c, int node, int count, int *values)
{
    bool all_truth = true, some_real = false, all_real = true;
    int64_t width = 0;
    for (int a = 0; a < count; a++) {
        const ftb_value *v = at(c, values[a]);
        all_truth = all_truth && v->type == FTB_BOOL;
        some_real = some_real || is_float(v->type);
        all_real = all_real && is_float(v->type);
        width += v->width;
    }
    if (width > FTB_MAX_CELLS)
        return wrong(c, GrB_DIMENSION_MISMATCH, node, "a vector of %lld values is too long",
                     (long long)width);
    FtB_Type type = all_truth                                    ? FTB_BOOL
                    : c->integers_wide && some_real && !all_real ? FTB_FP64
                                                                 : common(c, count, values);
    int cast[64];
    for (int a = 0; a < count; a++)
        cast[a] = ftb_program_cast(c->p, values[a], type);
    int made = ftb_program_emit(c->p, (ftb_code){.kind = FTB_CODE_VECTOR}, type, width, count, cast);
    return inherit(c, made, count, values);
}

static int feature(compiler *c, int node, int count, const int *values)
{
    ftb_operator op = c->e->nodes[node].op;
    FtB_Type type = common(c, count, values);
    int64_t width = common_width(c, node, count, values);
    if (!width)
        return WRONG;
    if (op == FTB_OP_HYPERGEOM_SF && width != 4)
        return wrong(c, GrB_DIMENSION_MISMATCH, node, "hypergeom_sf takes [x, N, K, n], not %lld values,",
                     (long long)width);
    if (op == FTB_OP_HYPERGEOM_SF || (op == FTB_OP_MEAN && !is_float(type)))
        type = FTB_FP64;
    if (width == 1) /* of a single value */
        return count == 2 ? element(c, node, FTB_OP_MUL, type, type, 2, values)
                          : ftb_program_cast(c->p, values[0], type);
    int cast[2];
    for (int a = 0; a < count; a++)
        cast[a] = ftb_program_cast(c->p, values[a], type);
    ftb_code code = {.kind = FTB_CODE_FEATURE, .op = op};
    return inherit(c, ftb_program_emit(c->p, code, type, 1, count, cast), count, values);
}

/* ---- blocks */

static int hold(compiler *c, int name, int index)
{
    ftb_program *p = c->p;
    const ftb_name *n = &c->names[name];
    const FtB_Block rows = n->rows;
    p->names[name].used = true;
    p->blocks[p->nblocks] = (ftb_held){.name = name,
                                       .index = index,
                                       .type = rows->type,
                                       .nrows = rows->nrows,
                                       .ncols = rows->ncols,
                                       .ld = rows->ld};
    if (!n->later && !c->shapes_only) {
        p->blocks[p->nblocks].data = ftb_block_data(rows);
        p->blocks[p->nblocks].owner = ftb_buffer_retain(rows->owner);
    }
    return p->nblocks++;
}

GrB_Info ftb_held_pack(void **panels, const ftb_program *p, const ftb_held *h, FtB_Type type)
{
    size_t size = FtB_Type_size(type), from = FtB_Type_size(h->type);
    int64_t count = (h->ncols + FTB_PANEL - 1) / FTB_PANEL, cells;
    if (__builtin_mul_overflow(count * FTB_PANEL, h->nrows, &cells))
        return ftb_fail(GrB_INVALID_VALUE, "%s: '%s' is too large", p->what, p->names[h->name].name);
    char *made = ftb_new0(p->ctx, cells, size);
    *panels = made;
    if (!made)
        return ftb_nomem();
    for (int64_t panel = 0; panel < count; panel++)
        for (int64_t r = 0; r < h->nrows; r++) {
            int64_t column = panel * FTB_PANEL, columns = ftb_min(FTB_PANEL, h->ncols - column);
            ftb_cast(made + (size_t)((panel * h->nrows + r) * FTB_PANEL) * size, type,
                     h->data + (size_t)((h->first + r) * h->ld + column) * from, h->type, columns);
        }
    return GrB_SUCCESS;
}

/* x @ W; a third argument, which only rewriting makes, is the first row of W that x meets. */
static int matmul(compiler *c, int node, int x, int right)
{
    if (right > BLOCK)
        return wrong(c, GrB_DOMAIN_MISMATCH, node, "the right side of '@' must be a bound block");
    int name = BLOCK - right;
    const ftb_name *n = &c->names[name];
    const FtB_Block W = n->rows;
    bool part = c->e->nodes[node].count == 3;
    int64_t first = part ? c->e->nodes[ftb_tree_arg(c->e, node, 2)].integer : 0, depth = at(c, x)->width;
    if (part ? first + depth > W->nrows : depth != W->nrows)
        return wrong(c, GrB_DIMENSION_MISMATCH, node, "%lld values times '%s', which is %lld x %lld,",
                     (long long)at(c, x)->width, n->name, (long long)W->nrows, (long long)W->ncols);
    if (W->ncols < 1 || W->ncols > FTB_MAX_CELLS)
        return wrong(c, GrB_DIMENSION_MISMATCH, node, "'%s' has %lld columns", n->name, (long long)W->ncols);
    /* An operand of W's type and width 1 stands for W where types meet. */
    int stand_in = ftb_program_constant(c->p, ftb_type_compute(W->type), 0);
    at(c, stand_in)->weak = false;
    at(c, stand_in)->wide = ftb_type_integer(W->type) && ftb_type_bits(W->type) > 16;
    const int both[2] = {x, stand_in};
    FtB_Type type = common(c, 2, both);
    int cast = ftb_program_cast(c->p, x, type), block = hold(c, name, -1);
    ftb_held *h = &c->p->blocks[block];
    h->first = first;
    h->nrows = depth;
    if (h->data)
        c->info = ftb_held_pack(&h->panels, c->p, h, type);
    if (c->info != GrB_SUCCESS)
        return WRONG;
    ftb_code code = {.kind = FTB_CODE_MATMUL, .block = block};
    return inherit(c, ftb_program_emit(c->p, code, type, W->ncols, 1, &cast), 2, both);
}

/* norm[i]: a row of a block. */
static int row_of(compiler *c, int node, int name, int index)
{
    const ftb_name *n = &c->names[name];
    static const char *const indices[] = {"i", "j", "k", "e"};
    bool known = false;
    for (int x = 0; x < 4; x++)
        known = known || ftb_tree_is_name(c->e, index, indices[x]);
    const ftb_value *v = known && c->value[index] >= 0 ? at(c, c->value[index]) : NULL;
    if (!v || v->type != FTB_INT64 || v->width != 1)
        return wrong(c, GrB_DOMAIN_MISMATCH, node, "the block '%s' is indexed by i, j, k or e only;",
                     n->name);
    if (n->rows->ncols < 1 || n->rows->ncols > FTB_MAX_CELLS)
        return wrong(c, GrB_DIMENSION_MISMATCH, node, "'%s' has %lld columns", n->name,
                     (long long)n->rows->ncols);
    ftb_code code = {.kind = FTB_CODE_GATHER, .block = hold(c, name, v->index)};
    int value = c->value[index];
    FtB_Type type = n->rows->type;
    int made = ftb_program_emit(c->p, code, ftb_type_compute(type), n->rows->ncols, 1, &value);
    at(c, made)->wide = ftb_type_integer(type) && ftb_type_bits(type) > 16;
    return made;
}

static int index_node(compiler *c, int node)
{
    int base_node = ftb_tree_arg(c->e, node, 0), index_at = ftb_tree_arg(c->e, node, 1);
    int base = c->value[base_node], index = c->value[index_at];
    if (base <= BLOCK)
        return row_of(c, node, BLOCK - base, index_at);
    int64_t width = at(c, base)->width;
    if (index < 0 || !integer_in(c, index, INT64_MIN, INT64_MAX))
        return wrong(c, GrB_DOMAIN_MISMATCH, node,
                     "a value of a vector is taken by a whole number, as in h[0];");
    int64_t component = (int64_t)c->p->constants[at(c, index)->index];
    if (component < 0 || component >= width)
        return wrong(c, GrB_DIMENSION_MISMATCH, node,
                     "value %lld of a vector of %lld values (the first is 0)", (long long)component,
                     (long long)width);
    if (width == 1)
        return base;
    ftb_code code = {.kind = FTB_CODE_COMPONENT, .component = component};
    return inherit(c, ftb_program_emit(c->p, code, at(c, base)->type, 1, 1, &base), 1, &base);
}

/* ---- leaves */

static int unknown_name(compiler *c, int node)
{
    char known[512] = "";
    size_t used = 0;
    const ftb_node *n = &c->e->nodes[node];
    for (int k = 0; k < c->count && used < sizeof known - 1; k++) {
        int bytes = snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", c->names[k].name);
        used += (size_t)ftb_max(bytes, 0);
    }
    c->info = ftb_fail(GrB_INVALID_VALUE, "%s: unknown name '%.*s' at column %d; known here: %s", c->e->what,
                       n->name.length, c->e->text + n->name.start, c->e->column0 + n->column, known);
    return WRONG;
}

static int name_node(compiler *c, int node)
{
    for (int n = 0; n < c->count; n++) {
        const ftb_name *name = &c->names[n];
        if (!ftb_tree_is_name(c->e, node, name->name))
            continue;
        if (name->block)
            return BLOCK - n;
        if (name->width > FTB_MAX_CELLS)
            return wrong(c, GrB_DIMENSION_MISMATCH, node, "%lld values of '%s' are too many",
                         (long long)name->width, name->name);
        int value = ftb_program_operand(c->p, n);
        at(c, value)->weak = name->constant;
        at(c, value)->wide = ftb_type_integer(name->type) && ftb_type_bits(name->type) > 16;
        return value;
    }
    return unknown_name(c, node);
}

static int leaf(compiler *c, int node)
{
    const ftb_node *n = &c->e->nodes[node];
    uint64_t cell = (uint64_t)n->integer; /* of a real: its bits */
    switch (n->op) {
    case FTB_OP_NAME:
        return name_node(c, node);
    case FTB_OP_TRUTH: {
        uint8_t truth = n->integer != 0;
        cell = 0;
        memcpy(&cell, &truth, 1);
        int value = ftb_program_constant(c->p, FTB_BOOL, cell);
        at(c, value)->weak = false;
        return value;
    }
    case FTB_OP_LITERAL:
        return ftb_program_constant(c->p, FTB_INT64, cell);
    case FTB_OP_HUGE: {
        int value = ftb_program_constant(c->p, FTB_UINT64, cell);
        at(c, value)->wide = true;
        return value;
    }
    default:
        return ftb_program_constant(c->p, FTB_FP64, cell);
    }
}

static int compile(compiler *c, int node)
{
    const ftb_node *n = &c->e->nodes[node];
    int values[64];
    if (n->op >= FTB_NOPERATORS)
        return leaf(c, node);
    if (n->op == FTB_OP_INDEX)
        return index_node(c, node);
    for (int a = 0; a < n->count; a++) {
        int argument = ftb_tree_arg(c->e, node, a);
        values[a] = c->value[argument];
        if (values[a] <= BLOCK && !(n->op == FTB_OP_MATMUL && a == 1))
            return wrong(c, GrB_DOMAIN_MISMATCH, argument,
                         "'%s' is a whole block; it stands right of @ or before an index, as in %s[i],",
                         c->names[BLOCK - values[a]].name, c->names[BLOCK - values[a]].name);
    }
    if (n->op == FTB_OP_SELECT)
        return select_node(c, node, values);
    if (n->op == FTB_OP_VECTOR)
        return vector(c, node, n->count, values);
    if (n->op == FTB_OP_MATMUL)
        return matmul(c, node, values[0], values[1]);
    if (ftb_operators[n->op].rule == FTB_RULE_FEATURE)
        return feature(c, node, n->count, values);
    return elementwise(c, node, n->count, values);
}

/* Values for all nodes of the tree, whether or not the root uses them. */
static GrB_Info begin(compiler *c, FtB_Context ctx, const ftb_expr *e, int count, const ftb_name *names,
                      bool integers_wide, bool shapes_only)
{
    /* Values: a node makes at most four (int8 of a real: two casts, the cut, a copy) and casts each
     * argument at most once; one more is the result's copy. */
    int room = 4 * e->nnodes + e->nargs + 2;
    *c = (compiler){
        .e = e, .count = count, .names = names, .integers_wide = integers_wide, .shapes_only = shapes_only};
    c->p = ftb_program_make(ctx, e, count, names, room, 2 * room + e->nargs);
    c->value = ftb_new(ctx, e->nnodes, sizeof *c->value);
    c->info = c->p && c->value ? GrB_SUCCESS : ftb_nomem();
    for (int n = 0; n < count && c->info == GrB_SUCCESS; n++)
        if (names[n].block && !names[n].later && !shapes_only) /* a device may have written it since then */
            c->info = ftb_buffer_ask_as(names[n].rows->owner, FTB_READ, names[n].name);
    for (int node = 0; node < e->nnodes && c->info == GrB_SUCCESS; node++)
        c->value[node] = compile(c, node);
    return c->info;
}

GrB_Info ftb_program_new(ftb_program **p, FtB_Context ctx, const ftb_expr *e, int count,
                         const ftb_name *names, bool integers_wide)
{
    compiler c;
    *p = NULL;
    if (begin(&c, ctx, e, count, names, integers_wide, false) == GrB_SUCCESS) {
        int root = c.value[e->root];
        if (root <= BLOCK)
            wrong(&c, GrB_DOMAIN_MISMATCH, e->root, "'%s' is a whole block, not a value",
                  names[BLOCK - root].name);
        else
            c.info = ftb_program_finish(c.p, root);
    }
    ftb_delete(c.value);
    if (c.info == GrB_SUCCESS)
        *p = c.p;
    else
        ftb_program_delete(c.p);
    return c.info;
}

GrB_Info ftb_tree_shapes(ftb_shape *shapes, FtB_Context ctx, const ftb_expr *e, int count,
                         const ftb_name *names, bool integers_wide)
{
    compiler c;
    GrB_Info info = begin(&c, ctx, e, count, names, integers_wide, true);
    for (int node = 0; node < e->nnodes && info == GrB_SUCCESS; node++) {
        shapes[node] = (ftb_shape){0};
        if (c.value[node] <= BLOCK)
            continue;
        const ftb_value *v = at(&c, c.value[node]);
        shapes[node] = (ftb_shape){.type = v->type, .width = v->width, .weak = v->weak, .wide = v->wide};
    }
    ftb_delete(c.value);
    ftb_program_delete(c.p);
    return info;
}
