/* A batch: some seeds in the epoch's order, what is sampled of them, or clusters and the seeds in them;
 * features and labels gathered.
 *
 * The order is never stored: place t of an epoch holds seed p(t), p being a permutation that a Feistel
 * network computes, whose round function is Philox. It permutes 2^(2h) numbers, at most 4 n; those from n on
 * are walked past. Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002. */
#include "sample/batch.h"

#include "core/draws.h"
#include "sample/cluster_batches.h"
#include "sample/feature_rows.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_gather
#undef FtB_select_sample

/* Of one or two rounds orders are not all alike (tests/test_loader_order.c). */
enum { ROUNDS = 7, LEAST_HALF = 4 };

int64_t ftb_shuffled(uint64_t key, int64_t n, int64_t t)
{
    int half = LEAST_HALF;
    while (half < 31 && INT64_C(1) << (2 * half) < n)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t x = (uint64_t)t;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t r = 0; r < ROUNDS; r++) {
            uint32_t words[4];
            ftb_random_words(words, key, right, FTB_DRAW_ORDER | r);
            const uint64_t next = left ^ (words[0] & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= (uint64_t)n);
    return (int64_t)x;
}

/* Numbers of the batch's seeds in the loader's list. */
static int64_t *places_of(const ftb_batches *of, int64_t epoch, int64_t first, int64_t count)
{
    int64_t *places = ftb_new(of->ctx, count, sizeof *places);
    const uint64_t key = ftb_random_mix(of->sampler.seed, (uint64_t)epoch, FTB_DRAW_ORDER);
    for (int64_t t = 0; places && t < count; t++)
        places[t] = of->options.in_order ? first + t : ftb_shuffled(key, of->nseeds, first + t);
    return places;
}

/* *Y = rows of X; nothing where there is no X. */
static GrB_Info gather(FtB_Block *Y, const ftb_batches *of, FtB_Block X, const int64_t *rows, int64_t count)
{
    if (!X)
        return GrB_SUCCESS;
    int64_t values;
    if (__builtin_mul_overflow(count, X->ncols, &values))
        values = INT64_MAX; /* refused by the allocator, with its message */
    void *room = ftb_new(of->ctx, values, FtB_Type_size(X->type));
    GrB_Info info =
        room ? ftb_block_view(Y, of->ctx, X->type, count, X->ncols, X->ncols, ftb_buffer_adopt(of->ctx, room))
             : ftb_nomem();
    if (info != GrB_SUCCESS)
        return info;
    return X == of->features ? ftb_features_gather(*Y, of, rows, count)
                             : FtB_gather(FTB_ARG(*Y), FTB_ARG(X), rows, count);
}

static GrB_Info gather_sparse(FtB_Matrix *Y, FtB_Matrix X, FtB_Ids rows)
{
    if (!X)
        return GrB_SUCCESS;
    GrB_Info info = FtB_Matrix_new(Y, X->type, rows.count, X->pattern->ncols, X->width);
    return info == GrB_SUCCESS
               ? FtB_select_sample(FTB_ARG(*Y), FTB_ARG(rows), -1, FtB_Arg_none(), FTB_ARG(X), NULL)
               : info;
}

/* Seeds by their numbers in the loader's list become vertices, with their labels. */
static GrB_Info take_seeds(FtB_Batch b, const ftb_batches *of, int64_t *places)
{
    if (of->labels && !(b->labels = ftb_new(of->ctx, b->nseeds, sizeof *b->labels)))
        return ftb_nomem();
    for (int64_t t = 0; t < b->nseeds; t++) {
        if (b->labels)
            b->labels[t] = of->labels[places[t]];
        places[t] = of->seeds[places[t]];
    }
    return GrB_SUCCESS;
}

/* Seeds, and what is sampled of them. */
static GrB_Info sample_seeds(FtB_Batch b, const ftb_batches *of, int64_t at)
{
    const int64_t first = at % of->count * of->options.batch;
    FtB_Sample_options how = of->sampler;
    how.batch = at;
    b->nseeds = ftb_min(of->options.batch, of->nseeds - first);
    int64_t *places = places_of(of, at / of->count, first, b->nseeds);
    GrB_Info info = places ? take_seeds(b, of, places) : ftb_nomem();
    if (info == GrB_SUCCESS)
        info = FtB_sample(&b->sample, of->A, places, b->nseeds, of->options.fanout, of->nhops, &how);
    ftb_delete(places);
    return info;
}

