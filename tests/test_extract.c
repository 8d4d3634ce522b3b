/* FtB_extract and FtB_transpose against loops and GraphBLAS: matrices and vectors, lists in any order, masks,
 * accumulators, dtypes, widths, forms inside, at random. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_case.h"
#include "oracle/ref_vector.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/index_lists.h"

#include <stdlib.h>

#define CASES rng_cases(900)

static int64_t dimension(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 13, 20, 40, 70};
    return sizes[rng_below(r, 11)];
}

/* T(s, t) = A(I[s], J[t]). */
static ref_matrix *picked(const ref_matrix *A, const index_list *I, const index_list *J)
{
    ref_matrix *T = ref_new(A->type, I->count, J->count, A->width);
    const int64_t width = A->width > 0 ? A->width : 1;
    for (int64_t s = 0; s < I->count; s++)
        for (int64_t t = 0; t < J->count; t++) {
            *ref_at(T, s, t) = *ref_at(A, listed(I, s), listed(J, t));
            for (int64_t f = 0; f < width; f++)
                ref_value(T, s, t)[f] = ref_value(A, listed(I, s), listed(J, t))[f];
        }
    return T;
}

/* ---- a matrix of a matrix */

static void matrix_case(rng *r)
{
    const int64_t nrows = dimension(r), ncols = dimension(r), width = rng_below(r, 4) ? 1 : rng_below(r, 4);
    index_list I = some_list(r, nrows, 2 * nrows, false), J = some_list(r, ncols, 2 * ncols, false);
    ref_case c = ref_case_new(r, I.count, J.count, width > 0 ? width : 1, 1);
    const bool turned = c.flags.transpose0,
               self = nrows == I.count && ncols == J.count && !turned && width > 0;
    FtB_Matrix A = self && rng_below(r, 3) == 0
                       ? c.C
                       : rng_matrix(r, rng_type(r), turned ? ncols : nrows, turned ? nrows : ncols,
                                    c.accum || c.M || c.flags.complement ? c.old->width : width, rng_unit(r)),
               given = A;
    ref_matrix *a = ref_read(A, turned);
    const bool grb = c.grb_C && a->type <= FTB_FP64 && a->width == 1;
    if (A == c.C)
        assert_ok(FtB_Matrix_dup(&given, A));
    assert_ok(FtB_extract(c.C, c.M, ref_op_arg(c.accum), A, I.arg, J.arg, c.flags.descriptor));
    assert_valid(c.C, false);
    ref_case_check(&c, picked(a, &I, &J), 1e-12);
    if (grb) {
        GrB_Matrix G;
        assert_ok(FtB_Matrix_export(&G, given, 0));
        assert_int_equal(GrB_Matrix_extract(c.grb_C, c.grb_M, c.accum ? c.accum->grb : NULL, G, I.grb,
                                            (GrB_Index)I.count, J.grb, (GrB_Index)J.count, c.flags.grb),
                         GrB_SUCCESS);
        ref_case_check_grb(&c, 1e-12);
        GrB_Matrix_free(&G);
    }
    FtB_Matrix_free(&given);
    ref_free(a);
    free_list(&I);
    free_list(&J);
    ref_case_free(&c);
}

