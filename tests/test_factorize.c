/* Factors of ratings against the definitions (oracle/ref_factorize.h), with every instruction set: errors,
 * least squares, gradients, stochastic descent; blocks of it together are a gradient's step; errors fall; the
 * three texts of a vertex program give the same; bits for 1 to 8 threads, and of rows beside others; rows and
 * columns without ratings, parallel ratings; cancelling. Real data, and what is refused, is
 * test_factorize_calls.c's. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "featblas_vertex.h"
#include "oracle/ref_factorize.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 14, TUPLES = 150 };

/* Up to MOST rows and columns, of which some have no ratings; whole ratings of INT8, reals, or none. */
static FtB_Matrix make_ratings(rng *r, int64_t m, int64_t n, int64_t tuples, int kind)
{
    int64_t *I = malloc((size_t)(tuples + 1) * sizeof *I), *J = malloc((size_t)(tuples + 1) * sizeof *J);
    double *X = malloc((size_t)(tuples + 1) * sizeof *X);
    int8_t *whole = malloc((size_t)tuples + 1);
    float *few = malloc((size_t)(tuples + 1) * sizeof *few);
    FtB_Matrix R;
    for (int64_t e = 0; e < tuples; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, m));
        J[e] = rng_below(r, n);
        X[e] = 6 * rng_unit(r) - 2;
        few[e] = (float)X[e];
        whole[e] = (int8_t)X[e];
    }
    assert_ok(FtB_Matrix_build(&R,
                               kind % 4 == 0   ? FTB_INT8
                               : kind % 4 == 1 ? FTB_FP32
                                               : FTB_FP64,
                               m, n, kind % 4 == 3 ? 0 : 1, tuples, I, J,
                               kind % 4 == 0   ? (const void *)whole
                               : kind % 4 == 1 ? (const void *)few
                               : kind % 4 == 2 ? (const void *)X
                                               : NULL,
                               kind % 8 < 4 ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    free(whole);
    free(few);
    return R;
}

/* ---- a case: ratings, factors of a type, and the same as doubles */

typedef struct side {
    FtB_Block X;
    double *x;
    int64_t nrows;
} side;

typedef struct instance {
    FtB_Matrix R;
    FtB_Type type;
    int64_t k;
    side U, V;
    double offset, lambda;
    bool once;
    ref_ratings ref;
} instance;

static double value_at(const side *s, FtB_Type type, int64_t i, int64_t f)
{
    int64_t ld;
    void *x;
    assert_ok(FtB_Block_shape(s->X, NULL, NULL, &ld, NULL, &x));
    return type == FTB_FP32 ? (double)((const float *)x)[i * ld + f] : ((const double *)x)[i * ld + f];
}

static side make_side(rng *r, int64_t nrows, int64_t k, FtB_Type type)
{
    side s = {.nrows = nrows};
    s.X = rng_heads(r, type, nrows, 1, k, rng_reals);
    s.x = malloc((size_t)(nrows * k + 1) * sizeof *s.x);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t f = 0; f < k; f++)
            s.x[i * k + f] = value_at(&s, type, i, f);
    return s;
}

static void clear_side(side *s)
{
    FtB_Block_free(&s->X);
    free(s->x);
}

/* Case c, with each instruction set and type in turn. */
static instance make_instance(rng *r, int c)
{
    static const int64_t widths[] = {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65};
    const int64_t m = 1 + rng_below(r, MOST), n = 1 + rng_below(r, MOST), tuples = rng_below(r, TUPLES);
    instance t = {.type = c % 2 ? FTB_FP32 : FTB_FP64,
                  .k = widths[rng_below(r, 13)],
                  .offset = c % 3 ? 0.75 : 0,
                  .lambda = 0.05 + rng_unit(r),
                  .once = c % 5 < 2};
    ftb_isa_force(c / 2 % 3);
    t.R = make_ratings(r, m, n, tuples, (int)rng_below(r, 8));
    t.U = make_side(r, m, t.k, t.type);
    t.V = make_side(r, n, t.k, t.type);
    t.ref = ref_ratings_of(t.R, t.k, t.offset);
    return t;
}

