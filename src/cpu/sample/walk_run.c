/* Walks, step by step (walk_run.h).
 *
 * node2vec by refusal: a neighbour x of v is drawn as if there were no walk, and taken with chance
 * b(x) / max b, where b is 1 / p, 1 or 1 / q, as the vertex before v has it; else another is drawn. So a step
 * costs what a pick does, times max b over the mean of b, whatever the degree of v. Whether the vertex before
 * has an edge to x is looked at only where the draw does not tell: where x would be if its columns were
 * evenly spread, then between what was found there and the end on x's side, and so on; every fourth time in
 * the middle, so that no row takes more than four times what halving takes. Perl, Itai and Avni,
 * "Interpolation search - a log log N search", CACM 21(7), 1978. Zhou, Niu and Chen, "Efficient graph
 * computation for Node2Vec", 2018; Yang et al., "KnightKing", SOSP 2019. */
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

/* ---- taking what was picked */

#define SIDE 32 /* walks that search side by side: a search misses the caches at each step */
#define HALVE 4 /* steps of a search, of which one halves */

/* Picks, and what is left of those that the draw alone does not decide. */
typedef struct search {
    int64_t r, x;          /* which row's pick, and the vertex */
    int64_t first, end;    /* where x would be, in the row of the vertex before */
    int64_t low, high;     /* columns that are before and after that: x is between them */
    int64_t at, steps;     /* to be looked at, and how many were */
    bool near, far, found; /* whether it is taken if it is there, and if it is not */
} search;
typedef struct taking {
    ftb_walkers *w;
    const uint64_t *keys;
    const int64_t *rowptr;
    const void *columns;
    uint64_t stream;
    int64_t next;
} taking;

/* Fetches the next place to look at, of one or more. */
static inline void aim(const ftb_pattern *p, search *s)
{
    const int64_t count = s->end - s->first;
    const double share = (double)(s->x - s->low) / (double)(s->high - s->low);
    const int64_t there = s->steps++ % HALVE == HALVE - 1 ? count / 2 : (int64_t)((double)count * share);
    s->at = s->first + ftb_min(there, count - 1);
    __builtin_prefetch((const char *)p->colidx + s->at * (p->wide ? 8 : 4));
}

/* Whether the entries are there. */
static void search_rows(const ftb_pattern *p, search *list, int count)
{
    for (bool some = count > 0; some;) {
        some = false;
        for (int k = 0; k < count; k++) {
            search *s = &list[k];
            if (s->first >= s->end)
                continue;
            const int64_t column = ftb_col(p, s->at);
            if (column == s->x) {
                s->found = true;
                s->first = s->end;
            } else if (column < s->x) {
                s->first = s->at + 1;
                s->low = column;
            } else {
                s->end = s->at;
                s->high = column;
            }
            if (s->first < s->end)
                aim(p, s);
            some = true;
        }
    }
}

static void decide(const taking *t, int64_t r, int64_t x, bool take)
{
    ftb_walkers *w = t->w;
    const int64_t walk = w->who[r];
    if (take) {
        w->next[walk] = x;
        w->who[r] = -1;
    } else
        w->again[walk] = ftb_random_mix(w->key[walk], (uint64_t)t->next, FTB_DRAW_AGAIN);
}

/* Of node2vec, whether the walk takes x; false: that is to be looked for, by what is put into *s. */
static bool decided(const taking *t, int64_t r, int64_t x, search *s, bool *take)
{
    const ftb_walkers *w = t->w;
    const int64_t walk = w->who[r], before = w->before[walk];
    const double most = ftb_max(1, ftb_max(w->back, w->out));
    *take = true;
    if (x < 0 || before < 0 || (w->back == 1 && w->out == 1))
        return true;
    const uint32_t word = ftb_draw(t->keys[walk], (uint64_t)w->at[walk], t->stream, DRAW_ACCEPT, false);
    const bool near = happens(word, 1 / most), far = happens(word, w->out / most);
    *take = x == before ? happens(word, w->back / most) : near;
    *s = (search){.r = r, .x = x, .low = -1, .high = w->p->ncols, .near = near, .far = far};
    if (x == before || near == far)
        return true;
    s->first = w->p->rowptr[before];
    s->end = w->p->rowptr[before + 1];
    if (s->first < s->end)
        aim(w->p, s);
    return false;
}

static void take_rows(const taking *t, int64_t first, int64_t end)
{
    search list[SIDE];
    int count = 0;
    for (int64_t r = first; r < end; r++) {
        const int64_t e = t->rowptr[r];
        const int64_t x = t->rowptr[r + 1] == e ? -1
                          : t->w->p->wide       ? ((const int64_t *)t->columns)[e]
                                                : ((const int32_t *)t->columns)[e];
        bool take;
        if (decided(t, r, x, &list[count], &take))
            decide(t, r, x, take);
        else
            count++;
    }
    search_rows(t->w->p, list, count);
    for (int k = 0; k < count; k++)
        decide(t, list[k].r, list[k].x, list[k].found ? list[k].near : list[k].far);
}

void ftb_walk_take(ftb_walkers *w, const int64_t *rowptr, const void *columns, uint64_t stream, int64_t next)
{
    const taking t = {.w = w,
                      .keys = next > 1 ? w->again : w->key,
                      .rowptr = rowptr,
                      .columns = columns,
                      .stream = stream,
                      .next = next};
#pragma omp parallel for num_threads(threads_for(w, w->npending)) schedule(static)
    for (int64_t first = 0; first < w->npending; first += SIDE)
        take_rows(&t, first, ftb_min(first + SIDE, w->npending));
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
