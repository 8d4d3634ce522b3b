/* Vertex programs that are refused: texts, and where in them; states that do not fit; objects that are none.
 * And allocations that fail, in every way of a superstep. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

/* ---- texts */

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *send, *combine, *apply, *active, *until, *message;
    } bad[] = {
        {"x +", "min : message", "x = received", NULL, NULL,
         "send: expected a number, a name, a function, '(' or '[' at column 4"},
        {"x", "message", "x = received", NULL, NULL, "there is no ':'"},
        {"x", "least : message", "x = received", NULL, NULL, "combine: semiring: "},
        {"x", "min : message @@ 2", "x = received", NULL, NULL, "at column 16"},
        {"x", "mean : message", "x = received", NULL, NULL,
         "combine: mean, argmin and argmax are no monoids"},
        {"x", "argmin : message", "x = received", NULL, NULL,
         "combine: mean, argmin and argmax are no monoids"},
        {"x", "min : message", "", NULL, NULL, "apply: expected FIELD = text at column 1"},
        {"x", "min : message", "received", NULL, NULL, "apply: expected FIELD = text at column 1"},
        {"x", "min : message", "x == received", NULL, NULL, "apply: expected FIELD = text at column 1"},
        {"x", "min : message", "x = received; 3 = x", NULL, NULL,
         "apply: expected FIELD = text at column 15"},
        {"x", "min : message", "x = received; x = 1", NULL, NULL,
         "apply: 'x' at column 15 has a text already"},
        {"x", "min : message", "x = received; y = * 2", NULL, NULL,
         "apply: expected a number, a name, a function, '(' or '[' at column 19"},
        {"x", "min : message", "x = received", "changed &", NULL, "active: expected"},
        {"x", "min : message", "x = received", NULL, "sum(new.x + ) < 1",
         "until: expected a number, a name, a function, '(' or '[' at column 13"},
        {"x", "min : message", "x = received", NULL, "sum(new.x < 1", "until: expected"},
        {"x", "min : message", "x = received", NULL, "sum() < 1",
         "until: sum at column 1 takes 1 argument, not 0"},
        {"x", "min : message", "x = received", NULL, "1 < sum(new.x) +",
         "until: expected a number, a name, a function, '(' or '[' at column 17"},
        {"x", "min : message", "x = received", NULL, "sum(new.x, old.x) < 1", "until: expected"},
    };
    for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
        FtB_Program program = (FtB_Program)&program;
        assert_fails(GrB_INVALID_VALUE, bad[t].message,
                     FtB_Program_new(&program, FTB_PROGRAM(.send = bad[t].send, .combine = bad[t].combine,
                                                           .apply = bad[t].apply, .active = bad[t].active,
                                                           .until = bad[t].until)));
        assert_null(program);
    }
}

static void programs(void **state)
{
    (void)state;
    FtB_Program p = NULL;
    const FtB_Program_texts newer = {.size = sizeof newer + 8, .send = "x"};
    assert_fails(GrB_NULL_POINTER, "program is NULL", FtB_Program_new(NULL, FTB_PROGRAM(.send = "x")));
    assert_fails(GrB_NULL_POINTER, "texts is NULL", FtB_Program_new(&p, NULL));
    assert_fails(GrB_NULL_POINTER, "send is NULL", FtB_Program_new(&p, FTB_PROGRAM(.apply = "x = 1")));
    assert_fails(GrB_NULL_POINTER, "apply is NULL", FtB_Program_new(&p, FTB_PROGRAM(.send = "x")));
    assert_fails(GrB_NULL_POINTER, "neither is given",
                 FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .apply = "x = 1")));
    assert_fails(GrB_INVALID_VALUE, "both are given",
                 FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : a", .semiring = FTB_MIN_PLUS,
                                                 .apply = "x = 1")));
    assert_fails(GrB_INVALID_VALUE, "direction is 3",
                 FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : a", .apply = "x = 1",
                                                 .direction = (FtB_Direction)3)));
    assert_fails(GrB_INVALID_VALUE, "applies is -1",
                 FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : a", .apply = "x = 1",
                                                 .applies = (FtB_Appliers)-1)));
    assert_fails(
        GrB_INVALID_VALUE, "rounds is -1",
        FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : a", .apply = "x = 1", .rounds = -1)));
    assert_fails(GrB_INVALID_VALUE, "settled: expected",
                 FtB_Program_new(
                     &p, FTB_PROGRAM(.send = "x", .combine = "min : a", .apply = "x = 1", .settled = "x >")));
    static const double deltas[] = {0, -1, NAN, INFINITY};
    for (int d = 0; d < 4; d++)
        assert_fails(GrB_INVALID_VALUE, "expected the width of priority's buckets",
                     FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : a", .apply = "x = 1",
                                                     .priority = "x", .delta = deltas[d])));
    assert_fails(
        GrB_INVALID_VALUE, "delta is 2; expected 0, as there is no priority",
        FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : a", .apply = "x = 1", .delta = 2)));
    assert_fails(GrB_INVALID_VALUE, "priority: expected",
                 FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : a", .apply = "x = 1",
                                                 .priority = "x >", .delta = 1)));
    assert_fails(GrB_INVALID_VALUE, "FTB_PROGRAM", FtB_Program_new(&p, &newer));
    assert_ok(FtB_Program_free(NULL));
    assert_ok(FtB_Program_free(&p));
}

