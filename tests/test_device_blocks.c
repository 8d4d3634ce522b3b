/* Blocks that are sent to a device and brought home when somebody says so, and blocks over memory of a device
 * that is the caller's, on a device that does not exist (support/pretend.h). */
#include "support/check.h"

#include "ops/backends.h"
#include "support/fail_alloc.h"
#include "support/pretend.h"
#include "support/rng.h"

#include <stdlib.h>

enum { N = 30, D = 8, LD = 11 };

static FtB_Matrix A;

static int begin(void **state)
{
    int64_t I[2 * N], J[2 * N];
    pretend_setup(state);
    for (int64_t e = 0; e < 2 * N; e++) {
        I[e] = e / 2;
        J[e] = (e * 7 + 3) % N;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 0, 2 * N, I, J, NULL, FTB_DUP_SUM, NULL));
    return 0;
}

static int end(void **state)
{
    FtB_Matrix_free(&A);
    return pretend_teardown(state);
}

static void fill(float *values, int64_t count, uint64_t seed)
{
    rng r = {seed};
    for (int64_t k = 0; k < count; k++)
        values[k] = (float)(2 * rng_unit(&r) - 1);
}

static FtB_Block features(uint64_t seed)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP32));
    fill(ftb_block_data(X), N * D, seed); /* the address does not leave the library */
    return X;
}

/* What the product of A with x is, row after row, on the host. */
static void expect(float *sums, const float *x, int64_t ld)
{
    FtB_Block X, C;
    FtB_Context here;
    assert_ok(FtB_Context_new(&here));
    assert_ok(FtB_Context_engage(here));
    assert_ok(FtB_Block_wrap_const(&X, x, N, D, ld, FTB_FP32));
    assert_ok(FtB_Block_wrap(&C, sums, N, D, D, FTB_FP32));
    FtB_Matrix B;
    assert_ok(FtB_Matrix_dup(&B, A));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, B, X, NULL));
    FtB_Matrix_free(&B);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    assert_ok(FtB_Context_free(&here));
}

static void moving(void **state)
{
    (void)state;
    int64_t home[4], away[4];
    float sums[N * D];
    FtB_Block X = features(1), C = features(2), part;
    pretend_moved(&home[0], &away[0]);
    assert_ok(FtB_Block_to_device(X));
    assert_ok(FtB_Block_to_device(X));
    pretend_moved(&home[1], &away[1]);
    assert_int_equal(away[1] - away[0], N * D * 4);
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    pretend_moved(&home[2], &away[2]);
    assert_int_equal(away[2], away[1]);
    assert_int_equal(home[2], home[0]);
    assert_int_equal(atomic_load(&C->owner->valid), FTB_VALID_DEVICE);
    assert_ok(FtB_Block_columns(&part, C, 2, 3));
    assert_ok(FtB_Block_to_host(part)); /* all views are meant */
    assert_ok(FtB_Block_to_host(C));
    pretend_moved(&home[3], &away[3]);
    assert_int_equal(home[3] - home[2], N * D * 4);
    assert_int_equal(away[3], away[2]);
    assert_null(C->owner->where);
    expect(sums, ftb_block_data(X), D);
    assert_memory_equal(block_values(C), sums, sizeof sums);
    assert_ok(FtB_Block_to_host(X)); /* which is valid there: nothing moves */
    assert_null(X->owner->where);
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_memory_equal(block_values(C), sums, sizeof sums);
    FtB_Block_free(&part);
    FtB_Block_free(&C);
    FtB_Block_free(&X);
}

/* As another library would have it: on the device, and where the test can read it. */
static float *foreign(void **device, int64_t bytes)
{
    const ftb_memory *memory = pretend_device.memory;
    assert_ok(memory->alloc(&pretend_device, NULL, device, bytes));
    return (float *)(uintptr_t)pretend_memory(*device);
}

