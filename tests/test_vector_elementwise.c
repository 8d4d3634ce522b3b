/* FtB_apply, FtB_select, FtB_eWiseAdd, FtB_eWiseMult, FtB_reduce and FtB_reduce_scalar of sparse vectors
 * against loops and GraphBLAS: masks, accumulators, dtypes, forms inside, at random. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_vector.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

#define CASES rng_cases(800)

static int64_t dimension(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 13, 20, 40, 70, 200, 3000};
    return sizes[rng_below(r, 13)];
}

/* A vector of the case's size: C, M, or another. */
static FtB_Vector operand(rng *r, const ref_vector_case *c)
{
    const int64_t dice = rng_below(r, 8);
    if (dice == 0)
        return c->C;
    if (dice == 1 && c->M)
        return c->M;
    FtB_Vector u = rng_vector(r, rng_type(r), c->C->v.size, dice == 2 ? 2 : dice < 5 ? 0.1 : rng_unit(r));
    force_any_form(r, u);
    return u;
}

static void release(const ref_vector_case *c, FtB_Vector *u)
{
    if (*u != c->C && *u != c->M)
        FtB_Vector_free(u);
}

/* ---- one vector */

static ref_number twice(ref_number x, int64_t i)
{
    return ref_add(ref_multiply(x, ref_integer(2)), ref_integer(i * 0));
}
static ref_number half(ref_number x, int64_t i) { return ref_divide(x, ref_integer(2 + i * 0)); }
static ref_number where(ref_number x, int64_t i) { return ref_add(x, ref_integer(100 * i)); }
static ref_number positive(ref_number x, int64_t i) { return ref_integer(ref_less(ref_integer(i * 0), x)); }
static ref_number shifted(ref_number x, int64_t i)
{
    return ref_add(ref_multiply(x, ref_integer(5)), ref_real((double)i / 2));
}

static const struct {
    const char *text;
    ref_number (*f)(ref_number x, int64_t i);
} operators[] = {{"x * 2", twice},
                 {"x / 2", half},
                 {"x + 100 * i - j", where},
                 {"x > 0", positive},
                 {"x * scale + shift[i]", shifted}};
enum { BOUND = 4 };

/* shift[i] = i / 2. */
static FtB_Op bound_operator(int64_t size)
{
    FtB_Op op, result;
    FtB_Block shift;
    assert_ok(FtB_Block_new(&shift, size, 1, FTB_FP64));
    for (int64_t i = 0; i < size; i++)
        ((double *)block_values(shift))[i] = (double)i / 2;
    assert_ok(FtB_Op_new(&op, operators[BOUND].text));
    assert_ok(FtB_Op_bind(&result, op, FTB_BIND("scale", 5), FTB_BIND("shift", shift)));
    FtB_Op_free(&op);
    FtB_Block_free(&shift);
    return result;
}

static void apply_case(rng *r)
{
    const int which = (int)rng_below(r, 5);
    ref_vector_case c = ref_vector_case_new(r, dimension(r), 0);
    FtB_Vector u = operand(r, &c);
    ref_matrix *a = ref_read_vector(u, false), *T = ref_new(a->type, a->nrows, 1, 1);
    FtB_Op op = which == BOUND ? bound_operator(a->nrows) : NULL;
    for (int64_t i = 0; i < a->nrows; i++) {
        T->present[i] = a->present[i];
        if (a->present[i])
            T->values[i] = operators[which].f(a->values[i], i);
    }
    if (op)
        assert_ok(FtB_apply(c.C, c.M, ref_op_arg(c.accum), op, u, c.flags.descriptor));
    else
        assert_ok(FtB_apply(c.C, c.M, ref_op_arg(c.accum), operators[which].text, u, c.flags.descriptor));
    ref_vector_case_check(&c, T, 1e-12);
    FtB_Op_free(&op);
    ref_free(a);
    release(&c, &u);
    ref_vector_case_free(&c);
}

