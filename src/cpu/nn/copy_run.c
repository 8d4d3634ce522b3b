/* Rows put into rows, over threads (copy_run.h). Rows that lie side by side are one array, in pieces: a call
 * for each of many short rows would take longer than what it copies. */
#include "cpu/nn/copy_run.h"

#include "cpu/kernels/rows.h"

#define PIECE 4096 /* values */

static void copy(const ftb_copy_product *p, char *y, const char *x, const void *value, int64_t count)
{
    const size_t size = FtB_Type_size(p->type);
    if (x && p->add)
        FTB_PICK_REAL(ftb_row_add, p->type)(y, x, count);
    else if (x)
        memcpy(y, x, (size_t)count * size);
    else if (p->value == 0)
        memset(y, 0, (size_t)count * size);
    else
        ftb_fill(y, count, value, size);
}

/* Row i of y is column i of x. */
static void copy_column(const ftb_copy_product *p, int64_t i)
{
    const size_t size = FtB_Type_size(p->type);
    char *y = (char *)p->y + (size_t)(i * p->ldy) * size;
    const char *x = (const char *)p->x + (size_t)i * size;
    for (int64_t j = 0; j < p->ncols; j++)
        memcpy(y + (size_t)j * size, x + (size_t)(j * p->ldx) * size, size);
}

static void turn(const ftb_copy_product *p)
{
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, p->nrows * p->ncols))
    for (int64_t i = 0; i < p->nrows; i++)
        copy_column(p, i);
}

GrB_Info ftb_copy_run(const ftb_copy_product *p)
{
    if (p->turned) {
        turn(p);
        return GrB_SUCCESS;
    }
    const bool flat = p->ldy == p->ncols && (!p->x || p->ldx == p->ncols);
    const int64_t values = p->nrows * p->ncols;
    const int64_t pieces = flat ? (values + PIECE - 1) / PIECE : p->nrows;
    const int64_t ldx = flat ? PIECE : p->ldx, ldy = flat ? PIECE : p->ldy;
    const int64_t size = (int64_t)FtB_Type_size(p->type);
    double value; /* as p->type */
    ftb_cast(&value, p->type, &p->value, FTB_FP64, 1);
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, values))
    for (int64_t k = 0; k < pieces; k++) {
        const int64_t count = flat ? ftb_min(PIECE, values - k * PIECE) : p->ncols;
        copy(p, (char *)p->y + k * ldy * size, p->x ? (const char *)p->x + k * ldx * size : NULL, &value,
             count);
    }
    return GrB_SUCCESS;
}
