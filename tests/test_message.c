/* Messages on edges against a loop over edges, heads and features, in which every text is a C function. */
#include "support/check.h"

#include "core/isa.h"
#include "cpu/message_run.h"
#include "ops/vertices.h"
#include "support/fail_alloc.h"
#include "support/messages.h"

#include <math.h>
#include <stdlib.h>

#define MOST 128 /* values of a message */

/* ---- what the oracle sees of one edge and head */

typedef struct edge_view {
    const double *src, *dst, *edge, *norm; /* of this head */
    int64_t width, edge_width;
    int64_t i, j, e, di, dj;
} edge_view;

typedef int64_t (*oracle)(double *z, const edge_view *v); /* returns the width */

#define EDGE (v->edge[v->edge_width == 1 ? 0 : f])
#define SRC (v->src[f])
#define DST (v->dst[f])
#define EACH(name, expression)                                                                               \
    static int64_t name(double *z, const edge_view *v)                                                       \
    {                                                                                                        \
        for (int64_t f = 0; f < v->width; f++)                                                               \
            z[f] = (expression);                                                                             \
        return v->width;                                                                                     \
    }
EACH(copy, SRC)
EACH(weigh, EDGE *SRC)
EACH(add, SRC + DST)
EACH(distance, fabs(SRC - DST))
EACH(squash, tanh(SRC *DST + EDGE))
EACH(fraction, SRC / (DST * DST + 1))
EACH(normed, v->norm[0] * SRC)
EACH(degrees, SRC *(double)v->di + (double)v->dj)
EACH(indices, SRC *DST + (double)(v->i + 2 * v->j + 3 * v->e))
EACH(halved, 0.5 * SRC)
EACH(relu, SRC + DST > 0 ? SRC + DST : 0)
static int64_t inner(double *z, const edge_view *v)
{
    z[0] = 0;
    for (int64_t f = 0; f < v->width; f++)
        z[0] += SRC * DST;
    return 1;
}
static int64_t both(double *z, const edge_view *v)
{
    for (int64_t f = 0; f < v->width; f++) {
        z[f] = SRC;
        z[v->width + f] = DST;
    }
    return 2 * v->width;
}
static int64_t constant(double *z, const edge_view *v)
{
    (void)v;
    z[0] = 1;
    return 1;
}
static int64_t positive(double *z, const edge_view *v)
{
    z[0] = v->src[0] > v->dst[0];
    return 1;
}

static const struct {
    const char *message;
    oracle f;
    bool approximate; /* values or the signs of zeros */
} texts[] = {
    {"src", copy, false},
    {"edge * src", weigh, false},
    {"src + dst", add, false},
    {"abs(src - dst)", distance, false},
    {"tanh(src * dst + edge)", squash, true},
    {"src / (dst * dst + 1)", fraction, true},
    {"norm[i] * src", normed, false},
    {"src * di + dk", degrees, false},
    {"src * dst + (i + 2 * j + 3 * e)", indices, false},
    {"scale * src", halved, false},
    {"relu(src + dst)", relu, false},
    {"dot(src, dst)", inner, true},
    {"[src, dst]", both, false},
    {"1", constant, false},
    {"src[0] > dst[0]", positive, false},
};
#define NTEXTS ((int)(sizeof texts / sizeof *texts))

/* ---- one case */

static void read_row(double *to, FtB_Block X, int64_t row, int64_t first, int64_t count)
{
    for (int64_t f = 0; f < count; f++)
        to[f] = ftb_get_real(block_values(X), X->type, row * X->ld + first + f);
}

/* Messages of edge e in all heads; returns the width of one. */
static int64_t messages_of(double *z, const message_fixture *x, oracle f, int64_t i, int64_t e)
{
    const ftb_pattern *p = x->A->pattern;
    double src[MOST], dst[MOST], edge[MOST] = {1}, norm[1];
    int64_t j = ftb_col(p, e), dj = 0, width = 0, heads = x->m.heads;
    int64_t edge_width = ftb_max(x->A->width, 1), src_heads = x->src->ncols / x->width;
    for (int64_t other = 0; other < p->nvals; other++)
        dj += f == degrees && ftb_col(p, other) == j;
    read_row(norm, x->norm, i, 0, 1);
    for (int64_t h = 0; h < heads; h++) {
        int64_t own = edge_width == 1 ? 1 : edge_width / heads;
        read_row(src, x->src, j, src_heads == 1 ? 0 : h * x->width, x->width);
        read_row(dst, x->dst, i, x->heads == 1 ? 0 : h * x->width, x->width);
        for (int64_t w = 0; w < own && x->A->width > 0; w++)
            edge[w] = ftb_get_real(matrix_values(x->A), x->A->type,
                                   e * edge_width + (edge_width == 1 ? 0 : h * own) + w);
        const edge_view v = {src, dst, edge, norm, x->width, own, i, j, e, p->rowptr[i + 1] - p->rowptr[i],
                             dj};
        width = f(z + h * width, &v);
    }
    return width;
}

