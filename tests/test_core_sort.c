/* Sorting words by some of their bits: stable, whatever the number of threads, against insertion one by one
 * and, of many words, against qsort by key and place. */
#include "support/check.h"
#include "support/rng.h"

#include "core/core.h"

#include <stdlib.h>

typedef struct item {
    uint64_t key, word;
    int64_t place;
} item;

static int by_key_and_place(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? 1 : -1;
    return x->place > y->place ? 1 : -1;
}

/* n words whose bits from `high` on are 0, as ftb_sort wants it. */
static void sorts(rng *r, int64_t n, int low, int high, int threads)
{
    const size_t bytes = (size_t)ftb_max(n, 1) * sizeof(uint64_t);
    const uint64_t used = high == 64 ? UINT64_MAX : (UINT64_C(1) << high) - 1;
    uint64_t *a = malloc(bytes), *scratch = malloc(bytes);
    item *goal = malloc((size_t)ftb_max(n, 1) * sizeof *goal);
    for (int64_t t = 0; t < n; t++) {
        a[t] = (rng_below(r, 3) == 0 ? (uint64_t)rng_below(r, 7) << low : rng_bits(r)) & used;
        goal[t] = (item){a[t] >> low, a[t], t};
    }
    qsort(goal, (size_t)n, sizeof *goal, by_key_and_place);
    const uint64_t *sorted =
        threads == 0 ? ftb_sort(a, scratch, n, low, high) : ftb_sort_by(a, scratch, n, low, high, threads);
    assert_true(sorted == a || sorted == scratch);
    for (int64_t t = 0; t < n; t++)
        if (sorted[t] != goal[t].word)
            fail_msg("%lld words by bits %d to %d, %d threads: word %lld is %llx, expected %llx",
                     (long long)n, low, high, threads, (long long)t, (unsigned long long)sorted[t],
                     (unsigned long long)goal[t].word);
    free(a);
    free(scratch);
    free(goal);
}

static void all_sizes(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 23, 24, 25, 26, 31, 100, 257, 2048, 2049, 5000};
    static const int bits[][2] = {{0, 1}, {0, 11}, {0, 12}, {5, 30}, {20, 42}, {40, 64}, {0, 64}};
    rng r = rng_new();
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
            for (int threads = 0; threads < 5; threads++)
                sorts(&r, sizes[s], bits[b][0], bits[b][1], threads);
}

static void many(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int threads = 0; threads < 11; threads += 2 + threads / 4)
        sorts(&r, 100000 + rng_below(&r, 1000), 20, 42, threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_sizes), cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
