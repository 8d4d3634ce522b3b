/* Every registered kernel of sparse x block, of both families, on every instruction set of this machine,
 * against a loop over entries: bit for bit, since values are small whole numbers (NaN, infinities and zeros
 * of both signs among them). */
#include "support/check.h"

#include "ops/spmm.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 37, COLUMNS = 90, MOST = 136, GAP = 3 };

typedef struct product {
    FtB_Matrix A;
    ftb_spmm_product p;
    int64_t features;
    char x[(COLUMNS * (MOST + GAP) + 1) * 8], *y, *expected, *out;
} product;

static const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_INT64};

static double strange(rng *r)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
    return values[rng_below(r, 5)];
}

/* Small whole numbers; for divisors, powers of two; with `some` strange ones among reals. */
static void fill(rng *r, void *values, FtB_Type type, int64_t count, bool divisors, bool some)
{
    for (int64_t t = 0; t < count; t++) {
        double v = divisors ? ldexp(rng_below(r, 2) ? 1 : -1, (int)rng_below(r, 4) - 1)
                            : (double)(rng_below(r, 9) - 4);
        if (type == FTB_INT64) {
            ((int64_t *)values)[t] = (int64_t)v;
            continue;
        }
        if (some && rng_below(r, 8) == 0)
            v = strange(r);
        if (type == FTB_FP32)
            ((float *)values)[t] = (float)v;
        else
            ((double *)values)[t] = v;
    }
}

/* ---- the oracle, in the type itself */

#define ORACLE(suffix, T, quotient, is_nan, negative)                                                        \
    static T message_##suffix(ftb_form form, T x, T y)                                                       \
    {                                                                                                        \
        return form == FTB_FORM_COPY  ? x                                                                    \
               : form == FTB_FORM_MUL ? x * y                                                                \
               : form == FTB_FORM_ADD ? x + y                                                                \
               : form == FTB_FORM_SUB ? x - y                                                                \
               : form == FTB_FORM_DIV ? quotient                                                             \
                                      : y - x;                                                               \
    }                                                                                                        \
    static T better_##suffix(bool least, T x, T y)                                                           \
    {                                                                                                        \
        if (is_nan(x) || is_nan(y))                                                                          \
            return is_nan(x) ? y : x;                                                                        \
        bool x_less = x < y || (!(y < x) && negative(x) && !negative(y));                                    \
        return x_less == least ? x : y;                                                                      \
    }                                                                                                        \
    static void expect_##suffix(const ftb_spmm_product *p, T *out)                                           \
    {                                                                                                        \
        const T *xs = p->x, *ys = p->y;                                                                      \
        for (int64_t i = 0; i < p->p->nrows; i++)                                                            \
            for (int64_t f = 0; f < p->heads * p->width; f++) {                                              \
                T h = 0;                                                                                     \
                if (p->kind.best)                                                                            \
                    ftb_monoid_identity(p->least ? FTB_MIN : FTB_MAX, p->kind.type, &h);                     \
                int64_t head = p->yheads > 1 ? f / p->width : 0, in = p->ywidth > 1 ? f % p->width : 0;      \
                for (int64_t e = p->p->rowptr[i]; e < p->p->rowptr[i + 1]; e++) {                            \
                    T y = ys ? ys[(e * p->yheads + head) * p->ywidth + in] : 0;                              \
                    T z = message_##suffix(p->form, xs[ftb_col(p->p, e) * p->ldx + f], y);                   \
                    h = !p->kind.best ? h + z : e == p->p->rowptr[i] ? z : better_##suffix(p->least, h, z);  \
                }                                                                                            \
                out[i * p->heads * p->width + f] = h;                                                        \
            }                                                                                                \
    }
#define NEVER(x) ((void)(x), false)
ORACLE(f32, float, x / y, isnan, signbit)
ORACLE(f64, double, x / y, isnan, signbit)
ORACLE(i64, int64_t, x, NEVER, NEVER)

static void expect(product *t)
{
    if (t->p.kind.type == FTB_FP32)
        expect_f32(&t->p, (float *)t->expected);
    else if (t->p.kind.type == FTB_FP64)
        expect_f64(&t->p, (double *)t->expected);
    else
        expect_i64(&t->p, (int64_t *)t->expected);
}

static bool same_value(FtB_Type type, const void *x, const void *y)
{
    if (memcmp(x, y, FtB_Type_size(type)) == 0)
        return true;
    return type == FTB_FP32   ? isnan(*(const float *)x) && isnan(*(const float *)y)
           : type == FTB_FP64 ? isnan(*(const double *)x) && isnan(*(const double *)y)
                              : false;
}

