/* Messages that are C functions in products with blocks, and the gradients that come with them, against the
 * same messages as text: values are small and whole, so that both are exact. */
#include "support/check.h"

#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>

enum { NROWS = 9, NCOLS = 7, OUTPUTS = 3 };
static const float two = 2;

/* src edge + theta dst src */
static void message(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                    const void *theta)
{
    for (int64_t f = 0; f < width; f++)
        z[f] = src[f] * edge[f] + *(const float *)theta * dst[f] * src[f];
}

static void gradient(float *dsrc, float *ddst, float *dedge, const float *grad, const float *src,
                     const float *dst, const float *edge, int64_t width, const void *theta)
{
    for (int64_t f = 0; f < width; f++) {
        if (dsrc)
            dsrc[f] += grad[f] * (edge[f] + *(const float *)theta * dst[f]);
        if (ddst)
            ddst[f] += grad[f] * *(const float *)theta * src[f];
        if (dedge)
            dedge[f] += grad[f] * src[f];
    }
}

/* The number of a row's values, whatever these are. */
static void first_only(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                       const void *theta)
{
    (void)theta;
    z[0] = dst ? dst[0] : 0;
    for (int64_t f = 0; f < width; f++)
        z[0] += src[f] * edge[f];
}

typedef struct config {
    const char *reducer;
    int64_t heads, width, edge_width;
    bool transposed, on_edges, shared_dst;
} config;

typedef struct fixture {
    config c;
    FtB_Matrix A, dS;
    FtB_Block src, dst, C, E, dC;
    FtB_Semiring text, function; /* both bound */
    FtB_Block out[2][OUTPUTS];   /* of text, of function */
} fixture;

static FtB_Semiring bind_dst(FtB_Semiring s, const fixture *f)
{
    FtB_Semiring bound = NULL;
    if (f->c.on_edges)
        return s;
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("dst", f->dst)));
    FtB_Semiring_free(&s);
    return bound;
}

static void make(fixture *f, const config *c)
{
    rng r = rng_new();
    char text[64];
    FtB_Semiring s;
    *f = (fixture){.c = *c};
    f->A = rng_matrix(&r, FTB_FP32, c->transposed ? NCOLS : NROWS, c->transposed ? NROWS : NCOLS,
                      c->edge_width, 0.4);
    f->src = rng_heads(&r, FTB_FP32, NCOLS, c->heads, c->width, rng_values);
    f->dst = rng_heads(&r, FTB_FP32, NROWS, c->shared_dst ? 1 : c->heads, c->width, rng_values);
    f->C = rng_heads(&r, FTB_FP32, NROWS, c->heads, c->width, rng_values);
    f->dC = rng_heads(&r, FTB_FP32, NROWS, 1, c->heads * c->width, rng_values);
    assert_ok(FtB_Block_new(&f->E, NROWS, c->heads * c->width, FTB_INT64));
    for (int way = 0; way < 2; way++) {
        FtB_Block operands[OUTPUTS] = {f->src, f->dst, NULL};
        for (int o = 0; o < OUTPUTS; o++) {
            int64_t nrows = 0, ncols = c->edge_width;
            if (operands[o])
                FtB_Block_shape(operands[o], &nrows, &ncols, NULL, NULL, NULL);
            else
                FtB_Matrix_shape(f->A, NULL, NULL, &nrows, NULL, NULL);
            f->out[way][o] = rng_heads(&r, FTB_FP32, nrows, 1, ncols, rng_values);
        }
    }
    snprintf(text, sizeof text, "%s : src * edge + 2 * dst * src", c->reducer);
    assert_ok(FtB_Semiring_new(&s, text));
    f->text = bind_dst(s, f);
    assert_ok(FtB_Semiring_new_function(&s, c->reducer, message, c->width, &two));
    assert_ok(FtB_Semiring_set_gradient(s, gradient));
    f->function = bind_dst(s, f);
    assert_ok(FtB_Matrix_like(&f->dS, f->A, c->heads * c->width, FTB_FP32));
    const void *values;
    int64_t nvals;
    assert_ok(FtB_Matrix_csr(f->dS, NULL, NULL, &values));
    assert_ok(FtB_Matrix_shape(f->dS, NULL, NULL, &nvals, NULL, NULL));
    rng_values(&r, (void *)(uintptr_t)values, FTB_FP32, nvals * c->heads * c->width);
}

static void release(fixture *f)
{
    FtB_Block *blocks[] = {&f->src, &f->dst, &f->C, &f->E, &f->dC};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
    for (int o = 0; o < 2 * OUTPUTS; o++)
        FtB_Block_free(&f->out[o / OUTPUTS][o % OUTPUTS]);
    FtB_Matrix_free(&f->A);
    FtB_Matrix_free(&f->dS);
    FtB_Semiring_free(&f->text);
    FtB_Semiring_free(&f->function);
}

