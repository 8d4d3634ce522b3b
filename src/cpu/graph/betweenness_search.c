/* Brandes's algorithm from one source. Forward, level by level: the number of shortest paths to a vertex is
 * the sum of those to its predecessors in the last level. Back: of the paths to w and to all behind it,
 * paths(v) / paths(w) go over an edge (v, w); so v gains paths(v) times the sum of (1 + gained by w) /
 * paths(w). Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 2001.
 *
 * Both are sums over the neighbours of a vertex that are in another level, for which there are bits. They are
 * pulled, row by row, or pushed from the other level, whichever has fewer entries: a level of few vertices
 * with many entries beside a large one of vertices with few is the rule in graphs with hubs. Levels are
 * sorted, so that a vertex's terms come in the order of its row both ways. Threads have vertices of their own
 * that they add to.
 *
 * Of grids and the like there are more paths than FP64 has room for. Then numbers have a scale beside them
 * (add, settle), which is exact where they would have had room. */
#include "cpu/graph/betweenness_search.h"

#include "core/search.h"

#include <math.h>
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    WORD = 64,
    AHEAD = 8,    /* rows that are fetched before they are pushed along */
    PARTS = 256,  /* of a level, at most */
    SMALL = 8192, /* entries: fewer are one thread's */
    STEP = 512    /* powers of two, that a scale counts */
};

#define MOST_PATHS 0x1p1000 /* whose inverse has all its bits */
#define HIGH 0x1p256        /* numbers with a scale are below it, and not below its inverse */

/* Nanoseconds on one Zen 5 core, Kronecker graph of scale 20: orders of magnitude. */
#define PUSH 4.0 /* an entry that a value is pushed along: its column is anywhere */
#define PULL 1.0 /* an entry whose column's bit is looked at */
#define ROW 6.0  /* a row that is visited */

typedef struct span {
    int64_t first, end;
} span;

typedef struct tally {
    int64_t count, in; /* vertices that were reached, and entries that lead to them */
    bool large;
} tally;

INLINE bool has(const uint64_t *bits, int64_t v) { return bits[v / WORD] >> (v % WORD) & 1; }
INLINE void put(uint64_t *bits, int64_t v) { bits[v / WORD] |= UINT64_C(1) << (v % WORD); }

/* ---- numbers with a scale */

/* x 2^(-512 steps) */
static double lower(double x, int32_t steps) { return steps > 4 ? 0 : ldexp(x, -STEP * steps); }

INLINE void add(const ftb_betweenness_values *y, int64_t v, double x, int32_t scale, const bool scaled)
{
    if (!scaled || scale == y->scale[v]) {
        y->x[v] += x;
    } else if (y->x[v] == 0 || scale > y->scale[v]) {
        y->x[v] = (y->x[v] == 0 ? 0 : lower(y->x[v], scale - y->scale[v])) + x;
        y->scale[v] = scale;
    } else
        y->x[v] += lower(x, y->scale[v] - scale);
}

static void settle(const ftb_betweenness_values *y, int64_t v)
{
    for (; y->x[v] >= HIGH; y->scale[v]++)
        y->x[v] = ldexp(y->x[v], -STEP);
}

/* ---- sums over neighbours in another level */

/* y(v) = sum of y over the columns of row v that have a bit. */
INLINE void pull_row(const ftb_betweenness_values *y, const ftb_pattern *rows, int64_t v,
                     const uint64_t *bits, const bool scaled)
{
    const int32_t *column = rows->colidx;
    for (int64_t e = rows->rowptr[v]; e < rows->rowptr[v + 1]; e++) {
        const int32_t u = column[e];
        if (has(bits, u))
            add(y, v, y->x[u], scaled ? y->scale[u] : 0, scaled);
    }
}

/* y of vertices order[from] is added to that of their columns in `to`: forward, to those that have no bit,
 * which are listed in `found` when they get their first; back, to those that have one. */
INLINE int64_t push_rows(const ftb_betweenness_search *s, const ftb_betweenness_values *y,
                         const ftb_pattern *rows, span from, span to, const uint64_t *bits, int32_t *found,
                         const bool forward, const bool scaled)
{
    const int64_t *rowptr = rows->rowptr;
    const int32_t *column = rows->colidx;
    int64_t count = 0;
    for (int64_t t = from.first; t < from.end; t++) {
        const int32_t u = s->order[t];
        __builtin_prefetch(&rowptr[s->order[ftb_min(t + 2 * AHEAD, from.end - 1)]]);
        __builtin_prefetch(&column[rowptr[s->order[ftb_min(t + AHEAD, from.end - 1)]]]);
        const int64_t end = rowptr[u + 1];
        int64_t e = to.first == 0 ? rowptr[u] : ftb_first_entry(rows, rowptr[u], end, to.first);
        for (; e < end && column[e] < to.end; e++) {
            const int32_t v = column[e];
            if (has(bits, v) == forward)
                continue;
            if (forward && y->x[v] == 0)
                found[count++] = v;
            add(y, v, y->x[u], scaled ? y->scale[u] : 0, scaled);
        }
    }
    return count;
}

