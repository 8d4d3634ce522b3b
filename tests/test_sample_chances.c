/* What is picked how often: chi-square tests of whole sets of picks, which pairs and single entries follow
 * from, against probabilities that are summed over every way to come by a set. Seeds are fixed; a right
 * sampler with other seeds would fail each of these tests once in a million times. */
#include "support/check.h"
#include "support/chi_square.h"

#include <stdlib.h>

enum { MOST = 8, SETS = 1 << 14, SAMPLES = 40000 };

typedef struct trial {
    const char *what;
    FtB_Selector selector;
    bool replace;
    int degree, k;
    double weight[MOST];
} trial;

/* ---- chances, by every way: a set is a number with two bits for each entry, how often it was picked */

static void add_orders(const trial *t, double *chance, int set, int left, double so_far)
{
    if (left == 0) {
        chance[set] += so_far;
        return;
    }
    double sum = 0;
    for (int j = 0; j < t->degree; j++)
        sum += t->replace || !(set >> 2 * j & 3) ? t->weight[j] : 0;
    for (int j = 0; j < t->degree; j++)
        if ((t->replace || !(set >> 2 * j & 3)) && t->weight[j] > 0)
            add_orders(t, chance, set + (1 << 2 * j), left - 1, so_far * t->weight[j] / sum);
}

static void add_choices(const trial *t, double *chance, int set, int j, double so_far)
{
    if (j == t->degree) {
        chance[set] += so_far;
        return;
    }
    const double p = t->selector == FTB_SAMPLE_LABOR ? (double)t->k / t->degree : t->weight[j];
    add_choices(t, chance, set, j + 1, so_far * (1 - p));
    add_choices(t, chance, set + (1 << 2 * j), j + 1, so_far * p);
}

static double *chances(const trial *t)
{
    double *chance = calloc(SETS, sizeof *chance);
    if (t->selector == FTB_SAMPLE_BERNOULLI || t->selector == FTB_SAMPLE_LABOR)
        add_choices(t, chance, 0, 0, 1);
    else
        add_orders(t, chance, 0, t->k, 1);
    return chance;
}

/* ---- counts */

static const trial trials[] = {
    {"uniform, 3 of 7", FTB_SAMPLE_UNIFORM, false, 7, 3, {1, 1, 1, 1, 1, 1, 1}},
    {"uniform, 5 of 7", FTB_SAMPLE_UNIFORM, false, 7, 5, {1, 1, 1, 1, 1, 1, 1}},
    {"uniform, 1 of 5", FTB_SAMPLE_UNIFORM, false, 5, 1, {1, 1, 1, 1, 1}},
    {"uniform, 3 of 5 with replacement", FTB_SAMPLE_UNIFORM, true, 5, 3, {1, 1, 1, 1, 1}},
    {"by weight, 2 of 6", FTB_SAMPLE_WEIGHTED, false, 6, 2, {1, 2, 0.5, 4, 0, 2.5}},
    {"by weight, 4 of 6", FTB_SAMPLE_WEIGHTED, false, 6, 4, {1, 2, 0.5, 4, 1.5, 2.5}},
    {"by weight, 4 of 6, where one outweighs the others",
     FTB_SAMPLE_WEIGHTED,
     false,
     6,
     4,
     {1, 2, 300, 4, 1.5, 2.5}},
    {"by weight, 3 of 4 with replacement", FTB_SAMPLE_WEIGHTED, true, 4, 3, {1, 0, 2.5, 0.75}},
    {"by chance", FTB_SAMPLE_BERNOULLI, false, 5, -1, {0.5, 0.125, 0.75, 0.3, 1}},
};

/* A with SAMPLES equal rows, so that each row is a sample. */
static FtB_Matrix equal_rows(const trial *t, int64_t nrows)
{
    const int64_t nvals = nrows * t->degree;
    int64_t *I = malloc(sizeof *I * (size_t)nvals), *J = malloc(sizeof *J * (size_t)nvals);
    double *X = malloc(sizeof *X * (size_t)nvals);
    FtB_Matrix A;
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = e / t->degree;
        J[e] = e % t->degree;
        X[e] = t->weight[e % t->degree];
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, nrows, t->degree, 1, nvals, I, J, X, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

static int set_of(const int64_t *rowptr, const int32_t *columns, int64_t r)
{
    int set = 0;
    for (int64_t e = rowptr[r]; e < rowptr[r + 1]; e++)
        set += 1 << 2 * columns[e];
    return set;
}

/* `kept`: once more, after a call that A's tables are made for. */
static void count_rows(int64_t *count, const trial *t, bool kept)
{
    FtB_Matrix A = equal_rows(t, SAMPLES), S;
    const int64_t *rowptr;
    const void *columns;
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, SAMPLES, t->degree, 1));
    const FtB_Select_options o = {
        .size = sizeof o, .selector = t->selector, .replace = t->replace, .seed = 1234567};
    const char *key = t->selector == FTB_SAMPLE_UNIFORM ? NULL : "x";
    if (kept)
        assert_ok(FtB_select_sample(S, NULL, t->k, key, A, &o));
    FtB_Select_options other = o;
    other.seed += kept;
    assert_ok(FtB_select_sample(S, NULL, t->k, key, A, &other));
    assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, NULL));
    for (int64_t r = 0; r < SAMPLES; r++)
        count[set_of(rowptr, columns, r)]++;
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

