/* Matrices of far more rows and columns than entries: operations on 4e9 x 4e9 of them against the same on the
 * few rows and columns that matter, as ordinary matrices, and against GraphBLAS. The tests of operations run
 * with every matrix held so, too (FEATBLAS_LISTED, cmake/tests.cmake). */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/hypersparse.h"
#include "support/compare.h"
#include "support/far_apart.h"
#include "support/some_vectors.h"

#include <stdlib.h>

/* ---- matrices */

enum { APPLY, DEGREES, SELECT, TOPK, ADD, MULTIPLY, PRODUCT, DEGREE_PRODUCT, ANY_PRODUCT, TURN, OPERATIONS };

static GrB_Info operate(int operation, FtB_Matrix C, FtB_Matrix M, const char *accum, FtB_Matrix A,
                        FtB_Matrix B, FtB_Descriptor d)
{
    switch (operation) {
    case APPLY:
        return FtB_apply(C, M, accum, "2 * x + 1", A, d);
    case DEGREES:
        return FtB_apply(C, M, accum, "x + di", A, d);
    case SELECT:
        return FtB_select(C, M, accum, "x > 0", A, d);
    case TOPK:
        return FtB_select_topk(C, M, accum, 2, A, d);
    case ADD:
        return FtB_eWiseAdd(C, M, accum, "x - y", A, B, d);
    case MULTIPLY:
        return FtB_eWiseMult(C, M, accum, "x * y", A, B, d);
    case PRODUCT:
        return FtB_mxm(C, M, accum, "plus : a * b", A, B, d);
    case DEGREE_PRODUCT:
        return FtB_mxm(C, M, accum, "max : a + 3 * b + 10 * di + 100 * dk", A, B, d);
    case ANY_PRODUCT:
        return FtB_mxm(C, M, accum, "any : 1", A, B, d);
    default:
        return FtB_transpose(C, M, accum, A, d);
    }
}

static FtB_Descriptor some_descriptor(rng *r)
{
    const FtB_Descriptor all[] = {NULL,        FTB_DESC_T0,  FTB_DESC_T1,  FTB_DESC_T0T1,
                                  FTB_DESC_S,  FTB_DESC_C,   FTB_DESC_R,   FTB_DESC_RC,
                                  FTB_DESC_SC, FTB_DESC_RSC, FTB_DESC_ST0, FTB_DESC_CT1};
    return all[rng_below(r, (int64_t)(sizeof all / sizeof *all))];
}

