/* The verb `relabel` on a GPU: numbers for vertices that the host lists, which are the host's. */
#include "gpu/gpu_verbs.h"
#include "gpu/sample/device_picks.h"
#include "gpu/scan.h"

bool ftb_gpu_relabel_fits(const ftb_relabel_product *p)
{
    static const char *const sources[] = {FTB_GPU_SAMPLE_NUMBERS, FTB_GPU_SAMPLE_ORDER, FTB_GPU_SCAN, NULL};
    return !p->wide && !p->apart && p->nknown <= INT32_MAX - p->rowptr[p->nrows] &&
           ftb_gpu_load_all(ftb_gpu_of(ftb_device(p->ctx)), sources);
}

static int64_t most_of(const ftb_relabel_product *p)
{
    int64_t most = 0;
    for (int64_t r = 0; r < p->nrows; r++)
        most = ftb_max(most, p->rowptr[r + 1] - p->rowptr[r]);
    return most;
}

static GrB_Info send_trees(ftb_gpu_rooms *rooms, ftb_gpu_numbering *n, const ftb_relabel_product *p)
{
    if (!p->trees)
        return GrB_SUCCESS;
    const int32_t *rows = p->row_trees ? p->row_trees : p->trees + p->row0;
    const GrB_Info info = ftb_gpu_list_of(rooms, &n->trees, p->trees, 4 * p->nknown);
    return info == GrB_SUCCESS ? ftb_gpu_list_of(rooms, &n->row_trees, rows, 4 * p->nrows) : info;
}

/* The list: what is known of it is here. */
static GrB_Info get_vertices(const ftb_gpu_rooms *rooms, ftb_relabel_product *p, ftb_gpu_vertices all,
                             int64_t nfresh)
{
    const int64_t nknown = p->nknown;
    p->nfresh = nfresh;
    p->vertices = ftb_new(p->ctx, nknown + nfresh, sizeof *p->vertices);
    p->vertex_trees = p->trees ? ftb_new(p->ctx, nknown + nfresh, sizeof *p->vertex_trees) : NULL;
    if (!p->vertices || (p->trees && !p->vertex_trees))
        return ftb_nomem();
    if (nknown > 0)
        memcpy(p->vertices, p->known, (size_t)nknown * sizeof *p->vertices);
    if (nknown > 0 && p->trees)
        memcpy(p->vertex_trees, p->trees, (size_t)nknown * sizeof *p->vertex_trees);
    const GrB_Info info = ftb_gpu_lists_get(rooms, p->vertices + nknown, all.at + nknown, 8 * nfresh);
    if (info != GrB_SUCCESS || !p->trees)
        return info;
    return ftb_gpu_lists_get(rooms, p->vertex_trees + nknown, all.trees + nknown, 4 * nfresh);
}

GrB_Info ftb_gpu_relabel(ftb_relabel_product *p)
{
    ftb_gpu_rooms rooms = {.d = ftb_gpu_of(ftb_device(p->ctx)), .ctx = p->ctx};
    const int64_t picks = p->rowptr[p->nrows];
    ftb_gpu_numbering n = {.bound = p->bound,
                           .nknown = p->nknown,
                           .nrows = p->nrows,
                           .npicks = picks,
                           .most = most_of(p),
                           .ntrees = p->ntrees};
    ftb_gpu_vertices all = {.trees = NULL};
    long long *entries = NULL;
    int *local = NULL;
    void *home = NULL; /* numbers, then entries: those of the product stay as they are until all is there */
    GrB_Info info;
    p->vertices = NULL;
    p->vertex_trees = NULL;
    p->nfresh = 0;
    FTB_CHECK(ftb_gpu_list_of(&rooms, &n.known, p->known, 8 * p->nknown));
    FTB_CHECK(send_trees(&rooms, &n, p));
    FTB_CHECK(ftb_gpu_list_of(&rooms, &n.to, p->rowptr, 8 * (p->nrows + 1)));
    FTB_CHECK(ftb_gpu_list_of(&rooms, &n.columns, p->columns, 4 * picks));
    if (p->entries) {
        FTB_CHECK(ftb_gpu_list_of(&rooms, &n.entries, p->entries, 8 * picks));
        FTB_CHECK(ftb_gpu_list(&rooms, &entries, 8 * picks));
    }
    FTB_CHECK(ftb_gpu_number_find(&rooms, &n));
    home = ftb_new(p->ctx, picks, p->entries ? 12 : 4);
    if (!home)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_gpu_list(&rooms, &all.at, 8 * (p->nknown + n.nfresh)));
    if (p->trees)
        FTB_CHECK(ftb_gpu_list(&rooms, &all.trees, 4 * (p->nknown + n.nfresh)));
    FTB_CHECK(ftb_gpu_list(&rooms, &local, 4 * picks));
    FTB_CHECK(ftb_gpu_number_give(&rooms, &n, all, local, entries));
    FTB_CHECK(get_vertices(&rooms, p, all, n.nfresh));
    FTB_CHECK(ftb_gpu_lists_get(&rooms, home, local, 4 * picks));
    if (p->entries)
        FTB_CHECK(ftb_gpu_lists_get(&rooms, (char *)home + 4 * picks, entries, 8 * picks));
    memcpy(p->local, home, 4 * (size_t)picks);
    if (p->entries)
        memcpy(p->entries, (char *)home + 4 * picks, 8 * (size_t)picks);
    if (p->work)
        *p->work += p->nknown + picks + n.arguments.table.mask;
done:
    ftb_gpu_rooms_free(&rooms);
    ftb_delete(home);
    if (info != GrB_SUCCESS) {
        ftb_delete(p->vertices);
        ftb_delete(p->vertex_trees);
        p->vertices = NULL;
        p->vertex_trees = NULL;
    }
    return info;
}
