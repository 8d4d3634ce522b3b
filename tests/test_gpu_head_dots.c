/* Dot products of heads and their gradients on a GPU that does not exist. Dot products have the bits of a
 * loop in the kernel's order, however rows lie, and are near what long double gives; gradients of rows are
 * exact to the bit, those of vectors within the rounding of sums in FP64. Networks that
 * are made of them learn there. */
#include "support/beside.h"
#include "support/check.h"

#include "gpu/columns.h"
#include "gpu/gpu_verbs.h"
#include "gpu/memory.h"
#include "nn/layers/layer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const FtB_Type reals[] = {FTB_FP32, FTB_FP64};

typedef struct shape {
    FtB_Type type;
    int64_t nrows, heads, width;
    int64_t x, a, y;  /* where blocks begin, */
    int64_t ldx, ldy; /* and how far their rows are apart */
} shape;

static shape some_shape(rng *r)
{
    static const int64_t rows[] = {0, 1, 2, 33, 64, 300},
                         widths[] = {0, 1, 2, 3, 4, 8, 9, 16, 20, 128, 132, 131};
    shape s = {.type = reals[rng_below(r, 2)],
               .nrows = rows[rng_below(r, 6)],
               .heads = 1 + rng_below(r, 9),
               .width = widths[rng_below(r, 12)]};
    const int64_t aligned = rng_below(r, 3), columns = s.heads * s.width;
    s.x = aligned ? 4 * rng_below(r, 2) : rng_below(r, 4);
    s.a = rng_below(r, 3) ? 4 : 1;
    s.y = rng_below(r, 3);
    s.ldx = aligned == 2 ? columns : aligned ? (columns + 7) / 4 * 4 : columns + rng_below(r, 5);
    s.ldy = s.heads + rng_below(r, 3);
    return s;
}

static double at(const beside *b, int64_t k) { return ftb_get_real(b->host, b->type, k); }
static double eps_of(FtB_Type type) { return type == FTB_FP32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2; }

/* Of the type: x + y or x * y. */
static double sum_of(FtB_Type type, double x, double y)
{
    return type == FTB_FP32 ? (double)((float)x + (float)y) : x + y;
}
static double times(FtB_Type type, double x, double y)
{
    return type == FTB_FP32 ? (double)((float)x * (float)y) : x * y;
}

static void put(beside *b, int64_t k, double x)
{
    ftb_cast(beside_at(b, false, k), b->type, &x, FTB_FP64, 1);
}

static void told(char *text, size_t size, const char *what, const shape *s)
{
    snprintf(text, size, "%s of %s, %lld x %lld x %lld", what, FtB_Type_name(s->type), (long long)s->nrows,
             (long long)s->heads, (long long)s->width);
}

/* ---- dot products */

/* As a span of lanes adds, four features each. */
static double in_order(const shape *s, const beside *x, int64_t xat, const beside *a, int64_t aat)
{
    double lane[32] = {0};
    int span = 1;
    while (span < 32 && span * 4 < s->width)
        span *= 2;
    for (int64_t f = 0; f < s->width; f++) {
        double *to = &lane[f / 4 % span];
        *to = sum_of(s->type, *to, times(s->type, at(x, xat + f), at(a, aat + f)));
    }
    for (int half = span / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] = sum_of(s->type, lane[l], lane[l + half]);
    return lane[0];
}

static void assert_near_exact(const shape *s, double got, const beside *x, int64_t xat, const beside *a,
                              int64_t aat)
{
    long double sum = 0, size = 0;
    for (int64_t f = 0; f < s->width; f++) {
        const long double one = (long double)at(x, xat + f) * (long double)at(a, aat + f);
        sum += one;
        size += fabsl(one);
    }
    if (!(fabsl((long double)got - sum) <= (long double)((double)(s->width + 1) * eps_of(s->type)) * size))
        fail_msg("%.17g is not near %.17g", got, (double)sum);
}

static void dot(rng *r)
{
    const shape s = some_shape(r);
    const bool odd = rng_below(r, 3) == 0;
    beside x = beside_new(r, s.type, s.x + s.nrows * s.ldx, odd ? beside_odd : rng_reals),
           a = beside_new(r, s.type, s.a + s.heads * s.width, rng_reals),
           y = beside_new(r, s.type, s.y + s.nrows * s.ldy, rng_reals);
    const int ran = fake_gpu_launches();
    char text[100];
    assert_ok(ftb_gpu_head_dots(&(ftb_head_dots_product){.ctx = ftb_context(),
                                                         .type = s.type,
                                                         .nrows = s.nrows,
                                                         .heads = s.heads,
                                                         .width = s.width,
                                                         .x = beside_at(&x, true, s.x),
                                                         .a = beside_at(&a, true, s.a),
                                                         .ldx = s.ldx,
                                                         .y = beside_at(&y, true, s.y),
                                                         .ldy = s.ldy}));
    for (int64_t i = 0; i < s.nrows; i++)
        for (int64_t h = 0; h < s.heads; h++) {
            const int64_t xat = s.x + i * s.ldx + h * s.width, aat = s.a + h * s.width;
            const double expected = in_order(&s, &x, xat, &a, aat);
            if (!odd)
                assert_near_exact(&s, expected, &x, xat, &a, aat);
            put(&y, s.y + i * s.ldy + h, expected);
        }
    told(text, sizeof text, "dot products", &s);
    beside_same(&y, text);
    assert_int_equal(fake_gpu_launches() - ran, s.nrows > 0);
    beside_free(&x);
    beside_free(&a);
}

