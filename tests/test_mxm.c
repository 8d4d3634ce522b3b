/* FtB_mxm against three loops and against GraphBLAS: shapes, widths, masks, accumulators, transposes,
 * dtypes, semirings, aliasing, threads and forced plans, at random. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_case.h"
#include "oracle/ref_mxm.h"
#include "support/compare.h"
#include "support/fail_alloc.h"

#include <stdlib.h>

#define CASES rng_cases(1200)

/* The plan's choices that are forced, and how often each was. */
static const struct {
    const char *key, *values[5];
} choices[] = {{"accumulator", {"dense", "list", "hash", "slot", "auto"}},
               {"ids", {"16", "32", NULL}},
               {"chunk_rows", {"1", "2", "7", "1000", NULL}},
               {"threads", {"1", "2", "3", NULL}},
               {"relabel", {"0", "1", NULL}}};
#define CHOICES ((int)(sizeof choices / sizeof *choices))
static int forced[CHOICES][5];

typedef struct mxm_case {
    ref_case c;
    ref_semiring s;
    FtB_Matrix A, B; /* as passed: before their transposes */
    FtB_Descriptor desc;
    FtB_Plan plan;
    GrB_Matrix grb_A, grb_B;
} mxm_case;

/* ---- making a case */

/* The oracle takes m n p steps. */
static int64_t dimension(rng *r)
{
    int64_t n = ref_dimension(r);
    return n <= 70 ? n : 1;
}

/* Sparse, with one full row now and then, or full. */
static FtB_Matrix operand(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width)
{
    FtB_Matrix A =
        rng_matrix(r, type, nrows, ncols, width, rng_below(r, 4) ? 0.3 * rng_unit(r) : rng_unit(r));
    if (nrows == 0 || rng_below(r, 3))
        return A;
    ref_matrix *dense = ref_read(A, false);
    int64_t hub = rng_below(r, nrows);
    for (int64_t j = 0; j < ncols; j++) {
        *ref_at(dense, hub, j) = true;
        for (int64_t f = 0; f < width; f++)
            ref_value(dense, hub, j)[f] = ref_integer(1 + rng_below(r, 3));
    }
    FtB_Matrix_free(&A);
    A = ref_build(dense);
    ref_free(dense);
    return A;
}

/* SuiteSparse:GraphBLAS 7.4 does not return from a masked product of an operand without entries. */
static bool in_graphblas(const mxm_case *m)
{
    bool empty = m->A->pattern->nvals == 0 || m->B->pattern->nvals == 0;
    return !(m->c.M && empty) && m->c.grb_C && m->s.grb && m->A->type <= FTB_FP64 && m->B->type <= FTB_FP64 &&
           m->A->width <= 1 && m->B->width <= 1;
}

/* Operands of a product m x p times p x n, one of them C where that is possible and the dice say so. */
static void choose_operands(mxm_case *m, rng *r, int64_t p, int64_t width_a, int64_t width_b)
{
    int64_t nrows = m->c.old->nrows, ncols = m->c.old->ncols, dice = rng_below(r, 4);
    bool turn_a = m->c.flags.transpose0, turn_b = m->c.flags.transpose1;
    bool square = nrows == ncols && p == nrows;
    if (square && m->c.old->width == width_a && dice == 0)
        m->A = m->c.C;
    else
        m->A = operand(r, rng_type(r), turn_a ? p : nrows, turn_a ? nrows : p, width_a);
    if (square && m->c.old->width == width_b && dice <= 1)
        m->B = m->c.C;
    else
        m->B = operand(r, rng_type(r), turn_b ? ncols : p, turn_b ? p : ncols, width_b);
}