static void operations(void **state)
{
    (void)state;
    for (int t = 0; t < rng_cases(600); t++) {
        rng r = rng_case(t);
        int64_t map[FEW];
        far_apart(&r, map);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        const int operation = t % OPERATIONS;
        FtB_Matrix small[4] = {NULL}, large[4] = {NULL}; /* C, M, A, B */
        for (int n = 0; n < 4; n++)
            if (n != 1 || rng_below(&r, 2)) {
                small[n] = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, rng_unit(&r) * rng_unit(&r));
                large[n] = spread(small[n], map);
            }
        const char *accum = rng_below(&r, 3) ? NULL : "x + y";
        FtB_Descriptor d = some_descriptor(&r);
        const int b = rng_below(&r, 4) ? 3 : 2, a = rng_below(&r, 6) ? 2 : 0; /* B may be A, A may be C */
        assert_ok(operate(operation, small[0], small[1], accum, small[a], small[b], d));
        assert_ok(operate(operation, large[0], large[1], accum, large[a], large[b], d));
        assert_spread(large[0], small[0], map, map);
        for (int n = 0; n < 4; n++) {
            FtB_Matrix_free(&small[n]);
            FtB_Matrix_free(&large[n]);
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Ordinary operands beside those that list their rows: few rows of many columns, and the other way round. */
static void mixed_products(void **state)
{
    (void)state;
    for (int t = 0; t < rng_cases(200); t++) {
        rng r = rng_case(t);
        int64_t map[FEW];
        far_apart(&r, map);
        FtB_Matrix A = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, rng_unit(&r)),
                   B = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, rng_unit(&r)), C, wide, tall, got,
                   square = spread(B, map);
        tuples a = tuples_of(A);
        for (int64_t e = 0; e < a.nvals; e++)
            a.J[e] = map[a.J[e]];
        assert_ok(FtB_Matrix_build(&wide, FTB_FP64, FEW, N, 1, a.nvals, a.I, a.J, a.X, FTB_DUP_ERROR, NULL));
        assert_ok(FtB_Matrix_build(&tall, FTB_FP64, N, FEW, 1, a.nvals, a.J, a.I, a.X, FTB_DUP_ERROR, NULL));
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, FEW, FEW, 1));
        /* A B: FEW x N times N x N. */
        assert_ok(FtB_mxm(C, NULL, NULL, "plus : a * b", A, B, NULL));
        assert_ok(FtB_Matrix_new(&got, FTB_FP64, FEW, N, 1));
        assert_ok(FtB_mxm(got, NULL, NULL, "plus : a * b", wide, square, NULL));
        assert_spread(got, C, NULL, map);
        assert_ok(FtB_mxm(got, NULL, NULL, "plus : a * b", tall, square, FTB_DESC_T0));
        assert_spread(got, C, NULL, map);
        FtB_Matrix_free(&got);
        /* B A': N x N times N x FEW. */
        assert_ok(FtB_mxm(C, NULL, NULL, "plus : a * b", B, A, FTB_DESC_T1));
        assert_ok(FtB_Matrix_new(&got, FTB_FP64, N, FEW, 1));
        assert_ok(FtB_mxm(got, NULL, NULL, "plus : a * b", square, wide, FTB_DESC_T1));
        assert_spread(got, C, map, NULL);
        assert_ok(FtB_mxm(got, NULL, NULL, "plus : a * b", square, tall, NULL));
        assert_spread(got, C, map, NULL);
        FtB_Matrix_free(&got);
        /* A A' by way of N, and A' A. */
        assert_ok(FtB_mxm(C, NULL, NULL, "plus : a * b", A, A, FTB_DESC_T1));
        assert_ok(FtB_Matrix_new(&got, FTB_FP64, FEW, FEW, 1));
        assert_ok(FtB_mxm(got, NULL, NULL, "plus : a * b", wide, tall, NULL));
        assert_spread(got, C, NULL, NULL);
        FtB_Matrix_free(&got);
        assert_ok(FtB_mxm(C, NULL, NULL, "plus : a * b", A, A, FTB_DESC_T0));
        assert_ok(FtB_Matrix_new(&got, FTB_FP64, N, N, 1));
        assert_ok(FtB_mxm(got, NULL, NULL, "plus : a * b", wide, wide, FTB_DESC_T0));
        assert_spread(got, C, map, map);
        free_tuples(&a);
        FtB_Matrix *all[] = {&A, &B, &C, &wide, &tall, &got, &square};
        for (size_t n = 0; n < sizeof all / sizeof *all; n++)
            FtB_Matrix_free(all[n]);
    }
}

/* Of 5000 rows, of which few have entries or many do, so that some operands list theirs and others do not:
 * against the same when none does. */
