/* What a loader makes batches of, and a batch. */
#ifndef FTB_BATCH_H
#define FTB_BATCH_H

#include "core/core.h"

#define FTB_MAGIC_BATCH 0x46544262

struct FtB_Batch_opaque {
    uint32_t magic;
    int64_t nseeds;
    bool clusters; /* hops from 1 on are the same */
    FtB_Sample sample;
    FtB_Block features, targets;
    FtB_Matrix sparse;
    int32_t *labels;
    const struct ftb_backend
        *where; /* that made it beside other work, which is done at `stamp`; NULL: none */
    uint64_t stamp;
};

struct ftb_feature_rows; /* feature_rows.h */

/* It does not change once it is made, but for `rows`, which has a lock: threads read it. */
typedef struct ftb_batches {
    FtB_Context ctx;
    FtB_Matrix A, sparse; /* handles of our own, as all objects here */
    FtB_Block features, targets;
    FtB_Loader_options options; /* defaults filled in */
    FtB_Sample_options sampler; /* seed filled in */
    int nhops;
    int64_t nseeds, count; /* count: batches of an epoch */
    int64_t *seeds;
    int32_t *labels;               /* of the seeds; NULL: none */
    int32_t *place;                /* of clusters: each vertex's number in seeds; -1: it is none */
    struct ftb_feature_rows *rows; /* how features are gathered; NULL: there are none */
} ftb_batches;

/* Makes batch `at`, counted over all epochs. Its objects are of the engaged context, which is of->ctx. */
GrB_Info ftb_batch_make(FtB_Batch *b, const ftb_batches *of, int64_t at);
void ftb_batch_free(FtB_Batch *b); /* NULL is allowed */

/* Place t of an order of 0 .. n - 1: a permutation for each key. */
int64_t ftb_shuffled(uint64_t key, int64_t n, int64_t t);

#endif
