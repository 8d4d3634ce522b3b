/* FtB_Matrix_build against a slow oracle. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/random.h"

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
            char *got = (char *)A->values->data + (size_t)(e * t->width + f) * FtB_Type_size(t->type);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_type_rule_and_width)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
