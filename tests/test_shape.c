/* Triangles, clustering, communities and topological order against the definitions (oracle/ref_shape.c):
 * directions, loops, parallel entries, vertices without entries, no vertices; a masked product counts the
 * same triangles; bits for 1 to 8 threads; a graph of known figures; cycles and their names, orders by texts;
 * what is refused; allocations that fail; memory limits; cancelling. Betweenness is test_betweenness.c's. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "oracle/ref_shape.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/vertex_graphs.h"

#include <stdlib.h>

enum { MOST = 40, TUPLES = 400 };

/* Up to MOST vertices: sparse or dense, in one direction or both, loops and parallel entries or none. */
static FtB_Matrix make_graph(rng *r, int64_t width)
{
    int64_t I[2 * TUPLES], J[2 * TUPLES], count = 0;
    double X[2 * TUPLES] = {0};
    FtB_Matrix A;
    const int64_t n = 1 + rng_below(r, MOST), tuples = rng_below(r, 1 + (rng_below(r, 2) ? 2 : 10) * n);
    const bool both = rng_below(r, 2), loops = rng_below(r, 2), keep = rng_below(r, 2);
    for (int64_t e = 0; e < tuples; e++) {
        I[count] = rng_below(r, 1 + rng_below(r, n));
        J[count] = rng_below(r, n);
        count += loops || I[count] != J[count];
        if (both && count > 0) {
            I[count] = J[count - 1];
            J[count] = I[count - 1];
            count++;
        }
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, n, n, width, count, I, J, width ? X : NULL,
                               keep ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
    return A;
}

/* A value of any type as a double. */
static double value_at(FtB_Block X, FtB_Type type, int64_t at)
{
    const void *x = block_values(X);
    return type == FTB_FP64    ? ((const double *)x)[at]
           : type == FTB_FP32  ? (double)((const float *)x)[at]
           : type == FTB_INT64 ? (double)((const int64_t *)x)[at]
                               : (double)((const int32_t *)x)[at];
}

/* ---- triangles, clustering */

/* Sums over the entries of A of the common neighbours of their ends, by the library's own product. */
static double by_product(FtB_Matrix A)
{
    FtB_Matrix C;
    int64_t n, nvals;
    double sum = 0;
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_INT64, n, n, 1));
    assert_ok(FtB_mxm(C, A, NULL, "plus : 1", A, A, FTB_DESC_S));
    assert_ok(FtB_Matrix_shape(C, NULL, NULL, &nvals, NULL, NULL));
    for (int64_t e = 0; e < nvals; e++)
        sum += (double)((const int64_t *)matrix_values(C))[e];
    FtB_Matrix_free(&C);
    return sum;
}

/* Without loops and parallel entries, and with all others both ways. */
static FtB_Matrix both_ways(const ref_graph *g)
{
    int64_t I[MOST * MOST], J[MOST * MOST], count = 0;
    FtB_Matrix A;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t j = 0; j < g->n; j++)
            if (g->is[i * g->n + j] || g->is[j * g->n + i]) {
                I[count] = i;
                J[count++] = j;
            }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, g->n, g->n, 0, count, I, J, NULL, FTB_DUP_ERROR, NULL));
    return A;
}

static void triangles(void **state)
{
    (void)state;
    int64_t found = 0;
    const int cases = rng_cases(300);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_graph(&r, c % 2);
        ref_graph g = ref_graph_of(A);
        FtB_Matrix symmetric = both_ways(&g);
        const FtB_Type type = c % 2 ? FTB_INT64 : FTB_FP64;
        int64_t each[MOST], total = -1, again = -1;
        const int64_t expected = ref_triangles(&g, each);
        FtB_Block T;
        assert_ok(FtB_Block_new(&T, g.n, 1, type));
        assert_ok(FtB_triangles(&total, T, A));
        assert_int_equal(total, expected);
        for (int64_t v = 0; v < g.n; v++)
            assert_true(value_at(T, type, v) == (double)each[v]);
        assert_ok(FtB_triangles(&again, NULL, symmetric));
        assert_int_equal(again, expected);
        assert_true(by_product(symmetric) == 6 * (double)expected);
        found += expected > 10;
        FtB_Block_free(&T);
        FtB_Matrix_free(&symmetric);
        FtB_Matrix_free(&A);
        ref_graph_free(&g);
    }
    assert_true(cases < 300 || found > 50);
}

