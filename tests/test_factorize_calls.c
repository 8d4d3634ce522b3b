/* Calls of factors of ratings: MovieLens' held-out ratings against predicting means; rows and columns without
 * ratings, one rating; what is refused; allocations that fail. Results are test_factorize.c's. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "oracle/ref_factorize.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- MovieLens */

enum { USERS = 610, FILMS = 9724, RATINGS = 100836 };

/* The root of the mean square of what the mean of a user's, of a film's or of all ratings leaves; who has
 * none has the mean of all. kind: 0 all, 1 users, 2 films */
static double by_means(const ref_ratings *train, const ref_ratings *test, int kind)
{
    double *sum = calloc(FILMS, sizeof *sum), *count = calloc(FILMS, sizeof *count), all = 0, squares = 0;
    for (int64_t e = 0; e < train->count; e++) {
        const int64_t at = kind == 0 ? 0 : kind == 1 ? train->i[e] : train->j[e];
        sum[at] += train->x[e];
        count[at]++;
        all += train->x[e] / (double)train->count;
    }
    for (int64_t e = 0; e < test->count; e++) {
        const int64_t at = kind == 0 ? 0 : kind == 1 ? test->i[e] : test->j[e];
        const double x = test->x[e] - (count[at] > 0 ? sum[at] / count[at] : all);
        squares += x * x;
    }
    free(sum);
    free(count);
    return sqrt(squares / (double)test->count);
}

/* Skips where the ratings are not there. */
static FtB_Matrix read_movielens(void)
{
    const char *data = getenv("FEATBLAS_DATA");
    char path[1000];
    FtB_Matrix all;
    FILE *there = NULL;
    if (data) {
        snprintf(path, sizeof path, "%s/ml-latest-small/ratings.csv", data);
        there = fopen(path, "r");
    }
    if (!there) {
        print_message("FEATBLAS_DATA names no folder with ml-latest-small/: skipped\n");
        skip();
    }
    fclose(there);
    assert_ok(FtB_Matrix_read(&all, NULL, NULL, path, FTB_READ_OPTIONS(.columns = "userId,movieId,rating")));
    return all;
}

/* Nine tenths of the ratings, drawn, and the others. */
static void split_ratings(FtB_Matrix part[2], const ref_ratings *r)
{
    int64_t *I[2], *J[2], count[2] = {0};
    double *X[2];
    for (int p = 0; p < 2; p++) {
        I[p] = malloc(RATINGS * sizeof *I[p]);
        J[p] = malloc(RATINGS * sizeof *J[p]);
        X[p] = malloc(RATINGS * sizeof *X[p]);
    }
    rng random = rng_new();
    for (int64_t e = 0; e < r->count; e++) {
        const int p = rng_below(&random, 10) == 0;
        I[p][count[p]] = r->i[e];
        J[p][count[p]] = r->j[e];
        X[p][count[p]++] = r->x[e];
    }
    for (int p = 0; p < 2; p++) {
        assert_ok(FtB_Matrix_build(&part[p], FTB_FP64, USERS, FILMS, 1, count[p], I[p], J[p], X[p],
                                   FTB_DUP_ERROR, NULL));
        free(I[p]);
        free(J[p]);
        free(X[p]);
    }
}

static void movielens(void **state)
{
    (void)state;
    FtB_Matrix all = read_movielens(), part[2];
    ref_ratings r = ref_ratings_of(all, 1, 0), ref[2];
    double mean = 0;
    assert_int_equal(r.nrows, USERS);
    assert_int_equal(r.ncols, FILMS);
    assert_int_equal(r.count, RATINGS);
    split_ratings(part, &r);
    for (int p = 0; p < 2; p++)
        ref[p] = ref_ratings_of(part[p], 1, 0);
    for (int64_t e = 0; e < ref[0].count; e++)
        mean += ref[0].x[e] / (double)ref[0].count;
    const double means[] = {by_means(&ref[0], &ref[1], 0), by_means(&ref[0], &ref[1], 1),
                            by_means(&ref[0], &ref[1], 2)};
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_ALS; method++) {
        FtB_Block U, V;
        double rmse;
        assert_ok(FtB_Block_new(&U, USERS, 32, FTB_FP32));
        assert_ok(FtB_Block_new(&V, FILMS, 32, FTB_FP32));
        assert_ok(FtB_factorize(U, V, part[0],
                                FTB_FACTORIZE(.method = (FtB_Factorize_method)method, .offset = mean,
                                              .lambda = method ? 0.15 : 0.05, .seed = 1)));
        assert_ok(FtB_factorize_error(&rmse, U, V, part[1], mean));
        print_message("%s: %.4f; means: %.4f, of users %.4f, of films %.4f\n", method ? "ALS" : "SGD", rmse,
                      means[0], means[1], means[2]);
        for (int kind = 0; kind < 3; kind++)
            assert_true(rmse < means[kind]);
        FtB_Block_free(&U);
        FtB_Block_free(&V);
    }
    for (int p = 0; p < 2; p++) {
        ref_ratings_free(&ref[p]);
        FtB_Matrix_free(&part[p]);
    }
    ref_ratings_free(&r);
    FtB_Matrix_free(&all);
}

