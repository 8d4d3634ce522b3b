/* Runs of vertex programs: types and columns of states, semirings of all kinds, what ends a run, cancelling,
 * what a run prints; few active vertices take work and memory of their own edges; which way is chosen. */
#include "support/check.h"

#include "featblas_vertex.h"

#include "core/backend.h"
#include "plan/vertex_plan.h"
#include "support/some_vectors.h"
#include "support/vertex_graphs.h"

#include <stdlib.h>

/* ---- columns, types, semirings of all kinds */

static void twice_src(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                      const void *theta)
{
    (void)dst;
    for (int64_t f = 0; f < width; f++)
        z[f] = 2 * src[f] + edge[f < 1 ? f : 0] * *(const float *)theta;
}

static void semirings_of_all_kinds(void **state)
{
    (void)state;
    const float theta = 0.5f;
    FtB_Matrix A = path(5);
    FtB_Semiring function, bound, text;
    FtB_Block X, weight;
    float *x;
    assert_ok(FtB_Block_new(&X, 5, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&weight, 5, 1, FTB_FP32));
    assert_ok(FtB_Block_shape(X, NULL, NULL, NULL, NULL, (void **)&x));
    assert_ok(FtB_Semiring_new_function(&function, "max", twice_src, 1, &theta));
    assert_ok(FtB_Semiring_new(&text, "min : message * by + shift[k]"));
    assert_ok(FtB_Semiring_bind(&bound, text, FTB_BIND("by", 3), FTB_BIND("shift", weight)));
    const FtB_Semiring all[] = {function, FTB_MIN_PLUS, bound};
    for (int s = 0; s < 3; s++) {
        FtB_Program program;
        for (int v = 0; v < 5; v++)
            x[v] = v == 0 ? 1 : s == 0 ? 0 : INFINITY;
        assert_ok(
            FtB_Program_new(&program, FTB_PROGRAM(.send = "x", .semiring = all[s], .apply = "x = received")));
        const int64_t zero = 0;
        if (s == 2)
            assert_fails(GrB_INVALID_VALUE, "'shift[k]' is bound to a block",
                         FtB_run(program, A, FTB_STATE("x", X), NULL));
        else {
            assert_ok(FtB_run(program, A, FTB_STATE("x", X), FTB_RUN_OPTIONS(.start = {&zero, 1})));
            assert_true(x[4] == (s == 0 ? 16 + 0.5f * 15 : 5.0f));
        }
        FtB_Program_free(&program);
    }
    FtB_Semiring_free(&function);
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&text);
    FtB_Block_free(&X);
    FtB_Block_free(&weight);
    FtB_Matrix_free(&A);
}

/* Every type of state holds what its values are cast to, and a run of columns is that of each. */
static void types_and_columns(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    FtB_Program program;
    assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x", .combine = "max : message",
                                                    .apply = "x = max(x, received - 1)", .rounds = 4)));
    for (int type = FTB_BOOL; type <= FTB_BF16; type++) {
        const size_t size = FtB_Type_size((FtB_Type)type);
        FtB_Block both, one[3];
        rng r = {5};
        assert_ok(FtB_Block_new(&both, LARGE, 3, (FtB_Type)type));
        rng_values(&r, block_values(both), (FtB_Type)type, 3 * LARGE);
        for (int c = 0; c < 3; c++) {
            assert_ok(FtB_Block_new(&one[c], LARGE, 1, (FtB_Type)type));
            for (size_t v = 0; v < LARGE; v++)
                memcpy((char *)block_values(one[c]) + v * size,
                       (char *)block_values(both) + (3 * v + (size_t)c) * size, size);
            assert_ok(FtB_run(program, A, FTB_STATE("x", one[c]), NULL));
        }
        assert_ok(FtB_run(program, A, FTB_STATE("x", both), NULL));
        for (int c = 0; c < 3; c++) {
            for (size_t v = 0; v < LARGE; v++)
                assert_memory_equal((char *)block_values(both) + (3 * v + (size_t)c) * size,
                                    (char *)block_values(one[c]) + v * size, size);
            FtB_Block_free(&one[c]);
        }
        FtB_Block_free(&both);
    }
    FtB_Program_free(&program);
    FtB_Matrix_free(&A);
}

/* ---- how runs end */

