/* The verb `map_rows` on a GPU: expressions (expression.h), and their sums over rows, in FP64
 * (reduce.c). */
#include "gpu/gpu_verbs.h"
#include "gpu/memory.h"
#include "gpu/texts/expression.h"

/* The row pointers that are read: of rows that are left alone, or of degrees. */
static const int64_t *rowptr_of(const ftb_map_rows_product *p)
{
    const int64_t *rowptr = p->present ? p->present->rowptr : NULL;
    for (int f = 0; f < p->m->nfeeds && !rowptr; f++)
        if (ftb_program_uses(p->program, f))
            rowptr = p->m->feeds[f].degree;
    return rowptr;
}

bool ftb_gpu_map_rows_fits(const ftb_map_rows_product *p)
{
    return p->type != FTB_FP16 && p->type != FTB_BF16 &&
           (!p->sum || p->type == ftb_program_type(p->program)) && p->fold >= 1 &&
           p->m->heads % p->fold == 0 && ftb_gpu_expression_fits(p->m, p->program, p->side, rowptr_of(p));
}

/* Of as many rows as there are, y's values side by side. */
static int64_t bytes_of(const ftb_map_rows_product *p)
{
    return p->nrows * p->ncols * (int64_t)FtB_Type_size(p->type);
}

/* y = the sum of all rows, which are made first. */
static GrB_Info sum(ftb_gpu_rooms *rooms, const ftb_gpu_expression *e, const ftb_map_rows_product *p,
                    ftb_expression_arguments *a)
{
    void *rows = NULL;
    GrB_Info info = ftb_gpu_room(&rows, rooms, bytes_of(p));
    a->out = rows;
    a->ldo = p->ncols;
    a->add = false;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_expression_run(rooms->d, e, FTB_EXPRESSION_ROWS, p->nrows, a);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_reduce(&(ftb_reduce_product){.ctx = p->m->ctx,
                                                    .what = FTB_REDUCE_COLUMNS,
                                                    .monoid = FTB_PLUS,
                                                    .type = p->type,
                                                    .nrows = p->nrows,
                                                    .heads = 1,
                                                    .width = p->ncols,
                                                    .x = rows,
                                                    .ld = p->ncols,
                                                    .out = p->y,
                                                    .add = p->add});
    return info;
}

/* What y held, aside, where others than the value that is written there read it: of texts that take a row's
 * values together, over rows that become the result. NULL: nobody does. */
static GrB_Info set_aside(ftb_gpu_rooms *rooms, const ftb_map_rows_product *p, ftb_expression_arguments *a)
{
    void *aside = NULL;
    bool read = false;
    for (int n = 0; n < FTB_EXPRESSION_FEEDS; n++)
        read |= a->data[n] != NULL && a->data[n] == p->y;
    if (!read || p->sum || ftb_program_elementwise(p->program))
        return GrB_SUCCESS;
    if (p->type != FTB_FP32 && p->type != FTB_FP64)
        return ftb_fail(FTB_NO_DEVICE, "map_rows: %s in place are not copied on a GPU",
                        FtB_Type_name(p->type));
    GrB_Info info = ftb_gpu_room(&aside, rooms, bytes_of(p));
    if (info == GrB_SUCCESS)
        info = ftb_gpu_copy(&(ftb_copy_product){.ctx = p->m->ctx,
                                                .type = p->type,
                                                .nrows = p->nrows,
                                                .ncols = p->ncols,
                                                .x = p->y,
                                                .ldx = p->ldy,
                                                .y = aside,
                                                .ldy = p->ncols});
    for (int n = 0; n < FTB_EXPRESSION_FEEDS && info == GrB_SUCCESS; n++)
        if (a->data[n] == p->y) {
            a->data[n] = aside;
            a->ld[n] = p->ncols;
        }
    return info;
}

GrB_Info ftb_gpu_map_rows(const ftb_map_rows_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->m->ctx));
    ftb_gpu_rooms rooms = {.d = d, .ctx = p->m->ctx};
    ftb_expression_arguments a = {.nrows = p->nrows,
                                  .ncols = p->ncols,
                                  .out = p->y,
                                  .ldo = p->ldy,
                                  .add = p->add,
                                  .skips = p->present != NULL};
    ftb_gpu_expression e = {.source = NULL};
    const int64_t *rowptr = rowptr_of(p);
    const int64_t *there = NULL;
    const void *columns;
    const void *sent = NULL;
    GrB_Info info = ftb_gpu_expression_new(&e, p->m, p->program, p->type, FTB_PLUS, FTB_EXPRESSION_ROWS);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_load(d, e.source);
    if (info == GrB_SUCCESS && p->present)
        info = ftb_pattern_ask_at(p->present, &d->row, &there, &columns);
    else if (info == GrB_SUCCESS && rowptr)
        info = ftb_gpu_send(&sent, &rooms, rowptr, (p->nrows + 1) * (int64_t)sizeof *rowptr);
    if (info == GrB_SUCCESS) {
        a.rowptr = p->present ? (const void *)there : sent;
        ftb_gpu_expression_feeds(&a, p->m, p->program);
        info = set_aside(&rooms, p, &a);
    }
    if (info == GrB_SUCCESS)
        info = p->sum ? sum(&rooms, &e, p, &a)
                      : ftb_gpu_expression_run(d, &e, FTB_EXPRESSION_ROWS, p->nrows, &a);
    ftb_gpu_rooms_free(&rooms);
    ftb_gpu_expression_delete(&e);
    return info;
}
