/* Selectors that pick of a hop's rows together, LABOR-i, LADIES and FastGCN: against slow loops with draws of
 * their own, chances of columns by chi-square, sums that are right in the mean, layers of FtB_sample. A right
 * sampler with other seeds would fail each test of chances once in a million times. */
#include "support/check.h"

#include "core/draw_tables.h"
#include "oracle/ref_sample.h"
#include "support/chi_square.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 40 }; /* rows and columns */

/* A dense matrix, of which some entries are not there. */
typedef struct graph {
    FtB_Matrix A;
    int64_t nrows, ncols, place[MOST][MOST]; /* -1: none */
    double x[MOST][MOST];
} graph;

static graph make_graph(rng *r, int64_t nrows, int64_t ncols, double density)
{
    int64_t I[MOST * MOST], J[MOST * MOST], count = 0;
    double X[MOST * MOST];
    graph g = {.nrows = nrows, .ncols = ncols};
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols; j++) {
            g.place[i][j] = -1;
            if (rng_unit(r) >= density * (i % 4 == 0 ? 2 : 0.7))
                continue;
            I[count] = i;
            J[count] = j;
            X[count] = g.x[i][j] = 2 * rng_unit(r) - 1;
            g.place[i][j] = count++;
        }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP64, nrows, ncols, 1, count, I, J, X, FTB_DUP_ERROR, NULL));
    return g;
}

static int64_t degree_of(const graph *g, int64_t i)
{
    int64_t degree = 0;
    for (int64_t j = 0; j < g->ncols; j++)
        degree += g->place[i][j] >= 0;
    return degree;
}

static uint64_t draw64(uint64_t seed, uint64_t vertex, const FtB_Select_options *o, int64_t d)
{
    uint32_t w[2][4];
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (uint32_t more = 0; more < 2; more++) {
        const uint32_t counter[4] = {(uint32_t)vertex, (uint32_t)(vertex >> 32), (uint32_t)o->batch,
                                     (uint32_t)(d / 4) | more << 23 | (uint32_t)o->hop << 24};
        ref_philox(w[more], counter, key);
    }
    return (uint64_t)w[0][d % 4] << 32 | w[1][d % 4];
}

/* ---- oracles: the chance of entry (r-th row, j) where it was picked, else 0; what its value is divided by
 */

/* c with the sum of 1 / min(1, c p) = target: the v largest p are certain, for the v that it is so for. */
static long double solve(long double *p, int64_t n, long double target)
{
    for (int64_t a = 1; a < n; a++) /* falling */
        for (int64_t b = a; b > 0 && p[b] > p[b - 1]; b--) {
            const long double swap = p[b];
            p[b] = p[b - 1];
            p[b - 1] = swap;
        }
    for (int64_t v = 0; v <= n; v++) {
        long double sum = 0;
        for (int64_t t = v; t < n; t++)
            sum += 1 / p[t];
        const long double c = sum / (target - (long double)v);
        if ((v == 0 || c * p[v - 1] >= 1) && (v == n || c * p[v] < 1))
            return c;
    }
    return 0;
}

