/* The least memory limit that a product names: under it the product runs, with the same rows, and under one
 * that is a twentieth less it does not, and says so; for every alternative of the planner, into every kind of
 * sink, on one thread and on two. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 300
#define COLS 1300
#define ENTRIES 3000
#define FIGURES 90000 /* bytes that planning takes: degrees, sums, values in other types */

static const char *const alternatives[][4] = {
    {NULL},
    {"accumulator", "dense"},
    {"accumulator", "list"},
    {"accumulator", "hash"},
    {"relabel", "1", "ids", "16"},
    {"relabel", "1", "ids", "32"},
    {"triangle", "1", "mirror", "1"},
    {"triangle", "0"},
    {"hot", "512"},
    {"hot", "512", "cross", "0"},
    {"hot", "1024", "cross", "1"},
    {"chunk_bytes", "300000"},
    {"chunk_bytes", "20000", "accumulator", "hash"},
    {"chunk_rows", "7"},
};
#define ALTERNATIVES (int)(sizeof alternatives / sizeof alternatives[0])

static const struct {
    const char *weight;
    FtB_Project_options options;
} works[] = {
    {"plus : 1", {.size = sizeof(FtB_Project_options)}},
    {"plus : a * b", {.size = sizeof(FtB_Project_options), .triangle = true}},
    {"plus : [a, b, a * b]", {.size = sizeof(FtB_Project_options), .epilogue = "h0 / h1 + h2"}},
    {"plus : a * b + i * j", {.size = sizeof(FtB_Project_options), .where = "w > 0.2", .self_loops = true}},
    {"plus : 1", {.size = sizeof(FtB_Project_options), .top_k = 6}},
    {"min : a + b", {.size = sizeof(FtB_Project_options), .top_k = 3, .triangle = true, .min_degree = 2}},
    {"mean : a * b", {.size = sizeof(FtB_Project_options), .use_min_weight = true, .min_weight = 0.5}},
    {"plus : a / (a + b)", {.size = sizeof(FtB_Project_options), .onto = FTB_ROWS}},
};
#define WORKS (int)(sizeof works / sizeof works[0])

enum { STATISTICS, FILES }; /* then the formats */
static const FtB_Format formats[] = {FTB_FORMAT_AUTO, FTB_TSV, FTB_MTX, FTB_NPZ, FTB_CSR};
#define SINKS (int)(sizeof formats / sizeof formats[0])

static FtB_Matrix graph(void)
{
    static int64_t I[ENTRIES], J[ENTRIES];
    static float X[ENTRIES];
    rng r = rng_new();
    FtB_Matrix R;
    for (int64_t e = 0; e < ENTRIES; e++) {
        I[e] = rng_below(&r, 1 + rng_below(&r, ROWS));
        J[e] = rng_below(&r, 1 + rng_below(&r, COLS));
        X[e] = (float)(1 + rng_below(&r, 5));
    }
    assert_ok(FtB_Matrix_build(&R, FTB_FP32, ROWS, COLS, 1, ENTRIES, I, J, X, FTB_DUP_FIRST, NULL));
    return R;
}

/* One product into a sink of its own, under a limit (0: none); *stats of its rows. */
static GrB_Info run(FtB_Matrix R, int work, const char *const *choices, int kind, int64_t limit,
                    FtB_Stats *stats)
{
    FtB_Project_options options = works[work].options;
    FtB_Plan plan = NULL;
    FtB_Sink sink = NULL;
    GrB_Info info = kind == STATISTICS ? FtB_Sink_stats(&sink)
                                       : FtB_Sink_file(&sink, temp_path("rows"), formats[kind], NULL);
    assert_ok(info);
    if (choices[0]) {
        assert_ok(FtB_project_plan(&plan, sink, R, works[work].weight, &options, FTB_ESTIMATE));
        for (int c = 0; c < 4 && choices[c]; c += 2)
            assert_ok(FtB_Plan_set(plan, choices[c], choices[c + 1]));
        options.plan = plan;
    }
    assert_ok(FtB_Context_set_memory_limit(NULL, limit));
    info = FtB_project(sink, R, works[work].weight, &options);
    if (info == GrB_SUCCESS)
        assert_ok(FtB_Sink_get_stats(sink, stats));
    FtB_Sink_free(&sink);
    FtB_Plan_free(&plan);
    assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    return info;
}