static void wrapping(void **state)
{
    (void)state;
    enum { BYTES = N * LD * 4 };
    void *there[2];
    int64_t home[2], away[2], now[2];
    float sums[N * D];
    float *x = foreign(&there[0], BYTES), *c = foreign(&there[1], BYTES);
    FtB_Block X, C, all;
    fill(x, N * LD, 3);
    fill(c, N * LD, 4);
    assert_ok(FtB_Context_memory(NULL, &now[0], NULL));
    assert_ok(FtB_Block_wrap_device(&X, there[0], N, D, LD, FTB_FP32));
    assert_ok(FtB_Block_wrap_device(&all, there[1], N, LD, LD, FTB_FP32));
    assert_ok(FtB_Block_columns(&C, all, 2, D));
    pretend_moved(&home[0], &away[0]);
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    pretend_moved(&home[1], &away[1]);
    assert_int_equal(home[1], home[0]);
    assert_int_equal(away[1], away[0]);
    expect(sums, x, LD);
    for (int64_t i = 0; i < N; i++)
        assert_memory_equal(c + i * LD + 2, sums + i * D, D * 4);

    /* Its owner writes: a call sees that once it was said. */
    fill(x, N * LD, 5);
    assert_ok(FtB_Block_changed(X));
    expect(sums, x, LD);
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_memory_equal(c + 2, sums, D * 4);
    const float *read = block_values(C);
    assert_memory_equal(read + LD, sums + D, D * 4);
    fill(c, N * LD, 6);
    assert_ok(FtB_Block_changed(C));
    assert_memory_equal(block_values(all), c, BYTES);

    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&all);
    assert_ok(FtB_Context_memory(NULL, &now[1], NULL));
    assert_int_equal(now[1], now[0]);
    for (int n = 0; n < 2; n++) /* which the blocks have not given back */
        pretend_device.memory->free(&pretend_device, there[n], BYTES);
}

/* What the host computes is there once that is asked for. */
static void computed_on_the_host(void **state)
{
    (void)state;
    void *there;
    float *x = foreign(&there, N * D * 4), old[N * D];
    FtB_Block X;
    fill(x, N * D, 7);
    memcpy(old, x, sizeof old);
    assert_ok(FtB_Block_wrap_device(&X, there, N, D, D, FTB_FP32));
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_ok(FtB_apply(X, NULL, NULL, "2 * x", X, NULL));
    assert_memory_equal(x, old, sizeof old);
    assert_ok(FtB_Block_to_device(X));
    assert_int_equal(pretend_pending(), 0);
    for (int k = 0; k < N * D; k++)
        old[k] *= 2;
    assert_memory_equal(x, old, sizeof old);
    assert_ok(FtB_Block_to_host(X));
    assert_ok(FtB_Block_to_device(X));
    assert_memory_equal(x, old, sizeof old);
    FtB_Block_free(&X);
    pretend_device.memory->free(&pretend_device, there, N * D * 4);
}

/* A device whose memory is another one's: what is wrapped on one is not taken to the other, and
 * the host works on it. */
static void another_device(void **state)
{
    (void)state;
    ftb_backend other = pretend_device;
    void *there, *device;
    float *x = foreign(&there, N * D * 4), sums[N * D];
    FtB_Block X, C = features(8);
    fill(x, N * D, 9);
    other.name = "other";
    ftb_backend_add(&other);
    assert_ok(FtB_Block_wrap_device(&X, there, N, D, D, FTB_FP32));
    assert_ok(FtB_Context_set_device(NULL, "other"));
    assert_fails(FTB_NO_DEVICE, "memory of 'pretend', where 'other' cannot reach it",
                 ftb_buffer_ask_at(X->owner, &other, FTB_READ, &device));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL)); /* the host does it */
    expect(sums, x, D);
    assert_memory_equal(ftb_block_data(C), sums, sizeof sums);
    assert_ok(FtB_Block_to_device(C));
    assert_ptr_equal(C->owner->where, &other);
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_ptr_equal(C->owner->where, &pretend_device);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    ftb_backend_remove(&other);
    pretend_device.memory->free(&pretend_device, there, N * D * 4);
}