static void labor(long double chance[][MOST], const graph *g, const int64_t *rows, int64_t nrows, int64_t k,
                  const FtB_Select_options *o)
{
    long double p[MOST], c[MOST];
    for (int64_t j = 0; j < g->ncols; j++)
        p[j] = 1;
    for (int i = 0; i <= o->iterations; i++) {
        for (int64_t r = 0; r < nrows; r++) {
            long double some[MOST], largest = 0;
            int64_t n = 0;
            for (int64_t j = 0; j < g->ncols; j++)
                if (g->place[rows[r]][j] >= 0) {
                    some[n++] = p[j];
                    largest = 1 / p[j] > largest ? 1 / p[j] : largest;
                }
            c[r] = n == 0            ? 0
                   : k < 0 || k >= n ? largest
                                     : solve(some, n, (long double)n * (long double)n / (long double)k);
        }
        for (int64_t j = 0; j < g->ncols && i < o->iterations; j++) {
            long double most = 0;
            for (int64_t r = 0; r < nrows; r++)
                if (g->place[rows[r]][j] >= 0 && c[r] > most)
                    most = c[r];
            p[j] *= most;
        }
    }
    const uint64_t seed = ref_mix(o->seed, 0, UINT64_C(0xff000003) << 32);
    for (int64_t r = 0; r < nrows; r++)
        for (int64_t j = 0; j < g->ncols; j++) {
            const bool all = k < 0 || k >= degree_of(g, rows[r]);
            const long double here = all || c[r] * p[j] > 1 ? 1 : c[r] * p[j];
            const long double u = (long double)(draw64(seed, (uint64_t)j, o, 0) >> 32) * 0x1p-32L;
            chance[r][j] = g->place[rows[r]][j] >= 0 && k != 0 && u < here ? here : 0;
        }
}

/* Sums of squares by column, over the rows, or over all. */
static void norms(long double *q, const graph *g, const int64_t *rows, int64_t nrows)
{
    for (int64_t j = 0; j < g->ncols; j++) {
        q[j] = 0;
        for (int64_t r = 0; r < (rows ? nrows : g->nrows); r++) {
            const int64_t i = rows ? rows[r] : r;
            if (g->place[i][j] >= 0)
                q[j] += (long double)g->x[i][j] * (long double)g->x[i][j];
        }
    }
}

static void layer(long double chance[][MOST], const graph *g, const int64_t *rows, int64_t nrows, int64_t k,
                  const FtB_Select_options *o)
{
    long double q[MOST], total = 0;
    int64_t times[MOST] = {0};
    norms(q, g, o->selector == FTB_SAMPLE_LADIES ? rows : NULL, nrows);
    for (int64_t j = 0; j < g->ncols; j++)
        total += q[j];
    const uint64_t seed = ref_mix(o->seed, 0, UINT64_C(0xff000005) << 32);
    for (int64_t d = 0; d < k && total > 0; d++) {
        const long double aim = (long double)(draw64(seed, 0, o, d) >> 11) * 0x1p-53L * total;
        int64_t j = 0;
        for (long double sum = q[0]; sum <= aim; sum += q[j])
            j++;
        times[j]++;
    }
    for (int64_t r = 0; r < nrows; r++)
        for (int64_t j = 0; j < g->ncols; j++)
            chance[r][j] = g->place[rows[r]][j] >= 0 && times[j] > 0
                               ? (long double)k * q[j] / total / (long double)times[j]
                               : 0;
}

/* ---- cases */

static void check_case(const graph *g, const int64_t *rows, int64_t nrows, int64_t k,
                       const FtB_Select_options *o)
{
    long double chance[MOST][MOST];
    FtB_Matrix S, E;
    FtB_Select_options with = *o;
    const int64_t *rowptr;
    const void *columns, *values;
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, nrows, g->ncols, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, nrows, g->ncols, 1));
    with.edges = E;
    assert_ok(FtB_select_sample(S, FtB_Ids_of(rows, nrows), k, NULL, g->A, &with));
    assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, &values));
    const int64_t *edges = matrix_values(E);
    if (o->selector == FTB_SAMPLE_LABOR)
        labor(chance, g, rows, nrows, k, o);
    else
        layer(chance, g, rows, nrows, k, o);
    for (int64_t r = 0; r < nrows; r++) {
        int64_t at = rowptr[r];
        for (int64_t j = 0; j < g->ncols; j++) {
            if (chance[r][j] == 0)
                continue;
            assert_true(at < rowptr[r + 1]);
            assert_int_equal(((const int32_t *)columns)[at], j);
            assert_int_equal(edges[at], g->place[rows[r]][j]);
            const long double wanted = (long double)g->x[rows[r]][j] / chance[r][j];
            assert_true(fabsl((long double)((const double *)values)[at] - wanted) <= 1e-9L * fabsl(wanted));
            at++;
        }
        assert_int_equal(at, rowptr[r + 1]);
    }
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
}

