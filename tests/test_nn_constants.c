/* Constants of a tape: computed once, those in between go, memory is reused, and what FtB_input_take gave
 * goes when nothing reads it any more. */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"

#include <math.h>
#include <stdlib.h>

enum { N = 4096, D = 64 };
static const int64_t block_bytes = (int64_t)N * D * 8;

/* i -> i + 1, around. */
static FtB_Matrix ring(void)
{
    static int64_t from[N], to[N];
    FtB_Matrix A;
    for (int i = 0; i < N; i++) {
        from[i] = i;
        to[i] = (i + 1) % N;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 0, N, from, to, NULL, FTB_DUP_ERROR, NULL));
    return A;
}

static double feature(int64_t i, int64_t j) { return (double)(i % 17 - 8) + (double)j / D; }

static FtB_Block features(void)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP64));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++)
            ((double *)block_values(X))[i * D + j] = feature(i, j);
    return X;
}

/* relu((A relu(x) + relu(x)) / 2) at row i, column j. */
static double expected(int64_t i, int64_t j)
{
    return fmax(0, (fmax(0, feature((i + 1) % N, j)) + fmax(0, feature(i, j))) / 2);
}

static FtB_Var smooth(FtB_Matrix A, FtB_Var x)
{
    x = FtB_relu(x);
    FtB_Var sum = FtB_multiply("plus : src", A, FTB_OPERAND("src", x));
    return FtB_relu(FtB_scale(FtB_add(sum, x), 0.5));
}

/* In use: what is kept for the next run is not. */
static int64_t memory(void)
{
    int64_t now;
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    return now - atomic_load(&ftb_context()->spare_bytes);
}

static void check_values(FtB_Var y)
{
    FtB_Block Y;
    assert_ok(FtB_evaluate(&Y, y));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++)
            assert_true(((const double *)block_values(Y))[i * D + j] == expected(i, j));
    FtB_Block_free(&Y);
}

static FtB_Parameter weights(void)
{
    FtB_Parameter w;
    assert_ok(FtB_Parameter_new(&w, "w", D, 1, FTB_FP64));
    return w;
}

typedef struct setting {
    FtB_Matrix A;
    FtB_Parameter w;
    FtB_Block targets;
    FtB_Tape tape;
} setting;

static FtB_Var loss_of(const setting *s, FtB_Var y)
{
    FtB_Var product = FtB_matmul(y, FtB_parameter(s->tape, s->w));
    return FtB_squared_error(product, FtB_input(s->tape, s->targets), NULL);
}

static int64_t start(setting *s)
{
    *s = (setting){.A = ring(), .w = weights()};
    assert_ok(FtB_Block_new(&s->targets, N, 1, FTB_FP64));
    assert_ok(FtB_Tape_new(&s->tape, 1));
    return memory();
}

static void finish(setting *s)
{
    FtB_Tape_free(&s->tape);
    FtB_Block_free(&s->targets);
    FtB_Parameter_free(&s->w);
    FtB_Matrix_free(&s->A);
}

/* Of four constants only the last stays, also where one in between is read twice. */
static void only_the_last_stays(void **state)
{
    setting s;
    FtB_Block X = features();
    (void)state;
    int64_t before = start(&s);
    FtB_Var y = smooth(s.A, FtB_input(s.tape, X)), loss = loss_of(&s, y);
    assert_ok(FtB_backward(loss));
    assert_in_range(memory() - before, block_bytes, block_bytes * 5 / 4);
    assert_ok(FtB_backward(loss));
    check_values(y);
    for (int64_t j = 0; j < D; j++) /* x is the caller's: in place is not for it */
        assert_true(((double *)block_values(X))[j] == feature(0, j));
    FtB_Block_free(&X);
    finish(&s);
}

/* With FtB_input_take the features' memory serves constants: two blocks at most, one in the end. What is kept
 * for another use may be a quarter more than what is in use. */
static void taken(void **state)
{
    setting s;
    FtB_Block X;
    (void)state;
    int64_t before = start(&s), peak;
    X = features();
    FtB_Var x = FtB_input_take(s.tape, &X), y = smooth(s.A, x), loss = loss_of(&s, y);
    assert_null(X);
    assert_ok(FtB_backward(loss));
    assert_in_range(memory() - before, block_bytes, block_bytes * 5 / 4);
    assert_ok(FtB_Context_memory(NULL, NULL, &peak));
    assert_in_range(peak - before, block_bytes, block_bytes * 21 / 8);
    check_values(y);
    assert_fails(GrB_NO_VALUE, "FtB_value", FtB_value(&X, x));
    assert_fails(GrB_NO_VALUE, "y was given by FtB_input_take", FtB_evaluate(&X, x));
    assert_fails(GrB_NO_VALUE, "activation: input 1 was given by FtB_input_take",
                 FtB_evaluate(&X, FtB_tanh(x)));
    check_values(y);
    finish(&s);
}