static void force_plan(mxm_case *m, rng *r, FtB_Arg accum, FtB_Arg semiring, FtB_Arg desc)
{
    assert_ok(FtB_mxm_plan(&m->plan, m->c.C, m->c.M, accum, semiring, m->A, m->B, desc, FTB_ESTIMATE));
    for (int t = 0; t < CHOICES; t++) {
        int value = (int)rng_below(r, 6);
        if (value == 5 || !choices[t].values[value])
            continue;
        assert_ok(FtB_Plan_set(m->plan, choices[t].key, choices[t].values[value]));
        forced[t][value]++;
        size_t length = strlen(m->c.what);
        snprintf(m->c.what + length, sizeof m->c.what - length, ", %s %s", choices[t].key,
                 choices[t].values[value]);
    }
    assert_ok(FtB_Descriptor_new(&m->desc));
    assert_ok(FtB_Descriptor_set(m->desc, FTB_TRANSPOSE0, (int)m->c.flags.transpose0));
    assert_ok(FtB_Descriptor_set(m->desc, FTB_TRANSPOSE1, (int)m->c.flags.transpose1));
    assert_ok(FtB_Descriptor_set(m->desc, FTB_STRUCTURAL, (int)m->c.flags.structural));
    assert_ok(FtB_Descriptor_set(m->desc, FTB_COMPLEMENT, (int)m->c.flags.complement));
    assert_ok(FtB_Descriptor_set(m->desc, FTB_REPLACE, (int)m->c.flags.replace));
    assert_ok(FtB_Descriptor_set(m->desc, FTB_PLAN, m->plan));
}

static void free_case(mxm_case *m)
{
    if (m->A != m->c.C)
        FtB_Matrix_free(&m->A);
    if (m->B != m->c.C)
        FtB_Matrix_free(&m->B);
    GrB_Matrix_free(&m->grb_A);
    GrB_Matrix_free(&m->grb_B);
    FtB_Descriptor_free(&m->desc);
    FtB_Plan_free(&m->plan);
    ref_case_free(&m->c);
}

/* ---- one case */

static void run_case(mxm_case *m, rng *r)
{
    FtB_Arg accum = ref_op_arg(m->c.accum), semiring = ref_semiring_arg(&m->s);
    FtB_Arg desc = rng_below(r, 2) ? FTB_ARG(m->c.flags.descriptor) : FTB_ARG(m->c.flags.grb);
    if (rng_below(r, 2))
        force_plan(m, r, accum, semiring, desc);
    if (m->desc)
        desc = FTB_ARG(m->desc);
    assert_ok(FtB_mxm(m->c.C, m->c.M, accum, semiring, m->A, m->B, desc));
}

/* Whether the oracle can say what the result is. */
static bool comparable(const mxm_case *m)
{
    const ref_case *c = &m->c;
    bool single = c->old->type == FTB_FP32 || c->old->type == FTB_FP64;
    bool whole = c->accum && c->accum->domain && !ftb_type_float(c->accum->domain);
    if (m->s.mask && (!c->M || c->flags.complement || c->mask->width != 1))
        return false; /* m is not known there */
    if (m->s.inexact && (!single || whole))
        return false; /* a cast to fewer digits may go either way */
    /* Texts add unsigned numbers modulo 2^64; the oracle's do not wrap. */
    return !(c->accum && c->accum->text && m->s.domain && ftb_type_compute(m->s.domain) == FTB_UINT64);
}

