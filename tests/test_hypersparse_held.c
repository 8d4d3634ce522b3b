/* Hypersparse matrices beyond what operations compute (test_hypersparse.c): indices in texts, files, memory
 * by the entries, row pointers when they are asked for, wrong input, failing allocations. */
#include "support/check.h"

#include "core/backend.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/far_apart.h"
#include "support/planned.h"
#include "support/temporary.h"

#include <stdlib.h>

/* ---- names of indices, which are the matrix's */

static void indices_in_texts(void **state)
{
    (void)state;
    const int64_t I[] = {3, 3, N - 1, 77}, J[] = {5, N - 2, 3, 3}, one[] = {1, 1, 1, 1};
    FtB_Matrix A, C, S;
    assert_ok(FtB_Matrix_build(&A, FTB_INT64, N, N, 1, 4, I, J, one, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_INT64, N, N, 1));
    assert_ok(FtB_apply(C, NULL, NULL, "i + 2 * j", A, NULL));
    tuples t = tuples_of(C);
    assert_int_equal(t.nvals, 4);
    for (int e = 0; e < 4; e++)
        assert_true(((int64_t *)t.X)[e] == t.I[e] + 2 * t.J[e]);
    free_tuples(&t);
    assert_ok(FtB_select(C, NULL, NULL, "i > 3 && j < i", A, NULL));
    t = tuples_of(C);
    assert_true(t.nvals == 2 && t.I[0] == 77 && t.I[1] == N - 1);
    free_tuples(&t);
    assert_ok(FtB_eWiseAdd(C, NULL, NULL, "x + y + i", A, A, NULL));
    t = tuples_of(C);
    for (int e = 0; e < 4; e++)
        assert_true(((int64_t *)t.X)[e] == 2 + t.I[e]);
    free_tuples(&t);
    assert_ok(FtB_mxm(C, NULL, NULL, "max : i + 2 * k + 3 * j", A, A, NULL));
    t = tuples_of(C); /* (N-1, 5), (N-1, N-2), (77, 5), (77, N-2), all by way of 3 */
    assert_int_equal(t.nvals, 4);
    for (int e = 0; e < 4; e++)
        assert_true(((int64_t *)t.X)[e] == t.I[e] + 2 * 3 + 3 * t.J[e]);
    free_tuples(&t);
    assert_ok(FtB_Matrix_dup(&S, A));
    assert_ok(FtB_apply(S, NULL, "x + y + i", "x", A, NULL)); /* by the accumulator */
    t = tuples_of(S);
    for (int e = 0; e < 4; e++)
        assert_true(((int64_t *)t.X)[e] == 2 + t.I[e]);
    free_tuples(&t);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
}

