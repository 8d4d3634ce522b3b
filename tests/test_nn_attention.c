/* Attention layers: values against loops over vertices, heads and neighbours; gradients against finite
 * differences in FP64; dropout by its statistics. On graphs with an isolated vertex, a self-loop and a hub,
 * without edges, between two sets of vertices, and as a hop of a sample, whose targets are the first sources.
 * Labels: unit, serial */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"
#include "support/fail_alloc.h"
#include "support/gradients.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 17, IN = 3, IN_DST = 4, OUT = 2, EDGE = 2, WIDE = 8 };

/* ---- graphs */

typedef struct problem {
    int64_t m, n;
    bool has[MOST][MOST];
    double u[MOST][MOST][EDGE]; /* features of edges */
    FtB_Matrix A;               /* with these as values */
    FtB_Block X, Y;             /* features of sources and targets */
} problem;

typedef enum graph {
    MIXED,
    EMPTY,
    BIPARTITE,
    HOP,
    FULL
} graph; /* FULL: rows long enough for the fused form */
static bool two_sets(graph g) { return g == BIPARTITE || g == HOP; }

static FtB_Block features(int64_t nrows, int64_t ncols, uint64_t seed)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, nrows, ncols, FTB_FP64));
    fill_random(X, seed);
    return X;
}

static void make(problem *p, graph which)
{
    static const int8_t mixed[][2] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 6}, {1, 0},
                                      {2, 0}, {3, 3}, {4, 1}, {6, 4}, {6, 5}, {4, 4}},
                        between[][2] = {{0, 0}, {0, 5}, {0, 8}, {1, 1}, {3, 2}, {3, 3}, {3, 0}, {2, 7}};
    int64_t i[MOST * MOST], j[MOST * MOST];
    double values[MOST * MOST * EDGE];
    int count = which == MIXED ? 12 : which == EMPTY ? 0 : which == FULL ? MOST * MOST : 8;
    *p = (problem){.m = two_sets(which) ? 5
                        : which == FULL ? MOST
                                        : 7,
                   .n = two_sets(which) ? 9
                        : which == FULL ? MOST
                                        : 7};
    FtB_Block U = features(MOST * MOST, EDGE, 77);
    for (int e = 0; e < count; e++) {
        i[e] = which == MIXED ? mixed[e][0] : which == FULL ? e / MOST : between[e][0];
        j[e] = which == MIXED ? mixed[e][1] : which == FULL ? e % MOST : between[e][1];
        p->has[i[e]][j[e]] = true;
        for (int f = 0; f < EDGE; f++)
            values[e * EDGE + f] = p->u[i[e]][j[e]][f] = ((double *)block_values(U))[e * EDGE + f];
    }
    FtB_Block_free(&U);
    assert_ok(FtB_Matrix_build(&p->A, FTB_FP64, p->m, p->n, EDGE, count, i, j, values, FTB_DUP_ERROR, NULL));
    p->X = features(p->n, IN, 5);
    p->Y = features(p->m, which == BIPARTITE ? IN_DST : IN, 6);
}

static void release(problem *p)
{
    FtB_Matrix_free(&p->A);
    FtB_Block_free(&p->X);
    FtB_Block_free(&p->Y);
}

/* Self-loops, each with the mean of what the row's other edges have. */
static void add_loops(problem *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        double sum[EDGE] = {0}, count = 0;
        for (int64_t j = 0; j < p->n; j++)
            if (j != i && p->has[i][j]) {
                count++;
                for (int f = 0; f < EDGE; f++)
                    sum[f] += p->u[i][j][f];
            }
        p->has[i][i] = true;
        for (int f = 0; f < EDGE; f++)
            p->u[i][i][f] = count > 0 ? sum[f] / count : 0;
    }
}

/* ---- the layers by hand */

typedef struct use { /* of a layer */
    const char *kind;
    FtB_Layer_options options;
    graph graph;
    bool edge;
} use;

static const double *weights(FtB_Layer layer, const char *name)
{
    for (int64_t k = 0; k < FtB_Layer_count(layer); k++) {
        FtB_Parameter p = FtB_Layer_parameter(layer, k);
        FtB_Block X;
        if (strcmp(FtB_Parameter_name(p), name) != 0)
            continue;
        assert_ok(FtB_Parameter_value(&X, p));
        const double *data = block_values(X);
        FtB_Block_free(&X);
        return data;
    }
    return NULL;
}

