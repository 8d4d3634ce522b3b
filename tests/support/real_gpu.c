/* A real GPU in tests (real_gpu.h). */
#include "support/real_gpu.h"

#include "support/check.h"

#include "gpu/driver.h"
#include "support/fake_cuda/fake_fails.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

static ftb_cuda real; /* the driver's functions */
static atomic_int launches, live, graphs, graph_launches, rooms, mapped;

bool real_gpu(void)
{
    const char *which = getenv("FEATBLAS_TEST_GPU");
    return which && strcmp(which, "real") == 0;
}

/* ---- calls that can fail */

#define CALL(name, text, parameters, arguments)                                                              \
    static unsigned name parameters                                                                          \
    {                                                                                                        \
        const unsigned error = fake_fails(text);                                                             \
        return error ? error : real.name arguments;                                                          \
    }
typedef unsigned long long address;
typedef struct CUctx_st *context;
typedef struct CUstream_st *stream;
typedef struct CUevent_st *event;
typedef struct CUgraph_st *graph;
typedef struct CUgraphExec_st *exec;

CALL(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (context * made, int device), (made, device))
CALL(cuCtxPushCurrent_v2, "cuCtxPushCurrent", (context made), (made))
CALL(cuMemHostGetDevicePointer_v2, "cuMemHostGetDevicePointer",
     (address * device, void *host, unsigned flags), (device, host, flags))
CALL(cuMemGetInfo_v2, "cuMemGetInfo", (size_t * unused, size_t *total), (unused, total))
CALL(cuMemHostAlloc, "cuMemHostAlloc", (void **host, size_t bytes, unsigned flags), (host, bytes, flags))
CALL(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", (address to, const void *from, size_t bytes, stream s),
     (to, from, bytes, s))
CALL(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", (void *to, address from, size_t bytes, stream s),
     (to, from, bytes, s))
CALL(cuStreamCreate, "cuStreamCreate", (stream * made, unsigned flags), (made, flags))
CALL(cuStreamSynchronize, "cuStreamSynchronize", (stream s), (s))
CALL(cuStreamWaitEvent, "cuStreamWaitEvent", (stream s, event e, unsigned flags), (s, e, flags))
CALL(cuEventCreate, "cuEventCreate", (event * made, unsigned flags), (made, flags))
CALL(cuEventRecord, "cuEventRecord", (event e, stream s), (e, s))
CALL(cuEventSynchronize, "cuEventSynchronize", (event e), (e))
CALL(cuEventElapsedTime, "cuEventElapsedTime", (float *milliseconds, event from, event to),
     (milliseconds, from, to))
CALL(cuStreamGetCtx, "cuStreamGetCtx", (stream s, context *of), (s, of))
CALL(cuStreamBeginCapture_v2, "cuStreamBeginCapture", (stream s, unsigned mode), (s, mode))
CALL(cuGraphDestroy, "cuGraphDestroy", (graph g), (g))
CALL(cuModuleLoadData, "cuModuleLoadData", (struct CUmod_st * *module, const void *image), (module, image))

/* ---- and are counted */

static unsigned cuMemAlloc_v2(address *device, size_t bytes)
{
    const unsigned error = fake_fails("cuMemAlloc"), made = error ? error : real.cuMemAlloc_v2(device, bytes);
    rooms++;
    live += made == 0;
    return made;
}

static unsigned cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags)
{
    const unsigned error = fake_fails("cuMemHostRegister"),
                   made = error ? error : real.cuMemHostRegister_v2(host, bytes, flags);
    mapped += made == 0;
    return made;
}

static unsigned cuMemHostUnregister(void *host)
{
    const unsigned gone = real.cuMemHostUnregister(host);
    mapped -= gone == 0;
    return gone;
}

static unsigned cuMemFree_v2(address device)
{
    const unsigned error = fake_fails("cuMemFree"), gone = error ? error : real.cuMemFree_v2(device);
    live -= gone == 0;
    return gone;
}

static unsigned cuLaunchKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                               stream s, void **parameters, void **extra)
{
    const unsigned error = fake_fails("cuLaunchKernel"),
                   ran = error ? error
                               : real.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
                                                     block_z, shared, s, parameters, extra);
    launches += ran == 0;
    return ran;
}

/* It ends, whatever is said of it. */
static unsigned cuStreamEndCapture(stream s, graph *made)
{
    const unsigned error = fake_fails("cuStreamEndCapture"), ended = real.cuStreamEndCapture(s, made);
    if (error && !ended)
        real.cuGraphDestroy(*made);
    if (error)
        *made = NULL;
    return error ? error : ended;
}

static unsigned cuGraphInstantiateWithFlags(exec *made, graph of, unsigned long long flags)
{
    const unsigned error = fake_fails("cuGraphInstantiate"),
                   done = error ? error : real.cuGraphInstantiateWithFlags(made, of, flags);
    graphs += done == 0;
    return done;
}