static GrB_Info gradients(fixture *f, int way)
{
    FtB_Semiring s = way ? f->function : f->text;
    bool winners = !f->c.on_edges && f->c.reducer[0] == 'm' && f->c.reducer[1] != 'e';
    FtB_Arg T0 = f->c.transposed ? FTB_ARG(FTB_DESC_T0) : FTB_ARG(NULL);
    FtB_Gradient asked[] = {FTB_GRAD("src", f->out[way][0]), FTB_GRAD_ADD("dst", f->out[way][1]),
                            FTB_GRAD("edge", f->out[way][2])};
    size_t count = f->c.edge_width > 0 ? 3 : 2;
    if (f->c.on_edges)
        return (FtB_mxm_grad)(FTB_ARG(f->dS), FTB_ARG(s), FTB_ARG(f->dst), FTB_ARG(f->src), FTB_ARG(f->A),
                              FTB_ARG(NULL), asked, count, FTB_ARG(FTB_DESC_ST1));
    GrB_Info info = GrB_SUCCESS;
    if (winners)
        info = FtB_mxm_arg(f->C, f->E, NULL, s, f->A, f->src, T0);
    return info != GrB_SUCCESS
               ? info
               : (FtB_mxm_grad)(FTB_ARG(f->dC), FTB_ARG(s), FTB_ARG(f->A), FTB_ARG(f->src), FTB_ARG(NULL),
                                winners ? FTB_ARG(f->E) : FTB_ARG(NULL), asked, count, T0);
}

static void assert_same(FtB_Block X, FtB_Block Y, const config *c, int o)
{
    int64_t nrows, ncols, ldx, ldy;
    float *x, *y;
    assert_ok(FtB_Block_shape(X, &nrows, &ncols, &ldx, NULL, (void **)&x));
    assert_ok(FtB_Block_shape(Y, NULL, NULL, &ldy, NULL, (void **)&y));
    for (int64_t t = 0; t < nrows * ncols; t++) {
        float got = y[t / ncols * ldy + t % ncols], wanted = x[t / ncols * ldx + t % ncols];
        if (!(fabsf(got - wanted) <= 1e-5F * (c->reducer[1] == 'e' ? 1 + fabsf(wanted) : 0)))
            fail_msg("%s, %lld heads of %lld, edges of %lld: output %d is %g at %lld; expected %g",
                     c->reducer, (long long)c->heads, (long long)c->width, (long long)c->edge_width, o,
                     (double)got, (long long)t, (double)wanted);
    }
}

static void check(const config *c)
{
    fixture f;
    make(&f, c);
    /* What dst's gradient is added to is the same for both. */
    assert_ok(FtB_apply(f.out[1][1], NULL, NULL, "x", f.out[0][1], NULL));
    for (int way = 0; way < 2; way++)
        assert_ok(gradients(&f, way));
    for (int o = 0; o < (c->edge_width > 0 ? 3 : 2); o++)
        assert_same(f.out[0][o], f.out[1][o], c, o);
    release(&f);
}

static void gradients_are_those_of_the_text(void **state)
{
    static const char *const reducers[] = {"plus", "mean", "max", "min"};
    (void)state;
    for (int threads = 1; threads < 4; threads += 2)
        for (int way = 0; way < 3; way++)
            for (int64_t heads = 1; heads < 4; heads++)
                for (int64_t width = 1; width < 34; width += 16)
                    for (int x = 0; x < 4; x++) {
                        FtB_Context_set_threads(NULL, threads);
                        const int64_t edge_widths[] = {0, 1, heads, heads * width};
                        for (int e = 0; e < 4; e++)
                            check(&(const config){reducers[x], heads, width, edge_widths[e], way == 1,
                                                  way == 2, x % 2 == 1});
                    }
    FtB_Context_set_threads(NULL, 1);
}

static void products_with_dst(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        const config c = {"plus", 2, 5, 1, false, way == 1, false};
        fixture f;
        make(&f, &c);
        FtB_Block C = NULL;
        FtB_Matrix S = NULL;
        if (c.on_edges) {
            FtB_Block V, W;
            assert_ok(FtB_Matrix_new(&S, FTB_FP32, NROWS, NCOLS, 10));
            assert_ok(FtB_mxm(S, f.A, NULL, f.text, f.dst, f.src, FTB_DESC_ST1));
            assert_ok(FtB_mxm(f.dS, f.A, NULL, f.function, f.dst, f.src, FTB_DESC_ST1));
            assert_ok(FtB_Matrix_values(&V, S));
            assert_ok(FtB_Matrix_values(&W, f.dS));
            assert_same(V, W, &c, -1);
            FtB_Block_free(&V);
            FtB_Block_free(&W);
        } else {
            assert_ok(FtB_Block_new(&C, NROWS, 10, FTB_FP32));
            assert_ok(FtB_mxm(C, NULL, NULL, f.text, f.A, f.src, NULL));
            assert_ok(FtB_mxm(f.C, NULL, NULL, f.function, f.A, f.src, NULL));
            assert_same(C, f.C, &c, -1);
        }
        FtB_Block_free(&C);
        FtB_Matrix_free(&S);
        release(&f);
    }
}

