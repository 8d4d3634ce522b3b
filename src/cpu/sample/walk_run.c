/* Walks, step by step (walk_run.h).
 *
 * node2vec by refusal: a neighbour x of v is drawn as if there were no walk, and taken with chance
 * b(x) / max b, where b is 1 / p, 1 or 1 / q, as the vertex before v has it; else another is drawn. So a step
 * costs what a pick does, times max b over the mean of b, whatever the degree of v. Whether the vertex before
 * has an edge to x, a binary search, is looked at only where the draw does not tell. Zhou, Niu and Chen,
 * "Efficient graph computation for Node2Vec", 2018; Yang et al., "KnightKing", SOSP 2019. */
#include "cpu/sample/walk_run.h"

#include "core/draws.h"

#define WALK_WORK 16 /* a walk's step costs as much as so many entries of other operations */
/* Draws of a step beside its pick, which has those of block 0. */
enum { DRAW_RESTART = 4, DRAW_ACCEPT = 5 };

static int threads_for(const ftb_walkers *w, int64_t count)
{
    return ftb_threads_for(w->ctx, WALK_WORK * count);
}

static inline int64_t start_of(const ftb_walkers *w, int64_t t)
{
    return w->starts[(w->first + t) / w->each];
}

static inline uint64_t number_of(const ftb_walkers *w, int64_t t)
{
    return (uint64_t)(w->placed ? w->first + t : (w->first + t) % w->each);
}

/* Whether something of that chance happens, by a draw. */
static inline bool happens(uint32_t word, double chance) { return (double)word < chance * 0x1p32; }

void ftb_walk_keys(const ftb_walkers *w, uint64_t seed)
{
#pragma omp parallel for num_threads(threads_for(w, w->count)) schedule(static)
    for (int64_t t = 0; t < w->count; t++)
        w->key[t] = ftb_random_mix(seed, (uint64_t)start_of(w, t), FTB_DRAW_WALK | number_of(w, t));
}

void ftb_walk_begin(ftb_walkers *w)
{
#pragma omp parallel for num_threads(threads_for(w, w->count)) schedule(static)
    for (int64_t t = 0; t < w->count; t++) {
        w->next[t] = start_of(w, t);
        w->at[t] = -1;
    }
}

void ftb_walk_ask(ftb_walkers *w, uint64_t stream)
{
#pragma omp parallel for num_threads(threads_for(w, w->count)) schedule(static)
    for (int64_t t = 0; t < w->count; t++) {
        const bool back =
            w->restart > 0 && w->at[t] >= 0 &&
            happens(ftb_draw(w->key[t], (uint64_t)w->at[t], stream, DRAW_RESTART, false), w->restart);
        w->next[t] = back ? start_of(w, t) : -1;
        if (back)
            w->at[t] = -1; /* nothing is before a start */
        w->who[t] = w->at[t] < 0 ? -1 : (int32_t)t;
    }
    int64_t count = 0;
    for (int64_t t = 0; t < w->count; t++)
        if (w->who[t] >= 0) {
            w->rows[count] = w->at[t];
            w->who[count++] = (int32_t)t;
        }
    w->npending = count;
}

/* Whether p has the entry (i, j). */
static bool has_entry(const ftb_pattern *p, int64_t i, int64_t j)
{
    int64_t first = p->rowptr[i], end = p->rowptr[i + 1];
    while (first < end) {
        const int64_t middle = first + (end - first) / 2, column = ftb_col(p, middle);
        if (column == j)
            return true;
        if (column < j)
            first = middle + 1;
        else
            end = middle;
    }
    return false;
}

/* Whether walk t takes the vertex x that was drawn for it. */
static bool accepts(const ftb_walkers *w, int64_t t, int64_t x, uint64_t key, uint64_t stream)
{
    const int64_t before = w->before[t];
    const double most = ftb_max(1, ftb_max(w->back, w->out));
    if (before < 0 || (w->back == 1 && w->out == 1))
        return true;
    const uint32_t word = ftb_draw(key, (uint64_t)w->at[t], stream, DRAW_ACCEPT, false);
    if (x == before)
        return happens(word, w->back / most);
    const bool near = happens(word, 1 / most), far = happens(word, w->out / most);
    return near == far ? near : has_entry(w->p, before, x) ? near : far;
}

void ftb_walk_take(ftb_walkers *w, const int64_t *rowptr, const void *columns, uint64_t stream, int64_t next)
{
    const uint64_t *keys = next > 1 ? w->again : w->key;
    const bool wide = w->p->wide;
#pragma omp parallel for num_threads(threads_for(w, w->npending)) schedule(static)
    for (int64_t r = 0; r < w->npending; r++) {
        const int64_t t = w->who[r], e = rowptr[r];
        const bool some = rowptr[r + 1] > e;
        const int64_t x = !some ? -1 : wide ? ((const int64_t *)columns)[e] : ((const int32_t *)columns)[e];
        if (!some || accepts(w, t, x, keys[t], stream)) {
            w->next[t] = x;
            w->who[r] = -1;
        } else
            w->again[t] = ftb_random_mix(w->key[t], (uint64_t)next, FTB_DRAW_AGAIN);
    }
    int64_t count = 0;
    for (int64_t r = 0; r < w->npending; r++)
        if (w->who[r] >= 0) {
            w->rows[count] = w->rows[r];
            w->who[count++] = w->who[r];
        }
    w->npending = count;
}

void ftb_walk_put(ftb_walkers *w, int64_t *out, int64_t ld)
{
#pragma omp parallel for num_threads(threads_for(w, w->count)) schedule(static)
    for (int64_t t = 0; t < w->count; t++) {
        w->before[t] = w->at[t];
        w->at[t] = out[t * ld] = w->next[t];
    }
}
