/* FtB_Matrix_build against a slow oracle. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include "core/core.h"

#include <stdlib.h>

typedef struct tuples {
    FtB_Type type;
    int64_t nrows, ncols, width, nvals;
    int64_t *I, *J, *perm;
    void *X;
} tuples;

static tuples random_tuples(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width, int64_t nvals)
{
    tuples t = {type, nrows, ncols, width, nvals, NULL, NULL, NULL, NULL};
    t.I = malloc(sizeof *t.I * (size_t)(nvals + 1));
    t.J = malloc(sizeof *t.J * (size_t)(nvals + 1));
    t.perm = malloc(sizeof *t.perm * (size_t)(nvals + 1));
    t.X = malloc(FtB_Type_size(type) * (size_t)(nvals * width + 1));
    for (int64_t n = 0; n < nvals; n++) {
        t.I[n] = rng_below(r, nrows);
        t.J[n] = rng_below(r, ncols);
    }
    rng_any_values(r, t.X, type, nvals * width);
    return t;
}

static void free_tuples(tuples *t)
{
    free(t->I);
    free(t->J);
    free(t->perm);
    free(t->X);
}

/* What rule makes of plane f of the tuples, in input order, that went to entry e. */
static void expected_value(const tuples *t, FtB_Dup rule, int64_t e, int64_t f, void *value)
{
    size_t size = FtB_Type_size(t->type);
    int64_t count = 0;
    bool real = ftb_type_float(t->type);
    double x = 0;
    int64_t n = 0;
    for (int64_t s = 0; s < t->nvals; s++) {
        if (t->perm[s] != e)
            continue;
        const char *from = (const char *)t->X + (size_t)(s * t->width + f) * size;
        double y = ftb_get_real(from, t->type, 0);
        int64_t m = 0;
        if (!real)
            memcpy(&m, &(int64_t){ftb_get_integer(from, t->type, 0)}, sizeof m);
        bool less = t->type == FTB_UINT64 ? (uint64_t)m < (uint64_t)n : m < n;
        if (count++ == 0 || rule == FTB_DUP_LAST) {
            x = y;
            n = m;
        } else if (rule == FTB_DUP_SUM && real) {
            x = t->type == FTB_FP64 ? x + y : (double)((float)x + (float)y);
        } else if (rule == FTB_DUP_SUM) {
            n = t->type == FTB_BOOL ? n | m : (int64_t)((uint64_t)n + (uint64_t)m);
        } else if (rule == FTB_DUP_MAX || rule == FTB_DUP_MIN) {
            if (x != x || (y == y && (rule == FTB_DUP_MAX ? y > x : y < x)))
                x = y;
            if (m != n && less == (rule == FTB_DUP_MIN))
                n = m;
        }
    }
    if (rule == FTB_DUP_COUNT)
        ftb_cast(value, t->type, &count, FTB_INT64, 1);
    else if (real)
        ftb_cast(value, t->type, &x, FTB_FP64, 1);
    else
        ftb_cast(value, t->type, &n, FTB_INT64, 1);
}

static bool same_value(FtB_Type type, const void *a, const void *b)
{
    double x = ftb_get_real(a, type, 0), y = ftb_get_real(b, type, 0);
    return (x != x && y != y) || memcmp(a, b, FtB_Type_size(type)) == 0;
}

static void check_build(const tuples *t, FtB_Dup rule)
{
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, t->type, t->nrows, t->ncols, t->width, t->nvals, t->I, t->J, t->X, rule,
                               t->perm));
    assert_valid(A, rule == FTB_DUP_KEEP);
    int64_t *members = calloc((size_t)A->pattern->nvals + 1, sizeof *members);
    for (int64_t s = 0; s < t->nvals; s++) {
        int64_t e = t->perm[s];
        assert_in_range(e, 0, A->pattern->nvals - 1);
        assert_int_equal(ftb_col(A->pattern, e), t->J[s]);
        assert_true(A->pattern->rowptr[t->I[s]] <= e && e < A->pattern->rowptr[t->I[s] + 1]);
        members[e]++;
    }
    for (int64_t e = 0; e < A->pattern->nvals; e++) {
        assert_true(rule == FTB_DUP_KEEP ? members[e] == 1 : members[e] >= 1);
        for (int64_t f = 0; f < t->width; f++) {
            uint64_t value = 0;
            expected_value(t, rule, e, f, &value);
            char *got = (char *)matrix_values(A) + (size_t)(e * t->width + f) * FtB_Type_size(t->type);
            if (!same_value(t->type, got, &value))
                fail_msg("%s, rule %d, entry %lld plane %lld: %g, expected %g", FtB_Type_name(t->type),
                         (int)rule, (long long)e, (long long)f, ftb_get_real(got, t->type, 0),
                         ftb_get_real(&value, t->type, 0));
        }
    }
    free(members);
    FtB_Matrix_free(&A);
}

