/* FtB_select_sample against slow loops with draws of their own: every selector, rows of all lengths, what is
 * refused. And the draws themselves: known answers of Philox, counters beyond their bits. */
#include "support/check.h"

#include "core/draws.h"
#include "core/isa.h"
#include "cpu/kernels/sample_kernels.h"
#include "oracle/ref_sample.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

/* ---- draws */

/* Random123's known answers of philox4x32-10 (kat_vectors). */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } answers[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int a = 0; a < 3; a++) {
        uint32_t out[4];
        const uint32_t *c = answers[a].counter, *k = answers[a].key;
        ref_philox(out, c, k);
        assert_memory_equal(out, answers[a].out, sizeof out);
        ftb_random_words(out, (uint64_t)k[1] << 32 | k[0], (uint64_t)c[1] << 32 | c[0],
                         (uint64_t)c[3] << 32 | c[2]);
        assert_memory_equal(out, answers[a].out, sizeof out);
    }
}

/* The layout of counters is a promise: vertex | batch | hop | draw, from the lowest bits up. */
static void counters(void **state)
{
    (void)state;
    const uint64_t given = UINT64_C(0x0123456789abcdef), vertex = UINT64_C(0xfedcba9876543210);
    const uint32_t key[2] = {0x89abcdef, 0x01234567};
    for (uint64_t d = 0; d < 40; d++) {
        uint64_t seed = given, stream = ftb_draw_stream(&seed, 77, 5);
        uint32_t counter[4] = {0x76543210, 0xfedcba98, 77, 5u << 24 | (uint32_t)(d / 4)}, out[4];
        assert_true(seed == given);
        ref_philox(out, counter, key);
        assert_int_equal(ftb_draw(seed, vertex, stream, d, false), out[d % 4]);
        counter[3] |= 1u << 23;
        ref_philox(out, counter, key);
        assert_int_equal(ftb_draw(seed, vertex, stream, d, true), out[d % 4]);
    }
    const uint64_t far = (UINT64_C(1) << 25) + 6; /* block 2^23 + 1 */
    uint64_t seed = ref_mix(given, 1, UINT64_C(0xff000001) << 32);
    assert_int_equal(ftb_draw(given, vertex, 3, far, false), ftb_draw(seed, vertex, 3, 6, false));
    seed = given;
    assert_true(ftb_draw_stream(&seed, UINT64_C(1) << 32, 2) == 0);
    assert_true(seed == ref_mix(given, UINT64_C(1) << 32, UINT64_C(0xff000000) << 32 | 2));
    seed = given;
    assert_true(ftb_draw_stream(&seed, 9, 255) == 0);
    assert_true(seed == ref_mix(given, 9, UINT64_C(0xff000000) << 32 | 255));
}

