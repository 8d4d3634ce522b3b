/* The language: values, types, widths and messages of single expressions. */
#include "support/check.h"

#include "cpu/interpreter.h"
#include "expr/expr.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

/* A bench of names that every text below may use. */
enum { A32, B64, I8, I16, I32, I64, U8, U64, T, X3, Y3, Z2, I, K, SCALE, NORM, W, NNAMES };

#define ITEMS 3
static float a32[ITEMS] = {1, 2.5F, -3};
static double b64[ITEMS] = {0.5, -2, 4};
static int64_t i8[ITEMS] = {7, -3, 100}, i16[ITEMS] = {5, 1000, -4}, i32[ITEMS] = {70000, 2, -9};
static int64_t i64[ITEMS] = {INT64_MAX, -7, 12}, index_i[ITEMS] = {2, 0, 1}, index_k[ITEMS] = {1, 1, 0};
static uint64_t u8[ITEMS] = {3, 200, 0}, u64[ITEMS] = {UINT64_MAX, 5, 9};
static uint8_t truth[ITEMS] = {1, 0, 1};
static float x3[ITEMS * 3] = {1, 2, 3, -1, 0, 4, 0.5F, 0.25F, 8},
                        y3[ITEMS * 3] = {2, 2, 2, 1, 5, -1, 4, 4, 1};
static double z2[ITEMS * 2] = {1, -1, 2, -2, 3, -3}, scale = 0.1;

typedef struct bench {
    FtB_Block norm, w;
    int32_t norm_data[3];
    float w_data[6];
    ftb_name names[NNAMES];
    ftb_operand operands[NNAMES];
} bench;

static void bench_make(bench *b)
{
    const bench fresh = {.norm_data = {10, 20, 30}, .w_data = {1, 0, 0, 1, 2, -2}};
    *b = fresh;
    assert_ok(FtB_Block_wrap_const(&b->norm, b->norm_data, 3, 1, 1, FTB_INT32));
    assert_ok(FtB_Block_wrap_const(&b->w, b->w_data, 3, 2, 2, FTB_FP32));
    const ftb_name names[NNAMES] = {[A32] = {"a", FTB_FP32, 1, false, NULL, false, false},
                                    [B64] = {"b", FTB_FP64, 1, false, NULL, false, false},
                                    [I8] = {"i8", FTB_INT8, 1, false, NULL, false, false},
                                    [I16] = {"i16", FTB_INT16, 1, false, NULL, false, false},
                                    [I32] = {"i32", FTB_INT32, 1, false, NULL, false, false},
                                    [I64] = {"i64", FTB_INT64, 1, false, NULL, false, false},
                                    [U8] = {"u8", FTB_UINT8, 0, false, NULL, false, false},
                                    [U64] = {"u64", FTB_UINT64, 1, false, NULL, false, false},
                                    [T] = {"t", FTB_BOOL, 1, false, NULL, false, false},
                                    [X3] = {"x", FTB_FP32, 3, false, NULL, false, false},
                                    [Y3] = {"y", FTB_FP32, 3, false, NULL, false, false},
                                    [Z2] = {"z", FTB_FP64, 2, false, NULL, false, false},
                                    [I] = {"i", FTB_INT64, 1, false, NULL, false, false},
                                    [K] = {"k", FTB_INT64, 1, false, NULL, false, false},
                                    [SCALE] = {"scale", FTB_FP64, 1, false, NULL, true, false},
                                    [NORM] = {"norm", FTB_INT32, 1, true, b->norm, false, false},
                                    [W] = {"W", FTB_FP32, 2, true, b->w, false, false}};
    const ftb_operand operands[NNAMES] = {
        {a32, 1}, {b64, 1}, {i8, 1}, {i16, 1},     {i32, 1},     {i64, 1},    {u8, 1},   {u64, 1}, {truth, 1},
        {x3, 3},  {y3, 3},  {z2, 2}, {index_i, 1}, {index_k, 1}, {&scale, 0}, {NULL, 0}, {NULL, 0}};
    memcpy(b->names, names, sizeof names);
    memcpy(b->operands, operands, sizeof operands);
}

static void bench_free(bench *b)
{
    FtB_Block_free(&b->norm);
    FtB_Block_free(&b->w);
}

