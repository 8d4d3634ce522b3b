/* A device without room, and one that is lost: the host does what cannot be done there, with the same bits,
 * and what only a lost device had is refused by name. On the pretend device (support/pretend.h), of which one
 * allocation in three fails; tests of the whole library run there by FEATBLAS_PRETEND=7full. */
#include "support/check.h"

#include "featblas_nn.h"
#include "ops/backends.h"
#include "support/pretend.h"
#include "support/rng.h"

#include <stdlib.h>

enum { N = 40, D = 6, TRIES = 40 };

static int64_t I[4 * N], J[4 * N];

static FtB_Matrix ring(void)
{
    FtB_Matrix A;
    float X[4 * N];
    for (int64_t e = 0; e < 4 * N; e++) {
        I[e] = e / 4;
        J[e] = (e * 7 + 3) % N;
        X[e] = (float)(e % 13) / 8 - 1;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 1, 4 * N, I, J, X, FTB_DUP_SUM, NULL));
    return A;
}

static FtB_Block features(uint64_t seed)
{
    FtB_Block X;
    rng r = {seed};
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP32));
    rng_values(&r, ftb_block_data(X), FTB_FP32, N * D); /* the address does not leave the library */
    return X;
}

/* One of each kind of call, all results beside one another. */
static void compute(float *to)
{
    static const char *const texts[] = {"plus : src", "plus : edge * src", "mean : tanh(src) * edge",
                                        "plus : exp(src) * edge"};
    FtB_Matrix A = ring();
    FtB_Block X = features(1), C = features(2);
    const size_t bytes = N * D * sizeof(float);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        assert_ok(FtB_mxm(C, NULL, NULL, texts[t], A, X, NULL));
        assert_ok(FtB_mxm(C, NULL, "x + y", texts[t], A, X, NULL));
        assert_ok(FtB_eWiseAdd(X, NULL, NULL, "x / 2 + y", C, X, NULL));
        memcpy(to, block_values(C), bytes);
        to += N * D;
    }
    assert_ok(FtB_gather(C, X, J, N));
    assert_ok(FtB_scatter(X, "x + y", C, I, N));
    memcpy(to, block_values(X), bytes);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Matrix_free(&A);
}

static void no_room(void **state)
{
    static float here[5 * N * D], there[5 * N * D];
    (void)state;
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    compute(here);
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    const int64_t refused = pretend_refusals(), ran = pretend_products();
    pretend_fill(true);
    for (int n = 0; n < TRIES; n++) {
        compute(there);
        assert_memory_equal(there, here, sizeof here);
    }
    pretend_fill(false);
    assert_true(pretend_refusals() > refused + TRIES);
    assert_true(pretend_products() > ran + TRIES);
}

/* ---- lost: every call of its memory fails */

static bool gone;
static ftb_memory memory;
static ftb_backend lossy;

static GrB_Info lost(void) { return ftb_fail(FTB_NO_DEVICE, "lossy: lost"); }

static GrB_Info alloc(const ftb_backend *b, FtB_Context ctx, void **device, int64_t bytes)
{
    return gone ? lost() : pretend_device.memory->alloc(b, ctx, device, bytes);
}

static GrB_Info put(const ftb_backend *b, FtB_Context ctx, void *device, const void *host, int64_t bytes)
{
    return gone ? lost() : pretend_device.memory->put(b, ctx, device, host, bytes);
}

static GrB_Info get(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes)
{
    return gone ? lost() : pretend_device.memory->get(b, ctx, host, device, bytes);
}

static const ftb_verbs none; /* what a lost one has still to do is asked of its memory */

static void lost_device(void **state)
{
    static float here[5 * N * D], there[5 * N * D];
    (void)state;
    FtB_Matrix A = ring();
    FtB_Block only = features(3), both = features(4), C = features(5);
    void *device;
    memory = *pretend_device.memory;
    memory.alloc = alloc;
    memory.put = put;
    memory.get = get;
    lossy = pretend_device;
    lossy.name = "lossy";
    lossy.memory = &memory;
    lossy.verbs = &none;
    ftb_backend_add(&lossy);
    assert_ok(FtB_Context_set_device(NULL, "lossy"));
    assert_ok(ftb_buffer_ask_at(only->owner, &lossy, FTB_UPDATE, &device));
    assert_ok(ftb_buffer_written(only->owner));
    assert_ok(FtB_Block_to_device(both));
    gone = true;
    assert_ok(FtB_apply(C, NULL, NULL, "2 * x", both, NULL)); /* the host has a copy */
    assert_fails(FTB_NO_DEVICE, "A: a block of 40 x 6 fp32 is on 'lossy' alone: lossy: lost",
                 FtB_apply(C, NULL, NULL, "2 * x", only, NULL));
    assert_fails(FTB_NO_DEVICE, "lossy: lost", FtB_Block_to_host(only));
    lossy.verbs = &pretend_verbs;
    assert_fails(FTB_NO_DEVICE, "A: a block of 40 x 6 fp32 is on 'lossy' alone: lossy: lost",
                 FtB_apply(C, NULL, NULL, "2 * x", only, NULL));
    assert_fails(FTB_NO_DEVICE, "V: a block of 40 x 6 fp32 is on 'lossy' alone: lossy: lost",
                 FtB_attention(C, A, NULL, FTB_PLUS_DOT, both, both, only, NULL, NULL));
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    compute(here);
    assert_ok(FtB_Context_set_device(NULL, "lossy"));
    compute(there);
    assert_memory_equal(there, here, sizeof here);
    gone = false;
    FtB_Matrix_free(&A);
    FtB_Block_free(&only);
    FtB_Block_free(&both);
    FtB_Block_free(&C);
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    ftb_backend_remove(&lossy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_room, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(lost_device, pretend_setup, pretend_teardown)};
    setenv("FEATBLAS_CUDA_DRIVER", "", 1); /* GPUs of this machine are none of this test's */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
