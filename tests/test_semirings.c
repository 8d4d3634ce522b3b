/* Monoids, reducers and gradients as the tables in semirings/ claim them; semirings and operators as
 * objects; GraphBLAS's built-in ones against GraphBLAS itself.
 * Labels: property */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/isa.h"
#include "cpu/interpreter.h"
#include "cpu/reduce.h"
#include "expr/expr.h"
#include "expr/tree.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>

static const FtB_Type compute_types[] = {FTB_BOOL, FTB_INT64, FTB_UINT64, FTB_FP32, FTB_FP64};

/* ---- monoids */

typedef union cell {
    uint8_t truth;
    int64_t i;
    float f;
    double d;
    uint64_t bits;
} cell;

static cell random_cell(rng *r, FtB_Type t)
{
    static const double special[] = {0, -0.0, 1, -1, HUGE_VAL, -HUGE_VAL, 1e30, -1e-30};
    cell c = {.bits = 0};
    if (t == FTB_BOOL)
        c.truth = (uint8_t)rng_below(r, 2);
    else if (t == FTB_INT64 || t == FTB_UINT64)
        c.bits = rng_below(r, 2) ? rng_bits(r) : (uint64_t)(rng_below(r, 9) - 4);
    else {
        double x = rng_below(r, 3) ? (double)(rng_below(r, 2001) - 1000) : special[rng_below(r, 8)];
        if (t == FTB_FP32)
            c.f = (float)x;
        else
            c.d = x;
    }
    return c;
}

static cell combine(ftb_monoid m, FtB_Type t, cell x, cell y)
{
    ftb_monoid_apply(m, t, &x, &y, 1);
    return x;
}

static bool same(FtB_Type t, cell x, cell y, bool exact)
{
    double a = ftb_get_real(&x, t, 0), b = ftb_get_real(&y, t, 0);
    if (memcmp(&x, &y, FtB_Type_size(t)) == 0 || (isnan(a) && isnan(b)))
        return true;
    return !exact && (a == b || fabs(a - b) <= 1e-5 * fabs(a));
}

static void check_monoid(rng *r, ftb_monoid m, FtB_Type t)
{
    bool real = t == FTB_FP32 || t == FTB_FP64, rounds = real && (m == FTB_PLUS || m == FTB_TIMES);
    cell identity = {.bits = 0};
    ftb_monoid_identity(m, t, &identity);
    for (int n = 0; n < 2000; n++) {
        cell x = random_cell(r, t), y = random_cell(r, t), z = random_cell(r, t);
        if (rounds) { /* in exact arithmetic: small whole numbers */
            double v[3] = {(double)rng_below(r, 100) - 50, (double)rng_below(r, 100) - 50,
                           (double)rng_below(r, 100) - 50};
            ftb_cast(&x, t, v, FTB_FP64, 1);
            ftb_cast(&y, t, v + 1, FTB_FP64, 1);
            ftb_cast(&z, t, v + 2, FTB_FP64, 1);
        }
        if (m != FTB_ANY) {
            assert_true(same(t, combine(m, t, x, y), combine(m, t, y, x), true));
            assert_true(same(t, combine(m, t, identity, x), x, !rounds));
            assert_true(same(t, combine(m, t, x, identity), x, !rounds));
        }
        assert_true(
            same(t, combine(m, t, combine(m, t, x, y), z), combine(m, t, x, combine(m, t, y, z)), true));
        if (ftb_monoid_idempotent(m))
            assert_true(same(t, combine(m, t, x, x), x, true));
    }
}