static void every_type_rule_and_width(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int type = FTB_BOOL; type <= FTB_BF16; type++)
        for (int rule = FTB_DUP_SUM; rule <= FTB_DUP_KEEP; rule++)
            for (int64_t width = 0; width < 4; width++) {
                if (rule == FTB_DUP_ERROR)
                    continue;
                int64_t nrows = 1 + rng_below(&r, 12), ncols = 1 + rng_below(&r, 12);
                tuples t = random_tuples(&r, (FtB_Type)type, nrows, ncols, width, rng_below(&r, 120));
                check_build(&t, (FtB_Dup)rule);
                free_tuples(&t);
            }
}

/* Builds with one thread and with several, which must agree bit for bit. */
static void check_threads(const tuples *t, FtB_Dup rule)
{
    FtB_Matrix one, many;
    int64_t *perm = malloc(sizeof *perm * (size_t)(t->nvals + 1));
    assert_ok(FtB_Context_set_threads(NULL, 1));
    assert_ok(FtB_Matrix_build(&one, t->type, t->nrows, t->ncols, t->width, t->nvals, t->I, t->J, t->X, rule,
                               t->perm));
    assert_valid(one, rule == FTB_DUP_KEEP);
    for (int threads = 2; threads < 6; threads++) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(FtB_Matrix_build(&many, t->type, t->nrows, t->ncols, t->width, t->nvals, t->I, t->J, t->X,
                                   rule, perm));
        assert_same(one, many);
        assert_int_equal(memcmp(perm, t->perm, sizeof *perm * (size_t)t->nvals), 0);
        FtB_Matrix_free(&many);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&one);
    free(perm);
}

/* Sums in input order, on buckets of every kind: the value of an entry is compared with a sum over all
 * tuples, which are few enough per matrix or grouped by position first. */
static void check_sums(const tuples *t)
{
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, t->type, t->nrows, t->ncols, t->width, t->nvals, t->I, t->J, t->X,
                               FTB_DUP_SUM, t->perm));
    assert_valid(A, false);
    double *sums = calloc((size_t)A->pattern->nvals + 1, sizeof *sums);
    for (int64_t s = 0; s < t->nvals; s++) {
        int64_t e = t->perm[s];
        assert_true(ftb_col(A->pattern, e) == t->J[s]);
        assert_true(A->pattern->rowptr[t->I[s]] <= e && e < A->pattern->rowptr[t->I[s] + 1]);
        sums[e] += ftb_get_real(t->X, t->type, s);
    }
    for (int64_t e = 0; e < A->pattern->nvals; e++)
        if (ftb_get_real(matrix_values(A), A->type, e) != sums[e])
            fail_msg("entry %lld: %g, expected %g", (long long)e, ftb_get_real(matrix_values(A), A->type, e),
                     sums[e]);
    free(sums);
    FtB_Matrix_free(&A);
}

