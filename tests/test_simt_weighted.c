/* Kernels that pick by weight (sample_weighted.cu) in the emulator, step by step, in many orders of what CUDA
 * does not order: lanes, blocks that go on where lanes stop, keys of what draws were not enough for. Beside
 * draws one after the other, in wider numbers (ref_sample.h). */
#include "support/simt_case.h"

#include "core/core.h"
#include "core/draws.h"
#include "cpu/kernels/sample_kernels.h"
#include "cpu/sample/row_draws.h"
#include "gpu/kernels/sample_steps.h"
#include "oracle/ref_sample.h"

enum { MOST_ARRAYS = 64, MOST_ROW = 2600, BATCH = 5, HOP = 3 };
static struct {
    void *made[MOST_ARRAYS];
    int count;
} memory;

static void *room(int64_t count, size_t size, const char *name)
{
    void *made = case_memory(count, size, name);
    memset(made, 0, (size_t)count * size);
    return memory.made[memory.count++] = made;
}

static void forget_all(void)
{
    while (memory.count > 0)
        case_forget(memory.made[--memory.count]);
}

/* How weights are: all alike, real, over eight powers of ten, one of a row above all others, most of them 0.
 */
enum { ALIKE, REALS, SPREAD, ONE_ABOVE, ZEROS, KINDS };

static double weight_of(rng *r, int kind, int64_t t)
{
    const double u = 0.05 + 0.95 * rng_unit(r);
    switch (kind) {
    case ALIKE:
        return 1;
    case SPREAD:
        return pow(10, 8 * u);
    case ONE_ABOVE:
        return t == 1 ? 1e6 : u;
    case ZEROS:
        return t == 0 || rng_below(r, 4) == 0 ? u : 0;
    default:
        return u;
    }
}

typedef struct problem {
    int64_t nrows;
    long long *rowptr, *rows;
    unsigned long long *slots;
    ftb_sample_weighted w;
    uint64_t seed;
} problem;

/* Picks of rows p->rows of the matrix p->rowptr, with tables that are there. */
static void set_up(problem *p, rng *r, int64_t k, bool replace)
{
    int64_t most = 0;
    for (int64_t t = 0; t < p->nrows; t++)
        most = ftb_max(most, p->rows[t] + 1);
    int *colidx = room(p->rowptr[most], 4, "colidx");
    for (int64_t e = 0; e < p->rowptr[most]; e++)
        colidx[e] = (int)rng_below(r, 1000);
    long long *places = room(p->nrows + 1, 8, "room");
    for (int64_t t = 0; t < p->nrows; t++) {
        const int64_t degree = p->rowptr[p->rows[t] + 1] - p->rowptr[p->rows[t]];
        places[t + 1] = places[t] + (degree > 0 && (replace || degree > k) ? k : degree);
    }
    p->seed = rng_bits(r);
    uint64_t seed = p->seed;
    const uint64_t stream = ftb_draw_stream(&seed, BATCH, HOP);
    p->w = (ftb_sample_weighted){.rows = {.rowptr = p->rowptr,
                                          .colidx = colidx,
                                          .rows = p->rows,
                                          .nrows = p->nrows,
                                          .seed = seed,
                                          .stream = stream,
                                          .k = k,
                                          .replace = replace,
                                          .to = room(p->nrows + 1, 8, "to"),
                                          .entries = room(places[p->nrows], 8, "entries"),
                                          .columns = room(places[p->nrows], 4, "columns"),
                                          .most = room(1, 8, "most")},
                                 .slots = p->slots,
                                 .room = places,
                                 .places = room(places[p->nrows], 4, "places"),
                                 .longs = k <= FTB_SAMPLE_LANES ? room(p->nrows, 8, "longs") : NULL,
                                 .nlongs = room(1, 8, "nlongs"),
                                 .rest = room(p->nrows, 8, "rest"),
                                 .rest_vertices = room(p->nrows, 8, "vertices"),
                                 .nrest = room(1, 8, "nrest"),
                                 .bad = room(1, 4, "bad")};
}

