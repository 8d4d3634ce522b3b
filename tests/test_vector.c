/* Sparse vectors as objects: building, reading, writing, blocks; each dtype and each form inside. */
#include "support/check.h"

#include "support/fail_alloc.h"
#include "support/some_vectors.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 200 };

/* A vector in plain sight. */
typedef struct plain {
    bool present[MOST];
    uint64_t bits[MOST]; /* of the value: its first bytes */
} plain;

static void check(FtB_Vector v, const plain *want, int64_t size)
{
    int64_t n, nvals, count = 0, I[MOST];
    FtB_Type type;
    char X[8 * MOST];
    assert_valid_vector(v);
    assert_ok(FtB_Vector_shape(v, &n, &nvals, &type));
    assert_int_equal(n, size);
    const size_t each = FtB_Type_size(type);
    assert_ok(FtB_Vector_tuples(v, I, X));
    for (int64_t i = 0; i < size; i++) {
        uint64_t x = UINT64_C(0x5555555555555555);
        const GrB_Info info = FtB_Vector_get(v, i, &x);
        assert_int_equal(info, want->present[i] ? GrB_SUCCESS : GrB_NO_VALUE);
        if (!want->present[i]) {
            assert_true(x == UINT64_C(0x5555555555555555));
            continue;
        }
        assert_memory_equal(&x, &want->bits[i], each);
        assert_true(count < nvals);
        assert_int_equal(I[count], i);
        assert_memory_equal(X + (size_t)count * each, &want->bits[i], each);
        count++;
    }
    assert_int_equal(count, nvals);
}

/* ---- building */

/* Rules on small whole numbers, which every dtype holds. */
static int64_t merged(FtB_Dup dup, FtB_Type type, const int64_t *x, const int64_t *t, int64_t count)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t value = x[t[k]];
        sum = k == 0 || dup == FTB_DUP_LAST                                                   ? value
              : dup == FTB_DUP_SUM                                                            ? sum + value
              : (dup == FTB_DUP_MAX) == (value > sum) && value != sum && dup != FTB_DUP_FIRST ? value
                                                                                              : sum;
    }
    if (dup == FTB_DUP_COUNT)
        sum = count;
    return type == FTB_BOOL ? sum != 0 : sum;
}

static void builds(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 600; t++) {
        const FtB_Type type = rng_type(&r);
        const FtB_Dup dup = (FtB_Dup)rng_below(&r, FTB_DUP_ERROR);
        const int64_t size = 1 + rng_below(&r, 60), count = rng_below(&r, 2 * size);
        int64_t I[MOST], x[MOST], at[MOST];
        char X[8 * MOST];
        plain want = {{false}, {0}};
        FtB_Vector v;
        for (int64_t e = 0; e < count; e++) {
            I[e] = rng_below(&r, size);
            x[e] = type == FTB_BOOL ? rng_below(&r, 2) : rng_below(&r, 3);
            ftb_cast(X + (size_t)e * FtB_Type_size(type), type, &x[e], FTB_INT64, 1);
        }
        for (int64_t i = 0; i < size; i++) {
            int64_t n = 0;
            for (int64_t e = 0; e < count; e++)
                if (I[e] == i)
                    at[n++] = e;
            want.present[i] = n > 0;
            const int64_t value = n > 0 ? merged(dup, type, x, at, n) : 0;
            ftb_cast(&want.bits[i], type, &value, FTB_INT64, 1);
        }
        assert_ok(FtB_Vector_build(&v, type, size, count, I, X, dup));
        check(v, &want, size);
        FtB_Vector_free(&v);
        assert_null(v);
    }
}

