/* Every kind of layer trained on a GPU that does not exist (support/fake_gpu.h): losses near the host's, and
 * epochs after the first that move nothing. */
#include "featblas_nn.h"

#include "support/check.h"

#include "support/fake_gpu.h"

#include <math.h>
#include <stdio.h>

enum { VERTICES = 60, COLUMNS = 6, CLASSES = 3, RELATIONS = 2, EPOCHS = 3 };

typedef struct kind {
    const char *name;
    FtB_Var (*apply)(FtB_Layer layer, FtB_Matrix A, FtB_Var x);
    FtB_Layer_options options;
} kind;

#define OPTIONS(...)                                                                                         \
    {                                                                                                        \
        .size = sizeof(FtB_Layer_options), .seed = 3, __VA_ARGS__                                            \
    }
static const kind kinds[] = {{"appnp", FtB_appnp, OPTIONS(.hops = 2)},
                             {"edgeconv", FtB_edgeconv, OPTIONS(.hidden = 4)},
                             {"gat", FtB_gat, OPTIONS(.heads = 2, .dropout = 0.3)},
                             {"gatv2", FtB_gatv2, OPTIONS(.heads = 2)},
                             {"gcn", FtB_gcn, OPTIONS(.no_bias = true)},
                             {"gin", FtB_gin, OPTIONS(.train_eps = true)},
                             {"gin", FtB_gin, OPTIONS(.batch_norm = true)},
                             {"mlp", FtB_mlp, OPTIONS(.aggregate = "max")},
                             {"pna", FtB_pna, OPTIONS(.log_degree = 1)},
                             {"rgcn", FtB_rgcn, OPTIONS(.relations = RELATIONS)},
                             {"sage", FtB_sage, OPTIONS(.normalize = true)},
                             {"sage", FtB_sage, OPTIONS(.aggregate = "max")},
                             {"sage", FtB_sage, OPTIONS(.aggregate = "pool")},
                             {"sgc", FtB_sgc, OPTIONS(.hops = 2)},
                             {"transformer", FtB_transformer, OPTIONS(.heads = 2, .dropout = 0.3)}};

/* A new kind has its row. */
static void complete(void **state)
{
#define NAME(name, options, formula) #name,
    static const char *const names[] = {FTB_LAYERS(NAME)};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        bool there = false;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            there |= strcmp(kinds[k].name, names[n]) == 0;
        if (!there)
            fail_msg("no row for %s", names[n]);
    }
}

/* Of few neighbours; some of many. Values are edge types, or weights. */
static FtB_Matrix graph(rng *r)
{
    int64_t I[VERTICES * 8], J[VERTICES * 8], n = 0;
    float values[VERTICES * 8];
    for (int64_t i = 0; i < VERTICES; i++)
        for (int64_t k = 0; k < (i % 9 ? 3 : 8); k++, n++) {
            I[n] = i;
            J[n] = (i * 7 + k * (1 + i % 5)) % VERTICES;
            values[n] = (float)rng_below(r, RELATIONS);
        }
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, VERTICES, VERTICES, 1, n, I, J, values, FTB_DUP_FIRST, NULL));
    return A;
}

/* The loss of each epoch, the last gradients of what is before the layer, and what epochs but the first
 * moved. */