static void some_list_their_rows(void **state)
{
    (void)state;
    enum { ROWS = 5000, MANY = 700 };
    const int64_t usual = ftb_listed_rows;
    for (int t = 0; t < rng_cases(150); t++) {
        rng r = rng_case(t);
        FtB_Matrix some[4] = {NULL}, none[4] = {NULL}; /* C, M, A, B */
        int64_t I[MANY], J[MANY];
        double X[MANY];
        for (int n = 0; n < 4; n++) {
            const int64_t nvals = rng_below(&r, 2) ? rng_below(&r, 200) : 400 + rng_below(&r, MANY - 400);
            for (int64_t e = 0; e < nvals; e++) {
                I[e] = rng_below(&r, 3) ? rng_below(&r, 40) * 100 : rng_below(&r, ROWS);
                J[e] = rng_below(&r, 2) ? rng_below(&r, 40) * 100 : rng_below(&r, ROWS);
            }
            rng_values(&r, X, FTB_FP64, nvals);
            if (n == 1 && rng_below(&r, 3) == 0)
                continue;
            ftb_listed_rows = usual;
            assert_ok(
                FtB_Matrix_build(&some[n], FTB_FP64, ROWS, ROWS, 1, nvals, I, J, X, FTB_DUP_LAST, NULL));
            ftb_listed_rows = INT64_MAX;
            assert_ok(
                FtB_Matrix_build(&none[n], FTB_FP64, ROWS, ROWS, 1, nvals, I, J, X, FTB_DUP_LAST, NULL));
            assert_null(none[n]->pattern->listed);
        }
        const char *accum = rng_below(&r, 2) ? NULL : "x + y";
        FtB_Descriptor d = some_descriptor(&r);
        const int operation = t % OPERATIONS;
        assert_ok(operate(operation, none[0], none[1], accum, none[2], none[3], d));
        ftb_listed_rows = usual;
        assert_ok(operate(operation, some[0], some[1], accum, some[2], some[3], d));
        assert_same(some[0], none[0]);
        for (int n = 0; n < 4; n++) {
            FtB_Matrix_free(&some[n]);
            FtB_Matrix_free(&none[n]);
        }
    }
}

/* The mask's values, and a sink, which has no other way to look at it. */
static void masks_of_sinks(void **state)
{
    (void)state;
    enum { ROWS = 100000, COLUMNS = 8, ENTRIES = 40 };
    for (int t = 0; t < rng_cases(40); t++) {
        rng r = rng_case(t);
        int64_t I[2][ENTRIES], J[2][ENTRIES], nvals;
        double X[ENTRIES];
        FtB_Matrix A, M, C, B = rng_matrix(&r, FTB_FP64, COLUMNS, COLUMNS, 1, 0.6);
        for (int e = 0; e < ENTRIES; e++)
            for (int s = 0; s < 2; s++) {
                I[s][e] = rng_below(&r, 30) * 3000 + (rng_below(&r, 4) == 0);
                J[s][e] = rng_below(&r, COLUMNS);
            }
        rng_values(&r, X, FTB_FP64, ENTRIES);
        assert_ok(
            FtB_Matrix_build(&A, FTB_FP64, ROWS, COLUMNS, 1, ENTRIES, I[0], J[0], X, FTB_DUP_LAST, NULL));
        assert_ok(
            FtB_Matrix_build(&M, FTB_FP64, ROWS, COLUMNS, 1, ENTRIES, I[1], J[1], X, FTB_DUP_LAST, NULL));
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, ROWS, COLUMNS, 1));
        FtB_Sink sink;
        FtB_Stats stats;
        double sum;
        assert_ok(FtB_Sink_stats(&sink));
        assert_ok(FtB_mxm(sink, M, NULL, "plus : a * b * m", A, B, FTB_DESC_S));
        assert_ok(FtB_mxm(C, M, NULL, "plus : a * b * m", A, B, FTB_DESC_S));
        assert_ok(FtB_Sink_get_stats(sink, &stats));
        assert_ok(FtB_Matrix_shape(C, NULL, NULL, &nvals, NULL, NULL));
        assert_ok(FtB_reduce_scalar(&sum, FTB_FP64, "plus", C));
        assert_true(stats.nrows == ROWS && stats.nvals == nvals);
        assert_true(stats.sum <= sum && stats.sum >= sum); /* of whole numbers */
        FtB_Sink_free(&sink);
        /* The same of a right operand that lists its rows. */
        FtB_Matrix admit = rng_matrix(&r, FTB_FP64, COLUMNS, COLUMNS, 1, 0.4), product;
        assert_ok(FtB_Matrix_new(&product, FTB_FP64, COLUMNS, COLUMNS, 1));
        assert_ok(FtB_Sink_stats(&sink));
        assert_ok(FtB_mxm(sink, admit, NULL, "plus : a * b * m", A, A, FTB_DESC_ST0));
        assert_ok(FtB_mxm(product, admit, NULL, "plus : a * b * m", A, A, FTB_DESC_ST0));
        assert_ok(FtB_Sink_get_stats(sink, &stats));
        assert_ok(FtB_Matrix_shape(product, NULL, NULL, &nvals, NULL, NULL));
        assert_ok(FtB_reduce_scalar(&sum, FTB_FP64, "plus", product));
        assert_true(stats.nvals == nvals && stats.sum <= sum && stats.sum >= sum);
        FtB_Sink_free(&sink);
        FtB_Matrix *all[] = {&A, &B, &C, &M, &admit, &product};
        for (size_t n = 0; n < sizeof all / sizeof *all; n++)
            FtB_Matrix_free(all[n]);
    }
}