static void clustering(void **state)
{
    (void)state;
    int differ = 0;
    const int cases = rng_cases(300);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_graph(&r, c % 2);
        ref_graph g = ref_graph_of(A);
        double expected[2][MOST];
        for (int undirected = 0; undirected < 2; undirected++) {
            FtB_Block C, F;
            assert_ok(FtB_Block_new(&C, g.n, 1, FTB_FP64));
            assert_ok(FtB_Block_new(&F, g.n, 1, FTB_FP32));
            ref_clustering(&g, undirected, expected[undirected]);
            assert_ok(FtB_clustering(C, A, FTB_CLUSTERING(.undirected = undirected)));
            assert_ok(FtB_clustering(F, A, FTB_CLUSTERING(.undirected = undirected)));
            for (int64_t v = 0; v < g.n; v++) {
                assert_true(value_at(C, FTB_FP64, v) == expected[undirected][v]);
                assert_true(value_at(F, FTB_FP32, v) == (double)(float)expected[undirected][v]);
            }
            FtB_Block_free(&C);
            FtB_Block_free(&F);
        }
        differ += memcmp(expected[0], expected[1], (size_t)g.n * sizeof(double)) != 0;
        FtB_Matrix_free(&A);
        ref_graph_free(&g);
    }
    assert_true(cases < 300 || differ > 50);
}

/* What networkx 3.6.1 says: triangles and clustering of Zachary's first vertices, and a directed graph by
 * hand.
 */
static void known(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 0, 0, 1, 1, 2, 3, 3}, J[] = {1, 2, 3, 2, 3, 3, 0, 4};
    int64_t total;
    FtB_Matrix A;
    FtB_Block T, C;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 6, 6, 0, 8, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&T, 6, 1, FTB_INT64));
    assert_ok(FtB_Block_new(&C, 6, 1, FTB_FP64));
    assert_ok(FtB_triangles(&total, T, A));
    assert_int_equal(total, 4); /* all that four vertices can have */
    static const int64_t each[] = {3, 3, 3, 3, 0, 0};
    assert_memory_equal(block_values(T), each, sizeof each);
    assert_ok(FtB_clustering(C, A, NULL));
    /* Of 0's neighbours 1, 2, 3 there are (1,2), (1,3), (2,3); of 1's, with (0,2), (0,3), (3,0), (2,3), four
     * of six. */
    static const double share[] = {3 / 6., 4 / 6., 4 / 6., 3 / 12., 0, 0};
    assert_memory_equal(block_values(C), share, sizeof share);
    assert_ok(FtB_clustering(C, A, FTB_CLUSTERING(.undirected = true)));
    static const double both[] = {1, 1, 1, 0.5, 0, 0};
    assert_memory_equal(block_values(C), both, sizeof both);
    FtB_Matrix_free(&A);
    FtB_Block_free(&T);
    FtB_Block_free(&C);
}

/* ---- communities */

static void communities(void **state)
{
    (void)state;
    const int cases = rng_cases(300);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_graph(&r, c % 2);
        ref_graph g = ref_graph_of(A);
        const FtB_Type type = c % 2 ? FTB_INT64 : FTB_INT32;
        const int64_t rounds = rng_below(&r, 6);
        int64_t label[MOST], steps = -1;
        FtB_Block L;
        assert_ok(FtB_Block_new(&L, g.n, 1, type));
        ref_communities(&g, rounds ? rounds : 10, label);
        assert_ok(FtB_communities(L, A, FTB_RUN_OPTIONS(.rounds = rounds, .supersteps = &steps)));
        assert_in_range(steps, 0, rounds ? rounds : 10);
        for (int64_t v = 0; v < g.n; v++)
            assert_true(value_at(L, type, v) == (double)label[v]);
        FtB_Block_free(&L);
        FtB_Matrix_free(&A);
        ref_graph_free(&g);
    }
}

