/* Verbs on a device that does not exist (support/pretend.h): operands that are valid there alone stay there,
 * and the bits are the host's; what a verb's product does not say is done on the host, and is as right. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "support/fail_alloc.h"
#include "support/pretend.h"
#include "support/rng.h"

#include <math.h>
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

static bool at_home; /* the device's call finds operands that never left the host, and else its own */

static void send(operands *o)
{
    for (int n = 0; n < o->count; n++) {
        FtB_Block *const X = &o->X[1][n], old = *X;
        if (!at_home) {
            pretend_send(old->owner);
            continue;
        }
        *X = new_block(old->nrows, old->heads, old->ncols / old->heads);
        memcpy(host(*X), host(old), (size_t)(old->nrows * old->ncols) * sizeof(float));
        FtB_Block_free(&old);
    }
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
                                   {"mean : tanh(src * edge)", false, 1, 2},
                                   {"plus : tanh(src)", false, 0, 2},
                                   {"plus : tanh(src) * near[i]", true, 0, 3},
                                   {"max : exp(src * 2)", false, 0, 2}};
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        called = &list[n];
        const int64_t rows = called->transposed ? COLS : ROWS, sources = called->transposed ? ROWS : COLS;
        const bool best = strncmp(called->text, "max", 3) == 0 || strncmp(called->text, "min", 3) == 0,
                   adds = !best || called->verbs > 1; /* what is left behind a reduction is a sum's or not */
        operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, COLS, called->heads, 0.05)};
        add(&o, &r, rows, HEADS, WIDTH);
        add(&o, &r, sources, HEADS, WIDTH);
        add(&o, &r, rows, HEADS, WIDTH);
        pretend_send(o.A->values);
        both(&o, multiply, called->verbs, called->text);
        accum = FTB_ARG("x + y");
        both(&o, multiply, adds ? called->verbs : 0, called->text);
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

/* ---- gradients */

enum { SRC, DST, D_SRC, D_DST, D_EDGE, D_SCALAR, BROAD, D_C };

typedef struct wish {
    const char *what, *names[3];
    int outputs[3]; /* a block's place, for each name */
    int verbs;
} wish;
static const wish *wished;
static bool on_edges, added, in_fp64;
static FtB_Semiring differentiated;
static FtB_Block winners; /* of max, as FtB_mxm_arg wrote them; NULL: not wanted */

/* SRC and DST of `width` values a head; one output more, of which the gradient is but some columns. A's
 * values are no whole numbers, whose sums would be the same in any order. */
static operands gradient_operands(rng *r, int64_t edge_heads, int64_t width)
{
    operands o = {.A = rng_matrix(r, FTB_FP32, ROWS, COLS, edge_heads, 0.2)};
    rng_reals(r, ftb_values(o.A), FTB_FP32, o.A->pattern->nvals * edge_heads);
    assert_ok(FtB_Matrix_changed(o.A));
    add(&o, r, COLS, HEADS, width);
    add(&o, r, ROWS, HEADS, width);
    add(&o, r, COLS, HEADS, width);
    add(&o, r, ROWS, HEADS, width);
    add(&o, r, o.A->pattern->nvals, 1, edge_heads);
    add(&o, r, 1, 1, 1);
    add(&o, r, ROWS, 1, HEADS * width + 5);
    add(&o, r, ROWS, HEADS, width);
    pretend_send(o.A->values);
    return o;
}

/* As large as X[n], on the device where that is: the gradient is cast to it. */
static FtB_Block like_in_fp64(const operands *o, const FtB_Block *X, int n)
{
    FtB_Block Y;
    assert_ok(FtB_Block_new(&Y, X[n]->nrows, X[n]->ncols, FTB_FP64));
    for (int64_t t = 0; t < Y->nrows * Y->ncols; t++)
        ((double *)ftb_block_data(Y))[t] = (double)(t % 5) / 3;
    if (X == o->X[1] && !at_home)
        pretend_send(Y->owner);
    return Y;
}

static void take_from_fp64(FtB_Block X, FtB_Block Y)
{
    assert_ok(ftb_buffer_ask(Y->owner, FTB_READ));
    float *x = host(X);
    for (int64_t t = 0; t < Y->nrows * Y->ncols; t++)
        x[t] = (float)((const double *)ftb_block_data(Y))[t];
    assert_ok(FtB_Block_changed(X));
}

/* The outputs as they are wished for: as they are, some columns of BROAD, or in FP64. */
static int ask_for(FtB_Gradient *list, FtB_Block *own, const operands *o, const FtB_Block *X)
{
    int count = 0;
    for (; count < 3 && wished->names[count]; count++) {
        const int n = wished->outputs[count];
        own[count] = NULL;
        if (n == BROAD)
            assert_ok(FtB_Block_columns(&own[count], X[n], 3, X[DST]->ncols));
        else if (in_fp64)
            own[count] = like_in_fp64(o, X, n);
        list[count] = (FtB_Gradient){wished->names[count], FTB_ARG(own[count] ? own[count] : X[n]), added};
    }
    return count;
}

