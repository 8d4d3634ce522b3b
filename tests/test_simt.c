/* The emulator of a GPU runs right kernels without a fault, and with the results that plain loops have,
 * whatever the order that a seed makes. */
#include "support/check.h"

#include "support/rng.h"
#include "support/simt/simt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANES = 32, SEEDS = 100 };

/* Runs a kernel, which must have no fault. */
static void run(const char *name, simt_dim grid, simt_dim block, size_t shared, void **arguments,
                simt_options options)
{
    simt_report report;
    if (simt_launch(simt_kernel_find(name), grid, block, shared, arguments, &options, &report) != 0) {
        simt_print(&report, stdout);
        fail_msg("%s: faults", name);
    }
}

/* Kernels may reach it. */

/* The lane whose value a shuffle gives `lane`. */
static int source(int operation, int lane, int by, int width)
{
    const int first = lane - lane % width;
    int from = lane;
    if (operation == 0)
        return first + by % width;
    if (operation == 1)
        from = lane - by;
    else if (operation == 2)
        from = lane + by;
    else
        from = lane ^ by;
    const int past = first + width;
    return from < first || from >= past ? lane : from;
}

static void test_shuffles(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int width = 1; width <= LANES; width *= 2)
        for (int by = 0; by < width; by++) {
            double wide[LANES], wide_results[4 * LANES];
            int narrow[LANES], narrow_results[4 * LANES];
            for (int l = 0; l < LANES; l++) {
                wide[l] = rng_unit(&r) - 0.5;
                narrow[l] = (int)rng_below(&r, 1000) - 500;
            }
            SIMT_MEMORY_ADD(wide);
            SIMT_MEMORY_ADD(narrow);
            SIMT_MEMORY_ADD(wide_results);
            SIMT_MEMORY_ADD(narrow_results);
            const double *w = wide;
            const int *n = narrow;
            double *wr = wide_results;
            int *nr = narrow_results;
            run("shuffles", simt_line(1), simt_line(LANES), 0, (void *[]){&w, &n, &by, &width, &wr, &nr},
                (simt_options){.seed = rng_bits(&r)});
            for (int k = 0; k < 4 * LANES; k++) {
                const int from = source(k / LANES, k % LANES, by, width);
                assert_true(wide_results[k] == wide[from]);
                assert_int_equal(narrow_results[k], narrow[from]);
            }
        }
}

/* What a vote gives lane t among the lanes of its kind, by a loop over all. */
static unsigned vote(int operation, int t, const int *values, const int *kinds)
{
    unsigned lanes = 0, ballot = 0, sum = 0, least = UINT32_MAX, most = 0, both = UINT32_MAX, either = 0,
             odd = 0;
    int low = INT32_MAX, high = INT32_MIN, any = 0, all = 1;
    for (int l = 0; l < LANES; l++) {
        if (kinds[l] != kinds[t])
            continue;
        const unsigned u = (unsigned)values[l];
        lanes |= 1u << l;
        ballot |= (u & 1) << l;
        any = any || values[l] > 0;
        all = all && values[l] > 0;
        sum += u;
        low = values[l] < low ? values[l] : low;
        high = values[l] > high ? values[l] : high;
        least = u < least ? u : least;
        most = u > most ? u : most;
        both &= u;
        either |= u;
        odd ^= u;
    }
    const unsigned results[] = {lanes,          ballot, (unsigned)any, (unsigned)all, sum,    (unsigned)low,
                                (unsigned)high, least,  most,          both,          either, odd};
    return results[operation];
}