static void matrices(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        matrix_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- a vector of a vector, or of a matrix's row or column */

static void vector_case(rng *r)
{
    const int64_t size = dimension(r);
    index_list I = some_list(r, size, 2 * size, false), J = {.count = 1};
    ref_vector_case c = ref_vector_case_new(r, I.count, 0);
    FtB_Vector u = c.C;
    if (size != I.count || rng_below(r, 3)) {
        u = rng_vector(r, rng_type(r), size, rng_unit(r));
        force_any_form(r, u);
    }
    ref_matrix *a = ref_read_vector(u, false);
    GrB_Vector G = ref_export_vector(u);
    const bool own = u != c.C;
    assert_ok(FtB_extract(c.C, c.M, ref_op_arg(c.accum), u, I.arg, NULL, c.flags.descriptor));
    ref_vector_case_check(&c, picked(a, &I, &J), 1e-12);
    if (c.grb_C && G) {
        assert_int_equal(GrB_Vector_extract(c.grb_C, c.grb_M, c.accum ? c.accum->grb : NULL, G, I.grb,
                                            (GrB_Index)I.count, c.flags.grb),
                         GrB_SUCCESS);
        ref_vector_case_check_grb(&c, 1e-12);
    }
    GrB_Vector_free(&G);
    ref_free(a);
    if (own)
        FtB_Vector_free(&u);
    free_list(&I);
    ref_vector_case_free(&c);
}

/* GraphBLAS takes columns; rows are those of the transposed. */
static void line_case(rng *r)
{
    const int64_t nrows = 1 + rng_below(r, 30), ncols = 1 + rng_below(r, 30);
    const bool row = rng_below(r, 2);
    index_list I = some_list(r, row ? ncols : nrows, 50, false), one = {.count = 1};
    int64_t at = rng_below(r, row ? nrows : ncols);
    one.at = &at;
    one.arg = FTB_ARG(FtB_Ids_of(&at, 1));
    ref_vector_case c = ref_vector_case_new(r, I.count, 1);
    const bool turned = c.flags.transpose0;
    FtB_Matrix A = rng_matrix(r, rng_type(r), turned ? ncols : nrows, turned ? nrows : ncols,
                              rng_below(r, 4) > 0, rng_unit(r));
    ref_matrix *a = ref_read(A, turned);
    a->type = a->width ? a->type : FTB_BOOL;
    assert_ok(FtB_extract(c.C, c.M, ref_op_arg(c.accum), A, row ? one.arg : I.arg, row ? I.arg : one.arg,
                          c.flags.descriptor));
    ref_matrix *T = row ? picked(a, &one, &I) : picked(a, &I, &one);
    T->nrows = I.count;
    T->ncols = 1;
    T->width = 1;
    ref_vector_case_check(&c, T, 1e-12);
    if (c.grb_C && a->type <= FTB_FP64) {
        GrB_Matrix G;
        const ref_flags f = c.flags;
        GrB_Descriptor desc;
        assert_ok(FtB_Matrix_export(&G, A, 0));
        GrB_Descriptor_new(&desc);
        if (f.replace)
            GrB_Descriptor_set(desc, GrB_OUTP, GrB_REPLACE);
        if (f.complement)
            GrB_Descriptor_set(desc, GrB_MASK, GrB_COMP);
        if (f.structural)
            GrB_Descriptor_set(desc, GrB_MASK, GrB_STRUCTURE);
        if (turned != row)
            GrB_Descriptor_set(desc, GrB_INP0, GrB_TRAN);
        assert_int_equal(GrB_Col_extract(c.grb_C, c.grb_M, c.accum ? c.accum->grb : NULL, G, I.grb,
                                         (GrB_Index)I.count, (GrB_Index)at, desc),
                         GrB_SUCCESS);
        ref_vector_case_check_grb(&c, 1e-12);
        GrB_Descriptor_free(&desc);
        GrB_Matrix_free(&G);
    }
    ref_free(a);
    FtB_Matrix_free(&A);
    free_list(&I);
    ref_vector_case_free(&c);
}

static void vectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        if (t % 2)
            vector_case(&r);
        else
            line_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- transposes */

static void transpose_case(rng *r)
{
    ref_case c = ref_case_new(r, dimension(r), dimension(r), 1 + (rng_below(r, 4) == 0), 1);
    const bool again = c.flags.transpose0, square = c.old->nrows == c.old->ncols || again;
    FtB_Matrix A = square && rng_below(r, 3) == 0
                       ? c.C
                       : rng_matrix(r, rng_type(r), again ? c.old->nrows : c.old->ncols,
                                    again ? c.old->ncols : c.old->nrows, c.old->width, rng_unit(r)),
               given = A;
    ref_matrix *a = ref_read(A, !again);
    if (A == c.C)
        assert_ok(FtB_Matrix_dup(&given, A));
    const bool grb = c.grb_C && a->type <= FTB_FP64 && a->width <= 1;
    assert_ok(FtB_transpose(c.C, c.M, ref_op_arg(c.accum), A, c.flags.descriptor));
    ref_case_check(&c, a, 1e-12);
    if (grb) {
        GrB_Matrix G;
        assert_ok(FtB_Matrix_export(&G, given, 0));
        assert_int_equal(GrB_transpose(c.grb_C, c.grb_M, c.accum ? c.accum->grb : NULL, G, c.flags.grb),
                         GrB_SUCCESS);
        ref_case_check_grb(&c, 1e-12);
        GrB_Matrix_free(&G);
    }
    FtB_Matrix_free(&given);
    ref_case_free(&c);
}

/* Vectors become rows or columns, and back. */
static void lines(rng *r)
{
    const int64_t size = rng_below(r, 40);
    FtB_Vector u = rng_vector(r, rng_type(r), size, rng_unit(r)), v;
    FtB_Matrix row, column;
    ref_matrix *want = ref_read_vector(u, true), *tall = ref_read_vector(u, false);
    force_any_form(r, u);
    assert_ok(FtB_Matrix_new(&row, u->v.type, 1, size, 1));
    assert_ok(FtB_Matrix_new(&column, u->v.type, size, 1, 1));
    assert_ok(FtB_Vector_new(&v, u->v.type, size));
    assert_ok(FtB_transpose(row, NULL, NULL, u, NULL));
    ref_check(row, want, 0, "a row");
    assert_ok(FtB_transpose(column, NULL, NULL, u, FTB_DESC_T0));
    ref_check(column, tall, 0, "a column");
    assert_ok(FtB_transpose(v, NULL, NULL, row, NULL));
    assert_same_vector(v, u);
    assert_ok(FtB_transpose(v, NULL, NULL, column, FTB_DESC_T0));
    assert_same_vector(v, u);
    assert_ok(FtB_transpose(v, u, "x + y", u, FTB_DESC_RST0));
    assert_int_equal(v->v.nvals, u->v.nvals);
    ref_free(want);
    ref_free(tall);
    FtB_Vector_free(&u);
    FtB_Vector_free(&v);
    FtB_Matrix_free(&row);
    FtB_Matrix_free(&column);
}

static void transposes(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES / 2; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        transpose_case(&r);
        lines(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* What is copied as a whole is nobody else's memory. */
static void copies(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 9, 9, 1, 0.5), B, before;
    assert_ok(FtB_Matrix_dup(&before, A));
    for (int t = 0; t < 2; t++) {
        assert_ok(FtB_Matrix_new(&B, FTB_FP32, 9, 9, 1));
        if (t)
            assert_ok(FtB_transpose(B, NULL, NULL, A, FTB_DESC_T0));
        else
            assert_ok(FtB_extract(B, NULL, NULL, A, NULL, NULL, NULL));
        assert_same(B, A);
        memset(matrix_values(B), 0, (size_t)B->pattern->nvals * 4);
        assert_same(A, before);
        FtB_Matrix_free(&B);
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&before);
}

/* Parallel edges stay in their order, also where a list turns the columns. */
static void parallel_edges(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 0, 0, 0, 0}, J[] = {1, 0, 1, 0, 1, 2}, columns[] = {2, 1, 0, 1};
    const float x[] = {1, 2, 3, 4, 5, 6}, want[] = {6, 1, 3, 5, 2, 4, 1, 3, 5};
    FtB_Matrix A, C;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 1, 3, 1, 6, I, J, x, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 1, 4, 1));
    assert_ok(FtB_extract(C, NULL, NULL, A, NULL, FtB_Ids_of(columns, 4), NULL));
    assert_int_equal(C->pattern->nvals, 9);
    assert_memory_equal(matrix_values(C), want, sizeof want);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
}

