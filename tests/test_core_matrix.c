/* Matrices, blocks, labels and descriptors: making, shape, lifetime. */
#include "support/check.h"

#include "core/core.h"

static void new_matrix_is_empty(void **state)
{
    (void)state;
    FtB_Matrix A;
    int64_t nrows, ncols, nvals, width;
    FtB_Type type;
    assert_int_equal(FtB_Matrix_new(&A, FTB_FP32, 3, 4, 2), GrB_SUCCESS);
    assert_int_equal(FtB_Matrix_shape(A, &nrows, &ncols, &nvals, &width, &type), GrB_SUCCESS);
    assert_int_equal(nrows, 3);
    assert_int_equal(ncols, 4);
    assert_int_equal(nvals, 0);
    assert_int_equal(width, 2);
    assert_int_equal(type, FTB_FP32);
    FtB_Matrix T;
    assert_int_equal(ftb_matrix_transpose(&T, A), GrB_SUCCESS);
    assert_int_equal(T->pattern->nrows, 4);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&T);
    FtB_Matrix_free(&A);
    assert_null(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(new_matrix_is_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