/* Vertices of so many neighbours that tables are made, and made larger: they vote for themselves at first,
 * then for few. */
static void many_neighbours(void **state)
{
    (void)state;
    enum { N = 3000, HUBS = 6 };
    int64_t I[HUBS * N], J[HUBS * N], count = 0;
    static const int64_t degree[HUBS] = {17, 64, 65, 400, 700, 2900};
    rng r = rng_new();
    FtB_Matrix A;
    FtB_Block L;
    for (int64_t h = 0; h < HUBS; h++)
        for (int64_t k = 0; k < degree[h]; k++) {
            I[count] = N - 1 - h;
            J[count++] = (k * 7919 + rng_below(&r, 2)) % (N - HUBS);
        }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 0, count, I, J, NULL, FTB_DUP_FIRST, NULL));
    ref_graph g = ref_graph_of(A);
    assert_ok(FtB_Block_new(&L, N, 1, FTB_INT64));
    int64_t *label = malloc(N * sizeof *label);
    for (int64_t rounds = 1; rounds < 4; rounds++) {
        ref_communities(&g, rounds, label);
        assert_ok(FtB_communities(L, A, FTB_RUN_OPTIONS(.rounds = rounds)));
        assert_memory_equal(block_values(L), label, N * sizeof *label);
    }
    free(label);
    ref_graph_free(&g);
    FtB_Block_free(&L);
    FtB_Matrix_free(&A);
}

/* ---- topological order */

static FtB_Matrix make_acyclic(rng *r, bool cycle)
{
    int64_t I[TUPLES], J[TUPLES], name[MOST], count = 0;
    FtB_Matrix A;
    const int64_t n = 1 + rng_below(r, MOST), tuples = rng_below(r, 4 * n);
    for (int64_t v = 0; v < n; v++) {
        const int64_t at = rng_below(r, v + 1);
        name[v] = name[at];
        name[at] = v;
    }
    for (int64_t e = 0; e < tuples; e++) {
        const int64_t a = rng_below(r, n), b = rng_below(r, n);
        if (a == b && !(cycle && rng_below(r, 10) == 0))
            continue;
        const bool turned = (a < b) == (cycle && rng_below(r, 20) == 0);
        I[count] = name[turned ? b : a];
        J[count++] = name[turned ? a : b];
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, n, n, 0, count, I, J, NULL,
                               rng_below(r, 2) ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
    return A;
}

/* The cycle that the message names is one of the graph's. */
static void check_cycle(const ref_graph *g, const char *message)
{
    const char *at = strstr(message, "the cycle ");
    assert_non_null(at);
    char *end;
    const int64_t first = strtol(at + strlen("the cycle "), &end, 10);
    int64_t from = first;
    do {
        assert_memory_equal(end, " -> ", 4);
        if (end[4] == '.')
            return; /* longer than a message */
        const int64_t to = strtol(end + 4, &end, 10);
        assert_true(from == to ? g->loop[from] : g->is[from * g->n + to]);
        from = to;
    } while (strncmp(end, " -> ", 4) == 0);
    assert_int_equal(from, first);
    assert_string_equal(end, " has no order");
}

static void check_order(const int64_t *order, const int64_t *level, int64_t n)
{
    bool seen[MOST] = {false};
    for (int64_t k = 0; k < n; k++) {
        assert_in_range(order[k], 0, n - 1);
        assert_false(seen[order[k]]);
        seen[order[k]] = true;
        assert_true(k == 0 || level[order[k - 1]] < level[order[k]] ||
                    (level[order[k - 1]] == level[order[k]] && order[k - 1] < order[k]));
    }
}

static void topological(void **state)
{
    (void)state;
    static const FtB_Type types[] = {FTB_INT32, FTB_INT64, FTB_FP64};
    int cycles = 0, deep = 0;
    const int cases = rng_cases(400);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_acyclic(&r, c % 2);
        ref_graph g = ref_graph_of(A);
        const FtB_Type type = types[c % 3];
        int64_t level[MOST];
        const bool ordered = ref_levels(&g, level);
        FtB_Block L, O;
        assert_ok(FtB_Block_new(&L, g.n, 1, type));
        assert_ok(FtB_Block_new(&O, g.n, 1, FTB_INT64));
        if (ordered) {
            assert_ok(FtB_topological(L, c % 5 ? O : NULL, A));
            for (int64_t v = 0; v < g.n; v++) {
                assert_true(value_at(L, type, v) == (double)level[v]);
                deep += level[v] > 5;
            }
            if (c % 5)
                check_order(block_values(O), level, g.n);
        } else {
            assert_fails(GrB_INVALID_VALUE, "A: the cycle ", FtB_topological(L, O, A));
            check_cycle(&g, FtB_error());
            for (int64_t v = 0; v < g.n; v++)
                assert_true(value_at(L, type, v) == 0 && value_at(O, FTB_INT64, v) == 0);
        }
        cycles += !ordered;
        FtB_Block_free(&L);
        FtB_Block_free(&O);
        FtB_Matrix_free(&A);
        ref_graph_free(&g);
    }
    assert_true(cases < 400 || (cycles > 50 && deep > 100));
}