/* y = x W (+ bias), for one row; W of `out` columns; 0 if there is no W. */
static void linear(double *y, const double *x, int64_t in, const double *W, const double *bias, int64_t out)
{
    for (int64_t c = 0; c < out; c++) {
        y[c] = bias ? bias[c] : 0;
        for (int64_t k = 0; W && k < in; k++)
            y[c] += x[k] * W[k * out + c];
    }
}

static double leaky(double x) { return x > 0 ? x : 0.2 * x; }

/* Score of head h, and what j sends to i in it. */
static double message(double *z, const use *u, FtB_Layer layer, const problem *p, int64_t i, int64_t j,
                      int64_t h)
{
    int64_t width = u->options.heads * OUT, in = p->X->ncols, targets = p->Y->ncols;
    const double *x = (double *)block_values(p->X) + j * in, *y = (double *)block_values(p->Y) + i * targets;
    double l[WIDE], r[WIDE], v[WIDE], e[WIDE], score = 0;
    linear(e, p->u[i][j], EDGE, u->edge ? weights(layer, "lin_edge.weight") : NULL, NULL, width);
    if (strcmp(u->kind, "gat") == 0) {
        const double *both = weights(layer, "lin.weight");
        linear(l, x, in, both ? both : weights(layer, "lin_src.weight"), NULL, width);
        linear(r, y, targets, both ? both : weights(layer, "lin_dst.weight"), NULL, width);
        for (int64_t c = h * OUT; c < (h + 1) * OUT; c++)
            score += l[c] * weights(layer, "att_src")[c] + r[c] * weights(layer, "att_dst")[c] +
                     (u->edge ? e[c] * weights(layer, "att_edge")[c] : 0);
        score = leaky(score);
        memcpy(z, l + h * OUT, OUT * sizeof *z);
    } else if (strcmp(u->kind, "gatv2") == 0) {
        linear(l, x, in, weights(layer, "lin_l.weight"), weights(layer, "lin_l.bias"), width);
        linear(r, y, targets, weights(layer, "lin_r.weight"), weights(layer, "lin_r.bias"), width);
        for (int64_t c = h * OUT; c < (h + 1) * OUT; c++)
            score += weights(layer, "att")[c] * leaky(l[c] + r[c] + e[c]);
        memcpy(z, l + h * OUT, OUT * sizeof *z);
    } else {
        linear(l, x, in, weights(layer, "lin_key.weight"), weights(layer, "lin_key.bias"), width);
        linear(r, y, targets, weights(layer, "lin_query.weight"), weights(layer, "lin_query.bias"), width);
        linear(v, x, in, weights(layer, "lin_value.weight"), weights(layer, "lin_value.bias"), width);
        for (int64_t c = h * OUT; c < (h + 1) * OUT; c++) {
            score += (l[c] + e[c]) * r[c] / sqrt(OUT);
            z[c - h * OUT] = v[c] + e[c];
        }
    }
    return score;
}

static void attend(double *to, const use *u, FtB_Layer layer, const problem *p, int64_t i, int64_t h)
{
    double sum = 0, z[OUT];
    memset(to, 0, OUT * sizeof *to);
    for (int64_t j = 0; j < p->n; j++) {
        if (!p->has[i][j])
            continue;
        double weight = exp(message(z, u, layer, p, i, j, h));
        sum += weight;
        for (int64_t c = 0; c < OUT; c++)
            to[c] += weight * z[c];
    }
    for (int64_t c = 0; c < OUT && sum > 0; c++)
        to[c] /= sum;
}

