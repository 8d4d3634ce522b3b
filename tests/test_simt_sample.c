/* Kernels of sampling in the emulator. The queue, whose blocks run side by side and are interrupted anywhere:
 * it does every task once, and rules that end it otherwise, or hand tasks over otherwise, are seen to lose
 * some. Numbers in their order. */
#include "support/simt_case.h"

#include "core/core.h"
#include "core/draws.h"
#include "gpu/kernels/sample_steps.h"
#include "gpu/kernels/scan_tiles.h"
#include "oracle/ref_sample.h"

#include <limits.h>

enum { MOST_ARRAYS = 24, HOPS = 3 };
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

/* ---- the queue */

typedef struct problem {
    int64_t n;
    int64_t *rowptr; /* as kernels read it */
    int *colidx;
    ftb_queue_arguments a;
} problem;

static problem make_problem(rng *r, int64_t n, int64_t nseeds, const int *fanouts, bool replace)
{
    problem p = {.n = n};
    int64_t *rows = case_rows(r, n, true), capacity = 0, bound = nseeds;
    ftb_queue_arguments *a = &p.a;
    p.rowptr = room(n + 1, 8, "rowptr");
    memcpy(p.rowptr, rows, 8 * (size_t)(n + 1));
    p.colidx = room(rows[n], 4, "colidx");
    for (int64_t e = 0; e < rows[n]; e++)
        p.colidx[e] = (int)rng_below(r, n);
    *a = (ftb_queue_arguments){.rowptr = (const long long *)p.rowptr,
                               .colidx = p.colidx,
                               .nseeds = nseeds,
                               .nhops = HOPS,
                               .most = 1,
                               .replace = replace,
                               .patience = 400};
    for (int h = 0; h < HOPS; h++) {
        uint64_t seed = 77;
        const uint64_t stream = ftb_draw_stream(&seed, 5, (uint64_t)h);
        a->hop[h] = (ftb_queue_hop){.seed = seed, .stream = stream, .k = fanouts[h]};
        a->most = fanouts[h] > a->most ? fanouts[h] : a->most;
        capacity += bound < n ? bound : n;
        bound *= 1 + fanouts[h];
    }
    a->capacity = capacity;
    a->table.mask = 4095;
    a->table.words = room(4096, 8, "table");
    a->reached = room(4096, 4, "reached");
    a->tasks = room(capacity, 8, "tasks");
    a->places = room(capacity * a->most, 4, "places");
    a->positions = room(capacity * a->most, 4, "positions");
    a->found = room(n, 4, "found");
    a->counters = room(1, sizeof *a->counters, "counters");
    long long *seeds = room(nseeds, 8, "seeds");
    for (int64_t t = 0; t < nseeds; t++)
        seeds[t] = rng_below(r, n);
    a->seeds = seeds;
    free(rows);
    return p;
}

/* Which vertices have a task of each hop, by sets. */
static void expect_tasks(const problem *p, bool *wanted)
{
    const ftb_queue_arguments *a = &p->a;
    memset(wanted, 0, (size_t)(HOPS * p->n));
    for (int64_t t = 0; t < a->nseeds; t++)
        wanted[a->seeds[t]] = true;
    for (int h = 0; h + 1 < HOPS; h++)
        for (int64_t v = 0; v < p->n; v++) {
            int64_t *place;
            if (!wanted[h * p->n + v])
                continue;
            wanted[(h + 1) * p->n + v] = true;
            const ref_row row = {.selector = FTB_SAMPLE_UNIFORM,
                                 .replace = a->replace != 0,
                                 .k = a->hop[h].k,
                                 .seed = 77,
                                 .vertex = (uint64_t)v,
                                 .batch = 5,
                                 .hop = (uint64_t)h,
                                 .degree = p->rowptr[v + 1] - p->rowptr[v]};
            const int64_t count = ref_pick(&place, &row);
            for (int64_t t = 0; t < count; t++)
                wanted[(h + 1) * p->n + p->colidx[p->rowptr[v] + place[t]]] = true;
            free(place);
        }
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The picks of task t, which are those of its row and hop. */
static bool has_picks(const problem *p, int64_t t, int64_t v, int h)
{
    const ftb_queue_arguments *a = &p->a;
    const ref_row row = {.selector = FTB_SAMPLE_UNIFORM,
                         .replace = a->replace != 0,
                         .k = a->hop[h].k,
                         .seed = 77,
                         .vertex = (uint64_t)v,
                         .batch = 5,
                         .hop = (uint64_t)h,
                         .degree = p->rowptr[v + 1] - p->rowptr[v]};
    int64_t *place, got[64];
    const int64_t count = ref_pick(&place, &row);
    bool same = true;
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = t * a->most + k;
        got[k] = a->positions[at];
        same &= (int64_t)(a->table.words[a->places[at]] >> 32) == p->colidx[p->rowptr[v] + got[k]];
    }
    qsort(got, (size_t)count, sizeof *got, by_number);
    for (int64_t k = 0; k < count; k++)
        same &= got[k] == place[k];
    free(place);
    return same;
}

