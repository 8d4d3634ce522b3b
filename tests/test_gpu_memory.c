/* A GPU's memory as a backend has it, on a driver that does not exist (support/fake_cuda): what is sent comes
 * home, freed memory is given out again and given back where there is no more, and every call of the driver
 * may fail. The driver reports what must not be done to it. */
#include "support/check.h"

#include "core/backend.h"
#include "gpu/device.h"
#include "gpu/images.h"
#include "support/fakes.h"
#include "support/real_gpu.h"
#include "support/rng.h"
#include "verbs/verbs.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((int64_t)1 << 10)

static struct {
    int (*live)(void), (*pending)(void);
    const char *(*misuse)(void);
    void (*calm)(void);
} fake;

static const ftb_backend *gpu;
static const ftb_gpu_image no_image;
static const char *named; /* of two that do not exist the second; a real one is the first */

/* A message of that GPU's; valid until the next. */
static const char *said(const char *what)
{
    static char text[200];
    snprintf(text, sizeof text, "%s: %s", named, what);
    return text;
}

static int start(void **state)
{
    const char *why;
    (void)state;
    setenv("FEATBLAS_NVRTC", "", 1); /* no kernels: the host does the work */
    ftb_gpu_images_use(&no_image);
    if (real_gpu()) {
        real_gpu_begin();
    } else {
        setenv("FEATBLAS_CUDA_DRIVER", fake_path("fake_cuda"), 1);
        setenv("FAKE_CUDA_DEVICES", "2", 1);
    }
    named = real_gpu() ? "gpu:0" : "gpu:1";
    fake_find("fake_cuda", "fake_cuda_live", &fake.live);
    fake_find("fake_cuda", "fake_cuda_pending", &fake.pending);
    fake_find("fake_cuda", "fake_cuda_misuse", &fake.misuse);
    fake_find("fake_cuda", "fake_cuda_calm", &fake.calm);
    const ftb_gpu *found = ftb_gpu_named(named, &why);
    assert_non_null(found);
    gpu = ftb_gpu_backend(found);
    assert_ptr_equal(gpu, ftb_gpu_backend(found));
    assert_string_equal(gpu->name, named);
    assert_null(gpu->verbs->copy);
    assert_true(real_gpu() || gpu->memory->size(gpu) == INT64_C(3) << 30);
    return 0;
}

/* Nothing is left, and nothing was done that must not be. */
static int clean(void **state)
{
    (void)state;
    unsetenv("FAKE_CUDA_FAILS");
    unsetenv("FAKE_CUDA_AT");
    unsetenv("FAKE_CUDA_MEMORY");
    assert_ok(ftb_gpu_trim(gpu));
    assert_int_equal(fake.live(), 0);
    if (fake.misuse())
        fail_msg("%s", fake.misuse());
    return 0;
}

static unsigned char *noise(rng *r, int64_t bytes)
{
    unsigned char *made = malloc((size_t)bytes + 8);
    assert_non_null(made);
    for (int64_t n = 0; n < bytes; n += 8) {
        const uint64_t bits = rng_bits(r);
        memcpy(made + n, &bits, 8);
    }
    return made;
}

/* ---- copies */

/* Sizes around those of pages, pieces and stages. What was sent is the caller's again when put returns. */
static void round_trips(void **state)
{
    static const int64_t sizes[] = {0,         1,
                                    511,       512,
                                    513,       8 * KIB,
                                    8191,      FTB_GPU_STAGE - 1,
                                    70001,     FTB_GPU_STAGE,
                                    1000000,   FTB_GPU_STAGE + 1,
                                    5 * KIB,   2 * FTB_GPU_STAGE,
                                    64 * KIB,  3 * FTB_GPU_STAGE + 12345,
                                    100 * KIB, 4 * FTB_GPU_STAGE};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    rng r = rng_new();
    (void)state;
    for (int round = 0; round < 3; round++) {
        unsigned char *sent[COUNT], *kept[COUNT], *back;
        void *device[COUNT];
        for (int n = 0; n < COUNT; n++) {
            sent[n] = noise(&r, sizes[n]);
            kept[n] = malloc((size_t)sizes[n] + 8);
            memcpy(kept[n], sent[n], (size_t)sizes[n]);
            assert_ok(gpu->memory->alloc(gpu, NULL, &device[n], sizes[n]));
            assert_ok(gpu->memory->put(gpu, NULL, device[n], sent[n], sizes[n]));
            memset(sent[n], 0x11, (size_t)sizes[n]);
        }
        for (int n = COUNT - 1; n >= 0; n--) {
            back = noise(&r, sizes[n]);
            assert_ok(gpu->memory->get(gpu, NULL, back, device[n], sizes[n]));
            if (sizes[n] > 0 && memcmp(back, kept[n], (size_t)sizes[n]) != 0)
                fail_msg("%lld bytes came home as others", (long long)sizes[n]);
            free(back);
            free(sent[n]);
            free(kept[n]);
            gpu->memory->free(gpu, device[n], sizes[n]);
        }
        assert_ok(gpu->memory->wait(gpu, NULL));
        assert_int_equal(fake.pending(), 0);
    }
}

