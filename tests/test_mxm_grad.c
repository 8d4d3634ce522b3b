/* Gradients of products with blocks, against finite differences of the product's messages in FP64.
 * Labels: unit, serial */
#include "support/check.h"

#include "cpu/message_run.h"
#include "expr/message.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NROWS 9
#define NCOLS 7
#define WIDTH 3 /* of src and dst, per head */

enum { NAMES = 13 };
static const char *const names[NAMES] = {"src",   "dst",  "edge", "norm", "other",  "w", "W",
                                         "scale", "bias", "own",  "row",  "number", "U"};

typedef struct config {
    int64_t heads, edge_width;
    bool transposed, on_edges, shared_dst; /* shared_dst: one head for all */
} config;

typedef struct fixture {
    config c;
    FtB_Matrix A, dE;
    FtB_Block blocks[NAMES]; /* "edge": values of A; "scale": 1 x 1, read at each binding */
    FtB_Block dC, saved;
    FtB_Semiring text, bound;
    char uses[NAMES];
    int64_t width; /* of the result's rows */
} fixture;

static ftb_pattern *pattern_of(const fixture *f)
{
    ftb_pattern *p = f->A->pattern;
    const int64_t *from;
    if (f->c.transposed)
        assert_ok(ftb_pattern_transpose(f->A->pattern, &p, &from));
    return p;
}

static void fill(rng *r, FtB_Block X)
{
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t j = 0; j < X->ncols; j++)
            ((double *)block_values(X))[i * X->ld + j] = 0.3 + rng_unit(r);
}

/* A view with heads of a wider block, so that rows are not packed. */
static FtB_Block random_block(rng *r, int64_t nrows, int64_t ncols, int64_t heads)
{
    FtB_Block whole, X, V;
    assert_ok(FtB_Block_new(&whole, nrows, ncols + 2, FTB_FP64));
    fill(r, whole);
    assert_ok(FtB_Block_columns(&X, whole, 1, ncols));
    assert_ok(FtB_Block_heads(&V, X, heads));
    FtB_Block_free(&X);
    FtB_Block_free(&whole);
    return V;
}

static void bind_all(fixture *f)
{
    FtB_Binding bindings[NAMES];
    size_t count = 0;
    FtB_Semiring_free(&f->bound);
    for (int n = 1; n < NAMES; n++) {
        if (!f->uses[n] || n == 2 || (n == 1 && f->c.on_edges))
            continue;
        FtB_Arg value = FTB_ARG(f->blocks[n]);
        if (n == 7)
            value = FTB_ARG(*(double *)block_values(f->blocks[n]));
        bindings[count++] = (FtB_Binding){names[n], value};
    }
    assert_ok((FtB_Semiring_bind)(&f->bound, f->text, bindings, count));
}

/* The product's message, as it would run. */
static void message_of(ftb_message *m, const fixture *f)
{
    static const char *const sparse[] = {"a", "edge", "b", "src", NULL};
    static const char *const dense[] = {"a", "dst", "b", "src", NULL};
    ftb_pattern *p = f->A->pattern;
    const int64_t *from = NULL;
    if (f->c.transposed)
        assert_ok(ftb_pattern_transpose(f->A->pattern, &p, &from));
    assert_ok(ftb_message_new(m, ftb_context(), f->bound, f->c.on_edges ? dense : sparse));
    assert_ok(ftb_message_block(m, "src", FTB_SIDE_COL, f->blocks[0], f->c.heads));
    if (f->c.on_edges)
        assert_ok(ftb_message_block(m, "dst", FTB_SIDE_ROW, f->blocks[1], f->blocks[1]->heads));
    assert_ok(ftb_message_values(m, "edge", f->A, from));
    assert_ok(ftb_message_indices(m, p, false, from));
}

