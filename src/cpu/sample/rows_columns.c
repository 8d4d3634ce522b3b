/* The columns of rows' entries: a stable sort of the entries by column, whose runs are the columns. */
#include "cpu/sample/rows_columns.h"

#include "cpu/sample/row_filter.h"

static int bits_of(uint64_t n) { return n ? 64 - __builtin_clzll(n) : 0; }

/* Entries of a row that are there. */
static int64_t count_row(const ftb_sample_product *s, int64_t r)
{
    const int64_t degree = ftb_sample_degree(s, r);
    const ftb_row_filter filter = ftb_row_filter_of(s, r);
    int64_t there = 0;
    if (!ftb_sample_filters(s))
        return degree;
    for (int64_t t = 0; t < degree; t++)
        there += ftb_row_admits(&filter, t);
    return there;
}

static GrB_Info make_room(ftb_rows_columns *c, const ftb_together *g)
{
    const ftb_sample_product *s = g->s;
    c->offset = ftb_new(s->ctx, g->count + 1, sizeof *c->offset);
    if (!c->offset)
        return ftb_nomem();
    c->offset[0] = 0;
    for (int64_t r = 0; r < g->count; r++)
        c->offset[r + 1] = c->offset[r] + count_row(s, ftb_together_row(g, r));
    c->nentries = c->offset[g->count];
    c->bits = bits_of((uint64_t)c->nentries);
    if (c->nentries > INT32_MAX || c->bits + bits_of((uint64_t)s->p->ncols) > 64)
        return ftb_fail(FTB_LIMIT,
                        "the rows of a hop have %lld entries in %lld columns; expected less than 2^31, and "
                        "numbers of both that fit 64 bits together",
                        (long long)c->nentries, (long long)s->p->ncols);
    for (int m = 0; m < 2; m++)
        c->memory[m] = ftb_new(s->ctx, c->nentries, sizeof(uint64_t));
    c->row = ftb_new(s->ctx, c->nentries, sizeof *c->row);
    c->place = ftb_new(s->ctx, c->nentries, sizeof *c->place);
    c->number = ftb_new(s->ctx, c->nentries, sizeof *c->number);
    return c->memory[0] && c->memory[1] && c->row && c->place && c->number ? GrB_SUCCESS : ftb_nomem();
}

static void list_entries(ftb_rows_columns *c, const ftb_together *g)
{
    const ftb_sample_product *s = g->s;
    uint64_t *words = c->memory[0];
#pragma omp parallel for num_threads(ftb_threads_for(s->ctx, c->nentries)) schedule(dynamic, 64)
    for (int64_t r = 0; r < g->count; r++) {
        const int64_t of = ftb_together_row(g, r), begin = s->p->rowptr[ftb_sample_row(s, of)];
        const int64_t degree = ftb_sample_degree(s, of);
        const ftb_row_filter filter = ftb_row_filter_of(s, of);
        int64_t at = c->offset[r];
        for (int64_t t = 0; t < degree; t++) {
            if (!ftb_row_admits(&filter, t))
                continue;
            words[at] = (uint64_t)ftb_col(s->p, begin + t) << c->bits | (uint64_t)at;
            c->row[at] = (int32_t)r;
            c->place[at++] = (int32_t)t;
        }
    }
}

GrB_Info ftb_columns_of_rows(ftb_rows_columns *c, const ftb_together *g)
{
    const ftb_sample_product *s = g->s;
    *c = (ftb_rows_columns){.nentries = 0};
    const GrB_Info info = make_room(c, g);
    if (info != GrB_SUCCESS)
        return info;
    list_entries(c, g);
    c->sorted = ftb_sort_by(c->memory[0], c->memory[1], c->nentries, c->bits,
                            c->bits + bits_of((uint64_t)s->p->ncols), ftb_threads_for(s->ctx, c->nentries));
    for (int64_t at = 0; at < c->nentries; at++) {
        c->ncolumns += at == 0 || c->sorted[at] >> c->bits != c->sorted[at - 1] >> c->bits;
        c->number[ftb_columns_entry(c, at)] = (int32_t)(c->ncolumns - 1);
    }
    c->column = ftb_new(s->ctx, c->ncolumns, sizeof *c->column);
    c->begin = ftb_new(s->ctx, c->ncolumns + 1, sizeof *c->begin);
    if (!c->column || !c->begin)
        return ftb_nomem();
    for (int64_t at = c->nentries; at-- > 0;) {
        const int64_t n = c->number[ftb_columns_entry(c, at)];
        c->column[n] = (int64_t)(c->sorted[at] >> c->bits);
        c->begin[n] = at;
    }
    c->begin[c->ncolumns] = c->nentries;
    return GrB_SUCCESS;
}

void ftb_columns_delete(ftb_rows_columns *c)
{
    ftb_delete(c->offset);
    ftb_delete(c->row);
    ftb_delete(c->place);
    ftb_delete(c->number);
    ftb_delete(c->column);
    ftb_delete(c->begin);
    ftb_delete(c->memory[0]);
    ftb_delete(c->memory[1]);
    *c = (ftb_rows_columns){.nentries = 0};
}
