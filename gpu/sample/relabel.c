/* The verb `relabel` on a GPU: numbers for vertices that the host lists, which are the host's. */
#include "gpu/gpu_verbs.h"
#include "gpu/sample/device_picks.h"
#include "gpu/scan.h"

bool ftb_gpu_relabel_fits(const ftb_relabel_product *p)
{
    static const char *const sources[] = {FTB_GPU_SAMPLE_NUMBERS, FTB_GPU_SAMPLE_ORDER, FTB_GPU_SCAN, NULL};
    return !p->trees && !p->wide && !p->apart && p->nknown <= INT32_MAX - p->rowptr[p->nrows] &&
           ftb_gpu_load_all(ftb_gpu_of(ftb_device(p->ctx)), sources);
}

static int64_t most_of(const ftb_relabel_product *p)
{
    int64_t most = 0;
    for (int64_t r = 0; r < p->nrows; r++)
        most = ftb_max(most, p->rowptr[r + 1] - p->rowptr[r]);
    return most;
}

GrB_Info ftb_gpu_relabel(ftb_relabel_product *p)
{
    ftb_gpu_rooms rooms = {.d = ftb_gpu_of(ftb_device(p->ctx)), .ctx = p->ctx};
    const int64_t picks = p->rowptr[p->nrows];
    ftb_gpu_numbering n = {
        .bound = p->bound, .nknown = p->nknown, .nrows = p->nrows, .npicks = picks, .most = most_of(p)};
    long long *fresh = NULL, *entries = NULL;
    int *local = NULL;
    void *home = NULL; /* numbers, then entries: those of the product stay as they are until all is there */
    GrB_Info info;
    p->fresh = NULL;
    p->fresh_trees = NULL;
    p->nfresh = 0;
    FTB_CHECK(ftb_gpu_list_of(&rooms, &n.known, p->known, 8 * p->nknown));
    FTB_CHECK(ftb_gpu_list_of(&rooms, &n.to, p->rowptr, 8 * (p->nrows + 1)));
    FTB_CHECK(ftb_gpu_list_of(&rooms, &n.columns, p->columns, 4 * picks));
    if (p->entries) {
        FTB_CHECK(ftb_gpu_list_of(&rooms, &n.entries, p->entries, 8 * picks));
        FTB_CHECK(ftb_gpu_list(&rooms, &entries, 8 * picks));
    }
    FTB_CHECK(ftb_gpu_number_find(&rooms, &n));
    p->fresh = ftb_new(p->ctx, n.nfresh, sizeof *p->fresh);
    home = ftb_new(p->ctx, picks, p->entries ? 12 : 4);
    if (!p->fresh || !home)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_gpu_list(&rooms, &fresh, 8 * n.nfresh));
    FTB_CHECK(ftb_gpu_list(&rooms, &local, 4 * picks));
    FTB_CHECK(ftb_gpu_number_give(&rooms, &n, NULL, fresh, local, entries));
    FTB_CHECK(ftb_gpu_lists_get(&rooms, p->fresh, fresh, 8 * n.nfresh));
    FTB_CHECK(ftb_gpu_lists_get(&rooms, home, local, 4 * picks));
    if (p->entries)
        FTB_CHECK(ftb_gpu_lists_get(&rooms, (char *)home + 4 * picks, entries, 8 * picks));
    memcpy(p->local, home, 4 * (size_t)picks);
    if (p->entries)
        memcpy(p->entries, (char *)home + 4 * picks, 8 * (size_t)picks);
    p->nfresh = n.nfresh;
    if (p->work)
        *p->work += p->nknown + picks + n.arguments.table.mask;
done:
    ftb_gpu_rooms_free(&rooms);
    ftb_delete(home);
    if (info != GrB_SUCCESS) {
        ftb_delete(p->fresh);
        p->fresh = NULL;
    }
    return info;
}