/* sum of dC .* C; winners (or NULL) gets those of min and max. */
static double objective(fixture *f, int64_t *winners)
{
    ftb_message m;
    ftb_message_type type;
    ftb_program *program;
    ftb_pattern *p = pattern_of(f);
    double sum = 0;
    message_of(&m, f);
    assert_ok(ftb_message_compile(&type, &program, &m));
    ftb_program_delete(program);
    assert_int_equal(type.message, FTB_FP64);
    f->width = m.heads * type.width;
    int64_t nrows = f->c.on_edges ? p->nvals : p->nrows;
    double *C = calloc((size_t)(nrows * f->width + 1), 8);
    if (f->c.on_edges)
        assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &m, .p = p, .out = C}));
    else
        assert_ok(ftb_message_reduce(&m, p, C, f->width, winners, f->width, NULL, 0));
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t x = 0; x < f->width; x++) {
            double divisor = 1;
            if (!f->c.on_edges && p->rowptr[i] == p->rowptr[i + 1])
                continue;
            if (m.reducer.mean && !f->c.on_edges)
                divisor = (double)(p->rowptr[i + 1] - p->rowptr[i]);
            const double *weight = f->dE ? matrix_values(f->dE) : f->dC ? block_values(f->dC) : NULL;
            sum += weight ? C[i * f->width + x] / divisor * weight[i * f->width + x] : 0;
        }
    free(C);
    ftb_message_clear(&m);
    return sum;
}

static void make(fixture *f, const char *text, const config *c)
{
    rng r = rng_new();
    *f = (fixture){.c = *c};
    int64_t nrows = c->transposed ? NCOLS : NROWS, ncols = c->transposed ? NROWS : NCOLS;
    f->A = rng_matrix(&r, FTB_FP64, nrows, ncols, c->edge_width, 0.35);
    int64_t nvals = f->A->pattern->nvals, heads = c->heads;
    f->blocks[0] = random_block(&r, NCOLS, heads * WIDTH, heads);
    f->blocks[1] = random_block(&r, NROWS, (c->shared_dst ? 1 : heads) * WIDTH, c->shared_dst ? 1 : heads);
    if (c->edge_width > 0) {
        assert_ok(FtB_Matrix_values(&f->blocks[2], f->A));
        fill(&r, f->blocks[2]);
    }
    f->blocks[3] = random_block(&r, ftb_max(NROWS, NCOLS) + 2, 1, 1);
    f->blocks[4] = random_block(&r, NCOLS, 1, 1);
    f->blocks[5] = random_block(&r, nvals, 1, 1);
    f->blocks[6] = random_block(&r, WIDTH, 2, 1);
    f->blocks[7] = random_block(&r, 1, 1, 1);
    f->blocks[8] = random_block(&r, NCOLS, heads * WIDTH, heads);
    f->blocks[9] = random_block(&r, 1, WIDTH, 1);
    f->blocks[10] = random_block(&r, 1, heads * WIDTH, heads);
    f->blocks[11] = random_block(&r, 1, 1, 1);
    f->blocks[12] = random_block(&r, WIDTH, WIDTH + 2, 1);
    assert_ok(FtB_Semiring_new(&f->text, text));
    for (int n = 0; n < NAMES; n++)
        f->uses[n] = ftb_expr_uses(f->text->message, names[n]) && f->blocks[n];
    bind_all(f);
    objective(f, NULL); /* for the width */
    if (c->on_edges) {
        assert_ok(FtB_Matrix_like(&f->dE, f->A, f->width, FTB_FP64));
        FtB_Block values;
        assert_ok(FtB_Matrix_values(&values, f->dE));
        fill(&r, values);
        FtB_Block_free(&values);
        return;
    }
    assert_ok(FtB_Block_new(&f->dC, NROWS, f->width, FTB_FP64));
    fill(&r, f->dC);
    ftb_monoid monoid = f->text->reducer.monoid;
    if (monoid == FTB_MIN || monoid == FTB_MAX) {
        assert_ok(FtB_Block_new(&f->saved, NROWS, f->width, FTB_INT64));
        objective(f, block_values(f->saved));
    }
}

static void release(fixture *f)
{
    for (int n = 0; n < NAMES; n++)
        FtB_Block_free(&f->blocks[n]);
    FtB_Block_free(&f->dC);
    FtB_Block_free(&f->saved);
    FtB_Semiring_free(&f->text);
    FtB_Semiring_free(&f->bound);
    FtB_Matrix_free(&f->dE);
    FtB_Matrix_free(&f->A);
}