/* false: the dice made no case. */
static bool random_case(rng *r)
{
    static const int64_t widths[][2] = {{1, 1}, {1, 1}, {0, 0}, {0, 1}, {1, 0}, {3, 3}, {1, 3}, {3, 0}};
    mxm_case m = {.s = ref_semiring_of((int)rng_below(r, ref_semirings()))};
    if (rng_below(r, 2)) /* texts are few among many built-in ones */
        m.s = ref_semiring_of((int)rng_below(r, ref_texts()));
    const int64_t *width = widths[rng_below(r, m.s.scalars || m.s.grb ? 5 : 8)];
    int64_t nrows = dimension(r), p = dimension(r), ncols = dimension(r);
    if (rng_below(r, 3) == 0)
        p = ncols = nrows;
    m.c = ref_case_new(r, nrows, ncols, ref_semiring_width(&m.s, width[0], width[1]), 2);
    if (!comparable(&m)) {
        ref_case_free(&m.c);
        return false;
    }
    choose_operands(&m, r, p, width[0], width[1]);
    ref_matrix *a = ref_read(m.A, m.c.flags.transpose0), *b = ref_read(m.B, m.c.flags.transpose1);
    ref_matrix *T = ref_mxm(&m.s, a, b, m.c.mask, NULL);
    size_t length = strlen(m.c.what);
    snprintf(m.c.what + length, sizeof m.c.what - length, ", %s, A %s width %d, B %s width %d, inner %d",
             m.s.text ? m.s.text : FtB_Type_name(m.s.domain), FtB_Type_name(a->type), (int)a->width,
             FtB_Type_name(b->type), (int)b->width, (int)p);
    bool grb = in_graphblas(&m);
    if (grb) {
        assert_ok(FtB_Matrix_export(&m.grb_A, m.A, 0));
        assert_ok(FtB_Matrix_export(&m.grb_B, m.B, 0));
        assert_int_equal(GrB_mxm(m.c.grb_C, m.c.grb_M, m.c.accum ? m.c.accum->grb : NULL, m.s.grb, m.grb_A,
                                 m.grb_B, m.c.flags.grb),
                         GrB_SUCCESS);
    }
    run_case(&m, r);
    double tolerance = m.s.inexact ? 1e-5 : 1e-12;
    ref_case_check(&m.c, T, tolerance);
    if (grb)
        ref_case_check_grb(&m.c, tolerance);
    ref_free(a);
    ref_free(b);
    free_case(&m);
    return true;
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES;) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        t += random_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    for (int t = 0; t < CHOICES; t++)
        for (int v = 0; v < 5 && choices[t].values[v]; v++)
            if (forced[t][v] == 0)
                fail_msg("%s = %s was never run", choices[t].key, choices[t].values[v]);
}

/* ---- bits */

static FtB_Matrix reals(rng *r, int64_t nrows, int64_t ncols)
{
    FtB_Matrix A = rng_matrix(r, FTB_FP64, nrows, ncols, 1, 0.3);
    double *x = matrix_values(A);
    for (int64_t e = 0; e < A->pattern->nvals; e++)
        x[e] = rng_unit(r) - 0.5;
    return A;
}

/* One numeric plan: the same bits for any number of threads, rows per chunk and memory limit. */
static void bits_of_a_plan(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = reals(&r, 60, 50), B = reals(&r, 50, 70), C, first;
    for (int a = 0; a < 5; a++)
        for (int relabel = 0; relabel < 2; relabel++) {
            first = NULL;
            for (int t = 0; t < 9; t++) {
                FtB_Plan plan;
                FtB_Descriptor desc;
                assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
                assert_ok(FtB_Matrix_new(&C, FTB_FP64, 60, 70, 1));
                assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, "plus : a * b", A, B, NULL, FTB_ESTIMATE));
                assert_ok(FtB_Plan_set(plan, "accumulator", choices[0].values[a]));
                assert_ok(FtB_Plan_set(plan, "relabel", relabel ? "1" : "0"));
                assert_ok(FtB_Plan_set(plan, "chunk_rows", choices[2].values[t / 3]));
                assert_ok(FtB_Descriptor_new(&desc));
                assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
                assert_ok(FtB_mxm(C, NULL, NULL, "plus : a * b", A, B, desc));
                if (first)
                    assert_same(C, first);
                else
                    assert_ok(FtB_Matrix_dup(&first, C));
                FtB_Matrix_free(&C);
                FtB_Descriptor_free(&desc);
                FtB_Plan_free(&plan);
            }
            FtB_Matrix_free(&first);
        }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* A limit that cannot be met is refused with C as it was; one that can changes no bit. */