static void clear_instance(instance *t)
{
    ftb_isa_force(-1);
    FtB_Matrix_free(&t->R);
    clear_side(&t->U);
    clear_side(&t->V);
    ref_ratings_free(&t->ref);
}

/* By `bound` of FP64, and of FP32 a billion times as much. */
static void assert_side(const instance *t, const side *s, double bound)
{
    const double most = t->type == FTB_FP32 ? 1e9 * bound : bound;
    for (int64_t i = 0; i < s->nrows; i++)
        for (int64_t f = 0; f < t->k; f++) {
            const double x = value_at(s, t->type, i, f), y = s->x[i * t->k + f];
            if (!(fabs(x - y) <= most * (1 + fabs(y))))
                fail_msg("row %lld, factor %lld of %lld: %.17g; expected %.17g", (long long)i, (long long)f,
                         (long long)t->k, x, y);
        }
}

static void empty_to_zero(instance *t)
{
    for (int s = 0; s < 2; s++)
        for (int64_t v = 0; v < (s ? t->V.nrows : t->U.nrows); v++) {
            bool there = false;
            for (int64_t e = 0; e < t->ref.count; e++)
                there = there || (s ? t->ref.j[e] : t->ref.i[e]) == v;
            if (!there)
                memset((s ? t->V.x : t->U.x) + v * t->k, 0, (size_t)t->k * sizeof(double));
        }
}

static void errors(void **state)
{
    (void)state;
    const int cases = rng_cases(45);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        instance t = make_instance(&r, c);
        double rmse = -1;
        const double expected = ref_ratings_rmse(&t.ref, t.U.x, t.V.x);
        assert_ok(FtB_factorize_error(&rmse, t.U.X, t.V.X, t.R, t.offset));
        assert_true(fabs(rmse - expected) <= (t.type == FTB_FP32 ? 1e-5 : 1e-14) * (1 + expected));
        clear_instance(&t);
    }
}

static void least_squares(void **state)
{
    (void)state;
    const int cases = rng_cases(45);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        instance t = make_instance(&r, c);
        double before = INFINITY;
        for (int round = 0; round < 3; round++) {
            empty_to_zero(&t);
            ref_ratings_solve(&t.ref, t.U.x, t.V.x, false, t.lambda, t.once);
            ref_ratings_solve(&t.ref, t.U.x, t.V.x, true, t.lambda, t.once);
            const double now = ref_ratings_objective(&t.ref, t.U.x, t.V.x, t.lambda, t.once);
            assert_true(now <= before * (1 + 1e-12));
            before = now;
        }
        assert_ok(FtB_factorize(t.U.X, t.V.X, t.R,
                                FTB_FACTORIZE(.method = FTB_FACTORIZE_ALS, .rounds = 3, .lambda = t.lambda,
                                              .offset = t.offset, .once = t.once, .resume = true)));
        assert_side(&t, &t.U, 1e-11);
        assert_side(&t, &t.V, 1e-11);
        clear_instance(&t);
    }
}

/* Three rounds from the same guess, by the oracle too. */
static void check_rounds(FtB_Factorize_method method, double rate)
{
    const int cases = rng_cases(45);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        instance t = make_instance(&r, c);
        empty_to_zero(&t);
        for (int round = 0; round < 3; round++)
            if (method == FTB_FACTORIZE_GRADIENT)
                ref_ratings_step(&t.ref, t.U.x, t.V.x, rate, t.lambda, t.once);
            else
                ref_ratings_descend(&t.ref, t.U.x, t.V.x, rate, t.lambda);
        assert_ok(FtB_factorize(
            t.U.X, t.V.X, t.R,
            FTB_FACTORIZE(.method = method, .rounds = 3, .rate = rate, .lambda = t.lambda, .offset = t.offset,
                          .once = method == FTB_FACTORIZE_GRADIENT && t.once, .resume = true)));
        assert_side(&t, &t.U, 1e-13);
        assert_side(&t, &t.V, 1e-13);
        clear_instance(&t);
    }
}