static void random_cases(void **state)
{
    (void)state;
    static const int64_t ks[] = {0, 1, 2, 3, 5, 8, 13, 60};
    const int cases = rng_cases(600);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 1 + rng_below(&r, MOST), 1 + rng_below(&r, MOST), 0.1 + 0.4 * rng_unit(&r));
        int64_t rows[MOST], nvals, nrows = rng_below(&r, MOST);
        for (int64_t t = 0; t < nrows; t++)
            rows[t] = rng_below(&r, g.nrows); /* also again */
        FtB_Select_options o = {
            .size = sizeof o, .seed = rng_bits(&r) | 1, .batch = rng_below(&r, 9), .hop = rng_below(&r, 5)};
        o.selector = c % 3 == 0 ? FTB_SAMPLE_LABOR : c % 3 == 1 ? FTB_SAMPLE_LADIES : FTB_SAMPLE_FASTGCN;
        o.iterations = c % 3 == 0 ? 1 + (int)rng_below(&r, 4) : 0;
        const int64_t k = c % 3 == 0 && rng_below(&r, 9) == 0 ? -1 : ks[rng_below(&r, 8)];
        assert_ok(FtB_Matrix_shape(g.A, NULL, NULL, &nvals, NULL, NULL));
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 4));
        if (nvals > 0)
            check_case(&g, rows, nrows, k, &o);
        FtB_Matrix_free(&g.A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- chances */

/* How often the columns were drawn, from the values: which sets of two, over many batches. */
static void layer_chances(void **state)
{
    (void)state;
    enum { COLUMNS = 6, BATCHES = 20000, K = 2 };
    static const int64_t rows[] = {0, 2};
    for (int kind = 0; kind < 2; kind++) {
        rng r = rng_case(kind);
        graph g = make_graph(&r, 4, COLUMNS, 0.9);
        long double q[MOST], total = 0;
        int64_t count[COLUMNS * COLUMNS] = {0};
        double chance[COLUMNS * COLUMNS] = {0};
        norms(q, &g, kind ? rows : NULL, 2);
        for (int j = 0; j < COLUMNS; j++)
            total += q[j];
        for (int a = 0; a < COLUMNS; a++)
            for (int b = 0; b < COLUMNS; b++)
                chance[(a < b ? a : b) * COLUMNS + (a < b ? b : a)] += (double)(q[a] * q[b] / total / total);
        FtB_Matrix S;
        assert_ok(FtB_Matrix_new(&S, FTB_FP64, 2, COLUMNS, 1));
        for (int64_t batch = 0; batch < BATCHES; batch++) {
            const int64_t *rowptr;
            const void *columns, *values;
            int drawn[K] = {0}, n = 0;
            assert_ok(FtB_select_sample(
                S, FtB_Ids_of(rows, 2), K, NULL, g.A,
                FTB_SELECT_OPTIONS(.seed = 11, .batch = batch,
                                   .selector = kind ? FTB_SAMPLE_LADIES : FTB_SAMPLE_FASTGCN)));
            assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, &values));
            for (int j = 0; j < COLUMNS; j++) {
                double times = 0;
                for (int64_t e = 0; e < rowptr[2]; e++)
                    if (((const int32_t *)columns)[e] == j)
                        times = ((const double *)values)[e] / g.x[rows[e >= rowptr[1]]][j] * K *
                                (double)(q[j] / total);
                for (int t = 0; t < (int)(times + 0.5) && n < K; t++)
                    drawn[n++] = j;
            }
            if (n == K) /* else FastGCN drew a column that the rows have nothing in */
                count[drawn[0] * COLUMNS + drawn[1]]++;
        }
        double seen = 0;
        for (int a = 0; a < COLUMNS * COLUMNS; a++) {
            const int i = a / COLUMNS, j = a % COLUMNS;
            const bool shows =
                (g.place[0][i] >= 0 || g.place[2][i] >= 0) && (g.place[0][j] >= 0 || g.place[2][j] >= 0);
            chance[a] = shows ? chance[a] : 0;
            seen += chance[a];
        }
        for (int a = 0; a < COLUMNS * COLUMNS; a++)
            chance[a] /= seen;
        check_chances(count, chance, COLUMNS * COLUMNS, kind ? "LADIES" : "FastGCN");
        FtB_Matrix_free(&S);
        FtB_Matrix_free(&g.A);
    }
}