static void check_values(FtB_Block got, const use *u, FtB_Layer layer, const problem *given)
{
    problem p = *given;
    int64_t heads = u->options.heads, columns = u->options.average ? OUT : heads * OUT, targets = p.Y->ncols;
    bool transformer = strcmp(u->kind, "transformer") == 0;
    if (!transformer && u->graph != BIPARTITE && !u->options.no_self_loops)
        add_loops(&p);
    assert_int_equal(got->ncols, columns);
    for (int64_t i = 0; i < p.m; i++) {
        double y[WIDE] = {0}, z[OUT], added[WIDE];
        for (int64_t h = 0; h < heads; h++) {
            attend(z, u, layer, &p, i, h);
            for (int64_t c = 0; c < OUT; c++)
                if (u->options.average)
                    y[c] += z[c] / (double)heads;
                else
                    y[h * OUT + c] = z[c];
        }
        linear(added, (double *)block_values(p.Y) + i * targets, targets,
               weights(layer, transformer ? "lin_skip.weight" : "res.weight"),
               weights(layer, transformer ? "lin_skip.bias" : "bias"), columns);
        for (int64_t c = 0; c < columns; c++) {
            double value = ((double *)block_values(got))[i * got->ld + c], want = y[c] + added[c];
            if (!(fabs(value - want) <= 1e-12 * (1 + fabs(want))))
                fail_msg("%s, y(%lld, %lld) = %.12g; expected %.12g", u->kind, (long long)i, (long long)c,
                         value, want);
        }
    }
}

/* ---- values and gradients of a use */

static FtB_Layer new_layer(const use *u)
{
    FtB_Layer layer;
    FtB_Layer_options options = u->options;
    options.size = sizeof options;
    options.type = FTB_FP64;
    options.edge_width = u->edge ? EDGE : 0;
    options.in_dst = u->graph == BIPARTITE ? IN_DST : 0;
    assert_ok(FtB_Layer_new(&layer, u->kind, IN, OUT, &options));
    for (int64_t k = 0; k < FtB_Layer_count(layer); k++) {
        FtB_Block X;
        assert_ok(FtB_Parameter_value(&X, FtB_Layer_parameter(layer, k)));
        fill_random(X, 40 + (uint64_t)k);
        FtB_Block_free(&X);
    }
    return layer;
}

static void check(const use *u)
{
    problem p;
    FtB_Tape tape;
    FtB_Block got;
    make(&p, u->graph);
    FtB_Layer layer = new_layer(u);
    assert_ok(FtB_Tape_new(&tape, 1));
    /* what is below is trained, too */
    FtB_Parameter px, py;
    assert_ok(FtB_Parameter_new(&px, "x", p.n, IN, FTB_FP64));
    assert_ok(FtB_Parameter_new(&py, "y", p.m, p.Y->ncols, FTB_FP64));
    FtB_Parameter both[2] = {px, py};
    for (int k = 0; k < 2; k++) {
        FtB_Block X, from = k ? p.Y : p.X;
        assert_ok(FtB_Parameter_value(&X, both[k]));
        memcpy(block_values(X), block_values(from), (size_t)(from->nrows * from->ncols) * sizeof(double));
        FtB_Block_free(&X);
    }
    FtB_Var x = FtB_parameter(tape, px), y = u->graph == BIPARTITE ? FtB_parameter(tape, py) : x;
    if (u->graph != BIPARTITE)
        memcpy(block_values(p.Y), block_values(p.X), (size_t)(p.m * IN) * sizeof(double));
    FtB_Var e = u->edge ? FtB_input_edges(tape, p.A) : FTB_NO_VAR;
    FtB_Var out = FtB_Layer_apply(layer, p.A, x, y, e);
    assert_ok(FtB_evaluate(&got, out));
    check_values(got, u, layer, &p);
    FtB_Block T = features(p.m, got->ncols, 3);
    FtB_Block_free(&got);
    FtB_Var loss = FtB_squared_error(out, FtB_input(tape, T), NULL);
    assert_layer_gradients(loss, layer, 2e-7);
    assert_gradients(loss, both, u->graph == BIPARTITE ? 2 : 1, 2e-7);
    FtB_Tape_free(&tape);
    FtB_Parameter_free(&px);
    FtB_Parameter_free(&py);
    FtB_Layer_free(&layer);
    FtB_Block_free(&T);
    release(&p);
}

