/* Sizes that make no sense, and those of nothing: refused by a message that never expects a negative number,
 * and without overflow on the way. */
#include "support/check.h"
#include "support/tapes.h"

#include "featblas_nn.h"

#include <ctype.h>
#include <stdlib.h>

static const int64_t sizes[] = {-3, -1, 0, 1, INT64_MIN, INT64_MAX, INT64_C(1) << 33, INT64_C(1) << 62};
enum { SIZES = sizeof sizes / sizeof *sizes, ROWS = SMALL_VERTICES, COLUMNS = 6 };

/* No "expected -3", "expected 0 to -1", "7 x -2": a minus before a digit and behind "expected". */
static void check_words(const char *call, GrB_Info info)
{
    const char *at = info == GrB_SUCCESS ? NULL : strstr(FtB_error(), "expected");
    for (; at && *at; at++)
        if (at[0] == '-' && isdigit((unsigned char)at[1]) && strncmp(at, "-1 for all", 10) != 0)
            fail_msg("%s: %s", call, FtB_error());
}

/* A variable that may not have been recorded; a good one is evaluated. */
static void check_var(const char *call, FtB_Tape tape, FtB_Var y)
{
    FtB_Block Y = NULL;
    (void)y;
    check_words(call, FtB_Tape_status(tape));
    if (FtB_Tape_status(tape) == GrB_SUCCESS) {
        check_words(call, FtB_evaluate(&Y, y));
        FtB_Block_free(&Y);
    }
}

static GrB_Info nothing(const FtB_Operation_call *call)
{
    (void)call;
    return GrB_SUCCESS;
}

/* Every call that records and takes a number of rows, columns, heads or items. */
static void records(FtB_Tape tape, FtB_Block X, int64_t size, int64_t other)
{
    static const int64_t few[ROWS] = {0};
    static const int32_t labels[ROWS] = {0, 5, -1};
    static const FtB_Operation operation = {"nothing", nothing, NULL};
#define RECORD(call)                                                                                         \
    do {                                                                                                     \
        assert_ok(FtB_Tape_reset(tape));                                                                     \
        const FtB_Var x = FtB_input(tape, X);                                                                \
        check_var(#call, tape, call);                                                                        \
    } while (0)
    RECORD(FtB_columns(x, size, other));
    RECORD(FtB_heads(x, size));
    RECORD(FtB_mean_heads(FtB_heads(x, size)));
    RECORD(FtB_rows(x, size > ROWS ? NULL : few, size));
    RECORD(FtB_rows(x, &size, 1));
    RECORD(FtB_pool(x, few, size < 1000 ? size : -size, FTB_POOL_SUM));
    RECORD(FtB_pool(x, (const int64_t[ROWS]){size, other}, 2, FTB_POOL_SUM));
    RECORD(FtB_custom(&operation, &x, 1, size, other, NULL));
    RECORD(FtB_custom(&operation, &x, (size_t)size, 1, 1, NULL));
    RECORD(FtB_cross_entropy(x, labels, NULL));
#undef RECORD
}

static void recorded(void **state)
{
    FtB_Tape tape;
    (void)state;
    assert_ok(FtB_Tape_new(&tape, 1));
    for (int empty = 0; empty < 3; empty++) {
        FtB_Block X = drawn_block(empty == 1 ? 0 : ROWS, empty == 2 ? 0 : COLUMNS, FTB_FP32, 1);
        for (int a = 0; a < SIZES; a++)
            for (int b = 0; b < SIZES; b++)
                records(tape, X, sizes[a], sizes[b]);
        assert_ok(FtB_Tape_reset(tape));
        FtB_Block_free(&X);
    }
    FtB_Tape_free(&tape);
}

/* A layer of such sizes, and what it says of features that do not fit. */
static void check_layer(const char *kind, int64_t in, int64_t out, const FtB_Layer_options *options)
{
    FtB_Layer layer;
    FtB_Tape tape;
    FtB_Context ctx;
    FtB_Matrix A = small_graph();
    FtB_Block X = drawn_block(ROWS, COLUMNS, FTB_FP32, 1);
    assert_ok(FtB_Context_new(&ctx)); /* with too little memory for parameters of the large ones */
    assert_ok(FtB_Context_set_memory_limit(ctx, 16 << 20));
    assert_ok(FtB_Context_engage(ctx));
    const GrB_Info info = FtB_Layer_new(&layer, kind, in, out, options);
    check_words(kind, info);
    assert_ok(FtB_Context_engage(NULL));
    if (info == GrB_SUCCESS) {
        assert_ok(FtB_Tape_new(&tape, 1));
        const FtB_Var x = FtB_input(tape, X);
        check_var(kind, tape, FtB_Layer_apply(layer, A, x, x, FTB_NO_VAR));
        FtB_Tape_free(&tape);
    }
    FtB_Layer_free(&layer);
    FtB_Context_free(&ctx);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
}

static void layers(void **state)
{
    static const char *const kinds[] = {
#define KIND(name, options, formula) #name,
        FTB_LAYERS(KIND)
#undef KIND
    };
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int a = 0; a < SIZES; a++) {
            for (int b = 0; b < SIZES; b++)
                check_layer(kinds[k], sizes[a], sizes[b], NULL);
            const FtB_Layer_options with[] = {{.heads = sizes[a]},
                                              {.hops = sizes[a] % 1000},
                                              {.hidden = sizes[a]},
                                              {.edge_width = sizes[a]},
                                              {.relations = sizes[a]},
                                              {.in_dst = sizes[a]},
                                              {.heads = sizes[a], .average = true}};
            for (size_t o = 0; o < sizeof with / sizeof *with; o++) {
                FtB_Layer_options options = with[o];
                options.size = sizeof options;
                check_layer(kinds[k], COLUMNS, 4, &options);
                check_layer(kinds[k], COLUMNS, INT64_C(1) << 40, &options);
            }
        }
}