static void test_votes(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int seed = 0; seed < SEEDS; seed++) {
        int values[LANES], kinds[LANES];
        unsigned results[12 * LANES];
        const int64_t nkinds = 1 + rng_below(&r, 6);
        for (int l = 0; l < LANES; l++) {
            values[l] = (int)(unsigned)rng_bits(&r);
            kinds[l] = (int)rng_below(&r, nkinds);
        }
        SIMT_MEMORY_ADD(values);
        SIMT_MEMORY_ADD(kinds);
        SIMT_MEMORY_ADD(results);
        const int *v = values, *k = kinds;
        unsigned *to = results;
        run("votes", simt_line(1), simt_line(LANES), 0, (void *[]){&v, &k, &to},
            (simt_options){.seed = rng_bits(&r)});
        for (int i = 0; i < 12 * LANES; i++)
            assert_int_equal(results[i], vote(i / LANES, i % LANES, values, kinds));
    }
}

/* Lanes that have left, and those that a last warp lacks, are not waited for. */
static void test_leaving(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int threads = 1; threads <= 100; threads += 3)
        for (int stay = 0; stay <= threads; stay += 7) {
            int values[100], sum[1] = {0}, expected = 0;
            unsigned there[4] = {0};
            SIMT_MEMORY_ADD(values);
            SIMT_MEMORY_ADD(sum);
            SIMT_MEMORY_ADD(there);
            for (int t = 0; t < threads; t++) {
                values[t] = (int)rng_below(&r, 100);
                expected += t < stay ? values[t] : 0;
            }
            const int *v = values;
            int *s = sum;
            unsigned *to = there;
            run("leaving", simt_line(1), simt_line((unsigned)threads), 0, (void *[]){&v, &stay, &s, &to},
                (simt_options){.seed = rng_bits(&r)});
            assert_int_equal(sum[0], expected);
            for (int w = 0; w < (stay + 31) / 32; w++)
                assert_int_equal(there[w], stay - 32 * w >= 32 ? UINT32_MAX : (1u << (stay - 32 * w)) - 1);
        }
}

static void test_barriers(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { MOST = 3000, BLOCKS = 5 };
    static int in[MOST];
    for (int seed = 0; seed < SEEDS; seed++) {
        int sum[1] = {0}, positive[3 * BLOCKS], expected = 0, n = (int)rng_below(&r, MOST);
        SIMT_MEMORY_ADD(in);
        SIMT_MEMORY_ADD(sum);
        SIMT_MEMORY_ADD(positive);
        for (int k = 0; k < n; k++)
            expected += in[k] = (int)rng_below(&r, 5) - 2;
        const int *from = in;
        int *s = sum, *p = positive;
        run("sum_block", simt_line(BLOCKS), simt_line(128), 0, (void *[]){&n, &from, &s, &p},
            (simt_options){.seed = rng_bits(&r), .resident = seed % 7});
        assert_int_equal(sum[0], expected);
        for (int b = 0; b < BLOCKS; b++) {
            int count = 0;
            for (int t = 0; t < 128; t++) {
                int mine = 0;
                for (int i = b * 128 + t; i < n; i += BLOCKS * 128)
                    mine += in[i];
                count += mine > 0;
            }
            assert_int_equal(positive[3 * b], count);
            assert_int_equal(positive[3 * b + 1] != 0, count > 0);
            assert_int_equal(positive[3 * b + 2] != 0, count == 128);
        }
    }
}

/* Every thread of a grid runs once, knows where it is, and has its block's shared memory. */
static void test_places(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int seed = 0; seed < SEEDS; seed++) {
        const simt_dim grid = {1 + (unsigned)rng_below(&r, 4), 1 + (unsigned)rng_below(&r, 3),
                               1 + (unsigned)rng_below(&r, 3)};
        const simt_dim block = {1 + (unsigned)rng_below(&r, 40), 1 + (unsigned)rng_below(&r, 3),
                                1 + (unsigned)rng_below(&r, 3)};
        const size_t threads = (size_t)block.x * block.y * block.z, all = threads * grid.x * grid.y * grid.z;
        int *count = calloc(all, sizeof *count);
        assert_non_null(count);
        simt_memory_add(count, all * sizeof *count, "count");
        run("places", grid, block, threads * sizeof(unsigned), (void *[]){&count},
            (simt_options){.seed = rng_bits(&r), .resident = (int)rng_below(&r, 5)});
        for (size_t k = 0; k < all; k++)
            assert_int_equal(count[k], 1);
        simt_memory_remove(count);
        free(count);
    }
}

