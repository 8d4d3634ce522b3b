/* Generators: the same bits for any number of threads and on every machine, valid CSR, exact degrees. */
#include "gen/gen.h"
#include "gen/gen_random.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void require(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fail_msg("%d: %s", (int)info, gen_error());
}

/* FNV-1a over dimensions, arrays and values. */
static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t count)
{
    for (size_t b = 0; b < count; b++)
        h = (h ^ ((const unsigned char *)bytes)[b]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t hash_graph(const gen_graph *g)
{
    uint64_t h = hash_bytes(UINT64_C(0xcbf29ce484222325), &g->nrows, sizeof g->nrows);
    h = hash_bytes(h, &g->ncols, sizeof g->ncols);
    h = hash_bytes(h, g->rowptr, (size_t)(g->nrows + 1) * sizeof *g->rowptr);
    h = hash_bytes(h, g->colidx, (size_t)g->nvals * sizeof *g->colidx);
    return g->values ? hash_bytes(h, g->values, (size_t)g->nvals * sizeof *g->values) : h;
}

static void check_csr(const gen_graph *g)
{
    assert_true(g->rowptr[0] == 0 && g->rowptr[g->nrows] == g->nvals);
    for (int64_t i = 0; i < g->nrows; i++) {
        assert_true(g->rowptr[i] <= g->rowptr[i + 1]);
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            assert_true(g->colidx[e] >= 0 && g->colidx[e] < g->ncols);
            assert_true(e == g->rowptr[i] || g->colidx[e - 1] < g->colidx[e]);
        }
    }
}

static int64_t find(const gen_graph *g, int64_t i, int64_t j)
{
    for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
        if (g->colidx[e] == j)
            return e;
    return -1;
}

/* ---- the same everywhere: small graphs of every kind and their hashes */

enum { NCASES = 11, SYMMETRIC = 0x4b8 }; /* cases stored both ways round, as bits */

static GrB_Info make_case(gen_graph *g, int c, uint64_t seed)
{
    const gen_edges edges = {.count = 3000, .symmetric = true, .permute = true, .values = GEN_UNIFORM};
    const gen_edges counted = {.count = 3000, .loops = true, .values = GEN_COUNTS};
    switch (c) {
    case 0:
        return gen_make_bipartite(
            g,
            &(gen_bipartite){
                .nrows = 300, .ncols = 90, .nvals = 3000, .min_degree = 2, .values = GEN_RATINGS},
            seed);
    case 1:
        return gen_make_bipartite(
            g, &(gen_bipartite){.nrows = 77, .ncols = 5000, .nvals = 1000, .uniform = true}, seed);
    case 2:
        return gen_make_rmat(g, &(gen_rmat){.scale = 9, .a = 0.57, .b = 0.19, .c = 0.19, .edges = counted},
                             seed);
    case 3:
        return gen_make_rmat(g, &(gen_rmat){.scale = 9, .a = 0.57, .b = 0.19, .c = 0.19, .edges = edges},
                             seed);
    case 4:
        return gen_make_sbm(g, &(gen_sbm){.nvertices = 601, .nblocks = 7, .mixing = 0.1, .edges = edges},
                            seed);
    case 5:
        return gen_make_powerlaw(g, &(gen_powerlaw){.nvertices = 1000, .exponent = 2.3, .edges = edges},
                                 seed);
    case 6:
        return gen_make_powerlaw(g, &(gen_powerlaw){.nvertices = 1000, .exponent = 3, .edges = counted},
                                 seed);
    case 7:
        return gen_make_chung_lu(g, &(gen_chung_lu){.nvertices = 900, .exponent = 0.7, .edges = edges}, seed);
    case 8:
        return gen_make_chung_lu(g, &(gen_chung_lu){.nvertices = 900, .exponent = 0, .edges = counted}, seed);
    case 9:
        return gen_make_like(g, "arxiv-like", 1000, GEN_COUNTS, seed);
    default:
        return gen_make_road(g, &(gen_road){.nvertices = 1003, .mean_degree = 2.4, .values = GEN_UNIFORM},
                             seed);
    }
}

static void test_same_bits(void **state)
{
    static const uint64_t known[NCASES] = {
        UINT64_C(0xe9f264ebb523666d), UINT64_C(0x8e8dc98216408851), UINT64_C(0x3528822f76109caa),
        UINT64_C(0xae1253f19be96bf3), UINT64_C(0xf58f0852d0640c32), UINT64_C(0xbd95ac918b86795f),
        UINT64_C(0x37d0bf7db25801e9), UINT64_C(0xd52685ca7219074d), UINT64_C(0xfcb03e577e3625f1),
        UINT64_C(0x5e7b0b25238c6a95), UINT64_C(0x588d2bc71413057e)};
    (void)state;
    for (int c = 0; c < NCASES; c++) {
        uint64_t first = 0;
        for (int threads = 1; threads <= 5; threads += 2) {
            gen_graph g = {0};
            omp_set_num_threads(threads);
            require(make_case(&g, c, 7));
            check_csr(&g);
            uint64_t h = hash_graph(&g);
            first = threads == 1 ? h : first;
            assert_int_equal(h, first);
            gen_free(&g);
        }
        if (first != known[c])
            fail_msg("case %d: hash 0x%016llx", c, (unsigned long long)first);
        gen_graph other = {0};
        require(make_case(&other, c, 8));
        assert_int_not_equal(hash_graph(&other), first);
        gen_free(&other);
    }
}

/* ---- GAP's graphs: hashes of what its converter writes (-g10, -g10 -w, -u10 -w, -g16 -k4; gcc 12) */

enum { NGAP = 4 };

static GrB_Info make_gap(gen_graph *g, int c, bool symmetric, uint64_t seed)
{
    const gen_gap p = {.scale = c == 3 ? 16 : 10,
                       .uniform = c == 2,
                       .edges = {.count = c == 3 ? 4 << 16 : 16 << 10,
                                 .symmetric = symmetric,
                                 .values = c == 1 || c == 2 ? GEN_WEIGHTS : GEN_PATTERN}};
    return gen_make_gap(g, &p, seed);
}

static void test_gap(void **state)
{
    static const uint64_t known[NGAP] = {UINT64_C(0xe79bb26e3de63bca), UINT64_C(0xfba356cc13e718a6),
                                         UINT64_C(0x5a2dc8da61449827), UINT64_C(0x227be27e5f75f144)};
    (void)state;
    for (int c = 0; c < NGAP; c++) {
        gen_graph g = {0}, one_way = {0}, other = {0};
        for (int threads = 5; threads > 0; threads -= 2) {
            gen_free(&g);
            omp_set_num_threads(threads);
            require(make_gap(&g, c, true, GEN_GAP_SEED));
            check_csr(&g);
            if (hash_graph(&g) != known[c])
                fail_msg("case %d, %d threads: hash 0x%016llx", c, threads,
                         (unsigned long long)hash_graph(&g));
        }
        /* One way, the same edges, of which some are drawn both ways, then perhaps with another weight. */
        require(make_gap(&one_way, c, false, GEN_GAP_SEED));
        check_csr(&one_way);
        assert_true(one_way.nrows == g.nrows && one_way.nvals < g.nvals && 2 * one_way.nvals >= g.nvals);
        for (int64_t i = 0; i < one_way.nrows; i++)
            for (int64_t e = one_way.rowptr[i]; e < one_way.rowptr[i + 1]; e++) {
                const int64_t at = find(&g, i, one_way.colidx[e]),
                              back = find(&one_way, one_way.colidx[e], i);
                float least = g.values ? one_way.values[e] : 0;
                if (g.values && back >= 0 && one_way.values[back] < least)
                    least = one_way.values[back];
                assert_true(at >= 0 && one_way.colidx[e] != i);
                assert_true(!g.values || (g.values[at] == least && least >= 1 && least <= 255));
            }
        require(make_gap(&other, c, true, 8));
        assert_int_not_equal(hash_graph(&other), known[c]);
        gen_free(&g);
        gen_free(&one_way);
        gen_free(&other);
    }
}

/* A graph of few edges ends with the last vertex that one was drawn for; equal and empty ones are fine. */
static void test_gap_shapes(void **state)
{
    (void)state;
    for (int scale = 1; scale < 6; scale++)
        for (int64_t count = 0; count < 200; count = count * 3 + 1)
            for (int uniform = 0; uniform < 2; uniform++) {
                gen_graph g = {0};
                require(gen_make_gap(&g,
                                     &(gen_gap){.scale = scale,
                                                .uniform = uniform,
                                                .edges = {.count = count, .values = GEN_COUNTS}},
                                     (uint64_t)count));
                check_csr(&g);
                double sum = 0;
                for (int64_t e = 0; e < g.nvals; e++)
                    sum += (double)g.values[e];
                assert_true(g.nrows == g.ncols && g.nrows >= 1 && g.nrows <= 1 << scale &&
                            sum <= (double)count);
                assert_true(count > 0 || g.nrows == 1);
                gen_free(&g);
            }
}

/* ---- shapes */

static void test_bipartite(void **state)
{
    const struct {
        int64_t nrows, ncols, nvals, min_degree;
    } shapes[] = {{0, 0, 0, 0},      {0, 5, 0, 0},      {5, 0, 0, 0},         {1, 1, 1, 1},
                  {1, 1, 0, 0},      {3, 7, 21, 7},     {10, 10, 100, 0},     {64, 65, 500, 3},
                  {500, 64, 700, 1}, {2, 100000, 9, 0}, {63, 200, 12000, 100}};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int uniform = 0; uniform < 2; uniform++) {
            gen_graph g = {0};
            const gen_bipartite p = {.nrows = shapes[s].nrows,
                                     .ncols = shapes[s].ncols,
                                     .nvals = shapes[s].nvals,
                                     .min_degree = shapes[s].min_degree,
                                     .uniform = uniform,
                                     .values = GEN_RATINGS};
            require(gen_make_bipartite(&g, &p, s));
            check_csr(&g);
            assert_int_equal(g.nvals, p.nvals);
            for (int64_t i = 0; i < g.nrows; i++)
                assert_true(g.rowptr[i + 1] - g.rowptr[i] >= p.min_degree);
            for (int64_t e = 0; e < g.nvals; e++)
                assert_true(g.values[e] >= 0.5f && g.values[e] <= 5 &&
                            g.values[e] * 2 == floorf(g.values[e] * 2));
            gen_free(&g);
        }
}

