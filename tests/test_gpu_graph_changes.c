/* Labels: unit, slow
 *
 * What changes between epochs that a GPU replays (support/course.h), calls of the driver that fail, and
 * threads: every loss, every evaluation and all weights at the end are those of a driver that cannot record,
 * bit for bit. */
#include "featblas_nn.h"

#include "support/check.h"

#include "core/backend.h"
#include "nn/shape.h"
#include "support/course.h"
#include "support/fake_gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOME = 11, FEW = 4 };

/* ---- what changes between epochs */

static void rate(course_model *m, int epoch)
{
    assert_ok(FtB_Optimizer_set_lr(m->o, epoch % 3, 0.1 / (epoch + 1)));
}

/* The host's weights of the best epoch, at the address where the others were. */
static void restored(course_model *m, int epoch)
{
    if (epoch == 5)
        assert_ok(FtB_Stopper_restore(m->stopper));
}

/* Gone from the device, and something else where they were. */
static void gone(course_model *m, int epoch)
{
    FtB_Block W, other;
    if (epoch != 4)
        return;
    assert_ok(FtB_Parameter_value(&W, m->weight));
    assert_ok(FtB_Block_to_host(W));
    for (int n = 0; n < 3; n++) {
        assert_ok(FtB_Block_new(&other, COURSE_COLUMNS, COURSE_COLUMNS, FTB_FP32));
        assert_ok(FtB_Block_to_device(other));
        FtB_Block_free(&other);
    }
    assert_ok(FtB_Block_new(&other, COURSE_COLUMNS, COURSE_COLUMNS, FTB_FP32));
    assert_ok(FtB_Block_to_device(other)); /* has it until the tape goes */
    FtB_input_take(m->tape, &other);
    FtB_Block_free(&W);
}

/* Other products come and go where scratch was; none of theirs is written over. */
static void others(course_model *m, int epoch)
{
    enum { BLOCKS = 24, MORE = 700 };
    FtB_Block many[BLOCKS];
    float values[MORE];
    (void)m;
    for (int n = 0; n < BLOCKS; n++) {
        assert_ok(FtB_Block_new(&many[n], 1, 1 + n * n, FTB_FP32));
        assert_ok(ftb_block_fill(many[n], epoch + n));
    }
    assert_ok(FtB_backward(m->loss));
    for (int n = 0; n < BLOCKS; n++) {
        course_values(values, many[n]);
        for (int k = 0; k < 1 + n * n; k++)
            assert_true(values[k] == (float)(epoch + n));
        FtB_Block_free(&many[n]);
    }
}

/* The input has other values, and what was made of it once is made again. */
static void changed(course_model *m, int epoch)
{
    if (epoch != 8)
        return;
    assert_ok(FtB_init(m->X, FTB_INIT_UNIFORM, 44, NULL));
    assert_ok(FtB_Block_changed(m->X));
}

static void untrained(course_model *m, int epoch)
{
    if (epoch == 6 || epoch == 9)
        assert_ok(FtB_Parameter_set_trained(m->weight, epoch == 9));
}

/* A parameter that comes to the optimiser late. */
static void added(course_model *m, int epoch)
{
    if (epoch == 3)
        assert_ok(FtB_Optimizer_add(m->o, &m->mean, 1, NULL));
}

static void kept(course_model *m, int epoch)
{
    if (epoch == 4)
        FtB_keep(m->hidden);
}

/* More is recorded, whose values need other memory. */
static void recorded_more(course_model *m, int epoch)
{
    if (epoch < 7 || epoch > 9)
        return;
    FtB_Var x = FtB_concat(m->out, m->hidden);
    assert_ok(FtB_backward(FtB_squared_error(FtB_dropout(x, 0.1), FtB_scale(x, epoch), NULL)));
}

static void on_the_host(course_model *m, int epoch)
{
    (void)m;
    assert_ok(FtB_Context_set_device(NULL, epoch == 3 ? "cpu" : "gpu"));
}

static void in_a_stream(course_model *m, int epoch)
{
    (void)m;
    if (epoch >= 6)
        assert_ok(FtB_Context_set_stream(NULL, epoch % 2 ? course_stream() : NULL));
}

/* A step that was saved and is loaded again. */
static void loaded(course_model *m, int epoch)
{
    static FtB_Tensors t;
    if (epoch == 4) {
        assert_ok(FtB_Tensors_new(&t));
        assert_ok(FtB_Optimizer_save(m->o, t));
    }
    if (epoch == 7) {
        assert_ok(FtB_Optimizer_load(m->o, t));
        FtB_Tensors_free(&t);
    }
}

/* An address of a weight is known outside: the step brings it home each time. */
static void lent(course_model *m, int epoch)
{
    FtB_Block W;
    if (epoch != 9)
        return;
    assert_ok(FtB_Parameter_value(&W, m->weight));
    assert_non_null(block_values(W));
    FtB_Block_free(&W);
}

