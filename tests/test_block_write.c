/* The write rule on blocks, row masks, casts of whole blocks, and what shares memory with what. */
#include "support/check.h"

#include "ops/block/block_map.h"
#include "oracle/ref_block.h"
#include "support/fail_alloc.h"

#include <stdlib.h>

static ftb_flags flags_of(const ref_flags *f, double fill)
{
    return (ftb_flags){
        .structural = f->structural, .complement = f->complement, .replace = f->replace, .fill = fill};
}

static void random_case(rng *r, int64_t nrows, int64_t ncols)
{
    ref_flags ref = ref_flags_of((int)rng_below(r, REF_FLAGS));
    double fill = (double)rng_below(r, 3);
    ftb_flags flags = flags_of(&ref, fill);
    FtB_Block C = ref_block_random(r, rng_type(r), nrows, ncols), M = NULL;
    FtB_Block T = ref_block_random(r, rng_type(r), nrows, ncols);
    if (rng_below(r, 2))
        M = ref_block_random(r, rng_type(r), nrows, 1);
    const ref_op *op = rng_below(r, 2) ? ref_op_of((int)rng_below(r, ref_ops())) : NULL;
    FtB_Op accum = NULL;
    assert_ok(ftb_arg_op(&accum, ref_op_arg(op), "accum", true));
    int64_t *rowptr = calloc((size_t)nrows + 1, sizeof *rowptr);
    bool *present = calloc((size_t)nrows + 1, sizeof *present), partial = rng_below(r, 2);
    for (int64_t i = 0; i < nrows; i++) {
        present[i] = !partial || rng_below(r, 3) > 0;
        rowptr[i + 1] = rowptr[i] + (present[i] ? 2 : 0);
    }
    FtB_Type compute = ftb_type_compute(T->type);
    void *copy;
    const void *values;
    int64_t ld;
    assert_ok(ftb_block_as(&values, &ld, &copy, T, compute));
    ref_block *old = ref_block_read(C), *mask = ref_block_read(M), *result = ref_block_read(T);
    void *before = ref_block_snapshot(C);
    assert_ok(ftb_block_write_check(C, M, &flags, accum, nrows, ncols, compute));
    assert_ok(ftb_block_write(C, M, &flags, accum, (void *)(uintptr_t)values, compute, ld,
                              partial ? rowptr : NULL));
    ref_block_check(C, ref_block_write(old, mask, &ref, fill, op, result, present), before, 0, "write");
    ref_block_free(old);
    ref_block_free(mask);
    ref_block_free(result);
    ftb_delete(copy);
    free(rowptr);
    free(present);
    FtB_Op_free(&accum);
    FtB_Block_free(&C);
    FtB_Block_free(&M);
    FtB_Block_free(&T);
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 800; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r, ref_block_dimension(&r), ref_block_dimension(&r));
    }
    for (int t = 0; t < 20; t++) /* rows of more than a piece */
        random_case(&r, 1 + rng_below(&r, 5), FTB_BLOCK_PIECE - 1 + rng_below(&r, 2 * FTB_BLOCK_PIECE));
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* The accumulator may look at whole rows, also at long ones. */
static void accumulators_of_rows(void **state)
{
    (void)state;
    const int64_t lengths[] = {1, 3, 300, FTB_BLOCK_PIECE + 1};
    for (int n = 0; n < 4; n++) {
        int64_t ncols = lengths[n];
        FtB_Block C, T;
        FtB_Op accum;
        const ftb_flags flags = {0};
        assert_ok(FtB_Block_new(&C, 3, ncols, FTB_FP64));
        assert_ok(FtB_Block_new(&T, 3, ncols, FTB_FP64));
        double *c = block_values(C), *t = block_values(T);
        for (int64_t e = 0; e < 3 * ncols; e++) {
            c[e] = 1;
            t[e] = (double)(e / ncols + 1);
        }
        assert_ok(FtB_Op_new(&accum, "x + sum(y) + i"));
        assert_ok(ftb_block_write(C, NULL, &flags, accum, t, FTB_FP64, ncols, NULL));
        for (int64_t e = 0; e < 3 * ncols; e++)
            assert_true(c[e] == 1 + t[e] * (double)ncols + (double)(e / ncols));
        FtB_Op_free(&accum);
        FtB_Block_free(&C);
        FtB_Block_free(&T);
    }
}

