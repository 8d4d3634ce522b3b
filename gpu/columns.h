/* Sums over rows in two passes (kernels/columns.cuh): their shape, and room for what the first pass leaves.
 */
#ifndef FTB_GPU_COLUMNS_H
#define FTB_GPU_COLUMNS_H

#include "gpu/kernels/column_parts.h"
#include "gpu/launch.h"

typedef struct ftb_gpu_columns {
    ftb_column_parts parts;
    ftb_gpu_grid first, second; /* of the passes */
    int64_t bytes;
} ftb_gpu_columns;

/* `sums` for each column. */
GrB_Info ftb_gpu_columns_new(ftb_gpu_columns *to, ftb_gpu_device *d, FtB_Context ctx, int64_t nrows,
                             int64_t ncols, int sums);
void ftb_gpu_columns_delete(const ftb_gpu_columns *c, ftb_gpu_device *d);

#endif