/* floor(u n / 2^64) of the whole draw, also where its lower half carries. */
static void bounds(void **state)
{
    (void)state;
    rng r = rng_new();
    int carried = 0;
    for (int t = 0; t < 20000; t++) {
        const uint64_t seed = rng_bits(&r), vertex = rng_bits(&r),
                       n = 1 + (rng_bits(&r) >> rng_below(&r, 63));
        const uint64_t high = ftb_draw(seed, vertex, 0, 3, false), low = ftb_draw(seed, vertex, 0, 3, true);
        const uint64_t wanted = (uint64_t)((unsigned __int128)(high << 32 | low) * n >> 64);
        assert_true(ftb_draw_below(n, seed, vertex, 0, 3) == wanted);
        carried += n <= UINT32_MAX && wanted != high * n >> 32;
    }
    assert_true(carried > 20);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Picks of sixteen rows of up to 2^31 - 1 entries, where draws need their lower halves half of the time. */
static void pick_sixteen(rng *r, bool replace)
{
    enum { K = 9 };
    int32_t at[FTB_PICK_ROWS * FTB_PICK_MOST];
    ftb_pick_rows rows;
    const uint64_t stream = rng_bits(r) & ~(UINT64_C(0xffffff) << 32);
    for (int l = 0; l < FTB_PICK_ROWS; l++) {
        rows.vertex[l] = rng_bits(r);
        rows.seed[l] = rng_bits(r);
        rows.stream[l] = stream;
        rows.degree[l] = (uint32_t)(K + 1 + rng_below(r, (INT64_C(1) << (4 + l % 4 * 9)) - K - 1));
    }
    FTB_PICK(ftb_pick_uniform)(at, &rows, K, replace);
    for (int l = 0; l < FTB_PICK_ROWS; l++) {
        int64_t wanted[K];
        for (int t = 0; t < K; t++) {
            const uint64_t n = replace ? rows.degree[l] : rows.degree[l] - K + (uint64_t)t + 1;
            wanted[t] = (int64_t)ftb_draw_below(n, rows.seed[l], rows.vertex[l], stream, (uint64_t)t);
            for (int s = 0; s < t && !replace; s++)
                if (wanted[s] == wanted[t]) {
                    wanted[t] = (int64_t)n - 1;
                    break;
                }
        }
        qsort(wanted, K, sizeof *wanted, by_number);
        for (int t = 0; t < K; t++)
            assert_int_equal(at[t * FTB_PICK_ROWS + l], wanted[t]);
    }
}

/* Every instruction set gives the same, draw by draw. */
static void kernels(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        if (ftb_isa_force(isa) != isa)
            continue;
        for (int t = 0; t < 50; t++) {
            enum { COUNT = 150 };
            uint32_t word[COUNT], column[FTB_PICK_ROWS];
            int64_t vertex[FTB_PICK_ROWS];
            const uint64_t seed = rng_bits(&r), stream = rng_bits(&r) & ~(UINT64_C(0xffffff) << 32);
            const int64_t first = t % 2 ? (INT64_C(1) << 25) - 64 : 4 * rng_below(&r, 100);
            const int64_t count = rng_below(&r, COUNT + 1);
            pick_sixteen(&r, t % 2);
            FTB_PICK(ftb_draw_words)(word, seed, 5, stream, first, count);
            for (int64_t d = 0; d < count; d++)
                assert_int_equal(word[d], ftb_draw(seed, 5, stream, (uint64_t)(first + d), false));
            for (int l = 0; l < FTB_PICK_ROWS; l++)
                vertex[l] = (int64_t)(rng_bits(&r) >> 1);
            FTB_PICK(ftb_draw_vertices)(column, seed, vertex, stream);
            for (int l = 0; l < FTB_PICK_ROWS; l++)
                assert_int_equal(column[l], ftb_draw(seed, (uint64_t)vertex[l], stream, 0, false));
        }
    }
    ftb_isa_force(-1);
}

/* ---- selecting */

/* A graph whose rows have all sorts of lengths, in arrays of malloc. */
typedef struct graph {
    int64_t nrows, ncols, *rowptr, *column;
    int32_t *narrow;
    double *weight;
    FtB_Matrix A;
} graph;

static graph make_graph(rng *r, int64_t nrows, int64_t ncols, int64_t most)
{
    graph g = {.nrows = nrows, .ncols = ncols, .rowptr = calloc((size_t)nrows + 1, 8)};
    for (int64_t i = 0; i < nrows; i++) {
        const int64_t degree = rng_below(r, 4) == 0 ? 0 : rng_below(r, (rng_below(r, 3) ? 12 : most) + 1);
        g.rowptr[i + 1] = g.rowptr[i] + (degree < ncols ? degree : ncols);
    }
    const int64_t nvals = g.rowptr[nrows];
    g.column = malloc(sizeof *g.column * (size_t)(nvals + 1));
    g.narrow = malloc(sizeof *g.narrow * (size_t)(nvals + 1));
    g.weight = malloc(sizeof *g.weight * (size_t)(nvals + 1));
    for (int64_t i = 0; i < nrows; i++) {
        const int64_t n = g.rowptr[i + 1] - g.rowptr[i];
        for (int64_t t = 0, from = 0; t < n; t++) { /* ascending, with gaps where there is room */
            const int64_t room = ncols - from - (n - t);
            from += rng_below(r, room / (n - t) * 2 + 1 < room + 1 ? room / (n - t) * 2 + 1 : room + 1);
            g.column[g.rowptr[i] + t] = from++;
        }
        for (int64_t e = g.rowptr[i]; e < g.rowptr[i + 1]; e++)
            g.weight[e] = rng_below(r, 8) ? rng_unit(r) * (rng_below(r, 5) ? 1 : 1000) : 0;
        if (n > 0 && g.weight[g.rowptr[i]] == 0)
            g.weight[g.rowptr[i]] = 0.25;
    }
    for (int64_t e = 0; e < nvals; e++)
        g.narrow[e] = (int32_t)g.column[e];
    const bool wide = ncols > INT32_MAX;
    assert_ok(FtB_Matrix_wrap_csr(&g.A, FTB_FP64, nrows, ncols, 1, g.rowptr,
                                  wide ? (void *)g.column : g.narrow, g.weight));
    return g;
}

