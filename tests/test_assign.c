/* FtB_assign against loops and GraphBLAS: matrices, vectors, rows, columns and numbers, lists in any order,
 * masks, accumulators, dtypes, forms inside, at random. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_case.h"
#include "oracle/ref_vector.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/index_lists.h"

#include <stdlib.h>

#define CASES rng_cases(900)

static int64_t dimension(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 13, 20, 40, 70};
    return sizes[rng_below(r, 11)];
}

/* ---- what must come: C(I, J) of the old C, by the write rule, then the mask */

/* Where A's entries go, and where they could. */
static void spread(const ref_matrix *A, const index_list *I, const index_list *J, ref_matrix *S,
                   ref_matrix *region)
{
    const int64_t width = A->width > 0 ? A->width : 1;
    for (int64_t s = 0; s < I->count; s++)
        for (int64_t t = 0; t < J->count; t++) {
            const int64_t i = listed(I, s), j = listed(J, t);
            *ref_at(region, i, j) = true;
            *ref_at(S, i, j) = *ref_at(A, s, t);
            for (int64_t f = 0; f < S->width; f++)
                ref_value(S, i, j)[f] = ref_value(A, s, t)[width > 1 ? f : 0];
        }
}

static ref_matrix *assigned(const ref_matrix *old, const ref_matrix *mask, const ref_flags *flags,
                            const ref_op *accum, const ref_matrix *A, const index_list *I,
                            const index_list *J)
{
    ref_matrix *S = ref_new(A->type, old->nrows, old->ncols, old->width),
               *region = ref_new(FTB_BOOL, old->nrows, old->ncols, 0);
    const ref_flags inside = {.structural = true};
    spread(A, I, J, S, region);
    ref_matrix *Z = ref_write(old, region, &inside, accum, S);
    ref_matrix *C = ref_write(old, mask, flags, NULL, Z);
    ref_free(S);
    ref_free(region);
    ref_free(Z);
    return C;
}

/* A number at every place of so many. */
static ref_matrix *number(FtB_Type type, ref_number x, int64_t nrows, int64_t ncols)
{
    ref_matrix *A = ref_new(type, nrows, ncols, 1);
    for (int64_t e = 0; e < nrows * ncols; e++) {
        A->present[e] = true;
        A->values[e] = x;
    }
    return A;
}

/* ---- a matrix to a matrix, or a number */

typedef struct value { /* that is assigned: one of these */
    FtB_Matrix A;
    FtB_Vector u;
    bool real;
    double x;
    int64_t integer;
} value;

static FtB_Arg arg_of(const value *v)
{
    return v->A ? FTB_ARG(v->A) : v->u ? FTB_ARG(v->u) : v->real ? FTB_ARG(v->x) : FTB_ARG(v->integer);
}

static void some_number(rng *r, value *v)
{
    v->real = rng_below(r, 2);
    v->integer = rng_below(r, 9) - 4;
    v->x = (double)v->integer / 2;
}

static ref_matrix *read_number(const value *v, int64_t nrows, int64_t ncols)
{
    return number(v->real ? FTB_FP64 : FTB_INT64, v->real ? ref_real(v->x) : ref_integer(v->integer), nrows,
                  ncols);
}

static void matrix_to_graphblas(const ref_case *c, const value *v, const index_list *I, const index_list *J)
{
    const GrB_BinaryOp accum = c->accum ? c->accum->grb : NULL;
    const GrB_Index ni = (GrB_Index)I->count, nj = (GrB_Index)J->count;
    GrB_Matrix G = NULL;
    if (v->A)
        assert_ok(FtB_Matrix_export(&G, v->A, 0));
    assert_int_equal(
        v->A ? GrB_Matrix_assign(c->grb_C, c->grb_M, accum, G, I->grb, ni, J->grb, nj, c->flags.grb)
        : v->real
            ? GrB_Matrix_assign_FP64(c->grb_C, c->grb_M, accum, v->x, I->grb, ni, J->grb, nj, c->flags.grb)
            : GrB_Matrix_assign_INT64(c->grb_C, c->grb_M, accum, v->integer, I->grb, ni, J->grb, nj,
                                      c->flags.grb),
        GrB_SUCCESS);
    GrB_Matrix_free(&G);
    ref_case_check_grb(c, 1e-12);
}

