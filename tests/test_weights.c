/* The named weights: each against its definition on random graphs, those that networkx.bipartite knows
 * also against what it gives for Davis's Southern Women. */
#include "support/check.h"

#include "core/core.h"
#include "core/words.h"
#include "ops/ops.h"
#include "oracle/ref_dense.h"
#include "oracle/ref_project.h"
#include "support/compare.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

/* ---- the table */

static void table_is_complete(void **state)
{
    (void)state;
    static const char *const names[] = {"exists",
                                        "count",
                                        "ratio",
                                        "dot",
                                        "w1",
                                        "w2",
                                        "w1/w2",
                                        "w1/(w1+w2)",
                                        "w1+w2",
                                        "newman",
                                        "adamic-adar",
                                        "resource-allocation",
                                        "probs",
                                        "heats",
                                        "cosine",
                                        "jaccard",
                                        "overlap",
                                        "dice",
                                        "tversky",
                                        "asymmetric-cosine",
                                        "tfidf-cosine",
                                        "bm25",
                                        "lift",
                                        "pmi",
                                        "llr",
                                        "hypergeometric",
                                        "weighted-jaccard",
                                        "bottleneck",
                                        "pearson",
                                        "msd"};
    int count;
    const ftb_weight *weights = ftb_weights(&count);
    assert_int_equal(count, sizeof names / sizeof *names);
    for (int n = 0; n < count; n++) {
        const ftb_weight *w = ftb_weight_find(names[n]);
        assert_non_null(w);
        assert_true(w->semiring && *w->formula && *w->summary);
        for (int m = 0; m < n; m++)
            assert_string_not_equal(weights[n].name, weights[m].name);
    }
    assert_null(ftb_weight_find("jacard"));
}

static void closest(void **state)
{
    (void)state;
    static const char *const words[] = {"jaccard", "cosine", "count", "dot", "w1"};
    assert_string_equal(ftb_closest("jacard", 5, words), "jaccard");
    assert_string_equal(ftb_closest("cosnie", 5, words), "cosine");
    assert_string_equal(ftb_closest("w2", 5, words), "w1");
    assert_string_equal(ftb_closest("count", 5, words), "count");
    assert_null(ftb_closest("euclidean", 5, words));
    assert_null(ftb_closest("zz", 5, words));
    assert_null(
        ftb_closest("a word of far more than sixty-three letters, which no name that we know has", 5, words));
    assert_null(ftb_closest("x", 0, NULL));
}

/* ---- against the definitions */

static ref_matrix *expected(const char *name, const ref_matrix *R, bool rows, bool self_loops)
{
    int64_t n = rows ? R->nrows : R->ncols;
    ref_matrix *C = ref_new(FTB_FP64, n, n, 1), *T = ref_new(R->type, R->ncols, R->nrows, R->width);
    for (int64_t i = 0; i < R->nrows; i++)
        for (int64_t j = 0; j < R->ncols; j++) {
            *ref_at(T, j, i) = *ref_at(R, i, j);
            *ref_value(T, j, i) = *ref_value(R, i, j);
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double weight = 0;
            bool known, there = ref_weight(name, rows ? T : R, i, j, &weight, &known);
            assert_true(known);
            *ref_at(C, i, j) = there && (i != j || self_loops);
            *ref_value(C, i, j) = ref_real(weight);
        }
    ref_free(T);
    return C;
}

