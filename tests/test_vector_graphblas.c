/* Vectors to GraphBLAS and back: every built-in type and form, in both libraries. GxB_* calls only force
 * forms. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "support/fail_alloc.h"
#include "support/some_vectors.h"

#include <math.h>

static GrB_Type grb_type(FtB_Type type)
{
    GrB_Type types[] = {NULL,      GrB_BOOL,   GrB_INT8,   GrB_INT16,  GrB_INT32, GrB_INT64,
                        GrB_UINT8, GrB_UINT16, GrB_UINT32, GrB_UINT64, GrB_FP32,  GrB_FP64};
    return types[type];
}

/* Place by place. */
static void assert_equal(FtB_Vector v, GrB_Vector G)
{
    GrB_Index size, nvals;
    int64_t n, count;
    FtB_Type type;
    assert_ok(FtB_Vector_shape(v, &n, &count, &type));
    assert_int_equal(GrB_Vector_size(&size, G), GrB_SUCCESS);
    assert_int_equal(GrB_Vector_nvals(&nvals, G), GrB_SUCCESS);
    assert_int_equal(n, size);
    assert_int_equal(count, nvals);
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = 0;
        double y = 0;
        const GrB_Info info = FtB_Vector_get(v, i, &x);
        assert_int_equal(info, GrB_Vector_extractElement_FP64(&y, G, (GrB_Index)i));
        const double have = info == GrB_SUCCESS ? ftb_get_real(&x, type, 0) : 0;
        if (have != y && !(isnan(have) && isnan(y)))
            fail_msg("%s, place %lld: %.17g, GraphBLAS has %.17g", FtB_Type_name(type), (long long)i, have,
                     y);
    }
}

static GrB_Vector random_graphblas(rng *r, FtB_Type type, int64_t size, double density)
{
    GrB_Vector G;
    assert_int_equal(GrB_Vector_new(&G, grb_type(type), (GrB_Index)size), GrB_SUCCESS);
    for (int64_t i = 0; i < size; i++)
        if (rng_unit(r) < density)
            GrB_Vector_setElement_INT64(G, rng_below(r, 9) - 2, (GrB_Index)i);
    return G;
}

static void in(void **state)
{
    (void)state;
    static const int forms[] = {GxB_SPARSE, GxB_BITMAP, GxB_FULL};
    rng r = rng_new();
    for (int type = FTB_BOOL; type <= FTB_FP64; type++)
        for (int form = 0; form < 3; form++)
            for (int t = 0; t < 4; t++) {
                const int64_t size = t == 0 ? 0 : 1 + rng_below(&r, 70);
                GrB_Vector G = random_graphblas(&r, (FtB_Type)type, size, form == 2 ? 2 : rng_unit(&r)), H;
                FtB_Vector v;
                assert_int_equal(GrB_Vector_dup(&H, G), GrB_SUCCESS);
                GxB_Vector_Option_set(G, GxB_SPARSITY_CONTROL, forms[form]);
                GrB_Vector_wait(G, GrB_MATERIALIZE);
                assert_ok(FtB_Vector_import(&v, G));
                assert_valid_vector(v);
                assert_string_equal(FtB_Type_name(v->v.type), FtB_Type_name((FtB_Type)type));
                assert_equal(v, G);
                assert_equal(v, H); /* G is what it was */
                FtB_Vector_free(&v);
                GrB_Vector_free(&G);
                GrB_Vector_free(&H);
            }
}

static void out(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int type = FTB_BOOL; type <= FTB_BF16; type++)
        for (int t = 0; t < 8; t++) {
            const int64_t size = t == 0 ? 0 : 1 + rng_below(&r, 70);
            FtB_Vector v = rng_vector(&r, (FtB_Type)type, size, t == 1 ? 2 : rng_unit(&r)), back;
            GrB_Vector G;
            force_any_form(&r, v);
            assert_ok(FtB_Vector_export(&G, v));
            assert_equal(v, G);
            assert_ok(FtB_Vector_import(&back, G));
            if (type <= FTB_FP64)
                assert_same_vector(back, v);
            assert_int_equal(back->v.type, type <= FTB_FP64 ? type : FTB_FP32);
            FtB_Vector_free(&back);
            FtB_Vector_free(&v);
            GrB_Vector_free(&G);
        }
}