/* Options that go together, in an order that puts each beside others. */
static void layers(void **state)
{
    static const char *const kinds[] = {"gat", "gatv2", "transformer"};
    enum { HEADS = 1, EDGES = 2, AVERAGE = 4, RESIDUAL = 8, NO_BIAS = 16 };
    static const int sets[] = {
        HEADS, EDGES | AVERAGE, HEADS | EDGES | RESIDUAL,   HEADS | AVERAGE | NO_BIAS,
        0,     EDGES,           HEADS | RESIDUAL | NO_BIAS, HEADS | EDGES | AVERAGE | RESIDUAL};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int b = 0; b < 8; b++)
            for (int g = MIXED; g <= FULL; g++) {
                int bits = sets[b];
                bool roots = strcmp(kinds[k], "transformer") == 0;
                use u = {.kind = kinds[k],
                         .graph = (graph)g,
                         .edge = bits & EDGES,
                         .options = {.heads = bits & HEADS ? 2 : 1,
                                     .average = bits & AVERAGE,
                                     .residual = !roots && (bits & RESIDUAL),
                                     .no_bias = bits & NO_BIAS,
                                     .no_self_loops = !roots && (bits & RESIDUAL),
                                     .no_root = roots && (bits & AVERAGE)}};
                check(&u);
            }
}

/* Sparse features, and one weight for sources and targets of two sets. */
static void other_features(void **state)
{
    const int64_t i[] = {0, 0, 1, 3, 4, 6, 6}, j[] = {0, 2, 1, 1, 0, 1, 2};
    const double values[] = {1, -2, 0.5, 3, -1, 2, 1.5};
    FtB_Matrix S;
    FtB_Block D, got, want;
    FtB_Tape tape;
    problem p;
    (void)state;
    make(&p, MIXED);
    const use u = {.kind = "gat", .graph = MIXED, .options = {.heads = 3}};
    FtB_Layer layer = new_layer(&u);
    assert_ok(FtB_Matrix_build(&S, FTB_FP64, 7, IN, 1, 7, i, j, values, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&D, 7, IN, FTB_FP64));
    memset(block_values(D), 0, 7 * IN * sizeof(double));
    for (int e = 0; e < 7; e++)
        ((double *)block_values(D))[i[e] * IN + j[e]] = values[e];
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var sparse = FtB_gat(layer, p.A, FtB_input(tape, S)), dense = FtB_gat(layer, p.A, FtB_input(tape, D));
    assert_ok(FtB_evaluate(&want, dense));
    double kept[7 * 3 * OUT];
    memcpy(kept, block_values(want), sizeof kept);
    FtB_Block_free(&want);
    assert_ok(FtB_evaluate(&got, sparse));
    for (int v = 0; v < 7 * 3 * OUT; v++)
        assert_true(fabs(((double *)block_values(got))[v] - kept[v]) < 1e-12);
    FtB_Block_free(&got);
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layer);
    FtB_Matrix_free(&S);
    FtB_Block_free(&D);
    release(&p);
}

/* ---- FtB_attend itself */

/* One variable as sources, targets and values: its gradient is a sum of three. In one node, and (the score is
 * written otherwise) in steps. */
static void one_variable_thrice(void **state)
{
    static const char *const texts[] = {"plus : dot(src, dst) * 0.5",
                                        "plus : dot(src, dst) * 0.5 + 0 * src[0]"};
    double values[2][7 * 4], grads[2][7 * 4];
    problem p;
    (void)state;
    make(&p, MIXED);
    for (int t = 0; t < 2; t++) {
        FtB_Tape tape;
        FtB_Parameter px;
        FtB_Block X, got, T = features(7, 4, 9);
        assert_ok(FtB_Tape_new(&tape, 1));
        assert_ok(FtB_Parameter_new(&px, "x", 7, 4, FTB_FP64));
        assert_ok(FtB_Parameter_value(&X, px));
        fill_random(X, 12);
        FtB_Block_free(&X);
        FtB_Var x = FtB_heads(FtB_parameter(tape, px), 2);
        FtB_Var y = FtB_attend(texts[t], p.A, 0, FTB_OPERAND("values", x), FTB_OPERAND("src", x),
                               FTB_OPERAND("dst", x));
        assert_ok(FtB_evaluate(&got, y));
        memcpy(values[t], block_values(got), sizeof values[t]);
        FtB_Block_free(&got);
        FtB_Var loss = FtB_squared_error(FtB_heads(y, 1), FtB_input(tape, T), NULL);
        assert_gradients(loss, &px, 1, 1e-7);
        assert_ok(FtB_Parameter_gradient(&X, px));
        memcpy(grads[t], block_values(X), sizeof grads[t]);
        FtB_Block_free(&X);
        FtB_Block_free(&T);
        FtB_Tape_free(&tape);
        FtB_Parameter_free(&px);
    }
    for (int v = 0; v < 7 * 4; v++) {
        assert_true(fabs(values[0][v] - values[1][v]) < 1e-12);
        assert_true(fabs(grads[0][v] - grads[1][v]) < 1e-12);
    }
    release(&p);
}