/* Weights of at least 1, as ratings are: ratios are then defined. */
static FtB_Matrix bipartite(rng *r, FtB_Type type, int64_t width)
{
    FtB_Matrix A =
        rng_matrix(r, type, 1 + rng_below(r, 25), 1 + rng_below(r, 20), width, 0.1 + 0.5 * rng_unit(r));
    for (int64_t e = 0; e < A->pattern->nvals && width; e++) {
        double x = (double)(1 + rng_below(r, 9));
        if (ftb_type_float(type))
            x /= 2;
        ftb_cast((char *)matrix_values(A) + (size_t)e * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
    return A;
}

static void random_weight(rng *r, const ftb_weight *w)
{
    static const FtB_Type types[] = {FTB_FP64, FTB_FP64, FTB_FP32, FTB_INT32, FTB_UINT8, FTB_INT64, FTB_BOOL};
    FtB_Type type = types[rng_below(r, 7)];
    FtB_Matrix R = bipartite(r, type, rng_below(r, 6) > 0), C;
    bool rows = rng_below(r, 2), self_loops = rng_below(r, 2);
    int64_t n = rows ? R->pattern->nrows : R->pattern->ncols;
    char what[128];
    snprintf(what, sizeof what, "%s of %s, width %d, %s", w->name, FtB_Type_name(type), (int)R->width,
             rows ? "rows" : "columns");
    ref_matrix *dense = ref_read(R, false), *goal = expected(w->name, dense, rows, self_loops);
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, n, n, 1));
    assert_ok(FtB_project(C, R, w->name,
                          FTB_PROJECT_OPTIONS(.onto = rows ? FTB_ROWS : FTB_COLS, .self_loops = self_loops)));
    ref_check(C, goal, type == FTB_FP32 ? 2e-5 : 1e-9, what);
    ref_free(dense);
    ref_free(goal);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
}

static void definitions(void **state)
{
    (void)state;
    rng r = rng_new();
    int count;
    const ftb_weight *weights = ftb_weights(&count);
    for (int t = 0; t < 30 * count; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_weight(&r, &weights[t % count]);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- whole numbers near the ends of their types */

static const FtB_Type integers[] = {FTB_INT8,  FTB_INT16,  FTB_INT32,  FTB_INT64,
                                    FTB_UINT8, FTB_UINT16, FTB_UINT32, FTB_UINT64};
#define INTEGERS ((int)(sizeof integers / sizeof *integers))

/* Values of either half of the type's range; `negative`: of either sign. */
static FtB_Matrix large_values(rng *r, FtB_Type type, bool negative)
{
    FtB_Matrix A = rng_matrix(r, type, 12 + rng_below(r, 20), 2 + rng_below(r, 12), 1, 0.6);
    int bits = ftb_type_bits(type) - (type <= FTB_INT64);
    for (int64_t e = 0; e < A->pattern->nvals; e++) {
        uint64_t x = 1 + rng_bits(r) % (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
        x = negative && type <= FTB_INT64 && rng_below(r, 2) ? 0 - x : x;
        ftb_cast((char *)matrix_values(A) + (size_t)e * FtB_Type_size(type), type, &x, FTB_UINT64, 1);
    }
    return A;
}

/* C is `goal` to `tolerance` of each value, however small. */
static void check_closely(FtB_Matrix C, const ref_matrix *goal, double tolerance, const char *what)
{
    for (int64_t i = 0; i < goal->nrows; i++)
        for (int64_t j = 0; j < goal->ncols; j++) {
            double want = *ref_at(goal, i, j) ? ref_double(*ref_value(goal, i, j)) : NAN;
            double got = value_at(C, i, j, 0, (double)NAN);
            if (isnan(got) != isnan(want) || fabs(got - want) > tolerance * fabs(want) + 1e-300)
                fail_msg("%s: (%d, %d) is %.17g; expected %.17g", what, (int)i, (int)j, got, want);
        }
}

/* Weights whose definition takes values of either sign. */
static bool takes_negative(const char *name)
{
    static const char *const names[] = {"w1", "w2", "w1+w2", "w1/w2", "bottleneck", "msd"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (strcmp(names[n], name) == 0)
            return true;
    return false;
}

static void nothing_wraps(void **state)
{
    (void)state;
    rng r = rng_new();
    int count;
    const ftb_weight *weights = ftb_weights(&count);
    for (int t = 0; t < 2 * count * INTEGERS; t++) {
        const ftb_weight *w = &weights[t % count];
        FtB_Type type = integers[t / count % INTEGERS];
        if (w->unweighted)
            continue;
        FtB_Matrix R = large_values(&r, type, takes_negative(w->name)), C;
        bool rows = t / count >= INTEGERS;
        int64_t n = rows ? R->pattern->nrows : R->pattern->ncols;
        ref_matrix *dense = ref_read(R, false), *goal = expected(w->name, dense, rows, true);
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, n, n, 1));
        assert_ok(FtB_project(C, R, w->name,
                              FTB_PROJECT_OPTIONS(.onto = rows ? FTB_ROWS : FTB_COLS, .self_loops = true)));
        char what[128];
        snprintf(what, sizeof what, "%s of %s", w->name, FtB_Type_name(type));
        check_closely(C, goal, takes_negative(w->name) ? 1e-6 : 1e-9, what);
        ref_free(dense);
        ref_free(goal);
        FtB_Matrix_free(&R);
        FtB_Matrix_free(&C);
    }
}

static double figure(FtB_Matrix R, const char *weight, const char *epilogue, const char *key)
{
    FtB_Matrix C;
    FtB_Plan plan;
    double value = 0;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, R->pattern->ncols, R->pattern->ncols, 1));
    assert_ok(FtB_project_plan(&plan, C, R, weight, FTB_PROJECT_OPTIONS(.epilogue = epilogue), FTB_ESTIMATE));
    assert_ok(FtB_Plan_get(plan, key, &value));
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&C);
    return value;
}