/* ---- what texts and states make of each other */

typedef struct objects {
    FtB_Matrix A, wide;
    FtB_Block x, y, c, three, other;
} objects;

static objects make_objects(void)
{
    static const int64_t I[] = {0, 0, 1, 3, 2}, J[] = {1, 2, 3, 0, 2};
    static const float X[] = {1, 2, 3, 4, 5};
    objects o;
    assert_ok(FtB_Matrix_build(&o.A, FTB_FP32, 4, 4, 1, 5, I, J, X, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_new(&o.wide, FTB_FP32, 4, 5, 1));
    assert_ok(FtB_Block_new(&o.x, 4, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&o.y, 4, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&o.c, 1, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&o.three, 4, 3, FTB_FP32));
    assert_ok(FtB_Block_new(&o.other, 3, 1, FTB_FP32));
    return o;
}

static void free_objects(objects *o)
{
    FtB_Block *const blocks[] = {&o->x, &o->y, &o->c, &o->three, &o->other};
    for (int b = 0; b < 5; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&o->A);
    FtB_Matrix_free(&o->wide);
}

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *send, *combine, *apply, *active, *until, *message;
        GrB_Info info;
    } bad[] = {
        {"z", "min : message", "x = received", NULL, NULL,
         "send: unknown name 'z' at column 1; known here: x, y, c, three, two, id, outdegree, indegree, n, "
         "round",
         0},
        {"x", "min : message + x", "x = received", NULL, NULL,
         "combine: unknown name 'x' at column 17; known here: message, edge, dst.x, dst.y, c, dst.three, "
         "two, n, round",
         0},
        {"x", "min : message + dst.z", "x = received", NULL, NULL, "unknown name 'dst.z' at column 17", 0},
        {"x", "min : message + dst.c", "x = received", NULL, NULL, "unknown name 'dst.c' at column 17", 0},
        {"x", "min : i + message", "x = received", NULL, NULL, "combine: unknown name 'i' at column 7", 0},
        {"old.x", "min : message", "x = received", NULL, NULL, "send: unknown name 'old.x' at column 1", 0},
        {"x", "min : message", "x = y;  y = new.x", NULL, NULL, "apply: unknown name 'new.x' at column 13",
         0},
        {"x", "min : message", "x = message", NULL, NULL, "apply: unknown name 'message' at column 5", 0},
        {"x", "min : message", "x = changed", NULL, NULL, "apply: unknown name 'changed' at column 5", 0},
        {"x", "min : message", "x = received", "x > 1", NULL,
         "active: unknown name 'x' at column 1; known here: received, changed, new.x, old.x, y, c, three, "
         "two, id",
         0},
        {"x", "min : message", "x = received", NULL, "x > 1", "until: unknown name 'x' at column 1", 0},
        {"x", "min : message", "x = received", NULL, "sum(x) > 1", "until: unknown name 'x' at column 5", 0},
        {"x", "min : message", "x = received", NULL, "sum(new.x) > 1 + c",
         "until: unknown name 'c' at column 18", 0},
        {"x", "min : message", "x = received", NULL, "[1, 2]", "until: gives 2 values; expected one",
         GrB_DIMENSION_MISMATCH},
        {"x", "min : message", "z = received", NULL, NULL, "states: there is no 'z', which apply changes", 0},
        {"x", "min : message", "c = received", NULL, NULL, "states: there is no row per vertex in 'c'", 0},
        {"x", "min : message", "two = received", NULL, NULL, "states: there is no row per vertex in 'two'",
         0},
        {"three", "min : message", "x = received", NULL, NULL,
         "apply: the text of 'x' gives 3 values; expected its 1 columns", GrB_DIMENSION_MISMATCH},
        {"three", "min : message + c", "three = received", NULL, NULL, "", GrB_DIMENSION_MISMATCH},
        {"x", "plus : message", "x = received", NULL, NULL, "the run would never end", 0},
    };
    objects o = make_objects();
    for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
        FtB_Program p;
        assert_ok(FtB_Program_new(&p, FTB_PROGRAM(.send = bad[t].send, .combine = bad[t].combine,
                                                  .apply = bad[t].apply, .active = bad[t].active,
                                                  .until = bad[t].until)));
        assert_fails(
            bad[t].info ? bad[t].info : GrB_INVALID_VALUE, bad[t].message,
            FtB_run(p, o.A, FTB_STATE("x", o.x, "y", o.y, "c", o.c, "three", o.three, "two", 2), NULL));
        FtB_Program_free(&p);
    }
    free_objects(&o);
}

