/* Every built-in semiring of GraphBLAS that is known here, with every dtype of the result: FtB_mxv beside
 * GrB_mxv, FtB_vxm beside GrB_vxm, in each way. Values are the same, to the last bit, where one product makes
 * an entry, and where several do in whole numbers.
 * Labels: property, serial */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "core/graphblas/bridge.h"
#include "expr/grb.h"
#include "support/planned.h"
#include "support/some_vectors.h"

#include <math.h>

enum { SIZE = 24 };

typedef struct built_in {
    GrB_Semiring handle;
    FtB_Type domain;
    char text[FTB_GRB_TEXT];
    ftb_monoid monoid;
} built_in;

static GrB_Type type_of(FtB_Type type)
{
    const GrB_Type types[] = {[FTB_BOOL] = GrB_BOOL,     [FTB_INT8] = GrB_INT8,     [FTB_INT16] = GrB_INT16,
                              [FTB_INT32] = GrB_INT32,   [FTB_INT64] = GrB_INT64,   [FTB_UINT8] = GrB_UINT8,
                              [FTB_UINT16] = GrB_UINT16, [FTB_UINT32] = GrB_UINT32, [FTB_UINT64] = GrB_UINT64,
                              [FTB_FP32] = GrB_FP32,     [FTB_FP64] = GrB_FP64};
    return types[type];
}

static FtB_Type graphblas_type(rng *r) { return (FtB_Type)(FTB_BOOL + rng_below(r, FTB_FP64)); }

/* Whole numbers up to the types' ends, reals, infinities and NaN. */
static void any_values(rng *r, void *values, FtB_Type type, int64_t count)
{
    static const double special[] = {0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 1e30, -1e-30, 200.75, -40000.5};
    for (int64_t t = 0; t < count; t++) {
        char *to = (char *)values + (size_t)t * FtB_Type_size(type);
        const double x = rng_below(r, 4) ? 2 * rng_unit(r) - 1
                                         : special[rng_below(r, (int64_t)(sizeof special / sizeof *special))];
        if (ftb_type_float(type))
            ftb_cast(to, type, &x, FTB_FP64, 1);
        else
            rng_any_values(r, to, type, 1);
    }
}

static FtB_Vector theirs(const built_in *s, FtB_Matrix A, FtB_Vector u, bool row, FtB_Type type)
{
    GrB_Matrix a;
    GrB_Vector b, c;
    FtB_Vector w;
    assert_ok(FtB_Matrix_export(&a, A, 0));
    assert_ok(FtB_Vector_export(&b, u));
    assert_ok(GrB_Vector_new(&c, type_of(type), SIZE));
    if (row)
        assert_ok(GrB_vxm(c, NULL, NULL, s->handle, b, a, NULL));
    else
        assert_ok(GrB_mxv(c, NULL, NULL, s->handle, a, b, NULL));
    assert_ok(FtB_Vector_import(&w, c));
    GrB_Matrix_free(&a);
    GrB_Vector_free(&b);
    GrB_Vector_free(&c);
    return w;
}

static FtB_Vector ours(const built_in *s, FtB_Matrix A, FtB_Vector u, bool row, FtB_Type type,
                       const char *way)
{
    FtB_Vector w;
    FtB_Plan plan;
    FtB_Descriptor desc;
    const FtB_Arg a = FTB_ARG(A), b = FTB_ARG(u);
    assert_ok(FtB_Vector_new(&w, type, SIZE));
    assert_ok(FtB_mxm_plan(&plan, w, NULL, NULL, s->handle, row ? b : a, row ? a : b, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "way", way));
    assert_ok(planned_descriptor(&desc, NULL, plan));
    assert_ok(FtB_mxm(w, NULL, NULL, s->handle, row ? b : a, row ? a : b, desc));
    FtB_Plan_free(&plan);
    FtB_Descriptor_free(&desc);
    return w;
}

