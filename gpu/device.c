/* The rows of GPUs (device.h), made when somebody first asks for one. */
#include "gpu/device.h"

#include "gpu/gpu_verbs.h"

/* What is not here is done on the host. */
static const ftb_verb_limits limits = {.spmm = ftb_gpu_spmm_fits,
                                       .softmax = ftb_gpu_softmax_fits,
                                       .sddmm = ftb_gpu_sddmm_fits,
                                       .attention = ftb_gpu_attention_fits};
static const ftb_verbs verbs = {.spmm = ftb_gpu_spmm,
                                .softmax = ftb_gpu_softmax,
                                .sddmm = ftb_gpu_sddmm,
                                .attention = ftb_gpu_attention,
                                .limits = &limits};
static ftb_gpu_device devices[FTB_GPUS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Reads both ways a clock. Of what the driver does not tell, a small GPU's. */
static ftb_gpu_facts facts_of(const ftb_gpu *g)
{
    const double least_rate = 200e9, least_clock = 1e9;
    const double rate = 1e3 * g->memory_clock * 2 * g->memory_width / 8, clock = 1e3 * g->clock;
    return (ftb_gpu_facts){.multiprocessors = ftb_max(1, g->multiprocessors),
                           .l2 = g->l2,
                           .memory = g->memory,
                           .clock = clock > 0 ? clock : least_clock,
                           .memory_rate = rate > 0 ? rate : least_rate};
}

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
        d->facts = facts_of(d->gpu);
        pthread_mutex_init(&d->lock, NULL);
    }
}

const ftb_backend *ftb_gpu_backend(const ftb_gpu *gpu)
{
    pthread_once(&once, make_rows);
    return &devices[gpu - ftb_driver_here()->gpu].row;
}
