/* Arguments that are dense, and pieces of rows that move (shape.h). */
#include "nn/shape.h"

#include "cpu/kernels/rows.h"
#include "ops/merge.h"

ftb_nn_node *ftb_var_dense(FtB_Var x, const char *call, const char *name)
{
    char shape[80];
    ftb_nn_node *n = ftb_var(x, call, name);
    if (!n || ftb_node_dense(n))
        return n;
    ftb_var_failed(x.tape, ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %s is %s; expected a dense variable", call,
                                    name, ftb_node_shape(n, shape, sizeof shape)));
    return NULL;
}

bool ftb_var_row(int64_t *at, const ftb_nn_node *x, FtB_Parameter p, const char *call, const char *name)
{
    char shape[2][80];
    *at = -1;
    if (!p)
        return true;
    const ftb_nn_node *n = ftb_var(FtB_parameter(x->tape, p), call, name);
    if (!n)
        return false;
    if (n->nrows != 1 || n->ncols != x->ncols || n->type != x->type) {
        ftb_var_failed(x->tape,
                       ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %s is %s, x is %s; expected 1 x %lld %s", call,
                                name, ftb_node_shape(n, shape[0], sizeof shape[0]),
                                ftb_node_shape(x, shape[1], sizeof shape[1]), (long long)x->ncols,
                                FtB_Type_name(x->type)));
        return false;
    }
    *at = n->number;
    return true;
}

void ftb_columns_copy(FtB_Block to, int64_t at, FtB_Block from, int64_t start, int64_t ncols, bool add)
{
    size_t size = FtB_Type_size(to->type), bytes = (size_t)ncols * size;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(to->ctx, to->nrows *ncols))
    for (int64_t i = 0; i < to->nrows; i++) {
        char *y = (char *)ftb_block_data(to) + (size_t)(i * to->ld + at) * size;
        const char *x = (const char *)ftb_block_data(from) + (size_t)(i * from->ld + start) * size;
        if (add)
            FTB_PICK_REAL(ftb_row_add, to->type)(y, x, ncols);
        else
            memcpy(y, x, bytes);
    }
}

void ftb_block_clear(FtB_Block X)
{
    size_t size = FtB_Type_size(X->type), bytes = (size_t)X->ncols * size;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(X->ctx, X->nrows * X->ncols))
    for (int64_t i = 0; i < X->nrows; i++)
        memset((char *)ftb_block_data(X) + (size_t)(i * X->ld) * size, 0, bytes);
}
