/* Graphicionado's pipeline: counts of tiny graphs worked out by hand, of random ones against a simulation
 * cycle by cycle, the stages' cycles, runs, and descriptions in JSON. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "vertex/pipeline_walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A byte a cycle is 1 GB/s: memory moves a burst a cycle. */
static const ftb_pipeline_machine plain = {.name = "plain",
                                           .clock = 1e9,
                                           .memory_rate = 64e9,
                                           .streams = 2,
                                           .scratchpad = 1 << 20,
                                           .memory_latency = 10,
                                           .outstanding = 1,
                                           .burst = 64,
                                           .update = 3,
                                           .lanes = 1,
                                           .pointer_bytes = 8,
                                           .edge_bytes = 8,
                                           .weight_bytes = 4,
                                           .value_bytes = 4,
                                           .prefetch = true};

static FtB_Matrix build(int64_t n, int64_t nvals, const int64_t *I, const int64_t *J)
{
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, n, n, 0, nvals, I, J, NULL, FTB_DUP_ERROR, NULL));
    return A;
}

/* 0 -> 1, 0 -> 3, 1 -> 1, 2 -> 1: every destination is of the second stream. */
static FtB_Matrix crowded(void)
{
    static const int64_t I[] = {0, 0, 1, 2}, J[] = {1, 3, 1, 1};
    return build(4, 4, I, J);
}

static ftb_pipeline_counts count(const ftb_pipeline_machine *m, const char *program, FtB_Matrix A,
                                 const int64_t *list, int64_t n, int64_t first, int64_t end)
{
    ftb_pipeline_walk w;
    assert_ok(ftb_pipeline_walk_new(&w, A->ctx, m, ftb_pipeline_program_of(program), A->pattern));
    const ftb_pipeline_counts c = ftb_pipeline_count(&w, list, n, first, end);
    ftb_pipeline_walk_free(&w);
    return c;
}

/* Cycle 0: 0 -> 1 and 1 -> 1 arrive; the first is updated at 0, the second, whose turn is 1, once that is
 * done, at 3. Cycle 1: 0 -> 3, updated at 4. Cycle 2: 2 -> 1; its turn is 5, but 1 is under way until 6. All
 * is done at 7. */
static void by_hand(void **state)
{
    (void)state;
    FtB_Matrix A = crowded();
    ftb_pipeline_machine m = plain;
    ftb_pipeline_counts c = count(&m, "pagerank", A, NULL, 4, 0, 4);
    assert_true(c.active == 4 && c.active_most == 2);
    assert_true(c.edges == 4 && c.edges_most == 3 && c.received_most == 4);
    assert_true(c.finish == 7 && c.stalls == 3);
    assert_true(c.bursts == 3 && c.vertices == 4); /* of properties, of pointers, of edges */
    m.update = 1;
    c = count(&m, "pagerank", A, NULL, 4, 0, 4);
    assert_true(c.finish == 4 && c.stalls == 0);
    /* In a slice of vertices 2 and 3 there is one edge; all sources are read. */
    c = count(&plain, "pagerank", A, NULL, 4, 2, 4);
    assert_true(c.active == 4 && c.edges == 1 && c.received_most == 1 && c.finish == 1 && c.vertices == 2);
    /* Vertex 2 alone. */
    c = count(&plain, "sssp", A, (const int64_t[]){2}, 1, 0, 4);
    assert_true(c.active == 1 && c.active_most == 1 && c.edges == 1 && c.finish == 1 && c.bursts == 3);
    c = count(&plain, "bfs", A, (const int64_t[]){3}, 1, 0, 4); /* which sends nothing */
    assert_true(c.active == 1 && c.edges == 0 && c.finish == 0 && c.bursts == 2);
    FtB_Matrix_free(&A);
}

static void expect(const double *stage, const double *wanted, int first, int end)
{
    for (int s = first; s < end; s++)
        if (fabs(stage[s] - wanted[s]) > 1e-9)
            fail_msg("%s: %g cycles, expected %g", ftb_pipeline_stage_names[s], stage[s], wanted[s]);
}