/* A text keeps its types, and the plan says what may come of it. */
static void texts_are_told(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 1, 1}, J[] = {0, 1, 0, 1}, large[] = {4000000000, 3, 2, 3000000000};
    const int64_t small[] = {4, 3, -2, 3};
    FtB_Matrix R, S, C;
    FtB_Plan plan;
    char text[4096] = "";
    assert_ok(FtB_Matrix_build(&R, FTB_INT64, 2, 2, 1, 4, I, J, large, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_build(&S, FTB_INT64, 2, 2, 1, 4, I, J, small, FTB_DUP_ERROR, NULL));
    static const struct {
        const char *weight, *epilogue;
        double wraps, widened;
    } cases[] = {
        {"dot", NULL, 0, 1},
        {"cosine", NULL, 0, 1},
        {"w1+w2", NULL, 0, 0},
        {"w1", "h * h", 1, 0},
        {"count", "h * h", 0, 0},
        {"plus : a * b", NULL, 1, 0},
        {"plus : fp64(a) * b", NULL, 0, 0},
        {"max : a * b", NULL, 1, 0},
        {"min : min(a, b)", NULL, 0, 0},
        {"plus : idiv(a, b)", NULL, 0, 0},
        {"plus : int8(a) * b", NULL, 0, 0},
        {"plus : a / b", NULL, 0, 0},
        {"plus : a + b", NULL, 0, 0},
        {"times : a", NULL, 1, 0},
        {"mean : (a - b) * (a - b)", NULL, 1, 0},
        {"plus : [1, a, b]", "h1 * h0", 0, 0},
        {"plus : [1, a, b]", "h1 * h2", 1, 0},
        {"any : bitxor(a, b)", NULL, 0, 0},
        {"plus : abs(-a)", NULL, 0, 0},
        {"plus : relu(a) * 2", NULL, 0, 0},
        {"plus : ceil(-a) * relu(b)", NULL, 1, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (figure(R, cases[c].weight, cases[c].epilogue, "wraps") != cases[c].wraps ||
            figure(R, cases[c].weight, cases[c].epilogue, "widened") != cases[c].widened)
            fail_msg("%s, %s", cases[c].weight, cases[c].epilogue ? cases[c].epilogue : "no epilogue");
        assert_true(figure(S, cases[c].weight, cases[c].epilogue, "wraps") == 0);
        assert_true(figure(S, cases[c].weight, cases[c].epilogue, "widened") == 0);
    }
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 2, 2, 1));
    for (int named = 0; named < 2; named++) {
        FILE *file = fmemopen(text, sizeof text, "w");
        assert_ok(FtB_project_plan(&plan, C, R, named ? "dot" : "plus : a * b", NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_explain(plan, file));
        fclose(file);
        assert_non_null(strstr(text, named ? "carried as fp64" : "whole numbers of the messages may leave"));
        FtB_Plan_free(&plan);
    }
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&S);
}