/* The hop that finds a vertex that is no seed. */
static unsigned first_hop(const problem *p, const bool *wanted, int64_t v)
{
    for (int h = 1; h < HOPS; h++)
        if (wanted[h * p->n + v])
            return (unsigned)h - 1;
    return HOPS - 1;
}

/* How many of the tasks that there should be were not done, or have other picks, and how many new vertices
 * are of another hop; -1: the queue gave up. */
static int64_t lost(const problem *p, const bool *wanted)
{
    const ftb_queue_arguments *a = &p->a;
    int64_t missing = 0, tasks = (int64_t)a->counters->tail.value;
    if (a->counters->stuck.value)
        return -1;
    bool *left = malloc((size_t)(HOPS * p->n));
    memcpy(left, wanted, (size_t)(HOPS * p->n));
    for (int64_t t = 0; t < tasks; t++) {
        const int h = (int)(a->tasks[t] & 255);
        const int64_t v = (int64_t)(a->table.words[a->tasks[t] >> 8] >> 32);
        if (a->tasks[t] != UINT64_MAX && left[h * p->n + v] && has_picks(p, t, v, h))
            left[h * p->n + v] = false;
        else
            missing++;
    }
    for (int64_t k = 0; k < HOPS * p->n; k++)
        missing += left[k];
    for (int64_t n = 0; n < (int64_t)a->counters->found.value; n++) {
        const unsigned long long word = a->table.words[a->found[n]];
        missing += (unsigned)word != (FTB_UNNUMBERED | first_hop(p, wanted, (int64_t)(word >> 32)));
    }
    free(left);
    return missing;
}

/* From seeds on, by a kernel whose blocks run side by side. Returns the number of faults. */
static int64_t run(problem *p, const char *kernel, unsigned blocks, unsigned threads, uint64_t seed,
                   simt_report *report)
{
    ftb_queue_arguments *a = &p->a;
    memset(a->table.words, 0xff, 8 * 4096);
    memset(a->reached, 0, 4 * 4096);
    memset(a->tasks, 0xff, 8 * (size_t)a->capacity);
    memset(a->positions, 0xff, 4 * (size_t)(a->capacity * a->most));
    memset(a->places, 0, 4 * (size_t)(a->capacity * a->most));
    memset(a->counters, 0, sizeof *a->counters);
    case_launch("sample_queue_seeds", simt_line((unsigned)(a->nseeds + 127) / 128), 128, (void *[]){a},
                &(simt_options){.seed = seed}, report);
    return simt_launch(simt_kernel_find(kernel), simt_line(blocks), simt_line(threads), 0, (void *[]){a},
                       &(simt_options){.seed = seed, .resident = (int)blocks}, report);
}

static void queue(void **state)
{
    (void)state;
    static const int fanouts[][HOPS] = {{3, 2, 2}, {8, 1, 0}, {12, 2, 1}, {20, 1, 1}};
    const int cases = case_times() * rng_cases(16);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        problem p =
            make_problem(&r, 20 + rng_below(&r, 60), 1 + rng_below(&r, 5), fanouts[c % 4], c % 5 == 0);
        bool *wanted = malloc((size_t)(HOPS * p.n));
        char name[32];
        simt_report report;
        snprintf(name, sizeof name, "sample_queue_%d", p.a.most <= 8 ? 8 : p.a.most <= 16 ? 16 : 32);
        expect_tasks(&p, wanted);
        if (run(&p, name, 1 + (unsigned)c % 4, c % 3 ? 32 : 64, rng_bits(&r), &report) != 0) {
            simt_print(&report, stdout);
            fail_msg("%s: faults", name);
        }
        if (lost(&p, wanted) != 0)
            fail_msg("%s, case %d: %lld tasks lost", name, c, (long long)lost(&p, wanted));
        assert_int_equal(p.a.counters->pending.value, 0);
        free(wanted);
        forget_all();
    }
}

