/* Numbers for the vertices that were picked, by a table of open addressing.
 *
 * It holds a place for each vertex, known or picked, and is as long as one and a half times the picks.
 * Threads claim places by exchanging compared words, in any order: numbers are given after that, to the new
 * vertices in their own order, so that they depend on nothing else. What takes time is that each look at the
 * table misses the caches, so that places are fetched well ahead. A pick remembers its place where its number
 * will be, and finds the number there in a second walk. */
#include "cpu/sample/relabel_work.h"

#include "cpu/entries/keep_run.h"

#include <stdlib.h>

#define AHEAD 24   /* picks, or new vertices, between the fetch of a place and its use */
#define CHUNK 2048 /* picks that a thread takes at a time */
#define NONE UINT32_MAX

/* Keys are vertices, of 32 bits where they fit and there are no trees. All ones: nobody's. */
typedef struct place32 {
    _Atomic uint32_t key, number;
} place32;
typedef struct place64 {
    _Atomic uint64_t key;
    _Atomic uint32_t number;
} place64;

typedef struct table {
    ftb_relabel_product *p;
    uint64_t size;
    int key_bits;   /* keys are below 2^key_bits */
    int tree_shift; /* a key is tree << tree_shift | vertex */
    void *places;
    bool narrow;    /* place32 */
    int place_bits; /* places are below 2^place_bits */
    bool packs;     /* key << place_bits | place is a word */
    int threads;
    int64_t picks;
    uint64_t *fresh; /* such words of the new vertices, or their places; room for one of every pick */
    _Atomic int64_t nfresh;
} table;

static int bits_of(uint64_t n) { return n ? 64 - __builtin_clzll(n) : 0; }

/* ---- the table */

static inline void *place_at(const table *t, uint64_t at)
{
    return t->narrow ? (void *)((place32 *)t->places + at) : (void *)((place64 *)t->places + at);
}

static inline _Atomic uint32_t *number_at(const table *t, uint64_t at)
{
    return t->narrow ? &((place32 *)t->places)[at].number : &((place64 *)t->places)[at].number;
}

static inline uint64_t first_place(const table *t, uint64_t key)
{
    return (uint64_t)((unsigned __int128)(key * UINT64_C(0x9e3779b97f4a7c15)) * t->size >> 64);
}

/* The key's place; *claimed: it was nobody's. */
static inline uint32_t claim32(const table *t, uint64_t wanted, bool *claimed)
{
    const uint32_t key = (uint32_t)wanted;
    place32 *places = t->places;
    for (uint64_t at = first_place(t, wanted);; at = at + 1 < t->size ? at + 1 : 0) {
        uint32_t was = atomic_load_explicit(&places[at].key, memory_order_relaxed);
        *claimed = was == UINT32_MAX;
        if (*claimed && t->threads == 1)
            atomic_store_explicit(&places[at].key, key, memory_order_relaxed);
        else if (*claimed)
            *claimed = atomic_compare_exchange_strong_explicit(&places[at].key, &was, key,
                                                               memory_order_relaxed, memory_order_relaxed);
        if (*claimed || was == key)
            return (uint32_t)at;
    }
}

static inline uint32_t claim64(const table *t, uint64_t key, bool *claimed)
{
    place64 *places = t->places;
    for (uint64_t at = first_place(t, key);; at = at + 1 < t->size ? at + 1 : 0) {
        uint64_t was = atomic_load_explicit(&places[at].key, memory_order_relaxed);
        *claimed = was == UINT64_MAX &&
                   atomic_compare_exchange_strong_explicit(&places[at].key, &was, key, memory_order_relaxed,
                                                           memory_order_relaxed);
        if (*claimed || was == key)
            return (uint32_t)at;
    }
}

/* Places of the keys of a chunk; into fresh, those that were nobody's: how many. */
static int64_t claim(const table *t, uint32_t *place, uint64_t *fresh, const uint64_t *key, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count && i < AHEAD; i++)
        __builtin_prefetch(place_at(t, first_place(t, key[i])), 1);
    for (int64_t i = 0; i < count; i++) {
        bool claimed;
        if (i + AHEAD < count)
            __builtin_prefetch(place_at(t, first_place(t, key[i + AHEAD])), 1);
        place[i] = t->narrow ? claim32(t, key[i], &claimed) : claim64(t, key[i], &claimed);
        fresh[found] = t->packs ? key[i] << t->place_bits | place[i] : place[i];
        found += claimed;
    }
    return found;
}