/* ---- few ratings, what is refused, memory */

static void few_ratings(void **state)
{
    (void)state;
    const int64_t i = 1, j = 2;
    const double x = -3;
    FtB_Matrix one, none, nothing;
    FtB_Block U, V, noU, noV;
    double rmse = -1;
    assert_ok(FtB_Matrix_build(&one, FTB_FP64, 3, 4, 1, 1, &i, &j, &x, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&none, FTB_FP64, 3, 4, 1));
    assert_ok(FtB_Matrix_new(&nothing, FTB_FP64, 0, 0, 1));
    assert_ok(FtB_Block_new(&U, 3, 2, FTB_FP64));
    assert_ok(FtB_Block_new(&V, 4, 2, FTB_FP64));
    assert_ok(FtB_Block_new(&noU, 0, 2, FTB_FP64));
    assert_ok(FtB_Block_new(&noV, 0, 2, FTB_FP64));
    const double *u = block_values(U), *v = block_values(V);
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++) {
        const FtB_Factorize_options o = {.size = sizeof o,
                                         .method = (FtB_Factorize_method)method,
                                         .rounds = 300,
                                         .lambda = 0.001,
                                         .rate = 0.05};
        assert_ok(FtB_factorize(U, V, one, &o));
        for (int64_t f = 0; f < 2; f++)
            assert_true(u[f] == 0 && u[4 + f] == 0 && v[f] == 0 && v[2 + f] == 0 && v[6 + f] == 0);
        assert_true(fabs(u[2] * v[4] + u[3] * v[5] + 3) < 0.01);
        assert_ok(FtB_factorize_error(&rmse, U, V, one, 0));
        assert_true(rmse < 0.01);
        assert_ok(FtB_factorize(U, V, none, &o));
        for (int64_t at = 0; at < 8; at++)
            assert_true((at >= 6 || u[at] == 0) && v[at] == 0);
        assert_ok(FtB_factorize(noU, noV, nothing, &o));
    }
    assert_ok(FtB_factorize_error(&rmse, U, V, none, 0));
    assert_true(rmse == 0);
    FtB_Block *const blocks[] = {&U, &V, &noU, &noV};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&one);
    FtB_Matrix_free(&none);
    FtB_Matrix_free(&nothing);
}

