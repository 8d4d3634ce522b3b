/* Numbers of a row and the entries that they are of, sorted (cpu/kernels/sort_row.h): each instruction set
 * beside the C library's sort, of all lengths about those at which the way changes, some the same or none. */
#include "support/check.h"

#include "core/isa.h"
#include "cpu/kernels/sort_row.h"
#include "support/rng.h"

#include <stdlib.h>

enum { MOST = 70, BESIDE = 3, CASES = 6000 };

typedef struct pick {
    int32_t number;
    int64_t entry;
} pick;

static int by_number(const void *a, const void *b)
{
    const pick *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->entry > y->entry) - (x->entry < y->entry);
}

/* values: 1 is all the same; 2^31 - 1 hardly any. Before and behind the row nothing changes. */
static void check(rng *r, int64_t count, int64_t values, bool with_entries)
{
    int32_t number[BESIDE + MOST + BESIDE];
    int64_t entry[BESIDE + MOST + BESIDE];
    pick expected[MOST];
    for (int64_t t = 0; t < BESIDE + count + BESIDE; t++) {
        number[t] = (int32_t)rng_below(r, values);
        entry[t] = rng_below(r, INT64_C(1) << 40);
    }
    const int32_t before = number[BESIDE - 1], behind = number[BESIDE + count];
    const int64_t entry_before = entry[BESIDE - 1], entry_behind = entry[BESIDE + count];
    for (int64_t t = 0; t < count; t++)
        expected[t] = (pick){number[BESIDE + t], with_entries ? entry[BESIDE + t] : 0};
    qsort(expected, (size_t)count, sizeof *expected, by_number);
    FTB_PICK(ftb_sort_row)(number + BESIDE, with_entries ? entry + BESIDE : NULL, count);
    for (int64_t t = 0; t < count; t++)
        if (number[BESIDE + t] != expected[t].number ||
            (with_entries && entry[BESIDE + t] != expected[t].entry))
            fail_msg("isa %d, %lld of %lld values: place %lld has %d of entry %lld, expected %d of %lld",
                     ftb_isa(), (long long)count, (long long)values, (long long)t, number[BESIDE + t],
                     (long long)entry[BESIDE + t], expected[t].number, (long long)expected[t].entry);
    assert_true(number[BESIDE - 1] == before && number[BESIDE + count] == behind);
    assert_true(entry[BESIDE - 1] == entry_before && entry[BESIDE + count] == entry_behind);
}

static void rows(void **state)
{
    static const int64_t values[] = {1, 2, 20, 100000, INT32_MAX};
    (void)state;
    rng r = rng_new();
    for (int isa = 0; isa < 3; isa++) {
        ftb_isa_force(isa);
        for (int c = 0; c < CASES; c++)
            check(&r, c % (MOST + 1), values[rng_below(&r, 5)], rng_below(&r, 4) > 0);
    }
    ftb_isa_force(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
