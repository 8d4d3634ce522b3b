/* Running programs: values that are the same for all items first, once; then the others, tile by tile. */
#include "cpu/interpreter.h"
#include "cpu/kernels/eval_kernels.h"
#include "expr/program.h"

typedef struct place { /* where a value is during a run */
    ftb_view view;
    bool uniform;
} place;

struct ftb_panels {
    int count;
    void **of; /* of each held block */
};

struct ftb_interpreter {
    FtB_Context ctx;
    const ftb_program *p;
    const ftb_panels *panels; /* NULL: the program's own */
    const ftb_kernel_set *kernels;
    place *places;      /* of each value */
    uint64_t *uniform;  /* values that are the same for all items */
    uint64_t **regs;    /* a tile of values each */
    uint64_t *memory;   /* of regs and staging */
    uint64_t **staging; /* of each name: a tile of values brought together, NULL for wider names */
};

static size_t size_of(FtB_Type t) { return t == FTB_BOOL ? 1 : t == FTB_FP32 ? 4 : 8; }

void ftb_interpreter_delete(ftb_interpreter *m)
{
    if (!m)
        return;
    FtB_Context ctx = m->ctx;
    ftb_delete(m->places);
    ftb_delete(m->uniform);
    ftb_delete(m->regs);
    ftb_delete(m->memory);
    ftb_delete(m->staging);
    ftb_delete(m);
    ftb_context_release(ctx);
}

static bool staged(const ftb_program *p, int name)
{
    return p->names[name].value >= 0 && p->names[name].width == 1;
}

static int64_t memory_cells(const ftb_program *p)
{
    int64_t cells = 0;
    for (int r = 0; r < p->nregs; r++)
        cells += p->reg_cells[r] * p->tile;
    for (int n = 0; n < p->nnames; n++)
        cells += staged(p, n) ? p->tile : 0;
    return cells;
}

int64_t ftb_interpreter_bytes(const ftb_program *p)
{
    return (int64_t)sizeof(ftb_interpreter) + p->nvalues * (int64_t)sizeof(place) +
           8 * (p->uniform_cells + p->nregs + memory_cells(p) + p->nnames);
}

GrB_Info ftb_interpreter_new(ftb_interpreter **machine, FtB_Context ctx, const ftb_program *p)
{
    *machine = NULL;
    ftb_interpreter *m = ftb_new0(ctx, 1, sizeof *m);
    if (!m)
        return ftb_nomem();
    m->ctx = ftb_context_retain(ctx);
    m->p = p;
    m->kernels = FTB_PICK(ftb_kernel_sets);
    m->places = ftb_new0(ctx, p->nvalues, sizeof *m->places);
    m->uniform = ftb_new(ctx, p->uniform_cells, sizeof *m->uniform);
    m->regs = ftb_new(ctx, p->nregs, sizeof *m->regs);
    m->memory = ftb_new(ctx, memory_cells(p), sizeof *m->memory);
    m->staging = ftb_new0(ctx, p->nnames, sizeof *m->staging);
    if (!m->places || !m->uniform || !m->regs || !m->memory || !m->staging) {
        ftb_interpreter_delete(m);
        return ftb_nomem();
    }
    uint64_t *next = m->memory;
    for (int r = 0; r < p->nregs; next += p->reg_cells[r++] * p->tile)
        m->regs[r] = next;
    for (int n = 0; n < p->nnames; n++)
        if (staged(p, n)) {
            m->staging[n] = next;
            next += p->tile;
        }
    for (int v = 0; v < p->nvalues; v++)
        if (p->values[v].source == FTB_FROM_CONSTANT)
            m->places[v] = (place){{&p->constants[p->values[v].index], 0, 0}, true};
    *machine = m;
    return GrB_SUCCESS;
}

/* ---- blocks right of @ */

void ftb_panels_delete(ftb_panels *panels)
{
    if (!panels)
        return;
    for (int b = 0; panels->of && b < panels->count; b++)
        ftb_delete(panels->of[b]);
    ftb_delete(panels->of);
    ftb_delete(panels);
}

