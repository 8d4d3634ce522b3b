/* Memory of a GPU: pieces are kept when they are freed, by size, since the driver's own allocation takes long
 * and waits for all work; copies go through pinned memory in two halves, one filled while the other is on its
 * way.
 *
 * put() has read the host's memory when it returns, get() has written it. */
#include "gpu/memory.h"

#include <stdio.h>

#define LEAST 512 /* bytes: the driver's own grain */
#define OUT_OF_MEMORY 2
#define NON_BLOCKING 1 /* CU_STREAM_NON_BLOCKING */
#define NO_TIMING 2    /* CU_EVENT_DISABLE_TIMING */

struct ftb_gpu_spare {
    struct ftb_gpu_spare *next;
    unsigned long long device;
};

static ftb_gpu_device *device_of(const ftb_backend *b) { return (ftb_gpu_device *)(uintptr_t)b; }

/* ---- errors */

static GrB_Info lost(const ftb_gpu_device *d)
{
    const char *name = NULL;
    if (d->driver->call.cuGetErrorName(d->lost, &name) != 0 || !name)
        name = "an error of the driver";
    return ftb_fail(FTB_NO_DEVICE,
                    "%s: lost by %s; nothing runs there in this process any more, and values that were "
                    "nowhere else are gone (FtB_Context_set_device(ctx, \"cpu\") goes on without it)",
                    d->gpu->label, name);
}

/* Errors of which the driver says that the process must end to use the GPU again. */
static bool sticks(unsigned error)
{
    static const unsigned all[] = {
        214, /* ECC_UNCORRECTABLE */
        220, /* NVLINK_UNCORRECTABLE */
        700, /* ILLEGAL_ADDRESS */
        702, /* LAUNCH_TIMEOUT */
        709, /* CONTEXT_IS_DESTROYED */
        710, /* ASSERT */
        714, /* HARDWARE_STACK_ERROR */
        715, /* ILLEGAL_INSTRUCTION */
        716, /* MISALIGNED_ADDRESS */
        717, /* INVALID_ADDRESS_SPACE */
        718, /* INVALID_PC */
        719, /* LAUNCH_FAILED */
    };
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        if (all[n] == error)
            return true;
    return false;
}

static GrB_Info failed(ftb_gpu_device *d, const char *call, unsigned error)
{
    const char *name = NULL;
    if (sticks(error)) {
        d->lost = error;
        return lost(d);
    }
    if (d->driver->call.cuGetErrorName(error, &name) != 0 || !name)
        return ftb_fail(FTB_NO_DEVICE, "%s: %s fails with error %u", d->gpu->label, call, error);
    return ftb_fail(error == OUT_OF_MEMORY ? GrB_OUT_OF_MEMORY : FTB_NO_DEVICE, "%s: %s fails with %s",
                    d->gpu->label, call, name);
}