static double combine(ftb_monoid m, double x, double z)
{
    switch (m) {
    case FTB_PLUS:
        return x + z;
    case FTB_TIMES:
        return x * z;
    case FTB_OR:
        return x != 0 || z != 0;
    case FTB_AND:
        return x != 0 && z != 0;
    case FTB_ANY:
        return x;
    default:
        return NAN;
    }
}

/* Whether z takes over from x under min or max: -0 is less than 0. */
static bool beats(ftb_monoid m, bool real, double x, double z)
{
    bool zeros = real && x == 0 && z == 0;
    return m == FTB_MIN ? z < x || (zeros && signbit(z) && !signbit(x))
                        : z > x || (zeros && signbit(x) && !signbit(z));
}

static void expect(const char *what, const char *text, int64_t i, int64_t f, double got, double want,
                   double scale)
{
    if (!(fabs(got - want) <= scale) && !(isnan(got) && isnan(want)) && got != want)
        fail_msg("%s of '%s', row %lld, value %lld: %.9g; expected %.9g", what, text, (long long)i,
                 (long long)f, got, want);
}

static void check_reduce(message_fixture *x, const char *text, oracle f, bool approximate,
                         const int64_t *rows, int64_t nrows, bool want_arg)
{
    const ftb_pattern *p = x->A->pattern;
    ftb_message_type type;
    ftb_program *program;
    assert_ok(ftb_message_compile(&type, &program, &x->m));
    ftb_program_delete(program);
    int64_t values = type.width * x->m.heads, ld = values + 2;
    size_t size = FtB_Type_size(type.reduced);
    char *T = malloc((size_t)(p->nrows * ld + 1) * size);
    int64_t *arg = malloc((size_t)(p->nrows * values + 1) * 8);
    memset(T, 0x5a, (size_t)(p->nrows * ld + 1) * size);
    assert_ok(ftb_message_reduce(&x->m, p, T, ld, want_arg ? arg : NULL, values, rows, nrows));
    ftb_monoid monoid = x->m.reducer.monoid;
    for (int64_t at = 0; at < (rows ? nrows : p->nrows); at++) {
        int64_t i = rows ? rows[at] : at;
        double z[MOST], h[MOST] = {0}, scale[MOST] = {0};
        int64_t winner[MOST];
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            assert_int_equal(messages_of(z, x, f, i, e), type.width);
            for (int64_t w = 0; w < values; w++) {
                bool first = e == p->rowptr[i];
                bool wins = first || beats(monoid, ftb_type_float(type.message), h[w], z[w]);
                winner[w] = wins ? e : winner[w];
                if (monoid == FTB_MIN || monoid == FTB_MAX)
                    h[w] = wins ? z[w] : h[w];
                else if (first)
                    h[w] = monoid == FTB_OR || monoid == FTB_AND ? z[w] != 0 : z[w];
                else
                    h[w] = combine(monoid, h[w], z[w]);
                scale[w] += fabs(z[w]);
            }
        }
        for (int64_t w = 0; w < values; w++) {
            char identity[8];
            double got = ftb_get_real(T, type.reduced, i * ld + w);
            bool empty = p->rowptr[i] == p->rowptr[i + 1];
            ftb_monoid_identity(monoid, type.reduced, identity);
            expect("reduction", text, i, w, got, empty ? ftb_get_real(identity, type.reduced, 0) : h[w],
                   approximate ? 1e-5 * scale[w] : 0);
            if (want_arg && arg[i * values + w] != (empty ? -1 : winner[w]))
                fail_msg("winner of '%s', row %lld, value %lld: %lld; expected %lld (%s, value %g)", text,
                         (long long)i, (long long)w, (long long)arg[i * values + w],
                         (long long)(empty ? -1 : winner[w]), FtB_Type_name(type.message), got);
        }
        for (size_t b = 0; b < 2 * size; b++)
            assert_int_equal(T[(size_t)(i * ld + values) * size + b], 0x5a);
    }
    free(T);
    free(arg);
}

