/* Gradients of messages, each against finite differences in FP64. */
#include "support/check.h"

#include "cpu/message_run.h"
#include "expr/rewrite.h"
#include "expr/tree.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 7     /* rows and columns of the graph */
#define WIDTH 4 /* of src and dst, per head */

typedef struct fixture {
    FtB_Matrix A;
    FtB_Block src, dst, norm, other, w, bias, W, V;
    FtB_Semiring bound;
    ftb_message m;
    void *grad;
    ftb_message_type type;
    int64_t heads;
} fixture;

/* Positive and away from each other, so that no kink is near and every function has its domain. */
static void fill(rng *r, double *values, int64_t count)
{
    for (int64_t v = 0; v < count; v++)
        values[v] = 0.3 + rng_unit(r);
}

static FtB_Block random_block(rng *r, int64_t nrows, int64_t ncols)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, nrows, ncols, FTB_FP64));
    fill(r, block_values(X), nrows * ncols);
    return X;
}

static void make(fixture *f, const char *text, int64_t heads, int64_t edge_width)
{
    rng r = rng_new();
    FtB_Semiring s;
    FtB_Binding bindings[8];
    size_t count = 0;
    *f = (fixture){.heads = heads};
    f->A = rng_matrix(&r, FTB_FP64, N, N, edge_width, 0.4);
    fill(&r, matrix_values(f->A), f->A->pattern->nvals * edge_width);
    f->src = random_block(&r, N, heads * WIDTH);
    f->dst = random_block(&r, N, WIDTH);
    f->norm = random_block(&r, N, 1);
    f->other = random_block(&r, N, 1);
    f->bias = random_block(&r, N, WIDTH);
    f->w = random_block(&r, f->A->pattern->nvals, 1);
    f->W = random_block(&r, WIDTH, 3);
    f->V = random_block(&r, 2 * WIDTH, 1);
    assert_ok(FtB_Semiring_new(&s, text));
    const FtB_Binding all[] = {FTB_BIND("norm", f->norm), FTB_BIND("other", f->other), FTB_BIND("w", f->w),
                               FTB_BIND("bias", f->bias), FTB_BIND("W", f->W),         FTB_BIND("V", f->V),
                               FTB_BIND("scale", 0.75)};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++)
        if (ftb_expr_uses(s->message, all[b].name))
            bindings[count++] = all[b];
    assert_ok((FtB_Semiring_bind)(&f->bound, s, bindings, count));
    FtB_Semiring_free(&s);
    assert_ok(ftb_message_new(&f->m, ftb_context(), f->bound, NULL));
    assert_ok(ftb_message_block(&f->m, "src", FTB_SIDE_COL, f->src, heads));
    assert_ok(ftb_message_block(&f->m, "dst", FTB_SIDE_ROW, f->dst, 1));
    assert_ok(ftb_message_values(&f->m, "edge", f->A, NULL));
    assert_ok(ftb_message_indices(&f->m, f->A->pattern, false, NULL));
    ftb_program *program;
    assert_ok(ftb_message_compile(&f->type, &program, &f->m));
    ftb_program_delete(program);
    int64_t values = f->A->pattern->nvals * f->m.heads * f->type.width;
    f->grad = malloc((size_t)(values + 1) * 8);
    fill(&r, f->grad, values);
}

static void release(fixture *f)
{
    ftb_message_clear(&f->m);
    FtB_Semiring_free(&f->bound);
    FtB_Matrix_free(&f->A);
    FtB_Block *blocks[] = {&f->src, &f->dst, &f->norm, &f->other, &f->w, &f->bias, &f->W, &f->V};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
    free(f->grad);
}

static ftb_feed *push(ftb_message *m, const char *name, ftb_side side)
{
    ftb_feed *feed = &m->feeds[m->nfeeds++];
    *feed = (ftb_feed){.side = side, .type = FTB_FP64, .heads = 1, .width = 1};
    snprintf(feed->name, sizeof feed->name, "%s", name);
    return feed;
}

