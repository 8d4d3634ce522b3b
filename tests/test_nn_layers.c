/* Layers: forward values against loops over edges, gradients against finite differences in FP64, on graphs
 * with isolated vertices, self-loops, hubs and no edges at all, square, bipartite, and as hops of a sample,
 * whose targets are the first sources; failing allocation.
 * (What layers refuse: test_nn_errors.c.)
 * Labels: unit, serial */
#include "support/check.h"

#include "core/core.h"
#include "nn/layers/layer.h"
#include "oracle/ref_layers.h"
#include "support/fail_alloc.h"
#include "support/gradients.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

typedef struct graph {
    FtB_Matrix A;
    ref_graph ref;
    int64_t i[64], j[64];
    double value[64];
    bool hop;
} graph;

enum { PLAIN, WEIGHTED, TYPED };

static const char *const shapes[] = {"hub", "empty", "random", "loops", "bipartite", "hop"};
enum { HUB, EMPTY, RANDOM, LOOPS, BIPARTITE, HOP, SHAPES };

static void add_edge(graph *g, rng *r, int values, int64_t i, int64_t j)
{
    int64_t e = g->ref.count++;
    g->i[e] = i;
    g->j[e] = j;
    g->value[e] = values == TYPED ? (double)rng_below(r, 3) : 0.25 + rng_unit(r);
}

/* hub: vertex 0 hears and is heard by most, 5 is isolated, 3 hears itself; directed. */
static void add_hub(graph *g, rng *r, int values)
{
    static const int8_t from[] = {0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 6}, to[] = {1, 2, 3, 4, 6, 0, 0, 3, 1, 4, 2};
    for (size_t e = 0; e < sizeof from; e++)
        add_edge(g, r, values, from[e], to[e]);
}

static void graph_new(graph *g, int shape, int values)
{
    rng r = rng_new();
    *g = (graph){.ref = {.m = 7, .n = 7}, .hop = shape == HOP};
    if (shape == BIPARTITE || shape == HOP) {
        g->ref.m = 5;
        g->ref.n = 8;
    }
    if (shape == HUB)
        add_hub(g, &r, values);
    for (int64_t i = 0; i < g->ref.m && shape >= RANDOM; i++)
        for (int64_t j = 0; j < g->ref.n; j++)
            if ((shape == LOOPS && i == j) || (i != 2 && rng_below(&r, 4) == 0))
                add_edge(g, &r, values, i, j);
    g->ref.i = g->i;
    g->ref.j = g->j;
    g->ref.value = values == PLAIN ? NULL : g->value;
    assert_ok(FtB_Matrix_build(&g->A, FTB_FP64, g->ref.m, g->ref.n, values == PLAIN ? 0 : 1, g->ref.count,
                               g->i, g->j, values == PLAIN ? NULL : g->value, FTB_DUP_ERROR, NULL));
}

/* ---- layers and what they should give */

static const double *weights(FtB_Layer layer, const char *name)
{
    const double *data = NULL;
    for (int64_t k = 0; k < FtB_Layer_count(layer) && !data; k++) {
        FtB_Parameter p = FtB_Layer_parameter(layer, k);
        if (strcmp(FtB_Parameter_name(p), name) != 0)
            continue;
        FtB_Block X;
        assert_ok(FtB_Parameter_value(&X, p));
        data = block_values(X);
        FtB_Block_free(&X);
    }
    return data;
}

typedef void (*oracle)(double *y, FtB_Layer layer, const ref_graph *g, const double *src, const double *dst);

typedef struct spec {
    const char *kind;
    int64_t in, out;
    FtB_Layer_options options;
    oracle expected;
    int values;
    bool square, dense; /* square graphs alone; no sparse features */
} spec;

static void gcn(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    (void)dst;
    ref_gcn(y, g, src, weights(l, "lin.weight"), weights(l, "bias"), l->in, l->out,
            !l->options.no_self_loops);
}

