/* A GPU that is lost (support/fake_cuda): whoever asks for what it alone had is told which object that is, by
 * the call's argument and the shape, however it is asked for; objects with a copy on the host go on there,
 * with the same bits. */
#include "featblas_nn.h"

#include "support/check.h"

#include "core/backend.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"
#include "support/real_gpu.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 40, D = 6, DEGREE = 4 };

static void (*calm)(void); /* the driver, for the next GPU */

static int start(void **state)
{
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    fake_find("fake_cuda", "fake_cuda_calm", &calm);
    return fake_gpu_start(state);
}

static FtB_Matrix ring(int64_t width)
{
    static int64_t I[DEGREE * N], J[DEGREE * N];
    float X[DEGREE * N * 2];
    FtB_Matrix A;
    for (int64_t e = 0; e < DEGREE * N; e++) {
        I[e] = e / DEGREE;
        J[e] = (e * 7 + 3) % N;
    }
    for (int64_t e = 0; e < DEGREE * N * 2; e++)
        X[e] = (float)(e % 13) / 8 - 0.7F;
    assert_ok(
        FtB_Matrix_build(&A, FTB_FP32, N, N, width, DEGREE * N, I, J, width ? X : NULL, FTB_DUP_SUM, NULL));
    return A;
}

/* Its address does not leave the library: else it would be on the host, too. */
static FtB_Block features(uint64_t seed, int64_t ncols)
{
    FtB_Block X;
    rng r = {seed};
    assert_ok(FtB_Block_new(&X, N, ncols, FTB_FP32));
    rng_reals(&r, ftb_block_data(X), FTB_FP32, N * ncols);
    return X;
}

/* On the device that the context has: there alone, or there, too. */
static void send(ftb_buffer *b, bool alone)
{
    void *there;
    assert_ok(ftb_buffer_ask_at(b, ftb_device(NULL), alone ? FTB_UPDATE : FTB_READ, &there));
    if (alone)
        assert_ok(ftb_buffer_written(b));
}

static void lose(const char *call)
{
    char fails[64];
    snprintf(fails, sizeof fails, "%s=700", call);
    setenv("FAKE_CUDA_FAILS", fails, 1);
    setenv("FAKE_CUDA_AT", "1", 1);
}

/* ---- what is said */

#define BLOCK "a block of 40 x 6 fp32 is on"
#define MATRIX "a matrix of 40 x 40 has its values (160 entries of 1 fp32) on"

static const char *where; /* the GPU that is lost */

static void told(const char *name, const char *what, GrB_Info info, const char *call)
{
    char text[200];
    snprintf(text, sizeof text, "%s: %s '%s' alone: %s: lost by CUDA_ERROR_ILLEGAL_ADDRESS; ", name, what,
             where, where);
    if (info != FTB_NO_DEVICE || !strstr(FtB_error(), text))
        fail_msg("%s: %d, \"%s\"; expected %d, \"...%s...\"", call, (int)info, FtB_error(),
                 (int)FTB_NO_DEVICE, text);
}

#define TOLD(name, what, call) told(name, what, call, #call)

/* ---- every way home */

static struct {
    FtB_Block X, both, C;   /* X is there alone */
    FtB_Matrix A, whole, D; /* A's values are there alone */
    FtB_Parameter p;        /* and so is its value */
} w;

static int64_t rows[N];

static void block_home(void)
{
    const FtB_Block X = w.X;
    FtB_Block V;
    FtB_Tensors t;
    FtB_Tape tape;
    void *data;
    TOLD("X", BLOCK, FtB_Block_to_host(X));
    TOLD("X", BLOCK, FtB_Block_shape(X, NULL, NULL, NULL, NULL, &data));
    assert_null(data);
    TOLD("X", BLOCK, FtB_Block_changed(X));
    TOLD("X", BLOCK, FtB_Block_write(X, temp_path("x.npy"), FTB_NPY, 0));
    assert_int_equal(count_files(), 0);
    TOLD("X", BLOCK, FtB_init(X, FTB_INIT_ZEROS, 1, NULL));
    assert_ok(FtB_Block_columns(&V, X, 1, 2)); /* what is lost is all that it is of */
    TOLD("X", BLOCK, FtB_Block_to_host(V));
    FtB_Block_free(&V);
    assert_ok(FtB_Tensors_new(&t));
    TOLD("weights", BLOCK, FtB_Tensors_set(t, "weights", X, -1, NULL));
    FtB_Tensors_free(&t);
    assert_ok(FtB_Tape_new(&tape, 1));
    (void)FtB_input(tape, X);
    TOLD("FtB_input: X", BLOCK, FtB_Tape_status(tape));
    FtB_Tape_free(&tape);
}

