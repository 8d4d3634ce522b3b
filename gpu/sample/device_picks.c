/* Picks and numbers on a GPU (device_picks.h): what is launched, and what is waited for. */
#include "gpu/sample/device_picks.h"

#include "core/draws.h"
#include "gpu/items.h"
#include "gpu/sample/weighted_picks.h"

#include <limits.h>
#include <stdio.h>

#define LONG_BLOCKS 256 /* that long rows are shared out among */

static GrB_Info make_counters(ftb_gpu_rooms *rooms, ftb_gpu_counters **c)
{
    GrB_Info info = ftb_gpu_list(rooms, c, sizeof **c);
    return info == GrB_SUCCESS ? ftb_gpu_zeros(rooms, *c, sizeof **c / 8) : info;
}

/* ---- picks */

GrB_Info ftb_gpu_tree_seeds(ftb_gpu_rooms *rooms, const unsigned long long **at, const ftb_gpu_picking *p,
                            uint64_t with)
{
    const void *sent = NULL;
    *at = NULL;
    if (!p->seeds)
        return GrB_SUCCESS;
    uint64_t *mixed = with ? ftb_new(rooms->ctx, p->ntrees, sizeof *mixed) : NULL;
    if (with && !mixed)
        return ftb_nomem();
    for (int64_t t = 0; t < p->ntrees && mixed; t++)
        mixed[t] = ftb_random_mix(p->seeds[t], 0, with);
    const GrB_Info info = ftb_gpu_list_of(rooms, &sent, mixed ? mixed : p->seeds, 8 * p->ntrees);
    *at = sent;
    ftb_delete(mixed);
    return info;
}

static bool by_keys(FtB_Selector selector, int64_t k)
{
    return selector == FTB_SAMPLE_TOPK || selector == FTB_SAMPLE_THRESHOLD ||
           selector == FTB_SAMPLE_BERNOULLI || selector == FTB_SAMPLE_LABOR ||
           (selector == FTB_SAMPLE_WEIGHTED && k < 0); /* all that have weights */
}

bool ftb_gpu_picking_fits(const ftb_pattern *p, FtB_Selector selector, bool replace, int64_t k)
{
    if (p->wide || (p->multi && p->nvals > INT_MAX)) /* rows have less than 2^31 entries */
        return false;
    if (selector == FTB_SAMPLE_UNIFORM || selector == FTB_SAMPLE_WEIGHTED)
        return k <= FTB_SAMPLE_MOST;
    return by_keys(selector, k) && !replace;
}

static GrB_Info count_uniform(ftb_gpu_rooms *rooms, ftb_gpu_picking *p, ftb_gpu_counters *c)
{
    ftb_sample_rows *s = &p->keys.rows;
    s->most = &c->most;
    GrB_Info info = ftb_gpu_step(rooms, FTB_GPU_SAMPLE_PICKS, "sample_count", p->nrows, (void *[]){s});
    return info == GrB_SUCCESS ? ftb_gpu_list_sums(rooms, s->to, p->nrows) : info;
}

static const char *keys_kernel(FtB_Selector selector)
{
    switch (selector) {
#define NAME(name, selector)                                                                                 \
    case FTB_SAMPLE_##selector:                                                                              \
        return "sample_keys_" #name;
        FTB_SAMPLE_KEY_KERNELS(NAME)
    default:
        return "";
    }
}

GrB_Info ftb_gpu_key_room(ftb_gpu_rooms *rooms, ftb_sample_keys *k, int64_t *entries)
{
    const int64_t nrows = k->rows.nrows;
    GrB_Info info;
    FTB_CHECK(ftb_gpu_list(rooms, &k->from, 8 * (nrows + 1)));
    FTB_CHECK(ftb_gpu_list(rooms, &k->longs, 8 * nrows));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_KEYS, "sample_degrees", nrows, (void *[]){k}));
    FTB_CHECK(ftb_gpu_list_sums(rooms, k->from, nrows));
    FTB_CHECK(ftb_gpu_lists_get(rooms, entries, k->from + nrows, sizeof *entries));
    FTB_CHECK(ftb_gpu_list(rooms, &k->keys, 8 * *entries));