/* Runs `text`; 8-byte cells of out get the first `room` values as doubles (or integers in integers[]). */
static GrB_Info run(bench *b, const char *text, bool wide, FtB_Type *type, int64_t *width, double *real,
                    int64_t *integer)
{
    ftb_expr *e = NULL;
    ftb_program *p = NULL;
    ftb_interpreter *m = NULL;
    uint64_t out[ITEMS * 8];
    FtB_Context ctx = ftb_context();
    GrB_Info info;
    FTB_CHECK(ftb_expr_parse(&e, ctx, text, "test", 0));
    FTB_CHECK(ftb_program_new(&p, ctx, e, NNAMES, b->names, wide));
    FTB_CHECK(ftb_interpreter_new(&m, ctx, p));
    *type = ftb_program_type(p);
    *width = ftb_program_width(p);
    ftb_interpreter_run(m, ITEMS, b->operands, out);
    for (int64_t v = 0; v < ITEMS * *width; v++) {
        real[v] = ftb_get_real(out, *type, v);
        integer[v] = ftb_get_integer(out, *type, v);
    }
done:
    ftb_interpreter_delete(m);
    ftb_program_delete(p);
    ftb_expr_release(e);
    return info;
}

typedef struct expectation {
    const char *text;
    FtB_Type type;
    int64_t width;
    double first, second; /* of item 1 (b = -2, a = 2.5, ...) */
} expectation;

