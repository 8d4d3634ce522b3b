/* Searches from several sources by bits (cpu/vertex/vertex_bits.h), superstep by superstep beside the same
 * program in words that are not known: levels, parents, who is active. Types, ways, threads, columns from 1
 * to 64; first states that bits cannot say; states that are changed in between; one of a thousand vertices.
 */
#include "support/check.h"

#include "core/isa.h"
#include "featblas_vertex.h"
#include "support/rng.h"
#include "support/vertex_graphs.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 300, COLUMNS = 65 }; /* one more than bits are */

typedef struct side { /* one of the two runs */
    FtB_Block level, parent;
    FtB_Run run;
    FtB_Superstep about;
} side;

static FtB_Matrix random_graph(rng *r, int64_t n, bool keep)
{
    const int64_t nvals = rng_below(r, 3 * n + 1);
    int64_t *from = malloc((size_t)(nvals + 1) * sizeof *from),
            *to = malloc((size_t)(nvals + 1) * sizeof *to);
    FtB_Matrix A;
    for (int64_t e = 0; e < nvals; e++) {
        from[e] = rng_below(r, 1 + rng_below(r, n));
        to[e] = rng_below(r, n);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, n, n, 0, nvals, from, to, NULL,
                               keep ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
    free(from);
    free(to);
    return A;
}

static void put(FtB_Block X, FtB_Type type, int64_t at, double value)
{
    void *x = (void *)(uintptr_t)block_values(X);
    if (type == FTB_INT32)
        ((int32_t *)x)[at] = (int32_t)value;
    else if (type == FTB_INT64)
        ((int64_t *)x)[at] = (int64_t)value;
    else
        ((double *)x)[at] = value;
}

/* Mostly nobody is reached; some are, some have a level that nobody should have. */
static double random_level(rng *r, FtB_Type type, int odd)
{
    const int64_t kind = rng_below(r, 40);
    if (kind == 0)
        return 0;
    if (odd && rng_below(r, 100) == 0)
        return odd == 1 ? 3 : type == FTB_FP64 ? (double)NAN : 1;
    return kind == 1 ? -7 : -1;
}

/* miss: 1 to 3, texts that look as if they were known. */
static FtB_Program make_program(bool known, bool parents, int miss, FtB_Direction direction)
{
    static const char *const sends[][4] = {
        {"round - 1 == reached", "round - 1 == reached", "round - 1 == reached", "round - 2 == reached"},
        {"reached == round - 1", "reached == round - 1", "reached == round - 1", "reached == round - 2"}};
    char send[80];
    FtB_Program p;
    snprintf(send, sizeof send, "%s%s", sends[known][miss], parents ? " ? id : n" : "");
    const FtB_Program_texts texts = {.size = sizeof texts,
                                     .send = send,
                                     .combine = parents ? "min : message" : "or : message",
                                     .apply =
                                         parents     ? "by = reached < 0 && received < n ? received : by; "
                                                       "reached = reached < 0 && received < n ? round : reached"
                                         : miss == 1 ? "reached = reached < 1 && received ? round : reached"
                                                     : "reached = reached < 0 && received ? round : reached",
                                     .settled = miss == 2 ? "reached >= 1" : "reached >= 0",
                                     .direction = direction};
    assert_ok(FtB_Program_new(&p, &texts));
    return p;
}

static void begin(side *s, FtB_Program p, FtB_Matrix A, FtB_Ids start, FtB_Way way)
{
    s->about = (FtB_Superstep){.round = 0};
    assert_ok(FtB_Run_new(&s->run, p, A,
                          s->parent ? FTB_STATE("reached", s->level, "by", s->parent)
                                    : FTB_STATE("reached", s->level),
                          FTB_RUN_OPTIONS(.start = start, .way = way)));
}

static void same_blocks(const side *a, const side *b, int64_t count, FtB_Type type)
{
    assert_memory_equal(block_values(a->level), block_values(b->level), (size_t)count * FtB_Type_size(type));
    if (a->parent)
        assert_memory_equal(block_values(a->parent), block_values(b->parent),
                            (size_t)count * sizeof(int64_t));
}

/* Both, to the end, or until the state was changed in between. Returns how many supersteps were by bits. */
static int beside(side *bits, side *texts, rng *r, int64_t n, int64_t k, FtB_Type type, bool change)
{
    bool more = true, also = true;
    int taken = 0;
    while (more) {
        assert_ok(FtB_Run_step(bits->run, &more));
        assert_ok(FtB_Run_step(texts->run, &also));
        assert_ok(FtB_Run_about(bits->run, &bits->about));
        assert_ok(FtB_Run_about(texts->run, &texts->about));
        same_blocks(bits, texts, n * k, type);
        assert_true(strcmp(texts->about.loop, "bits") != 0);
        assert_int_equal(bits->about.active, texts->about.active);
        assert_int_equal(bits->about.edges, texts->about.edges);
        assert_int_equal(bits->about.next, texts->about.next);
        assert_int_equal(more, also);
        taken += strcmp(bits->about.loop, "bits") == 0;
        if (change && rng_below(r, 3) == 0) {
            const int64_t at = rng_below(r, n * k);
            const double value = (double)(rng_below(r, 4) - 1);
            put(bits->level, type, at, value);
            put(texts->level, type, at, value);
            assert_ok(FtB_Block_changed(bits->level));
            assert_ok(FtB_Block_changed(texts->level));
        }
    }
    FtB_Run_free(&bits->run);
    FtB_Run_free(&texts->run);
    return taken;
}

static int random_case(int c)
{
    static const FtB_Type types[] = {FTB_INT32, FTB_INT64, FTB_FP64};
    static const int isas[] = {FTB_ISA_BASELINE, FTB_ISA_AVX2, FTB_ISA_AVX512};
    rng r = rng_case(c);
    const int64_t n = 1 + rng_below(&r, c % 4 ? 60 : MOST);
    const int64_t k = c % 3 ? 1 + rng_below(&r, COLUMNS) : COLUMNS - rng_below(&r, 3);
    const FtB_Type type = types[rng_below(&r, 3)];
    const bool parents = rng_below(&r, 2);
    const int odd = rng_below(&r, 4) ? 0 : 1 + (int)rng_below(&r, 2);
    const FtB_Direction direction = (FtB_Direction)rng_below(&r, 3);
    const int miss = c % 9 ? 0 : 1 + (int)rng_below(&r, 3);
    FtB_Matrix A = random_graph(&r, n, c % 2);
    side bits = {.parent = NULL}, texts = {.parent = NULL};
    assert_ok(FtB_Block_new(&bits.level, n, k, type));
    assert_ok(FtB_Block_new(&texts.level, n, k, type));
    if (parents) {
        assert_ok(FtB_Block_new(&bits.parent, n, k, FTB_INT64));
        assert_ok(FtB_Block_new(&texts.parent, n, k, FTB_INT64));
    }
    int64_t start[MOST];
    int64_t nstart = rng_below(&r, n + 1);
    for (int64_t at = 0; at < n * k; at++) {
        const double value = random_level(&r, type, odd);
        put(bits.level, type, at, value);
        put(texts.level, type, at, value);
    }
    for (int64_t t = 0; t < nstart; t++) {
        start[t] = rng_below(&r, n);
        if (rng_below(&r, 50))
            for (int s = 0; s < 2; s++)
                put(s ? bits.level : texts.level, type, start[t] * k + t % k, 0);
    }
    const FtB_Ids ids = {c % 7 ? start : NULL, c % 7 ? nstart : 0};
    FtB_Program known = make_program(true, parents, miss, direction),
                unknown = make_program(false, parents, miss, direction);
    ftb_isa_force(isas[rng_below(&r, 3)]);
    assert_ok(FtB_Context_set_threads(NULL, 1 + c % 8));
    begin(&bits, known, A, ids, (FtB_Way)rng_below(&r, 3));
    begin(&texts, unknown, A, ids, FTB_WAY_AUTO);
    const int taken = ids.at && ids.count == 0 ? 0 : beside(&bits, &texts, &r, n, k, type, c % 5 == 0);
    if (k > 64 || (parents && direction == FTB_BOTH) || miss > 1 || (miss == 1 && !parents))
        assert_int_equal(taken, 0);
    FtB_Run_free(&bits.run);
    FtB_Run_free(&texts.run);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    ftb_isa_force(-1);
    FtB_Program_free(&known);
    FtB_Program_free(&unknown);
    FtB_Block *const blocks[] = {&bits.level, &bits.parent, &texts.level, &texts.parent};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
    return taken;
}

static void random_searches(void **state)
{
    (void)state;
    const int cases = rng_cases(600);
    int taken = 0;
    for (int c = 0; c < cases; c++)
        taken += random_case(c);
    if (cases >= 600)
        assert_true(taken > cases / 2);
}

/* As many edges as threads want: levels and parents of all ways and threads are alike, and by bits. */
static void threads_and_ways(void **state)
{
    (void)state;
    enum { K = 33 };
    FtB_Matrix A = large_graph();
    FtB_Block L, P, L1, P1;
    int64_t sources[K];
    for (int c = 0; c < K; c++)
        sources[c] = c * 71 % LARGE;
    assert_ok(FtB_Block_new(&L, LARGE, K, FTB_INT32));
    assert_ok(FtB_Block_new(&P, LARGE, K, FTB_INT64));
    assert_ok(FtB_Block_new(&L1, LARGE, 1, FTB_INT32));
    assert_ok(FtB_Block_new(&P1, LARGE, 1, FTB_INT64));
    for (int t = 0; t < 24; t++) {
        char line[5][200];
        FILE *explained = tmpfile();
        assert_non_null(explained);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 8));
        assert_ok(FtB_bfs(L, t % 2 ? P : NULL, A, sources, K,
                          FTB_RUN_OPTIONS(.way = (FtB_Way)(t / 8), .explain = explained)));
        rewind(explained);
        for (int s = 0; s < 3; s++)
            assert_non_null(fgets(line[s], sizeof line[s], explained));
        for (int s = 1; s < 3; s++)
            assert_true(strstr(line[s], " bits ") || strstr(line[s], " device ")); /* of FEATBLAS_PRETEND */
        fclose(explained);
        for (int c = t % 8; c < K; c += 8) {
            assert_ok(FtB_bfs(L1, P1, A, &sources[c], 1, NULL));
            for (int64_t v = 0; v < LARGE; v++) {
                assert_int_equal(((const int32_t *)block_values(L))[v * K + c],
                                 ((const int32_t *)block_values(L1))[v]);
                if (t % 2)
                    assert_int_equal(((const int64_t *)block_values(P))[v * K + c],
                                     ((const int64_t *)block_values(P1))[v]);
            }
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Block *const blocks[] = {&L, &P, &L1, &P1};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
}

/* More sources than a word has bits, some of them twice. */
static void many_sources(void **state)
{
    (void)state;
    enum { K = 150 };
    FtB_Matrix A = large_graph();
    FtB_Block L, P, L1, P1;
    int64_t sources[K], taken, most = 0;
    for (int c = 0; c < K; c++)
        sources[c] = c * 1009 % (LARGE / 3);
    assert_ok(FtB_Block_new(&L, LARGE, K, FTB_FP64));
    assert_ok(FtB_Block_new(&P, LARGE, K, FTB_INT64));
    assert_ok(FtB_Block_new(&L1, LARGE, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&P1, LARGE, 1, FTB_INT64));
    assert_ok(FtB_bfs(L, P, A, sources, K, FTB_RUN_OPTIONS(.supersteps = &taken)));
    for (int c = 0; c < K; c++) {
        int64_t here;
        assert_ok(FtB_bfs(L1, P1, A, &sources[c], 1, FTB_RUN_OPTIONS(.supersteps = &here)));
        most = here > most ? here : most;
        for (int64_t v = 0; v < LARGE; v++) {
            assert_true(((const double *)block_values(L))[v * K + c] ==
                        ((const double *)block_values(L1))[v]);
            assert_int_equal(((const int64_t *)block_values(P))[v * K + c],
                             ((const int64_t *)block_values(P1))[v]);
        }
    }
    assert_int_equal(taken, most);
    FtB_Block *const blocks[] = {&L, &P, &L1, &P1};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_searches), cmocka_unit_test(threads_and_ways),
                                       cmocka_unit_test(many_sources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