static void check(const product *t, const ftb_spmm_plan *plan, const char *name)
{
    size_t size = FtB_Type_size(t->p.kind.type);
    for (int64_t i = 0; i < t->p.p->nrows; i++) {
        bool listed = !t->p.rows || i % 2 == 0;
        for (int64_t f = 0; f < t->p.ldo; f++) {
            const char *got = (const char *)t->p.out + (size_t)(i * t->p.ldo + f) * size;
            uint64_t untouched = UINT64_C(0x5a5a5a5a5a5a5a5a);
            const void *want = t->expected + (size_t)(i * t->features + f) * size;
            if (f >= t->features || !listed)
                want = &untouched;
            if (!same_value(t->p.kind.type, got, want))
                fail_msg("%s_%s, %s, %lld heads of %lld, segment %lld, tile %lld: row %lld, feature %lld",
                         name, ftb_isa_name(ftb_isa()), ftb_spmm_family_name(plan->family),
                         (long long)t->p.heads, (long long)t->p.width, (long long)plan->segment,
                         (long long)plan->tile, (long long)i, (long long)f);
        }
    }
}

static void run_plan(product *t, ftb_spmm_family family, int64_t segment, int64_t tile, int64_t parts,
                     int64_t gap, const char *name)
{
    int64_t lanes = FTB_PICK(ftb_spmm_lanes)(t->p.kind.type);
    int64_t vectors = (t->features + lanes - 1) / lanes, most = ftb_max(tile / lanes, 1);
    ftb_spmm_plan plan = {.family = family,
                          .segment = segment,
                          .tile = tile,
                          .ntiles = (vectors + most - 1) / most,
                          .parts = parts,
                          .most = gap ? 5 : 0,
                          .ahead = parts == 1 ? 0 : 5,
                          .threads = parts > 1 ? 2 : 1};
    size_t bytes = (size_t)(ROWS * (t->features + gap)) * FtB_Type_size(t->p.kind.type);
    t->p.ldo = t->features + gap;
    t->p.out = t->out;
    t->p.empty = FTB_EMPTY_IDENTITY;
    memset(t->out, 0x5a, bytes);
    assert_ok(ftb_spmm_run(&t->p, &plan));
    check(t, &plan, name);
}

static void run_plans(product *t, rng *r, const char *name)
{
    static int64_t even[ROWS / 2 + 1];
    int64_t lanes = FTB_PICK(ftb_spmm_lanes)(t->p.kind.type);
    expect(t);
    for (int64_t vectors = 1; vectors <= FTB_SPMM_VECTORS; vectors++)
        if (t->features == 128 || rng_below(r, 8) == 0) { /* 128: as many vectors, whatever the lanes */
            run_plan(t, FTB_SPMM_PARTITIONED, 7 * vectors, vectors * lanes, 1, 0, name);
            run_plan(t, FTB_SPMM_DIRECT, 0, vectors * lanes, 1, vectors % 2, name);
        }
    run_plan(t, FTB_SPMM_PARTITIONED, rng_below(r, 2) ? 1 : 1000, 8 * lanes, 1 + rng_below(r, 3), GAP, name);
    if (ftb_spmm_slices_of(&t->p) != FTB_NO_SLICES)
        for (int64_t gap = 0; gap <= GAP; gap += GAP)
            run_plan(t, FTB_SPMM_SLICED, 4096, t->features, 1 + rng_below(r, 3), gap, name);
    for (int64_t i = 0; i < ROWS; i += 2)
        even[i / 2] = i;
    t->p.rows = rng_below(r, 2) ? even : NULL;
    t->p.nlisted = ROWS / 2 + 1;
    run_plan(t, FTB_SPMM_DIRECT, 0, 4 * lanes, 1 + rng_below(r, 2), GAP, name);
    t->p.rows = NULL;
}

static void check_shape(product *t, rng *r, const ftb_spmm_kernel *kernel, ftb_form form, int64_t heads,
                        int64_t width, bool full)
{
    FtB_Type type = kernel->kind.type;
    bool edges = kernel->kind.edge != FTB_EDGE_NONE, lanes = kernel->kind.edge == FTB_EDGE_LANES;
    if (kernel->kind.edge == FTB_EDGE_HEADS) {
        if (width % FTB_PICK(ftb_spmm_lanes)(type) != 0)
            return;
        lanes = true;
        full = false;
    } else if (lanes && heads == 1) {
        full = true;
    }
    if (lanes && heads * width == 1)
        return; /* one value an edge */
    t->features = heads * width;
    t->p = (ftb_spmm_product){.ctx = t->A->ctx,
                              .p = t->A->pattern,
                              .kind = kernel->kind,
                              .form = form,
                              .heads = heads,
                              .width = width,
                              .x = t->x + FtB_Type_size(type), /* not aligned to vectors */
                              .stored = type,
                              .ldx = heads * width + (full ? GAP : 0),
                              .y = edges ? t->y : NULL,
                              .ystored = type,
                              .yheads = !edges  ? 0
                                        : lanes ? heads
                                                : 1,
                              .ywidth = !edges          ? 0
                                        : lanes && full ? width
                                                        : 1};
    t->p.ldy = t->p.yheads * t->p.ywidth;
    for (int least = 0; least <= (kernel->kind.best ? 1 : 0); least++) {
        t->p.least = least;
        fill(r, (char *)t->x + FtB_Type_size(type), type, COLUMNS * t->p.ldx, false, !full);
        fill(r, t->y, type, t->A->pattern->nvals * ftb_max(1, t->p.yheads * t->p.ywidth),
             form == FTB_FORM_DIV, !full && form != FTB_FORM_DIV);
        run_plans(t, r, kernel->name);
    }
}

