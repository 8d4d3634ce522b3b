/* GPUs as rows of the table of backends. */
#ifndef FTB_GPU_DEVICE_H
#define FTB_GPU_DEVICE_H

#include "gpu/memory.h"

/* The row of a GPU that the driver found (driver.h); of the same one always the same. */
const ftb_backend *ftb_gpu_backend(const ftb_gpu *gpu);

#endif