static void matrix_home(void)
{
    const FtB_Matrix A = w.A;
    FtB_Matrix B;
    FtB_Block V;
    GrB_Matrix G;
    const void *values;
    TOLD("A", MATRIX, FtB_Matrix_csr(A, NULL, NULL, &values));
    assert_null(values);
    assert_ok(FtB_Matrix_csr(A, NULL, &values, NULL)); /* which never was a device's alone */
    TOLD("A", MATRIX, FtB_Matrix_changed(A));
    TOLD("A", MATRIX, FtB_Matrix_dup(&B, A));
    TOLD("A", MATRIX, FtB_Matrix_export(&G, A, 0));
    TOLD("A", MATRIX, FtB_Matrix_write(A, temp_path("a.npz"), FTB_NPZ, NULL, NULL, 0));
    assert_int_equal(count_files(), 0);
    assert_ok(FtB_Matrix_values(&V, A));
    TOLD("X", MATRIX, FtB_Block_to_host(V));
    FtB_Block_free(&V);
}

static void products(void)
{
    const FtB_Block X = w.X, both = w.both, C = w.C;
    const FtB_Matrix A = w.A, whole = w.whole, T = w.D;
    double s;
    TOLD("B", BLOCK, FtB_mxm(C, NULL, NULL, "plus : src", whole, X, NULL));
    TOLD("B", BLOCK, FtB_mxm(C, NULL, NULL, "plus : exp(src)", whole, X, NULL));
    TOLD("B", BLOCK, FtB_mxm(C, NULL, "x + y", "max : edge * src", whole, X, NULL));
    TOLD("A", MATRIX, FtB_mxm(C, NULL, NULL, "plus : edge * src", A, both, NULL));
    TOLD("C", BLOCK, FtB_mxm(X, NULL, NULL, "plus : src", whole, both, NULL));
    TOLD("A", BLOCK, FtB_mxm(T, whole, NULL, "plus : dot(src, dst)", X, both, FTB_DESC_ST1));
    TOLD("B", BLOCK, FtB_mxm(T, whole, NULL, "plus : dot(src, dst)", both, X, FTB_DESC_ST1));
    TOLD("A", MATRIX, FtB_mxm(T, NULL, NULL, "plus : a * b", A, whole, NULL));
    TOLD("B", MATRIX, FtB_mxm(T, NULL, NULL, "plus : a * b", whole, A, NULL));
    TOLD("Q", BLOCK, FtB_attention(C, whole, NULL, FTB_PLUS_DOT, X, both, both, NULL, NULL));
    TOLD("K", BLOCK, FtB_attention(C, whole, NULL, FTB_PLUS_DOT, both, X, both, NULL, NULL));
    TOLD("V", BLOCK, FtB_attention(C, whole, NULL, FTB_PLUS_DOT, both, both, X, NULL, NULL));
    TOLD("R", MATRIX, FtB_project(T, A, NULL, NULL));
    TOLD("A", MATRIX, FtB_softmax(T, A, FTB_BY_ROW));
    TOLD("A", MATRIX, FtB_select(T, NULL, NULL, "x > 0", A, NULL));
    TOLD("A", MATRIX, FtB_apply(T, NULL, NULL, "2 * x", A, NULL));
    TOLD("B", MATRIX, FtB_eWiseAdd(T, NULL, NULL, "x + y", whole, A, NULL));
    TOLD("A", MATRIX, FtB_reduce_scalar(&s, FTB_FP64, "plus", A));
}

static void elements(void)
{
    const FtB_Block X = w.X, both = w.both, C = w.C;
    FtB_Block y;
    assert_ok(FtB_Block_new(&y, N, 1, FTB_FP32));
    TOLD("A", BLOCK, FtB_apply(C, NULL, NULL, "2 * x", X, NULL));
    TOLD("M", BLOCK, FtB_apply(C, X, NULL, "2 * x", both, NULL));
    TOLD("C", BLOCK, FtB_apply(X, NULL, NULL, "2 * x", both, NULL));
    TOLD("B", BLOCK, FtB_eWiseAdd(C, NULL, NULL, "x + y", both, X, NULL));
    TOLD("A", BLOCK, FtB_reduce(y, NULL, NULL, "plus", X, NULL));
    TOLD("X", BLOCK, FtB_gather(C, X, rows, N));
    TOLD("Y", BLOCK, FtB_gather(X, C, rows, N));
    TOLD("X", BLOCK, FtB_scatter(C, "x + y", X, rows, N));
    FtB_Block_free(&y);
}

/* A thread of the loader's finds it, or who asks for the batch; what is sampled alone is no loss. */
static void batches(void)
{
    for (int targets = 0; targets < 2; targets++)
        for (int ahead = -1; ahead < 2; ahead += 2) {
            FtB_Loader loader;
            assert_ok(FtB_Loader_new(&loader, w.A, targets ? w.both : w.X, NULL, rows, N,
                                     FTB_LOADER(.fanout = {2}, .batch = 8,
                                                .sampler = FTB_SAMPLE_OPTIONS(.structural = true),
                                                .ahead = ahead, .targets = targets ? w.X : NULL)));
            assert_null(FtB_Loader_next(loader));
            TOLD(targets ? "options: targets: X" : "X", BLOCK, FtB_Loader_status(loader));
            FtB_Loader_free(&loader);
        }
}

