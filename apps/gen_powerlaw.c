/* Chung-Lu graph with a power-law degree distribution: both ends of an edge are drawn with the weight
 * (r + 1)^(-1 / (exponent - 1)) of the vertex of rank r. Reference: Chung and Lu, "Connected components in
 * random graphs with given expected degree sequences", Annals of Combinatorics 6, 2002. */
#include "gen.h"
#include "gen_random.h"

#include <stdlib.h>

static void edge(const void *model, uint64_t seed, int64_t t, int64_t *i, int64_t *j)
{
    gen_draw d = gen_random(seed, (uint64_t)t, 0, GEN_STREAM_EDGES);
    *i = gen_weighted_draw(model, gen_word64(d, 0));
    *j = gen_weighted_draw(model, gen_word64(d, 1));
}

GrB_Info gen_make_powerlaw(gen_graph *g, const gen_powerlaw *p, uint64_t seed)
{
    gen_weighted vertices = {0};
    if (p->nvertices < 1 || p->nvertices >= INT32_MAX)
        return gen_fail("powerlaw: %lld vertices; expected 1 to 2147483646", (long long)p->nvertices);
    if (!(p->exponent > 2 && p->exponent <= 100))
        return gen_fail("powerlaw: exponent %g; expected above 2, to 100", p->exponent);
    uint64_t *weights = malloc((size_t)p->nvertices * sizeof *weights);
    if (!weights)
        return gen_nomem();
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < p->nvertices; r++)
        weights[r] = 1 + (uint64_t)(0x1p32 * gen_power((double)(r + 1), -1 / (p->exponent - 1)));
    GrB_Info info = gen_weighted_new(&vertices, p->nvertices, weights);
    free(weights);
    if (!info)
        info = gen_from_edges(g, p->nvertices, &p->edges, edge, &vertices, seed);
    gen_weighted_free(&vertices);
    return info;
}