/* Each thread has memory of its own, and all of them the one stream. */
static void side_by_side(void **state)
{
    int wrong = 0;
    (void)state;
#pragma omp parallel for num_threads(6) schedule(static, 1) reduction(+ : wrong)
    for (int t = 0; t < 6; t++)
        for (int64_t round = 1; round < 30; round++) {
            const int64_t bytes = 1000 * round * (t + 1);
            unsigned char *x = malloc((size_t)bytes), *y = malloc((size_t)bytes);
            void *device = NULL;
            memset(x, t + (int)round, (size_t)bytes);
            wrong += gpu->memory->alloc(gpu, NULL, &device, bytes) != GrB_SUCCESS ||
                     gpu->memory->put(gpu, NULL, device, x, bytes) != GrB_SUCCESS ||
                     gpu->memory->get(gpu, NULL, y, device, bytes) != GrB_SUCCESS ||
                     memcmp(x, y, (size_t)bytes) != 0;
            gpu->memory->free(gpu, device, bytes);
            free(x);
            free(y);
        }
    assert_int_equal(wrong, 0);
}

/* ---- the pool */

static void *piece(int64_t bytes)
{
    void *device = NULL;
    assert_ok(gpu->memory->alloc(gpu, NULL, &device, bytes));
    assert_non_null(device);
    return device;
}

/* What was freed is given out to who asks for about as much, and to nobody twice. */
static void used_again(void **state)
{
    enum { COUNT = 200 };
    void *device[COUNT];
    (void)state;
    for (int n = 0; n < COUNT; n++)
        device[n] = piece(100 + n * 37);
    const int live = fake.live();
    for (int n = 0; n < COUNT; n++)
        gpu->memory->free(gpu, device[n], 100 + n * 37);
    assert_int_equal(fake.live(), live);
    for (int n = 0; n < COUNT; n++) {
        device[n] = piece(100 + n * 37);
        for (int m = 0; m < n; m++)
            assert_ptr_not_equal(device[n], device[m]);
    }
    assert_int_equal(fake.live(), live);
    void *more = piece(100); /* all are in use */
    assert_int_equal(fake.live(), live + 1);
    gpu->memory->free(gpu, more, 100);
    for (int n = 0; n < COUNT; n++)
        gpu->memory->free(gpu, device[n], 100 + n * 37);
    assert_ok(ftb_gpu_trim(gpu));
    assert_int_equal(fake.live(), 0);
}

/* A piece is large enough for what is freed as its like, whatever the two sizes are. */
static void large_enough(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < rng_cases(2000); n++) {
        const int64_t bytes = 1 + rng_below(&r, INT64_C(1) << (1 + rng_below(&r, 21)));
        unsigned char *x = noise(&r, bytes);
        void *device = piece(bytes);
        assert_ok(gpu->memory->put(gpu, NULL, device, x, bytes)); /* the driver looks at bounds */
        gpu->memory->free(gpu, device, bytes);
        free(x);
    }
}