static void rows_of_masks(void **state)
{
    (void)state;
    int8_t mask[] = {0, 9, 2, 9, 0, 9, -1, 9};
    const int64_t goals[2][2] = {{1, 3}, {0, 2}};
    FtB_Block M;
    int64_t *rows, count;
    assert_ok(FtB_Block_wrap(&M, mask, 4, 1, 2, FTB_INT8));
    for (int complement = 0; complement < 2; complement++) {
        ftb_flags flags = {.complement = complement};
        assert_ok(ftb_block_rows(&rows, &count, M, &flags, 4));
        assert_int_equal(count, 2);
        assert_memory_equal(rows, goals[complement], sizeof goals[0]);
        ftb_delete(rows);
        assert_ok(ftb_block_rows(&rows, &count, NULL, &flags, 4));
        assert_int_equal(count, complement ? 0 : 4);
        assert_true((rows != NULL) == complement);
        ftb_delete(rows);
        flags.structural = true;
        assert_ok(ftb_block_rows(&rows, &count, M, &flags, 4));
        assert_int_equal(count, complement ? 0 : 4);
        ftb_delete(rows);
        assert_fails(GrB_DIMENSION_MISMATCH, "M is 4 x 1; expected 5 x 1",
                     ftb_block_rows(&rows, &count, M, &flags, 5));
    }
    FtB_Block_free(&M);
}

/* The mask may be a column of the output. */
static void mask_inside_output(void **state)
{
    (void)state;
    float values[] = {1, 2, 0, 3, 5, 0}, T[] = {0, 10, 0, 20, 0, 30};
    const float goal[] = {0, 10, 0, 3, 0, 30};
    FtB_Block C, M;
    const ftb_flags flags = {0};
    assert_ok(FtB_Block_wrap(&C, values, 3, 2, 2, FTB_FP32));
    assert_ok(FtB_Block_columns(&M, C, 0, 1));
    assert_ok(ftb_block_write(C, M, &flags, NULL, T, FTB_FP32, 2, NULL));
    assert_memory_equal(values, goal, sizeof goal);
    FtB_Block_free(&C);
    FtB_Block_free(&M);
}

static void aliases(void **state)
{
    (void)state;
    FtB_Block X, left, right, middle, top, heads;
    assert_ok(FtB_Block_new(&X, 6, 8, FTB_FP32));
    assert_ok(FtB_Block_columns(&left, X, 0, 4));
    assert_ok(FtB_Block_columns(&right, X, 4, 4));
    assert_ok(FtB_Block_columns(&middle, X, 2, 4));
    assert_ok(FtB_Block_wrap(&top, block_values(X), 3, 8, 8, FTB_FP32));
    assert_ok(FtB_Block_heads(&heads, X, 2));
    assert_int_equal(ftb_block_alias(left, right), FTB_ALIAS_NONE);
    assert_int_equal(ftb_block_alias(right, left), FTB_ALIAS_NONE);
    assert_int_equal(ftb_block_alias(left, middle), FTB_ALIAS_OTHER);
    assert_int_equal(ftb_block_alias(middle, left), FTB_ALIAS_OTHER);
    assert_int_equal(ftb_block_alias(X, X), FTB_ALIAS_SAME);
    assert_int_equal(ftb_block_alias(X, heads), FTB_ALIAS_SAME);
    assert_int_equal(ftb_block_alias(X, left), FTB_ALIAS_OTHER);
    assert_int_equal(ftb_block_alias(X, top), FTB_ALIAS_OTHER);
    assert_true(ftb_block_overlaps(X, (char *)block_values(X) + 191, 1));
    assert_false(ftb_block_overlaps(X, (char *)block_values(X) + 192, 1));
    assert_false(ftb_block_overlaps(X, block_values(X), 0));
    FtB_Block *const all[] = {&X, &left, &right, &middle, &top, &heads};
    for (int b = 0; b < 6; b++)
        FtB_Block_free(all[b]);
}

