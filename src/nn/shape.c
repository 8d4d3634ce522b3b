/* Arguments that are dense, and rows that are put elsewhere (shape.h). */
#include "nn/shape.h"

#include "ops/block/blocks.h"

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

/* Columns first .. first + ncols - 1 of X, for places. */
static struct FtB_Block_opaque columns_of(FtB_Block X, int64_t first, int64_t ncols)
{
    struct FtB_Block_opaque part = *X;
    part.offset += first * (int64_t)FtB_Type_size(X->type);
    part.ncols = ncols;
    return part;
}

GrB_Info ftb_columns_copy(FtB_Block to, int64_t at, FtB_Block from, int64_t start, int64_t ncols, bool add)
{
    struct FtB_Block_opaque y = columns_of(to, at, ncols), x = columns_of(from, start, ncols);
    return ftb_block_put(&(ftb_copy_product){.ldx = x.ld, .add = add}, &y, &x);
}

GrB_Info ftb_rows_repeat(FtB_Block to, FtB_Block row)
{
    return ftb_block_put(&(ftb_copy_product){.ldx = 0}, to, row);
}

GrB_Info ftb_block_fill(FtB_Block X, double value)
{
    return ftb_block_put(&(ftb_copy_product){.value = value}, X, NULL);
}
