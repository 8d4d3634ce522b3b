/* Training has the same bits for any number of threads: every kind of layer, on a machine whose caches are so
 * small that products run by segments. With FtB_Context_set_deterministic, also on machines with other
 * caches. */
#include "support/check.h"
#include "support/planned.h"
#include "support/rng.h"

#include "core/isa.h"
#include "featblas_nn.h"
#include "plan/machine.h"

#include <stdlib.h>

enum { VERTICES = 800, EDGES = 48000, FEATURES = 16, HIDDEN = 32, CLASSES = 5, TYPES = 3, EPOCHS = 2 };

static const ftb_machine_facts small = {
    .cores = 4, .l1 = 8 << 10, .l2 = 64 << 10, .l3 = 64 << 10, .memory = INT64_C(1) << 33};
static const ftb_machine_facts large = {
    .cores = 64, .l1 = 64 << 10, .l2 = 4 << 20, .l3 = 256 << 20, .memory = INT64_C(1) << 38};

typedef struct data {
    FtB_Matrix A;
    FtB_Block X;
    int32_t label[VERTICES];
} data;

/* Entries are types of edges, which rgcn reads; columns of low number have many, and there is a long row. */
static void data_new(data *d)
{
    int64_t *i = malloc(EDGES * sizeof *i), *j = malloc(EDGES * sizeof *j);
    float *type = malloc(EDGES * sizeof *type), *x;
    rng r = {11};
    for (int64_t e = 0; e < EDGES; e++) {
        double u = rng_unit(&r);
        i[e] = e % 20 == 0 ? 7 : rng_below(&r, VERTICES);
        j[e] = (int64_t)(u * u * VERTICES);
        type[e] = (float)(e % TYPES);
    }
    assert_ok(
        FtB_Matrix_build(&d->A, FTB_FP32, VERTICES, VERTICES, 1, EDGES, i, j, type, FTB_DUP_FIRST, NULL));
    assert_ok(FtB_Block_new(&d->X, VERTICES, FEATURES, FTB_FP32));
    assert_ok(FtB_Block_shape(d->X, NULL, NULL, NULL, NULL, (void **)&x));
    for (int64_t k = 0; k < VERTICES * FEATURES; k++)
        x[k] = (float)(2 * rng_unit(&r) - 1);
    for (int64_t v = 0; v < VERTICES; v++)
        d->label[v] = (int32_t)rng_below(&r, CLASSES);
    free(i);
    free(j);
    free(type);
}

static void data_free(data *d)
{
    FtB_Matrix_free(&d->A);
    FtB_Block_free(&d->X);
}

typedef struct spec {
    const char *kind;
    FtB_Layer_options options;
} spec;

static const spec specs[] = {
    {"gcn", {0}},
    {"sgc", {.hops = 2}},
    {"appnp", {.hops = 3}},
    {"sage", {0}},
    {"sage", {.aggregate = "max"}},
    {"sage", {.aggregate = "pool"}},
    {"gat", {.heads = 4, .dropout = 0.3}},
    {"gat", {.heads = 4}},
    {"gatv2", {.heads = 4}},
    {"transformer", {.heads = 4, .dropout = 0.3}},
    {"transformer", {.heads = 1}},
    {"gin", {.train_eps = true}},
    {"mlp", {0}},
    {"edgeconv", {.hidden = 12}},
    {"pna", {0}},
    {"rgcn", {.relations = TYPES}},
};
enum { SPECS = sizeof specs / sizeof *specs };

/* The layer between two linear maps, so that its inputs have a gradient, too. */
typedef struct model {
    FtB_Layer layer;
    FtB_Parameter in, out, gain, shift, mean, variance;
    FtB_Optimizer adam;
    FtB_Tape tape;
    FtB_Var loss;
} model;