/* LABOR-2: which sets of its columns a row keeps. */
static void labor_chances(void **state)
{
    (void)state;
    enum { COLUMNS = 6, BATCHES = 20000, K = 2 };
    static const int64_t rows[] = {0, 1, 2};
    rng r = rng_case(2);
    graph g = make_graph(&r, 3, COLUMNS, 0.9);
    for (int64_t row = 0; row < 3; row += 2) {
        int64_t count[1 << COLUMNS] = {0};
        double chance[1 << COLUMNS], p[COLUMNS] = {0};
        FtB_Matrix S;
        assert_ok(FtB_Matrix_new(&S, FTB_FP64, 3, COLUMNS, 1));
        for (int64_t batch = 0; batch < BATCHES; batch++) {
            const int64_t *rowptr;
            const void *columns, *values;
            int set = 0;
            assert_ok(FtB_select_sample(S, FtB_Ids_of(rows, 3), K, NULL, g.A,
                                        FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_LABOR, .iterations = 2,
                                                           .seed = 5, .batch = batch)));
            assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, &values));
            for (int64_t e = rowptr[row]; e < rowptr[row + 1]; e++) {
                const int j = ((const int32_t *)columns)[e];
                p[j] = g.x[row][j] / ((const double *)values)[e]; /* the same in all batches */
                set |= 1 << j;
            }
            count[set]++;
        }
        for (int set = 0; set < 1 << COLUMNS; set++) {
            chance[set] = 1;
            for (int j = 0; j < COLUMNS; j++)
                chance[set] *= set >> j & 1 ? p[j] : 1 - p[j];
        }
        check_chances(count, chance, 1 << COLUMNS, "LABOR-2");
        FtB_Matrix_free(&S);
    }
    FtB_Matrix_free(&g.A);
}

/* Fewer vertices than LABOR-0 for as many picks, which is what iterations are for. */
static void labor_shares(void **state)
{
    (void)state;
    enum { ROWS = 40, BATCHES = 200 };
    rng r = rng_case(3);
    graph g = make_graph(&r, ROWS, MOST, 0.8);
    double vertices[2] = {0}, picks[2] = {0};
    FtB_Matrix S;
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, ROWS, MOST, 1));
    for (int i = 0; i < 2; i++)
        for (int64_t batch = 0; batch < BATCHES; batch++) {
            const int64_t *rowptr;
            const void *columns;
            bool seen[MOST] = {false};
            assert_ok(FtB_select_sample(S, NULL, 4, NULL, g.A,
                                        FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_LABOR, .iterations = 3 * i,
                                                           .seed = 5, .batch = batch)));
            assert_ok(FtB_Matrix_csr(S, &rowptr, &columns, NULL));
            for (int64_t e = 0; e < rowptr[ROWS]; e++) {
                vertices[i] += !seen[((const int32_t *)columns)[e]];
                seen[((const int32_t *)columns)[e]] = true;
            }
            picks[i] += (double)rowptr[ROWS];
        }
    assert_true(vertices[1] < 0.98 * vertices[0]);
    assert_true(picks[1] > 0.9 * picks[0]);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&g.A);
}

/* ---- FtB_sample */