static void gradients(void **state)
{
    (void)state;
    check_rounds(FTB_FACTORIZE_GRADIENT, 0.003);
}

static void stochastic(void **state)
{
    (void)state;
    check_rounds(FTB_FACTORIZE_SGD, 0.01);
}

/* ---- larger ones, whose ratings are cut into blocks */

enum { ROWS = 700, COLS = 300, LARGE = 140000, FACTORS = 10 };

static FtB_Matrix large_ratings(void)
{
    rng r = rng_new();
    return make_ratings(&r, ROWS, COLS, LARGE, 4);
}

/* With so small a rate, steps after each other are a step together but for its square: each rating takes part
 * once, whatever the blocks. */
static void blocks(void **state)
{
    (void)state;
    const double rate = 1e-7;
    FtB_Matrix R = large_ratings();
    FtB_Block X[2][2];
    rng r = rng_new();
    for (int s = 0; s < 2; s++) {
        X[0][s] = rng_heads(&r, FTB_FP64, s ? COLS : ROWS, 1, FACTORS, rng_reals);
        assert_ok(FtB_Block_new(&X[1][s], s ? COLS : ROWS, FACTORS, FTB_FP64));
        assert_ok(FtB_apply(X[1][s], NULL, NULL, "x", X[0][s], NULL));
    }
    FtB_Block first;
    assert_ok(FtB_Block_new(&first, COLS, FACTORS, FTB_FP64));
    assert_ok(FtB_apply(first, NULL, NULL, "x", X[0][1], NULL));
    for (int method = 0; method < 2; method++)
        assert_ok(FtB_factorize(X[method][0], X[method][1], R,
                                FTB_FACTORIZE(.method = method ? FTB_FACTORIZE_GRADIENT : FTB_FACTORIZE_SGD,
                                              .rounds = 1, .rate = rate, .resume = true)));
    for (int64_t j = 0; j < COLS; j++)
        for (int64_t f = 0; f < FACTORS; f++) {
            int64_t ld[3];
            void *x[3];
            assert_ok(FtB_Block_shape(X[0][1], NULL, NULL, &ld[0], NULL, &x[0]));
            assert_ok(FtB_Block_shape(X[1][1], NULL, NULL, &ld[1], NULL, &x[1]));
            assert_ok(FtB_Block_shape(first, NULL, NULL, &ld[2], NULL, &x[2]));
            const double a = ((const double *)x[0])[j * ld[0] + f], b = ((const double *)x[1])[j * ld[1] + f],
                         before = ((const double *)x[2])[j * ld[2] + f];
            assert_true(fabs(a - b) <= 1e-3 * rate + 1e-3 * fabs(b - before));
            assert_true(fabs(b - before) > 0);
        }
    FtB_Block_free(&first);
    for (int s = 0; s < 4; s++)
        FtB_Block_free(&X[s / 2][s % 2]);
    FtB_Matrix_free(&R);
}

static void of_threads(FtB_Matrix R, FtB_Factorize_method method, FtB_Type type, int threads, char *out)
{
    FtB_Context ctx;
    FtB_Block U, V;
    const size_t size = type == FTB_FP32 ? 4 : 8;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_new(&U, ROWS, FACTORS, type));
    assert_ok(FtB_Block_new(&V, COLS, FACTORS, type));
    assert_ok(FtB_factorize(U, V, R, FTB_FACTORIZE(.method = method, .rounds = 2, .seed = 7)));
    memcpy(out, block_values(U), ROWS * FACTORS * size);
    memcpy(out + ROWS * FACTORS * size, block_values(V), COLS * FACTORS * size);
    FtB_Block_free(&U);
    FtB_Block_free(&V);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

