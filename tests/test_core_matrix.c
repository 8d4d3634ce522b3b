/* Matrices, blocks, labels, descriptors and slots: making, wrapping, sharing, transposing, refusing. */
#include <GraphBLAS.h>

#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include "core/core.h"

#include <stdlib.h>

static void new_matrix_is_empty(void **state)
{
    (void)state;
    FtB_Matrix A;
    int64_t nrows, ncols, nvals, width;
    FtB_Type type;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 3, 4, 2));
    assert_ok(FtB_Matrix_shape(A, &nrows, &ncols, &nvals, &width, &type));
    assert_true(nrows == 3 && ncols == 4 && nvals == 0 && width == 2 && type == FTB_FP32);
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, NULL, NULL, NULL));
    const int64_t *rowptr;
    const void *values;
    assert_ok(FtB_Matrix_csr(A, &rowptr, NULL, &values));
    assert_true(rowptr[0] == 0 && rowptr[3] == 0 && values);
    assert_ok(FtB_Matrix_free(&A));
    assert_null(A);
    assert_ok(FtB_Matrix_free(&A));
    assert_ok(FtB_Matrix_free(NULL));
}

static void like_and_dup_share_the_pattern(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_INT16, 8, 9, 2, 0.5), S, B;
    assert_ok(FtB_Matrix_like(&S, A, 3, FTB_FP64));
    assert_ok(FtB_Matrix_dup(&B, A));
    assert_ptr_equal(S->pattern, A->pattern);
    assert_ptr_equal(B->pattern, A->pattern);
    assert_same(A, B);
    for (int64_t t = 0; t < 3 * A->pattern->nvals; t++)
        assert_true(((double *)matrix_values(S))[t] == 0);
    FtB_Matrix_free(&A);
    assert_valid(S, false);
    assert_valid(B, false);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&B);
}

static void values_are_a_view(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 5, 5, 2, 0.6);
    FtB_Block V;
    int64_t nrows, ncols, ld;
    FtB_Type type;
    void *data;
    assert_ok(FtB_Matrix_values(&V, A));
    assert_ok(FtB_Block_shape(V, &nrows, &ncols, &ld, &type, &data));
    assert_true(nrows == A->pattern->nvals && ncols == 2 && ld == 2 && type == FTB_FP32);
    assert_ptr_equal(data, matrix_values(A));
    if (nrows > 0)
        ((float *)data)[1] = 42;
    if (nrows > 0)
        assert_true(ftb_get_real(matrix_values(A), A->type, 1) == 42);
    FtB_Matrix_free(&A);
    if (nrows > 0)
        assert_true(((float *)block_values(V))[1] == 42);
    FtB_Block_free(&V);
    assert_null(V);
    A = rng_matrix(&r, FTB_FP32, 5, 5, 0, 0.6);
    assert_fails(GrB_INVALID_VALUE, "A (5 x 5) has width 0", FtB_Matrix_values(&V, A));
    assert_null(V);
    FtB_Matrix_free(&A);
}

