/* The verbs `gather` and `scatter` on a GPU: every bit is the host's. The lists of rows are the host's and
 * are sent; where a row comes twice, or they do not rise, what goes to one is brought together there first.
 */
#include "gpu/gather.h"

#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/gather_lists.h"
#include "gpu/memory.h"

#include <stdio.h>

#define SOURCE "gpu/kernels/gather.cu"

/* The largest unit of which all of these are multiples. */
static int64_t unit_of(uint64_t all)
{
    int64_t unit = 16;
    while (all % (uint64_t)unit != 0)
        unit /= 2;
    return unit;
}

/* Rows of `bytes` bytes as units; addresses and distances, too, are multiples of one. */
static GrB_Info move(ftb_gpu_device *d, FtB_Context ctx, ftb_gather_arguments *a, int64_t count,
                     int64_t bytes, int64_t ldx, int64_t ldy)
{
    const int64_t unit = unit_of((uintptr_t)a->x | (uintptr_t)a->y | (uint64_t)(bytes | ldx | ldy));
    char name[32];
    a->ldx = ldx / unit;
    a->ldy = ldy / unit;
    const ftb_gpu_grid grid = ftb_gpu_items(&a->items, count, bytes / unit);
    snprintf(name, sizeof name, "gather_%d", (int)unit);
    return ftb_gpu_launch(d, ctx, SOURCE, name, grid, (void *[]){a});
}

GrB_Info ftb_gpu_gather_rows(ftb_gpu_device *d, FtB_Context ctx, const long long *from, int64_t count,
                             const void *x, void *y, int64_t bytes)
{
    return move(d, ctx, &(ftb_gather_arguments){.from = from, .x = x, .y = y}, count, bytes, bytes, bytes);
}

GrB_Info ftb_gpu_gather_kept(ftb_gpu_device *d, FtB_Context ctx, ftb_gather_kept_arguments *a, int64_t count,
                             int64_t bytes, int64_t step)
{
    const int64_t unit =
        unit_of((uintptr_t)a->x | (uintptr_t)a->kept | (uintptr_t)a->y | (uint64_t)(bytes | step));
    char name[32];
    a->ldx = step / unit;
    a->ldkept = a->ldy = bytes / unit;
    const ftb_gpu_grid grid = ftb_gpu_items(&a->items, count, bytes / unit);
    snprintf(name, sizeof name, "gather_kept_%d", (int)unit);
    return ftb_gpu_launch(d, ctx, SOURCE, name, grid, (void *[]){a});
}

GrB_Info ftb_gpu_gather_places(ftb_gpu_device *d, FtB_Context ctx, const long long *rows, int64_t count,
                               int *place)
{
    long long n = count;
    const ftb_gpu_grid grid = {
        .x = (count + FTB_ROW_ITEMS_BLOCK - 1) / FTB_ROW_ITEMS_BLOCK, .y = 1, .threads = FTB_ROW_ITEMS_BLOCK};
    return ftb_gpu_launch(d, ctx, SOURCE, "gather_places", grid, (void *[]){&rows, &n, &place});
}

GrB_Info ftb_gpu_gather(const ftb_gather_product *g)
{
    const int64_t size = (int64_t)FtB_Type_size(g->xtype);
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(g->ctx));
    ftb_gpu_rooms rooms = {.d = d, .ctx = g->ctx};
    const void *from = NULL;
    if (g->count == 0 || g->ncols == 0)
        return GrB_SUCCESS;
    GrB_Info info = ftb_gpu_send(&from, &rooms, g->rows, g->count * (int64_t)sizeof *g->rows);
    if (info == GrB_SUCCESS)
        info = move(d, g->ctx, &(ftb_gather_arguments){.from = from, .x = g->x, .y = g->y}, g->count,
                    g->ncols * size, g->ldx * size, g->ldy * size);
    ftb_gpu_rooms_free(&rooms);
    return info;
}

/* ---- scattering */

bool ftb_gpu_scatter_fits(const ftb_scatter_product *s)
{
    return s->how == FTB_SCATTER_REPLACE || s->ytype == FTB_FP32 || s->ytype == FTB_FP64;
}

static bool rise(const ftb_scatter_product *s)
{
    int64_t t = 1;
    while (t < s->count && s->rows[t - 1] < s->rows[t])
        t++;
    return t >= s->count;
}

