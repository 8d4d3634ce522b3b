/* Graphs of the size and skew of data sets that benchmarks of graph neural networks use: Chung-Lu graphs, and
 * a grid for the road network. Real graphs have clusters, which these do not: a product finds less locality
 * here. Sizes: Hu et al., "Open Graph Benchmark", NeurIPS 2020; Hamilton et al., "Inductive representation
 * learning on large graphs", NIPS 2017 (Reddit); Demetrescu et al., 9th DIMACS challenge (roads). */
#include "gen/gen.h"

#include <string.h>

typedef struct like {
    const char *name;
    int64_t nvertices, edges; /* edges drawn; a symmetric one is stored both ways round */
    double exponent;
    bool symmetric;
} like;

static const like kinds[] = {{"reddit-like", 233000, 57400000, 0.5, true},
                             {"proteins-like", 132500, 39550000, 0.5, true},
                             {"products-like", 2400000, 61850000, 0.5, true},
                             {"arxiv-like", 169343, 1170000, 0.5, false},
                             {"road-like", 24000000, 0, 0, true}};
enum { NKINDS = sizeof kinds / sizeof *kinds };

static const like *find(const char *name)
{
    for (int k = 0; k < NKINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    return NULL;
}

/* Edges drawn at `nvertices`: in proportion, rounded down. */
static int64_t scaled(const like *kind, int64_t nvertices)
{
    return (int64_t)((unsigned __int128)kind->edges * (uint64_t)nvertices / (uint64_t)kind->nvertices);
}

bool gen_like_size(const char *name, int64_t nvertices, int64_t *vertices, double *entries)
{
    const like *kind = find(name);
    if (!kind)
        return false;
    *vertices = nvertices > 0 ? nvertices : kind->nvertices;
    *entries = kind->edges ? (double)scaled(kind, *vertices) * (kind->symmetric ? 2 : 1)
                           : GEN_ROAD_DEGREE * (double)*vertices;
    return true;
}

GrB_Info gen_make_like(gen_graph *g, const char *name, int64_t nvertices, gen_values values, uint64_t seed)
{
    const like *kind = find(name);
    if (!kind)
        return gen_fail("unknown graph '%s'", name);
    if (nvertices < 0)
        return gen_fail("%s: %lld vertices; expected 1 to 2147483646", name, (long long)nvertices);
    if (nvertices == 0)
        nvertices = kind->nvertices;
    if (kind->edges == 0)
        return gen_make_road(
            g, &(gen_road){.nvertices = nvertices, .mean_degree = GEN_ROAD_DEGREE, .values = values}, seed);
    const gen_chung_lu p = {.nvertices = nvertices,
                            .exponent = kind->exponent,
                            .edges = {.count = scaled(kind, nvertices),
                                      .symmetric = kind->symmetric,
                                      .permute = true,
                                      .values = values}};
    return gen_make_chung_lu(g, &p, seed);
}
