/* Courses of training on a GPU (course.h). */
#include "support/course.h"

#include "support/check.h"

#include "core/backend.h"
#include "gpu/driver.h"
#include "gpu/memory.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"

#include <stdlib.h>

static struct {
    int (*graphs)(void);
    int (*calls)(const char *call);
} fake;

static struct CUstream_st *stream; /* of the caller's */

int course_start(void **state)
{
    struct CUctx_st *here;
    fake_gpu_start(state);
    const ftb_cuda *cuda = &ftb_driver_here()->call;
    assert_int_equal(cuda->cuDevicePrimaryCtxRetain(&here, ftb_driver_here()->gpu[0].handle), 0);
    assert_int_equal(cuda->cuCtxPushCurrent_v2(here), 0);
    assert_int_equal(cuda->cuStreamCreate(&stream, 1), 0);
    assert_int_equal(cuda->cuCtxPopCurrent_v2(&here), 0);
    fake_find("fake_cuda", "fake_cuda_graphs", &fake.graphs);
    fake_find("fake_cuda", "fake_cuda_calls", &fake.calls);
    return 0;
}

int course_clean(void **state)
{
    unsetenv("FAKE_CUDA_FAILS");
    unsetenv("FAKE_CUDA_AT");
    assert_int_equal(fake.graphs(), 0);
    return fake_gpu_clean(state);
}

int course_graphs(void) { return fake.graphs(); }

struct CUstream_st *course_stream(void) { return stream; }

/* ---- a model */

/* Of rows that are long enough for attention to be one operation. */
static FtB_Matrix graph(void)
{
    int64_t I[COURSE_VERTICES * 20], J[COURSE_VERTICES * 20], n = 0;
    FtB_Matrix A;
    for (int64_t i = 0; i < COURSE_VERTICES; i++)
        for (int64_t k = 0; k < 15 + i % 5; k++, n++) {
            I[n] = i;
            J[n] = (i * 7 + k) % COURSE_VERTICES;
        }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, COURSE_VERTICES, COURSE_VERTICES, 0, n, I, J, NULL,
                               FTB_DUP_FIRST, NULL));
    return A;
}

GrB_Info course_parameter(FtB_Parameter *p, const char *name, int64_t nrows, int64_t ncols, uint64_t seed)
{
    FtB_Block W = NULL;
    GrB_Info info = FtB_Parameter_new(p, name, nrows, ncols, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_value(&W, *p);
    if (info == GrB_SUCCESS)
        info = FtB_init(W, FTB_INIT_UNIFORM, seed, NULL);
    FtB_Block_free(&W);
    return info;
}

GrB_Info course_begin(course_model *m, double clip)
{
    GrB_Info info;
    *m = (course_model){.A = graph()};
    for (int i = 0; i < COURSE_VERTICES; i++)
        m->labels[i] = i % COURSE_CLASSES;
    FTB_CHECK(FtB_Block_new(&m->X, COURSE_VERTICES, COURSE_COLUMNS / 2, FTB_FP32));
    FTB_CHECK(FtB_init(m->X, FTB_INIT_UNIFORM, 4, NULL));
    FTB_CHECK(course_parameter(&m->weight, "weight", COURSE_COLUMNS, COURSE_COLUMNS, 7));
    FTB_CHECK(course_parameter(&m->gain, "gain", 1, COURSE_COLUMNS, 8));
    FTB_CHECK(course_parameter(&m->shift, "shift", 1, COURSE_COLUMNS, 9));
    FTB_CHECK(course_parameter(&m->mean, "mean", 1, COURSE_COLUMNS, 10));
    FTB_CHECK(course_parameter(&m->variance, "variance", 1, COURSE_COLUMNS, 11));
    FTB_CHECK(FtB_Parameter_set_trained(m->mean, false));
    FTB_CHECK(FtB_Parameter_set_trained(m->variance, false));
    FTB_CHECK(FtB_Layer_new(&m->first, "gat", COURSE_COLUMNS, COURSE_COLUMNS / 2,
                            FTB_LAYER_OPTIONS(.heads = 2, .dropout = 0.3, .seed = 3, .no_bias = true)));
    FTB_CHECK(FtB_Layer_new(&m->second, "gcn", COURSE_COLUMNS, COURSE_CLASSES,
                            FTB_LAYER_OPTIONS(.seed = 5, .no_bias = true)));
    FTB_CHECK(FtB_Tape_new(&m->tape, 5));
    FTB_CHECK(FtB_Optimizer_new(&m->o, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.lr = 0.05, .clip_norm = clip)));
    FTB_CHECK(FtB_Optimizer_schedule(m->o, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_COSINE, .every = 30)));
    FTB_CHECK(FtB_Optimizer_add_layer(m->o, m->first, NULL));
    FTB_CHECK(FtB_Optimizer_add_layer(m->o, m->second, FTB_GROUP_OPTIONS(.weight_decay = 0.01)));
    FTB_CHECK(FtB_Optimizer_add(m->o, (FtB_Parameter[]){m->weight, m->gain, m->shift}, 3, NULL));
    FTB_CHECK(FtB_Stopper_new(&m->stopper, &m->weight, 1, NULL));
    FtB_Var x = FtB_input(m->tape, m->X);
    x = FtB_linear(FtB_dropout(FtB_concat(x, x), 0.2), m->weight, NULL); /* of a constant */
    x = FtB_batch_norm(FtB_dropout(x, 0.3), m->gain, m->shift, m->mean, m->variance, 0.1, 1e-5);
    m->hidden = FtB_gat(m->first, m->A, x);
    m->out = FtB_gcn(m->second, m->A, m->hidden);
    m->loss = FtB_cross_entropy(m->out, m->labels, NULL);
    info = FtB_Tape_status(m->tape);
