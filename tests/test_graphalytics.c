/* LDBC Graphalytics' algorithms by its rules of validation (specification 1.0, "Output Validation"): exact
 * match of BFS and CDLP, equivalence of WCC, epsilon match of PR, LCC and SSSP, against what its definitions
 * and pseudo-code say, done slowly. Graphs are this test's own: directed ones and undirected ones, which have
 * every edge in both directions, without loops and parallel edges, with vertices that nothing leads to. The
 * rules themselves are tried on what they have to refuse. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "oracle/ref_shape.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 50, TUPLES = 600 };

/* ---- the rules */

static bool exact(const int64_t *s, const int64_t *r, int64_t n)
{
    return n == 0 || memcmp(s, r, (size_t)n * sizeof *s) == 0;
}

/* Whether equal labels of the one are equal ones of the other, and the other way round. */
static bool equivalent(const int64_t *s, const int64_t *r, int64_t n)
{
    for (int64_t u = 0; u < n; u++)
        for (int64_t v = 0; v < u; v++)
            if ((s[u] == s[v]) != (r[u] == r[v]))
                return false;
    return true;
}

static bool epsilon(const double *s, const double *r, int64_t n)
{
    for (int64_t v = 0; v < n; v++)
        if (!(s[v] == r[v] || (isfinite(s[v]) && isfinite(r[v]) && fabs(s[v] - r[v]) <= 0.0001 * r[v])))
            return false;
    return true;
}

static void rules(void **state)
{
    (void)state;
    static const int64_t r[] = {7, 7, 2, 9}, other[] = {1, 1, 5, 3}, joined[] = {1, 1, 5, 5},
                         split[] = {1, 4, 5, 3};
    static const double x[] = {0, 0.5, INFINITY}, near[] = {0, 0.50004, INFINITY},
                        far[] = {0, 0.5001, INFINITY}, not_zero[] = {1e-9, 0.5, INFINITY},
                        finite[] = {0, 0.5, 1e300}, none[] = {0, NAN, INFINITY};
    assert_true(exact(r, r, 4) && !exact(other, r, 4));
    assert_true(equivalent(other, r, 4) && !equivalent(joined, r, 4) && !equivalent(split, r, 4));
    assert_true(epsilon(x, x, 3) && epsilon(near, x, 3));
    assert_false(epsilon(far, x, 3) || epsilon(not_zero, x, 3) || epsilon(finite, x, 3) ||
                 epsilon(none, x, 3));
}

/* ---- graphs */

typedef struct graph {
    FtB_Matrix A;
    ref_graph g;
    double weight[MOST * MOST]; /* of the edge from i to j, 0 or more: at i * n + j */
} graph;

static graph make_graph(rng *r, bool directed)
{
    int64_t I[2 * TUPLES], J[2 * TUPLES], count = 0;
    double X[2 * TUPLES];
    graph made;
    const int64_t n = 1 + rng_below(r, MOST), tuples = rng_below(r, 1 + (rng_below(r, 3) ? 3 : 12) * n);
    for (int64_t e = 0; e < tuples; e++) {
        I[count] = rng_below(r, 1 + rng_below(r, n));
        J[count] = rng_below(r, n);
        X[count] = rng_below(r, 10) ? rng_unit(r) : 0;
        if (I[count] == J[count])
            continue;
        count++;
        if (!directed) {
            I[count] = J[count - 1];
            J[count] = I[count - 1];
            X[count] = X[count - 1];
            count++;
        }
    }
    assert_ok(FtB_Matrix_build(&made.A, FTB_FP64, n, n, 1, count, I, J, X, FTB_DUP_FIRST, NULL));
    made.g = ref_graph_of(made.A);
    for (int64_t e = count - 1; e >= 0; e--)
        made.weight[I[e] * n + J[e]] = X[e];
    return made;
}

/* ---- the algorithms, as the specification's appendix has them */

static void breadth_first(const graph *from, int64_t root, int64_t *depth)
{
    const int64_t n = from->g.n;
    int64_t queue[MOST], first = 0, end = 0;
    for (int64_t v = 0; v < n; v++)
        depth[v] = -1;
    depth[root] = 0;
    queue[end++] = root;
    while (first < end)
        for (int64_t v = queue[first++], u = 0; u < n; u++)
            if (from->g.is[v * n + u] && depth[u] < 0) {
                depth[u] = depth[v] + 1;
                queue[end++] = u;
            }
}

static void shortest(const graph *from, int64_t root, double *dist)
{
    const int64_t n = from->g.n;
    bool done[MOST] = {false};
    for (int64_t v = 0; v < n; v++)
        dist[v] = v == root ? 0 : INFINITY;
    for (int64_t step = 0; step < n; step++) {
        int64_t v = -1;
        for (int64_t u = 0; u < n; u++)
            v = !done[u] && (v < 0 || dist[u] < dist[v]) ? u : v;
        done[v] = true;
        for (int64_t w = 0; w < n; w++)
            if (from->g.is[v * n + w])
                dist[w] = fmin(dist[w], dist[v] + from->weight[v * n + w]);
    }
}

