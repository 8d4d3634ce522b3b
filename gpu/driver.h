/* The driver of NVIDIA's GPUs: libcuda, found by its name when somebody first asks, never when the library is
 * loaded. Neither its header nor its library is needed to build: what is called is declared here. */
#ifndef FTB_GPU_DRIVER_H
#define FTB_GPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* A row per function that is called: its name, and its arguments. All return a CUresult, 0 for success.
 * CUresult and CUdevice_attribute are enumerations without negative values: as unsigned they are the same. */
#define FTB_CUDA_CALLS(CALL)                                                                                 \
    CALL(cuInit, (unsigned flags))                                                                           \
    CALL(cuDriverGetVersion, (int *version))                                                                 \
    CALL(cuGetErrorName, (unsigned error, const char **name))                                                \
    CALL(cuGetErrorString, (unsigned error, const char **text))                                              \
    CALL(cuDeviceGetCount, (int *count))                                                                     \
    CALL(cuDeviceGet, (int *device, int n))                                                                  \
    CALL(cuDeviceGetName, (char *name, int size, int device))                                                \
    CALL(cuDeviceTotalMem_v2, (size_t * bytes, int device))                                                  \
    CALL(cuDeviceGetAttribute, (int *value, unsigned attribute, int device))                                 \
    CALL(cuDevicePrimaryCtxRetain, (struct CUctx_st * *context, int device))                                 \
    CALL(cuCtxPushCurrent_v2, (struct CUctx_st * context))                                                   \
    CALL(cuCtxPopCurrent_v2, (struct CUctx_st * *context))                                                   \
    CALL(cuMemAlloc_v2, (unsigned long long *device, size_t bytes))                                          \
    CALL(cuMemFree_v2, (unsigned long long device))                                                          \
    CALL(cuPointerGetAttribute, (void *value, unsigned attribute, unsigned long long address))               \
    CALL(cuMemHostAlloc, (void **host, size_t bytes, unsigned flags))                                        \
    CALL(cuMemFreeHost, (void *host))                                                                        \
    CALL(cuMemGetInfo_v2, (size_t * free, size_t * total))                                                   \
    CALL(cuMemHostRegister_v2, (void *host, size_t bytes, unsigned flags))                                   \
    CALL(cuMemHostGetDevicePointer_v2, (unsigned long long *device, void *host, unsigned flags))             \
    CALL(cuMemHostUnregister, (void *host))                                                                  \
    CALL(cuMemcpyHtoDAsync_v2,                                                                               \
         (unsigned long long to, const void *from, size_t bytes, struct CUstream_st *stream))                \
    CALL(cuMemcpyDtoHAsync_v2,                                                                               \
         (void *to, unsigned long long from, size_t bytes, struct CUstream_st *stream))                      \
    CALL(cuStreamCreate, (struct CUstream_st * *stream, unsigned flags))                                     \
    CALL(cuStreamGetCtx, (struct CUstream_st * stream, struct CUctx_st * *context))                          \
    CALL(cuStreamSynchronize, (struct CUstream_st * stream))                                                 \
    CALL(cuStreamWaitEvent, (struct CUstream_st * stream, struct CUevent_st * event, unsigned flags))        \
    CALL(cuStreamBeginCapture_v2, (struct CUstream_st * stream, unsigned mode))                              \
    CALL(cuStreamEndCapture, (struct CUstream_st * stream, struct CUgraph_st * *graph))                      \
    CALL(cuGraphInstantiateWithFlags,                                                                        \
         (struct CUgraphExec_st * *made, struct CUgraph_st * graph, unsigned long long flags))               \
    CALL(cuGraphDestroy, (struct CUgraph_st * graph))                                                        \
    CALL(cuGraphLaunch, (struct CUgraphExec_st * graph, struct CUstream_st * stream))                        \
    CALL(cuGraphExecDestroy, (struct CUgraphExec_st * graph))                                                \
    CALL(cuEventCreate, (struct CUevent_st * *event, unsigned flags))                                        \
    CALL(cuEventRecord, (struct CUevent_st * event, struct CUstream_st * stream))                            \
    CALL(cuEventSynchronize, (struct CUevent_st * event))                                                    \
    CALL(cuEventElapsedTime, (float *milliseconds, struct CUevent_st *from, struct CUevent_st *to))          \
    CALL(cuModuleLoadData, (struct CUmod_st * *module, const void *image))                                   \
    CALL(cuModuleGetFunction, (struct CUfunc_st * *function, struct CUmod_st * module, const char *name))    \
    CALL(cuFuncSetAttribute, (struct CUfunc_st * function, unsigned attribute, int value))                   \
    CALL(cuLaunchKernel, (struct CUfunc_st * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,    \
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,             \
                          struct CUstream_st *stream, void **parameters, void **extra))

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;

typedef struct ftb_cuda {
#define FTB_CUDA_MEMBER(name, arguments) unsigned(*name) arguments;
    FTB_CUDA_CALLS(FTB_CUDA_MEMBER)
#undef FTB_CUDA_MEMBER
} ftb_cuda;

#define FTB_CUDA_ORDINAL 9 /* of a pointer: CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */

/* Attributes of a device, by the driver's numbers. */
enum {
    FTB_CUDA_CLOCK = 13,
    FTB_CUDA_MULTIPROCESSORS = 16,
    FTB_CUDA_BUS = 33,
    FTB_CUDA_SLOT = 34,
    FTB_CUDA_MEMORY_CLOCK = 36,
    FTB_CUDA_MEMORY_WIDTH = 37,
    FTB_CUDA_L2 = 38,
    FTB_CUDA_DOMAIN = 50,
    FTB_CUDA_MAJOR = 75,
    FTB_CUDA_MINOR = 76,
    FTB_CUDA_SHARED_OPTIN = 97,
};

/* Of what the driver does not tell, the number is 0. */
typedef struct ftb_gpu {
    char label[16];  /* "gpu:0" */
    char name[128];  /* printable ASCII, whatever the driver says */
    char about[512]; /* all of this, for people */
    int64_t memory;  /* bytes */
    int major, minor, multiprocessors;
    int cuda;                /* version of its driver's, as NVRTC must be; 0: whichever */
    int clock, memory_clock; /* kHz */
    int memory_width;        /* bits */
    int l2, shared;          /* bytes; shared memory that one block may ask for */
    int domain, bus, slot;   /* where it is plugged in */
    int handle;              /* the driver's */
} ftb_gpu;

enum { FTB_GPUS = 32 }; /* more are not looked at */

typedef struct ftb_driver {
    ftb_cuda call;
    int version;   /* 1000 major + 10 minor of the CUDA that it is made for */
    int count;     /* of GPUs */
    char why[512]; /* there are none: half a sentence */
    ftb_gpu gpu[FTB_GPUS];
} ftb_driver;

/* Opens a driver by its name or path, "" for none, and asks for its devices. What was found, or why there is
 * nothing, is in *d. The library is never closed: a driver has threads and handlers of its own. */
void ftb_driver_open(ftb_driver *d, const char *library);

/* This process's, opened by the first who asks: libcuda, or what FEATBLAS_CUDA_DRIVER names. */
const ftb_driver *ftb_driver_here(void);

/* The GPU of a name, "gpu" or "gpu:1"; NULL: there is none, and *why says why there are none at all, or is
 * NULL. Opens the driver for such names only. */
const ftb_gpu *ftb_gpu_named(const char *name, const char **why);

#endif
