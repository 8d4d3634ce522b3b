/* Searches from several sources by bits (cpu/vertex/vertex_bits.h), superstep by superstep beside the same
 * program in words that are not known: levels, parents, who is active. Types, ways, threads, columns from 1
 * to 64; first states that bits cannot say; states that are changed in between; one of a thousand vertices.
 * Runs that nobody looks into, whose rows are written in the end: to any superstep, of rows in wider ones, of
 * rows that are written past the caches; stopped; where memory ends. */
#include "support/check.h"

#include "core/isa.h"
#include "featblas_vertex.h"
#include "support/fail_alloc.h"
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

/* far: some vertices are many supersteps away. */
static FtB_Matrix random_graph(rng *r, int64_t n, bool keep, bool far)
{
    const int64_t nvals = rng_below(r, 3 * n + 1);
    int64_t *from = malloc((size_t)(nvals + 1) * sizeof *from),
            *to = malloc((size_t)(nvals + 1) * sizeof *to);
    FtB_Matrix A;
    for (int64_t e = 0; e < nvals; e++) {
        from[e] = rng_below(r, 1 + rng_below(r, n));
        to[e] = rng_below(r, n);
        if (far && rng_below(r, n)) {
            from[e] = e % n;
            to[e] = (e + 1) % n;
        }
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

/* Of both sides, of whose rows some begin. Returns how many. */
static int64_t random_state(rng *r, int64_t *start, int64_t n, int64_t k, FtB_Type type, int odd,
                            const side *a, const side *b)
{
    const int64_t nstart = rng_below(r, n + 1);
    for (int64_t at = 0; at < n * k; at++) {
        const double value = random_level(r, type, odd);
        put(a->level, type, at, value);
        put(b->level, type, at, value);
    }
    for (int64_t t = 0; t < nstart; t++) {
        start[t] = rng_below(r, n);
        if (rng_below(r, 50))
            for (int s = 0; s < 2; s++)
                put(s ? a->level : b->level, type, start[t] * k + t % k, 0);
    }
    return nstart;
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
    FtB_Matrix A = random_graph(&r, n, c % 2, false);
    side bits = {.parent = NULL}, texts = {.parent = NULL};
    assert_ok(FtB_Block_new(&bits.level, n, k, type));
    assert_ok(FtB_Block_new(&texts.level, n, k, type));
    if (parents) {
        assert_ok(FtB_Block_new(&bits.parent, n, k, FTB_INT64));
        assert_ok(FtB_Block_new(&texts.parent, n, k, FTB_INT64));
    }
    int64_t start[MOST];
    const int64_t nstart = random_state(&r, start, n, k, type, odd, &bits, &texts);
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

/* ---- runs that nobody looks into */

/* Parents are found in a log where the rows of receivers are there. */
static void make_receivers(FtB_Matrix A, int64_t n)
{
    FtB_Block L;
    assert_ok(FtB_Block_new(&L, n, 1, FTB_INT32));
    assert_ok(FtB_bfs(L, NULL, A, &(int64_t){0}, 1, FTB_RUN_OPTIONS(.way = FTB_WAY_PULL)));
    FtB_Block_free(&L);
}

/* Levels and parents as columns of a wider block, whose other columns, and theirs, hold what nobody wrote. */
typedef struct wider {
    FtB_Block all[2], some[2];
    int64_t first, k, ld;
    FtB_Type type;
} wider;
enum { UNWRITTEN = 77 };

static wider make_wider(rng *r, int64_t n, int64_t k, FtB_Type type)
{
    wider w = {.first = rng_below(r, 3), .k = k, .type = type};
    w.ld = w.first + k + rng_below(r, 3);
    for (int b = 0; b < 2; b++) {
        assert_ok(FtB_Block_new(&w.all[b], n, w.ld, b ? FTB_INT64 : type));
        for (int64_t at = 0; at < n * w.ld; at++)
            put(w.all[b], b ? FTB_INT64 : type, at, UNWRITTEN);
        assert_ok(FtB_Block_columns(&w.some[b], w.all[b], w.first, k));
    }
    return w;
}

static void free_wider(wider *w)
{
    for (int b = 0; b < 2; b++) {
        FtB_Block_free(&w->some[b]);
        FtB_Block_free(&w->all[b]);
    }
}

/* Its columns are rows of k values, and the others as they were; parents: where they are wanted. */
static void same_wider(const wider *w, const side *s, int64_t n, bool parents)
{
    for (int b = 0; b < 2; b++) {
        const FtB_Type type = b ? FTB_INT64 : w->type;
        const size_t size = FtB_Type_size(type);
        char other[8];
        FtB_Block one;
        assert_ok(FtB_Block_new(&one, 1, 1, type));
        put(one, type, 0, UNWRITTEN);
        memcpy(other, block_values(one), size);
        FtB_Block_free(&one);
        for (int64_t v = 0; v < n; v++)
            for (int64_t c = 0; c < w->ld; c++) {
                const bool in = c >= w->first && c < w->first + w->k && (b == 0 || parents);
                const char *expected = in ? (const char *)block_values(b ? s->parent : s->level) +
                                                (size_t)(v * w->k + c - w->first) * size
                                          : other;
                assert_memory_equal((const char *)block_values(w->all[b]) + (size_t)(v * w->ld + c) * size,
                                    expected, size);
            }
    }
}

static side make_side(int64_t n, int64_t k, FtB_Type type)
{
    side s = {.run = NULL};
    assert_ok(FtB_Block_new(&s.level, n, k, type));
    assert_ok(FtB_Block_new(&s.parent, n, k, FTB_INT64));
    for (int64_t at = 0; at < n * k; at++) {
        put(s.level, type, at, -1);
        put(s.parent, FTB_INT64, at, -1);
    }
    return s;
}

static void free_side(side *s)
{
    FtB_Block_free(&s->level);
    FtB_Block_free(&s->parent);
}

static GrB_Info run_texts(FtB_Program p, FtB_Matrix A, const side *s, bool parents, const FtB_Run_options *o)
{
    return FtB_run(
        p, A, parents ? FTB_STATE("reached", s->level, "by", s->parent) : FTB_STATE("reached", s->level), o);
}

/* FtB_bfs, into memory that says nothing, beside texts. */
static void from_nothing(rng *r, FtB_Matrix A, int64_t n, int64_t k, FtB_Type type, bool parents)
{
    const int64_t rounds = rng_below(r, 3) ? 0 : 1 + rng_below(r, 20);
    FtB_Program unknown = make_program(false, parents, 0, FTB_OUT);
    wider got = make_wider(r, n, k, type);
    side s = make_side(n, k, type);
    int64_t sources[COLUMNS], taken, also;
    for (int64_t c = 0; c < k; c++) {
        sources[c] = rng_below(r, n);
        put(s.level, type, sources[c] * k + c, 0);
        put(s.parent, FTB_INT64, sources[c] * k + c, (double)sources[c]);
    }
    assert_ok(
        FtB_bfs(got.some[0], parents ? got.some[1] : NULL, A, sources, k,
                FTB_RUN_OPTIONS(.way = (FtB_Way)rng_below(r, 5), .rounds = rounds, .supersteps = &taken)));
    assert_ok(run_texts(unknown, A, &s, parents,
                        FTB_RUN_OPTIONS(.start = {sources, k}, .rounds = rounds, .supersteps = &also)));
    assert_int_equal(taken, also);
    same_wider(&got, &s, n, parents);
    free_wider(&got);
    free_side(&s);
    FtB_Program_free(&unknown);
}

/* A run from any state beside the same in words that are not known. */
static void from_any(rng *r, FtB_Matrix A, int64_t n, int64_t k, FtB_Type type, bool parents)
{
    const FtB_Direction direction = (FtB_Direction)rng_below(r, 3);
    const int64_t rounds = rng_below(r, 3) ? 0 : 1 + rng_below(r, 20);
    FtB_Program known = make_program(true, parents, 0, direction),
                unknown = make_program(false, parents, 0, direction);
    side a = make_side(n, k, type), b = make_side(n, k, type);
    int64_t start[MOST];
    const FtB_Ids ids = {start, random_state(r, start, n, k, type, rng_below(r, 9) == 0, &a, &b)};
    assert_ok(run_texts(known, A, &a, parents,
                        FTB_RUN_OPTIONS(.start = ids, .way = (FtB_Way)rng_below(r, 3), .rounds = rounds)));
    assert_ok(run_texts(unknown, A, &b, parents, FTB_RUN_OPTIONS(.start = ids, .rounds = rounds)));
    same_blocks(&a, &b, n * k, type);
    free_side(&a);
    free_side(&b);
    FtB_Program_free(&known);
    FtB_Program_free(&unknown);
}

static void rows_at_once(void **state)
{
    (void)state;
    static const FtB_Type types[] = {FTB_INT32, FTB_INT64, FTB_FP64};
    const int cases = rng_cases(400);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(100000 + c);
        const int64_t n = 1 + rng_below(&r, c % 4 ? 60 : MOST);
        const int64_t k = c % 3 ? 1 + rng_below(&r, 64) : 64;
        FtB_Matrix A = random_graph(&r, n, c % 2, c % 5 < 3);
        ftb_isa_force(c / 2 % 3);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 8));
        if (rng_below(&r, 4))
            make_receivers(A, n);
        (c % 2 ? from_nothing : from_any)(&r, A, n, k, types[rng_below(&r, 3)], rng_below(&r, 2));
        FtB_Matrix_free(&A);
    }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* So many rows that they are written past the caches, where they are whole lines: not of a wider block. */
static void many_rows(void **state)
{
    (void)state;
    enum { N = 22000, K = 64, WIDER = 66 };
    rng r = rng_new();
    FtB_Matrix A = random_graph(&r, N, true, false);
    int64_t sources[K];
    FtB_Block L[2], P, W, L1, P1;
    for (int c = 0; c < K; c++)
        sources[c] = rng_below(&r, N / 2);
    make_receivers(A, N);
    assert_ok(FtB_Block_new(&W, N, WIDER, FTB_INT32));
    assert_ok(FtB_Block_new(&L[0], N, K, FTB_INT32));
    assert_ok(FtB_Block_columns(&L[1], W, 0, K));
    assert_ok(FtB_Block_new(&P, N, K, FTB_INT64));
    assert_ok(FtB_Block_new(&L1, N, 1, FTB_INT32));
    assert_ok(FtB_Block_new(&P1, N, 1, FTB_INT64));
    for (int t = 0; t < 6; t++) {
        const int64_t ld = t < 3 ? K : WIDER;
        const FtB_Block into = L[t >= 3];
        ftb_isa_force(t % 3);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t));
        memset((void *)(uintptr_t)block_values(into), UNWRITTEN, (size_t)(N * ld) * sizeof(int32_t));
        memset((void *)(uintptr_t)block_values(P), UNWRITTEN, (size_t)N * K * sizeof(int64_t));
        assert_ok(FtB_bfs(into, P, A, sources, K, NULL));
        for (int c = t; c < K; c += 15) {
            int64_t wrong = 0;
            assert_ok(FtB_bfs(L1, P1, A, &sources[c], 1, NULL));
            for (int64_t v = 0; v < N; v++)
                wrong +=
                    ((const int32_t *)block_values(into))[v * ld + c] !=
                        ((const int32_t *)block_values(L1))[v] ||
                    ((const int64_t *)block_values(P))[v * K + c] != ((const int64_t *)block_values(P1))[v];
            assert_int_equal(wrong, 0);
        }
    }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Block *const blocks[] = {&L[0], &L[1], &P, &W, &L1, &P1};
    for (int b = 0; b < 6; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
}

