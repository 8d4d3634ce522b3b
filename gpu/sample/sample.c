/* The verb `sample` on a GPU: picks of entries of rows that the host lists, to the host's bits. Which value
 * is no probability, or no weight, the host says, who then does it. */
#include "gpu/gpu_verbs.h"
#include "gpu/sample/device_picks.h"
#include "gpu/scan.h"

bool ftb_gpu_sample_fits(const ftb_sample_product *s)
{
    const bool weighted = s->selector == FTB_SAMPLE_WEIGHTED;
    /* The k largest, and those by weight, are counted as uniform ones are, too. */
    const char *const sources[] = {FTB_GPU_SAMPLE_PICKS,
                                   FTB_GPU_SAMPLE_NUMBERS,
                                   FTB_GPU_SCAN,
                                   s->selector == FTB_SAMPLE_UNIFORM ? NULL : FTB_GPU_SAMPLE_KEYS,
                                   weighted ? FTB_GPU_SAMPLE_WEIGHTED : NULL,
                                   NULL};
    return (weighted ? s->tables != NULL : !s->key) && !ftb_sample_scales(s) && !ftb_sample_filters(s) &&
           (!s->seeds || s->ntrees > 0) && ftb_gpu_picking_fits(s->p, s->selector, s->replace, s->k) &&
           ftb_gpu_load_all(ftb_gpu_of(ftb_device(s->ctx)), sources);
}

/* Before there is room for them, the largest, and those by weight, get as much as they may need. */
static FtB_Selector counted_as(const ftb_sample_product *s)
{
    const bool roomy = s->selector == FTB_SAMPLE_TOPK || s->selector == FTB_SAMPLE_WEIGHTED;
    return roomy && !s->entries ? FTB_SAMPLE_UNIFORM : s->selector;
}

GrB_Info ftb_gpu_sample(const ftb_sample_product *s)
{
    ftb_gpu_rooms rooms = {.d = ftb_gpu_of(ftb_device(s->ctx)), .ctx = s->ctx};
    ftb_gpu_picking p = {.p = s->p,
                         .selector = counted_as(s),
                         .k = s->k,
                         .replace = s->replace,
                         .nrows = s->nrows,
                         .threshold = s->threshold,
                         .seed = s->seed,
                         .stream = s->stream,
                         .seeds = s->seeds,
                         .streams = s->streams,
                         .ntrees = s->ntrees,
                         .values = s->values,
                         .type = s->type,
                         .slots = s->tables};
    long long *entries = NULL;
    int *columns = NULL;
    GrB_Info info;
    if (s->rows)
        FTB_CHECK(ftb_gpu_list_of(&rooms, &p.rows, s->rows, 8 * s->nrows));
    if (s->seeds)
        FTB_CHECK(ftb_gpu_list_of(&rooms, &p.trees, s->trees, 4 * s->nrows));
    FTB_CHECK(ftb_gpu_list(&rooms, &p.to, 8 * (s->nrows + 1)));
    FTB_CHECK(ftb_gpu_pick_counts(&rooms, &p));
    if (s->entries) {
        FTB_CHECK(ftb_gpu_list(&rooms, &entries, 8 * p.picks));
        FTB_CHECK(ftb_gpu_list(&rooms, &columns, 4 * p.picks));
        FTB_CHECK(ftb_gpu_pick_entries(&rooms, &p, entries, columns));
        FTB_CHECK(ftb_gpu_lists_get(&rooms, s->entries, entries, 8 * p.picks));
        FTB_CHECK(ftb_gpu_lists_get(&rooms, s->columns, columns, 4 * p.picks));
        if (s->work)
            *s->work += s->nrows + p.picks;
    }
    /* With entries, where some have less than their room, the host could not do it again. */
    info = ftb_gpu_half_done(ftb_gpu_lists_get(&rooms, s->rowptr, p.to, 8 * (s->nrows + 1)),
                             s->entries && s->selector != FTB_SAMPLE_UNIFORM);
done:
    ftb_gpu_rooms_free(&rooms);
    return info;
}