static void test_monoids(void **state)
{
    (void)state;
    rng r = rng_new();
    for (ftb_monoid m = 0; m < FTB_NMONOIDS; m++)
        for (size_t t = 0; t < 5; t++) {
            FtB_Type kept = ftb_monoid_type(m, compute_types[t]);
            assert_true(kept == compute_types[t] || kept == FTB_BOOL ||
                        (kept == FTB_INT64 && compute_types[t] == FTB_BOOL));
            check_monoid(&r, m, kept);
        }
    cell nan = {.d = NAN}, two = {.d = 2};
    assert_true(combine(FTB_MIN, FTB_FP64, nan, two).d == 2 && combine(FTB_MIN, FTB_FP64, two, nan).d == 2);
    assert_true(combine(FTB_MAX, FTB_FP64, nan, two).d == 2 && isnan(combine(FTB_MAX, FTB_FP64, nan, nan).d));
}

/* Long arrays, for every instruction set, against one element at a time. */
static void test_monoid_arrays(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { COUNT = 131 };
    for (ftb_monoid m = 0; m < FTB_NMONOIDS; m++)
        for (size_t k = 0; k < 5; k++) {
            FtB_Type t = ftb_monoid_type(m, compute_types[k]);
            size_t size = FtB_Type_size(t);
            char x[COUNT * 8], y[COUNT * 8], want[COUNT * 8], got[COUNT * 8];
            for (size_t v = 0; v < COUNT; v++) {
                cell a = random_cell(&r, t), b = random_cell(&r, t);
                memcpy(x + v * size, &a, size);
                memcpy(y + v * size, &b, size);
                a = combine(m, t, a, b);
                memcpy(want + v * size, &a, size);
            }
            for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
                ftb_isa_force(isa);
                memcpy(got, x, sizeof got);
                ftb_monoid_apply(m, t, got, y, COUNT);
                for (size_t v = 0; v < COUNT; v++) {
                    cell a = {.bits = 0}, b = {.bits = 0};
                    memcpy(&a, want + v * size, size);
                    memcpy(&b, got + v * size, size);
                    assert_true(same(t, a, b, true));
                }
            }
            ftb_isa_force(-1);
        }
}

static void test_reducers(void **state)
{
    (void)state;
    ftb_reducer r;
    assert_ok(ftb_reducer_parse(&r, "mean", 4));
    assert_true(r.monoid == FTB_PLUS && r.mean && !r.arg);
    assert_ok(ftb_reducer_parse(&r, "argmax ", 6));
    assert_true(r.monoid == FTB_MAX && !r.mean && r.arg);
    assert_fails(GrB_INVALID_VALUE, "unknown reducer 'sum'; known: plus, times",
                 ftb_reducer_parse(&r, "sum", 3));
    ftb_monoid m;
    FtB_Type t;
    assert_ok(ftb_arg_monoid(&m, &t, FTB_ARG("max"), "monoid"));
    assert_true(m == FTB_MAX && t == 0);
    assert_ok(ftb_arg_monoid(&m, &t, FTB_ARG(GrB_TIMES_MONOID_INT8), "monoid"));
    assert_true(m == FTB_TIMES && t == FTB_INT8);
    assert_ok(ftb_arg_monoid(&m, &t, FTB_ARG(GrB_LXNOR_MONOID_BOOL), "monoid"));
    assert_true(m == FTB_XNOR && t == FTB_BOOL);
    assert_fails(GrB_INVALID_VALUE, "monoid: 'mean' is a reducer",
                 ftb_arg_monoid(&m, &t, FTB_ARG("mean"), "monoid"));
    assert_fails(GrB_INVALID_VALUE, "monoid: unknown reducer",
                 ftb_arg_monoid(&m, &t, FTB_ARG("sum"), "monoid"));
    assert_fails(GrB_NULL_POINTER, "monoid: expected", ftb_arg_monoid(&m, &t, FTB_ARG(NULL), "monoid"));
    GrB_Monoid mine;
    assert_ok(GrB_Monoid_new_INT64(&mine, GrB_PLUS_INT64, 0));
    assert_fails(GrB_DOMAIN_MISMATCH, "none of the built-in ones",
                 ftb_arg_monoid(&m, &t, FTB_ARG(mine), "monoid"));
    GrB_Monoid_free(&mine);
}