static void many_buckets_and_threads(void **state)
{
    (void)state;
    rng r = rng_new();
    const struct {
        int64_t nrows, ncols, nvals;
    } shapes[] = {
        {1000, 1000, 60000},                 /* some 8 buckets of whole rows */
        {3, 100000, 60000},                  /* rows span buckets */
        {1, 1, 30000},                       /* one position */
        {60000, 1, 60000},                   /* one column */
        {100, INT64_C(1) << 40, 50000},      /* wide columns, 64-bit keys */
        {5, (INT64_C(1) << 62) + 3, 50000},  /* keys sorted in rounds */
        {INT64_C(1) << 17, 1 << 17, 200000}, /* hypersparse */
        {4097, INT32_MAX, 40000},            /* the widest narrow columns */
    };
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        tuples t = random_tuples(&r, FTB_FP64, shapes[n].nrows, shapes[n].ncols, 1, shapes[n].nvals);
        rng_values(&r, t.X, t.type, t.nvals);
        for (int64_t s = 0; s + 1 < t.nvals; s += 1 + rng_below(&r, 5)) { /* also where positions are many */
            t.I[s + 1] = t.I[s];
            t.J[s + 1] = t.J[s];
        }
        check_sums(&t);
        rng_any_values(&r, t.X, t.type, t.nvals);
        for (int rule = FTB_DUP_SUM; rule <= FTB_DUP_KEEP; rule++)
            if (rule != FTB_DUP_ERROR && (rule == FTB_DUP_SUM || rng_below(&r, 3) == 0))
                check_threads(&t, (FtB_Dup)rule);
        free_tuples(&t);
    }
}

/* All tuples in one bucket of many: too large for the threads' scratch. */
static void one_hub_bucket(void **state)
{
    (void)state;
    rng r = rng_new();
    tuples t = random_tuples(&r, FTB_FP64, 1 << 20, 1 << 20, 1, 300000);
    rng_values(&r, t.X, t.type, t.nvals);
    for (int64_t s = 0; s < t.nvals; s++)
        if (s % 50) {
            t.I[s] = 12345;
            t.J[s] = rng_below(&r, 200000);
        }
    check_sums(&t);
    check_threads(&t, FTB_DUP_LAST);
    free_tuples(&t);
}

static void sorted_and_reversed(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int reversed = 0; reversed < 2; reversed++) {
        tuples t = random_tuples(&r, FTB_FP32, 200, 100, 1, 20000);
        for (int64_t s = 0; s < t.nvals; s++) {
            int64_t at = reversed ? t.nvals - 1 - s : s;
            t.I[at] = s / 100;
            t.J[at] = s % 100;
        }
        FtB_Matrix A;
        assert_ok(FtB_Matrix_build(&A, t.type, 200, 100, 1, t.nvals, t.I, t.J, t.X, FTB_DUP_ERROR, t.perm));
        assert_valid(A, false);
        assert_int_equal(A->pattern->nvals, 20000);
        for (int64_t s = 0; s < t.nvals; s++) {
            assert_int_equal(t.perm[s], reversed ? t.nvals - 1 - s : s);
            assert_int_equal(memcmp((float *)matrix_values(A) + t.perm[s], (float *)t.X + s, 4), 0);
        }
        FtB_Matrix_free(&A);
        free_tuples(&t);
    }
}

static void long_values_of_every_width(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int64_t width = 1; width < 12; width++) {
        tuples t = random_tuples(&r, FTB_FP64, 9, 7, width, 150);
        for (int rule = FTB_DUP_SUM; rule <= FTB_DUP_KEEP; rule++)
            if (rule != FTB_DUP_ERROR)
                check_build(&t, (FtB_Dup)rule);
        free_tuples(&t);
    }
}