static void check_store(message_fixture *x, const char *text, oracle f, bool approximate)
{
    ftb_pattern *p = x->A->pattern;
    ftb_message_type type;
    ftb_program *program;
    assert_ok(ftb_message_compile(&type, &program, &x->m));
    ftb_program_delete(program);
    int64_t values = type.width * x->m.heads;
    char *V = malloc((size_t)(p->nvals * values + 1) * FtB_Type_size(type.message));
    assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &x->m, .p = p, .out = V}));
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            double z[MOST];
            messages_of(z, x, f, i, e);
            for (int64_t w = 0; w < values; w++)
                expect("message", text, i, w, ftb_get_real(V, type.message, e * values + w), z[w],
                       approximate ? 1e-6 : 0);
        }
    free(V);
}

/* ---- tests */

static void run_case(rng *r, int t, const char *reducer, FtB_Type type, int64_t heads, int64_t src_heads,
                     int64_t width, int64_t edge_width, bool hub)
{
    message_fixture x;
    int64_t nrows = 1 + rng_below(r, 40), ncols = hub ? 600 : 1 + rng_below(r, 40);
    bool arg = strcmp(reducer, "min") == 0 || strcmp(reducer, "max") == 0;
    make_message(&x, r, reducer, texts[t].message, type, nrows, ncols, heads, src_heads, width, edge_width,
                 hub);
    if (x.m.heads != heads && edge_width > 1) { /* nothing says that there are heads */
        release_message(&x);
        return;
    }
    check_reduce(&x, texts[t].message, texts[t].f, texts[t].approximate, NULL, 0, false);
    if (arg && !texts[t].approximate)
        check_reduce(&x, texts[t].message, texts[t].f, false, NULL, 0, true);
    int64_t rows[64], count = 0;
    for (int64_t i = 0; i < nrows; i++)
        if (rng_below(r, 2))
            rows[count++] = i;
    check_reduce(&x, texts[t].message, texts[t].f, texts[t].approximate, rows, count, false);
    check_store(&x, texts[t].message, texts[t].f, texts[t].approximate);
    release_message(&x);
}

static void test_texts(void **state)
{
    (void)state;
    static const char *const reducers[] = {"plus", "min", "max", "any", "or", "and", "mean"};
    static const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_INT8, FTB_INT64, FTB_FP16, FTB_BF16, FTB_UINT16};
    static const int64_t widths[] = {1, 3, 33, 100, 16};
    rng r = rng_new();
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        ftb_isa_force(isa);
        for (int round = 0; round < 24; round++)
            for (int t = 0; t < NTEXTS; t++) {
                FtB_Type type = types[rng_below(&r, 7)];
                int64_t width = widths[rng_below(&r, 5)], heads = 1 + rng_below(&r, 3);
                if (2 * heads * width > MOST)
                    heads = 1;
                if (2 * heads * width > MOST)
                    width = 50;
                int64_t edge_widths[] = {0, 1, heads, heads * width};
                run_case(&r, t, reducers[rng_below(&r, 7)], type, heads, rng_below(&r, 2) ? heads : 1, width,
                         edge_widths[rng_below(&r, 4)], rng_below(&r, 4) == 0);
            }
    }
    ftb_isa_force(-1);
}

/* ---- what else messages are made of */

static void user_function(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                          const void *theta)
{
    for (int64_t f = 0; f < width; f++)
        z[f] = *(const float *)theta * src[f] * edge[f] + (dst ? dst[f] : 0);
}
EACH(user_oracle, 2 * SRC * EDGE + DST)

static void test_function(void **state)
{
    (void)state;
    static const float two = 2;
    rng r = rng_new();
    for (int64_t heads = 1; heads < 4; heads++)
        for (int64_t width = 1; width < 40; width += 16) {
            message_fixture x;
            make_message(&x, &r, "plus", "src", FTB_INT16, 30, 20, heads, heads, width, heads == 2 ? 2 : 1,
                         true);
            ftb_message_clear(&x.m);
            FtB_Semiring_free(&x.bound);
            assert_ok(FtB_Semiring_new_function(&x.bound, "plus", user_function, width, &two));
            assert_ok(ftb_message_new(&x.m, ftb_context(), x.bound, NULL));
            assert_ok(ftb_message_block(&x.m, "src", FTB_SIDE_COL, x.src, heads));
            assert_ok(ftb_message_block(&x.m, "dst", FTB_SIDE_ROW, x.dst, heads));
            assert_ok(ftb_message_values(&x.m, "edge", x.A, NULL));
            assert_ok(ftb_message_indices(&x.m, x.A->pattern, false, NULL));
            check_reduce(&x, "function", user_oracle, false, NULL, 0, false);
            check_store(&x, "function", user_oracle, false);
            release_message(&x);
        }
}