static void names_of_settled(void **state)
{
    (void)state;
    objects o = make_objects();
    FtB_Program p;
    assert_ok(FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : message",
                                              .apply = "x = received", .settled = "received > 1")));
    assert_fails(
        GrB_INVALID_VALUE,
        "settled: unknown name 'received' at column 1; known here: x, id, outdegree, indegree, n, round",
        FtB_run(p, o.A, FTB_STATE("x", o.x), NULL));
    FtB_Program_free(&p);
    free_objects(&o);
}

static FtB_Program least(void)
{
    FtB_Program p;
    assert_ok(
        FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "min : message", .apply = "x = received")));
    return p;
}

/* What apply changes is memory of its own; columns beside each other are apart. */
static void shared_states(void **state)
{
    (void)state;
    objects o = make_objects();
    FtB_Program p = least();
    FtB_Block view, edges, first, rest, both;
    FtB_Matrix small;
    const int64_t I[] = {0, 1, 2, 3};
    assert_ok(FtB_Matrix_build(&small, FTB_FP32, 4, 4, 1, 4, I, I, (const float[4]){0}, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_values(&edges, small));
    assert_ok(FtB_Block_columns(&view, o.x, 0, 1));
    assert_ok(FtB_Block_columns(&first, o.three, 0, 1));
    assert_ok(FtB_Block_columns(&rest, o.three, 1, 2));
    assert_ok(FtB_Block_columns(&both, o.three, 0, 2));
    assert_fails(GrB_INVALID_VALUE, "'x', which apply changes, shares memory with 'z'",
                 FtB_run(p, o.A, FTB_STATE("x", o.x, "z", view), NULL));
    assert_ok(FtB_run(p, o.A, FTB_STATE("x", first, "z", rest), NULL));
    assert_ok(FtB_run(p, o.A, FTB_STATE("z", first, "x", rest), NULL));
    assert_fails(GrB_INVALID_VALUE, "shares memory with 'z'",
                 FtB_run(p, o.A, FTB_STATE("x", both, "z", rest), NULL));
    assert_fails(GrB_INVALID_VALUE, "shares memory with 'z'",
                 FtB_run(p, o.A, FTB_STATE("x", first, "z", both), NULL));
    assert_fails(GrB_INVALID_VALUE, "shares memory with the values of A",
                 FtB_run(p, small, FTB_STATE("x", edges), NULL));
    FtB_Block_free(&view);
    FtB_Block_free(&edges);
    FtB_Block_free(&first);
    FtB_Block_free(&rest);
    FtB_Block_free(&both);
    FtB_Matrix_free(&small);
    FtB_Program_free(&p);
    free_objects(&o);
}

static void states(void **state)
{
    (void)state;
    objects o = make_objects();
    FtB_Program p = least();
    FtB_Run run;
    FtB_Block fixed;
    bool more;
    const float values[4] = {0};
    const FtB_Run_options none = {.size = 3};
    assert_ok(FtB_Block_wrap_const(&fixed, values, 4, 1, 1, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "program is NULL", FtB_run(NULL, o.A, FTB_STATE("x", o.x), NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_run(p, NULL, FTB_STATE("x", o.x), NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 4 x 5", FtB_run(p, o.wide, FTB_STATE("x", o.x), NULL));
    assert_fails(GrB_NULL_POINTER, "states is NULL", FtB_run(p, o.A, (FtB_States){NULL, 1}, NULL));
    assert_fails(GrB_INVALID_VALUE, "states: there is no 'x'", FtB_run(p, o.A, (FtB_States){NULL, 0}, NULL));
    assert_fails(GrB_NULL_POINTER, "the name of number 1 is NULL",
                 FtB_run(p, o.A, FTB_STATE("x", o.x, NULL, o.y), NULL));
    assert_fails(GrB_INVALID_VALUE, "'round' is a name of the language",
                 FtB_run(p, o.A, FTB_STATE("x", o.x, "round", o.y), NULL));
    assert_fails(GrB_INVALID_VALUE, "'a.b' is no name",
                 FtB_run(p, o.A, FTB_STATE("x", o.x, "a.b", o.y), NULL));
    assert_fails(GrB_INVALID_VALUE, "'2x' is no name", FtB_run(p, o.A, FTB_STATE("x", o.x, "2x", o.y), NULL));
    assert_fails(GrB_INVALID_VALUE, "'x' is there twice",
                 FtB_run(p, o.A, FTB_STATE("x", o.x, "x", o.y), NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "'z' is 3 x 1; expected a row for each of the 4 vertices, or one",
                 FtB_run(p, o.A, FTB_STATE("x", o.x, "z", o.other), NULL));
    assert_fails(GrB_INVALID_VALUE, "z is an FtB_Matrix",
                 FtB_run(p, o.A, FTB_STATE("x", o.x, "z", o.A), NULL));
    assert_fails(GrB_INVALID_VALUE, "'x', which apply changes, wraps memory that must not be written",
                 FtB_run(p, o.A, FTB_STATE("x", fixed), NULL));
    assert_fails(GrB_INVALID_VALUE, "rounds is -2",
                 FtB_run(p, o.A, FTB_STATE("x", o.x), FTB_RUN_OPTIONS(.rounds = -2)));
    assert_fails(GrB_INVALID_VALUE, "way is 5",
                 FtB_run(p, o.A, FTB_STATE("x", o.x), FTB_RUN_OPTIONS(.way = FTB_WAY_WHOLE)));
    assert_fails(GrB_INVALID_VALUE, "FtB_run: options: size is ",
                 FtB_run(p, o.A, FTB_STATE("x", o.x), &none));
    assert_fails(GrB_INVALID_VALUE, "FtB_Run_new: options: size is ",
                 FtB_Run_new(&run, p, o.A, FTB_STATE("x", o.x), &none));
    assert_fails(GrB_NULL_POINTER, "run is NULL", FtB_Run_new(NULL, p, o.A, FTB_STATE("x", o.x), NULL));
    assert_fails(GrB_NULL_POINTER, "run is NULL", FtB_Run_step(NULL, &more));
    assert_ok(FtB_Run_new(&run, p, o.A, FTB_STATE("x", o.x), NULL));
    assert_fails(GrB_NULL_POINTER, "more is NULL", FtB_Run_step(run, NULL));
    assert_fails(GrB_NULL_POINTER, "about is NULL", FtB_Run_about(run, NULL));
    FtB_Run_free(&run);
    FtB_Block_free(&fixed);
    FtB_Program_free(&p);
    free_objects(&o);
}

/* ---- allocations that fail */

typedef struct failing {
    FtB_Way way;
    enum { ALL, SOME, OF_VECTOR } begins;
    const char *combine;
} failing;

static GrB_Info run_all(void *arg)
{
    const failing *f = arg;
    static const int64_t I[] = {0, 0, 1, 3, 2, 1}, J[] = {1, 2, 3, 0, 2, 0};
    static const float X[] = {1, 2, 3, 4, 5, 6};
    const int64_t start[] = {3, 0};
    FtB_Matrix A = NULL;
    FtB_Block x = NULL, y = NULL;
    FtB_Vector v = NULL;
    FtB_Program p = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, 4, 4, 1, 6, I, J, X, FTB_DUP_SUM, NULL);
    if (info == GrB_SUCCESS && f->begins == OF_VECTOR)
        info = FtB_Vector_build(&v, FTB_FP32, 4, 2, start, X, FTB_DUP_ERROR);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&x, 4, 2, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&y, 4, 2, FTB_INT32);
    if (info == GrB_SUCCESS)
        info = FtB_Program_new(&p, FTB_PROGRAM(.send = "x + outdegree", .combine = f->combine,
                                               .apply = "x = received; y = y + 1",
                                               .active = "sum(new.x) > indegree", .until = "sum(new.y) > 1e6",
                                               .rounds = 3, .direction = FTB_BOTH));
    if (info == GrB_SUCCESS)
        info = FtB_run(p, A, FTB_STATE("x", x, "y", y),
                       FTB_RUN_OPTIONS(.way = f->way,
                                       .start = {f->begins == SOME ? start : NULL, f->begins == SOME ? 2 : 0},
                                       .frontier = v));
    FtB_Vector_free(&v);
    FtB_Program_free(&p);
    FtB_Block_free(&x);
    FtB_Block_free(&y);
    FtB_Matrix_free(&A);
    return info;
}

/* The most that reaches a vertex of a path, the greatest first: its buckets are far apart, below and above
 * those before. A step that failed is done again. */
static GrB_Info run_urgent(void *arg)
{
    enum { N = 40 };
    const bool *falls = arg;
    int64_t I[N - 1], J[N - 1];
    double x[N], most[N];
    FtB_Matrix A = NULL;
    FtB_Block X = NULL;
    FtB_Program p = NULL;
    FtB_Run run = NULL;
    bool more = true;
    for (int v = 0; v < N - 1; v++) {
        I[v] = v;
        J[v] = v + 1;
    }
    for (int v = 0; v < N; v++) {
        x[v] = v * 17 % N;
        most[v] = 0;
        for (int u = 0; u < N; u++)
            most[v] = fmax(most[v], u * 17 % N - fabs((double)(v - u)));
    }
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, N, N, 0, N - 1, I, J, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_wrap(&X, x, N, 1, 1, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_Program_new(&p, FTB_PROGRAM(.send = "x", .combine = "max : message - 1",
                                               .apply = "x = max(x, received)", .direction = FTB_BOTH,
                                               .priority = *falls ? "-x" : "x", .delta = 1e-3));
    if (info == GrB_SUCCESS)
        info = FtB_Run_new(&run, p, A, FTB_STATE("x", X), NULL);
    GrB_Info step = info, worst = info;
    for (int failures = 0; run && more && failures < 2; failures += step != GrB_SUCCESS) {
        step = FtB_Run_step(run, &more);
        worst = step != GrB_SUCCESS ? step : worst;
    }
    for (int64_t v = 0; v < N && run; v++)
        assert_true(step == GrB_SUCCESS && x[v] == most[v]);
    FtB_Run_free(&run);
    FtB_Program_free(&p);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
    return worst;
}

/* A search that does with some memory does with more. */
static void memory_limits(void **state)
{
    (void)state;
    enum { N = 20000, K = 16 };
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Block levels;
    int64_t *I = malloc(sizeof *I * 4 * N), *J = malloc(sizeof *J * 4 * N), sources[K], now;
    bool did = false;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    for (int64_t e = 0; e < 4 * N; e++) {
        I[e] = e % N;
        J[e] = (e * 1237 + e / N * 17) % N;
    }
    for (int k = 0; k < K; k++)
        sources[k] = 31 * k;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 0, 4 * N, I, J, NULL, FTB_DUP_FIRST, NULL));
    assert_ok(FtB_Block_new(&levels, N, K, FTB_INT32));
    assert_ok(FtB_bfs(levels, NULL, A, sources, K, NULL));
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    for (int64_t more = 0; more < 120 * N; more += 6 * N) {
        assert_ok(FtB_Context_set_memory_limit(NULL, now + more + 1));
        const GrB_Info info = FtB_bfs(levels, NULL, A, sources, K, NULL);
        if (info != GrB_SUCCESS && (did || info != FTB_LIMIT))
            fail_msg("%lld bytes a vertex: %s", (long long)(more / N), FtB_error());
        did = did || info == GrB_SUCCESS;
    }
    assert_true(did);
    FtB_Block_free(&levels);
    FtB_Matrix_free(&A);
    FtB_Context_free(&ctx);
    free(I);
    free(J);
}

static bool stop(double done, double total, const char *what, void *arg)
{
    (void)done, (void)total, (void)what, (void)arg;
    return false;
}

/* Columns that were not searched from when it ended are as before the first superstep. */
static void cancelled_before_the_last(void **state)
{
    (void)state;
    enum { N = 2500, K = 66 };
    FtB_Matrix A;
    FtB_Block levels, parents;
    int64_t *I = malloc(sizeof *I * N), *J = malloc(sizeof *J * N), sources[K];
    int32_t *level;
    int64_t *parent;
    for (int64_t v = 0; v < N; v++) {
        I[v] = v;
        J[v] = (v + 1) % N;
    }
    for (int k = 0; k < K; k++)
        sources[k] = 31 * k;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 0, N, I, J, NULL, FTB_DUP_FIRST, NULL));
    assert_ok(FtB_Block_new(&levels, N, K, FTB_INT32));
    assert_ok(FtB_Block_new(&parents, N, K, FTB_INT64));
    assert_ok(FtB_Block_shape(levels, NULL, NULL, NULL, NULL, (void **)&level));
    assert_ok(FtB_Block_shape(parents, NULL, NULL, NULL, NULL, (void **)&parent));
    memset(level, 0x55, sizeof *level * N * K);
    memset(parent, 0x55, sizeof *parent * N * K);
    assert_ok(FtB_Context_progress(NULL, stop, NULL));
    assert_int_equal(FtB_bfs(levels, parents, A, sources, K, NULL), FTB_CANCELLED);
    assert_ok(FtB_Context_progress(NULL, NULL, NULL));
    for (int64_t v = 0; v < N; v++)
        for (int64_t k = K - 2; k < K; k++) {
            assert_int_equal(level[v * K + k], v == sources[k] ? 0 : -1);
            assert_int_equal(parent[v * K + k], v == sources[k] ? v : -1);
        }
    FtB_Block_free(&levels);
    FtB_Block_free(&parents);
    FtB_Matrix_free(&A);
    free(I);
    free(J);
}

static void allocations(void **state)
{
    (void)state;
    failing cases[] = {{FTB_WAY_PUSH, SOME, "max : message + edge"},
                       {FTB_WAY_PULL, OF_VECTOR, "max : message + edge"},
                       {FTB_WAY_ALL, ALL, "plus : message * edge"},
                       {FTB_WAY_SLICES, ALL, "plus : message"}};
    for (int c = 0; c < 4; c++)
        fail_every_allocation(run_all, NULL, &cases[c]);
    for (int falls = 0; falls < 2; falls++)
        fail_every_allocation(run_urgent, NULL, &(bool){falls != 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),         cmocka_unit_test(programs),
        cmocka_unit_test(names),         cmocka_unit_test(names_of_settled),
        cmocka_unit_test(shared_states), cmocka_unit_test(states),
        cmocka_unit_test(memory_limits), cmocka_unit_test(cancelled_before_the_last),
        cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
