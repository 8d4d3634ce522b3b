/* Sources of kernels to images that the driver loads. */
#ifndef FTB_GPU_COMPILE_H
#define FTB_GPU_COMPILE_H

#include "core/core.h"
#include "gpu/driver.h"

/* A file of gpu/kernels/ with its text, by the name that #include has for it. */
typedef struct ftb_gpu_source {
    const char *name, *text;
} ftb_gpu_source;
extern const ftb_gpu_source ftb_gpu_sources[]; /* the last has no name; made by cmake/Embed.cmake */

/* How a source begins that is given as a text, instead of by the name of one of these. */
#define FTB_GPU_TEXT "//"

/* Whether NVRTC is there and compiles for it. */
bool ftb_gpu_compiles(const ftb_gpu *gpu);
/* Compiles a source for a GPU: to a cubin, or, where NVRTC is older than the GPU, to PTX for the
 * newest before it that NVRTC knows. Freed with ftb_raw_delete. Sums are as written: a product and a sum
 * become an fma only where the source says so. */
GrB_Info ftb_gpu_compile(void **image, const char *source, const ftb_gpu *gpu);

#endif
