/* Small graphs for tests of clusters (cluster_graph.h). */
#include "support/cluster_graph.h"

#include "support/check.h"

graph make_graph(rng *r, int64_t n, int64_t nvals, bool multi, int64_t width)
{
    int64_t I[MOST * MOST], J[MOST * MOST], count = 0;
    float X[MOST * MOST];
    graph g = {.n = n};
    for (int64_t e = 0; e < nvals && n > 0; e++) {
        const int64_t i = rng_below(r, n), j = rng_below(r, 1 + rng_below(r, n));
        if (g.entries[i][j] && !multi)
            continue;
        g.entries[i][j]++;
        I[count] = i;
        J[count] = j;
        X[count++] = (float)(0.5 + rng_unit(r));
    }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP32, n, n, width, count, I, J, width ? X : NULL,
                               multi ? FTB_DUP_KEEP : FTB_DUP_ERROR, NULL));
    g.nvals = count;
    return g;
}

void random_labels(rng *r, int32_t *labels, int64_t n, int64_t nparts)
{
    for (int64_t v = 0; v < n; v++)
        labels[v] = (int32_t)(rng_below(r, 1 + rng_below(r, nparts)));
}