static GrB_Info grad(const fixture *f, const FtB_Gradient *asked, size_t count)
{
    if (f->c.on_edges)
        return (FtB_mxm_grad)(FTB_SLOT(f->dE), FTB_SLOT(f->bound), FTB_SLOT(f->blocks[1]),
                              FTB_SLOT(f->blocks[0]), FTB_SLOT(f->A), FTB_SLOT(NULL), asked, count,
                              FTB_SLOT(FTB_DESC_ST1));
    return (FtB_mxm_grad)(FTB_SLOT(f->dC), FTB_SLOT(f->bound), FTB_SLOT(f->A), FTB_SLOT(f->blocks[0]),
                          FTB_SLOT(NULL), FTB_SLOT(f->saved), asked, count,
                          FTB_SLOT(f->c.transposed ? FTB_DESC_T0 : NULL));
}

/* All gradients at once, in new blocks of a type. */
static size_t gradients(const fixture *f, FtB_Type type, FtB_Block *out, FtB_Gradient *asked)
{
    size_t count = 0;
    for (int n = 0; n < NAMES; n++) {
        out[n] = NULL;
        if (!f->uses[n])
            continue;
        assert_ok(FtB_Block_new(&out[n], f->blocks[n]->nrows, f->blocks[n]->ncols, type));
        asked[count++] = (FtB_Gradient){names[n], FTB_ARG(out[n]), false};
    }
    return count;
}

static double slope(fixture *f, int n, double *at, double step)
{
    const double was = *at;
    double side[2];
    for (int s = 0; s < 2; s++) {
        *at = s ? was - step : was + step;
        if (n == 7)
            bind_all(f);
        side[s] = objective(f, NULL);
    }
    *at = was;
    if (n == 7)
        bind_all(f);
    return (side[0] - side[1]) / (2 * step);
}

static bool near(double got, double want) { return fabs(got - want) <= 1e-6 * (1 + fabs(want)); }

static void check(const char *text, const config *c)
{
    fixture f;
    FtB_Block out[NAMES];
    FtB_Gradient asked[NAMES];
    rng r = rng_new();
    make(&f, text, c);
    size_t count = gradients(&f, FTB_FP64, out, asked);
    assert_ok(grad(&f, asked, count));
    for (int n = 0; n < NAMES; n++) {
        if (!out[n])
            continue;
        for (int64_t i = 0; i < out[n]->nrows; i++)
            for (int64_t j = 0; j < out[n]->ncols; j++) {
                double got = ((double *)block_values(out[n]))[i * out[n]->ld + j];
                if (rng_below(&r, 3)) /* some of them: each takes two products */
                    continue;
                double *at = (double *)block_values(f.blocks[n]) + i * f.blocks[n]->ld + j,
                       want = slope(&f, n, at, 1e-5);
                if (!near(got, want)) /* another message may win within the step; a shorter one tells */
                    want = slope(&f, n, at, 1e-7);
                if (!near(got, want))
                    fail_msg("%s (%lld heads, edges %lld wide%s%s): d %s(%lld,%lld) = %.12g; expected %.12g",
                             text, (long long)c->heads, (long long)c->edge_width,
                             c->transposed ? ", transposed" : "", c->on_edges ? ", on edges" : "", names[n],
                             (long long)i, (long long)j, got, want);
            }
        FtB_Block_free(&out[n]);
    }
    release(&f);
}

static const char *const texts[] = {
    "plus : src",
    "mean : src",
    "max : src",
    "plus : edge * src",
    "mean : edge * src * norm[i] * other[k]",
    "plus : norm[i] * src * norm[k]",
    "plus : w[e] * src * scale",
    "mean : dst",
    "min : edge * src",
    "max : relu((src + dst) @ W)",
    "plus : (src - dst) @ W",
    "mean : tanh(src @ W) * edge",
    "plus : tanh(src * dst) @ W + src @ W",
    "max : (src * dst) @ W",
    "plus : dot(src, dst) * scale",
    "plus : exp(dot(src, dst) * scale) * src",
    "plus : leaky_relu(src @ W + edge, 0.2) * scale",
    "plus : src > 0.8 ? src * dst : edge",
    "min : sum(src * edge) + bias[k]",
    "max : relu(src * norm[k] * scale) * 2 + norm[i]",
    "min : dst - src * scale",
    "max : leaky_relu((src - dst) @ W, 0.2) + norm[i] * scale",
    "min : -tanh(src @ W + dst @ W) / 3",
    "max : norm[k] * dst",
    "max : dst",
    "min : (src + e / 50) * w[e]",
    "plus : [src, edge, norm[i]]",
    "mean : sqrt(sum((src - dst) * (src - dst)))",
    "plus : dot(leaky_relu(src - dst, 0.2), row)",
    "plus : dot(src, row)",
    "plus : row",
    "mean : tanh(src * number + own) * row",
    "max : src * row + own",
    "min : (src - row) * number * edge",
    "plus : src * own[1] * exp(number) + row * own",
    "max : relu(src * norm[k] - own / 2) * row",
    "plus : ((src * own) @ W) * number",
    "mean : src @ U",
    "plus : norm[k] * src * norm[i]",
    "plus : w[e] * src * w[i]",
};