/* Step by step: what the caller writes in between is read. The run keeps the program. */
static void write_between(FtB_Program program, FtB_Matrix A, FtB_Block X)
{
    double *x = block_values(X);
    FtB_Run run;
    FtB_Superstep about;
    bool more;
    for (int v = 0; v < 6; v++)
        x[v] = v == 0;
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_Run_new(&run, program, A, FTB_STATE("x", X, "limit", 2), NULL));
    assert_ok(FtB_Program_free(&program));
    assert_ok(FtB_Run_about(run, &about));
    assert_int_equal(about.round, 0);
    assert_ok(FtB_Run_step(run, &more));
    assert_true(more && x[1] == 1);
    x[1] = 10;
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_Run_step(run, &more));
    assert_true(more && x[2] == 10);
    assert_ok(FtB_Run_step(run, &more));
    assert_false(more);
    assert_ok(FtB_Run_step(run, &more));
    assert_ok(FtB_Run_about(run, &about));
    assert_true(!more && about.round == 3 && about.way == FTB_WAY_ALL && about.edges == 5 &&
                about.applied == 6);
    assert_ok(FtB_Run_free(&run));
    assert_ok(FtB_Run_free(&run));
}

static void ends(void **state)
{
    (void)state;
    FtB_Matrix A = path(6), none = path(0);
    FtB_Block X, E, empty;
    FtB_Program program;
    int64_t steps = -1;
    const int64_t zero = 0, seven = 7;
    double *x;
    assert_ok(FtB_Block_new(&X, 6, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&empty, 0, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&E, 1, 2, FTB_FP64));
    x = block_values(X);
    assert_ok(FtB_Program_new(
        &program, FTB_PROGRAM(.send = "x", .combine = "plus : message", .apply = "x = x + received",
                              .until = "round >= 3 && sum(new.x) + sum(new.x - old.x) * 0 > limit")));
    x[0] = 1;
    assert_ok(FtB_run(program, A, FTB_STATE("x", X, "limit", 0), FTB_RUN_OPTIONS(.supersteps = &steps)));
    assert_int_equal(steps, 3);
    assert_true(x[0] == 1 && x[1] == 3 && x[2] == 3 && x[3] == 1);
    assert_ok(FtB_run(program, A, FTB_STATE("x", X, "limit", 1e9),
                      FTB_RUN_OPTIONS(.rounds = 5, .supersteps = &steps)));
    assert_int_equal(steps, 5);
    assert_ok(
        FtB_run(program, none, FTB_STATE("x", empty, "limit", 1), FTB_RUN_OPTIONS(.supersteps = &steps)));
    assert_int_equal(steps, 0);
    assert_ok(FtB_run(program, A, FTB_STATE("x", X, "limit", 1),
                      FTB_RUN_OPTIONS(.start = {&zero, 0}, .supersteps = &steps)));
    assert_int_equal(steps, 0);
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "start[0] is 7; expected 0 to 5",
                 FtB_run(program, A, FTB_STATE("x", X, "limit", 1), FTB_RUN_OPTIONS(.start = {&seven, 1})));
    write_between(program, A, X);
    FtB_Block_free(&X);
    FtB_Block_free(&E);
    FtB_Block_free(&empty);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&none);
}

/* The entries of a vector in each form begin as the same vertices of a list do, whatever their values. */
static void frontiers(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = large_graph();
    FtB_Block X[2];
    FtB_Program program;
    int64_t *places = malloc(LARGE * sizeof *places), nvals, steps[2];
    assert_ok(FtB_Program_new(&program,
                              FTB_PROGRAM(.send = "id", .combine = "plus : message", .apply = "x = received",
                                          .rounds = 1, .applies = FTB_APPLY_RECEIVERS)));
    for (int t = 0; t < 9; t++) {
        FtB_Vector v = rng_vector(&r, FTB_INT8, LARGE, t % 3 == 2 ? 2 : t % 2 ? 0.01 : 0.5);
        assert_true(force_form(v, t % 3 == 0   ? FTB_VECTOR_LIST
                                  : t % 3 == 1 ? FTB_VECTOR_BITMAP
                                               : FTB_VECTOR_DENSE));
        assert_ok(FtB_Vector_shape(v, NULL, &nvals, NULL));
        assert_ok(FtB_Vector_tuples(v, places, NULL));
        for (int n = 0; n < 2; n++) {
            assert_ok(FtB_Block_new(&X[n], LARGE, 1, FTB_INT64));
            assert_ok(FtB_run(program, A, FTB_STATE("x", X[n]),
                              n ? FTB_RUN_OPTIONS(.supersteps = &steps[n], .frontier = v)
                                : FTB_RUN_OPTIONS(.start = {places, nvals}, .supersteps = &steps[n])));
        }
        assert_int_equal(steps[0], steps[1]);
        assert_memory_equal(block_values(X[0]), block_values(X[1]), LARGE * sizeof(int64_t));
        FtB_Block_free(&X[1]);
        assert_fails(
            GrB_INVALID_VALUE, "start and frontier both",
            FtB_run(program, A, FTB_STATE("x", X[0]), FTB_RUN_OPTIONS(.start = {places, 1}, .frontier = v)));
        assert_fails(GrB_INVALID_VALUE, "FtB_components: options: frontier is given",
                     FtB_components(X[0], A, FTB_RUN_OPTIONS(.frontier = v)));
        FtB_Vector_free(&v);
        FtB_Block_free(&X[0]);
    }
    FtB_Vector none, other;
    assert_ok(FtB_Vector_new(&none, FTB_BOOL, LARGE));
    assert_ok(FtB_Vector_new(&other, FTB_BOOL, LARGE + 1));
    assert_ok(FtB_Block_new(&X[0], LARGE, 1, FTB_INT64));
    assert_ok(FtB_run(program, A, FTB_STATE("x", X[0]),
                      FTB_RUN_OPTIONS(.supersteps = &steps[0], .frontier = none)));
    assert_int_equal(steps[0], 0);
    assert_fails(GrB_DIMENSION_MISMATCH, "frontier has 3001 places; expected 3000",
                 FtB_run(program, A, FTB_STATE("x", X[0]), FTB_RUN_OPTIONS(.frontier = other)));
    FtB_Vector_free(&none);
    FtB_Vector_free(&other);
    FtB_Block_free(&X[0]);
    FtB_Program_free(&program);
    FtB_Matrix_free(&A);
    free(places);
}