static bool never(double done, double total, const char *what, void *arg)
{
    (void)done, (void)total, (void)what, (void)arg;
    return false;
}

/* A run that is stopped before it does anything leaves who begins. */
static void stopped(void **state)
{
    (void)state;
    enum { N = 60, K = 30 };
    FtB_Matrix A = path(N);
    FtB_Context ctx;
    int64_t sources[K];
    for (int c = 0; c < K; c++)
        sources[c] = 2 * c;
    make_receivers(A, N);
    side s = make_side(N, K, FTB_INT32);
    memset((void *)(uintptr_t)block_values(s.level), UNWRITTEN, (size_t)N * K * sizeof(int32_t));
    memset((void *)(uintptr_t)block_values(s.parent), UNWRITTEN, (size_t)N * K * sizeof(int64_t));
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_progress(ctx, never, NULL));
    assert_ok(FtB_Context_engage(ctx));
    assert_fails(FTB_CANCELLED, "cancelled", FtB_bfs(s.level, s.parent, A, sources, K, NULL));
    for (int64_t v = 0; v < N; v++)
        for (int64_t c = 0; c < K; c++) {
            assert_int_equal(((const int32_t *)block_values(s.level))[v * K + c], v == 2 * c ? 0 : -1);
            assert_int_equal(((const int64_t *)block_values(s.parent))[v * K + c], v == 2 * c ? v : -1);
        }
    free_side(&s);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    FtB_Matrix_free(&A);
}