/* Which is what kernels are chosen by: none of another one's may be replayed. */
static void precision(course_model *m, int epoch)
{
    (void)m;
    assert_ok(FtB_Context_set_matmul_precision(NULL, epoch >= 5 && epoch < 8 ? FTB_PRECISION_TF32
                                                                             : FTB_PRECISION_FP32));
}

/* Another thread records for so long that ours is refused more often than work is tried that cannot be
 * recorded. */
static struct {
    pthread_t thread;
    pthread_barrier_t begun, ended;
} other;

static void *record_there(void *nothing)
{
    struct ftb_recording *recording;
    void *numbers;
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    const ftb_backend *b = ftb_device(ftb_context());
    const bool begun = b->memory->replays->begin(b, ftb_context(), 0, &numbers) == GrB_SUCCESS;
    pthread_barrier_wait(&other.begun);
    pthread_barrier_wait(&other.ended);
    if (begun) /* the driver does record */
        assert_ok(b->memory->replays->end(b, false, &recording));
    return nothing;
}

static void busy(course_model *m, int epoch)
{
    (void)m;
    if (epoch == 0) {
        assert_int_equal(pthread_barrier_init(&other.begun, NULL, 2), 0);
        assert_int_equal(pthread_barrier_init(&other.ended, NULL, 2), 0);
        assert_int_equal(pthread_create(&other.thread, NULL, record_there, NULL), 0);
        pthread_barrier_wait(&other.begun);
    } else if (epoch == 6) {
        pthread_barrier_wait(&other.ended);
        assert_int_equal(pthread_join(other.thread, NULL), 0);
    }
}

/* `replays` and `steps`, of SOME epochs: the first is done, the second recorded, and so after some changes.
 */
static const course_change changes[] = {
    {"rates, weights of before, another input", {rate, restored, changed}, 0, SOME - 4, SOME - 2},
    {"weights elsewhere, or that are not trained", {gone, untrained}, 0, SOME - 4, SOME - 8},
    {"another precision", {precision}, 0, SOME - 6, SOME - 6},
    {"an optimiser with more weights, loaded, a known address", {added, loaded, lent}, 0, SOME - 2, SOME - 4},
    {"other work in the same memory, more values", {others, kept, recorded_more}, 0, SOME - 3, SOME - 2},
    {"another thread's recording", {busy}, 0, SOME - 7, SOME - 7},
    {"the host for a while, gradients that are cut", {on_the_host, in_a_stream}, 0.05, SOME - 3, SOME - 2}};

static course got, expected;

static void changes_between(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof changes / sizeof *changes; n++) {
        course_train_plainly(&expected, &changes[n], SOME);
        course_train(&got, &changes[n], SOME);
        course_compare(&got, &expected, SOME, changes[n].name);
        if (fake_gpu_emulates() && (got.replays != changes[n].replays || got.steps != changes[n].steps))
            fail_msg("%s: %d passes and %d steps were replayed; expected %d and %d", changes[n].name,
                     got.replays, got.steps, changes[n].replays, changes[n].steps);
    }
}

/* ---- what fails */

static void failing_calls(void **state)
{
    static const char *const calls[] = {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate",
                                        "cuGraphLaunch", "cuGraphDestroy"};
    (void)state;
    course_train_plainly(&expected, &course_plain, FEW);
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++)
        for (int turn = 1; turn <= 2; turn++) {
            char text[16];
            snprintf(text, sizeof text, "%d", turn);
            setenv("FAKE_CUDA_AT", text, 1);
            setenv("FAKE_CUDA_FAILS", calls[n], 1);
            course_train(&got, &course_plain, FEW);
            unsetenv("FAKE_CUDA_FAILS");
            unsetenv("FAKE_CUDA_AT");
            course_compare(&got, &expected, FEW, calls[n]);
        }
}

/* ---- side by side */

static void *train_there(void *c)
{
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    course_train(c, &course_plain, SOME);
    return NULL;
}

/* Each thread has a model of its own, and all of them the one GPU; one records at a time. */
static void threads(void **state)
{
    enum { THREADS = 2 };
    static course courses[THREADS];
    pthread_t all[THREADS];
    (void)state;
    course_train_plainly(&expected, &course_plain, SOME);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&all[t], NULL, train_there, &courses[t]), 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(all[t], NULL), 0);
    for (int t = 0; t < THREADS; t++)
        course_compare(&courses[t], &expected, SOME, "threads side by side");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(changes_between, course_clean),
        cmocka_unit_test_teardown(failing_calls, course_clean),
        cmocka_unit_test_teardown(threads, course_clean),
    };
    return cmocka_run_group_tests(tests, course_start, NULL);
}