static void sgc(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    (void)dst;
    ref_sgc(y, g, src, weights(l, "lin.weight"), weights(l, "lin.bias"), l->in, l->out,
            l->options.hops ? l->options.hops : 2);
}

static void appnp(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    (void)dst;
    ref_appnp(y, g, src, l->in, l->options.teleport > 0 ? l->options.teleport : 0.1,
              l->options.hops ? l->options.hops : 10);
}

static void sage(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    const char *how = l->options.aggregate ? l->options.aggregate : "mean";
    const ref_sage_weights w = {weights(l, "lin.weight"), weights(l, "lin.bias"), weights(l, "lin_l.weight"),
                                weights(l, "lin_l.bias"), weights(l, "lin_r.weight")};
    ref_sage(y, g, w.pool ? "max" : how, src, dst, &w, l->in, l->options.in_dst ? l->options.in_dst : l->in,
             l->out);
}

static void mlp(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    const ref_mlp_weights w = {weights(l, "nn.0.weight"), weights(l, "nn.0.bias"), .in = l->in,
                               .out = l->out};
    ref_mlp(y, g, l->options.aggregate ? l->options.aggregate : "max", src, dst, &w);
}

/* sage, rows divided by their length */
static void unit_sage(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    sage(y, l, g, src, dst);
    for (int64_t i = 0; i < g->m; i++) {
        double squares = 0;
        for (int64_t f = 0; f < l->out; f++)
            squares += y[i * l->out + f] * y[i * l->out + f];
        for (int64_t f = 0; f < l->out; f++)
            y[i * l->out + f] /= fmax(sqrt(squares), 1e-12);
    }
}

/* gin with batch norm by running statistics, which is a part of the first linear map then. */
static void normed_gin(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    const int64_t in = l->in, hidden = l->options.hidden ? l->options.hidden : l->out;
    const double *w = weights(l, "nn.0.weight"), *b = weights(l, "nn.0.bias"),
                 *mean = weights(l, "nn.1.running_mean"), *variance = weights(l, "nn.1.running_var"),
                 *gain = weights(l, "nn.1.weight"), *shift = weights(l, "nn.1.bias");
    double *W = calloc((size_t)(in * hidden), sizeof *W), *B = calloc((size_t)hidden, sizeof *B);
    for (int64_t f = 0; f < hidden; f++) {
        const double factor = gain[f] / sqrt(variance[f] + 1e-5);
        for (int64_t k = 0; k < in; k++)
            W[k * hidden + f] = w[k * hidden + f] * factor;
        B[f] = ((b ? b[f] : 0) - mean[f]) * factor + shift[f];
    }
    const ref_mlp_weights all = {W,      B,     weights(l, "nn.3.weight"), weights(l, "nn.3.bias"), in,
                                 hidden, l->out};
    ref_gin(y, g, src, dst, *weights(l, "eps"), &all);
    free(W);
    free(B);
}

static void gin(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    const ref_mlp_weights w = {weights(l, "nn.0.weight"),
                               weights(l, "nn.0.bias"),
                               weights(l, "nn.2.weight"),
                               weights(l, "nn.2.bias"),
                               l->in,
                               l->options.hidden ? l->options.hidden : l->out,
                               l->out};
    ref_gin(y, g, src, dst, *weights(l, "eps"), &w);
}

static void edgeconv(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    const ref_mlp_weights w = {weights(l, "nn.0.weight"),
                               weights(l, "nn.0.bias"),
                               weights(l, "nn.2.weight"),
                               weights(l, "nn.2.bias"),
                               2 * l->in,
                               l->options.hidden,
                               l->out};
    ref_edgeconv(y, g, l->options.aggregate ? l->options.aggregate : "max", src, dst, &w);
}

