/* One product in many forms: forms leave the product as it is and each other alone, so that every plan gives
 * the same bits whatever ran before it; measuring keeps what was forced and all memory.
 * Labels: property */
#include "support/check.h"

#include "core/core.h"
#include "ops/plan_object.h"
#include "ops/spgemm/spgemm.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <stdlib.h>

#define ROWS 12
#define COLS 530 /* more than a line of hot columns */
#define FORMS 20

static FtB_Matrix ratings(rng *r, FtB_Type type)
{
    FtB_Matrix R = rng_matrix(r, type, ROWS, COLS, 1, 0.3);
    for (int64_t e = 0; e < R->pattern->nvals; e++) {
        double x = (double)(1 + rng_below(r, 8)) / (ftb_type_float(type) ? 8 : 1);
        ftb_cast((char *)matrix_values(R) + (size_t)e * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
    return R;
}

/* Counts, factors, look-ups that are symmetric and not, packed sums, products, programs. */
static const char *const weights[] = {"plus : 1",
                                      "plus : a * b",
                                      "plus : (a - b) * (a - b)",
                                      "plus : a / b",
                                      "plus : [1, a, b, a * b]",
                                      "min : a + b",
                                      "plus : a * b + i - j",
                                      "mean : a",
                                      "plus : a * b / (di + dj)"};
#define WEIGHTS ((int)(sizeof weights / sizeof weights[0]))

static const char *const choices[][6] = {
    {"hot", "512", "cross", "0"},
    {"hot", "512", "cross", "1"},
    {"hot", "0", "relabel", "0"},
    {"hot", "0", "relabel", "1"},
    {"accumulator", "hash"},
    {"accumulator", "list", "ids", "32"},
    {"accumulator", "dense"},
    {"triangle", "0"},
    {"triangle", "1", "mirror", "1", "hot", "0"},
    {"hot", "512", "triangle", "0"},
};
#define CHOICES ((int)(sizeof choices / sizeof choices[0]))

/* ---- forms of one product */

static ftb_spgemm_product *product_of(FtB_Matrix R, const char *text)
{
    ftb_spgemm_product *product;
    FtB_Semiring s;
    assert_ok(ftb_arg_semiring(&s, FTB_ARG(text), "semiring"));
    assert_ok(ftb_product_new(&product, ftb_context(), &s, R, true, R, false, FTB_LISTED_NONE));
    assert_ok(ftb_product_message(product, NULL, NULL, NULL, false));
    assert_ok(ftb_finish_compile(&product->finish, product, NULL, NULL));
    assert_ok(ftb_product_plan(product, NULL, true));
    return product;
}

/* The upper triangle, row after row: columns and bytes of values. */
typedef struct result {
    int64_t count;
    int32_t cols[COLS * COLS];
    char values[COLS * COLS * 32];
} result;

static void run_form(result *out, const ftb_spgemm_product *product, const ftb_spgemm_plan *plan)
{
    static int32_t cols[COLS + FTB_SWEEP_ROOM];
    ftb_spgemm_form *form;
    ftb_worker *w;
    size_t value = FtB_Type_size(product->sum_type) * (size_t)product->width;
    assert_ok(ftb_spgemm_form_new(&form, product, plan));
    assert_ok(ftb_worker_new(&w, form));
    out->count = 0;
    for (int64_t i = 0; i < COLS; i++) {
        int64_t n = ftb_worker_row(w, i, cols, w->h);
        for (int64_t t = 0; t < n; t++) {
            if (cols[t] < i)
                continue;
            out->cols[out->count] = cols[t];
            memcpy(out->values + (size_t)out->count * value,
                   (char *)w->h + (size_t)t * value * (form->dual ? 2 : 1), value);
            out->count++;
        }
    }
    ftb_worker_delete(w);
    ftb_spgemm_form_delete(form);
}

static void forms_leave_no_trace(void **state)
{
    (void)state;
    rng r = rng_new();
    result *first = malloc(sizeof *first), *other = malloc(sizeof *other);
    for (int t = 0; t < 2; t++) {
        FtB_Matrix R = ratings(&r, t ? FTB_FP32 : FTB_INT32);
        for (int w = 0; w < WEIGHTS; w++) {
            ftb_spgemm_product *product = product_of(R, weights[w]), before;
            size_t bytes = FtB_Type_size(product->sum_type) * (size_t)product->width;
            memcpy(&before, product, sizeof before);
            run_form(first, product, &product->plan);
            int64_t memory, now;
            assert_ok(FtB_Context_memory(NULL, &memory, NULL));
            for (int n = 0; n < rng_cases(FORMS); n++) {
                const char *const *choice = choices[rng_below(&r, CHOICES)];
                ftb_spgemm_plan plan = product->plan;
                for (int c = 0; c < 6 && choice[c]; c += 2)
                    assert_null(ftb_spgemm_plan_set(&plan, choice[c], choice[c + 1]));
                assert_true(ftb_rule_spgemm(&plan, &product->facts, ftb_machine_here()));
                run_form(other, product, &plan);
                if (other->count != first->count ||
                    memcmp(other->cols, first->cols, (size_t)first->count * sizeof *first->cols) != 0 ||
                    memcmp(other->values, first->values, (size_t)first->count * bytes) != 0)
                    fail_msg("%s, %s = %s: other bits", weights[w], choice[0], choice[1]);
                assert_memory_equal(&before, product, sizeof before);
            }
            assert_ok(FtB_Context_memory(NULL, &now, NULL));
            assert_int_equal(now, memory);
            ftb_product_delete(product);
        }
        FtB_Matrix_free(&R);
    }
    free(first);
    free(other);
}

/* ---- measuring */

static void measure(FtB_Plan *plan, FtB_Matrix C, FtB_Matrix R, const char *weight, bool triangle,
                    FtB_Plan given)
{
    assert_ok(FtB_project_plan(plan, C, R, weight, FTB_PROJECT_OPTIONS(.triangle = triangle, .plan = given),
                               FTB_MEASURE));
}

static void measured_plans(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix R[2] = {ratings(&r, FTB_INT32), ratings(&r, FTB_FP32)};
    for (int t = 0; t < 2 * WEIGHTS; t++) {
        const char *weight = weights[t / 2];
        FtB_Matrix A = R[(t + t / 2) % 2], C, D;
        FtB_Plan forced, plan;
        bool triangle = t % 2;
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, COLS, COLS, t / 2 == 4 ? 4 : 1));
        assert_ok(FtB_Matrix_dup(&D, C));
        assert_ok(FtB_project(C, A, weight, FTB_PROJECT_OPTIONS(.triangle = triangle)));
        for (int c = t % 3 - 1; c < CHOICES; c += 3) {
            double before, after;
            assert_ok(FtB_project_plan(&forced, D, A, weight, FTB_PROJECT_OPTIONS(.triangle = triangle),
                                       FTB_ESTIMATE));
            for (int k = 0; c >= 0 && k < 6 && choices[c][k]; k += 2)
                assert_ok(FtB_Plan_set(forced, choices[c][k], choices[c][k + 1]));
            measure(&plan, D, A, weight, triangle, forced);
            const char *const keys[] = {"hot", "relabel", "triangle"};
            for (int k = 0; c >= 0 && k < 3; k++) {
                assert_ok(FtB_Plan_get(forced, keys[k], &before));
                assert_ok(FtB_Plan_get(plan, keys[k], &after));
                for (int s = 0; s < 6 && choices[c][s]; s += 2)
                    if (strcmp(choices[c][s], keys[k]) == 0)
                        assert_true(before == after);
            }
            assert_int_equal(D->pattern->nvals, 0);
            assert_ok(FtB_project(D, A, weight, FTB_PROJECT_OPTIONS(.triangle = triangle, .plan = plan)));
            assert_same(C, D);
            FtB_Matrix_free(&D);
            assert_ok(FtB_Matrix_new(&D, FTB_FP64, COLS, COLS, t / 2 == 4 ? 4 : 1));
            FtB_Plan_free(&forced);
            FtB_Plan_free(&plan);
        }
        FtB_Matrix_free(&C);
        FtB_Matrix_free(&D);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&R[0]);
    FtB_Matrix_free(&R[1]);
}