static void wrap_in_place(void **state)
{
    (void)state;
    const int64_t rowptr[] = {0, 2, 2, 3};
    const int32_t colidx[] = {1, 3, 0}, unsorted[] = {3, 1, 0}, twice[] = {1, 1, 0}, outside[] = {1, 4, 0};
    const double values[] = {1, 2, 3, 4, 5, 6};
    FtB_Matrix A;
    const int64_t *p;
    const void *c, *v;
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, rowptr, colidx, values));
    assert_ok(FtB_Matrix_csr(A, &p, &c, &v));
    assert_ptr_equal(p, rowptr);
    assert_ptr_equal(c, colidx);
    assert_ptr_equal(v, values);
    assert_false(A->values->writable);
    FtB_Matrix_free(&A);

    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, rowptr, unsorted, values));
    assert_valid(A, false);
    assert_true(value_at(A, 0, 1, 0, 0) == 3 && value_at(A, 0, 3, 1, 0) == 2 && value_at(A, 2, 0, 1, 0) == 6);
    assert_true(A->values->writable);
    FtB_Matrix_free(&A);

    assert_fails(GrB_INVALID_VALUE, "wrap_csr: tuples 0 and 1 are both at (0, 1)",
                 FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, rowptr, twice, values));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "colidx[1], in row 0, is 4; expected a column of 3 x 4",
                 FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, rowptr, outside, values));
    assert_fails(GrB_NULL_POINTER, "rowptr is NULL",
                 FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, NULL, colidx, values));
    assert_fails(GrB_NULL_POINTER, "colidx is NULL",
                 FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, rowptr, NULL, values));
    assert_fails(GrB_NULL_POINTER, "values is NULL",
                 FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, rowptr, colidx, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL",
                 FtB_Matrix_wrap_csr(NULL, FTB_FP64, 3, 4, 2, rowptr, colidx, values));
    const int64_t falling[] = {0, 2, 1, 3}, late[] = {1, 2, 2, 3};
    assert_fails(GrB_INVALID_VALUE, "rowptr[2] is 1, less than rowptr[1], which is 2",
                 FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, falling, colidx, values));
    assert_fails(GrB_INVALID_VALUE, "rowptr[0] is 1",
                 FtB_Matrix_wrap_csr(&A, FTB_FP64, 3, 4, 2, late, colidx, values));
    assert_null(A);
    const int64_t nothing[] = {0};
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, 0, 4, 1, nothing, NULL, NULL));
    FtB_Matrix_free(&A);
}

static void wrap_wide_columns(void **state)
{
    (void)state;
    const int64_t rowptr[] = {0, 1, 3}, big = INT64_C(1) << 40;
    const int64_t colidx[] = {5, 7, big - 1}, unsorted[] = {5, big - 1, 7};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_BOOL, 2, big, 0, rowptr, colidx, NULL));
    assert_true(A->pattern->wide && A->pattern->colidx == colidx);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_BOOL, 2, big, 0, rowptr, unsorted, NULL));
    assert_valid(A, false);
    assert_true(ftb_col(A->pattern, 2) == big - 1);
    FtB_Matrix_free(&A);
    assert_true(ftb_col_size(INT32_MAX) == 4 && ftb_col_size((int64_t)INT32_MAX + 1) == 8);
}

static void check_transpose(FtB_Matrix A)
{
    FtB_Matrix T;
    assert_ok(ftb_matrix_transpose(&T, A));
    assert_valid(T, A->pattern->multi);
    assert_int_equal(T->pattern->nrows, A->pattern->ncols);
    assert_int_equal(T->pattern->ncols, A->pattern->nrows);
    assert_int_equal(T->pattern->nvals, A->pattern->nvals);
    ftb_pattern *cached;
    const int64_t *from;
    assert_ok(ftb_pattern_transpose(A->pattern, &cached, &from));
    assert_ptr_equal(cached, T->pattern);
    int64_t *row = malloc(sizeof *row * (size_t)(A->pattern->nvals + 1));
    for (int64_t i = 0; i < A->pattern->nrows; i++)
        for (int64_t e = A->pattern->rowptr[i]; e < A->pattern->rowptr[i + 1]; e++)
            row[e] = i;
    for (int64_t j = 0; j < T->pattern->nrows; j++)
        for (int64_t e = T->pattern->rowptr[j]; e < T->pattern->rowptr[j + 1]; e++) {
            assert_int_equal(ftb_col(T->pattern, e), row[from[e]]);
            assert_int_equal(ftb_col(A->pattern, from[e]), j);
            if (e > T->pattern->rowptr[j]) /* stable: parallel edges keep their order */
                assert_true(from[e - 1] < from[e]);
            for (int64_t f = 0; f < A->width; f++)
                assert_true(ftb_get_real(matrix_values(T), T->type, e * A->width + f) ==
                            ftb_get_real(matrix_values(A), A->type, from[e] * A->width + f));
        }
    free(row);
    FtB_Matrix_free(&T);
}