static void pna(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    ref_pna_weights w = {weights(l, "pre_nns.0.0.weight"),
                         weights(l, "pre_nns.0.0.bias"),
                         weights(l, "post_nns.0.0.weight"),
                         weights(l, "post_nns.0.0.bias"),
                         weights(l, "lin.weight"),
                         weights(l, "lin.bias"),
                         l->options.log_degree};
    for (int64_t i = 0; i < g->m && l->options.log_degree == 0; i++) {
        double degree = 0;
        for (int64_t e = 0; e < g->count; e++)
            degree += g->i[e] == i;
        w.log_degree += log(degree + 1) / (double)g->m;
    }
    w.log_degree = w.log_degree > 0 ? w.log_degree : 1;
    ref_pna(y, g, src, dst, &w, l->in, l->out);
}

static void rgcn(double *y, FtB_Layer l, const ref_graph *g, const double *src, const double *dst)
{
    ref_rgcn(y, g, src, dst, weights(l, "weight"), weights(l, "root"), weights(l, "bias"),
             l->options.relations, l->in, l->options.in_dst ? l->options.in_dst : l->in, l->out);
}

static const spec specs[] = {
    {"gcn", 4, 3, {0}, gcn, PLAIN, true, false},
    {"gcn", 3, 4, {.no_bias = true, .no_self_loops = true}, gcn, PLAIN, true, false},
    {"gcn", 4, 3, {0}, gcn, WEIGHTED, true, false},
    {"gcn", 3, 4, {.no_self_loops = true}, gcn, WEIGHTED, true, false},
    {"sgc", 4, 3, {0}, sgc, PLAIN, true, false},
    {"sgc", 3, 4, {.hops = 3, .no_bias = true}, sgc, WEIGHTED, true, false},
    {"sgc", 4, 3, {.hops = 1}, sgc, WEIGHTED, true, false},
    {"appnp", 3, 3, {.hops = 1, .teleport = 0.3}, appnp, PLAIN, true, true},
    {"appnp", 3, 3, {0}, appnp, PLAIN, true, true},
    {"appnp", 3, 3, {.hops = 4, .teleport = 0.3}, appnp, WEIGHTED, true, true},
    {"sage", 4, 3, {0}, sage, PLAIN, false, false},
    {"sage", 3, 4, {.aggregate = "mean", .in_dst = 5, .no_bias = true}, sage, PLAIN, false, false},
    {"sage", 4, 3, {.aggregate = "sum", .no_root = true}, sage, PLAIN, false, false},
    {"sage", 3, 4, {.aggregate = "sum", .no_root = true, .no_bias = true}, sage, PLAIN, false, false},
    {"sage", 4, 3, {.aggregate = "max", .in_dst = 2}, sage, PLAIN, false, true},
    {"sage", 3, 4, {.aggregate = "pool"}, sage, PLAIN, false, false},
    {"mlp", 4, 3, {0}, mlp, PLAIN, false, false},
    {"mlp", 4, 3, {.aggregate = "mean", .no_bias = true}, mlp, PLAIN, false, false},
    {"mlp", 3, 4, {.aggregate = "sum"}, mlp, PLAIN, false, false},
    {"gin", 4, 3, {.train_eps = true}, gin, PLAIN, false, false},
    {"gin", 3, 4, {.hidden = 5, .no_bias = true, .train_eps = true}, gin, PLAIN, false, true},
    {"gin", 3, 4, {.hidden = 2, .eps = 0.5}, gin, PLAIN, false, false},
    {"sage", 4, 3, {.normalize = true}, unit_sage, PLAIN, false, false},
    {"sage", 3, 4, {.normalize = true, .no_root = true, .aggregate = "sum"}, unit_sage, PLAIN, false, false},
    {"gin", 3, 4, {.batch_norm = true, .train_eps = true}, normed_gin, PLAIN, false, false},
    {"gin", 4, 3, {.batch_norm = true, .hidden = 5, .no_bias = true}, normed_gin, PLAIN, false, false},
    {"edgeconv", 3, 2, {.hidden = 4}, edgeconv, PLAIN, false, false},
    {"edgeconv", 4, 3, {0}, edgeconv, PLAIN, false, false},
    {"edgeconv", 3, 4, {.aggregate = "mean", .no_bias = true}, edgeconv, PLAIN, false, false},
    {"edgeconv", 3, 2, {.aggregate = "sum", .hidden = 4}, edgeconv, PLAIN, false, false},
    {"edgeconv", 3, 2, {.hidden = 4, .no_bias = true}, edgeconv, PLAIN, false, false},
    {"pna", 3, 2, {0}, pna, PLAIN, false, false},
    {"pna", 2, 3, {.no_bias = true, .log_degree = 1.5}, pna, PLAIN, false, false},
    {"rgcn", 4, 3, {.relations = 3}, rgcn, TYPED, false, false},
    {"rgcn", 3, 4, {.relations = 5, .no_root = true}, rgcn, TYPED, false, false},
    {"rgcn", 3, 4, {.relations = 3, .no_bias = true, .in_dst = 2}, rgcn, TYPED, false, false},
};
enum { SPECS = sizeof specs / sizeof *specs };

