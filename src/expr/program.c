/* Building programs: values, codes, constant folding, registers. */
#include "expr/program.h"

ftb_program *ftb_program_make(FtB_Context ctx, const ftb_expr *e, int count, const ftb_name *names, int room,
                              int room_args)
{
    ftb_program *p = ftb_new0(ctx, 1, sizeof *p);
    if (!p)
        return NULL;
    p->ctx = ftb_context_retain(ctx);
    p->room = room;
    p->room_args = room_args;
    p->nnames = count;
    p->what = ftb_strdup(ctx, e->what);
    p->text = ftb_strdup(ctx, e->text);
    p->names = ftb_new0(ctx, count, sizeof *p->names);
    p->values = ftb_new0(ctx, room, sizeof *p->values);
    p->codes = ftb_new0(ctx, room, sizeof *p->codes);
    p->args = ftb_new0(ctx, room_args, sizeof *p->args);
    p->blocks = ftb_new0(ctx, e->nnodes, sizeof *p->blocks);
    p->constants = ftb_new0(ctx, room, sizeof *p->constants);
    p->reg_cells = ftb_new0(ctx, room, sizeof *p->reg_cells);
    if (!p->what || !p->text || !p->names || !p->values || !p->codes || !p->args || !p->blocks ||
        !p->constants || !p->reg_cells) {
        ftb_program_delete(p);
        return NULL;
    }
    for (int n = 0; n < count; n++) {
        ftb_known *k = &p->names[n];
        snprintf(k->name, sizeof k->name, "%s", names[n].name);
        k->type = names[n].type;
        k->width = ftb_max(names[n].width, 1);
        k->value = -1;
    }
    return p;
}

void ftb_program_delete(ftb_program *p)
{
    if (!p)
        return;
    FtB_Context ctx = p->ctx;
    for (int b = 0; b < p->nblocks; b++) {
        ftb_buffer_release(p->blocks[b].owner);
        ftb_delete(p->blocks[b].panels);
    }
    ftb_delete(p->what);
    ftb_delete(p->text);
    ftb_delete(p->names);
    ftb_delete(p->values);
    ftb_delete(p->codes);
    ftb_delete(p->args);
    ftb_delete(p->blocks);
    ftb_delete(p->constants);
    ftb_delete(p->reg_cells);
    ftb_delete(p);
    ftb_context_release(ctx);
}

static int add_value(ftb_program *p, ftb_source source, FtB_Type type, int64_t width, int index)
{
    p->values[p->nvalues] =
        (ftb_value){.source = source, .type = type, .width = width, .index = index, .last = -1, .reg = -1};
    return p->nvalues++;
}

int ftb_program_constant(ftb_program *p, FtB_Type type, uint64_t cell)
{
    p->constants[p->nconstants] = cell;
    int value = add_value(p, FTB_FROM_CONSTANT, type, 1, p->nconstants++);
    p->values[value].weak = true;
    return value;
}

int ftb_program_operand(ftb_program *p, int name)
{
    ftb_known *k = &p->names[name];
    k->used = true;
    if (k->value < 0)
        k->value = add_value(p, FTB_FROM_OPERAND, ftb_type_compute(k->type), k->width, name);
    return k->value;
}

/* Runs a code whose arguments are all constants of one value. */
static int fold(ftb_program *p, const ftb_code *code, FtB_Type type, const int *args)
{
    const void *values[3];
    uint64_t cell = 0;
    bool weak = true;
    for (int a = 0; a < code->count; a++) {
        const ftb_value *v = &p->values[args[a]];
        values[a] = &p->constants[v->index];
        weak = weak && v->weak;
    }
    ftb_fold(&cell, code, type, p->values[args[0]].type, values);
    int out = ftb_program_constant(p, type, cell);
    p->values[out].weak = weak;
    return out;
}

int ftb_program_emit(ftb_program *p, ftb_code code, FtB_Type type, int64_t width, int count, const int *args)
{
    bool constant = width == 1 && code.kind <= FTB_CODE_SELECT && count <= 3;
    for (int a = 0; a < count; a++)
        constant = constant && p->values[args[a]].source == FTB_FROM_CONSTANT;
    code.first = p->nargs;
    code.count = count;
    memcpy(p->args + p->nargs, args, (size_t)count * sizeof *args);
    if (constant)
        return fold(p, &code, type, args);
    p->nargs += count;
    code.out = add_value(p, FTB_FROM_CODE, type, width, p->ncodes);
    p->codes[p->ncodes++] = code;
    return code.out;
}

int ftb_program_cast(ftb_program *p, int value, FtB_Type type)
{
    ftb_value v = p->values[value];
    int to = ftb_class(type);
    if (v.type == type)
        return value;
    if (!v.cast[to]) { /* never value 0: a cast comes after what it casts */
        int made = ftb_program_emit(p, (ftb_code){.kind = FTB_CODE_CAST}, type, v.width, 1, &value);
        p->values[made].weak = v.weak;
        p->values[made].wide = v.wide;
        p->values[value].cast[to] = made;
    }
    return p->values[value].cast[to];
}