static FtB_Parameter parameter(const char *name, int64_t nrows, int64_t ncols)
{
    FtB_Parameter p;
    FtB_Block V;
    assert_ok(FtB_Parameter_new(&p, name, nrows, ncols, FTB_FP32));
    assert_ok(FtB_Parameter_value(&V, p));
    if (nrows > 1)
        assert_ok(FtB_init(V, FTB_INIT_GLOROT_UNIFORM, 1, NULL));
    FtB_Block_free(&V);
    return p;
}

static void norm_new(model *m, int64_t columns)
{
    FtB_Block V;
    m->gain = parameter("gain", 1, columns);
    m->shift = parameter("shift", 1, columns);
    m->mean = parameter("mean", 1, columns);
    m->variance = parameter("variance", 1, columns);
    assert_ok(FtB_Parameter_set_trained(m->mean, false));
    assert_ok(FtB_Parameter_set_trained(m->variance, false));
    assert_ok(FtB_Parameter_value(&V, m->gain));
    assert_ok(FtB_apply(V, NULL, NULL, "x + 1", V, NULL));
    FtB_Block_free(&V);
}

static void model_new(model *m, const spec *s, const data *d)
{
    FtB_Layer_options options = s->options;
    const bool appnp = strcmp(s->kind, "appnp") == 0;
    const int64_t heads = options.heads ? options.heads : 1, width = HIDDEN / heads * heads;
    options.size = sizeof options;
    options.seed = 3;
    assert_ok(FtB_Layer_new(&m->layer, s->kind, HIDDEN, appnp ? HIDDEN : HIDDEN / heads, &options));
    m->in = parameter("in", FEATURES, HIDDEN);
    m->out = parameter("out", width, CLASSES);
    norm_new(m, width);
    assert_ok(FtB_Tape_new(&m->tape, 5));
    FtB_Var x = FtB_matmul(FtB_dropout(FtB_input(m->tape, d->X), 0.2), FtB_parameter(m->tape, m->in));
    x = FtB_Layer_apply(m->layer, d->A, x, x, FTB_NO_VAR);
    x = FtB_elu(FtB_batch_norm(x, m->gain, m->shift, m->mean, m->variance, 0.1, 1e-5));
    x = FtB_linear(FtB_layer_norm(x, NULL, NULL, 1e-5), m->out, NULL);
    m->loss = FtB_cross_entropy(x, d->label, NULL);
    assert_ok(FtB_Optimizer_new(&m->adam, FTB_ADAMW, FTB_OPTIMIZER_OPTIONS(.lr = 0.01, .clip_norm = 0.1)));
    assert_ok(FtB_Optimizer_add_layer(m->adam, m->layer, NULL));
    FtB_Parameter own[] = {m->in, m->out, m->gain, m->shift};
    assert_ok(FtB_Optimizer_add(m->adam, own, 4, NULL));
}

static void model_free(model *m)
{
    FtB_Parameter *own[] = {&m->in, &m->out, &m->gain, &m->shift, &m->mean, &m->variance};
    FtB_Optimizer_free(&m->adam);
    FtB_Tape_free(&m->tape);
    FtB_Layer_free(&m->layer);
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        FtB_Parameter_free(own[k]);
}

/* The bits of a parameter, into a hash (FNV-1a). */
static uint64_t add_bits(uint64_t hash, FtB_Parameter p)
{
    FtB_Block V;
    const unsigned char *bytes;
    int64_t nrows, ncols;
    assert_ok(FtB_Parameter_value(&V, p));
    assert_ok(FtB_Block_shape(V, &nrows, &ncols, NULL, NULL, (void **)&bytes));
    for (int64_t k = 0; k < nrows * ncols * 4; k++)
        hash = (hash ^ bytes[k]) * UINT64_C(0x100000001b3);
    FtB_Block_free(&V);
    return hash;
}

