/* A GPU's memory, as the table of backends takes it (core/backend.h). */
#ifndef FTB_GPU_MEMORY_H
#define FTB_GPU_MEMORY_H

#include "gpu/context.h"

extern const ftb_memory ftb_gpu_memory;
/* Gives back to the driver what was freed. */
GrB_Info ftb_gpu_trim(const ftb_backend *b);

#endif
