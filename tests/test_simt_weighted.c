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

enum { MOST_ARRAYS = 40, MOST_ROW = 2600 };
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

/* Rows that are empty, short, of about k entries, longer, and one of `hub`. */
static problem make_problem(rng *r, int kind, int64_t k, bool replace, int64_t hub)
{
    const int64_t n = 30, few[] = {0, 1, 2, ftb_max(k - 1, 0), k, k + 1, k + 7, 3 * k, 40};
    problem p = {.nrows = n + 3, .seed = rng_bits(r)};
    double *weight = malloc(sizeof *weight * MOST_ROW);
    p.rowptr = room(n + 1, 8, "rowptr");
    for (int64_t i = 0; i < n; i++)
        p.rowptr[i + 1] = p.rowptr[i] + (i == 7 ? hub : few[rng_below(r, 9)]);
    p.slots = room(p.rowptr[n], 8, "slots");
    int *colidx = room(p.rowptr[n], 4, "colidx");
    for (int64_t i = 0; i < n; i++) {
        const int64_t degree = p.rowptr[i + 1] - p.rowptr[i];
        for (int64_t t = 0; t < degree; t++) {
            weight[t] = weight_of(r, kind, t);
            colidx[p.rowptr[i] + t] = (int)rng_below(r, 1000);
        }
        if (degree > 0)
            assert_true(ftb_alias_make((ftb_alias_slot *)(p.slots + p.rowptr[i]), weight, degree));
    }
    free(weight);
    p.rows = room(p.nrows, 8, "rows");
    for (int64_t t = 0; t < p.nrows; t++)
        p.rows[t] = t < n ? n - 1 - t : rng_below(r, n);
    long long *places = room(p.nrows + 1, 8, "room");
    for (int64_t t = 0; t < p.nrows; t++) {
        const int64_t degree = p.rowptr[p.rows[t] + 1] - p.rowptr[p.rows[t]];
        places[t + 1] = places[t] + (degree > 0 && (replace || degree > k) ? k : degree);
    }
    uint64_t seed = p.seed;
    const uint64_t stream = ftb_draw_stream(&seed, 5, 3);
    p.w = (ftb_sample_weighted){.rows = {.rowptr = p.rowptr,
                                         .colidx = colidx,
                                         .rows = p.rows,
                                         .nrows = p.nrows,
                                         .seed = seed,
                                         .stream = stream,
                                         .k = k,
                                         .replace = replace,
                                         .to = room(p.nrows + 1, 8, "to"),
                                         .entries = room(places[p.nrows], 8, "entries"),
                                         .columns = room(places[p.nrows], 4, "columns"),
                                         .most = room(1, 8, "most")},
                                .slots = p.slots,
                                .room = places,
                                .places = room(places[p.nrows], 4, "places"),
                                .longs = k <= FTB_SAMPLE_LANES ? room(p.nrows, 8, "longs") : NULL,
                                .nlongs = room(1, 8, "nlongs"),
                                .rest = room(p.nrows, 8, "rest"),
                                .rest_vertices = room(p.nrows, 8, "vertices"),
                                .nrest = room(1, 8, "nrest"),
                                .bad = room(1, 4, "bad")};
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

static void run(const problem *p, uint64_t order, seen *s)
{
    const int k = (int)p->w.rows.k, lanes = k <= 8 ? 8 : k <= 16 ? 16 : 32;
    ftb_sample_weighted w = p->w;
    char name[32];
    *w.nlongs = *w.nrest = 0;
    memset(w.places, 0xff, 4 * (size_t)w.room[p->nrows]);
    snprintf(name, sizeof name, "sample_weighted_%d", lanes);
    if (w.longs)
        launch(name, p->nrows * lanes, FTB_SAMPLE_BLOCK, &w, order);
    s->longs += (int64_t)*w.nlongs;
    launch("sample_weighted_block", 3 * FTB_WEIGHTED_BLOCK, FTB_WEIGHTED_BLOCK, &w, order);
    s->rest += (int64_t)*w.nrest;
    if (*w.nrest > 0)
        finish(p, order);
    sum(w.rows.to, p->nrows);
    if (w.rows.to[p->nrows] > 0)
        launch("sample_weighted_put", w.rows.to[p->nrows], FTB_SAMPLE_BLOCK, &w, order);
    assert_int_equal(*w.bad, 0);
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
                             .batch = 5,
                             .hop = 3,
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
        run(&p, rng_bits(&r), &all);
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
            seen s = {0};
            run(&p, order, &s);
            assert_true(s.rest > 0 && (s.longs > 0 || p.w.rows.k > FTB_SAMPLE_LANES));
            check(&p, "orders");
            while (memory.count > arrays)
                case_forget(memory.made[--memory.count]);
        }
        forget_all();
    }
}

/* A row without a table is said, whatever is picked of it; rows that nobody asks for are not. */
static void without_table(void **state)
{
    (void)state;
    static const int64_t ks[] = {0, 2, 12, 31, 50};
    for (int c = 0; c < 10; c++) {
        rng r = rng_case(c);
        problem p = make_problem(&r, REALS, ks[c % 5], c >= 5, 90);
        ftb_sample_weighted w = p.w;
        char name[32];
        p.slots[p.rowptr[7]] |= UINT64_C(0xffffffff) << 32;
        for (int asked = 0; asked < 2; asked++) {
            if (!asked)
                for (int64_t t = 0; t < p.nrows; t++)
                    p.rows[t] = p.rows[t] == 7 ? 8 : p.rows[t];
            else
                p.rows[11] = 7;
            *w.bad = 0;
            *w.nlongs = *w.nrest = 0;
            for (int64_t t = 0; t < p.nrows; t++) { /* room for any */
                long long *places = (long long *)(uintptr_t)w.room;
                const int64_t degree = p.rowptr[p.rows[t] + 1] - p.rowptr[p.rows[t]];
                places[t + 1] =
                    places[t] + (degree > 0 && (w.rows.replace || degree > w.rows.k) ? w.rows.k : degree);
            }
            w.places = room(w.room[p.nrows], 4, "places");
            snprintf(name, sizeof name, "sample_weighted_%d", w.rows.k <= 8 ? 8 : w.rows.k <= 16 ? 16 : 32);
            if (w.longs)
                launch(name,
                       p.nrows * (w.rows.k <= 8    ? 8
                                  : w.rows.k <= 16 ? 16
                                                   : 32),
                       FTB_SAMPLE_BLOCK, &w, 3);
            launch("sample_weighted_block", 2 * FTB_WEIGHTED_BLOCK, FTB_WEIGHTED_BLOCK, &w, 3);
            assert_int_equal(*w.bad, asked);
            if (asked)
                assert_int_equal(w.rows.to[11], 0);
        }
        forget_all();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(picks), cmocka_unit_test(orders),
                                       cmocka_unit_test(without_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