done:
    return info;
}

GrB_Info ftb_gpu_key_counts(ftb_gpu_rooms *rooms, ftb_sample_keys *k)
{
    const GrB_Info info =
        ftb_gpu_step(rooms, FTB_GPU_SAMPLE_KEYS, "sample_limit", k->rows.nrows, (void *[]){k});
    return info == GrB_SUCCESS ? ftb_gpu_list_sums(rooms, k->rows.to, k->rows.nrows) : info;
}

GrB_Info ftb_gpu_key_picks(const ftb_gpu_rooms *rooms, ftb_sample_keys *k)
{
    const int64_t rows = FTB_LEAST_BLOCK / 32, nrows = k->rows.nrows;
    const GrB_Info info = ftb_gpu_launch(
        rooms->d, rooms->ctx, FTB_GPU_SAMPLE_KEYS, "sample_least",
        (ftb_gpu_grid){.x = (nrows + rows - 1) / rows, .y = 1, .threads = FTB_LEAST_BLOCK}, (void *[]){k});
    if (info != GrB_SUCCESS)
        return info;
    return ftb_gpu_launch(
        rooms->d, rooms->ctx, FTB_GPU_SAMPLE_KEYS, "sample_least_long",
        (ftb_gpu_grid){.x = ftb_min(LONG_BLOCKS, nrows), .y = 1, .threads = FTB_LEAST_LONG_BLOCK},
        (void *[]){k});
}

static GrB_Info count_by_keys(ftb_gpu_rooms *rooms, ftb_gpu_picking *p, ftb_gpu_counters *c)
{
    ftb_sample_keys *k = &p->keys;
    int64_t entries = 0;
    GrB_Info info;
    k->values = p->values;
    k->type = p->values ? ftb_gpu_stored_as(p->type) : 0;
    k->slots = p->slots;
    k->threshold = p->threshold;
    k->limit = p->selector == FTB_SAMPLE_TOPK ? p->k : -1;
    k->bad = &c->bad;
    k->nlongs = &c->nlongs;
    k->rows.most = &c->most;
    FTB_CHECK(ftb_gpu_key_room(rooms, k, &entries));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_KEYS, keys_kernel(p->selector), entries, (void *[]){k}));
    FTB_CHECK(ftb_gpu_key_counts(rooms, k));
done:
    return info;
}

static GrB_Info count(ftb_gpu_rooms *rooms, ftb_gpu_picking *p, ftb_gpu_counters *c)
{
    if (by_keys(p->selector, p->k))
        return count_by_keys(rooms, p, c);
    return p->selector == FTB_SAMPLE_WEIGHTED ? ftb_gpu_weighted_draw(rooms, p, c)
                                              : count_uniform(rooms, p, c);
}

GrB_Info ftb_gpu_pick_counts(ftb_gpu_rooms *rooms, ftb_gpu_picking *p)
{
    ftb_sample_rows *s = &p->keys.rows;
    const uint64_t with = p->selector == FTB_SAMPLE_LABOR ? FTB_DRAW_SHARED : 0;
    const int64_t *rowptr;
    const void *colidx;
    ftb_gpu_counters *c = NULL, seen = {0};
    GrB_Info info;
    FTB_CHECK(ftb_pattern_ask_at(p->p, &rooms->d->row, &rowptr, &colidx));
    *s = (ftb_sample_rows){.rowptr = (const long long *)rowptr,
                           .colidx = colidx,
                           .rows = p->rows,
                           .nrows = p->nrows,
                           .seed = with ? ftb_random_mix(p->seed, 0, with) : p->seed,
                           .stream = p->stream,
                           .trees = p->trees,
                           .k = p->k,
                           .replace = p->replace,
                           .to = p->to};
    FTB_CHECK(ftb_gpu_tree_seeds(rooms, &s->seeds, p, with));
    if (p->streams)
        FTB_CHECK(ftb_gpu_list_of(rooms, &s->streams, p->streams, 8 * p->ntrees));
    FTB_CHECK(make_counters(rooms, &c));
    if (p->nrows == 0) {
        p->picks = p->most = 0;
        return ftb_gpu_zeros(rooms, p->to, 1);
    }
    FTB_CHECK(count(rooms, p, c));
    FTB_CHECK(ftb_gpu_lists_get(rooms, &p->picks, p->to + p->nrows, sizeof p->picks));
    FTB_CHECK(ftb_gpu_lists_get(rooms, &seen, c, sizeof seen));
    p->most = seen.most;
    if (seen.bad)
        info = ftb_fail(FTB_NO_DEVICE, "values that are no probabilities, or no weights");
done:
    return info;
}