/* Calls the driver, and goes to `done` where that fails. */
#define CALL(d, name, ...)                                                                                   \
    do {                                                                                                     \
        const unsigned error_ = (d)->driver->call.name(__VA_ARGS__);                                         \
        if (error_) {                                                                                        \
            info = failed((d), #name, error_);                                                               \
            goto done;                                                                                       \
        }                                                                                                    \
    } while (0)

/* ---- the driver's context; the lock is held between enter and leave */

static GrB_Info begin(ftb_gpu_device *d)
{
    GrB_Info info = GrB_SUCCESS;
    if (!d->stream)
        CALL(d, cuStreamCreate, &d->stream, NON_BLOCKING);
    for (int n = 0; n < FTB_GPU_STAGES; n++) {
        if (!d->stage[n].host)
            CALL(d, cuMemHostAlloc, &d->stage[n].host, (size_t)FTB_GPU_STAGE, 0);
        if (!d->stage[n].done)
            CALL(d, cuEventCreate, &d->stage[n].done, NO_TIMING);
    }
    d->begun = true;
done:
    return info;
}

static GrB_Info enter(ftb_gpu_device *d)
{
    GrB_Info info = GrB_SUCCESS;
    if (ftb_forked())
        return ftb_fail(FTB_NO_DEVICE, "%s: a forked process cannot use its parent's GPU", d->gpu->label);
    pthread_mutex_lock(&d->lock);
    if (d->lost)
        info = lost(d);
    if (info == GrB_SUCCESS && !d->context)
        CALL(d, cuDevicePrimaryCtxRetain, &d->context, d->gpu->handle);
    if (info == GrB_SUCCESS)
        CALL(d, cuCtxPushCurrent_v2, d->context);
    if (info == GrB_SUCCESS && !d->begun) {
        info = begin(d);
        if (info != GrB_SUCCESS)
            d->driver->call.cuCtxPopCurrent_v2(&(struct CUctx_st *){NULL});
    }
done:
    if (info != GrB_SUCCESS)
        pthread_mutex_unlock(&d->lock);
    return info;
}

static GrB_Info leave(ftb_gpu_device *d, GrB_Info info)
{
    struct CUctx_st *context = NULL;
    d->driver->call.cuCtxPopCurrent_v2(&context);
    pthread_mutex_unlock(&d->lock);
    return info;
}

/* ---- pieces */

/* Sizes are eight to each power of two; *class is theirs. */
static size_t round_up(int64_t bytes, int *class)
{
    int64_t step = LEAST;
    int power = 0;
    while (step * 16 <= bytes) {
        step *= 2;
        power++;
    }
    const int64_t steps = ftb_max(1, (bytes + step - 1) / step); /* at most 16 */
    *class = power * 16 + (int)steps;
    return (size_t)(steps * step);
}

static GrB_Info trim(ftb_gpu_device *d)
{
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < FTB_GPU_CLASSES; n++)
        while (d->spare[n]) {
            struct ftb_gpu_spare *gone = d->spare[n];
            CALL(d, cuMemFree_v2, gone->device);
            d->spare[n] = gone->next;
            ftb_raw_delete(gone);
        }
done:
    return info;
}

GrB_Info ftb_gpu_trim(const ftb_backend *b)
{
    ftb_gpu_device *d = device_of(b);
    GrB_Info info = enter(d);
    return info == GrB_SUCCESS ? leave(d, trim(d)) : info;
}

static GrB_Info take(ftb_gpu_device *d, unsigned long long *device, int64_t bytes)
{
    int class;
    const size_t room = round_up(bytes, &class);
    struct ftb_gpu_spare *s = d->spare[class];
    GrB_Info info = GrB_SUCCESS;
    if (s) {
        *device = s->device;
        d->spare[class] = s->next;
        ftb_raw_delete(s);
        return GrB_SUCCESS;
    }
    const unsigned error = d->driver->call.cuMemAlloc_v2(device, room);
    if (!error)
        return GrB_SUCCESS;
    if (error == OUT_OF_MEMORY) {
        FTB_CHECK(trim(d));
        if (d->driver->call.cuMemAlloc_v2(device, room) == 0)
            return GrB_SUCCESS;
    }
    info = failed(d, "cuMemAlloc_v2", error);
    if (error == OUT_OF_MEMORY)
        info = ftb_wrap_error(info, "%lld bytes: ", (long long)bytes);
done:
    return info;
}

static GrB_Info alloc(const ftb_backend *b, FtB_Context ctx, void **device, int64_t bytes)
{
    ftb_gpu_device *d = device_of(b);
    unsigned long long at = 0;
    (void)ctx;
    GrB_Info info = enter(d);
    if (info == GrB_SUCCESS)
        info = leave(d, take(d, &at, bytes));
    if (info == GrB_SUCCESS)
        *device = (void *)(uintptr_t)at;
    return info;
}