static void given_back(void **state)
{
    void *device = NULL;
    (void)state;
    if (real_gpu()) {
        printf("skipped: a real GPU has more memory than a test takes\n");
        return;
    }
    setenv("FAKE_CUDA_MEMORY", "1000000", 1);
    for (int64_t bytes = 900000; bytes > 500000; bytes -= 100000) { /* no two of them fit */
        device = piece(bytes);
        gpu->memory->free(gpu, device, bytes);
    }
    assert_int_equal(fake.live(), 1);
    device = piece(600000);
    void *more = NULL;
    assert_fails(FTB_NO_DEVICE, "700000 bytes: gpu:1: cuMemAlloc_v2 fails with CUDA_ERROR_OUT_OF_MEMORY",
                 gpu->memory->alloc(gpu, NULL, &more, 700000));
    assert_null(more);
    gpu->memory->free(gpu, device, 600000);
}

/* ---- failures */

static GrB_Info there_and_back(void)
{
    enum { BYTES = 9 << 20 };
    unsigned char *x = malloc(BYTES), *y = malloc(BYTES);
    void *device = NULL;
    memset(x, 0x5a, BYTES);
    GrB_Info info = gpu->memory->alloc(gpu, NULL, &device, BYTES);
    if (info == GrB_SUCCESS)
        info = gpu->memory->put(gpu, NULL, device, x, BYTES);
    if (info == GrB_SUCCESS)
        info = gpu->memory->get(gpu, NULL, y, device, BYTES);
    if (info == GrB_SUCCESS)
        info = gpu->memory->wait(gpu, NULL);
    if (info == GrB_SUCCESS && memcmp(x, y, BYTES) != 0)
        fail_msg("other bytes came home");
    if (device)
        gpu->memory->free(gpu, device, BYTES);
    free(x);
    free(y);
    return info;
}

static const char *const calls[] = {"cuCtxPushCurrent",  "cuMemAlloc",    "cuMemcpyHtoDAsync",
                                    "cuMemcpyDtoHAsync", "cuEventRecord", "cuEventSynchronize"};

/* The n-th call of a name fails, for every n: the error says which, and the next use is as if nothing was. */
static void every_call_fails(void **state)
{
    char text[64];
    (void)state;
    assert_ok(there_and_back());
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        int failures = 0;
        for (int n = 1;; n++, failures++) {
            assert_ok(ftb_gpu_trim(gpu)); /* so that memory is asked for */
            snprintf(text, sizeof text, "%d", n);
            setenv("FAKE_CUDA_AT", text, 1);
            setenv("FAKE_CUDA_FAILS", calls[c], 1);
            const GrB_Info info = there_and_back();
            if (info == GrB_SUCCESS)
                break;
            assert_int_equal(info, FTB_NO_DEVICE);
            if (!strstr(FtB_error(), calls[c]) || !strstr(FtB_error(), said("")) ||
                !strstr(FtB_error(), "fails with CUDA_ERROR_UNKNOWN"))
                fail_msg("%s: %s", calls[c], FtB_error());
        }
        unsetenv("FAKE_CUDA_AT");
        unsetenv("FAKE_CUDA_FAILS");
        assert_true(failures > 0);
        assert_ok(there_and_back());
    }
}

/* What is done once, at the first use, each time one step further; on the other GPU, which nobody used yet.
 */
static void beginning_fails(void **state)
{
    static const char *const steps[] = {"cuDevicePrimaryCtxRetain", "cuStreamCreate",
                                        "cuMemHostAlloc",           "cuEventCreate",
                                        "cuMemHostAlloc",           "cuEventCreate"};
    const char *why;
    (void)state;
    gpu = ftb_gpu_backend(ftb_gpu_named("gpu", &why));
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
        setenv("FAKE_CUDA_AT", "1", 1);
        setenv("FAKE_CUDA_FAILS", steps[n], 1);
        assert_fails(FTB_NO_DEVICE, steps[n], there_and_back());
        assert_null(getenv("FAKE_CUDA_FAILS"));
    }
    assert_ok(there_and_back());
    assert_ok(ftb_gpu_trim(gpu));
    gpu = ftb_gpu_backend(ftb_gpu_named(named, &why));
}