/* Rows that are empty, short, of about k entries, longer, and one of `hub`; some of them again. */
static problem make_problem(rng *r, int kind, int64_t k, bool replace, int64_t hub)
{
    const int64_t n = 30, few[] = {0, 1, 2, ftb_max(k - 1, 0), k, k + 1, k + 7, 3 * k, 40};
    problem p = {.nrows = n + 3};
    double *weight = malloc(sizeof *weight * MOST_ROW);
    p.rowptr = room(n + 1, 8, "rowptr");
    for (int64_t i = 0; i < n; i++)
        p.rowptr[i + 1] = p.rowptr[i] + (i == 7 ? hub : few[rng_below(r, 9)]);
    p.slots = room(p.rowptr[n], 8, "slots");
    for (int64_t i = 0; i < n; i++) {
        const int64_t degree = p.rowptr[i + 1] - p.rowptr[i];
        for (int64_t t = 0; t < degree; t++)
            weight[t] = weight_of(r, kind, t);
        if (degree > 0)
            assert_true(ftb_alias_make((ftb_alias_slot *)(p.slots + p.rowptr[i]), weight, degree));
    }
    free(weight);
    p.rows = room(p.nrows, 8, "rows");
    for (int64_t t = 0; t < p.nrows; t++)
        p.rows[t] = t < n ? n - 1 - t : rng_below(r, n);
    set_up(&p, r, k, replace);
    return p;
}

/* A thread for each of `threads`, blocks side by side. */
static void launch(const char *name, int64_t threads, int block, void *arguments, uint64_t seed)
{
    simt_report report;
    case_launch(name, simt_line((unsigned)((threads + block - 1) / block)), (unsigned)block,
                (void *[]){arguments}, &(simt_options){.seed = seed, .resident = 3}, &report);
}

static void sum(long long *x, int64_t n)
{
    long long before = 0;
    for (int64_t t = 0; t < n; t++) {
        const long long count = x[t];
        x[t] = before;
        before += count;
    }
    x[n] = before;
}

/* Keys have the host's bits, of shares that are added up here; those of picks are 0. */
static void check_keys(const problem *p, const ftb_sample_keys *k)
{
    double *key = malloc(sizeof *key * MOST_ROW);
    uint32_t *word = malloc(sizeof *word * MOST_ROW);
    for (int64_t n = 0; n < k->rows.nrows; n++) {
        const int64_t i = k->rows.rows[n], begin = p->rowptr[i], degree = p->rowptr[i + 1] - begin;
        memset(key, 0, sizeof *key * MOST_ROW);
        for (int64_t t = 0; t < degree; t++) {
            const unsigned long long slot = p->slots[begin + t];
            key[t] += (double)(slot & UINT32_MAX);
            key[slot >> 32] += 0x1p32 - (double)(slot & UINT32_MAX);
        }
        FTB_PICK(ftb_draw_words)(word, k->rows.seed, (uint64_t)i, k->rows.stream, 0, degree);
        FTB_PICK(ftb_draw_keys)(key, word, key, degree);
        for (int64_t t = 0; t < degree; t++) {
            uint64_t bits = UINT64_MAX;
            if (key[t] == key[t])
                memcpy(&bits, &key[t], sizeof bits);
            if (k->keys[k->from[n] + t] != 0)
                assert_int_equal(k->keys[k->from[n] + t], bits);
        }
    }
    free(key);
    free(word);
}