static bool stop(double done, double total, const char *what, void *arg)
{
    (void)total;
    assert_string_equal(what, "supersteps");
    return done < *(const double *)arg;
}

static void cancelled(void **state)
{
    (void)state;
    FtB_Matrix A = path(50);
    FtB_Context ctx;
    FtB_Block X;
    FtB_Program program;
    double most = 0;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_progress(ctx, stop, &most));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_new(&X, 50, 1, FTB_INT64));
    assert_ok(FtB_Program_new(
        &program, FTB_PROGRAM(.send = "x", .combine = "max : message + 1", .apply = "x = received")));
    assert_fails(FTB_CANCELLED, "cancelled", FtB_run(program, A, FTB_STATE("x", X), NULL));
    assert_int_equal(((int64_t *)block_values(X))[1], 0);
    most = 1e9;
    assert_ok(FtB_run(program, A, FTB_STATE("x", X), NULL));
    assert_int_equal(((int64_t *)block_values(X))[49], 49);
    assert_ok(FtB_Context_set_memory_limit(ctx, 1));
    assert_fails(FTB_LIMIT, "", FtB_run(program, A, FTB_STATE("x", X), NULL));
    FtB_Program_free(&program);
    FtB_Block_free(&X);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    FtB_Matrix_free(&A);
}

/* ---- few active vertices */

enum { FEW_N = 1 << 20, FEW_STEPS = 20000 };

/* One vertex after the other along a path: with a pass over all vertices in each superstep it would not end.
 */
static void walk_path(FtB_Matrix A, FtB_Program program, int64_t ncols, FtB_Context ctx)
{
    FtB_Block X;
    FtB_Run run;
    FtB_Superstep about;
    const int64_t first = 5;
    int64_t before, after;
    bool more = true;
    assert_ok(FtB_Block_new(&X, FEW_N, ncols, FTB_FP32));
    float *x = block_values(X);
    for (int64_t t = 0; t < FEW_N * ncols; t++)
        x[t] = t / ncols == first ? 0 : INFINITY;
    assert_ok(FtB_Context_memory(ctx, &before, NULL));
    assert_ok(FtB_Run_new(&run, program, A, FTB_STATE("x", X), FTB_RUN_OPTIONS(.start = {&first, 1})));
    for (int s = 1; s <= FEW_STEPS; s++) {
        assert_ok(FtB_Run_step(run, &more));
        assert_ok(FtB_Run_about(run, &about));
        assert_true(more && about.edges == 1 && about.applied == 1 && about.way == FTB_WAY_PUSH);
    }
    for (int64_t c = 0; c < ncols; c++)
        assert_true(x[(first + FEW_STEPS) * ncols + c] == FEW_STEPS &&
                    isinf(x[(first + FEW_STEPS + 1) * ncols + c]));
    assert_ok(FtB_Context_memory(ctx, NULL, &after));
    assert_true(after - before < FEW_N / 2); /* bytes: not even a bit for each vertex, eight times */
    FtB_Run_free(&run);
    FtB_Block_free(&X);
}