GrB_Info ftb_panels_new(ftb_panels **panels, const ftb_message *message, const ftb_program *p)
{
    *panels = NULL;
    if (p->nblocks == 0)
        return GrB_SUCCESS;
    ftb_panels *made = ftb_new0(message->ctx, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->count = p->nblocks;
    made->of = ftb_new0(message->ctx, p->nblocks, sizeof *made->of);
    GrB_Info info = made->of ? GrB_SUCCESS : ftb_nomem();
    for (int c = 0; c < p->ncodes && info == GrB_SUCCESS; c++) {
        const ftb_code *code = &p->codes[c];
        if (code->kind != FTB_CODE_MATMUL)
            continue;
        ftb_held held = p->blocks[code->block];
        held.data = message->feeds[held.name].data;
        held.ld = message->feeds[held.name].ld;
        info = ftb_held_pack(&made->of[code->block], p, &held, p->values[code->out].type);
    }
    if (info == GrB_SUCCESS)
        *panels = made;
    else
        ftb_panels_delete(made);
    return info;
}

void ftb_interpreter_give(ftb_interpreter *m, const ftb_panels *panels) { m->panels = panels; }

/* ---- instructions */

/* As one long row, where all arguments are either packed or one value for all. */
static bool collapse(int64_t width, int count, ftb_view *views)
{
    for (int a = 0; a < count; a++) {
        bool packed = views[a].item == width && (views[a].feature == 1 || width == 1);
        bool single = views[a].item == 0 && (views[a].feature == 0 || width == 1);
        if (!packed && !single)
            return false;
        views[a].feature = packed;
    }
    return true;
}

/* The kernel of an elementwise or feature code. */
static ftb_kernel kernel_of(const ftb_kernel_set *set, const ftb_program *p, const ftb_code *code)
{
    const ftb_value *values = p->values;
    int out = ftb_class(values[code->out].type), in = ftb_class(values[p->args[code->first]].type);
    switch (code->kind) {
    case FTB_CODE_ELEMENT:
    case FTB_CODE_FEATURE:
        return set->op[code->op][in];
    case FTB_CODE_CAST:
        return set->cast[out][in];
    case FTB_CODE_SELECT:
        return set->select[out];
    default:
        return set->copy[out];
    }
}

static void run_element(ftb_kernel kernel, int64_t items, int64_t width, void *out, int count,
                        ftb_view *views)
{
    if (collapse(width, count, views))
        kernel(1, items * width, out, views);
    else
        kernel(items, width, out, views);
}

#define MOVE(name, T)                                                                                        \
    static void name(int64_t items, int64_t width, T *restrict out, int64_t step, const ftb_view *v)         \
    {                                                                                                        \
        const T *restrict from = v->data;                                                                    \
        if (width == 1)                                                                                      \
            for (int64_t t = 0; t < items; t++)                                                              \
                out[t * step] = from[t * v->item];                                                           \
        else                                                                                                 \
            for (int64_t t = 0; t < items; t++)                                                              \
                memcpy(out + t * step, from + t * v->item, (size_t)width * sizeof(T));                       \
    }
MOVE(move_8, uint8_t)
MOVE(move_32, uint32_t)
MOVE(move_64, uint64_t)

/* width values of each item, to items that are `step` values apart. */
static void move(FtB_Type type, int64_t items, int64_t width, void *out, int64_t step, const ftb_view *v)
{
    if (size_of(type) == 1)
        move_8(items, width, out, step, v);
    else if (size_of(type) == 4)
        move_32(items, width, out, step, v);
    else
        move_64(items, width, out, step, v);
}

/* parts single values side by side in one pass: 1.5 times as fast as a pass for each (six of FP64: 1.5 ns an
 * item against 2.4). `parts` is a constant at each call, so that the inner loop unrolls. */
#define INTERLEAVE(name, T)                                                                                  \
    static inline __attribute__((always_inline)) void name##_parts(int64_t items, int parts,                 \
                                                                   T *restrict out, const ftb_view *views)   \
    {                                                                                                        \
        const T *from[8];                                                                                    \
        int64_t step[8];                                                                                     \
        for (int a = 0; a < parts; a++) {                                                                    \
            from[a] = views[a].data;                                                                         \
            step[a] = views[a].item;                                                                         \
        }                                                                                                    \
        for (int64_t t = 0; t < items; t++)                                                                  \
            for (int a = 0; a < parts; a++)                                                                  \
                out[t * parts + a] = from[a][t * step[a]];                                                   \
    }                                                                                                        \
    static void name(int64_t items, int parts, void *out, const ftb_view *views)                             \
    {                                                                                                        \
        switch (parts) {                                                                                     \
        case 2:                                                                                              \
            name##_parts(items, 2, out, views);                                                              \
            break;                                                                                           \
        case 3:                                                                                              \
            name##_parts(items, 3, out, views);                                                              \
            break;                                                                                           \
        case 4:                                                                                              \
            name##_parts(items, 4, out, views);                                                              \
            break;                                                                                           \
        case 5:                                                                                              \
            name##_parts(items, 5, out, views);                                                              \
            break;                                                                                           \
        case 6:                                                                                              \
            name##_parts(items, 6, out, views);                                                              \
            break;                                                                                           \
        case 7:                                                                                              \
            name##_parts(items, 7, out, views);                                                              \
            break;                                                                                           \
        default:                                                                                             \
            name##_parts(items, 8, out, views);                                                              \
        }                                                                                                    \
    }