/* ---- how a level is shared out
 *
 * Small levels, of which there may be a million, begin no parallel region, not even of one thread. */

/* Vertices of a part: about as many entries that lead to them, and words of bits of their own. */
static span part_of(const ftb_betweenness_search *s, int part, int parts)
{
    const int64_t n = s->w->in->nrows;
    const int64_t first = parts == 1 ? 0 : ftb_pattern_cut(s->w->in, part, parts) / WORD * WORD;
    return (span){first, part + 1 == parts ? n : ftb_pattern_cut(s->w->in, part + 1, parts) / WORD * WORD};
}

static int threads_for(const ftb_betweenness_search *s, double entries)
{
    if (s->threads == 1 || entries < SMALL)
        return 1;
    return ftb_min(s->threads, ftb_threads_for(s->w->ctx, (int64_t)entries));
}

/* A part of a push goes through all rows: there are no more than threads. */
static int parts_for(int threads, bool push)
{
    return threads == 1 ? 1 : (int)ftb_min(PARTS, push ? threads : 16 * threads);
}

static bool pushes(const ftb_betweenness_search *s, double push, double pull)
{
    return s->w->way == FTB_WAY_PUSH || (s->w->way != FTB_WAY_PULL && push <= pull);
}

static double entries_of(const ftb_betweenness_search *s, const ftb_pattern *rows, span of)
{
    const int threads = threads_for(s, (double)(of.end - of.first));
    int64_t sum = 0;
    if (threads == 1)
        for (int64_t t = of.first; t < of.end; t++)
            sum += rows->rowptr[s->order[t] + 1] - rows->rowptr[s->order[t]];
    else
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
        for (int64_t t = of.first; t < of.end; t++)
            sum += rows->rowptr[s->order[t] + 1] - rows->rowptr[s->order[t]];
    return (double)sum;
}

static span level_of(const ftb_betweenness_search *s, int64_t l)
{
    return (span){s->start[l], s->start[l + 1]};
}

static void set_bits(const ftb_betweenness_search *s, uint64_t *bits, span of)
{
    for (int64_t t = of.first; t < of.end; t++)
        put(bits, s->order[t]);
}

static void clear_bits(const ftb_betweenness_search *s, uint64_t *bits, span of)
{
    const int64_t words = (s->w->in->nrows + WORD - 1) / WORD;
    if (of.end - of.first > words)
        memset(bits, 0, (size_t)words * sizeof *bits);
    else
        for (int64_t t = of.first; t < of.end; t++)
            bits[s->order[t] / WORD] = 0;
}

/* ---- forward */

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Few are sorted; of many, bits are read in their order. */
static void sort_found(uint64_t *bits, int32_t *found, int64_t count, span to)
{
    enum { FEW = 4096 }; /* one of so many vertices */
    int64_t at = 0;
    if (count < (to.end - to.first) / FEW) {
        qsort(found, (size_t)count, sizeof *found, by_number);
        return;
    }
    for (int64_t k = 0; k < count; k++)
        put(bits, found[k]);
    for (int64_t word = to.first / WORD; word * WORD < to.end; word++)
        for (uint64_t left = bits[word]; left; left &= left - 1)
            found[at++] = (int32_t)(word * WORD + __builtin_ctzll(left));
}

INLINE int64_t pull_unseen(const ftb_betweenness_search *s, span to, int32_t *found, const bool scaled)
{
    int64_t count = 0;
    for (int64_t word = to.first / WORD; word * WORD < to.end; word++)
        for (uint64_t left = ~s->seen[word]; left; left &= left - 1) {
            const int64_t v = word * WORD + __builtin_ctzll(left);
            if (v >= to.end)
                break;
            pull_row(&s->paths, s->w->in, v, s->member, scaled);
            if (s->paths.x[v] > 0)
                found[count++] = (int32_t)v;
        }
    return count;
}

