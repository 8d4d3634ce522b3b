/* Host memory registered with the driver (mapped.h): its pages are locked and stay where they are, so that
 * kernels read them by address. That takes long, and is refused where some of them are registered already, so
 * that a piece is registered once, whoever asks. */
#include "gpu/sample/mapped.h"

#define DEVICE_MAP 2 /* CU_MEMHOSTREGISTER_DEVICEMAP */

struct ftb_gpu_mapping {
    struct ftb_gpu_mapping *next;
    const void *host;
    int64_t bytes;
    unsigned long long device;
    int users;
};

static struct ftb_gpu_mapping **find(ftb_gpu_device *d, const void *host)
{
    struct ftb_gpu_mapping **at = &d->mappings;
    while (*at && (*at)->host != host)
        at = &(*at)->next;
    return at;
}

/* The lock is held. */
static GrB_Info make(ftb_gpu_device *d, struct ftb_gpu_mapping *made)
{
    void *const host = (void *)(uintptr_t)made->host;
    bool registered = false;
    GrB_Info info = GrB_SUCCESS;
    FTB_GPU_CALL(d, cuMemHostRegister_v2, host, (size_t)made->bytes, DEVICE_MAP);
    registered = true;
    FTB_GPU_CALL(d, cuMemHostGetDevicePointer_v2, &made->device, host, 0);
done:
    if (info != GrB_SUCCESS && registered && !d->lost)
        d->driver->call.cuMemHostUnregister(host);
    return info;
}

GrB_Info ftb_gpu_map(ftb_gpu_device *d, const void *host, int64_t bytes, unsigned long long *device)
{
    GrB_Info info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    struct ftb_gpu_mapping *m = *find(d, host);
    if (!m) {
        m = ftb_raw_new(sizeof *m);
        if (!m)
            return ftb_gpu_leave(d, ftb_nomem());
        *m = (struct ftb_gpu_mapping){.next = d->mappings, .host = host, .bytes = bytes};
        info = make(d, m);
        if (info == GrB_SUCCESS)
            d->mappings = m;
        else
            ftb_raw_delete(m);
    } else if (m->bytes < bytes) {
        info = ftb_fail(FTB_NO_DEVICE, "%s: some of %p is mapped already", d->gpu->label, host);
    }
    if (info == GrB_SUCCESS) {
        m->users++;
        *device = m->device;
    }
    return ftb_gpu_leave(d, info);
}

void ftb_gpu_unmap(ftb_gpu_device *d, const void *host)
{
    if (ftb_forked()) /* it is the parent's */
        return;
    const bool entered = ftb_gpu_enter(d) == GrB_SUCCESS; /* of a lost GPU the driver has let go */
    if (!entered)
        pthread_mutex_lock(&d->lock);
    struct ftb_gpu_mapping **const at = find(d, host), *const m = *at;
    if (--m->users == 0) {
        *at = m->next;
        ftb_raw_delete(m);
        if (entered) {
            (void)ftb_gpu_wait_for_all(d);
            d->driver->call.cuMemHostUnregister((void *)(uintptr_t)host);
        }
    }
    if (entered)
        ftb_gpu_leave(d, GrB_SUCCESS);
    else
        pthread_mutex_unlock(&d->lock);
}