/* ---- programs on one pair of values */

/* text over two names of `type` and what they hold; the result goes through `domain` (unless it is a truth
 * or domain is 0), as GraphBLAS's operators hand it out. */
static double value_of(FtB_Type domain, const char *text, const char *first, const char *second,
                       FtB_Type type, const void *x, const void *y)
{
    ftb_expr *e;
    ftb_program *p;
    ftb_interpreter *m;
    uint64_t cells[2], out;
    int64_t zero = 0;
    ftb_cast(&cells[0], ftb_type_compute(type), x, type, 1);
    ftb_cast(&cells[1], ftb_type_compute(type), y, type, 1);
    const ftb_name names[] = {{.name = first, .type = type, .width = 1},
                              {.name = second, .type = type, .width = 1},
                              {.name = "i", .type = FTB_INT64},
                              {.name = "j", .type = FTB_INT64},
                              {.name = "k", .type = FTB_INT64}};
    const ftb_operand operands[] = {{&cells[0], 1}, {&cells[1], 1}, {&zero, 1}, {&zero, 1}, {&zero, 1}};
    assert_ok(ftb_expr_parse(&e, ftb_context(), text, "test", 0));
    assert_ok(ftb_program_new(&p, ftb_context(), e, 5, names, false));
    assert_ok(ftb_interpreter_new(&m, ftb_context(), p));
    ftb_interpreter_run(m, 1, operands, &out);
    FtB_Type got = ftb_program_type(p);
    if (domain && got != FTB_BOOL) {
        ftb_cast(&out, domain, &out, got, 1);
        got = domain;
    }
    double z = ftb_get_real(&out, got, 0);
    ftb_interpreter_delete(m);
    ftb_program_delete(p);
    ftb_expr_release(e);
    return z;
}

/* ---- gradients */

static double at_xy(const char *text, double x, double y)
{
    return value_of((FtB_Type)0, text, "x", "y", FTB_FP64, &x, &y);
}

static void operator_text(char *text, size_t room, const ftb_operator_row *row)
{
    const char *s = row->spelling;
    if (s[0] >= 'a' && s[0] <= 'z')
        snprintf(text, room, row->arity == 1 ? "fp64(%s(x))" : "fp64(%s(x, y))", s);
    else if (row->arity == 1)
        snprintf(text, room, "fp64(%sx)", s);
    else
        snprintf(text, room, "fp64(x %s y)", s);
}

static void test_gradients(void **state)
{
    (void)state;
    rng r = rng_new();
    int checked = 0;
    for (ftb_operator op = 0; op < FTB_NOPERATORS; op++) {
        const ftb_operator_row *row = &ftb_operators[op];
        char text[64];
        operator_text(text, sizeof text, row);
        for (int which = 0; which < row->arity && which < 2; which++) {
            const char *derivative = which ? row->dy : row->dx;
            if (!*derivative)
                continue;
            checked++;
            for (int n = 0; n < 40; n++) {
                /* Away from kinks (0, x = y, whole numbers); negative x where the function has them. */
                double x = 0.1 + 0.8 * rng_unit(&r) + (double)rng_below(&r, 2), y = x + 0.15 + rng_unit(&r),
                       h = op == FTB_OP_FP32 ? 0x1p-6 : 1e-5;
                bool positive = op == FTB_OP_POW || op == FTB_OP_LOG || op == FTB_OP_LOG1P ||
                                op == FTB_OP_LOG2 || op == FTB_OP_SQRT;
                if (!positive && rng_below(&r, 2))
                    x = -x;
                if (op == FTB_OP_IDIV) /* steps where x / y is whole */
                    y = 7.5;
                double up = which ? at_xy(text, x, y + h) : at_xy(text, x + h, y);
                double down = which ? at_xy(text, x, y - h) : at_xy(text, x - h, y);
                double want = (up - down) / (2 * h), got = at_xy(derivative, x, y);
                if (!(fabs(got - want) <= (op == FTB_OP_FP32 ? 1e-4 : 1e-6) * fmax(1, fabs(want))))
                    fail_msg("d%s of %s = %s at %g, %g: %.12g, differences give %.12g", which ? "/dy" : "/dx",
                             text, derivative, x, y, got, want);
            }
        }
    }
    assert_true(checked > 40);
}