/* ---- vectors */

static void vectors(void **state)
{
    (void)state;
    for (int t = 0; t < rng_cases(300); t++) {
        rng r = rng_case(t);
        int64_t map[FEW];
        far_apart(&r, map);
        FtB_Matrix A = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, rng_unit(&r)), B = spread(A, map);
        FtB_Vector u = rng_vector(&r, FTB_FP64, FEW, rng_below(&r, 3) ? rng_unit(&r) : 1),
                   w = rng_vector(&r, FTB_FP64, FEW, rng_unit(&r)),
                   m = rng_below(&r, 2) ? rng_vector(&r, FTB_FP64, FEW, rng_unit(&r)) : NULL;
        FtB_Vector U = spread_vector(u, map), W = spread_vector(w, map), M = m ? spread_vector(m, map) : NULL;
        FtB_Descriptor d = some_descriptor(&r);
        const char *accum = rng_below(&r, 3) ? NULL : "x + y";
        static const char *const texts[] = {"plus : a * b", "min : a + b", "any : b",
                                            "plus : a * b + dk - di"};
        const char *text = texts[rng_below(&r, 4)];
        if (t % 3 == 0) {
            assert_ok(FtB_mxv(w, m, accum, text, A, u, d));
            assert_ok(FtB_mxv(W, M, accum, text, B, U, d));
        } else if (t % 3 == 1) {
            assert_ok(FtB_vxm(w, m, accum, text, u, A, d));
            assert_ok(FtB_vxm(W, M, accum, text, U, B, d));
        } else {
            assert_ok(FtB_reduce(w, m, accum, "plus", A, d));
            assert_ok(FtB_reduce(W, M, accum, "plus", B, d));
        }
        assert_spread_vector(W, w, map);
        double x, y;
        assert_ok(FtB_reduce_scalar(&x, FTB_FP64, "plus", A));
        assert_ok(FtB_reduce_scalar(&y, FTB_FP64, "plus", B));
        assert_memory_equal(&x, &y, sizeof x);
        FtB_Vector *all[] = {&u, &w, &m, &U, &W, &M};
        for (size_t n = 0; n < sizeof all / sizeof *all; n++)
            FtB_Vector_free(all[n]);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
    }
}

/* ---- parts */

