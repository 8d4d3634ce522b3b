/* Memory of the host that a GPU reads where it is, over the bus. */
#ifndef FTB_GPU_MAPPED_H
#define FTB_GPU_MAPPED_H

#include "gpu/context.h"

/* Registers `bytes` bytes from `host` on with the driver, once for all who ask for the same; *device: where
 * kernels read them. FTB_NO_DEVICE: the driver does not take it, because others have registered it, because
 * it cannot be locked, or for any other reason. */
GrB_Info ftb_gpu_map(ftb_gpu_device *d, const void *host, int64_t bytes, unsigned long long *device);
/* The last who asked: what was launched is waited for, and it is the host's alone again. */
void ftb_gpu_unmap(ftb_gpu_device *d, const void *host);

#endif
