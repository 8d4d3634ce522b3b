/* k entries of a row, one after the other by weight of what is left.
 *
 * Draws are of the whole row, through its table, and those that were picked before give nothing: what is left
 * is then picked with the chances that it has among itself. That takes two looks at memory a draw, whatever
 * the row's length, but many draws where the last entries are light. A row that has seen so many in vain as
 * a look at all of it costs is finished that way: of what is left, the entries with the least E / w, E
 * exponential, are the next ones of such draws (Efraimidis and Spirakis, "Weighted random sampling with a
 * reservoir", IPL 97, 2006); weights are those that the table has. Draws of what is not there give nothing,
 * either. Walker, "An efficient method for
 * generating discrete random variables", TOMS 3(3), 1977; the table is made in one sweep, as in Huebschle-
 * Schneider and Sanders, "Parallel weighted random sampling", ESA 2019. */
#include "cpu/sample/row_draws.h"

#include "core/draws.h"
#include "cpu/kernels/sample_kernels.h"
#include "cpu/sample/place_set.h"
#include "cpu/sample/row_filter.h"

#include <math.h>
#include <stdlib.h>

#define LISTED 64 /* picks that are looked for one by one; more are in a set */
#define FEW 16    /* picks that are compared with all at once */

/* ---- tables */

static void put_slot(ftb_alias_slot *slot, double share, int64_t other)
{
    const double below = share * 0x1p32;
    *slot = (ftb_alias_slot){below >= 0x1p32 - 1 ? UINT32_MAX
                             : below >= 1        ? (uint32_t)below
                                                 : 1,
                             (int32_t)other};
}

bool ftb_alias_make(ftb_alias_slot *slots, double *weight, int64_t degree)
{
    double most = 0, sum = 0;
    int64_t largest = 0, light = 0, heavy = 0;
    for (int64_t t = 0; t < degree; t++)
        if (weight[t] > most) {
            most = weight[t];
            largest = t;
        }
    if (!(most > 0))
        return false;
    for (int64_t t = 0; t < degree; t++) {
        const double share = weight[t] / most;
        weight[t] = weight[t] > 0 && share < 0x1p-1022 ? 0x1p-1022 : share;
        sum += weight[t];
    }
    const double mean = sum / (double)degree;
    while (light < degree && weight[light] > mean)
        light++;
    while (heavy < degree && !(weight[heavy] > mean))
        heavy++;
    double left = heavy < degree ? weight[heavy] : 0; /* of the heavy one */
    while (heavy < degree) {
        if (left > mean && light < degree) { /* it fills the light one up */
            put_slot(&slots[light], weight[light] / mean, heavy);
            slots[light].below = weight[light] > 0 ? slots[light].below : 0;
            left -= mean - weight[light];
            for (light++; light < degree && weight[light] > mean; light++)
                continue;
            continue;
        }
        int64_t next = heavy + 1;
        while (next < degree && !(weight[next] > mean))
            next++;
        const bool filled = left <= mean && next < degree;
        put_slot(&slots[heavy], filled ? left / mean : 1, filled ? next : heavy);
        left = next < degree ? weight[next] - (filled ? mean - left : 0) : 0;
        heavy = next;
    }
    for (; light < degree; light++) /* what rounding has left */
        if (!(weight[light] > mean)) {
            put_slot(&slots[light], 1, weight[light] > 0 ? light : largest);
            slots[light].below = weight[light] > 0 ? slots[light].below : 0;
        }
    return true;
}

/* ---- one row */

static bool grow(ftb_row_draws *w, int64_t words)
{
    void *scratch = w->scratch;
    if (scratch && ftb_size_of(scratch) >= words * (int64_t)sizeof *w->scratch)
        return true;
    if (!ftb_resize(w->s->ctx, &scratch, words, sizeof *w->scratch))
        w->failed = true;
    w->scratch = scratch;
    return !w->failed;
}

/* The row at hand. */
typedef struct row {
    ftb_row_draws *w;
    const ftb_alias_slot *slots;
    ftb_drawn drawn;
    ftb_row_filter filter;
    uint64_t vertex, seed, stream;
    int64_t degree;
    uint32_t high[4], low[4]; /* words of the draws of a block */
    int64_t block;            /* -1: none */
    int64_t set;              /* places of the set of picks, a power of two; 0: there is none */
} row;

