/* Import from and export to GraphBLAS: every storage form and built-in type. GxB_* calls only force
 * storage forms; the library uses the standard alone. */
#include <GraphBLAS.h>

#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include "core/core.h"

#include <stdlib.h>

/* Entry (i, j) of G as a double, or `absent`. */
static double element(GrB_Matrix G, int64_t i, int64_t j, double absent)
{
    double x;
    GrB_Info info = GrB_Matrix_extractElement_FP64(&x, G, (GrB_Index)i, (GrB_Index)j);
    assert_true(info == GrB_SUCCESS || info == GrB_NO_VALUE);
    return info == GrB_SUCCESS ? x : absent;
}

static void assert_equal_elements(FtB_Matrix A, GrB_Matrix G, int64_t plane)
{
    GrB_Index nrows, ncols, nvals;
    GrB_Matrix_nrows(&nrows, G);
    GrB_Matrix_ncols(&ncols, G);
    GrB_Matrix_nvals(&nvals, G);
    assert_int_equal(A->pattern->nrows, nrows);
    assert_int_equal(A->pattern->ncols, ncols);
    assert_int_equal(A->pattern->nvals, nvals);
    for (int64_t i = 0; i < (int64_t)nrows; i++)
        for (int64_t j = 0; j < (int64_t)ncols; j++) {
            double a = value_at(A, i, j, plane, -99), g = element(G, i, j, -99);
            if (a != g)
                fail_msg("(%lld, %lld): %g, GraphBLAS %g", (long long)i, (long long)j, a, g);
        }
}

static GrB_Type grb_type(FtB_Type type)
{
    GrB_Type types[] = {NULL,      GrB_BOOL,   GrB_INT8,   GrB_INT16,  GrB_INT32, GrB_INT64,
                        GrB_UINT8, GrB_UINT16, GrB_UINT32, GrB_UINT64, GrB_FP32,  GrB_FP64};
    return types[type];
}

/* A random GraphBLAS matrix; `dense`: every entry is present (needed for full). */
static GrB_Matrix random_graphblas(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, bool dense, bool iso)
{
    GrB_Matrix G;
    assert_int_equal(GrB_Matrix_new(&G, grb_type(type), (GrB_Index)nrows, (GrB_Index)ncols), GrB_SUCCESS);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols; j++)
            if (dense || rng_below(r, 3) == 0)
                GrB_Matrix_setElement_INT64(G, iso ? 1 : rng_below(r, 5), (GrB_Index)i, (GrB_Index)j);
    if (iso) /* assigning one value to all present makes GraphBLAS keep it once */
        assert_int_equal(GrB_Matrix_assign_FP64(G, G, NULL, 1, GrB_ALL, (GrB_Index)nrows, GrB_ALL,
                                                (GrB_Index)ncols, GrB_DESC_S),
                         GrB_SUCCESS);
    assert_int_equal(GrB_Matrix_wait(G, GrB_MATERIALIZE), GrB_SUCCESS);
    return G;
}

static void every_type_and_form(void **state)
{
    (void)state;
    static const int forms[] = {GxB_HYPERSPARSE, GxB_SPARSE, GxB_BITMAP, GxB_FULL};
    rng r = rng_new();
    for (int type = FTB_BOOL; type <= FTB_FP64; type++)
        for (int form = 0; form < 4; form++)
            for (int by_column = 0; by_column < 2; by_column++)
                for (int iso = 0; iso < 2; iso++) {
                    int64_t nrows = 2 + rng_below(&r, 9),
                            ncols = 2 + rng_below(&r, 9); /* vectors are not hypersparse */
                    GrB_Matrix G =
                        random_graphblas(&r, (FtB_Type)type, nrows, ncols, forms[form] == GxB_FULL, iso == 1);
                    GxB_Matrix_Option_set(G, GxB_FORMAT, by_column ? GxB_BY_COL : GxB_BY_ROW);
                    GxB_Matrix_Option_set(G, GxB_SPARSITY_CONTROL, forms[form]);
                    int status;
                    GxB_Matrix_Option_get(G, GxB_SPARSITY_STATUS, &status);
                    assert_int_equal(status, forms[form]);
                    FtB_Matrix A;
                    assert_ok(FtB_Matrix_import(&A, G));
                    assert_valid(A, false);
                    assert_int_equal(A->type, type);
                    assert_int_equal(A->width, 1);
                    assert_equal_elements(A, G, 0);
                    GrB_Matrix back;
                    assert_ok(FtB_Matrix_export(&back, A, 0));
                    assert_equal_elements(A, back, 0);
                    FtB_Matrix again;
                    assert_ok(FtB_Matrix_import(&again, back));
                    assert_same(A, again);
                    FtB_Matrix_free(&again);
                    FtB_Matrix_free(&A);
                    GrB_Matrix_free(&back);
                    GrB_Matrix_free(&G);
                }
}