static void finish(const problem *p, uint64_t order)
{
    const int64_t nrest = (int64_t)*p->w.nrest;
    ftb_sample_rest a = {.of = p->w};
    ftb_sample_keys *k = &a.keys;
    k->rows = p->w.rows;
    k->rows.rows = p->w.rest_vertices;
    k->rows.nrows = nrest;
    k->rows.seed = ref_mix(p->w.rows.seed, 0, UINT64_C(0xff000004) << 32);
    k->rows.columns = NULL;
    k->rows.to = room(nrest + 1, 8, "rest to");
    k->limit = p->w.rows.k;
    k->nlongs = p->w.nlongs;
    *k->nlongs = 0;
    k->longs = room(nrest, 8, "rest longs");
    k->from = room(nrest + 1, 8, "from");
    launch("sample_degrees", nrest, FTB_SAMPLE_BLOCK, k, order);
    sum(k->from, nrest);
    k->keys = room(k->from[nrest], 8, "keys");
    launch("sample_rest_shares", k->from[nrest], FTB_SAMPLE_BLOCK, &a, order);
    launch("sample_rest_keys", k->from[nrest], FTB_SAMPLE_BLOCK, &a, order);
    check_keys(p, k);
    launch("sample_limit", nrest, FTB_SAMPLE_BLOCK, k, order);
    sum(k->rows.to, nrest);
    k->rows.entries = room(k->rows.to[nrest], 8, "rest entries");
    launch("sample_least", nrest * 32, FTB_LEAST_BLOCK, k, order);
    launch("sample_least_long", 2 * FTB_LEAST_LONG_BLOCK, FTB_LEAST_LONG_BLOCK, k, order);
    launch("sample_rest_put", k->rows.to[nrest], FTB_SAMPLE_BLOCK, &a, order);
}

/* Rows that a block went on with, and that draws were not enough for. */
typedef struct seen {
    int64_t longs, rest;
} seen;

static seen draw(const problem *p, uint64_t order)
{
    const int k = (int)p->w.rows.k, lanes = k <= 8 ? 8 : k <= 16 ? 16 : 32;
    ftb_sample_weighted w = p->w;
    char name[32];
    *w.nlongs = *w.nrest = 0;
    memset(w.places, 0xff, 4 * (size_t)w.room[p->nrows]);
    snprintf(name, sizeof name, "sample_weighted_%d", lanes);
    if (w.longs)
        launch(name, p->nrows * lanes, FTB_SAMPLE_BLOCK, &w, order);
    const int64_t longs = (int64_t)*w.nlongs;
    launch("sample_weighted_block", 3 * FTB_WEIGHTED_BLOCK, FTB_WEIGHTED_BLOCK, &w, order);
    return (seen){longs, (int64_t)*w.nrest};
}

/* All steps. */
static seen run(const problem *p, uint64_t order)
{
    ftb_sample_weighted w = p->w;
    const seen s = draw(p, order);
    if (s.rest > 0)
        finish(p, order);
    sum(w.rows.to, p->nrows);
    if (w.rows.to[p->nrows] > 0)
        launch("sample_weighted_put", w.rows.to[p->nrows], FTB_SAMPLE_BLOCK, &w, order);
    assert_int_equal(*w.bad, 0);
    return s;
}

static void check(const problem *p, const char *what)
{
    const ftb_sample_rows *s = &p->w.rows;
    int64_t *below = malloc(sizeof *below * MOST_ROW), *other = malloc(sizeof *other * MOST_ROW);
    for (int64_t r = 0; r < p->nrows; r++) {
        const int64_t i = p->rows[r], begin = p->rowptr[i], degree = p->rowptr[i + 1] - begin;
        int64_t *place;
        for (int64_t t = 0; t < degree; t++) {
            below[t] = (int64_t)(p->slots[begin + t] & UINT32_MAX);
            other[t] = (int64_t)(p->slots[begin + t] >> 32);
        }
        const ref_row row = {.replace = s->replace != 0,
                             .k = s->k,
                             .seed = p->seed,
                             .vertex = (uint64_t)i,
                             .batch = BATCH,
                             .hop = HOP,
                             .degree = degree};
        const int64_t count = ref_pick_through(&place, &row, below, other);
        if (count != s->to[r + 1] - s->to[r])
            fail_msg("%s: row %lld of %lld has %lld picks, expected %lld", what, (long long)r,
                     (long long)degree, s->to[r + 1] - s->to[r], (long long)count);
        for (int64_t t = 0; t < count; t++) {
            assert_int_equal(s->entries[s->to[r] + t], begin + place[t]);
            assert_int_equal(s->columns[s->to[r] + t], s->colidx[begin + place[t]]);
        }
        free(place);
    }
    free(below);
    free(other);
}