/* Place and fraction of draw d. */
static uint64_t product_of(row *h, int64_t d)
{
    const uint64_t stream = h->stream, n = (uint64_t)h->degree, block = (uint64_t)d / 4;
    uint64_t high, low;
    if (block >> FTB_DRAW_BLOCK_BITS) {
        high = ftb_draw(h->seed, h->vertex, stream, (uint64_t)d, false);
        low = ftb_draw(h->seed, h->vertex, stream, (uint64_t)d, true);
    } else {
        if (h->block != (int64_t)block) {
            h->block = (int64_t)block;
            ftb_random_words(h->high, h->seed, h->vertex, stream | block << 32);
            ftb_random_words(h->low, h->seed, h->vertex,
                             stream | (block | UINT64_C(1) << FTB_DRAW_BLOCK_BITS) << 32);
        }
        high = h->high[d % 4];
        low = h->low[d % 4];
    }
    return high * n + (low * n >> 32);
}

/* Which entry a draw gives that was made before. */
static inline int64_t entry_drawn(const row *h, int64_t d)
{
    const uint32_t at = h->drawn.place[d * FTB_PICK_ROWS], fraction = h->drawn.fraction[d * FTB_PICK_ROWS];
    return h->slots && fraction >= h->slots[at].below ? h->slots[at].other : (int64_t)at;
}

/* Which entry draw d gives. */
static inline int64_t entry_of(row *h, int64_t d)
{
    if (d < h->drawn.count)
        return entry_drawn(h, d);
    const uint64_t product = product_of(h, d);
    const uint32_t at = (uint32_t)(product >> 32);
    return h->slots && (uint32_t)product >= h->slots[at].below ? h->slots[at].other : (int64_t)at;
}

/* Whether `entry` was not picked before. */
static inline bool is_new(const row *h, const int64_t *place, int64_t count, int64_t entry)
{
    if (h->set == 0) {
        bool was = false;
        for (int64_t t = 0; t < count; t++)
            was |= place[t] == entry;
        return !was;
    }
    return ftb_set_add(h->w->scratch, (uint64_t)h->set - 1, (uint64_t)entry);
}

static bool make_set(row *h, int64_t k)
{
    if (h->w->s->replace || k <= LISTED)
        return true;
    h->set = ftb_set_size(k);
    if (!grow(h->w, h->set))
        return false;
    for (int64_t t = 0; t < h->set; t++)
        h->w->scratch[t] = FTB_SET_FREE;
    return true;
}

