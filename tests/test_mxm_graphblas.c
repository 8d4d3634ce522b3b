/* Every built-in semiring of GraphBLAS that is known here, with every dtype of C: FtB_mxm beside GrB_mxm.
 * Operands are of the semiring's own type and of others, whole numbers up to the types' ends, reals in
 * (-1, 1), infinities and NaN; rows are longer than any vector. Values are the same, to the last bit, where
 * one product makes an entry, and where several do in whole numbers. Rows of a block in place of B's give
 * the same, and so do two blocks.
 * Labels: property, serial */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "core/graphblas/bridge.h"
#include "expr/grb.h"
#include "support/compare.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define COLS 40

typedef struct built_in {
    GrB_Semiring handle;
    FtB_Type domain;
    char text[FTB_GRB_TEXT];
    ftb_monoid monoid;
} built_in;

/* ---- operands */

static double any_real(rng *r)
{
    static const double special[] = {0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 1e30, -1e-30, 200.75, -40000.5};
    int64_t dice = rng_below(r, 8);
    return dice == 0   ? special[rng_below(r, (int64_t)(sizeof special / sizeof *special))]
           : dice == 1 ? (double)(rng_below(r, 19) - 9)
                       : 2 * rng_unit(r) - 1;
}

static FtB_Matrix operand(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, double density)
{
    FtB_Matrix A = rng_matrix(r, type, nrows, ncols, 1, density);
    size_t size = FtB_Type_size(type);
    for (int64_t e = 0; e < A->pattern->nvals; e++) {
        char *to = (char *)matrix_values(A) + (size_t)e * size;
        double x = any_real(r);
        if (ftb_type_float(type))
            ftb_cast(to, type, &x, FTB_FP64, 1);
        else if (rng_below(r, 2))
            rng_any_values(r, to, type, 1);
    }
    return A;
}

/* A full row of COLS entries, or one entry. */
static FtB_Matrix full_row(rng *r, FtB_Type type, int64_t ncols)
{
    for (;;) {
        FtB_Matrix A = operand(r, type, 1, ncols, 2);
        if (A->pattern->nvals == ncols)
            return A;
        FtB_Matrix_free(&A);
    }
}

static FtB_Type graphblas_type(rng *r) { return (FtB_Type)(FTB_BOOL + rng_below(r, FTB_FP64)); }

/* ---- products */

static GrB_Type type_of(FtB_Type type)
{
    const GrB_Type types[] = {[FTB_BOOL] = GrB_BOOL,     [FTB_INT8] = GrB_INT8,     [FTB_INT16] = GrB_INT16,
                              [FTB_INT32] = GrB_INT32,   [FTB_INT64] = GrB_INT64,   [FTB_UINT8] = GrB_UINT8,
                              [FTB_UINT16] = GrB_UINT16, [FTB_UINT32] = GrB_UINT32, [FTB_UINT64] = GrB_UINT64,
                              [FTB_FP32] = GrB_FP32,     [FTB_FP64] = GrB_FP64};
    return types[type];
}

/* C in GraphBLAS; its types end at FP64, so 16-bit floats are cast from what it computes. */
static FtB_Matrix theirs(const built_in *s, FtB_Matrix A, FtB_Matrix B, FtB_Type type)
{
    GrB_Matrix a, b, c;
    FtB_Matrix C, cast;
    int64_t nrows = A->pattern->nrows, ncols = B->pattern->ncols;
    bool half = type > FTB_FP64;
    assert_ok(FtB_Matrix_export(&a, A, 0));
    assert_ok(FtB_Matrix_export(&b, B, 0));
    assert_ok(GrB_Matrix_new(&c, type_of(half ? FTB_FP64 : type), (GrB_Index)nrows, (GrB_Index)ncols));
    assert_ok(GrB_mxm(c, NULL, NULL, s->handle, a, b, NULL));
    assert_ok(FtB_Matrix_import(&C, c));
    GrB_Matrix_free(&a);
    GrB_Matrix_free(&b);
    GrB_Matrix_free(&c);
    if (!half)
        return C;
    assert_ok(FtB_Matrix_new(&cast, type, nrows, ncols, 1));
    assert_ok(ftb_matrix_become(cast, C));
    return cast;
}

static void same_pattern(const built_in *s, FtB_Matrix C, FtB_Matrix D)
{
    const ftb_pattern *p = C->pattern, *q = D->pattern;
    if (p->nvals != q->nvals ||
        memcmp(p->rowptr, q->rowptr, (size_t)(p->nrows + 1) * sizeof *p->rowptr) != 0 ||
        memcmp(p->colidx, q->colidx, (size_t)p->nvals * sizeof(int32_t)) != 0)
        fail_msg("%s over %s: another pattern", s->text, FtB_Type_name(s->domain));
}