/* ---- large */

/* Rows longer than a list, and lists longer than a row; parallel edges; 1 to 8 threads. */
static void many_entries(void **state)
{
    (void)state;
    enum { N = 2000, M = 60000, LIST = 5000 };
    rng r = rng_new();
    int64_t *I = malloc(M * sizeof *I), *J = malloc(M * sizeof *J), rows[LIST], columns[LIST];
    double *x = malloc(M * sizeof *x);
    FtB_Matrix A, first = NULL;
    for (int64_t e = 0; e < M; e++) {
        I[e] = e % 3 ? rng_below(&r, N) : 7; /* a hub */
        J[e] = rng_below(&r, N);
        x[e] = rng_unit(&r);
    }
    for (int t = 0; t < LIST; t++) {
        rows[t] = rng_below(&r, N);
        columns[t] = rng_below(&r, N);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 1, M, I, J, x, FTB_DUP_KEEP, NULL));
    for (int threads = 1; threads <= 8; threads++) {
        FtB_Matrix C;
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, LIST, LIST, 1));
        assert_ok(FtB_extract(C, NULL, NULL, A, FtB_Ids_of(rows, LIST), FtB_Ids_of(columns, LIST), NULL));
        assert_valid(C, true);
        if (first)
            assert_same(C, first);
        else
            first = C;
        if (C != first)
            FtB_Matrix_free(&C);
    }
    int64_t seen = 0;
    assert_valid(first, true);
    assert_valid(A, true);
    for (int s = 0; s < LIST; s += 97)
        for (int64_t e = first->pattern->rowptr[s]; e < first->pattern->rowptr[s + 1]; e++) {
            const int64_t j = columns[ftb_col(first->pattern, e)];
            const ftb_pattern *p = A->pattern;
            bool there = false;
            for (int64_t q = p->rowptr[rows[s]]; q < p->rowptr[rows[s] + 1]; q++)
                there |= ftb_col(p, q) == j &&
                         ((double *)matrix_values(A))[q] == ((double *)matrix_values(first))[e];
            assert_true(there);
            seen++;
        }
    assert_true(seen > 100);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&first);
    free(I);
    free(J);
    free(x);
}