static void parts(void **state)
{
    (void)state;
    for (int t = 0; t < rng_cases(200); t++) {
        rng r = rng_case(t);
        int64_t map[FEW], few[2][FEW], far[2][FEW];
        far_apart(&r, map);
        FtB_Matrix A = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, rng_unit(&r)), B = spread(A, map), C, D;
        int64_t count[2];
        for (int s = 0; s < 2; s++) {
            count[s] = rng_below(&r, FEW);
            for (int64_t q = 0; q < count[s]; q++) {
                few[s][q] = rng_below(&r, FEW);
                far[s][q] = map[few[s][q]];
            }
        }
        FtB_Descriptor d = rng_below(&r, 2) ? FTB_DESC_T0 : NULL;
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, count[0], count[1], 1));
        assert_ok(FtB_Matrix_dup(&D, C));
        assert_ok(
            FtB_extract(C, NULL, NULL, A, FtB_Ids_of(few[0], count[0]), FtB_Ids_of(few[1], count[1]), d));
        assert_ok(
            FtB_extract(D, NULL, NULL, B, FtB_Ids_of(far[0], count[0]), FtB_Ids_of(far[1], count[1]), d));
        assert_same(C, D);
        FtB_Matrix_free(&C);
        FtB_Matrix_free(&D);
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, FEW, count[1], 1)); /* all rows */
        assert_ok(FtB_Matrix_new(&D, FTB_FP64, N, count[1], 1));
        assert_ok(FtB_extract(C, NULL, NULL, A, NULL, FtB_Ids_of(few[1], count[1]), d));
        assert_ok(FtB_extract(D, NULL, NULL, B, NULL, FtB_Ids_of(far[1], count[1]), d));
        assert_spread(D, C, map, NULL);
        FtB_Vector v, w; /* a column, and a row */
        assert_ok(FtB_Vector_new(&v, FTB_FP64, FEW));
        assert_ok(FtB_Vector_new(&w, FTB_FP64, N));
        assert_ok(FtB_extract(v, NULL, NULL, A, NULL, FtB_Ids_of(&few[0][0], 1), d));
        far[0][0] = map[few[0][0]];
        assert_ok(FtB_extract(w, NULL, NULL, B, NULL, FtB_Ids_of(&far[0][0], 1), d));
        assert_spread_vector(w, v, map);
        assert_ok(FtB_extract(v, NULL, NULL, A, FtB_Ids_of(&few[0][0], 1), NULL, d));
        assert_ok(FtB_extract(w, NULL, NULL, B, FtB_Ids_of(&far[0][0], 1), NULL, d));
        assert_spread_vector(w, v, map);
        FtB_Vector_free(&v);
        FtB_Vector_free(&w);
        FtB_Matrix *all[] = {&A, &B, &C, &D};
        for (size_t n = 0; n < sizeof all / sizeof *all; n++)
            FtB_Matrix_free(all[n]);
    }
}

/* Some of a few numbers, each once, in any order, and where they are far apart; NULL: all. */
typedef struct some_list {
    bool all;
    int64_t count, few[FEW], far[FEW];
} some_list;

static some_list list_some(rng *r, const int64_t *map, bool may_be_all)
{
    some_list l = {.all = may_be_all && rng_below(r, 3) == 0};
    for (int64_t i = 0; i < FEW; i++)
        if (rng_below(r, 2)) {
            const int64_t at = rng_below(r, ++l.count); /* before which it goes */
            memmove(l.few + at + 1, l.few + at, (size_t)(l.count - 1 - at) * sizeof *l.few);
            l.few[at] = i;
        }
    for (int64_t t = 0; t < l.count; t++)
        l.far[t] = map[l.few[t]];
    return l;
}

static FtB_Arg nearby(const some_list *l)
{
    return l->all ? FtB_Arg_none() : FTB_ARG(FtB_Ids_of(l->few, l->count));
}

static FtB_Arg far_away(const some_list *l)
{
    return l->all ? FtB_Arg_none() : FTB_ARG(FtB_Ids_of(l->far, l->count));
}

/* A matrix by the lists, near and far: what is all of a few rows or columns is spread. */
static FtB_Matrix matrix_by(rng *r, const int64_t *map, const some_list *I, const some_list *J,
                            FtB_Matrix *far)
{
    FtB_Matrix A = rng_matrix(r, FTB_FP64, I->all ? FEW : I->count, J->all ? FEW : J->count, 1, rng_unit(r));
    tuples t = tuples_of(A);
    for (int64_t e = 0; e < t.nvals; e++) {
        t.I[e] = I->all ? map[t.I[e]] : t.I[e];
        t.J[e] = J->all ? map[t.J[e]] : t.J[e];
    }
    assert_ok(FtB_Matrix_build(far, FTB_FP64, I->all ? N : I->count, J->all ? N : J->count, 1, t.nvals, t.I,
                               t.J, t.X, FTB_DUP_ERROR, NULL));
    free_tuples(&t);
    return A;
}

