/* Supersteps on a device that does not exist (support/pretend.h): the bits and figures are the host's, states
 * stay there, and what comes home is counted; which run where, and why not; where there is no room, the host.
 */
#include "support/check.h"

#include "core/core.h"
#include "core/watch.h"
#include "plan/vertex_plan.h"
#include "support/fail_alloc.h"
#include "support/pretend.h"
#include "support/vertex_graphs.h"
#include "support/vertex_there.h"

#include <stdlib.h>

/* Every program in every way, of graphs of all kinds; whether a device did what it can. */
static void as_the_host(void **state)
{
    static const struct {
        int64_t n, nvals;
        FtB_Type type;
    } graphs[] = {{1, 0, 0},           {1, 3, FTB_FP32}, {9, 0, FTB_FP32},
                  {40, 130, FTB_FP32}, {70, 500, 0},     {33, 90, FTB_FP64}};
    (void)state;
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
        FtB_Matrix A = there_graph(graphs[g].n, graphs[g].nvals, graphs[g].type);
        for (int p = 0; p < there_count; p++)
            for (int way = FTB_WAY_AUTO; way <= FTB_WAY_SLICES; way++) {
                const int64_t did = there_compare(&there_programs[p], A, (FtB_Way)way, true, true);
                (void)there_compare(&there_programs[p], A, (FtB_Way)way, false, true);
                if (there_programs[p].host || way == FTB_WAY_PUSH || way == FTB_WAY_SLICES)
                    assert_int_equal(did, 0);
                else if (way == FTB_WAY_PULL || !there_programs[p].some)
                    assert_true(did > 0);
            }
        FtB_Matrix_free(&A);
    }
}

/* As many vertices as several batches of sums are. */
static void batches(void **state)
{
    (void)state;
    FtB_Matrix A = there_graph(3000, 9000, FTB_FP32);
    for (int p = 0; p < there_count; p++)
        if (there_programs[p].texts.until)
            assert_true(there_compare(&there_programs[p], A, FTB_WAY_PULL, true, true) > 0);
    FtB_Matrix_free(&A);
}

/* Where a run begins with few, has many, and ends with few, it goes there and comes back. */
static void to_and_fro(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    FtB_Program program;
    FtB_Block X;
    const int64_t start = LARGE / 2;
    assert_ok(FtB_Context_set_threads(NULL, 1)); /* on which the rule's prediction of the host depends */
    assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x * c", .combine = "max : abs(message - dst.x)",
                                                    .apply = "x = max(x, received / 2)",
                                                    .active = "round < 14 ? id < 2000 : id < 3")));
    for (int everyone = 0; everyone < 2; everyone++) {
        double *first = NULL;
        int moves = 0;
        for (int there = 1; there >= 0; there--) {
            bool more = true, was = false;
            FtB_Run run;
            assert_ok(FtB_Context_set_device(NULL, there ? "pretend" : "cpu"));
            assert_ok(FtB_Block_new(&X, LARGE, 1, FTB_FP64));
            ((double *)ftb_block_data(X))[start] = 1;
            assert_ok(
                FtB_Run_new(&run, program, A, FTB_STATE("x", X, "c", 0.9),
                            FTB_RUN_OPTIONS(.start = {everyone ? NULL : &start, !everyone}, .rounds = 40)));
            while (more) {
                FtB_Superstep about;
                assert_ok(FtB_Run_step(run, &more));
                assert_ok(FtB_Run_about(run, &about));
                const bool is = strcmp(about.where, "pretend") == 0;
                moves += is != was;
                was = is;
            }
            FtB_Run_free(&run);
            assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
            if (there) {
                first = malloc(LARGE * sizeof *first);
                memcpy(first, ftb_block_data(X), LARGE * sizeof *first);
            } else {
                assert_memory_equal(first, ftb_block_data(X), LARGE * sizeof *first);
            }
            FtB_Block_free(&X);
        }
        assert_true(moves >= 2); /* there, and back */
        free(first);
    }
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Program_free(&program);
    FtB_Matrix_free(&A);
}