/* The accumulator's bound blocks may be the output itself. */
static void bound_output(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    FtB_Block C, T;
    FtB_Op op, accum;
    const ftb_flags flags = {0};
    assert_ok(FtB_Block_new(&C, ROWS, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&T, ROWS, 2, FTB_FP32));
    float *c = block_values(C), *t = block_values(T);
    for (int e = 0; e < 2 * ROWS; e++) {
        c[e] = (float)(e % 7);
        t[e] = (float)(e % 5);
    }
    assert_ok(FtB_Op_new(&op, "x + y * w[i]"));
    assert_ok(FtB_Op_bind(&accum, op, FTB_BIND("w", C)));
    assert_ok(ftb_block_write(C, NULL, &flags, accum, t, FTB_FP32, 2, NULL));
    for (int e = 0; e < 2 * ROWS; e++)
        assert_true(c[e] == (float)(e % 7) * (float)(1 + e % 5));
    FtB_Op_free(&op);
    FtB_Op_free(&accum);
    FtB_Block_free(&C);
    FtB_Block_free(&T);
}

static void refusals(void **state)
{
    (void)state;
    const float fixed[6] = {0};
    FtB_Block C, K;
    FtB_Op sum, norm;
    FtB_Op bound;
    const ftb_flags flags = {0};
    assert_ok(FtB_Block_new(&C, 3, 2, FTB_FP32));
    assert_ok(FtB_Block_wrap_const(&K, fixed, 3, 2, 2, FTB_FP32));
    assert_ok(FtB_Op_new(&sum, "sum(x)"));
    assert_ok(FtB_Op_new(&norm, "x + n[i]"));
    FtB_Block few;
    assert_ok(FtB_Block_new(&few, 2, 2, FTB_FP32));
    assert_ok(FtB_Op_bind(&bound, norm, FTB_BIND("n", few)));
    assert_fails(GrB_INVALID_VALUE, "must not be written",
                 ftb_block_write_check(K, NULL, &flags, NULL, 3, 2, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "the output is 3 x 2; expected 3 x 4",
                 ftb_block_write_check(C, NULL, &flags, NULL, 3, 4, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "M is 3 x 2",
                 ftb_block_write_check(C, K, &flags, NULL, 3, 2, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "accum: makes 1",
                 ftb_block_write_check(C, NULL, &flags, sum, 3, 2, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "has 2 rows",
                 ftb_block_write_check(C, NULL, &flags, bound, 3, 2, FTB_FP32));
    FtB_Op_free(&sum);
    FtB_Op_free(&norm);
    FtB_Op_free(&bound);
    FtB_Block_free(&few);
    FtB_Block_free(&C);
    FtB_Block_free(&K);
}

static GrB_Info call(void *arg)
{
    float T[6] = {1, 2, 3, 4, 5, 6};
    FtB_Block C = arg, M = NULL;
    FtB_Op accum = NULL;
    const ftb_flags flags = {.complement = true};
    GrB_Info info = FtB_Block_new(&M, 3, 1, FTB_INT32);
    if (info == GrB_SUCCESS)
        info = ftb_arg_op(&accum, FTB_ARG("x + y"), "accum", true);
    if (info == GrB_SUCCESS)
        info = ftb_block_write_check(C, M, &flags, accum, 3, 2, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = ftb_block_write(C, M, &flags, accum, T, FTB_FP32, 2, NULL);
    FtB_Op_free(&accum);
    FtB_Block_free(&M);
    return info;
}

static void untouched(void *arg)
{
    FtB_Block C = arg;
    for (int e = 0; e < 6; e++)
        assert_true(ftb_get_real(block_values(C), C->type, e) == 0);
}

static void failing_allocations(void **state)
{
    (void)state;
    FtB_Block C;
    assert_ok(FtB_Block_new(&C, 3, 2, FTB_BF16));
    fail_every_allocation(call, untouched, C);
    FtB_Block_free(&C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),  cmocka_unit_test(accumulators_of_rows),
        cmocka_unit_test(rows_of_masks), cmocka_unit_test(mask_inside_output),
        cmocka_unit_test(aliases),       cmocka_unit_test(bound_output),
        cmocka_unit_test(refusals),      cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
