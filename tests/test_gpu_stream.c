/* Streams of the caller's, on a GPU that does not exist (support/fake_gpu.h), whose streams are late, each as
 * it likes: a context's calls come behind what its stream was given before and before what it is given after,
 * calls of contexts with other streams see what was written, and freed memory is not written while somebody
 * reads it; long copies of threads, and loaders, among them. A stream that was given back is not touched any
 * more. */
#include "support/check.h"

#include "core/backend.h"
#include "gpu/context.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"
#include "support/real_gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 60, D = 5, ROUNDS = 30 };
#define BYTES (N * D * sizeof(float))

static const ftb_cuda *cuda; /* what callers have of the driver, too */
static unsigned (*destroy)(struct CUstream_st *stream);
static int (*pending)(void);
static struct CUctx_st *here;

static int start(void **state)
{
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    fake_gpu_start(state);
    fake_find("fake_cuda", "cuStreamDestroy_v2", &destroy);
    fake_find("fake_cuda", "fake_cuda_pending", &pending);
    cuda = &ftb_driver_here()->call;
    assert_int_equal(cuda->cuDevicePrimaryCtxRetain(&here, ftb_driver_here()->gpu[0].handle), 0);
    return 0;
}

static struct CUstream_st *stream_of(int device)
{
    struct CUctx_st *context;
    struct CUstream_st *stream = NULL;
    assert_int_equal(cuda->cuDevicePrimaryCtxRetain(&context, ftb_driver_here()->gpu[device].handle), 0);
    assert_int_equal(cuda->cuCtxPushCurrent_v2(context), 0);
    assert_int_equal(cuda->cuStreamCreate(&stream, 1), 0);
    assert_int_equal(cuda->cuCtxPopCurrent_v2(&context), 0);
    return stream;
}

static void end(struct CUstream_st *stream)
{
    assert_int_equal(cuda->cuCtxPushCurrent_v2(here), 0);
    assert_int_equal(destroy(stream), 0);
    assert_int_equal(cuda->cuCtxPopCurrent_v2(&here), 0);
}

static FtB_Context context_with(void *stream)
{
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_device(ctx, "gpu:0"));
    assert_ok(FtB_Context_set_stream(ctx, stream));
    return ctx;
}

static FtB_Block block_in(FtB_Context ctx)
{
    FtB_Block X;
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP32));
    assert_ok(FtB_Context_engage(NULL));
    return X;
}

/* y = the greatest of the neighbours' rows of x, of which every bit is known; 0 without neighbours. */
static void greatest(float *y, FtB_Matrix A, const float *x)
{
    const int64_t *rowptr;
    const void *columns;
    assert_ok(FtB_Matrix_csr(A, &rowptr, &columns, NULL));
    const int32_t *colidx = columns;
    for (int64_t i = 0; i < N; i++)
        for (int64_t f = 0; f < D; f++) {
            float best = 0;
            for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
                best = e == rowptr[i] || x[colidx[e] * D + f] > best ? x[colidx[e] * D + f] : best;
            y[i * D + f] = best;
        }
}

static void same(const float *got, const float *expected, const char *what, int round)
{
    for (int k = 0; k < N * D; k++)
        if (memcmp(&got[k], &expected[k], sizeof *got) != 0)
            fail_msg("%s, round %d: value %d is %.9g; expected %.9g", what, round, k, (double)got[k],
                     (double)expected[k]);
}

/* ---- what is refused */