static void sparse_times_block(void **state)
{
    static const config configs[] = {{1, 1, false, false, false}, {2, 1, false, false, false},
                                     {2, 2, false, false, true},  {2, 2 * WIDTH, false, false, false},
                                     {1, 1, true, false, false},  {2, 2, true, false, true}};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
            bool wide_fits = !strstr(texts[t], "@ ") && !strstr(texts[t], "dot");
            if (configs[c].edge_width <= 2 || wide_fits)
                check(texts[t], &configs[c]);
        }
}

static void block_times_block(void **state)
{
    static const config configs[] = {
        {1, 1, false, true, false}, {2, 2, false, true, false}, {2, 1, false, true, true}};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t c = 0; c < sizeof configs / sizeof *configs; c++)
            check(texts[t], &configs[c]);
}

/* ---- outputs */

static const config plain = {2, 2, false, false, false};
static const char rich[] = "mean : edge * relu((src + dst) @ W) * norm[i] * other[k] * scale";

static void outputs_of_other_types_and_adding(void **state)
{
    static const FtB_Type types[] = {FTB_FP32, FTB_BF16, FTB_FP64};
    fixture f;
    FtB_Block want[NAMES], out[NAMES];
    FtB_Gradient asked[NAMES], wanted[NAMES];
    (void)state;
    make(&f, rich, &plain);
    size_t count = gradients(&f, FTB_FP64, want, wanted);
    assert_ok(grad(&f, wanted, count));
    for (size_t t = 0; t < 3; t++) {
        assert_int_equal(gradients(&f, types[t], out, asked), count);
        for (int added = 0; added < 3; added++) {
            for (size_t n = 0; n < count; n++)
                asked[n].accumulate = added > 0;
            assert_ok(grad(&f, asked, count));
        }
        double most = types[t] == FTB_BF16 ? 0.02 : 1e-6;
        for (int n = 0; n < NAMES; n++)
            for (int64_t v = 0; out[n] && v < out[n]->nrows * out[n]->ncols; v++) {
                double x = ftb_get_real(block_values(out[n]), types[t], v),
                       y = 3 * ((double *)block_values(want[n]))[v];
                if (!(fabs(x - y) <= most * (1 + fabs(y))))
                    fail_msg("%s as %s: %.9g; expected %.9g", names[n], FtB_Type_name(types[t]), x, y);
            }
        for (int n = 0; n < NAMES; n++)
            FtB_Block_free(&out[n]);
    }
    for (int n = 0; n < NAMES; n++)
        FtB_Block_free(&want[n]);
    release(&f);
}

/* The matrix of an edge's gradient, and an output that is the operand itself. */
static void outputs_that_are_operands(void **state)
{
    static const config configs[] = {{2, 2, false, false, false}, {2, 2, true, false, false}};
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        fixture f;
        FtB_Block want[NAMES];
        FtB_Gradient wanted[NAMES];
        FtB_Matrix E;
        make(&f, rich, &configs[c]);
        size_t count = gradients(&f, FTB_FP64, want, wanted);
        assert_ok(grad(&f, wanted, count));
        assert_ok(FtB_Matrix_like(&E, f.A, 2, FTB_FP64));
        const FtB_Gradient asked[] = {FTB_GRAD("edge", E), FTB_GRAD("edge", f.A),
                                      FTB_GRAD("src", f.blocks[0])};
        assert_ok(grad(&f, asked, 3));
        size_t bytes = (size_t)f.A->pattern->nvals * 2 * sizeof(double);
        assert_memory_equal(matrix_values(E), block_values(want[2]), bytes);
        assert_memory_equal(matrix_values(f.A), block_values(want[2]), bytes);
        for (int64_t i = 0; i < NCOLS; i++)
            assert_memory_equal((double *)block_values(f.blocks[0]) + i * f.blocks[0]->ld,
                                (double *)block_values(want[0]) + i * want[0]->ld,
                                2 * WIDTH * sizeof(double));
        FtB_Matrix_free(&E);
        for (int n = 0; n < NAMES; n++)
            FtB_Block_free(&want[n]);
        release(&f);
    }
}