static void indices_in_products_with_vectors(void **state)
{
    (void)state;
    const int64_t I[] = {3, 3, N - 1, 77}, J[] = {5, N - 2, 3, 3}, one[] = {1, 1, 1, 1},
                  at[] = {1, 3, N - 2, N - 1};
    int64_t P[4], X[4], nvals;
    FtB_Matrix A;
    FtB_Vector u, w;
    assert_ok(FtB_Matrix_build(&A, FTB_INT64, N, N, 1, 4, I, J, one, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Vector_build(&u, FTB_INT64, N, 4, at, one, FTB_DUP_ERROR));
    assert_ok(FtB_Vector_new(&w, FTB_INT64, N));
    assert_ok(FtB_mxv(w, NULL, NULL, "max : i + 2 * k + 100 * dj + 1000 * dk + 10000 * di", A, u, NULL));
    assert_ok(FtB_Vector_shape(w, NULL, &nvals, NULL));
    assert_int_equal(nvals, 3);
    assert_ok(FtB_Vector_tuples(w, P, X)); /* 3 by N - 2, 77 and N - 1 by 3 */
    assert_true(P[0] == 3 && X[0] == 3 + 2 * (N - 2) + 400 + 1000 + 20000);
    assert_true(P[1] == 77 && X[1] == 77 + 2 * 3 + 400 + 2000 + 10000);
    assert_true(P[2] == N - 1 && X[2] == N - 1 + 2 * 3 + 400 + 2000 + 10000);
    assert_ok(FtB_vxm(w, NULL, NULL, "max : j + i + 2 * k", u, A,
                      NULL)); /* a row: j is the result's, k the vector's */
    assert_ok(FtB_Vector_shape(w, NULL, &nvals, NULL));
    assert_int_equal(nvals, 3);
    assert_ok(FtB_Vector_tuples(w, P, X)); /* 3 by N - 1, 5 and N - 2 by 3 */
    assert_true(P[0] == 3 && X[0] == 3 + 2 * (N - 1));
    assert_true(P[1] == 5 && X[1] == 5 + 2 * 3);
    assert_true(P[2] == N - 2 && X[2] == N - 2 + 2 * 3);
    FtB_Matrix_free(&A);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
}

/* ---- files */

static void files(void **state)
{
    (void)state;
    rng r = rng_new();
    int64_t map[FEW];
    far_apart(&r, map);
    FtB_Matrix few = rng_matrix(&r, FTB_FP64, FEW, FEW, 1, 0.3), A = spread(few, map), B;
    static const char *const names[] = {"far.mtx", "far.npz"};
    for (int f = 0; f < 2; f++) {
        assert_ok(FtB_Matrix_write(A, temp_path(names[f]), FTB_FORMAT_AUTO, NULL, NULL, 0));
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path(names[f]), NULL));
        assert_spread(B, few, map, map);
        FtB_Matrix_free(&B);
    }
    size_t count;
    free(read_bytes("far.npz", &count));
    assert_true(count < 8000);
    write_string("order.mtx", "%%MatrixMarket matrix coordinate integer general\n"
                              "4000000000 4000000000 3\n4000000000 1 5\n2 4000000000 6\n2 7 8\n");
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("order.mtx"), NULL));
    assert_listed(B);
    tuples t = tuples_of(B);
    assert_true(t.nvals == 3 && t.I[0] == 1 && t.J[0] == 6 && t.I[1] == 1 && t.J[1] == N - 1 &&
                t.I[2] == N - 1);
    free_tuples(&t);
    FtB_Matrix_free(&B);
    write_string("twice.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n"
                              "4000000000 4000000000 2\n4000000000 1\n5 5\n");
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("twice.mtx"), NULL));
    t = tuples_of(B);
    assert_true(t.nvals == 3 && t.I[0] == 0 && t.J[0] == N - 1 && t.I[1] == 4 && t.I[2] == N - 1 &&
                t.J[2] == 0);
    free_tuples(&t);
    FtB_Matrix *all[] = {&few, &A, &B};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        FtB_Matrix_free(all[n]);
}

/* ---- memory */