/* Rule count takes no values; entries beyond what one thread takes, in any order. */
static void builds_many(void **state)
{
    (void)state;
    enum { SIZE = 70000, COUNT = 100000 };
    int64_t *I = malloc(COUNT * sizeof *I);
    int32_t *want = calloc(SIZE, sizeof *want);
    rng r = rng_new();
    for (int64_t e = 0; e < COUNT; e++)
        want[I[e] = rng_below(&r, SIZE)]++;
    for (int threads = 1; threads <= 4; threads++) {
        FtB_Vector v;
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(FtB_Vector_build(&v, FTB_INT32, SIZE, COUNT, I, NULL, FTB_DUP_COUNT));
        assert_valid_vector(v);
        for (int64_t i = 0; i < SIZE; i++) {
            int32_t x = 0;
            const GrB_Info info = FtB_Vector_get(v, i, &x);
            assert_int_equal(info, want[i] ? GrB_SUCCESS : GrB_NO_VALUE);
            assert_int_equal(x, want[i]);
        }
        FtB_Vector_free(&v);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free(I);
    free(want);
}

static void refusals(void **state)
{
    (void)state;
    FtB_Vector v = NULL, w = NULL;
    FtB_Block X = NULL;
    const int64_t I[] = {2, 5, 2}, far[] = {0, 7}, below[] = {-1};
    const double x[] = {1, 2, 3};
    double value = 0;
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_new(NULL, FTB_FP32, 3));
    assert_fails(GrB_INVALID_VALUE, "type is 99", FtB_Vector_new(&v, (FtB_Type)99, 3));
    assert_fails(GrB_INVALID_VALUE, "size is -1", FtB_Vector_new(&v, FTB_FP32, -1));
    assert_fails(GrB_INVALID_VALUE, "size is", FtB_Vector_new(&v, FTB_FP32, INT64_MAX));
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_build(NULL, FTB_FP64, 7, 3, I, x, FTB_DUP_SUM));
    assert_fails(GrB_NULL_POINTER, "I is NULL", FtB_Vector_build(&v, FTB_FP64, 7, 3, NULL, x, FTB_DUP_SUM));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Vector_build(&v, FTB_FP64, 7, 3, I, NULL, FTB_DUP_SUM));
    assert_fails(GrB_INVALID_VALUE, "nvals is -3", FtB_Vector_build(&v, FTB_FP64, 7, -3, I, x, FTB_DUP_SUM));
    assert_fails(GrB_INVALID_VALUE, "dup is 7", FtB_Vector_build(&v, FTB_FP64, 7, 3, I, x, FTB_DUP_KEEP));
    assert_fails(GrB_INVALID_VALUE, "FtB_Vector_build",
                 FtB_Vector_build(&v, FTB_FP64, 7, 3, I, x, FTB_DUP_ERROR));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "I[1] is 7",
                 FtB_Vector_build(&v, FTB_FP64, 7, 2, far, x, FTB_DUP_SUM));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "I[0] is -1",
                 FtB_Vector_build(&v, FTB_FP64, 7, 1, below, x, FTB_DUP_SUM));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "I[0] is 0",
                 FtB_Vector_build(&v, FTB_FP64, 0, 1, far, x, FTB_DUP_SUM));
    assert_null(v);
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_shape(NULL, NULL, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_tuples(NULL, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_dup(&w, NULL));
    assert_ok(FtB_Vector_build(&v, FTB_FP64, 7, 2, I, x, FTB_DUP_ERROR));
    assert_fails(GrB_NULL_POINTER, "u is NULL", FtB_Vector_dup(NULL, v));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "i is 7, of a vector of 7", FtB_Vector_get(v, 7, &value));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "i is -1", FtB_Vector_set(v, -1, &value));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "FtB_Vector_remove", FtB_Vector_remove(v, 8));
    assert_fails(GrB_NULL_POINTER, "x is NULL", FtB_Vector_get(v, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "x is NULL", FtB_Vector_set(v, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Vector_from_block(&w, NULL));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Vector_to_block(NULL, v, 0));
    assert_ok(FtB_Block_new(&X, 7, 2, FTB_FP64));
    assert_fails(GrB_DIMENSION_MISMATCH, "X is 7 x 2", FtB_Vector_from_block(&w, X));
    assert_fails(GrB_DIMENSION_MISMATCH, "expected 7 x 1", FtB_Vector_to_block(X, v, 0));
    FtB_Block_free(&X);
    assert_ok(FtB_Block_wrap_const(&X, x, 3, 1, 1, FTB_FP64));
    assert_ok(FtB_Vector_from_block(&w, X));
    assert_fails(GrB_INVALID_VALUE, "must not be written", FtB_Vector_to_block(X, w, 0));
    assert_fails(GrB_DIMENSION_MISMATCH, "expected 7 x 1", FtB_Vector_to_block(X, v, 0));
    assert_fails(GrB_NULL_POINTER, "v is NULL", FtB_Vector_to_block(X, NULL, 0));
    FtB_Block_free(&X);
    FtB_Vector copy = w; /* what a slot holds after its object was freed */
    FtB_Vector_free(&w);
    assert_ok(FtB_Vector_free(&w));
    assert_ok(FtB_Vector_free(NULL));
    (void)copy;
    w = (FtB_Vector)(void *)(char[64]){0};
    assert_fails(GrB_UNINITIALIZED_OBJECT, "not an FtB_Vector", FtB_Vector_shape(w, NULL, NULL, NULL));
    assert_fails(GrB_UNINITIALIZED_OBJECT, "not an FtB_Vector", FtB_Vector_free(&w));
    FtB_Vector_free(&v);
}