static const expectation values[] = {
    {"a", FTB_FP32, 1, 2.5, 0},
    {"1 + 2 * 3", FTB_INT64, 1, 7, 0},
    {"(1 + 2) * 3", FTB_INT64, 1, 9, 0},
    {"2 - 3 - 4", FTB_INT64, 1, -5, 0},
    {"- -3", FTB_INT64, 1, 3, 0},
    {"-a * b", FTB_FP64, 1, 5, 0},
    {"(1 < 2) == true", FTB_BOOL, 1, 1, 0},
    {"7 / 2", FTB_FP64, 1, 3.5, 0},
    {"i8 / i16", FTB_FP64, 1, -0.003, 0},
    {"idiv(i16, i8)", FTB_INT64, 1, -333, 0},
    {"idiv(i16, 0)", FTB_INT64, 1, 0, 0},
    {"a * i16", FTB_FP32, 1, 2500, 0},
    {"a * i32", FTB_FP64, 1, 5, 0},
    {"a * b", FTB_FP64, 1, -5, 0},
    {"a * 0.1", FTB_FP32, 1, 0.25, 0},
    {"a * scale", FTB_FP32, 1, 0.25, 0},
    {"scale * 2", FTB_FP64, 1, 0.2, 0},
    {"a * 1e300", FTB_FP64, 1, 2.5e300, 0},
    {"a * 65535", FTB_FP32, 1, 163837.5, 0},
    {"a * 65536", FTB_FP64, 1, 163840, 0},
    {"i8 * 0.5", FTB_FP64, 1, -1.5, 0},
    {"i8 + t", FTB_INT64, 1, -3, 0},
    {"t + t", FTB_INT64, 1, 0, 0},
    {"u8 + 1", FTB_UINT64, 1, 201, 0},
    {"u8 - 201", FTB_INT64, 1, -1, 0},
    {"-u8", FTB_INT64, 1, -200, 0},
    {"u8 * -1", FTB_INT64, 1, -200, 0},
    {"max(u8, 250)", FTB_UINT64, 1, 250, 0},
    {"min(3, a, b)", FTB_FP64, 1, -2, 0},
    {"abs(i8)", FTB_INT64, 1, 3, 0},
    {"relu(a - 3)", FTB_FP32, 1, 0, 0},
    {"step(b)", FTB_FP64, 1, 0, 0},
    {"leaky_relu(b)", FTB_FP64, 1, -0.02, 0},
    {"leaky_relu(b, 0.5)", FTB_FP64, 1, -1, 0},
    {"elu(b)", FTB_FP64, 1, -0.864664716763387308, 0},
    {"sigmoid(b)", FTB_FP64, 1, 0.119202922022117560, 0},
    {"tanh(b)", FTB_FP64, 1, -0.964027580075816884, 0},
    {"erf(b)", FTB_FP64, 1, -0.995322265018952734, 0},
    {"exp(i8)", FTB_FP64, 1, 0.0497870683678639430, 0},
    {"log2(8)", FTB_FP64, 1, 3, 0},
    {"pow(i8, 2)", FTB_FP64, 1, 9, 0},
    {"pow(2, i8)", FTB_FP64, 1, 0.125, 0},
    {"floor(b / 3)", FTB_FP64, 1, -1, 0},
    {"ceil(i8)", FTB_INT64, 1, -3, 0},
    {"t ? a : b", FTB_FP64, 1, -2, 0},
    {"b < 0 ? 1 : 2", FTB_INT64, 1, 1, 0},
    {"t ? t : !t", FTB_BOOL, 1, 1, 0},
    {"b < 0 && a > 2", FTB_BOOL, 1, 1, 0},
    {"t || b", FTB_BOOL, 1, 1, 0},
    {"!b", FTB_BOOL, 1, 0, 0},
    {"a == 2.5", FTB_BOOL, 1, 1, 0},
    {"int8(i16)", FTB_INT64, 1, -24, 0},
    {"int8(b * 1000)", FTB_INT64, 1, -128, 0},
    {"uint8(i8)", FTB_UINT64, 1, 253, 0},
    {"fp32(b) * a", FTB_FP32, 1, -5, 0},
    {"fp64(a)", FTB_FP64, 1, 2.5, 0},
    {"bool(a)", FTB_BOOL, 1, 1, 0},
    {"bitxor(u8, 255)", FTB_UINT64, 1, 55, 0},
    {"nan != nan", FTB_BOOL, 1, 1, 0},
    {"max(nan, a)", FTB_FP32, 1, 2.5, 0},
    {"-inf", FTB_FP64, 1, -HUGE_VAL, 0},
    {"pi > 3", FTB_BOOL, 1, 1, 0},
    {"x", FTB_FP32, 3, -1, 0},
    {"x + 1", FTB_FP32, 3, 0, 1},
    {"x * b", FTB_FP64, 3, 2, 0},
    {"dot(x, y)", FTB_FP32, 1, -5, 0},
    {"dot(x, a)", FTB_FP32, 1, 7.5, 0},
    {"dot(a, b)", FTB_FP64, 1, -5, 0},
    {"sum(x)", FTB_FP32, 1, 3, 0},
    {"mean(x)", FTB_FP32, 1, 1, 0},
    {"mean([i8, 5])", FTB_FP64, 1, 1, 0},
    {"sum(t)", FTB_INT64, 1, 0, 0},
    {"x @ W", FTB_FP32, 2, 7, -8},
    {"(x + y) @ W", FTB_FP32, 2, 6, -1},
    {"[a, b]", FTB_FP64, 2, 2.5, -2},
    {"[1, a]", FTB_FP32, 2, 1, 2.5},
    {"[x, a, z]", FTB_FP64, 6, -1, 0},
    {"[i8, i16]", FTB_INT64, 2, -3, 1000},
    {"[t, !t]", FTB_BOOL, 2, 0, 1},
    {"x[1]", FTB_FP32, 1, 0, 0},
    {"[a, b, 7][2]", FTB_FP64, 1, 7, 0},
    {"a[0]", FTB_FP32, 1, 2.5, 0},
    {"norm[i]", FTB_INT64, 1, 10, 0},
    {"norm[k] + 1", FTB_INT64, 1, 21, 0},
    {"W[i]", FTB_FP32, 2, 1, 0},
    {"a * norm[i]", FTB_FP64, 1, 25, 0},
    {"sum(W[i]) * a", FTB_FP32, 1, 2.5, 0},
    {"hypergeom_sf([2, 20, 5, 4])", FTB_FP64, 1, 0.248710010319917461, 0},
};

static void test_values(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        const expectation *x = &values[v];
        FtB_Type type;
        int64_t width, integer[ITEMS * 8];
        double real[ITEMS * 8];
        assert_ok(run(&b, x->text, false, &type, &width, real, integer));
        if (type != x->type || width != x->width)
            fail_msg("%s: %s, width %d; expected %s, width %d", x->text, FtB_Type_name(type), (int)width,
                     FtB_Type_name(x->type), (int)x->width);
        double tolerance = type == FTB_FP32 ? 1e-6 : 1e-14, got = real[width],
               second = width > 1 ? real[width + 1] : 0;
        if (!(got == x->first || fabs(got - x->first) <= tolerance * fabs(x->first)) || second != x->second)
            fail_msg("%s: %.17g, %.17g; expected %.17g, %.17g", x->text, got, second, x->first, x->second);
    }
    bench_free(&b);
}

