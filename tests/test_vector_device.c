/* Vectors beside a device: they live on the host, and what they meet is brought home when it is read. Blocks
 * and values of matrices are on a device that does not exist (support/pretend.h) alone; results are those of
 * the host. */
#include "support/check.h"

#include "core/core.h"
#include "support/planned.h"
#include "support/pretend.h"
#include "support/some_vectors.h"

enum { N = 60 };

/* What calls are made of, the same each time. */
typedef struct operands {
    FtB_Matrix A, B;
    FtB_Block X, Y;
    FtB_Vector u, w;
} operands;

static operands make(bool there)
{
    rng r = {9};
    operands o = {.A = rng_matrix(&r, FTB_FP32, N, N, 1, 0.2), .B = rng_matrix(&r, FTB_FP32, N, N, 1, 0.2)};
    float *x;
    assert_ok(FtB_Block_new(&o.X, N, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&o.Y, N, 1, FTB_FP32));
    x = block_values(o.X);
    for (int i = 0; i < N; i++)
        x[i] = (float)rng_unit(&r);
    o.X->owner->lent = false; /* nobody has the address any longer */
    o.u = rng_vector(&r, FTB_FP32, N, 0.4);
    o.w = rng_vector(&r, FTB_FP32, N, 0.4);
    if (there) {
        pretend_send(o.A->values);
        pretend_send(o.B->values);
        pretend_send(o.X->owner);
        pretend_send(o.Y->owner);
    }
    return o;
}

static void clear(operands *o)
{
    FtB_Matrix_free(&o->A);
    FtB_Matrix_free(&o->B);
    FtB_Block_free(&o->X);
    FtB_Block_free(&o->Y);
    FtB_Vector_free(&o->u);
    FtB_Vector_free(&o->w);
}

static void to_and_from_blocks(operands *o)
{
    FtB_Vector_free(&o->w);
    assert_ok(FtB_Vector_from_block(&o->w, o->X));
    assert_ok(FtB_Vector_to_block(o->Y, o->u, 3));
    FtB_Vector_free(&o->u);
    assert_ok(FtB_Vector_from_block(&o->u, o->Y));
}

static void column(operands *o) { assert_ok(FtB_mxv(o->w, NULL, "x + y", "plus : a * b", o->A, o->u, NULL)); }

static void row(operands *o) { assert_ok(FtB_vxm(o->w, NULL, NULL, "min : a + b", o->u, o->A, NULL)); }

static void full(operands *o)
{
    assert_ok(FtB_Vector_from_block(&o->u, (FtB_Vector_free(&o->u), o->X)));
    assert_ok(FtB_mxv(o->w, NULL, NULL, FTB_PLUS_TIMES, o->A, o->u, NULL));
}

static void bound(operands *o)
{
    FtB_Semiring s, with;
    assert_ok(FtB_Semiring_new(&s, "plus : a * b * norm[i]"));
    assert_ok(FtB_Semiring_bind(&with, s, FTB_BIND("norm", o->X)));
    assert_ok(FtB_mxv(o->w, NULL, NULL, with, o->A, o->u, NULL));
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&with);
}

static void extracts(operands *o)
{
    const int64_t at = 5;
    assert_ok(FtB_extract(o->w, NULL, "x + y", o->A, NULL, FtB_Ids_of(&at, 1), NULL));
    assert_ok(FtB_extract(o->B, o->A, "x + y", o->A, NULL, NULL, NULL));
    assert_ok(FtB_extract(o->u, NULL, NULL, o->B, FtB_Ids_of(&at, 1), NULL, NULL));
}

static void assigns(operands *o)
{
    const int64_t at = 5;
    assert_ok(FtB_assign(o->A, o->w, "x + y", o->u, FtB_Ids_of(&at, 1), NULL, NULL));
    assert_ok(FtB_assign(o->B, o->A, NULL, o->A, NULL, NULL, NULL));
    assert_ok(FtB_assign(o->B, o->B, "x * y", 3, NULL, FtB_Ids_of(&at, 1), NULL));
    assert_ok(FtB_mxv(o->w, NULL, NULL, "plus : a * b", o->B, o->u, NULL));
}

static void transposes(operands *o)
{
    assert_ok(FtB_transpose(o->B, o->A, "x + y", o->A, NULL));
    assert_ok(FtB_mxv(o->w, NULL, NULL, "plus : a * b", o->B, o->u, NULL));
}

static void reduces(operands *o)
{
    float sum;
    assert_ok(FtB_reduce(o->w, NULL, "x + y", "plus", o->A, FTB_DESC_T0));
    assert_ok(FtB_reduce_scalar(&sum, FTB_FP32, "plus", o->w));
    FtB_Op op, with;
    assert_ok(FtB_Op_new(&op, "x + shift[i]"));
    assert_ok(FtB_Op_bind(&with, op, FTB_BIND("shift", o->X)));
    assert_ok(FtB_apply(o->u, NULL, NULL, with, o->w, NULL));
    FtB_Op_free(&op);
    FtB_Op_free(&with);
}

static void (*const calls[])(operands *) = {to_and_from_blocks, column,  row,        full,   bound,
                                            extracts,           assigns, transposes, reduces};

static void same_results(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        operands here = make(false), there = make(true);
        calls[c](&here);
        calls[c](&there);
        assert_valid_vector(there.w);
        assert_same_vector(there.w, here.w);
        assert_same_vector(there.u, here.u);
        clear(&here);
        clear(&there);
    }
}

static void plans_move_nothing(void **state)
{
    (void)state;
    operands o = make(true);
    int64_t home[2], away[2];
    FtB_Plan plan;
    assert_ok(FtB_Context_moved(NULL, &home[0], &away[0]));
    assert_ok(FtB_mxm_plan(&plan, o.w, NULL, NULL, "plus : a * b", o.A, o.u, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Context_moved(NULL, &home[1], &away[1]));
    assert_int_equal(home[0], home[1]);
    assert_int_equal(away[0], away[1]);
    assert_plan_says(plan, "the host does it");
    assert_true(planned_figure(plan, "moved_bytes") == (double)(4 * o.A->pattern->nvals));
    assert_true(planned_figure(plan, "on_host") == 1);
    FtB_Plan_free(&plan);
    clear(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_results, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(plans_move_nothing, pretend_setup, pretend_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