static void test_queue(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { DEPTH = 6, TASKS = (1 << DEPTH) - 1 };
    for (int seed = 0; seed < SEEDS; seed++) {
        int tasks[TASKS] = {DEPTH}, counts[4] = {0, 1, 1, 0}; /* head, tail, pending, done */
        SIMT_MEMORY_ADD(tasks);
        SIMT_MEMORY_ADD(counts);
        int *t = tasks, *at[] = {counts, counts + 1, counts + 2, counts + 3};
        const int blocks = 1 + seed % 5;
        run("queue", simt_line((unsigned)blocks), simt_line(LANES), 0,
            (void *[]){&t, &at[0], &at[1], &at[2], &at[3]},
            (simt_options){.seed = rng_bits(&r), .resident = blocks});
        assert_int_equal(counts[3], TASKS);
        assert_int_equal(counts[2], 0);
    }
}

static void test_atomics(void **state)
{
    (void)state;
    enum { THREADS = 3 * 64 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int i[4] = {5, 5, 5, 5}, *pi = i;
        unsigned u[5] = {UINT32_MAX, 0, UINT32_MAX, 0, 0}, *pu = u, odd = 0;
        unsigned long long w[3] = {0}, *pw = w;
        float f[1] = {1}, *pf = f;
        double d[1] = {1}, *pd = d;
        SIMT_MEMORY_ADD(i);
        SIMT_MEMORY_ADD(u);
        SIMT_MEMORY_ADD(w);
        SIMT_MEMORY_ADD(f);
        SIMT_MEMORY_ADD(d);
        run("atomics", simt_line(3), simt_line(64), 0, (void *[]){&pi, &pu, &pw, &pf, &pd},
            (simt_options){.seed = seed, .resident = (int)(seed % 4)});
        const int sum = THREADS * (THREADS - 1) / 2;
        for (unsigned t = 0; t < THREADS; t++)
            odd ^= t;
        assert_true(i[0] == 5 + sum && i[1] == 5 - sum && i[2] == 1 - THREADS && i[3] == THREADS - 1);
        assert_true(u[0] == 0 && u[1] == (0x80000000u | (THREADS - 1)) && u[2] == ~255u && u[3] == 255 &&
                    u[4] == odd);
        assert_true(w[0] == 0x100000000ull * THREADS + (unsigned)sum && w[1] == 0x100000000ull + THREADS - 1);
        assert_true(w[2] == 3 * THREADS);
        assert_true(f[0] == 1 + 0.5F * (float)sum && d[0] == 1 + 0.25 * sum);
    }
}

/* Every half and every bfloat16 comes back, and what lies between two is rounded to the nearer, or to the
 * even one. */