static void dots(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(200); n++)
        dot(&r);
}

/* ---- gradients */

typedef struct operands {
    shape s;
    beside x, a, dy, dx, da;
    bool wants_dx, wants_da, add_dx, add_da;
} operands;

static operands some_operands(rng *r)
{
    operands o = {.s = some_shape(r),
                  .wants_dx = rng_below(r, 4) > 0,
                  .add_dx = rng_below(r, 2),
                  .add_da = rng_below(r, 2)};
    const shape *s = &o.s;
    o.wants_da = !o.wants_dx || rng_below(r, 2);
    o.x = beside_new(r, s->type, s->x + s->nrows * s->ldx, rng_reals);
    o.dx = beside_new(r, s->type, s->x + s->nrows * s->ldx, rng_reals);
    o.a = beside_new(r, s->type, s->a + s->heads * s->width, rng_reals);
    o.da = beside_new(r, s->type, s->a + s->heads * s->width, rng_reals);
    o.dy = beside_new(r, s->type, s->y + s->nrows * s->ldy, rng_reals);
    return o;
}

static ftb_head_dots_product product_of(const operands *o)
{
    const shape *s = &o->s;
    return (ftb_head_dots_product){.ctx = ftb_context(),
                                   .type = s->type,
                                   .nrows = s->nrows,
                                   .heads = s->heads,
                                   .width = s->width,
                                   .x = o->wants_da ? beside_at(&o->x, true, s->x) : NULL,
                                   .a = o->wants_dx ? beside_at(&o->a, true, s->a) : NULL,
                                   .ldx = s->ldx,
                                   .dy = beside_at(&o->dy, true, s->y),
                                   .dx = o->wants_dx ? beside_at(&o->dx, true, s->x) : NULL,
                                   .da = o->wants_da ? beside_at(&o->da, true, s->a) : NULL,
                                   .lddy = s->ldy,
                                   .lddx = s->ldx,
                                   .add_dx = o->add_dx,
                                   .add_da = o->add_da};
}

static void make_dx(operands *o)
{
    const shape *s = &o->s;
    for (int64_t i = 0; i < s->nrows; i++)
        for (int64_t f = 0; f < s->heads * s->width; f++) {
            const int64_t to = s->x + i * s->ldx + f;
            const double one =
                times(s->type, at(&o->dy, s->y + i * s->ldy + f / s->width), at(&o->a, s->a + f));
            put(&o->dx, to, o->add_dx ? sum_of(s->type, at(&o->dx, to), one) : one);
        }
}

/* Beside what is not its own, which must be as it was. */
static void check_da(const operands *o)
{
    const shape *s = &o->s;
    void *home = beside_fetch(&o->da);
    /* Of one sum: a product, what a thread adds of its part, both trees, and what is added to. */
    const double depth =
        1 + (double)(s->nrows / 8 / FTB_COLUMN_PARTS_MOST + FTB_COLUMN_PARTS_ROWS) + 8 + 1 + 8 + 1;
    for (int64_t f = 0; f < s->heads * s->width; f++) {
        const int64_t to = s->a + f;
        const double got = ftb_get_real(home, s->type, to);
        long double sum = o->add_da ? (long double)at(&o->da, to) : 0, size = fabsl(sum);
        for (int64_t i = 0; i < s->nrows; i++) {
            const long double one = (long double)at(&o->x, s->x + i * s->ldx + f) *
                                    (long double)at(&o->dy, s->y + i * s->ldy + f / s->width);
            sum += one;
            size += fabsl(one);
        }
        if (!(fabsl((long double)got - sum) <=
              (long double)eps_of(s->type) * fabsl(sum) + (long double)depth * 0x1p-53L * size))
            fail_msg("da, %lld rows: %.17g, not %.17g", (long long)s->nrows, got, (double)sum);
        memcpy(beside_at(&o->da, false, to), (char *)home + (size_t)to * FtB_Type_size(s->type),
               FtB_Type_size(s->type));
    }
    free(home);
}