static GrB_Info pick_uniform(ftb_gpu_rooms *rooms, const ftb_gpu_picking *p)
{
    ftb_sample_rows s = p->keys.rows;
    char name[32];
    if (p->k < 0)
        return ftb_gpu_step(rooms, FTB_GPU_SAMPLE_PICKS, "sample_all", p->picks, (void *[]){&s});
    if (p->k > FTB_SAMPLE_LANES)
        return ftb_gpu_step(rooms, FTB_GPU_SAMPLE_PICKS, "sample_large", p->nrows * FTB_SAMPLE_BLOCK,
                            (void *[]){&s});
    const int lanes = p->k <= 8 ? 8 : p->k <= 16 ? 16 : 32;
    snprintf(name, sizeof name, "sample_uniform_%d", lanes);
    return ftb_gpu_step(rooms, FTB_GPU_SAMPLE_PICKS, name, p->nrows * lanes, (void *[]){&s});
}

GrB_Info ftb_gpu_pick_entries(ftb_gpu_rooms *rooms, ftb_gpu_picking *p, long long *entries, int *columns)
{
    ftb_sample_keys *k = &p->keys;
    k->rows.entries = entries;
    k->rows.columns = columns;
    if (p->picks == 0)
        return GrB_SUCCESS;
    if (by_keys(p->selector, p->k))
        return ftb_gpu_key_picks(rooms, k);
    return p->selector == FTB_SAMPLE_WEIGHTED ? ftb_gpu_weighted_put(rooms, p) : pick_uniform(rooms, p);
}

/* ---- numbers */

GrB_Info ftb_gpu_table(ftb_gpu_rooms *rooms, ftb_sample_table *table, int64_t vertices)
{
    const int bits = ftb_gpu_bits(2 * vertices + 1);
    if (bits > 31)
        return ftb_fail(FTB_NO_DEVICE, "%lld vertices are more than a table on a GPU has",
                        (long long)vertices);
    *table = (ftb_sample_table){.mask = (unsigned)((UINT64_C(1) << bits) - 1)};
    GrB_Info info = ftb_gpu_list(rooms, &table->words, INT64_C(8) << bits);
    return info == GrB_SUCCESS ? ftb_gpu_ones(rooms, table->words, INT64_C(1) << bits) : info;
}

/* One for all that may be numbered; with numbers apart where there are trees. */
static GrB_Info make_table(ftb_gpu_rooms *rooms, ftb_gpu_numbering *n)
{
    ftb_sample_table *table = &n->arguments.table;
    const int64_t all = n->nknown + n->npicks;
    GrB_Info info = ftb_gpu_table(rooms, table, n->trees ? all : ftb_min(n->bound, all));
    if (info != GrB_SUCCESS || !n->trees)
        return info;
    table->shift = ftb_gpu_bits(n->bound);
    info = ftb_gpu_list(rooms, &table->numbers, 4 * ((int64_t)table->mask + 1));
    return info == GrB_SUCCESS ? ftb_gpu_ones(rooms, table->numbers, ((int64_t)table->mask + 1) / 2) : info;
}

