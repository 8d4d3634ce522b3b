/* Blocks of one row in messages: the same vector, or number, for every edge. Against a loop over edges, heads
 * and features in double. */
#include "support/check.h"

#include "core/isa.h"
#include "support/fail_alloc.h"
#include "support/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 256 /* values of a row */

/* What one edge and head sees. */
typedef struct edge_view {
    const double *src, *dst, *p, *q; /* p, q: of one row */
    double n, edge;
    int64_t width;
} edge_view;

typedef int64_t (*oracle)(double *z, const edge_view *v); /* returns the width */

#define EACH(name, expression)                                                                               \
    static int64_t name(double *z, const edge_view *v)                                                       \
    {                                                                                                        \
        for (int64_t f = 0; f < v->width; f++)                                                               \
            z[f] = (expression);                                                                             \
        return v->width;                                                                                     \
    }
EACH(scaled, v->src[f] * v->p[f])
EACH(shifted, v->src[f] * v->p[f] + v->q[f])
EACH(mixed, (v->src[f] - v->p[f]) * v->dst[f] * v->edge)
EACH(alone, v->p[f])
EACH(of_rows, v->dst[f] * v->p[f] + v->n)
EACH(squashed, tanh(v->src[f] * v->n) * v->p[f])
static int64_t scored(double *z, const edge_view *v)
{
    z[0] = 0;
    for (int64_t f = 0; f < v->width; f++) {
        double x = v->src[f] + v->dst[f];
        z[0] += (x > 0 ? x : 0.2 * x) * v->p[f];
    }
    return 1;
}
static int64_t number(double *z, const edge_view *v)
{
    z[0] = v->n * v->edge + v->p[0];
    return 1;
}

enum { SUM, MEAN, LEAST, GREATEST };
static const struct {
    const char *text;
    oracle f;
    int reducer;
} cases[] = {
    {"plus : dot(leaky_relu(src + dst, 0.2), p)", scored, SUM},
    {"plus : src * p", scaled, SUM},
    {"max : src * p + q", shifted, GREATEST},
    {"mean : (src - p) * dst * edge", mixed, MEAN},
    {"plus : p", alone, SUM},
    {"min : dst * p + n", of_rows, LEAST},
    {"plus : tanh(src * n) * p", squashed, SUM},
    {"mean : n * edge + p[0]", number, MEAN},
};
#define NCASES ((int)(sizeof cases / sizeof *cases))

typedef struct fixture {
    FtB_Matrix A, C;
    FtB_Block src, dst, p, q, n;
    FtB_Semiring semiring, bound;
    int64_t heads, width, p_heads;
} fixture;

static FtB_Block with_heads(rng *r, int64_t nrows, int64_t heads, int64_t width, FtB_Type type)
{
    FtB_Block whole = random_block(r, nrows, heads * width, type), X;
    assert_ok(FtB_Block_heads(&X, whole, heads));
    FtB_Block_free(&whole);
    return X;
}

static void make(fixture *x, rng *r, const char *text, bool on_edges, FtB_Type type, int64_t heads,
                 int64_t p_heads, int64_t width)
{
    bool hub = rng_below(r, 2);
    int64_t nrows = 1 + rng_below(r, 40), ncols = hub ? 700 : 1 + rng_below(r, 40);
    *x = (fixture){.heads = heads, .width = width, .p_heads = p_heads};
    x->A = random_graph(r, nrows, ncols, FTB_FP32, 1, hub);
    assert_ok(FtB_Matrix_new(&x->C, FTB_FP64, nrows, ncols, 1));
    x->src = with_heads(r, ncols, heads, width, type);
    x->dst = with_heads(r, nrows, heads, width, type);
    x->p = with_heads(r, 1, p_heads, width, type);
    x->q = with_heads(r, 1, 1, width, type);
    x->n = with_heads(r, 1, 1, 1, FTB_FP32);
    const FtB_Binding all[] = {FTB_BIND("p", x->p), FTB_BIND("q", x->q), FTB_BIND("n", x->n),
                               FTB_BIND("dst", x->dst)};
    FtB_Binding bindings[4];
    size_t count = 0;
    assert_ok(FtB_Semiring_new(&x->semiring, text));
    for (int k = 0; k < 4; k++) {
        static const char *const names[] = {"p", "q", "n", "dst"};
        if (ftb_expr_uses(x->semiring->message, names[k]) && (k < 3 || !on_edges))
            bindings[count++] = (FtB_Binding){names[k], all[k].value};
    }
    assert_ok((FtB_Semiring_bind)(&x->bound, x->semiring, bindings, count));
}