/* Unsorted rows ("jumbled"), made by packing them so. */
static void unsorted_rows(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int by_column = 0; by_column < 2; by_column++) {
        int64_t n = 40;
        GrB_Matrix G = random_graphblas(&r, FTB_INT32, n, n, false, false), H;
        GrB_Matrix_dup(&H, G);
        GrB_Index *p = NULL, *i = NULL, p_size, i_size, x_size;
        void *x = NULL;
        bool iso, jumbled;
        if (by_column)
            assert_int_equal(
                GxB_Matrix_unpack_CSC(G, &p, &i, &x, &p_size, &i_size, &x_size, &iso, &jumbled, NULL), 0);
        else
            assert_int_equal(
                GxB_Matrix_unpack_CSR(G, &p, &i, &x, &p_size, &i_size, &x_size, &iso, &jumbled, NULL), 0);
        assert_false(iso);
        for (int64_t row = 0; row < n; row++)
            for (GrB_Index e = p[row]; e + 1 < p[row + 1]; e++) {
                GrB_Index other = e + (GrB_Index)rng_below(&r, (int64_t)(p[row + 1] - e)), swap = i[e];
                int32_t value = ((int32_t *)x)[e];
                i[e] = i[other];
                i[other] = swap;
                ((int32_t *)x)[e] = ((int32_t *)x)[other];
                ((int32_t *)x)[other] = value;
            }
        if (by_column)
            assert_int_equal(GxB_Matrix_pack_CSC(G, &p, &i, &x, p_size, i_size, x_size, false, true, NULL),
                             0);
        else
            assert_int_equal(GxB_Matrix_pack_CSR(G, &p, &i, &x, p_size, i_size, x_size, false, true, NULL),
                             0);
        FtB_Matrix A;
        assert_ok(FtB_Matrix_import(&A, G));
        assert_valid(A, false);
        assert_equal_elements(A, H, 0);
        FtB_Matrix_free(&A);
        GrB_Matrix_free(&G);
        GrB_Matrix_free(&H);
    }
}

static void pending_work_is_seen(void **state)
{
    (void)state;
    GrB_Matrix G;
    GrB_Matrix_new(&G, GrB_FP64, 5, 5);
    GrB_Matrix_setElement_FP64(G, 1.5, 4, 4);
    GrB_Matrix_setElement_FP64(G, 2.5, 0, 3);
    GrB_Matrix_setElement_FP64(G, 3.5, 2, 1);
    GrB_Matrix_removeElement(G, 4, 4);
    FtB_Matrix A;
    assert_ok(FtB_Matrix_import(&A, G));
    assert_int_equal(A->pattern->nvals, 2);
    assert_equal_elements(A, G, 0);
    FtB_Matrix_free(&A);
    GrB_Matrix_free(&G);
}