/* ---- objects */

static void test_objects(void **state)
{
    (void)state;
    FtB_Semiring s, t, u;
    double values[6] = {1, 2, 3, 4, 5, 6};
    FtB_Block W, V;
    assert_ok(FtB_Block_wrap(&W, values, 3, 2, 2, FTB_FP64));
    assert_ok(FtB_Block_wrap(&V, values, 2, 3, 3, FTB_FP64));
    assert_ok(FtB_Semiring_new(&s, " plus:scale * sum(src @ W) + bias[j]"));
    assert_ok(FtB_Semiring_bind(&t, s, FTB_BIND("W", W), FTB_BIND("scale", 2), FTB_BIND("bias", V)));
    assert_ok(FtB_Semiring_bind(&u, t, FTB_BIND("scale", 0.5), FTB_BIND("scale", 0.25)));
    assert_int_equal(s->nbound, 0);
    assert_int_equal(t->nbound, 3);
    assert_int_equal(u->nbound, 3);
    ftb_name names[8];
    ftb_operand operands[8];
    assert_int_equal(ftb_bound_names(t->nbound, t->bound, names, operands, 2, 8), 5);
    assert_int_equal(ftb_bound_names(t->nbound, t->bound, names, operands, 6, 8), -1);
    assert_int_equal(ftb_bound_names(u->nbound, u->bound, names, operands, 0, 8), 3);
    assert_true(strcmp(names[1].name, "scale") == 0 && names[1].constant &&
                *(const double *)operands[1].data == 0.25);
    assert_true(names[0].block && names[0].rows->nrows == 3 && names[0].rows != W);
    FtB_Block_free(&W); /* t and u keep its memory */
    FtB_Block_free(&V);
    FtB_Semiring_free(&s);
    assert_null(s);
    assert_ok(FtB_Semiring_free(&s));
    assert_fails(GrB_INVALID_VALUE, "'bb' does not occur in", FtB_Semiring_bind(&s, t, FTB_BIND("bb", 1)));
    assert_fails(GrB_INVALID_VALUE, "'src' is a name of the language",
                 FtB_Semiring_bind(&s, t, FTB_BIND("src", 1)));
    assert_fails(GrB_INVALID_VALUE, "W is text; expected an FtB_Block",
                 FtB_Semiring_bind(&s, t, FTB_BIND("W", "text")));
    assert_fails(GrB_NULL_POINTER, "W is NULL", FtB_Semiring_bind(&s, t, FTB_BIND("W", NULL)));
    assert_null(s);
    FtB_Semiring_free(&t);
    FtB_Semiring_free(&u);
    FtB_Semiring forever = FTB_MEAN_SRC;
    assert_ok(FtB_Semiring_free(&forever));
    assert_ok(ftb_arg_semiring(&s, FTB_ARG(FTB_MEAN_SRC), "semiring"));
    assert_true(s->reducer.mean && ftb_expr_uses(s->message, "src"));
    FtB_Semiring_free(&s);
    assert_fails(GrB_INVALID_VALUE, "semiring is a GrB_Monoid; expected",
                 ftb_arg_semiring(&s, FTB_ARG(GrB_PLUS_MONOID_INT8), "semiring"));
    assert_fails(GrB_NULL_POINTER, "semiring is NULL", ftb_arg_semiring(&s, FTB_ARG(NULL), "semiring"));
}

