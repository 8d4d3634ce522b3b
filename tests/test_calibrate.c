/* Costs: fitted to times that the rules made under other costs, they predict those times; calibrating a small
 * machine learns costs that plans then use, that wisdom keeps, and of which nothing is left where it fails.
 */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "ops/plan_object.h"
#include "plan/fit.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <unistd.h>

static const char path[] = "test_calibrate.wisdom";

/* Caches so small that calibrating it takes no time. */
static const ftb_machine_facts small = {.cores = 2,
                                        .l1 = 4 << 10,
                                        .l2 = 64 << 10,
                                        .l3 = 512 << 10,
                                        .memory = INT64_C(1) << 34,
                                        .l1_rate = 200e9,
                                        .l2_rate = 100e9,
                                        .l3_rate = 50e9,
                                        .memory_rate = 15e9};

/* ---- the fit */

static ftb_sample of_spmm(int64_t n, int64_t degree, int64_t features, int64_t edge_bytes, int64_t segment,
                          int64_t tile)
{
    ftb_sample s = {.kind = FTB_PLAN_SPMM,
                    .choice = {.family = segment ? FTB_SPMM_PARTITIONED : FTB_SPMM_DIRECT,
                               .segment = segment,
                               .tile = tile,
                               .parts = segment ? 1 : 0}};
    s.facts.spmm = (ftb_spmm_facts){.nrows = n,
                                    .ncols = n,
                                    .nvals = n * degree,
                                    .listed = n,
                                    .entries = n * degree,
                                    .features = features,
                                    .value_bytes = 4,
                                    .stored_bytes = 4,
                                    .edge_bytes = edge_bytes,
                                    .lanes = 16,
                                    .threads = 1,
                                    .uses = 1,
                                    .memory_left = INT64_MAX,
                                    .tuned = true,
                                    .partitioned = true,
                                    .kernel = "some"};
    const int bucket = 63 - __builtin_clzll((unsigned long long)degree);
    s.facts.spmm.degrees.rows[bucket] = n;
    s.facts.spmm.degrees.entries[bucket] = n * degree;
    return s;
}

static ftb_sample of_dots(int64_t n, int64_t degree, int64_t features, int64_t segment)
{
    ftb_sample s = {.kind = FTB_PLAN_SDDMM,
                    .choice = {.family = segment ? FTB_SDDMM_SEGMENTS : FTB_SDDMM_ROWS,
                               .segment = segment,
                               .tile = segment ? 4 * features : 0}};
    s.facts.sddmm = (ftb_sddmm_facts){.nrows = n,
                                      .ncols = n,
                                      .nvals = n * degree,
                                      .source_bytes = 4 * features,
                                      .row_bytes = 4 * features,
                                      .entry_bytes = 4,
                                      .memory_left = INT64_MAX,
                                      .heads = 1,
                                      .features = features,
                                      .threads = 1,
                                      .kernel = "dot_f32"};
    const int bucket = 63 - __builtin_clzll((unsigned long long)degree);
    s.facts.sddmm.degrees.rows[bucket] = n;
    s.facts.sddmm.degrees.entries[bucket] = n * degree;
    return s;
}

#define MOST 200

static int64_t make_samples(ftb_sample *samples)
{
    int64_t count = 0;
    for (int64_t n = 2000; n <= 200000; n *= 10)
        for (int64_t features = 32; features <= 128; features *= 4) {
            samples[count++] = of_spmm(n, 100, features, 0, 0, 0);
            samples[count++] = of_dots(n, 100, features, 0);
            for (int64_t segment = 256; segment < n && segment <= 16384; segment *= 4) {
                samples[count++] = of_spmm(n, 100, features, 0, segment, 32);
                samples[count++] = of_spmm(n, 10, features, 4, segment, 32);
                samples[count++] = of_dots(n, 100, features, segment);
            }
        }
    assert_true(count <= MOST);
    return count;
}

static void fits(void **state)
{
    (void)state;
    rng r = rng_new();
    static ftb_sample samples[MOST];
    for (int turn = 0; turn < 4; turn++) {
        const int64_t count = make_samples(samples);
        ftb_machine_facts hidden = *ftb_machine_standard(), found = hidden;
        hidden.calibrated = true;
        hidden.costs = ftb_costs_of(ftb_isa());
        for (int c = 0; c < FTB_NCOSTS; c++)
            *ftb_cost_at(&hidden.costs, c) *= exp(2 * rng_unit(&r) - 1); /* a factor of 0.37 to 2.7 */
        double worst = 1;
        for (int64_t s = 0; s < count; s++) {
            samples[s].seconds = ftb_sample_predict(&samples[s], &hidden);
            samples[s].weight = 1;
            samples[s].product = (int)s; /* nothing to choose */
            assert_true(samples[s].seconds > 0);
            const double off = fabs(log(ftb_sample_predict(&samples[s], &found) / samples[s].seconds));
            worst = fmax(worst, exp(off));
        }
        assert_true(worst > 1.3);
        assert_true(ftb_fit_costs(&found, samples, count) < 1.06);
        assert_true(found.calibrated);
        for (int64_t s = 0; s < count; s++) {
            const double off = ftb_sample_predict(&samples[s], &found) / samples[s].seconds;
            assert_true(off > 1 / 1.25 && off < 1.25);
        }
        /* What no sample depends on stays. */
        const ftb_costs table = ftb_costs_of(ftb_isa());
        assert_true(found.costs.softmax_row == table.softmax_row &&
                    found.costs.head_visit == table.head_visit);
    }
}

