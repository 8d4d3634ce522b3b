/* Hypersparse matrices and blocks, which have a row for every row and column of them: products, dot products
 * on entries and softmax, against the same of a matrix that does not list its rows; memory, and failing
 * allocations. */
#include "support/check.h"

#include "core/backend.h"
#include "core/hypersparse.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/far_apart.h"
#include "support/planned.h"
#include "support/rng.h"

#include <stdlib.h>

enum { ROWS = 4500, COLUMNS = 4300, ENTRIES = 130 };

/* The same entries, in few of the rows and columns: listed, and by all rows. */
static void both_ways(rng *r, FtB_Matrix A[2], FtB_Type type, int64_t width)
{
    const int64_t usual = ftb_listed_rows, nvals = rng_below(r, ENTRIES);
    int64_t I[ENTRIES], J[ENTRIES];
    double X[4 * ENTRIES];
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = rng_below(r, 2) ? rng_below(r, ROWS) : rng_below(r, 20) * 200 + 7;
        J[e] = rng_below(r, 2) ? rng_below(r, COLUMNS) : rng_below(r, 20) * 200 + 5;
    }
    rng_values(r, X, type, nvals * width);
    for (int n = 0; n < 2; n++) {
        ftb_listed_rows = n == 0 ? usual : INT64_MAX;
        assert_ok(FtB_Matrix_build(&A[n], type, ROWS, COLUMNS, width, nvals, I, J, X, FTB_DUP_LAST, NULL));
    }
    ftb_listed_rows = usual;
    assert_listed(A[0]);
    assert_null(A[1]->pattern->listed);
}

/* Nobody asked for row pointers, but for a device. */
static void assert_asked_for_none(FtB_Matrix A)
{
    if (!ftb_device(NULL))
        assert_listed(A);
}

static void free_both(FtB_Matrix A[2])
{
    FtB_Matrix_free(&A[0]);
    FtB_Matrix_free(&A[1]);
}

static void assert_same_rows(FtB_Block X, FtB_Block Y, const char *what)
{
    const size_t row = (size_t)X->ncols * FtB_Type_size(X->type);
    const char *x = block_values(X), *y = block_values(Y);
    for (int64_t i = 0; i < X->nrows; i++)
        if (memcmp(x + (size_t)(i * X->ld) * FtB_Type_size(X->type),
                   y + (size_t)(i * Y->ld) * FtB_Type_size(Y->type), row) != 0)
            fail_msg("%s: row %lld", what, (long long)i);
}

/* ---- products */

typedef struct operands {
    FtB_Matrix A[2];
    FtB_Block X, C[2], E[2], of_row, of_column;
    bool turned;
} operands;

static operands some_operands(rng *r, FtB_Type type, int64_t width)
{
    operands o = {.turned = rng_below(r, 3) == 0};
    const int64_t nrows = o.turned ? COLUMNS : ROWS, ncols = o.turned ? ROWS : COLUMNS;
    both_ways(r, o.A, type, rng_below(r, 4) > 0);
    o.X = rng_block(r, ncols, width, type);
    o.of_row = rng_block(r, nrows, width, type);
    o.of_column = rng_block(r, ncols, width, type);
    o.C[0] = rng_block(r, nrows, width, type);
    for (int n = 0; n < 2; n++) {
        assert_ok(FtB_Block_new(&o.E[n], nrows, width, FTB_INT64));
        if (n == 1)
            assert_ok(FtB_Block_new(&o.C[1], nrows, width, type));
    }
    assert_ok(FtB_apply(o.C[1], NULL, NULL, "x", o.C[0], NULL));
    return o;
}

static void free_operands(operands *o)
{
    FtB_Block *all[] = {&o->X, &o->C[0], &o->C[1], &o->E[0], &o->E[1], &o->of_row, &o->of_column};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        FtB_Block_free(all[n]);
    free_both(o->A);
}

/* A text of entries, and of what there is for each row or column. */
static FtB_Semiring some_semiring(rng *r, const operands *o, bool winners, const char **text)
{
    static const char *const texts[] = {"max : edge * src",  "min : src",        "max : src + i - k",
                                        "min : u[i] - src",  "max : src + v[k]", "plus : edge * src",
                                        "plus : src",        "mean : src",       "plus : src * di + dk",
                                        "plus : dst * src",  "plus : src * src", "plus : u[i] * src - dst",
                                        "plus : v[k] + dst", "mean : src - dst"};
    FtB_Semiring s, bound;
    *text = texts[rng_below(r, winners ? 5 : 14)];
    assert_ok(FtB_Semiring_new(&s, *text));
    FtB_Binding bindings[3];
    size_t count = 0;
    if (strstr(*text, "dst"))
        bindings[count++] = (FtB_Binding)FTB_BIND("dst", o->of_row);
    if (strstr(*text, "u["))
        bindings[count++] = (FtB_Binding)FTB_BIND("u", o->of_row);
    if (strstr(*text, "v["))
        bindings[count++] = (FtB_Binding)FTB_BIND("v", o->of_column);
    assert_ok((FtB_Semiring_bind)(&bound, s, bindings, count));
    FtB_Semiring_free(&s);
    return bound;
}