static void refused_ratings(void **state)
{
    (void)state;
    const int64_t I[] = {0, 2}, J[] = {1, 3};
    const double wrong[] = {1, NAN}, large[] = {INFINITY, 1}, fine[] = {1e3, -2e3};
    FtB_Matrix nan, infinite, R;
    FtB_Block U, V;
    double rmse = 7;
    assert_ok(FtB_Matrix_build(&nan, FTB_FP64, 3, 4, 1, 2, I, J, wrong, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_build(&infinite, FTB_FP64, 3, 4, 1, 2, I, J, large, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_build(&R, FTB_FP64, 3, 4, 1, 2, I, J, fine, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&U, 3, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&V, 4, 2, FTB_FP32));
    const float *u = block_values(U);
    assert_fails(GrB_INVALID_VALUE, "R: the rating (2, 3) is nan", FtB_factorize(U, V, nan, NULL));
    assert_fails(GrB_INVALID_VALUE, "R: the rating (0, 1) is inf",
                 FtB_factorize_error(&rmse, U, V, infinite, 0));
    assert_fails(GrB_INVALID_VALUE, "options: held_out: the rating (2, 3) is nan",
                 FtB_factorize(U, V, R, FTB_FACTORIZE(.held_out = nan)));
    assert_fails(GrB_NO_VALUE, "factors grew beyond all bounds in round",
                 FtB_factorize(U, V, R, FTB_FACTORIZE(.rate = 1)));
    assert_fails(GrB_NO_VALUE, "of R has no one best factors in fp32; expected a larger lambda than 1e-30",
                 FtB_factorize(U, V, R, FTB_FACTORIZE(.method = FTB_FACTORIZE_ALS, .lambda = 1e-30)));
    assert_true(rmse == 7 && u[0] == 0 && u[5] == 0); /* nothing was written */
    FtB_Block_free(&U);
    FtB_Block_free(&V);
    FtB_Matrix_free(&nan);
    FtB_Matrix_free(&infinite);
    FtB_Matrix_free(&R);
}

static void refused(void **state)
{
    (void)state;
    FtB_Matrix R, wide, other;
    FtB_Block U, V, D, whole, few, many, none;
    double rmse;
    assert_ok(FtB_Matrix_new(&R, FTB_FP32, 3, 4, 1));
    assert_ok(FtB_Matrix_new(&wide, FTB_FP32, 3, 4, 2));
    assert_ok(FtB_Matrix_new(&other, FTB_FP32, 4, 4, 1));
    assert_ok(FtB_Block_new(&U, 3, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&V, 4, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&D, 4, 2, FTB_FP64));
    assert_ok(FtB_Block_new(&whole, 3, 2, FTB_INT32));
    assert_ok(FtB_Block_new(&few, 4, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&many, 3, 513, FTB_FP32));
    assert_ok(FtB_Block_new(&none, 3, 0, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "R is NULL", FtB_factorize(U, V, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "U is NULL", FtB_factorize(NULL, V, R, NULL));
    assert_fails(GrB_NULL_POINTER, "V is NULL", FtB_factorize_error(&rmse, U, NULL, R, 0));
    assert_fails(GrB_NULL_POINTER, "rmse is NULL", FtB_factorize_error(NULL, U, V, R, 0));
    assert_fails(GrB_INVALID_VALUE, "offset is nan", FtB_factorize_error(&rmse, U, V, R, NAN));
    assert_fails(GrB_DIMENSION_MISMATCH, "R has 2 values per entry", FtB_factorize(U, V, wide, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "U is 4 x 2; expected 3 x 1 to 512", FtB_factorize(V, U, R, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "U is 3 x 513", FtB_factorize(many, V, R, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "U is 3 x 0", FtB_factorize(none, V, R, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "U has 2 factors and V 1", FtB_factorize(U, few, R, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "U: dtype int32", FtB_factorize(whole, V, R, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "U has dtype fp32 and V fp64", FtB_factorize(U, D, R, NULL));
    assert_fails(GrB_INVALID_VALUE, "U and V are the same block", FtB_factorize(V, V, other, NULL));
    assert_fails(GrB_INVALID_VALUE, "method is 3",
                 FtB_factorize(U, V, R, FTB_FACTORIZE(.method = (FtB_Factorize_method)3)));
    assert_fails(GrB_INVALID_VALUE, "lambda -1", FtB_factorize(U, V, R, FTB_FACTORIZE(.lambda = -1)));
    assert_fails(GrB_INVALID_VALUE, "rate nan", FtB_factorize(U, V, R, FTB_FACTORIZE(.rate = NAN)));
    assert_fails(GrB_INVALID_VALUE, "offset inf", FtB_factorize(U, V, R, FTB_FACTORIZE(.offset = INFINITY)));
    assert_fails(GrB_INVALID_VALUE, "rounds -1", FtB_factorize(U, V, R, FTB_FACTORIZE(.rounds = -1)));
    assert_fails(GrB_INVALID_VALUE, "once is for ALS and GRADIENT",
                 FtB_factorize(U, V, R, FTB_FACTORIZE(.once = true)));
    assert_fails(GrB_DIMENSION_MISMATCH, "options: held_out is 4 x 4; expected 3 x 4 as R",
                 FtB_factorize(U, V, R, FTB_FACTORIZE(.held_out = other)));
    FtB_Block *const blocks[] = {&U, &V, &D, &whole, &few, &many, &none};
    for (int b = 0; b < 7; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&wide);
    FtB_Matrix_free(&other);
}

static GrB_Info all_methods(void *arg)
{
    static const int64_t I[] = {0, 1, 2, 2}, J[] = {1, 2, 0, 3};
    static const float X[] = {1, 2, 3, 4};
    const FtB_Factorize_method *method = arg;
    FtB_Matrix R = NULL;
    FtB_Block U = NULL, V = NULL;
    double rmse;
    GrB_Info info = FtB_Matrix_build(&R, FTB_FP32, 3, 4, 1, 4, I, J, X, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&U, 3, 3, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&V, 4, 3, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_factorize(U, V, R, FTB_FACTORIZE(.method = *method, .rounds = 2, .held_out = R));
    if (info == GrB_SUCCESS)
        info = FtB_factorize_error(&rmse, U, V, R, 0);
    FtB_Block_free(&U);
    FtB_Block_free(&V);
    FtB_Matrix_free(&R);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++)
        fail_every_allocation(all_methods, NULL, &(FtB_Factorize_method){(FtB_Factorize_method)method});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(movielens), cmocka_unit_test(few_ratings),
                                       cmocka_unit_test(refused_ratings), cmocka_unit_test(refused),
                                       cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