static void selectors(void **state)
{
    (void)state;
    for (size_t n = 0; n < 2 * (sizeof trials / sizeof *trials); n++) {
        const trial *t = &trials[n / 2];
        if (n % 2 && t->selector != FTB_SAMPLE_WEIGHTED)
            continue;
        int64_t *count = calloc(SETS, sizeof *count);
        double *chance = chances(t);
        count_rows(count, t, n % 2);
        check_chances(count, chance, SETS, t->what);
        free(count);
        free(chance);
    }
}

/* Rows share their columns' draws, so that batches are the samples; and that they share is seen. */
static void labor(void **state)
{
    (void)state;
    const trial t = {"LABOR-0, 2 of 5", FTB_SAMPLE_LABOR, false, 5, 2, {1, 1, 1, 1, 1}};
    int64_t *count = calloc(SETS, sizeof *count);
    double *chance = chances(&t);
    FtB_Matrix A = equal_rows(&t, 2), S;
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, 2, t.degree, 1));
    for (int64_t batch = 0; batch < 5000; batch++) {
        const int64_t *rowptr;
        const void *columns;
        assert_ok(FtB_select_sample(S, NULL, t.k, NULL, A,
                                    FTB_SELECT_OPTIONS(.selector = t.selector, .seed = 3, .batch = batch)));
        assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, NULL));
        const int set = set_of(rowptr, columns, 0);
        assert_int_equal(set, set_of(rowptr, columns, 1));
        count[set]++;
    }
    check_chances(count, chance, SETS, t.what);
    free(count);
    free(chance);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

/* Picks of two samples that differ in one thing alone have nothing to do with each other. */
static void independence(void **state)
{
    (void)state;
    enum { D = 5 };
    const trial t = {"one of five", FTB_SAMPLE_UNIFORM, false, D, 1, {1, 1, 1, 1, 1}};
    static const char *const what[] = {"hops", "batches", "seeds", "vertices"};
    FtB_Matrix A = equal_rows(&t, SAMPLES), S[2];
    double chance[D * D];
    for (int c = 0; c < D * D; c++)
        chance[c] = 1.0 / (D * D);
    for (int s = 0; s < 2; s++)
        assert_ok(FtB_Matrix_new(&S[s], FTB_FP64, SAMPLES, D, 1));
    for (int w = 0; w < 4; w++) {
        int64_t count[D * D] = {0};
        const void *columns[2];
        for (int s = 0; s < 2; s++) {
            const FtB_Select_options o = {.size = sizeof o,
                                          .seed = 10 + (w == 2 ? (uint64_t)s : 0),
                                          .batch = w == 1 ? s : 0,
                                          .hop = w == 0 ? s : 0};
            assert_ok(FtB_select_sample(S[s], NULL, 1, NULL, A, &o));
            assert_ok(FtB_Matrix_csr(S[s], NULL, &columns[s], NULL));
        }
        for (int64_t r = 0; r + 1 < SAMPLES; r++) {
            const int a = ((const int32_t *)columns[0])[r],
                      b = ((const int32_t *)columns[1])[w == 3 ? r + 1 : r];
            count[a * D + b]++;
        }
        check_chances(count, chance, D * D, what[w]);
    }
    FtB_Matrix_free(&A);
    for (int s = 0; s < 2; s++)
        FtB_Matrix_free(&S[s]);
}

/* Rows that are picked of one by one, where sets are too many to count: single entries. Their counts have the
 * covariance -p (1 - p) / (degree - 1), hence the factor. */
static void many_picks(void **state)
{
    (void)state;
    enum { DEGREE = 300, K = 80, ROWS = 3000 };
    int64_t *rowptr = malloc(sizeof *rowptr * (ROWS + 1));
    int32_t *columns = malloc(sizeof *columns * ROWS * DEGREE);
    double count[DEGREE] = {0}, sum = 0;
    const double p = (double)K / DEGREE;
    FtB_Matrix A, S;
    for (int64_t i = 0; i <= ROWS; i++)
        rowptr[i] = i * DEGREE;
    for (int64_t e = 0; e < ROWS * DEGREE; e++)
        columns[e] = (int32_t)(e % DEGREE);
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, ROWS, DEGREE, 0, rowptr, columns, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, ROWS, DEGREE, 0));
    assert_ok(FtB_select_sample(S, NULL, K, NULL, A, FTB_SELECT_OPTIONS(.seed = 5)));
    const void *picked;
    assert_ok(FtB_Matrix_csr(S, NULL, &picked, NULL));
    for (int64_t e = 0; e < ROWS * K; e++)
        count[((const int32_t *)picked)[e]]++;
    for (int j = 0; j < DEGREE; j++)
        sum += (count[j] - ROWS * p) * (count[j] - ROWS * p) / (ROWS * p * (1 - p));
    sum *= (double)(DEGREE - 1) / DEGREE;
    assert_true(sum < chi_square_critical(DEGREE - 1));
    assert_true(sum > DEGREE / 2.0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    free(rowptr);
    free(columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(selectors), cmocka_unit_test(labor),
                                       cmocka_unit_test(independence), cmocka_unit_test(many_picks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