static void transposes(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 40; round++) {
        FtB_Matrix A =
            rng_matrix(&r, rng_type(&r), rng_below(&r, 12), rng_below(&r, 12), rng_below(&r, 3), 0.4);
        check_transpose(A);
        FtB_Matrix_free(&A);
    }
    int64_t n = 200000, *I = malloc(sizeof *I * (size_t)n), *J = malloc(sizeof *J * (size_t)n);
    for (int64_t t = 0; t < n; t++) {
        I[t] = t % 3 ? rng_below(&r, 1000) : 17;
        J[t] = t % 5 ? rng_below(&r, 900) : 3;
    }
    for (int threads = 1; threads < 4; threads++) {
        FtB_Matrix A;
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 1000, 900, 0, n, I, J, NULL, FTB_DUP_KEEP, NULL));
        check_transpose(A);
        FtB_Matrix_free(&A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free(I);
    free(J);
}

static void becoming_another(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 20; round++) {
        FtB_Matrix T = rng_matrix(&r, rng_type(&r), 6, 5, round % 3, 0.5), C, copy;
        assert_ok(FtB_Matrix_new(&C, rng_type(&r), 6, 5, 1));
        assert_ok(FtB_Matrix_dup(&copy, T));
        FtB_Type type = C->type;
        assert_ok(ftb_matrix_become(C, T));
        assert_int_equal(C->type, type);
        assert_int_equal(C->width, copy->width);
        assert_ptr_equal(C->pattern, copy->pattern);
        for (int64_t t = 0; t < copy->width * copy->pattern->nvals; t++) {
            uint64_t expected = 0;
            size_t size = FtB_Type_size(type);
            ftb_cast(&expected, type, (char *)matrix_values(copy) + (size_t)t * FtB_Type_size(copy->type),
                     copy->type, 1);
            assert_int_equal(memcmp(&expected, (char *)matrix_values(C) + (size_t)t * size, size), 0);
        }
        FtB_Matrix_free(&C);
        FtB_Matrix_free(&copy);
    }
}

