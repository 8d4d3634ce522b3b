/* Picks by weight on a GPU (weighted_picks.h): what is launched, and what is waited for. */
#include "gpu/sample/weighted_picks.h"

#include "core/draw_tables.h"
#include "core/draws.h"

#include <stdio.h>

#define BLOCKS 1024 /* that rows are shared out among, where a block has one */

_Static_assert(sizeof(ftb_alias_slot) == sizeof(unsigned long long), "a slot is read as a word");

/* Room for picks of each row, as many as there may be, and lists for rows that take longer. */
static GrB_Info make_room(ftb_gpu_rooms *rooms, ftb_gpu_picking *p, ftb_gpu_counters *c)
{
    ftb_sample_weighted *w = &p->weighted;
    ftb_sample_rows counted = w->rows;
    int64_t room = 0;
    GrB_Info info;
    FTB_CHECK(ftb_gpu_list(rooms, &counted.to, 8 * (p->nrows + 1)));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_PICKS, "sample_count", p->nrows, (void *[]){&counted}));
    FTB_CHECK(ftb_gpu_list_sums(rooms, counted.to, p->nrows));
    FTB_CHECK(ftb_gpu_lists_get(rooms, &room, counted.to + p->nrows, sizeof room));
    FTB_CHECK(ftb_gpu_list(rooms, &w->places, 4 * room));
    FTB_CHECK(ftb_gpu_list(rooms, &w->rest, 8 * p->nrows));
    FTB_CHECK(ftb_gpu_list(rooms, &w->rest_vertices, 8 * p->nrows));
    if (p->trees)
        FTB_CHECK(ftb_gpu_list(rooms, &w->rest_trees, 4 * p->nrows));
    if (p->k <= FTB_SAMPLE_LANES)
        FTB_CHECK(ftb_gpu_list(rooms, &w->longs, 8 * p->nrows));
    w->room = counted.to;
    w->nlongs = &c->nlongs;
    w->nrest = &c->nrest;
    w->bad = &c->bad;
done:
    return info;
}

/* Keys of all entries of the rows that are left, and their least. */
static GrB_Info finish(ftb_gpu_rooms *rooms, ftb_gpu_picking *p, ftb_gpu_counters *c, int64_t nrest)
{
    ftb_sample_rest a = {.of = p->weighted};
    ftb_sample_keys *k = &a.keys;
    int64_t entries = 0, picks = 0;
    GrB_Info info;
    k->rows = p->weighted.rows;
    k->rows.rows = a.of.rest_vertices;
    k->rows.nrows = nrest;
    k->rows.seed = ftb_random_mix(p->seed, 0, FTB_DRAW_REST);
    k->rows.trees = a.of.rest_trees;
    k->rows.columns = NULL;
    k->limit = p->k;
    k->nlongs = &c->nlongs;
    FTB_CHECK(ftb_gpu_tree_seeds(rooms, &k->rows.seeds, p, FTB_DRAW_REST));
    FTB_CHECK(ftb_gpu_zeros(rooms, k->nlongs, 1));
    FTB_CHECK(ftb_gpu_list(rooms, &k->rows.to, 8 * (nrest + 1)));
    FTB_CHECK(ftb_gpu_key_room(rooms, k, &entries));
    FTB_CHECK(ftb_gpu_zeros(rooms, k->keys, entries));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_WEIGHTED, "sample_rest_shares", entries, (void *[]){&a}));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_WEIGHTED, "sample_rest_keys", entries, (void *[]){&a}));
    FTB_CHECK(ftb_gpu_key_counts(rooms, k));
    FTB_CHECK(ftb_gpu_lists_get(rooms, &picks, k->rows.to + nrest, sizeof picks));
    FTB_CHECK(ftb_gpu_list(rooms, &k->rows.entries, 8 * picks));
    FTB_CHECK(ftb_gpu_key_picks(rooms, k));
    FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_WEIGHTED, "sample_rest_put", picks, (void *[]){&a}));
done:
    return info;
}

GrB_Info ftb_gpu_weighted_draw(ftb_gpu_rooms *rooms, ftb_gpu_picking *p, ftb_gpu_counters *c)
{
    const ftb_gpu_grid blocks = {.x = ftb_min(BLOCKS, p->nrows), .y = 1, .threads = FTB_WEIGHTED_BLOCK};
    const int lanes = p->k <= 8 ? 8 : p->k <= 16 ? 16 : 32;
    ftb_sample_weighted *w = &p->weighted;
    ftb_gpu_counters seen;
    char name[32];
    GrB_Info info;
    *w = (ftb_sample_weighted){.rows = p->keys.rows, .slots = p->slots};
    w->rows.most = &c->most;
    FTB_CHECK(make_room(rooms, p, c));
    snprintf(name, sizeof name, "sample_weighted_%d", lanes);
    if (w->longs)
        FTB_CHECK(ftb_gpu_step(rooms, FTB_GPU_SAMPLE_WEIGHTED, name, p->nrows * lanes, (void *[]){w}));
    FTB_CHECK(ftb_gpu_launch(rooms->d, rooms->ctx, FTB_GPU_SAMPLE_WEIGHTED, "sample_weighted_block", blocks,
                             (void *[]){w}));
    FTB_CHECK(ftb_gpu_lists_get(rooms, &seen, c, sizeof seen));
    if (seen.nrest > 0 && !seen.bad)
        FTB_CHECK(finish(rooms, p, c, (int64_t)seen.nrest));
    FTB_CHECK(ftb_gpu_list_sums(rooms, w->rows.to, p->nrows));
done:
    return info;
}

GrB_Info ftb_gpu_weighted_put(ftb_gpu_rooms *rooms, ftb_gpu_picking *p)
{
    ftb_sample_weighted *w = &p->weighted;
    w->rows.entries = p->keys.rows.entries;
    w->rows.columns = p->keys.rows.columns;
    return ftb_gpu_step(rooms, FTB_GPU_SAMPLE_WEIGHTED, "sample_weighted_put", p->picks, (void *[]){w});
}