enum { VALUES = COLUMNS * COLUMNS + COLUMNS };
static void train(const kind *k, FtB_Matrix A, double losses[EPOCHS], float gradients[VALUES], int64_t *bytes)
{
    int32_t labels[VERTICES];
    uint8_t mask[VERTICES];
    int64_t home[2], there[2];
    FtB_Tape tape;
    FtB_Optimizer o;
    FtB_Layer layer;
    FtB_Parameter p[2];
    FtB_Block X, W;
    assert_ok(FtB_Block_new(&X, VERTICES, COLUMNS, FTB_FP32));
    assert_ok(FtB_init(X, FTB_INIT_UNIFORM, 4, NULL));
    for (int i = 0; i < VERTICES; i++) {
        labels[i] = i % CLASSES;
        mask[i] = i % 3 != 0;
    }
    assert_ok(FtB_Tape_new(&tape, 5));
    assert_ok(FtB_Optimizer_new(&o, FTB_ADAM, NULL));
    assert_ok(FtB_Layer_new(&layer, k->name, COLUMNS, COLUMNS, &k->options));
    assert_ok(FtB_Optimizer_add_layer(o, layer, NULL));
    for (int n = 0; n < 2; n++) {
        assert_ok(FtB_Parameter_new(&p[n], n ? "scale" : "weight", n ? 1 : COLUMNS, COLUMNS, FTB_FP32));
        assert_ok(FtB_Parameter_value(&W, p[n]));
        assert_ok(FtB_init(W, FTB_INIT_UNIFORM, 7, NULL));
        FtB_Block_free(&W);
    }
    assert_ok(FtB_Optimizer_add(o, p, 2, NULL));
    FtB_Var x = FtB_linear(FtB_dropout(FtB_input(tape, X), 0.2), p[0], NULL);
    for (int n = 0; n < 2; n++) /* twice, so that the second gradient is added to the first */
        x = FtB_map("tanh(x) * scale", FTB_OPERAND("x", x), FTB_OPERAND("scale", FtB_parameter(tape, p[1])));
    x = FtB_layer_norm(x, p[1], NULL, 1e-5);
    FtB_Var loss = FtB_cross_entropy(k->apply(layer, A, x), labels, mask);
    *bytes = 0;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        assert_ok(FtB_Context_moved(NULL, &home[0], &there[0]));
        assert_ok(FtB_backward(loss));
        assert_ok(FtB_Optimizer_step(o));
        assert_ok(FtB_Context_moved(NULL, &home[1], &there[1]));
        *bytes += epoch > 0 ? home[1] - home[0] + there[1] - there[0] : 0;
        assert_ok(FtB_scalar(&losses[epoch], loss));
    }
    for (int n = 0; n < 2; n++) {
        FtB_Block G;
        assert_ok(FtB_Parameter_gradient(&G, p[n]));
        memcpy(gradients + (n ? COLUMNS * COLUMNS : 0), block_values(G),
               (size_t)(n ? COLUMNS : COLUMNS * COLUMNS) * sizeof *gradients);
        FtB_Block_free(&G);
    }
    FtB_Layer_free(&layer);
    for (int n = 0; n < 2; n++)
        FtB_Parameter_free(&p[n]);
    FtB_Optimizer_free(&o);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
}

static void layers(void **state)
{
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        const kind *k = &kinds[n];
        FtB_Matrix A = graph(&r);
        double here[EPOCHS], there[EPOCHS], greatest = 0;
        float expected[VALUES], got[VALUES];
        int64_t bytes;
        assert_ok(FtB_Context_set_device(NULL, "cpu"));
        train(k, A, here, expected, &bytes);
        assert_ok(FtB_Context_set_device(NULL, "gpu"));
        const int ran = fake_gpu_launches();
        train(k, A, there, got, &bytes);
        /* Sums are in other orders, and steps of Adam make much of little. */
        for (int epoch = 0; epoch < EPOCHS; epoch++)
            if (!(fabs(here[epoch] - there[epoch]) <= 1e-4 * fabs(here[epoch])))
                fail_msg("%s, row %zu: the loss of epoch %d is %.9g, on the host %.9g", k->name, n, epoch,
                         there[epoch], here[epoch]);
        for (int v = 0; v < VALUES; v++)
            greatest = fmax(greatest, fabs(expected[v]));
        for (int v = 0; v < VALUES; v++)
            if (!(fabs(got[v] - expected[v]) <= 1e-3 * greatest))
                fail_msg("%s, row %zu: gradient %d is %.9g, on the host %.9g", k->name, n, v, got[v],
                         expected[v]);
        FtB_Matrix_free(&A);
        if (!fake_gpu_emulates())
            continue;
        assert_true(fake_gpu_launches() >= ran + 10 * EPOCHS);
        if (bytes > 0)
            fail_msg("%s, row %zu: %lld bytes moved", k->name, n, (long long)bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(complete),
                                       cmocka_unit_test_teardown(layers, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
