/* The rows of GPUs (device.h), made when somebody first asks for one. */
#include "gpu/device.h"

#include "gpu/gpu_verbs.h"

/* What is not here is done on the host. */
static const ftb_verb_limits limits = {.spmm = ftb_gpu_spmm_fits};
static const ftb_verbs verbs = {.spmm = ftb_gpu_spmm, .limits = &limits};
static ftb_gpu_device devices[FTB_GPUS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_rows(void)
{
    const ftb_driver *driver = ftb_driver_here();
    for (int n = 0; n < driver->count; n++) {
        ftb_gpu_device *d = &devices[n];
        d->row = (ftb_backend){.name = driver->gpu[n].label,
                               .about = driver->gpu[n].about,
                               .memory = &ftb_gpu_memory,
                               .verbs = &verbs};
        d->driver = driver;
        d->gpu = &driver->gpu[n];
        pthread_mutex_init(&d->lock, NULL);
    }
}

const ftb_backend *ftb_gpu_backend(const ftb_gpu *gpu)
{
    pthread_once(&once, make_rows);
    return &devices[gpu - ftb_driver_here()->gpu].row;
}