/* The message of a gradient: grad by edge, and every whole block transposed. */
static ftb_message gradient_message(const fixture *f, ftb_expr *expr, FtB_Block *transposed)
{
    ftb_message g = f->m;
    int wholes = 0;
    g.expr = expr;
    ftb_feed *grad = push(&g, "grad", FTB_SIDE_EDGE);
    grad->data = f->grad;
    grad->nrows = f->A->pattern->nvals;
    grad->heads = g.heads;
    grad->width = f->type.width;
    grad->ld = grad->heads * grad->width;
    for (int x = 0; x < f->m.nfeeds; x++)
        if (f->m.feeds[x].whole) {
            const FtB_Block W = f->m.feeds[x].whole;
            assert_ok(FtB_Block_new(&transposed[wholes], W->ncols, W->nrows, FTB_FP64));
            for (int64_t i = 0; i < W->nrows; i++)
                for (int64_t j = 0; j < W->ncols; j++)
                    ((double *)block_values(transposed[wholes]))[j * W->nrows + i] =
                        ((double *)block_values(W))[i * W->ld + j];
            ftb_feed *feed = push(&g, "", FTB_SIDE_NONE);
            *feed = ftb_whole_feed(transposed[wholes++]);
            snprintf(feed->name, sizeof feed->name, "%.20s'", f->m.feeds[x].name);
        }
    return g;
}

/* sum over edges of message . grad */
static double objective(const fixture *f)
{
    int64_t values = f->A->pattern->nvals * f->m.heads * f->type.width;
    double sum = 0, *V = malloc((size_t)(values + 1) * 8);
    assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &f->m, .p = f->A->pattern, .out = V}));
    for (int64_t v = 0; v < values; v++)
        sum += V[v] * ((const double *)f->grad)[v];
    free(V);
    return sum;
}

static double slope_of(const fixture *f, double *at, double step)
{
    const double was = *at;
    *at = was + step;
    double above = objective(f);
    *at = was - step;
    double below = objective(f);
    *at = was;
    return (above - below) / (2 * step);
}

static bool near(double got, double want) { return fabs(got - want) <= 1e-6 * (1 + fabs(want)); }

/* Where a kink or a jump lies within the step, a shorter one tells. */
static double slope(const fixture *f, double *at, double got)
{
    double want = slope_of(f, at, 1e-5);
    return near(got, want) ? want : slope_of(f, at, 1e-7);
}

static void expect(const char *text, const char *name, int64_t at, double got, double want)
{
    if (!near(got, want))
        fail_msg("%s: d/d %s, value %lld: %.12g; expected %.12g", text, name, (long long)at, got, want);
}

/* The gradient with respect to a feed, on edges, summed into the feed's rows. */
static void check_feed(const char *text, fixture *f, const ftb_feed *feed)
{
    ftb_derivative d;
    FtB_Block transposed[4] = {NULL};
    ftb_pattern *p = f->A->pattern;
    assert_ok(ftb_gradient(&d, &f->m, feed->name));
    assert_non_null(d.expr);
    ftb_message g = gradient_message(f, d.expr, transposed);
    ftb_message_type type;
    ftb_program *program;
    assert_ok(ftb_message_compile(&type, &program, &g));
    ftb_program_delete(program);
    if (type.width != feed->width && !(feed->side == FTB_SIDE_NONE))
        fail_msg("%s: d/d %s has width %lld; expected %lld", text, feed->name, (long long)type.width,
                 (long long)feed->width);
    int64_t own = feed->heads * feed->width;
    double *V = malloc((size_t)(p->nvals * g.heads * type.width + 1) * 8);
    double *sum = calloc((size_t)(feed->nrows * own + 1), 8);
    assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &g, .p = p, .out = V}));
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            for (int64_t x = 0; x < g.heads * type.width; x++) {
                int64_t row = feed->side == FTB_SIDE_ROW    ? i
                              : feed->side == FTB_SIDE_COL  ? ftb_col(p, e)
                              : feed->side == FTB_SIDE_EDGE ? e
                                                            : 0;
                sum[row * own + (feed->heads == 1 ? x % type.width : x)] += V[e * g.heads * type.width + x];
            }
    for (int64_t r = 0; r < feed->nrows; r++)
        for (int64_t x = 0; x < own; x++)
            expect(text, feed->name, r * own + x, sum[r * own + x],
                   slope(f, (double *)(uintptr_t)feed->data + r * feed->ld + x, sum[r * own + x]));
    free(V);
    free(sum);
    ftb_derivative_clear(&d);
    for (int t = 0; t < 4; t++)
        FtB_Block_free(&transposed[t]);
}