/* One number for all rows in place of a block. */
static void a_number_as_dst(void **state)
{
    (void)state;
    fixture f;
    FtB_Semiring s, bound;
    FtB_Block out[2];
    make(&f, &(const config){"plus", 2, 3, 1, false, false, false});
    for (int way = 0; way < 2; way++) {
        if (way)
            assert_ok(FtB_Semiring_new_function(&s, "plus", message, 3, &two));
        else
            assert_ok(FtB_Semiring_new(&s, "plus : src * edge + 2 * dst * src"));
        if (way)
            assert_ok(FtB_Semiring_set_gradient(s, gradient));
        assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("dst", 3.0)));
        assert_ok(FtB_Block_new(&out[way], 1, 1, FTB_FP32));
        assert_ok(FtB_mxm_grad(f.dC, bound, f.A, f.src, NULL, NULL, NULL, FTB_GRAD("dst", out[way])));
        FtB_Semiring_free(&s);
        FtB_Semiring_free(&bound);
    }
    assert_same(out[0], out[1], &f.c, 1);
    FtB_Block_free(&out[0]);
    FtB_Block_free(&out[1]);
    release(&f);
}

static void wrong_arguments(void **state)
{
    (void)state;
    fixture f;
    FtB_Semiring s, t;
    FtB_Block narrow, row;
    FtB_Matrix B;
    make(&f, &(const config){"plus", 1, 3, 1, false, false, false});
    assert_ok(FtB_Semiring_new_function(&s, "plus", first_only, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "'scale': a message that is a C function reads dst alone",
                 FtB_Semiring_bind(&t, s, FTB_BIND("scale", 1)));
    assert_ok(FtB_Block_new(&narrow, NROWS, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&row, NROWS, 1, FTB_FP32));
    assert_ok(FtB_Semiring_bind(&t, s, FTB_BIND("dst", narrow)));
    assert_fails(GrB_DIMENSION_MISMATCH, "'src' has 3 values per head and 'dst' 2",
                 FtB_mxm(row, NULL, NULL, t, f.A, f.src, NULL));
    assert_ok(FtB_Matrix_new(&B, FTB_FP32, NCOLS, NCOLS, 1));
    assert_fails(GrB_INVALID_VALUE, "'dst' is bound", FtB_mxm(f.dS, NULL, NULL, t, f.A, B, NULL));
    FtB_Semiring_free(&t);
    assert_ok(FtB_mxm(row, NULL, NULL, s, f.A, f.src, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "a C function without a gradient",
                 FtB_mxm_grad(row, s, f.A, f.src, NULL, NULL, NULL, FTB_GRAD("src", f.out[0][0])));
    assert_ok(FtB_Semiring_new_function(&t, "times", first_only, 1, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "times has no gradient",
                 FtB_mxm_grad(row, t, f.A, f.src, NULL, NULL, NULL, FTB_GRAD("src", f.out[0][0])));
    FtB_Semiring_free(&t);
    assert_ok(FtB_Semiring_new(&t, "plus : src"));
    assert_fails(GrB_INVALID_VALUE, "s is text", FtB_Semiring_set_gradient(t, gradient));
    assert_fails(GrB_INVALID_VALUE, "s is text", FtB_Semiring_set_gradient(FTB_PLUS_SRC, gradient));
    assert_fails(GrB_NULL_POINTER, "s is NULL", FtB_Semiring_set_gradient(NULL, gradient));
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&t);
    FtB_Block_free(&narrow);
    FtB_Block_free(&row);
    FtB_Matrix_free(&B);
    release(&f);
}

static GrB_Info try(void *arg)
{
    fixture *f = arg;
    FtB_Matrix fresh = NULL, kept = f->A; /* without what hangs on A's pattern */
    const int64_t *rowptr;
    const void *colidx, *values;
    FtB_Matrix_csr(kept, &rowptr, &colidx, &values);
    GrB_Info info =
        FtB_Matrix_wrap_csr(&fresh, FTB_FP32, NROWS, NCOLS, f->c.edge_width, rowptr, colidx, values);
    f->A = fresh;
    if (info == GrB_SUCCESS)
        info = gradients(f, 1);
    f->A = kept;
    FtB_Matrix_free(&fresh);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    const config some[] = {{"max", 2, 3, 1, false, false, false}, {"mean", 1, 3, 1, false, false, true}};
    for (int x = 0; x < 2; x++) {
        fixture f;
        make(&f, &some[x]);
        fail_every_allocation(try, NULL, &f);
        release(&f);
    }
}

int main(void)
{
    FtB_Context_set_threads(NULL, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_text),
        cmocka_unit_test(products_with_dst),
        cmocka_unit_test(a_number_as_dst),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