static void same_bits(void **state)
{
    (void)state;
    enum { BYTES = (ROWS + COLS) * FACTORS * 8 };
    FtB_Matrix R = large_ratings();
    char *one = calloc(BYTES, 1), *more = calloc(BYTES, 1);
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++) {
        const FtB_Type type = method % 2 ? FTB_FP64 : FTB_FP32;
        of_threads(R, (FtB_Factorize_method)method, type, 1, one);
        for (int threads = 2; threads <= 8; threads++) {
            of_threads(R, (FtB_Factorize_method)method, type, threads, more);
            assert_memory_equal(more, one, BYTES);
        }
    }
    free(one);
    free(more);
    FtB_Matrix_free(&R);
}

/* The errors that explain tells, round by round, fall; they are what FtB_factorize_error says, also of what
 * is held out. */
static void falling(void **state)
{
    (void)state;
    FtB_Matrix R = large_ratings(), H;
    rng r = rng_case(1);
    H = make_ratings(&r, ROWS, COLS, 500, 4);
    ref_ratings ref = ref_ratings_of(R, FACTORS, 0.5);
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++) {
        FtB_Block U, V;
        double last = INFINITY, rmse, held_out, seconds;
        char line[200];
        long long round;
        FILE *told = tmpfile();
        assert_ok(FtB_Block_new(&U, ROWS, FACTORS, FTB_FP64));
        assert_ok(FtB_Block_new(&V, COLS, FACTORS, FTB_FP64));
        assert_ok(FtB_factorize(U, V, R,
                                FTB_FACTORIZE(.method = (FtB_Factorize_method)method, .rounds = 5,
                                              .explain = told, .held_out = H, .offset = 0.5, .seed = 3)));
        rewind(told);
        assert_non_null(fgets(line, sizeof line, told));
        assert_non_null(strstr(line, "held out"));
        for (int t = 1; t <= 5; t++) {
            assert_int_equal(fscanf(told, "%lld %lf %lf %lf", &round, &rmse, &held_out, &seconds), 4);
            assert_int_equal(round, t);
            assert_true(rmse < last);
            last = rmse;
        }
        assert_ok(FtB_factorize_error(&rmse, U, V, R, 0.5));
        assert_true(fabs(rmse - last) < 1e-6);
        const double expected = ref_ratings_rmse(&ref, block_values(U), block_values(V));
        assert_true(fabs(rmse - expected) <= 1e-13 * expected);
        assert_ok(FtB_factorize_error(&rmse, U, V, H, 0.5));
        assert_true(fabs(rmse - held_out) < 1e-6 && fabs(rmse - last) > 1e-5);
        fclose(told);
        FtB_Block_free(&U);
        FtB_Block_free(&V);
    }
    FtB_Matrix_free(&H);
    ref_ratings_free(&ref);
    FtB_Matrix_free(&R);
}

/* Factors that hardly move are the first guess: of rows other than of columns, another of another seed, and
 * their products are about the ratings. */
static void guesses(void **state)
{
    (void)state;
    FtB_Matrix R = large_ratings();
    FtB_Block U[2], V[2];
    ref_ratings ref = ref_ratings_of(R, FACTORS, -1.5);
    double sum = 0, rating = 0;
    for (int s = 0; s < 2; s++) {
        assert_ok(FtB_Block_new(&U[s], ROWS, FACTORS, FTB_FP64));
        assert_ok(FtB_Block_new(&V[s], COLS, FACTORS, FTB_FP64));
        assert_ok(FtB_factorize(
            U[s], V[s], R,
            FTB_FACTORIZE(.rounds = 1, .rate = 1e-200, .offset = -1.5, .seed = 1 + (uint64_t)s)));
    }
    const double *u = block_values(U[0]), *v = block_values(V[0]), *other = block_values(U[1]);
    for (int64_t e = 0; e < ref.count; e++) {
        for (int64_t f = 0; f < FACTORS; f++)
            sum += u[ref.i[e] * FACTORS + f] * v[ref.j[e] * FACTORS + f] / (double)ref.count;
        rating += ref.x[e] / (double)ref.count;
    }
    assert_true(rating > 1 && fabs(sum - rating) < 0.1);
    for (int64_t f = 0; f < FACTORS; f++)
        assert_true(u[f] != v[f] && u[f] != other[f] && u[f] != u[f + 1]);
    for (int s = 0; s < 2; s++) {
        FtB_Block_free(&U[s]);
        FtB_Block_free(&V[s]);
    }
    ref_ratings_free(&ref);
    FtB_Matrix_free(&R);
}

