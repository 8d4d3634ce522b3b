/* Attention in three steps (src/ops/attention_staged.c): the log of each row's sum of exponentials, which is
 * made of the row's greatest score, for rows of every length up to a few vectors; with NaN, and without any
 * weight. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>

enum { ROWS = 130, COLS = 200 };

/* Row i has i + 1 entries, of `heads` scores each. */
static FtB_Matrix triangle(FtB_Type type, int64_t heads, rng *r)
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
    assert_ok(FtB_Matrix_like(&S, A, heads, type));
    rng_reals(r, ftb_values(S), type, S->pattern->nvals * heads);
    FtB_Matrix_free(&A);
    return S;
}

static int64_t place(FtB_Matrix A, int64_t i, int64_t t, int64_t head)
{
    return (A->pattern->rowptr[i] + t) * A->width + head;
}

static void put(FtB_Matrix A, int64_t i, int64_t t, int64_t head, double x)
{
    ftb_cast((char *)ftb_values(A) + (size_t)place(A, i, t, head) * FtB_Type_size(A->type), A->type, &x,
             FTB_FP64, 1);
}

/* A score beside which no other weighs anything: last, in a vector's last lane, or anywhere; NaN in the first
 * place, the last, or anywhere; nothing but -infinity. */
static void make_special(FtB_Matrix A, int64_t head, rng *r)
{
    for (int64_t i = 40; i < ROWS; i++)
        put(A, i, i % 3 == 0 ? i : i % 3 == 1 ? 31 : rng_below(r, i + 1), head, 300);
    for (int64_t i = 40 + head; i < ROWS; i += 7)
        put(A, i, i % 3 == 0 ? 0 : i % 3 == 1 ? i : rng_below(r, i + 1), head, NAN);
    for (int64_t i = 2 + head; i < ROWS; i += 14)
        for (int64_t at = 0; at <= i; at++)
            put(A, i, at, head, -INFINITY);
    put(A, 2 + head, head, head, NAN);
}

static double expected(FtB_Matrix A, int64_t i, int64_t head)
{
    double most = -INFINITY, sum = 0;
    for (int64_t t = 0; t <= i; t++) {
        const double x = ftb_get_real(ftb_values(A), A->type, place(A, i, t, head));
        if (isnan(x))
            return NAN;
        most = fmax(most, x);
    }
    for (int64_t t = 0; t <= i && most > -INFINITY; t++)
        sum += exp(ftb_get_real(ftb_values(A), A->type, place(A, i, t, head)) - most);
    return most + log(sum > 0 ? sum : 1);
}

static FtB_Block with_heads(FtB_Type type, int64_t nrows, int64_t heads)
{
    FtB_Block whole, X;
    assert_ok(FtB_Block_new(&whole, nrows, heads, type));
    assert_ok(FtB_Block_heads(&X, whole, heads));
    FtB_Block_free(&whole);
    return X;
}

static void attend(FtB_Matrix A, FtB_Block lse)
{
    static const planned steps = {"staged", NULL, NULL};
    FtB_Block V = with_heads(A->type, COLS, A->width), C = with_heads(A->type, ROWS, A->width),
              Q = with_heads(A->type, ROWS, A->width);
    FtB_Plan plan;
    FtB_Descriptor desc;
    const FtB_Attention_options *options = FTB_ATTENTION_OPTIONS(.lse = lse);
    assert_ok(FtB_attention_plan(&plan, C, A, NULL, "plus : edge", Q, V, V, options, NULL, FTB_ESTIMATE));
    assert_ok(planned_force(plan, &steps));
    assert_true(planned_figure(plan, "staged") > 0);
    assert_ok(planned_descriptor(&desc, NULL, plan));
    assert_ok(FtB_attention(C, A, NULL, "plus : edge", Q, V, V, options, desc));
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    FtB_Block_free(&V);
    FtB_Block_free(&C);
    FtB_Block_free(&Q);
}

static void check_lse(FtB_Type type, int64_t heads, rng *r)
{
    FtB_Matrix A = triangle(type, heads, r);
    FtB_Block lse;
    assert_ok(FtB_Block_new(&lse, ROWS, heads, type));
    for (int64_t h = 0; h < heads; h++)
        make_special(A, h, r);
    attend(A, lse);
    assert_ok(ftb_buffer_ask(lse->owner, FTB_READ));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t h = 0; h < heads; h++) {
            const double x = ftb_get_real(ftb_block_data(lse), type, i * lse->ld + h),
                         goal = expected(A, i, h);
            if (!(x == goal || fabs(x - goal) <= 2e-6 * fmax(1, fabs(goal)) || (isnan(x) && isnan(goal))))
                fail_msg("%s, %d heads, row %d, head %d: %.9g, expected %.9g", FtB_Type_name(type),
                         (int)heads, (int)i, (int)h, x, goal);
        }
    FtB_Block_free(&lse);
    FtB_Matrix_free(&A);
}

static void log_of_sums(void **state)
{
    (void)state;
    static const int64_t heads[] = {1, 3, 4, 8, 20};
    rng r = rng_new();
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        ftb_isa_force(isa);
        for (int t = 0; t < 5; t++) {
            check_lse(FTB_FP32, heads[t], &r);
            check_lse(FTB_FP64, heads[t], &r);
        }
    }
    ftb_isa_force(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(log_of_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