static void free_graph(graph *g)
{
    FtB_Matrix_free(&g->A);
    free(g->rowptr);
    free(g->column);
    free(g->narrow);
    free(g->weight);
}

/* S and E are what the oracle picks of each row. */
static void check_rows(const graph *g, const FtB_Select_options *o, const ref_row *how, FtB_Ids rows,
                       FtB_Matrix S, bool inverse)
{
    const int64_t *rowptr, *edges = matrix_values(o->edges);
    const void *columns, *values;
    assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, &values));
    for (int64_t r = 0; r < rows.count; r++) {
        const int64_t i = rows.at[r], begin = g->rowptr[i];
        int64_t *place, degree = g->rowptr[i + 1] - begin;
        double *weight = malloc(sizeof *weight * (size_t)(degree + 1));
        for (int64_t t = 0; t < degree; t++)
            weight[t] = inverse ? 1.0 / (1.0 + g->weight[begin + t]) : g->weight[begin + t];
        ref_row row = *how;
        row.vertex = (uint64_t)i;
        row.degree = degree;
        row.weight = weight;
        row.column = g->column + begin;
        const int64_t count = ref_pick(&place, &row);
        if (rowptr[r + 1] - rowptr[r] != count)
            fail_msg("selector %d, k %d, row %d of %d: %d picks, expected %d", (int)row.selector, (int)row.k,
                     (int)i, (int)degree, (int)(rowptr[r + 1] - rowptr[r]), (int)count);
        for (int64_t t = 0; t < count; t++) {
            const int64_t e = begin + place[t], at = rowptr[r] + t;
            assert_int_equal(edges[at], e);
            assert_int_equal(g->ncols > INT32_MAX ? ((const int64_t *)columns)[at]
                                                  : ((const int32_t *)columns)[at],
                             g->column[e]);
            assert_true(((const double *)values)[at] == g->weight[e]);
        }
        free(place);
        free(weight);
    }
}

static void random_case(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 2, 3, 4, 5, 10, 15, 20, 63, 64, 65, 100, 700, -1};
    const FtB_Selector selector = (FtB_Selector)(1 + number % 6);
    const bool weights = selector != FTB_SAMPLE_UNIFORM && selector != FTB_SAMPLE_LABOR;
    const bool open = selector == FTB_SAMPLE_THRESHOLD || selector == FTB_SAMPLE_BERNOULLI;
    const int64_t k = open ? -1 : some[rng_below(r, 15)];
    const bool replace = k >= 0 && selector <= FTB_SAMPLE_WEIGHTED && rng_below(r, 2),
               inverse = rng_below(r, 2);
    const int64_t ncols = rng_below(r, 5) == 0 ? INT64_C(1) << 33 : 1 + rng_below(r, 900);
    graph g = make_graph(r, 1 + rng_below(r, 60), ncols, 700);
    int64_t rows[90], nrows = rng_below(r, 90);
    const bool all = rng_below(r, 4) == 0;
    if (all)
        nrows = g.nrows;
    for (int64_t t = 0; t < nrows; t++)
        rows[t] = all ? t : rng_below(r, g.nrows);
    FtB_Matrix S, E;
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, nrows, ncols, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, nrows, ncols, 1));
    const FtB_Select_options o = {.size = sizeof o,
                                  .selector = selector,
                                  .replace = replace,
                                  .threshold = selector == FTB_SAMPLE_THRESHOLD ? 0.5 : 0,
                                  .seed = rng_bits(r) | 1,
                                  .batch = rng_below(r, 3) * 1000,
                                  .hop = rng_below(r, 4),
                                  .edges = E};
    const ref_row how = {.selector = selector,
                         .replace = replace,
                         .k = k,
                         .threshold = o.threshold,
                         .seed = o.seed,
                         .batch = (uint64_t)o.batch,
                         .hop = (uint64_t)o.hop};
    const char *key = weights ? inverse ? "1 / (1 + x)" : "x" : NULL;
    const FtB_Ids ids = FtB_Ids_of(rows, nrows);
    if (all)
        assert_ok(FtB_select_sample(S, NULL, k, key, g.A, &o));
    else
        assert_ok(FtB_select_sample(S, ids, k, key, g.A, &o));
    check_rows(&g, &o, &how, ids, S, inverse && weights);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
    free_graph(&g);
}