static void put_back(FtB_Block *own, int count, const FtB_Block *X)
{
    for (int k = 0; k < count; k++) {
        if (own[k] && own[k]->type == FTB_FP64)
            take_from_fp64(X[wished->outputs[k]], own[k]);
        FtB_Block_free(&own[k]);
    }
}

/* Of a message on the edges, whose gradient is A's values, or of messages that are reduced into rows. */
static GrB_Info differentiate(const operands *o, const FtB_Block *X)
{
    FtB_Gradient list[3];
    FtB_Block own[3];
    const size_t count = (size_t)ask_for(list, own, o, X);
    const FtB_Arg A = FTB_ARG(o->A), src = FTB_ARG(X[SRC]), s = FTB_ARG(differentiated),
                  none = FtB_Arg_none();
    const GrB_Info info =
        on_edges ? (FtB_mxm_grad)(A, s, FTB_ARG(X[DST]), src, A, none, list, count, FTB_ARG(FTB_DESC_RST1))
                 : (FtB_mxm_grad)(FTB_ARG(X[D_C]), s, A, src, none, winners ? FTB_ARG(winners) : none, list,
                                  count, none);
    put_back(own, (int)count, X);
    return info;
}

/* The outputs were G, and are what they held plus G now, as often as they are named; the rest of BROAD is as
 * it was. Both runs are the library's: of what they agree in, this alone sees that it is wrong. */
static void check_added(const operands *o, float *const before[MOST], const char *what)
{
    bool any = false;
    for (int k = 0; k < 3 && wished->names[k]; k++) {
        const int n = wished->outputs[k];
        const FtB_Block X = o->X[0][n];
        int times = 0;
        for (int other = 0; other < 3 && wished->names[other]; other++)
            times += wished->outputs[other] == n;
        for (int64_t t = 0; t < X->nrows * X->ncols; t++) {
            const double g = before[n][t], column = (double)(t % X->ncols);
            const bool ours = n != BROAD || (column >= 3 && column < 3 + (double)o->X[0][DST]->ncols);
            const double held = in_fp64 ? (double)(t % 5) / 3 : g, goal = ours ? held + times * g : g;
            if (fabs(host(X)[t] - goal) > 1e-6 * (fabs(held) + times * fabs(g)))
                fail_msg("%s: operand %d, value %d is %g, expected %g", what, n, (int)t, host(X)[t], goal);
            any = any || (ours && g != 0);
        }
    }
    assert_true(any);
}

/* Replaced and added to, where all is the device's, and where all is the host's. */
static void both_ways(operands *o, const char *text)
{
    char what[160];
    float *before[MOST];
    for (int home = 0; home < 2; home++) {
        at_home = home;
        for (int adds = 0; adds < 2; adds++) {
            added = adds;
            snprintf(what, sizeof what, "%s: %s%s%s%s", text, wished->what, adds ? ", added" : "",
                     in_fp64 ? ", in fp64" : "", home ? ", from the host" : "");
            both(o, differentiate, in_fp64 || home ? -1 : wished->verbs, what);
            for (int n = 0; n < o->count && !adds; n++) {
                const size_t bytes = (size_t)(o->X[0][n]->nrows * o->X[0][n]->ncols) * sizeof(float);
                before[n] = memcpy(malloc(bytes), host(o->X[0][n]), bytes);
            }
        }
        check_added(o, before, what);
        for (int n = 0; n < o->count; n++)
            free(before[n]);
    }
    added = at_home = false;
}

/* Scores of GAT: one verb gives both gradients, and one for each output puts them where they are wanted. */
static void gradients_of_sums(void **state)
{
    (void)state;
    static const char *const texts[] = {"plus : leaky_relu(src + dst, 0.2)", "plus : src + dst"};
    static const wish wishes[] = {
        {"both", {"src", "dst"}, {D_SRC, D_DST}, 3},
        {"src", {"src"}, {D_SRC}, 2},
        {"dst", {"dst"}, {D_DST}, 2},
        {"dst to some columns", {"dst"}, {BROAD}, 2},
        {"dst twice", {"dst", "dst"}, {D_DST, BROAD}, 4}, /* what was handed out is made once more */
        {"src twice", {"src", "dst", "src"}, {D_SRC, D_DST, D_SRC}, 5},
    };
    rng r = rng_new();
    on_edges = true;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        operands o = gradient_operands(&r, HEADS, 1);
        assert_ok(FtB_Semiring_new(&differentiated, texts[t]));
        for (size_t n = 0; n < sizeof wishes / sizeof *wishes; n++) {
            wished = &wishes[n];
            both_ways(&o, texts[t]);
        }
        wished = &wishes[0];
        in_fp64 = true;
        both_ways(&o, texts[t]);
        in_fp64 = false;
        FtB_Semiring_free(&differentiated);
        free_operands(&o);
    }
}