static int by_place(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_places(int64_t *place, int64_t count)
{
    if (count > LISTED) {
        qsort(place, (size_t)count, sizeof *place, by_place);
        return;
    }
    for (int64_t t = 1; t < count; t++) {
        const int64_t here = place[t];
        int64_t at = t;
        for (; at > 0 && place[at - 1] > here; at--)
            place[at] = place[at - 1];
        place[at] = here;
    }
}

/* ---- few picks */

/* Different numbers, at most FEW, ascending: each goes behind as many as are less. */
static void put_few(int64_t *place, const int32_t *picked, int64_t count)
{
    int32_t all[FEW];
    for (int t = 0; t < FEW; t++)
        all[t] = t < count ? picked[t] : INT32_MAX;
    for (int64_t n = 0; n < count; n++) {
        int32_t before = 0;
        for (int t = 0; t < FEW; t++)
            before += all[t] < picked[n];
        place[before] = picked[n];
    }
}

/* Up to `wanted` picks, at most FEW, by the draws that were made before; how many draws that took. */
static int64_t draw_few(const row *h, int64_t *place, int64_t *count, int64_t wanted)
{
    int32_t picked[FEW];
    int64_t d = 0, n = 0;
    for (int t = 0; t < FEW; t++)
        picked[t] = -1;
    for (; d < h->drawn.count && n < wanted; d++) {
        const int32_t entry = (int32_t)entry_drawn(h, d);
        int32_t was = 0;
        for (int t = 0; t < FEW; t++)
            was |= picked[t] == entry;
        picked[n] = entry;
        n += !was;
    }
    put_few(place, picked, n);
    *count = n;
    return d;
}

/* ---- what draws did not give */

/* Each entry's share of the draws, times 2^32, a whole number, rounded to FP64: 0 of what was picked, and of
 * what is not there. `weight` is where the shares are. */
static int64_t weigh(const row *h, double *weight, const int64_t *place, int64_t count)
{
    uint64_t *share = h->w->scratch;
    int64_t some = 0;
    for (int64_t t = 0; t < h->degree; t++)
        share[t] = h->slots ? 0 : 1;
    for (int64_t t = 0; h->slots && t < h->degree; t++) {
        share[t] += h->slots[t].below;
        share[h->slots[t].other] += (UINT64_C(1) << 32) - h->slots[t].below;
    }
    for (int64_t t = 0; !h->w->s->replace && t < count; t++)
        share[place[t]] = 0;
    for (int64_t t = 0; t < h->degree; t++) {
        const uint64_t own = ftb_row_admits(&h->filter, t) ? share[t] : 0;
        weight[t] = (double)own;
        some += own > 0;
    }
    return some;
}

/* With replacement: each of `more` draws falls into the sum of the weights, of which some are above 0. */
static void finish_again(const row *h, int64_t *place, int64_t more, double *weight, uint64_t seed)
{
    int64_t last = 0;
    for (int64_t t = 1; t < h->degree; t++) {
        last = weight[t] > 0 ? t : last;
        weight[t] += weight[t - 1];
    }
    for (int64_t d = 0; d < more; d++) {
        const uint64_t high = ftb_draw(seed, h->vertex, h->stream, (uint64_t)d, false),
                       low = ftb_draw(seed, h->vertex, h->stream, (uint64_t)d, true);
        const double aim = (double)((high << 32 | low) >> 11) * 0x1p-53 * weight[h->degree - 1];
        place[d] = ftb_first_beyond(weight, last, aim);
    }
}

/* Picks up to `wanted` more. */
static int64_t finish_row(row *h, int64_t *place, int64_t count, int64_t wanted)
{
    if (!grow(h->w, h->degree + h->degree / 2 + 1))
        return count;
    double *weight = (double *)h->w->scratch;
    uint32_t *word = (uint32_t *)(h->w->scratch + h->degree);
    const uint64_t seed = ftb_random_mix(h->seed, 0, FTB_DRAW_REST);
    const int64_t some = weigh(h, weight, place, count), more = ftb_min(wanted, some);
    if (h->w->s->replace) {
        if (some > 0)
            finish_again(h, place + count, wanted, weight, seed);
        return some > 0 ? count + wanted : count;
    }
    FTB_PICK(ftb_draw_words)(word, seed, h->vertex, h->stream, 0, h->degree);
    FTB_PICK(ftb_draw_keys)(weight, word, weight, h->degree);
    ftb_least_keys(place + count, weight, h->degree, more);
    return count + more;
}

static int64_t all_of(const row *h, int64_t *place)
{
    int64_t count = 0;
    for (int64_t t = 0; t < h->degree; t++)
        if ((!h->slots || h->slots[t].below > 0) && ftb_row_admits(&h->filter, t))
            place[count++] = t;
    return count;
}

int64_t ftb_draw_row(ftb_row_draws *w, int64_t r, const ftb_alias_slot *slots, ftb_drawn drawn,
                     int64_t *place)
{
    const ftb_sample_product *s = w->s;
    row h = {.w = w,
             .slots = slots,
             .drawn = drawn,
             .filter = ftb_row_filter_of(s, r),
             .vertex = (uint64_t)ftb_sample_row(s, r),
             .seed = ftb_sample_seed(s, r),
             .stream = ftb_sample_stream(s, r),
             .degree = ftb_sample_degree(s, r),
             .block = -1};
    int64_t count = 0;
    if (h.degree == 0 || s->k == 0)
        return 0;
    if (!s->replace && (s->k < 0 || s->k >= h.degree))
        return all_of(&h, place);
    if (!make_set(&h, s->k))
        return 0;
    int64_t vain = 32 + 3 * ftb_min(s->k, h.degree) + h.degree / 4, d = 0; /* draws that may be */
    if (!s->replace && s->k <= FEW && !h.filter.times && h.filter.nexcluded == 0) {
        d = draw_few(&h, place, &count, s->k);
        if (count == s->k)
            return count;
        vain -= d - count;
    }
    for (; count < s->k && vain > 0; d++) {
        const int64_t entry = entry_of(&h, d);
        if (ftb_row_admits(&h.filter, entry) && (s->replace || is_new(&h, place, count, entry)))
            place[count++] = entry;
        else
            vain--;
    }
    if (count < s->k)
        count = finish_row(&h, place, count, s->k - count);
    sort_places(place, count);
    return count;
}