/* A number at places by lists, or where a mask says so. */
static void assign_number(rng *r, FtB_Matrix C[2], FtB_Matrix M[2], const char *accum, const int64_t *map,
                          FtB_Descriptor d)
{
    const bool by_mask = M[0] && (d == NULL || d == FTB_DESC_S || d == FTB_DESC_R || d == FTB_DESC_T0);
    const some_list I = list_some(r, map, by_mask), J = list_some(r, map, by_mask);
    assert_ok(FtB_assign(C[0], M[0], accum, 2.5, nearby(&I), nearby(&J), d));
    assert_ok(FtB_assign(C[1], M[1], accum, 2.5, far_away(&I), far_away(&J), d));
}

/* A vector to a row, or a column, under a mask of it. */
static void assign_line(rng *r, FtB_Matrix C[2], const char *accum, const int64_t *map, FtB_Descriptor d)
{
    const bool row = rng_below(r, 2);
    const int64_t i = rng_below(r, FEW), at = map[i];
    const FtB_Arg one = FTB_ARG(FtB_Ids_of(&i, 1)), far = FTB_ARG(FtB_Ids_of(&at, 1)), all = FtB_Arg_none();
    FtB_Vector u = rng_vector(r, FTB_FP64, FEW, rng_unit(r)), U = spread_vector(u, map),
               m = rng_below(r, 2) ? rng_vector(r, FTB_FP64, FEW, rng_unit(r)) : NULL,
               M = m ? spread_vector(m, map) : NULL;
    assert_ok(FtB_assign(C[0], m, accum, u, row ? one : all, row ? all : one, d));
    assert_ok(FtB_assign(C[1], M, accum, U, row ? far : all, row ? all : far, d));
    FtB_Vector *vectors_made[] = {&u, &U, &m, &M};
    for (size_t n = 0; n < sizeof vectors_made / sizeof *vectors_made; n++)
        FtB_Vector_free(vectors_made[n]);
}

static void assign_matrix(rng *r, FtB_Matrix C[2], FtB_Matrix M[2], const char *accum, const int64_t *map,
                          FtB_Descriptor d, bool turned)
{
    const some_list I = list_some(r, map, true), J = list_some(r, map, true);
    FtB_Matrix A[2];
    A[0] = turned ? matrix_by(r, map, &J, &I, &A[1]) : matrix_by(r, map, &I, &J, &A[1]);
    assert_ok(FtB_assign(C[0], M[0], accum, A[0], nearby(&I), nearby(&J), d));
    assert_ok(FtB_assign(C[1], M[1], accum, A[1], far_away(&I), far_away(&J), d));
    FtB_Matrix_free(&A[0]);
    FtB_Matrix_free(&A[1]);
}

static void assignments(void **state)
{
    (void)state;
    for (int t = 0; t < rng_cases(200); t++) {
        rng r = rng_case(t);
        int64_t map[FEW];
        far_apart(&r, map);
        FtB_Matrix C[2], M[2] = {NULL};
        C[0] = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, rng_unit(&r) * rng_unit(&r));
        C[1] = spread(C[0], map);
        if (rng_below(&r, 2)) {
            M[0] = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, rng_unit(&r));
            M[1] = spread(M[0], map);
        }
        const char *accum = rng_below(&r, 2) ? NULL : "x + 2 * y";
        FtB_Descriptor d = some_descriptor(&r);
        const bool turned = d == FTB_DESC_T0 || d == FTB_DESC_T0T1 || d == FTB_DESC_ST0;
        if (t % 4 == 0)
            assign_number(&r, C, M, accum, map, d);
        else if (t % 4 == 1)
            assign_line(&r, C, accum, map, d);
        else
            assign_matrix(&r, C, M, accum, map, d, turned);
        assert_spread(C[1], C[0], map, map);
        for (int n = 0; n < 2; n++) {
            FtB_Matrix_free(&C[n]);
            FtB_Matrix_free(&M[n]);
        }
    }
}