static void hypersparse_beyond_the_limit(void **state)
{
    (void)state;
    GrB_Matrix G;
    FtB_Matrix A;
    GrB_Matrix_new(&G, GrB_INT32, (GrB_Index)1 << 50, 10);
    GrB_Matrix_setElement_INT32(G, 1, (GrB_Index)1 << 49, 3);
    const int64_t *rowptr = NULL;
    assert_ok(FtB_Matrix_import(&A, G));
    assert_int_equal(A->pattern->nvals, 1);
    assert_fails(GrB_OUT_OF_MEMORY, "hypersparse", FtB_Matrix_csr(A, &rowptr, NULL, NULL));
    FtB_Matrix_free(&A);
    GrB_Matrix_free(&G);
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 1 << 20));
    assert_ok(FtB_Context_engage(ctx));
    GrB_Matrix_new(&G, GrB_INT32, 1 << 20, 10);
    GrB_Matrix_setElement_INT32(G, 1, 1 << 19, 3);
    assert_ok(FtB_Matrix_import(&A, G));
    assert_fails(FTB_LIMIT, "limit", FtB_Matrix_csr(A, &rowptr, NULL, NULL));
    assert_null(rowptr);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    GrB_Matrix_free(&G);
    /* A hypersparse matrix whose row pointers do fit, and columns beyond 32 bits. */
    GrB_Matrix_new(&G, GrB_INT32, 100000, (GrB_Index)1 << 40);
    GrB_Matrix_setElement_INT32(G, 7, 99999, (GrB_Index)1 << 39);
    GrB_Matrix_setElement_INT32(G, 8, 99999, 5);
    assert_ok(FtB_Matrix_import(&A, G));
    assert_valid(A, false);
    assert_int_equal(A->pattern->nvals, 2);
    assert_true(ftb_col(A->pattern, 1) == (int64_t)1 << 39);
    assert_int_equal(ftb_get_integer(matrix_values(A), A->type, 1), 7);
    GrB_Matrix back;
    assert_ok(FtB_Matrix_export(&back, A, 0));
    assert_true(element(back, 99999, (int64_t)1 << 39, 0) == 7);
    GrB_Matrix_free(&back);
    FtB_Matrix_free(&A);
    GrB_Matrix_free(&G);
}

static void export_of_every_width_and_type(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int type = FTB_BOOL; type <= FTB_BF16; type++)
        for (int64_t width = 0; width < 4; width++) {
            FtB_Matrix A = rng_matrix(&r, (FtB_Type)type, 7, 5, width, 0.4);
            for (int64_t plane = 0; plane < ftb_max(width, 1); plane++) {
                GrB_Matrix G;
                assert_ok(FtB_Matrix_export(&G, A, plane));
                assert_equal_elements(A, G, plane);
                GrB_Matrix_free(&G);
            }
            FtB_Matrix_free(&A);
        }
}

static void empty_shapes(void **state)
{
    (void)state;
    for (int64_t nrows = 0; nrows < 3; nrows++)
        for (int64_t ncols = 0; ncols < 3; ncols++) {
            FtB_Matrix A, B;
            GrB_Matrix G;
            assert_ok(FtB_Matrix_new(&A, FTB_FP32, nrows, ncols, 1));
            assert_ok(FtB_Matrix_export(&G, A, 0));
            assert_ok(FtB_Matrix_import(&B, G));
            assert_same(A, B);
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&B);
            GrB_Matrix_free(&G);
        }
}

static void bad_arguments(void **state)
{
    (void)state;
    FtB_Matrix A;
    GrB_Matrix G;
    assert_fails(GrB_NULL_POINTER, "G is NULL", FtB_Matrix_import(&A, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_import(NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_export(&G, NULL, 0));
    assert_null(G);
    GrB_Type user;
    GrB_Type_new(&user, 24);
    GrB_Matrix_new(&G, user, 3, 4);
    assert_fails(GrB_DOMAIN_MISMATCH, "G (3 x 4)", FtB_Matrix_import(&A, G));
    assert_null(A);
    GrB_Matrix_free(&G);
    GrB_Type_free(&user);
    rng r = rng_new();
    A = rng_matrix(&r, FTB_FP32, 4, 4, 2, 0.5);
    assert_fails(GrB_INVALID_VALUE, "plane is 2", FtB_Matrix_export(&G, A, 2));
    assert_fails(GrB_INVALID_VALUE, "plane is -1", FtB_Matrix_export(&G, A, -1));
    FtB_Matrix_free(&A);
    int64_t I[] = {1, 1}, J[] = {2, 2};
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 3, 3, 0, 2, I, J, NULL, FTB_DUP_KEEP, NULL));
    assert_fails(GrB_INVALID_VALUE, "parallel edges", FtB_Matrix_export(&G, A, 0));
    FtB_Matrix_free(&A);
}

