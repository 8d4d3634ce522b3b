/* Which vectors of a program lanes share, and how many lanes and items go together (expression_text.h). */
#include "gpu/texts/expression_text.h"

#include "expr/program.h"
#include "gpu/kernels/expression_arguments.h"

/* Bytes of a block's vectors. Up to ROOM items go together: it leaves room for 1,792 threads of a
 * multiprocessor's 2,048 (128 for a block, 228 KB of sm_90); rests on no measurement. What is wider goes item
 * by item up to MOST_ROOM, which every GPU has for a block; beyond that no kernel is made, and the host does
 * it (ftb_gpu_expression_fits). */
enum { ROOM = 16 << 10, MOST_ROOM = 48 << 10 };
enum { MOST_EACH = 4, MOST_ITEMS = 4 };

void ftb_gpu_shared_clear(ftb_gpu_shared *s)
{
    ftb_delete(s->vectors);
    ftb_delete(s->place);
    ftb_delete(s->product);
    ftb_delete(s->needed);
    *s = (ftb_gpu_shared){0};
}

static void share(ftb_gpu_shared *s, int value)
{
    if (s->place[value] < 0) {
        s->place[value] = s->count;
        s->vectors[s->count++] = value;
    }
}

/* In the codes' order, so that what a vector needs is shared before it. */
static void find_vectors(ftb_gpu_shared *s, const ftb_program *p)
{
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        s->product[code->out] = code->kind == FTB_CODE_MATMUL;
        for (int a = 0; a < code->count; a++) {
            const int value = p->args[code->first + a];
            const bool whole = code->kind == FTB_CODE_FEATURE || code->kind == FTB_CODE_COMPONENT ||
                               (code->kind == FTB_CODE_VECTOR && p->values[value].width > 1);
            s->product[code->out] |= s->product[value];
            if (code->kind == FTB_CODE_MATMUL || (whole && s->product[value]))
                share(s, value);
        }
        if (code->kind == FTB_CODE_FEATURE && s->product[code->out] && code->out != p->root)
            share(s, code->out); /* once for all values of a result */
    }
}

static int64_t bytes_of(const ftb_gpu_shared *s, const ftb_program *p, int items)
{
    int64_t bytes = 0;
    for (int n = 0; n < s->count; n++) {
        const ftb_value *v = &p->values[s->vectors[n]];
        const int64_t size = v->type == FTB_BOOL ? 4 : (int64_t)FtB_Type_size(v->type);
        bytes += (v->width * size * items + 15) / 16 * 16;
    }
    return bytes * (FTB_EXPRESSION_BLOCK / s->lanes);
}

static void choose_shape(ftb_gpu_shared *s, const ftb_program *p)
{
    const int64_t width = ftb_program_width(p);
    int64_t widest = width;
    for (int n = 0; n < s->count; n++)
        widest = ftb_max(widest, p->values[s->vectors[n]].width);
    for (s->lanes = 8; s->lanes < 32 && s->lanes < widest;)
        s->lanes *= 2;
    for (s->each = 1; s->each < MOST_EACH && s->each * s->lanes < width;)
        s->each *= 2;
    for (s->items = MOST_ITEMS; s->items > 1 && bytes_of(s, p, s->items) > ROOM;)
        s->items /= 2;
    const int64_t bytes = bytes_of(s, p, s->items);
    if (bytes > MOST_ROOM)
        s->items = 0;
    else
        s->bytes = (unsigned)bytes;
}

GrB_Info ftb_gpu_shared_of(ftb_gpu_shared *s, const ftb_message *m, const ftb_program *p)
{
    *s = (ftb_gpu_shared){.vectors = ftb_new(m->ctx, p->nvalues, sizeof(int)),
                          .place = ftb_new(m->ctx, p->nvalues, sizeof(int)),
                          .product = ftb_new0(m->ctx, p->nvalues, sizeof(bool)),
                          .needed = ftb_new(m->ctx, p->nvalues, sizeof(bool))};
    if (!s->vectors || !s->place || !s->product || !s->needed)
        return ftb_nomem();
    for (int v = 0; v < p->nvalues; v++)
        s->place[v] = -1;
    find_vectors(s, p);
    if (s->count > 0)
        choose_shape(s, p);
    return GrB_SUCCESS;
}
