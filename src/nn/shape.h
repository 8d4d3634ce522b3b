/* What operations on rows of dense variables share. */
#ifndef FTB_NN_SHAPE_H
#define FTB_NN_SHAPE_H

#include "nn/nn.h"

/* A variable as an argument that must be dense: its node, or NULL with the tape's status set. */
ftb_nn_node *ftb_var_dense(FtB_Var x, const char *call, const char *name);
/* An optional parameter as an input, 1 x ncols of x's dtype: its node in *at, -1 for NULL. false: the tape
 * knows. */
bool ftb_var_row(int64_t *at, const ftb_nn_node *x, FtB_Parameter p, const char *call, const char *name);
/* to(:, at + f) = from(:, start + f), or that added, for f < ncols; of one dtype and number of rows. */
void ftb_columns_copy(FtB_Block to, int64_t at, FtB_Block from, int64_t start, int64_t ncols, bool add);
/* X = 0 */
void ftb_block_clear(FtB_Block X);

#endif