static void test_halves(void **state)
{
    (void)state;
    enum { ALL = 1 << 16, EACH = 3 };
    float *in = malloc((size_t)EACH * ALL * sizeof *in),
          *back = malloc((size_t)EACH * ALL * 2 * sizeof *back);
    unsigned short *halves = malloc((size_t)EACH * ALL * sizeof *halves),
                   *bfloats = malloc((size_t)EACH * ALL * sizeof *bfloats);
    assert_true(in && back && halves && bfloats);
    for (uint32_t k = 0; k < ALL; k++) {
        const uint32_t bits[EACH] = {k << 16, k << 16 | 0x8000, k << 13};
        memcpy(in + (size_t)EACH * k, bits, sizeof bits);
    }
    int n = EACH * ALL;
    simt_memory_add(in, (size_t)n * sizeof *in, "in");
    simt_memory_add(back, (size_t)n * 2 * sizeof *back, "back");
    simt_memory_add(halves, (size_t)n * sizeof *halves, "halves");
    simt_memory_add(bfloats, (size_t)n * sizeof *bfloats, "bfloats");
    run("convert", simt_line(1), simt_line(64), 0, (void *[]){&n, &in, &halves, &bfloats, &back},
        (simt_options){0});
    for (int k = 0; k < n; k++) {
        const double x = in[k], h = back[2 * k], b = back[2 * k + 1];
        if (isnan(x)) {
            assert_true(isnan(h) && isnan(b));
            continue;
        }
        const double step_h = fabs(x) < 0x1p-14 ? 0x1p-24 : ldexp(1, ilogb(x) - 10);
        assert_true(fabs(x) >= 65520 ? isinf(h) : fabs(h - x) <= step_h / 2);
        if (fabs(x) < 65520 && fabs(h - x) == step_h / 2 && x != 0)
            assert_int_equal(halves[k] & 1, 0);
        const double step_b = fabs(x) < 0x1p-126 ? 0x1p-133 : isinf(x) ? 0 : ldexp(1, ilogb(x) - 7);
        if (fabs(x) < 0x1.ffp127)
            assert_true(fabs(b - x) <= step_b / 2);
        if (k % EACH == 0)
            assert_true(b == x);
        if (k % EACH == 1 && isfinite(x) && x != 0)
            assert_int_equal(bfloats[k] & 1, 0);
        assert_true(!signbit(h) == !signbit(x) && !signbit(b) == !signbit(x));
    }
    void *all[] = {in, back, halves, bfloats};
    for (size_t k = 0; k < 4; k++) {
        simt_memory_remove(all[k]);
        free(all[k]);
    }
}

/* Bytes and half-words are one lane's each, in shared memory that begins anywhere. */
static void test_narrow(void **state)
{
    (void)state;
    enum { THREADS = 64 };
    static unsigned char bytes[THREADS + 1];
    static unsigned short shorts[THREADS + 1];
    int out[THREADS];
    SIMT_MEMORY_ADD(bytes);
    SIMT_MEMORY_ADD(shorts);
    SIMT_MEMORY_ADD(out);
    for (int seed = 0; seed < SEEDS; seed++) {
        unsigned char *b = bytes + seed % 2;
        unsigned short *s = shorts + seed % 2;
        int *o = out;
        run("narrow", simt_line(1), simt_line(THREADS), THREADS + 1, (void *[]){&b, &s, &o},
            (simt_options){.seed = (uint64_t)seed});
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(out[t], 5 * (THREADS - 1 - t) + 1 + 2 + 3 + 4 + 5);
    }
}

static void test_hand_over(void **state)
{
    (void)state;
    int in[LANES], out[LANES];
    float scaled[LANES];
    SIMT_MEMORY_ADD(in);
    SIMT_MEMORY_ADD(out);
    SIMT_MEMORY_ADD(scaled);
    for (int l = 0; l < LANES; l++)
        in[l] = l * l;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int *i = in, *o = out;
        float *s = scaled;
        run("halves_of_warp", simt_line(1), simt_line(LANES), 0, (void *[]){&i, &o},
            (simt_options){.seed = seed});
        run("own_arrays", simt_line(1), simt_line(LANES), 0, (void *[]){&i, &s},
            (simt_options){.seed = seed});
        for (int l = 0; l < LANES; l++) {
            const int other = l ^ 16;
            assert_int_equal(out[l], in[other] + in[other ^ 8]);
            assert_true(scaled[l] == (float)(in[(l + (in[l] & 7)) % LANES] * (1 << (in[l] & 3))));
        }
    }
}