static void few_are_cheap(void **state)
{
    (void)state;
    static const struct {
        const char *combine, *active, *settled, *until;
        int64_t ncols;
    } rows[] = {{"min : message + edge", NULL, NULL, NULL, 1},
                {"min : message + 1 * edge", NULL, NULL, NULL, 1},
                {"min : message + edge", NULL, NULL, "sum(new.x) < 0", 1},
                {"min : message + edge", "changed", "x < 1e6 && id > 5", "sum(new.x) < 0", 3}};
    FtB_Matrix A = path(FEW_N);
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, 1));
    assert_ok(FtB_Context_engage(ctx));
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        FtB_Program program;
        const FtB_Program_texts texts = {.size = sizeof texts,
                                         .send = "x",
                                         .combine = rows[row].combine,
                                         .apply = "x = min(x, received)",
                                         .active = rows[row].active,
                                         .settled = rows[row].settled,
                                         .until = rows[row].until};
        assert_ok(FtB_Program_new(&program, &texts));
        walk_path(A, program, rows[row].ncols, ctx);
        FtB_Program_free(&program);
    }
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    FtB_Matrix_free(&A);
}

static void explained(void **state)
{
    (void)state;
    FtB_Matrix A = path(4);
    FtB_Block X;
    FtB_Program program;
    char text[1000] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_ok(FtB_Block_new(&X, 4, 1, FTB_INT32));
    assert_ok(FtB_Program_new(
        &program, FTB_PROGRAM(.send = "x", .combine = "max : message + 1", .apply = "x = received")));
    assert_ok(FtB_run(program, A, FTB_STATE("x", X), FTB_RUN_OPTIONS(.explain = file)));
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    const bool there = ftb_device(ftb_context()) != NULL; /* of FEATBLAS_PRETEND */
    const char *const first =
        there ? "  where\n1                    4              3 out    all    device            3 "
              : "\n1                    4              3 out    all    text              3 ";
    assert_non_null(strstr(
        text,
        "superstep       active          edges along  way    loop        applied         next    seconds"));
    assert_non_null(strstr(text, first));
    assert_non_null(strstr(
        text, "\n2                    3              2 out    pull   text              2            2"));
    FtB_Program_free(&program);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

static void rule(void **state)
{
    (void)state;
    double missed;
    ftb_vertex_facts f = {
        .n = 1000000, .nvals = 16000000, .active = 10, .edges = 160, .threads = 2, .may_push = true};
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PUSH);
    f.edges = 5000000;
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PUSH); /* a transpose costs more */
    f.pull_made = true;
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PULL);
    f.wanted = FTB_WAY_PUSH;
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PUSH);
    f.may_push = false;
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PULL);
    f.all = f.may_push = true;
    assert_int_equal(ftb_rule_vertex(&f, &missed),
                     FTB_WAY_ALL); /* sums of reals: nothing else has the same bits */
    f.any_way = true;
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PUSH);
    f.wanted = FTB_WAY_AUTO;
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_ALL);
    f = (ftb_vertex_facts){.n = 1000000,
                           .nvals = 31000000,
                           .active = 6000,
                           .edges = 7600000,
                           .threads = 1,
                           .may_push = true,
                           .pull_made = true,
                           .bits = true};
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PULL);
    f.words = true; /* a push of words takes less than one of words and parents */
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PUSH);
    f.edges = 30000000;
    assert_int_equal(ftb_rule_vertex(&f, &missed), FTB_WAY_PULL);
}

/* Of a single vertex a block of one row may be either; a text of many vertices means the same there. */
static void single_vertex(void **state)
{
    (void)state;
    static const int64_t zero[] = {0};
    static const double weight[] = {3};
    double x[] = {2}, c[] = {5};
    FtB_Program program;
    FtB_Matrix A;
    FtB_Block X, C;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 1, 1, 1, 1, zero, zero, weight, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_wrap(&X, x, 1, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap(&C, c, 1, 1, 1, FTB_FP64));
    assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x + c", .combine = "plus : message * edge + c",
                                                    .apply = "x = received + c",
                                                    .until = "sum(new.x * c) > 1e9", .rounds = 1)));
    assert_ok(FtB_run(program, A, FTB_STATE("x", X, "c", C), NULL));
    assert_true(x[0] == (2 + 5) * 3 + 5 + 5);
    FtB_Program_free(&program);
    FtB_Block_free(&C);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(semirings_of_all_kinds),
                                       cmocka_unit_test(types_and_columns),
                                       cmocka_unit_test(ends),
                                       cmocka_unit_test(frontiers),
                                       cmocka_unit_test(cancelled),
                                       cmocka_unit_test(few_are_cheap),
                                       cmocka_unit_test(explained),
                                       cmocka_unit_test(rule),
                                       cmocka_unit_test(single_vertex)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