/* A chain of calls on 2^50 x 2^50 within a megabyte. */
static void memory_by_the_entries(void **state)
{
    (void)state;
    const int64_t n = INT64_C(1) << 50;
    int64_t I[10], J[10], now, peak;
    double X[10], x;
    FtB_Context ctx;
    FtB_Matrix A, B, C, D;
    FtB_Vector u, w;
    for (int e = 0; e < 10; e++) {
        I[e] = (e * 7 % 10) * (n / 10);
        J[e] = (e * 3 % 10) * (n / 10);
        X[e] = e + 1;
    }
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, 2));
    assert_ok(FtB_Context_set_memory_limit(ctx, 32 << 20));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, n, n, 1, 10, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&B, FTB_FP64, n, n, 1));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, n, n, 1));
    assert_ok(FtB_Matrix_dup(&D, A));
    assert_ok(FtB_Vector_build(&u, FTB_FP64, n, 10, I, X, FTB_DUP_ERROR));
    assert_ok(FtB_Vector_new(&w, FTB_FP64, n));
    FtB_Context_memory(ctx, &now, NULL);
    assert_true(now < 20000); /* of four matrices and two vectors */
    assert_ok(FtB_apply(B, NULL, NULL, "x + i", A, NULL));
    assert_ok(FtB_select(C, A, NULL, "x > 3", A, FTB_DESC_S));
    assert_ok(FtB_eWiseAdd(C, NULL, "x + y", "x * y", A, B, FTB_DESC_T0));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : a * b", A, B, NULL));
    assert_ok(FtB_mxm(C, A, "x + y", "min : a + b + k", A, B, FTB_DESC_T0T1));
    assert_ok(FtB_transpose(D, NULL, NULL, A, NULL));
    assert_ok(FtB_extract(D, NULL, NULL, A, NULL, NULL, FTB_DESC_T0));
    assert_ok(FtB_assign(D, NULL, "x + y", A, NULL, NULL, NULL));
    assert_ok(FtB_assign(D, A, NULL, 7, NULL, NULL, FTB_DESC_S));
    assert_ok(FtB_assign(D, NULL, NULL, 7.5, FtB_Ids_of(I, 3), FtB_Ids_of(J, 3), NULL));
    assert_ok(FtB_assign(D, u, NULL, u, FtB_Ids_of(I, 1), NULL, NULL));
    assert_ok(FtB_assign(D, NULL, NULL, u, NULL, FtB_Ids_of(J, 1), NULL));
    assert_ok(FtB_mxv(w, NULL, NULL, "plus : a * b", A, u, NULL));
    assert_ok(FtB_vxm(w, u, "x + y", "min : a + b", u, A, NULL));
    assert_ok(FtB_reduce(w, NULL, NULL, "plus", A, FTB_DESC_T0));
    assert_ok(FtB_reduce_scalar(&x, FTB_FP64, "plus", A));
    assert_true(x > 54 && x < 56);
    assert_ok(FtB_Matrix_write(A, temp_path("a.mtx"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Context_memory(ctx, NULL, &peak);
    assert_true(peak < 24 << 20); /* of pieces of text and batches of threads, not of rows */
    assert_fails(GrB_OUT_OF_MEMORY, "hypersparse", FtB_Matrix_csr(A, (const int64_t *[1]){NULL}, NULL, NULL));
    FtB_Matrix *all[] = {&A, &B, &C, &D};
    for (int a = 0; a < 4; a++)
        FtB_Matrix_free(all[a]);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

/* Row pointers are made when somebody asks for them; then operations go on with the list. */
static void row_pointers_on_demand(void **state)
{
    (void)state;
    const int64_t I[] = {99999, 5, 5}, J[] = {1, 2, 0}, *rowptr;
    const float X[] = {1, 2, 3};
    FtB_Matrix A;
    FtB_Block x, y;
    float *to;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 100000, 3, 1, 3, I, J, X, FTB_DUP_ERROR, NULL));
    assert_listed(A);
    assert_ok(FtB_Block_new(&x, 3, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&y, 100000, 1, FTB_FP32));
    for (int k = 0; k < 3; k++)
        ((float *)block_values(x))[k] = (float)(k + 1);
    assert_ok(FtB_mxm(y, NULL, NULL, "plus : edge * src", A, x, NULL));
    if (!ftb_device(NULL))
        assert_listed(A); /* nobody asked yet */
    to = block_values(y);
    assert_true(to[5] > 8.9f && to[5] < 9.1f && to[99999] > 1.9f && to[99999] < 2.1f);
    assert_ok(FtB_Matrix_csr(A, &rowptr, NULL, NULL));
    assert_true(rowptr[5] == 0 && rowptr[6] == 2 && rowptr[99999] == 2 && rowptr[100000] == 3);
    assert_valid(A, false);
    FtB_Matrix_free(&A);
    FtB_Block_free(&x);
    FtB_Block_free(&y);
}

/* Blocks that a text reads by index have a row for every row, or column, of the matrix. */
static void bound_blocks(void **state)
{
    (void)state;
    enum { ROWS = 100000 };
    const int64_t I[] = {ROWS - 1, 5}, J[] = {1, 99};
    const float X[] = {1, 2};
    float of_row[ROWS], of_column[100];
    int64_t at[2];
    float got[2];
    FtB_Matrix A;
    FtB_Vector u, w;
    FtB_Block R, K, few;
    FtB_Semiring s, bound;
    for (int i = 0; i < ROWS; i++)
        of_row[i] = (float)i;
    for (int k = 0; k < 100; k++)
        of_column[k] = (float)(1000 * k);
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, 100, 1, 2, I, J, X, FTB_DUP_ERROR, NULL));
    assert_listed(A);
    assert_ok(FtB_Vector_build(&u, FTB_FP32, 100, 2, J, X, FTB_DUP_ERROR));
    assert_ok(FtB_Vector_new(&w, FTB_FP32, ROWS));
    assert_ok(FtB_Block_wrap(&R, of_row, ROWS, 1, 1, FTB_FP32));
    assert_ok(FtB_Block_wrap(&K, of_column, 100, 1, 1, FTB_FP32));
    assert_ok(FtB_Block_wrap(&few, of_row, 2, 1, 1, FTB_FP32)); /* as many as are listed */
    assert_ok(FtB_Semiring_new(&s, "plus : r[i] + c[k]"));
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("r", R), FTB_BIND("c", K)));
    assert_ok(FtB_mxv(w, NULL, NULL, bound, A, u, NULL));
    assert_ok(FtB_Vector_tuples(w, at, got));
    assert_true(at[0] == 5 && got[0] > 99004.5f && got[0] < 99005.5f);
    assert_true(at[1] == ROWS - 1 && got[1] > 100998.5f && got[1] < 100999.5f);
    FtB_Semiring_free(&bound);
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("r", few), FTB_BIND("c", K)));
    assert_fails(GrB_DIMENSION_MISMATCH, "expected one for each of the 100000 rows",
                 FtB_mxv(w, NULL, NULL, bound, A, u, NULL));
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&s);
    FtB_Block *blocks[] = {&R, &K, &few};
    for (int b = 0; b < 3; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
}