static unsigned cuGraphExecDestroy(exec of)
{
    const unsigned error = fake_fails("cuGraphExecDestroy"),
                   gone = error ? error : real.cuGraphExecDestroy(of);
    graphs -= gone == 0;
    return gone;
}

static unsigned cuGraphLaunch(exec of, stream s)
{
    const unsigned error = fake_fails("cuGraphLaunch");
    graph_launches++;
    return error ? error : real.cuGraphLaunch(of, s);
}

void real_gpu_begin(void)
{
    ftb_driver *d = (ftb_driver *)(uintptr_t)ftb_driver_here();
    if (real.cuInit)
        return;
    if (d->count == 0)
        fail_msg("there is no GPU: %s", d->why);
    real = d->call;
    d->call.cuDevicePrimaryCtxRetain = cuDevicePrimaryCtxRetain;
    d->call.cuCtxPushCurrent_v2 = cuCtxPushCurrent_v2;
    d->call.cuMemAlloc_v2 = cuMemAlloc_v2;
    d->call.cuMemFree_v2 = cuMemFree_v2;
    d->call.cuMemHostAlloc = cuMemHostAlloc;
    d->call.cuMemHostRegister_v2 = cuMemHostRegister_v2;
    d->call.cuMemHostGetDevicePointer_v2 = cuMemHostGetDevicePointer_v2;
    d->call.cuMemHostUnregister = cuMemHostUnregister;
    d->call.cuMemGetInfo_v2 = cuMemGetInfo_v2;
    d->call.cuMemcpyHtoDAsync_v2 = cuMemcpyHtoDAsync_v2;
    d->call.cuMemcpyDtoHAsync_v2 = cuMemcpyDtoHAsync_v2;
    d->call.cuStreamCreate = cuStreamCreate;
    d->call.cuStreamSynchronize = cuStreamSynchronize;
    d->call.cuStreamWaitEvent = cuStreamWaitEvent;
    d->call.cuEventCreate = cuEventCreate;
    d->call.cuEventRecord = cuEventRecord;
    d->call.cuEventSynchronize = cuEventSynchronize;
    d->call.cuEventElapsedTime = cuEventElapsedTime;
    d->call.cuStreamGetCtx = cuStreamGetCtx;
    d->call.cuStreamBeginCapture_v2 = cuStreamBeginCapture_v2;
    d->call.cuStreamEndCapture = cuStreamEndCapture;
    d->call.cuGraphInstantiateWithFlags = cuGraphInstantiateWithFlags;
    d->call.cuGraphDestroy = cuGraphDestroy;
    d->call.cuGraphExecDestroy = cuGraphExecDestroy;
    d->call.cuGraphLaunch = cuGraphLaunch;
    d->call.cuModuleLoadData = cuModuleLoadData;
    d->call.cuLaunchKernel = cuLaunchKernel;
}

/* ---- for tests */

static int count_launches(void) { return launches; }
static int count_live(void) { return live; }
static int count_graphs(void) { return graphs; }
static int count_mapped(void) { return mapped; }
static int count_calls(const char *call)
{
    return strcmp(call, "cuGraphLaunch") == 0 ? graph_launches
           : strcmp(call, "cuMemAlloc") == 0  ? rooms
                                              : launches;
}
static int none(void) { return 0; }
static int yes(void) { return 1; }
static const char *no_misuse(void) { return NULL; }
static void calm(void) {}

bool real_gpu_find(const char *function, void *to)
{
    typedef void any(void);
    static const struct {
        const char *name;
        any *function;
    } all[] = {{"fake_cuda_launches", (any *)count_launches},
               {"fake_cuda_live", (any *)count_live},
               {"fake_cuda_graphs", (any *)count_graphs},
               {"fake_cuda_mapped", (any *)count_mapped},
               {"fake_cuda_calls", (any *)count_calls},
               {"fake_cuda_pending", (any *)none},
               {"fake_cuda_emulates", (any *)yes},
               {"fake_cuda_misuse", (any *)no_misuse},
               {"fake_cuda_calm", calm},
               {"fake_nvrtc_compiled", (any *)none},
               {"fake_cublas_products", (any *)none}};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        if (strcmp(all[n].name, function) == 0) {
            memcpy(to, &all[n].function, sizeof all[n].function);
            return true;
        }
    if (strcmp(function, "cuStreamDestroy_v2") != 0)
        return false;
    const char *driver = getenv("FEATBLAS_CUDA_DRIVER"); /* a call that the library has no use for */
    void *opened = dlopen(driver ? driver : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL),
         *symbol = opened ? dlsym(opened, function) : NULL;
    assert_non_null(symbol);
    memcpy(to, &symbol, sizeof symbol);
    return true;
}