static void matrix_case(rng *r)
{
    const int64_t nrows = dimension(r), ncols = dimension(r), wide = rng_below(r, 5) == 0 ? 3 : 1;
    index_list I = some_list(r, nrows, nrows, true), J = some_list(r, ncols, ncols, true);
    ref_case c = ref_case_new(r, nrows, ncols, wide, 1);
    const bool turned = c.flags.transpose0, self = !turned && I.count == nrows && J.count == ncols;
    value v = {.A = NULL};
    if (wide == 1 && rng_below(r, 3) == 0)
        some_number(r, &v);
    else
        v.A = self && rng_below(r, 3) == 0
                  ? c.C
                  : rng_matrix(r, rng_type(r), turned ? J.count : I.count, turned ? I.count : J.count,
                               rng_below(r, 5) ? wide : 0, rng_unit(r));
    value given = v;
    ref_matrix *a = v.A ? ref_read(v.A, turned) : read_number(&v, I.count, J.count);
    if (v.A == c.C)
        assert_ok(FtB_Matrix_dup(&given.A, v.A));
    ref_matrix *want = assigned(c.old, c.mask, &c.flags, c.accum, a, &I, &J);
    const size_t length = strlen(c.what);
    snprintf(c.what + length, sizeof c.what - length, ", A %s %lld x %lld width %d", FtB_Type_name(a->type),
             (long long)a->nrows, (long long)a->ncols, (int)a->width);
    assert_ok(FtB_assign(c.C, c.M, ref_op_arg(c.accum), arg_of(&v), I.arg, J.arg, c.flags.descriptor));
    assert_valid(c.C, false);
    ref_check(c.C, want, 1e-12, c.what);
    if (c.grb_C && a->type <= FTB_FP64)
        matrix_to_graphblas(&c, &given, &I, &J);
    if (given.A)
        FtB_Matrix_free(&given.A);
    ref_free(a);
    ref_free(want);
    free_list(&I);
    free_list(&J);
    ref_case_free(&c);
}