static void test_rand100k(void **state)
{
    gen_graph g = {0};
    int64_t heavy = 0;
    (void)state;
    require(gen_make_rand100k(&g, GEN_PATTERN, 1));
    assert_int_equal(g.nvals, 48000000);
    for (int64_t i = 0; i < g.nrows; i++) {
        int64_t degree = g.rowptr[i + 1] - g.rowptr[i];
        heavy += degree == 2000;
        assert_true(degree == 2000 || degree == 100);
        for (int64_t e = g.rowptr[i] + 1; e < g.rowptr[i + 1]; e++)
            if (g.colidx[e - 1] >= g.colidx[e])
                fail_msg("row %lld is not ascending", (long long)i);
    }
    assert_int_equal(heavy, 20000);
    gen_free(&g);
}

static void test_edges(void **state)
{
    (void)state;
    for (int c = 2; c < NCASES; c++) {
        bool symmetric = SYMMETRIC >> c & 1;
        gen_graph g = {0};
        require(make_case(&g, c, 3));
        double sum = 0;
        for (int64_t i = 0; i < g.nrows; i++)
            for (int64_t e = g.rowptr[i]; e < g.rowptr[i + 1]; e++) {
                sum += (double)g.values[e];
                if (!symmetric)
                    continue;
                int64_t back = find(&g, g.colidx[e], i);
                assert_true(g.colidx[e] != i && back >= 0);
                assert_true(g.values[back] == g.values[e] && g.values[e] > 0 && g.values[e] < 1);
            }
        if (!symmetric && c != 9)
            assert_true(sum == 3000); /* the counts of all drawn edges */
        gen_free(&g);
    }
}