/* ---- rows side by side: so many that each thread solves more at a time than a vector has lanes */

enum { SIDE = 5000, KINDS = 30, ITEMS = 7 };

/* Row i has the ratings of kind i % KINDS; but for `one`, which has one. */
static FtB_Matrix side_ratings(int64_t nrows, int64_t one)
{
    int64_t *I = malloc((size_t)(nrows * ITEMS) * sizeof *I),
            *J = malloc((size_t)(nrows * ITEMS) * sizeof *J);
    double *X = malloc((size_t)(nrows * ITEMS) * sizeof *X);
    int64_t count = 0;
    FtB_Matrix R;
    for (int64_t i = 0; i < nrows; i++) {
        rng r = rng_case((int)(i % KINDS));
        const int64_t ratings = i == one ? 1 : 3 + rng_below(&r, ITEMS - 2);
        for (int64_t t = 0; t < ratings; t++, count++) {
            I[count] = i;
            J[count] = t;
            X[count] = 5 * rng_unit(&r);
        }
    }
    assert_ok(FtB_Matrix_build(&R, FTB_FP64, nrows, ITEMS, 1, count, I, J, X, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(X);
    return R;
}

static GrB_Info solve_rows(FtB_Block *U, FtB_Matrix R, int64_t nrows, int64_t k, FtB_Type type, double lambda)
{
    rng r = rng_case(3);
    FtB_Block V = rng_heads(&r, type, ITEMS, 1, k, rng_reals);
    for (int64_t f = 0; f < k; f++) /* so that of one rating nothing is left but 0 */
        ftb_cast((char *)(uintptr_t)block_values(V) + (size_t)f * FtB_Type_size(type), type, &(double){1},
                 FTB_FP64, 1);
    assert_ok(FtB_Block_changed(V));
    assert_ok(FtB_Block_new(U, nrows, k, type));
    const GrB_Info info = FtB_factorize(*U, V, R,
                                        FTB_FACTORIZE(.method = FTB_FACTORIZE_ALS, .rounds = 1,
                                                      .lambda = lambda, .once = true, .resume = true));
    FtB_Block_free(&V);
    return info;
}

/* A row's bits do not depend on those beside it, and of one that has no solution the number is told. */
static void abreast(void **state)
{
    (void)state;
    FtB_Matrix few = side_ratings(KINDS, -1), many = side_ratings(SIDE, -1), wrong = side_ratings(SIDE, 4321);
    for (int c = 0; c < 6; c++) {
        const FtB_Type type = c % 2 ? FTB_FP32 : FTB_FP64;
        const int64_t k = c % 2 ? 32 : 3;
        const size_t bytes = (size_t)k * (type == FTB_FP32 ? 4 : 8);
        FtB_Block alone, beside, none;
        ftb_isa_force(c / 2);
        assert_ok(solve_rows(&alone, few, KINDS, k, type, 0.5));
        assert_ok(solve_rows(&beside, many, SIDE, k, type, 0.5));
        for (int64_t i = 0; i < SIDE; i++)
            assert_memory_equal((const char *)block_values(beside) + (size_t)i * bytes,
                                (const char *)block_values(alone) + (size_t)(i % KINDS) * bytes, bytes);
        if (k == 3) {
            assert_fails(GrB_NO_VALUE, "row 4321 of R has no one best factors",
                         solve_rows(&none, wrong, SIDE, k, type, 1e-300));
            FtB_Block_free(&none);
        }
        FtB_Block_free(&alone);
        FtB_Block_free(&beside);
    }
    ftb_isa_force(-1);
    FtB_Matrix_free(&few);
    FtB_Matrix_free(&many);
    FtB_Matrix_free(&wrong);
}

/* ---- as a vertex program: rows and columns are vertices, ratings edges */

static void as_texts(void **state)
{
    (void)state;
    enum { M = 12, N = 9, K = 16, E = 40 };
    rng r = rng_new();
    int64_t I[E], J[E], columns[E];
    double X[E];
    FtB_Matrix R, A;
    FtB_Block F, U, V, both[2];
    FtB_Program p;
    for (int64_t e = 0; e < E; e++) {
        I[e] = e % M;
        J[e] = (e + rng_below(&r, N)) % N;
        columns[e] = M + J[e];
        X[e] = 5 * rng_unit(&r);
    }
    assert_ok(FtB_Matrix_build(&R, FTB_FP64, M, N, 1, E, I, J, X, FTB_DUP_FIRST, NULL));
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, M + N, M + N, 1, E, I, columns, X, FTB_DUP_FIRST, NULL));
    F = rng_heads(&r, FTB_FP64, M + N, 1, K, rng_reals);
    assert_ok(FtB_Block_new(&U, M, K, FTB_FP64));
    assert_ok(FtB_Block_new(&V, N, K, FTB_FP64));
    int64_t ld;
    double *f, *u = block_values(U), *v = block_values(V);
    assert_ok(FtB_Block_shape(F, NULL, NULL, &ld, NULL, (void **)&f));
    for (int64_t i = 0; i < M + N; i++)
        for (int64_t c = 0; c < K; c++)
            (i < M ? u : v - M * K)[i * K + c] = f[i * ld + c];
    assert_ok(FtB_Block_changed(U));
    assert_ok(FtB_Block_changed(V));
    assert_ok(FtB_Program_new(&p, FTB_PROGRAM(.send = "f",
                                              .combine = "plus : (edge - dot(message, dst.f)) * message",
                                              .apply = "f = f + rate * (received - lambda * f)",
                                              .direction = FTB_BOTH, .rounds = 4)));
    assert_ok(FtB_run(p, A, FTB_STATE("f", F, "rate", 0.01, "lambda", 0.2), NULL));
    assert_ok(FtB_factorize(U, V, R,
                            FTB_FACTORIZE(.method = FTB_FACTORIZE_GRADIENT, .rounds = 4, .rate = 0.01,
                                          .lambda = 0.2, .once = true, .resume = true)));
    for (int64_t i = 0; i < M + N; i++)
        for (int64_t c = 0; c < K; c++)
            assert_true(fabs((i < M ? u : v - M * K)[i * K + c] - f[i * ld + c]) < 1e-13);
    both[0] = U;
    both[1] = V;
    FtB_Block_free(&both[0]);
    FtB_Block_free(&both[1]);
    FtB_Block_free(&F);
    FtB_Program_free(&p);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&A);
}

