/* R-MAT: an edge descends `scale` times into a quadrant of the matrix, with probabilities a, b, c, d. One
 * 32-bit draw a level. Reference: Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining",
 * SDM 2004. */
#include "gen/gen.h"
#include "gen/gen_random.h"

typedef struct quadrants {
    int scale;
    uint64_t a, ab, abc; /* running sums of the probabilities, times 2^32 */
} quadrants;

static void edge(const void *model, uint64_t seed, int64_t t, int64_t *i, int64_t *j)
{
    const quadrants *q = model;
    int64_t row = 0, col = 0;
    gen_draw d = {{0}};
    for (int level = 0; level < q->scale; level++) {
        if (level % 4 == 0)
            d = gen_random(seed, (uint64_t)t, (uint32_t)level / 4, GEN_STREAM_EDGES);
        uint32_t x = d.word[level % 4];
        row = row * 2 + (x >= q->ab);
        col = col * 2 + ((x >= q->a && x < q->ab) || x >= q->abc);
    }
    *i = row;
    *j = col;
}

GrB_Info gen_make_rmat(gen_graph *g, const gen_rmat *p, uint64_t seed)
{
    if (p->scale < 1 || p->scale > 30)
        return gen_fail("rmat: scale %d; expected 1 to 30", p->scale);
    if (!(p->a >= 0 && p->b >= 0 && p->c >= 0 && p->a + p->b + p->c <= 1))
        return gen_fail("rmat: probabilities %g, %g, %g; expected none below 0 and a sum of at most 1", p->a,
                        p->b, p->c);
    const quadrants q = {.scale = p->scale,
                         .a = (uint64_t)(p->a * 0x1p32),
                         .ab = (uint64_t)((p->a + p->b) * 0x1p32),
                         .abc = (uint64_t)((p->a + p->b + p->c) * 0x1p32)};
    return gen_from_edges(g, INT64_C(1) << p->scale, &p->edges, edge, &q, seed);
}