static void memory_limits(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    FtB_Matrix A = reals(&r, 60, 50), B = reals(&r, 50, 70), C, before, whole;
    int64_t held;
    int refused = 0, done = 0;
    assert_ok(FtB_Matrix_new(&whole, FTB_FP64, 60, 70, 1));
    assert_ok(FtB_mxm(whole, NULL, NULL, "plus : a * b", A, B, NULL));
    C = reals(&r, 60, 70);
    assert_ok(FtB_Matrix_dup(&before, C));
    for (int64_t room = 100; room < (INT64_C(1) << 26); room = room * 3 / 2) {
        assert_ok(FtB_Context_memory(ctx, &held, NULL));
        assert_ok(FtB_Context_set_memory_limit(ctx, held + room));
        GrB_Info info = FtB_mxm(C, NULL, NULL, "plus : a * b", A, B, NULL);
        assert_ok(FtB_Context_set_memory_limit(ctx, 0));
        if (info != GrB_SUCCESS) {
            assert_int_equal(info, FTB_LIMIT);
            assert_same(C, before);
            refused++;
        } else {
            assert_same(C, whole);
            FtB_Matrix_free(&C);
            assert_ok(FtB_Matrix_dup(&C, before));
            done++;
        }
    }
    assert_true(refused > 0 && done > 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    FtB_Matrix_free(&whole);
    FtB_Context_free(&ctx);
}

/* ---- other kinds of semiring */

static void weigh(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                  const void *theta)
{
    (void)dst;
    for (int64_t f = 0; f < width; f++)
        z[f] = src[f] * *(const float *)theta + edge[f];
}

static void c_function(void **state)
{
    (void)state;
    const float theta = 3;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 20, 15, 1, 0.3), B = rng_matrix(&r, FTB_FP32, 15, 25, 1, 0.3), C,
               D;
    FtB_Semiring s;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 20, 25, 1));
    assert_ok(FtB_Matrix_dup(&D, C));
    assert_ok(FtB_Semiring_new_function(&s, "max", weigh, 1, &theta));
    assert_ok(FtB_mxm(C, NULL, NULL, s, A, B, NULL));
    assert_ok(FtB_mxm(D, NULL, NULL, "max : b * 3 + a", A, B, NULL));
    assert_close(C, D, 0);
    FtB_Semiring_free(&s);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
}

static void bound_names(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 20, 15, 1, 0.3), B = rng_matrix(&r, FTB_INT8, 15, 25, 1, 0.3), C,
               D;
    double norm[15];
    FtB_Block X;
    FtB_Semiring s, bound;
    for (int k = 0; k < 15; k++)
        norm[k] = 2 * k;
    assert_ok(FtB_Block_wrap(&X, norm, 15, 1, 1, FTB_FP64));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 20, 25, 1));
    assert_ok(FtB_Matrix_dup(&D, C));
    assert_ok(FtB_Semiring_new(&s, "plus : a * scale + norm[k]"));
    assert_fails(GrB_INVALID_VALUE, "scale", FtB_mxm(C, NULL, NULL, s, A, B, NULL));
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("scale", 0.5), FTB_BIND("norm", X)));
    assert_ok(FtB_mxm(C, NULL, NULL, bound, A, B, NULL));
    assert_ok(FtB_mxm(D, NULL, NULL, "plus : a / 2 + 2 * k", A, B, NULL));
    assert_same(C, D);
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&bound);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
}

static void winners(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200; t++) {
        ref_semiring s = ref_semiring_of(t % 2 ? 5 : 6); /* max : min(a, b), min : max(a, b) */
        int64_t n = dimension(&r), p = dimension(&r);
        ref_case c = ref_case_new(&r, n, n, 1, 2);
        FtB_Matrix A = operand(&r, FTB_INT32, c.flags.transpose0 ? p : n, c.flags.transpose0 ? n : p, 1), E;
        FtB_Matrix B = operand(&r, FTB_FP32, c.flags.transpose1 ? n : p, c.flags.transpose1 ? p : n, 1);
        ref_matrix *a = ref_read(A, c.flags.transpose0), *b = ref_read(B, c.flags.transpose1);
        ref_matrix *winner = ref_new(FTB_INT64, n, n, 1), *T = ref_mxm(&s, a, b, NULL, winner), *none;
        assert_ok(FtB_Matrix_new(&E, FTB_INT64, n, n, 1));
        assert_ok(FtB_mxm_arg(c.C, E, c.M, s.text, A, B, c.flags.descriptor));
        c.accum = NULL;
        c.flags.replace = true; /* implied */
        none = ref_write(winner, c.mask, &c.flags, NULL, winner);
        ref_check(E, none, 0, c.what);
        ref_case_check(&c, T, 0);
        ref_free(none);
        ref_free(winner);
        ref_free(a);
        ref_free(b);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
        FtB_Matrix_free(&E);
        ref_case_free(&c);
    }
}

