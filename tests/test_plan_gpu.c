/* The rules for products on a GPU, for GPUs that are described: which shape at which width, and that its
 * seconds follow the GPU's figures; tiles, hashes and chunks of sparse x sparse. */
#include "support/check.h"

#include "plan/gpu_spgemm_plan.h"
#include "plan/spmm_plan.h"
#include "support/described_gpus.h"

#include <math.h>
#include <stdio.h>

static ftb_spmm_facts graph(int64_t vertices, int64_t degree, int64_t features)
{
    return (ftb_spmm_facts){.nrows = vertices,
                            .ncols = vertices,
                            .nvals = vertices * degree,
                            .features = features,
                            .value_bytes = 4,
                            .stored_bytes = 4};
}

static ftb_gpu_spmm_plan plan_of(const ftb_spmm_facts *f, int at_once, const ftb_gpu_facts *gpu)
{
    static const ftb_spmm_asked nothing = {.forced = 0};
    const ftb_gpu_spmm_facts of = {.gpu = *gpu, .at_once = at_once};
    ftb_gpu_spmm_plan plan;
    ftb_rule_gpu_spmm(&plan, f, &of, &nothing);
    return plan;
}

/* Narrow rows take few lanes, wide ones more; several values a lane only where rows allow it. */
static void widths(void **state)
{
    static const struct {
        int features, at_once, lanes, values, bytes; /* bytes: of a value as it is stored */
    } list[] = {{1, 1, 4, 1, 4},    {3, 1, 4, 1, 4},    {33, 1, 32, 1, 4},  {129, 1, 32, 1, 4},
                {4, 4, 8, 4, 4},    {32, 4, 8, 4, 4},   {128, 4, 32, 4, 4}, {256, 4, 32, 4, 4},
                {512, 4, 32, 4, 4}, {32, 8, 4, 8, 2},   {128, 8, 16, 8, 2}, {512, 8, 16, 8, 2},
                {12, 4, 8, 4, 2},   {132, 4, 8, 4, 2},  {129, 1, 32, 1, 2}, {16, 2, 8, 2, 8},
                {64, 2, 32, 2, 8},  {128, 2, 32, 2, 8}, {3, 1, 4, 1, 8},    {128, 2, 32, 2, 4}};
    (void)state;
    for (int n = 0; n < GPUS; n++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            const ftb_gpu_facts gpu = described_gpu(n);
            ftb_spmm_facts f = graph(2000, 480, list[k].features);
            f.stored_bytes = list[k].bytes;
            const ftb_gpu_spmm_plan plan = plan_of(&f, list[k].at_once, &gpu);
            if (plan.lanes != list[k].lanes || plan.values != list[k].values)
                fail_msg("GPU %d, %d features of %d bytes: %d x %d", n, list[k].features, list[k].bytes,
                         plan.lanes, plan.values);
        }
}

/* Twice the memory's rate is half the time where sources are larger than L2, and nothing where they fit and
 * L2's own rate is known; a faster clock helps where steps decide. */
static void rates(void **state)
{
    (void)state;
    ftb_gpu_facts h100 = described_gpu(GPU_H100), faster = h100;
    const ftb_spmm_facts large = graph(4000000, 30, 128), near = graph(50000, 500, 128);
    faster.memory_rate *= 2;
    assert_true(fabs(plan_of(&large, 4, &faster).seconds / plan_of(&large, 4, &h100).seconds - 0.5) < 0.06);
    assert_true(plan_of(&near, 4, &faster).seconds == plan_of(&near, 4, &h100).seconds);
    const double bytes = (double)near.nvals * (4 + 512) + (double)near.nrows * 512;
    assert_true(fabs(plan_of(&near, 4, &h100).seconds / (bytes / h100.l2_rate) - 1) < 0.15);
    ftb_gpu_facts slow = h100;
    slow.clock /= 100;
    assert_true(plan_of(&near, 4, &slow).seconds > 3 * plan_of(&near, 4, &h100).seconds);
}

static void wrong(void **state)
{
    static const char *const list[] = {
        DESCRIBED_HOST "gpu_multiprocessors = 0\n", DESCRIBED_HOST "gpu_multiprocessors = 10\n",
        DESCRIBED_HOST "gpu_multiprocessors = 10\ngpu_clock = 1\n",
        DESCRIBED_HOST "gpu_multiprocessors = 1.5\n", DESCRIBED_HOST "gpu_speed = 1\n"};
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        ftb_machine_facts m = {0};
        assert_false(described_read(&m, list[n]));
        assert_int_equal(m.gpu.multiprocessors, 0);
    }
}