/* All weights of a row are equal and all values 1, so a result is the share of entries that were kept, over 1
 * - p. */
static void dropout(void **state)
{
    enum { ROWS = 300, NEIGHBOURS = 80 };
    static const char *const texts[] = {"plus : dot(src, dst)", "plus : dot(src, dst) + 0 * src[0]"};
    static int64_t i[ROWS * NEIGHBOURS], j[ROWS * NEIGHBOURS];
    FtB_Matrix A;
    FtB_Block zeros, ones;
    (void)state;
    for (int k = 0; k < ROWS * NEIGHBOURS; k++) {
        i[k] = k / NEIGHBOURS;
        j[k] = (k / NEIGHBOURS + 3 * (k % NEIGHBOURS)) % ROWS;
    }
    assert_ok(
        FtB_Matrix_build(&A, FTB_FP32, ROWS, ROWS, 0, ROWS * NEIGHBOURS, i, j, NULL, FTB_DUP_FIRST, NULL));
    double edges = (double)A->pattern->nvals;
    assert_ok(FtB_Block_new(&zeros, ROWS, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&ones, ROWS, 2, FTB_FP32));
    memset(block_values(zeros), 0, 2 * ROWS * sizeof(float));
    for (int v = 0; v < 2 * ROWS; v++)
        ((float *)block_values(ones))[v] = 1;
    for (int t = 0; t < 2; t++) {
        FtB_Tape tape;
        FtB_Block got;
        float first[2 * ROWS] = {0};
        assert_ok(FtB_Tape_new(&tape, 5));
        FtB_Var x = FtB_heads(FtB_input(tape, zeros), 2), v = FtB_heads(FtB_input(tape, ones), 2);
        FtB_Var y = FtB_keep(FtB_attend(texts[t], A, 0.6, FTB_OPERAND("src", x), FTB_OPERAND("dst", x),
                                        FTB_OPERAND("values", v)));
        FtB_Parameter w;
        assert_ok(FtB_Parameter_new(&w, "w", 2, 1, FTB_FP32));
        FtB_Var loss =
            FtB_squared_error(FtB_linear(FtB_heads(y, 1), w, NULL), FtB_columns(FtB_heads(v, 1), 0, 1), NULL);
        for (int run = 0; run < 2; run++) {
            double sum = 0;
            assert_ok(FtB_backward(loss));
            assert_ok(FtB_value(&got, y));
            for (int k = 0; k < 2 * ROWS; k++)
                sum += (double)((float *)block_values(got))[k];
            /* standard deviation of a mean over edges and heads: sqrt(p / ((1 - p) n)) */
            assert_true(fabs(sum / (2 * ROWS) - 1) < 5 * sqrt(0.6 / 0.4 / (2 * edges)));
            assert_true(memcmp(first, block_values(got), sizeof first) != 0); /* drawn anew */
            memcpy(first, block_values(got), sizeof first);
            FtB_Block_free(&got);
        }
        assert_ok(FtB_evaluate(&got, y)); /* nothing is dropped */
        for (int k = 0; k < 2 * ROWS; k++)
            assert_true(fabsf(((float *)block_values(got))[k] - 1) < 1e-5F);
        FtB_Block_free(&got);
        FtB_Tape_free(&tape);
        FtB_Parameter_free(&w);
    }
    FtB_Matrix_free(&A);
    FtB_Block_free(&zeros);
    FtB_Block_free(&ones);
}

#define assert_refused(code, text, var)                                                                      \
    do {                                                                                                     \
        assert_int_equal((var).node, -1);                                                                    \
        assert_fails(code, text, FtB_Tape_status(tape));                                                     \
        assert_ok(FtB_Tape_reset(tape));                                                                     \
    } while (0)