/* ---- refusals */

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 5, 1, 0.6), B = rng_matrix(&r, FTB_FP32, 5, 3, 1, 0.6),
               none = NULL;
    FtB_Matrix C = rng_matrix(&r, FTB_FP32, 4, 3, 1, 0.6), W = rng_matrix(&r, FTB_FP32, 5, 3, 3, 0.6), before;
    FtB_Matrix V = rng_matrix(&r, FTB_FP32, 4, 5, 2, 0.6), M = rng_matrix(&r, FTB_BOOL, 3, 3, 1, 0.6);
    assert_ok(FtB_Matrix_dup(&before, C));
    assert_fails(GrB_NULL_POINTER, "C", FtB_mxm(none, NULL, NULL, "plus : a", A, B, NULL));
    assert_fails(GrB_NULL_POINTER, "semiring", FtB_mxm(C, NULL, NULL, NULL, A, B, NULL));
    assert_fails(GrB_NULL_POINTER, "A", FtB_mxm(C, NULL, NULL, "plus : a", none, B, NULL));
    assert_fails(GrB_NULL_POINTER, "B", FtB_mxm(C, NULL, NULL, "plus : a", A, none, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "4 x 5", FtB_mxm(C, NULL, NULL, "plus : a", A, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "4 x 3", FtB_mxm(C, NULL, NULL, "plus : a", B, B, FTB_DESC_T0));
    assert_fails(GrB_DIMENSION_MISMATCH, "3 x 3", FtB_mxm(C, M, NULL, "plus : a", A, B, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "width", FtB_mxm(C, NULL, NULL, "plus : a", V, W, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "width", FtB_mxm(C, NULL, "x + y", "plus : b", A, W, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'c'", FtB_mxm(C, NULL, NULL, "plus : a + c", A, B, NULL));
    assert_fails(GrB_INVALID_VALUE, "edge", FtB_mxm(C, NULL, NULL, "plus : edge", A, B, NULL));
    assert_fails(GrB_INVALID_VALUE, "'m'", FtB_mxm(C, NULL, NULL, "plus : a * m", A, B, NULL));
    assert_same(C, before);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&V);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&before);
}

/* A plan is for its own call: other patterns, shapes and dtypes are refused. */
static void foreign_plan(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 5, 5, 1, 0.6), B = rng_matrix(&r, FTB_FP64, 5, 5, 1, 0.6), C,
               before;
    FtB_Plan plan;
    FtB_Descriptor desc;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 5, 5, 1));
    assert_ok(FtB_Matrix_dup(&before, C));
    assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, "plus : a * b", A, A, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Descriptor_new(&desc));
    assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    assert_fails(GrB_INVALID_VALUE, "plan", FtB_mxm(C, NULL, NULL, "plus : a * b", B, B, desc));
    assert_same(C, before);
    assert_fails(GrB_INVALID_VALUE, "accumulator", FtB_Plan_set(plan, "no such key", "1"));
    assert_ok(FtB_mxm(C, NULL, NULL, "plus : a * b", A, A, desc));
    FtB_Plan_free(&plan);
    FtB_Descriptor_free(&desc);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, C = NULL, before = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const float x[] = {1, 2, 3, 4};
    const char *semiring = arg;
    if ((info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_dup(&C, A)) == GrB_SUCCESS && (info = FtB_Matrix_dup(&before, A)) == GrB_SUCCESS &&
        (info = FtB_mxm(C, C, "x + y", semiring, A, A, FTB_DESC_CT0)) != GrB_SUCCESS)
        assert_same(C, before);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    char times[] = "plus : a * b", any[] = "min : a + di * b", one[] = "plus : 1";
    fail_every_allocation(call, NULL, times);
    fail_every_allocation(call, NULL, any);
    fail_every_allocation(call, NULL, one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),
        cmocka_unit_test(bits_of_a_plan),
        cmocka_unit_test(memory_limits),
        cmocka_unit_test(c_function),
        cmocka_unit_test(bound_names),
        cmocka_unit_test(winners),
        cmocka_unit_test(refusals),
        cmocka_unit_test(foreign_plan),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