static void stages(void **state)
{
    (void)state;
    const ftb_pipeline_program *pagerank = ftb_pipeline_program_of("pagerank"),
                               *cf = ftb_pipeline_program_of("cf");
    const ftb_pipeline_counts c = {.active = 4,
                                   .active_most = 2,
                                   .edges = 4,
                                   .edges_most = 3,
                                   .received_most = 4,
                                   .finish = 7,
                                   .stalls = 3,
                                   .bursts = 3,
                                   .vertices = 4,
                                   .changed = 4};
    ftb_pipeline_machine m = plain;
    ftb_pipeline_totals t = {0};
    /* S1 to S8, memory: 3 bursts; A1 to A4; 4 properties and 4 constants read, 4 written: 48 bytes. */
    const double flows[] = {2, 2, 3, 3, 4, 7, 4, 4, 4, 3, 2, 2, 2, 2, 0.75};
    assert_true(ftb_pipeline_add(&t, &m, pagerank, &c) == 7 + 2 + 40);
    expect(t.stage, flows, 0, FTB_PIPE_STAGES);
    assert_true(t.bound[FTB_PIPE_UPDATE] == 7 && t.bound[FTB_PIPE_APPLY_READ] == 2 && t.fill == 40);
    assert_true(t.cycles == 49 && t.edges == 4 && t.active == 4 && t.stalls == 3 && t.bytes == 3 * 64 + 48);
    /* Nothing is read ahead: each source waits for memory, twice and for its edges. */
    m.prefetch = false;
    t = (ftb_pipeline_totals){0};
    const double waits[] = {20, 20, 23, 3, 4, 7, 4, 4, 4, 3};
    assert_true(ftb_pipeline_add(&t, &m, pagerank, &c) == 23 + 2 + 40);
    expect(t.stage, waits, 0, FTB_PIPE_APPLY_READ);
    m.outstanding = 5;
    t = (ftb_pipeline_totals){0};
    ftb_pipeline_add(&t, &m, pagerank, &c);
    assert_true(t.stage[FTB_PIPE_EDGES] == 3 + 2 * 2);
    /* No scratchpad: what is updated is in memory, a burst each way, and one read more before it flows. */
    m = plain;
    m.scratchpad = 0;
    t = (ftb_pipeline_totals){0};
    assert_true(ftb_pipeline_add(&t, &m, pagerank, &c) == 40 + 2 + 50);
    assert_true(t.stage[FTB_PIPE_READ] == 40 && t.stage[FTB_PIPE_MEMORY] == 3 + 8);
    assert_true(t.stage[FTB_PIPE_APPLY_MEMORY] == 1);
    /* 32 features by 16 lanes take two cycles; the destinations' are read once for the slice. */
    m = plain;
    m.lanes = 16;
    t = (ftb_pipeline_totals){0};
    const double wide[] = {4, 2, 3, 6, 4, 7, 8, 8, 8, 3 + 8, 4, 4, 4, 4, 16};
    ftb_pipeline_add(&t, &m, cf, &c);
    expect(t.stage, wide, 0, FTB_PIPE_STAGES);
    assert_true(t.bound[FTB_PIPE_MEMORY] == 11 && t.bound[FTB_PIPE_APPLY_MEMORY] == 16);
    /* What changes is written in bursts, where few do. */
    ftb_pipeline_counts few = c;
    few.vertices = 1000;
    few.changed = 2;
    t = (ftb_pipeline_totals){0};
    ftb_pipeline_add(&t, &plain, ftb_pipeline_program_of("bfs"), &few);
    assert_true(t.bytes == 3 * 64 + 4000 + 128);
}

static void slices(void **state)
{
    (void)state;
    const ftb_pipeline_program *bfs = ftb_pipeline_program_of("bfs"), *cf = ftb_pipeline_program_of("cf");
    ftb_pipeline_machine m = plain;
    m.scratchpad = 400;
    assert_int_equal(ftb_pipeline_slice(&m, bfs, 100), 100);
    assert_int_equal(ftb_pipeline_slice(&m, bfs, 101), 51); /* two, of about the same size */
    assert_int_equal(ftb_pipeline_slice(&m, bfs, 1000), 100);
    assert_int_equal(ftb_pipeline_slice(&m, cf, 10), 1); /* 256 bytes a vertex */
    m.scratchpad = 3;
    assert_int_equal(ftb_pipeline_slice(&m, bfs, 10), 1);
    m.scratchpad = 0;
    assert_int_equal(ftb_pipeline_slice(&m, bfs, 1000), 1000);
    assert_int_equal(ftb_pipeline_slice(&m, bfs, 0), 1);
    assert_null(ftb_pipeline_program_of("pagerang"));
}

/* ---- cycle by cycle, with queues */

enum { MOST = 24, QUEUE = MOST * MOST };

typedef struct queue {
    int64_t edge[QUEUE], head, tail, idle_until, taken;
} queue;

