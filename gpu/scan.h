/* Running sums on a GPU. */
#ifndef FTB_GPU_SCAN_H
#define FTB_GPU_SCAN_H

#include "gpu/context.h"
#include "gpu/kernels/scan_tiles.h"

#define FTB_GPU_SCAN "gpu/kernels/scan.cu"

/* Bytes of room that `sums` needs there for so many values. */
int64_t ftb_gpu_scan_bytes(int64_t n);
/* Of few values that room is not looked at. */
GrB_Info ftb_gpu_scan(ftb_gpu_device *d, FtB_Context ctx, ftb_scan_arguments a);

#endif