/* Long tails and both ends, against sums of exact terms. */
static void hypergeometric_tail(void **state)
{
    (void)state;
    assert_true(fabs(ftb_hypergeom_sf(3, 10, 4, 5) - 66.0 / 252) < 1e-13);
    assert_true(ftb_hypergeom_sf(0, 10, 4, 5) == 1);
    assert_true(ftb_hypergeom_sf(5, 10, 4, 5) == 0);
    assert_true(ftb_hypergeom_sf(3, 5, 4, 4) == 1); /* no fewer than 3 are possible */
    assert_true(isnan(ftb_hypergeom_sf(1, 3, 4, 2)));
    /* P(X >= K) = 1 / C(N, K) where all K are drawn in K draws */
    assert_true(fabs(ftb_hypergeom_sf(5, 100, 5, 5) * 75287520 - 1) < 1e-11);
    /* symmetric in K and n, complementary around the middle of a symmetric case */
    assert_true(fabs(ftb_hypergeom_sf(300, 100000, 5000, 4000) / ftb_hypergeom_sf(300, 100000, 4000, 5000) -
                     1) < 1e-7);
    assert_true(fabs(ftb_hypergeom_sf(501, 2000, 1000, 1000) + ftb_hypergeom_sf(500, 2000, 1000, 1000) - 1) <
                1e-9);
}

/* ---- networkx 3.6: projections of Davis's Southern Women onto the women */

static const char *const davis[18] = {"xxxxxx.xx.....", "xxx.xxxx......", ".xxxxxxxx.....", "x.xxxxxx......",
                                      "..xxx.x.......", "..x.xx.x......", "....xxxx......", ".....x.xx.....",
                                      "....x.xxx.....", "......xxx..x..", ".......xxx.x..", ".......xxx.xxx",
                                      "......xxxx.xxx", ".....xx.xxxxxx", "......xx.xxx..", ".......xx.....",
                                      "........x.x...", "........x.x..."};
static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 8}, {3, 4}, {10, 13}, {16, 17}};
static const struct {
    const char *weight;
    double total; /* of the 139 edges */
    double pair[6];
} networkx[] = {
    {"count", 322, {6, 7, 3, 4, 3, 2}},
    {"ratio",
     23.000000000000004,
     {0.42857142857142855, 0.5, 0.21428571428571427, 0.2857142857142857, 0.21428571428571427,
      0.14285714285714285}},
    {"newman",
     44.49999999999998,
     {1.5626373626373624, 1.4868797868797867, 0.3106893106893107, 0.7873015873015873, 0.5409090909090909,
      0.4242424242424242}},
    {"jaccard",
     44.33015040515039,
     {0.6666666666666666, 0.7777777777777778, 0.3333333333333333, 0.5714285714285714, 0.3333333333333333, 1}},
    {"overlap", 85.6833333333333, {0.8571428571428571, 0.875, 0.75, 1, 0.75, 1}},
};

static void as_networkx(void **state)
{
    (void)state;
    int64_t I[89], J[89], count = 0;
    FtB_Matrix R, C;
    for (int64_t i = 0; i < 18; i++)
        for (int64_t j = 0; j < 14; j++)
            if (davis[i][j] == 'x') {
                I[count] = i;
                J[count++] = j;
            }
    assert_int_equal(count, 89);
    assert_ok(FtB_Matrix_build(&R, FTB_BOOL, 18, 14, 0, count, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (size_t t = 0; t < sizeof networkx / sizeof *networkx; t++) {
        double total;
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, 18, 18, 1));
        assert_ok(
            FtB_project(C, R, networkx[t].weight, FTB_PROJECT_OPTIONS(.onto = FTB_ROWS, .triangle = true)));
        assert_int_equal(C->pattern->nvals, 139);
        assert_ok(FtB_reduce_scalar(&total, FTB_FP64, "plus", C));
        assert_true(fabs(total - networkx[t].total) < 1e-12 * networkx[t].total);
        for (int p = 0; p < 6; p++) {
            double w = value_at(C, pairs[p][0], pairs[p][1], 0, -1);
            if (fabs(w - networkx[t].pair[p]) > 1e-14)
                fail_msg("%s of %d and %d: %.17g, networkx says %.17g", networkx[t].weight, pairs[p][0],
                         pairs[p][1], w, networkx[t].pair[p]);
        }
        FtB_Matrix_free(&C);
    }
    FtB_Matrix_free(&R);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_complete), cmocka_unit_test(closest),
        cmocka_unit_test(definitions),       cmocka_unit_test(nothing_wraps),
        cmocka_unit_test(texts_are_told),    cmocka_unit_test(hypergeometric_tail),
        cmocka_unit_test(as_networkx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
