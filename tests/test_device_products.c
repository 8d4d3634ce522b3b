/* Verbs on a device that does not exist (support/pretend.h): operands that are valid there alone stay there,
 * and the bits are the host's; what a verb's product does not say is done on the host, and is as right. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "support/fail_alloc.h"
#include "support/pretend.h"
#include "support/rng.h"

#include <stdlib.h>

enum { ROWS = 60, COLS = 45, HEADS = 4, WIDTH = 16, MOST = 9 };

/* What a call reads and writes, twice: for the host, and for the device. */
typedef struct operands {
    FtB_Matrix A;
    int count;
    FtB_Block X[2][MOST]; /* [on the device][n] */
} operands;

/* X's values on the host, whose address stays ours: what was lent is brought home after every verb. */
static float *host(FtB_Block X)
{
    assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
    return ftb_block_data(X);
}

static FtB_Block new_block(int64_t nrows, int64_t heads, int64_t width)
{
    FtB_Block whole, X;
    assert_ok(FtB_Block_new(&whole, nrows, heads * width, FTB_FP32));
    assert_ok(FtB_Block_heads(&X, whole, heads));
    FtB_Block_free(&whole);
    return X;
}

static int add(operands *o, rng *r, int64_t nrows, int64_t heads, int64_t width)
{
    const int n = o->count++;
    const int64_t count = nrows * heads * width;
    assert_true(n < MOST);
    o->X[0][n] = new_block(nrows, heads, width);
    o->X[1][n] = new_block(nrows, heads, width);
    for (int64_t t = 0; t < count; t++)
        host(o->X[0][n])[t] = (float)(rng_unit(r) * 2 - 1);
    memcpy(host(o->X[1][n]), host(o->X[0][n]), (size_t)count * sizeof(float));
    return n;
}

static void send(const operands *o)
{
    for (int n = 0; n < o->count; n++)
        pretend_send(o->X[1][n]->owner);
}

static void assert_same(const operands *o, const char *what)
{
    for (int n = 0; n < o->count; n++) {
        const FtB_Block X = o->X[0][n];
        if (memcmp(host(X), host(o->X[1][n]), (size_t)(X->nrows * X->ncols) * sizeof(float)) != 0)
            fail_msg("%s: operand %d differs from the host's", what, n);
    }
}

static void free_operands(operands *o)
{
    for (int n = 0; n < o->count; n++) {
        FtB_Block_free(&o->X[0][n]);
        FtB_Block_free(&o->X[1][n]);
    }
    FtB_Matrix_free(&o->A);
}

/* Runs a call on the host and on the device. `verbs`: how many the device runs, and then nothing moves; -1:
 * any. */
static void both(operands *o, GrB_Info (*call)(const operands *o, const FtB_Block *X), int verbs,
                 const char *what)
{
    int64_t home[2], away[2];
    send(o);
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_ok(call(o, o->X[0]));
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    const int64_t ran = pretend_products();
    assert_ok(FtB_Context_moved(NULL, &home[0], &away[0]));
    assert_ok(call(o, o->X[1]));
    assert_ok(FtB_Context_moved(NULL, &home[1], &away[1]));
    if (verbs >= 0 &&
        (pretend_products() - ran != verbs || (verbs && (home[0] != home[1] || away[0] != away[1]))))
        fail_msg("%s: %d verbs, expected %d; moved %lld home, %lld there", what,
                 (int)(pretend_products() - ran), verbs, (long long)(home[1] - home[0]),
                 (long long)(away[1] - away[0]));
    assert_same(o, what);
}

/* ---- sums and messages */

enum { C, B, D };

typedef struct product {
    const char *text;
    bool transposed; /* A is, and its entries then lie in another order */
    int heads;       /* of the edges' values; 0: there are none */
    int verbs;       /* that a device is asked for, of a result that is replaced */
} product;
static const product *called;
static FtB_Arg accum;