static void release(fixture *x)
{
    FtB_Block *blocks[] = {&x->src, &x->dst, &x->p, &x->q, &x->n};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
    FtB_Semiring_free(&x->semiring);
    FtB_Semiring_free(&x->bound);
    FtB_Matrix_free(&x->A);
    FtB_Matrix_free(&x->C);
}

static void read_row(double *to, FtB_Block X, int64_t row, int64_t first, int64_t count)
{
    for (int64_t f = 0; f < count; f++)
        to[f] = ftb_get_real(block_values(X), X->type, row * X->ld + first + f);
}

/* The message of entry e in row i, all heads; returns how many values. */
static int64_t message(double *z, const fixture *x, oracle f, int64_t i, int64_t e)
{
    double src[MOST], dst[MOST], p[MOST], q[MOST];
    int64_t width = 0, w = x->width, j = ftb_col(x->A->pattern, e);
    for (int64_t h = 0; h < x->heads; h++) {
        read_row(src, x->src, j, h * w, w);
        read_row(dst, x->dst, i, h * w, w);
        read_row(p, x->p, 0, x->p_heads == 1 ? 0 : h * w, w);
        read_row(q, x->q, 0, 0, w);
        const edge_view v = {src,
                             dst,
                             p,
                             q,
                             ftb_get_real(block_values(x->n), x->n->type, 0),
                             ftb_get_real(matrix_values(x->A), x->A->type, e),
                             w};
        width = f(z + h * width, &v);
    }
    return x->heads * width;
}

static void expect(const char *text, int64_t i, int64_t f, double got, double want, double scale)
{
    if (!(fabs(got - want) <= 2e-5 * (1 + scale)) && got != want)
        fail_msg("'%s', row %lld, value %lld: %.9g; expected %.9g", text, (long long)i, (long long)f, got,
                 want);
}

static void check_reduced(const fixture *x, int t)
{
    const ftb_pattern *p = x->A->pattern;
    double z[MOST], sum[MOST], size[MOST];
    int64_t values = cases[t].f == scored || cases[t].f == number ? x->heads : x->heads * x->width;
    FtB_Block C;
    assert_ok(FtB_Block_new(&C, p->nrows, values, FTB_FP64));
    assert_ok(FtB_mxm(C, NULL, NULL, x->bound, x->A, x->src, NULL));
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t first = p->rowptr[i], last = p->rowptr[i + 1];
        for (int64_t e = first; e < last; e++) {
            assert_int_equal(message(z, x, cases[t].f, i, e), values);
            for (int64_t f = 0; f < values; f++) {
                int reducer = cases[t].reducer;
                if (e == first)
                    sum[f] = size[f] = 0;
                size[f] += fabs(z[f]);
                if (reducer == SUM || reducer == MEAN)
                    sum[f] += z[f] / (reducer == MEAN ? (double)(last - first) : 1);
                else if (e == first || (reducer == LEAST ? z[f] < sum[f] : z[f] > sum[f]))
                    sum[f] = z[f];
            }
        }
        for (int64_t f = 0; f < values; f++)
            expect(cases[t].text, i, f, ((double *)block_values(C))[i * values + f],
                   first < last ? sum[f] : 0, first < last ? size[f] : 0);
    }
    FtB_Block_free(&C);
}

