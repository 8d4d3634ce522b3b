/* A GPU that has no room left (support/fake_cuda's limit): what is on the host, too, gives up its copy there,
 * the one that was not used for the longest first, before a product is cut into chunks or goes to the host;
 * never what a call uses, what only the GPU has, or what is being recorded. Results stay as they are. */
#include "support/check.h"

#include "core/backend.h"
#include "gpu/memory.h"
#include "support/course.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"
#include "support/real_gpu.h"
#include "support/rng.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 600, DEGREE = 40, D = 5, STEP = 1024, MATRICES = 4 };

static int (*asked)(const char *part);
static int (*calls)(const char *call);

static int start(void **state)
{
    const int failed = course_start(state);
    fake_find("fake_cuda", "fake_cuda_calls", &calls);
    if (fake_gpu_emulates())
        fake_find("fake_cuda", "fake_cuda_asked", &asked);
    return failed;
}

static int clean(void **state)
{
    unsetenv("FAKE_CUDA_MEMORY");
    return course_clean(state);
}

/* A limit is the made-up driver's. */
static bool limits(void) { return fake_gpu_emulates() && !real_gpu(); }

static FtB_Matrix square(int64_t n, int64_t degree, int64_t shift)
{
    const int64_t nvals = n * degree;
    int64_t *I = malloc((size_t)nvals * sizeof *I), *J = malloc((size_t)nvals * sizeof *J);
    FtB_Matrix A;
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = e / degree;
        J[e] = (e / degree * 3 + e % degree * (2 * shift + 1)) % n;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, n, n, 0, nvals, I, J, NULL, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    return A;
}

/* All of one size, with other columns. */
static FtB_Matrix band(int64_t shift) { return square(N, DEGREE, shift); }

/* Whole numbers, whose sums no order changes. */
static FtB_Block features(void)
{
    FtB_Block X;
    rng r = {7};
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP32));
    rng_values(&r, ftb_block_data(X), FTB_FP32, N * D);
    return X;
}

static bool is_there(const ftb_buffer *b) { return b->where == ftb_device(NULL); }

static bool has_copy(FtB_Matrix A) { return is_there(A->pattern->colidx_owner); }

/* Of its columns, its rows, and what was made of it. */
static int copies(FtB_Matrix A)
{
    int there = is_there(A->pattern->rowptr_owner) + has_copy(A);
    for (const ftb_derived *of = A->pattern->derived; of; of = of->next)
        for (int n = 0; n < 2; n++)
            there += of->buffers[n] && is_there(of->buffers[n]);
    return there;
}

/* Of what there is room for, hardly more than is in use: `more` bytes. */
static void squeeze(int64_t more)
{
    const ftb_backend *gpu = ftb_device(NULL);
    char text[24];
    void *device;
    assert_ok(ftb_gpu_trim(gpu));
    for (int64_t all = 0;; all += STEP) {
        snprintf(text, sizeof text, "%lld", (long long)all);
        setenv("FAKE_CUDA_MEMORY", text, 1);
        if (gpu->memory->alloc(gpu, NULL, &device, STEP / 2) == GrB_SUCCESS)
            break;
    }
    gpu->memory->free(gpu, device, STEP / 2);
    assert_ok(ftb_gpu_trim(gpu));
    snprintf(text, sizeof text, "%lld", (long long)(atoll(getenv("FAKE_CUDA_MEMORY")) + more));
    setenv("FAKE_CUDA_MEMORY", text, 1);
}

/* Whether A X was computed there; its values are those that plain loops give. */
static bool multiply(FtB_Matrix A, FtB_Block X)
{
    float expected[N * D];
    const int32_t *columns = A->pattern->colidx;
    const float *x = X->owner->host;
    FtB_Block C;
    const int before = fake_gpu_launches();
    assert_ok(FtB_Block_new(&C, N, D, FTB_FP32));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : src", A, X, NULL));
    const bool there = C->owner->valid == FTB_VALID_DEVICE;
    memset(expected, 0, sizeof expected);
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = A->pattern->rowptr[i]; e < A->pattern->rowptr[i + 1]; e++)
            for (int f = 0; f < D; f++)
                expected[i * D + f] += x[columns[e] * D + f];
    assert_memory_equal(block_values(C), expected, sizeof expected);
    assert_true(!there || fake_gpu_launches() > before); /* other threads launch, too */
    FtB_Block_free(&C);
    return there;
}