/* Integers wrap, 64 bits stay exact, sums of mixed vectors are counted in FP64. */
static void test_exactness(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    FtB_Type type;
    int64_t width, integer[ITEMS * 8];
    double real[ITEMS * 8];
    assert_ok(run(&b, "i64 + 1", false, &type, &width, real, integer));
    assert_true(integer[0] == INT64_MIN);
    assert_ok(run(&b, "i64 * i64", false, &type, &width, real, integer));
    assert_true(integer[0] == 1);
    assert_ok(run(&b, "9223372036854775807 - 1", false, &type, &width, real, integer));
    assert_true(integer[0] == INT64_MAX - 1);
    assert_ok(run(&b, "u64 == 18446744073709551615", false, &type, &width, real, integer));
    assert_true(integer[0] == 1 && integer[1] == 0);
    assert_ok(run(&b, "u64 > 5", false, &type, &width, real, integer));
    assert_true(integer[0] == 1 && integer[1] == 0);
    assert_ok(run(&b, "idiv(-9223372036854775807 - 1, -1)", false, &type, &width, real, integer));
    assert_true(integer[0] == INT64_MIN);
    assert_ok(run(&b, "[1, a, a * a]", true, &type, &width, real, integer));
    assert_int_equal(type, FTB_FP64);
    assert_ok(run(&b, "[a, a * a]", true, &type, &width, real, integer));
    assert_int_equal(type, FTB_FP32);
    assert_ok(run(&b, "[1, i8]", true, &type, &width, real, integer));
    assert_int_equal(type, FTB_INT64);
    bench_free(&b);
}

static const struct {
    const char *text, *message;
    GrB_Info info;
} errors[] = {
    {"", "expected a number, a name, a function, '(' or '[' at column 1, where the text ends",
     GrB_INVALID_VALUE},
    {"a +", "at column 4, where the text ends", GrB_INVALID_VALUE},
    {"a b", "expected an operator or the end at column 3, found 'b'", GrB_INVALID_VALUE},
    {"(a", "expected ')' or an operator at column 3", GrB_INVALID_VALUE},
    {"a)", "expected an operator or the end at column 2, found ')'", GrB_INVALID_VALUE},
    {"a = b", "found '='; equality is ==", GrB_INVALID_VALUE},
    {"a ^ 2", "found '^'; powers are pow(x, y)", GrB_INVALID_VALUE},
    {"a & b", "found '&'; and is &&, or is ||", GrB_INVALID_VALUE},
    {"a < b < 3", "no second comparison (write x < y && y < z) at column 7", GrB_INVALID_VALUE},
    {"a ? b", "expected ':' or an operator at column 6", GrB_INVALID_VALUE},
    {"0x10", "found '0x'", GrB_INVALID_VALUE},
    {"1.2.3", "found '1.2.'", GrB_INVALID_VALUE},
    {"a + \xc3\xa9", "at column 5, found '\xc3'", GrB_INVALID_VALUE},
    {"cbrt(a)", "unknown function 'cbrt' at column 1; known functions: min, max, abs", GrB_INVALID_VALUE},
    {"exp(a, b)", "exp at column 1 takes 1 argument, not 2", GrB_INVALID_VALUE},
    {"pow(a)", "pow at column 1 takes 2 arguments, not 1", GrB_INVALID_VALUE},
    {"min(a)", "min at column 1 takes 2 arguments or more, not 1", GrB_INVALID_VALUE},
    {"[]", "the vector at column 1 is empty", GrB_INVALID_VALUE},
    {"a + bb", "test: unknown name 'bb' at column 5; known here: a, b, i8, i16, i32", GrB_INVALID_VALUE},
    {"x + z", "widths 3 and 2 do not match in '+' at column 3", GrB_DIMENSION_MISMATCH},
    {"dot(x, z)", "widths 3 and 2 do not match in 'dot' at column 1", GrB_DIMENSION_MISMATCH},
    {"t ? x : z", "widths 3 and 2 do not match in '?:' at column 3", GrB_DIMENSION_MISMATCH},
    {"W + 1", "'W' is a whole block; it stands right of @", GrB_DOMAIN_MISMATCH},
    {"W", "'W' is a whole block, not a value at column 1", GrB_DOMAIN_MISMATCH},
    {"x @ y", "the right side of '@' must be a bound block at column 3", GrB_DOMAIN_MISMATCH},
    {"z @ W", "2 values times 'W', which is 3 x 2, at column 3", GrB_DIMENSION_MISMATCH},
    {"norm[a]", "the block 'norm' is indexed by i, j, k or e only; at column 5", GrB_DOMAIN_MISMATCH},
    {"norm[0]", "indexed by i, j, k or e only", GrB_DOMAIN_MISMATCH},
    {"x[3]", "value 3 of a vector of 3 values (the first is 0) at column 2", GrB_DIMENSION_MISMATCH},
    {"x[-1]", "value -1 of a vector of 3 values", GrB_DIMENSION_MISMATCH},
    {"x[W]", "taken by a whole number", GrB_DOMAIN_MISMATCH},
    {"norm[W]", "indexed by i, j, k or e only", GrB_DOMAIN_MISMATCH},
    {"x[a]", "taken by a whole number", GrB_DOMAIN_MISMATCH},
    {"x[1.0]", "taken by a whole number", GrB_DOMAIN_MISMATCH},
    {"bitand(a, 1)", "bitand takes integers, not reals", GrB_DOMAIN_MISMATCH},
    {"hypergeom_sf(x)", "takes [x, N, K, n], not 3 values", GrB_DIMENSION_MISMATCH},
    {"abcdefghijklmnopqrstuvwxyzabcdefgh", "longer than 31 characters", GrB_INVALID_VALUE},
};