static void what_graphblas_refuses(void **state)
{
    (void)state;
    FtB_Matrix A;
    GrB_Matrix G = NULL;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 2, INT64_MAX - 5, 1)); /* beyond GrB_INDEX_MAX */
    GrB_Info info = FtB_Matrix_export(&G, A, 0);
    assert_true(info < GrB_SUCCESS);
    assert_non_null(strstr(FtB_error(), "FtB_Matrix_export: GraphBLAS returned"));
    assert_null(G);
    FtB_Matrix_free(&A);
    FtB_Block X; /* anything but a GrB_Matrix */
    assert_ok(FtB_Block_new(&X, 100, 100, FTB_FP32));
    info = FtB_Matrix_import(&A, (GrB_Matrix)block_values(X));
    assert_true(info < GrB_SUCCESS);
    assert_non_null(strstr(FtB_error(), "FtB_Matrix_import: GraphBLAS returned"));
    assert_null(A);
    FtB_Block_free(&X);
}

static void one_thread(void **state)
{
    (void)state;
    rng r = rng_new();
    assert_ok(FtB_Context_set_threads(NULL, 1));
    GrB_Matrix G = random_graphblas(&r, FTB_FP32, 20, 20, false, false);
    FtB_Matrix A;
    assert_ok(FtB_Matrix_import(&A, G));
    assert_equal_elements(A, G, 0);
    GrB_Matrix_free(&G);
    assert_ok(FtB_Matrix_export(&G, A, 0));
    assert_equal_elements(A, G, 0);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    GrB_Matrix_free(&G);
    FtB_Matrix_free(&A);
}

static GrB_Info import_call(void *arg)
{
    FtB_Matrix A;
    GrB_Info info = FtB_Matrix_import(&A, arg);
    FtB_Matrix_free(&A);
    return info;
}

static GrB_Info export_call(void *arg)
{
    GrB_Matrix G;
    GrB_Info info = FtB_Matrix_export(&G, arg, 1);
    if (info == GrB_SUCCESS)
        GrB_Matrix_free(&G);
    return info;
}

static void failing_allocation(void **state)
{
    (void)state;
    rng r = rng_new();
    GrB_Matrix G = random_graphblas(&r, FTB_FP32, 6, 6, false, false);
    fail_every_allocation(import_call, NULL, G);
    GrB_Matrix_free(&G);
    GrB_Matrix_new(&G, GrB_FP32, 100, 6);
    GrB_Matrix_setElement_FP32(G, 1, 3, 3);
    fail_every_allocation(import_call, NULL, G);
    GrB_Matrix_free(&G);
    FtB_Matrix A = rng_matrix(&r, FTB_FP16, 6, 6, 3, 0.5);
    fail_every_allocation(export_call, NULL, A);
    FtB_Matrix_free(&A);
}

static int start_graphblas(void **state)
{
    (void)state;
    FtB_Matrix A;
    GrB_Matrix G;
    /* An export before anybody called GrB_init starts GraphBLAS. */
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 2, 2, 1));
    assert_ok(FtB_Matrix_export(&G, A, 0));
    GrB_Matrix_free(&G);
    FtB_Matrix_free(&A);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_form),
        cmocka_unit_test(unsorted_rows),
        cmocka_unit_test(pending_work_is_seen),
        cmocka_unit_test(hypersparse_beyond_the_limit),
        cmocka_unit_test(export_of_every_width_and_type),
        cmocka_unit_test(empty_shapes),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(what_graphblas_refuses),
        cmocka_unit_test(one_thread),
        cmocka_unit_test(failing_allocation),
    };
    return cmocka_run_group_tests(tests, start_graphblas, NULL);
}