static ftb_pipeline_counts simulate(const ftb_pipeline_machine *m, int64_t beat, const bool edge[MOST][MOST],
                                    int64_t n, const int64_t *list, int64_t count, int64_t first, int64_t end)
{
    static queue q[4];
    ftb_pipeline_counts c = {0};
    int64_t under_way[MOST], sent[4] = {0}, left = 0, cycle = 0;
    int64_t line[4][QUEUE], length[4] = {0};
    memset(q, 0, sizeof q);
    for (int64_t v = 0; v < MOST; v++)
        under_way[v] = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t v = first; v < end && v < n; v++)
            if (edge[list[i]][v])
                line[list[i] % m->streams][length[list[i] % m->streams]++] = v;
    for (int64_t s = 0; s < m->streams; s++) {
        left += length[s];
        c.edges_most = ftb_max(c.edges_most, length[s]);
    }
    c.edges = left;
    for (; left > 0; cycle++) {
        for (int64_t s = 0; s < m->streams && cycle % beat == 0; s++)
            if (sent[s] < length[s]) {
                const int64_t v = line[s][sent[s]++];
                queue *to = &q[v % m->streams];
                to->edge[to->tail++] = v;
            }
        for (int64_t d = 0; d < m->streams; d++) {
            queue *at = &q[d];
            if (at->head == at->tail || cycle < at->idle_until)
                continue;
            const int64_t v = at->edge[at->head];
            if (cycle < under_way[v]) {
                c.stalls++;
                continue;
            }
            at->head++;
            at->taken++;
            at->idle_until = cycle + beat;
            under_way[v] = cycle + m->update + beat - 1;
            c.finish = ftb_max(c.finish, cycle + beat);
            left--;
        }
    }
    for (int64_t d = 0; d < m->streams; d++)
        c.received_most = ftb_max(c.received_most, q[d].taken);
    return c;
}

static void against_cycles(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < rng_cases(400); t++) {
        bool edge[MOST][MOST] = {{false}};
        int64_t I[QUEUE], J[QUEUE], list[MOST], nvals = 0, active = 0;
        const int64_t n = 1 + rng_below(&r, MOST), density = 1 + rng_below(&r, 8);
        ftb_pipeline_machine m = plain;
        m.streams = 1 + rng_below(&r, 4);
        m.update = 1 + rng_below(&r, 6);
        m.lanes = 16;
        for (int64_t u = 0; u < n; u++) {
            for (int64_t v = 0; v < n; v++)
                if (rng_below(&r, density) == 0) {
                    edge[u][v] = true;
                    I[nvals] = u;
                    J[nvals++] = v;
                }
            if (rng_below(&r, 3) > 0)
                list[active++] = u;
        }
        FtB_Matrix A = build(n, nvals, I, J);
        ftb_pipeline_walk w;
        const char *program = t % 3 ? "sssp" : "cf"; /* of one cycle an edge, and of two */
        assert_ok(ftb_pipeline_walk_new(&w, A->ctx, &m, ftb_pipeline_program_of(program), A->pattern));
        int64_t edges = 0, all = 0;
        for (int64_t e = 0; e < nvals; e++)
            for (int64_t i = 0; i < active; i++)
                all += list[i] == I[e];
        for (int64_t first = 0, end; first < n; first = end) { /* one walk: what was before must not show */
            end = first + 1 + rng_below(&r, n - first);
            const ftb_pipeline_counts is = ftb_pipeline_count(&w, list, active, first, end),
                                      must = simulate(&m, t % 3 ? 1 : 2, edge, n, list, active, first, end);
            if (is.edges != must.edges || is.edges_most != must.edges_most ||
                is.received_most != must.received_most || is.finish != must.finish ||
                is.stalls != must.stalls)
                fail_msg("case %d: finish %lld, stalls %lld; expected %lld and %lld", t, (long long)is.finish,
                         (long long)is.stalls, (long long)must.finish, (long long)must.stalls);
            edges += is.edges;
        }
        assert_int_equal(edges, all);
        ftb_pipeline_walk_free(&w);
        FtB_Matrix_free(&A);
    }
}