/* ---- reading and writing, in each form */

static void writes(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 60; t++) {
        const FtB_Type type = rng_type(&r);
        const int64_t size = 1 + rng_below(&r, 60);
        const size_t each = FtB_Type_size(type);
        FtB_Vector v;
        plain want = {{false}, {0}};
        assert_ok(FtB_Vector_new(&v, type, size));
        for (int step = 0; step < 150; step++) {
            const int64_t i = rng_below(&r, size);
            if (rng_below(&r, step < 75 ? 4 : 2)) {
                uint64_t x = 0;
                rng_any_values(&r, &x, type, 1);
                assert_ok(FtB_Vector_set(v, i, &x));
                want.present[i] = true;
                memcpy(&want.bits[i], &x, each);
            } else {
                assert_ok(FtB_Vector_remove(v, i));
                want.present[i] = false;
            }
            if (step % 10 == 0) {
                check(v, &want, size);
                force_any_form(&r, v);
                check(v, &want, size);
            }
        }
        FtB_Vector_free(&v);
    }
}

/* The form follows the entries, and copies are copies. */
static void forms(void **state)
{
    (void)state;
    static const struct {
        int64_t size, nvals;
        ftb_vector_form form;
    } cases[] = {{0, 0, FTB_VECTOR_LIST},      {1, 0, FTB_VECTOR_LIST},      {1, 1, FTB_VECTOR_DENSE},
                 {160, 10, FTB_VECTOR_LIST},   {160, 11, FTB_VECTOR_BITMAP}, {160, 159, FTB_VECTOR_BITMAP},
                 {160, 160, FTB_VECTOR_DENSE}, {15, 1, FTB_VECTOR_BITMAP}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        FtB_Vector v, u;
        int64_t I[MOST];
        float X[MOST], one = 1;
        for (int64_t t = 0; t < cases[c].nvals; t++) {
            I[t] = cases[c].size - 1 - t;
            X[t] = (float)t;
        }
        assert_ok(FtB_Vector_build(&v, FTB_FP32, cases[c].size, cases[c].nvals, I, X, FTB_DUP_ERROR));
        assert_int_equal(v->v.form, cases[c].form);
        for (int form = FTB_VECTOR_LIST; form <= FTB_VECTOR_DENSE; form++) {
            assert_ok(FtB_Vector_dup(&u, v));
            if (force_form(u, (ftb_vector_form)form)) {
                assert_int_equal(u->v.form, form);
                assert_valid_vector(u);
                assert_same_vector(u, v);
            }
            if (cases[c].size > 0) { /* v stays */
                assert_ok(FtB_Vector_set(u, 0, &one));
                assert_ok(FtB_Vector_remove(u, cases[c].size - 1));
                assert_valid_vector(u);
            }
            FtB_Vector_free(&u);
        }
        assert_int_equal(v->v.nvals, cases[c].nvals);
        FtB_Vector_free(&v);
    }
}

