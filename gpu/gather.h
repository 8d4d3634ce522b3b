/* Rows picked by a list that is on the GPU (gather.c). */
#ifndef FTB_GPU_GATHER_H
#define FTB_GPU_GATHER_H

#include "gpu/context.h"

/* Row t of y becomes row from[t] of x, rows of `bytes` bytes, one behind the other. */
GrB_Info ftb_gpu_gather_rows(ftb_gpu_device *d, FtB_Context ctx, const long long *from, int64_t count,
                             const void *x, void *y, int64_t bytes);

#endif