static void check_whole(const char *text, fixture *f, const ftb_feed *feed)
{
    ftb_derivative d;
    FtB_Block transposed[4] = {NULL}, W = feed->whole;
    int64_t nvals = f->A->pattern->nvals, items = nvals * f->m.heads;
    double *left = malloc((size_t)(items * W->nrows + 1) * 8),
           *right = malloc((size_t)(items * W->ncols + 1) * 8);
    double *sum = calloc((size_t)(W->nrows * W->ncols), 8);
    assert_ok(ftb_gradient(&d, &f->m, feed->name));
    assert_null(d.expr);
    assert_true(d.nouter > 0);
    for (int o = 0; o < d.nouter; o++) {
        ftb_message g = gradient_message(f, d.left[o], transposed);
        assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &g, .p = f->A->pattern, .out = left}));
        g.expr = d.right[o];
        assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &g, .p = f->A->pattern, .out = right}));
        for (int64_t t = 0; t < items; t++)
            for (int64_t a = 0; a < W->nrows; a++)
                for (int64_t b = 0; b < W->ncols; b++)
                    sum[a * W->ncols + b] += left[t * W->nrows + a] * right[t * W->ncols + b];
        for (int t = 0; t < 4; t++)
            FtB_Block_free(&transposed[t]);
    }
    for (int64_t x = 0; x < W->nrows * W->ncols; x++)
        expect(text, feed->name, x, sum[x], slope(f, (double *)block_values(W) + x, sum[x]));
    free(left);
    free(right);
    free(sum);
    ftb_derivative_clear(&d);
}

static void check(const char *text, int64_t heads, int64_t edge_width)
{
    fixture f;
    make(&f, text, heads, edge_width);
    for (int x = 0; x < f.m.nfeeds; x++) {
        const ftb_feed *feed = &f.m.feeds[x];
        if (feed->whole)
            check_whole(text, &f, feed);
        else if (feed->data && feed->type == FTB_FP64)
            check_feed(text, &f, feed);
    }
    release(&f);
}

/* Every operator that has derivatives, with arguments that broadcast either way. */
static void operators(void **state)
{
    (void)state;
    for (ftb_operator op = 0; op < FTB_NOPERATORS; op++) {
        const ftb_operator_row *row = &ftb_operators[op];
        char texts[4][96];
        int count = 0;
        bool infix = !strchr("abcdefghijklmnopqrstuvwxyz", row->spelling[0]);
        if (op == FTB_OP_FP32) /* too coarse for finite differences */
            continue;
        if (row->rule == FTB_RULE_FEATURE || row->rule == FTB_RULE_FORM || !*row->dx)
            continue;
        if (row->arity == 1) {
            snprintf(texts[count++], sizeof *texts, "plus : %s(src * 1.5) + src", row->spelling);
            snprintf(texts[count++], sizeof *texts, "plus : %s(src - dst) + src + dst", row->spelling);
        } else if (infix) {
            snprintf(texts[count++], sizeof *texts, "plus : (src %s dst) + src + dst", row->spelling);
            snprintf(texts[count++], sizeof *texts, "plus : (src %s edge) + src + edge", row->spelling);
            snprintf(texts[count++], sizeof *texts, "plus : (norm[i] %s src) + src + norm[i]", row->spelling);
        } else {
            snprintf(texts[count++], sizeof *texts, "plus : %s(src, dst) + src + dst", row->spelling);
            snprintf(texts[count++], sizeof *texts, "plus : %s(src, edge) + src + edge", row->spelling);
            snprintf(texts[count++], sizeof *texts, "plus : %s(scale, src) + src + scale", row->spelling);
        }
        for (int t = 0; t < count; t++)
            if (op != FTB_OP_LOG && op != FTB_OP_LOG1P && op != FTB_OP_LOG2 && op != FTB_OP_SQRT)
                check(texts[t], 1, 1);
            else if (t == 0)
                check(texts[t], 1, 1);
    }
}

static const char *const messages[] = {
    "plus : src",
    "plus : edge * src",
    "plus : edge * src * norm[i] / other[k]",
    "plus : dot(src, dst)",
    "plus : dot(src, edge) * scale",
    "plus : exp(dot(src, dst) / 4)",
    "plus : sum(src)",
    "plus : sum(src * edge) + edge",
    "plus : sum(edge) * dst",
    "plus : mean(src * dst) * src",
    "plus : mean(edge)",
    "plus : [src, dst, edge]",
    "plus : [edge, 1, src * 2]",
    "plus : src[1] * dst + src[0]",
    "plus : [src[0], dst][2] * edge",
    "plus : src > 0.8 ? src * dst : edge",
    "plus : sum(src > 0.8 ? dst : src)",
    "plus : (src + dst) @ W",
    "plus : relu((src - dst) @ W)",
    "plus : sum(src @ W) * dst",
    "plus : [src, dst] @ V",
    "plus : tanh([src, dst - src] @ V) * src",
    "plus : edge * (src @ W) + bias[i] @ W",
    "plus : src * w[e] + bias[k]",
    "plus : leaky_relu(src @ W + dst @ W, 0.2)",
    "plus : sqrt(sum((src - dst) * (src - dst)))",
    "plus : src / sqrt(sum(src * src))",
    "plus : sigmoid(src * dst) * tanh(edge)",
    "plus : max(src, dst, edge)",
    "plus : fp64(src) * dst",
    "plus : scale",
    "plus : src * (norm[i] + other[k])",
    "max : src * dst",
};