/* All bits of values, NaN and infinities too, come through. */
static void bits(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int type = FTB_BOOL; type <= FTB_FP64; type++) {
        FtB_Vector v = rng_vector(&r, (FtB_Type)type, 50, 0.5), back;
        GrB_Vector G;
        assert_int_equal(v->v.form, FTB_VECTOR_BITMAP);
        for (int64_t i = 0; i < 50; i++)
            rng_any_values(&r, (char *)v->v.values + (size_t)i * FtB_Type_size((FtB_Type)type),
                           (FtB_Type)type, 1);
        assert_ok(FtB_Vector_export(&G, v));
        assert_ok(FtB_Vector_import(&back, G));
        assert_same_vector(back, v);
        FtB_Vector_free(&back);
        FtB_Vector_free(&v);
        GrB_Vector_free(&G);
    }
}

static void pending_work_is_seen(void **state)
{
    (void)state;
    GrB_Vector G;
    FtB_Vector v;
    GrB_Vector_new(&G, GrB_FP64, 50);
    for (GrB_Index i = 0; i < 50; i++)
        GrB_Vector_setElement_FP64(G, (double)i, 49 - i);
    GrB_Vector_wait(G, GrB_MATERIALIZE);
    GrB_Vector_removeElement(G, 7);
    assert_ok(FtB_Vector_import(&v, G));
    assert_int_equal(v->v.nvals, 49);
    assert_equal(v, G);
    FtB_Vector_free(&v);
    GrB_Vector_free(&G);
}

/* Two entries of 2^40 places, in both directions. */
static void few_of_many(void **state)
{
    (void)state;
    GrB_Vector G, back;
    FtB_Vector v;
    int64_t I[2];
    int32_t X[2];
    GrB_Vector_new(&G, GrB_INT32, (GrB_Index)1 << 40);
    GrB_Vector_setElement_INT32(G, 8, (GrB_Index)1 << 39);
    GrB_Vector_setElement_INT32(G, 7, 3);
    assert_ok(FtB_Vector_import(&v, G));
    assert_ok(FtB_Vector_tuples(v, I, X));
    assert_true(v->v.nvals == 2 && I[0] == 3 && I[1] == INT64_C(1) << 39 && X[0] == 7 && X[1] == 8);
    assert_ok(FtB_Vector_export(&back, v));
    int32_t x = 0;
    assert_int_equal(GrB_Vector_extractElement_INT32(&x, back, (GrB_Index)1 << 39), GrB_SUCCESS);
    assert_int_equal(x, 8);
    FtB_Vector_free(&v);
    GrB_Vector_free(&G);
    GrB_Vector_free(&back);
}

static void refusals(void **state)
{
    (void)state;
    FtB_Vector v = NULL;
    GrB_Vector G = NULL;
    GrB_Type user;
    assert_fails(GrB_NULL_POINTER, "G is NULL", FtB_Vector_import(&v, NULL));
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_import(NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_export(&G, NULL));
    assert_null(G);
    assert_ok(FtB_Vector_new(&v, FTB_FP32, 4));
    assert_fails(GrB_NULL_POINTER, "G is NULL", FtB_Vector_export(NULL, v));
    FtB_Vector_free(&v);
    GrB_Type_new(&user, 24);
    GrB_Vector_new(&G, user, 12);
    assert_fails(GrB_DOMAIN_MISMATCH, "G (of 12 places)", FtB_Vector_import(&v, G));
    assert_null(v);
    GrB_Vector_free(&G);
    GrB_Type_free(&user);
}

static GrB_Info there_and_back(void *arg)
{
    FtB_Vector v = NULL, u = NULL;
    GrB_Vector G = NULL;
    const int64_t I[] = {1, 30, 2};
    GrB_Info info = FtB_Vector_build(&v, FTB_BF16, 40, 3, I, "abcdef", FTB_DUP_ERROR);
    (void)arg;
    if (info == GrB_SUCCESS)
        info = FtB_Vector_export(&G, v);
    if (info == GrB_SUCCESS)
        info = FtB_Vector_import(&u, G);
    FtB_Vector_free(&v);
    FtB_Vector_free(&u);
    GrB_Vector_free(&G);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(there_and_back, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out), /* first: it starts GraphBLAS */
        cmocka_unit_test(in),          cmocka_unit_test(bits),     cmocka_unit_test(pending_work_is_seen),
        cmocka_unit_test(few_of_many), cmocka_unit_test(refusals), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