static void select_case(rng *r)
{
    static const char *const texts[] = {"x > 0", "i > 5", "x"};
    const int which = (int)rng_below(r, 3);
    ref_vector_case c = ref_vector_case_new(r, dimension(r), 0);
    FtB_Vector u = operand(r, &c);
    ref_matrix *a = ref_read_vector(u, false), *T = ref_new(a->type, a->nrows, 1, 1);
    for (int64_t i = 0; i < a->nrows; i++) {
        const ref_number x = a->values[i];
        T->present[i] = a->present[i] && (which == 0   ? ref_less(ref_integer(0), x)
                                          : which == 1 ? i > 5
                                                       : ref_true(x));
        T->values[i] = x;
    }
    GrB_Vector G = ref_export_vector(u);
    assert_ok(FtB_select(c.C, c.M, ref_op_arg(c.accum), texts[which], u, c.flags.descriptor));
    ref_vector_case_check(&c, T, 1e-12);
    if (c.grb_C && G && which == 0 && a->type == FTB_FP64) {
        assert_int_equal(GrB_Vector_select_FP64(c.grb_C, c.grb_M, c.accum ? c.accum->grb : NULL,
                                                GrB_VALUEGT_FP64, G, 0, c.flags.grb),
                         GrB_SUCCESS);
        ref_vector_case_check_grb(&c, 1e-12);
    }
    GrB_Vector_free(&G);
    ref_free(a);
    release(&c, &u);
    ref_vector_case_free(&c);
}

/* ---- two vectors */

/* Lone entries are cast to the dtype that op gives: known here for GraphBLAS's operators, and without
 * consequence for the others' small values, but for realness. */
static ref_number lone(const ref_op *op, ref_number x, const ref_matrix *other)
{
    if (op->domain)
        return ref_cast(x, op->grb == GrB_LT_INT64 ? FTB_BOOL : op->domain);
    return ftb_type_float(other->type) || strchr(op->text, '/') ? ref_real(ref_double(x)) : x;
}

static ref_matrix *combined(const ref_op *op, const ref_matrix *A, const ref_matrix *B, bool add)
{
    ref_matrix *T = ref_new(A->type, A->nrows, 1, 1);
    for (int64_t i = 0; i < A->nrows; i++) {
        const bool a = A->present[i], b = B->present[i];
        T->present[i] = add ? a || b : a && b;
        T->values[i] = a && b ? ref_op_apply(op, A->values[i], B->values[i])
                       : a    ? lone(op, A->values[i], B)
                              : lone(op, B->values[i], A);
    }
    return T;
}

static void ewise_case(rng *r)
{
    const ref_op *op = ref_op_of((int)rng_below(r, ref_ops()));
    const bool add = rng_below(r, 2);
    ref_vector_case c = ref_vector_case_new(r, dimension(r), 0);
    FtB_Vector u = operand(r, &c), v = operand(r, &c);
    ref_matrix *a = ref_read_vector(u, false), *b = ref_read_vector(v, false);
    GrB_Vector G = ref_export_vector(u), H = ref_export_vector(v);
    const FtB_Arg accum = ref_op_arg(c.accum), text = ref_op_arg(op);
    if (add)
        assert_ok(FtB_eWiseAdd(c.C, c.M, accum, text, u, v, c.flags.descriptor));
    else
        assert_ok(FtB_eWiseMult(c.C, c.M, accum, text, u, v, c.flags.descriptor));
    ref_vector_case_check(&c, combined(op, a, b, add), 1e-12);
    if (c.grb_C && op->grb && G && H) {
        const GrB_BinaryOp by = c.accum ? c.accum->grb : NULL;
        assert_int_equal(
            add ? GrB_Vector_eWiseAdd_BinaryOp(c.grb_C, c.grb_M, by, op->grb, G, H, c.flags.grb)
                : GrB_Vector_eWiseMult_BinaryOp(c.grb_C, c.grb_M, by, op->grb, G, H, c.flags.grb),
            GrB_SUCCESS);
        ref_vector_case_check_grb(&c, 1e-12);
    }
    GrB_Vector_free(&G);
    GrB_Vector_free(&H);
    ref_free(a);
    ref_free(b);
    release(&c, &u);
    if (v != u)
        release(&c, &v);
    ref_vector_case_free(&c);
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        apply_case(&r);
        select_case(&r);
        ewise_case(&r);
        ewise_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- reductions */

static const struct {
    const char *name;
    ref_number (*f)(ref_number x, ref_number y);
} monoids[] = {{"plus", ref_add}, {"min", ref_least}, {"max", ref_greatest}};

static void reduce_case(rng *r)
{
    const int which = (int)rng_below(r, 3);
    const int64_t nrows = rng_below(r, 60), ncols = rng_below(r, 60);
    ref_vector_case c = ref_vector_case_new(r, nrows, 1);
    const bool turned = c.flags.transpose0;
    FtB_Matrix A = rng_matrix(r, rng_type(r), turned ? ncols : nrows, turned ? nrows : ncols,
                              rng_below(r, 4) > 0, rng_unit(r));
    ref_matrix *a = ref_read(A, turned), *T = ref_new(a->type, nrows, 1, 1);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols; j++)
            if (*ref_at(a, i, j)) {
                const ref_number x = *ref_value(a, i, j);
                T->values[i] = T->present[i] ? monoids[which].f(T->values[i], x) : x;
                T->present[i] = true;
            }
    GrB_Matrix G = NULL;
    const bool grb = c.grb_C && a->type == FTB_FP64 && a->width == 1;
    assert_ok(FtB_reduce(c.C, c.M, ref_op_arg(c.accum), monoids[which].name, A, c.flags.descriptor));
    ref_vector_case_check(&c, T, 1e-12);
    if (grb) {
        const GrB_Monoid all[] = {GrB_PLUS_MONOID_FP64, GrB_MIN_MONOID_FP64, GrB_MAX_MONOID_FP64};
        assert_ok(FtB_Matrix_export(&G, A, 0));
        assert_int_equal(GrB_Matrix_reduce_Monoid(c.grb_C, c.grb_M, c.accum ? c.accum->grb : NULL, all[which],
                                                  G, c.flags.grb),
                         GrB_SUCCESS);
        ref_vector_case_check_grb(&c, 1e-12);
        GrB_Matrix_free(&G);
    }
    ref_free(a);
    FtB_Matrix_free(&A);
    ref_vector_case_free(&c);
}