enum { TREE = 255, FROM = 30 }; /* a tree's vertices, and how many of them begin */

/* The state is that after some superstep of a search in a tree, or nothing was written; `whole`: the last. */
static void same_tree(const int32_t *level, const int64_t *parent, bool whole)
{
    int32_t most = whole ? TREE : 0;
    for (int64_t at = 0; at < TREE * FROM; at++)
        most = level[at] > most ? level[at] : most;
    for (int64_t at = 0; at < TREE * FROM && (whole || level[0] != UNWRITTEN); at++) {
        const int64_t v = at / FROM, c = at % FROM;
        int64_t u = v;
        int32_t depth = 0;
        for (; u > c; depth++)
            u = (u - 1) / 2;
        const bool is = u == c && depth <= most;
        assert_int_equal(level[at], is ? depth : -1);
        if (parent)
            assert_int_equal(parent[at], !is ? -1 : v == c ? v : (v - 1) / 2);
    }
}

/* Where memory ends, a search has no log, or fails with the state of the last superstep. */
static GrB_Info search_tree(void *arg)
{
    int64_t I[TREE - 1], J[TREE - 1], sources[FROM];
    int32_t level[TREE * FROM];
    int64_t parent[TREE * FROM];
    FtB_Matrix A = NULL;
    FtB_Block L = NULL, P = NULL;
    (void)arg;
    for (int v = 1; v < TREE; v++) {
        I[v - 1] = (v - 1) / 2;
        J[v - 1] = v;
    }
    for (int c = 0; c < FROM; c++)
        sources[c] = c;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, TREE, TREE, 0, TREE - 1, I, J, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_wrap(&L, level, TREE, FROM, FROM, FTB_INT32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_wrap(&P, parent, TREE, FROM, FROM, FTB_INT64);
    for (int t = 0; t < 4 && info == GrB_SUCCESS; t++) { /* the first makes what parents of a log want */
        for (int64_t at = 0; at < TREE * FROM; at++)
            level[at] = UNWRITTEN;
        assert_ok(FtB_Block_changed(L));
        info = FtB_bfs(L, t % 2 ? P : NULL, A, sources, FROM,
                       FTB_RUN_OPTIONS(.way = t == 0 ? FTB_WAY_PULL : FTB_WAY_AUTO));
        same_tree(level, t % 2 ? parent : NULL, info == GrB_SUCCESS);
    }
    FtB_Block_free(&L);
    FtB_Block_free(&P);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    fail_every_allocation(search_tree, NULL, NULL);
}

/* ---- larger ones */

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
                                       cmocka_unit_test(many_sources),    cmocka_unit_test(rows_at_once),
                                       cmocka_unit_test(many_rows),       cmocka_unit_test(stopped),
                                       cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