/* What several threads do: from each form to each, the same entries. */
static void many_places(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Vector v = rng_vector(&r, FTB_INT16, 300007, 0.4), u;
    const int16_t one = 1;
    assert_ok(FtB_Vector_set(v, 300006, &one)); /* the last */
    for (int threads = 1; threads <= 8; threads++) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(FtB_Vector_dup(&u, v));
        for (int t = 0; t < 3; t++) {
            assert_true(force_form(u, t == 1 ? FTB_VECTOR_BITMAP : FTB_VECTOR_LIST));
            assert_valid_vector(u);
            assert_same_vector(u, v);
        }
        FtB_Vector_free(&u);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Vector_free(&v);
}

/* Among 2^62 places ten have entries: memory is theirs. */
static void few_of_many(void **state)
{
    (void)state;
    FtB_Vector v, u;
    const int64_t size = INT64_C(1) << 62;
    int64_t I[10], J[10], X[10], before, now, x;
    assert_ok(FtB_Context_memory(NULL, &before, NULL));
    for (int64_t t = 0; t < 10; t++) {
        I[t] = size / 10 * (9 - t) + 3;
        X[t] = t;
    }
    assert_ok(FtB_Vector_build(&v, FTB_INT64, size, 10, I, X, FTB_DUP_ERROR));
    assert_valid_vector(v);
    assert_ok(FtB_Vector_dup(&u, v));
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    assert_true(now - before < 4096);
    x = 77;
    assert_ok(FtB_Vector_set(u, size - 1, &x));
    assert_ok(FtB_Vector_remove(u, I[9]));
    assert_int_equal(FtB_Vector_get(u, I[9], &x), GrB_NO_VALUE);
    assert_ok(FtB_Vector_get(u, size - 1, &x));
    assert_int_equal(x, 77);
    assert_ok(FtB_Vector_tuples(v, J, NULL));
    assert_ok(FtB_Vector_tuples(v, NULL, X));
    for (int64_t t = 0; t < 10; t++) {
        assert_int_equal(J[t], I[9 - t]);
        assert_int_equal(X[t], 9 - t);
    }
    FtB_Vector_free(&u);
    FtB_Vector_free(&v);
}

/* ---- blocks */