static void same_value(const built_in *s, FtB_Matrix A, FtB_Matrix B, FtB_Type type, const void *ours,
                       const void *want, int64_t e)
{
    double x = ftb_get_real(ours, type, e), y = ftb_get_real(want, type, e);
    if (x != y && !(isnan(x) && isnan(y)))
        fail_msg("%s over %s, A %s, B %s, C %s, entry %lld: %.17g; GraphBLAS says %.17g", s->text,
                 FtB_Type_name(s->domain), FtB_Type_name(A->type), FtB_Type_name(B->type),
                 FtB_Type_name(type), (long long)e, x, y);
}

static void compare(const built_in *s, FtB_Matrix A, FtB_Matrix B, FtB_Type type, bool values)
{
    FtB_Matrix C, D = theirs(s, A, B, type);
    assert_ok(FtB_Matrix_new(&C, type, A->pattern->nrows, B->pattern->ncols, 1));
    assert_ok(FtB_mxm(C, NULL, NULL, s->handle, A, B, NULL));
    assert_valid(C, false);
    same_pattern(s, C, D);
    for (int64_t e = 0; e < C->pattern->nvals && values; e++)
        same_value(s, A, B, type, matrix_values(C), matrix_values(D), e);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
}

/* Whether GraphBLAS must get the same values from several products of an entry: it may take any one, and
 * sums of reals in another order may be cast to another whole number. */
static bool determined(const built_in *s)
{
    bool sums = s->monoid == FTB_PLUS || s->monoid == FTB_TIMES;
    return s->monoid != FTB_ANY && !(sums && ftb_type_float(s->domain));
}

/* The same with rows of blocks for rows of B. */
static void compare_block(const built_in *s, FtB_Matrix A, FtB_Matrix B, FtB_Type type)
{
    FtB_Block X, C;
    FtB_Matrix D = theirs(s, A, B, type);
    assert_ok(FtB_Block_new(&X, 1, COLS, B->type));
    assert_ok(FtB_Block_new(&C, 1, COLS, type));
    memcpy(block_values(X), matrix_values(B), COLS * FtB_Type_size(B->type));
    if (strchr(strchr(s->text, ':'), 'j'))
        assert_fails(GrB_DOMAIN_MISMATCH, "SECONDJ", FtB_mxm(C, NULL, NULL, s->handle, A, X, NULL));
    else {
        assert_ok(FtB_mxm(C, NULL, NULL, s->handle, A, X, NULL));
        for (int64_t e = 0; e < COLS; e++)
            same_value(s, A, B, type, block_values(C), matrix_values(D), e);
    }
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Matrix_free(&D);
}

/* The same of two blocks, whose one feature is the inner index; C's mask admits all. */
static void compare_blocks(const built_in *s, FtB_Matrix A, FtB_Matrix B, FtB_Type type)
{
    FtB_Block X, Y;
    FtB_Matrix M, C, D;
    bool unknown = s->monoid == FTB_MIN || s->monoid == FTB_MAX || s->monoid == FTB_TIMES;
    if (unknown || !strpbrk(strchr(s->text, ':'), "ab"))
        return; /* not over features; nor 1 or an index for every one */
    D = theirs(s, A, B, type);
    assert_ok(FtB_Block_new(&X, 1, 1, A->type));
    assert_ok(FtB_Block_new(&Y, COLS, 1, B->type));
    memcpy(block_values(X), matrix_values(A), FtB_Type_size(A->type));
    memcpy(block_values(Y), matrix_values(B), COLS * FtB_Type_size(B->type));
    assert_ok(FtB_Matrix_dup(&M, B));
    assert_ok(FtB_Matrix_new(&C, type, 1, COLS, 1));
    assert_ok(FtB_mxm(C, M, NULL, s->handle, X, Y, FTB_DESC_RST1));
    for (int64_t e = 0; e < COLS; e++)
        same_value(s, A, B, type, matrix_values(C), matrix_values(D), e);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
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
        built_in s = read_semiring(*table->at[row]);
        const FtB_Type of_block = rng_type(&r); /* one, since these take longer */
        for (FtB_Type type = FTB_BOOL; type <= FTB_BF16; type++) {
            bool own = rng_below(&r, 2);
            FtB_Matrix A = full_row(&r, own ? s.domain : graphblas_type(&r), 1);
            FtB_Matrix B = full_row(&r, own ? s.domain : graphblas_type(&r), COLS);
            compare(&s, A, B, type, true);
            if (type == of_block) {
                compare_block(&s, A, B, type);
                compare_blocks(&s, A, B, type);
            }
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&B);
            A = operand(&r, own ? s.domain : graphblas_type(&r), 5, 9, 0.5);
            B = operand(&r, own ? s.domain : graphblas_type(&r), 9, COLS, 0.4);
            compare(&s, A, B, type, determined(&s));
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&B);
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_semiring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
