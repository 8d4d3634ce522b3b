/* Kernels by themselves: FP32 functions to 2.5 units in the last place of the C library in double precision,
 * features and products of every width, strides, and the same bits from every instruction set.
 * Labels: property */
#include "support/check.h"

#include "core/isa.h"
#include "cpu/interpreter.h"
#include "expr/expr.h"
#include "expr/tree.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct compiled {
    ftb_program *p;
    ftb_interpreter *m;
} compiled;

static compiled compile(const char *text, int count, const ftb_name *names)
{
    compiled c;
    ftb_expr *e;
    assert_ok(ftb_expr_parse(&e, ftb_context(), text, "test", 0));
    assert_ok(ftb_program_new(&c.p, ftb_context(), e, count, names, false));
    assert_ok(ftb_interpreter_new(&c.m, ftb_context(), c.p));
    ftb_expr_release(e);
    return c;
}

static void release(compiled *c)
{
    ftb_interpreter_delete(c->m);
    ftb_program_delete(c->p);
}

/* Runs for an instruction set; false if this machine has none such. */
static bool run_for(int isa, const char *text, int count, const ftb_name *names, int64_t items,
                    const ftb_operand *operands, void *out)
{
    if (ftb_isa_force(isa) != isa) {
        ftb_isa_force(-1);
        return false;
    }
    compiled c = compile(text, count, names);
    ftb_interpreter_run(c.m, items, operands, out);
    release(&c);
    ftb_isa_force(-1);
    return true;
}

/* ---- functions */

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double elu(double x) { return x > 0 ? x : expm1(x); }

static const struct {
    const char *text;
    double (*exact)(double);
} functions[] = {{"exp(x)", exp},   {"expm1(x)", expm1},   {"log(x)", log},         {"log1p(x)", log1p},
                 {"log2(x)", log2}, {"tanh(x)", tanh},     {"sigmoid(x)", sigmoid}, {"elu(x)", elu},
                 {"sqrt(x)", sqrt}, {"lgamma(x)", lgamma}, {"erf(x)", erf}};

/* Distance in units in the last place of FP32, with subnormals; the zeros are far apart. */
static double ulps(float got, double want)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : HUGE_VAL;
    float nearest = (float)want;
    if (isinf(nearest) || isinf(got))
        return nearest == got ? 0 : HUGE_VAL;
    if (nearest == 0 && got == 0)
        return signbit(nearest) == signbit(got) ? 0 : HUGE_VAL;
    float unit = nextafterf(fabsf(nearest), HUGE_VALF) - fabsf(nearest);
    return fabs((double)got - want) / (double)unit;
}

static void fill_floats(rng *r, float *x, int64_t count)
{
    static const float special[] = {0,         -0.0F,       1,          -1,          HUGE_VALF, -HUGE_VALF,
                                    NAN,       1e-45F,      -1e-45F,    88.7F,       88.8F,     -87.4F,
                                    -103.9F,   -104.1F,     3.4e38F,    -3.4e38F,    1e-38F,    0.34657F,
                                    -0.34657F, 0.99999994F, 1.0000001F, -0.99999994F};
    int64_t nspecial = sizeof special / sizeof *special;
    for (int64_t t = 0; t < count; t++) {
        uint32_t bits = (uint32_t)rng_bits(r);
        if (t < nspecial)
            x[t] = special[t];
        else if (t % 2)
            memcpy(&x[t], &bits, 4);
        else
            x[t] = (float)(40 * rng_unit(r) - 20);
    }
}

static void test_functions(void **state)
{
    (void)state;
    enum { COUNT = 200 * FTB_BATCH };
    rng r = rng_new();
    float *x = malloc(COUNT * 4), *z[3] = {malloc(COUNT * 4), malloc(COUNT * 4), malloc(COUNT * 4)};
    assert_true(x && z[0] && z[1] && z[2]);
    fill_floats(&r, x, COUNT);
    const ftb_name name = {.name = "x", .type = FTB_FP32, .width = 1};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        double worst = 0;
        for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++)
            for (int64_t t = 0; t < COUNT; t += FTB_BATCH) {
                const ftb_operand operand = {x + t, 1};
                if (!run_for(isa, functions[f].text, 1, &name, FTB_BATCH, &operand, z[isa] + t))
                    memcpy(z[isa] + t, z[0] + t, FTB_BATCH * 4);
            }
        for (int64_t t = 0; t < COUNT; t++) {
            double distance = ulps(z[0][t], functions[f].exact((double)x[t]));
            worst = fmax(worst, distance);
            if (distance > 2.5)
                fail_msg("%s at %.9g: %.9g, expected %.17g (%.3g ulp)", functions[f].text, (double)x[t],
                         (double)z[0][t], functions[f].exact((double)x[t]), distance);
            for (int isa = 1; isa < 3; isa++)
                if (memcmp(&z[0][t], &z[isa][t], 4) != 0 && !isnan(z[0][t]))
                    fail_msg("%s at %.9g: other bits from %s", functions[f].text, (double)x[t],
                             ftb_isa_name(isa));
        }
        printf("%-10s %.3f ulp\n", functions[f].text, worst);
    }
    free(x);
    for (int isa = 0; isa < 3; isa++)
        free(z[isa]);
}