/* A vector's places by 1 to 8 threads. */
static void many_places(void **state)
{
    (void)state;
    enum { SIZE = 200003 };
    rng r = rng_new();
    FtB_Vector u = rng_vector(&r, FTB_INT32, SIZE, 0.03), first = NULL;
    int64_t *list = malloc(SIZE * sizeof *list);
    for (int64_t t = 0; t < SIZE; t++)
        list[t] = (t * 7919) % SIZE; /* all of them, in another order */
    for (int threads = 1; threads <= 8; threads++) {
        FtB_Vector w;
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(FtB_Vector_new(&w, FTB_INT32, SIZE));
        assert_ok(FtB_extract(w, NULL, NULL, u, FtB_Ids_of(list, SIZE), NULL, NULL));
        assert_valid_vector(w);
        assert_int_equal(w->v.nvals, u->v.nvals);
        if (first)
            assert_same_vector(w, first);
        else
            assert_ok(FtB_Vector_dup(&first, w));
        FtB_Vector_free(&w);
    }
    for (int64_t t = 0; t < SIZE; t += 101) {
        int32_t x = 0, y = 0;
        assert_int_equal(FtB_Vector_get(first, t, &x), FtB_Vector_get(u, list[t], &y));
        assert_int_equal(x, y);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Vector_free(&u);
    FtB_Vector_free(&first);
    free(list);
}

/* ---- refusals and memory */

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 6, 5, 1, 0.5), W = rng_matrix(&r, FTB_FP32, 6, 5, 3, 0.5), C, K,
               before;
    FtB_Vector u = rng_vector(&r, FTB_FP32, 6, 0.5), w;
    const int64_t far[] = {0, 6}, low[] = {-1}, two[] = {1, 2}, I[] = {0, 0}, J[] = {1, 1};
    const float x[] = {1, 2};
    const FtB_Ids all = FtB_Ids_of(two, 2), one = FtB_Ids_of(two, 1);
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 2, 2, 1));
    assert_ok(FtB_Vector_new(&w, FTB_FP32, 2));
    assert_ok(FtB_Matrix_build(&K, FTB_FP32, 6, 5, 1, 2, I, J, x, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_dup(&before, C));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "I[1] is 6; expected 0 to 5",
                 FtB_extract(C, NULL, NULL, A, FtB_Ids_of(far, 2), all, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "J[0] is -1; expected 0 to 4",
                 FtB_extract(C, NULL, NULL, A, all, FtB_Ids_of(low, 1), NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "J[1] is 6; expected 0 to 5",
                 FtB_extract(C, NULL, NULL, A, all, FtB_Ids_of(far, 2), FTB_DESC_T0));
    assert_fails(GrB_INVALID_VALUE, "I is an integer", FtB_extract(C, NULL, NULL, A, 3, all, NULL));
    assert_fails(GrB_NULL_POINTER, "I: at is NULL; expected 2",
                 FtB_extract(C, NULL, NULL, A, FtB_Ids_of(NULL, 2), all, NULL));
    assert_fails(GrB_INVALID_VALUE, "J: a list of -2",
                 FtB_extract(C, NULL, NULL, A, all, FtB_Ids_of(two, -2), NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "C is 2 x 2; expected 2 x 5",
                 FtB_extract(C, NULL, NULL, A, all, NULL, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "the mask is 6 x 5", FtB_extract(C, A, NULL, A, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "width", FtB_extract(C, NULL, "x + y", W, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "I and J are of 2 and 2",
                 FtB_extract(w, NULL, NULL, A, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "C has 2 places; expected 6",
                 FtB_extract(w, NULL, NULL, A, NULL, one, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "width 3", FtB_extract(w, NULL, NULL, W, all, one, NULL));
    assert_fails(GrB_INVALID_VALUE, "parallel edges", FtB_extract(w, NULL, NULL, K, all, one, NULL));
    assert_fails(GrB_INVALID_VALUE, "J is an FtB_Ids; expected NULL",
                 FtB_extract(w, NULL, NULL, u, all, one, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Vector; expected an FtB_Matrix",
                 FtB_extract(C, NULL, NULL, u, all, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_extract(C, NULL, NULL, NULL, all, all, NULL));
    assert_fails(GrB_NULL_POINTER, "C is NULL", FtB_extract(NULL, NULL, NULL, A, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "C is 2 x 2; expected 5 x 6, the shape of A'",
                 FtB_transpose(C, NULL, NULL, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A' is 5 x 6; expected 2 x 1",
                 FtB_transpose(w, NULL, NULL, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A' is 1 x 6", FtB_transpose(u, NULL, NULL, u, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_transpose(C, NULL, NULL, NULL, NULL));
    assert_same(C, before);
    assert_int_equal(w->v.nvals, 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&K);
    FtB_Matrix_free(&before);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
}

static GrB_Info calls(void *arg)
{
    const int64_t I[] = {0, 0, 2, 3}, J[] = {1, 2, 0, 3}, rows[] = {3, 0, 3}, columns[] = {2, 1, 0};
    const float x[] = {1, 2, 3, 4};
    FtB_Matrix A = NULL, C = NULL, before = NULL;
    FtB_Vector u = NULL, w = NULL;
    GrB_Info info;
    (void)arg;
    const FtB_Ids by_row = FtB_Ids_of(rows, 3), by_column = FtB_Ids_of(columns, 3);
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 4, 4, 1, 4, I, J, x, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Matrix_build(&C, FTB_INT32, 3, 3, 1, 1, rows + 1, columns + 1, x, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Vector_build(&u, FTB_FP32, 4, 3, J + 1, x, FTB_DUP_SUM));
    FTB_CHECK(FtB_Vector_new(&w, FTB_FP64, 3));
    FTB_CHECK(FtB_Matrix_dup(&before, C));
    info = FtB_extract(C, NULL, "x + y", A, by_row, by_column, FTB_DESC_T0);
    if (info == GrB_SUCCESS)
        info = FtB_transpose(C, C, NULL, C, FTB_DESC_S);
    else
        assert_same(C, before);
    FTB_CHECK(info);
    FTB_CHECK(FtB_extract(w, NULL, NULL, u, by_row, NULL, NULL));
    FTB_CHECK(FtB_extract(w, NULL, "x + y", A, by_row, FtB_Ids_of(columns, 1), NULL));
    FTB_CHECK(FtB_extract(w, w, NULL, A, FtB_Ids_of(rows, 1), by_column, NULL));
    FtB_Matrix_free(&C);
    FTB_CHECK(FtB_Matrix_new(&C, FTB_FP32, 1, 3, 1));
    FTB_CHECK(FtB_transpose(C, NULL, NULL, w, NULL));
    info = FtB_transpose(w, NULL, NULL, C, NULL);
done:
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
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
        cmocka_unit_test(matrices),
        cmocka_unit_test(vectors),
        cmocka_unit_test(transposes),
        cmocka_unit_test(copies),
        cmocka_unit_test(parallel_edges),
        cmocka_unit_test(many_entries),
        cmocka_unit_test(many_places),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