static void many_messages(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof messages / sizeof *messages; t++) {
        check(messages[t], 1, 1);
        if (!strstr(messages[t], "sum(edge)"))
            check(messages[t], 3, 1);
        check(messages[t], 3, 3);
    }
}

/* Values of edges as wide as src's. */
static void wide_edges(void **state)
{
    static const char *const texts[] = {"plus : edge * src", "plus : sum(edge) * dst",
                                        "plus : dot(edge, src)", "plus : mean(edge * norm[i])",
                                        "plus : edge[2] * edge"};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        check(texts[t], 1, WIDTH);
        check(texts[t], 2, 2 * WIDTH);
    }
}

static void printed(void **state)
{
    static const struct {
        const char *text, *name, *want;
    } rows[] = {
        {"plus : src", "src", "grad"},
        {"plus : edge * src", "src", "grad * edge"},
        {"plus : edge * src", "edge", "sum(grad * src)"},
        {"plus : src / edge", "src", "grad / edge"},
        {"plus : src - dst", "dst", "-grad"},
        {"plus : dot(src, dst)", "src", "grad * dst"},
        {"plus : relu(src)", "src", "src > 0 ? grad : 0.0"},
        {"plus : src @ W", "src", "grad @ W'"},
        {"mean : src", "src", "grad / di"},
        {"max : src", "src", "saved == e' ? grad : 0.0"},
        {"min : exp(src)", "src", "(saved == e' ? grad : 0.0) * exp(src)"},
        {"plus : src + norm[k]", "norm[k]", "sum(grad)"},
    };
    (void)state;
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        fixture f;
        ftb_derivative d;
        make(&f, rows[t].text, 1, 1);
        assert_ok(ftb_gradient_reduced(&d, &f.m, rows[t].name));
        char *got = ftb_expr_print(ftb_context(), d.expr);
        if (strcmp(got, rows[t].want) != 0)
            fail_msg("%s, d/d %s: %s; expected %s", rows[t].text, rows[t].name, got, rows[t].want);
        ftb_delete(got);
        ftb_derivative_clear(&d);
        assert_ok(ftb_gradient(&d, &f.m, "nothing"));
        assert_null(d.expr);
        release(&f);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *text, *name, *message;
    } rows[] = {
        {"plus : lgamma(src)", "src", "lgamma has no derivative, at column 8"},
        {"plus : src * int8(dst)", "dst", "int8 has no derivative, at column 14"},
        {"times : src", "src", "the reducer times has no gradient"},
        {"any : src", "src", "the reducer any has no gradient"},
        {"plus : src > dst", "src", "gradients are of real messages; this one is bool"},
        {"plus : hypergeom_sf([edge, 9, 4, 4]) * src", "edge", "hypergeom_sf has no derivative"},
    };
    (void)state;
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        fixture f;
        ftb_derivative d;
        make(&f, rows[t].text, 1, 1);
        assert_fails(GrB_DOMAIN_MISMATCH, rows[t].message, ftb_gradient_reduced(&d, &f.m, rows[t].name));
        assert_null(d.expr);
        release(&f);
    }
}

static GrB_Info gradient_call(void *arg)
{
    ftb_derivative d;
    const fixture *f = arg;
    GrB_Info info = ftb_gradient_reduced(&d, &f->m, f->m.feeds[0].name);
    if (info == GrB_SUCCESS)
        ftb_derivative_clear(&d);
    return info;
}

static void failing_allocations(void **state)
{
    static const char *const texts[] = {"max : relu([src, dst] @ V) * norm[i]", "mean : (src + dst) @ W"};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        fixture f;
        make(&f, texts[t], 1, 1);
        fail_every_allocation(gradient_call, NULL, &f);
        release(&f);
    }
}

int main(void)
{
    FtB_Context_set_threads(NULL, 1); /* tiny products, many of them */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators), cmocka_unit_test(many_messages),       cmocka_unit_test(wide_edges),
        cmocka_unit_test(printed),   cmocka_unit_test(failing_allocations), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