static void picks(void **state)
{
    (void)state;
    static const int64_t ks[] = {1, 3, 8, 9, 16, 17, 31, 32, 33, 70, 0, 5};
    const int cases = case_times() * rng_cases(24);
    seen all = {0};
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        const int64_t k = ks[c % 12];
        const int kind = c % KINDS;
        const bool replace = c % 7 == 6;
        char what[80];
        problem p = make_problem(&r, kind, k, replace, c % 3 == 0 ? MOST_ROW : 300 + rng_below(&r, 900));
        snprintf(what, sizeof what, "case %d: k %lld, weights %d%s", c, (long long)k, kind,
                 replace ? ", again" : "");
        const seen s = run(&p, rng_bits(&r));
        all.longs += s.longs;
        all.rest += s.rest;
        check(&p, what);
        forget_all();
    }
    print_message("%lld rows went on by blocks, %lld by keys\n", (long long)all.longs, (long long)all.rest);
    assert_true(all.longs > 0 && all.rest > all.longs);
}

/* One graph, in many orders. */
static void orders(void **state)
{
    (void)state;
    static const int64_t ks[] = {6, 13, 30, 40};
    for (int c = 0; c < 4; c++) {
        rng r = rng_case(c);
        problem p = make_problem(&r, ONE_ABOVE, ks[c], false, MOST_ROW);
        const int arrays = memory.count;
        for (uint64_t order = 1; order <= (uint64_t)(6 * case_times()); order++) {
            const seen s = run(&p, order);
            assert_true(s.rest > 0 && (s.longs > 0 || p.w.rows.k > FTB_SAMPLE_LANES));
            check(&p, "orders");
            while (memory.count > arrays)
                case_forget(memory.made[--memory.count]);
        }
        forget_all();
    }
}

/* ---- tables that are made for what is drawn */

/* Draw d of a row of n entries of vertex i: the place, and below it the fraction. */
static uint64_t draw_of(const problem *p, int64_t i, int64_t n, int64_t d)
{
    const ftb_sample_rows *s = &p->w.rows;
    const uint64_t high = ftb_draw(s->seed, (uint64_t)i, s->stream, (uint64_t)d, false),
                   low = ftb_draw(s->seed, (uint64_t)i, s->stream, (uint64_t)d, true);
    return (uint64_t)((unsigned __int128)(high << 32 | low) * (uint64_t)n >> 32);
}

static uint64_t slot_of(uint64_t below, int64_t other) { return below | (uint64_t)other << 32; }

/* `count` rows of n entries, whose draws all give the first one. */
static problem make_drawn(rng *r, int64_t count, int64_t n, int64_t k)
{
    problem p = {.nrows = count};
    p.rowptr = room(count + 1, 8, "rowptr");
    p.rows = room(count, 8, "rows");
    p.slots = room(count * n, 8, "slots");
    for (int64_t i = 0; i < count; i++) {
        p.rowptr[i + 1] = (i + 1) * n;
        p.rows[i] = i;
        p.slots[i * n] = slot_of(UINT32_MAX, 0);
    }
    set_up(&p, r, k, false);
    return p;
}

/* Fractions that are just that from which on another entry is meant, or the one below it: all 32 bits count.
 */