static void cancelled(void **state)
{
    (void)state;
    FtB_Matrix R = large_ratings();
    FtB_Block U, V;
    double rmse;
    assert_ok(FtB_Block_new(&U, ROWS, FACTORS, FTB_FP64));
    assert_ok(FtB_Block_new(&V, COLS, FACTORS, FTB_FP64));
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++) {
        FtB_Context_cancel(NULL);
        assert_fails(FTB_CANCELLED, "cancelled",
                     FtB_factorize(U, V, R, FTB_FACTORIZE(.method = (FtB_Factorize_method)method)));
    }
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_factorize_error(&rmse, U, V, R, 0));
    assert_true(((const double *)block_values(U))[7] == 0);
    assert_ok(FtB_factorize_error(&rmse, U, V, R, 0));
    FtB_Block_free(&U);
    FtB_Block_free(&V);
    FtB_Matrix_free(&R);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),     cmocka_unit_test(least_squares), cmocka_unit_test(gradients),
        cmocka_unit_test(stochastic), cmocka_unit_test(blocks),        cmocka_unit_test(same_bits),
        cmocka_unit_test(falling),    cmocka_unit_test(as_texts),      cmocka_unit_test(cancelled),
        cmocka_unit_test(guesses),    cmocka_unit_test(abreast)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