/* No kind of FTB_LAYERS is missing above, but for those of test_nn_attention.c. */
static void all_kinds(void **state)
{
#define KIND(name, options, formula) #name,
    static const char *const kinds[] = {FTB_LAYERS(KIND)}, *const elsewhere = " gat gatv2 transformer ";
    (void)state;
    for (size_t n = 0, k; n < sizeof kinds / sizeof *kinds; n++) {
        for (k = 0; k < SPECS && strcmp(specs[k].kind, kinds[n]) != 0; k++)
            ;
        if (k == SPECS && !strstr(elsewhere, kinds[n]))
            fail_msg("%s has no row of specs", kinds[n]);
    }
}

static FtB_Layer layer_of(const spec *s, FtB_Type type)
{
    FtB_Layer layer;
    FtB_Layer_options options = s->options;
    options.size = sizeof options;
    options.type = type;
    assert_ok(FtB_Layer_new(&layer, s->kind, s->in, s->out, &options));
    for (int64_t k = 0; k < FtB_Layer_count(layer); k++) {
        FtB_Block X;
        assert_ok(FtB_Parameter_value(&X, FtB_Layer_parameter(layer, k)));
        fill_random(X, (uint64_t)(100 + k));
        if (strstr(FtB_Parameter_name(FtB_Layer_parameter(layer, k)), "running_var"))
            assert_ok(FtB_apply(X, NULL, NULL, "0.5 + x * x", X, NULL));
        FtB_Block_free(&X);
    }
    return layer;
}

static int64_t targets_columns(const spec *s) { return s->options.in_dst ? s->options.in_dst : s->in; }

/* Whether the vertices are of one set here. */
static bool one_set(const spec *s, const graph *g)
{
    return (g->hop || g->ref.m == g->ref.n) && targets_columns(s) == s->in;
}

/* Whether a graph is one that the layer refuses: of some, all but square ones, of several steps also hops. */
static bool refused(const spec *s, int shape)
{
    const bool many = strcmp(s->kind, "gcn") != 0 && s->options.hops != 1;
    return s->square && (shape == BIPARTITE || (shape == HOP && many));
}

/* ---- one case */

typedef struct input {
    FtB_Block X;     /* what is given */
    FtB_Parameter p; /* x = X p, where features depend on a parameter */
    double *value;   /* of the features */
} input;

static input input_new(int64_t n, int64_t columns, uint64_t seed, bool learned)
{
    input in = {NULL, NULL, calloc((size_t)(n * columns), sizeof(double))};
    FtB_Block P;
    assert_ok(FtB_Block_new(&in.X, n, columns, FTB_FP64));
    fill_random(in.X, seed);
    memcpy(in.value, block_values(in.X), (size_t)(n * columns) * sizeof(double));
    if (!learned)
        return in;
    assert_ok(FtB_Parameter_new(&in.p, "P", columns, columns, FTB_FP64));
    assert_ok(FtB_Parameter_value(&P, in.p));
    fill_random(P, seed + 1);
    ref_linear(in.value, block_values(in.X), block_values(P), NULL, n, columns, columns);
    FtB_Block_free(&P);
    return in;
}

