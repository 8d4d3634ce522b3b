/* Kernels that were compiled with the library, by nvcc (cmake/Cuda.cmake). */
#ifndef FTB_GPU_IMAGES_H
#define FTB_GPU_IMAGES_H

#include "core/core.h"
#include "gpu/driver.h"

/* What a source became for a target, as gzip packs it. */
typedef struct ftb_gpu_image {
    const char *source; /* "gpu/kernels/spmm_direct.cu" */
    int arch;           /* of the target: 10 major + minor */
    bool text;          /* PTX, which the driver compiles; else code for GPUs of one generation */
    const unsigned char *at, *end;
} ftb_gpu_image;
extern const ftb_gpu_image ftb_gpu_images[]; /* the last has no source; made by cmake/Cuda.cmake */

/* The one for a GPU, of a source or of any (NULL): code for the newest that it can be, else the newest text;
 * NULL: there is none. */
const ftb_gpu_image *ftb_gpu_image_for(const char *source, const ftb_gpu *gpu);
/* As the driver takes it; freed with ftb_raw_delete. FTB_NO_DEVICE: it is damaged. */
GrB_Info ftb_gpu_image_unpack(void **image, const ftb_gpu_image *packed);
/* What a GPU would run, of whichever source: "sm_90", "compute_90"; NULL: of none there is anything for it.
 */
const char *ftb_gpu_images_about(char text[32], const ftb_gpu *gpu);
/* Others in their place, for tests; NULL: those of the library again. */
void ftb_gpu_images_use(const ftb_gpu_image *images);

#endif