static void message(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                    const void *theta)
{
    (void)dst;
    for (int64_t f = 0; f < width; f++)
        z[f] = src[f] * edge[f] * *(const float *)theta;
}

static void test_functions(void **state)
{
    (void)state;
    FtB_Semiring s, t;
    float theta = 2;
    assert_ok(FtB_Semiring_new_function(&s, "max", message, 3, &theta));
    assert_true(s->function == message && s->function_width == 3 && s->theta == &theta &&
                s->reducer.monoid == FTB_MAX);
    assert_ok(ftb_arg_semiring(&t, FTB_ARG(s), "semiring"));
    assert_true(t->function == message && !t->message);
    FtB_Semiring_free(&t);
    assert_fails(GrB_INVALID_VALUE, "reads dst alone", FtB_Semiring_bind(&t, s, FTB_BIND("scale", 1)));
    FtB_Semiring_free(&s);
    assert_fails(GrB_INVALID_VALUE, "width is 0", FtB_Semiring_new_function(&s, "max", message, 0, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown reducer 'maxx'",
                 FtB_Semiring_new_function(&s, "maxx", message, 1, NULL));
    assert_fails(GrB_NULL_POINTER, "f is NULL", FtB_Semiring_new_function(&s, "max", NULL, 1, NULL));
    assert_null(s);
}

static void test_named(void **state)
{
    (void)state;
    FtB_Semiring s;
#define FTB_SEMIRING(id, line)                                                                               \
    assert_ok(ftb_arg_semiring(&s, FTB_ARG(FTB_##id), "semiring"));                                          \
    assert_string_equal(s->text, line);                                                                      \
    FtB_Semiring_free(&s);
#include "featblas/semirings.def"
#undef FTB_SEMIRING
}

static void test_operators(void **state)
{
    (void)state;
    FtB_Op op, bound, copy;
    assert_ok(FtB_Op_new(&op, "x * slope + y"));
    assert_ok(FtB_Op_bind(&bound, op, FTB_BIND("slope", 3)));
    assert_ok(ftb_arg_op(&copy, FTB_ARG(bound), "op", false));
    assert_true(copy->nbound == 1 && copy->bound[0].integer == 3);
    FtB_Op_free(&op);
    FtB_Op_free(&bound);
    FtB_Op_free(&copy);
    assert_ok(FtB_Op_free(&copy));
    assert_ok(ftb_arg_op(&op, FTB_ARG("min(x, y)"), "op", false));
    FtB_Op_free(&op);
    assert_ok(ftb_arg_op(&op, FTB_ARG(NULL), "accum", true));
    assert_null(op);
    assert_fails(GrB_NULL_POINTER, "op is NULL", ftb_arg_op(&op, FTB_ARG(NULL), "op", false));
    assert_fails(GrB_INVALID_VALUE, "op: operator: expected", ftb_arg_op(&op, FTB_ARG("x +"), "op", false));
    assert_fails(GrB_INVALID_VALUE, "accum is a GrB_Monoid; expected",
                 ftb_arg_op(&op, FTB_ARG(GrB_PLUS_MONOID_INT8), "accum", true));
    assert_fails(GrB_INVALID_VALUE, "at column 3", FtB_Op_new(&op, "x y"));
    assert_null(op);
}

static GrB_Info make_all(void *arg)
{
    FtB_Semiring s = NULL, t = NULL, u = NULL;
    FtB_Op op = NULL;
    GrB_Info info = FtB_Semiring_new(&s, "plus : scale * sum(src @ W) + scale * W[j]");
    if (info == GrB_SUCCESS)
        info = FtB_Semiring_bind(&t, s, FTB_BIND("W", (FtB_Block)arg), FTB_BIND("scale", 2.5));
    if (info == GrB_SUCCESS)
        info = ftb_arg_semiring(&u, FTB_ARG(GrB_MIN_PLUS_SEMIRING_INT8), "semiring");
    if (info == GrB_SUCCESS)
        info = ftb_arg_op(&op, FTB_ARG(GrB_DIV_INT16), "accum", true);
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&t);
    FtB_Semiring_free(&u);
    FtB_Op_free(&op);
    return info;
}

static void test_failing_allocation(void **state)
{
    (void)state;
    double values[6] = {1, 2, 3, 4, 5, 6};
    FtB_Block W;
    assert_ok(FtB_Block_wrap(&W, values, 3, 2, 2, FTB_FP64));
    fail_every_allocation(make_all, NULL, W);
    FtB_Block_free(&W);
}

/* ---- GraphBLAS */

/* A 1 x 1 GraphBLAS matrix of a type with one value. */
static GrB_Matrix one_by_one(FtB_Type type, GrB_Type grb, const void *value)
{
    GrB_Matrix A;
    assert_ok(GrB_Matrix_new(&A, grb, 1, 1));
    if (ftb_type_float(type))
        assert_ok(GrB_Matrix_setElement_FP64(A, ftb_get_real(value, type, 0), 0, 0));
    else
        assert_ok(GrB_Matrix_setElement_INT64(A, ftb_get_integer(value, type, 0), 0, 0));
    return A;
}

static void assert_value(const char *name, const char *text, double got, double want, double x, double y)
{
    if (got != want && !(isnan(got) && isnan(want)))
        fail_msg("%s, \"%s\", of %.17g and %.17g: %.17g; GraphBLAS says %.17g", name, text, x, y, got, want);
}

static void random_pair(rng *r, FtB_Type type, char *x, char *y)
{
    rng_values(r, x, type, 1);
    rng_values(r, y, type, 1);
    if (!ftb_type_float(type) && ftb_type_bits(type) < 32 && rng_below(r, 2)) /* exact as FP64 */
        rng_any_values(r, x, type, 1);
    if (!ftb_type_float(type) && ftb_type_bits(type) < 32 && rng_below(r, 2))
        rng_any_values(r, y, type, 1);
}

static void check_op(rng *r, const char *name, GrB_BinaryOp handle, FtB_Type type, GrB_Type grb)
{
    FtB_Op op;
    assert_ok(ftb_arg_op(&op, FTB_ARG(handle), name, false));
    assert_int_equal(op->domain, type);
    for (int n = 0; n < 8; n++) {
        char x[8] = {0}, y[8] = {0};
        double want;
        random_pair(r, type, x, y);
        GrB_Matrix A = one_by_one(type, grb, x), B = one_by_one(type, grb, y), C;
        assert_ok(GrB_Matrix_new(&C, GrB_FP64, 1, 1));
        assert_ok(GrB_Matrix_eWiseMult_BinaryOp(C, NULL, NULL, handle, A, B, NULL));
        assert_ok(GrB_Matrix_extractElement_FP64(&want, C, 0, 0));
        double got = value_of((FtB_Type)0, ftb_expr_text(op->body), "x", "y", type, x, y);
        assert_value(name, ftb_expr_text(op->body), got, want, ftb_get_real(x, type, 0),
                     ftb_get_real(y, type, 0));
        GrB_Matrix_free(&A);
        GrB_Matrix_free(&B);
        GrB_Matrix_free(&C);
    }
    FtB_Op_free(&op);
}

/* One product: the multiplicative operator with everything around it. */
static void check_semiring(rng *r, const char *name, GrB_Semiring handle, ftb_monoid monoid, FtB_Type type,
                           GrB_Type grb)
{
    FtB_Semiring s;
    assert_ok(ftb_arg_semiring(&s, FTB_ARG(handle), name));
    assert_int_equal(s->domain, type);
    assert_int_equal(s->reducer.monoid, monoid);
    const char *text = strchr(s->text, ':') + 1;
    for (int n = 0; n < 4; n++) {
        char x[8] = {0}, y[8] = {0};
        double want;
        random_pair(r, type, x, y);
        GrB_Matrix A = one_by_one(type, grb, x), B = one_by_one(type, grb, y), C;
        assert_ok(GrB_Matrix_new(&C, GrB_FP64, 1, 1));
        assert_ok(GrB_mxm(C, NULL, NULL, handle, A, B, NULL));
        assert_ok(GrB_Matrix_extractElement_FP64(&want, C, 0, 0));
        double got = value_of(type, text, "a", "b", type, x, y);
        assert_value(name, text, got, want, ftb_get_real(x, type, 0), ftb_get_real(y, type, 0));
        GrB_Matrix_free(&A);
        GrB_Matrix_free(&B);
        GrB_Matrix_free(&C);
    }
    FtB_Semiring_free(&s);
}

/* clang-format off */
#define TYPES(X, ...)                                                                                        \
    X(INT8, __VA_ARGS__) X(INT16, __VA_ARGS__) X(INT32, __VA_ARGS__) X(INT64, __VA_ARGS__)                   \
    X(UINT8, __VA_ARGS__) X(UINT16, __VA_ARGS__) X(UINT32, __VA_ARGS__) X(UINT64, __VA_ARGS__)               \
    X(FP32, __VA_ARGS__) X(FP64, __VA_ARGS__)
#define CHECK_OP(type, prefix, id) check_op(&r, #prefix "_" #id "_" #type, prefix##_##id##_##type, FTB_##type, GrB_##type);
#define ALL(prefix, id) TYPES(CHECK_OP, prefix, id) CHECK_OP(BOOL, prefix, id)
#define CHECK_GRB(type, add, multiply)                                                                       \
    check_semiring(&r, #add "_" #multiply "_" #type, GrB_##add##_##multiply##_SEMIRING_##type, FTB_##add, FTB_##type, GrB_##type);
#define CHECK_GXB(type, add, monoid, multiply)                                                               \
    check_semiring(&r, #add "_" #multiply "_" #type, GxB_##add##_##multiply##_##type, FTB_##monoid, FTB_##type, GrB_##type);
#define NUMBERS(multiply)                                                                                    \
    TYPES(CHECK_GXB, MIN, MIN, multiply) TYPES(CHECK_GXB, MAX, MAX, multiply)                                \
    TYPES(CHECK_GXB, PLUS, PLUS, multiply) TYPES(CHECK_GXB, TIMES, TIMES, multiply)                          \
    TYPES(CHECK_GXB, ANY, ANY, multiply)
#define TRUTHS(multiply)                                                                                     \
    TYPES(CHECK_GXB, LOR, OR, multiply) TYPES(CHECK_GXB, LAND, AND, multiply)                                \
    TYPES(CHECK_GXB, LXOR, XOR, multiply) TYPES(CHECK_GXB, EQ, XNOR, multiply)                               \
    TYPES(CHECK_GXB, ANY, ANY, multiply)
#define BOOLS(multiply)                                                                                      \
    CHECK_GXB(BOOL, LOR, OR, multiply) CHECK_GXB(BOOL, LAND, AND, multiply)                                  \
    CHECK_GXB(BOOL, LXOR, XOR, multiply) CHECK_GXB(BOOL, EQ, XNOR, multiply)                                 \
    CHECK_GXB(BOOL, ANY, ANY, multiply)
/* clang-format on */

/* clang-format off */
static void test_graphblas_ops(void **state)
{
    (void)state;
    rng r = rng_new();
    ALL(GrB, FIRST) ALL(GrB, SECOND) ALL(GrB, ONEB) ALL(GrB, MIN) ALL(GrB, MAX) ALL(GrB, PLUS)
    ALL(GrB, MINUS) ALL(GrB, TIMES) ALL(GrB, DIV) ALL(GrB, EQ) ALL(GrB, NE) ALL(GrB, GT) ALL(GrB, LT)
    ALL(GrB, GE) ALL(GrB, LE)
    check_op(&r, "GrB_LOR", GrB_LOR, FTB_BOOL, GrB_BOOL);
    check_op(&r, "GrB_LXNOR", GrB_LXNOR, FTB_BOOL, GrB_BOOL);
    check_op(&r, "GrB_BOR_INT8", GrB_BOR_INT8, FTB_INT8, GrB_INT8);
    check_op(&r, "GrB_BXNOR_INT16", GrB_BXNOR_INT16, FTB_INT16, GrB_INT16);
    check_op(&r, "GrB_BXNOR_UINT8", GrB_BXNOR_UINT8, FTB_UINT8, GrB_UINT8);
#ifdef GxB_IMPLEMENTATION
    ALL(GxB, PAIR) ALL(GxB, RMINUS) ALL(GxB, RDIV) ALL(GxB, ISEQ) ALL(GxB, ISNE) ALL(GxB, ISGT)
    ALL(GxB, ISLT) ALL(GxB, ISGE) ALL(GxB, ISLE) ALL(GxB, LOR) ALL(GxB, LAND) ALL(GxB, LXOR)
#endif
}

static void test_graphblas_semirings(void **state)
{
    (void)state;
    rng r = rng_new();
    TYPES(CHECK_GRB, PLUS, TIMES) TYPES(CHECK_GRB, PLUS, MIN) TYPES(CHECK_GRB, MIN, PLUS)
    TYPES(CHECK_GRB, MIN, TIMES) TYPES(CHECK_GRB, MIN, MAX) TYPES(CHECK_GRB, MIN, FIRST)
    TYPES(CHECK_GRB, MAX, SECOND) TYPES(CHECK_GRB, MAX, MIN)
    check_semiring(&r, "LXNOR_LOR", GrB_LXNOR_LOR_SEMIRING_BOOL, FTB_XNOR, FTB_BOOL, GrB_BOOL);
#ifdef GxB_IMPLEMENTATION
    NUMBERS(FIRST) NUMBERS(SECOND) NUMBERS(PAIR) NUMBERS(MIN) NUMBERS(MAX) NUMBERS(PLUS) NUMBERS(MINUS)
    NUMBERS(RMINUS) NUMBERS(TIMES) NUMBERS(DIV) NUMBERS(RDIV) NUMBERS(ISEQ) NUMBERS(ISNE) NUMBERS(ISGT)
    NUMBERS(ISLT) NUMBERS(ISGE) NUMBERS(ISLE) NUMBERS(LOR) NUMBERS(LAND) NUMBERS(LXOR)
    TRUTHS(EQ) TRUTHS(NE) TRUTHS(GT) TRUTHS(LT) TRUTHS(GE) TRUTHS(LE)
    BOOLS(FIRST) BOOLS(SECOND) BOOLS(PAIR) BOOLS(LOR) BOOLS(LAND) BOOLS(LXOR) BOOLS(EQ) BOOLS(GT)
    BOOLS(LT) BOOLS(GE) BOOLS(LE)
    check_semiring(&r, "MIN_SECONDI1_INT32", GxB_MIN_SECONDI1_INT32, FTB_MIN, FTB_INT32, GrB_INT32);
    check_semiring(&r, "PLUS_FIRSTJ_INT64", GxB_PLUS_FIRSTJ_INT64, FTB_PLUS, FTB_INT64, GrB_INT64);
#endif
}
/* clang-format on */

static int start(void **state)
{
    (void)state;
    return GrB_init(GrB_NONBLOCKING) != GrB_SUCCESS;
}

static int stop(void **state)
{
    (void)state;
    return GrB_finalize() != GrB_SUCCESS;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monoids),
        cmocka_unit_test(test_monoid_arrays),
        cmocka_unit_test(test_reducers),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_failing_allocation),
        cmocka_unit_test(test_graphblas_ops),
        cmocka_unit_test(test_graphblas_semirings),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