static void random_cases(void **state)
{
    (void)state;
    const int cases = rng_cases(600);
    for (int t = 0; t < cases; t++) {
        rng r = rng_case(t);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r, t);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Keys over rows, columns, degrees and what is bound; the value goes into S's dtype. */
static void keys(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 0, 0, 0, 1, 1, 2}, J[] = {0, 1, 2, 3, 1, 3, 3};
    static const float X[] = {5, 1, 4, 2, 7, 8, 9};
    FtB_Matrix A, S;
    FtB_Block norm;
    FtB_Op op, bound;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 3, 4, 1, 7, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_INT32, 3, 4, 1));
    assert_ok(FtB_Block_new(&norm, 4, 1, FTB_FP32));
    ((float *)block_values(norm))[1] = 3;
    assert_ok(FtB_Op_new(&op, "norm[j] + 0 * i"));
    assert_ok(FtB_Op_bind(&bound, op, FTB_BIND("norm", norm)));
    assert_ok(FtB_select_sample(S, NULL, 1, bound, A, FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_TOPK)));
    const int64_t *rowptr;
    const void *columns, *values;
    assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, &values));
    static const int32_t best[] = {1, 1, 3}, of[] = {1, 7, 9};
    assert_memory_equal(columns, best, sizeof best);
    assert_memory_equal(values, of, sizeof of);
    assert_ok(FtB_select_sample(S, NULL, 2, "dj * 100 + di - x", A,
                                FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_TOPK)));
    assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, &values));
    static const int32_t two[] = {1, 3, 1, 3, 3}; /* degrees of columns: 1, 2, 1, 3 */
    assert_int_equal(rowptr[3], 5);
    assert_memory_equal(columns, two, sizeof two);
    FtB_Op_free(&op);
    FtB_Op_free(&bound);
    FtB_Block_free(&norm);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

/* NaN is not among the largest; infinities are values; ties go to the first. */
static void largest(void **state)
{
    (void)state;
    const double nan = (double)NAN, inf = (double)INFINITY, X[] = {nan, 1, -inf, inf, 1, nan, 1, -0.0, 0.0};
    const int64_t rowptr[] = {0, 9};
    static const int32_t columns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const struct {
        int64_t k;
        int count;
        int32_t wanted[7];
    } cases[] = {{0, 0, {0}},
                 {1, 1, {3}},
                 {2, 2, {1, 3}},
                 {3, 3, {1, 3, 4}},
                 {5, 5, {1, 3, 4, 6, 7}},
                 {9, 7, {1, 2, 3, 4, 6, 7, 8}}};
    FtB_Matrix A, S;
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, 1, 9, 1, rowptr, columns, X));
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, 1, 9, 1));
    for (int c = 0; c < 6; c++) {
        const int64_t *begins;
        const void *picked;
        assert_ok(
            FtB_select_sample(S, NULL, cases[c].k, "x", A, FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_TOPK)));
        assert_ok(FtB_Matrix_csr(S, &begins, &picked, NULL));
        assert_int_equal(begins[1], cases[c].count);
        assert_memory_equal(picked, cases[c].wanted, sizeof(int32_t) * (size_t)cases[c].count);
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

/* Patterns and shapes without anything in them. */
static void nothing(void **state)
{
    (void)state;
    static const int64_t none[1], shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {4, 4}};
    for (int s = 0; s < 4; s++) {
        FtB_Matrix A, S, T;
        assert_ok(FtB_Matrix_new(&A, FTB_FP32, shapes[s][0], shapes[s][1], 0));
        assert_ok(FtB_Matrix_new(&S, FTB_FP32, shapes[s][0], shapes[s][1], 0));
        assert_ok(FtB_Matrix_new(&T, FTB_FP32, 0, shapes[s][1], 0));
        assert_ok(FtB_select_sample(S, NULL, 3, NULL, A, NULL));
        assert_ok(FtB_select_sample(S, NULL, 3, NULL, A, FTB_SELECT_OPTIONS(.replace = true)));
        assert_ok(FtB_select_sample(S, NULL, 3, "x", A, NULL));
        assert_ok(FtB_select_sample(S, NULL, 3, NULL, A, FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_LABOR)));
        assert_ok(FtB_select_sample(T, FtB_Ids_of(none, 0), 3, NULL, A, NULL));
        assert_ok(FtB_select_sample(T, FtB_Ids_of(NULL, 0), 3, NULL, A, NULL));
        int64_t nvals;
        assert_ok(FtB_Matrix_shape(S, NULL, NULL, &nvals, NULL, NULL));
        assert_int_equal(nvals, 0);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&S);
        FtB_Matrix_free(&T);
    }
}