/* ---- known vertices */

static void insert_known(const table *t)
{
    const ftb_relabel_product *p = t->p;
#pragma omp parallel for num_threads(t->threads) schedule(static)
    for (int64_t first = 0; first < p->nknown; first += CHUNK) {
        const int64_t count = ftb_min(p->nknown - first, CHUNK);
        uint64_t key[CHUNK], fresh[CHUNK];
        uint32_t place[CHUNK];
        for (int64_t i = 0; i < count; i++)
            key[i] = (uint64_t)p->known[first + i] |
                     (p->trees ? (uint64_t)p->trees[first + i] << t->tree_shift : 0);
        claim(t, place, fresh, key, count);
        for (int64_t i = 0; i < count; i++)
            ftb_relabel_lower(number_at(t, place[i]), (uint32_t)(first + i));
    }
}

/* ---- picks */

static void insert_picks(table *t)
{
    const ftb_relabel_product *p = t->p;
#pragma omp parallel for num_threads(t->threads) schedule(static)
    for (int64_t first = 0; first < t->picks; first += CHUNK) {
        const int64_t count = ftb_min(t->picks - first, CHUNK);
        uint64_t key[CHUNK], fresh[CHUNK];
        for (int64_t i = 0; i < count; i++)
            key[i] = ftb_relabel_column(p, first + i);
        int64_t r = p->trees ? ftb_row_at(p->rowptr, p->nrows, first) : 0;
        for (int64_t i = 0; p->trees && i < count; i++) {
            while (p->rowptr[r + 1] <= first + i)
                r++;
            key[i] |= (uint64_t)ftb_relabel_tree(p, r) << t->tree_shift;
        }
        const int64_t found = claim(t, (uint32_t *)p->local + first, fresh, key, count);
        const int64_t at = atomic_fetch_add_explicit(&t->nfresh, found, memory_order_relaxed);
        memcpy(t->fresh + at, fresh, (size_t)found * sizeof *fresh);
    }
}

/* ---- new vertices, in order */

typedef struct found {
    uint64_t key, place;
} found;

static int by_key(const void *a, const void *b)
{
    const uint64_t x = ((const found *)a)->key, y = ((const found *)b)->key;
    return (x > y) - (x < y);
}

static inline uint64_t key_at(const table *t, uint64_t at)
{
    return t->narrow ? atomic_load_explicit(&((place32 *)t->places)[at].key, memory_order_relaxed)
                     : atomic_load_explicit(&((place64 *)t->places)[at].key, memory_order_relaxed);
}

static inline uint64_t place_of(const table *t, const found *pairs, const uint64_t *words, int64_t n)
{
    return pairs ? pairs[n].place : words[n] & ((UINT64_C(1) << t->place_bits) - 1);
}

static void number_fresh(const table *t, const found *pairs, const uint64_t *words)
{
    ftb_relabel_product *p = t->p;
#pragma omp parallel for num_threads(t->threads) schedule(static)
    for (int64_t n = 0; n < p->nfresh; n++) {
        const uint64_t key = pairs ? pairs[n].key : words[n] >> t->place_bits;
        const uint64_t at = place_of(t, pairs, words, n);
        if (n + AHEAD < p->nfresh)
            __builtin_prefetch(place_at(t, place_of(t, pairs, words, n + AHEAD)), 1);
        atomic_store_explicit(number_at(t, at), (uint32_t)(p->nknown + n), memory_order_relaxed);
        p->vertices[p->nknown + n] = (int64_t)(p->trees ? key & ((UINT64_C(1) << t->tree_shift) - 1) : key);
        if (p->trees)
            p->vertex_trees[p->nknown + n] = (int32_t)(key >> t->tree_shift);
    }
}

