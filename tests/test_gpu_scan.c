/* Running sums on a GPU that does not exist, beside a slow loop: as few values as a block sums, and as many
 * as go by tiles, of counts and in place; sums of tiles have the room that was asked for, and no more. */
#include "support/check.h"

#include "core/backend.h"
#include "gpu/context.h"
#include "gpu/scan.h"
#include "support/fake_gpu.h"

#include <stdlib.h>

static void *there(const void *host, int64_t bytes)
{
    const ftb_backend *gpu = ftb_device(ftb_context());
    void *at = NULL;
    assert_ok(gpu->memory->alloc(gpu, ftb_context(), &at, bytes));
    assert_ok(gpu->memory->put(gpu, ftb_context(), at, host, bytes));
    return at;
}

static void sum_one(rng *r, int64_t n, bool counted)
{
    const ftb_backend *gpu = ftb_device(ftb_context());
    const int64_t room = ftb_gpu_scan_bytes(n), bytes = 8 * (n + 1);
    int *counts = calloc((size_t)n + 1, sizeof *counts);
    int64_t *values = calloc((size_t)n + 1, sizeof *values), *got = malloc((size_t)bytes), sum = 0;
    for (int64_t k = 0; k < n; k++) {
        counts[k] = (int)rng_below(r, 1 << 30);
        values[k] = counted ? -1 : counts[k] * INT64_C(4096);
    }
    int *counts_there = there(counts, 4 * (n + 1));
    long long *to = there(values, bytes), *sums = room > 0 ? there(got, room) : NULL;
    assert_ok(ftb_gpu_scan(
        ftb_gpu_of(gpu), ftb_context(),
        (ftb_scan_arguments){.counts = counted ? counts_there : NULL, .to = to, .n = n, .sums = sums}));
    assert_ok(gpu->memory->get(gpu, ftb_context(), got, to, bytes));
    for (int64_t k = 0; k <= n; k++) {
        if (got[k] != sum)
            fail_msg("%lld values: before %lld %lld, not %lld", (long long)n, (long long)k, (long long)got[k],
                     (long long)sum);
        sum += counted ? counts[k] : values[k];
    }
    gpu->memory->free(gpu, counts_there, 4 * (n + 1));
    gpu->memory->free(gpu, to, bytes);
    if (sums)
        gpu->memory->free(gpu, sums, room);
    free(counts);
    free(values);
    free(got);
}

static void sums(void **state)
{
    static const int64_t list[] = {0, 1, 4096, 4097, 6144, 10000};
    rng r = rng_new();
    (void)state;
    assert_int_equal(ftb_gpu_scan_bytes(4096), 0);
    assert_int_equal(ftb_gpu_scan_bytes(3 * FTB_SCAN_TILE), 3 * 8);
    for (size_t n = 0; n < sizeof list / sizeof *list && fake_gpu_emulates(); n++)
        for (int counted = 0; counted < 2; counted++)
            sum_one(&r, list[n], counted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(sums, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
