/* rand-100k: 100,000 vertices, of which every fifth has 2,000 out-edges and the others 100, to uniform
 * distinct vertices: 48 million edges. Reference: Hu et al., "FeatGraph", SC 2020. */
#include "gen/gen.h"

#include <stdlib.h>

GrB_Info gen_make_rand100k(gen_graph *g, gen_values values, uint64_t seed)
{
    enum { N = 100000 };
    int32_t *degree = malloc(N * sizeof *degree);
    if (!degree)
        return gen_nomem();
    for (int i = 0; i < N; i++)
        degree[i] = i % 5 == 0 ? 2000 : 100;
    GrB_Info info = gen_rows(g, N, N, degree, NULL, NULL, values, seed);
    free(degree);
    return info;
}