/* Of a lost GPU nothing is freed: the driver has done so. */
static void release(const ftb_backend *b, void *device, int64_t bytes)
{
    ftb_gpu_device *d = device_of(b);
    int class;
    round_up(bytes, &class);
    struct ftb_gpu_spare *s = ftb_raw_new(sizeof *s);
    if (s) {
        pthread_mutex_lock(&d->lock);
        *s = (struct ftb_gpu_spare){d->spare[class], (unsigned long long)(uintptr_t)device};
        d->spare[class] = s;
        pthread_mutex_unlock(&d->lock);
    } else if (enter(d) == GrB_SUCCESS) {
        d->driver->call.cuMemFree_v2((unsigned long long)(uintptr_t)device);
        leave(d, GrB_SUCCESS);
    }
}

static int64_t size(const ftb_backend *b) { return device_of(b)->gpu->memory; }

/* ---- copies */

static GrB_Info send(ftb_gpu_device *d, unsigned long long to, const char *from, int64_t bytes)
{
    GrB_Info info = GrB_SUCCESS;
    for (int64_t done = 0; done < bytes; done += FTB_GPU_STAGE) {
        const int n = d->next++ % FTB_GPU_STAGES;
        const size_t part = (size_t)ftb_min(FTB_GPU_STAGE, bytes - done);
        CALL(d, cuEventSynchronize, d->stage[n].done);
        memcpy(d->stage[n].host, from + done, part);
        CALL(d, cuMemcpyHtoDAsync_v2, to + (unsigned long long)done, d->stage[n].host, part, d->stream);
        CALL(d, cuEventRecord, d->stage[n].done, d->stream);
    }
done:
    return info;
}

/* What is still to be sent from a stage goes before what is fetched into it: the stream has an order. */
static GrB_Info fetch(ftb_gpu_device *d, char *to, unsigned long long from, int64_t bytes)
{
    GrB_Info info = GrB_SUCCESS;
    for (int64_t asked = 0; asked - FTB_GPU_STAGE < bytes; asked += FTB_GPU_STAGE) {
        const int n = d->next++ % FTB_GPU_STAGES, before = (n + 1) % FTB_GPU_STAGES;
        const int64_t ready = asked - FTB_GPU_STAGE;
        if (asked < bytes) {
            CALL(d, cuMemcpyDtoHAsync_v2, d->stage[n].host, from + (unsigned long long)asked,
                 (size_t)ftb_min(FTB_GPU_STAGE, bytes - asked), d->stream);
            CALL(d, cuEventRecord, d->stage[n].done, d->stream);
        }
        if (ready >= 0) {
            CALL(d, cuEventSynchronize, d->stage[before].done);
            memcpy(to + ready, d->stage[before].host, (size_t)ftb_min(FTB_GPU_STAGE, bytes - ready));
        }
    }
done:
    return info;
}

static GrB_Info put(const ftb_backend *b, FtB_Context ctx, void *device, const void *host, int64_t bytes)
{
    ftb_gpu_device *d = device_of(b);
    (void)ctx;
    GrB_Info info = enter(d);
    return info == GrB_SUCCESS ? leave(d, send(d, (unsigned long long)(uintptr_t)device, host, bytes)) : info;
}

static GrB_Info get(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes)
{
    ftb_gpu_device *d = device_of(b);
    (void)ctx;
    GrB_Info info = enter(d);
    return info == GrB_SUCCESS ? leave(d, fetch(d, host, (unsigned long long)(uintptr_t)device, bytes))
                               : info;
}

static GrB_Info finish(const ftb_backend *b, FtB_Context ctx)
{
    ftb_gpu_device *d = device_of(b);
    GrB_Info info = enter(d);
    (void)ctx;
    if (info != GrB_SUCCESS)
        return info;
    CALL(d, cuStreamSynchronize, d->stream);
done:
    return leave(d, info);
}

const ftb_memory ftb_gpu_memory = {
    .size = size, .alloc = alloc, .free = release, .put = put, .get = get, .wait = finish};
