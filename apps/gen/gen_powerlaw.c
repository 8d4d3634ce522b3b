/* Chung-Lu graphs: both ends of an edge are drawn with the weight (r + 1)^-exponent of the vertex of rank r.
 * A power law of degrees d^-g is the exponent 1 / (g - 1); exponent 0 makes all vertices alike.
 * Reference: Chung and Lu, "Connected components in random graphs with given expected degree sequences",
 * Annals of Combinatorics 6, 2002. */
#include "gen/gen.h"
#include "gen/gen_random.h"

#include <stdlib.h>

static void edge(const void *model, uint64_t seed, int64_t t, int64_t *i, int64_t *j)
{
    gen_draw d = gen_random(seed, (uint64_t)t, 0, GEN_STREAM_EDGES);
    *i = gen_weighted_draw(model, gen_word64(d, 0));
    *j = gen_weighted_draw(model, gen_word64(d, 1));
}

static GrB_Info from_weights(gen_graph *g, int64_t nvertices, double exponent, const gen_edges *edges,
                             uint64_t seed)
{
    gen_weighted vertices = {0};
    uint64_t *weights = malloc((size_t)nvertices * sizeof *weights);
    if (!weights)
        return gen_nomem();
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < nvertices; r++)
        weights[r] = 1 + (uint64_t)(0x1p32 * gen_power((double)(r + 1), -exponent));
    GrB_Info info = gen_weighted_new(&vertices, nvertices, weights);
    free(weights);
    if (!info)
        info = gen_from_edges(g, nvertices, edges, edge, &vertices, seed);
    gen_weighted_free(&vertices);
    return info;
}

GrB_Info gen_make_chung_lu(gen_graph *g, const gen_chung_lu *p, uint64_t seed)
{
    if (p->nvertices < 1 || p->nvertices >= INT32_MAX)
        return gen_fail("chung-lu: %lld vertices; expected 1 to 2147483646", (long long)p->nvertices);
    if (!(p->exponent >= 0 && p->exponent <= 1))
        return gen_fail("chung-lu: exponent %g; expected 0 to 1", p->exponent);
    return from_weights(g, p->nvertices, p->exponent, &p->edges, seed);
}

GrB_Info gen_make_powerlaw(gen_graph *g, const gen_powerlaw *p, uint64_t seed)
{
    if (p->nvertices < 1 || p->nvertices >= INT32_MAX)
        return gen_fail("powerlaw: %lld vertices; expected 1 to 2147483646", (long long)p->nvertices);
    if (!(p->exponent > 2 && p->exponent <= 100))
        return gen_fail("powerlaw: exponent %g; expected above 2, to 100", p->exponent);
    return from_weights(g, p->nvertices, 1 / (p->exponent - 1), &p->edges, seed);
}
