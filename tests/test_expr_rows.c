/* Blocks indexed in texts: every operation that takes one sees to it that the rows are there. */
#include "support/check.h"

#include "support/compare.h"

typedef struct fixture {
    FtB_Matrix A, B, C;
    FtB_Block rows, cols, y;
    double row_norm[3], col_norm[4], sums[3];
} fixture;

static void make(fixture *f)
{
    const int64_t i[] = {0, 1, 2, 2}, j[] = {3, 0, 1, 2};
    const double x[] = {1, 2, 3, 4};
    const fixture fresh = {.row_norm = {10, 20, 30}, .col_norm = {1, 2, 3, 4}};
    *f = fresh;
    assert_ok(FtB_Matrix_build(&f->A, FTB_FP64, 3, 4, 1, 4, i, j, x, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_dup(&f->B, f->A));
    assert_ok(FtB_Matrix_new(&f->C, FTB_FP64, 3, 4, 1));
    assert_ok(FtB_Block_wrap_const(&f->rows, f->row_norm, 3, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap_const(&f->cols, f->col_norm, 4, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap(&f->y, f->sums, 3, 1, 1, FTB_FP64));
}

static void release(fixture *f)
{
    FtB_Matrix_free(&f->A);
    FtB_Matrix_free(&f->B);
    FtB_Matrix_free(&f->C);
    FtB_Block_free(&f->rows);
    FtB_Block_free(&f->cols);
    FtB_Block_free(&f->y);
}

static void test_elementwise(void **state)
{
    (void)state;
    fixture f;
    FtB_Op scaled, added, good, bad, add, bad_add;
    make(&f);
    assert_ok(FtB_Op_new(&scaled, "x * n[i] + c[j]"));
    assert_ok(FtB_Op_bind(&bad, scaled, FTB_BIND("n", f.rows), FTB_BIND("c", f.rows)));
    assert_ok(FtB_Op_bind(&good, scaled, FTB_BIND("n", f.rows), FTB_BIND("c", f.cols)));
    assert_ok(FtB_Op_new(&added, "x + y * n[j]"));
    assert_ok(FtB_Op_bind(&bad_add, added, FTB_BIND("n", f.rows)));
    assert_ok(FtB_Op_bind(&add, added, FTB_BIND("n", f.cols)));
    assert_ok(FtB_apply(f.C, NULL, NULL, good, f.A, NULL));
    assert_true(value_at(f.C, 0, 3, 0, -1) == 14 && value_at(f.C, 2, 1, 0, -1) == 92);
    assert_fails(GrB_DIMENSION_MISMATCH, "'c' is indexed by j, which goes up to 3, but has 3 rows",
                 FtB_apply(f.C, NULL, NULL, bad, f.A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "indexed by j", FtB_select(f.C, NULL, NULL, bad, f.A, NULL));
    assert_ok(FtB_eWiseMult(f.C, NULL, NULL, add, f.A, f.B, NULL));
    assert_true(value_at(f.C, 0, 3, 0, -1) == 5);
    assert_fails(GrB_DIMENSION_MISMATCH, "indexed by j",
                 FtB_eWiseMult(f.C, NULL, NULL, bad_add, f.A, f.B, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "indexed by j",
                 FtB_eWiseAdd(f.C, NULL, NULL, bad_add, f.A, f.B, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "indexed by j", FtB_apply(f.C, NULL, bad_add, "x", f.A, NULL));
    assert_true(value_at(f.C, 0, 3, 0, -1) == 5);
    FtB_Op_free(&scaled);
    FtB_Op_free(&added);
    FtB_Op_free(&good);
    FtB_Op_free(&bad);
    FtB_Op_free(&add);
    FtB_Op_free(&bad_add);
    release(&f);
}

static void test_products(void **state)
{
    (void)state;
    static const char *const texts[] = {"plus : a * b * n[i]", "plus : a * b * n[j]", "plus : a * b * n[k]"};
    fixture f;
    make(&f);
    FtB_Matrix D;
    assert_ok(FtB_Matrix_new(&D, FTB_FP64, 4, 4, 1));
    for (int t = 0; t < 3; t++) { /* A' A: i and j count to 4, k to 3 */
        FtB_Semiring s, small, large;
        assert_ok(FtB_Semiring_new(&s, texts[t]));
        assert_ok(FtB_Semiring_bind(&small, s, FTB_BIND("n", f.rows)));
        assert_ok(FtB_Semiring_bind(&large, s, FTB_BIND("n", f.cols)));
        assert_ok(FtB_mxm(D, NULL, NULL, large, f.A, f.A, FTB_DESC_T0));
        assert_true(value_at(D, 2, 1, 0, -1) == 12 * f.col_norm[t == 0 ? 2 : t == 1 ? 1 : 2]);
        if (t == 2)
            assert_ok(FtB_mxm(D, NULL, NULL, small, f.A, f.A, FTB_DESC_T0));
        else
            assert_fails(GrB_DIMENSION_MISMATCH, "which goes up to 3, but has 3 rows",
                         FtB_mxm(D, NULL, NULL, small, f.A, f.A, FTB_DESC_T0));
        FtB_Semiring_free(&s);
        FtB_Semiring_free(&small);
        FtB_Semiring_free(&large);
    }
    FtB_Matrix_free(&D);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elementwise), cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