GrB_Info ftb_gpu_number_find(ftb_gpu_rooms *rooms, ftb_gpu_numbering *n)
{
    ftb_number_arguments *a = &n->arguments;
    ftb_gpu_counters *c = NULL;
    ftb_gpu_order order;
    GrB_Info info;
    *a = (ftb_number_arguments){.known = n->known,
                                .trees = n->trees,
                                .row_trees = n->row_trees,
                                .nknown = n->nknown,
                                .columns = n->columns,
                                .npicks = n->npicks,
                                .to = n->to,
                                .nrows = n->nrows,
                                .entries_from = n->entries};
    if (n->nknown > INT_MAX - n->npicks)
        return ftb_fail(FTB_NO_DEVICE, "2^31 vertices and picks together");
    FTB_CHECK(make_counters(rooms, &c));
    a->found = &c->found;
    FTB_CHECK(make_table(rooms, n));
    FTB_CHECK(ftb_gpu_list(rooms, &a->places, 4 * n->npicks));
    FTB_CHECK(ftb_gpu_list(rooms, &a->keys, 8 * n->npicks));
    FTB_CHECK(ftb_gpu_list(rooms, &a->with, 4 * n->npicks));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_known", n->nknown, (void *[]){a}));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_claim", n->npicks, (void *[]){a}));
    FTB_CHECK(ftb_gpu_lists_get(rooms, &a->nfresh, a->found, sizeof a->nfresh));
    n->nfresh = a->nfresh;
    order = (ftb_gpu_order){.keys = a->keys, .with = a->with, .n = n->nfresh};
    FTB_CHECK(ftb_gpu_order_by(rooms, &order,
                               ftb_gpu_bits(n->bound) + (n->trees ? ftb_gpu_bits(n->ntrees) : 0), 0));
    a->keys = order.keys;
    a->with = order.with;
done:
    return info;
}

/* Long rows: all picks, by row and number. */
static GrB_Info order_rows(ftb_gpu_rooms *rooms, ftb_gpu_numbering *n)
{
    ftb_number_arguments *a = &n->arguments;
    ftb_gpu_order order = {.n = n->npicks};
    GrB_Info info;
    a->bits = ftb_gpu_bits(n->nknown + n->nfresh);
    FTB_CHECK(ftb_gpu_list(rooms, &a->keys, 8 * n->npicks));
    FTB_CHECK(ftb_gpu_list(rooms, &a->with, 4 * n->npicks));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_row_keys", n->npicks, (void *[]){a}));
    order.keys = a->keys;
    order.with = a->with;
    FTB_CHECK(ftb_gpu_order_by(rooms, &order, a->bits + ftb_gpu_bits(n->nrows), 0));
    a->keys = order.keys;
    a->with = order.with;
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_row_put", n->npicks, (void *[]){a}));
done:
    return info;
}

GrB_Info ftb_gpu_number_give(ftb_gpu_rooms *rooms, ftb_gpu_numbering *n, ftb_gpu_vertices all, int *local,
                             long long *entries)
{
    ftb_number_arguments *a = &n->arguments;
    const int lanes = n->most <= 8 ? 8 : n->most <= 16 ? 16 : 32;
    char name[32];
    GrB_Info info;
    a->vertices = all.at;
    a->vertex_trees = all.trees;
    a->local_to = local;
    a->entries_to = entries;
    FTB_CHECK(ftb_gpu_list(rooms, &a->local, 4 * n->npicks));
    FTB_CHECK(
        ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_give", n->nknown + n->nfresh, (void *[]){a}));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_read", n->npicks, (void *[]){a}));
    if (n->npicks == 0)
        return info;
    if (n->most > FTB_SAMPLE_MOST)
        return order_rows(rooms, n);
    snprintf(name, sizeof name, "sample_rows_%d", lanes);
    info = ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, name, n->nrows * lanes, (void *[]){a});
done:
    return info;
}
