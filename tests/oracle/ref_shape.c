#include "oracle/ref_shape.h"

#include "support/check.h"

#include <stdlib.h>

ref_graph ref_graph_of(FtB_Matrix A)
{
    const int64_t *rowptr;
    const void *colidx;
    ref_graph g;
    assert_ok(FtB_Matrix_shape(A, &g.n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_csr(A, &rowptr, &colidx, NULL));
    g.is = calloc((size_t)(g.n * g.n) + 1, sizeof *g.is);
    g.loop = calloc((size_t)g.n + 1, sizeof *g.loop);
    for (int64_t i = 0; i < g.n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            const int64_t j = ((const int32_t *)colidx)[e];
            *(i == j ? &g.loop[i] : &g.is[i * g.n + j]) = true;
        }
    return g;
}

void ref_graph_free(ref_graph *g)
{
    free(g->is);
    free(g->loop);
}

static bool there(const ref_graph *g, int64_t i, int64_t j) { return g->is[i * g->n + j]; }
static bool joined(const ref_graph *g, int64_t i, int64_t j) { return there(g, i, j) || there(g, j, i); }

int64_t ref_triangles(const ref_graph *g, int64_t *each)
{
    int64_t all = 0;
    for (int64_t i = 0; i < g->n; i++)
        each[i] = 0;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t j = 0; j < i; j++)
            for (int64_t k = 0; k < j; k++)
                if (joined(g, i, j) && joined(g, j, k) && joined(g, i, k)) {
                    all++;
                    each[i]++;
                    each[j]++;
                    each[k]++;
                }
    return all;
}

void ref_clustering(const ref_graph *g, bool undirected, double *coefficient)
{
    for (int64_t v = 0; v < g->n; v++) {
        int64_t pairs = 0, found = 0;
        for (int64_t u = 0; u < g->n; u++)
            for (int64_t w = 0; w < g->n; w++)
                if (u != w && joined(g, v, u) && joined(g, v, w)) {
                    pairs++;
                    found += undirected ? joined(g, u, w) : there(g, u, w);
                }
        coefficient[v] = pairs > 0 ? (double)found / (double)pairs : 0;
    }
}

/* Steps of a shortest path from s to each vertex, -1 where there is none, and how many of these there are. */
static void paths_from(const ref_graph *g, int64_t s, int64_t *steps, long double *paths)
{
    for (int64_t v = 0; v < g->n; v++) {
        steps[v] = v == s ? 0 : -1;
        paths[v] = v == s;
    }
    for (int64_t level = 1; level <= g->n; level++)
        for (int64_t v = 0; v < g->n; v++) {
            long double sum = 0;
            if (steps[v] >= 0)
                continue;
            for (int64_t u = 0; u < g->n; u++)
                sum += there(g, u, v) && steps[u] == level - 1 ? paths[u] : 0;
            if (sum > 0) {
                steps[v] = level;
                paths[v] = sum;
            }
        }
}

void ref_betweenness(const ref_graph *g, const int64_t *sources, int64_t nsources, long double *sums)
{
    const int64_t n = g->n;
    const size_t cells = (size_t)(n * n) + 1;
    int64_t *steps = malloc(cells * sizeof *steps);
    long double *paths = malloc(cells * sizeof *paths);
    for (int64_t s = 0; s < n; s++) {
        paths_from(g, s, steps + s * n, paths + s * n);
        sums[s] = 0;
    }
    for (int64_t k = 0; k < nsources; k++) {
        const int64_t s = sources[k];
        for (int64_t v = 0; v < n; v++)
            for (int64_t t = 0; t < n; t++)
                if (v != s && v != t && s != t && steps[s * n + v] >= 0 && steps[v * n + t] >= 0 &&
                    steps[s * n + v] + steps[v * n + t] == steps[s * n + t])
                    sums[v] += paths[s * n + v] * paths[v * n + t] / paths[s * n + t];
    }
    free(steps);
    free(paths);
}

void ref_communities(const ref_graph *g, int64_t rounds, int64_t *label)
{
    const size_t n = (size_t)g->n;
    int64_t *next = malloc((n + 1) * sizeof *next), *votes = malloc((n + 1) * sizeof *votes);
    for (int64_t v = 0; v < g->n; v++)
        label[v] = v;
    for (int64_t round = 0; round < rounds; round++) {
        for (int64_t v = 0; v < g->n; v++) {
            next[v] = label[v];
            memset(votes, 0, n * sizeof *votes);
            for (int64_t u = 0; u < g->n; u++)
                votes[label[u]] += there(g, v, u) + there(g, u, v);
            for (int64_t l = g->n - 1, most = 1; l >= 0; l--)
                if (votes[l] >= most) {
                    most = votes[l];
                    next[v] = l;
                }
        }
        memcpy(label, next, n * sizeof *label);
    }
    free(next);
    free(votes);
}

bool ref_levels(const ref_graph *g, int64_t *level)
{
    bool more = true;
    for (int64_t v = 0; v < g->n; v++)
        level[v] = 0;
    for (int64_t round = 0; round <= g->n && more; round++) {
        more = false;
        for (int64_t u = 0; u < g->n; u++) {
            if (g->loop[u])
                return false;
            for (int64_t v = 0; v < g->n; v++)
                if (there(g, u, v) && level[v] < level[u] + 1) {
                    level[v] = level[u] + 1;
                    more = true;
                }
        }
    }
    return !more;
}
