/* Loads kernels and runs them (launch.h). */
#include "gpu/launch.h"

#include "gpu/compile.h"
#include "gpu/images.h"
#include "gpu/memory.h"
#include "gpu/record.h"
#include "gpu/spmm_form.h"

#include <limits.h>
#include <stdio.h>

#define MOST_DYNAMIC_SHARED 8 /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */

struct ftb_gpu_module {
    struct ftb_gpu_module *next;
    char *source;
    struct CUmod_st *module; /* NULL: */
    char why[512];           /* there is none */
};

/* The lock is held. */
static struct ftb_gpu_module *known(const ftb_gpu_device *d, const char *source)
{
    struct ftb_gpu_module *m = d->modules;
    while (m && strcmp(m->source, source) != 0)
        m = m->next;
    return m;
}

/* *later: it failed for want of memory, and may be tried again. */
static GrB_Info load_image(struct CUmod_st **module, bool *later, ftb_gpu_device *d, const void *image)
{
    unsigned error = d->driver->call.cuModuleLoadData(module, image);
    if (error == FTB_CUDA_OUT_OF_MEMORY && ftb_gpu_make_room(d))
        error = d->driver->call.cuModuleLoadData(module, image);
    *later = error == FTB_CUDA_OUT_OF_MEMORY;
    return error ? ftb_gpu_failed(d, "cuModuleLoadData", error) : GrB_SUCCESS;
}

/* What the library has with it, if the driver takes that; else what NVRTC compiles. */
static GrB_Info load(struct CUmod_st **module, bool *later, ftb_gpu_device *d, const char *source)
{
    const ftb_gpu_image *with = ftb_gpu_image_for(source, d->gpu);
    void *image = NULL;
    GrB_Info info = FTB_NO_DEVICE;
    *later = false;
    if (with) {
        info = ftb_gpu_image_unpack(&image, with);
        if (info == GrB_SUCCESS)
            info = load_image(module, later, d, image);
        ftb_raw_delete(image);
    }
    const bool settled = info == GrB_SUCCESS || info == GrB_OUT_OF_MEMORY || *later || d->lost;
    if (!settled && (!with || ftb_gpu_compiles(d->gpu))) {
        info = ftb_gpu_compile(&image, source, d->gpu);
        if (info == GrB_SUCCESS) {
            info = load_image(module, later, d, image);
            ftb_raw_delete(image);
        }
    }
    *later = *later || info == GrB_OUT_OF_MEMORY;
    return info;
}

/* The lock is held, and the driver's context is the thread's. One that could not be made is not tried again,
 * but for want of memory (*later). */
static GrB_Info find(const struct ftb_gpu_module **found, bool *later, ftb_gpu_device *d, const char *source)
{
    struct ftb_gpu_module *m = known(d, source);
    *found = m;
    *later = false;
    if (m)
        return m->module ? GrB_SUCCESS : ftb_fail(FTB_NO_DEVICE, "%s", m->why);
    GrB_Info info = ftb_gpu_unrecorded(d, "a kernel that is to be loaded");
    if (info != GrB_SUCCESS)
        return info;
    m = ftb_raw_new(sizeof *m);
    if (!m)
        return ftb_nomem();
    *m = (struct ftb_gpu_module){.next = d->modules, .source = ftb_raw_new(strlen(source) + 1)};
    if (!m->source) {
        ftb_raw_delete(m);
        return ftb_nomem();
    }
    memcpy(m->source, source, strlen(source) + 1);
    info = load(&m->module, later, d, source);
    if (*later) {
        ftb_raw_delete(m->source);
        ftb_raw_delete(m);
        return info;
    }
    snprintf(m->why, sizeof m->why, "%s", info == GrB_SUCCESS ? "" : FtB_error());
    d->modules = m;
    *found = m;
    return info;
}

/* Asked for every product: what is loaded is known without the driver. */
GrB_Info ftb_gpu_load(ftb_gpu_device *d, const char *source)
{
    if (ftb_forked()) /* the parent's lock may be held for good; what is said then is said there */
        return ftb_gpu_enter(d);
    pthread_mutex_lock(&d->lock);
    const struct ftb_gpu_module *m = known(d, source);
    const bool loaded = m && m->module && !d->lost;
    pthread_mutex_unlock(&d->lock);
    if (loaded)
        return GrB_SUCCESS;
    for (bool later = false;;) {
        GrB_Info info = ftb_gpu_enter(d);
        if (info == GrB_SUCCESS)
            info = ftb_gpu_leave(d, find(&m, &later, d, source));
        if (info != FTB_NO_DEVICE || !later || !(ftb_gpu_forms_drop(d) || ftb_device_give_way(&d->row)))
            return info;
    }
}

GrB_Info ftb_gpu_half_done(GrB_Info info, bool read)
{
    return info != GrB_SUCCESS && read ? ftb_wrap_error(GrB_PANIC, "half of a product was done: ") : info;
}

GrB_Info ftb_gpu_launch(ftb_gpu_device *d, FtB_Context ctx, const char *source, const char *kernel,
                        ftb_gpu_grid grid, void **parameters)
{
    const struct ftb_gpu_module *m;
    struct CUfunc_st *function = NULL;
    bool later;
    if (grid.x <= 0 || grid.y <= 0)
        return GrB_SUCCESS;
    if (grid.x > INT_MAX || grid.y > FTB_GPU_MOST_Y)
        return ftb_fail(FTB_NO_DEVICE, "%s: %lld x %lld blocks of %s are more than a launch has",
                        d->gpu->label, (long long)grid.x, (long long)grid.y, kernel);
    GrB_Info info = ftb_gpu_load(d, source);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_enter_for(d, ctx);
    if (info != GrB_SUCCESS)
        return info;
    info = find(&m, &later, d, source);
    if (info == GrB_SUCCESS) {
        FTB_GPU_CALL_IN_ROOM(d, cuModuleGetFunction, &function, m->module, kernel);
        if (grid.shared > FTB_GPU_SHARED)
            FTB_GPU_CALL(d, cuFuncSetAttribute, function, MOST_DYNAMIC_SHARED, (int)grid.shared);
        FTB_GPU_CALL_IN_ROOM(d, cuLaunchKernel, function, (unsigned)grid.x, (unsigned)grid.y, 1, grid.threads,
                             1, 1, grid.shared, ftb_gpu_stream(d), parameters, NULL);
    }
done:
    return ftb_gpu_leave(d, info);
}
