/* FtB_mxm_grad on a device that does not exist (support/pretend.h): it is made of verbs, so that operands and
 * outputs stay where they are, and the bits are the host's. */
#include "support/check.h"

#include "support/fail_alloc.h"
#include "support/twice.h"

#include <math.h>
#include <stdlib.h>

enum { SRC, DST, D_SRC, D_DST, D_EDGE, D_SCALAR, BROAD, D_C };

typedef struct wish {
    const char *what, *names[3];
    int outputs[3]; /* a block's place, for each name */
    int verbs;
} wish;
static const wish *wished;
static bool on_edges, added, in_fp64;
static FtB_Semiring differentiated;
static FtB_Block winners; /* of min and max, as FtB_mxm_arg wrote them; NULL: not wanted */

/* SRC and DST of `width` values a head; one output more, of which the gradient is but some columns. A's
 * values are no whole numbers, whose sums would be the same in any order. */
static operands gradient_operands(rng *r, int64_t edge_heads, int64_t width)
{
    operands o = {.A = rng_matrix(r, FTB_FP32, ROWS, COLS, edge_heads, 0.2)};
    rng_reals(r, ftb_values(o.A), FTB_FP32, o.A->pattern->nvals * edge_heads);
    assert_ok(FtB_Matrix_changed(o.A));
    twice_add(&o, r, COLS, HEADS, width);
    twice_add(&o, r, ROWS, HEADS, width);
    twice_add(&o, r, COLS, HEADS, width);
    twice_add(&o, r, ROWS, HEADS, width);
    twice_add(&o, r, o.A->pattern->nvals, 1, edge_heads);
    twice_add(&o, r, 1, 1, 1);
    twice_add(&o, r, ROWS, 1, HEADS * width + 5);
    twice_add(&o, r, ROWS, HEADS, width);
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
    if (X == o->X[1] && !twice_at_home)
        pretend_send(Y->owner);
    return Y;
}

static void take_from_fp64(FtB_Block X, FtB_Block Y)
{
    assert_ok(ftb_buffer_ask(Y->owner, FTB_READ));
    float *x = twice_host(X);
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
            if (fabs(twice_host(X)[t] - goal) > 1e-6 * (fabs(held) + times * fabs(g)))
                fail_msg("%s: operand %d, value %d is %g, expected %g", what, n, (int)t, twice_host(X)[t],
                         goal);
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
        twice_at_home = home;
        for (int adds = 0; adds < 2; adds++) {
            added = adds;
            snprintf(what, sizeof what, "%s: %s%s%s%s", text, wished->what, adds ? ", added" : "",
                     in_fp64 ? ", in fp64" : "", home ? ", from the host" : "");
            twice_run(o, differentiate, in_fp64 || home ? ANY : wished->verbs, what);
            for (int n = 0; n < o->count && !adds; n++) {
                const size_t bytes = (size_t)(o->X[0][n]->nrows * o->X[0][n]->ncols) * sizeof(float);
                before[n] = memcpy(malloc(bytes), twice_host(o->X[0][n]), bytes);
            }
        }
        check_added(o, before, what);
        for (int n = 0; n < o->count; n++)
            free(before[n]);
    }
    added = twice_at_home = false;
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
        twice_free(&o);
    }
}

/* A number that the text is bound to has a gradient, too, which the host computes beside what the device
 * does. */