/* Of every parameter after some epochs, and the loss. */
static uint64_t trained(const spec *s, const data *d, const ftb_machine_facts *machine, int threads,
                        double *loss)
{
    model m;
    ftb_machine_force(machine);
    assert_ok(FtB_Context_set_threads(NULL, threads));
    model_new(&m, s, d);
    for (int t = 0; t < EPOCHS; t++) {
        assert_ok(FtB_backward(m.loss));
        assert_ok(FtB_Optimizer_step(m.adam));
    }
    assert_ok(FtB_scalar(loss, m.loss));
    FtB_Parameter own[] = {m.in, m.out, m.gain, m.shift, m.mean, m.variance};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        hash = add_bits(hash, own[k]);
    for (int64_t k = 0; k < FtB_Layer_count(m.layer); k++)
        hash = add_bits(hash, FtB_Layer_parameter(m.layer, k));
    model_free(&m);
    ftb_machine_force(NULL);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    return hash;
}

/* A new graph for every run: what its pattern keeps was made by as many threads. */
static uint64_t trained_anew(const spec *s, const ftb_machine_facts *machine, int threads, double *loss)
{
    data d;
    data_new(&d);
    uint64_t hash = trained(s, &d, machine, threads, loss);
    data_free(&d);
    return hash;
}

static void any_threads(void **state)
{
    static const int threads[] = {2, 3, 8};
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        double loss, again;
        uint64_t one = trained_anew(&specs[k], &small, 1, &loss);
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
            if (trained_anew(&specs[k], &small, threads[t], &again) != one)
                fail_msg("%s (%d): other weights with %d threads than with 1, loss %.17g and %.17g",
                         specs[k].kind, k, threads[t], again, loss);
    }
}

static void any_caches(void **state)
{
    (void)state;
    assert_ok(FtB_Context_set_deterministic(NULL, true));
    for (int k = 0; k < SPECS; k++) {
        double loss, again;
        uint64_t here = trained_anew(&specs[k], &small, 1, &loss);
        if (trained_anew(&specs[k], &large, 3, &again) != here)
            fail_msg("%s (%d): other weights with large caches than with small ones, loss %.17g and %.17g",
                     specs[k].kind, k, again, loss);
    }
    assert_ok(FtB_Context_set_deterministic(NULL, false));
}

/* Sources of a segment of an attention over the graph. */
static double segment_on(const ftb_machine_facts *machine, const data *d, FtB_Effort effort)
{
    FtB_Plan plan;
    FtB_Block Y;
    assert_ok(FtB_Block_new(&Y, VERTICES, FEATURES, FTB_FP32));
    ftb_machine_force(machine);
    assert_ok(FtB_attention_plan(&plan, Y, d->A, NULL, "plus : dot(src, dst)", d->X, d->X, d->X, NULL, NULL,
                                 effort));
    ftb_machine_force(NULL);
    double segment = planned_figure(plan, "segment") + 1e9 * planned_figure(plan, "staged");
    FtB_Plan_free(&plan);
    FtB_Block_free(&Y);
    return segment;
}

/* What the switch is for, and that neither trials nor what they taught move it. */
static void plans(void **state)
{
    data d;
    (void)state;
    ftb_machine_facts slow = small; /* whose memory is far */
    slow.calibrated = true;
    slow.costs = ftb_costs_of(ftb_isa());
    slow.costs.walk_memory = 0.5e9;
    data_new(&d);
    assert_true(segment_on(&slow, &d, FTB_ESTIMATE) != segment_on(&large, &d, FTB_ESTIMATE));
    segment_on(&slow, &d, FTB_MEASURE); /* remembered */
    assert_ok(FtB_Context_set_deterministic(NULL, true));
    double one = segment_on(&slow, &d, FTB_ESTIMATE);
    assert_true(one == segment_on(&large, &d, FTB_ESTIMATE));
    assert_true(one == segment_on(&slow, &d, FTB_MEASURE));
    assert_ok(FtB_Context_set_deterministic(NULL, false));
    FtB_Wisdom_forget(NULL);
    data_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_threads), cmocka_unit_test(any_caches),
                                       cmocka_unit_test(plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