static void refused(void **state)
{
    const bool two = ftb_driver_here()->count > 1; /* GPUs */
    struct CUstream_st *other = two ? stream_of(1) : NULL, *mine = stream_of(0);
    FtB_Context ctx;
    (void)state;
    assert_ok(FtB_Context_new(&ctx));
    assert_fails(FTB_NO_DEVICE, "works on 'cpu', which has no streams", FtB_Context_set_stream(ctx, mine));
    assert_ok(FtB_Context_set_stream(ctx, NULL));
    assert_ok(FtB_Context_set_device(ctx, "gpu:0"));
    assert_ok(FtB_Context_set_stream(ctx, mine));
    assert_fails(GrB_INVALID_VALUE, "legacy default stream",
                 FtB_Context_set_stream(ctx, (void *)(uintptr_t)1));
    assert_fails(GrB_INVALID_VALUE, "stream is a thread's default",
                 FtB_Context_set_stream(ctx, (void *)(uintptr_t)2));
    if (!real_gpu()) /* of what is no stream, the driver does not say what happens */
        assert_fails(GrB_INVALID_VALUE, "stream: gpu:0: cuStreamGetCtx fails with CUDA_ERROR_INVALID_HANDLE",
                     FtB_Context_set_stream(ctx, &ctx));
    if (two)
        assert_fails(GrB_INVALID_VALUE, "another device than 'gpu:0'", FtB_Context_set_stream(ctx, other));
    setenv("FAKE_CUDA_FAILS", "cuStreamGetCtx", 1);
    assert_fails(GrB_INVALID_VALUE, "UNKNOWN", FtB_Context_set_stream(ctx, stream_of(0)));
    unsetenv("FAKE_CUDA_FAILS");
    assert_ptr_equal(ctx->stream, mine);
    if (two) {
        assert_ok(FtB_Context_set_device(ctx, "gpu:1")); /* whose it is not */
        assert_null(ctx->stream);
        assert_ok(FtB_Context_set_stream(ctx, other));
    }
    assert_ok(FtB_Context_set_device(ctx, NULL));
    assert_null(ctx->stream);
    FtB_Context_free(&ctx);
    end(mine);
    if (!real_gpu())
        assert_fails(GrB_INVALID_VALUE, "INVALID_HANDLE", FtB_Context_set_stream(NULL, mine));
}

/* ---- the caller's own work */

/* What the caller sends comes before a product, and what it fetches after, with nobody waiting in between. */
static void among_the_callers(void **state)
{
    rng r = rng_new();
    FtB_Matrix A = fake_gpu_matrix(&r, N, N, 0, 20);
    struct CUstream_st *stream = stream_of(0);
    FtB_Context ctx = context_with(stream);
    unsigned long long x, y;
    void *sent, *fetched;
    float expected[N * D];
    FtB_Block X, Y;
    (void)state;
    assert_int_equal(cuda->cuCtxPushCurrent_v2(here), 0);
    assert_int_equal(cuda->cuMemAlloc_v2(&x, BYTES) + cuda->cuMemAlloc_v2(&y, BYTES), 0);
    assert_int_equal(cuda->cuMemHostAlloc(&sent, BYTES, 0) + cuda->cuMemHostAlloc(&fetched, BYTES, 0), 0);
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_wrap_device(&X, (void *)(uintptr_t)x, N, D, D, FTB_FP32));
    assert_ok(FtB_Block_wrap_device(&Y, (void *)(uintptr_t)y, N, D, D, FTB_FP32));
    assert_ok(FtB_Context_engage(NULL)); /* a call runs in its output's context */
    for (int round = 0; round < ROUNDS; round++) {
        rng_reals(&r, sent, FTB_FP32, N * D);
        greatest(expected, A, sent);
        assert_int_equal(cuda->cuMemcpyHtoDAsync_v2(x, sent, BYTES, stream), 0);
        assert_ok(FtB_Block_changed(X));
        assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, A, X, NULL));
        assert_ok(FtB_Block_to_device(Y)); /* where the host has done it */
        assert_int_equal(cuda->cuMemcpyDtoHAsync_v2(fetched, y, BYTES, stream), 0);
        assert_int_equal(cuda->cuStreamSynchronize(stream), 0);
        same(fetched, expected, "a product between the caller's copies", round);
    }
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Context_free(&ctx);
    assert_int_equal(cuda->cuMemFree_v2(x) + cuda->cuMemFree_v2(y) + cuda->cuMemFreeHost(sent) +
                         cuda->cuMemFreeHost(fetched),
                     0);
    assert_int_equal(cuda->cuCtxPopCurrent_v2(&here), 0);
    end(stream);
    FtB_Matrix_free(&A);
}

/* ---- from stream to stream */

/* Each product is made in another context from what the one before has written; what is not needed any more
 * is freed at once, so that the next is where that was. */
