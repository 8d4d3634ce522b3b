/* Which vertices batches will want most: those that most rows of the graph have an entry for, whose chance to
 * be picked is about as large; or those that batches drawn beforehand had most often, which knows of the
 * sampler, and of which seeds there are. */
#include "sample/feature_rows.h"

#include "cpu/entries/entry_map.h"

enum { DRAWN = 16 }; /* batches, unless said; rests on no measurement */

static int bits_of(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

/* By falling count. */
static GrB_Info rank(int64_t **list, FtB_Context ctx, const int64_t *count, int64_t n, int64_t most)
{
    int64_t largest = 0;
    for (int64_t v = 0; v < n; v++)
        largest = ftb_max(largest, count[v]);
    const int low = bits_of((uint64_t)n), high = low + bits_of((uint64_t)largest);
    if (high > 64)
        return ftb_fail(FTB_LIMIT, "%lld vertices of up to %lld entries cannot be ranked", (long long)n,
                        (long long)largest);
    uint64_t *keys = ftb_new(ctx, n, 2 * sizeof *keys);
    int64_t *ranked = keys ? ftb_new(ctx, most, sizeof *ranked) : NULL;
    for (int64_t v = 0; ranked && v < n; v++)
        keys[v] = (uint64_t)(largest - count[v]) << low | (uint64_t)v;
    const uint64_t *sorted = ranked ? ftb_sort(keys, keys + n, n, low, high) : NULL;
    for (int64_t t = 0; ranked && t < most; t++)
        ranked[t] = (int64_t)(sorted[t] & ((UINT64_C(1) << low) - 1));
    ftb_delete(keys);
    *list = ranked;
    return ranked ? GrB_SUCCESS : ftb_nomem();
}

/* Batches spread over the first epoch, with their vertices alone. */
static GrB_Info count_drawn(int64_t *count, const ftb_batches *of)
{
    ftb_batches bare = *of;
    const int64_t wanted = of->options.cache_batches > 0 ? of->options.cache_batches : DRAWN,
                  batches = ftb_min(wanted, of->count);
    GrB_Info info = GrB_SUCCESS;
    bare.features = bare.targets = NULL;
    bare.sparse = NULL;
    bare.labels = NULL;
    for (int64_t t = 0; t < batches && info == GrB_SUCCESS; t++) {
        FtB_Batch b;
        info = ftb_batch_make(&b, &bare, of->options.epoch * of->count + of->count * t / batches);
        const FtB_Ids vertices = FtB_Batch_vertices(b);
        for (int64_t v = 0; v < vertices.count; v++)
            count[vertices.at[v]]++;
        ftb_batch_free(&b);
    }
    return info;
}

GrB_Info ftb_features_rank(int64_t **list, const ftb_batches *of, int64_t most)
{
    ftb_pattern *p = of->A->pattern;
    const int64_t *degrees;
    int64_t *count = NULL;
    GrB_Info info;
    *list = NULL;
    if (of->options.cache_by == FTB_CACHE_SAMPLED) {
        count = ftb_new0(of->ctx, p->ncols, sizeof *count);
        degrees = count;
        info = count ? count_drawn(count, of) : ftb_nomem();
    } else {
        info = ftb_column_degrees(&degrees, p);
    }
    if (info == GrB_SUCCESS)
        info = rank(list, of->ctx, degrees, p->ncols, most);
    ftb_delete(count);
    return info;
}