static void parameters(void)
{
    FtB_Stopper stopper;
    FtB_Block value;
    bool stop;
    assert_ok(FtB_Stopper_new(&stopper, &w.p, 1, NULL));
    TOLD("layer.weight", BLOCK, FtB_Stopper_see(stopper, 1, &stop));
    FtB_Stopper_free(&stopper);
    assert_ok(FtB_Parameter_value(&value, w.p));
    TOLD("X", BLOCK, FtB_Block_to_host(value));
    FtB_Block_free(&value);
}

/* ---- what goes on */

static void use(float *to)
{
    const size_t bytes = N * D * sizeof(float);
    FtB_Block C = features(9, D);
    assert_ok(
        FtB_mxm(C, NULL, NULL, "plus : src", w.A, w.both, NULL)); /* A's pattern was never there alone */
    memcpy(to, block_values(C), bytes);
    assert_ok(FtB_mxm(C, NULL, "x + y", "max : edge * src", w.whole, w.both, NULL));
    memcpy(to + N * D, block_values(C), bytes);
    assert_ok(FtB_attention(C, w.whole, NULL, FTB_PLUS_DOT, w.both, w.both, C, NULL, NULL));
    assert_ok(FtB_gather(C, w.both, rows, N));
    memcpy(to + 2 * N * D, block_values(C), bytes);
    FtB_Block_free(&C);
}

enum { USED = 3 * N * D };

static void lost_at_rest(void **state)
{
    static float before[USED], after[USED];
    const ftb_backend *gpu;
    FtB_Block value;
    (void)state;
    where = real_gpu() ? "gpu:0" : "gpu:1";
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    w.X = features(1, D);
    w.both = features(2, D);
    w.C = features(3, D);
    w.A = ring(1);
    w.whole = ring(1);
    w.D = ring(1);
    assert_ok(FtB_Parameter_new(&w.p, "layer.weight", N, D, FTB_FP32));
    use(before);
    assert_ok(FtB_Context_set_device(NULL, where));
    gpu = ftb_device(NULL);
    send(w.X->owner, true);
    send(w.A->values, true);
    send(w.both->owner, false);
    send(w.whole->values, false);
    assert_ok(FtB_Parameter_value(&value, w.p));
    send(value->owner, true);
    FtB_Block_free(&value);
    lose("cuEventSynchronize");
    assert_fails(FTB_NO_DEVICE, "lost by", gpu->memory->wait(gpu, NULL));
    for (int cpu = 0; cpu < 2; cpu++) {
        if (cpu)
            assert_ok(FtB_Context_set_device(NULL, "cpu"));
        block_home();
        matrix_home();
        products();
        elements();
        batches();
        parameters();
        use(after);
        assert_memory_equal(after, before, sizeof before);
    }
    FtB_Block_free(&w.X);
    FtB_Block_free(&w.both);
    FtB_Block_free(&w.C);
    FtB_Matrix_free(&w.A);
    FtB_Matrix_free(&w.whole);
    FtB_Matrix_free(&w.D);
    FtB_Parameter_free(&w.p);
    calm();
}

/* In the middle of a call, whose operand was there alone, or whose result goes to memory of the caller's that
 * would have it at home. */
static void lost_in_a_call(void **state)
{
    static float host[N * D];
    FtB_Block C;
    (void)state;
    if (!fake_gpu_emulates() || real_gpu())
        return;
    where = "gpu:0";
    assert_ok(FtB_Context_set_device(NULL, where));
    w.whole = ring(1);
    w.X = features(1, D);
    w.both = features(2, D);
    assert_ok(FtB_Block_wrap(&C, host, N, D, D, FTB_FP32));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : src", w.whole, w.both, NULL)); /* what is compiled is not lost */
    send(w.X->owner, true);
    lose("cuLaunchKernel");
    TOLD("B", BLOCK, FtB_mxm(C, NULL, NULL, "plus : src", w.whole, w.X, NULL));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : src", w.whole, w.both, NULL));
    FtB_Block_free(&C);
    FtB_Block_free(&w.X);
    FtB_Block_free(&w.both);
    FtB_Matrix_free(&w.whole);
    calm();
}

/* Of an object that nobody said anything of there is the size. */
static void unnamed(void **state)
{
    ftb_buffer *b = ftb_buffer_new(NULL, 10, 4);
    (void)state;
    if (real_gpu())
        return;
    where = "gpu:2";
    assert_ok(FtB_Context_set_device(NULL, where));
    send(b, true);
    lose("cuMemcpyDtoHAsync");
    assert_fails(FTB_NO_DEVICE, "40 bytes are on 'gpu:2' alone: gpu:2: lost by", ftb_buffer_ask(b, FTB_READ));
    ftb_buffer_release(b);
    calm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(lost_in_a_call, fake_gpu_clean),
                                       cmocka_unit_test_teardown(lost_at_rest, fake_gpu_clean),
                                       cmocka_unit_test_teardown(unnamed, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, start, NULL);
}