/* What else reads the features, or FtB_keep, or another handle keeps them as they are. */
static void taken_but_needed(void **state)
{
    (void)state;
    for (int why = 0; why < 3; why++) {
        setting s;
        FtB_Block X = features(), other = NULL, Y;
        start(&s);
        if (why == 2)
            assert_ok(FtB_Block_heads(&other, X, 1));
        FtB_Var x = FtB_input_take(s.tape, &X), y = smooth(s.A, x), loss = loss_of(&s, y), late;
        if (why == 0)
            late = FtB_tanh(x);
        if (why == 1)
            FtB_keep(x);
        assert_ok(FtB_backward(loss));
        check_values(y);
        if (why == 0) {
            assert_ok(FtB_evaluate(&Y, late));
            assert_true(fabs(((double *)block_values(Y))[D] - tanh(feature(1, 0))) < 1e-15);
        } else {
            if (why == 1)
                assert_ok(FtB_value(&Y, x));
            else
                assert_ok(FtB_Block_heads(&Y, other, 1));
            assert_true(((double *)block_values(Y))[D] == feature(1, 0));
        }
        FtB_Block_free(&Y);
        FtB_Block_free(&other);
        finish(&s);
    }
}

/* Targets at different depths, all recorded before the first run, in either order and again. */
static void two_depths(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        setting s;
        FtB_Block X = features(), Y;
        start(&s);
        FtB_Var x = FtB_input_take(s.tape, &X), w = FtB_parameter(s.tape, s.w);
        FtB_Var once = FtB_multiply("plus : src", s.A, FTB_OPERAND("src", x)),
                twice = FtB_multiply("plus : src", s.A, FTB_OPERAND("src", once));
        FtB_Var y[] = {FtB_matmul(once, w), FtB_matmul(twice, w)};
        for (int run = 0; run < 4; run++) {
            assert_ok(FtB_evaluate(&Y, y[(run + order) % 2]));
            FtB_Block_free(&Y);
        }
        finish(&s);
    }
}

/* The caller's memory is not written; after a failure for want of memory the features are still there. */
static void taken_with_care(void **state)
{
    setting s;
    FtB_Block X = features(), wrapped;
    (void)state;
    double *mine = malloc((size_t)block_bytes);
    assert_non_null(mine);
    memcpy(mine, block_values(X), (size_t)block_bytes);
    start(&s);
    assert_ok(FtB_Block_wrap(&wrapped, mine, N, D, D, FTB_FP64));
    check_values(smooth(s.A, FtB_input_take(s.tape, &wrapped)));
    assert_memory_equal(mine, block_values(X), (size_t)block_bytes);
    assert_ok(FtB_Tape_reset(s.tape));
    FtB_Var y = smooth(s.A, FtB_input_take(s.tape, &X));
    FtB_Var loss = loss_of(&s, y);
    assert_ok(FtB_Context_set_memory_limit(NULL, memory() + block_bytes / 2));
    assert_int_equal(FtB_backward(loss), FTB_LIMIT);
    assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    assert_ok(FtB_backward(loss));
    check_values(y);
    free(mine);
    finish(&s);
}

static void errors(void **state)
{
    setting s;
    FtB_Block X;
    (void)state;
    start(&s);
    assert_int_equal(FtB_input_take(s.tape, NULL).node, -1);
    assert_fails(GrB_NULL_POINTER, "FtB_input_take: X is NULL", FtB_Tape_status(s.tape));
    assert_ok(FtB_Tape_reset(s.tape));
    assert_ok(FtB_Block_new(&X, 2, 2, FTB_INT32));
    assert_int_equal(FtB_input_take(s.tape, &X).node, -1);
    assert_null(X);
    assert_fails(GrB_DOMAIN_MISMATCH, "int32", FtB_Tape_status(s.tape));
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(taken),
                                       cmocka_unit_test(only_the_last_stays),
                                       cmocka_unit_test(taken_but_needed),
                                       cmocka_unit_test(two_depths),
                                       cmocka_unit_test(taken_with_care),
                                       cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
