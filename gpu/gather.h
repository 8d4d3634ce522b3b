/* Rows picked by a list that is on the GPU (gather.c). */
#ifndef FTB_GPU_GATHER_H
#define FTB_GPU_GATHER_H

#include "gpu/context.h"
#include "gpu/kernels/gather_lists.h"

/* Row t of y becomes row from[t] of x, rows of `bytes` bytes, one behind the other. */
GrB_Info ftb_gpu_gather_rows(ftb_gpu_device *d, FtB_Context ctx, const long long *from, int64_t count,
                             const void *x, void *y, int64_t bytes);
/* The same of rows of which some are kept, one behind the other; those of x have `step` bytes from one to the
 * next. Distances and items of *a are filled in. */
GrB_Info ftb_gpu_gather_kept(ftb_gpu_device *d, FtB_Context ctx, ftb_gather_kept_arguments *a, int64_t count,
                             int64_t bytes, int64_t step);
/* place[rows[t]] = t. */
GrB_Info ftb_gpu_gather_places(ftb_gpu_device *d, FtB_Context ctx, const long long *rows, int64_t count,
                               int *place);

#endif
