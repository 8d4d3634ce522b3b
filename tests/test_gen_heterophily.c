/* Models that are trained where edges join unequal classes (h < 0), on contextual block models whose bounds
 * are known: of two classes, features alone tell at most Phi(|mu| / sigma). A model that weighs a vertex and
 * its neighbours apart (GraphSAGE) gets past that; with shuffled edges it cannot; and where a vertex and its
 * neighbours cancel out, 1 + h d = 0, one that gives both the same weight (GCN) forgets what it knew.
 * Labels: unit, serial */
#include "support/check.h"

#include "featblas_nn.h"
#include "gen/gen.h"

#include <math.h>
#include <stdlib.h>

enum { EPOCHS = 60, HIDDEN = 16 };

static double normal_below(double x) { return 0.5 * erfc(-x / sqrt(2)); }

typedef struct data {
    gen_labelled s;
    FtB_Matrix A;
    FtB_Block X;
} data;

static void data_new(data *d, const gen_csbm *p)
{
    *d = (data){0};
    if (gen_make_csbm(&d->s, p, 17) != GrB_SUCCESS)
        fail_msg("%s", gen_error());
    const gen_graph *g = &d->s.graph;
    assert_ok(FtB_Matrix_wrap_csr(&d->A, FTB_FP32, g->nrows, g->ncols, 0, g->rowptr, g->colidx, NULL));
    assert_ok(FtB_Block_wrap_const(&d->X, d->s.features, g->nrows, d->s.nfeatures, d->s.nfeatures, FTB_FP32));
}

static void data_free(data *d)
{
    FtB_Matrix_free(&d->A);
    FtB_Block_free(&d->X);
    gen_labelled_free(&d->s);
}

/* Accuracy on the test part after training two layers of a kind; NULL: a linear map of the features alone. */
static double trained(const data *d, const char *kind)
{
    const int64_t n = d->s.graph.nrows, F = d->s.nfeatures;
    FtB_Layer layer[2] = {NULL};
    FtB_Parameter w;
    FtB_Optimizer adam;
    FtB_Tape tape;
    FtB_Block Y;
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Parameter_new(&w, "w", F, 2, FTB_FP32));
    assert_ok(FtB_Optimizer_new(&adam, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.lr = 0.02, .weight_decay = 5e-4)));
    FtB_Var x = FtB_input(tape, d->X);
    if (kind) {
        assert_ok(FtB_Layer_new(&layer[0], kind, F, HIDDEN, FTB_LAYER_OPTIONS(.name = "conv1", .seed = 2)));
        assert_ok(FtB_Layer_new(&layer[1], kind, HIDDEN, 2, FTB_LAYER_OPTIONS(.name = "conv2", .seed = 2)));
        x = FtB_relu(FtB_Layer_apply(layer[0], d->A, x, x, FTB_NO_VAR));
        x = FtB_Layer_apply(layer[1], d->A, x, x, FTB_NO_VAR);
        for (int k = 0; k < 2; k++)
            assert_ok(FtB_Optimizer_add_layer(adam, layer[k], NULL));
    } else {
        x = FtB_linear(x, w, NULL);
        assert_ok(FtB_Optimizer_add(adam, &w, 1, NULL));
    }
    FtB_Var loss = FtB_cross_entropy(x, d->s.labels, d->s.part[0]);
    for (int t = 0; t < EPOCHS; t++) {
        assert_ok(FtB_backward(loss));
        assert_ok(FtB_Optimizer_step(adam));
    }
    assert_ok(FtB_evaluate(&Y, x));
    const float *y;
    int64_t ld, right = 0, all = 0;
    assert_ok(FtB_Block_shape(Y, NULL, NULL, &ld, NULL, (void **)&y));
    for (int64_t v = 0; v < n; v++)
        if (d->s.part[2][v]) {
            right += (y[v * ld + 1] > y[v * ld]) == d->s.labels[v];
            all++;
        }
    FtB_Block_free(&Y);
    FtB_Tape_free(&tape);
    FtB_Optimizer_free(&adam);
    FtB_Parameter_free(&w);
    for (int k = 0; k < 2; k++)
        FtB_Layer_free(&layer[k]);
    return (double)right / (double)all;
}

static double of(const gen_csbm *p, const char *kind)
{
    data d;
    data_new(&d, p);
    double accuracy = trained(&d, kind);
    data_free(&d);
    return accuracy;
}

static void assert_within(const char *what, double found, double least, double most)
{
    if (!(found >= least && found <= most))
        fail_msg("%s: accuracy %.4f; expected %.4f to %.4f", what, found, least, most);
}

static void gains(void **state)
{
    gen_csbm p = {.nvertices = 8000,
                  .nclasses = 2,
                  .nfeatures = 16,
                  .degree = 10,
                  .homophily = -0.6,
                  .mu = 1,
                  .sigma = 1.5,
                  .train = 0.5,
                  .val = 0};
    const double alone = normal_below(p.mu / p.sigma);
    (void)state;
    assert_within("features alone", of(&p, NULL), alone - 0.02, alone + 0.02);
    assert_within("sage", of(&p, "sage"), alone + 0.1, 1);
    p.shuffled = true;
    assert_within("sage, edges shuffled", of(&p, "sage"), alone - 0.05, alone + 0.02);
}

static void cancels(void **state)
{
    gen_csbm p = {.nvertices = 8000,
                  .nclasses = 2,
                  .nfeatures = 16,
                  .degree = 1,
                  .homophily = -1,
                  .mu = 1,
                  .sigma = 1,
                  .train = 0.5,
                  .val = 0};
    const double alone = normal_below(p.mu / p.sigma);
    (void)state;
    assert_within("sage", of(&p, "sage"), alone + 0.04, 1);
    assert_within("gcn", of(&p, "gcn"), 0.45, alone - 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gains), cmocka_unit_test(cancels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