static void check_kernel(product *t, rng *r, const ftb_spmm_kernel *kernel)
{
    static const int64_t shapes[][2] = {{1, 128}, {8, 16}, {1, 1}, {1, 3},  {1, 16},  {1, 17},
                                        {1, 33},  {2, 5},  {3, 8}, {17, 1}, {1, 100}, {5, 7}};
    const int which = (int)rng_below(r, 2); /* of the shapes that take all vectors */
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    for (ftb_form form = FTB_FORM_COPY; form <= FTB_FORM_DIV; form++) {
        bool any = kernel->kind.form == FTB_FORM_ANY && form != FTB_FORM_COPY &&
                   !(form == FTB_FORM_DIV && kernel->kind.type == FTB_INT64);
        if (form != kernel->kind.form && !any)
            continue;
        for (int s = 0; s < SHAPES; s++)
            if (s == which || (s > 1 && rng_below(r, 4) == 0))
                check_shape(t, r, kernel, form, shapes[s][0], shapes[s][1], rng_below(r, 2));
        for (int few = 1; few <= (form == FTB_FORM_COPY ? 4 : 1); few++) /* kernels of their own */
            check_shape(t, r, kernel, form, 1, few, few > 1 && rng_below(r, 2));
    }
}

/* From no entries to nearly all columns: more than four vectors, and every number in the last. */
static FtB_Matrix rows_of_any_length(rng *r)
{
    static int64_t I[ROWS * COLUMNS], J[ROWS * COLUMNS];
    FtB_Matrix A;
    int64_t n = 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            if (rng_below(r, ROWS * ROWS) < i * i) {
                I[n] = i;
                J[n++] = j;
            }
    static const float values[ROWS * COLUMNS];
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, COLUMNS, 1, n, I, J, values, FTB_DUP_ERROR, NULL));
    return A;
}

static void test_kernels(void **state)
{
    (void)state;
    rng r = rng_new();
    product *t = calloc(1, sizeof *t);
    int count;
    const ftb_spmm_kernel *kernels = ftb_spmm_kernels(&count);
    t->A = rows_of_any_length(&r);
    t->y = malloc((size_t)(t->A->pattern->nvals * MOST + 1) * 8);
    t->out = aligned_alloc(64, ROWS * (MOST + 8) * 8);
    t->expected = malloc(ROWS * (MOST + GAP) * 8);
    for (int isa = 0, last = -1; isa <= FTB_ISA_AVX512; isa++) {
        if (ftb_isa_force(isa) == last)
            continue; /* not on this machine */
        last = isa;
        for (int k = 0; k < count; k++) {
            assert_int_equal(ftb_spmm_find(&kernels[k].kind), k);
            check_kernel(t, &r, &kernels[k]);
        }
    }
    ftb_isa_force(-1);
    FtB_Matrix_free(&t->A);
    free(t->y);
    free(t->out);
    free(t->expected);
    free(t);
}

/* Tiles of every stored dtype, to keys and back. */
static void test_tiles(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { COUNT = 5, FEATURES = 21, PITCH = 32 };
    static _Alignas(64) char tile[COUNT * PITCH * 8], x[COUNT * (FEATURES + 1) * 8],
        out[COUNT * FEATURES * 8], want[COUNT * FEATURES * 8];
    for (int isa = 0; isa <= FTB_ISA_AVX512; isa++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            for (FtB_Type stored = FTB_BOOL; stored <= FTB_BF16; stored++)
                for (int keys = 0; keys < 3; keys++) {
                    ftb_isa_force(isa);
                    ftb_spmm_tile t = {types[k], keys > 0, keys == 2, FEATURES, PITCH};
                    rng_values(&r, x, stored, COUNT * (FEATURES + 1));
                    FTB_PICK(ftb_spmm_pack)(&t, tile, x, stored, FEATURES + 1, COUNT);
                    FTB_PICK(ftb_spmm_unpack)(&t, tile, out, FEATURES, COUNT);
                    for (int64_t i = 0; i < COUNT; i++)
                        ftb_cast(want + (size_t)(i * FEATURES) * FtB_Type_size(types[k]), types[k],
                                 x + (size_t)(i * (FEATURES + 1)) * FtB_Type_size(stored), stored, FEATURES);
                    assert_memory_equal(out, want, COUNT * FEATURES * FtB_Type_size(types[k]));
                }
    ftb_isa_force(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