/* Hot columns are named anew: who forbids the one does not get the other. */
static void contradictions(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix R = ratings(&r, FTB_INT32), C;
    FtB_Plan plan;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, COLS, COLS, 1));
    assert_ok(FtB_project_plan(&plan, C, R, "plus : 1", NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "relabel", "0"));
    assert_fails(GrB_INVALID_VALUE, "expected 0, since", FtB_Plan_set(plan, "hot", "512"));
    assert_ok(FtB_Plan_set(plan, "relabel", "1"));
    assert_ok(FtB_Plan_set(plan, "hot", "512"));
    assert_fails(GrB_INVALID_VALUE, "expected 1, since", FtB_Plan_set(plan, "relabel", "0"));
    assert_true(planned_figure(plan, "hot") == 512 && planned_figure(plan, "relabel") == 1);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
}

static GrB_Info call(void *arg)
{
    static int64_t I[6 * 520], J[6 * 520];
    static float x[6 * 520];
    FtB_Matrix R = NULL, C = NULL;
    FtB_Plan plan = NULL, measured = NULL;
    const char *const *weight = arg;
    GrB_Info info;
    for (int64_t e = 0; e < 6 * 520; e++) {
        I[e] = e / 520;
        J[e] = e % 520;
        x[e] = (float)(1 + e % 5);
    }
    if ((info = FtB_Matrix_build(&R, FTB_FP32, 6, 520, 1, 6 * 520, I, J, x, FTB_DUP_ERROR, NULL)) ==
            GrB_SUCCESS &&
        (info = FtB_Matrix_new(&C, FTB_FP64, 520, 520, 1)) == GrB_SUCCESS &&
        (info = FtB_project_plan(&plan, C, R, *weight, FTB_PROJECT_OPTIONS(.triangle = true),
                                 FTB_ESTIMATE)) == GrB_SUCCESS &&
        (info = FtB_Plan_set(plan, "hot", "512")) == GrB_SUCCESS)
        info = FtB_project_plan(&measured, C, R, *weight, FTB_PROJECT_OPTIONS(.triangle = true, .plan = plan),
                                FTB_MEASURE);
    FtB_Plan_free(&plan);
    FtB_Plan_free(&measured);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++) {
        const char *weight = weights[w];
        fail_every_allocation(call, NULL, &weight);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_leave_no_trace),
        cmocka_unit_test(measured_plans),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