/* ---- graphs like known data sets, scaled down */

static void test_like(void **state)
{
    static const struct {
        const char *name;
        int64_t nvertices, nvals;
    } rows[] = {{"reddit-like", 10000, 4505074},  {"proteins-like", 10000, 5381704},
                {"products-like", 10000, 508482}, {"arxiv-like", 10000, 68923},
                {"road-like", 10000, 23526},      {"road-like", 1, 0}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        gen_graph g = {0};
        int64_t vertices = 0;
        double entries = 0;
        require(gen_make_like(&g, rows[r].name, rows[r].nvertices, GEN_PATTERN, 1));
        check_csr(&g);
        assert_true(gen_like_size(rows[r].name, rows[r].nvertices, &vertices, &entries));
        assert_int_equal(vertices, rows[r].nvertices);
        if (g.nvals != rows[r].nvals)
            fail_msg("%s: %lld entries", rows[r].name, (long long)g.nvals);
        gen_free(&g);
        assert_true(gen_like_size(rows[r].name, 0, &vertices, &entries));
        assert_true(vertices > 100000 && entries > 1e6);
    }
    gen_graph none = {0};
    assert_int_equal(gen_make_like(&none, "reddit", 0, GEN_PATTERN, 1), GrB_INVALID_VALUE);
    assert_int_equal(gen_make_like(&none, "arxiv-like", -1, GEN_PATTERN, 1), GrB_INVALID_VALUE);
    assert_int_equal(gen_make_road(&none, &(gen_road){.nvertices = 9, .mean_degree = 4.1}, 1),
                     GrB_INVALID_VALUE);
    assert_int_equal(gen_make_chung_lu(&none, &(gen_chung_lu){.nvertices = 9, .exponent = -0.5}, 1),
                     GrB_INVALID_VALUE);
    assert_null(none.rowptr);
}