static void matrices(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        matrix_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- vectors */

static void vector_to_graphblas(const ref_vector_case *c, const value *v, GrB_Vector G, const index_list *I)
{
    const GrB_BinaryOp accum = c->accum ? c->accum->grb : NULL;
    const GrB_Index ni = (GrB_Index)I->count;
    assert_int_equal(
        v->u      ? GrB_Vector_assign(c->grb_C, c->grb_M, accum, G, I->grb, ni, c->flags.grb)
        : v->real ? GrB_Vector_assign_FP64(c->grb_C, c->grb_M, accum, v->x, I->grb, ni, c->flags.grb)
                  : GrB_Vector_assign_INT64(c->grb_C, c->grb_M, accum, v->integer, I->grb, ni, c->flags.grb),
        GrB_SUCCESS);
    ref_vector_case_check_grb(c, 1e-12);
}

static void vector_case(rng *r)
{
    const int64_t size = dimension(r);
    index_list I = some_list(r, size, rng_below(r, 2) ? size : 3, true), J = {.count = 1};
    ref_vector_case c = ref_vector_case_new(r, size, 0);
    value v = {.A = NULL};
    if (rng_below(r, 3) == 0)
        some_number(r, &v);
    else if (I.count == size && rng_below(r, 3) == 0)
        v.u = rng_below(r, 2) && c.M ? c.M : c.C;
    else {
        v.u = rng_vector(r, rng_type(r), I.count, rng_unit(r));
        force_any_form(r, v.u);
    }
    const bool own = v.u && v.u != c.C && v.u != c.M;
    ref_matrix *a = v.u ? ref_read_vector(v.u, false) : read_number(&v, I.count, 1);
    ref_matrix *want = assigned(c.old, c.mask, &c.flags, c.accum, a, &I, &J);
    GrB_Vector G = v.u ? ref_export_vector(v.u) : NULL;
    assert_ok(FtB_assign(c.C, c.M, ref_op_arg(c.accum), arg_of(&v), I.arg, NULL, c.flags.descriptor));
    ref_check_vector(c.C, want, 1e-12, c.what);
    if (c.grb_C && a->type <= FTB_FP64)
        vector_to_graphblas(&c, &v, G, &I);
    GrB_Vector_free(&G);
    ref_free(a);
    ref_free(want);
    if (own)
        FtB_Vector_free(&v.u);
    free_list(&I);
    ref_vector_case_free(&c);
}

static void vectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 2 * CASES; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        vector_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- a row, or a column */

/* The old C with another row or column. */
static ref_matrix *with_line(const ref_matrix *old, const ref_matrix *line, bool row, int64_t at)
{
    const ref_flags all = {.replace = true};
    ref_matrix *C = ref_write(old, NULL, &all, NULL, old);
    for (int64_t t = 0; t < line->nrows; t++) {
        const int64_t i = row ? at : t, j = row ? t : at;
        *ref_at(C, i, j) = *ref_at(line, t, 0);
        *ref_value(C, i, j) = *ref_value(line, t, 0);
    }
    return C;
}

static ref_matrix *line_of(const ref_matrix *C, bool row, int64_t at)
{
    ref_matrix *line = ref_new(C->type, row ? C->ncols : C->nrows, 1, 1);
    for (int64_t t = 0; t < line->nrows; t++) {
        *ref_at(line, t, 0) = *ref_at(C, row ? at : t, row ? t : at);
        *ref_value(line, t, 0) = *ref_value(C, row ? at : t, row ? t : at);
    }
    return line;
}

static void line_case(rng *r)
{
    const int64_t nrows = 2 + rng_below(r, 30), ncols = 2 + rng_below(r, 30);
    const bool row = rng_below(r, 2);
    int64_t at = rng_below(r, row ? nrows : ncols);
    index_list along = some_list(r, row ? ncols : nrows, row ? ncols : nrows, true), J = {.count = 1};
    if (row && along.count == 1) { /* is a column's place: of_one_place */
        free_list(&along);
        return;
    }
    ref_case c = ref_case_new(r, nrows, ncols, 1, 0);
    ref_vector_case m = ref_vector_case_new(r, row ? ncols : nrows, 0); /* whose mask is taken */
    FtB_Vector u = rng_vector(r, rng_type(r), along.count, rng_unit(r)), mask = m.M == m.C ? NULL : m.M;
    force_any_form(r, u);
    const FtB_Arg one = FTB_ARG(FtB_Ids_of(&at, 1));
    ref_matrix *a = ref_read_vector(u, false), *line = line_of(c.old, row, at);
    ref_matrix *fresh = assigned(line, mask ? m.mask : NULL, &c.flags, c.accum, a, &along, &J);
    ref_matrix *want = with_line(c.old, fresh, row, at);
    if (c.M != c.C)
        FtB_Matrix_free(&c.M);
    c.M = NULL;
    const size_t length = strlen(c.what);
    snprintf(c.what + length, sizeof c.what - length, ", %s %lld, A %s %lld, mask %s", row ? "row" : "column",
             (long long)at, FtB_Type_name(u->v.type), (long long)along.count,
             mask ? FtB_Type_name(mask->v.type) : "none");
    assert_ok(FtB_assign(c.C, mask, ref_op_arg(c.accum), u, row ? one : along.arg, row ? along.arg : one,
                         c.flags.descriptor));
    assert_valid(c.C, false);
    ref_check(c.C, want, 1e-12, c.what);
    GrB_Vector G = ref_export_vector(u), N = mask ? ref_export_vector(mask) : NULL;
    if (c.grb_C && G && (!mask || N)) {
        const GrB_BinaryOp accum = c.accum ? c.accum->grb : NULL;
        const GrB_Index n = (GrB_Index)along.count;
        assert_int_equal(row ? GrB_Row_assign(c.grb_C, N, accum, G, (GrB_Index)at, along.grb, n, c.flags.grb)
                             : GrB_Col_assign(c.grb_C, N, accum, G, along.grb, n, (GrB_Index)at, c.flags.grb),
                         GrB_SUCCESS);
        ref_case_check_grb(&c, 1e-12);
    }
    GrB_Vector_free(&G);
    GrB_Vector_free(&N);
    ref_free(a);
    ref_free(line);
    ref_free(fresh);
    ref_free(want);
    FtB_Vector_free(&u);
    free_list(&along);
    ref_vector_case_free(&m);
    ref_case_free(&c);
}

static void rows_and_columns(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        line_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Where I and J have one number each it is a column, unless the mask has a row's size. */
static void of_one_place(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 0, 1, 1, 1}, J[] = {0, 1, 2, 0, 1, 2}, at = 1, zero = 0;
    const float x[] = {1, 2, 3, 4, 5, 6}, ten = 10;
    const FtB_Arg one = FTB_ARG(FtB_Ids_of(&at, 1));
    for (int row = 0; row < 2; row++) {
        FtB_Matrix C;
        FtB_Vector u, m;
        assert_ok(FtB_Matrix_build(&C, FTB_FP32, 2, 3, 1, 6, I, J, x, FTB_DUP_ERROR, NULL));
        assert_ok(FtB_Vector_build(&u, FTB_FP32, 1, 1, &zero, &ten, FTB_DUP_ERROR));
        assert_ok(FtB_Vector_build(&m, FTB_FP32, row ? 3 : 2, 1, &at, &ten, FTB_DUP_ERROR));
        assert_ok(FtB_assign(C, m, NULL, u, one, one, FTB_DESC_R)); /* what m does not admit goes */
        assert_int_equal(C->pattern->nvals, row ? 4 : 5);
        assert_true(value_at(C, 1, 1, 0, -1) == 10);
        assert_true(value_at(C, 0, 1, 0, -1) == (row ? 2 : -1));
        assert_true(value_at(C, 1, 2, 0, -1) == (row ? -1 : 6));
        FtB_Matrix_free(&C);
        FtB_Vector_free(&u);
        FtB_Vector_free(&m);
    }
}

/* ---- few of many */

/* A number where a mask says so takes the mask's memory, of a vector of 2^60 places, too, and of a matrix
 * whose places could not be counted. */
static void numbers_by_masks(void **state)
{
    (void)state;
    const int64_t size = INT64_C(1) << 60, I[] = {5, INT64_C(1) << 59}, J[] = {INT64_C(1) << 40, 7},
                  rows[] = {0, 3};
    const float x[] = {1, 2};
    FtB_Vector w, m;
    FtB_Matrix C, M;
    double z;
    assert_ok(FtB_Vector_new(&w, FTB_FP64, size));
    assert_ok(FtB_Vector_build(&m, FTB_FP32, size, 2, I, x, FTB_DUP_ERROR));
    assert_ok(FtB_assign(w, m, NULL, 0, NULL, NULL, FTB_DESC_S));
    assert_int_equal(w->v.nvals, 2);
    assert_ok(FtB_Vector_get(w, I[1], &z));
    assert_true(z == 0);
    assert_ok(FtB_assign(w, NULL, "x + y", 2.5, FtB_Ids_of(I, 1), NULL, NULL));
    assert_ok(FtB_Vector_get(w, 5, &z));
    assert_true(z == 2.5);
    assert_fails(GrB_OUT_OF_MEMORY, "", FtB_assign(w, NULL, NULL, 1, NULL, NULL, NULL));
    assert_int_equal(w->v.nvals, 2);
    assert_ok(FtB_Matrix_build(&M, FTB_FP32, 4, size, 1, 2, rows, J, x, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_INT8, 4, size, 1));
    assert_ok(FtB_assign(C, M, NULL, 7, NULL, NULL, NULL));
    assert_int_equal(C->pattern->nvals, 2);
    assert_ok(FtB_assign(C, M, NULL, 9, FtB_Ids_of(rows, 1), NULL, NULL));
    assert_int_equal(((int8_t *)matrix_values(C))[0], 9);
    assert_int_equal(((int8_t *)matrix_values(C))[1], 7);
    assert_fails(GrB_OUT_OF_MEMORY, "", FtB_assign(C, NULL, NULL, 7, NULL, NULL, NULL));
    assert_int_equal(C->pattern->nvals, 2);
    FtB_Vector_free(&w);
    FtB_Vector_free(&m);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&M);
}