/* ---- finishing */

static void mark_uses(ftb_program *p)
{
    for (int c = p->ncodes - 1; c >= 0; c--) {
        const ftb_code *code = &p->codes[c];
        if (p->values[code->out].last < 0)
            continue; /* nobody needs it */
        for (int a = 0; a < code->count; a++) {
            ftb_value *v = &p->values[p->args[code->first + a]];
            v->last = ftb_max(v->last, c);
        }
    }
}

static void drop_unused(ftb_program *p)
{
    int kept = 0;
    for (int c = 0; c < p->ncodes; c++)
        if (p->values[p->codes[c].out].last >= 0) {
            p->codes[kept] = p->codes[c];
            p->values[p->codes[kept].out].index = kept;
            kept++;
        }
    p->ncodes = kept;
    for (int v = 0; v < p->nvalues; v++)
        p->values[v].last = -1;
}

/* Registers by linear scan: a code's value lives from its code to its last use. A register that is free is
 * taken again; its size is that of the widest value it holds. */
static GrB_Info assign_registers(ftb_program *p)
{
    int *free_at = ftb_new(p->ctx, p->ncodes, sizeof *free_at); /* of each register: code that frees it */
    if (!free_at)
        return ftb_nomem();
    for (int c = 0; c + 1 < p->ncodes; c++) { /* the last one is the root's */
        ftb_value *v = &p->values[p->codes[c].out];
        int r = 0;
        while (r < p->nregs && free_at[r] >= c)
            r++;
        if (r == p->nregs)
            p->reg_cells[p->nregs++] = 0;
        free_at[r] = v->last;
        v->reg = r;
        p->reg_cells[r] = ftb_max(p->reg_cells[r], v->width);
    }
    ftb_delete(free_at);
    return GrB_SUCCESS;
}

/* Items per tile: the widest value of a tile stays within a few L1-sized registers. */
static int64_t tile_of(int64_t width)
{
    int64_t tile = FTB_BATCH;
    while (tile > 1 && tile * width > 4 * FTB_BATCH)
        tile /= 2;
    return tile;
}

GrB_Info ftb_program_finish(ftb_program *p, int root)
{
    int64_t widest = 1;
    if (p->values[root].source != FTB_FROM_CODE) {
        FtB_Type type = p->values[root].type;
        int64_t width = p->values[root].width;
        p->args[p->nargs] = root; /* emit would fold a constant again */
        ftb_code copy = {.kind = FTB_CODE_COPY, .first = p->nargs++, .count = 1};
        copy.out = root = add_value(p, FTB_FROM_CODE, type, width, p->ncodes);
        p->codes[p->ncodes++] = copy;
    }
    p->root = root;
    p->values[root].last = p->ncodes;
    mark_uses(p);
    drop_unused(p);
    p->values[root].last = p->ncodes;
    mark_uses(p);
    for (int c = 0; c < p->ncodes; c++) {
        ftb_value *v = &p->values[p->codes[c].out];
        v->slot = p->uniform_cells;
        if (__builtin_add_overflow(p->uniform_cells, v->width, &p->uniform_cells) ||
            p->uniform_cells > FTB_MAX_CELLS)
            return ftb_fail(GrB_INVALID_VALUE, "%s: its values are more than %d wide together", p->what,
                            FTB_MAX_CELLS);
        widest = ftb_max(widest, v->width);
    }
    p->tile = tile_of(widest);
    return assign_registers(p);
}

/* ---- asking */

FtB_Type ftb_program_type(const ftb_program *p) { return p->values[p->root].type; }
int64_t ftb_program_width(const ftb_program *p) { return p->values[p->root].width; }
bool ftb_program_uses(const ftb_program *p, int name) { return p->names[name].used; }

bool ftb_program_elementwise(const ftb_program *p)
{
    bool yes = true;
    for (int c = 0; c < p->ncodes; c++)
        yes = yes && p->codes[c].kind <= FTB_CODE_SELECT;
    return yes;
}

GrB_Info ftb_program_check_rows(const ftb_program *p, const char *index, int64_t extent)
{
    for (int b = 0; b < p->nblocks; b++) {
        const ftb_held *h = &p->blocks[b];
        if (h->index >= 0 && strcmp(p->names[h->index].name, index) == 0 && h->nrows < extent)
            return ftb_fail(GrB_DIMENSION_MISMATCH,
                            "%s: '%s' is indexed by %s, which goes up to %lld, but has %lld rows", p->what,
                            p->names[h->name].name, index, (long long)extent - 1, (long long)h->nrows);
    }
    return GrB_SUCCESS;
}