static void input_free(input *in)
{
    FtB_Block_free(&in->X);
    FtB_Parameter_free(&in->p);
    free(in->value);
}

static FtB_Var input_var(FtB_Tape tape, const input *in)
{
    FtB_Var x = FtB_input(tape, in->X);
    return in->p ? FtB_matmul(x, FtB_parameter(tape, in->p)) : x;
}

static void assert_values(FtB_Var y, const double *wanted, const spec *s, const char *where, double tolerance)
{
    FtB_Block Y;
    assert_ok(FtB_evaluate(&Y, y));
    for (int64_t k = 0; k < Y->nrows * Y->ncols; k++) {
        double given = ftb_get_real(block_values(Y), Y->type, k);
        if (!(fabs(given - wanted[k]) <= tolerance * fmax(1, fabs(wanted[k]))))
            fail_msg("%s %d to %d on %s: value (%d, %d) is %.9g; expected %.9g", s->kind, (int)s->in,
                     (int)s->out, where, (int)(k / Y->ncols), (int)(k % Y->ncols), given, wanted[k]);
    }
    FtB_Block_free(&Y);
}

static void check(const spec *s, int shape, bool learned)
{
    graph g;
    FtB_Tape tape;
    FtB_Block T;
    graph_new(&g, shape, s->values);
    FtB_Layer layer = layer_of(s, FTB_FP64);
    bool one = one_set(s, &g);
    input src = input_new(g.ref.n, s->in, 7, learned),
          dst = input_new(g.ref.m, targets_columns(s), 9, learned);
    double *wanted = calloc((size_t)(g.ref.m * s->out), sizeof *wanted);
    s->expected(wanted, layer, &g.ref, src.value, one ? src.value : dst.value);
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Block_new(&T, g.ref.m, s->out, FTB_FP64));
    fill_random(T, 3);
    FtB_Var x = input_var(tape, &src), z = one ? x : input_var(tape, &dst);
    FtB_Var y = FtB_Layer_apply(layer, g.A, x, z, FTB_NO_VAR);
    assert_values(y, wanted, s, shapes[shape], 1e-10);
    FtB_Var loss = FtB_squared_error(y, FtB_input(tape, T), NULL);
    if (s->options.batch_norm) { /* differences are those of evaluation: test_nn_norm has these gradients */
        assert_ok(FtB_backward(loss));
    } else {
        if (FtB_Layer_count(layer) > 0 || learned)
            assert_layer_gradients(loss, layer, 1e-6);
        if (learned)
            assert_gradients(loss, &src.p, 1, 1e-6);
        if (learned && !one && !s->options.no_root)
            assert_gradients(loss, &dst.p, 1, 1e-6);
    }
    assert_ok(FtB_Tape_reset(tape));
    assert_ok(FtB_Tape_inference(tape));
    x = input_var(tape, &src);
    z = one ? x : input_var(tape, &dst);
    s->expected(wanted, layer, &g.ref, src.value, one ? src.value : dst.value); /* statistics have moved */
    assert_values(FtB_Layer_apply(layer, g.A, x, z, FTB_NO_VAR), wanted, s, shapes[shape], 1e-10);
    free(wanted);
    input_free(&src);
    input_free(&dst);
    FtB_Tape_free(&tape);
    FtB_Block_free(&T);
    FtB_Layer_free(&layer);
    FtB_Matrix_free(&g.A);
}

static void values_and_gradients(void **state)
{
    (void)state;
    for (int k = 0; k < SPECS; k++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int learned = 0; learned < 2 && !refused(&specs[k], shape); learned++)
                check(&specs[k], shape, learned == 1);
}

