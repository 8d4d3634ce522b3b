/* Epochs of training that a GPU records and replays (src/ops/replay.c, gpu/record.c; support/course.h): every
 * loss, every evaluation and all weights at the end are those of a driver that cannot record, bit for bit,
 * and a replayed pass is one launch. test_gpu_graph_changes.c has what changes between epochs, and calls that
 * fail. */
#include "featblas_nn.h"

#include "support/check.h"

#include "core/backend.h"
#include "gpu/memory.h"
#include "support/course.h"
#include "support/fail_alloc.h"
#include "support/fake_gpu.h"

enum { FEW = 4 };

static course got, expected;

static void same_losses(void **state)
{
    (void)state;
    course_train_plainly(&expected, &course_plain, COURSE_EPOCHS);
    for (int epoch = 1; epoch < COURSE_EPOCHS; epoch++) /* else a stale loss would not show */
        assert_true(expected.losses[epoch] != expected.losses[epoch - 1]);
    course_train(&got, &course_plain, COURSE_EPOCHS);
    course_compare(&got, &expected, COURSE_EPOCHS, "20 epochs");
    if (!fake_gpu_emulates())
        return;
    assert_int_equal(got.replays, COURSE_EPOCHS - 2); /* the first is done, the second recorded */
    assert_int_equal(got.steps, COURSE_EPOCHS - 2);
}

/* A recording that still runs is not ended before. */
static void dropped(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++) {
        course_model m;
        assert_ok(course_begin(&m, 0));
        for (int epoch = 0; epoch < FEW; epoch++) {
            assert_ok(FtB_backward(m.loss));
            assert_ok(FtB_Optimizer_step(m.o));
        }
        if (fake_gpu_emulates())
            assert_int_equal(course_graphs(), 2);
        course_end(&m);
    }
}

/* ---- without memory */

/* Epochs of a model that has little to allocate. */
static GrB_Info small(void *arg)
{
    FtB_Block X = NULL;
    FtB_Tape tape = NULL;
    FtB_Optimizer o = NULL;
    FtB_Parameter w = NULL;
    double loss = 0;
    GrB_Info info;
    (void)arg;
    FTB_CHECK(FtB_Block_new(&X, COURSE_VERTICES, 2, FTB_FP32));
    FTB_CHECK(FtB_init(X, FTB_INIT_UNIFORM, 4, NULL));
    FTB_CHECK(course_parameter(&w, "w", 2, 1, 5));
    FTB_CHECK(FtB_Optimizer_new(&o, FTB_SGD, NULL));
    FTB_CHECK(FtB_Optimizer_add(o, &w, 1, NULL));
    FTB_CHECK(FtB_Tape_new(&tape, 5));
    FtB_Var x = FtB_input(tape, X), y = FtB_linear(FtB_dropout(x, 0.5), w, NULL),
            l = FtB_squared_error(y, FtB_columns(x, 0, 1), NULL);
    for (int epoch = 0; epoch < 3; epoch++) {
        FTB_CHECK(FtB_backward(l));
        FTB_CHECK(FtB_Optimizer_step(o));
    }
    info = FtB_scalar(&loss, l);
    if (info == GrB_SUCCESS && !(loss > 0 && loss < 100))
        info = GrB_INVALID_VALUE;
done:
    FtB_Tape_free(&tape);
    FtB_Optimizer_free(&o);
    FtB_Parameter_free(&w);
    FtB_Block_free(&X);
    (void)ftb_gpu_trim(ftb_device(NULL));
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    assert_ok(small(NULL));
    fail_every_allocation(small, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(same_losses, course_clean),
        cmocka_unit_test_teardown(dropped, course_clean),
        cmocka_unit_test_teardown(failing_allocations, course_clean),
    };
    return cmocka_run_group_tests(tests, course_start, NULL);
}