static void compare(const built_in *s, FtB_Matrix A, FtB_Vector u, bool row, FtB_Type type, bool values)
{
    static const char *const ways[] = {"push", "pull", "auto"};
    FtB_Vector want = theirs(s, A, u, row, type);
    for (int way = 0; way < 3; way++) {
        FtB_Vector w = ours(s, A, u, row, type, ways[way]);
        assert_valid_vector(w);
        for (int64_t i = 0; i < SIZE; i++) {
            uint64_t have = 0, there = 0;
            const GrB_Info info = FtB_Vector_get(w, i, &have);
            if (info != FtB_Vector_get(want, i, &there))
                fail_msg("%s over %s, %s: another pattern", s->text, FtB_Type_name(s->domain), ways[way]);
            const double x = ftb_get_real(&have, type, 0), y = ftb_get_real(&there, type, 0);
            if (values && x != y && !(isnan(x) && isnan(y)))
                fail_msg("%s over %s, A %s, u %s, w %s, %s, %s, place %lld: %.17g; GraphBLAS says %.17g",
                         s->text, FtB_Type_name(s->domain), FtB_Type_name(A->type), FtB_Type_name(u->v.type),
                         FtB_Type_name(type), row ? "row" : "column", ways[way], (long long)i, x, y);
        }
        FtB_Vector_free(&w);
    }
    FtB_Vector_free(&want);
}

/* Whether GraphBLAS must get the same values from several products of an entry. */
static bool determined(const built_in *s)
{
    const bool sums = s->monoid == FTB_PLUS || s->monoid == FTB_TIMES;
    return s->monoid != FTB_ANY && !(sums && ftb_type_float(s->domain));
}

static built_in read_semiring(GrB_Semiring handle)
{
    built_in s = {.handle = handle};
    FtB_Semiring semiring;
    assert_ok(ftb_semiring_from_grb(s.text, &s.domain, handle, "semiring"));
    assert_ok(ftb_arg_semiring(&semiring, FTB_ARG(handle), "semiring"));
    s.monoid = semiring->reducer.monoid;
    FtB_Semiring_free(&semiring);
    return s;
}

/* A matrix whose every receiver meets one entry, or several. */
static FtB_Matrix matrix(rng *r, FtB_Type type, bool one)
{
    FtB_Matrix A;
    int64_t I[SIZE], J[SIZE];
    if (!one)
        A = rng_matrix(r, type, SIZE, SIZE, 1, 0.3);
    else {
        for (int64_t i = 0; i < SIZE; i++) {
            I[i] = i;
            J[i] = (7 * i + 3) % SIZE;
        }
        assert_ok(FtB_Matrix_build(&A, type, SIZE, SIZE, 0, SIZE, I, J, NULL, FTB_DUP_ERROR, NULL));
        FtB_Matrix with;
        assert_ok(FtB_Matrix_like(&with, A, 1, type));
        FtB_Matrix_free(&A);
        A = with;
    }
    any_values(r, matrix_values(A), type, A->pattern->nvals);
    return A;
}

static void every_semiring(void **state)
{
    (void)state;
    rng r = rng_new();
    const ftb_grb_table *table;
    assert_ok(FtB_Context_set_threads(NULL, 1));
    assert_ok(ftb_grb_table_of(&table, FTB_KIND_GRB_SEMIRING));
    for (int64_t row = 0; row < table->count; row++) {
        if (!table->at[row])
            continue;
        const built_in s = read_semiring(*table->at[row]);
        for (int t = 0; t < 4; t++) {
            const bool own = rng_below(&r, 2), one = t < 2, left = t % 2;
            const FtB_Type type = rng_below(&r, 2) ? graphblas_type(&r) : s.domain;
            FtB_Matrix A = matrix(&r, own ? s.domain : graphblas_type(&r), one);
            FtB_Vector u =
                rng_vector(&r, own ? s.domain : graphblas_type(&r), SIZE, rng_below(&r, 3) ? 0.5 : 2);
            any_values(&r, u->v.values, u->v.type, u->v.form == FTB_VECTOR_LIST ? u->v.nvals : SIZE);
            compare(&s, A, u, left, type, one || determined(&s));
            FtB_Matrix_free(&A);
            FtB_Vector_free(&u);
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_semiring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
