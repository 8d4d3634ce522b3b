/* The verb `map_rows` on a GPU: expressions (expression.h), and their sums over rows, in FP64
 * (reduce.c). */
#include "gpu/expression.h"
#include "gpu/gpu_verbs.h"
#include "gpu/memory.h"

/* The row pointers that are read: of rows that are left alone, or of degrees. */
static const int64_t *rowptr_of(const ftb_map_rows_product *p)
{
    const int64_t *rowptr = p->present;
    for (int f = 0; f < p->m->nfeeds && !rowptr; f++)
        if (ftb_program_uses(p->program, f))
            rowptr = p->m->feeds[f].degree;
    return rowptr;
}

bool ftb_gpu_map_rows_fits(const ftb_map_rows_product *p)
{
    return (!p->sum || p->type == ftb_program_type(p->program)) && p->fold >= 1 &&
           p->m->heads % p->fold == 0 && ftb_gpu_expression_fits(p->m, p->program, p->side, rowptr_of(p));
}

/* y = the sum of all rows, which are made first. */
static GrB_Info sum(ftb_gpu_device *d, const ftb_gpu_expression *e, const ftb_map_rows_product *p,
                    ftb_expression_arguments *a)
{
    const int64_t values = p->nrows * p->ncols, bytes = values * (int64_t)FtB_Type_size(p->type);
    void *rows = NULL;
    GrB_Info info = bytes > 0 ? d->row.memory->alloc(&d->row, p->m->ctx, &rows, bytes) : GrB_SUCCESS;
    a->out = rows;
    a->ldo = p->ncols;
    a->add = false;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_expression_run(d, e, FTB_EXPRESSION_ROWS, p->nrows, a);
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
    if (rows)
        d->row.memory->free(&d->row, rows, bytes);
    return info;
}

GrB_Info ftb_gpu_map_rows(const ftb_map_rows_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->m->ctx));
    ftb_expression_arguments a = {.nrows = p->nrows,
                                  .ncols = p->ncols,
                                  .out = p->y,
                                  .ldo = p->ldy,
                                  .add = p->add,
                                  .skips = p->present != NULL};
    ftb_gpu_expression e = {.source = NULL};
    const int64_t *rowptr = rowptr_of(p);
    ftb_gpu_sent sent = {.at = NULL};
    GrB_Info info = ftb_gpu_expression_new(&e, p->m, p->program, p->type, FTB_PLUS, FTB_EXPRESSION_ROWS);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_load(d, e.source);
    if (info == GrB_SUCCESS && rowptr)
        info = ftb_gpu_send(&sent, d, p->m->ctx, rowptr, (p->nrows + 1) * (int64_t)sizeof *rowptr);
    if (info == GrB_SUCCESS) {
        a.rowptr = sent.at;
        ftb_gpu_expression_feeds(&a, p->m, p->program);
        info = p->sum ? sum(d, &e, p, &a) : ftb_gpu_expression_run(d, &e, FTB_EXPRESSION_ROWS, p->nrows, &a);
    }
    ftb_gpu_unsend(&sent, d);
    ftb_gpu_expression_delete(&e);
    return info;
}