static void test_nan(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 0, 1, 1}, J[] = {0, 1, 2, 0, 2};
    float values[] = {NAN, 3, NAN}, T[2];
    int64_t arg[2];
    FtB_Matrix A;
    FtB_Block src;
    FtB_Semiring s;
    ftb_message m;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 2, 3, 0, 5, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_wrap(&src, values, 3, 1, 1, FTB_FP32));
    assert_ok(FtB_Semiring_new(&s, "min : src"));
    assert_ok(ftb_message_new(&m, ftb_context(), s, NULL));
    assert_ok(ftb_message_block(&m, "src", FTB_SIDE_COL, src, 1));
    assert_ok(ftb_message_indices(&m, A->pattern, false, NULL));
    for (int with = 0; with < 2; with++) {
        assert_ok(ftb_message_reduce(&m, A->pattern, T, 1, with ? arg : NULL, 1, NULL, 0));
        assert_true(T[0] == 3 && isnan(T[1]));
    }
    assert_true(arg[0] == 1 && arg[1] == 3);
    ftb_message_clear(&m);
    FtB_Semiring_free(&s);
    FtB_Block_free(&src);
    FtB_Matrix_free(&A);
}

static void test_threads(void **state)
{
    (void)state;
    rng r = rng_new();
    message_fixture x;
    make_message(&x, &r, "plus", "tanh(src * dst + edge)", FTB_FP32, 2000, 5000, 1, 1, 13, 1, true);
    float *T[2] = {malloc(2000 * 13 * 4), malloc(2000 * 13 * 4)};
    for (int threads = 1; threads <= 5; threads += 2) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(ftb_message_reduce(&x.m, x.A->pattern, T[threads > 1], 13, NULL, 0, NULL, 0));
        if (threads > 1)
            assert_memory_equal(T[0], T[1], 2000 * 13 * 4);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free(T[0]);
    free(T[1]);
    release_message(&x);
}

/* ---- failing allocation */

static GrB_Info whole(void *arg)
{
    const message_fixture *x = arg;
    ftb_message m = {0};
    float T[20 * 3];
    FtB_Block Y = NULL;
    const int64_t rows[] = {1, 10, 11};
    GrB_Info info = ftb_message_new(&m, ftb_context(), x->bound, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_message_block(&m, "src", FTB_SIDE_COL, x->src, 1);
    if (info == GrB_SUCCESS)
        info = ftb_message_block(&m, "dst", FTB_SIDE_ROW, x->dst, 1);
    if (info == GrB_SUCCESS)
        info = ftb_message_indices(&m, x->A->pattern, false, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_message_reduce(&m, x->A->pattern, T, 3, NULL, 0, rows, 3);
    float *V = info == GrB_SUCCESS ? malloc((size_t)x->A->pattern->nvals * 12) : NULL;
    if (info == GrB_SUCCESS)
        info = ftb_messages_run(&(ftb_messages_product){.m = &m, .p = x->A->pattern, .out = V});
    free(V);
    if (info == GrB_SUCCESS)
        info = ftb_vertex_values_new(
            &Y, NULL,
            &(ftb_vertex_values){.m = &m, .expr = x->semiring->message, .side = FTB_SIDE_ROW, .nrows = 20});
    FtB_Block_free(&Y);
    ftb_message_clear(&m);
    return info;
}

static void test_failing_allocation(void **state)
{
    (void)state;
    rng r = rng_new();
    message_fixture x;
    FtB_Semiring s;
    make_message(&x, &r, "plus", "tanh(src * dst) * norm[i]", FTB_FP32, 20, 10, 1, 1, 3, 0, true);
    assert_ok(FtB_Context_set_threads(NULL, 2));
    assert_ok(FtB_Semiring_new(&s, "plus : dst + 1"));
    FtB_Semiring_free(&x.semiring);
    x.semiring = s;
    fail_every_allocation(whole, NULL, &x);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    release_message(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),   cmocka_unit_test(test_function),           cmocka_unit_test(test_nan),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