static void scalar_case(rng *r)
{
    const int which = (int)rng_below(r, 3);
    FtB_Vector u = rng_vector(r, rng_type(r), dimension(r), rng_unit(r));
    force_any_form(r, u);
    ref_matrix *a = ref_read_vector(u, false);
    ref_number total = ref_integer(0);
    bool any = false;
    double x = 0;
    for (int64_t i = 0; i < a->nrows; i++)
        if (a->present[i]) {
            total = any ? monoids[which].f(total, a->values[i]) : a->values[i];
            any = true;
        }
    assert_ok(FtB_reduce_scalar(&x, FTB_FP64, monoids[which].name, u));
    if (any && x != ref_double(total))
        fail_msg("%s of %s: %.17g; expected %.17g", monoids[which].name, FtB_Type_name(a->type), x,
                 ref_double(total));
    if (!any && which == 0)
        assert_true(x == 0);
    ref_free(a);
    FtB_Vector_free(&u);
}

static void reductions(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        reduce_case(&r);
        scalar_case(&r);
    }
    int8_t least;
    FtB_Vector none;
    assert_ok(FtB_Vector_new(&none, FTB_INT8, 9));
    assert_ok(FtB_reduce_scalar(&least, FTB_INT8, GrB_MIN_MONOID_INT8, none)); /* the identity */
    assert_int_equal(least, INT8_MAX);
    FtB_Vector_free(&none);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- bits */

