/* Kernels of a GPU: compiled and loaded when they are first wanted, and run in the order of calls. */
#ifndef FTB_GPU_LAUNCH_H
#define FTB_GPU_LAUNCH_H

#include "gpu/context.h"

/* Bytes of shared memory that every kernel may have without asking: of the GPU's 48 KiB what is not left to
 * variables of its own, which count, too. */
#define FTB_GPU_SHARED (47 << 10)
#define FTB_GPU_MOST_Y 65535 /* blocks, on every GPU; in x they are 2^31 - 1 */

/* Blocks in each direction, and threads of a block; a launch of none does nothing. */
typedef struct ftb_gpu_grid {
    int64_t x, y;
    unsigned threads, shared; /* bytes of dynamic shared memory */
} ftb_gpu_grid;

/* What a failure is after something was written: where that was read, too, the host cannot do it again. */
GrB_Info ftb_gpu_half_done(GrB_Info info, bool read);

/* Whether kernels of a source can run there; compiled and loaded by the first who asks. */
GrB_Info ftb_gpu_load(ftb_gpu_device *d, const char *source);
/* Runs a kernel of a source for a context; parameters: one address each, as cuLaunchKernel takes them. */
GrB_Info ftb_gpu_launch(ftb_gpu_device *d, FtB_Context ctx, const char *source, const char *kernel,
                        ftb_gpu_grid grid, void **parameters);

#endif
