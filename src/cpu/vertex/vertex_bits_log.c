/* Searches by bits whose rows are written once (vertex_bits.h). What supersteps found is noted in a log of 32
 * bytes a vertex; of a row of 64 levels and parents, 768 bytes, most of its lines would be read and written
 * in three supersteps. Parents are what the log says of a vertex and its neighbours, so that supersteps need
 * not care whose a bit was. The first fourteen supersteps are noted: of graphs that take more, few vertices
 * are found in one. */
#include "cpu/vertex/vertex_bits.h"
#include "cpu/vertex/vertex_parts.h"

/* Columns from which on that is worth it: on a Kronecker graph of scale 20, levels of 16 took as long
 * either way, 64 three fifths; with parents 8 took half as long again, 16 as long, 64 half. */
enum { FROM_LEVELS = 16, FROM_PARENTS = 24 };

#define ASIDE (INT64_C(1) << 24) /* bytes of all rows, from which on caches do not hold them */

bool ftb_vertex_bits_worth(const ftb_vertex_bits *b, const ftb_vertex_work *w)
{
    return w->fields[b->level].ncols >= (b->parent < 0 ? FROM_LEVELS : FROM_PARENTS);
}

/* Only where as much is left behind it: supersteps need room, too, and do without a log if they must. */
static bool make_log(ftb_vertex_bits *b, const ftb_vertex_work *w, int64_t first)
{
    if (ftb_memory_left(w->ctx) / 2 < w->n * (int64_t)sizeof *b->log)
        return false;
    b->log = ftb_new0(w->ctx, w->n, sizeof *b->log);
    b->logged = 0;
    b->first = first;
    return b->log != NULL;
}

void ftb_vertex_bits_log(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_list *senders,
                         int64_t round)
{
    if (!make_log(b, w, round - 1))
        return;
    for (int64_t t = 0; t < senders->count; t++) {
        const int64_t v = senders->list ? senders->list[t] : t;
        b->log[v].digit[0] = b->fresh[v];
    }
}

GrB_Info ftb_vertex_bits_blank(ftb_vertex_bits *b, const ftb_vertex_work *w, const int64_t *sources)
{
    ftb_vertex_bits_clear(b);
    b->reached = ftb_new0(w->ctx, w->n, sizeof *b->reached);
    b->fresh = ftb_new0(w->ctx, w->n, sizeof *b->fresh);
    b->found = ftb_new0(w->ctx, w->n, sizeof *b->found);
    if (!b->reached || !b->fresh || !b->found || !make_log(b, w, 0)) {
        ftb_vertex_bits_clear(b);
        return ftb_nomem();
    }
    for (int64_t c = 0; c < w->fields[b->level].ncols; c++) {
        const uint64_t column = UINT64_C(1) << c;
        b->reached[sources[c]] |= column;
        b->fresh[sources[c]] |= column;
        b->log[sources[c]].digit[0] |= column;
    }
    b->blank = b->made = true;
    return GrB_SUCCESS;
}

static int64_t settle_rows(const void *arg, int64_t begin, int64_t end)
{
    FTB_PICK(ftb_bits_rows_write)(arg, begin, end);
    return 0;
}

/* Whether rows of so many values are whole lines. */
static bool in_lines(const void *rows, int64_t ncols, int64_t ld, size_t size)
{
    enum { LINE = 64 };
    return (uintptr_t)rows % LINE == 0 && (size_t)ncols * size % LINE == 0 && (size_t)ld * size % LINE == 0;
}

static void set_levels(ftb_bits_rows *x, FtB_Type type, int64_t first)
{
    for (int64_t number = 0; number < FTB_BITS_NUMBERS; number++) {
        const int64_t level = number > 0 ? first + number - 1 : -1;
        ftb_cast(x->size == 4 ? (void *)&x->level.few[number] : &x->level.wide[number], type, &level,
                 FTB_INT64, 1);
    }
}

void ftb_vertex_bits_settle(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_edges *by)
{
    const ftb_vertex_field *f = &w->fields[b->level];
    ftb_bits_rows x = {.log = b->log,
                       .all = b->all,
                       .blank = b->blank,
                       .levels = w->states[f->state],
                       .size = (int)FtB_Type_size(f->type),
                       .ld = f->ld,
                       .p = by->rows[0]};
    int64_t row = f->ncols * x.size;
    int64_t none;
    x.aside = in_lines(x.levels, f->ncols, f->ld, (size_t)x.size);
    set_levels(&x, f->type, b->first);
    if (b->parent >= 0) {
        const ftb_vertex_field *g = &w->fields[b->parent];
        x.parents = w->states[g->state];
        x.ldp = g->ld;
        x.aside = x.aside && in_lines(x.parents, g->ncols, g->ld, sizeof *x.parents);
        row += g->ncols * (int64_t)sizeof *x.parents;
    }
    x.aside = x.aside && w->n * row >= ASIDE;
    (void)ftb_vertex_by_parts(
        &(ftb_vertex_parts){.w = w, .by = by, .rows = settle_rows, .arg = &x, .whole = true}, &none);
    ftb_delete(b->log);
    b->log = NULL;
    b->blank = false;
}