static FtB_Descriptor some_descriptor(rng *r, bool turned)
{
    FtB_Descriptor d;
    assert_ok(FtB_Descriptor_new(&d));
    assert_ok(FtB_Descriptor_set(d, FTB_TRANSPOSE0, turned));
    if (rng_below(r, 2))
        assert_ok(FtB_Descriptor_set(d, FTB_FILL, 3.0));
    return d;
}

static void products(void **state)
{
    (void)state;
    static const char *const accums[] = {NULL, "x + y", "2 * x - y"};
    for (int t = 0; t < rng_cases(60); t++) {
        rng r = rng_case(t);
        operands o = some_operands(&r, rng_below(&r, 2) ? FTB_FP64 : FTB_INT32, 1 + rng_below(&r, 5));
        const bool winners = rng_below(&r, 4) == 0;
        const char *text, *accum = accums[rng_below(&r, 3)];
        FtB_Semiring s = some_semiring(&r, &o, winners, &text);
        FtB_Descriptor d = some_descriptor(&r, o.turned);
        FtB_Block M = rng_below(&r, 5) == 0 ? rng_block(&r, o.C[0]->nrows, 1, FTB_BOOL) : NULL;
        for (int n = 0; n < 2; n++)
            assert_ok(winners ? FtB_mxm_arg(o.C[n], o.E[n], M, s, o.A[n], o.X, d)
                              : FtB_mxm(o.C[n], M, accum, s, o.A[n], o.X, d));
        assert_same_rows(o.C[0], o.C[1], text);
        assert_same_rows(o.E[0], o.E[1], text);
        if (!M && !o.turned)
            assert_asked_for_none(o.A[0]); /* nobody asked for row pointers */
        FtB_Block_free(&M);
        FtB_Semiring_free(&s);
        FtB_Descriptor_free(&d);
        free_operands(&o);
    }
}

/* Sums and the like of rows and columns. */
static void reductions(void **state)
{
    (void)state;
    static const char *const monoids[] = {"plus", "min", "times"}, *const accums[] = {NULL, "x + y",
                                                                                      "2 * x - y"};
    for (int t = 0; t < rng_cases(24); t++) {
        rng r = rng_case(t);
        FtB_Matrix A[2];
        FtB_Block Y[2];
        const int64_t width = rng_below(&r, 3);
        const bool turned = rng_below(&r, 2);
        const FtB_Type type = rng_below(&r, 2) ? FTB_FP32 : FTB_INT64;
        const char *monoid = monoids[rng_below(&r, 3)], *accum = accums[t % 3];
        FtB_Descriptor d = some_descriptor(&r, turned);
        both_ways(&r, A, FTB_FP32, width);
        Y[0] = rng_block(&r, turned ? COLUMNS : ROWS, ftb_max(width, 1), type);
        assert_ok(FtB_Block_new(&Y[1], Y[0]->nrows, Y[0]->ncols, type));
        assert_ok(FtB_apply(Y[1], NULL, NULL, "x", Y[0], NULL));
        FtB_Block M = rng_below(&r, 5) == 0 ? rng_block(&r, Y[0]->nrows, 1, FTB_BOOL) : NULL;
        for (int n = 0; n < 2; n++)
            assert_ok(FtB_reduce(Y[n], M, accum, monoid, A[n], d));
        assert_same_rows(Y[0], Y[1], monoid);
        if (!M)
            assert_asked_for_none(A[0]);
        FtB_Block_free(&M);
        FtB_Block_free(&Y[0]);
        FtB_Block_free(&Y[1]);
        FtB_Descriptor_free(&d);
        free_both(A);
    }
}