/* Levels of a search: a bitmap of many places, of which a list says a few, thousands of times. */
static void many_steps(void **state)
{
    (void)state;
    enum { SIZE = 100000, STEPS = 4000 };
    FtB_Vector level, q;
    int32_t x;
    assert_ok(FtB_Vector_new(&level, FTB_INT32, SIZE));
    for (int64_t step = 0; step < STEPS; step++) {
        const int64_t at[] = {step, SIZE - 1 - step, SIZE / 2 + step};
        const bool yes[] = {true, true, true};
        assert_ok(FtB_Vector_build(&q, FTB_BOOL, SIZE, 3, at, yes, FTB_DUP_ERROR));
        if (step % 2)
            assert_ok(FtB_assign(level, q, NULL, step, NULL, NULL, FTB_DESC_S));
        else
            assert_ok(FtB_assign(level, NULL, NULL, step, FtB_Ids_of(at, 3), NULL, NULL));
        FtB_Vector_free(&q);
    }
    assert_int_equal(level->v.form, FTB_VECTOR_BITMAP);
    assert_valid_vector(level);
    assert_int_equal(level->v.nvals, 3 * STEPS);
    assert_ok(FtB_Vector_get(level, SIZE - 1 - 1234, &x));
    assert_int_equal(x, 1234);
    assert_int_equal(FtB_Vector_get(level, STEPS, &x), GrB_NO_VALUE);
    FtB_Vector_free(&level);
}