/* The rest: parameters, optimisers, stoppers, initial values, tensors, picked rows. */
static void others(void **state)
{
    (void)state;
    FtB_Block X = drawn_block(ROWS, COLUMNS, FTB_FP32, 1), Y, none = drawn_block(0, COLUMNS, FTB_FP32, 1);
    FtB_Tensors t;
    FtB_Optimizer o;
    assert_ok(FtB_Tensors_new(&t));
    assert_ok(FtB_Optimizer_new(&o, FTB_SGD, NULL));
    for (int a = 0; a < SIZES; a++) {
        FtB_Stopper s = NULL;
        for (int b = 0; b < SIZES; b++) {
            FtB_Parameter p = NULL;
            if (sizes[a] < INT64_C(1) << 33 || sizes[b] < 0) {
                check_words("Parameter_new", FtB_Parameter_new(&p, "p", sizes[a], sizes[b], FTB_FP32));
                FtB_Parameter_free(&p);
            }
            check_words("Tensors_set", FtB_Tensors_set(t, "t", X, 2, (const int64_t[]){sizes[a], sizes[b]}));
            check_words("init", FtB_init(X, FTB_INIT_GLOROT_UNIFORM, 1,
                                         FTB_INIT_OPTIONS(.fan_in = sizes[a], .fan_out = sizes[b])));
        }
        check_words("Optimizer_add", FtB_Optimizer_add(o, NULL, sizes[a], NULL));
        check_words("Optimizer_set_lr", FtB_Optimizer_set_lr(o, sizes[a], 0.1));
        check_words("schedule",
                    FtB_Optimizer_schedule(o, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_STEP, .every = sizes[a],
                                                                   .warmup = sizes[(a + 1) % SIZES])));
        check_words("Stopper_new",
                    FtB_Stopper_new(&s, NULL, sizes[a], FTB_STOPPER_OPTIONS(.patience = sizes[a])));
        check_words("gather", FtB_gather(X, none, &sizes[a], 1));
        check_words("scatter", FtB_scatter(none, NULL, X, &sizes[a], 1));
        check_words("Block_columns", FtB_Block_columns(&Y, none, sizes[a], sizes[(a + 3) % SIZES]));
        FtB_Block_free(&Y);
        FtB_Stopper_free(&s);
    }
    FtB_Optimizer_free(&o);
    FtB_Tensors_free(&t);
    FtB_Block_free(&X);
    FtB_Block_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded), cmocka_unit_test(layers),
                                       cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