/* Who of `to` is reached from the level `from`. */
static tally reach_part(const ftb_betweenness_search *s, bool push, span from, span to)
{
    const bool scaled = s->paths.scale != NULL;
    int32_t *found = s->found + to.first;
    tally t = {.count = 0};
    if (!push)
        t.count = scaled ? pull_unseen(s, to, found, true) : pull_unseen(s, to, found, false);
    else {
        t.count = scaled ? push_rows(s, &s->paths, s->w->out, from, to, s->seen, found, true, true)
                         : push_rows(s, &s->paths, s->w->out, from, to, s->seen, found, true, false);
        sort_found(s->next, found, t.count, to);
    }
    for (int64_t k = 0; k < t.count; k++) {
        const int32_t v = found[k];
        put(s->seen, v);
        put(s->next, v);
        t.in += s->w->in->rowptr[v + 1] - s->w->in->rowptr[v];
        t.large = t.large || s->paths.x[v] > MOST_PATHS;
        if (scaled)
            settle(&s->paths, v);
    }
    return t;
}

/* The next level; false: there were too many paths. */
static bool reach(ftb_betweenness_search *s)
{
    const span from = level_of(s, s->nlevels - 1);
    const double out = entries_of(s, s->w->out, from);
    const bool push = pushes(s, out * PUSH + (double)(from.end - from.first) * ROW,
                             (double)s->left * PULL + (double)s->unseen * ROW);
    const int threads = threads_for(s, push ? out : (double)(s->left + s->unseen)),
              parts = parts_for(threads, push);
    tally part[PARTS];
    bool large = false;
    if (threads == 1)
        part[0] = reach_part(s, push, from, part_of(s, 0, 1));
    else
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int p = 0; p < parts; p++)
            part[p] = reach_part(s, push, from, part_of(s, p, parts));
    int64_t end = from.end;
    for (int p = 0; p < parts; p++) {
        memcpy(s->order + end, s->found + part_of(s, p, parts).first,
               (size_t)part[p].count * sizeof *s->order);
        end += part[p].count;
        s->left -= part[p].in;
        large = large || part[p].large;
    }
    s->unseen -= end - from.end;
    clear_bits(s, s->member, from);
    uint64_t *swap = s->member;
    s->member = s->next;
    s->next = swap;
    s->start[++s->nlevels] = (int32_t)end;
    s->large = large && !s->paths.scale;
    return !s->large;
}

static bool search_forward(ftb_betweenness_search *s, int64_t source)
{
    s->paths.x[source] = 1;
    s->order[0] = (int32_t)source;
    s->start[0] = 0;
    s->start[1] = 1;
    s->nlevels = 1;
    s->left = s->w->in->nvals - (s->w->in->rowptr[source + 1] - s->w->in->rowptr[source]);
    s->unseen = s->w->nothers;
    put(s->seen, source);
    put(s->member, source);
    while (s->start[s->nlevels] > s->start[s->nlevels - 1])
        if (ftb_cancelled(s->w->ctx) || !reach(s))
            return false;
    s->nlevels--; /* the last is empty, and so are its bits */
    return true;
}

/* ---- back */

static void pull_one(const ftb_betweenness_search *s, int64_t v)
{
    if (s->gain.scale)
        pull_row(&s->gain, s->w->out, v, s->member, true);
    else
        pull_row(&s->gain, s->w->out, v, s->member, false);
}

static void push_part(const ftb_betweenness_search *s, span from, span to)
{
    if (s->gain.scale)
        push_rows(s, &s->gain, s->w->in, from, to, s->member, NULL, false, true);
    else
        push_rows(s, &s->gain, s->w->in, from, to, s->member, NULL, false, false);
}

static void pull_back(const ftb_betweenness_search *s, span to, int threads)
{
    if (threads == 1)
        for (int64_t t = to.first; t < to.end; t++)
            pull_one(s, s->order[t]);
    else
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
        for (int64_t t = to.first; t < to.end; t++)
            pull_one(s, s->order[t]);
}

static void push_back(const ftb_betweenness_search *s, span from, int threads)
{
    const int parts = parts_for(threads, true);
    if (threads == 1)
        push_part(s, from, part_of(s, 0, 1));
    else
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int p = 0; p < parts; p++)
            push_part(s, from, part_of(s, p, parts));
}