static void check_on_edges(fixture *x, int t)
{
    const ftb_pattern *p = x->A->pattern;
    double z[MOST];
    assert_ok(FtB_mxm(x->C, x->A, NULL, x->bound, x->dst, x->src, FTB_DESC_RST1));
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            int64_t values = message(z, x, cases[t].f, i, e);
            assert_int_equal(x->C->width, values);
            for (int64_t f = 0; f < values; f++)
                expect(cases[t].text, i, f, ftb_get_real(matrix_values(x->C), x->C->type, e * values + f),
                       z[f], fabs(z[f]));
        }
}

static void products(void **state)
{
    static const int64_t widths[] = {1, 3, 16, 33, 60};
    static const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_INT8, FTB_FP16};
    rng r = rng_new();
    (void)state;
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        ftb_isa_force(isa);
        for (int round = 0; round < 12; round++)
            for (int t = 0; t < NCASES; t++) {
                fixture x;
                int64_t heads = 1 + rng_below(&r, 4);
                make(&x, &r, cases[t].text, round % 2, types[rng_below(&r, 4)], heads,
                     rng_below(&r, 2) ? heads : 1, widths[rng_below(&r, 5)]);
                if (round % 2)
                    check_on_edges(&x, t);
                else
                    check_reduced(&x, t);
                release(&x);
            }
    }
    ftb_isa_force(-1);
}

static void refused(void **state)
{
    rng r = rng_new();
    fixture x;
    FtB_Block C, narrow, rows;
    FtB_Semiring text, bound;
    (void)state;
    make(&x, &r, "plus : src * p", false, FTB_FP32, 2, 2, 3);
    assert_ok(FtB_Block_new(&C, x.A->pattern->nrows, 6, FTB_FP32));
    assert_ok(FtB_Block_new(&narrow, 1, 5, FTB_FP32));
    assert_ok(FtB_Block_new(&rows, 2, 3, FTB_FP32));
    assert_ok(FtB_Semiring_new(&text, "plus : src * v"));
    assert_ok(FtB_Semiring_bind(&bound, text, FTB_BIND("v", narrow)));
    assert_fails(GrB_DIMENSION_MISMATCH, "5", FtB_mxm(C, NULL, NULL, bound, x.A, x.src, NULL));
    FtB_Semiring_free(&bound);
    assert_ok(FtB_Semiring_bind(&bound, text, FTB_BIND("v", rows)));
    assert_fails(GrB_DOMAIN_MISMATCH, "'v' is a whole block; it stands right of @ or before an index",
                 FtB_mxm(C, NULL, NULL, bound, x.A, x.src, NULL));
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&text);
    assert_ok(FtB_Semiring_new(&text, "plus : src[0] @ v + v"));
    assert_ok(FtB_Semiring_bind(&bound, text, FTB_BIND("v", narrow)));
    assert_fails(GrB_DOMAIN_MISMATCH, "'v' is a whole block; it stands right of @",
                 FtB_mxm(C, NULL, NULL, bound, x.A, x.src, NULL));
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&text);
    FtB_Block_free(&C);
    FtB_Block_free(&narrow);
    FtB_Block_free(&rows);
    release(&x);
}

static GrB_Info attempt(void *arg)
{
    const fixture *x = arg;
    FtB_Block da = NULL, dC = NULL;
    GrB_Info info = FtB_Block_new(&da, 1, x->heads * x->width, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&dC, x->A->pattern->nrows, x->heads * x->width, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(dC, NULL, NULL, x->bound, x->A, x->src, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_mxm_grad(dC, x->bound, x->A, x->src, NULL, NULL, NULL, FTB_GRAD("p", da));
    FtB_Block_free(&da);
    FtB_Block_free(&dC);
    return info;
}

static void failing_allocations(void **state)
{
    rng r = rng_new();
    fixture x;
    (void)state;
    make(&x, &r, "mean : tanh(src - p) * a", false, FTB_FP32, 2, 2, 3);
    fail_every_allocation(attempt, NULL, &x);
    release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(refused),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