#define SELECT(...) FTB_SELECT_OPTIONS(__VA_ARGS__)

static void is_empty(FtB_Matrix S)
{
    int64_t nvals;
    assert_ok(FtB_Matrix_shape(S, NULL, NULL, &nvals, NULL, NULL));
    assert_int_equal(nvals, 0);
}

static void refused_slots(void **state)
{
    (void)state;
    rng r = rng_new();
    static const int64_t rows[] = {0, 3, 4}, below[] = {2, -1};
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 6, 1, 1), S, T;
    FtB_Block X;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 4, 6, 1));
    assert_ok(FtB_Matrix_new(&T, FTB_FP32, 3, 6, 1));
    assert_ok(FtB_Block_new(&X, 4, 6, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "S is NULL", FtB_select_sample(NULL, NULL, 1, NULL, A, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Block", FtB_select_sample(S, NULL, 1, NULL, X, NULL));
    assert_fails(GrB_INVALID_VALUE, "rows is text", FtB_select_sample(S, "all", 1, NULL, A, NULL));
    assert_fails(GrB_INVALID_VALUE, "count is -2",
                 FtB_select_sample(S, FtB_Ids_of(rows, -2), 1, NULL, A, NULL));
    assert_fails(GrB_NULL_POINTER, "rows is NULL",
                 FtB_select_sample(S, FtB_Ids_of(NULL, 4), 1, NULL, A, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "rows[2] is 4; expected 0 to 3",
                 FtB_select_sample(T, FtB_Ids_of(rows, 3), 1, NULL, A, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "rows[1] is -1",
                 FtB_select_sample(T, FtB_Ids_of(below, 2), 1, NULL, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "S is 4 x 6; expected 2 x 6",
                 FtB_select_sample(S, FtB_Ids_of(rows, 2), 1, NULL, A, NULL));
    is_empty(S);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&T);
    FtB_Block_free(&X);
}

static void refused_options(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 6, 1, 1), W = rng_matrix(&r, FTB_FP32, 4, 6, 2, 1), S, F;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 4, 6, 1));
    assert_ok(FtB_Matrix_new(&F, FTB_FP64, 4, 6, 1));
    assert_fails(GrB_INVALID_VALUE, "k is -2", FtB_select_sample(S, NULL, -2, NULL, A, NULL));
    assert_fails(GrB_INVALID_VALUE, "k is -1, for all",
                 FtB_select_sample(S, NULL, -1, NULL, A, SELECT(.replace = true)));
    assert_fails(GrB_INVALID_VALUE, "k is 2; FTB_SAMPLE_BERNOULLI has no number",
                 FtB_select_sample(S, NULL, 2, "0.5", A, SELECT(.selector = FTB_SAMPLE_BERNOULLI)));
    assert_fails(GrB_OUT_OF_MEMORY, "picks for each of 4 rows are too many",
                 FtB_select_sample(S, NULL, INT64_MAX / 2, NULL, A, SELECT(.replace = true)));
    assert_fails(GrB_NULL_POINTER, "key is NULL; FTB_SAMPLE_TOPK",
                 FtB_select_sample(S, NULL, 2, NULL, A, SELECT(.selector = FTB_SAMPLE_TOPK)));
    assert_fails(GrB_INVALID_VALUE, "key is given, which FTB_SAMPLE_LABOR",
                 FtB_select_sample(S, NULL, 2, "x", A, SELECT(.selector = FTB_SAMPLE_LABOR)));
    assert_fails(GrB_INVALID_VALUE, "replace means nothing to FTB_SAMPLE_TOPK",
                 FtB_select_sample(S, NULL, 2, "x", A, SELECT(.selector = FTB_SAMPLE_TOPK, .replace = true)));
    assert_fails(GrB_INVALID_VALUE, "threshold means nothing",
                 FtB_select_sample(S, NULL, 2, NULL, A, SELECT(.threshold = 0.5)));
    assert_fails(GrB_INVALID_VALUE, "threshold is NaN",
                 FtB_select_sample(S, NULL, -1, "x", A,
                                   SELECT(.selector = FTB_SAMPLE_THRESHOLD, .threshold = (double)NAN)));
    assert_fails(GrB_INVALID_VALUE, "selector is 17",
                 FtB_select_sample(S, NULL, 2, NULL, A, SELECT(.selector = (FtB_Selector)17)));
    assert_fails(GrB_INVALID_VALUE, "batch is -1",
                 FtB_select_sample(S, NULL, 2, NULL, A, SELECT(.batch = -1)));
    assert_fails(GrB_DOMAIN_MISMATCH, "edges has type fp64",
                 FtB_select_sample(S, NULL, 2, NULL, A, SELECT(.edges = F)));
    assert_fails(GrB_INVALID_VALUE, "edges is S", FtB_select_sample(S, NULL, 2, NULL, A, SELECT(.edges = S)));
    assert_fails(GrB_DIMENSION_MISMATCH, "key gives 2 values", FtB_select_sample(S, NULL, 2, "x", W, NULL));
    assert_fails(GrB_INVALID_VALUE, "size",
                 FtB_select_sample(S, NULL, 2, NULL, A, &(FtB_Select_options){.size = 1}));
    is_empty(S);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&F);
}