static int bits_of(int64_t count)
{
    int bits = 0;
    while (bits < 63 && INT64_C(1) << bits < count)
        bits++;
    return bits;
}

/* What goes to each row, in the order of t, behind one another: rows, the cuts between them, and all t. */
typedef struct groups {
    int64_t *words, count; /* rows from words[0], cuts from words[room], order from words[2 room + 1] */
    int64_t room;
} groups;

static GrB_Info group(groups *g, const ftb_scatter_product *s)
{
    const int low = bits_of(s->count), high = low + bits_of(s->nrows);
    uint64_t *keys = high > 64 ? NULL : ftb_new(s->ctx, s->count, 2 * sizeof *keys);
    *g = (groups){.room = s->count};
    g->words = keys ? ftb_new(s->ctx, 3 * s->count + 1, sizeof *g->words) : NULL;
    if (!g->words) {
        ftb_delete(keys);
        return ftb_nomem();
    }
    for (int64_t t = 0; t < s->count; t++)
        keys[t] = (uint64_t)s->rows[t] << low | (uint64_t)t;
    const uint64_t *sorted = ftb_sort(keys, keys + s->count, s->count, low, high);
    int64_t *rows = g->words, *cuts = rows + g->room, *order = cuts + g->room + 1;
    for (int64_t k = 0; k < s->count; k++) {
        order[k] = (int64_t)(sorted[k] & ((UINT64_C(1) << low) - 1));
        if (k == 0 || sorted[k] >> low != sorted[k - 1] >> low) {
            cuts[g->count] = k;
            rows[g->count++] = s->rows[order[k]];
        }
    }
    cuts[g->count] = s->count;
    ftb_delete(keys);
    return GrB_SUCCESS;
}

/* The last of what goes to a row stays: order[s] becomes it. */
static void keep_last(const groups *g)
{
    const int64_t *cuts = g->words + g->room;
    int64_t *order = g->words + 2 * g->room + 1;
    for (int64_t s = 0; s < g->count; s++)
        order[s] = order[cuts[s + 1] - 1];
}

/* `sent`: the groups' words, or, without them, the product's rows. */
static GrB_Info launch(ftb_gpu_device *d, const ftb_scatter_product *s, const int64_t *sent, const groups *g)
{
    const long long *rows = (const long long *)sent, *cuts = g->words ? rows + g->room : NULL,
                    *order = g->words ? cuts + g->room + 1 : NULL;
    const int64_t count = g->words ? g->count : s->count, size = (int64_t)FtB_Type_size(s->xtype);
    if (s->how == FTB_SCATTER_REPLACE)
        return move(d, s->ctx, &(ftb_gather_arguments){.from = order, .to = rows, .x = s->x, .y = s->y},
                    count, s->ncols * size, s->ldx * size, s->ldy * size);
    const bool vectors = ftb_gpu_vectors(s->x, s->ldx, size) && ftb_gpu_vectors(s->y, s->ldy, size);
    const int values = vectors ? (int)(16 / size) : 1;
    ftb_scatter_arguments a = {.rows = rows,
                               .cuts = cuts,
                               .order = order,
                               .ncols = s->ncols,
                               .ldx = s->ldx,
                               .ldy = s->ldy,
                               .x = s->x,
                               .y = s->y};
    char name[32];
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, count, (s->ncols + values - 1) / values);
    snprintf(name, sizeof name, "scatter_%s_%d", ftb_gpu_real(s->xtype), values);
    return ftb_gpu_launch(d, s->ctx, SOURCE, name, grid, (void *[]){&a});
}

GrB_Info ftb_gpu_scatter(const ftb_scatter_product *s)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    ftb_gpu_rooms rooms = {.d = d, .ctx = s->ctx};
    const void *lists = NULL;
    groups g = {.words = NULL};
    GrB_Info info = GrB_SUCCESS;
    if (s->count == 0 || s->ncols == 0)
        return GrB_SUCCESS;
    if (!rise(s))
        FTB_CHECK(group(&g, s));
    if (g.words && s->how == FTB_SCATTER_REPLACE)
        keep_last(&g);
    FTB_CHECK(ftb_gpu_send(&lists, &rooms, g.words ? g.words : s->rows,
                           (g.words ? 3 * s->count + 1 : s->count) * (int64_t)sizeof *s->rows));
    info = launch(d, s, lists, &g);
done:
    ftb_gpu_rooms_free(&rooms);
    ftb_delete(g.words);
    return info;
}