static void plans_say_so(void **state)
{
    (void)state;
    const int64_t I[] = {N - 1, 5, 5}, J[] = {1, 5, 70};
    const float X[] = {1, 2, 3};
    FtB_Matrix A, C;
    FtB_Vector u;
    FtB_Plan plan;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 1, 3, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, N, N, 1));
    assert_ok(FtB_Vector_build(&u, FTB_FP32, N, 2, J, X, FTB_DUP_ERROR));
    assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, "plus : a * b", A, A, NULL, FTB_ESTIMATE));
    assert_plan_says(plan, "A lists 2 of 4000000000 rows");
    assert_plan_says(plan, "B lists 2 of 4000000000 rows");
    FtB_Plan_free(&plan);
    assert_ok(FtB_mxm_plan(&plan, u, NULL, NULL, "plus : a * b", A, u, NULL, FTB_ESTIMATE));
    assert_plan_says(plan, "w[4000000000] = A[3 entries]");
    assert_plan_says(plan, "entries at 2 places of w, 3 of u");
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Vector_free(&u);
}

static void wrong_tuples(void **state)
{
    (void)state;
    const int64_t I[] = {N - 1, 5, N - 1}, J[] = {1, 2, 1}, far[] = {N, 0, 0};
    const float X[] = {1, 2, 3};
    FtB_Matrix A;
    assert_fails(GrB_INVALID_VALUE, "tuples 0 and 2 are both at (3999999999, 1)",
                 FtB_Matrix_build(&A, FTB_FP32, N, N, 1, 3, I, J, X, FTB_DUP_ERROR, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "tuple 0 is (4000000000, 1); expected a position in 4000000000 x",
                 FtB_Matrix_build(&A, FTB_FP32, N, N, 1, 3, far, J, X, FTB_DUP_ERROR, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "expected a position",
                 FtB_Matrix_build(&A, FTB_FP32, N, N, 1, 3, I, far, X, FTB_DUP_ERROR, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_tuples(NULL, NULL, NULL, NULL));
    int64_t perm[3];
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 1, 3, I, J, X, FTB_DUP_KEEP, perm));
    assert_true(perm[1] == 0 && perm[0] == 1 && perm[2] == 2 && A->pattern->multi);
    FtB_Matrix_free(&A);
}

/* ---- failing allocations */

/* What is held beside counts in the result's context, whoever is engaged. */
static void whose_memory(void **state)
{
    (void)state;
    enum { SIDE = 200000, COUNT = 3000, K = 32 };
    static int64_t I[COUNT], J[COUNT];
    FtB_Context ctx, other; /* that holds nothing and never held anything */
    FtB_Matrix A, S;
    FtB_Block X, C, y, none;
    int64_t most;
    for (int e = 0; e < COUNT; e++) {
        I[e] = e * 64;
        J[e] = (e * 19) % SIDE;
    }
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, SIDE, SIDE, 0, COUNT, I, J, NULL, FTB_DUP_FIRST, NULL));
    assert_true(A->pattern->listed);
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, SIDE, SIDE, 1));
    assert_ok(FtB_Block_new(&X, SIDE, K, FTB_FP64));
    assert_ok(FtB_Block_new(&C, SIDE, K, FTB_FP64));
    assert_ok(FtB_Block_new(&y, SIDE, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&none, SIDE, 0, FTB_FP64));
    assert_ok(FtB_Context_new(&other));
    assert_ok(FtB_Context_engage(other));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : src", A, X, NULL));
    assert_ok(FtB_mxm(C, NULL, "x + y", "plus : src", A, X, NULL));
    assert_ok(FtB_reduce(y, NULL, NULL, "plus", A, NULL));
    assert_ok(FtB_reduce(y, NULL, "x + y", "plus", A, NULL));
    assert_ok(FtB_mxm(S, A, NULL, "plus : dot(src, dst)", X, X, FTB_DESC_ST1));
    assert_ok(FtB_mxm(S, A, NULL, "plus : dot(src, dst)", none, none, FTB_DESC_ST1)); /* of no terms */
    assert_ok(FtB_Context_memory(other, NULL, &most));
    assert_true(most < 20000); /* the texts */
    FtB_Block_free(&none);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&y);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Context_free(&ctx);
    FtB_Context_free(&other);
}