static void test_spmm(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { ROWS = 21, ENTRIES = ROWS * 60, WIDTH = 128 };
    static int rowptr[ROWS + 1], colidx[ENTRIES];
    static float values[ENTRIES], y[ROWS * WIDTH] __attribute__((aligned(16))),
        x[ROWS * WIDTH] __attribute__((aligned(16)));
    for (int i = 0; i < ROWS; i++)
        rowptr[i + 1] = rowptr[i] + (int)rng_below(&r, 60);
    for (int e = 0; e < rowptr[ROWS]; e++) {
        colidx[e] = (int)rng_below(&r, ROWS);
        values[e] = (float)(rng_below(&r, 9) - 4);
    }
    for (int k = 0; k < ROWS * WIDTH; k++)
        x[k] = (float)(rng_below(&r, 9) - 4);
    SIMT_MEMORY_ADD(rowptr);
    simt_memory_add(colidx, (size_t)rowptr[ROWS] * sizeof *colidx, "colidx");
    simt_memory_add(values, (size_t)rowptr[ROWS] * sizeof *values, "values");
    SIMT_MEMORY_ADD(x);
    SIMT_MEMORY_ADD(y);
    int rows = ROWS, *p = rowptr, *c = colidx;
    float *v = values, *in = x, *out = y;
    for (int seed = 0; seed < SEEDS / 10; seed++) {
        memset(y, 0xff, sizeof y);
        run("spmm", simt_line((ROWS + 3) / 4), simt_line(128), 0, (void *[]){&rows, &p, &c, &v, &in, &out},
            (simt_options){.seed = rng_bits(&r), .resident = seed % 4});
        for (int i = 0; i < ROWS; i++)
            for (int f = 0; f < WIDTH; f++) {
                float sum = 0;
                for (int e = rowptr[i]; e < rowptr[i + 1]; e++)
                    sum += values[e] * x[colidx[e] * WIDTH + f];
                assert_true(y[i * WIDTH + f] == sum);
            }
    }
}

static void test_count_keys(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { MOST = 200, SLOTS = 64 };
    int keys[MOST], found[SLOTS], counts[SLOTS], nfound[1];
    SIMT_MEMORY_ADD(keys);
    SIMT_MEMORY_ADD(found);
    SIMT_MEMORY_ADD(counts);
    SIMT_MEMORY_ADD(nfound);
    for (int seed = 0; seed < SEEDS; seed++) {
        int n = (int)rng_below(&r, MOST), slots = SLOTS, expected[50] = {0}, distinct = 0;
        for (int i = 0; i < n; i++) {
            keys[i] = (int)rng_below(&r, 50);
            distinct += expected[keys[i]]++ == 0;
        }
        int *k = keys, *f = found, *c = counts, *nf = nfound;
        run("count_keys", simt_line(1), simt_line(96), 2 * SLOTS * sizeof(int),
            (void *[]){&n, &k, &slots, &f, &c, &nf}, (simt_options){.seed = rng_bits(&r)});
        assert_int_equal(nfound[0], distinct);
        for (int i = 0; i < distinct; i++)
            assert_int_equal(counts[i], expected[found[i]]);
    }
}

/* The same seed makes the same run; others make others. */
static void test_seeds(void **state)
{
    (void)state;
    int64_t switches[2];
    for (int k = 0; k < 2; k++) {
        int tasks[31] = {5}, counts[4] = {0, 1, 1, 0};
        SIMT_MEMORY_ADD(tasks);
        SIMT_MEMORY_ADD(counts);
        int *t = tasks, *at[] = {counts, counts + 1, counts + 2, counts + 3};
        simt_report report;
        simt_options options = {.seed = 7, .resident = 3};
        assert_int_equal(simt_launch(simt_kernel_find("queue"), simt_line(3), simt_line(LANES), 0,
                                     (void *[]){&t, &at[0], &at[1], &at[2], &at[3]}, &options, &report),
                         0);
        switches[k] = report.switches;
        assert_int_equal(report.seed, 7);
    }
    assert_int_equal(switches[0], switches[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffles),   cmocka_unit_test(test_votes),     cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_barriers),   cmocka_unit_test(test_places),    cmocka_unit_test(test_queue),
        cmocka_unit_test(test_atomics),    cmocka_unit_test(test_halves),    cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_narrow),     cmocka_unit_test(test_hand_over), cmocka_unit_test(test_spmm),
        cmocka_unit_test(test_count_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
