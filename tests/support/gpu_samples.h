/* Sampling on a GPU that does not exist, beside the host's: graphs, picks by the verb, and samples that are
 * to be the same. */
#ifndef TESTS_GPU_SAMPLES_H
#define TESTS_GPU_SAMPLES_H

#include "support/rng.h"
#include "verbs/sample_product.h"

/* A square graph with weights: rows that are empty, short, and two of `hub`. */
FtB_Matrix gpu_sample_graph(rng *r, int64_t n, int64_t hub, FtB_Type type);

typedef struct gpu_sample_picks {
    int64_t *rowptr, *entries;
    int32_t *columns;
} gpu_sample_picks;
/* By the GPU's function, or by the host's; of A's values, or through their tables, unless NULL. */
gpu_sample_picks gpu_sample_pick(ftb_sample_product p, FtB_Matrix A, ftb_buffer *tables, bool there);
void gpu_sample_free(gpu_sample_picks *picks);
/* Trees, for p->nrows rows, with draws of their own, and sometimes batches; to be freed. */
typedef struct gpu_sample_trees {
    int32_t *trees;
    uint64_t *seeds, *streams;
} gpu_sample_trees;
gpu_sample_trees gpu_sample_plant(rng *r, ftb_sample_product *p);
void gpu_sample_fell(gpu_sample_trees *trees);
void gpu_sample_same_picks(const gpu_sample_picks *host, const gpu_sample_picks *gpu, int64_t nrows,
                           const char *what);

void gpu_sample_same(FtB_Sample host, FtB_Sample gpu, int nhops, const char *what);
void gpu_sample_same_induced(FtB_Sample host, FtB_Sample gpu);

#endif