static GrB_Info multiply(const operands *o, const FtB_Block *X)
{
    FtB_Semiring s = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Semiring_new(&s, called->text));
    if (strstr(called->text, "near")) {
        FtB_Semiring bound;
        FTB_CHECK(FtB_Semiring_bind(&bound, s, FTB_BIND("near", X[D])));
        FtB_Semiring_free(&s);
        s = bound;
    }
    info = FtB_mxm(X[C], NULL, accum, s, o->A, X[B], called->transposed ? FTB_DESC_T0 : NULL);
done:
    FtB_Semiring_free(&s);
    return info;
}

/* Every text is done there or on the host as its row says, replaced and added to, and has the host's bits. */
static void products(void **state)
{
    (void)state;
    static const product list[] = {{"plus : src", false, 0, 1},
                                   {"plus : src", true, 0, 1},
                                   {"mean : src", false, 0, 1},
                                   {"max : src", false, 0, 1},
                                   {"plus : edge * src", false, 1, 1},
                                   {"plus : edge * src", true, 1, 1},
                                   {"plus : edge * src", false, HEADS, 1},
                                   {"plus : edge * src", true, HEADS, 1},
                                   {"min : edge + src", true, HEADS, 1},
                                   {"plus : tanh(src * edge)", false, 1, 1},
                                   {"plus : tanh(src * edge)", true, HEADS, 1},
                                   {"max : abs(src * edge)", false, 1, 1},
                                   {"plus : abs(src - near[i])", false, 0, 1},
                                   {"mean : tanh(src * edge)", false, 1, 0},
                                   {"plus : tanh(src)", false, 0, 0}};
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        called = &list[n];
        const int64_t rows = called->transposed ? COLS : ROWS, sources = called->transposed ? ROWS : COLS;
        const bool sums = strncmp(called->text, "plus", 4) == 0 || strncmp(called->text, "mean", 4) == 0;
        operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, COLS, called->heads, 0.05)};
        add(&o, &r, rows, HEADS, WIDTH);
        add(&o, &r, sources, HEADS, WIDTH);
        add(&o, &r, rows, HEADS, WIDTH);
        pretend_send(o.A->values);
        both(&o, multiply, called->verbs, called->text);
        accum = FTB_ARG("x + y");
        both(&o, multiply, sums ? called->verbs : 0, called->text);
        accum = FTB_ARG("x * y");
        both(&o, multiply, 0, called->text);
        accum = FtB_Arg_none();
        free_operands(&o);
    }
}

/* Sums of a domain of fewer bits wrap to it, wherever they are made. */
static void wraps(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0}, J[] = {0, 1};
    FtB_Matrix A;
    FtB_Block X, sum;
    assert_ok(FtB_Matrix_build(&A, FTB_INT64, 1, 2, 0, 2, I, J, NULL, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Block_new(&X, 2, 1, FTB_INT32));
    assert_ok(FtB_Block_new(&sum, 1, 1, FTB_INT64));
    ((int32_t *)block_values(X))[0] = ((int32_t *)block_values(X))[1] = INT32_MAX;
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_mxm(sum, NULL, NULL, GxB_PLUS_SECOND_INT32, A, X, NULL));
    assert_int_equal(((const int64_t *)block_values(sum))[0], -2);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&sum);
}

/* A device writes what an operator or a semiring is bound to, after it was bound. */
static void bound_before(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Op add_w, applied;
    FtB_Semiring plain, weighed;
    operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, ROWS, 0, 0.1)};
    for (int n = 0; n < 4; n++)
        add(&o, &r, ROWS, 1, WIDTH);
    assert_ok(FtB_Op_new(&add_w, "x + w[i]"));
    assert_ok(FtB_Semiring_new(&plain, "plus : src * w[i]"));
    for (int on = 0; on < 2; on++) {
        const FtB_Block *X = o.X[on];
        assert_ok(FtB_Context_set_device(NULL, on ? "pretend" : "cpu"));
        assert_ok(FtB_Op_bind(&applied, add_w, FTB_BIND("w", X[0])));
        assert_ok(FtB_Semiring_bind(&weighed, plain, FTB_BIND("w", X[0])));
        assert_ok(FtB_mxm(X[0], NULL, NULL, FTB_PLUS_SRC, o.A, X[1], NULL));
        assert_ok(FtB_apply(X[2], NULL, NULL, applied, X[1], NULL));
        assert_ok(FtB_mxm(X[3], NULL, NULL, weighed, o.A, X[1], NULL));
        FtB_Op_free(&applied);
        FtB_Semiring_free(&weighed);
    }
    assert_same(&o, "bound before it was written");
    FtB_Op_free(&add_w);
    FtB_Semiring_free(&plain);
    free_operands(&o);
}

