/* A graph like a road network: the vertices of a square grid, numbered row by row, each joined to the one on
 * its right and the one below with a probability that gives the mean degree. Ids are local: a neighbour is
 * one or one grid row away. Each join is a function of (seed, vertex), so that rows are made independently,
 * with ascending columns, once to count and again to store. */
#include "gen/gen.h"
#include "gen/gen_random.h"

typedef struct grid {
    int64_t count, side; /* vertices; in a row of the grid */
    uint64_t limit;      /* a draw below it joins: probability x 2^32 */
    uint64_t seed;
} grid;

/* The vertices that v is joined to, ascending; how many. */
static int neighbours(const grid *g, int64_t v, int32_t to[4])
{
    const int64_t side = g->side;
    int n = 0;
    if (v >= side && gen_random(g->seed, (uint64_t)(v - side), 0, GEN_STREAM_EDGES).word[1] < g->limit)
        to[n++] = (int32_t)(v - side);
    if (v % side > 0 && gen_random(g->seed, (uint64_t)(v - 1), 0, GEN_STREAM_EDGES).word[0] < g->limit)
        to[n++] = (int32_t)(v - 1);
    gen_draw own = gen_random(g->seed, (uint64_t)v, 0, GEN_STREAM_EDGES);
    if (v % side + 1 < side && v + 1 < g->count && own.word[0] < g->limit)
        to[n++] = (int32_t)(v + 1);
    if (v + side < g->count && own.word[1] < g->limit)
        to[n++] = (int32_t)(v + side);
    return n;
}

GrB_Info gen_make_road(gen_graph *g, const gen_road *p, uint64_t seed)
{
    grid model = {.count = p->nvertices, .side = 1, .seed = seed};
    gen_graph made = {0};
    int32_t to[4];
    if (p->nvertices < 1 || p->nvertices >= INT32_MAX)
        return gen_fail("road: %lld vertices; expected 1 to 2147483646", (long long)p->nvertices);
    if (!(p->mean_degree >= 0 && p->mean_degree <= 4))
        return gen_fail("road: mean degree %g; expected 0 to 4", p->mean_degree);
    if (p->values == GEN_COUNTS)
        return gen_fail("road: edges are not drawn more than once, so there are no counts");
    while (model.side * model.side < p->nvertices)
        model.side++;
    model.limit = (uint64_t)(p->mean_degree * 0x1p30);
    /* Rows are counted in an allocation of no entries, which gets its real size then. */
    GrB_Info info = gen_alloc(&made, p->nvertices, p->nvertices, 0, GEN_PATTERN);
    if (info)
        return info;
#pragma omp parallel for schedule(static) private(to)
    for (int64_t v = 0; v < p->nvertices; v++)
        made.rowptr[v + 1] = neighbours(&model, v, to);
    for (int64_t v = 0; v < p->nvertices; v++)
        made.rowptr[v + 1] += made.rowptr[v];
    made.nvals = made.rowptr[p->nvertices];
    info = gen_alloc_entries(&made, p->values);
    if (info) {
        gen_free(&made);
        return info;
    }
#pragma omp parallel for schedule(static) private(to)
    for (int64_t v = 0; v < p->nvertices; v++) {
        int n = neighbours(&model, v, to);
        for (int k = 0; k < n; k++)
            made.colidx[made.rowptr[v] + k] = to[k];
    }
    gen_fill_values(&made, p->values, true, seed);
    *g = made;
    return GrB_SUCCESS;
}