/* Row r of a layer has what FtB_select_sample picks of the vertex among the same rows; with its own entry. */
static void check_layer(const graph *g, FtB_Sample s, int h, int64_t first, int64_t k,
                        const FtB_Sample_options *o)
{
    FtB_Matrix S, E, L = FtB_Sample_layer(s, h);
    int64_t nrows;
    const int64_t *rowptr, *wanted, *edges = FtB_Sample_edges(s, h).at;
    const void *column, *value, *right;
    const int64_t *vertices = FtB_Sample_vertices(s).at;
    assert_ok(FtB_Matrix_shape(L, &nrows, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, nrows - first, g->ncols, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, nrows - first, g->ncols, 1));
    assert_ok(
        FtB_select_sample(S, FtB_Ids_of(vertices + first, nrows - first), k, NULL, g->A,
                          FTB_SELECT_OPTIONS(.selector = o->selector, .iterations = o->iterations,
                                             .seed = o->seed, .batch = o->batch, .hop = h, .edges = E)));
    assert_ok(FtB_Matrix_csr(L, &rowptr, &column, &value));
    assert_ok(FtB_Matrix_csr(S, &wanted, NULL, &right));
    const int64_t *places = matrix_values(E);
    for (int64_t r = first; r < nrows; r++) {
        int64_t found = 0;
        for (int64_t e = rowptr[r]; e < rowptr[r + 1]; e++) {
            int64_t at = wanted[r - first];
            while (at < wanted[r - first + 1] && places[at] != edges[e])
                at++;
            const int64_t i = vertices[r];
            if (at < wanted[r - first + 1]) {
                assert_true(((const double *)value)[e] == ((const double *)right)[at]);
                found++;
            } else {
                assert_true(o->self && vertices[((const int32_t *)column)[e]] == i);
                assert_int_equal(edges[e], g->place[i][i]);
                assert_true(((const double *)value)[e] == (g->place[i][i] < 0 ? 1 : g->x[i][i]));
            }
        }
        assert_int_equal(found, wanted[r - first + 1] - wanted[r - first]);
    }
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
}

static void layers(void **state)
{
    (void)state;
    static const int64_t fanouts[] = {4, 3, 5}, seeds[] = {3, 1, 7};
    static const FtB_Selector selectors[] = {FTB_SAMPLE_LABOR, FTB_SAMPLE_LADIES, FTB_SAMPLE_FASTGCN};
    for (int c = 0; c < 12; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, MOST, MOST, 0.25);
        FtB_Sample s;
        const FtB_Sample_options o = {.size = sizeof o,
                                      .selector = selectors[c % 3],
                                      .iterations = c % 3 == 0 ? 2 : 0,
                                      .seed = 99,
                                      .batch = c,
                                      .once = c / 3 % 2,
                                      .self = c / 6 % 2,
                                      .edges = true};
        assert_ok(FtB_sample(&s, g.A, seeds, 3, fanouts, 3, &o));
        int64_t known = 3, before = 0;
        for (int h = 0; h < 3; h++) {
            check_layer(&g, s, h, o.once ? before : 0, fanouts[h], &o);
            if (o.once && h > 0) { /* the rows of the layer before come first, with their values */
                const int64_t *a, *b;
                const void *x, *y;
                assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, h - 1), &a, NULL, &x));
                assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, h), &b, NULL, &y));
                assert_memory_equal(a, b, sizeof *a * (size_t)(before + 1));
                assert_memory_equal(x, y, sizeof(double) * (size_t)a[before]);
            }
            before = known;
            known += FtB_Sample_vertex_counts(s).at[h + 1];
        }
        FtB_Sample_free(&s);
        FtB_Matrix_free(&g.A);
    }
}