/* Written and read again. */
static void text(void **state)
{
    (void)state;
    for (int n = 0; n < GPUS; n++) {
        const ftb_machine_facts m = described_machine(n);
        ftb_machine_facts back = {0};
        char buffer[1024] = "";
        assert_true(m.cores == 4 && m.gpu.multiprocessors > 0);
        FILE *file = fmemopen(buffer, sizeof buffer - 1, "w");
        ftb_machine_write(&m, file);
        fclose(file);
        assert_true(described_read(&back, buffer));
        assert_true(back.gpu.multiprocessors == m.gpu.multiprocessors && back.gpu.l2 == m.gpu.l2 &&
                    back.gpu.memory == m.gpu.memory && back.gpu.shared == m.gpu.shared &&
                    fabs(back.gpu.clock / m.gpu.clock - 1) < 1e-3 &&
                    fabs(back.gpu.memory_rate / m.gpu.memory_rate - 1) < 1e-3);
        assert_true(back.gpu.l2_rate == m.gpu.l2_rate);
    }
}

/* ---- sparse x sparse */

static ftb_gpu_spgemm_facts product(int64_t rows, int64_t ncols, int64_t degree, double products, bool counts)
{
    const double entries = fmin(products, (double)rows * (double)ncols);
    return (ftb_gpu_spgemm_facts){.ninner = rows,
                                  .ncols = ncols,
                                  .bvals = rows * degree,
                                  .hot = -1,
                                  .avals = rows * degree,
                                  .rows = (double)rows,
                                  .products = products,
                                  .entries = entries,
                                  .longest_row = ncols,
                                  .cell_bytes = counts ? 2 : 4,
                                  .hash_bytes = {4 * 64 * 12, 4 * 512 * 12, 2048 * 12, 8192 * 12},
                                  .entry_bytes = 28,
                                  .counts = counts};
}

static ftb_gpu_spgemm_plan plan_product(const ftb_gpu_spgemm_facts *f, const ftb_gpu_facts *gpu)
{
    ftb_gpu_spgemm_facts there = *f;
    ftb_gpu_spgemm_plan plan;
    there.gpu = *gpu;
    ftb_rule_gpu_spgemm(&plan, &there);
    return plan;
}

/* Whatever it is: tiles fit shared memory and cover the columns evenly, a chunk holds a row and leaves room.
 */
static void bounds(void **state)
{
    static const int64_t columns[] = {1, 31, 700, 26744, 300000, 5000000};
    (void)state;
    for (int n = 0; n < GPUS; n++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int degree = 2; degree < 3000; degree *= 11)
                for (int counts = 0; counts < 2; counts++) {
                    const ftb_gpu_facts gpu = described_gpu(n);
                    const ftb_gpu_spgemm_facts f =
                        product(20000, columns[k], degree, 2e4 * degree * degree, counts);
                    const ftb_gpu_spgemm_plan plan = plan_product(&f, &gpu);
                    const int64_t shared = gpu.shared ? gpu.shared : 48 << 10,
                                  tiles = (f.ncols + plan.tile - 1) / plan.tile;
                    assert_true(plan.tile >= 1 && plan.tile <= f.ncols && plan.tile * f.cell_bytes <= shared);
                    assert_true(plan.tile * tiles - f.ncols < tiles);
                    assert_true(plan.warps >= 1 && plan.warps <= 16 && plan.lanes <= 32 && plan.lanes >= 8);
                    assert_true(plan.hashes >= 0 && plan.hashes <= FTB_GPU_SPGEMM_HASHES);
                    assert_true(plan.chunk_entries >= f.longest_row);
                    assert_true(plan.chunk_entries == f.longest_row ||
                                2 * plan.chunk_entries * f.entry_bytes <= gpu.memory / 2);
                    assert_true(plan.seconds > 0 && plan.seconds < INFINITY);
                }
}

/* The films' graph of movielens-20m in one tile where that fits; short rows of wide results are hashed, short
 * rows of narrow ones are not. */
