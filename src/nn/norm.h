/* What layer_norm.c and batch_norm.c share: passes over rows by the kernels of cpu/kernels/norm_kernels.h. */
#ifndef FTB_NN_NORM_H
#define FTB_NN_NORM_H

#include "cpu/kernels/norm_kernels.h"
#include "cpu/nn/parts.h"
#include "nn/shape.h"

typedef void (*ftb_norm_rows)(const ftb_norm *c, int64_t first, int64_t last);
typedef void (*ftb_norm_parts)(const ftb_norm *c, int64_t first, int64_t last, double *sums, void *scratch);

void ftb_norm_each(ftb_norm_rows kernel, const ftb_norm *c, int64_t nrows, FtB_Context ctx);
/* The rows in parts: kernel(part) into sums + 2 ncols part. */
GrB_Info ftb_norm_by_part(double **sums, ftb_norm_parts kernel, const ftb_norm *c, int64_t nrows,
                          FtB_Context ctx);
/* The same, and the sum over the parts, in the first one's place. */
GrB_Info ftb_norm_total(double **sums, ftb_norm_parts kernel, const ftb_norm *c, int64_t nrows,
                        FtB_Context ctx);
#endif
