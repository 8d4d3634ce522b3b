/* Kernels of running sums in the emulator: values of both kinds against a slow loop, by one block and by
 * tiles, and the sectors of memory that they touch. */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/scan_tiles.h"

static double sectors(const char *name, int64_t blocks, void *arguments)
{
    simt_report report;
    case_launch(name, simt_line((unsigned)blocks), FTB_SCAN_BLOCK, (void *[]){arguments},
                &(simt_options){.seed = 3, .count = 1}, &report);
    return (double)report.global_sectors;
}

/* Of 32-bit counts, or of what is in place; tiled, each of the three launches. */
static void sum_one(rng *r, int64_t n, bool counted, bool tiled)
{
    const int64_t tiles = (n + FTB_SCAN_TILE - 1) / FTB_SCAN_TILE;
    const double whole = n % FTB_SCAN_TILE == 0, moved = (double)n / 32, value = counted ? 4 : 8;
    int *counts = case_memory(n, sizeof *counts, "counts");
    long long *to = case_memory(n + 1, sizeof *to, "to"), *sums = case_memory(tiles, sizeof *sums, "sums"),
              *was = malloc(sizeof *was * ((size_t)n + 1)), sum = 0;
    ftb_scan_arguments a = {.counts = counted ? counts : NULL, .to = to, .n = n, .sums = tiled ? sums : NULL};
    for (int64_t k = 0; k < n; k++) {
        was[k] = rng_below(r, 5) ? rng_below(r, 100) : INT64_C(1) << (counted ? 30 : 40);
        counts[k] = counted ? (int)was[k] : -1;
        to[k] = counted ? -1 : was[k];
    }
    if (tiled) {
        const double got = sectors("scan_sum", tiles, &a);
        assert_true(whole == 0 || got == value * moved + (double)tiles);
    }
    (void)sectors("scan_top", 1, &a);
    if (tiled) {
        const double got = sectors("scan_put", tiles, &a);
        assert_true(whole == 0 || got == (value + 8) * moved + 8 * (double)tiles);
    }
    for (int64_t k = 0; k <= n; k++) {
        assert_true(to[k] == sum);
        sum += k < n ? was[k] : 0;
    }
    free(was);
    case_forget(counts);
    case_forget(to);
    case_forget(sums);
}

static void sums(void **state)
{
    static const int64_t counts[] = {0, 1, 31, 255, 256, 257, 2048, 2049, 5000, 6144};
    rng r = rng_new();
    (void)state;
    for (int time = 0; time < case_times(); time++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int kind = 0; kind < 4; kind++)
                if (counts[c] > 0 || kind < 2)
                    sum_one(&r, counts[c], kind % 2, kind / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
