/* The order of a layer's products, A (X W) or (A X) W: what is predicted to take less, as FtB_Tape_explain
 * says it, by shapes, gradients, constancy, and machines that are not there. */
#include "support/check.h"

#include "featblas_nn.h"
#include "plan/machine.h"
#include "support/tapes.h"

#include <stdio.h>
#include <stdlib.h>

static const ftb_machine_facts machine = {
    .cores = 4, .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .memory = INT64_C(1) << 33};
/* The same, but that its caches and memory are slow beside its arithmetic. */
static const ftb_machine_facts slow = {.cores = 4,
                                       .l1 = 32 << 10,
                                       .l2 = 1 << 20,
                                       .l3 = 16 << 20,
                                       .memory = INT64_C(1) << 33,
                                       .l1_rate = 1e9,
                                       .l2_rate = 0.5e9,
                                       .l3_rate = 0.2e9,
                                       .memory_rate = 0.1e9};

/* m x n, so many entries a row. */
static FtB_Matrix even(int64_t m, int64_t n, int64_t degree)
{
    FtB_Matrix A;
    int64_t *i = malloc((size_t)(m * degree) * sizeof *i), *j = malloc((size_t)(m * degree) * sizeof *j);
    for (int64_t e = 0; e < m * degree; e++) {
        i[e] = e / degree;
        j[e] = (e / degree * 17 + e % degree * (n / degree)) % n;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, m, n, 0, m * degree, i, j, NULL, FTB_DUP_ERROR, NULL));
    free(i);
    free(j);
    return A;
}

typedef enum source { CONSTANT, DROPPED, LEARNED } source;

typedef struct spec {
    const char *kind;
    int64_t targets, sources, degree, in, out;
    source source; /* what the features are */
    bool inference;
    const ftb_machine_facts *machine;
    const char *order;
} spec;

#define FIRST "order: A (X W), predicted "
#define AFTER "order: (A X) W, predicted "

static const spec specs[] = {
    /* What is constant is summed once, be it wide. */
    {"gcn", 2000, 2000, 20, 64, 16, CONSTANT, false, &machine, AFTER},
    {"gcn", 2000, 2000, 20, 64, 16, CONSTANT, true, &machine, FIRST},
    /* The fewer columns, the cheaper. */
    {"gcn", 2000, 2000, 20, 64, 16, LEARNED, false, &machine, FIRST},
    {"gcn", 2000, 2000, 20, 16, 64, LEARNED, false, &machine, AFTER},
    {"sage", 2000, 2000, 20, 16, 64, LEARNED, false, &machine, AFTER},
    {"gin", 2000, 2000, 20, 64, 16, LEARNED, false, &machine, FIRST},
    {"sgc", 2000, 2000, 20, 64, 16, LEARNED, true, &machine, FIRST},
    /* Of features without a gradient a wide sum is one sum, a narrow one two: forward and back. */
    {"gcn", 2000, 2000, 20, 48, 32, DROPPED, false, &machine, AFTER},
    {"gcn", 2000, 2000, 20, 48, 32, DROPPED, true, &machine, FIRST},
    {"gcn", 2000, 2000, 200, 64, 8, DROPPED, false, &machine, FIRST},
    /* Ten sources for each target: ten times the dense product, but where sums are what takes time. */
    {"sage", 500, 5000, 10, 64, 32, LEARNED, false, &machine, AFTER},
    {"sage", 500, 5000, 10, 64, 32, LEARNED, false, &slow, FIRST},
};

static char *explained(const spec *s)
{
    FtB_Tape tape;
    FtB_Layer layer;
    FtB_Matrix A = even(s->targets, s->sources, s->degree);
    FtB_Block X = drawn_block(s->sources, s->in, FTB_FP32, 1),
              Y = drawn_block(s->targets, s->in, FTB_FP32, 2),
              T = drawn_block(s->targets, s->out, FTB_FP32, 3);
    FtB_Parameter w = drawn_parameter("w", s->in, s->in, FTB_FP32, 4);
    char *text = NULL;
    size_t length = 0;
    ftb_machine_force(s->machine);
    assert_ok(FtB_Tape_new(&tape, 1));
    if (s->inference)
        assert_ok(FtB_Tape_inference(tape));
    assert_ok(FtB_Layer_new(&layer, s->kind, s->in, s->out, NULL));
    FtB_Var x = FtB_input(tape, X), y = s->targets == s->sources ? x : FtB_input(tape, Y);
    if (s->source == DROPPED)
        x = y = FtB_dropout(x, 0.5);
    else if (s->source == LEARNED)
        x = FtB_linear(x, w, NULL);
    if (s->source == LEARNED)
        y = s->targets == s->sources ? x : FtB_linear(y, w, NULL);
    y = FtB_Layer_apply(layer, A, x, y, FTB_NO_VAR);
    if (!s->inference)
        y = FtB_squared_error(y, FtB_input(tape, T), NULL);
    FILE *file = open_memstream(&text, &length);
    assert_ok(FtB_Tape_explain(y, file));
    fclose(file);
    ftb_machine_force(NULL);
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layer);
    FtB_Parameter_free(&w);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&T);
    FtB_Matrix_free(&A);
    return text;
}

static void orders(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        char *text = explained(&specs[k]);
        const char *found = strstr(text, specs[k].order);
        double chosen = 0, other = 0;
        if (!found)
            fail_msg("%zu, %s: no \"%s\" in\n%s", k, specs[k].kind, specs[k].order, text);
        assert_int_equal(sscanf(found + strlen(FIRST),
                                specs[k].inference
                                    ? "%lf ms on one thread, for %*[A()X W] %lf ms"
                                    : "%lf ms with gradients on one thread, for %*[A()X W] %lf ms",
                                &chosen, &other),
                         2);
        assert_true(chosen > 0 && chosen <= other);
        free(text);
    }
}

/* Threads do not move it, and with FtB_Context_set_deterministic the machine does not. */
static void fixed(void **state)
{
    (void)state;
    spec s = specs[sizeof specs / sizeof *specs - 1];
    for (int threads = 1; threads <= 16; threads *= 4) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        char *text = explained(&s);
        assert_non_null(strstr(text, FIRST));
        free(text);
    }
    assert_ok(FtB_Context_set_deterministic(NULL, true));
    char *text = explained(&s);
    assert_non_null(strstr(text, AFTER));
    free(text);
    assert_ok(FtB_Context_set_deterministic(NULL, false));
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Layers and features that leave no choice say nothing of it. */
static void none(void **state)
{
    (void)state;
    spec s = {"gat", 200, 200, 5, 8, 8, LEARNED, false, &machine, NULL};
    char *text = explained(&s);
    assert_null(strstr(text, "order: "));
    assert_non_null(strstr(text, "leaky_relu(dst + src, 0.2)"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(fixed),
                                       cmocka_unit_test(none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