static void fractions(void **state)
{
    (void)state;
    enum { ROWS = 60, N = 13 };
    rng r = rng_new();
    problem p = make_drawn(&r, ROWS, N, 1);
    for (int64_t i = 0; i < ROWS; i++) {
        const uint64_t first = draw_of(&p, i, N, 0);
        const int64_t place = (int64_t)(first >> 32);
        p.slots[i * N + place] = slot_of((first & UINT32_MAX) + (uint64_t)(i % 2), (place + 1) % N);
        if (place != 0)
            p.slots[i * N] = slot_of(UINT32_MAX, 0);
    }
    (void)run(&p, 3);
    check(&p, "fractions");
    for (int64_t i = 0; i < ROWS; i++)
        assert_int_equal(p.w.rows.entries[i] - i * N,
                         ((int64_t)(draw_of(&p, i, N, 0) >> 32) + (i % 2 ? 0 : 1)) % N);
    forget_all();
}

/* Whether a draw before d falls on `place`. */
static bool drawn_before(const problem *p, int64_t i, int64_t n, int64_t d, int64_t place)
{
    bool was = false;
    for (int64_t t = 0; t < d; t++)
        was |= (int64_t)(draw_of(p, i, n, t) >> 32) == place;
    return was;
}

/* The last draw that may be made gives what none before it did; or it would be the next one. What keys pick
 * is another entry, which no draw gives. By lanes, and by blocks. */
static void ends(void **state)
{
    (void)state;
    enum { ROWS = 24, LANES_ROW = 120, BLOCK_ROW = 1300, K = 2 };
    rng r = rng_new();
    for (int c = 0; c < 2; c++) {
        const int64_t n = c ? BLOCK_ROW : LANES_ROW, vain = 32 + 3 * K + n / 4;
        problem p = make_drawn(&r, ROWS, n, K);
        int64_t made[2] = {0};
        for (int64_t i = 0; i < ROWS; i++) {
            const int64_t d = vain + i % 2, e = (int64_t)(draw_of(&p, i, n, d) >> 32);
            int64_t other = 1;
            while (other < n && (other == e || drawn_before(&p, i, n, vain + 2, other)))
                other++;
            for (int64_t t = 1; t < n; t++)
                p.slots[i * n + t] = slot_of(0, 0);
            if (e == 0 || other == n || drawn_before(&p, i, n, d, e))
                continue;
            p.slots[i * n + e] = slot_of((draw_of(&p, i, n, d) & UINT32_MAX) + 1, 0);
            p.slots[i * n + other] = slot_of(UINT32_MAX, 0);
            made[i % 2]++;
        }
        assert_true(made[0] > 3 && made[1] > 3);
        assert_int_equal(run(&p, 7 + (uint64_t)c).longs, c ? ROWS : 0);
        check(&p, "ends");
        forget_all();
    }
}

/* A row without a table is said, whatever is picked of it; one that nobody asks for is not. */
static void without_table(void **state)
{
    (void)state;
    static const int64_t ks[] = {0, 2, 12, 31, 50};
    enum { BAD = 7, AT = 11 };
    for (int c = 0; c < 10; c++) {
        rng r = rng_case(c);
        problem p = make_problem(&r, REALS, ks[c % 5], c >= 5, 90);
        p.slots[p.rowptr[BAD]] |= UINT64_C(0xffffffff) << 32;
        for (int asked = 0; asked < 2; asked++) {
            for (int64_t t = 0; t < p.nrows; t++)
                p.rows[t] = asked && t == AT ? BAD : p.rows[t] == BAD ? BAD + 1 : p.rows[t];
            set_up(&p, &r, ks[c % 5], c >= 5);
            draw(&p, 3);
            assert_int_equal(*p.w.bad, asked);
            assert_true(!asked || p.w.rows.to[AT] == 0);
        }
        forget_all();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(picks), cmocka_unit_test(orders),
                                       cmocka_unit_test(fractions), cmocka_unit_test(ends),
                                       cmocka_unit_test(without_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