/* C is B, or reads itself by row: as if it were another. */
static void in_place(void **state)
{
    (void)state;
    rng r = rng_new();
    const int64_t I[] = {3, 3, 4000}, J[] = {4000, 7, 3};
    FtB_Matrix A;
    FtB_Block X = rng_block(&r, ROWS, 2, FTB_FP32), Y, Z;
    FtB_Semiring s, bound;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, ROWS, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&Y, ROWS, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&Z, ROWS, 2, FTB_FP32));
    for (int accumulates = 0; accumulates < 2; accumulates++) {
        assert_ok(FtB_apply(Y, NULL, NULL, "x", X, NULL));
        assert_ok(FtB_apply(Z, NULL, NULL, "x", X, NULL));
        assert_ok(FtB_Semiring_new(&s, "plus : src + 2 * u[i]"));
        assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("u", X)));
        assert_ok(FtB_mxm(Y, NULL, accumulates ? "x + y" : NULL, bound, A, X, NULL));
        FtB_Semiring_free(&bound);
        assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("u", Z)));
        assert_ok(FtB_mxm(Z, NULL, accumulates ? "x + y" : NULL, bound, A, Z, NULL));
        assert_same_rows(Y, Z, "in place");
        FtB_Semiring_free(&bound);
        FtB_Semiring_free(&s);
    }
    assert_asked_for_none(A);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&Z);
    FtB_Matrix_free(&A);
}

/* ---- on entries */

static void on_entries(void **state)
{
    (void)state;
    static const char *const texts[] = {"plus : dot(src, dst)", "plus : leaky_relu(src + dst)",
                                        "plus : edge * dst", "plus : u[i] + src * k", "plus : v[j] - dst"};
    for (int t = 0; t < rng_cases(50); t++) {
        rng r = rng_case(t);
        FtB_Matrix M[2], C[2];
        const int64_t width = 1 + rng_below(&r, 4);
        FtB_Block Y = rng_block(&r, ROWS, width, FTB_FP64), X = rng_block(&r, COLUMNS, width, FTB_FP64);
        FtB_Semiring s, bound;
        const char *text = texts[t % 5], *accum = rng_below(&r, 3) ? NULL : "x + y";
        both_ways(&r, M, FTB_FP64, 1);
        both_ways(&r, C, FTB_FP64, t % 5 == 0 ? 1 : width);
        FtB_Descriptor d = (FtB_Descriptor[]){FTB_DESC_T1, FTB_DESC_ST1, FTB_DESC_RST1}[rng_below(&r, 3)];
        assert_ok(FtB_Semiring_new(&s, text));
        FtB_Binding binding = FTB_BIND(text[7] == 'u' ? "u" : "v", text[7] == 'u' ? Y : X);
        assert_ok((FtB_Semiring_bind)(&bound, s, &binding, text[8] == '['));
        for (int n = 0; n < 2; n++) {
            FtB_Matrix to = rng_below(&(rng){(uint64_t)t}, 3) ? C[n] : M[n]; /* in M, of one value */
            if (to == M[n] && (t % 5 != 0 && width > 1))
                to = C[n];
            assert_ok(FtB_mxm(to, M[n], accum, bound, Y, X, d));
        }
        assert_asked_for_none(C[0]);
        assert_asked_for_none(M[0]);
        assert_same(C[0], C[1]);
        assert_same(M[0], M[1]);
        FtB_Semiring_free(&bound);
        FtB_Semiring_free(&s);
        free_both(C);
        free_both(M);
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
    }
}

static void softmaxes(void **state)
{
    (void)state;
    for (int t = 0; t < rng_cases(12); t++) {
        rng r = rng_case(t);
        FtB_Matrix A[2], S[2], D[2];
        both_ways(&r, A, FTB_FP32, 1 + t % 3);
        for (int n = 0; n < 2; n++) {
            assert_ok(FtB_Matrix_dup(&S[n], A[n]));
            assert_ok(FtB_Matrix_new(&D[n], FTB_FP32, ROWS, COLUMNS, 1));
            assert_ok(FtB_softmax(S[n], A[n], t % 2 ? FTB_BY_ROW : FTB_BY_COLUMN));
            assert_ok(FtB_softmax_grad(D[n], S[n], A[n], t % 2 ? FTB_BY_ROW : FTB_BY_COLUMN));
        }
        assert_asked_for_none(S[0]);
        assert_asked_for_none(D[0]);
        assert_same(S[0], S[1]);
        assert_same(D[0], D[1]);
        free_both(A);
        free_both(S);
        free_both(D);
    }
}

/* ---- plans, memory, failing allocations */