/* The subgraph of clusters, the seeds among their vertices first. */
static GrB_Info sample_clusters(FtB_Batch b, const ftb_batches *of, int64_t at)
{
    const FtB_Clusters clusters = of->options.clusters;
    int64_t *vertices, count, rest = 0;
    GrB_Info info = ftb_clusters_draw(clusters, of->ctx, at / of->count, at % of->count, &vertices, &count);
    int64_t *ordered = info == GrB_SUCCESS ? ftb_new(of->ctx, count, sizeof *ordered) : NULL;
    if (info == GrB_SUCCESS && !ordered)
        info = ftb_nomem();
    if (info == GrB_SUCCESS) {
        for (int64_t v = 0; v < count; v++)
            if (of->place[vertices[v]] >= 0)
                ordered[b->nseeds++] = of->place[vertices[v]];
            else
                vertices[rest++] = vertices[v];
        memcpy(ordered + b->nseeds, vertices, (size_t)rest * sizeof *ordered);
        info = take_seeds(b, of, ordered);
    }
    if (info == GrB_SUCCESS)
        info = ftb_clusters_layers(&b->sample, clusters, of->ctx, ordered, count, b->nseeds);
    b->clusters = true;
    ftb_delete(vertices);
    ftb_delete(ordered);
    return info;
}

static GrB_Info fill(FtB_Batch b, const ftb_batches *of, int64_t at)
{
    GrB_Info info = of->options.clusters ? sample_clusters(b, of, at) : sample_seeds(b, of, at);
    if (info != GrB_SUCCESS)
        return info;
    const FtB_Ids vertices = FtB_Sample_vertices(b->sample);
    info = gather(&b->features, of, of->features, vertices.at, vertices.count);
    if (info == GrB_SUCCESS)
        info = gather_sparse(&b->sparse, of->sparse, vertices);
    if (info == GrB_SUCCESS)
        info = ftb_device_error(gather(&b->targets, of, of->targets, vertices.at, b->nseeds),
                                "options: targets");
    return info;
}

GrB_Info ftb_batch_make(FtB_Batch *b, const ftb_batches *of, int64_t at)
{
    FtB_Batch made = ftb_new0(of->ctx, 1, sizeof *made);
    *b = NULL;
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_BATCH;
    const GrB_Info info = fill(made, of, at);
    if (info == GrB_SUCCESS)
        *b = made;
    else
        ftb_batch_free(&made);
    return info;
}

void ftb_batch_free(FtB_Batch *b)
{
    FtB_Batch old = *b;
    if (!old)
        return;
    FtB_Sample_free(&old->sample);
    FtB_Block_free(&old->features);
    FtB_Block_free(&old->targets);
    FtB_Matrix_free(&old->sparse);
    ftb_delete(old->labels);
    old->magic = 0;
    ftb_delete(old);
    *b = NULL;
}

/* ---- what callers see */

static bool is_batch(FtB_Batch b) { return b && b->magic == FTB_MAGIC_BATCH; }

FtB_Matrix FtB_Batch_hop(FtB_Batch b, int hop)
{
    const bool same = is_batch(b) && b->clusters && hop > 1;
    return FtB_Sample_layer(is_batch(b) ? b->sample : NULL, same ? 1 : hop);
}
FtB_Block FtB_Batch_features(FtB_Batch b) { return is_batch(b) ? b->features : NULL; }
FtB_Matrix FtB_Batch_sparse_features(FtB_Batch b) { return is_batch(b) ? b->sparse : NULL; }
const int32_t *FtB_Batch_labels(FtB_Batch b) { return is_batch(b) ? b->labels : NULL; }
FtB_Block FtB_Batch_targets(FtB_Batch b) { return is_batch(b) ? b->targets : NULL; }
FtB_Sample FtB_Batch_sample(FtB_Batch b) { return is_batch(b) ? b->sample : NULL; }
FtB_Ids FtB_Batch_vertices(FtB_Batch b) { return FtB_Sample_vertices(is_batch(b) ? b->sample : NULL); }
FtB_Ids FtB_Batch_seeds(FtB_Batch b)
{
    return FtB_Ids_of(FtB_Batch_vertices(b).at, is_batch(b) ? b->nseeds : 0);
}