done:
    return info;
}

void course_end(course_model *m)
{
    FtB_Stopper_free(&m->stopper);
    FtB_Optimizer_free(&m->o);
    FtB_Tape_free(&m->tape);
    FtB_Layer_free(&m->first);
    FtB_Layer_free(&m->second);
    FtB_Parameter_free(&m->weight);
    FtB_Parameter_free(&m->gain);
    FtB_Parameter_free(&m->shift);
    FtB_Parameter_free(&m->mean);
    FtB_Parameter_free(&m->variance);
    FtB_Matrix_free(&m->A);
    FtB_Block_free(&m->X);
    assert_ok(ftb_gpu_trim(ftb_device(NULL))); /* a driver that does not exist is slow where it has much */
}

void course_values(float *to, FtB_Block X)
{
    assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
    for (int64_t i = 0; i < X->nrows; i++)
        memcpy(to + i * X->ncols, (const float *)ftb_block_data(X) + i * X->ld,
               (size_t)X->ncols * sizeof(float));
}

/* ---- training */

const course_change course_plain = {.name = "nothing changes"};

/* Whether what runs from here to then was one launch, and no other work was sent. */
typedef struct sent {
    int graphs, kernels, rooms;
} sent;
static sent sent_now(void)
{
    return (sent){fake.calls("cuGraphLaunch"), fake.calls("cuLaunchKernel"), fake.calls("cuMemAlloc")};
}
static int one_launch(sent before)
{
    const sent now = sent_now();
    return now.graphs == before.graphs + 1 && now.kernels == before.kernels;
}

void course_train(course *c, const course_change *by, int epochs)
{
    course_model m;
    FtB_Block Y, W;
    assert_ok(course_begin(&m, by->clip));
    memset(c, 0, sizeof *c);
    for (int epoch = 0; epoch < epochs; epoch++) {
        bool stop;
        for (int n = 0; n < 4 && by->make[n]; n++)
            by->make[n](&m, epoch);
        sent before = sent_now();
        assert_ok(FtB_backward(m.loss));
        c->replays += one_launch(before);
        if (epoch > 1 && epochs == COURSE_EPOCHS && fake_gpu_emulates())
            assert_int_equal(fake.calls("cuMemAlloc"), before.rooms);
        assert_ok(FtB_scalar(&c->losses[epoch], m.loss));
        before = sent_now();
        assert_ok(FtB_Optimizer_step(m.o));
        c->steps +=
            by->clip > 0 ? sent_now().graphs > before.graphs /* sums are made before */ : one_launch(before);
        if (epoch % 3 == 2) {
            assert_ok(FtB_evaluate(&Y, m.out));
            course_values(c->outputs[epoch], Y);
            FtB_Block_free(&Y);
        }
        assert_ok(FtB_Stopper_see(m.stopper, c->losses[epoch], &stop));
        assert_ok(FtB_Optimizer_advance(m.o, c->losses[epoch]));
    }
    assert_ok(FtB_Parameter_value(&W, m.weight));
    course_values(c->weight, W);
    FtB_Block_free(&W);
    assert_ok(FtB_Parameter_value(&W, m.mean));
    course_values(c->mean, W);
    FtB_Block_free(&W);
    course_end(&m);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
}

void course_train_plainly(course *c, const course_change *by, int epochs)
{
    setenv("FAKE_CUDA_FAILS", "cuStreamBeginCapture", 1);
    course_train(c, by, epochs);
    unsetenv("FAKE_CUDA_FAILS");
    assert_int_equal(c->replays + c->steps, 0);
}

void course_compare(const course *got, const course *expected, int epochs, const char *what)
{
    for (int epoch = 0; epoch < epochs; epoch++) {
        if (memcmp(&got->losses[epoch], &expected->losses[epoch], sizeof(double)) != 0)
            fail_msg("%s: the loss of epoch %d is %.17g; expected %.17g", what, epoch, got->losses[epoch],
                     expected->losses[epoch]);
        if (memcmp(got->outputs[epoch], expected->outputs[epoch], sizeof got->outputs[epoch]) != 0)
            fail_msg("%s: after epoch %d another model is evaluated", what, epoch);
    }
    if (memcmp(got->weight, expected->weight, sizeof got->weight) != 0)
        fail_msg("%s: the weights at the end are others", what);
    if (memcmp(got->mean, expected->mean, sizeof got->mean) != 0)
        fail_msg("%s: the running means at the end are others", what);
}
