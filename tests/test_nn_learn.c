/* Two graph convolutions learn two communities from a few labels: layers, tape, optimiser and stopper
 * together. The weights have the same bits for any threads, and after going on from files. */
#include "support/check.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "featblas_nn.h"

#include <math.h>
#include <stdlib.h>

enum { VERTICES = 80, FEATURES = 6, HIDDEN = 8, EPOCHS = 120 };

typedef struct data {
    FtB_Matrix A;
    FtB_Block X;
    int32_t label[VERTICES];
    uint8_t train[VERTICES], rest[VERTICES];
} data;

/* Edges within a community are ten times as likely as between; features are noise and a little of the label.
 */
static void data_new(data *d)
{
    int64_t i[VERTICES * VERTICES], j[VERTICES * VERTICES], count = 0;
    rng r = {7};
    float *x;
    assert_ok(FtB_Block_new(&d->X, VERTICES, FEATURES, FTB_FP32));
    assert_ok(FtB_Block_shape(d->X, NULL, NULL, NULL, NULL, (void **)&x));
    for (int v = 0; v < VERTICES; v++) {
        d->label[v] = v % 2;
        d->train[v] = v % 10 < 2;
        d->rest[v] = !d->train[v];
        for (int f = 0; f < FEATURES; f++)
            x[v * FEATURES + f] = (float)(2 * rng_unit(&r) - 1 + (f == 0 ? 0.4 * (v % 2) : 0));
        for (int u = 0; u < v; u++)
            if (rng_unit(&r) < (u % 2 == v % 2 ? 0.2 : 0.02)) {
                i[count] = j[count + 1] = u;
                j[count] = i[count + 1] = v;
                count += 2;
            }
    }
    assert_ok(FtB_Matrix_build(&d->A, FTB_FP32, VERTICES, VERTICES, 0, count, i, j, NULL, FTB_DUP_SUM, NULL));
}

static void data_free(data *d)
{
    FtB_Matrix_free(&d->A);
    FtB_Block_free(&d->X);
}

typedef struct model {
    FtB_Layer layer[2];
    FtB_Tape tape;
    FtB_Var out, loss, check; /* check: the loss of the vertices that are not trained on */
    FtB_Optimizer adam;
} model;

static void model_new(model *m, data *d)
{
    assert_ok(
        FtB_Layer_new(&m->layer[0], "gcn", FEATURES, HIDDEN, FTB_LAYER_OPTIONS(.name = "conv1", .seed = 3)));
    assert_ok(FtB_Layer_new(&m->layer[1], "gcn", HIDDEN, 2, FTB_LAYER_OPTIONS(.name = "conv2", .seed = 3)));
    assert_ok(FtB_Tape_new(&m->tape, 5));
    FtB_Var x = FtB_relu(FtB_gcn(m->layer[0], d->A, FtB_input(m->tape, d->X)));
    m->out = FtB_gcn(m->layer[1], d->A, x);
    m->loss = FtB_cross_entropy(m->out, d->label, d->train);
    m->check = FtB_cross_entropy(m->out, d->label, d->rest);
    assert_ok(FtB_Optimizer_new(&m->adam, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.lr = 0.02, .clip_norm = 2)));
    assert_ok(FtB_Optimizer_add_layer(m->adam, m->layer[0], FTB_GROUP_OPTIONS(.weight_decay = 5e-4)));
    assert_ok(FtB_Optimizer_add_layer(m->adam, m->layer[1], NULL));
    assert_ok(FtB_Optimizer_schedule(
        m->adam, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_COSINE, .every = EPOCHS, .warmup = 5, .least = 0.1)));
}

static void model_free(model *m)
{
    FtB_Optimizer_free(&m->adam);
    FtB_Tape_free(&m->tape);
    FtB_Layer_free(&m->layer[0]);
    FtB_Layer_free(&m->layer[1]);
}

static double train(model *m, int epochs)
{
    double loss = NAN;
    for (int t = 0; t < epochs; t++) {
        assert_ok(FtB_backward(m->loss));
        assert_ok(FtB_scalar(&loss, m->loss));
        assert_ok(FtB_Optimizer_step(m->adam));
        assert_ok(FtB_Optimizer_advance(m->adam, loss));
    }
    return loss;
}

static double accuracy(model *m, const data *d)
{
    FtB_Block Y;
    const float *y;
    int right = 0, all = 0;
    int64_t ld;
    assert_ok(FtB_evaluate(&Y, m->out));
    assert_ok(FtB_Block_shape(Y, NULL, NULL, &ld, NULL, (void **)&y));
    for (int v = 0; v < VERTICES; v++)
        if (d->rest[v]) {
            right += (y[v * ld + 1] > y[v * ld]) == d->label[v];
            all++;
        }
    FtB_Block_free(&Y);
    return (double)right / all;
}