static void same_bits_for_any_threads(void **state)
{
    fixture f;
    FtB_Block one[NAMES], many[NAMES];
    FtB_Gradient asked[NAMES];
    (void)state;
    make(&f, rich, &plain);
    assert_ok(grad(&f, asked, gradients(&f, FTB_FP64, one, asked)));
    assert_ok(FtB_Context_set_threads(NULL, 4));
    assert_ok(grad(&f, asked, gradients(&f, FTB_FP64, many, asked)));
    assert_ok(FtB_Context_set_threads(NULL, 1));
    for (int n = 0; n < NAMES; n++) {
        if (one[n])
            assert_memory_equal(block_values(one[n]), block_values(many[n]),
                                (size_t)(one[n]->nrows * one[n]->ncols) * sizeof(double));
        FtB_Block_free(&one[n]);
        FtB_Block_free(&many[n]);
    }
    release(&f);
}

/* A pattern without values, empty graphs, and rows without entries under a mean. */
static void edge_shapes(void **state)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {5, 1}};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int64_t m = shapes[s][0], n = shapes[s][1];
        FtB_Matrix A;
        FtB_Block X, Y, W, dC, dX, dY, dW;
        FtB_Semiring text, bound;
        assert_ok(FtB_Matrix_new(&A, FTB_FP32, m, n, 0));
        assert_ok(FtB_Block_new(&X, n, 3, FTB_FP32));
        assert_ok(FtB_Block_new(&Y, m, 3, FTB_FP32));
        assert_ok(FtB_Block_new(&W, 3, 2, FTB_FP32));
        assert_ok(FtB_Block_new(&dC, m, 2, FTB_FP32));
        assert_ok(FtB_Block_new(&dX, n, 3, FTB_FP32));
        assert_ok(FtB_Block_new(&dY, m, 3, FTB_FP32));
        assert_ok(FtB_Block_new(&dW, 3, 2, FTB_FP32));
        memset(block_values(dY), 0x7f, (size_t)m * 3 * 4);
        memset(block_values(dW), 0x7f, 3 * 2 * 4);
        for (int64_t v = 0; v < m * 2; v++)
            ((float *)block_values(dC))[v] = 1;
        assert_ok(FtB_Semiring_new(&text, "mean : edge * ((src + dst) @ W)"));
        assert_ok(FtB_Semiring_bind(&bound, text, FTB_BIND("dst", Y), FTB_BIND("W", W)));
        assert_ok(FtB_mxm_grad(dC, bound, A, X, NULL, NULL, NULL, FTB_GRAD("src", dX), FTB_GRAD("dst", dY),
                               FTB_GRAD("W", dW)));
        for (int64_t v = 0; v < m * 3; v++)
            assert_true(((float *)block_values(dY))[v] == 0);
        for (int64_t v = 0; v < 6; v++)
            assert_true(((float *)block_values(dW))[v] == 0);
        FtB_Block *blocks[] = {&X, &Y, &W, &dC, &dX, &dY, &dW};
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
            FtB_Block_free(blocks[b]);
        FtB_Semiring_free(&text);
        FtB_Semiring_free(&bound);
        FtB_Matrix_free(&A);
    }
}

/* ---- what is refused */

