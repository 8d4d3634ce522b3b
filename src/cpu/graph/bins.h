/* Vertices in order of a bucket's number, each bucket in the order in which they came.
 *
 * A window of buckets has a list each; what lies behind the window waits in one list, `far`, and is told
 * apart when the window is empty and moves on. Where a vertex has come twice, or its bucket is another one by
 * now, is for the caller to see. Lists are of chunks, which are used again. */
#ifndef FTB_CPU_BINS_H
#define FTB_CPU_BINS_H

#include "core/arena.h"

#define FTB_BINS 1024 /* of the window */
#define FTB_NO_BUCKET INT64_MAX

enum { FTB_BIN_CHUNK = 126 }; /* vertices: with the fields 1 KiB */
typedef struct ftb_bin_chunk {
    struct ftb_bin_chunk *next;
    int64_t count;
    int64_t at[FTB_BIN_CHUNK];
} ftb_bin_chunk;

typedef struct ftb_bin { /* NULL: empty */
    ftb_bin_chunk *first, *last;
} ftb_bin;

typedef struct ftb_bins {           /* begins as {.arena = {.ctx = ...}} */
    _Alignas(FTB_LINE) int64_t low; /* the window's first bucket */
    ftb_bin bin[FTB_BINS], far;
    uint64_t some[FTB_BINS / 64]; /* bits: bins that are not empty */
    ftb_bin_chunk *spare;
    int64_t spares;
    ftb_arena arena;
} ftb_bins;

void ftb_bins_free(ftb_bins *b);
/* Room for another chunk in `bin`; false: there is no memory, with its message. */
bool ftb_bins_extend(ftb_bins *b, ftb_bin *bin);
/* Room for `count` chunks, whichever bins they come to. */
bool ftb_bins_reserve(ftb_bins *b, int64_t count);

static inline bool ftb_bins_put(ftb_bins *b, ftb_bin *bin, int64_t v)
{
    if ((!bin->last || bin->last->count == FTB_BIN_CHUNK) && !ftb_bins_extend(b, bin))
        return false;
    bin->last->at[bin->last->count++] = v;
    return true;
}

/* v comes into a bucket, of the window or behind it. */
static inline bool ftb_bins_push(ftb_bins *b, int64_t bucket, int64_t v)
{
    const int64_t at = bucket - b->low;
    if (at >= FTB_BINS)
        return ftb_bins_put(b, &b->far, v);
    b->some[at / 64] |= UINT64_C(1) << (at % 64);
    return ftb_bins_put(b, &b->bin[at], v);
}

/* The first bucket of the window that has vertices; FTB_NO_BUCKET: it is empty. */
int64_t ftb_bins_first(const ftb_bins *b);
/* Vertices of a bucket's list. */
int64_t ftb_bins_count(const ftb_bins *b, int64_t bucket);
/* Takes a bucket's list out: its chunks are to be given back. NULL: it is empty. */
ftb_bin_chunk *ftb_bins_take(ftb_bins *b, int64_t bucket);
/* One that was read, of these bins or of others like them. */
static inline void ftb_bins_give(ftb_bins *b, ftb_bin_chunk *chunk)
{
    chunk->next = b->spare;
    b->spare = chunk;
    b->spares++;
}

/* By a vertex' own number what its bucket is now; FTB_NO_BUCKET: it is to be forgotten. */
typedef int64_t (*ftb_bucket_of)(const void *of, int64_t v);
/* The least bucket of what waits behind the window. */
int64_t ftb_bins_far(const ftb_bins *b, ftb_bucket_of bucket, const void *of);
/* All that is in the window waits behind it, for ftb_bins_move to follow. */
void ftb_bins_close(ftb_bins *b);
/* The window, which is empty, begins at `low`, which no vertex is below. False: no memory; nothing is lost.
 */
bool ftb_bins_move(ftb_bins *b, int64_t low, ftb_bucket_of bucket, const void *of);

#endif
