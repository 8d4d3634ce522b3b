/* Where data live: buffers move when they are asked for, addresses that left the library stay good, what
 * moved is counted, and products on a device that does not exist (support/pretend.h) give the host's bits.
 * Planted mistakes show that it finds what it is there to find. */
#include "support/check.h"

#include "core/core.h"
#include "core/watch.h"
#include "featblas_nn.h"
#include "support/fail_alloc.h"
#include "support/pretend.h"
#include "support/rng.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 1000

static ftb_buffer *numbers(void)
{
    ftb_buffer *b = ftb_buffer_new(NULL, N, sizeof(int64_t));
    assert_non_null(b);
    for (int64_t k = 0; k < N; k++)
        ((int64_t *)ftb_buffer_data(b))[k] = k;
    return b;
}

static void moved(int64_t *to_host, int64_t *to_device)
{
    assert_ok(FtB_Context_moved(NULL, to_host, to_device));
}

/* Copies are made when somebody asks, once. */
static void asking_moves(void **state)
{
    (void)state;
    int64_t home[3], away[3];
    void *device, *again;
    ftb_buffer *b = numbers();
    moved(&home[0], &away[0]);
    assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_READ, &device));
    assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_READ, &again));
    assert_ptr_equal(device, again);
    assert_ok(ftb_buffer_ask(b, FTB_READ));
    moved(&home[1], &away[1]);
    assert_int_equal(away[1] - away[0], N * 8);
    assert_int_equal(home[1] - home[0], 0);
    assert_ok(pretend_device.memory->wait(&pretend_device, NULL));
    assert_int_equal(((const int64_t *)pretend_memory(device))[N - 1], N - 1);

    assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_WRITE, &device));
    ((int64_t *)(uintptr_t)pretend_memory(device))[5] = 55;
    assert_ok(ftb_buffer_written(b));
    assert_int_equal(atomic_load(&b->valid), FTB_VALID_DEVICE);
    assert_int_not_equal(((const int64_t *)b->host)[5], 5); /* spoiled */
    assert_ok(ftb_buffer_ask(b, FTB_READ));
    assert_int_equal(((const int64_t *)ftb_buffer_data(b))[5], 55);
    assert_ok(ftb_buffer_ask(b, FTB_UPDATE));
    assert_int_equal(atomic_load(&b->valid), FTB_VALID_HOST);
    moved(&home[2], &away[2]);
    assert_int_equal(home[2] - home[1], N * 8);
    assert_int_equal(away[2] - away[1], 0);
    ftb_buffer_release(b);
}

/* What is written as a whole is not sent, and what a verb did not write is as it was. */
static void writing(void **state)
{
    (void)state;
    int64_t before, after;
    void *device;
    ftb_buffer *b = numbers();
    moved(NULL, &before);
    assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_WRITE, &device));
    moved(NULL, &after);
    assert_int_equal(after, before);
    assert_int_equal(atomic_load(&b->valid), FTB_VALID_HOST); /* the verb failed, say */
    assert_int_equal(((const int64_t *)ftb_buffer_data(b))[7], 7);
    assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_UPDATE, &device));
    moved(NULL, &after);
    assert_int_equal(after, before + N * 8);
    ftb_buffer_release(b);
}

/* The host may write once a late copy has been made. */
static void late_copies(void **state)
{
    (void)state;
    void *device;
    for (int t = 0; t < 50; t++) {
        ftb_buffer *b = numbers();
        assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_READ, &device));
        assert_ok(ftb_buffer_ask(b, FTB_UPDATE));
        assert_int_equal(pretend_pending(), 0);
        ftb_buffer_release(b);
    }
}

