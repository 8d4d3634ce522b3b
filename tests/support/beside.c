#include "support/beside.h"

#include "gpu/memory.h"
#include "support/check.h"
#include "support/fakes.h"

#include <math.h>
#include <stdlib.h>

static const ftb_backend *gpu(void) { return ftb_device(ftb_context()); }

int beside_clean(void **state)
{
    int (*live)(void);
    fake_find("fake_cuda", "fake_cuda_live", &live);
    assert_ok(ftb_gpu_trim(gpu()));
    assert_int_equal(live(), 0);
    return fake_gpu_clean(state);
}

static int64_t bytes_of(const beside *b) { return b->count * (int64_t)FtB_Type_size(b->type); }

beside beside_new(rng *r, FtB_Type type, int64_t count, rng_fill fill)
{
    beside b = {.type = type, .count = count + 1}; /* never nothing */
    b.host = malloc((size_t)bytes_of(&b));
    assert_non_null(b.host);
    fill(r, b.host, type, b.count);
    assert_ok(gpu()->memory->alloc(gpu(), ftb_context(), &b.device, bytes_of(&b)));
    assert_ok(gpu()->memory->put(gpu(), ftb_context(), b.device, b.host, bytes_of(&b)));
    return b;
}

void *beside_at(const beside *b, bool there, int64_t value)
{
    return (char *)(there ? b->device : b->host) + (size_t)value * FtB_Type_size(b->type);
}

void *beside_fetch(const beside *b)
{
    void *home = malloc((size_t)bytes_of(b));
    assert_non_null(home);
    assert_ok(gpu()->memory->get(gpu(), ftb_context(), home, b->device, bytes_of(b)));
    return home;
}

static double real_at(const beside *b, const void *x, int64_t k)
{
    return ftb_type_float(b->type) ? ftb_get_real(x, b->type, k) : 0;
}

void beside_near(beside *b, double tolerance, const char *what)
{
    const size_t size = FtB_Type_size(b->type);
    char *home = beside_fetch(b);
    for (int64_t k = 0; k < b->count; k++) {
        const char *expected = (const char *)b->host + (size_t)k * size, *got = home + (size_t)k * size;
        const double x = real_at(b, home, k), y = real_at(b, b->host, k);
        if (memcmp(expected, got, size) != 0 && !(isnan(x) && isnan(y)) &&
            !(tolerance > 0 && fabs(x - y) <= tolerance * (1 + fabs(y))))
            fail_msg("%s: value %lld is %.17g, on the host %.17g", what, (long long)k, x, y);
    }
    free(home);
    beside_free(b);
}

void beside_same(beside *b, const char *what) { beside_near(b, 0, what); }

void beside_free(beside *b)
{
    gpu()->memory->free(gpu(), b->device, bytes_of(b));
    free(b->host);
    *b = (beside){0};
}

void beside_odd(rng *r, void *values, FtB_Type type, int64_t count)
{
    static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e-40, 3e38};
    rng_reals(r, values, type, count);
    for (int64_t k = rng_below(r, 9); k < count; k += 1 + rng_below(r, 40)) {
        const double x = odd[rng_below(r, sizeof odd / sizeof *odd)];
        ftb_cast((char *)values + (size_t)k * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
}
