/* Counted memory: alignment, accounting, the limit, growing, failing. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include "core/core.h"

#include <stdlib.h>

static int64_t held(FtB_Context ctx)
{
    int64_t now;
    assert_ok(FtB_Context_memory(ctx, &now, NULL));
    return now;
}

static void aligned_and_counted(void **state)
{
    (void)state;
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    for (int64_t size = 0; size < 300; size++) {
        char *p = ftb_new(ctx, size, 1), *q = ftb_new0(ctx, size, 3);
        assert_true(p && q);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_int_equal((uintptr_t)q % 64, 0);
        memset(p, 1, (size_t)size);
        for (int64_t t = 0; t < 3 * size; t++)
            assert_int_equal(q[t], 0);
        assert_true(held(ctx) >= 4 * size);
        ftb_delete(p);
        ftb_delete(q);
    }
    assert_int_equal(held(ctx), 0);
    int64_t peak;
    assert_ok(FtB_Context_memory(ctx, NULL, &peak));
    assert_true(peak >= 4 * 299);
    ftb_delete(NULL);
    FtB_Context_free(&ctx);
}

static void resizing_keeps_content(void **state)
{
    (void)state;
    rng r = rng_new();
    unsigned char *p = NULL, *copy = malloc(3 << 20);
    int64_t size = 0, before = held(NULL);
    for (int round = 0; round < 200; round++) {
        int64_t next = rng_below(&r, rng_below(&r, 8) == 0 ? 3 << 20 : 1 << 12);
        void *grown = p;
        assert_true(ftb_resize(NULL, &grown, next, 1));
        p = grown;
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_int_equal(memcmp(p, copy, (size_t)ftb_min(size, next)), 0);
        for (int64_t t = ftb_min(size, next); t < next; t++)
            copy[t] = p[t] = (unsigned char)rng_bits(&r);
        size = next;
        assert_true(held(NULL) - before >= size);
    }
    ftb_delete(p);
    free(copy);
    assert_int_equal(held(NULL), before);
}

static void the_limit_holds(void **state)
{
    (void)state;
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 10000));
    assert_int_equal(ftb_memory_left(ctx), 10000);
    void *p = ftb_new(ctx, 5000, 1);
    assert_non_null(p);
    assert_null(ftb_new(ctx, 5000, 1));
    assert_int_equal(ftb_nomem(), FTB_LIMIT);
    assert_non_null(strstr(FtB_error(), "the context's limit is 10K"));
    void *old = p;
    assert_false(ftb_resize(ctx, &p, 20000, 1));
    assert_ptr_equal(p, old);
    assert_false(ftb_count(ctx, 6000));
    assert_true(ftb_count(ctx, 4000));
    assert_true(ftb_memory_left(ctx) < 1000);
    ftb_uncount(ctx, 4000);
    ftb_delete(p);
    assert_int_equal(held(ctx), 0);
    FtB_Context_free(&ctx);
}

static void impossible_sizes(void **state)
{
    (void)state;
    int64_t before = held(NULL);
    assert_null(ftb_new(NULL, INT64_MAX, 8));
    assert_int_equal(ftb_nomem(), GrB_OUT_OF_MEMORY);
    assert_null(ftb_new(NULL, INT64_MAX, 1));
    assert_null(ftb_new(NULL, -1, 1));
    void *p = ftb_new(NULL, 10, 1);
    assert_false(ftb_resize(NULL, &p, INT64_MAX / 4, 8));
    assert_int_equal(ftb_nomem(), GrB_OUT_OF_MEMORY);
    ftb_delete(p);
    assert_int_equal(held(NULL), before);
}

static void context_outlives_its_handle(void **state)
{
    (void)state;
    FtB_Context ctx, none = NULL;
    assert_ok(FtB_Context_new(&ctx));
    char *p = ftb_new(ctx, 100, 1), *s = ftb_strdup(ctx, "text");
    FtB_Context_free(&ctx);
    assert_null(ctx);
    assert_ok(FtB_Context_free(&ctx));
    assert_ok(FtB_Context_free(&none));
    assert_ok(FtB_Context_free(NULL));
    assert_string_equal(s, "text");
    ftb_delete(p);
    ftb_delete(s);
}

static void buffers_are_shared(void **state)
{
    (void)state;
    int64_t before = held(NULL);
    ftb_buffer *b = ftb_buffer_new(NULL, 10, 8);
    assert_true(b->owned && b->writable);
    assert_int_equal(((int64_t *)ftb_buffer_data(b))[9], 0);
    assert_ptr_equal(ftb_buffer_retain(b), b);
    ftb_buffer_release(b);
    ((int64_t *)ftb_buffer_data(b))[9] = 1;
    ftb_buffer_release(b);
    const int data[] = {1, 2};
    b = ftb_buffer_wrap(NULL, data, sizeof data, false);
    assert_false(b->owned || b->writable);
    assert_ptr_equal(ftb_buffer_data(b), data);
    ftb_buffer_release(b);
    assert_null(ftb_buffer_adopt(NULL, NULL));
    assert_null(ftb_buffer_retain(NULL));
    ftb_buffer_release(NULL);
    assert_int_equal(held(NULL), before);
}

static GrB_Info allocate_all_ways(void *arg)
{
    (void)arg;
    GrB_Info info = GrB_SUCCESS;
    void *p = ftb_new(NULL, 10, 8), *q = ftb_new0(NULL, 10, 8);
    char *s = ftb_strdup(NULL, "text");
    ftb_buffer *b = ftb_buffer_new(NULL, 3, 4), *w = ftb_buffer_wrap(NULL, "x", 2, false);
    if (!p || !q || !s || !b || !w || !ftb_resize(NULL, &p, 1000, 8))
        info = ftb_nomem();
    ftb_delete(p);
    ftb_delete(q);
    ftb_delete(s);
    ftb_buffer_release(b);
    ftb_buffer_release(w);
    return info;
}

static void failing_allocation(void **state)
{
    (void)state;
    fail_every_allocation(allocate_all_ways, NULL, NULL);
}

static void half_an_allocator_is_refused(void **state)
{
    (void)state;
    assert_fails(GrB_NULL_POINTER, "three functions", FtB_set_allocator(malloc, NULL, free));
    assert_ok(FtB_set_allocator(malloc, realloc, free));
    void *p = ftb_new0(NULL, 100, 1);
    assert_int_equal(((char *)p)[99], 0);
    ftb_delete(p);
    assert_ok(FtB_set_allocator(NULL, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_and_counted),
        cmocka_unit_test(resizing_keeps_content),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(impossible_sizes),
        cmocka_unit_test(context_outlives_its_handle),
        cmocka_unit_test(buffers_are_shared),
        cmocka_unit_test(failing_allocation),
        cmocka_unit_test(half_an_allocator_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