static void gradients_of_slope(void **state)
{
    (void)state;
    static const wish wishes[] = {
        {"slope and dst", {"slope", "dst"}, {D_SCALAR, D_DST}, ANY},
        {"all", {"src", "slope", "dst"}, {D_SRC, D_SCALAR, D_DST}, ANY},
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
    twice_free(&o);
}

/* The bits are the host's, whoever holds the operands and the outputs, and nothing moves. */
static void gradients_of_messages(void **state)
{
    (void)state;
    static const wish vertices = {"vertices", {"src", "dst"}, {D_SRC, D_DST}, STILL},
                      edges = {"edge and source", {"edge", "src"}, {D_EDGE, D_SRC}, STILL},
                      sources = {"source", {"src"}, {D_SRC}, STILL};
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
                {"min : src * src - src", false, 1, WIDTH, &sources},
                {"max : tanh(src * edge)", false, 1, WIDTH, &edges}};
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        operands o = gradient_operands(&r, list[n].edge_heads, list[n].width);
        wished = list[n].wish;
        on_edges = list[n].on_edges;
        assert_ok(FtB_Semiring_new(&differentiated, list[n].text));
        if (list[n].text[0] == 'm' && list[n].text[1] != 'e') {
            assert_ok(FtB_Context_set_device(NULL, "cpu"));
            assert_ok(FtB_Block_new(&winners, ROWS, HEADS * WIDTH, FTB_INT64));
            FtB_Block best = twice_block(ROWS, HEADS, WIDTH);
            assert_ok(FtB_mxm_arg(best, winners, NULL, differentiated, o.A, o.X[0][SRC], NULL));
            FtB_Block_free(&best);
            pretend_send(winners->owner);
        }
        both_ways(&o, list[n].text);
        FtB_Block_free(&winners);
        FtB_Semiring_free(&differentiated);
        twice_free(&o);
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

/* ---- of names that are bound */

enum { B_SRC, B_DST, B_NEAR, B_ROW, B_GRAD, B_D_SRC, B_D_DST, B_D_NEAR, B_D_ROW };

typedef struct binding {
    const char *text;
    bool on_edges, transposed;
    int heads; /* of near and row */
    int verbs;
} binding;
static const binding *derived;
static bool into_one;                   /* gradients of src, dst and near are all added to one output */
static FtB_Matrix edges[2], d_edges[2]; /* [on the device]: what dst and src make, and the gradient of edge */

static GrB_Info differentiate_bound(const operands *o, const FtB_Block *X)
{
    const bool on = X == o->X[1];
    const char *const t = derived->text;
    FtB_Semiring s, bound;
    FtB_Gradient g[5] = {{.name = "src", .output = FTB_ARG(X[B_D_SRC]), .accumulate = added}};
    int count = 1;
    GrB_Info info;
    FTB_CHECK(FtB_Semiring_new(&s, t));
    if (strstr(t, "dst"))
        g[count++] = (FtB_Gradient){
            .name = "dst", .output = FTB_ARG(X[into_one ? B_D_SRC : B_D_DST]), .accumulate = added};
    if (strstr(t, "near"))
        g[count++] = (FtB_Gradient){
            .name = "near", .output = FTB_ARG(X[into_one ? B_D_SRC : B_D_NEAR]), .accumulate = added};
    if (strstr(t, "row"))
        g[count++] = (FtB_Gradient){.name = "row", .output = FTB_ARG(X[B_D_ROW]), .accumulate = added};
    if (strstr(t, "edge"))
        g[count++] = (FtB_Gradient){.name = "edge", .output = FTB_ARG(d_edges[on]), .accumulate = added};
    if (strstr(t, "near")) {
        FTB_CHECK(FtB_Semiring_bind(&bound, s, FTB_BIND("near", X[B_NEAR])));
        FtB_Semiring_free(&s);
        s = bound;
    }
    if (strstr(t, "row")) {
        FTB_CHECK(FtB_Semiring_bind(&bound, s, FTB_BIND("row", X[B_ROW])));
        FtB_Semiring_free(&s);
        s = bound;
    }
    const FtB_Arg none = FtB_Arg_none();
    info = derived->on_edges
               ? (FtB_mxm_grad)(FTB_ARG(edges[on]), FTB_ARG(s), FTB_ARG(X[B_DST]), FTB_ARG(X[B_SRC]),
                                FTB_ARG(o->A), none, g, (size_t)count, FTB_ARG(FTB_DESC_ST1))
               : (FtB_mxm_grad)(FTB_ARG(X[B_GRAD]), FTB_ARG(s), FTB_ARG(o->A), FTB_ARG(X[B_SRC]), none, none,
                                g, (size_t)count, derived->transposed ? FTB_ARG(FTB_DESC_T0) : none);
done:
    FtB_Semiring_free(&s);
    return info;
}

static void make_edges(const operands *o, rng *r)
{
    for (int on = 0; on < 2; on++) {
        const int64_t nvals = o->A->pattern->nvals;
        assert_ok(FtB_Matrix_like(&edges[on], o->A, HEADS * WIDTH, FTB_FP32));
        assert_ok(FtB_Matrix_like(&d_edges[on], o->A, HEADS, FTB_FP32));
        if (on) {
            memcpy(ftb_values(edges[1]), ftb_values(edges[0]),
                   (size_t)(nvals * HEADS * WIDTH) * sizeof(float));
            memcpy(ftb_values(d_edges[1]), ftb_values(d_edges[0]), (size_t)(nvals * HEADS) * sizeof(float));
        } else {
            rng_reals(r, ftb_values(edges[0]), FTB_FP32, nvals * HEADS * WIDTH);
            rng_reals(r, ftb_values(d_edges[0]), FTB_FP32, nvals * HEADS);
        }
    }
    pretend_send(edges[1]->values);
    pretend_send(d_edges[1]->values);
}

static void check_edges(const char *what)
{
    const int64_t bytes = d_edges[0]->values->bytes;
    for (int on = 0; on < 2; on++)
        assert_ok(ftb_buffer_ask(d_edges[on]->values, FTB_READ));
    if (memcmp(ftb_values(d_edges[0]), ftb_values(d_edges[1]), (size_t)bytes) != 0)
        fail_msg("%s: the gradient of edge differs from the host's", what);
    pretend_send(d_edges[1]->values);
}

/* Of a block right of @ as many as what stands left of it has values. */
static int64_t rows_of_row(const char *text)
{
    return !strchr(text, '@') ? 1 : strstr(text, "src[0]") ? WIDTH + 1 : WIDTH;
}

/* Gradients of messages that are no plain sums: over the entries, over the transpose, by entry, of what all
 * share, of what is read by row and by column; put, and added to. */
static void gradients_of_bound(void **state)
{
    (void)state;
    static const binding list[] = {{"plus : tanh(src)", false, false, HEADS, STILL},
                                   {"mean : src * near[i]", false, false, HEADS, STILL},
                                   {"plus : tanh(src * edge)", false, false, HEADS, STILL},
                                   {"plus : tanh(src * edge)", false, true, HEADS, STILL},
                                   {"plus : exp(src * near[i]) * near[j]", false, false, HEADS, STILL},
                                   {"plus : exp(src * near[i]) * near[j]", false, true, 1, STILL},
                                   {"plus : tanh(src * row)", false, false, 1, STILL},
                                   {"mean : tanh(src * row) / near[i]", false, true, HEADS, STILL},
                                   {"plus : tanh(src * dst)", true, false, HEADS, STILL},
                                   {"plus : tanh(src * dst) * row", true, false, 1, STILL},
                                   {"plus : src * near[j] - dst * near[i]", true, false, HEADS, STILL},
                                   {"plus : tanh(src * near[i]) @ row", false, false, 1, STILL},
                                   {"mean : tanh(src * edge) @ row", false, true, 1, STILL},
                                   {"plus : [src[0], tanh(src) - near[i]] @ row", false, false, 1, STILL},
                                   {"plus : relu(src - dst) @ row", true, false, 1, STILL}};
    rng r = rng_new();
    for (size_t n = 0; n < 3 * sizeof list / sizeof *list; n++) {
        derived = &list[n / 3];
        added = n % 3 > 0;
        into_one = n % 3 == 2;
        if (into_one && derived->heads != HEADS)
            continue;
        operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, ROWS, HEADS, 0.05)};
        for (int k = B_SRC; k <= B_D_ROW; k++)
            twice_add(&o, &r, k == B_ROW || k == B_D_ROW ? rows_of_row(derived->text) : ROWS,
                      k == B_NEAR || k == B_ROW || k == B_D_NEAR || k == B_D_ROW ? derived->heads : HEADS,
                      WIDTH);
        make_edges(&o, &r);
        pretend_send(o.A->values);
        twice_run(&o, differentiate_bound, into_one ? ANY : derived->verbs, derived->text);
        check_edges(derived->text);
        for (int on = 0; on < 2; on++) {
            FtB_Matrix_free(&edges[on]);
            FtB_Matrix_free(&d_edges[on]);
        }
        twice_free(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gradients_of_sums, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(gradients_of_slope, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(gradients_of_messages, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(gradients_without_memory, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(gradients_of_bound, pretend_setup, pretend_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
