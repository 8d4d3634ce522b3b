/* Rows put into rows, over threads (copy_run.h). */
#include "cpu/nn/copy_run.h"

#include "cpu/kernels/rows.h"

GrB_Info ftb_copy_run(const ftb_copy_product *p)
{
    const size_t size = FtB_Type_size(p->type), bytes = (size_t)p->ncols * size;
    double value; /* as p->type */
    ftb_cast(&value, p->type, &p->value, FTB_FP64, 1);
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, p->nrows * p->ncols))
    for (int64_t i = 0; i < p->nrows; i++) {
        char *y = (char *)p->y + (size_t)(i * p->ldy) * size;
        const char *x = p->x ? (const char *)p->x + (size_t)(i * p->ldx) * size : NULL;
        if (!x && p->value == 0)
            memset(y, 0, bytes);
        else if (!x)
            ftb_fill(y, p->ncols, &value, size);
        else if (p->add)
            FTB_PICK_REAL(ftb_row_add, p->type)(y, x, p->ncols);
        else
            memcpy(y, x, bytes);
    }
    return GrB_SUCCESS;
}
