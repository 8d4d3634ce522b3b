/* Stochastic block model with a given number of edges: an edge starts at a uniform vertex and ends at a
 * uniform one of the same block, or (with probability `mixing`) of another. Blocks are ranges of vertices of
 * nearly equal size. Reference: Holland, Laskey, Leinhardt, "Stochastic blockmodels: first steps",
 * Social Networks 5, 1983. */
#include "gen/gen.h"
#include "gen/gen_random.h"

typedef struct blocks {
    int64_t nvertices, nblocks;
    uint64_t mixing; /* times 2^32 */
} blocks;

/* Block b holds the vertices from n b / k on. */
static int64_t start_of(const blocks *b, int64_t block) { return b->nvertices * block / b->nblocks; }

static int64_t block_of(const blocks *b, int64_t vertex)
{
    int64_t block = vertex * b->nblocks / b->nvertices;
    while (start_of(b, block + 1) <= vertex)
        block++;
    return block;
}

static void edge(const void *model, uint64_t seed, int64_t t, int64_t *i, int64_t *j)
{
    const blocks *b = model;
    gen_draw d = gen_random(seed, (uint64_t)t, 0, GEN_STREAM_EDGES);
    uint64_t choice = gen_random(seed, (uint64_t)t, 1, GEN_STREAM_EDGES).word[0];
    int64_t from = (int64_t)gen_below(gen_word64(d, 0), (uint64_t)b->nvertices);
    int64_t block = block_of(b, from), first = start_of(b, block), size = start_of(b, block + 1) - first;
    int64_t to;
    if (choice >= b->mixing) {
        to = first + (int64_t)gen_below(gen_word64(d, 1), (uint64_t)size);
    } else {
        to = (int64_t)gen_below(gen_word64(d, 1), (uint64_t)(b->nvertices - size));
        to += to >= first ? size : 0;
    }
    *i = from;
    *j = to;
}

GrB_Info gen_make_sbm(gen_graph *g, const gen_sbm *p, uint64_t seed)
{
    if (p->nvertices < 1 || p->nvertices >= INT32_MAX)
        return gen_fail("sbm: %lld vertices; expected 1 to 2147483646", (long long)p->nvertices);
    if (p->nblocks < 1 || p->nblocks > p->nvertices)
        return gen_fail("sbm: %lld blocks; expected 1 to %lld, one vertex in each", (long long)p->nblocks,
                        (long long)p->nvertices);
    if (!(p->mixing >= 0 && p->mixing <= 1) || (p->nblocks == 1 && p->mixing > 0))
        return gen_fail("sbm: mixing %g; expected 0 to 1, and 0 for a single block", p->mixing);
    const blocks b = {
        .nvertices = p->nvertices, .nblocks = p->nblocks, .mixing = (uint64_t)(p->mixing * 0x1p32)};
    return gen_from_edges(g, p->nvertices, &p->edges, edge, &b, seed);
}
