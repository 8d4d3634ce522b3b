/* The rows of GPUs (device.h), made when somebody first asks for one. */
#include "gpu/device.h"

#include "gpu/compile.h"
#include "gpu/gpu_verbs.h"
#include "gpu/images.h"
#include "gpu/sample/row_keeper.h"

/* What is not here is done on the host. */
static const ftb_verb_limits limits = {.spmm = ftb_gpu_spmm_fits,
                                       .spgemm = ftb_gpu_spgemm_fits,
                                       .softmax = ftb_gpu_softmax_fits,
                                       .sddmm = ftb_gpu_sddmm_fits,
                                       .sddmm_grad = ftb_gpu_sddmm_grad_fits,
                                       .attention = ftb_gpu_attention_fits,
                                       .attention_grad = ftb_gpu_attention_grad_fits,
                                       .aggregate = ftb_gpu_aggregate_fits,
                                       .messages = ftb_gpu_messages_fits,
                                       .map_rows = ftb_gpu_map_rows_fits,
                                       .batch_norm = ftb_gpu_batch_norm_fits,
                                       .batch_norm_grad = ftb_gpu_batch_norm_fits,
                                       .loss = ftb_gpu_loss_fits,
                                       .loss_grad = ftb_gpu_loss_fits,
                                       .winners = ftb_gpu_winners_fits,
                                       .winners_grad = ftb_gpu_winners_fits,
                                       .outer = ftb_gpu_outer_fits,
                                       .reduce = ftb_gpu_reduce_fits,
                                       .apply = ftb_gpu_apply_fits,
                                       .scatter = ftb_gpu_scatter_fits,
                                       .spmm_plan = ftb_gpu_spmm_plan_of,
                                       .sddmm_plan = ftb_gpu_sddmm_plan_of,
                                       .spgemm_plan = ftb_gpu_spgemm_plan_of,
                                       .sample = ftb_gpu_sample_fits,
                                       .relabel = ftb_gpu_relabel_fits,
                                       .vertex_renew = ftb_gpu_vertex_renew_fits,
                                       .hops_fit = ftb_gpu_hops_fit,
                                       .hops = ftb_gpu_hops,
                                       .keeper = &ftb_gpu_row_keeper};
static const ftb_verbs verbs = {.spmm = ftb_gpu_spmm,
                                .spgemm = ftb_gpu_spgemm,
                                .softmax = ftb_gpu_softmax,
                                .sddmm = ftb_gpu_sddmm,
                                .sddmm_grad = ftb_gpu_sddmm_grad,
                                .attention = ftb_gpu_attention,
                                .attention_grad = ftb_gpu_attention_grad,
                                .aggregate = ftb_gpu_aggregate,
                                .messages = ftb_gpu_messages,
                                .map_rows = ftb_gpu_map_rows,
                                .layer_norm = ftb_gpu_layer_norm,
                                .layer_norm_grad = ftb_gpu_layer_norm_grad,
                                .batch_norm = ftb_gpu_batch_norm,
                                .batch_norm_grad = ftb_gpu_batch_norm_grad,
                                .dense = ftb_gpu_dense,
                                .loss = ftb_gpu_loss,
                                .loss_grad = ftb_gpu_loss_grad,
                                .gather = ftb_gpu_gather,
                                .scatter = ftb_gpu_scatter,
                                .winners = ftb_gpu_winners,
                                .winners_grad = ftb_gpu_winners_grad,
                                .outer = ftb_gpu_outer,
                                .reduce = ftb_gpu_reduce,
                                .apply = ftb_gpu_apply,
                                .copy = ftb_gpu_copy,
                                .dropout = ftb_gpu_dropout,
                                .head_dots = ftb_gpu_head_dots,
                                .head_dots_grad = ftb_gpu_head_dots_grad,
                                .mean_heads = ftb_gpu_mean_heads,
                                .mean_heads_grad = ftb_gpu_mean_heads_grad,
                                .update = ftb_gpu_update,
                                .sum_squares = ftb_gpu_sum_squares,
                                .sample = ftb_gpu_sample,
                                .relabel = ftb_gpu_relabel,
                                .vertex_renew = ftb_gpu_vertex_renew,
                                .vertex_flags = ftb_gpu_vertex_flags,
                                .vertex_sums = ftb_gpu_vertex_sums,
                                .limits = &limits};
/* Of GPUs that nothing can be compiled for, and where nothing came with the library: nothing moves there in
 * vain. */
static const ftb_verbs none = {.limits = NULL};
static ftb_verbs without_texts; /* what the kernels that came with the library do, where no NVRTC is */
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
                           .shared = g->shared,
                           .clock = clock > 0 ? clock : least_clock,
                           .memory_rate = rate > 0 ? rate : least_rate};
}

static const ftb_verbs *verbs_of(const ftb_gpu *g)
{
    char text[32];
    if (ftb_gpu_compiles(g))
        return &verbs;
    return ftb_gpu_images_about(text, g) ? &without_texts : &none;
}

static void make_rows(void)
{
    without_texts = verbs;
    without_texts.aggregate = NULL;
    without_texts.messages = NULL;
    without_texts.map_rows = NULL;
    without_texts.apply = NULL;
    const ftb_driver *driver = ftb_driver_here();
    for (int n = 0; n < driver->count; n++) {
        ftb_gpu_device *d = &devices[n];
        d->row = (ftb_backend){.name = driver->gpu[n].label,
                               .about = driver->gpu[n].about,
                               .memory = &ftb_gpu_memory,
                               .verbs = verbs_of(&driver->gpu[n])};
        d->driver = driver;
        d->gpu = &driver->gpu[n];
        d->facts = facts_of(d->gpu);
        pthread_mutex_init(&d->lock, NULL);
        for (int lane = 0; lane < FTB_GPU_LANES; lane++)
            pthread_mutex_init(&d->lane[lane].copying, NULL);
    }
}

const ftb_backend *ftb_gpu_backend(const ftb_gpu *gpu)
{
    pthread_once(&once, make_rows);
    return &devices[gpu - ftb_driver_here()->gpu].row;
}