static void test_errors(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    for (size_t x = 0; x < sizeof errors / sizeof *errors; x++) {
        FtB_Type type;
        int64_t width, integer[ITEMS * 8];
        double real[ITEMS * 8];
        GrB_Info info = run(&b, errors[x].text, false, &type, &width, real, integer);
        if (info != errors[x].info || !strstr(FtB_error(), errors[x].message))
            fail_msg("'%s': %d, \"%s\"; expected %d, \"%s\"", errors[x].text, (int)info, FtB_error(),
                     (int)errors[x].info, errors[x].message);
    }
    bench_free(&b);
}

static void test_columns(void **state)
{
    (void)state;
    ftb_expr *e = NULL;
    FtB_Semiring s;
    assert_fails(GrB_INVALID_VALUE, "at column 12", ftb_expr_parse(&e, ftb_context(), "a )", "epilogue", 9));
    assert_null(e);
    assert_fails(GrB_INVALID_VALUE, "semiring: expected an operator or the end at column 10, found 'b'",
                 FtB_Semiring_new(&s, "plus : a b"));
    assert_null(s);
}

static char *repeated(const char *part, int count, const char *middle, const char *end)
{
    size_t bytes = (size_t)count * (strlen(part) + strlen(end)) + strlen(middle) + 1;
    char *text = malloc(bytes), *at = text;
    assert_non_null(text);
    for (int n = 0; n < count; n++)
        at += sprintf(at, "%s", part);
    at += sprintf(at, "%s", middle);
    for (int n = 0; n < count; n++)
        at += sprintf(at, "%s", end);
    return text;
}

/* Bounds on hostile texts: nesting, nodes, length. */
static void test_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        int count;
        const char *middle, *end, *message;
    } cases[] = {{"(", 5000, "a", ")", "nested more than 200 deep at column"},
                 {"-", 5000, "a", "", "nested more than 200 deep at column"},
                 {"[", 5000, "a", "]", "nested more than 200 deep at column"},
                 {"exp(", 5000, "a", ")", "nested more than 200 deep at column"},
                 {"a?", 5000, "a", ":a", "nested more than 200 deep at column"},
                 {"a+", 10000, "a", "", "more than 8192 different subexpressions at column"},
                 {"a+", 20000, "a", "", "longer than 32768 characters"},
                 {"a,", 70, "a", "", "expected an operator or the end"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char *text = repeated(cases[c].part, cases[c].count, cases[c].middle, cases[c].end);
        ftb_expr *e = NULL;
        assert_fails(GrB_INVALID_VALUE, cases[c].message, ftb_expr_parse(&e, ftb_context(), text, "test", 0));
        free(text);
    }
    char *text = repeated("(", 150, "a", ")");
    bench b;
    bench_make(&b);
    FtB_Type type;
    int64_t width, integer[ITEMS * 8];
    double real[ITEMS * 8];
    assert_ok(run(&b, text, false, &type, &width, real, integer));
    free(text);
    text = repeated("a+", 4000, "b", "");
    assert_ok(run(&b, text, false, &type, &width, real, integer));
    assert_true(real[0] == 4000.5);
    free(text);
    bench_free(&b);
}