static int64_t named(void)
{
    const char *text = strstr(FtB_error(), "would do is ");
    if (!text)
        fail_msg("names no limit: %s", FtB_error());
    char *end;
    const int64_t number = strtoll(text + strlen("would do is "), &end, 10);
    return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : *end == 'G' ? number << 30 : number;
}

static void same_stats(const FtB_Stats *a, const FtB_Stats *b)
{
    assert_int_equal(a->nvals, b->nvals);
    assert_memory_equal(&a->sum, &b->sum, sizeof a->sum);
    assert_memory_equal(&a->max, &b->max, sizeof a->max);
}

static void check(FtB_Matrix R, int work, const char *const *choices, int kind)
{
    FtB_Stats unlimited = {0}, stats = {0};
    int64_t held = 0;
    const char *name = choices[0] ? choices[0] : "free";
    assert_ok(run(R, work, choices, kind, 0, &unlimited));
    assert_ok(FtB_Context_memory(NULL, &held, NULL));
    assert_int_equal(run(R, work, choices, kind, held + FIGURES, &stats), FTB_LIMIT);
    int64_t least = named();
    if (run(R, work, choices, kind, least, &stats) != GrB_SUCCESS)
        fail_msg("work %d, %s, sink %d: %lld do not do: %s", work, name, kind, (long long)least, FtB_error());
    same_stats(&stats, &unlimited);
    if (run(R, work, choices, kind, least - least / 20, &stats) != FTB_LIMIT)
        fail_msg("work %d, %s, sink %d: a twentieth less than %lld does", work, name, kind, (long long)least);
    assert_int_equal(named(), least);
}

static void least_limits(void **state)
{
    FtB_Matrix R = graph();
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        for (int work = 0; work < WORKS; work++)
            for (int a = 0; a < ALTERNATIVES; a++)
                for (int kind = 0; kind < SINKS; kind++)
                    if (a == 0 || (kind == (a + work) % SINKS && (a + work / 2) % 2 == threads % 2))
                        check(R, work, alternatives[a], kind);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&R);
}

/* Products with a mask into a sink. */
static GrB_Info masked(FtB_Matrix M, FtB_Matrix R, const char *semiring, int64_t limit, FtB_Stats *stats)
{
    FtB_Sink sink = NULL;
    assert_ok(FtB_Sink_file(&sink, temp_path("rows"), FTB_CSV, NULL));
    assert_ok(FtB_Context_set_memory_limit(NULL, limit));
    GrB_Info info = FtB_mxm(sink, M, NULL, semiring, R, R, GrB_DESC_T1);
    if (info == GrB_SUCCESS)
        assert_ok(FtB_Sink_get_stats(sink, stats));
    FtB_Sink_free(&sink);
    assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    return info;
}

static void masks(void **state)
{
    static const char *const semirings[] = {"plus : 1", "plus : a * b", "max : a - b + i", "mean : a * b"};
    FtB_Matrix R = graph(), M = NULL;
    (void)state;
    assert_ok(FtB_Matrix_new(&M, FTB_FP64, ROWS, ROWS, 1));
    assert_ok(FtB_mxm(M, NULL, NULL, "plus : 1", R, R, GrB_DESC_T1));
    for (int threads = 1; threads <= 2; threads++) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        for (size_t s = 0; s < sizeof semirings / sizeof *semirings; s++) {
            FtB_Stats unlimited = {0}, stats = {0};
            int64_t held = 0;
            assert_ok(masked(M, R, semirings[s], 0, &unlimited));
            assert_true(unlimited.nvals > 0);
            assert_ok(FtB_Context_memory(NULL, &held, NULL));
            assert_int_equal(masked(M, R, semirings[s], held + FIGURES, &stats), FTB_LIMIT);
            int64_t least = named();
            assert_ok(masked(M, R, semirings[s], least, &stats));
            same_stats(&stats, &unlimited);
            assert_int_equal(masked(M, R, semirings[s], least - least / 20, &stats), FTB_LIMIT);
            assert_int_equal(named(), least);
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&R);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(least_limits), cmocka_unit_test(masks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