typedef struct world {
    FtB_Matrix A[MATRICES];
    FtB_Block X;
} world;

/* All but the last have been used, the first the last of them. */
static world used(void)
{
    world w = {.X = features()};
    for (int n = 0; n < MATRICES; n++)
        w.A[n] = band(n);
    for (int n = 0; n < MATRICES - 1; n++)
        assert_true(multiply(w.A[n], w.X));
    assert_true(multiply(w.A[0], w.X));
    return w;
}

static void end(world *w)
{
    unsetenv("FAKE_CUDA_MEMORY");
    for (int n = 0; n < MATRICES; n++)
        FtB_Matrix_free(&w->A[n]);
    FtB_Block_free(&w->X);
}

/* ---- who gives way */

static void longest_unused_first(void **state)
{
    int64_t sent[2];
    (void)state;
    if (!limits())
        return;
    world w = used();
    squeeze(0);
    assert_true(multiply(w.A[3], w.X));
    assert_false(has_copy(w.A[1]));
    assert_true(has_copy(w.A[0]) && has_copy(w.A[2]) && has_copy(w.A[3]) && is_there(w.X->owner));
    assert_ok(FtB_Context_moved(NULL, NULL, &sent[0]));
    assert_true(multiply(w.A[1], w.X)); /* and comes again */
    assert_ok(FtB_Context_moved(NULL, NULL, &sent[1]));
    assert_true(sent[1] - sent[0] >= N * DEGREE * 4);
    assert_false(has_copy(w.A[2]));
    assert_true(has_copy(w.A[0]) && has_copy(w.A[1]) && has_copy(w.A[3]));
    end(&w);
}

/* Where even that is not enough the host has it, and what is there stays usable. */
static void not_what_is_used(void **state)
{
    (void)state;
    if (!limits())
        return;
    world w = used();
    for (int n = 1; n < MATRICES; n++)
        FtB_Matrix_free(&w.A[n]);
    bool host = false, there = false;
    for (int64_t more = 80 * STEP; more >= 0; more -= 8 * STEP) { /* C and what is left of the copies */
        squeeze(0);
        while (ftb_device_give_way(ftb_device(NULL)))
            ;
        assert_false(has_copy(w.A[0]) || is_there(w.X->owner));
        squeeze(N * DEGREE * 4 + N * D * 4 + more);
        *(multiply(w.A[0], w.X) ? &there : &host) = true;
        unsetenv("FAKE_CUDA_MEMORY");
    }
    assert_true(host && there);
    end(&w);
}

/* A block of a call's result, of which the host has nothing. */
static void not_what_is_there_alone(void **state)
{
    FtB_Block C;
    (void)state;
    if (!limits())
        return;
    world w = used();
    assert_ok(FtB_Block_new(&C, N, D, FTB_FP32));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : src", w.A[0], w.X, NULL));
    while (ftb_device_give_way(ftb_device(NULL)))
        ;
    assert_true(is_there(C->owner) && C->owner->valid == FTB_VALID_DEVICE);
    assert_false(is_there(w.X->owner) || has_copy(w.A[0]));
    const float *x = block_values(C); /* which brings it home, and leaves a copy there */
    assert_non_null(x);
    assert_true(is_there(C->owner));
    assert_true(ftb_device_give_way(ftb_device(NULL)));
    assert_false(is_there(C->owner) || ftb_device_give_way(ftb_device(NULL)));
    assert_memory_equal(C->owner->host, x, N * D * sizeof(float));
    FtB_Block_free(&C);
    end(&w);
}