static void blocks(void **state)
{
    (void)state;
    FtB_Block X;
    int64_t nrows, ncols, ld;
    void *data;
    FtB_Type type;
    assert_ok(FtB_Block_new(&X, 3, 4, FTB_FP16));
    assert_ok(FtB_Block_shape(X, &nrows, &ncols, &ld, &type, &data));
    assert_true(nrows == 3 && ncols == 4 && ld == 4 && type == FTB_FP16 && X->heads == 1);
    for (int t = 0; t < 12; t++)
        assert_int_equal(((uint16_t *)data)[t], 0);
    FtB_Block_free(&X);
    FtB_Block_free(&X);
    float mine[20] = {0};
    assert_ok(FtB_Block_wrap(&X, mine, 4, 3, 5, FTB_FP32));
    assert_ok(FtB_Block_shape(X, NULL, NULL, &ld, NULL, &data));
    assert_true(ld == 5 && data == mine && X->owner->writable);
    FtB_Block_free(&X);
    assert_ok(FtB_Block_wrap_const(&X, mine, 4, 3, 5, FTB_FP32));
    assert_false(X->owner->writable);
    FtB_Block_free(&X);
    assert_ok(FtB_Block_wrap(&X, NULL, 0, 3, 3, FTB_FP32));
    FtB_Block_free(&X);
    assert_fails(GrB_INVALID_VALUE, "ld is 2; expected at least the 3",
                 FtB_Block_wrap(&X, mine, 4, 3, 2, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "data is NULL", FtB_Block_wrap(&X, NULL, 4, 3, 3, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "FtB_Block_wrap_const: data is NULL",
                 FtB_Block_wrap_const(&X, NULL, 4, 3, 3, FTB_FP32));
    assert_fails(GrB_INVALID_VALUE, "-1 x 3", FtB_Block_new(&X, -1, 3, FTB_FP32));
    assert_fails(GrB_INVALID_VALUE, "type is 0", FtB_Block_new(&X, 1, 3, (FtB_Type)0));
    assert_fails(GrB_INVALID_VALUE, "cannot be addressed", FtB_Block_new(&X, INT64_MAX / 4, 8, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_new(NULL, 1, 3, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_shape(NULL, NULL, NULL, NULL, NULL, NULL));
    assert_null(X);
}

static void labels(void **state)
{
    (void)state;
    const char *names[] = {"zero", "", "two"}, *hole[] = {"a", NULL};
    FtB_Labels L, also;
    assert_ok(FtB_Labels_new(&L, 3, names));
    assert_int_equal(FtB_Labels_count(L), 3);
    assert_string_equal(FtB_Labels_get(L, 0), "zero");
    assert_string_equal(FtB_Labels_get(L, 1), "");
    assert_string_equal(FtB_Labels_get(L, 2), "two");
    assert_null(FtB_Labels_get(L, 3));
    assert_null(FtB_Labels_get(L, -1));
    also = ftb_labels_retain(L);
    FtB_Labels_free(&L);
    assert_string_equal(FtB_Labels_get(also, 2), "two");
    FtB_Labels_free(&also);
    FtB_Labels_free(&also);
    assert_int_equal(FtB_Labels_count(NULL), 0);
    assert_null(FtB_Labels_get(NULL, 0));
    assert_null(ftb_labels_retain(NULL));
    assert_ok(FtB_Labels_new(&L, 0, NULL));
    assert_int_equal(FtB_Labels_count(L), 0);
    FtB_Labels_free(&L);
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, 1, 1, FTB_FP32));
    L = (FtB_Labels)X;
    assert_fails(GrB_UNINITIALIZED_OBJECT, "not an FtB_Labels", FtB_Labels_free(&L));
    FtB_Descriptor d = (FtB_Descriptor)X;
    assert_fails(GrB_UNINITIALIZED_OBJECT, "not an FtB_Descriptor", FtB_Descriptor_free(&d));
    FtB_Matrix A;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 1, 1, 1));
    FtB_Block wrong = (FtB_Block)A;
    assert_fails(GrB_UNINITIALIZED_OBJECT, "not an FtB_Block", FtB_Block_free(&wrong));
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    assert_fails(GrB_NULL_POINTER, "strings[1] is NULL", FtB_Labels_new(&L, 2, hole));
    assert_fails(GrB_NULL_POINTER, "strings is NULL", FtB_Labels_new(&L, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "count is -1", FtB_Labels_new(&L, -1, names));
    assert_fails(GrB_NULL_POINTER, "labels is NULL", FtB_Labels_new(NULL, 1, names));
}

static void descriptors(void **state)
{
    (void)state;
    ftb_flags flags;
#define CHECK_CONSTANT(name, r, s, c, t0, t1)                                                                \
    assert_ok(ftb_arg_descriptor(&flags, FTB_ARG(FTB_DESC_##name)));                                         \
    assert_true(flags.replace == r && flags.structural == s && flags.complement == c &&                      \
                flags.transpose0 == t0 && flags.transpose1 == t1);                                           \
    assert_ok(ftb_arg_descriptor(&flags, FTB_ARG(GrB_DESC_##name)));                                         \
    assert_true(flags.replace == r && flags.structural == s && flags.complement == c &&                      \
                flags.transpose0 == t0 && flags.transpose1 == t1);
    FTB_DESCRIPTORS(CHECK_CONSTANT)
    assert_ok(ftb_arg_descriptor(&flags, FTB_ARG(NULL)));
    assert_false(flags.replace || flags.structural || flags.complement || flags.transpose0 ||
                 flags.transpose1);

    FtB_Descriptor d, constant = FTB_DESC_T1;
    assert_ok(FtB_Descriptor_free(&constant));
    assert_ok(ftb_arg_descriptor(&flags, FTB_ARG(FTB_DESC_T1)));
    assert_fails(GrB_INVALID_VALUE, "constants", FtB_Descriptor_set(FTB_DESC_T1, FTB_REPLACE, 1));
    assert_ok(FtB_Descriptor_new(&d));
    assert_ok(FtB_Descriptor_set(d, FTB_REPLACE, true));
    assert_ok(FtB_Descriptor_set(d, FTB_STRUCTURAL, 1));
    assert_ok(FtB_Descriptor_set(d, FTB_STRUCTURAL, 0));
    assert_ok(FtB_Descriptor_set(d, FTB_FILL, 2.5));
    assert_ok(FtB_Descriptor_set(d, FTB_PLAN, NULL));
    assert_ok(ftb_arg_descriptor(&flags, FTB_ARG(d)));
    assert_true(flags.replace && !flags.structural && flags.fill == 2.5 && !flags.plan);
    assert_ok(FtB_Descriptor_set(d, FTB_FILL, 3));
    assert_ok(ftb_arg_descriptor(&flags, FTB_ARG(d)));
    assert_true(flags.fill == 3);
    assert_fails(GrB_INVALID_VALUE, "0 or 1", FtB_Descriptor_set(d, FTB_REPLACE, 2));
    assert_fails(GrB_INVALID_VALUE, "0 or 1", FtB_Descriptor_set(d, FTB_REPLACE, "yes"));
    assert_fails(GrB_INVALID_VALUE, "takes a number", FtB_Descriptor_set(d, FTB_FILL, "yes"));
    assert_fails(GrB_INVALID_VALUE, "takes an FtB_Plan", FtB_Descriptor_set(d, FTB_PLAN, 1));
    assert_fails(GrB_INVALID_VALUE, "99 is not an FtB_Field", FtB_Descriptor_set(d, (FtB_Field)99, 1));
    assert_fails(GrB_NULL_POINTER, "d is NULL", FtB_Descriptor_set(NULL, FTB_REPLACE, 1));
    assert_fails(GrB_NULL_POINTER, "d is NULL", FtB_Descriptor_new(NULL));
    FtB_Descriptor_free(&d);
    assert_null(d);
    FtB_Descriptor_free(&d);

    GrB_Descriptor own;
    assert_int_equal(GrB_init(GrB_NONBLOCKING), GrB_SUCCESS);
    FtB_Matrix A; /* the library respects that GraphBLAS was started */
    GrB_Matrix G;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 2, 2, 1));
    assert_ok(FtB_Matrix_export(&G, A, 0));
    GrB_Matrix_free(&G);
    FtB_Matrix_free(&A);
    assert_int_equal(GrB_Descriptor_new(&own), GrB_SUCCESS);
    assert_fails(GrB_INVALID_VALUE, "cannot be read", ftb_arg_descriptor(&flags, FTB_ARG(own)));
    GrB_Descriptor_free(&own);
    assert_fails(GrB_INVALID_VALUE, "desc is text", ftb_arg_descriptor(&flags, FTB_ARG("T1")));
}

static void slots(void **state)
{
    (void)state;
    FtB_Matrix A, found;
    FtB_Block X, block;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 2, 2, 1));
    assert_ok(FtB_Block_new(&X, 2, 2, FTB_FP32));
    assert_ok(ftb_arg_matrix(&found, FTB_ARG(A), "A", false));
    assert_ptr_equal(found, A);
    assert_ok(ftb_arg_matrix(&found, FTB_ARG(NULL), "M", true));
    assert_null(found);
    assert_ok(ftb_arg_matrix(&found, FTB_SLOT(0), "M", true));
    assert_fails(GrB_NULL_POINTER, "A is NULL; expected an FtB_Matrix",
                 ftb_arg_matrix(&found, FTB_ARG(NULL), "A", false));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Block; expected an FtB_Matrix",
                 ftb_arg_matrix(&found, FTB_ARG(X), "A", false));
    assert_fails(GrB_INVALID_VALUE, "M is a real number; expected an FtB_Matrix or NULL",
                 ftb_arg_matrix(&found, FTB_ARG(1.5f), "M", true));
    assert_fails(GrB_INVALID_VALUE, "an untyped pointer",
                 ftb_arg_matrix(&found, FTB_ARG((void *)A), "A", false));
    assert_fails(GrB_UNINITIALIZED_OBJECT, "A is not an FtB_Matrix",
                 ftb_arg_matrix(&found, FTB_ARG((FtB_Matrix)X), "A", false));
    assert_ok(ftb_arg_block(&block, FTB_ARG(X), "X", false));
    assert_ptr_equal(block, X);
    assert_fails(GrB_INVALID_VALUE, "X is an FtB_Matrix", ftb_arg_block(&block, FTB_ARG(A), "X", true));
    assert_null(block);
    assert_true(FTB_ARG(true).kind == FTB_KIND_INTEGER && FTB_ARG(true).integer == 1);
    assert_true(FTB_ARG((size_t)7).integer == 7);
    assert_true(FTB_ARG(UINT64_MAX).kind == FTB_KIND_REAL && FTB_ARG(UINT64_MAX).real == 0x1p64);
    char text[] = "text";
    assert_true(FTB_ARG("text").kind == FTB_KIND_TEXT && FTB_ARG(text).handle == text);
    for (int kind = -1; kind < 20; kind++)
        assert_non_null(ftb_kind_name((FtB_Kind)kind));
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
}

static void bad_matrix_arguments(void **state)
{
    (void)state;
    FtB_Matrix A, B;
    FtB_Block V;
    const int64_t *rowptr;
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_new(NULL, FTB_FP32, 1, 1, 1));
    assert_fails(GrB_INVALID_VALUE, "type is 14", FtB_Matrix_new(&A, (FtB_Type)14, 1, 1, 1));
    assert_fails(GrB_INVALID_VALUE, "1 x -1", FtB_Matrix_new(&A, FTB_FP32, 1, -1, 1));
    assert_fails(GrB_INVALID_VALUE, "width is -1", FtB_Matrix_new(&A, FTB_FP32, 1, 1, -1));
    assert_null(A);
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, INT64_MAX - 1, 1, 1)); /* lists its rows */
    assert_fails(GrB_OUT_OF_MEMORY, "hypersparse", FtB_Matrix_csr(A, &rowptr, NULL, NULL));
    FtB_Matrix_free(&A);
    assert_fails(GrB_INVALID_VALUE, "expected dimensions from 0 to 2^63 - 2",
                 FtB_Matrix_new(&A, FTB_FP32, 1, INT64_MAX, 1));
    assert_fails(GrB_INVALID_VALUE, "expected dimensions from 0 to 2^63 - 2",
                 FtB_Matrix_new(&A, FTB_FP32, INT64_MAX, 1, 1));
    assert_fails(GrB_INVALID_VALUE, "expected 0 (pattern only) to 2^60 - 1",
                 FtB_Matrix_new(&A, FTB_FP32, 1, 1, INT64_MAX / 8 + 1));
    assert_null(A);
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_like(&B, NULL, 1, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "S is NULL", FtB_Matrix_like(NULL, NULL, 1, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_dup(&B, NULL));
    assert_fails(GrB_NULL_POINTER, "B is NULL", FtB_Matrix_dup(NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_values(&V, NULL));
    assert_fails(GrB_NULL_POINTER, "V is NULL", FtB_Matrix_values(NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_shape(NULL, NULL, NULL, NULL, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_csr(NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 1, 1, 1));
    assert_fails(GrB_INVALID_VALUE, "type is 77", FtB_Matrix_like(&B, A, 1, (FtB_Type)77));
    assert_fails(GrB_INVALID_VALUE, "width is -3", FtB_Matrix_like(&B, A, -3, FTB_FP32));
    assert_null(B);
    assert_ok(FtB_Block_new(&V, 1, 1, FTB_FP32));
    FtB_Matrix wrong = (FtB_Matrix)V;
    assert_fails(GrB_UNINITIALIZED_OBJECT, "not an FtB_Matrix", FtB_Matrix_free(&wrong));
    assert_fails(GrB_UNINITIALIZED_OBJECT, "not an FtB_Matrix", FtB_Matrix_dup(&B, wrong));
    FtB_Block_free(&V);
    FtB_Matrix_free(&A);
}

static void the_limit_is_kept(void **state)
{
    (void)state;
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Block X;
    const int64_t *rowptr;
    int64_t now;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 100000));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 100000, 1, 1)); /* lists its rows */
    assert_fails(FTB_LIMIT, "the context's limit is 98K", FtB_Matrix_csr(A, &rowptr, NULL, NULL));
    FtB_Matrix_free(&A);
    assert_fails(FTB_LIMIT, "the context's limit is 98K", FtB_Block_new(&X, 200, 200, FTB_FP64));
    assert_null(A);
    assert_null(X);
    assert_ok(FtB_Context_memory(ctx, &now, NULL));
    assert_int_equal(now, 0);
    FtB_Context_free(&ctx);
}