static void handed_over(void **state)
{
    enum { CONTEXTS = 4, STEPS = 8 };
    rng r = rng_new();
    FtB_Matrix A = fake_gpu_matrix(&r, N, N, 0, 20);
    struct CUstream_st *streams[CONTEXTS] = {stream_of(0), stream_of(0), NULL, stream_of(0)};
    FtB_Context contexts[CONTEXTS];
    float x[N * D], y[N * D];
    const int before = fake_gpu_launches();
    (void)state;
    for (int c = 0; c < CONTEXTS; c++)
        contexts[c] = context_with(streams[c]);
    for (int round = 0; round < ROUNDS; round++) {
        FtB_Block X = block_in(contexts[0]);
        rng_reals(&r, x, FTB_FP32, N * D);
        memcpy(block_values(X), x, BYTES);
        assert_ok(FtB_Block_changed(X));
        for (int step = 1; step <= STEPS; step++) {
            FtB_Block Y = block_in(contexts[rng_below(&r, CONTEXTS)]);
            assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, A, X, NULL));
            FtB_Block_free(&X);
            X = Y;
            greatest(y, A, x);
            memcpy(x, y, BYTES);
        }
        same(block_values(X), x, "products of several streams", round);
        FtB_Block_free(&X);
    }
    assert_true(!fake_gpu_emulates() || fake_gpu_launches() - before >= ROUNDS * STEPS);
    for (int c = 0; c < CONTEXTS; c++) {
        FtB_Context_free(&contexts[c]);
        if (streams[c])
            end(streams[c]);
    }
    FtB_Matrix_free(&A);
}

/* A long copy of one thread's goes on in its stream while another's calls go to theirs: what the other reads
 * after it is all of it. */
typedef struct tail {
    FtB_Context ctx;
    FtB_Matrix A;
    atomic_int left; /* products, while the copy lasts */
    atomic_bool over;
} tail;

static void *call_meanwhile(void *of)
{
    tail *t = of;
    FtB_Block X = block_in(t->ctx), Y = block_in(t->ctx);
    while (!atomic_load(&t->over)) /* the second time on it is a launch, which waits for no copy */
        if (atomic_load(&t->left) > 0 && atomic_fetch_sub(&t->left, 1) > 0)
            assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, t->A, X, NULL));
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    return NULL;
}

static void tails(void **state)
{
    enum {
        WIDTH = 64,
        LAST = 8
    }; /* rows that P picks: a product is a launch, and no copy waits for others */
    const int64_t nrows = 5 * FTB_GPU_STAGE / (int64_t)(WIDTH * sizeof(float));
    rng r = rng_new();
    struct CUstream_st *streams[] = {stream_of(0), stream_of(0)};
    FtB_Context ctx = context_with(streams[0]);
    tail t = {.ctx = context_with(streams[1]), .A = fake_gpu_matrix(&r, N, N, 0, 20)};
    int64_t I[LAST], J[LAST];
    pthread_t thread;
    FtB_Matrix P;
    FtB_Block X;
    (void)state;
    atomic_init(&t.over, false);
    atomic_init(&t.left, 0);
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_new(&X, nrows, WIDTH, FTB_FP32));
    assert_ok(FtB_Context_engage(NULL));
    float *last = (float *)block_values(X) + (nrows - LAST) * WIDTH;
    for (int k = 0; k < LAST; k++)
        J[k] = nrows - LAST + (I[k] = k);
    assert_ok(FtB_Matrix_build(&P, FTB_FP32, LAST, nrows, 0, LAST, I, J, NULL, FTB_DUP_FIRST, NULL));
    assert_int_equal(pthread_create(&thread, NULL, call_meanwhile, &t), 0);
    for (int round = 0; round < 6; round++) {
        FtB_Block Y;
        rng_reals(&r, last, FTB_FP32, LAST * WIDTH);
        assert_ok(FtB_Block_changed(X));
        atomic_store(&t.left, 4);
        assert_ok(FtB_Block_to_device(X));
        atomic_store(&t.left, 0);
        assert_ok(FtB_Context_engage(t.ctx));
        assert_ok(FtB_Block_new(&Y, LAST, WIDTH, FTB_FP32));
        assert_ok(FtB_Context_engage(NULL));
        assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, P, X, NULL));
        assert_memory_equal(block_values(Y), last, LAST * WIDTH * sizeof *last);
        FtB_Block_free(&Y);
    }
    atomic_store(&t.over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    FtB_Block_free(&X);
    FtB_Matrix_free(&P);
    FtB_Context_free(&ctx);
    FtB_Matrix_free(&t.A);
    FtB_Context_free(&t.ctx);
    end(streams[0]);
    end(streams[1]);
}