static void gradient(rng *r)
{
    operands o = some_operands(r);
    const ftb_head_dots_product p = product_of(&o);
    const int ran = fake_gpu_launches();
    char text[100];
    assert_ok(ftb_gpu_head_dots_grad(&p));
    if (o.wants_dx)
        make_dx(&o);
    if (o.wants_da)
        check_da(&o);
    told(text, sizeof text, "gradients", &o.s);
    beside_same(&o.dx, text);
    beside_same(&o.da, text);
    assert_int_equal(fake_gpu_launches() - ran,
                     o.s.width == 0 ? 0 : 2 * o.wants_da + (o.wants_dx && o.s.nrows > 0));
    beside_free(&o.x);
    beside_free(&o.a);
    beside_free(&o.dy);
}

static void gradients(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(200); n++)
        gradient(&r);
}

/* What fails before anything is written can be done by the host; what fails between gradients that are added
 * cannot. */
static void failures(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < 40;) {
        operands o = some_operands(&r);
        const ftb_head_dots_product p = product_of(&o);
        if (o.wants_dx && o.wants_da && o.s.nrows > 0 && o.s.width > 0) {
            const int at_call = n++ % 4; /* 0: no room */
            assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
            setenv("FAKE_CUDA_FAILS", at_call ? "cuLaunchKernel" : "cuMemAlloc", 1);
            setenv("FAKE_CUDA_AT", at_call == 3 ? "3" : at_call == 2 ? "2" : "1", 1);
            const GrB_Info info = ftb_gpu_head_dots_grad(&p);
            assert_null(getenv("FAKE_CUDA_FAILS"));
            assert_int_equal(info, at_call == 3 && o.add_dx ? GrB_PANIC : FTB_NO_DEVICE);
            if (at_call == 3)
                beside_free(&o.dx);
            else
                beside_same(&o.dx, "dx");
            beside_same(&o.da, "da");
        } else {
            beside_free(&o.dx);
            beside_free(&o.da);
        }
        beside_free(&o.x);
        beside_free(&o.a);
        beside_free(&o.dy);
    }
}

/* ---- networks */

enum { ROWS = 41, HEADS = 3, WIDTH = 8, VALUES = HEADS * WIDTH };

static FtB_Parameter parameter(rng *r, const char *name, int64_t nrows)
{
    FtB_Parameter p;
    FtB_Block X;
    assert_ok(FtB_Parameter_new(&p, name, nrows, VALUES, FTB_FP32));
    assert_ok(FtB_Parameter_value(&X, p));
    rng_reals(r, block_values(X), FTB_FP32, nrows * VALUES);
    assert_ok(FtB_Block_changed(X));
    FtB_Block_free(&X);
    return p;
}

static void gradient_to(float *to, FtB_Parameter *p, int64_t nrows)
{
    FtB_Block G;
    assert_ok(FtB_Parameter_gradient(&G, *p));
    memcpy(to, block_values(G), (size_t)(nrows * VALUES) * sizeof *to);
    FtB_Block_free(&G);
    FtB_Parameter_free(p);
}

/* The gradients, of x and then of a, of a loss over their dot products, or over means of what dropout keeps
 * of x. */
static void learn(float gradient[(ROWS + 1) * VALUES], const char *device, bool dots)
{
    FtB_Tape tape;
    FtB_Block T;
    rng r = rng_case(7);
    assert_ok(FtB_Context_set_device(NULL, device));
    assert_ok(FtB_Tape_new(&tape, 5));
    assert_ok(FtB_Block_new(&T, ROWS, dots ? HEADS : WIDTH, FTB_FP32));
    FtB_Parameter px = parameter(&r, "x", ROWS), pa = parameter(&r, "a", 1);
    const FtB_Var x = FtB_parameter(tape, px), a = FtB_parameter(tape, pa);
    const FtB_Var y = dots ? ftb_head_dots(x, a, HEADS)
                           : FtB_mean_heads(FtB_heads(FtB_dropout(FtB_scale(x, 2), 0.3), HEADS));
    assert_ok(FtB_backward(FtB_squared_error(y, FtB_input(tape, T), NULL)));
    gradient_to(gradient, &px, ROWS);
    gradient_to(gradient + ROWS * VALUES, &pa, 1);
    FtB_Block_free(&T);
    FtB_Tape_free(&tape);
}

static void networks(void **state)
{
    float here[(ROWS + 1) * VALUES], there[(ROWS + 1) * VALUES];
    (void)state;
    for (int dots = 0; dots < 2; dots++) {
        learn(here, NULL, dots);
        const int ran = fake_gpu_launches();
        learn(there, "gpu", dots);
        assert_true(!fake_gpu_emulates() || fake_gpu_launches() - ran >= 4);
        for (int k = 0; k < (ROWS + 1) * VALUES; k++)
            if (!(fabsf(here[k] - there[k]) <= (dots ? 1e-5F : 0) * (1 + fabsf(here[k]))))
                fail_msg("gradient %d of kind %d: %.9g, on the host %.9g", k, dots, (double)there[k],
                         (double)here[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(dots, beside_clean), cmocka_unit_test_teardown(gradients, beside_clean),
        cmocka_unit_test_teardown(failures, beside_clean), cmocka_unit_test_teardown(networks, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