/* ---- GraphBLAS */

static void as_graphblas(void **state)
{
    (void)state;
    for (int t = 0; t < rng_cases(60); t++) {
        rng r = rng_case(t);
        int64_t map[FEW];
        far_apart(&r, map);
        const FtB_Type type = rng_below(&r, 2) ? FTB_FP64 : FTB_INT32;
        FtB_Matrix few = rng_matrix(&r, type, FEW, FEW, 1, rng_unit(&r)), A = spread(few, map), B, C;
        GrB_Matrix G, H;
        assert_ok(FtB_Matrix_export(&G, A, 0));
        assert_int_equal(GxB_set(G, GxB_SPARSITY_CONTROL, GxB_HYPERSPARSE), GrB_SUCCESS);
        assert_ok(FtB_Matrix_import(&B, G));
        assert_spread(B, few, map, map);
        assert_int_equal(GrB_Matrix_new(&H, GrB_FP64, (GrB_Index)N, (GrB_Index)N), GrB_SUCCESS);
        assert_int_equal(GrB_mxm(H, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, G, G, GrB_DESC_T1),
                         GrB_SUCCESS);
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, N, N, 1));
        assert_ok(FtB_mxm(C, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, A, A, FTB_DESC_T1));
        FtB_Matrix_free(&B);
        assert_ok(FtB_Matrix_import(&B, H)); /* small whole numbers: exact */
        tuples b = tuples_of(B), c = tuples_of(C);
        assert_int_equal(b.nvals, c.nvals);
        assert_memory_equal(b.I, c.I, 8 * (size_t)b.nvals);
        assert_memory_equal(b.J, c.J, 8 * (size_t)b.nvals);
        for (int64_t e = 0; e < b.nvals; e++)
            assert_true(((double *)b.X)[e] <= ((double *)c.X)[e] && ((double *)b.X)[e] >= ((double *)c.X)[e]);
        free_tuples(&b);
        free_tuples(&c);
        GrB_Matrix_free(&G);
        GrB_Matrix_free(&H);
        FtB_Matrix *all[] = {&few, &A, &B, &C};
        for (size_t n = 0; n < sizeof all / sizeof *all; n++)
            FtB_Matrix_free(all[n]);
    }
}

/* ---- threads */

static FtB_Matrix square_of(FtB_Matrix A, int threads)
{
    FtB_Matrix C;
    assert_ok(FtB_Context_set_threads(NULL, threads));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, N, N, 1));
    assert_ok(FtB_mxm(C, A, NULL, "plus : a * b", A, A, FTB_DESC_CT1));
    assert_ok(FtB_eWiseAdd(C, NULL, "x - y", "x / 3 + y", A, C, FTB_DESC_T0));
    return C;
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    enum { MANY = 20000, ROWS = 900 };
    rng r = rng_new();
    int64_t *I = malloc(MANY * sizeof *I), *J = malloc(MANY * sizeof *J);
    double *X = malloc(MANY * sizeof *X);
    for (int e = 0; e < MANY; e++) {
        I[e] = rng_below(&r, ROWS) * (N / ROWS);
        J[e] = rng_below(&r, ROWS) * (N / ROWS);
    }
    rng_reals(&r, X, FTB_FP64, MANY);
    FtB_Matrix A, first = NULL;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 1, MANY, I, J, X, FTB_DUP_SUM, NULL));
    for (int threads = 1; threads <= 8; threads++) {
        FtB_Matrix C = square_of(A, threads);
        if (first)
            assert_spread(C, first, NULL, NULL);
        else
            first = C;
        if (C != first)
            FtB_Matrix_free(&C);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&first);
    free(I);
    free(J);
    free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(mixed_products),
        cmocka_unit_test(some_list_their_rows),
        cmocka_unit_test(masks_of_sinks),
        cmocka_unit_test(vectors),
        cmocka_unit_test(parts),
        cmocka_unit_test(assignments),
        cmocka_unit_test(as_graphblas),
        cmocka_unit_test(same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