/* Work goes to the library's own stream. */
static void elsewhere(void)
{
    const FtB_Context before = ftb_context();
    FtB_Block Z = block_in(NULL);
    assert_ok(FtB_Block_to_device(Z));
    FtB_Block_free(&Z);
    assert_ok(FtB_Context_engage(before));
}

/* ---- a loader */

/* Its thread's work comes behind what the caller has sent, and when the loader is gone nothing reads the
 * caller's memory any more. */
static void loader(void **state)
{
    enum { SEEDS = 6 };
    const ftb_backend *gpu = ftb_device(NULL);
    rng r = rng_new();
    FtB_Matrix A = fake_gpu_matrix(&r, N, N, 0, 20);
    struct CUstream_st *stream = stream_of(0);
    FtB_Context ctx = context_with(stream);
    unsigned long long x;
    void *sent, *other;
    float values[N * D], other_values[N * D];
    FtB_Block X, Y;
    (void)state;
    assert_int_equal(cuda->cuCtxPushCurrent_v2(here), 0);
    assert_int_equal(cuda->cuMemAlloc_v2(&x, BYTES), 0);
    assert_int_equal(cuda->cuMemHostAlloc(&sent, BYTES, 0) + cuda->cuMemHostAlloc(&other, BYTES, 0), 0);
    memset(other, 0x5a, BYTES);
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_wrap_device(&X, (void *)(uintptr_t)x, N, D, D, FTB_FP32));
    for (int round = 0; round < ROUNDS / 4; round++) {
        int64_t seeds[SEEDS];
        FtB_Loader l;
        for (int t = 0; t < SEEDS; t++)
            seeds[t] = (t * 7 + round) % N;
        rng_reals(&r, values, FTB_FP32, N * D);
        memcpy(sent, values, sizeof values);
        elsewhere();
        assert_int_equal(cuda->cuMemcpyHtoDAsync_v2(x, sent, BYTES, stream), 0);
        assert_ok(FtB_Block_changed(X));
        if (round % 2) { /* as the loader's thread does */
            assert_ok(gpu->memory->beside_begin(gpu, ctx));
            assert_ok(gpu->memory->get(gpu, ctx, other_values, (void *)(uintptr_t)x, BYTES));
            gpu->memory->beside_end(gpu);
            same(other_values, values, "beside", round);
        }
        assert_ok(FtB_Loader_new(&l, A, FTB_ARG(X), NULL, seeds, SEEDS,
                                 FTB_LOADER(.fanout = {3}, .batch = SEEDS, .ahead = 1)));
        const FtB_Batch b = FtB_Loader_next(l);
        assert_non_null(b);
        const FtB_Ids v = FtB_Batch_vertices(b);
        int64_t vertices[N];
        memcpy(vertices, v.at, (size_t)v.count * sizeof *vertices);
        assert_ok(FtB_Block_heads(&Y, FtB_Batch_features(b), 1));
        elsewhere();
        assert_ok(FtB_Loader_free(&l));
        assert_int_equal(pending(), 0);
        assert_int_equal(cuda->cuMemcpyHtoDAsync_v2(x, other, BYTES, stream), 0);
        assert_int_equal(cuda->cuStreamSynchronize(stream), 0);
        const float *y = block_values(Y);
        for (int64_t t = 0; t < v.count; t++)
            assert_memory_equal(y + t * D, values + vertices[t] * D, D * sizeof *y);
        FtB_Block_free(&Y);
    }
    FtB_Block_free(&X);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    assert_int_equal(cuda->cuMemFree_v2(x) + cuda->cuMemFreeHost(sent) + cuda->cuMemFreeHost(other), 0);
    assert_int_equal(cuda->cuCtxPopCurrent_v2(&here), 0);
    end(stream);
    FtB_Matrix_free(&A);
}

/* ---- given back */