/* Bursts of a slice: all that is there once where all is active, and what was left out not at all. */
static void bursts(void **state)
{
    (void)state;
    enum { N = 64, DEGREE = 3 };
    int64_t I[N * DEGREE], J[N * DEGREE], list[N];
    for (int e = 0; e < N * DEGREE; e++) {
        I[e] = e / DEGREE;
        J[e] = (e / DEGREE + 21 * (e % DEGREE)) % N;
    }
    FtB_Matrix A = build(N, N * DEGREE, I, J);
    /* 64 x 4, 64 x 8 and 192 x 8 bytes. */
    assert_int_equal(count(&plain, "bfs", A, NULL, N, 0, N).bursts, 4 + 8 + 24);
    assert_int_equal(count(&plain, "sssp", A, NULL, N, 0, N).bursts, 4 + 8 + 36);
    for (int v = 0; v < N; v++)
        list[v] = v;
    assert_int_equal(count(&plain, "bfs", A, list, N, 0, N).bursts, 4 + 8 + 24);
    /* Every 16th: a burst of properties, one of pointers and one of edges each. */
    for (int v = 0; v < 4; v++)
        list[v] = 16 * v;
    assert_int_equal(count(&plain, "bfs", A, list, 4, 0, N).bursts, 3 * 4);
    /* Two that are neighbours share all three. */
    list[1] = 1;
    assert_int_equal(count(&plain, "bfs", A, list, 2, 0, N).bursts, 3);
    FtB_Matrix_free(&A);
}

/* ---- runs */

static void runs(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1, 2, 3, 0}, J[] = {1, 2, 3, 4, 3};
    static const double X[] = {1, 1, 1, 1, 10};
    FtB_Matrix A;
    ftb_pipeline_totals t;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 6, 6, 1, 5, I, J, X, FTB_DUP_ERROR, NULL));
    /* Along 0 -> {1, 3} -> {2, 4} and then nothing new: three supersteps, of 1, 2 and 2 vertices. */
    assert_ok(ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of("bfs"), A, 0, 0, NULL));
    assert_true(t.supersteps == 3 && t.active == 5 && t.edges == 5 && t.slices == 1);
    /* 3, 4 and 3 bursts; 6 properties read each time, and, of two that change, as many written. */
    assert_true(t.bytes == 10 * 64 + 3 * 24 + 2 * 24);
    /* By lengths 3 and 4 are reached twice. */
    assert_ok(ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of("sssp"), A, 0, 0, NULL));
    assert_true(t.supersteps == 5 && t.active == 7 && t.edges == 6);
    assert_ok(
        ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of("bfs"), A, 5, 0, NULL)); /* sends nothing */
    assert_true(t.supersteps == 1 && t.edges == 0);
    ftb_pipeline_machine m = plain;
    m.scratchpad = 8;
    assert_ok(ftb_pipeline_predict(&t, &m, ftb_pipeline_program_of("pagerank"), A, 0, 7, NULL));
    assert_true(t.supersteps == 7 && t.slices == 3 && t.edges == 35 && t.active == 7 * 3 * 6);
    double bound = t.fill;
    for (int s = 0; s < FTB_PIPE_STAGES; s++)
        bound += t.bound[s];
    assert_true(fabs(bound - t.cycles) < 1e-6 * t.cycles);
    FtB_Matrix_free(&A);
    A = crowded();
    assert_ok(ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of("pagerank"), A, 0, 5, NULL));
    assert_true(t.stalls == 5 * 3 && t.fill == 5 * 40 && t.stage[FTB_PIPE_UPDATE] == 5 * 7);
    for (int all = 0; all < 2; all++) { /* whoever asked for it to stop */
        assert_ok(FtB_Context_cancel(A->ctx));
        assert_int_equal(ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of(all ? "pagerank" : "bfs"),
                                              A, 0, 5, NULL),
                         FTB_CANCELLED);
        ftb_cancel_clear(A->ctx);
    }
    FtB_Matrix_free(&A);
    static const double negative[] = {1, 1, -3};
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 1, 3, (const int64_t[]){0, 1, 2},
                               (const int64_t[]){1, 2, 1}, negative, FTB_DUP_ERROR, NULL));
    assert_fails(GrB_INVALID_VALUE, "a cycle is of negative length",
                 ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of("sssp"), A, 0, 0, NULL));
    FtB_Matrix_free(&A);
}

static void bipartite(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 0, 1}, J[] = {0, 2, 2};
    FtB_Matrix A, G;
    int64_t n, nvals;
    ftb_pipeline_totals t;
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 2, 3, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(ftb_pipeline_bipartite(&G, A));
    assert_ok(FtB_Matrix_shape(G, &n, NULL, &nvals, NULL, NULL));
    assert_true(n == 5 && nvals == 6);
    assert_ok(ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of("cf"), G, 0, 2, NULL));
    assert_true(t.edges == 12 && t.active == 10);
    FtB_Matrix_free(&G);
    FtB_Matrix_free(&A);
}