/* ---- attention */

enum { Q, K, V, OUT, LSE, D_OUT, DQ, DK, DV };

typedef struct scored {
    const char *text;
    int64_t width;
} scored;
static const scored *score;
static double dropout;
static FtB_Descriptor forced;
static FtB_Plan plan;

static GrB_Info attend(const operands *o, const FtB_Block *X)
{
    const FtB_Attention_options options = {
        .size = sizeof options, .dropout = dropout, .seed = 7, .lse = X[LSE]};
    return FtB_attention(X[OUT], o->A, accum, score->text, X[Q], X[K], X[V], &options, forced);
}

static GrB_Info attend_grad(const operands *o, const FtB_Block *X)
{
    const FtB_Attention_options options = {
        .size = sizeof options, .dropout = dropout, .seed = 7, .lse = X[LSE]};
    return FtB_attention_grad(X[DQ], X[DK], X[DV], X[D_OUT], o->A, score->text, X[Q], X[K], X[V], X[OUT],
                              &options, forced);
}

static operands attention_operands(rng *r)
{
    operands o = {.A = rng_matrix(r, FTB_FP32, ROWS, COLS, 0, 0.2)};
    add(&o, r, ROWS, HEADS, score->width);
    add(&o, r, COLS, HEADS, score->width);
    add(&o, r, COLS, HEADS, WIDTH);
    add(&o, r, ROWS, HEADS, WIDTH);
    add(&o, r, ROWS, 1, HEADS);
    add(&o, r, ROWS, HEADS, WIDTH);
    add(&o, r, ROWS, HEADS, score->width);
    add(&o, r, COLS, HEADS, score->width);
    add(&o, r, COLS, HEADS, WIDTH);
    return o;
}

static void choose(const operands *o, const char *kernel)
{
    const FtB_Block *X = o->X[0];
    assert_ok(FtB_attention_plan(&plan, X[OUT], o->A, NULL, score->text, X[Q], X[K], X[V], NULL, NULL,
                                 FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "kernel", kernel));
    assert_ok(FtB_Descriptor_new(&forced));
    assert_ok(FtB_Descriptor_set(forced, FTB_PLAN, plan));
}

static void forget(void)
{
    FtB_Descriptor_free(&forced);
    FtB_Plan_free(&plan);
}

static void attention(void **state)
{
    (void)state;
    static const scored scores[] = {{"plus : dot(src, dst) * 0.25", WIDTH},
                                    {"plus : dot(src, dst)", 5},
                                    {"plus : leaky_relu(src + dst, 0.2)", 1}};
    rng r = rng_new();
    for (size_t s = 0; s < sizeof scores / sizeof *scores; s++)
        for (int dropped = 0; dropped < 2; dropped++) {
            score = &scores[s];
            dropout = dropped ? 0.375 : 0;
            operands o = attention_operands(&r);
            choose(&o, "fused");
            both(&o, attend, 1, score->text);
            both(&o, attend_grad, 1, score->text);
            accum = FTB_ARG("x + y");
            both(&o, attend, 0, "accumulated");
            accum = FtB_Arg_none();
            forget();
            choose(&o, "staged"); /* scores, softmax, weighted sums, and the logs of sums put where they are
                                     wanted */
            both(&o, attend, 4, score->text);
            accum = FTB_ARG("x + y");
            both(&o, attend, -1, "in steps, accumulated");
            accum = FtB_Arg_none();
            forget();
            free_operands(&o);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(wraps, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(bound_before, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(attention, pretend_setup, pretend_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