/* A stream may end once it was given back, in whichever way; what was last done there, too, is waited for. */
static void given_back(void **state)
{
    rng r = rng_new();
    FtB_Matrix A = fake_gpu_matrix(&r, N, N, 0, 20);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct CUstream_st *stream = stream_of(0), *next = stream_of(0);
        FtB_Context ctx = context_with(stream);
        FtB_Block X = block_in(NULL), Y = block_in(ctx), Z = block_in(NULL);
        float x[N * D], y[N * D], z[N * D];
        rng_reals(&r, x, FTB_FP32, N * D);
        memcpy(block_values(X), x, BYTES);
        assert_ok(FtB_Block_changed(X));
        assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, A, X, NULL));
        assert_ptr_equal(ctx->stream, stream);
        if (round % 4 == 0)
            assert_ok(FtB_Context_set_stream(ctx, NULL));
        else if (round % 4 == 1)
            assert_ok(FtB_Context_set_stream(ctx, next));
        else if (round % 4 == 2)
            assert_ok(FtB_Context_set_device(ctx, "cpu"));
        if (round % 4 != 3)
            end(stream);
        assert_ok(FtB_mxm(Z, NULL, NULL, FTB_MAX_SRC, A, Y, NULL));
        greatest(y, A, x);
        greatest(z, A, y);
        same(block_values(Z), z, "behind a stream that ended", round);
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
        FtB_Block_free(&Z);
        FtB_Context_free(&ctx);
        if (round % 4 == 3) /* with the last object, too, it was given back */
            end(stream);
        end(next);
    }
    FtB_Matrix_free(&A);
}

/* Where the turn cannot be given to a stream, the host does the work, or the call says so; the next call
 * finds all as it should be. */
static void failing(void **state)
{
    static const char *const calls[] = {"cuStreamWaitEvent", "cuEventRecord"};
    rng r = rng_new();
    FtB_Matrix A = fake_gpu_matrix(&r, N, N, 0, 20);
    struct CUstream_st *stream = stream_of(0);
    FtB_Context ctx = context_with(stream);
    float x[N * D], y[N * D];
    (void)state;
    for (int n = 0; n < 8; n++) {
        FtB_Block X = block_in(NULL), Y = block_in(ctx);
        char turn[16];
        rng_reals(&r, x, FTB_FP32, N * D);
        memcpy(block_values(X), x, BYTES);
        assert_ok(FtB_Block_changed(X));
        assert_ok(FtB_Block_to_device(X));
        snprintf(turn, sizeof turn, "%d", n / 2 + 1);
        setenv("FAKE_CUDA_FAILS", calls[n % 2], 1);
        setenv("FAKE_CUDA_AT", turn, 1);
        const GrB_Info info = FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, A, X, NULL);
        if (info != GrB_SUCCESS && (info != FTB_NO_DEVICE || !strstr(FtB_error(), calls[n % 2])))
            fail_msg("%s fails, and the product with %d, %s", calls[n % 2], (int)info, FtB_error());
        unsetenv("FAKE_CUDA_FAILS");
        unsetenv("FAKE_CUDA_AT");
        assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, A, X, NULL));
        greatest(y, A, x);
        same(block_values(Y), y, calls[n % 2], n);
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
    }
    FtB_Context_free(&ctx);
    end(stream);
    FtB_Matrix_free(&A);
}

/* The last test: nothing runs there any more. A context whose GPU was lost gives its stream back all the
 * same. */
static void lost(void **state)
{
    struct CUstream_st *stream = stream_of(0), *next = stream_of(0);
    FtB_Context ctx = context_with(stream);
    (void)state;
    setenv("FAKE_CUDA_FAILS", "cuStreamGetCtx=700", 1);
    assert_fails(FTB_NO_DEVICE, "lost by CUDA_ERROR_ILLEGAL_ADDRESS", FtB_Context_set_stream(ctx, next));
    unsetenv("FAKE_CUDA_FAILS");
    assert_ptr_equal(ctx->stream, stream);
    assert_fails(FTB_NO_DEVICE, "lost", FtB_Context_set_stream(ctx, NULL));
    assert_null(ctx->stream);
    FtB_Context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(refused, fake_gpu_clean),
        cmocka_unit_test_teardown(among_the_callers, fake_gpu_clean),
        cmocka_unit_test_teardown(handed_over, fake_gpu_clean),
        cmocka_unit_test_teardown(tails, fake_gpu_clean),
        cmocka_unit_test_teardown(loader, fake_gpu_clean),
        cmocka_unit_test_teardown(given_back, fake_gpu_clean),
        cmocka_unit_test_teardown(failing, fake_gpu_clean),
        cmocka_unit_test_teardown(lost, fake_gpu_clean),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
