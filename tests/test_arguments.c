/* What messages say of arguments: operands in the wrong order, accumulators, dtypes that are not read. */
#include "support/check.h"
#include "support/rng.h"
#include "support/temporary.h"

static void swapped_operands(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 5, 5, 1, 0.5), E;
    FtB_Block X, C;
    FtB_Plan plan;
    assert_ok(FtB_Block_new(&X, 5, 3, FTB_FP32));
    assert_ok(FtB_Block_new(&C, 5, 3, FTB_FP32));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, 5, 5, 1));
    const char *message = "A is an FtB_Block and B is an FtB_Matrix";
    assert_fails(GrB_INVALID_VALUE, message, FtB_mxm(C, NULL, NULL, "plus : src", X, A, NULL));
    assert_fails(GrB_INVALID_VALUE, message,
                 FtB_mxm_plan(&plan, C, NULL, NULL, "plus : src", X, A, NULL, FTB_ESTIMATE));
    assert_null(plan);
    assert_fails(GrB_INVALID_VALUE, message, FtB_mxm_arg(C, E, NULL, "max : src", X, A, NULL));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : src", A, X, NULL));
    FtB_Matrix none = NULL;
    assert_fails(GrB_NULL_POINTER, "A is NULL; expected an FtB_Matrix, an FtB_Block or an FtB_Vector",
                 FtB_mxm(C, NULL, NULL, "plus : src", none, X, NULL));
    FtB_Block nothing = NULL;
    assert_fails(GrB_NULL_POINTER, "B is NULL; expected an FtB_Matrix, an FtB_Block or an FtB_Vector",
                 FtB_mxm(C, NULL, NULL, "plus : src", A, nothing, NULL));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&E);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
}

/* Wherever an accumulator is taken, by matrices and by blocks. */
static void accumulators(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 5, 5, 1, 0.5), C = rng_matrix(&r, FTB_FP32, 5, 5, 1, 0.5);
    FtB_Block X, Y, y;
    const int64_t rows[] = {0, 2};
    FtB_Block picked;
    assert_ok(FtB_Block_new(&X, 5, 3, FTB_FP32));
    assert_ok(FtB_Block_new(&Y, 5, 3, FTB_FP32));
    assert_ok(FtB_Block_new(&y, 5, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&picked, 2, 3, FTB_FP32));
    static const char *const wrong[] = {"x + q", "x +", "[x, y]"};
    for (int w = 0; w < 3; w++) {
        const GrB_Info code = w < 2 ? GrB_INVALID_VALUE : GrB_DIMENSION_MISMATCH;
        assert_fails(code, "accum: ", FtB_mxm(C, NULL, wrong[w], "plus : a * b", A, A, NULL));
        assert_fails(code, "accum: ", FtB_mxm(Y, NULL, wrong[w], "plus : src", A, X, NULL));
        assert_fails(code, "accum: ", FtB_apply(C, NULL, wrong[w], "x", A, NULL));
        assert_fails(code, "accum: ", FtB_apply(Y, NULL, wrong[w], "x", X, NULL));
        assert_fails(code, "accum: ", FtB_scatter(Y, wrong[w], picked, rows, 2));
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&y);
    FtB_Block_free(&picked);
}

static void complex_numbers(void **state)
{
    (void)state;
    static const char dictionary[] = "{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }";
    char file[128 + 32] = "\x93NUMPY\x01"; /* then zero, and the length of the rest of the header */
    FtB_Block X;
    memset(file + 10, ' ', 117);
    memcpy(file + 10, dictionary, strlen(dictionary));
    file[8] = 118;
    file[127] = '\n';
    write_bytes("c.npy", file, sizeof file);
    assert_fails(FTB_FORMAT, "c.npy: values of dtype complex128 are not supported",
                 FtB_Block_read(&X, temp_path("c.npy"), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(swapped_operands), cmocka_unit_test(accumulators),
                                       cmocka_unit_test(complex_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