/* While a use lasts, all that was asked for since it began. */
static void not_within_a_use(void **state)
{
    const ftb_backend *gpu = ftb_device(NULL);
    const int64_t *rowptr;
    const void *columns;
    ftb_use outer, inner;
    (void)state;
    if (!limits())
        return;
    world w = used();
    ftb_use_begin(&outer);
    assert_ok(ftb_pattern_ask_at(w.A[1]->pattern, gpu, &rowptr, &columns));
    ftb_use_begin(&inner);
    while (ftb_device_give_way(gpu))
        ;
    assert_true(has_copy(w.A[1]));
    assert_false(has_copy(w.A[0]) || has_copy(w.A[2]) || is_there(w.X->owner));
    assert_int_equal(w.X->owner->valid, FTB_VALID_HOST);
    ftb_use_end(&outer); /* in whatever order: threads have their own */
    assert_true(ftb_device_give_way(gpu));
    ftb_use_end(&inner);
    while (ftb_device_give_way(gpu))
        ;
    assert_false(has_copy(w.A[1]));
    end(&w);
}

static void not_what_is_recorded(void **state)
{
    const ftb_backend *gpu = ftb_device(NULL);
    ftb_trace trace;
    void *device = NULL;
    (void)state;
    if (!limits())
        return;
    world w = used();
    squeeze(0);
    ftb_trace_begin(&trace, gpu);
    assert_false(ftb_device_give_way(gpu));
    assert_fails(FTB_NO_DEVICE, "CUDA_ERROR_OUT_OF_MEMORY", ftb_device_room(&device, gpu, NULL, 64 * STEP));
    ftb_trace_end();
    ftb_trace_clear(&trace);
    assert_null(device);
    assert_true(has_copy(w.A[0]) && has_copy(w.A[1]) && has_copy(w.A[2]));
    assert_ok(ftb_device_room(&device, gpu, NULL, 64 * STEP));
    gpu->memory->free(gpu, device, 64 * STEP);
    end(&w);
}

/* Rows that a loader gathers from the host's memory, and has no room for its list of them beside. */
static void not_what_is_gathered(void **state)
{
    enum { BATCH = 100 };
    int64_t seeds[N];
    FtB_Loader l;
    FtB_Batch b;
    (void)state;
    if (!limits())
        return;
    world w = used();
    for (int n = 1; n < MATRICES; n++)
        FtB_Matrix_free(&w.A[n]);
    for (int64_t i = 0; i < N; i++)
        seeds[i] = i;
    while (ftb_device_give_way(ftb_device(NULL)))
        ;
    assert_ok(FtB_Loader_new(&l, w.A[0], FTB_ARG(w.X), NULL, seeds, N,
                             FTB_LOADER(.fanout = {2}, .batch = BATCH, .ahead = -1, .cache_bytes = -1)));
    assert_non_null(FtB_Loader_next(l));
    assert_non_null(strstr(FtB_Loader_plan(l), "read from the host's memory"));
    for (int64_t more = 40 * STEP; more >= 0; more -= STEP) {
        squeeze(more);
        b = FtB_Loader_next(l);
        b = b ? b : FtB_Loader_next(l);
        assert_ok(FtB_Loader_status(l));
        unsetenv("FAKE_CUDA_MEMORY");
        const FtB_Ids v = FtB_Batch_vertices(b);
        const float *y = block_values(FtB_Batch_features(b)), *x = w.X->owner->host;
        for (int64_t t = 0; t < v.count; t++)
            assert_memory_equal(y + t * D, x + v.at[t] * D, D * sizeof *y);
    }
    FtB_Loader_free(&l);
    end(&w);
}

/* ---- before anything else is given up */

/* A product that would be cut into chunks. */
static void before_chunks(void **state)
{
    FtB_Matrix C;
    (void)state;
    if (!limits())
        return;
    enum { LITTLE = 40 };
    world w = used();
    FtB_Matrix A = square(LITTLE, 10, 1);
    int packed[2], before_it = 0;
    for (int n = 0; n < 2; n++) {
        const int before = asked("spgemm_pack");
        assert_ok(FtB_Matrix_new(&C, FTB_INT64, LITTLE, LITTLE, 1));
        assert_ok(FtB_mxm(C, NULL, NULL, "plus : 1", A, A, NULL));
        packed[n] = asked("spgemm_pack") - before;
        FtB_Matrix_free(&C);
        if (n == 0) {
            assert_true(multiply(w.A[1], w.X) && multiply(w.A[3], w.X));
            before_it = copies(w.A[0]) + copies(w.A[1]) + copies(w.A[2]) + copies(w.A[3]);
            squeeze(0);
        }
    }
    FtB_Matrix_free(&A);
    assert_true(packed[0] > 0);
    assert_int_equal(packed[1], packed[0]);
    assert_true(copies(w.A[0]) + copies(w.A[1]) + copies(w.A[2]) + copies(w.A[3]) < before_it);
    end(&w);
}