static GrB_Info lost(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes)
{
    (void)b, (void)ctx, (void)host, (void)device, (void)bytes;
    return ftb_fail(FTB_NO_DEVICE, "the device is lost");
}

/* A device that gives nothing back: an error names the block, which is as it was. */
static void lost_device(void **state)
{
    (void)state;
    ftb_memory memory = *pretend_device.memory;
    ftb_backend gone = pretend_device;
    FtB_Block X = features(10), C = features(13);
    void *device;
    memory.get = lost;
    gone.memory = &memory;
    assert_ok(ftb_buffer_ask_at(X->owner, &gone, FTB_UPDATE, &device));
    assert_ok(ftb_buffer_written(X->owner));
    assert_fails(FTB_NO_DEVICE, "the device is lost", FtB_Block_to_host(X));
    assert_fails(FTB_NO_DEVICE, "the device is lost", FtB_Block_to_host(X));
    assert_fails(FTB_NO_DEVICE, "M: ", FtB_apply(C, X, NULL, "2 * x", C, NULL));
    memory.get = pretend_device.memory->get;
    assert_ok(FtB_Block_to_host(X));
    FtB_Block_free(&C);
    FtB_Block_free(&X);
}

static void refusals(void **state)
{
    (void)state;
    FtB_Block X = features(11), W = X;
    int64_t now;
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_to_device(NULL));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_to_host(NULL));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_wrap_device(NULL, &now, 1, 1, 1, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "data is NULL", FtB_Block_wrap_device(&W, NULL, 1, 1, 1, FTB_FP32));
    assert_null(W);
    assert_fails(GrB_INVALID_VALUE, "ld is 2", FtB_Block_wrap_device(&W, &now, 1, 3, 2, FTB_FP32));
    assert_ok(FtB_Block_wrap_device(&W, NULL, 0, 3, 3, FTB_FP32));
    FtB_Block_free(&W);
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    assert_ok(FtB_Context_set_memory_limit(NULL, now + 4000));
    assert_fails(FTB_LIMIT, "memory limit", FtB_Block_wrap_device(&W, &now, 1000, 1, 1, FTB_FP32));
    assert_null(W);
    assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_ok(FtB_Block_to_device(X));
    assert_null(X->owner->where);
    W = X;
    assert_fails(FTB_NO_DEVICE, "works on the host", FtB_Block_wrap_device(&W, &now, 1, 1, 1, FTB_FP32));
    assert_null(W);
    assert_ok(FtB_Block_to_host(X));
    FtB_Block_free(&X);
}

static GrB_Info all_calls(void *there)
{
    FtB_Block X = NULL, C = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Block_wrap_device(&X, there, N, D, D, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&C, N, D, FTB_FP32));
    FTB_CHECK(FtB_Block_to_device(C));
    FTB_CHECK(FtB_apply(C, NULL, NULL, "x", X, NULL));
    FTB_CHECK(FtB_Block_to_host(C));
    FTB_CHECK(FtB_Block_to_host(X));
    FTB_CHECK(FtB_Block_to_device(X));
done:
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    void *there;
    fill(foreign(&there, N * D * 4), N * D, 12);
    fail_every_allocation(all_calls, NULL, there);
    pretend_device.memory->free(&pretend_device, there, N * D * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(moving, begin, end),
                                       cmocka_unit_test_setup_teardown(wrapping, begin, end),
                                       cmocka_unit_test_setup_teardown(computed_on_the_host, begin, end),
                                       cmocka_unit_test_setup_teardown(another_device, begin, end),
                                       cmocka_unit_test_setup_teardown(lost_device, begin, end),
                                       cmocka_unit_test_setup_teardown(refusals, begin, end),
                                       cmocka_unit_test_setup_teardown(failing_allocations, begin, end)};
    setenv("FEATBLAS_CUDA_DRIVER", "", 1); /* GPUs of this machine are none of this test's */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
