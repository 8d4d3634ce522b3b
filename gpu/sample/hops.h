/* Neighbourhoods on a GPU, all hops (hops.c), by either way: hop by hop, or through a queue (hops_queue.c).
 */
#ifndef FTB_GPU_HOPS_H
#define FTB_GPU_HOPS_H

#include "gpu/sample/device_picks.h"
#include "plan/gpu_sample_plan.h"
#include "verbs/hops_product.h"

typedef struct ftb_gpu_hops_run {
    ftb_hops_product *product;
    ftb_gpu_rooms rooms;
    ftb_gpu_sample_plan plan;
    const long long *rowptr; /* of p, there */
    const int *colidx;
    const void *key, *values;
    const unsigned long long *slots;
    long long *to[FTB_HOPS_MOST]; /* where layers' rows begin, there: the layers' own */
    int *columns[FTB_HOPS_MOST];
    long long *entries[FTB_HOPS_MOST]; /* NULL: not wanted */
} ftb_gpu_hops_run;

/* Row pointers, and then columns and entries, of layer h, whose number of rows, and of picks, is known. */
GrB_Info ftb_gpu_hops_rows(ftb_gpu_hops_run *run, int h);
GrB_Info ftb_gpu_hops_picks(ftb_gpu_hops_run *run, int h);
/* Layer h is there: values for it, and what the host wants of it. */
GrB_Info ftb_gpu_hops_layer(ftb_gpu_hops_run *run, int h);
/* The host gets the list of vertices. */
GrB_Info ftb_gpu_hops_vertices(ftb_gpu_hops_run *run, ftb_gpu_vertices vertices, int64_t count);

/* All hops in one kernel. FTB_NO_DEVICE: it did not come to an end, for want of room. */
GrB_Info ftb_gpu_hops_queue(ftb_gpu_hops_run *run);
bool ftb_gpu_hops_queue_fits(const ftb_hops_product *product);

#endif