/* Of PageRank, once it is there: a row of counts and sums a superstep, and nothing goes there. */
static void what_moves(void **state)
{
    (void)state;
    enum { N = 5000, ROUNDS = 6 };
    FtB_Matrix A = there_graph(N, 4 * N, 0);
    FtB_Block R;
    FtB_Run run;
    FtB_Program program;
    int64_t home[ROUNDS + 1], away[ROUNDS + 1];
    bool more = true;
    assert_ok(FtB_Block_new(&R, N, 1, FTB_FP64));
    assert_ok(FtB_Program_new(&program,
                              FTB_PROGRAM(.send = "rank / outdegree", .combine = "plus : message",
                                          .apply = "rank = 0.15 / n + 0.85 * received",
                                          .until = "sum(abs(new.rank - old.rank)) < 0", .rounds = ROUNDS)));
    assert_ok(FtB_Run_new(&run, program, A, FTB_STATE("rank", R), NULL));
    for (int t = 0; more; t++) {
        assert_ok(FtB_Run_step(run, &more));
        pretend_moved(&home[t], &away[t]);
        if (t > 1)
            assert_int_equal(away[t], away[t - 1]);
        if (t > 1) /* four counts, and a sum of each batch */
            assert_true(home[t] - home[t - 1] >= 8 * 5 && home[t] - home[t - 1] <= 8 * (4 + N / 512));
    }
    FtB_Run_free(&run);
    assert_int_equal(R->owner->valid, FTB_VALID_DEVICE);
    FtB_Block_free(&R);
    /* What was lent is at home when a run is over, and not before. */
    assert_ok(FtB_Block_new(&R, N, 1, FTB_FP64));
    double *ranks = block_values(R);
    for (int64_t v = 0; v < N; v++)
        ranks[v] = 1.0 / N;
    assert_ok(FtB_Block_changed(R));
    pretend_moved(&home[0], &away[0]);
    assert_ok(FtB_run(program, A, FTB_STATE("rank", R), NULL));
    pretend_moved(&home[1], &away[1]);
    assert_true(home[1] - home[0] < 2 * 8 * N);
    assert_true(R->owner->valid & FTB_VALID_HOST);
    double sum = 0;
    for (int64_t v = 0; v < N; v++)
        sum += ranks[v];
    assert_true(sum > 0.15 && sum <= 1.0001 && ranks[0] != 1.0 / N);
    FtB_Program_free(&program);
    FtB_Block_free(&R);
    FtB_Matrix_free(&A);
}

/* The calls that come with the library, of blocks that are there alone. */
static void library_calls(void **state)
{
    (void)state;
    enum { N = 60, K = 5 };
    FtB_Matrix A = there_graph(N, 300, FTB_FP32);
    FtB_Block X[2][5];
    const int64_t sources[] = {0, 7, 14, 21, 59};
    for (int there = 0; there < 2; there++) {
        static const FtB_Type types[] = {FTB_INT32, FTB_INT64, FTB_FP32, FTB_INT64, FTB_FP64};
        assert_ok(FtB_Context_set_device(NULL, there ? "pretend" : "cpu"));
        for (int b = 0; b < 5; b++) {
            assert_ok(FtB_Block_new(&X[there][b], N, b < 3 ? K : 1, types[b]));
            if (there)
                pretend_send(X[there][b]->owner);
        }
        if (there)
            pretend_send(A->values);
        assert_ok(FtB_bfs(X[there][0], X[there][1], A, sources, K,
                          there ? FTB_RUN_OPTIONS(.way = FTB_WAY_PULL) : NULL));
        assert_ok(FtB_sssp(X[there][2], A, sources, K, NULL));
        assert_ok(FtB_components(X[there][3], A, NULL));
        assert_ok(FtB_pagerank(X[there][4], A, NULL));
    }
    for (int b = 0; b < 5; b++) {
        assert_ok(ftb_buffer_ask(X[1][b]->owner, FTB_READ));
        assert_memory_equal(ftb_block_data(X[0][b]), ftb_block_data(X[1][b]), (size_t)X[0][b]->owner->bytes);
        FtB_Block_free(&X[0][b]);
        FtB_Block_free(&X[1][b]);
    }
    FtB_Matrix_free(&A);
}