/* A sum in segments of many sizes, and directly: samples of one product. */
static int64_t make_choices(ftb_sample *samples)
{
    int64_t count = 0;
    int product = 0;
    for (int64_t n = 20000; n <= 200000; n *= 10)
        for (int64_t degree = 10; degree <= 100; degree *= 10)
            for (int64_t features = 32; features <= 128; features *= 4, product++)
                for (int64_t segment = 0; segment <= 16384; segment = segment ? 4 * segment : 256) {
                    samples[count] = of_spmm(n, degree, features, 0, segment, 32);
                    samples[count].weight = 1;
                    samples[count++].product = product;
                }
    assert_true(count <= MOST);
    return count;
}

/* What the rules would choose, beside the fastest: by hand, then under costs that made the times. */
static void regrets(void **state)
{
    (void)state;
    static ftb_sample samples[MOST];
    const ftb_machine_facts *machine = ftb_machine_standard();
    assert_true(ftb_samples_regret(NULL, 0, machine) == 1);
    const int64_t count = make_choices(samples);
    for (int64_t s = 0; s < count; s++)
        samples[s].seconds = ftb_sample_predict(&samples[s], machine);
    assert_true(ftb_samples_regret(samples, count, machine) == 1);
    int64_t of_one = 0, chosen = 0;
    while (samples[of_one].product == 0)
        of_one++;
    for (int64_t s = 1; s < of_one; s++)
        if (samples[s].seconds < samples[chosen].seconds)
            chosen = s;
    for (int64_t s = 0; s < of_one; s++)
        samples[s].seconds = s == chosen ? 3 : s == of_one - 1 ? 2 : 4;
    assert_true(chosen != of_one - 1);
    assert_true(fabs(ftb_samples_regret(samples, of_one, machine) - 1.5) < 1e-9);
    /* The mean over products: the second's choice is its fastest. */
    int64_t of_two = of_one;
    while (samples[of_two].product == 1)
        of_two++;
    assert_true(fabs(ftb_samples_regret(samples, of_two, machine) - sqrt(1.5)) < 1e-9);
}

/* Times that no costs explain: whatever the fit does, no choice among the samples becomes slower by it, and
 * costs stay near where they were. */
static void distrusts(void **state)
{
    (void)state;
    rng r = rng_new();
    static ftb_sample samples[MOST];
    int kept = 0, moved = 0;
    for (int turn = 0; turn < rng_cases(12); turn++) {
        const int64_t count = make_choices(samples);
        ftb_machine_facts found = *ftb_machine_standard(), table = found;
        for (int64_t s = 0; s < count; s++)
            samples[s].seconds = ftb_sample_predict(&samples[s], &table) * (rng_below(&r, 3) ? 1 : 4);
        ftb_fit_costs(&found, samples, count);
        const double before = ftb_samples_regret(samples, count, &table);
        assert_true(ftb_samples_regret(samples, count, &found) <= before);
        ftb_costs costs = ftb_machine_costs(&table);
        double furthest = 0;
        for (int c = 0; c < FTB_NCOSTS; c++)
            furthest = fmax(furthest, fabs(log(*ftb_cost_at(&found.costs, c) / *ftb_cost_at(&costs, c))));
        assert_true(furthest < log(3));
        *(furthest > 0 ? &moved : &kept) += 1;
    }
    if (rng_cases(12) >= 12)
        assert_true(kept > 0 && moved > 0);
}

/* Nothing to fit to, and times that make no sense. */
static void fits_nothing(void **state)
{
    (void)state;
    ftb_machine_facts machine = *ftb_machine_standard();
    const ftb_costs table = ftb_costs_of(ftb_isa());
    assert_true(ftb_fit_costs(&machine, NULL, 0) == 1);
    assert_memory_equal(&machine.costs, &table, sizeof table);
    ftb_sample impossible = of_spmm(1000, 10, 32, 0, 0, 0);
    impossible.seconds = 0;
    impossible.weight = 1;
    assert_true(ftb_fit_costs(&machine, &impossible, 1) == 1);
    impossible.seconds = 1e9;
    ftb_fit_costs(&machine, &impossible, 1);
    for (int c = 0; c < FTB_NCOSTS; c++) {
        ftb_costs first = table;
        const double factor = *ftb_cost_at(&machine.costs, c) / *ftb_cost_at(&first, c);
        assert_true(factor > 1 / 16.5 && factor < 16.5);
    }
}