/* A number that the text is bound to has a gradient, too, which the host computes beside what the device
 * does. */
static void gradients_of_slope(void **state)
{
    (void)state;
    static const wish wishes[] = {
        {"slope and dst", {"slope", "dst"}, {D_SCALAR, D_DST}, -1},
        {"all", {"src", "slope", "dst"}, {D_SRC, D_SCALAR, D_DST}, -1},
    };
    rng r = rng_new();
    FtB_Semiring plain;
    assert_ok(FtB_Semiring_new(&plain, "plus : leaky_relu(src + dst, slope)"));
    assert_ok(FtB_Semiring_bind(&differentiated, plain, FTB_BIND("slope", 0.2)));
    operands o = gradient_operands(&r, HEADS, 1);
    on_edges = true;
    for (size_t n = 0; n < sizeof wishes / sizeof *wishes; n++) {
        wished = &wishes[n];
        both_ways(&o, "slope");
    }
    FtB_Semiring_free(&differentiated);
    FtB_Semiring_free(&plain);
    free_operands(&o);
}

/* What is no such sum has no verb: the bits are the host's, whoever holds the operands and the outputs. */
static void gradients_of_messages(void **state)
{
    (void)state;
    static const wish vertices = {"vertices", {"src", "dst"}, {D_SRC, D_DST}, -1},
                      edges = {"edge and source", {"edge", "src"}, {D_EDGE, D_SRC}, -1},
                      sources = {"source", {"src"}, {D_SRC}, -1};
    static const struct {
        const char *text;
        bool on_edges;
        int64_t edge_heads, width;
        const wish *wish;
    } list[] = {{"plus : tanh(src + dst)", true, HEADS, 1, &vertices},
                {"plus : dot(src, dst) * 0.25", true, HEADS, WIDTH, &vertices},
                {"plus : tanh(src + dst) * edge", true, HEADS, 1, &edges},
                {"plus : tanh(src * edge)", false, 1, WIDTH, &edges},
                {"plus : edge * src", false, HEADS, WIDTH, &edges},
                {"mean : src * src", false, 1, WIDTH, &sources},
                {"max : src", false, 1, WIDTH, &sources},
                {"max : tanh(src * edge)", false, 1, WIDTH, &edges}};
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        operands o = gradient_operands(&r, list[n].edge_heads, list[n].width);
        wished = list[n].wish;
        on_edges = list[n].on_edges;
        assert_ok(FtB_Semiring_new(&differentiated, list[n].text));
        if (strncmp(list[n].text, "max", 3) == 0) {
            assert_ok(FtB_Context_set_device(NULL, "cpu"));
            assert_ok(FtB_Block_new(&winners, ROWS, HEADS * WIDTH, FTB_INT64));
            FtB_Block best = new_block(ROWS, HEADS, WIDTH);
            assert_ok(FtB_mxm_arg(best, winners, NULL, differentiated, o.A, o.X[0][SRC], NULL));
            FtB_Block_free(&best);
        }
        both_ways(&o, list[n].text);
        FtB_Block_free(&winners);
        FtB_Semiring_free(&differentiated);
        free_operands(&o);
    }
}

/* Memory that gives out, on the host or there, leaves nothing behind. */
static GrB_Info gradient_anew(void *arg)
{
    (void)arg;
    FtB_Matrix A = NULL;
    FtB_Block X = NULL, Y = NULL, dX = NULL, dY = NULL;
    const int64_t I[] = {0, 1, 2, 2}, J[] = {1, 0, 0, 1};
    const float values[] = {0.5F, -1, 2, 0.25F};
    GrB_Info info;
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 3, 2, 1, 4, I, J, values, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Block_new(&X, 2, 1, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&Y, 3, 1, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&dX, 2, 1, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&dY, 3, 1, FTB_FP32));
    FTB_CHECK(FtB_mxm_grad(A, "plus : leaky_relu(src + dst, 0.2)", Y, X, A, NULL, FTB_DESC_RST1,
                           FTB_GRAD("src", dX), FTB_GRAD_ADD("dst", dY)));
    FTB_CHECK(ftb_buffer_ask(dX->owner, FTB_READ));
    FTB_CHECK(ftb_buffer_ask(dY->owner, FTB_READ));
done:
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&dX);
    FtB_Block_free(&dY);
    return info;
}

static void gradients_without_memory(void **state)
{
    (void)state;
    fail_every_allocation(gradient_anew, NULL, NULL);
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
        cmocka_unit_test_setup_teardown(gradients_of_sums, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(gradients_of_slope, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(gradients_of_messages, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(gradients_without_memory, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(attention, pretend_setup, pretend_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