static void test_rows(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    ftb_expr *e = NULL;
    ftb_program *p = NULL;
    assert_ok(ftb_expr_parse(&e, ftb_context(), "norm[i] * a", "test", 0));
    assert_ok(ftb_program_new(&p, ftb_context(), e, NNAMES, b.names, false));
    assert_true(ftb_program_uses(p, NORM) && ftb_program_uses(p, I) && ftb_program_uses(p, A32));
    assert_false(ftb_program_uses(p, K) || ftb_program_uses(p, B64) || ftb_program_uses(p, W));
    assert_ok(ftb_program_check_rows(p, "i", 3));
    assert_ok(ftb_program_check_rows(p, "k", 1000));
    assert_fails(GrB_DIMENSION_MISMATCH, "'norm' is indexed by i, which goes up to 3, but has 3 rows",
                 ftb_program_check_rows(p, "i", 4));
    ftb_program_delete(p);
    ftb_expr_release(e);
    bench_free(&b);
}

/* Which names a text uses, and which parts of a vector change places. */
static void test_trees(void **state)
{
    (void)state;
    static const char *const pairs[] = {"a", "b", "i", "j", NULL};
    ftb_expr *e;
    int order[8];
    FtB_Context ctx = ftb_context();
    assert_ok(ftb_expr_parse(&e, ctx, "h / (di + exp(h) - h0)", "epilogue", 0));
    assert_true(ftb_expr_uses(e, "h") && ftb_expr_uses(e, "h0") && !ftb_expr_uses(e, "d") &&
                !ftb_expr_uses(e, "exp"));
    ftb_expr_release(ftb_expr_retain(e));
    ftb_expr_release(e);
    assert_ok(ftb_expr_parse(&e, ctx, "[1, a, b, a*b, a*a, b*b]", "test", 0));
    assert_false(ftb_expr_symmetric(e, pairs));
    assert_true(ftb_expr_swap(e, pairs, 8, order));
    assert_memory_equal(order, ((int[]){0, 2, 1, 3, 5, 4}), 6 * sizeof *order);
    assert_false(ftb_expr_swap(e, pairs, 5, order));
    ftb_expr_release(e);
    static const struct {
        const char *text;
        bool symmetric;
    } cases[] = {{"1", true},
                 {"a", false},
                 {"c", true},
                 {"a / (a + b)", false},
                 {"a * b / (a + b)", true},
                 {"norm[i] * norm[j]", true},
                 {"norm[i] * a", false},
                 {"norm[i] * a + norm[j] * b", true},
                 {"(a - b) * (a - b)", true},
                 {"(a - b) * (b - a)", true},
                 {"abs(a - b)", true},
                 {"a - b", false},
                 {"a < b", false},
                 {"a < b || a > b", true},
                 {"a <= b && b <= a", true},
                 {"[a, b]", false},
                 {"[a + b, a * b]", true},
                 {"a > b ? a : b", false},
                 {"max(a, b)", true},
                 {"i == j", true}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_ok(ftb_expr_parse(&e, ctx, cases[c].text, "test", 0));
        if (ftb_expr_symmetric(e, pairs) != cases[c].symmetric)
            fail_msg("%s: expected %s", cases[c].text, cases[c].symmetric ? "symmetric" : "not symmetric");
        ftb_expr_release(e);
    }
}

static GrB_Info everything(void *arg)
{
    FtB_Type type;
    int64_t width, integer[ITEMS * 8];
    double real[ITEMS * 8];
    return run(arg, "[sum(x @ W) * norm[i] + scale, tanh(a) / (a + b), t ? 1 : i8 + 2 * 3, x]", true, &type,
               &width, real, integer);
}

static void test_failing_allocation(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    fail_every_allocation(everything, NULL, &b);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_exactness),
        cmocka_unit_test(test_errors), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_trees),  cmocka_unit_test(test_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