static void bad_arguments(void **state)
{
    (void)state;
    FtB_Matrix A;
    int64_t I[] = {0, 1, 2, 1}, J[] = {0, 3, 1, 3}, perm[] = {-7, -7, -7, -7};
    float X[] = {1, 2, 3, 4};
    assert_fails(GrB_NULL_POINTER, "A is NULL",
                 FtB_Matrix_build(NULL, FTB_FP32, 3, 4, 1, 4, I, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_INVALID_VALUE, "type is 99",
                 FtB_Matrix_build(&A, (FtB_Type)99, 3, 4, 1, 4, I, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_INVALID_VALUE, "-1 x 4",
                 FtB_Matrix_build(&A, FTB_FP32, -1, 4, 1, 4, I, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_INVALID_VALUE, "width is -1",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, -1, 4, I, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_INVALID_VALUE, "nvals is -2",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, -2, I, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_INVALID_VALUE, "dup is 77",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 4, I, J, X, (FtB_Dup)77, perm));
    assert_fails(GrB_NULL_POINTER, "I is NULL",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 4, NULL, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_NULL_POINTER, "J is NULL",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 4, I, NULL, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_NULL_POINTER, "X is NULL",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 4, I, J, NULL, FTB_DUP_SUM, perm));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "tuple 2 is (2, 1)",
                 FtB_Matrix_build(&A, FTB_FP32, 2, 4, 1, 4, I, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "tuple 1 is (1, 3)",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, I, J, X, FTB_DUP_SUM, perm));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "tuple 0",
                 FtB_Matrix_build(&A, FTB_FP32, 0, 0, 1, 4, I, J, X, FTB_DUP_SUM, perm));
    J[3] = -1;
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "tuple 3 is (1, -1); expected a position in 3 x 4",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 4, I, J, X, FTB_DUP_SUM, perm));
    J[3] = 3;
    assert_fails(GrB_INVALID_VALUE, "tuples 1 and 3 are both at (1, 3)",
                 FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 4, I, J, X, FTB_DUP_ERROR, perm));
    assert_null(A);
    for (int t = 0; t < 4; t++)
        assert_int_equal(perm[t], -7);
    assert_ok(
        FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 4, I, J, NULL, FTB_DUP_COUNT, perm)); /* X does not matter */
    assert_true(value_at(A, 1, 3, 0, 0) == 2);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 0, 5, 1, 0, NULL, NULL, NULL, FTB_DUP_SUM, perm));
    assert_valid(A, false);
    FtB_Matrix_free(&A);
}

static void the_first_bad_tuple_is_named_whatever_the_threads(void **state)
{
    (void)state;
    rng r = rng_new();
    tuples t = random_tuples(&r, FTB_FP32, 50, 60, 0, 30000);
    t.J[29000] = 60;
    t.I[17000] = -4;
    FtB_Matrix A;
    for (int threads = 1; threads < 5; threads++) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "tuple 17000 is (-4,",
                     FtB_Matrix_build(&A, t.type, 50, 60, 0, t.nvals, t.I, t.J, NULL, FTB_DUP_SUM, t.perm));
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free_tuples(&t);
}

static void keep_says_whether_edges_are_parallel(void **state)
{
    (void)state;
    FtB_Matrix A;
    int64_t I[] = {1, 0, 1}, J[] = {1, 0, 1};
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 2, 2, 0, 3, I, J, NULL, FTB_DUP_KEEP, NULL));
    assert_true(A->pattern->multi);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 2, 2, 0, 2, I, J, NULL, FTB_DUP_KEEP, NULL));
    assert_false(A->pattern->multi);
    FtB_Matrix_free(&A);
}

static GrB_Info build_call(void *arg)
{
    const tuples *t = arg;
    FtB_Matrix A;
    t->perm[0] = -1;
    GrB_Info info = FtB_Matrix_build(&A, t->type, t->nrows, t->ncols, t->width, t->nvals, t->I, t->J, t->X,
                                     FTB_DUP_SUM, t->perm);
    FtB_Matrix_free(&A);
    return info;
}

static void perm_untouched(void *arg) { assert_int_equal(((tuples *)arg)->perm[0], -1); }

static void failing_allocation(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int64_t width = 0; width < 6; width += 5) {
        tuples t = random_tuples(&r, FTB_FP64, 10, 10, width, 80);
        fail_every_allocation(build_call, perm_untouched, &t);
        free_tuples(&t);
    }
    tuples hub = random_tuples(&r, FTB_FP32, 1, 1 << 30, 1, 140000); /* big scratch, too */
    hub.nrows = 1 << 20;
    fail_every_allocation(build_call, perm_untouched, &hub);
    free_tuples(&hub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_rule_and_width),
        cmocka_unit_test(many_buckets_and_threads),
        cmocka_unit_test(one_hub_bucket),
        cmocka_unit_test(sorted_and_reversed),
        cmocka_unit_test(long_values_of_every_width),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(the_first_bad_tuple_is_named_whatever_the_threads),
        cmocka_unit_test(keep_says_whether_edges_are_parallel),
        cmocka_unit_test(failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