/* ---- plans */

/* Where visits are dear, segments are long; where bytes from L3 are dear, they fit L2. */
static void plans_follow(void **state)
{
    (void)state;
    ftb_machine_facts machine = *ftb_machine_standard();
    machine.calibrated = true;
    const ftb_sample dots = of_dots(100000, 480, 128, 0), sums = of_spmm(100000, 480, 128, 0, 0, 0);
    int64_t segment[2][2];
    for (int dear = 0; dear < 2; dear++) {
        ftb_sddmm_plan dot = {0};
        ftb_spmm_plan sum = {0};
        machine.costs = ftb_costs_of(ftb_isa());
        machine.costs.dot_visit = dear ? 300e-9 : 0.1e-9;
        machine.costs.visit = dear ? 300e-9 : 0.1e-9;
        machine.costs.dot_l3 = machine.costs.l3_read = dear ? 100e9 : 3e9;
        ftb_rule_sddmm(&dot, &dots.facts.sddmm, &machine);
        ftb_rule_spmm(&sum, &sums.facts.spmm, &machine);
        segment[dear][0] = dot.segment;
        segment[dear][1] = sum.segment * sum.tile;
    }
    for (int op = 0; op < 2; op++)
        assert_true(segment[0][op] > 0 && segment[1][op] > 2 * segment[0][op]);
}

/* ---- the call */

static bool knows(FtB_Context ctx, ftb_costs *costs)
{
    const ftb_machine_facts machine = ftb_wisdom_machine(ctx);
    *costs = machine.costs;
    return machine.calibrated;
}

static void calibrates(void **state)
{
    (void)state;
    ftb_costs first, second, table = ftb_machine_costs(&small);
    FtB_Context ctx;
    ftb_machine_force(&small);
    assert_ok(FtB_Context_new(&ctx));
    assert_false(knows(ctx, &first));
    /* Fitted, or kept as they were where nothing would be gained: times differ from run to run. */
    int moved = 0;
    for (int turn = 0; turn < 20 && moved == 0; turn++) {
        assert_ok(FtB_Wisdom_calibrate(ctx));
        assert_true(knows(ctx, &first));
        assert_true(ftb_context() != ctx);
        assert_false(knows(ftb_context(), &second)); /* another context's */
        for (int c = 0; c < FTB_NCOSTS; c++) {
            const double factor = *ftb_cost_at(&first, c) / *ftb_cost_at(&table, c);
            assert_true(factor > 1e-3 && factor < 1e3);
            moved += factor < 0.99 || factor > 1.01;
        }
    }
    assert_true(moved > FTB_NCOSTS / 3);
    /* Kept in a file, to a thousandth of a unit; added to a context that knows others. */
    assert_ok(FtB_Wisdom_save(ctx, path));
    assert_ok(FtB_Wisdom_forget(ctx));
    assert_false(knows(ctx, &second));
    assert_ok(FtB_Wisdom_load(ctx, path));
    assert_true(knows(ctx, &second));
    for (int c = 0; c < FTB_NCOSTS; c++)
        assert_true(fabs(*ftb_cost_at(&first, c) - *ftb_cost_at(&second, c)) <= 0.51e-3 * ftb_cost_unit(c));
    assert_ok(FtB_Context_free(&ctx));
    ftb_machine_force(NULL);
    unlink(path);
}

static bool cancel(double done, double total, const char *what, void *arg)
{
    (void)done, (void)total, (void)what, (void)arg;
    return false;
}

static void ends_early(void **state)
{
    (void)state;
    ftb_costs costs;
    FtB_Context ctx;
    ftb_machine_force(&small);
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_progress(ctx, cancel, NULL));
    assert_int_equal(FtB_Wisdom_calibrate(ctx), FTB_CANCELLED);
    assert_false(knows(ctx, &costs));
    assert_ok(FtB_Context_progress(ctx, NULL, NULL));
    assert_ok(FtB_Context_set_memory_limit(ctx, 100000));
    assert_int_equal(FtB_Wisdom_calibrate(ctx), FTB_LIMIT);
    assert_false(knows(ctx, &costs));
    assert_ok(FtB_Context_set_memory_limit(ctx, 0));
    assert_ok(FtB_Context_free(&ctx));
    ftb_machine_force(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits),       cmocka_unit_test(fits_nothing), cmocka_unit_test(plans_follow),
        cmocka_unit_test(regrets),    cmocka_unit_test(distrusts),    cmocka_unit_test(calibrates),
        cmocka_unit_test(ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