static GrB_Info order_fresh(const table *t)
{
    ftb_relabel_product *p = t->p;
    const int64_t count = t->nfresh;
    GrB_Info info = ftb_relabel_list(p, count, t->threads);
    found *pairs = NULL;
    uint64_t *scratch = NULL;
    if (info != GrB_SUCCESS)
        return info;
    if (t->packs) {
        scratch = ftb_new(p->ctx, count, sizeof *scratch);
        if (!scratch)
            FTB_CHECK(ftb_nomem());
        number_fresh(t, NULL,
                     ftb_sort_by(t->fresh, scratch, count, t->place_bits, t->place_bits + t->key_bits,
                                 ftb_threads_for(p->ctx, count)));
    } else {
        pairs = ftb_new(p->ctx, count, sizeof *pairs);
        if (!pairs)
            FTB_CHECK(ftb_nomem());
        for (int64_t n = 0; n < count; n++)
            pairs[n] = (found){key_at(t, t->fresh[n]), t->fresh[n]};
        qsort(pairs, (size_t)count, sizeof *pairs, by_key);
        number_fresh(t, pairs, NULL);
    }
done:
    ftb_delete(scratch);
    ftb_delete(pairs);
    return info;
}

/* ---- picks' numbers */

static void number_picks(const table *t)
{
    const ftb_relabel_product *p = t->p;
#pragma omp parallel for num_threads(t->threads) schedule(dynamic)
    for (int64_t first = 0; first < p->nrows; first += FTB_RELABEL_ROWS) {
        const int64_t end = ftb_min(p->nrows, first + FTB_RELABEL_ROWS);
        const int64_t picked = p->rowptr[end];
        for (int64_t e = p->rowptr[first]; e < picked; e++) {
            if (e + AHEAD < picked)
                __builtin_prefetch(place_at(t, (uint32_t)p->local[e + AHEAD]));
            p->local[e] =
                (int32_t)atomic_load_explicit(number_at(t, (uint32_t)p->local[e]), memory_order_relaxed);
        }
        ftb_relabel_sort(p, first, end);
    }
}

/* ---- all of it */

/* Places from which parts of the table begin. */
static uint64_t part_of(const table *t, int part)
{
    return t->size / (uint64_t)t->threads * (uint64_t)part +
           (part == t->threads ? t->size % (uint64_t)t->threads : 0);
}

static GrB_Info make_table(table *t)
{
    const ftb_relabel_product *p = t->p;
    t->size = (uint64_t)(p->nknown + t->picks) * 3 / 2 + 2; /* fits uint32_t: there are no more numbers */
    t->tree_shift = bits_of((uint64_t)p->bound);
    t->key_bits = t->tree_shift + (p->trees ? bits_of((uint64_t)p->ntrees) : 0);
    t->narrow = !p->trees && !p->wide;
    if (t->key_bits > 63)
        return ftb_fail(FTB_LIMIT, "%lld trees over %lld vertices: expected less than 2^63 pairs of them",
                        (long long)p->ntrees, (long long)p->bound);
    t->place_bits = bits_of(t->size);
    t->packs = t->key_bits + t->place_bits <= 64;
    const size_t place = t->narrow ? sizeof(place32) : sizeof(place64);
    t->places = ftb_new(p->ctx, (int64_t)t->size, place);
    t->fresh = ftb_new(p->ctx, t->picks, sizeof *t->fresh);
    if (!t->places || !t->fresh)
        return ftb_nomem();
#pragma omp parallel for num_threads(t->threads) schedule(static)
    for (int part = 0; part < t->threads; part++)
        memset((char *)t->places + part_of(t, part) * place, 0xff,
               (part_of(t, part + 1) - part_of(t, part)) * place);
    return GrB_SUCCESS;
}

GrB_Info ftb_relabel_by_table(ftb_relabel_product *p, int threads)
{
    GrB_Info info;
    table t = {.p = p, .picks = p->rowptr[p->nrows], .threads = threads};
    FTB_CHECK(make_table(&t));
    insert_known(&t);
    insert_picks(&t);
    FTB_CHECK(order_fresh(&t));
    number_picks(&t);
    if (p->work)
        *p->work += (int64_t)t.size;
done:
    ftb_delete(t.places);
    ftb_delete(t.fresh);
    return info;
}