static void forms(void **state)
{
    (void)state;
    const ftb_gpu_spgemm_facts films = product(26744, 26744, 748, 10.67e9, true),
                               wide = product(1000000, 1000000, 10, 1e8, false),
                               narrow = product(1000000, 200, 10, 1e8, false);
    for (int n = 0; n < GPUS; n++) {
        const ftb_gpu_facts gpu = described_gpu(n);
        const ftb_gpu_spgemm_plan plan = plan_product(&films, &gpu);
        const int64_t tiles = (films.ncols + plan.tile - 1) / plan.tile;
        assert_true(n < GPU_SMALL ? tiles == 1 : tiles > 1);
        assert_int_equal(plan.lanes, 32);
        assert_true(films.entries / (double)plan.chunk_entries >= 7.9);
        assert_int_equal(plan_product(&wide, &gpu).hashes, n < GPU_SMALL ? 4 : 3); /* what fits */
        assert_int_equal(plan_product(&narrow, &gpu).hashes, 1);
        ftb_gpu_spgemm_facts large = wide;
        large.hash_bytes[1] = 300 << 10;
        assert_int_equal(plan_product(&large, &gpu).hashes, 1);
        ftb_gpu_facts twice = gpu;
        twice.clock *= 2;
        assert_true(fabs(plan_product(&films, &twice).seconds / plan.seconds - 0.5) < 1e-9);
    }
    const ftb_gpu_facts h100 = described_gpu(GPU_H100), small = described_gpu(GPU_SMALL);
    assert_true(plan_product(&films, &small).chunk_entries < plan_product(&films, &h100).chunk_entries);
}

/* Frequent columns as bits where most products are in them, and not where few are, or rows of B are short;
 * what was asked for, as far as it goes; of counts alone. */
static void bits(void **state)
{
    (void)state;
    for (int n = 0; n < GPUS; n++) {
        const ftb_gpu_facts gpu = described_gpu(n);
        ftb_gpu_spgemm_facts films = product(26744, 26744, 748, 10.67e9, true);
        films.ninner = 138493;
        const ftb_gpu_spgemm_plan plain = plan_product(&films, &gpu); /* shares are not known */
        assert_int_equal(plain.hot, 0);
        const double shares[][FTB_GPU_SPGEMM_HOTS] = {{0.6, 0.8, 0.92, 0.98}, {0.02, 0.03, 0.06, 0.1}};
        memcpy(films.hot_share, shares[0], sizeof films.hot_share);
        const ftb_gpu_spgemm_plan some = plan_product(&films, &gpu);
        assert_true(n == 1 ? some.hot >= 1024 : some.hot <= 8192); /* of an H100 */
        assert_true(some.hot == 0 || some.seconds < 0.9 * plain.seconds);
        assert_true(fabs(some.plain_seconds - plain.seconds) <= 1e-12);
        assert_true((double)some.hot / 8 * (double)films.ninner <= (double)gpu.memory / 8);
        films.hot = 0;
        assert_int_equal(plan_product(&films, &gpu).hot, 0);
        films.hot = 1500;
        assert_int_equal(plan_product(&films, &gpu).hot, 1500);
        films.hot = 50000;
        assert_int_equal(plan_product(&films, &gpu).hot, FTB_GPU_SPGEMM_MOST_HOT);
        films.hot = -1;
        memcpy(films.hot_share, shares[1], sizeof films.hot_share);
        assert_int_equal(plan_product(&films, &gpu).hot, 0);
        ftb_gpu_spgemm_facts reals = product(26744, 26744, 748, 10.67e9, false);
        memcpy(reals.hot_share, shares[0], sizeof reals.hot_share);
        assert_int_equal(plan_product(&reals, &gpu).hot, 0);
        ftb_gpu_facts little = gpu; /* memory, for one line of bits and no more */
        little.memory = 8 * 128 * films.ninner;
        memcpy(films.hot_share, shares[0], sizeof films.hot_share);
        assert_true(plan_product(&films, &little).hot <= 1024);
        assert_true(n != 1 || plan_product(&films, &little).hot == 1024);
    }
}

/* A hash that takes all of a multiprocessor must be faster for it; and where rows of B are short, a dense
 * row's warps, who look into all of them, are slower. */
static void hashing(void **state)
{
    (void)state;
    const ftb_gpu_facts h100 = described_gpu(GPU_H100);
    ftb_gpu_spgemm_facts f = product(1000000, 20000, 10, 1e8, false);
    const ftb_gpu_spgemm_plan small = plan_product(&f, &h100);
    for (int k = 0; k < FTB_GPU_SPGEMM_HASHES; k++)
        f.hash_bytes[k] = 200 << 10;
    const ftb_gpu_spgemm_plan large = plan_product(&f, &h100);
    assert_true(large.hashes < small.hashes);
    const ftb_gpu_spgemm_facts longs = product(1000000, 2500, 10, 1e9, false),
                               shorts = product(1000000, 2500, 100, 1e8, false);
    assert_true(plan_product(&shorts, &h100).hashes > plan_product(&longs, &h100).hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths), cmocka_unit_test(rates),
                                       cmocka_unit_test(wrong),  cmocka_unit_test(text),
                                       cmocka_unit_test(bounds), cmocka_unit_test(forms),
                                       cmocka_unit_test(bits),   cmocka_unit_test(hashing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