static void refused(void **state)
{
    problem p;
    FtB_Tape tape;
    (void)state;
    make(&p, MIXED);
    const use u = {.kind = "gatv2", .graph = MIXED, .options = {.heads = 2}};
    FtB_Layer layer = new_layer(&u);
    FtB_Block wide = features(7, 4, 1);
    assert_ok(FtB_Tape_new(&tape, 1));
#define TWO FtB_heads(FtB_input(tape, wide), 2)
#define ATTEND(text, ...) FtB_attend(text, p.A, 0, __VA_ARGS__)
    assert_refused(GrB_NULL_POINTER, "operand 'values' is missing",
                   ATTEND("plus : dot(src, dst)", FTB_OPERAND("src", TWO), FTB_OPERAND("dst", TWO)));
    assert_refused(GrB_NULL_POINTER, "operand 'dst' is missing",
                   ATTEND("plus : sum(src)", FTB_OPERAND("src", TWO), FTB_OPERAND("values", TWO)));
    assert_refused(GrB_DIMENSION_MISMATCH, "4 values on each entry, of 2 heads",
                   ATTEND("plus : src * dst", FTB_OPERAND("src", TWO), FTB_OPERAND("dst", TWO),
                          FTB_OPERAND("values", TWO)));
    assert_refused(GrB_DIMENSION_MISMATCH, "'values' has 1 heads, the score has 2",
                   ATTEND("plus : dot(src, dst)", FTB_OPERAND("src", TWO), FTB_OPERAND("dst", TWO),
                          FTB_OPERAND("values", FtB_input(tape, wide))));
    assert_refused(GrB_INVALID_VALUE, "dropout is 1",
                   FtB_attend("plus : dot(src, dst)", p.A, 1, FTB_OPERAND("src", TWO),
                              FTB_OPERAND("dst", TWO), FTB_OPERAND("values", TWO)));
    FtB_Var x = FtB_input(tape, p.X);
    assert_refused(GrB_INVALID_VALUE, "made without edge_width",
                   FtB_Layer_apply(layer, p.A, x, x, FtB_input_edges(tape, p.A)));
    FtB_Block_free(&wide);
    FtB_Layer_free(&layer);
    FtB_Tape_free(&tape);
    release(&p);
#undef TWO
#undef ATTEND
}

/* ---- failing allocation */

static GrB_Info attempt(void *arg)
{
    const use *u = arg;
    problem p;
    FtB_Tape tape = NULL;
    FtB_Layer layer = NULL;
    FtB_Block X = NULL, T = NULL;
    const int64_t i[] = {0, 0, 2}, j[] = {1, 2, 0};
    p.A = NULL;
    FtB_Layer_options options = u->options;
    options.size = sizeof options;
    GrB_Info info = FtB_Matrix_build(&p.A, FTB_FP32, 3, 3, 0, 3, i, j, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&X, 3, IN, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&T, 3, u->options.average ? OUT : 2 * OUT, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Tape_new(&tape, 1);
    if (info == GrB_SUCCESS)
        info = FtB_Layer_new(&layer, u->kind, IN, OUT, &options);
    if (info == GrB_SUCCESS) {
        fill_random(X, 4);
        fill_random(T, 5);
        FtB_Var x = FtB_input(tape, X), y = FtB_Layer_apply(layer, p.A, x, x, FTB_NO_VAR);
        info = FtB_backward(FtB_squared_error(y, FtB_input(tape, T), NULL));
    }
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layer);
    FtB_Block_free(&X);
    FtB_Block_free(&T);
    FtB_Matrix_free(&p.A);
    return info;
}

static void failing_allocations(void **state)
{
    const use uses[] = {{.kind = "gat", .options = {.heads = 2}},
                        {.kind = "gatv2", .options = {.heads = 2, .average = true}}};
    (void)state;
    for (int k = 0; k < 2; k++)
        fail_every_allocation(attempt, NULL, (void *)(uintptr_t)&uses[k]);
}

int main(void)
{
    FtB_Context_set_threads(NULL, 1); /* thousands of runs of a few microseconds */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers),  cmocka_unit_test(other_features), cmocka_unit_test(one_variable_thrice),
        cmocka_unit_test(dropout), cmocka_unit_test(refused),        cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