/* Sums of what comes back to level `to` from the one behind it. */
static void collect(const ftb_betweenness_search *s, span to, span from)
{
    const double out = entries_of(s, s->w->out, to), in = entries_of(s, s->w->in, from);
    const bool push = pushes(s, in * PUSH + (double)(from.end - from.first) * ROW,
                             out * PULL + (double)(to.end - to.first) * ROW);
    set_bits(s, s->member, push ? to : from);
    if (push)
        push_back(s, from, threads_for(s, in));
    else
        pull_back(s, to, threads_for(s, out));
    clear_bits(s, s->member, push ? to : from);
}

/* v has all of its gain: what the source adds to it, and what goes on from it. */
static void finish(const ftb_betweenness_search *s, int64_t v)
{
    const ftb_betweenness_values *paths = &s->paths, *gain = &s->gain;
    double adds = paths->x[v] * gain->x[v];
    if (gain->scale) {
        const int32_t scale = paths->scale[v] + gain->scale[v];
        adds = scale < 0 ? lower(adds, -scale) : ldexp(adds, STEP * scale);
    }
    gain->x[v] = (1 + adds) / paths->x[v];
    paths->x[v] = adds;
    if (gain->scale) {
        gain->scale[v] = -paths->scale[v];
        settle(gain, v);
    }
}

static void finish_all(const ftb_betweenness_search *s, span level)
{
    const int threads = threads_for(s, 4 * (double)(level.end - level.first));
    if (threads == 1)
        for (int64_t t = level.first; t < level.end; t++)
            finish(s, s->order[t]);
    else
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t t = level.first; t < level.end; t++)
            finish(s, s->order[t]);
}

static bool search_back(ftb_betweenness_search *s)
{
    for (int64_t l = s->nlevels - 1; l > 0; l--) {
        if (ftb_cancelled(s->w->ctx))
            return false;
        if (l + 1 < s->nlevels)
            collect(s, level_of(s, l), level_of(s, l + 1));
        finish_all(s, level_of(s, l));
    }
    return true;
}

/* ---- sources */

bool ftb_betweenness_search_run(ftb_betweenness_search *s, int64_t source)
{
    return search_forward(s, source) && search_back(s);
}

void ftb_betweenness_search_add(ftb_betweenness_search *s)
{
    const int64_t n = s->w->in->nrows, reached = s->start[s->nlevels];
#pragma omp parallel for num_threads(threads_for(s, 4 * (double)reached)) schedule(static) if (s->threads > 1)
    for (int64_t t = 0; t < reached; t++) {
        const int32_t v = s->order[t];
        if (t > 0)
            s->w->sums[v] += s->paths.x[v];
        s->paths.x[v] = s->gain.x[v] = 0;
        if (s->paths.scale)
            s->paths.scale[v] = s->gain.scale[v] = 0;
    }
    memcpy(s->seen, s->w->none, (size_t)((n + WORD - 1) / WORD) * sizeof *s->seen);
}

GrB_Info ftb_betweenness_search_new(ftb_betweenness_search *s, const ftb_betweenness *w, int threads)
{
    const int64_t n = w->in->nrows, words = (n + WORD - 1) / WORD;
    *s = (ftb_betweenness_search){.w = w, .threads = threads};
    s->paths.x = ftb_new0(w->ctx, n, sizeof(double));
    s->gain.x = ftb_new0(w->ctx, n, sizeof(double));
    s->order = ftb_new(w->ctx, n, sizeof *s->order);
    s->found = ftb_new(w->ctx, n, sizeof *s->found);
    s->start = ftb_new(w->ctx, n + 2, sizeof *s->start);
    s->seen = ftb_new(w->ctx, words, sizeof *s->seen);
    s->member = ftb_new0(w->ctx, words, sizeof *s->member);
    s->next = ftb_new0(w->ctx, words, sizeof *s->next);
    if (!s->paths.x || !s->gain.x || !s->order || !s->found || !s->start || !s->seen || !s->member ||
        !s->next)
        return ftb_nomem();
    memcpy(s->seen, w->none, (size_t)words * sizeof *s->seen);
    if (!w->scaled)
        return GrB_SUCCESS;
    s->paths.scale = ftb_new0(w->ctx, n, sizeof(int32_t));
    s->gain.scale = ftb_new0(w->ctx, n, sizeof(int32_t));
    return s->paths.scale && s->gain.scale ? GrB_SUCCESS : ftb_nomem();
}

void ftb_betweenness_search_delete(ftb_betweenness_search *s)
{
    void *arrays[] = {s->paths.x, s->paths.scale, s->gain.x, s->gain.scale, s->order,
                      s->found,   s->start,       s->seen,   s->member,     s->next};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        ftb_delete(arrays[a]);
}
