/* The driver's context of a GPU, what is begun there, and what the driver's errors become (context.h). */
#include "gpu/context.h"

#define NON_BLOCKING 1 /* CU_STREAM_NON_BLOCKING */
#define NO_TIMING 2    /* CU_EVENT_DISABLE_TIMING */

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
        226, /* CONTAINED */
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
        721, /* TENSOR_MEMORY_LEAK */
        810, /* MPS_CLIENT_TERMINATED */
        911, /* EXTERNAL_DEVICE */
    };
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        if (all[n] == error)
            return true;
    return false;
}

GrB_Info ftb_gpu_failed(ftb_gpu_device *d, const char *call, unsigned error)
{
    const char *name = NULL;
    if (sticks(error)) {
        d->lost = error;
        return lost(d);
    }
    if (d->driver->call.cuGetErrorName(error, &name) != 0 || !name)
        return ftb_fail(FTB_NO_DEVICE, "%s: %s fails with error %u", d->gpu->label, call, error);
    return ftb_fail(FTB_NO_DEVICE, "%s: %s fails with %s", d->gpu->label, call, name);
}

/* ---- the driver's context */

GrB_Info ftb_gpu_lane_begin(ftb_gpu_device *d, ftb_gpu_lane *lane)
{
    GrB_Info info = GrB_SUCCESS;
    if (!lane->last)
        FTB_GPU_CALL(d, cuEventCreate, &lane->last, NO_TIMING);
    for (int n = 0; n < FTB_GPU_MARKS; n++)
        if (!lane->mark[n])
            FTB_GPU_CALL(d, cuEventCreate, &lane->mark[n], NO_TIMING);
    for (int n = 0; n < FTB_GPU_STAGES; n++) {
        if (!lane->stage[n].host)
            FTB_GPU_CALL(d, cuMemHostAlloc, &lane->stage[n].host, (size_t)FTB_GPU_STAGE, 0);
        if (!lane->stage[n].done)
            FTB_GPU_CALL(d, cuEventCreate, &lane->stage[n].done, NO_TIMING);
    }
done:
    return info;
}

static GrB_Info begin(ftb_gpu_device *d)
{
    GrB_Info info = GrB_SUCCESS;
    if (!d->own)
        FTB_GPU_CALL(d, cuStreamCreate, &d->own, NON_BLOCKING);
    if (!d->aside)
        FTB_GPU_CALL(d, cuStreamCreate, &d->aside, NON_BLOCKING);
    if (!d->handed)
        FTB_GPU_CALL(d, cuEventCreate, &d->handed, NO_TIMING);
    d->turn = d->own;
    info = ftb_gpu_lane_begin(d, &d->lane[0]);
    d->begun = info == GrB_SUCCESS;
done:
    return info;
}

GrB_Info ftb_gpu_enter(ftb_gpu_device *d)
{
    GrB_Info info = GrB_SUCCESS;
    if (ftb_forked())
        return ftb_fail(FTB_NO_DEVICE, "%s: a forked process cannot use its parent's GPU", d->gpu->label);
    pthread_mutex_lock(&d->lock);
    if (d->lost)
        info = lost(d);
    if (info == GrB_SUCCESS && !d->context)
        FTB_GPU_CALL(d, cuDevicePrimaryCtxRetain, &d->context, d->gpu->handle);
    if (info == GrB_SUCCESS)
        FTB_GPU_CALL(d, cuCtxPushCurrent_v2, d->context);
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

GrB_Info ftb_gpu_leave(ftb_gpu_device *d, GrB_Info info)
{
    struct CUctx_st *context = NULL;
    d->driver->call.cuCtxPopCurrent_v2(&context);
    pthread_mutex_unlock(&d->lock);
    return info;
}

/* ---- for plans; 0: not known */

static int64_t no_more(int64_t described, int64_t real)
{
    return described > 0 && real > 0 ? ftb_min(described, real) : ftb_max(described, real);
}

ftb_gpu_facts ftb_gpu_planned(const ftb_gpu_device *d)
{
    const ftb_gpu_facts *described = &ftb_machine_here()->gpu;
    ftb_gpu_facts gpu = described->multiprocessors ? *described : d->facts;
    gpu.shared = no_more(gpu.shared, d->facts.shared);
    gpu.memory = no_more(gpu.memory, d->facts.memory);
    return gpu;
}

/* FNV-1a. */
int64_t ftb_gpu_number(const ftb_gpu *gpu, const ftb_gpu_facts *facts)
{
    const int64_t of[] = {
        facts->multiprocessors,      facts->l2,  facts->memory, facts->shared, (int64_t)facts->clock,
        (int64_t)facts->memory_rate, gpu->major, gpu->minor};
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *at = gpu->name; *at; at++)
        h = (h ^ (unsigned char)*at) * prime;
    for (size_t n = 0; n < sizeof of / sizeof *of; n++)
        for (int byte = 0; byte < 8; byte++)
            h = (h ^ (uint64_t)(of[n] >> (8 * byte) & 255)) * prime;
    return (int64_t)(h >> 1);
}