/* Later hops may come by a vertex before the first one does, which has it all the same. */
static void first_hops(void **state)
{
    (void)state;
    enum { SEEDS = 60 };
    static const int fanouts[HOPS] = {6, 6, 6};
    rng r = rng_new();
    problem p = make_problem(&r, 60, 9, fanouts, false);
    bool *wanted = malloc((size_t)(HOPS * p.n));
    expect_tasks(&p, wanted);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        simt_report report;
        assert_int_equal(run(&p, "sample_queue_8", 6, 32, seed, &report), 0);
        assert_int_equal(lost(&p, wanted), 0);
    }
    free(wanted);
    forget_all();
}

/* Three warps, one seed: the others find nothing to do, and must wait. What goes wrong with one order in
 * thirty is looked for in more of them. */
static void mistakes(void **state)
{
    (void)state;
    enum { SEEDS = 24, MOST_SEEDS = 600 };
    static const int fanouts[HOPS] = {4, 2, 2};
    static const char *const names[] = {"sample_queue_8", "queue_ends_at_tail", "queue_lowers_first",
                                        "queue_forgets_one", "queue_shows_plainly"};
    enum { RIGHT, RACES = 4 };
    rng r = rng_new();
    problem p = make_problem(&r, 40, 1, fanouts, false);
    bool *wanted = malloc((size_t)(HOPS * p.n));
    long long *seeds = (long long *)(uintptr_t)p.a.seeds;
    while (p.rowptr[seeds[0] + 1] - p.rowptr[seeds[0]] < 4)
        seeds[0] = (seeds[0] + 1) % p.n;
    expect_tasks(&p, wanted);
    for (int k = 0; k <= RACES; k++) {
        int wrong = 0, races = 0, tried = 0;
        for (uint64_t seed = 1; seed <= (k == RIGHT || wrong + races > 0 ? SEEDS : MOST_SEEDS);
             seed++, tried++) {
            simt_report report;
            const int64_t faults = run(&p, names[k], 3, 32, seed, &report);
            races += report.of_kind[SIMT_RACE] > 0;
            assert_true(faults == 0 || k == RACES);
            wrong += lost(&p, wanted) != 0;
        }
        print_message("%s: wrong with %d, races with %d of %d seeds\n", names[k], wrong, races, tried);
        assert_true(k == RIGHT ? wrong == 0 && races == 0 : k == RACES ? races > 0 : wrong > 0);
    }
    free(wanted);
    forget_all();
}

/* ---- order */

static void launch(const char *name, unsigned blocks, unsigned threads, void *arguments)
{
    simt_report report;
    case_launch(name, simt_line(blocks), threads, (void *[]){arguments}, &(simt_options){.seed = 3}, &report);
}

static void order(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 32, 511, 512, 513, 1300};
    rng r = rng_new();
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const int64_t n = counts[c], ntiles = (n + FTB_ORDER_TILE - 1) / FTB_ORDER_TILE;
        unsigned long long *from = room(n, 8, "from");
        unsigned *with = room(n, 4, "with");
        ftb_order_arguments a = {.from = from,
                                 .with_from = with,
                                 .to = room(n, 8, "to"),
                                 .with_to = room(n, 4, "with to"),
                                 .counts = room(ntiles * FTB_ORDER_DIGITS + 1, 8, "counts"),
                                 .n = n,
                                 .ntiles = ntiles,
                                 .shift = 8 * (int)(c % 3)};
        const unsigned blocks = (unsigned)(ntiles + 3) / 4;
        for (int64_t k = 0; k < n; k++) {
            from[k] = (unsigned long long)rng_bits(&r) >> 30;
            with[k] = (unsigned)k;
        }
        launch("sample_order_count", blocks, FTB_SAMPLE_BLOCK, &a);
        ftb_scan_arguments s = {.to = a.counts, .n = ntiles * FTB_ORDER_DIGITS};
        launch("scan_top", 1, FTB_SCAN_BLOCK, &s);
        launch("sample_order_move", blocks, FTB_SAMPLE_BLOCK, &a);
        for (int64_t k = 0; k < n; k++) {
            assert_int_equal(a.to[k], from[a.with_to[k]]);
            if (k > 0) {
                const int before = (int)(a.to[k - 1] >> a.shift & 255),
                          here = (int)(a.to[k] >> a.shift & 255);
                assert_true(before < here || (before == here && a.with_to[k - 1] < a.with_to[k]));
            }
        }
        forget_all();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(queue), cmocka_unit_test(first_hops),
                                       cmocka_unit_test(mistakes), cmocka_unit_test(order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