/* The same as a vertex program: who waits for nobody any more tells its successors. */
static void levels_by_texts(FtB_Matrix A, int64_t *level)
{
    FtB_Program program;
    FtB_Block waits, L;
    int64_t n, *first, count = 0;
    const int64_t *rowptr;
    const void *colidx;
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_csr(A, &rowptr, &colidx, NULL));
    assert_ok(FtB_Block_new(&waits, n, 1, FTB_INT64));
    assert_ok(FtB_Block_new(&L, n, 1, FTB_INT64));
    int64_t *left = block_values(waits);
    first = malloc((size_t)n * sizeof *first);
    for (int64_t e = 0; e < rowptr[n]; e++)
        left[((const int32_t *)colidx)[e]]++;
    for (int64_t v = 0; v < n; v++)
        if (left[v] == 0)
            first[count++] = v;
    assert_ok(
        FtB_Program_new(&program, FTB_PROGRAM(.send = "1", .combine = "plus : message",
                                              .apply = "left = left - received; "
                                                       "level = left == received ? round : level",
                                              .active = "new.left == 0", .applies = FTB_APPLY_RECEIVERS)));
    assert_ok(
        FtB_run(program, A, FTB_STATE("left", waits, "level", L), FTB_RUN_OPTIONS(.start = {first, count})));
    memcpy(level, block_values(L), (size_t)n * sizeof *level);
    free(first);
    FtB_Program_free(&program);
    FtB_Block_free(&waits);
    FtB_Block_free(&L);
}

/* Entries of the large graph from lower numbers to higher ones, or from groups of vertices to later groups,
 * so that levels are large; parallel ones, too. */
static FtB_Matrix large_acyclic(int64_t groups)
{
    FtB_Matrix A = large_graph(), B;
    const int64_t *rowptr;
    const void *colidx;
    int64_t *I = malloc(EDGES * sizeof *I), *J = malloc(EDGES * sizeof *J), count = 0;
    assert_ok(FtB_Matrix_csr(A, &rowptr, &colidx, NULL));
    for (int64_t i = 0; i < LARGE; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            I[count] = i;
            J[count] = ((const int32_t *)colidx)[e];
            count += I[count] % groups < J[count] % groups;
        }
    assert_ok(FtB_Matrix_build(&B, FTB_FP64, LARGE, LARGE, 0, count, I, J, NULL, FTB_DUP_KEEP, NULL));
    FtB_Matrix_free(&A);
    free(I);
    free(J);
    return B;
}