/* Every parameter of the model as a tensor. */
static FtB_Tensors weights_of(model *m)
{
    FtB_Tensors t;
    assert_ok(FtB_Tensors_new(&t));
    for (int l = 0; l < 2; l++)
        for (int64_t k = 0; k < FtB_Layer_count(m->layer[l]); k++) {
            FtB_Block W;
            FtB_Parameter p = FtB_Layer_parameter(m->layer[l], k);
            assert_ok(FtB_Parameter_value(&W, p));
            assert_ok(FtB_Tensors_set(t, FtB_Parameter_name(p), W, -1, NULL));
            FtB_Block_free(&W);
        }
    return t;
}

static void set_weights(model *m, FtB_Tensors t)
{
    for (int l = 0; l < 2; l++)
        for (int64_t k = 0; k < FtB_Layer_count(m->layer[l]); k++) {
            FtB_Block W, V;
            FtB_Parameter p = FtB_Layer_parameter(m->layer[l], k);
            assert_ok(FtB_Parameter_value(&W, p));
            assert_ok(FtB_Tensors_get(&V, t, FtB_Parameter_name(p), NULL, NULL));
            assert_ok(FtB_apply(W, NULL, NULL, "x", V, NULL));
            FtB_Block_free(&W);
            FtB_Block_free(&V);
        }
}

static void assert_same_weights(model *a, model *b)
{
    const char *const names[] = {"a", "b"};
    size_t size[2];
    char *bytes[2];
    for (int k = 0; k < 2; k++) {
        FtB_Tensors t = weights_of(k ? b : a);
        assert_ok(FtB_Tensors_write(t, temp_path(names[k])));
        FtB_Tensors_free(&t);
        bytes[k] = read_bytes(names[k], &size[k]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void learns(void **state)
{
    (void)state;
    data d;
    model m, again;
    data_new(&d);
    FtB_Context_set_threads(NULL, 1);
    model_new(&m, &d);
    double first = train(&m, 1), last = train(&m, EPOCHS - 1);
    if (!(last < 0.1 * first && accuracy(&m, &d) >= 0.9))
        fail_msg("loss %g after %g, accuracy %g", last, first, accuracy(&m, &d));
    for (int threads = 2; threads <= 4; threads++) {
        FtB_Context_set_threads(NULL, threads);
        model_new(&again, &d);
        train(&again, EPOCHS);
        assert_same_weights(&m, &again);
        model_free(&again);
    }
    model_free(&m);
    data_free(&d);
    FtB_Context_set_threads(NULL, 0);
}

static void goes_on(void **state)
{
    (void)state;
    data d;
    model m, again;
    FtB_Tensors t;
    data_new(&d);
    model_new(&m, &d);
    train(&m, 30);
    t = weights_of(&m);
    assert_ok(FtB_Optimizer_save(m.adam, t));
    assert_ok(FtB_Tensors_write(t, temp_path("half.safetensors")));
    FtB_Tensors_free(&t);
    train(&m, 20);
    model_new(&again, &d);
    assert_ok(FtB_Tensors_read(&t, temp_path("half.safetensors")));
    set_weights(&again, t);
    assert_ok(FtB_Optimizer_load(again.adam, t));
    FtB_Tensors_free(&t);
    train(&again, 20);
    assert_same_weights(&m, &again);
    model_free(&m);
    model_free(&again);
    data_free(&d);
}

/* The stopper brings back the epoch whose loss on the other vertices was the least. */
static void best_weights(void **state)
{
    (void)state;
    data d;
    model m;
    FtB_Stopper s;
    double seen[EPOCHS], best, now;
    int64_t epoch, t = 0;
    bool stop = false;
    data_new(&d);
    model_new(&m, &d);
    assert_ok(FtB_Optimizer_schedule(m.adam, NULL));
    assert_ok(FtB_Optimizer_set_lr(m.adam, -1, 0.5)); /* too much: it comes and goes */
    FtB_Parameter all[4];
    for (int k = 0; k < 4; k++)
        all[k] = FtB_Layer_parameter(m.layer[k / 2], k % 2);
    assert_ok(FtB_Stopper_new(&s, all, 4, FTB_STOPPER_OPTIONS(.patience = 20)));
    for (; t < EPOCHS && !stop; t++) {
        FtB_Block Y;
        train(&m, 1);
        assert_ok(FtB_evaluate(&Y, m.check));
        assert_ok(FtB_scalar(&seen[t], m.check));
        FtB_Block_free(&Y);
        assert_ok(FtB_Stopper_see(s, seen[t], &stop));
    }
    assert_ok(FtB_Stopper_best(s, &best, &epoch));
    for (int64_t k = 0; k < t; k++)
        assert_true(seen[k] > best || (k >= epoch && seen[k] == best));
    assert_true(seen[epoch] == best && (!stop || t == epoch + 21));
    assert_ok(FtB_Stopper_restore(s));
    FtB_Block Y;
    assert_ok(FtB_evaluate(&Y, m.check));
    assert_ok(FtB_scalar(&now, m.check));
    FtB_Block_free(&Y);
    assert_true(now == best);
    FtB_Stopper_free(&s);
    model_free(&m);
    data_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(learns), cmocka_unit_test(goes_on),
                                       cmocka_unit_test(best_weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