static GrB_Info run_it(void *arg)
{
    ftb_pipeline_totals t;
    FtB_Matrix A = NULL, G = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_BOOL, 3, 3, 0, 2, (const int64_t[]){0, 1},
                                     (const int64_t[]){1, 2}, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_pipeline_bipartite(&G, A);
    if (info == GrB_SUCCESS)
        info = ftb_pipeline_predict(&t, &plain, ftb_pipeline_program_of(arg), A, 0, 1, NULL);
    FtB_Matrix_free(&G);
    FtB_Matrix_free(&A);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    char bfs[] = "bfs", pagerank[] = "pagerank";
    fail_every_allocation(run_it, NULL, bfs);
    fail_every_allocation(run_it, NULL, pagerank);
}

/* ---- descriptions */

static const char *const keys[][2] = {{"name", "\"x\""},
                                      {"prefetch", "false"},
                                      {"clock_ghz", "1.5"},
                                      {"memory_gb_per_second", "17"},
                                      {"streams", "3"},
                                      {"memory_latency_cycles", "0"},
                                      {"scratchpad_bytes", "0"},
                                      {"outstanding_reads", "2"},
                                      {"burst_bytes", "32"},
                                      {"update_cycles", "4"},
                                      {"lanes", "5"},
                                      {"pointer_bytes", "6"},
                                      {"edge_bytes", "7"},
                                      {"weight_bytes", "8"},
                                      {"value_bytes", "9"}};
enum { KEYS = sizeof keys / sizeof *keys };

/* A description whose key `at` has another value; NULL: none. */
static void describe(int at, const char *value)
{
    char text[2048] = "{";
    for (int k = 0; k < KEYS; k++) {
        const char *is = k == at ? value : keys[k][1];
        if (is)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"%s\": %s",
                     strlen(text) > 1 ? ",\n" : "", keys[k][0], is);
    }
    strcat(text, "}");
    write_bytes("m.json", text, strlen(text));
}

static void refused(const char *message)
{
    char said[512];
    ftb_pipeline_machine m = {.name = "before"};
    if (ftb_pipeline_read(&m, temp_path("m.json"), said, sizeof said))
        fail_msg("was taken: %s", message);
    if (!strstr(said, message) || !strstr(said, "m.json: "))
        fail_msg("'%s' is not in: %s", message, said);
    assert_string_equal(m.name, "before");
}

static void descriptions(void **state)
{
    (void)state;
    static const char *const wrong[] = {"null", "\"1\"", "-1", "1e99", "[]", "0.5"};
    char said[512], text[64];
    ftb_pipeline_machine m;
    describe(-1, NULL);
    if (!ftb_pipeline_read(&m, temp_path("m.json"), said, sizeof said))
        fail_msg("%s", said);
    assert_string_equal(m.name, "x");
    assert_true(m.clock == 1.5e9 && m.memory_rate == 17e9 && !m.prefetch && m.streams == 3 &&
                m.scratchpad == 0);
    assert_true(m.memory_latency == 0 && m.outstanding == 2 && m.burst == 32 && m.update == 4 &&
                m.lanes == 5);
    assert_true(m.pointer_bytes == 6 && m.edge_bytes == 7 && m.weight_bytes == 8 && m.value_bytes == 9);
    for (int k = 0; k < KEYS; k++) {
        snprintf(text, sizeof text, "m.json: %s is missing", keys[k][0]);
        describe(k, NULL);
        refused(text);
        snprintf(text, sizeof text, "m.json: %s: expected ", keys[k][0]);
        for (int v = 0; v < 6; v++) {
            if ((k == 0 && v == 1) || ((k == 2 || k == 3) && v == 5))
                continue; /* a text; a number that is not whole */
            describe(k, wrong[v]);
            refused(text);
        }
    }
    describe(2, "0");
    refused("clock_ghz: expected a number above 0, up to 1000");
    describe(4, "0");
    refused("streams: expected a whole number from 1 to 4096");
    describe(0, "\"x\", \"stream\": 2");
    refused("unknown key 'stream'; did you mean 'streams'?");
    describe(0, "\"x\", \"name\": \"y\"");
    refused("line 1, column ");
    write_bytes("m.json", "[1]", 3);
    refused("expected a JSON object");
    write_bytes("m.json", "{\"name\": \n 1,}", 14);
    refused("line 2, column ");
    assert_false(ftb_pipeline_read(&m, temp_path("nowhere.json"), said, sizeof said));
    assert_non_null(strstr(said, "nowhere.json: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),     cmocka_unit_test(stages),
                                       cmocka_unit_test(slices),      cmocka_unit_test(against_cycles),
                                       cmocka_unit_test(bursts),      cmocka_unit_test(runs),
                                       cmocka_unit_test(bipartite),   cmocka_unit_test(failing_allocations),
                                       cmocka_unit_test(descriptions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
