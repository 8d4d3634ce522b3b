/* A program that hands over no object of GraphBLAS, products and training included, does not load it. What
 * such an object, or the wish for one, brings then: GraphBLAS is found, or a build without it says so. */
#include "support/check.h"

#include "core/graphblas/bridge.h"
#include "featblas_nn.h"

#include <stdio.h>

#ifdef FTB_GRAPHBLAS_ORACLE
enum { GRAPHBLAS = 1 };
#else
enum { GRAPHBLAS = 0 };
#endif

static const char without[] = "this FeatBLAS was built without GraphBLAS";

/* Whether the process has GraphBLAS in its memory; -1 where the system does not tell. */
static int loaded(void)
{
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps)
        return -1;
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "libgraphblas") != NULL;
    fclose(maps);
    return found;
}

static FtB_Matrix graph(void)
{
    static const int64_t rows[] = {0, 0, 1, 2}, cols[] = {1, 2, 2, 0};
    static const float values[] = {1, 2, 3, 4};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, rows, cols, values, FTB_DUP_ERROR, NULL));
    return A;
}

/* A gradient that two operations add to: it is accumulated. */
static void train(FtB_Matrix A)
{
    FtB_Tape tape;
    FtB_Parameter w;
    FtB_Block W, X;
    assert_ok(FtB_Block_new(&X, 3, 2, FTB_FP32));
    assert_ok(FtB_init(X, FTB_INIT_ONES, 0, NULL));
    assert_ok(FtB_Parameter_new(&w, "w", 3, 2, FTB_FP32));
    assert_ok(FtB_Parameter_value(&W, w));
    assert_ok(FtB_init(W, FTB_INIT_ONES, 0, NULL));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var v = FtB_parameter(tape, w);
    FtB_Var sum =
        FtB_multiply("plus : src * edge", A, FTB_OPERAND("src", FtB_add(FtB_tanh(v), FtB_sigmoid(v))));
    assert_ok(FtB_backward(FtB_squared_error(sum, FtB_input(tape, X), NULL)));
    FtB_Tape_free(&tape);
    FtB_Block_free(&W);
    FtB_Parameter_free(&w);
    FtB_Block_free(&X);
}

static void nothing_is_loaded(void **state)
{
    (void)state;
    FtB_Matrix A = graph(), C;
    int64_t nvals;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 3, 3, 1));
    assert_ok(FtB_mxm(C, A, "x + y", FTB_PLUS_TIMES, A, A, FTB_DESC_S));
    assert_ok(FtB_eWiseAdd(C, NULL, NULL, "x * y", A, C, NULL));
    assert_ok(FtB_project(C, A, "count", NULL));
    assert_ok(FtB_reduce_scalar(&nvals, FTB_INT64, "plus", A));
    assert_int_equal(nvals, 10);
    train(A);
    if (loaded() == 1)
        fail_msg("GraphBLAS is in memory, though nobody has one of its objects");
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&A);
}

/* Handles that are none: an FtB_Arg of each kind, and where it goes. */
static void objects_of_nobody(void **state)
{
    (void)state;
    static double memory[8]; /* what a handle may point to */
    FtB_Matrix A = graph(), C;
    const FtB_Arg semiring = FtB_Arg_grb_semiring((GrB_Semiring)(void *)memory);
    const FtB_Arg op = FtB_Arg_grb_binary((GrB_BinaryOp)(void *)memory);
    const FtB_Arg monoid = FtB_Arg_grb_monoid((GrB_Monoid)(void *)memory);
    const FtB_Arg desc = FtB_Arg_grb_descriptor((GrB_Descriptor)(void *)memory);
    const GrB_Info unknown = GRAPHBLAS ? GrB_DOMAIN_MISMATCH : GrB_NOT_IMPLEMENTED;
    const char *const why = GRAPHBLAS ? "none of the built-in ones" : without;
    double sum;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 3, 3, 1));
    assert_fails(unknown, why, FtB_mxm(C, NULL, NULL, semiring, A, A, NULL));
    assert_fails(unknown, "GrB_Semiring", FtB_mxm(C, NULL, NULL, semiring, A, A, NULL));
    assert_fails(unknown, why, FtB_mxm(C, NULL, op, FTB_PLUS_TIMES, A, A, NULL));
    assert_fails(unknown, "accum", FtB_mxm(C, NULL, op, FTB_PLUS_TIMES, A, A, NULL));
    assert_fails(unknown, why, FtB_reduce_scalar(&sum, FTB_FP64, monoid, A));
    assert_fails(GRAPHBLAS ? GrB_INVALID_VALUE : unknown,
                 GRAPHBLAS ? "GrB_Descriptor of the user's" : without,
                 FtB_mxm(C, NULL, NULL, FTB_PLUS_TIMES, A, A, desc));
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&A);
}

static void out_and_in(void **state)
{
    (void)state;
    FtB_Matrix A = graph(), B;
    GrB_Matrix G;
    assert_fails(GrB_NULL_POINTER, "G is NULL", FtB_Matrix_import(&B, NULL));
    if (GRAPHBLAS) {
        GrB_Info (*release)(GrB_Matrix *);
        assert_ok(FtB_Matrix_export(&G, A, 0));
        assert_ok(FtB_Matrix_import(&B, G));
        int64_t nvals;
        assert_ok(FtB_Matrix_shape(B, NULL, NULL, &nvals, NULL, NULL));
        assert_int_equal(nvals, 4);
        assert_int_not_equal(loaded(), 0);
        FtB_Matrix_free(&B);
        void *symbol = ftb_grb_symbol("GrB_Matrix_free"); /* this program is not linked with it */
        assert_non_null(symbol);
        memcpy(&release, &symbol, sizeof symbol);
        assert_ok(release(&G));
    } else {
        assert_fails(GrB_NOT_IMPLEMENTED, without, FtB_Matrix_export(&G, A, 0));
        assert_null(G);
        assert_fails(GrB_NOT_IMPLEMENTED,
                     "FtB_Matrix_import: ", FtB_Matrix_import(&B, (GrB_Matrix)(void *)A));
        assert_null(B);
        assert_int_not_equal(loaded(), 1);
    }
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_loaded), /* first */
        cmocka_unit_test(objects_of_nobody),
        cmocka_unit_test(out_and_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