/* None of operators.def is missing above. */
static void test_all_functions(void **state)
{
    (void)state;
    for (ftb_operator op = 0; op < FTB_NOPERATORS; op++) {
        char text[64];
        size_t f = 0;
        snprintf(text, sizeof text, "%s(x)", ftb_operators[op].spelling);
        if (ftb_operators[op].rule != FTB_RULE_REAL || ftb_operators[op].arity != 1)
            continue;
        while (f < sizeof functions / sizeof *functions && strcmp(functions[f].text, text) != 0)
            f++;
        if (f == sizeof functions / sizeof *functions)
            fail_msg("%s is not compared with the C library: give `functions` a row", text);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What operators.def says rises: f(x) <= f(y) for x <= y, but for rounding, and NaN for NaN alone. */
static void test_rising(void **state)
{
    (void)state;
    enum { COUNT = 4 * FTB_BATCH };
    rng r = rng_new();
    double x[COUNT], z[COUNT];
    int rising = 0;
    for (int64_t t = 0; t < COUNT; t++)
        x[t] = ldexp(2 * rng_unit(&r) - 1, (int)rng_below(&r, 40) - 30);
    x[0] = -INFINITY;
    x[1] = INFINITY;
    qsort(x, COUNT, sizeof *x, by_value);
    for (ftb_operator op = 0; op < FTB_NOPERATORS; op++) {
        const ftb_name name = {.name = "x", .type = FTB_FP64, .width = 1};
        const double nan = NAN;
        char text[64];
        if (!ftb_operators[op].rises)
            continue;
        rising++;
        assert_int_equal(ftb_operators[op].arity, 1);
        snprintf(text, sizeof text, "%s(x)", ftb_operators[op].spelling);
        for (int64_t t = 0; t < COUNT; t += FTB_BATCH)
            assert_true(
                run_for(FTB_ISA_BASELINE, text, 1, &name, FTB_BATCH, &(ftb_operand){x + t, 1}, z + t));
        for (int64_t t = 0; t < COUNT; t++)
            if (isnan(z[t]) || (t > 0 && z[t] < z[t - 1] - 1e-15 * fabs(z[t])))
                fail_msg("%s of %.17g: %.17g, of %.17g: %.17g", text, x[t], z[t], x[t > 0 ? t - 1 : 0],
                         z[t > 0 ? t - 1 : 0]);
        assert_true(run_for(FTB_ISA_BASELINE, text, 1, &name, 1, &(ftb_operand){&nan, 1}, z));
        assert_true(isnan(z[0]));
    }
    assert_true(rising >= 7);
}

/* ---- features and products */

/* x and y of a width, W of width x columns: sums are within the bound of any order of summation. */
static void check_features(rng *r, int64_t width, int64_t columns, int64_t items, FtB_Type type)
{
    size_t size = FtB_Type_size(type);
    int64_t ld = columns + rng_below(r, 3), stride = width + rng_below(r, 3);
    char *x = calloc((size_t)(stride * items), size), *y = calloc((size_t)(stride * items), size);
    char *w = calloc((size_t)(width * ld), size), *z[2];
    int64_t out_width = columns + 3;
    z[0] = calloc((size_t)(items * out_width), 8);
    z[1] = calloc((size_t)(items * out_width), 8);
    assert_true(x && y && w && z[0] && z[1]);
    for (int64_t t = 0; t < stride * items; t++) {
        double a = rng_unit(r) - 0.5, b = rng_unit(r) - 0.5;
        ftb_cast(x + (size_t)t * size, type, &a, FTB_FP64, 1);
        ftb_cast(y + (size_t)t * size, type, &b, FTB_FP64, 1);
    }
    for (int64_t t = 0; t < width * ld; t++) {
        double a = rng_unit(r) - 0.5;
        ftb_cast(w + (size_t)t * size, type, &a, FTB_FP64, 1);
    }
    FtB_Block W;
    assert_ok(FtB_Block_wrap(&W, w, width, columns, ld, type));
    const ftb_name names[] = {{.name = "x", .type = type, .width = width},
                              {.name = "y", .type = type, .width = width},
                              {.name = "W", .type = type, .width = columns, .block = true, .rows = W}};
    const ftb_operand operands[] = {{x, stride}, {y, rng_below(r, 4) ? stride : 0}, {NULL, 0}};
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        bool there =
            run_for(isa, "[dot(x, y), sum(x), mean(x + y), x @ W]", 3, names, items, operands, z[isa > 0]);
        if (there && isa > 0)
            assert_memory_equal(z[0], z[isa > 0], (size_t)(items * out_width) * size);
    }
    double unit = type == FTB_FP32 ? 0x1p-24 : 0x1p-53,
           tolerance = 2 * unit * (double)(width + 4) * (double)width;
    for (int64_t t = 0; t < items; t++)
        for (int64_t c = 0; c < out_width; c++) {
            double want = 0;
            for (int64_t f = 0; f < width; f++) {
                double a = ftb_get_real(x, type, t * stride + f),
                       b = ftb_get_real(y, type, t * operands[1].stride + f);
                want += c == 0   ? a * b
                        : c == 1 ? a
                        : c == 2 ? (a + b) / (double)width
                                 : a * ftb_get_real(w, type, f * ld + c - 3);
            }
            double got = ftb_get_real(z[0], type, t * out_width + c);
            if (!(fabs(got - want) <= tolerance))
                fail_msg("width %d, columns %d, %s, item %d, value %d: %.17g, expected %.17g", (int)width,
                         (int)columns, FtB_Type_name(type), (int)t, (int)c, got, want);
        }
    FtB_Block_free(&W);
    free(x);
    free(y);
    free(w);
    free(z[0]);
    free(z[1]);
}

static void test_features(void **state)
{
    (void)state;
    static const int64_t widths[] = {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 300},
                         columns[] = {1, 2, 15, 16, 17, 40};
    rng r = rng_new();
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            for (int type = 0; type < 2; type++)
                check_features(&r, widths[w], columns[c], 1 + rng_below(&r, 70), type ? FTB_FP32 : FTB_FP64);
}

/* A block in every dtype comes out of W[i] and of @ as its compute type says. */
static void test_blocks(void **state)
{
    (void)state;
    rng r = rng_new();
    for (FtB_Type type = FTB_BOOL; type <= FTB_BF16; type++) {
        char stored[96];
        int64_t index[4] = {3, 0, 2, 1}, out[12];
        double one[4] = {1, 2, 3, 4}, product[12];
        rng_values(&r, stored, type, 12);
        FtB_Block W;
        assert_ok(FtB_Block_wrap_const(&W, stored, 4, 2, 3, type));
        const ftb_name names[] = {{.name = "i", .type = FTB_INT64, .width = 1},
                                  {.name = "x", .type = FTB_FP64, .width = 4},
                                  {.name = "W", .type = type, .width = 2, .block = true, .rows = W}};
        const ftb_operand operands[] = {{index, 1}, {one, 0}, {NULL, 0}};
        assert_true(run_for(FTB_ISA_BASELINE, "W[i]", 3, names, 4, operands, out));
        assert_true(run_for(FTB_ISA_BASELINE, "x @ W", 3, names, 4, operands, product));
        for (int64_t t = 0; t < 4; t++)
            for (int64_t f = 0; f < 2; f++) {
                double want = 0;
                for (int64_t p = 0; p < 4; p++)
                    want += one[p] * ftb_get_real(stored, type, p * 3 + f);
                assert_true(ftb_get_real(out, ftb_type_compute(type), 2 * t + f) ==
                            ftb_get_real(stored, type, index[t] * 3 + f));
                assert_true(product[2 * t + f] == want);
            }
        FtB_Block_free(&W);
    }
}

/* Bits do not depend on how items are cut into batches. */
static void test_batches(void **state)
{
    (void)state;
    static const char text[] = "[x, tanh(a) * x, dot(x, x) / (1 + a), a > 0 ? a : k]";
    rng r = rng_new();
    static double a[FTB_BATCH], x[FTB_BATCH * 5], whole[FTB_BATCH * 12], parts[FTB_BATCH * 12];
    static int64_t k[FTB_BATCH];
    for (int t = 0; t < FTB_BATCH; t++) {
        a[t] = rng_unit(&r) - 0.5;
        k[t] = rng_below(&r, 1000);
        for (int f = 0; f < 5; f++)
            x[5 * t + f] = rng_unit(&r);
    }
    const ftb_name names[] = {{.name = "a", .type = FTB_FP64, .width = 1},
                              {.name = "x", .type = FTB_FP64, .width = 5},
                              {.name = "k", .type = FTB_INT64, .width = 1}};
    compiled c = compile(text, 3, names);
    assert_int_equal(ftb_program_width(c.p), 12);
    const ftb_operand operands[] = {{a, 1}, {x, 5}, {k, 1}};
    ftb_interpreter_run(c.m, FTB_BATCH, operands, whole);
    for (int64_t t = 0, count; t < FTB_BATCH; t += count) {
        count = 1 + rng_below(&r, 300);
        count = ftb_min(count, FTB_BATCH - t);
        const ftb_operand part[] = {{a + t, 1}, {x + 5 * t, 5}, {k + t, 1}};
        ftb_interpreter_run(c.m, count, part, parts + 12 * t);
    }
    assert_memory_equal(whole, parts, sizeof whole);
    ftb_interpreter_run(c.m, 0, operands, NULL);
    release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions), cmocka_unit_test(test_all_functions),
                                       cmocka_unit_test(test_rising),    cmocka_unit_test(test_features),
                                       cmocka_unit_test(test_blocks),    cmocka_unit_test(test_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