static void forked(void **state)
{
    int status;
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(there_and_back() == FTB_NO_DEVICE && strstr(FtB_error(), "forked") ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- blocks */

static FtB_Block sums(FtB_Matrix A, FtB_Block X)
{
    FtB_Block C;
    assert_ok(FtB_Block_new(&C, 50, 7, FTB_FP32));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    return C;
}

static void assert_same(FtB_Block X, FtB_Block Y)
{
    assert_memory_equal(block_values(X), block_values(Y), 50 * 7 * sizeof(float));
}

/* Work of blocks that are there is done by the host, which has the bits that it always has. */
static void blocks(void **state)
{
    int64_t home[2], away[2];
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 50, 40, 0, 0.2);
    FtB_Block X = NULL;
    (void)state;
    assert_ok(FtB_Block_new(&X, 40, 7, FTB_FP32));
    rng_reals(&r, ftb_block_data(X), FTB_FP32, 40 * 7);
    FtB_Block expected = sums(A, X);
    assert_ok(FtB_Context_set_device(NULL, named));
    assert_ok(FtB_Context_moved(NULL, &home[0], &away[0]));
    void *there;
    assert_ok(ftb_buffer_ask_at(X->owner, gpu, FTB_UPDATE, &there));
    assert_ok(ftb_buffer_written(X->owner)); /* valid there alone */
    memset(X->owner->host, 0xcb, 40 * 7 * sizeof(float));
    FtB_Block got = sums(A, X);
    assert_ok(FtB_Context_moved(NULL, &home[1], &away[1]));
    assert_int_equal(home[1] - home[0], 40 * 7 * sizeof(float));
    assert_int_equal(away[1] - away[0], 40 * 7 * sizeof(float));
    assert_same(expected, got);
    assert_ok(FtB_Context_set_device(NULL, NULL));
    FtB_Block_free(&expected);
    FtB_Block_free(&got);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* An error that sticks: the GPU is lost, the host goes on. The last test: a lost GPU stays lost. */
static void lost(void **state)
{
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 50, 40, 0, 0.2);
    FtB_Block X, Y;
    void *there;
    (void)state;
    assert_ok(FtB_Context_set_device(NULL, named));
    assert_ok(FtB_Block_new(&X, 40, 7, FTB_FP32));
    assert_ok(FtB_Block_new(&Y, 40, 7, FTB_FP32));
    assert_ok(ftb_buffer_ask_at(X->owner, gpu, FTB_UPDATE, &there));
    assert_ok(ftb_buffer_written(X->owner));
    assert_ok(ftb_buffer_ask_at(Y->owner, gpu, FTB_READ, &there));
    setenv("FAKE_CUDA_FAILS", "cuEventSynchronize=701", 1); /* of one launch alone */
    setenv("FAKE_CUDA_AT", "1", 1);
    assert_fails(FTB_NO_DEVICE, said("cuEventSynchronize fails with "), gpu->memory->wait(gpu, NULL));
    assert_ok(there_and_back());
    setenv("FAKE_CUDA_FAILS", "cuEventSynchronize=700", 1);
    setenv("FAKE_CUDA_AT", "1", 1);
    assert_fails(FTB_NO_DEVICE, said("lost by CUDA_ERROR_ILLEGAL_ADDRESS"), gpu->memory->wait(gpu, NULL));
    assert_fails(FTB_NO_DEVICE, said("lost by"), there_and_back());
    FtB_Block C = NULL;
    assert_ok(FtB_Block_new(&C, 50, 7, FTB_FP32));
    assert_fails(FTB_NO_DEVICE, said("lost by"), FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_fails(FTB_NO_DEVICE, "values that were nowhere else are gone",
                 FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, Y, NULL)); /* which is on the host, too */
    FtB_Block_free(&C);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Matrix_free(&A);
    assert_null(fake.misuse());
    fake.calm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(beginning_fails, clean),  cmocka_unit_test_teardown(round_trips, clean),
        cmocka_unit_test_teardown(side_by_side, clean),     cmocka_unit_test_teardown(used_again, clean),
        cmocka_unit_test_teardown(large_enough, clean),     cmocka_unit_test_teardown(given_back, clean),
        cmocka_unit_test_teardown(every_call_fails, clean), cmocka_unit_test_teardown(forked, clean),
        cmocka_unit_test_teardown(blocks, clean),           cmocka_unit_test(lost)};
    return cmocka_run_group_tests(tests, start, NULL);
}