static void told(const char *line, const char *combine, FtB_Direction direction, FtB_Way way)
{
    FtB_Matrix A = path(50);
    FtB_Block X;
    FtB_Program program;
    char text[2000] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_ok(FtB_Block_new(&X, 50, 1, FTB_FP64));
    assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x", .combine = combine, .apply = "x = received",
                                                    .direction = direction, .rounds = 2)));
    assert_ok(FtB_run(program, A, FTB_STATE("x", X), FTB_RUN_OPTIONS(.explain = file, .way = way)));
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    if (!strstr(text, line) || !strstr(text, "seconds  where\n"))
        fail_msg("%s: not \"%s\"", text, line);
    FtB_Program_free(&program);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

static void explained(void **state)
{
    (void)state;
    told("  pretend\n", "max : message + 1", FTB_OUT, FTB_WAY_AUTO);
    told(" pull   device ", "max : message + 1", FTB_IN, FTB_WAY_PULL);
    told("  host: asked for\n", "max : message + 1", FTB_OUT, FTB_WAY_PUSH);
    told("  host: any has an order\n", "any : message + 1", FTB_BOTH, FTB_WAY_AUTO);
}

/* The rule: all are there; few go home once that is worth the move. */
static void rule(void **state)
{
    (void)state;
    ftb_vertex_facts f = {.n = 1000000,
                          .nvals = 16000000,
                          .active = 1000000,
                          .edges = 16000000,
                          .threads = 2,
                          .may_push = true,
                          .pull_made = true,
                          .all = true};
    ftb_vertex_place at = {.state = 8000000, .entry = 12, .rate = 1e10};
    double lost = 0;
    assert_true(ftb_rule_vertex_there(&f, &at, &lost) && lost == 0);
    f.all = false;
    f.active = 20;
    f.edges = 300;
    assert_false(ftb_rule_vertex_there(&f, &at, &lost));
    at.there = true;
    int stays = 0;
    while (ftb_rule_vertex_there(&f, &at, &lost))
        stays++;
    assert_true(stays > 1 && stays < 100 && lost == 0);
    f.active = f.edges = 9000000;
    assert_true(ftb_rule_vertex_there(&f, &at, &lost));
    at.there = false;
    f.pull_made = false; /* the transpose is another thing to be saved first */
    assert_false(ftb_rule_vertex_there(&f, &at, &lost));
    assert_true(lost > 0);
}

/* A device that often has no room: the host does what it cannot, and all is as right. */
static void no_room(void **state)
{
    (void)state;
    FtB_Matrix A = there_graph(40, 130, FTB_FP32);
    const int64_t refused = pretend_refusals();
    pretend_fill(true);
    for (int time = 0; time < 6; time++)
        for (int p = 0; p < there_count; p++)
            (void)there_compare(&there_programs[p], A, FTB_WAY_PULL, time % 2, true);
    pretend_fill(false);
    assert_true(pretend_refusals() > refused);
    FtB_Matrix_free(&A);
}

static GrB_Info run_allocating(void *program)
{
    const int64_t I[] = {0, 0, 1, 2, 3}, J[] = {1, 2, 3, 3, 0}, start[] = {0, 2};
    FtB_Matrix A = NULL;
    FtB_Block X = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, 5, 5, 0, 5, I, J, NULL, FTB_DUP_SUM, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&X, 5, 2, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_run(program, A, FTB_STATE("x", X),
                       FTB_RUN_OPTIONS(.way = FTB_WAY_PULL, .rounds = 3, .start = {start, 2}));
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    FtB_Program program;
    assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x + id", .combine = "min : message * edge",
                                                    .apply = "x = received + 1", .applies = FTB_APPLY_ALL,
                                                    .active = "new.x - 4", .until = "sum(new.x) < 0")));
    fail_every_allocation(run_allocating, NULL, program);
    FtB_Program_free(&program);
    assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x", .combine = "max : message",
                                                    .apply = "x = received + 1", .settled = "x > 2")));
    fail_every_allocation(run_allocating, NULL, program);
    FtB_Program_free(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_the_host, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(batches, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(to_and_fro, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(what_moves, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(library_calls, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(explained, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(allocations, pretend_setup, pretend_teardown),
        cmocka_unit_test(rule),
        cmocka_unit_test_setup_teardown(no_room, pretend_setup, pretend_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
