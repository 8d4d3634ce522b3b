/* Sampling, slowly (ref_sample.h). */
#include "oracle/ref_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- draws */

void ref_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)x[0] * 0xD2511F53u, q = (uint64_t)x[2] * 0xCD9E8D57u;
        const uint32_t y[4] = {(uint32_t)(q >> 32) ^ x[1] ^ k[0], (uint32_t)q,
                               (uint32_t)(p >> 32) ^ x[3] ^ k[1], (uint32_t)p};
        for (int w = 0; w < 4; w++)
            x[w] = y[w];
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int w = 0; w < 4; w++)
        out[w] = x[w];
}

static void block_of(uint32_t out[4], uint64_t seed, uint64_t a, uint64_t b)
{
    const uint32_t counter[4] = {(uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    ref_philox(out, counter, key);
}

uint64_t ref_mix(uint64_t seed, uint64_t a, uint64_t b)
{
    uint32_t w[4];
    block_of(w, seed, a, b);
    return (uint64_t)w[1] << 32 | w[0];
}

/* vertex (64) | batch (32) | hop (8) | draw (24): words of draw d, and in the upper half of the draws 32
 * more. */
static uint32_t draw(const ref_row *r, uint64_t seed, uint64_t vertex, int64_t d, bool more)
{
    uint32_t w[4];
    int64_t block = d / 4;
    if (block >= INT64_C(1) << 23) {
        seed = ref_mix(seed, (uint64_t)(block >> 23), UINT64_C(0xff000001) << 32);
        block %= INT64_C(1) << 23;
    }
    if (more)
        block += INT64_C(1) << 23;
    block_of(w, seed, vertex, r->batch | (uint64_t)block << 32 | r->hop << 56);
    return w[d % 4];
}

/* One of 0 .. n - 1, by a draw of 64 bits. */
static int64_t below(const ref_row *r, int64_t n, int64_t d)
{
    const uint64_t u =
        (uint64_t)draw(r, r->seed, r->vertex, d, false) << 32 | draw(r, r->seed, r->vertex, d, true);
    return (int64_t)((unsigned __int128)u * (uint64_t)n >> 64);
}

/* ---- rows */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool among(const int64_t *list, int64_t count, int64_t value)
{
    for (int64_t t = 0; t < count; t++)
        if (list[t] == value)
            return true;
    return false;
}

static bool is_there(const ref_row *r, int64_t t) { return !r->there || r->there[t]; }

static int64_t pick_drawn(int64_t *place, const ref_row *r, const int64_t *below, const int64_t *other);

static int64_t pick_uniform(int64_t *place, const ref_row *r)
{
    const int64_t n = r->degree;
    int64_t count = 0;
    if (r->there && (r->replace || (r->k >= 0 && r->k < n)))
        return pick_drawn(place, r, NULL, NULL);
    for (int64_t t = 0; r->there && t < n; t++)
        if (r->there[t])
            place[count++] = t;
    if (r->there)
        return count;
    if (r->replace) {
        for (; n > 0 && count < r->k; count++)
            place[count] = below(r, n, count);
        return count;
    }
    const int64_t k = r->k < 0 || r->k > n ? n : r->k;
    for (; count < k; count++) {
        const int64_t last = n - k + count, drawn = k < n ? below(r, last + 1, count) : count;
        place[count] = among(place, count, drawn) ? last : drawn;
    }
    return count;
}

/* Takes the least key that is left, k times. */
static int64_t pick_least(int64_t *place, const long double *key, int64_t n, int64_t k)
{
    int64_t count = 0;
    for (; k < 0 || count < k; count++) {
        int64_t best = -1;
        for (int64_t t = 0; t < n; t++)
            if (!isnan(key[t]) && !among(place, count, t) && (best < 0 || key[t] < key[best]))
                best = t;
        if (best < 0)
            break;
        place[count] = best;
    }
    return count;
}

/* A row's table: entry t of n has chances below[t] of its n-th part of 2^32, the rest of which is other[t]'s.
 * Those that have less than their part are filled up in their order, by those that have more in theirs. */
static void make_table(int64_t *below, int64_t *other, const double *weight, int64_t n)
{
    int64_t *light = malloc(sizeof *light * (size_t)n), *heavy = malloc(sizeof *heavy * (size_t)n);
    int64_t lights = 0, heavies = 0, l = 0, h = 0, largest = 0;
    long double sum = 0, *share = malloc(sizeof *share * (size_t)n);
    for (int64_t t = 0; t < n; t++) {
        sum += (long double)weight[t];
        largest = weight[t] > weight[largest] ? t : largest;
    }
    for (int64_t t = 0; t < n; t++) {
        share[t] = (long double)weight[t] * (long double)n / sum;
        if (share[t] > 1 + 1e-12L) /* what is equal is neither, whatever rounding says */
            heavy[heavies++] = t;
        else
            light[lights++] = t;
    }
    for (int64_t t = 0; t < n; t++) {
        below[t] = weight[t] > 0 ? UINT32_MAX : 0;
        other[t] = weight[t] > 0 ? t : largest;
    }
    while (h < heavies && (l < lights || h + 1 < heavies)) {
        const bool filled = share[heavy[h]] <= 1; /* by now */
        if (filled ? h + 1 == heavies : l == lights)
            break;
        const int64_t t = filled ? heavy[h++] : light[l++];
        other[t] = heavy[h];
        below[t] = (int64_t)(share[t] * 0x1p32L);
        below[t] = below[t] > UINT32_MAX ? UINT32_MAX : below[t] < 1 && weight[t] > 0 ? 1 : below[t];
        share[heavy[h]] -= 1 - share[t];
    }
    free(light);
    free(heavy);
    free(share);
}

/* Of what is left, by the table's chances, those with the least E / chance; or draws of all that is there. */
static int64_t pick_rest(int64_t *place, int64_t count, const ref_row *r, const int64_t *below,
                         const int64_t *other)
{
    const int64_t n = r->degree;
    const uint64_t seed = ref_mix(r->seed, 0, UINT64_C(0xff000004) << 32);
    long double *key = malloc(sizeof *key * (size_t)n), sum = 0;
    int64_t *more = malloc(sizeof *more * (size_t)n), found = 0;
    for (int64_t t = 0; t < n; t++) {
        long double chance = below ? 0 : 1;
        for (int64_t s = 0; below && s < n; s++)
            chance +=
                (s == t ? (long double)below[s] : 0) + (other[s] == t ? 0x1p32L - (long double)below[s] : 0);
        if (!is_there(r, t) || (!r->replace && among(place, count, t)))
            chance = 0;
        sum += chance;
        key[t] = r->replace ? sum
                 : chance > 0
                     ? -logl(((long double)draw(r, seed, r->vertex, t, false) + 0.5L) * 0x1p-32L) / chance
                     : (long double)NAN;
    }
    if (r->replace && sum > 0) {
        for (int64_t d = 0; count < r->k; d++) {
            const uint64_t u =
                (uint64_t)draw(r, seed, r->vertex, d, false) << 32 | draw(r, seed, r->vertex, d, true);
            int64_t t = 0;
            while (key[t] <= (long double)(u >> 11) * 0x1p-53L * sum)
                t++;
            place[count++] = t;
        }
    } else if (!r->replace) {
        found = pick_least(more, key, n, r->k - count);
        memcpy(place + count, more, sizeof *more * (size_t)found);
    }
    free(key);
    free(more);
    return count + found;
}

/* Draws, until there are k picks or too many were in vain. No table: all entries are alike. */
static int64_t pick_drawn(int64_t *place, const ref_row *r, const int64_t *below, const int64_t *other)
{
    const int64_t n = r->degree, vain = 32 + 3 * (r->k < n ? r->k : n) + n / 4;
    int64_t count = 0;
    for (int64_t d = 0, lost = 0; n > 0 && count < r->k && lost < vain; d++) {
        const uint64_t u =
            (uint64_t)draw(r, r->seed, r->vertex, d, false) << 32 | draw(r, r->seed, r->vertex, d, true);
        const unsigned __int128 product = (unsigned __int128)u * (uint64_t)n;
        int64_t t = (int64_t)(product >> 64);
        if (below && (int64_t)((uint64_t)product >> 32) >= below[t])
            t = other[t];
        if (is_there(r, t) && (r->replace || !among(place, count, t)))
            place[count++] = t;
        else
            lost++;
    }
    return n > 0 && count < r->k ? pick_rest(place, count, r, below, other) : count;
}

static int64_t pick_weighted(int64_t *place, const ref_row *r)
{
    const int64_t n = r->degree;
    int64_t count = 0;
    if (n == 0)
        return 0;
    if (!r->replace && (r->k < 0 || r->k >= n)) {
        for (int64_t t = 0; t < n; t++)
            if (r->weight[t] > 0 && is_there(r, t))
                place[count++] = t;
        return count;
    }
    int64_t *below = malloc(sizeof *below * (size_t)n), *other = malloc(sizeof *other * (size_t)n);
    make_table(below, other, r->weight, n);
    count = pick_drawn(place, r, below, other);
    free(below);
    free(other);
    return count;
}

/* The latest that is left, k times; of equal ones the last. */
static int64_t pick_latest(int64_t *place, const ref_row *r)
{
    int64_t count = 0;
    for (; r->k < 0 || count < r->k; count++) {
        int64_t best = -1;
        for (int64_t t = 0; t < r->degree; t++)
            if (is_there(r, t) && !among(place, count, t) && (best < 0 || r->time[t] >= r->time[best]))
                best = t;
        if (best < 0)
            break;
        place[count] = best;
    }
    return count;
}

static int64_t pick_largest(int64_t *place, const ref_row *r)
{
    long double *key = malloc(sizeof *key * (size_t)(r->degree + 1));
    for (int64_t t = 0; t < r->degree; t++)
        key[t] = is_there(r, t) ? -(long double)r->weight[t] : (long double)NAN;
    const int64_t count = pick_least(place, key, r->degree, r->k);
    free(key);
    return count;
}

static bool keeps(const ref_row *r, int64_t t)
{
    const long double chance = 0x1p-32L;
    if (!is_there(r, t))
        return false;
    switch (r->selector) {
    case FTB_SAMPLE_THRESHOLD:
        return r->weight[t] >= r->threshold;
    case FTB_SAMPLE_BERNOULLI:
        return (long double)draw(r, r->seed, r->vertex, t, false) * chance < (long double)r->weight[t];
    default: { /* LABOR-0 */
        const uint64_t shared = ref_mix(r->seed, 0, UINT64_C(0xff000003) << 32);
        const long double u = (long double)draw(r, shared, (uint64_t)r->column[t], 0, false) * chance;
        int64_t n = 0;
        for (int64_t s = 0; s < r->degree; s++)
            n += is_there(r, s);
        return r->k < 0 || r->k >= n || u < (long double)r->k / (long double)n;
    }
    }
}

int64_t ref_pick(int64_t **place, const ref_row *r)
{
    int64_t count = 0;
    *place = malloc(sizeof **place * (size_t)((r->degree > r->k ? r->degree : r->k) + 1));
    if (r->selector == FTB_SAMPLE_UNIFORM)
        count = pick_uniform(*place, r);
    else if (r->selector == FTB_SAMPLE_WEIGHTED)
        count = pick_weighted(*place, r);
    else if (r->selector == FTB_SAMPLE_LAST)
        count = pick_latest(*place, r);
    else if (r->selector == FTB_SAMPLE_TOPK)
        count = pick_largest(*place, r);
    else
        for (int64_t t = 0; t < r->degree; t++)
            if (keeps(r, t))
                (*place)[count++] = t;
    qsort(*place, (size_t)count, sizeof **place, by_number);
    return count;
}

int64_t ref_pick_through(int64_t **place, const ref_row *r, const int64_t *below, const int64_t *other)
{
    int64_t count = 0;
    *place = malloc(sizeof **place * (size_t)((r->degree > r->k ? r->degree : r->k) + 1));
    if (!r->replace && r->k >= r->degree) {
        for (int64_t t = 0; t < r->degree; t++)
            if (below[t] > 0)
                (*place)[count++] = t;
        return count;
    }
    count = pick_drawn(*place, r, below, other);
    qsort(*place, (size_t)count, sizeof **place, by_number);
    return count;
}

/* ---- the verbs */

GrB_Info ref_sample(const ftb_sample_product *s)
{
    s->rowptr[0] = 0;
    for (int64_t r = 0; r < s->nrows; r++) {
        const int64_t i = s->rows ? s->rows[r] : r, begin = s->p->rowptr[i], n = s->p->rowptr[i + 1] - begin;
        int64_t *column = malloc(sizeof *column * (size_t)(n + 1)), *place;
        for (int64_t t = 0; t < n; t++)
            column[t] = ftb_col(s->p, begin + t);
        const ref_row row = {.selector = s->selector,
                             .replace = s->replace,
                             .k = s->k,
                             .seed = s->seeds ? s->seeds[s->trees[r]] : s->seed,
                             .vertex = (uint64_t)i,
                             .batch = (uint32_t)s->stream,
                             .hop = s->stream >> 56,
                             .degree = n,
                             .column = column};
        const int64_t count = ref_pick(&place, &row);
        s->rowptr[r + 1] = s->rowptr[r] + count;
        for (int64_t t = 0; s->entries && t < count; t++) {
            const int64_t at = s->rowptr[r] + t;
            s->entries[at] = begin + place[t];
            if (s->p->wide)
                ((int64_t *)s->columns)[at] = column[place[t]];
            else
                ((int32_t *)s->columns)[at] = (int32_t)column[place[t]];
        }
        free(column);
        free(place);
    }
    return GrB_SUCCESS;
}

typedef struct vertex {
    int64_t tree, number;
} vertex;

static int by_vertex(const void *a, const void *b)
{
    const vertex *x = a, *y = b;
    return x->tree != y->tree ? (x->tree > y->tree) - (x->tree < y->tree) : by_number(&x->number, &y->number);
}

static bool same(vertex a, vertex b) { return by_vertex(&a, &b) == 0; }

typedef struct picked {
    int64_t local, entry;
} picked;

static int by_local(const void *a, const void *b)
{
    const picked *x = a, *y = b;
    return x->local != y->local ? (x->local > y->local) - (x->local < y->local)
                                : by_number(&x->entry, &y->entry);
}

static void sort_row(const ftb_relabel_product *p, int64_t begin, int64_t end)
{
    picked *row = malloc(sizeof *row * (size_t)(end - begin + 1));
    for (int64_t e = begin; e < end; e++)
        row[e - begin] = (picked){p->local[e], p->entries ? p->entries[e] : 0};
    qsort(row, (size_t)(end - begin), sizeof *row, by_local);
    for (int64_t e = begin; e < end; e++) {
        p->local[e] = (int32_t)row[e - begin].local;
        if (p->entries)
            p->entries[e] = row[e - begin].entry;
    }
    free(row);
}

GrB_Info ref_relabel(ftb_relabel_product *p)
{
    const int64_t picks = p->rowptr[p->nrows];
    vertex *all = malloc(sizeof *all * (size_t)(p->nknown + picks + 1)), *new = all + p->nknown;
    vertex *of = malloc(sizeof *of * (size_t)(picks + 1));
    int64_t count = 0;
    for (int64_t v = 0; v < p->nknown; v++)
        all[v] = (vertex){p->trees ? p->trees[v] : 0, p->known[v]};
    for (int64_t r = 0; r < p->nrows; r++)
        for (int64_t e = p->rowptr[r]; e < p->rowptr[r + 1]; e++)
            of[e] = new[e] =
                (vertex){p->row_trees ? p->row_trees[r]
                         : p->trees   ? p->trees[p->row0 + r]
                                      : 0,
                         p->wide ? ((const int64_t *)p->columns)[e] : ((const int32_t *)p->columns)[e]};
    if (!p->apart)
        qsort(new, (size_t)picks, sizeof *new, by_vertex);
    for (int64_t e = 0; e < picks; e++) {
        bool there = false;
        for (int64_t v = 0; v < p->nknown && !p->apart && !there; v++)
            there = same(all[v], new[e]);
        if (p->apart || (!there && !(count > 0 && same(new[count - 1], new[e]))))
            new[count++] = new[e];
    }
    for (int64_t e = 0; e < picks; e++) {
        int64_t v = p->apart ? p->nknown + e : 0;
        while (!p->apart && !same(all[v], of[e]))
            v++;
        p->local[e] = (int32_t)v;
    }
    for (int64_t r = 0; r < p->nrows; r++)
        sort_row(p, p->rowptr[r], p->rowptr[r + 1]);
    p->nfresh = count;
    p->vertices = ftb_new(p->ctx, p->nknown + count, sizeof *p->vertices);
    p->vertex_trees = p->trees ? ftb_new(p->ctx, p->nknown + count, sizeof *p->vertex_trees) : NULL;
    const bool made = p->vertices && (!p->trees || p->vertex_trees);
    for (int64_t v = 0; made && v < p->nknown + count; v++) {
        p->vertices[v] = all[v].number;
        if (p->trees)
            p->vertex_trees[v] = (int32_t)all[v].tree;
    }
    free(all);
    free(of);
    if (made)
        return GrB_SUCCESS;
    ftb_delete(p->vertices);
    ftb_delete(p->vertex_trees);
    p->vertices = NULL;
    p->vertex_trees = NULL;
    return ftb_nomem();
}
