/* Lists on a GPU as the verbs of sampling use them: room that is given back together, running sums, numbers
 * in their order. */
#ifndef FTB_GPU_DEVICE_LISTS_H
#define FTB_GPU_DEVICE_LISTS_H

#include "gpu/kernels/sample_steps.h"
#include "gpu/launch.h"
#include "gpu/memory.h"

#define FTB_GPU_SAMPLE_PICKS "gpu/kernels/sample_picks.cu"
#define FTB_GPU_SAMPLE_KEYS "gpu/kernels/sample_keys.cu"
#define FTB_GPU_SAMPLE_WEIGHTED "gpu/kernels/sample_weighted.cu"
#define FTB_GPU_SAMPLE_ORDER "gpu/kernels/sample_order.cu"
#define FTB_GPU_SAMPLE_NUMBERS "gpu/kernels/sample_numbers.cu"
#define FTB_GPU_SAMPLE_QUEUE "gpu/kernels/sample_queue.cu"

/* Whether sources of kernels, which end with NULL, are all there. */
bool ftb_gpu_load_all(ftb_gpu_device *d, const char *const *sources);
/* Room for `bytes` bytes, for a list that may be empty; *at is set on success. */
GrB_Info ftb_gpu_list(ftb_gpu_rooms *rooms, void *at, int64_t bytes);
/* The same with what the host has. */
GrB_Info ftb_gpu_list_of(ftb_gpu_rooms *rooms, void *at, const void *host, int64_t bytes);
GrB_Info ftb_gpu_lists_get(const ftb_gpu_rooms *rooms, void *host, const void *at, int64_t bytes);
/* Words of 64 bits that are all ones, or 0. */
GrB_Info ftb_gpu_ones(const ftb_gpu_rooms *rooms, void *at, int64_t count);
GrB_Info ftb_gpu_zeros(const ftb_gpu_rooms *rooms, void *at, int64_t count);

/* Runs a kernel with a thread for each of `threads`, in blocks of FTB_SAMPLE_BLOCK. */
GrB_Info ftb_gpu_step(const ftb_gpu_rooms *rooms, const char *source, const char *kernel, int64_t threads,
                      void **parameters);

/* x[0 .. n - 1] become the sums of those before them, x[n] of all. */
GrB_Info ftb_gpu_list_sums(ftb_gpu_rooms *rooms, long long *x, int64_t n);

/* Numbers with a word each: those of `keys` come into their order, by the bits [0, low) and then [32, 32 +
 * high), by which it may be that the arrays change places with room of their own. */
typedef struct ftb_gpu_order {
    unsigned long long *keys;
    unsigned *with;
    int64_t n;
} ftb_gpu_order;
GrB_Info ftb_gpu_order_by(ftb_gpu_rooms *rooms, ftb_gpu_order *order, int low, int high);

static inline int ftb_gpu_bits(int64_t below)
{
    int bits = 0;
    while (bits < 62 && INT64_C(1) << bits < below)
        bits++;
    return bits;
}

#endif