/* A kernel that the driver has no memory to load. */
static void for_a_kernel(void **state)
{
    FtB_Block X, C;
    (void)state;
    if (!limits())
        return;
    world w = used();
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP64));
    assert_ok(FtB_Block_new(&C, N, D, FTB_FP64));
    assert_ok(FtB_Block_to_device(X));
    assert_ok(FtB_Block_to_device(C));
    assert_ok(ftb_gpu_trim(ftb_device(NULL)));
    setenv("FAKE_CUDA_FAILS", "cuModuleLoadData=2", 1);
    setenv("FAKE_CUDA_AT", "1", 1);
    const int before = fake_gpu_launches(), all = copies(w.A[0]) + copies(w.A[1]) + copies(w.A[2]);
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : src", w.A[0], X, NULL));
    assert_ok(FtB_Block_to_host(C));
    assert_true(fake_gpu_launches() > before);
    assert_null(getenv("FAKE_CUDA_FAILS"));
    assert_true(copies(w.A[0]) + copies(w.A[1]) + copies(w.A[2]) < all);
    assert_true(has_copy(w.A[0]));
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    end(&w);
}

/* ---- epochs that are replayed */

static void all_gone(course_model *m, int epoch)
{
    (void)m;
    if (epoch == 4)
        while (ftb_device_give_way(ftb_device(NULL)))
            ;
}

static void epochs(void **state)
{
    enum { EPOCHS = 9 };
    static const course_change change = {"copies that are gone", {all_gone}, 0, 0, 0};
    static course got, expected;
    (void)state;
    course_train_plainly(&expected, &course_plain, EPOCHS);
    course_train(&got, &change, EPOCHS);
    course_compare(&got, &expected, EPOCHS, change.name);
    if (fake_gpu_emulates())
        assert_true(got.replays >= EPOCHS - 4 && got.replays < EPOCHS - 2); /* not the epoch after it */
}

/* ---- side by side */

static void *work(void *of)
{
    const world *w = of;
    for (int n = 0; n < 6; n++)
        multiply(w->A[n % MATRICES], w->X);
    return NULL;
}

/* Threads that share what gives way to the other's; each also frees matrices of its own. */
static void *come_and_go(void *of)
{
    const world *w = of;
    for (int n = 0; n < 4; n++) {
        FtB_Matrix A = band(10 + n);
        multiply(A, w->X);
        FtB_Matrix_free(&A);
    }
    return NULL;
}

static void threads(void **state)
{
    pthread_t all[4];
    (void)state;
    if (real_gpu())
        return;
    world w = {.X = features()};
    for (int n = 0; n < MATRICES; n++)
        w.A[n] = band(n);
    setenv("FAKE_CUDA_MEMORY", "600000", 1); /* of some 200 KB for each matrix */
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&all[t], NULL, t % 2 ? come_and_go : work, &w), 0);
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_join(all[t], NULL), 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(longest_unused_first, clean),
                                       cmocka_unit_test_teardown(not_what_is_used, clean),
                                       cmocka_unit_test_teardown(not_what_is_there_alone, clean),
                                       cmocka_unit_test_teardown(not_within_a_use, clean),
                                       cmocka_unit_test_teardown(not_what_is_recorded, clean),
                                       cmocka_unit_test_teardown(not_what_is_gathered, clean),
                                       cmocka_unit_test_teardown(before_chunks, clean),
                                       cmocka_unit_test_teardown(for_a_kernel, clean),
                                       cmocka_unit_test_teardown(epochs, clean),
                                       cmocka_unit_test_teardown(threads, clean)};
    return cmocka_run_group_tests(tests, start, NULL);
}