/* Every call of this file that allocates; inputs are made inside, since a transpose is kept by its input. */
static GrB_Info every_call(void *arg)
{
    (void)arg;
    static const int64_t I[] = {0, 1, 1}, J[] = {2, 2, 0}, rowptr[] = {0, 2, 3};
    static const int32_t sorted[] = {0, 2, 1}, unsorted[] = {2, 0, 1};
    static const float X[] = {1, 2, 3};
    static const char *const names[] = {"a", "b"};
    FtB_Matrix A = NULL, B = NULL, S = NULL, T = NULL, W = NULL, U = NULL, N = NULL;
    FtB_Block V = NULL, Y = NULL, Z = NULL;
    FtB_Labels L = NULL;
    FtB_Descriptor d = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 2, 3, 1, 3, I, J, X, FTB_DUP_SUM, NULL));
    FTB_CHECK(FtB_Matrix_dup(&B, A));
    FTB_CHECK(FtB_Matrix_like(&S, A, 2, FTB_INT8));
    FTB_CHECK(FtB_Matrix_values(&V, A));
    FTB_CHECK(ftb_matrix_transpose(&T, A));
    FTB_CHECK(FtB_Matrix_wrap_csr(&W, FTB_FP32, 2, 3, 1, rowptr, sorted, X));
    FTB_CHECK(FtB_Matrix_wrap_csr(&U, FTB_FP32, 2, 3, 1, rowptr, unsorted, X));
    FTB_CHECK(FtB_Matrix_new(&N, FTB_FP64, 2, 3, 1));
    FTB_CHECK(ftb_matrix_become(N, B));
    B = NULL;
    FTB_CHECK(FtB_Block_new(&Y, 3, 3, FTB_FP64));
    FTB_CHECK(FtB_Block_wrap(&Z, block_values(Y), 3, 3, 3, FTB_FP64));
    FTB_CHECK(FtB_Labels_new(&L, 2, names));
    FTB_CHECK(FtB_Descriptor_new(&d));
done:
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&T);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&U);
    FtB_Matrix_free(&N);
    FtB_Block_free(&V);
    FtB_Block_free(&Y);
    FtB_Block_free(&Z);
    FtB_Labels_free(&L);
    FtB_Descriptor_free(&d);
    return info;
}

static void failing_allocation(void **state)
{
    (void)state;
    fail_every_allocation(every_call, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_matrix_is_empty),
        cmocka_unit_test(like_and_dup_share_the_pattern),
        cmocka_unit_test(values_are_a_view),
        cmocka_unit_test(wrap_in_place),
        cmocka_unit_test(wrap_wide_columns),
        cmocka_unit_test(transposes),
        cmocka_unit_test(becoming_another),
        cmocka_unit_test(blocks),
        cmocka_unit_test(labels),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(slots),
        cmocka_unit_test(bad_matrix_arguments),
        cmocka_unit_test(the_limit_is_kept),
        cmocka_unit_test(failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
