/* A GPU's memory, as the table of backends takes it (core/backend.h), and what work there is ordered by. */
#ifndef FTB_GPU_MEMORY_H
#define FTB_GPU_MEMORY_H

#include "core/backend.h"
#include "gpu/driver.h"

#include <pthread.h>

enum { FTB_GPU_CLASSES = 512, FTB_GPU_STAGES = 2 };
#define FTB_GPU_STAGE (INT64_C(4) << 20) /* bytes that a copy moves at once */

/* A GPU as a backend. All work of a process goes to one stream of it, in order: memory that was freed may be
 * given out at once, because what still uses it is done before what comes after. */
typedef struct ftb_gpu_device {
    ftb_backend row; /* first: a pointer to one is a pointer to the other */
    const ftb_driver *driver;
    const ftb_gpu *gpu;
    pthread_mutex_t lock; /* of what follows */
    bool begun;
    unsigned lost; /* an error after which the driver does nothing any more for this process; 0: none */
    struct CUctx_st *context;
    struct CUstream_st *stream;
    struct ftb_gpu_spare *spare[FTB_GPU_CLASSES]; /* freed, by size */
    struct {                                      /* memory that the bus reaches, through which copies go */
        void *host;
        struct CUevent_st *done;
    } stage[FTB_GPU_STAGES];
    int next; /* stage */
} ftb_gpu_device;

extern const ftb_memory ftb_gpu_memory;
/* Gives back to the driver what was freed. */
GrB_Info ftb_gpu_trim(const ftb_backend *b);

#endif
