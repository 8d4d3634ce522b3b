/* Attention in three steps (src/ops/attention_staged.c): the log of each row's sum of exponentials, which is
 * made of the row's greatest score, for rows of every length up to a few vectors; with NaN, and without any
 * weight. */
#include "support/check.h"

#include "core/core.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>

enum { ROWS = 130, COLS = 200 };

/* Row i has i + 1 entries. */
static FtB_Matrix triangle(FtB_Type type, rng *r)
{
    static int64_t rowptr[ROWS + 1];
    static int32_t column[ROWS * COLS];
    FtB_Matrix A, S;
    for (int64_t i = 0; i < ROWS; i++) {
        rowptr[i + 1] = rowptr[i] + i + 1;
        for (int64_t t = 0; t <= i; t++)
            column[rowptr[i] + t] = (int32_t)t;
    }
    assert_ok(FtB_Matrix_wrap_csr(&A, type, ROWS, COLS, 0, rowptr, column, NULL));
    assert_ok(FtB_Matrix_like(&S, A, 1, type));
    rng_reals(r, ftb_values(S), type, S->pattern->nvals);
    FtB_Matrix_free(&A);
    return S;
}

static void put(FtB_Matrix A, int64_t i, int64_t t, double x)
{
    ftb_cast((char *)ftb_values(A) + (size_t)(A->pattern->rowptr[i] + t) * FtB_Type_size(A->type), A->type,
             &x, FTB_FP64, 1);
}

static double expected(FtB_Matrix A, int64_t i)
{
    double most = -INFINITY, sum = 0;
    for (int64_t e = A->pattern->rowptr[i]; e < A->pattern->rowptr[i + 1]; e++) {
        const double x = ftb_get_real(ftb_values(A), A->type, e);
        most = isnan(x) ? x : fmax(most, x);
        if (isnan(most))
            return NAN;
    }
    for (int64_t e = A->pattern->rowptr[i]; e < A->pattern->rowptr[i + 1] && most > -INFINITY; e++)
        sum += exp(ftb_get_real(ftb_values(A), A->type, e) - most);
    return most + log(sum > 0 ? sum : 1);
}

static void peaks(void **state)
{
    (void)state;
    static const planned steps = {"staged", NULL, NULL};
    rng r = rng_new();
    for (int t = 0; t < 2; t++) {
        const FtB_Type type = t ? FTB_FP64 : FTB_FP32;
        FtB_Matrix A = triangle(type, &r);
        FtB_Block V, C, lse, Q;
        FtB_Plan plan;
        FtB_Descriptor desc;
        assert_ok(FtB_Block_new(&V, COLS, 1, type));
        assert_ok(FtB_Block_new(&Q, ROWS, 1, type));
        assert_ok(FtB_Block_new(&C, ROWS, 1, type));
        assert_ok(FtB_Block_new(&lse, ROWS, 1, type));
        for (int64_t i = 40; i < ROWS; i++) /* a score beside which no other weighs anything: last, in a
                                               vector's last lane, or anywhere */
            put(A, i, i % 3 == 0 ? i : i % 3 == 1 ? 31 : rng_below(&r, i + 1), 300);
        for (int64_t i = 40; i < ROWS; i += 7)
            put(A, i, i % 3 == 0 ? 0 : i % 3 == 1 ? i : rng_below(&r, i + 1), NAN);
        for (int64_t i = 42; i < ROWS; i += 14)
            for (int64_t at = 0; at <= i; at++)
                put(A, i, at, -INFINITY);
        assert_ok(FtB_attention_plan(&plan, C, A, NULL, "plus : edge", Q, V, V,
                                     FTB_ATTENTION_OPTIONS(.lse = lse), NULL, FTB_ESTIMATE));
        assert_ok(planned_force(plan, &steps));
        assert_true(planned_figure(plan, "staged") > 0);
        assert_ok(planned_descriptor(&desc, NULL, plan));
        assert_ok(FtB_attention(C, A, NULL, "plus : edge", Q, V, V, FTB_ATTENTION_OPTIONS(.lse = lse), desc));
        assert_ok(ftb_buffer_ask(lse->owner, FTB_READ));
        for (int64_t i = 0; i < ROWS; i++) {
            const double x = ftb_get_real(ftb_block_data(lse), type, i * lse->ld), goal = expected(A, i);
            if (!(x == goal || fabs(x - goal) <= 2e-6 * fmax(1, fabs(goal)) || (isnan(x) && isnan(goal))))
                fail_msg("%s, row %d: %.9g, expected %.9g", FtB_Type_name(type), (int)i, x, goal);
        }
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        FtB_Block *const blocks[] = {&V, &Q, &C, &lse};
        for (int n = 0; n < 4; n++)
            FtB_Block_free(blocks[n]);
        FtB_Matrix_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(peaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