static void wrong_arguments(void **state)
{
    fixture f;
    FtB_Block out, narrow, whole, lone;
    static const double constant[3 * 9] = {0};
    (void)state;
    make(&f, "max : edge * src * scale", &plain);
    assert_ok(FtB_Block_new(&out, NCOLS, 2 * WIDTH, FTB_FP64));
    assert_ok(FtB_Block_new(&narrow, NCOLS, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&whole, NCOLS, 2 * WIDTH, FTB_INT32));
    assert_ok(FtB_Block_wrap_const(&lone, constant, 1, 1, 1, FTB_FP64));
    FtB_Block dC = f.dC, E = f.saved, X = f.blocks[0];
    FtB_Semiring s = f.bound;
    FtB_Matrix A = f.A;
    assert_ok(FtB_mxm_grad(dC, s, A, X, NULL, E, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_NULL_POINTER, "saved is NULL; the reducer max",
                 FtB_mxm_grad(dC, s, A, X, NULL, NULL, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_DIMENSION_MISMATCH, "saved: 9 x 6 of fp64",
                 FtB_mxm_grad(dC, s, A, X, NULL, dC, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_DIMENSION_MISMATCH, "dC: 7 rows of 1 values; expected 9 rows of 6",
                 FtB_mxm_grad(narrow, s, A, X, NULL, E, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_DOMAIN_MISMATCH, "dC: dtype int64",
                 FtB_mxm_grad(E, s, A, X, NULL, E, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_DIMENSION_MISMATCH, "the output of 'src' is 7 x 1; expected 7 x 6",
                 FtB_mxm_grad(dC, s, A, X, NULL, E, NULL, FTB_GRAD("src", narrow)));
    assert_fails(GrB_DOMAIN_MISMATCH, "the output of 'src' is int32",
                 FtB_mxm_grad(dC, s, A, X, NULL, E, NULL, FTB_GRAD("src", whole)));
    assert_fails(GrB_DOMAIN_MISMATCH, "the output of 'scale' is read-only",
                 FtB_mxm_grad(dC, s, A, X, NULL, E, NULL, FTB_GRAD("scale", lone)));
    assert_fails(GrB_INVALID_VALUE, "'nothing' is neither src",
                 FtB_mxm_grad(dC, s, A, X, NULL, E, NULL, FTB_GRAD("nothing", out)));
    assert_fails(GrB_DIMENSION_MISMATCH, "B: 9 rows; expected 7",
                 FtB_mxm_grad(dC, s, A, dC, NULL, E, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_INVALID_VALUE, "M: gradients of sparse x block",
                 FtB_mxm_grad(dC, s, A, X, A, E, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_DOMAIN_MISMATCH, "times has no gradient",
                 FtB_mxm_grad(dC, "times : src * edge", A, X, NULL, E, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_NULL_POINTER, "A is NULL",
                 FtB_mxm_grad(dC, s, NULL, X, NULL, E, NULL, FTB_GRAD("src", out)));
    assert_fails(GrB_INVALID_VALUE, "expected TRANSPOSE1",
                 FtB_mxm_grad(A, "plus : dot(src, dst)", dC, X, A, NULL, NULL, FTB_GRAD("src", out)));
    FtB_Block *blocks[] = {&out, &narrow, &whole, &lone};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
    release(&f);
}

typedef struct attempt {
    fixture f;
    FtB_Block out[NAMES];
    FtB_Gradient asked[NAMES];
    size_t count;
} attempt;

/* With a matrix of its own, since transposes stay on patterns. */
static GrB_Info try(void *arg)
{
    attempt *a = arg;
    const int64_t *rowptr;
    const void *colidx, *values;
    fixture own = a->f;
    GrB_Info info = FtB_Matrix_csr(a->f.A, &rowptr, &colidx, &values);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_wrap_csr(&own.A, FTB_FP64, NROWS, NCOLS, 2, rowptr, colidx, values);
    if (info == GrB_SUCCESS)
        info = grad(&own, a->asked, a->count);
    FtB_Matrix_free(&own.A);
    return info;
}

static void untouched(void *arg)
{
    const attempt *a = arg;
    for (int n = 0; n < NAMES; n++)
        for (int64_t v = 0; a->out[n] && v < a->out[n]->nrows * a->out[n]->ncols; v++)
            assert_true(((double *)block_values(a->out[n]))[v] == 0);
}

static void failing_allocations(void **state)
{
    static const char *const some[] = {"max : relu((src + dst) @ W) * edge",
                                       "mean : src * norm[i] * norm[k] * scale"};
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        attempt a;
        make(&a.f, some[t], &plain);
        a.count = gradients(&a.f, FTB_FP64, a.out, a.asked);
        fail_every_allocation(try, untouched, &a);
        for (int n = 0; n < NAMES; n++)
            FtB_Block_free(&a.out[n]);
        release(&a.f);
    }
}

int main(void)
{
    FtB_Context_set_threads(NULL, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_times_block),
        cmocka_unit_test(block_times_block),
        cmocka_unit_test(outputs_of_other_types_and_adding),
        cmocka_unit_test(outputs_that_are_operands),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(edge_shapes),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