/* Wider than vectors, in FP32, and from sparse features where the first step is a linear map. */
static void check_wide(const spec *given, bool sparse)
{
    spec s = *given;
    graph g;
    FtB_Tape tape;
    FtB_Matrix S;
    s.in = s.in == s.out ? 17 : s.in + 13;
    s.out = given->in == given->out ? 17 : s.out + 30;
    graph_new(&g, HUB, s.values);
    FtB_Layer layer = layer_of(&s, FTB_FP32), exact = layer_of(&s, FTB_FP64);
    input src = input_new(7, s.in, 7, false), dst = input_new(7, targets_columns(&s), 9, false);
    double *wanted = calloc((size_t)(7 * s.out), sizeof *wanted);
    bool one = one_set(&s, &g);
    s.expected(wanted, exact, &g.ref, src.value, one ? src.value : dst.value);
    int64_t i[7 * 32], j[7 * 32];
    for (int64_t k = 0; k < 7 * s.in; k++) {
        i[k] = k / s.in;
        j[k] = k % s.in;
    }
    assert_ok(FtB_Matrix_build(&S, FTB_FP64, 7, s.in, 1, 7 * s.in, i, j, src.value, FTB_DUP_ERROR, NULL));
    FtB_Block X, D;
    assert_ok(FtB_Block_new(&X, 7, s.in, FTB_FP32));
    assert_ok(FtB_Block_new(&D, 7, targets_columns(&s), FTB_FP32));
    assert_ok(FtB_apply(X, NULL, NULL, "x", src.X, NULL));
    assert_ok(FtB_apply(D, NULL, NULL, "x", dst.X, NULL));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var x = sparse ? FtB_input(tape, S) : FtB_input(tape, X);
    FtB_Var y = FtB_Layer_apply(layer, g.A, x, one ? x : FtB_input(tape, D), FTB_NO_VAR);
    assert_values(y, wanted, &s, sparse ? "sparse features" : "fp32", 2e-5);
    free(wanted);
    input_free(&src);
    input_free(&dst);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Block_free(&D);
    FtB_Layer_free(&layer);
    FtB_Layer_free(&exact);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&g.A);
}

static void wide_and_sparse(void **state)
{
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        check_wide(&specs[k], false);
        if (!specs[k].dense)
            check_wide(&specs[k], true);
    }
}

/* ---- failing allocation */

static GrB_Info train_once(void *arg)
{
    const spec *s = arg;
    graph g = {0};
    FtB_Tape tape = NULL;
    FtB_Layer layer = NULL;
    FtB_Block X = NULL, T = NULL;
    FtB_Layer_options options = s->options;
    options.size = sizeof options;
    options.in_dst = 0;
    const int64_t i[] = {0, 0, 1, 3}, j[] = {1, 2, 0, 3};
    const float value[] = {1, 2, 0, 1};
    GrB_Info info = FtB_Matrix_build(&g.A, FTB_FP32, 4, 4, s->values == PLAIN ? 0 : 1, 4, i, j,
                                     s->values == PLAIN ? NULL : value, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&X, 4, s->in, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&T, 4, s->out, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Layer_new(&layer, s->kind, s->in, s->out, &options);
    if (info == GrB_SUCCESS)
        info = FtB_Tape_new(&tape, 1);
    if (info == GrB_SUCCESS) {
        FtB_Var x = FtB_input(tape, X);
        FtB_Var y = FtB_Layer_apply(layer, g.A, x, x, FTB_NO_VAR);
        FtB_Block Y;
        info = FtB_evaluate(&Y, y);
        FtB_Block_free(&Y);
        if (info == GrB_SUCCESS && FtB_Layer_count(layer) > 0)
            info = FtB_backward(FtB_squared_error(y, FtB_input(tape, T), NULL));
    }
    FtB_Block_free(&T);
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layer);
    FtB_Block_free(&X);
    FtB_Matrix_free(&g.A);
    return info;
}

static void failing_allocation(void **state)
{
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        spec s = specs[k];
        if (k > 0 && specs[k - 1].expected == s.expected && specs[k - 1].values == s.values)
            continue; /* one of each kind is slow enough */
        fail_every_allocation(train_once, NULL, &s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(values_and_gradients),
        cmocka_unit_test(wide_and_sparse),
        cmocka_unit_test(failing_allocation),
    };
    FtB_Context_set_threads(NULL, 1); /* thousands of runs of microseconds */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