/* Values are FP32 where A's are not FP64, one where it has none; several are all corrected. */
static void types(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 0, 0, 1, 1}, J[] = {0, 1, 2, 1, 2}, seeds[] = {0}, fanouts[] = {1};
    static const int32_t X[] = {2, 4, 6, 8, 10};
    static const float W[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    FtB_Matrix N, W2, P;
    FtB_Sample s;
    FtB_Type type;
    int64_t width, nvals;
    const void *values;
    const int64_t *edges;
    assert_ok(FtB_Matrix_build(&N, FTB_INT32, 3, 3, 1, 5, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_build(&W2, FTB_FP32, 3, 3, 2, 5, I, J, W, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_build(&P, FTB_BOOL, 3, 3, 0, 5, I, J, NULL, FTB_DUP_ERROR, NULL));
    const FtB_Matrix all[] = {N, W2, P};
    for (int m = 0; m < 3; m++) {
        const FtB_Sample_options o = {.size = sizeof o,
                                      .selector = FTB_SAMPLE_LADIES,
                                      .key = m == 1 ? "1" : NULL,
                                      .seed = 3,
                                      .edges = true};
        assert_ok(FtB_sample(&s, all[m], seeds, 1, fanouts, 1, &o));
        assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, 0), NULL, NULL, &nvals, &width, &type));
        assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, 0), NULL, NULL, &values));
        edges = FtB_Sample_edges(s, 0).at;
        assert_int_equal(type, FTB_FP32);
        assert_int_equal(width, m == 1 ? 2 : 1);
        assert_int_equal(nvals, 1);
        const float *x = values;
        const int64_t e = edges[0];
        if (m == 0) /* 56 is the sum of the squares */
            assert_true(fabs((double)x[0] - 56.0 / X[e]) < 1e-4);
        else if (m == 1)
            assert_true(fabs((double)x[0] - 3.0 * (double)W[2 * e]) < 1e-4 &&
                        fabs((double)x[1] - 3.0 * (double)W[2 * e + 1]) < 1e-4);
        else
            assert_true(fabs((double)x[0] - 3) < 1e-5);
        FtB_Sample_free(&s);
    }
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 2 values per entry; FTB_SAMPLE_LADIES needs a key",
                 FtB_sample(&s, W2, seeds, 1, fanouts, 1, FTB_SAMPLE_OPTIONS(.selector = FTB_SAMPLE_LADIES)));
    FtB_Matrix_free(&N);
    FtB_Matrix_free(&W2);
    FtB_Matrix_free(&P);
}

/* Sums of columns are kept with A while its values are the same. */
static void kept_sums(void **state)
{
    (void)state;
    rng r = rng_case(9);
    graph g = make_graph(&r, 20, 20, 0.5);
    static const int64_t rows[] = {1, 2, 3, 4};
    const FtB_Select_options o = {.size = sizeof o, .selector = FTB_SAMPLE_FASTGCN, .seed = 4};
    check_case(&g, rows, 4, 5, &o);
    assert_non_null(g.A->tables[FTB_TABLES_COLUMNS]);
    const ftb_buffer *made = g.A->tables[FTB_TABLES_COLUMNS]->made;
    check_case(&g, rows, 4, 5, &o);
    assert_ptr_equal(g.A->tables[FTB_TABLES_COLUMNS]->made, made);
    assert_ok(FtB_apply(g.A, NULL, NULL, "x * x * x", g.A, NULL));
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++)
            g.x[i][j] = g.x[i][j] * g.x[i][j] * g.x[i][j];
    check_case(&g, rows, 4, 5, &o);
    FtB_Matrix_free(&g.A);
}

/* ---- refusals, failing allocations */

static void refused(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 0, 1}, J[] = {0, 1, 1}, seeds[] = {0, 1}, fanouts[] = {2};
    const double X[] = {1, (double)NAN, 0};
    FtB_Matrix A, S;
    FtB_Sample s;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 2, 2, 1, 3, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, 2, 2, 1));
