/* A GPU that the process has: the driver's context of it, what is kept there, and the order of its work. */
#ifndef FTB_GPU_CONTEXT_H
#define FTB_GPU_CONTEXT_H

#include "core/backend.h"
#include "gpu/driver.h"
#include "plan/machine.h"

#include <pthread.h>

#define FTB_CUDA_OUT_OF_MEMORY 2

enum { FTB_GPU_CLASSES = 512, FTB_GPU_STAGES = 2, FTB_GPU_MARKS = 2, FTB_GPU_LANES = 2 };
#define FTB_GPU_STAGE (INT64_C(4) << 20) /* bytes that a copy moves at once */

/* Work that is done in the order of calls: lane 0 has all of it, but for what one thread at a time does
 * beside (stream.c). */
typedef struct ftb_gpu_lane {
    atomic_ullong epoch;     /* of what goes there now: another one once the other lane has waited for it */
    unsigned long long seen; /* epochs of the other lane from this on may not be done before what comes */
    bool any;                /* work went there since the other lane has waited for it */
    struct CUevent_st *last; /* recorded in it, for the other or the host to wait for */
    struct CUevent_st *mark[FTB_GPU_MARKS]; /* recorded in it, for the device's `aside` to wait for */
    pthread_mutex_t copying; /* held while a copy goes through the stages; taken before the device's lock */
    struct {                 /* memory that the bus reaches, through which copies go */
        void *host;
        struct CUevent_st *done;
    } stage[FTB_GPU_STAGES];
    int next; /* stage */
} ftb_gpu_lane;

/* A GPU as a backend. Work of a lane is done in the order of calls: memory that was freed there may be given
 * out there at once, because what still uses it is done before what comes after, and what one call wrote is
 * there for the next. A context's work goes to the caller's stream where it has one; where the stream
 * changes, the new one waits for the old one (stream.c). What a verb fetches aside (memory.h), while the
 * others go on, it has waited for when it frees that. The lock is not held while the host waits. */
typedef struct ftb_gpu_device {
    ftb_backend row; /* first: a pointer to one is a pointer to the other */
    const ftb_driver *driver;
    const ftb_gpu *gpu;
    ftb_gpu_facts facts;  /* for plans */
    pthread_mutex_t lock; /* of what follows */
    bool begun;
    atomic_uint lost; /* an error after which the driver does nothing any more for this process; 0: none */
    struct CUctx_st *context;
    struct CUstream_st *own, *turn; /* ours; the one to which the last work went */
    struct CUstream_st *recorder;   /* of what one thread at a time records (record.c); NULL: not yet */
    bool recording;
    struct CUevent_st *handed;                    /* recorded in the old one where that changes */
    struct CUstream_st *aside;                    /* for what is fetched while work goes on */
    struct ftb_gpu_spare *spare[FTB_GPU_CLASSES]; /* freed, by size */
    struct CUstream_st *beside;                   /* lane 1's; NULL: nothing was done beside so far */
    bool beside_taken;                            /* a thread's work goes there */
    ftb_gpu_lane lane[FTB_GPU_LANES];
    struct ftb_gpu_module *modules;   /* what was loaded (launch.c) */
    struct cublasContext *cublas;     /* its handle (cublas.c); NULL: not yet, or */
    bool without_cublas;              /* it cannot be had */
    void *cusparse;                   /* its handle (cusparse/cusparse_product.h); NULL: not yet, or */
    bool without_cusparse;            /* it cannot be had */
    struct ftb_gpu_sparse *products;  /* of cuSPARSE's that are kept, the latest first */
    struct CUevent_st *lap[2];        /* with time, for measurements */
    struct ftb_gpu_mapping *mappings; /* host memory that is read there (sample/mapped.h) */
} ftb_gpu_device;

static inline ftb_gpu_device *ftb_gpu_of(const ftb_backend *b) { return (ftb_gpu_device *)(uintptr_t)b; }

/* Between the two the lock is held and the driver's context is the thread's; what is begun on first use is
 * there. `leave` returns info. */
GrB_Info ftb_gpu_enter(ftb_gpu_device *d);
GrB_Info ftb_gpu_leave(ftb_gpu_device *d, GrB_Info info);
/* _enter, and work goes to the context's stream from then on. (stream.c) */
GrB_Info ftb_gpu_enter_for(ftb_gpu_device *d, FtB_Context ctx);
GrB_Info ftb_gpu_set_stream(const ftb_backend *b, FtB_Context ctx, void *stream);
/* What is done beside (core/backend.h). The lane of this thread; its stream, between _enter_for and _leave.
 */
GrB_Info ftb_gpu_beside_begin(const ftb_backend *b, FtB_Context ctx);
void ftb_gpu_beside_end(const ftb_backend *b);
int ftb_gpu_lane_here(const ftb_gpu_device *d);
struct CUstream_st *ftb_gpu_turn(const ftb_gpu_device *d);
uint64_t ftb_gpu_stamp(const ftb_backend *b);
GrB_Info ftb_gpu_after(const ftb_backend *b, uint64_t stamp);
/* Events and stages of a lane are there. (context.c) */
GrB_Info ftb_gpu_lane_begin(ftb_gpu_device *d, ftb_gpu_lane *lane);
/* Between _enter and _leave, which others may use meanwhile: until an event has come; until all is done that
 * went to either lane. Where work goes on after that for a context whose stream it goes to, _go_on_for says
 * so again. (stream.c) */
GrB_Info ftb_gpu_wait_for(ftb_gpu_device *d, struct CUevent_st *event);
GrB_Info ftb_gpu_wait_for_all(ftb_gpu_device *d);
GrB_Info ftb_gpu_go_on_for(ftb_gpu_device *d, FtB_Context ctx);
/* Figures that plans are made with: a description's, if there is one (plan/machine.h), but no more memory
 * than is there; else its own. */
ftb_gpu_facts ftb_gpu_planned(const ftb_gpu_device *d);
/* A number of a GPU's own, with these figures, for wisdom. */
int64_t ftb_gpu_number(const ftb_gpu *gpu, const ftb_gpu_facts *facts);
/* What an error of the driver's becomes; one that sticks loses the GPU. */
GrB_Info ftb_gpu_failed(ftb_gpu_device *d, const char *call, unsigned error);

/* Calls the driver, and goes to `done` where that fails. */
#define FTB_GPU_CALL(d, name, ...)                                                                           \
    do {                                                                                                     \
        const unsigned error_ = (d)->driver->call.name(__VA_ARGS__);                                         \
        if (error_) {                                                                                        \
            info = ftb_gpu_failed((d), #name, error_);                                                       \
            goto done;                                                                                       \
        }                                                                                                    \
    } while (0)

#endif
