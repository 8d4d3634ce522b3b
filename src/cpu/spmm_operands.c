/* Operands in the kernel's type and order (spmm_operands.h). */
#include "cpu/spmm_operands.h"

/* Rows of `bytes` of listed entries; a constant for short ones, so that nothing is called for each. */
static inline __attribute__((always_inline)) void gather_rows(char *restrict to, const char *restrict from,
                                                              const int64_t *at, int64_t count, size_t step,
                                                              size_t bytes)
{
    for (int64_t e = 0; e < count; e++)
        memcpy(to + (size_t)e * bytes, from + (size_t)at[e] * step, bytes);
}

static void gather(char *to, const char *from, const int64_t *at, int64_t count, size_t step, size_t bytes)
{
    switch (bytes) {
    case 4:
        gather_rows(to, from, at, count, step, 4);
        break;
    case 8:
        gather_rows(to, from, at, count, step, 8);
        break;
    case 16:
        gather_rows(to, from, at, count, step, 16);
        break;
    case 32:
        gather_rows(to, from, at, count, step, 32);
        break;
    default:
        gather_rows(to, from, at, count, step, bytes);
    }
}

/* The edges' values in the order of p, packed. */
static GrB_Info take_edges(ftb_spmm_operands *o, int threads)
{
    ftb_spmm_product *p = &o->product;
    const FtB_Type type = p->kind.type;
    const char *y = p->y;
    int64_t row = p->yheads * p->ywidth, nvals = p->p->nvals;
    size_t from = FtB_Type_size(p->ystored), to = FtB_Type_size(type);
    const bool packed = !p->at && p->ldy == row;
    if (!y || (p->ystored == type && packed))
        return GrB_SUCCESS;
    char *copy = o->edges = ftb_new(p->ctx, nvals, (size_t)row * to);
    if (!copy)
        return ftb_nomem();
    enum { PIECE = 4096 };
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < nvals; first += PIECE) {
        int64_t last = ftb_min(first + PIECE, nvals);
        if (packed)
            ftb_cast(copy + (size_t)(first * row) * to, type, y + (size_t)(first * row) * from, p->ystored,
                     (last - first) * row);
        else if (p->at && p->ystored == type)
            gather(copy + (size_t)(first * row) * to, y, p->at + first, last - first, (size_t)p->ldy * from,
                   (size_t)row * from);
        else
            for (int64_t e = first; e < last; e++)
                ftb_cast(copy + (size_t)(e * row) * to, type,
                         y + (size_t)((p->at ? p->at[e] : e) * p->ldy) * from, p->ystored, row);
    }
    p->y = copy;
    p->ystored = type;
    p->ldy = row;
    p->at = NULL;
    return GrB_SUCCESS;
}

/* The whole block: for the direct kernels; the others pack. */
static GrB_Info take_block(ftb_spmm_operands *o, const ftb_spmm_plan *plan)
{
    ftb_spmm_product *p = &o->product;
    const FtB_Type type = p->kind.type;
    int64_t row = p->heads * p->width, nrows = p->p->ncols;
    size_t from = FtB_Type_size(p->stored), to = FtB_Type_size(type);
    if (p->stored == type || plan->family == FTB_SPMM_PARTITIONED || plan->family == FTB_SPMM_SLICED)
        return GrB_SUCCESS;
    char *copy = o->block = ftb_new(p->ctx, nrows, (size_t)row * to);
    if (!copy)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(plan->threads)
    for (int64_t k = 0; k < nrows; k++)
        ftb_cast(copy + (size_t)(k * row) * to, type, (const char *)p->x + (size_t)(k * p->ldx) * from,
                 p->stored, row);
    p->x = copy;
    p->stored = type;
    p->ldx = row;
    return GrB_SUCCESS;
}

GrB_Info ftb_spmm_operands_take(ftb_spmm_operands *o, const ftb_spmm_product *product,
                                const ftb_spmm_plan *plan)
{
    *o = (ftb_spmm_operands){.product = *product};
    GrB_Info info = take_edges(o, plan->threads);
    return info == GrB_SUCCESS ? take_block(o, plan) : info;
}

void ftb_spmm_operands_clear(ftb_spmm_operands *o)
{
    ftb_delete(o->edges);
    ftb_delete(o->block);
}
