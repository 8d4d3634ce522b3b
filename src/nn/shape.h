/* What operations on rows of dense variables share. */
#ifndef FTB_NN_SHAPE_H
#define FTB_NN_SHAPE_H

#include "nn/nn.h"

/* A variable as an argument that must be dense: its node, or NULL with the tape's status set. */
ftb_nn_node *ftb_var_dense(FtB_Var x, const char *call, const char *name);
/* An optional parameter as an input, 1 x ncols of x's dtype: its node in *at, -1 for NULL. false: the tape
 * knows. */
bool ftb_var_row(int64_t *at, const ftb_nn_node *x, FtB_Parameter p, const char *call, const char *name);
/* Whether X and Y begin at one place. */
static inline bool ftb_block_same(FtB_Block X, FtB_Block Y)
{
    return X->owner == Y->owner && X->offset == Y->offset;
}

/* Of blocks by input: that of input k; NULL where k is -1, which is none. */
static inline FtB_Block ftb_input_or_none(FtB_Block const *blocks, int k) { return k < 0 ? NULL : blocks[k]; }

/* ---- rows put into rows (verbs/copy_product.h), on the device or the host; of FP32 or FP64 */

/* to(:, at + f) = from(:, start + f), or that added, for f < ncols; of one dtype and number of rows. */
GrB_Info ftb_columns_copy(FtB_Block to, int64_t at, FtB_Block from, int64_t start, int64_t ncols, bool add);
/* Every row of `to` = the one row of `row`. */
GrB_Info ftb_rows_repeat(FtB_Block to, FtB_Block row);
/* Every value of X = `value`. */
GrB_Info ftb_block_fill(FtB_Block X, double value);

#endif