static void refused_weights(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 6, 1, 1), S;
    float *x = matrix_values(A);
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 4, 6, 1));
    for (int e = 0; e < 24; e++)
        x[e] = 1;
    static const float bad[] = {-1, (float)NAN, (float)INFINITY};
    static const char *const said[] = {"key is -1 for A(2, 1)", "nan for A(2, 1)", "key is inf for A(2, 1)"};
    for (int b = 0; b < 3; b++) {
        x[13] = bad[b];
        assert_ok(FtB_Matrix_changed(A));
        assert_fails(GrB_INVALID_VALUE, said[b], FtB_select_sample(S, NULL, 2, "x", A, NULL));
        assert_fails(GrB_INVALID_VALUE, said[b],
                     FtB_select_sample(S, NULL, -1, "x", A, SELECT(.selector = FTB_SAMPLE_BERNOULLI)));
    }
    for (int e = 12; e < 18; e++)
        x[e] = 0;
    assert_ok(FtB_Matrix_changed(A));
    assert_fails(GrB_INVALID_VALUE, "weights of row 2 of A are all 0",
                 FtB_select_sample(S, NULL, 2, "x", A, NULL));
    is_empty(S);
    assert_ok(FtB_select_sample(S, NULL, 2, "1e308 + 0 * x", A, SELECT(.replace = true)));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

/* ---- failing allocations */

typedef struct selecting {
    const char *key;
    FtB_Select_options options;
    int64_t nvals, I[4000], J[4000];
    float X[4000];
} selecting;

static GrB_Info select_once(void *arg)
{
    enum { ROWS = 20, COLUMNS = 200 };
    const selecting *c = arg;
    FtB_Matrix A = NULL, S = NULL, E = NULL;
    FtB_Select_options o = c->options;
    GrB_Info info =
        FtB_Matrix_build(&A, FTB_FP32, ROWS, COLUMNS, 1, c->nvals, c->I, c->J, c->X, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&S, FTB_INT16, ROWS, COLUMNS, 1);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&E, FTB_INT64, ROWS, COLUMNS, 1);
    o.edges = E;
    if (info == GrB_SUCCESS)
        info = FtB_select_sample(S, NULL, 70, c->key, A, &o);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    selecting c = {.options = {.size = sizeof c.options}};
    for (int64_t e = 0; e < 4000; e++)
        if (rng_below(&r, 5)) {
            c.I[c.nvals] = e / 200;
            c.J[c.nvals] = e % 200;
            c.X[c.nvals++] = (float)rng_unit(&r);
        }
    fail_every_allocation(select_once, NULL, &c);
    c.key = "x * x + 1";
    fail_every_allocation(select_once, NULL, &c);
    c.options.replace = true;
    fail_every_allocation(select_once, NULL, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),   cmocka_unit_test(counters),
        cmocka_unit_test(bounds),          cmocka_unit_test(kernels),
        cmocka_unit_test(random_cases),    cmocka_unit_test(keys),
        cmocka_unit_test(largest),         cmocka_unit_test(nothing),
        cmocka_unit_test(refused_slots),   cmocka_unit_test(refused_options),
        cmocka_unit_test(refused_weights), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