/* Grid neighbours only, and about as many as asked for. */
static void test_road(void **state)
{
    (void)state;
    for (int degree = 0; degree <= 4; degree += 2)
        for (int64_t n = 1; n < 400; n = n * 3 + 1) {
            gen_graph g = {0};
            int64_t side = 1, most = 0;
            while (side * side < n)
                side++;
            require(gen_make_road(&g, &(gen_road){.nvertices = n, .mean_degree = degree}, 3));
            check_csr(&g);
            for (int64_t i = 0; i < n; i++) {
                most += (i % side + 1 < side && i + 1 < n) + (i + side < n);
                for (int64_t e = g.rowptr[i]; e < g.rowptr[i + 1]; e++) {
                    int64_t j = g.colidx[e], low = i < j ? i : j, high = i < j ? j : i;
                    assert_true(high - low == side || (high - low == 1 && low / side == high / side));
                    assert_true(find(&g, j, i) >= 0);
                }
            }
            assert_true(degree == 0 ? g.nvals == 0 : degree == 4 ? g.nvals == 2 * most : g.nvals <= 2 * most);
            gen_free(&g);
        }
}

/* Shuffled numbers change neither the number of entries nor the degrees. */
static int by_degree(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static void test_permute(void **state)
{
    int64_t degree[2][1 << 10];
    (void)state;
    for (int permute = 0; permute < 2; permute++) {
        gen_graph g = {0};
        const gen_rmat p = {
            .scale = 10, .a = 0.6, .b = 0.1, .c = 0.2, .edges = {.count = 9000, .permute = permute}};
        require(gen_make_rmat(&g, &p, 11));
        for (int64_t i = 0; i < g.nrows; i++)
            degree[permute][i] = g.rowptr[i + 1] - g.rowptr[i];
        gen_free(&g);
    }
    assert_memory_not_equal(degree[0], degree[1], sizeof degree[0]);
    for (int permute = 0; permute < 2; permute++)
        qsort(degree[permute], 1 << 10, sizeof **degree, by_degree);
    assert_memory_equal(degree[0], degree[1], sizeof degree[0]);
}

static void test_sbm_blocks(void **state)
{
    (void)state;
    for (int mixing = 0; mixing < 2; mixing++) {
        gen_graph g = {0};
        const gen_sbm p = {.nvertices = 100, .nblocks = 7, .mixing = mixing, .edges = {.count = 4000}};
        require(gen_make_sbm(&g, &p, 5));
        for (int64_t i = 0; i < g.nrows; i++)
            for (int64_t e = g.rowptr[i]; e < g.rowptr[i + 1]; e++) {
                int64_t from = 0, to = 0; /* block b: vertices 100 b / 7 up to 100 (b + 1) / 7 */
                while (100 * (from + 1) / 7 <= i)
                    from++;
                while (100 * (to + 1) / 7 <= g.colidx[e])
                    to++;
                assert_int_equal(from == to, mixing == 0);
            }
        gen_free(&g);
    }
}

/* ---- parts */

static void test_weighted(void **state)
{
    (void)state;
    for (int64_t count = 1; count < 200; count += 13) {
        uint64_t weights[200], total = 0;
        for (int64_t r = 0; r < count; r++) {
            weights[r] = gen_random(1, (uint64_t)r, (uint32_t)count, 99).word[0] % 5 == 0
                             ? 0
                             : 1000 / (uint64_t)(r + 1);
            total += weights[r];
        }
        gen_weighted w = {0};
        weights[0] += total == 0;
        require(gen_weighted_new(&w, count, weights));
        for (uint32_t t = 0; t < 500; t++) {
            uint64_t x = t == 0 ? 0 : t == 1 ? UINT64_MAX : gen_word64(gen_random(2, t, 0, 99), 0);
            uint64_t at = (uint64_t)(((unsigned __int128)x * w.total) >> 64);
            int64_t expected = 0;
            for (uint64_t sum = weights[0]; sum <= at; sum += weights[expected])
                expected++;
            assert_int_equal(gen_weighted_draw(&w, x), expected);
        }
        gen_weighted_free(&w);
    }
}

static void test_power(void **state)
{
    (void)state;
    for (int a = 0; a < 70; a++)
        for (int b = -15; b <= 15; b++) {
            double x = 0.9 * pow(1.37, a), y = 0.13 * b;
            assert_true(fabs(gen_power(x, y) / pow(x, y) - 1) < 1e-13);
        }
}

static void test_refused(void **state)
{
    gen_graph g = {0};
    const gen_edges edges = {.count = 10}, negative = {.count = -1};
    (void)state;
    assert_int_equal(gen_make_bipartite(&g, &(gen_bipartite){.nrows = 2, .ncols = 2, .nvals = 5}, 1),
                     GrB_INVALID_VALUE);
    assert_non_null(strstr(gen_error(), "5 edges do not fit 2 x 2"));
    assert_int_equal(gen_make_bipartite(&g, &(gen_bipartite){.nrows = -1, .ncols = 2}, 1), GrB_INVALID_VALUE);
    assert_int_equal(
        gen_make_bipartite(&g, &(gen_bipartite){.nrows = 3, .ncols = 3, .nvals = 5, .min_degree = 2}, 1),
        GrB_INVALID_VALUE);
    assert_int_equal(gen_make_rmat(&g, &(gen_rmat){.scale = 31, .a = 1, .edges = edges}, 1),
                     GrB_INVALID_VALUE);
    assert_int_equal(gen_make_rmat(&g, &(gen_rmat){.scale = 3, .a = NAN, .edges = edges}, 1),
                     GrB_INVALID_VALUE);
    assert_int_equal(gen_make_rmat(&g, &(gen_rmat){.scale = 3, .a = 1, .edges = negative}, 1),
                     GrB_INVALID_VALUE);
    assert_int_equal(gen_make_gap(&g, &(gen_gap){.scale = 31, .edges = edges}, 1), GrB_INVALID_VALUE);
    assert_non_null(strstr(gen_error(), "kron: scale 31; expected 1 to 30"));
    assert_int_equal(gen_make_gap(&g, &(gen_gap){.scale = 0, .uniform = true, .edges = edges}, 1),
                     GrB_INVALID_VALUE);
    assert_int_equal(gen_make_gap(&g, &(gen_gap){.scale = 3, .edges = negative}, 1), GrB_INVALID_VALUE);
    assert_int_equal(gen_make_sbm(&g, &(gen_sbm){.nvertices = 3, .nblocks = 4, .edges = edges}, 1),
                     GrB_INVALID_VALUE);
    assert_int_equal(
        gen_make_sbm(&g, &(gen_sbm){.nvertices = 3, .nblocks = 1, .mixing = 0.5, .edges = edges}, 1),
        GrB_INVALID_VALUE);
    assert_int_equal(gen_make_powerlaw(&g, &(gen_powerlaw){.nvertices = 3, .exponent = 2, .edges = edges}, 1),
                     GrB_INVALID_VALUE);
    assert_null(g.rowptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),  cmocka_unit_test(test_bipartite),
        cmocka_unit_test(test_rand100k),   cmocka_unit_test(test_edges),
        cmocka_unit_test(test_permute),    cmocka_unit_test(test_sbm_blocks),
        cmocka_unit_test(test_weighted),   cmocka_unit_test(test_power),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_like),
        cmocka_unit_test(test_road),       cmocka_unit_test(test_gap),
        cmocka_unit_test(test_gap_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