#define LAYER(name, k, key) FtB_select_sample(S, NULL, k, key, A, FTB_SELECT_OPTIONS(.selector = name))
    assert_fails(GrB_INVALID_VALUE, "k is -1, for all; FTB_SAMPLE_LADIES expects 0 or more",
                 LAYER(FTB_SAMPLE_LADIES, -1, NULL));
    assert_fails(GrB_INVALID_VALUE, "key is nan for A(0, 1); expected a finite number",
                 LAYER(FTB_SAMPLE_LADIES, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "key is nan for A(0, 1)", LAYER(FTB_SAMPLE_FASTGCN, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "a hop's rows have the sum 0", LAYER(FTB_SAMPLE_LADIES, 1, "0"));
    assert_fails(GrB_INVALID_VALUE, "weights of A have the sum 0", LAYER(FTB_SAMPLE_FASTGCN, 1, "0"));
    assert_fails(GrB_INVALID_VALUE, "have the sum inf", LAYER(FTB_SAMPLE_LADIES, 1, "1e200"));
    assert_fails(GrB_INVALID_VALUE, "iterations is -1",
                 FtB_select_sample(S, NULL, 1, NULL, A,
                                   FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_LABOR, .iterations = -1)));
    assert_fails(GrB_INVALID_VALUE, "iterations is 2; expected 0, or more with FTB_SAMPLE_LABOR",
                 FtB_select_sample(S, NULL, 1, NULL, A, FTB_SELECT_OPTIONS(.iterations = 2)));
    assert_fails(GrB_INVALID_VALUE, "replace means nothing to FTB_SAMPLE_FASTGCN",
                 FtB_sample(&s, A, seeds, 2, fanouts, 1,
                            FTB_SAMPLE_OPTIONS(.selector = FTB_SAMPLE_FASTGCN, .replace = true)));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

static void nothing(void **state)
{
    (void)state;
    FtB_Matrix A, S;
    int64_t nvals;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 4, 4, 1));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 4, 4, 1));
    assert_ok(LAYER(FTB_SAMPLE_LADIES, 3, NULL));
    assert_ok(LAYER(FTB_SAMPLE_FASTGCN, 3, NULL));
    assert_ok(FtB_select_sample(S, NULL, 3, NULL, A,
                                FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_LABOR, .iterations = 3)));
    assert_ok(FtB_Matrix_shape(S, NULL, NULL, &nvals, NULL, NULL));
    assert_int_equal(nvals, 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

static GrB_Info sample_once(void *arg)
{
    static const int64_t seeds[] = {1, 5}, fanouts[] = {3, 4};
    FtB_Sample s;
    FtB_Matrix A;
    int64_t I[60], J[60];
    double X[60];
    for (int e = 0; e < 60; e++) {
        I[e] = e / 6;
        J[e] = (e * 7 + e / 6) % 10;
        X[e] = e + 1;
    }
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, 10, 10, 1, 60, I, J, X, FTB_DUP_FIRST, NULL);
    if (info != GrB_SUCCESS)
        return info;
    info = FtB_sample(&s, A, seeds, 2, fanouts, 2, arg);
    FtB_Matrix_free(&A);
    FtB_Sample_free(&s);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    for (int c = 0; c < 6; c++) {
        FtB_Sample_options o = {.size = sizeof o, .once = c % 2, .self = c % 2};
        o.selector = c / 2 == 0 ? FTB_SAMPLE_LABOR : c / 2 == 1 ? FTB_SAMPLE_LADIES : FTB_SAMPLE_FASTGCN;
        o.iterations = c / 2 == 0;
        fail_every_allocation(sample_once, NULL, &o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),  cmocka_unit_test(layer_chances),
        cmocka_unit_test(labor_chances), cmocka_unit_test(labor_shares),
        cmocka_unit_test(layers),        cmocka_unit_test(types),
        cmocka_unit_test(kept_sums),     cmocka_unit_test(refused),
        cmocka_unit_test(nothing),       cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