/* ---- bits, refusals, memory */

static void threads(void **state)
{
    (void)state;
    enum { N = 400, LIST = 150, SIZE = 150000 };
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, LIST, LIST, 1, 0.3), old = rng_matrix(&r, FTB_FP64, N, N, 1, 0.2),
               first = NULL;
    FtB_Vector u = rng_vector(&r, FTB_FP32, SIZE / 3, 0.5), before = rng_vector(&r, FTB_FP32, SIZE, 0.4),
               one = NULL;
    int64_t rows[LIST], columns[LIST], *places = malloc(sizeof *places * (SIZE / 3));
    for (int t = 0; t < LIST; t++) {
        rows[t] = (t * 7 + 3) % N;
        columns[t] = (t * 11 + 5) % N;
    }
    for (int64_t t = 0; t < SIZE / 3; t++)
        places[t] = (t * 7919) % SIZE;
    for (int n = 1; n <= 8; n++) {
        FtB_Matrix C;
        FtB_Vector w;
        assert_ok(FtB_Context_set_threads(NULL, n));
        assert_ok(FtB_Matrix_dup(&C, old));
        assert_ok(
            FtB_assign(C, NULL, "x + y / 3", A, FtB_Ids_of(rows, LIST), FtB_Ids_of(columns, LIST), NULL));
        assert_ok(FtB_Vector_dup(&w, before));
        assert_ok(FtB_assign(w, NULL, "x + y / 3", u, FtB_Ids_of(places, SIZE / 3), NULL, NULL));
        assert_valid_vector(w);
        if (first) {
            assert_same(C, first);
            assert_same_vector(w, one);
            FtB_Matrix_free(&C);
            FtB_Vector_free(&w);
        } else {
            first = C;
            one = w;
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&old);
    FtB_Matrix_free(&first);
    FtB_Vector_free(&u);
    FtB_Vector_free(&before);
    FtB_Vector_free(&one);
    free(places);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix C = rng_matrix(&r, FTB_FP32, 6, 5, 1, 0.5), W = rng_matrix(&r, FTB_FP32, 6, 5, 3, 0.5), K,
               before, A = rng_matrix(&r, FTB_FP32, 2, 2, 1, 0.5);
    FtB_Vector u = rng_vector(&r, FTB_FP32, 6, 0.5), w = rng_vector(&r, FTB_FP32, 2, 2), then;
    const int64_t twice[] = {3, 1, 3}, two[] = {1, 2}, I[] = {0, 0}, J[] = {1, 1};
    const float x[] = {1, 2};
    const FtB_Ids all = FtB_Ids_of(two, 2), one = FtB_Ids_of(two, 1);
    assert_ok(FtB_Matrix_build(&K, FTB_FP32, 6, 5, 1, 2, I, J, x, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_dup(&before, C));
    assert_ok(FtB_Vector_dup(&then, u));
    assert_fails(GrB_INVALID_VALUE, "I has 3 twice, at 0 and 2",
                 FtB_assign(C, NULL, NULL, 1, FtB_Ids_of(twice, 3), all, NULL));
    assert_fails(GrB_INVALID_VALUE, "J has 3 twice",
                 FtB_assign(C, NULL, NULL, 1, all, FtB_Ids_of(twice, 3), NULL));
    assert_fails(GrB_INVALID_VALUE, "I has 3 twice",
                 FtB_assign(u, NULL, NULL, 1, FtB_Ids_of(twice, 3), NULL, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "I[0] is 3; expected 0 to 1",
                 FtB_assign(w, NULL, NULL, 1, FtB_Ids_of(twice, 1), NULL, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 2 x 2; expected 2 x 1, as the lists",
                 FtB_assign(C, NULL, NULL, A, all, one, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A' is 5 x 6; expected 2 x 2",
                 FtB_assign(C, NULL, NULL, C, all, all, FTB_DESC_T0));
    assert_fails(GrB_DIMENSION_MISMATCH, "the mask is 2 x 2", FtB_assign(C, A, NULL, A, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "C of width 3", FtB_assign(W, NULL, NULL, A, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is a number", FtB_assign(W, NULL, NULL, 1.5, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is a vector", FtB_assign(W, NULL, NULL, w, all, one, NULL));
    assert_fails(GrB_INVALID_VALUE, "C has parallel edges", FtB_assign(K, NULL, NULL, A, all, all, NULL));
    assert_fails(GrB_INVALID_VALUE, "C has parallel edges", FtB_assign(K, NULL, NULL, 1, all, all, NULL));
    assert_fails(GrB_INVALID_VALUE, "A has parallel edges", FtB_assign(C, NULL, NULL, K, NULL, NULL, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "I and J are of 2 and 2",
                 FtB_assign(C, NULL, NULL, w, all, all, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 6 places; expected 2",
                 FtB_assign(C, NULL, NULL, u, all, one, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "M has 2 places; expected 6, as the column",
                 FtB_assign(C, w, NULL, w, all, one, NULL));
    assert_fails(GrB_INVALID_VALUE, "M is an FtB_Matrix; expected an FtB_Vector",
                 FtB_assign(C, C, NULL, w, all, one, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Matrix; expected an FtB_Vector",
                 FtB_assign(u, NULL, NULL, A, all, NULL, NULL));
    assert_fails(GrB_INVALID_VALUE, "J is an FtB_Ids; expected NULL",
                 FtB_assign(u, NULL, NULL, w, all, one, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 2 places; expected 1",
                 FtB_assign(u, NULL, NULL, w, one, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_assign(C, NULL, NULL, NULL, all, all, NULL));
    assert_fails(GrB_NULL_POINTER, "C is NULL", FtB_assign(NULL, NULL, NULL, A, all, all, NULL));
    assert_fails(GrB_INVALID_VALUE, "accum", FtB_assign(C, NULL, "x + z", A, all, all, NULL));
    assert_fails(GrB_INVALID_VALUE, "accum", FtB_assign(u, NULL, "x + z", w, all, NULL, NULL));
    assert_same(C, before);
    assert_same_vector(u, then);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&K);
    FtB_Matrix_free(&before);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    FtB_Vector_free(&then);
}

static GrB_Info unchanged(GrB_Info info, FtB_Matrix C, FtB_Matrix before)
{
    if (info != GrB_SUCCESS)
        assert_same(C, before);
    return info;
}

static GrB_Info calls(void *arg)
{
    const int64_t I[] = {0, 0, 2, 3}, J[] = {1, 2, 0, 3}, rows[] = {3, 0, 1}, columns[] = {2, 1, 0};
    const float x[] = {1, 2, 3, 4};
    FtB_Matrix A = NULL, C = NULL, before = NULL;
    FtB_Vector u = NULL, w = NULL, then = NULL;
    GrB_Info info;
    (void)arg;
    const FtB_Ids by_row = FtB_Ids_of(rows, 3), by_column = FtB_Ids_of(columns, 3), one = FtB_Ids_of(rows, 1);
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 3, columns, columns, x, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Matrix_build(&C, FTB_INT32, 4, 4, 1, 4, I, J, x, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Vector_build(&u, FTB_FP32, 3, 2, columns, x, FTB_DUP_ERROR));
    FTB_CHECK(FtB_Vector_build(&w, FTB_INT8, 4, 3, rows, "abc", FTB_DUP_ERROR));
    FTB_CHECK(FtB_Matrix_dup(&before, C));
    FTB_CHECK(FtB_Vector_dup(&then, w));
    FTB_CHECK(unchanged(FtB_assign(C, NULL, "x + y", A, by_row, by_column, FTB_DESC_T0), C, before));
    FtB_Matrix_free(&before);
    FTB_CHECK(FtB_Matrix_dup(&before, C));
    FTB_CHECK(unchanged(FtB_assign(C, C, NULL, 3, by_row, NULL, FTB_DESC_R), C, before));
    FtB_Matrix_free(&before);
    FTB_CHECK(FtB_Matrix_dup(&before, C));
    FTB_CHECK(unchanged(FtB_assign(C, NULL, NULL, 2.5, by_row, by_column, NULL), C, before));
    FtB_Matrix_free(&before);
    FTB_CHECK(FtB_Matrix_dup(&before, C));
    FTB_CHECK(unchanged(FtB_assign(C, w, "x * y", u, one, by_column, NULL), C, before));
    info = FtB_assign(w, w, "x + y", u, by_row, NULL, FTB_DESC_S);
    if (info != GrB_SUCCESS)
        assert_same_vector(w, then);
    if (info == GrB_SUCCESS)
        info = FtB_assign(w, NULL, NULL, 1, by_row, NULL, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_assign(w, NULL, NULL, 2.5, NULL, NULL, NULL);
done:
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    FtB_Vector_free(&then);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(calls, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),
        cmocka_unit_test(vectors),
        cmocka_unit_test(rows_and_columns),
        cmocka_unit_test(of_one_place),
        cmocka_unit_test(numbers_by_masks),
        cmocka_unit_test(many_steps),
        cmocka_unit_test(threads),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