static void large_orders(void **state)
{
    (void)state;
    for (int64_t groups = 4; groups <= LARGE; groups = groups < 100 ? 100 : 30 * groups) {
        FtB_Matrix A = large_acyclic(groups);
        FtB_Block L, O, first;
        int64_t *level = malloc(LARGE * sizeof *level);
        levels_by_texts(A, level);
        assert_ok(FtB_Block_new(&L, LARGE, 1, FTB_INT64));
        assert_ok(FtB_Block_new(&O, LARGE, 1, FTB_INT64));
        assert_ok(FtB_Block_new(&first, LARGE, 1, FTB_INT64));
        assert_ok(FtB_Context_set_threads(NULL, 1));
        assert_ok(FtB_topological(L, first, A));
        for (int threads = 1; threads <= 8; threads++) {
            assert_ok(FtB_Context_set_threads(NULL, threads));
            assert_ok(FtB_topological(L, O, A));
            assert_memory_equal(block_values(L), level, LARGE * sizeof *level);
            assert_memory_equal(block_values(O), block_values(first), LARGE * sizeof *level);
        }
        assert_ok(FtB_Context_set_threads(NULL, 0));
        free(level);
        FtB_Block_free(&L);
        FtB_Block_free(&O);
        FtB_Block_free(&first);
        FtB_Matrix_free(&A);
    }
}

/* ---- threads, limits, cancelling */

static void of_one(FtB_Matrix A, int threads, int64_t limit, void *out)
{
    FtB_Context ctx;
    FtB_Block T, C, D, L;
    int64_t n;
    char *to = out;
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_set_memory_limit(ctx, limit));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_new(&T, n, 1, FTB_INT64));
    assert_ok(FtB_Block_new(&C, n, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&D, n, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&L, n, 1, FTB_INT64));
    assert_ok(FtB_triangles(NULL, T, A));
    assert_ok(FtB_clustering(C, A, NULL));
    assert_ok(FtB_clustering(D, A, FTB_CLUSTERING(.undirected = true)));
    assert_ok(FtB_communities(L, A, NULL));
    FtB_Block *const all[] = {&T, &C, &D, &L};
    for (int b = 0; b < 4; b++) {
        memcpy(to + (int64_t)b * n * 8, block_values(*all[b]), (size_t)n * 8);
        FtB_Block_free(all[b]);
    }
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

static void same_bits(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    char *one = malloc(4 * LARGE * 8), *more = malloc(4 * LARGE * 8);
    int64_t triangles = 0;
    of_one(A, 1, 0, one);
    for (int threads = 2; threads <= 8; threads++) {
        of_one(A, threads, threads == 8 ? 4000000 : 0, more); /* under a limit fewer run */
        assert_memory_equal(more, one, 4 * LARGE * 8);
    }
    /* by the oracle, too: of the first vertices, whose neighbours are most of the others */
    ref_graph g = ref_graph_of(A);
    for (int64_t v = 0; v < 3; v++) {
        int64_t expected = 0;
        for (int64_t u = 0; u < g.n; u++)
            for (int64_t w = 0; w < u; w++)
                expected += (g.is[v * g.n + u] || g.is[u * g.n + v]) &&
                            (g.is[v * g.n + w] || g.is[w * g.n + v]) &&
                            (g.is[u * g.n + w] || g.is[w * g.n + u]);
        assert_int_equal(((const int64_t *)one)[v], expected);
        triangles += expected;
    }
    assert_true(triangles > 1000);
    ref_graph_free(&g);
    free(one);
    free(more);
    FtB_Matrix_free(&A);
}

static void cancelled(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    FtB_Block L, C;
    assert_ok(FtB_Block_new(&L, LARGE, 1, FTB_INT64));
    assert_ok(FtB_Block_new(&C, LARGE, 1, FTB_FP64));
    memset(block_values(L), 1, LARGE * 8);
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_triangles(NULL, L, A));
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_communities(L, A, NULL));
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_clustering(C, A, NULL));
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_topological(L, NULL, A));
    assert_int_equal(((const int64_t *)block_values(L))[7], 0x0101010101010101);
    assert_ok(FtB_triangles(NULL, L, A));
    FtB_Block_free(&L);
    FtB_Block_free(&C);
    FtB_Matrix_free(&A);
}

/* ---- what is refused, and nothing */