static GrB_Info call_all(void *arg)
{
    const int64_t I[] = {N - 1, 5, N - 1, 70}, J[] = {1, 5, 5, N - 1};
    const double X[] = {1, 2, 3, 4};
    FtB_Matrix A = NULL, B = NULL, C = NULL, D = NULL;
    FtB_Vector u = NULL;
    GrB_Info info;
    (void)arg;
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP64, N, N, 1, 4, I, J, X, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Matrix_new(&B, FTB_FP64, N, N, 1));
    FTB_CHECK(FtB_Matrix_dup(&C, A));
    FTB_CHECK(FtB_apply(B, NULL, NULL, "x + i", A, NULL));
    FTB_CHECK(FtB_eWiseAdd(C, B, "x + y", "x + y", A, B, FTB_DESC_T0));
    FTB_CHECK(FtB_mxm(B, A, NULL, "plus : a * b", A, A, NULL));
    FTB_CHECK(FtB_mxm(C, NULL, "x + y", "plus : a * b", A, A, FTB_DESC_T1));
    FTB_CHECK(FtB_transpose(C, NULL, NULL, A, NULL));
    FTB_CHECK(FtB_Matrix_new(&D, FTB_FP64, N, 2, 1));
    FTB_CHECK(FtB_extract(D, NULL, NULL, A, NULL, FtB_Ids_of(J, 2), NULL));
    FTB_CHECK(FtB_Matrix_free(&D));
    FTB_CHECK(FtB_Matrix_new(&D, FTB_FP64, 2, N, 1));
    FTB_CHECK(FtB_extract(D, NULL, NULL, A, FtB_Ids_of(I, 2), NULL, NULL));
    FTB_CHECK(FtB_Vector_new(&u, FTB_FP64, N));
    FTB_CHECK(FtB_reduce(u, NULL, NULL, "plus", A, NULL));
    FTB_CHECK(FtB_mxv(u, NULL, "x + y", "plus : a * b", A, u, NULL));
    FTB_CHECK(FtB_extract(u, NULL, NULL, A, NULL, FtB_Ids_of(J, 1), NULL));
    FTB_CHECK(FtB_assign(B, C, "x + y", A, NULL, NULL, FTB_DESC_T0));
    FTB_CHECK(FtB_assign(B, A, NULL, 2, FtB_Ids_of(I, 1), NULL, FTB_DESC_S));
    FTB_CHECK(FtB_assign(B, NULL, NULL, 2, FtB_Ids_of(I, 2), FtB_Ids_of(J, 2), NULL));
    info = FtB_assign(B, NULL, NULL, u, NULL, FtB_Ids_of(J, 1), NULL);
done:
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
    FtB_Vector_free(&u);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(call_all, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_in_texts),
        cmocka_unit_test(indices_in_products_with_vectors),
        cmocka_unit_test(files),
        cmocka_unit_test(memory_by_the_entries),
        cmocka_unit_test(row_pointers_on_demand),
        cmocka_unit_test(bound_blocks),
        cmocka_unit_test(plans_say_so),
        cmocka_unit_test(wrong_tuples),
        cmocka_unit_test(whose_memory),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