/* Of reals, by 1 to 8 threads: lists, bitmaps, and one of each. */
static void bits(void **state)
{
    (void)state;
    static const double densities[][3] = {
        {0.02, 0.03, 0.04}, {0.4, 0.5, 0.6}, {0.02, 0.5, 0.03}, {0.5, 0.02, 2}};
    rng r = rng_new();
    for (int d = 0; d < 4; d++) {
        const int64_t size = d == 0 ? 800003 : 150003; /* lists are long enough for threads, too */
        FtB_Vector u = rng_real_vector(&r, FTB_FP32, size, densities[d][0]),
                   v = rng_real_vector(&r, FTB_FP64, size, densities[d][1]),
                   m = rng_vector(&r, FTB_INT8, size, densities[d][2]), first[4] = {NULL};
        double sum = 0;
        for (int threads = 1; threads <= 8; threads++) {
            FtB_Vector w[4];
            double x;
            assert_ok(FtB_Context_set_threads(NULL, threads));
            for (int k = 0; k < 4; k++)
                assert_ok(FtB_Vector_dup(&w[k], u));
            assert_ok(FtB_eWiseAdd(w[0], m, "x / 3 + y", "x * 3 - y", u, v, FTB_DESC_C));
            assert_ok(FtB_eWiseMult(w[1], m, NULL, "x * 3 - y", u, v, NULL));
            assert_ok(FtB_apply(w[2], NULL, "x * 7 + y", "sqrt(abs(x)) + i", v, NULL));
            assert_ok(FtB_select(w[3], NULL, NULL, "x > 0.25", v, NULL));
            assert_ok(FtB_reduce_scalar(&x, FTB_FP64, "plus", v));
            assert_true(threads == 1 || x == sum);
            sum = x;
            for (int k = 0; k < 4; k++) {
                assert_valid_vector(w[k]);
                if (first[k]) {
                    assert_same_vector(w[k], first[k]);
                    FtB_Vector_free(&w[k]);
                } else
                    first[k] = w[k];
            }
        }
        for (int k = 0; k < 4; k++)
            FtB_Vector_free(&first[k]);
        FtB_Vector_free(&u);
        FtB_Vector_free(&v);
        FtB_Vector_free(&m);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- cancelling */

/* A call that was cancelled leaves its output, and the next one runs. */
static void cancelled(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Vector u = rng_vector(&r, FTB_FP32, 50, 0.5), w = rng_vector(&r, FTB_FP32, 50, 0.5), before;
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 50, 50, 1, 0.2);
    const int64_t at = 3;
    const FtB_Ids one = FtB_Ids_of(&at, 1);
    assert_ok(FtB_Vector_dup(&before, w));
    for (int c = 0; c < 8; c++) {
        assert_ok(FtB_Context_cancel(NULL));
        const GrB_Info info = c == 0   ? FtB_apply(w, NULL, NULL, "x", u, NULL)
                              : c == 1 ? FtB_select(w, NULL, NULL, "x", u, NULL)
                              : c == 2 ? FtB_eWiseAdd(w, NULL, NULL, "x + y", u, u, NULL)
                              : c == 3 ? FtB_reduce(w, NULL, NULL, "plus", A, NULL)
                              : c == 4 ? FtB_mxv(w, NULL, NULL, "plus : a * b", A, u, NULL)
                              : c == 5 ? FtB_extract(w, NULL, NULL, A, NULL, one, NULL)
                              : c == 6 ? FtB_assign(w, NULL, NULL, 1, one, NULL, NULL)
                                       : FtB_transpose(w, NULL, NULL, w, FTB_DESC_T0);
        if (info != FTB_CANCELLED)
            fail_msg("call %d returns %d", c, (int)info);
        assert_same_vector(w, before);
    }
    assert_ok(FtB_apply(w, NULL, NULL, "x", u, NULL));
    assert_same_vector(w, u);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    FtB_Vector_free(&before);
    FtB_Matrix_free(&A);
}

/* ---- refusals and memory */

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Vector u = rng_vector(&r, FTB_FP32, 6, 0.5), w = rng_vector(&r, FTB_FP32, 7, 0.5), before;
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 6, 7, 1, 0.5), W = rng_matrix(&r, FTB_FP32, 6, 7, 2, 0.5);
    FtB_Block X;
    FtB_Op op, bound;
    double x;
    assert_ok(FtB_Vector_dup(&before, u));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 7 places; expected 6, as C",
                 FtB_apply(u, NULL, NULL, "x", w, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "B has 7 places; expected 6",
                 FtB_eWiseAdd(u, NULL, NULL, "x + y", u, w, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "M has 7 places", FtB_select(u, w, NULL, "x", u, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Matrix; expected an FtB_Vector",
                 FtB_apply(u, NULL, NULL, "x", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Vector; expected an FtB_Matrix",
                 FtB_apply(A, NULL, NULL, "x", u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "op gives 2 values", FtB_apply(u, NULL, NULL, "[x, 1]", u, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'di'", FtB_apply(u, NULL, NULL, "x + di", u, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'y'", FtB_select(u, NULL, NULL, "x + y", u, NULL));
    assert_fails(GrB_NULL_POINTER, "op is NULL", FtB_eWiseMult(u, NULL, NULL, NULL, u, u, NULL));
    assert_fails(GrB_NULL_POINTER, "B is NULL", FtB_eWiseMult(u, NULL, NULL, "x", u, NULL, NULL));
    assert_fails(GrB_INVALID_VALUE, "accum", FtB_eWiseMult(u, NULL, "z", "x", u, u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "y has 7 places; expected 6, the rows of A",
                 FtB_reduce(w, NULL, NULL, "plus", A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "the columns of A",
                 FtB_reduce(u, NULL, NULL, "plus", A, FTB_DESC_T0));
    assert_fails(GrB_DIMENSION_MISMATCH, "width 2", FtB_reduce(u, NULL, NULL, "plus", W, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Vector", FtB_reduce(u, NULL, NULL, "plus", u, NULL));
    assert_fails(GrB_INVALID_VALUE, "mean", FtB_reduce_scalar(&x, FTB_FP64, "mean", u));
    assert_fails(GrB_INVALID_VALUE, "FtB_Vector", FtB_select_topk(u, NULL, NULL, 2, u, NULL));
    assert_ok(FtB_Block_new(&X, 3, 1, FTB_FP32));
    assert_ok(FtB_Op_new(&op, "x + shift[i]"));
    assert_ok(FtB_Op_bind(&bound, op, FTB_BIND("shift", X)));
    assert_fails(GrB_DIMENSION_MISMATCH, "shift", FtB_apply(u, NULL, NULL, bound, u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "shift", FtB_apply(u, NULL, bound, "x", u, NULL));
    assert_same_vector(u, before);
    FtB_Op_free(&op);
    FtB_Op_free(&bound);
    FtB_Block_free(&X);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    FtB_Vector_free(&before);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
}

static GrB_Info unchanged(GrB_Info info, FtB_Vector w, FtB_Vector before)
{
    if (info != GrB_SUCCESS)
        assert_same_vector(w, before);
    return info;
}

static GrB_Info calls(void *arg)
{
    const int64_t *few = arg;
    int64_t I[32];
    float x[32];
    FtB_Vector u = NULL, v = NULL, w[6] = {NULL}, before = NULL;
    FtB_Matrix A = NULL;
    double sum;
    GrB_Info info;
    for (int k = 0; k < 32; k++) {
        I[k] = 31 - k;
        x[k] = (float)k;
    }
    FTB_CHECK(FtB_Vector_build(&u, FTB_FP32, 32, few[0], I, x, FTB_DUP_ERROR));
    FTB_CHECK(FtB_Vector_build(&v, FTB_FP64, 32, few[1] / 2, I + 1, x, FTB_DUP_ERROR));
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 32, 32, 1, 20, I, I + 3, x, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Vector_build(&before, FTB_INT32, 32, few[2], I, x, FTB_DUP_ERROR));
    for (int k = 0; k < 6; k++)
        FTB_CHECK(FtB_Vector_dup(&w[k], before));
    FTB_CHECK(unchanged(FtB_apply(w[0], u, "x + y", "x * 2", v, NULL), w[0], before));
    FTB_CHECK(unchanged(FtB_select(w[1], v, NULL, "x > 3", u, NULL), w[1], before));
    FTB_CHECK(unchanged(FtB_eWiseAdd(w[2], u, "x + y", "x * y", u, v, FTB_DESC_C), w[2], before));
    FTB_CHECK(unchanged(FtB_eWiseMult(w[3], w[3], NULL, "x * y", u, v, FTB_DESC_R), w[3], before));
    FTB_CHECK(unchanged(FtB_reduce(w[4], u, NULL, "plus", A, FTB_DESC_T0), w[4], before));
    FTB_CHECK(unchanged(FtB_apply(w[5], u, NULL, "x", u, FTB_DESC_S), w[5], before));
    info = FtB_reduce_scalar(&sum, FTB_FP64, "max", u);
done:
    FtB_Vector_free(&u);
    FtB_Vector_free(&v);
    FtB_Vector_free(&before);
    for (int k = 0; k < 6; k++)
        FtB_Vector_free(&w[k]);
    FtB_Matrix_free(&A);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    static int64_t few[][3] = {{2, 4, 32}, {20, 30, 2}, {32, 4, 20}};
    for (int c = 0; c < 3; c++)
        fail_every_allocation(calls, NULL, few[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_cases), cmocka_unit_test(reductions),
                                       cmocka_unit_test(bits),         cmocka_unit_test(cancelled),
                                       cmocka_unit_test(refusals),     cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