static void page_ranks(const graph *from, int64_t rounds, double d, double *rank)
{
    const int64_t n = from->g.n;
    int64_t out[MOST] = {0};
    for (int64_t v = 0; v < n; v++) {
        rank[v] = 1 / (double)n;
        for (int64_t u = 0; u < n; u++)
            out[v] += from->g.is[v * n + u];
    }
    for (int64_t round = 0; round < rounds; round++) {
        double dangling = 0, next[MOST];
        for (int64_t v = 0; v < n; v++)
            dangling += out[v] == 0 ? rank[v] : 0;
        for (int64_t v = 0; v < n; v++) {
            double sum = 0;
            for (int64_t u = 0; u < n; u++)
                sum += from->g.is[u * n + v] ? rank[u] / (double)out[u] : 0;
            next[v] = (1 - d) / (double)n + d * sum + d / (double)n * dangling;
        }
        memcpy(rank, next, sizeof next);
    }
}

static void weak_components(const graph *from, int64_t *label)
{
    const int64_t n = from->g.n;
    bool more = true;
    for (int64_t v = 0; v < n; v++)
        label[v] = v;
    while (more) {
        more = false;
        for (int64_t v = 0; v < n; v++)
            for (int64_t u = 0; u < n; u++)
                if ((from->g.is[v * n + u] || from->g.is[u * n + v]) && label[v] > label[u]) {
                    label[v] = label[u];
                    more = true;
                }
    }
}

/* ---- */

static void bfs_and_sssp(const graph *from, int64_t root)
{
    const int64_t n = from->g.n;
    int64_t depth[MOST];
    double dist[MOST];
    FtB_Block L, D;
    assert_ok(FtB_Block_new(&L, n, 1, FTB_INT64));
    assert_ok(FtB_Block_new(&D, n, 1, FTB_FP64));
    assert_ok(FtB_bfs(L, NULL, from->A, &root, 1, NULL));
    assert_ok(FtB_sssp(D, from->A, &root, 1, NULL));
    breadth_first(from, root, depth);
    shortest(from, root, dist);
    assert_true(exact(block_values(L), depth, n));
    assert_true(epsilon(block_values(D), dist, n));
    FtB_Block_free(&L);
    FtB_Block_free(&D);
}

static void ranks(const graph *from, int64_t rounds, double d)
{
    const int64_t n = from->g.n;
    double rank[MOST];
    int64_t taken = 0;
    FtB_Block R;
    assert_ok(FtB_Block_new(&R, n, 1, FTB_FP64));
    assert_ok(FtB_pagerank(
        R, from->A,
        FTB_PAGERANK(.kind = FTB_PAGERANK_LDBC, .damping = d, .rounds = rounds, .supersteps = &taken)));
    page_ranks(from, rounds ? rounds : 10, d > 0 ? d : 0.85, rank);
    assert_true(epsilon(block_values(R), rank, n));
    assert_int_equal(taken, rounds ? rounds : 10);
    FtB_Block_free(&R);
}

static void labels_of_both(const graph *from, int64_t rounds)
{
    const int64_t n = from->g.n;
    int64_t label[MOST];
    FtB_Block L;
    assert_ok(FtB_Block_new(&L, n, 1, FTB_INT64));
    assert_ok(FtB_components(L, from->A, NULL));
    weak_components(from, label);
    assert_true(equivalent(block_values(L), label, n));
    assert_ok(FtB_communities(L, from->A, FTB_RUN_OPTIONS(.rounds = rounds)));
    ref_communities(&from->g, rounds, label);
    assert_true(exact(block_values(L), label, n));
    FtB_Block_free(&L);
}

static void coefficients(const graph *from)
{
    double share[MOST];
    FtB_Block C;
    assert_ok(FtB_Block_new(&C, from->g.n, 1, FTB_FP64));
    assert_ok(FtB_clustering(C, from->A, NULL));
    ref_clustering(&from->g, false, share);
    assert_true(epsilon(block_values(C), share, from->g.n));
    FtB_Block_free(&C);
}

static void algorithms(void **state)
{
    (void)state;
    const int cases = rng_cases(200);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph from = make_graph(&r, c % 2);
        bfs_and_sssp(&from, rng_below(&r, from.g.n));
        labels_of_both(&from, 1 + rng_below(&r, 12));
        coefficients(&from);
        ranks(&from, rng_below(&r, 20), c % 3 ? 0 : 0.95);
        FtB_Matrix_free(&from.A);
        ref_graph_free(&from.g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules), cmocka_unit_test(algorithms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