static void blocks(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200; t++) {
        const int64_t size = t % 7 == 0 ? 0 : 1 + rng_below(&r, 90);
        const FtB_Type type = rng_type(&r), to = rng_type(&r);
        FtB_Block wide, X, Y;
        FtB_Vector v, u;
        wide = rng_block(&r, size, 3, type);
        assert_ok(FtB_Block_columns(&X, wide, 1, 1));
        assert_ok(FtB_Vector_from_block(&v, X));
        assert_valid_vector(v);
        assert_int_equal(v->v.nvals, size);
        int64_t ld;
        void *data, *into;
        assert_ok(FtB_Block_shape(X, NULL, NULL, &ld, NULL, &data));
        for (int64_t i = 0; i < size; i++)
            assert_true(ftb_get_real(data, type, i * ld) == ftb_get_real(v->v.values, type, i));
        FtB_Vector_free(&v);
        v = rng_vector(&r, type, size, rng_unit(&r));
        force_any_form(&r, v);
        FtB_Block_free(&wide);
        FtB_Block_free(&X);
        wide = rng_block(&r, size, 3, to);
        assert_ok(FtB_Block_columns(&Y, wide, 2, 1));
        assert_ok(FtB_Block_columns(&X, wide, 1, 1)); /* beside it, stays */
        assert_ok(FtB_Vector_from_block(&u, X));
        assert_ok(FtB_Vector_to_block(Y, v, 5));
        assert_ok(FtB_Block_shape(Y, NULL, NULL, &ld, NULL, &into));
        for (int64_t i = 0; i < size; i++) {
            const int64_t at = ftb_vector_find(&v->v, i);
            const double fill = 5;
            double cast = 0;
            if (at >= 0)
                ftb_cast(&cast, to, (char *)v->v.values + (size_t)at * FtB_Type_size(type), type, 1);
            else
                ftb_cast(&cast, to, &fill, FTB_FP64, 1);
            assert_true(ftb_get_real(into, to, i * ld) == ftb_get_real(&cast, to, 0));
        }
        FtB_Vector again;
        assert_ok(FtB_Vector_from_block(&again, X));
        assert_same_vector(again, u);
        FtB_Vector_free(&again);
        FtB_Vector_free(&u);
        FtB_Vector_free(&v);
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
        FtB_Block_free(&wide);
    }
}

/* ---- memory */

static GrB_Info all_calls(void *arg)
{
    FtB_Vector v = NULL, u = NULL, w = NULL;
    FtB_Block X = NULL;
    const int64_t I[] = {40, 3, 40, 1}, size = 64;
    const float x[] = {1, 2, 3, 4};
    GrB_Info info;
    (void)arg;
    FTB_CHECK(FtB_Vector_new(&u, FTB_FP32, size));
    FTB_CHECK(FtB_Vector_build(&v, FTB_FP32, size, 4, I, x, FTB_DUP_SUM));
    for (int64_t i = 0; i < 8; i++) { /* from a list to a bitmap */
        int64_t before, after;
        FTB_CHECK(FtB_Vector_shape(u, NULL, &before, NULL));
        info = FtB_Vector_set(u, 7 * i, x);
        FTB_CHECK(FtB_Vector_shape(u, NULL, &after, NULL) == GrB_SUCCESS ? info : GrB_PANIC);
        assert_int_equal(after, before + 1);
        assert_valid_vector(u);
    }
    FTB_CHECK(FtB_Block_new(&X, size, 1, FTB_FP64));
    FTB_CHECK(FtB_Vector_to_block(X, v, 1));
    FTB_CHECK(FtB_Vector_from_block(&w, X));
    info = FtB_Vector_remove(w, 5); /* no longer dense */
    if (info != GrB_SUCCESS) {
        assert_int_equal(w->v.nvals, size);
        assert_valid_vector(w);
        goto done;
    }
    FtB_Vector_free(&w);
    FTB_CHECK(FtB_Vector_dup(&w, v));
done:
    FtB_Vector_free(&u);
    FtB_Vector_free(&v);
    FtB_Vector_free(&w);
    FtB_Block_free(&X);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(all_calls, NULL, NULL);
}

static void limits(void **state)
{
    (void)state;
    FtB_Context ctx;
    FtB_Vector v = NULL;
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, 100000, 1, FTB_FP64));
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 100000));
    assert_ok(FtB_Context_engage(ctx));
    assert_fails(FTB_LIMIT, "limit", FtB_Vector_from_block(&v, X));
    assert_null(v);
    assert_ok(FtB_Vector_new(&v, FTB_FP64, 100000));
    FtB_Vector_free(&v);
    FtB_Context_free(&ctx);
    FtB_Block_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds),      cmocka_unit_test(builds_many), cmocka_unit_test(refusals),
        cmocka_unit_test(writes),      cmocka_unit_test(forms),       cmocka_unit_test(few_of_many),
        cmocka_unit_test(many_places), cmocka_unit_test(blocks),      cmocka_unit_test(failing_allocations),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
