/* Vertices by buckets (bins.h). */
#include "cpu/graph/bins.h"

#define SLAB 16 /* chunks that are allocated together, at least: 16 KiB */

void ftb_bins_free(ftb_bins *b) { ftb_arena_free(&b->arena); }

bool ftb_bins_reserve(ftb_bins *b, int64_t count)
{
    while (b->spares < count) {
        const int64_t more = ftb_max(SLAB, count - b->spares);
        ftb_bin_chunk *slab = ftb_arena_new(&b->arena, more, sizeof *slab);
        if (!slab)
            return false;
        for (int64_t c = more - 1; c >= 0; c--)
            ftb_bins_give(b, &slab[c]);
    }
    return true;
}

bool ftb_bins_extend(ftb_bins *b, ftb_bin *bin)
{
    if (!b->spare && !ftb_bins_reserve(b, 1))
        return false;
    ftb_bin_chunk *chunk = b->spare;
    b->spare = chunk->next;
    b->spares--;
    chunk->next = NULL;
    chunk->count = 0;
    if (bin->last)
        bin->last->next = chunk;
    else
        bin->first = chunk;
    bin->last = chunk;
    return true;
}

int64_t ftb_bins_first(const ftb_bins *b)
{
    for (int64_t word = 0; word < FTB_BINS / 64; word++)
        if (b->some[word])
            return b->low + 64 * word + __builtin_ctzll(b->some[word]);
    return FTB_NO_BUCKET;
}

int64_t ftb_bins_count(const ftb_bins *b, int64_t bucket)
{
    int64_t count = 0;
    for (const ftb_bin_chunk *c = b->bin[bucket - b->low].first; c; c = c->next)
        count += c->count;
    return count;
}

ftb_bin_chunk *ftb_bins_take(ftb_bins *b, int64_t bucket)
{
    const int64_t at = bucket - b->low;
    if (at < 0 || at >= FTB_BINS)
        return NULL;
    ftb_bin_chunk *first = b->bin[at].first;
    b->bin[at] = (ftb_bin){NULL, NULL};
    b->some[at / 64] &= ~(UINT64_C(1) << (at % 64));
    return first;
}

int64_t ftb_bins_far(const ftb_bins *b, ftb_bucket_of bucket, const void *of)
{
    int64_t least = FTB_NO_BUCKET;
    for (const ftb_bin_chunk *c = b->far.first; c; c = c->next)
        for (int64_t t = 0; t < c->count; t++)
            least = ftb_min(least, bucket(of, c->at[t]));
    return least;
}

void ftb_bins_close(ftb_bins *b)
{
    for (int64_t at = 0; at < FTB_BINS; at++) {
        if (!b->bin[at].first)
            continue;
        b->bin[at].last->next = b->far.first;
        b->far.first = b->bin[at].first;
        b->far.last = b->far.last ? b->far.last : b->bin[at].last;
        b->bin[at] = (ftb_bin){NULL, NULL};
    }
    memset(b->some, 0, sizeof b->some);
}

bool ftb_bins_move(ftb_bins *b, int64_t low, ftb_bucket_of bucket, const void *of)
{
    int64_t waiting = 0;
    for (const ftb_bin_chunk *c = b->far.first; c; c = c->next)
        waiting += c->count;
    if (!ftb_bins_reserve(b, ftb_min(waiting, FTB_BINS + 2))) /* as many may begin before one is read */
        return false;
    ftb_bin_chunk *c = b->far.first;
    b->far = (ftb_bin){NULL, NULL};
    b->low = low;
    while (c) {
        ftb_bin_chunk *next = c->next;
        for (int64_t t = 0; t < c->count; t++) {
            const int64_t to = bucket(of, c->at[t]);
            if (to != FTB_NO_BUCKET)
                (void)ftb_bins_push(b, to, c->at[t]); /* there is room */
        }
        ftb_bins_give(b, c);
        c = next;
    }
    return true;
}