static void refused(void **state)
{
    (void)state;
    FtB_Matrix A, none, wide;
    FtB_Block d, i, two, empty, empty_real;
    int64_t total = 7, steps = 7;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 3, 3, 1));
    assert_ok(FtB_Matrix_new(&none, FTB_FP32, 0, 0, 1));
    assert_ok(FtB_Matrix_new(&wide, FTB_FP32, 3, 4, 1));
    assert_ok(FtB_Block_new(&d, 3, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&i, 3, 1, FTB_INT32));
    assert_ok(FtB_Block_new(&two, 3, 2, FTB_INT64));
    assert_ok(FtB_Block_new(&empty, 0, 1, FTB_INT64));
    assert_ok(FtB_Block_new(&empty_real, 0, 1, FTB_FP64));
    assert_fails(GrB_NULL_POINTER, "total and each are NULL", FtB_triangles(NULL, NULL, A));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_triangles(&total, NULL, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 3 x 4", FtB_triangles(&total, NULL, wide));
    assert_fails(GrB_DOMAIN_MISMATCH, "each: dtype int32", FtB_triangles(NULL, i, A));
    assert_fails(GrB_DOMAIN_MISMATCH, "coefficients: dtype int32", FtB_clustering(i, A, NULL));
    assert_fails(GrB_NULL_POINTER, "coefficients is NULL", FtB_clustering(NULL, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "labels is 3 x 2; expected 3 x 1", FtB_communities(two, A, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "labels: dtype fp64", FtB_communities(d, A, NULL));
    assert_fails(GrB_INVALID_VALUE, "rounds is -1", FtB_communities(i, A, FTB_RUN_OPTIONS(.rounds = -1)));
    assert_fails(GrB_INVALID_VALUE, "FtB_communities: options: start is given",
                 FtB_communities(i, A, FTB_RUN_OPTIONS(.start = {&total, 1})));
    assert_fails(GrB_DOMAIN_MISMATCH, "order: dtype fp64", FtB_topological(i, d, A));
    assert_int_equal(total, 7);
    assert_ok(FtB_triangles(&total, empty, none));
    assert_int_equal(total, 0);
    assert_ok(FtB_clustering(empty_real, none, NULL));
    assert_ok(FtB_communities(empty, none, FTB_RUN_OPTIONS(.supersteps = &steps)));
    assert_int_equal(steps, 0);
    assert_ok(FtB_topological(empty, empty, none));
    FtB_Block *const blocks[] = {&d, &i, &two, &empty, &empty_real};
    for (int b = 0; b < 5; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&none);
    FtB_Matrix_free(&wide);
}

/* A graph with all that is made on the way: directions, a loop, parallel entries; and one with an order. */
static GrB_Info all_programs(void *arg)
{
    static const int64_t I[] = {0, 1, 2, 2, 2, 3, 0}, J[] = {1, 2, 0, 2, 3, 0, 1};
    const bool acyclic = *(const bool *)arg;
    FtB_Matrix A = NULL;
    FtB_Block d = NULL, p = NULL, q = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, 4, 4, 0, acyclic ? 2 : 7, I, J, NULL, FTB_DUP_KEEP, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&d, 4, 1, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&p, 4, 1, FTB_INT64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&q, 4, 1, FTB_INT64);
    if (info == GrB_SUCCESS)
        info = FtB_triangles(NULL, p, A);
    if (info == GrB_SUCCESS)
        info = FtB_clustering(d, A, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_communities(p, A, NULL);
    if (info == GrB_SUCCESS) {
        info = FtB_topological(p, q, A);
        info = !acyclic && info == GrB_INVALID_VALUE ? GrB_SUCCESS : info;
    }
    FtB_Block_free(&d);
    FtB_Block_free(&p);
    FtB_Block_free(&q);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    for (int acyclic = 0; acyclic < 2; acyclic++)
        fail_every_allocation(all_programs, NULL, &(bool){acyclic});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles),    cmocka_unit_test(clustering),      cmocka_unit_test(known),
        cmocka_unit_test(communities),  cmocka_unit_test(many_neighbours), cmocka_unit_test(topological),
        cmocka_unit_test(large_orders), cmocka_unit_test(same_bits),       cmocka_unit_test(cancelled),
        cmocka_unit_test(refused),      cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