INTERLEAVE(interleave_8, uint8_t)
INTERLEAVE(interleave_32, uint32_t)
INTERLEAVE(interleave_64, uint64_t)

static void run_vector(const ftb_program *p, const ftb_code *code, int64_t items, char *out,
                       const ftb_view *views)
{
    const ftb_value *v = &p->values[code->out];
    if (v->width == code->count && code->count >= 2 && code->count <= 8) { /* all parts are single values */
        (size_of(v->type) == 1   ? interleave_8
         : size_of(v->type) == 4 ? interleave_32
                                 : interleave_64)(items, code->count, out, views);
        return;
    }
    for (int a = 0; a < code->count; a++) {
        int64_t width = p->values[p->args[code->first + a]].width;
        move(v->type, items, width, out, v->width, &views[a]);
        out += (size_t)width * size_of(v->type);
    }
}

static void run_gather(const ftb_program *p, const ftb_code *code, int64_t items, char *out,
                       const ftb_view *index)
{
    const ftb_held *h = &p->blocks[code->block];
    const ftb_value *v = &p->values[code->out];
    const int64_t *at = index->data, step = index->item;
    size_t size = FtB_Type_size(h->type), row = (size_t)h->ncols * size, ld = (size_t)h->ld * size;
    if (row == 8)
        for (int64_t t = 0; t < items; t++)
            memcpy(out + (size_t)t * 8, h->data + (size_t)at[t * step] * ld, 8);
    else if (row == 4)
        for (int64_t t = 0; t < items; t++)
            memcpy(out + (size_t)t * 4, h->data + (size_t)at[t * step] * ld, 4);
    else
        for (int64_t t = 0; t < items; t++)
            memcpy(out + (size_t)t * row, h->data + (size_t)at[t * step] * ld, row);
    ftb_cast(out, v->type, out, h->type, items * h->ncols);
}

static void run_code(const ftb_interpreter *m, const ftb_code *code, int64_t items, void *out)
{
    const ftb_program *p = m->p;
    const ftb_value *v = &p->values[code->out];
    ftb_view views[64];
    for (int a = 0; a < code->count; a++)
        views[a] = m->places[p->args[code->first + a]].view;
    switch (code->kind) {
    case FTB_CODE_VECTOR:
        run_vector(p, code, items, out, views);
        break;
    case FTB_CODE_COMPONENT:
        views[0].data = (const char *)views[0].data + (size_t)code->component * size_of(v->type);
        move(v->type, items, 1, out, 1, views);
        break;
    case FTB_CODE_GATHER:
        run_gather(p, code, items, out, views);
        break;
    case FTB_CODE_MATMUL: {
        const ftb_held *h = &p->blocks[code->block];
        m->kernels->matmul[ftb_class(v->type)](items, h->nrows, h->ncols, out, views,
                                               m->panels ? m->panels->of[code->block] : h->panels);
        break;
    }
    case FTB_CODE_FEATURE: {
        int64_t width = 1;
        for (int a = 0; a < code->count; a++)
            width = ftb_max(width, p->values[p->args[code->first + a]].width);
        kernel_of(m->kernels, p, code)(items, width, out, views);
        break;
    }
    default:
        run_element(kernel_of(m->kernels, p, code), items, v->width, out, code->count, views);
    }
}