static void plans(void **state)
{
    (void)state;
    const int64_t I[] = {4000, 5, 5}, J[] = {1, 2, 7};
    FtB_Matrix A, C;
    FtB_Block X, Y;
    FtB_Plan plan;
    FtB_Descriptor d;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, 10, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, ROWS, 10, 1));
    assert_ok(FtB_Block_new(&X, 10, 4, FTB_FP32));
    assert_ok(FtB_Block_new(&Y, ROWS, 4, FTB_FP32));
    assert_ok(FtB_mxm_plan(&plan, Y, NULL, NULL, "plus : src", A, X, NULL, FTB_MEASURE));
    if (!ftb_device(NULL))
        assert_plan_says(plan, "A lists 2 of 4500 rows, whose entries meet 3 rows of X");
    assert_ok(planned_descriptor(&d, NULL, plan));
    assert_ok(FtB_mxm(Y, NULL, NULL, "plus : src", A, X, d));
    FtB_Descriptor_free(&d);
    FtB_Plan_free(&plan);
    assert_ok(FtB_mxm_plan(&plan, C, A, NULL, FTB_PLUS_DOT, Y, X, FTB_DESC_ST1, FTB_ESTIMATE));
    if (!ftb_device(NULL))
        assert_plan_says(plan, "A lists 2 of 4500 rows, whose entries meet 3 rows of X");
    FtB_Plan_free(&plan);
    assert_fails(GrB_DIMENSION_MISMATCH, "C: 10 x 4; expected 4500 rows",
                 FtB_mxm(X, NULL, NULL, "plus : src", A, X, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "the output is 4500 x 4; expected 4500 x 1",
                 FtB_mxm(Y, NULL, NULL, "plus : sum(src)", A, X, NULL));
    assert_asked_for_none(A);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
}

/* Row pointers of all rows count: what wants them is refused where they would not fit, and nothing is made.
 */
static void memory(void **state)
{
    (void)state;
    enum { MANY = 1 << 20 };
    const int64_t I[] = {MANY - 1, 5, 5}, J[] = {1, 2, MANY - 7};
    int64_t now;
    FtB_Context ctx;
    FtB_Matrix A, C;
    FtB_Block X, Y;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, 1));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, MANY, MANY, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, MANY, MANY, 1));
    assert_ok(FtB_Block_new(&X, MANY, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&Y, MANY, 1, FTB_FP32));
    FtB_Context_memory(ctx, &now, NULL);
    assert_ok(FtB_Context_set_memory_limit(ctx, now + (1 << 20)));
    assert_ok(FtB_mxm(Y, NULL, NULL, "plus : src + 1", A, X, NULL));
    assert_ok(FtB_mxm(X, NULL, "x + y", "max : src", A, Y, FTB_DESC_T0));
    assert_ok(FtB_mxm(C, A, NULL, FTB_PLUS_DOT, X, Y, FTB_DESC_ST1));
    assert_ok(FtB_softmax(C, C, FTB_BY_COLUMN));
    assert_fails(FTB_LIMIT, "A (1048576 x 1048576, 3 entries) is hypersparse",
                 FtB_mxm(Y, Y, NULL, "plus : src", A, X, NULL));
    assert_listed(A);
    assert_ok(FtB_Context_set_memory_limit(ctx, 0));
    assert_ok(FtB_mxm(Y, Y, NULL, "plus : src", A, X, NULL));
    assert_non_null(A->pattern->rowptr);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

/* Y is as it was, or as it is to be. */
static GrB_Info calls(void *arg)
{
    const int64_t I[] = {4000, 5, 5}, J[] = {1, 2, 7};
    FtB_Matrix A = NULL, C = NULL;
    FtB_Block X = NULL, Y = NULL, E = NULL, S = NULL;
    GrB_Info info;
    (void)arg;
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, ROWS, ROWS, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Matrix_new(&C, FTB_FP32, ROWS, ROWS, 1));
    FTB_CHECK(FtB_Block_new(&X, ROWS, 2, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&Y, ROWS, 2, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&E, ROWS, 2, FTB_INT64));
    FTB_CHECK(FtB_Block_new(&S, ROWS, 1, FTB_INT64));
    info = FtB_mxm(Y, NULL, NULL, "plus : src + 1", A, X, NULL);
    assert_true(((const float *)block_values(Y))[10] < 1 || info == GrB_SUCCESS);
    FTB_CHECK(info);
    FTB_CHECK(FtB_mxm(Y, NULL, "2 * x + y", "plus : src + 1", A, X, FTB_DESC_T0));
    FTB_CHECK(FtB_mxm_arg(Y, E, NULL, "max : src + i", A, X, NULL));
    FTB_CHECK(FtB_mxm(C, A, NULL, "plus : dot(src, dst)", X, Y, FTB_DESC_ST1));
    FTB_CHECK(FtB_reduce(S, NULL, "x + y", "plus", A, NULL));
    FTB_CHECK(FtB_softmax(C, C, FTB_BY_ROW));
    info = FtB_softmax(C, C, FTB_BY_COLUMN);
done:
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&E);
    FtB_Block_free(&S);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(calls, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),   cmocka_unit_test(reductions),          cmocka_unit_test(in_place),
        cmocka_unit_test(on_entries), cmocka_unit_test(softmaxes),           cmocka_unit_test(plans),
        cmocka_unit_test(memory),     cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
