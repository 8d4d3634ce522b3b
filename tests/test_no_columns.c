/* Blocks without columns: products with them have no values, dot products are 0, gradients are 0. */
#include <GraphBLAS.h>

#include "support/check.h"
#include "support/fail_alloc.h"

#include "core/core.h"

#include <stdlib.h>

enum { N = 7, ENTRIES = 11 };

static FtB_Matrix graph(int64_t width)
{
    const int64_t from[ENTRIES] = {0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 6},
                  to[ENTRIES] = {1, 2, 3, 4, 6, 0, 0, 3, 1, 4, 5};
    const float values[ENTRIES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, width, ENTRIES, from, to, width ? values : NULL,
                               FTB_DUP_ERROR, NULL));
    return A;
}

static FtB_Block block(int64_t nrows, int64_t ncols, FtB_Type type)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, nrows, ncols, type));
    return X;
}

static void sparse_times_block(void **state)
{
    static const char *const texts[] = {"plus : src", "mean : src", "plus : edge * src", "max : src",
                                        "plus : tanh(src) * edge"};
    (void)state;
    FtB_Matrix A = graph(1);
    FtB_Block X = block(N, 0, FTB_FP32), Y = block(N, 0, FTB_FP32), E = block(N, 0, FTB_INT64),
              M = block(N, 1, FTB_BOOL), E3 = block(N, 3, FTB_INT64), wide = block(N, 2, FTB_FP32),
              few = block(N - 1, 0, FTB_FP32);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        assert_ok(FtB_mxm(Y, NULL, NULL, texts[k], A, X, NULL));
        assert_ok(FtB_mxm(Y, M, GrB_PLUS_FP32, texts[k], A, X, FTB_DESC_T0));
        assert_ok(FtB_mxm(X, NULL, NULL, texts[k], A, X, NULL));
    }
    assert_ok(FtB_mxm_arg(Y, E, NULL, "max : src", A, X, NULL));
    assert_ok(FtB_mxm(Y, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, A, X, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "expected 7 x 0", FtB_mxm_arg(Y, E3, NULL, "max : src", A, X, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "no columns", FtB_mxm(wide, NULL, NULL, "plus : src", A, X, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "expected 7 rows",
                 FtB_mxm(Y, NULL, NULL, "plus : src", A, few, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "7 x 2", FtB_mxm(Y, NULL, NULL, "plus : src", A, wide, NULL));
    FtB_Block *all[] = {&X, &Y, &E, &E3, &M, &wide, &few};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        FtB_Block_free(all[k]);
    FtB_Matrix_free(&A);
}

/* Of every operand 0, or nothing added. */
static void gradients(void **state)
{
    (void)state;
    FtB_Matrix A = graph(1);
    FtB_Block X = block(N, 0, FTB_FP32), dY = block(N, 0, FTB_FP32), dX = block(N, 0, FTB_FP32),
              w = block(ENTRIES, 1, FTB_FP32), dw = block(ENTRIES, 1, FTB_FP32),
              dedge = block(ENTRIES, 1, FTB_FP32);
    FtB_Semiring s, bound;
    for (int64_t e = 0; e < ENTRIES; e++)
        ((float *)block_values(dw))[e] = ((float *)block_values(dedge))[e] = (float)(e + 1);
    assert_ok(FtB_Semiring_new(&s, "plus : edge * src * w[e]"));
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("w", w)));
    const FtB_Gradient wanted[] = {
        {"src", FTB_ARG(dX), false}, {"edge", FTB_ARG(dedge), false}, {"w", FTB_ARG(dw), true}};
    assert_ok((FtB_mxm_grad)(FTB_ARG(dY), FTB_ARG(bound), FTB_ARG(A), FTB_ARG(X), FtB_Arg_none(),
                             FtB_Arg_none(), wanted, 3, FtB_Arg_none()));
    for (int64_t e = 0; e < ENTRIES; e++) {
        assert_true(((float *)block_values(dedge))[e] == 0);
        assert_true(((float *)block_values(dw))[e] == (float)(e + 1));
    }
    const FtB_Gradient unknown = {"v", FTB_ARG(dX), false};
    assert_fails(GrB_INVALID_VALUE, "'v' is neither",
                 (FtB_mxm_grad)(FTB_ARG(dY), FTB_ARG(bound), FTB_ARG(A), FTB_ARG(X), FtB_Arg_none(),
                                FtB_Arg_none(), &unknown, 1, FtB_Arg_none()));
    FtB_Block *all[] = {&X, &dY, &dX, &w, &dw, &dedge};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        FtB_Block_free(all[k]);
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&bound);
    FtB_Matrix_free(&A);
}

static void block_times_block(void **state)
{
    (void)state;
    FtB_Matrix M = graph(0), S;
    FtB_Block X = block(N, 0, FTB_FP32), Y = block(N, 0, FTB_FP32), wide = block(N, 2, FTB_FP32), V;
    const float *values;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, N, N, 1));
    assert_ok(FtB_mxm(S, M, NULL, "plus : dot(src, dst) * 3", X, Y, FTB_DESC_RST1));
    assert_ok(FtB_Matrix_values(&V, S));
    assert_int_equal(V->nrows, ENTRIES);
    assert_int_equal(V->ncols, 1);
    values = block_values(V);
    for (int64_t e = 0; e < ENTRIES; e++)
        assert_true(values[e] == 0);
    FtB_Block_free(&V);
    assert_ok(FtB_mxm(S, M, GrB_PLUS_FP32, GrB_PLUS_TIMES_SEMIRING_FP32, X, Y, FTB_DESC_ST1));
    assert_fails(GrB_DIMENSION_MISMATCH, "no columns",
                 FtB_mxm(S, M, NULL, "plus : src * dst", X, Y, FTB_DESC_RST1));
    assert_fails(GrB_DIMENSION_MISMATCH, "no columns",
                 FtB_mxm(S, M, NULL, "plus : sum(src + 1)", X, Y, FTB_DESC_RST1));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 0 columns, B has 2",
                 FtB_mxm(S, M, NULL, "plus : sum(src) + sum(dst)", X, wide, FTB_DESC_RST1));
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&wide);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&M);
}

/* ---- failing allocations */

typedef struct scene {
    FtB_Matrix M;
    FtB_Block X, Y;
} scene;

static GrB_Info call(void *arg)
{
    scene *s = arg;
    FtB_Matrix S;
    GrB_Info info = FtB_Matrix_new(&S, FTB_FP32, N, N, 1);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(S, s->M, NULL, "plus : dot(src, dst)", s->X, s->Y, FTB_DESC_RST1);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(s->Y, NULL, NULL, "plus : src", s->M, s->X, NULL);
    FtB_Matrix_free(&S);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    scene s = {graph(0), block(N, 0, FTB_FP32), block(N, 0, FTB_FP32)};
    fail_every_allocation(call, NULL, &s);
    FtB_Matrix_free(&s.M);
    FtB_Block_free(&s.X);
    FtB_Block_free(&s.Y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_times_block), cmocka_unit_test(gradients),
                                       cmocka_unit_test(block_times_block),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
