/* The orders of a loader's seeds: permutations, all of them alike. */
#include "support/check.h"

#include "sample/batch.h"

#include <math.h>
#include <stdlib.h>

static void is_permutation(uint64_t key, int64_t n)
{
    bool *seen = calloc((size_t)n, 1);
    for (int64_t t = 0; t < n; t++) {
        const int64_t at = ftb_shuffled(key, n, t);
        assert_true(at >= 0 && at < n && !seen[at]);
        seen[at] = true;
    }
    free(seen);
}

/* chi-square of counts that should be alike, in deviations from its mean. */
static double beyond(const int *counts, int kinds, int draws)
{
    double sum = 0, expected = (double)draws / kinds;
    for (int k = 0; k < kinds; k++)
        sum += ((double)counts[k] - expected) * ((double)counts[k] - expected) / expected;
    return (sum - (kinds - 1)) / sqrt(2.0 * (kinds - 1));
}

/* All orders of four are alike, and so is where pairs of neighbours go, of 7, 33 and 1,500; keys are fixed,
 * and by chance one of these four fails once in 10,000 choices of them (5 deviations; chi-square has a longer
 * tail than the normal distribution). */
static void orders(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 31, 32, 33, 1023, 1024, 1025, 70000};
    enum { DRAWS = 20000 };
    static int counts[33 * 33];
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint64_t key = 0; key < 3; key++)
            is_permutation(key, sizes[k]);
    int four[256] = {0}, kinds = 0;
    for (uint64_t key = 0; key < DRAWS; key++) {
        int64_t code = 0;
        for (int64_t t = 0; t < 4; t++)
            code = 4 * code + ftb_shuffled(key, 4, t);
        four[code]++;
    }
    for (int code = 0; code < 256; code++)
        if (four[code] > 0)
            counts[kinds++] = four[code];
    assert_int_equal(kinds, 24);
    assert_true(beyond(counts, 24, DRAWS) < 5);
    const int64_t pairs[] = {7, 33, 1500};
    for (int k = 0; k < 3; k++) {
        const int64_t n = pairs[k], cells = n > 33 ? 30 : n;
        int seen = 0;
        memset(counts, 0, sizeof counts);
        for (uint64_t key = 0; key < DRAWS; key++) {
            const int64_t a = ftb_shuffled(key, n, n / 2), b = ftb_shuffled(key, n, n / 2 + 1);
            counts[a * cells / n * cells + b * cells / n]++;
        }
        for (int64_t c = 0; c < cells * cells; c++) /* a pair is never one number twice */
            if (n > 33 || c / cells != c % cells)
                counts[seen++] = counts[c];
        const double off = beyond(counts, seen, DRAWS);
        if (!(off < 5))
            fail_msg("pairs of %d: %.2f deviations", (int)n, off);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