/* ---- runs */

static bool all_uniform(const ftb_interpreter *m, const ftb_code *code)
{
    for (int a = 0; a < code->count; a++)
        if (!m->places[m->p->args[code->first + a]].uniform)
            return false;
    return true;
}

static void run_uniform(ftb_interpreter *m, const ftb_operand *operands)
{
    const ftb_program *p = m->p;
    for (int n = 0; n < p->nnames; n++)
        if (p->names[n].value >= 0)
            m->places[p->names[n].value] = (place){
                {operands[n].data, operands[n].stride, p->names[n].width > 1}, operands[n].stride == 0};
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        place *to = &m->places[code->out];
        const ftb_value *v = &p->values[code->out];
        to->uniform = all_uniform(m, code);
        if (!to->uniform)
            continue;
        uint64_t *slot = m->uniform + v->slot;
        run_code(m, code, 1, slot);
        to->view = (ftb_view){slot, 0, v->width > 1};
    }
}

/* Operands' places for the tile from item t0 on; width-1 operands that are not packed are brought together.
 */
static void place_operands(ftb_interpreter *m, const ftb_operand *operands, int64_t t0, int64_t items)
{
    const ftb_program *p = m->p;
    for (int n = 0; n < p->nnames; n++) {
        int value = p->names[n].value;
        if (value < 0 || m->places[value].uniform)
            continue;
        FtB_Type type = p->values[value].type;
        ftb_view *view = &m->places[value].view;
        view->data = (const char *)operands[n].data + t0 * operands[n].stride * (int64_t)size_of(type);
        view->item = operands[n].stride;
        if (m->staging[n] && view->item != 1) {
            move(type, items, 1, m->staging[n], 1, view);
            *view = (ftb_view){m->staging[n], 1, 0};
        }
    }
}

/* Of one item nothing is told apart, and nothing brought together. */
static void run_one(ftb_interpreter *m, const ftb_operand *operands, void *out)
{
    const ftb_program *p = m->p;
    for (int n = 0; n < p->nnames; n++)
        if (p->names[n].value >= 0)
            m->places[p->names[n].value].view =
                (ftb_view){operands[n].data, p->names[n].width, p->names[n].width > 1};
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        const ftb_value *v = &p->values[code->out];
        void *to = v->reg >= 0 ? (void *)m->regs[v->reg] : out;
        run_code(m, code, 1, to);
        m->places[code->out].view = (ftb_view){to, v->width, v->width > 1};
    }
}

void ftb_interpreter_run(ftb_interpreter *m, int64_t count, const ftb_operand *operands, void *out)
{
    const ftb_program *p = m->p;
    const ftb_value *root = &p->values[p->root];
    if (count == 1)
        run_one(m, operands, out);
    if (count <= 1)
        return;
    run_uniform(m, operands);
    if (m->places[p->root].uniform) {
        ftb_view view = m->places[p->root].view;
        run_element(m->kernels->copy[ftb_class(root->type)], count, root->width, out, 1, &view);
        return;
    }
    for (int64_t t0 = 0; t0 < count; t0 += p->tile) {
        int64_t items = ftb_min(p->tile, count - t0);
        place_operands(m, operands, t0, items);
        for (int c = 0; c < p->ncodes; c++) {
            const ftb_code *code = &p->codes[c];
            const ftb_value *v = &p->values[code->out];
            if (m->places[code->out].uniform)
                continue;
            void *to = v->reg >= 0 ? (void *)m->regs[v->reg]
                                   : (char *)out + (size_t)(t0 * v->width) * size_of(v->type);
            run_code(m, code, items, to);
            m->places[code->out].view = (ftb_view){to, v->width, v->width > 1};
        }
    }
}