static FtB_Matrix ring(int64_t n)
{
    int64_t *I = calloc((size_t)n, sizeof *I), *J = calloc((size_t)n, sizeof *J);
    float *X = calloc((size_t)n, sizeof *X);
    FtB_Matrix A;
    for (int64_t i = 0; i < n; i++) {
        I[i] = i;
        J[i] = (i * 7 + 1) % n;
        X[i] = (float)i / 8 - 1;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, n, n, 1, n, I, J, X, FTB_DUP_SUM, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

static FtB_Block features(int64_t n, int64_t d)
{
    FtB_Block X;
    rng r = rng_new();
    assert_ok(FtB_Block_new(&X, n, d, FTB_FP32));
    rng_values(&r, block_values(X), FTB_FP32, n * d);
    return X;
}

/* Sums run there, with the host's bits; an address that was handed out has them when the call returns, and
 * the block that has not been looked at stays there. */
static void products(void **state)
{
    (void)state;
    static const char *const texts[] = {"plus : src", "plus : edge * src", "mean : src"};
    FtB_Matrix A = ring(50);
    FtB_Block X = features(50, 12), C, D, wrapped;
    float memory[50 * 12];
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        const int64_t ran = pretend_products();
        assert_ok(FtB_Block_new(&C, 50, 12, FTB_FP32));
        assert_ok(FtB_Block_new(&D, 50, 12, FTB_FP32));
        assert_ok(FtB_Block_wrap(&wrapped, memory, 50, 12, 12, FTB_FP32));
        assert_ok(FtB_mxm(C, NULL, NULL, texts[t], A, X, NULL));
        assert_ok(FtB_mxm(wrapped, NULL, NULL, texts[t], A, X, NULL));
        assert_int_equal(pretend_products(), ran + 2);
        assert_int_equal(atomic_load(&C->owner->valid), FTB_VALID_DEVICE);
        assert_ok(FtB_Context_set_device(NULL, "cpu"));
        assert_ok(FtB_mxm(D, NULL, NULL, texts[t], A, X, NULL));
        assert_ok(FtB_Context_set_device(NULL, "pretend"));
        assert_memory_equal(memory, block_values(D), sizeof memory);
        assert_memory_equal(block_values(C), memory, sizeof memory);
        FtB_Block_free(&C);
        FtB_Block_free(&D);
        FtB_Block_free(&wrapped);
    }
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* What a device cannot write, since the output is read as well or needs another value where rows are empty,
 * is done on the host, from values that are on the device alone. */
static void back_on_the_host(void **state)
{
    (void)state;
    FtB_Matrix A = ring(50);
    FtB_Block X = features(50, 12), C, wanted;
    for (int on = 0; on < 2; on++) {
        assert_ok(FtB_Context_set_device(NULL, on ? "pretend" : "cpu"));
        assert_ok(FtB_Block_new(on ? &C : &wanted, 50, 12, FTB_FP32));
        const FtB_Block to = on ? C : wanted;
        assert_ok(FtB_mxm(to, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
        if (on)
            assert_int_equal(atomic_load(&to->owner->valid), FTB_VALID_DEVICE);
        assert_ok(FtB_mxm(to, NULL, NULL, FTB_PLUS_MUL, A, to, NULL));
        assert_ok(FtB_mxm(to, NULL, NULL, FTB_PLUS_SRC, A, to, FTB_DESC_T0));
        assert_ok(FtB_mxm(to, NULL, NULL, FTB_MAX_SRC, A, to, NULL));
    }
    assert_memory_equal(block_values(C), block_values(wanted), 50 * 12 * sizeof(float));
    FtB_Block_free(&C);
    FtB_Block_free(&wanted);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* Columns of a wider block: what lies beside them stays. */
static void part_of_a_block(void **state)
{
    (void)state;
    FtB_Matrix A = ring(20);
    FtB_Block X = features(20, 4), wide = features(20, 9), part;
    float before[20 * 9];
    memcpy(before, block_values(wide), sizeof before);
    assert_ok(FtB_Block_columns(&part, wide, 2, 4));
    assert_ok(FtB_mxm(part, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    const float *now = block_values(wide), *x = block_values(X);
    for (int64_t i = 0; i < 20; i++)
        for (int64_t f = 0; f < 9; f++) {
            const bool inside = f >= 2 && f < 6;
            const float wanted = inside ? x[(i * 7 + 1) % 20 * 4 + f - 2] : before[i * 9 + f];
            assert_memory_equal(&now[i * 9 + f], &wanted, sizeof wanted);
        }
    FtB_Block_free(&part);
    FtB_Block_free(&wide);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* What changed through an address is seen once the caller says so, and not before; builds with assertions
 * report that nobody did. */
static void changed(void **state)
{
    (void)state;
    FtB_Matrix A = ring(20);
    FtB_Block X = features(20, 4), C = features(20, 4);
    float *x = block_values(X);
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_ok(pretend_device.memory->wait(&pretend_device, NULL));
    const float old = x[4];
    x[4] = old + 1;
#ifdef NDEBUG
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_true(fabsf(((const float *)block_values(C))[0] - old) <= 0); /* the mistake shows */
#else
    assert_fails(GrB_INVALID_VALUE, "expected a call of FtB_Matrix_changed or FtB_Block_changed",
                 FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
#endif
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_true(fabsf(((const float *)block_values(C))[0] - x[4]) <= 0);
    FtB_Block_free(&C);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* Planted: the host reads a device's memory. */
static void host_reads_device(void **state)
{
    (void)state;
    void *device;
    int status;
    ftb_buffer *b = numbers();
    assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_READ, &device));
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        _exit(((const volatile char *)device)[0] == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    ftb_buffer_release(b);
}

/* Planted: the host writes before a late copy was made, without asking. */
static void host_does_not_wait(void **state)
{
    (void)state;
    void *device;
    int wrong = 0;
    for (int t = 0; t < 100; t++) {
        ftb_buffer *b = numbers();
        assert_ok(ftb_buffer_ask_at(b, &pretend_device, FTB_READ, &device));
        ((int64_t *)b->host)[3] = 33;
        assert_ok(pretend_device.memory->wait(&pretend_device, NULL));
        wrong += ((const int64_t *)pretend_memory(device))[3] == 33;
        ftb_buffer_release(b);
    }
    assert_true(wrong > 0 && wrong < 100);
}

static void names(void **state)
{
    (void)state;
    const char *name, *about;
    int64_t memory;
    assert_ok(FtB_Device_describe(0, &name, &about, &memory));
    assert_string_equal(name, "cpu");
    assert_int_equal(memory, 0);
    assert_ok(FtB_Device_describe(1, &name, NULL, &memory));
    assert_string_equal(name, "pretend");
    assert_true(memory > 0);
    assert_fails(GrB_NO_VALUE, "device 2", FtB_Device_describe(2, NULL, NULL, NULL));
    assert_fails(FTB_NO_DEVICE, "there is no 'gpu' here; expected cpu, pretend; no GPU: FEATBLAS_CUDA_DRIVER",
                 FtB_Context_set_device(NULL, "gpu"));
    assert_ok(FtB_Context_moved(NULL, NULL, NULL));
}

/* ---- networks */

enum { VERTICES = 60, COLUMNS = 12, CLASSES = 4, EPOCHS = 5 };

static FtB_Parameter parameter(const char *name, int64_t nrows, int64_t ncols, bool trained)
{
    FtB_Parameter p;
    FtB_Block X;
    assert_ok(FtB_Parameter_new(&p, name, nrows, ncols, FTB_FP32));
    assert_ok(FtB_Parameter_set_trained(p, trained));
    assert_ok(FtB_Parameter_value(&X, p));
    assert_ok(FtB_init(X, FTB_INIT_UNIFORM, 7, NULL));
    FtB_Block_free(&X);
    return p;
}

static FtB_Layer layer_of(const char *kind, FtB_Optimizer o)
{
    FtB_Layer layer;
    assert_ok(FtB_Layer_new(&layer, kind, COLUMNS, CLASSES, FTB_LAYER_OPTIONS(.seed = 3)));
    assert_ok(FtB_Optimizer_add_layer(o, layer, NULL));
    return layer;
}

static FtB_Var gcn(FtB_Var x, FtB_Matrix A, FtB_Optimizer o)
{
    FtB_Layer layer = layer_of("gcn", o);
    FtB_Var y = FtB_gcn(layer, A, FtB_dropout(x, 0.5));
    FtB_Layer_free(&layer);
    return y;
}

static FtB_Var gat(FtB_Var x, FtB_Matrix A, FtB_Optimizer o)
{
    FtB_Layer layer = layer_of("gat", o);
    FtB_Var y = FtB_gat(layer, A, FtB_elu(x));
    FtB_Layer_free(&layer);
    return y;
}

/* The greatest of the neighbours: gradients go to the winners. */
static FtB_Var sage(FtB_Var x, FtB_Matrix A, FtB_Optimizer o)
{
    FtB_Layer layer;
    assert_ok(
        FtB_Layer_new(&layer, "sage", COLUMNS, CLASSES, FTB_LAYER_OPTIONS(.seed = 3, .aggregate = "pool")));
    assert_ok(FtB_Optimizer_add_layer(o, layer, NULL));
    FtB_Var y = FtB_sage(layer, A, x);
    FtB_Layer_free(&layer);
    return y;
}

/* Without a graph: what a network has beside its products with one. */
static FtB_Var rest(FtB_Var x, FtB_Matrix A, FtB_Optimizer o)
{
    FtB_Parameter p[] = {parameter("w", COLUMNS, COLUMNS, true), parameter("bias", 1, COLUMNS, true),
                         parameter("gain", 1, COLUMNS, true),    parameter("a", 1, CLASSES, true),
                         parameter("mean", 1, COLUMNS, false),   parameter("variance", 1, COLUMNS, false)};
    static const int64_t again[VERTICES] = {5, 5, 7};
    (void)A;
    assert_ok(FtB_Optimizer_add(o, p, 4, NULL));
    FtB_Var y = FtB_dropout(FtB_linear(x, p[0], p[1]), 0.3), row = FtB_parameter(x.tape, p[3]);
    y = FtB_batch_norm(FtB_layer_norm(y, p[2], NULL, 1e-5), NULL, p[1], p[4], p[5], 0.1, 1e-5);
    y = FtB_concat(FtB_columns(y, 0, 4), FtB_columns(y, 2, 8));
    y = FtB_mean_heads(FtB_map("x * x - a", FTB_OPERAND("x", FtB_heads(y, 3)), FTB_OPERAND("a", row)));
    for (int k = 0; k < 6; k++)
        FtB_Parameter_free(&p[k]);
    return FtB_rows(y, again, VERTICES);
}

/* The loss of each epoch. Between epochs the host asks for nothing: what moves in them is what an operation
 * moves. */
static void train(FtB_Var (*model)(FtB_Var, FtB_Matrix, FtB_Optimizer), double losses[EPOCHS], int64_t *bytes)
{
    int32_t labels[VERTICES];
    uint8_t mask[VERTICES];
    int64_t home[2], away[2];
    FtB_Tape tape;
    FtB_Optimizer o;
    FtB_Matrix A = ring(VERTICES);
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, VERTICES, COLUMNS, FTB_FP32));
    assert_ok(FtB_init(X, FTB_INIT_UNIFORM, 4, NULL));
    for (int i = 0; i < VERTICES; i++) {
        labels[i] = i % CLASSES;
        mask[i] = i % 3 != 0;
    }
    assert_ok(FtB_Tape_new(&tape, 5));
    assert_ok(FtB_Optimizer_new(&o, FTB_ADAM, NULL));
    FtB_Var loss = FtB_cross_entropy(model(FtB_input(tape, X), A, o), labels, mask);
    *bytes = 0;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        moved(&home[0], &away[0]);
        assert_ok(FtB_backward(loss));
        assert_ok(FtB_Optimizer_step(o));
        moved(&home[1], &away[1]);
        *bytes += epoch > 0 ? home[1] - home[0] + away[1] - away[0] : 0;
        assert_ok(FtB_scalar(&losses[epoch], loss));
    }
    FtB_Optimizer_free(&o);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* Training on a device has the host's bits, and after the first epoch, which sends what it was given, it
 * moves nothing. */
static void networks(void **state)
{
    (void)state;
    static FtB_Var (*const models[])(FtB_Var, FtB_Matrix, FtB_Optimizer) = {gcn, gat, sage, rest};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        double here[EPOCHS], there[EPOCHS];
        int64_t bytes, ran = pretend_products();
        assert_ok(FtB_Context_set_device(NULL, "cpu"));
        train(models[k], here, &bytes);
        assert_int_equal(bytes, 0);
        assert_int_equal(pretend_products(), ran);
        assert_ok(FtB_Context_set_device(NULL, "pretend"));
        train(models[k], there, &bytes);
        assert_true(pretend_products() >= ran + 10 * EPOCHS);
        assert_memory_equal(here, there, sizeof here);
        if (bytes)
            fail_msg("model %zu: %lld bytes moved", k, (long long)bytes);
    }
}

static GrB_Info product(void *arg)
{
    (void)arg;
    FtB_Matrix A = NULL;
    FtB_Block X = NULL, C = NULL;
    const int64_t I[] = {0, 1, 2}, J[] = {1, 2, 0};
    GrB_Info info;
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 3, 3, 0, 3, I, J, NULL, FTB_DUP_SUM, NULL));
    FTB_CHECK(FtB_Block_new(&X, 3, 2, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&C, 3, 2, FTB_FP32));
    FTB_CHECK(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    FTB_CHECK(FtB_Block_shape(C, NULL, NULL, NULL, NULL, &(void *){NULL}));
done:
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(product, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(asking_moves, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(writing, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(late_copies, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(products, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(back_on_the_host, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(part_of_a_block, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(changed, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(host_reads_device, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(host_does_not_wait, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(networks, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(names, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(failing_allocations, pretend_setup, pretend_teardown)};
    setenv("FEATBLAS_CUDA_DRIVER", "", 1); /* GPUs of this machine are none of this test's */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
