/* Kronecker and uniform random graphs, bit for bit those of the GAP benchmark suite as gcc compiles it
 * (Beamer, Asanovic, Patterson, "The GAP benchmark suite", 2015; generator.h and builder.h there). Its random
 * numbers are MT19937's, seeded anew for each block of edges, so that blocks are drawn in parallel. Edges are
 * listed, since a sequence cannot be drawn twice from the middle. */
#include "gen/gen.h"

#include <stdlib.h>

enum { BLOCK = 1 << 18 }; /* edges of a seed */

/* ---- MT19937 (Matsumoto and Nishimura, 1998) */

enum { WORDS = 624, FAR = 397 };
typedef struct mersenne {
    uint32_t word[WORDS], drawn[WORDS]; /* state, and the numbers that it gives */
    int next;
} mersenne;

static void mersenne_seed(mersenne *m, uint64_t seed)
{
    m->word[0] = (uint32_t)seed;
    for (uint32_t w = 1; w < WORDS; w++)
        m->word[w] = 1812433253U * (m->word[w - 1] ^ m->word[w - 1] >> 30) + w;
    m->next = WORDS;
}

static uint32_t twist(uint32_t high, uint32_t low)
{
    return ((high & 0x80000000U) | (low & 0x7fffffffU)) >> 1 ^ (0x9908b0dfU & (0 - (low & 1)));
}

static void mersenne_refill(mersenne *m)
{
    uint32_t *x = m->word;
    for (int w = 0; w < WORDS - FAR; w++)
        x[w] = x[w + FAR] ^ twist(x[w], x[w + 1]);
    for (int w = WORDS - FAR; w < WORDS - 1; w++)
        x[w] = x[w + FAR - WORDS] ^ twist(x[w], x[w + 1]);
    x[WORDS - 1] = x[FAR - 1] ^ twist(x[WORDS - 1], x[0]);
    for (int w = 0; w < WORDS; w++) { /* all at once, in vectors */
        uint32_t y = x[w] ^ x[w] >> 11;
        y ^= y << 7 & 0x9d2c5680U;
        y ^= y << 15 & 0xefc60000U;
        m->drawn[w] = y ^ y >> 18;
    }
    m->next = 0;
}

static inline uint32_t mersenne_draw(mersenne *m)
{
    if (m->next == WORDS)
        mersenne_refill(m);
    return m->drawn[m->next++];
}

/* 0 .. count - 1 by the remainder, as GAP draws vertices and weights; what would favour some is drawn again.
 */
static inline uint32_t draw_remainder(mersenne *m, uint32_t count)
{
    const uint32_t over = UINT32_MAX % count;
    uint32_t x = mersenne_draw(m);
    while (over != count - 1 && x >= UINT32_MAX - over)
        x = mersenne_draw(m);
    return x % count;
}

/* 0 .. count - 1 by the product's upper half (Lemire, 2019), as libstdc++ does since gcc 11. */
static uint32_t draw_product(mersenne *m, uint32_t count)
{
    uint64_t product = (uint64_t)mersenne_draw(m) * count;
    if ((uint32_t)product < count) {
        const uint32_t least = (0 - count) % count;
        while ((uint32_t)product < least)
            product = (uint64_t)mersenne_draw(m) * count;
    }
    return (uint32_t)(product >> 32);
}

/* ---- the vertices' numbers */

static void swap(int32_t *x, int64_t a, int64_t b)
{
    const int32_t moved = x[a];
    x[a] = x[b];
    x[b] = moved;
}

/* std::shuffle of libstdc++: each place swaps with one up to it; where a draw has bits for two, it is of two.
 */
static void shuffle(int32_t *x, int64_t n, mersenne *m)
{
    int64_t at = 1;
    if (n > 1 && n <= UINT32_MAX / n) {
        if (n % 2 == 0)
            swap(x, at++, draw_product(m, 2));
        for (; at < n; at += 2) {
            const uint32_t both = draw_product(m, (uint32_t)((at + 1) * (at + 2)));
            swap(x, at, both / (at + 2));
            swap(x, at + 1, both % (at + 2));
        }
    }
    for (; at < n; at++)
        swap(x, at, draw_product(m, (uint32_t)at + 1));
}

/* ---- edges */

typedef struct list {
    int32_t (*edge)[2]; /* from, to */
    float *weight;      /* NULL: none */
    int32_t *name;      /* of each vertex; NULL: as drawn */
} list;

static void draw_kronecker(int32_t edge[2], int scale, mersenne *m)
{
    const uint32_t a = (uint32_t)(0.57 * UINT32_MAX), b = (uint32_t)(0.19 * UINT32_MAX), c = b;
    uint32_t from = 0, to = 0;
    for (int level = 0; level < scale; level++) {
        const uint32_t x = mersenne_draw(m);
        const bool lower = x >= a + b;
        from = from << 1 | lower;
        to = to << 1 | (lower ? x > a + b + c : x > a);
    }
    edge[0] = (int32_t)from;
    edge[1] = (int32_t)to;
}

static void draw_block(list *l, const gen_gap *p, uint64_t seed, int64_t first, int64_t end)
{
    mersenne m;
    mersenne_seed(&m, seed + (uint64_t)(first / BLOCK));
    for (int64_t t = first; t < end; t++) {
        int32_t *edge = l->edge[t];
        if (p->uniform) { /* the arguments of a call, from the last */
            edge[1] = (int32_t)draw_remainder(&m, UINT32_C(1) << p->scale);
            edge[0] = (int32_t)draw_remainder(&m, UINT32_C(1) << p->scale);
        } else {
            draw_kronecker(edge, p->scale, &m);
            edge[0] = l->name[edge[0]];
            edge[1] = l->name[edge[1]];
        }
    }
    mersenne_seed(&m, seed + (uint64_t)(first / BLOCK));
    for (int64_t t = first; t < end && l->weight; t++)
        l->weight[t] = (float)(1 + draw_remainder(&m, 255));
}

static GrB_Info name_vertices(list *l, int64_t n, uint64_t seed)
{
    mersenne m;
    if (!(l->name = malloc((size_t)n * sizeof *l->name)))
        return gen_nomem();
    for (int64_t v = 0; v < n; v++)
        l->name[v] = (int32_t)v;
    mersenne_seed(&m, seed);
    shuffle(l->name, n, &m);
    return GrB_SUCCESS;
}

/* Returns how many vertices there are: up to the last that an edge has. */
static int64_t draw_list(list *l, const gen_gap *p, uint64_t seed)
{
    const int64_t count = p->edges.count;
    int32_t last = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : last)
    for (int64_t first = 0; first < count; first += BLOCK) {
        const int64_t end = count - first < BLOCK ? count : first + BLOCK;
        draw_block(l, p, seed, first, end);
        for (int64_t t = first; t < end; t++) {
            last = l->edge[t][0] > last ? l->edge[t][0] : last;
            last = l->edge[t][1] > last ? l->edge[t][1] : last;
        }
    }
    return (int64_t)last + 1;
}

static void listed(const void *model, uint64_t seed, int64_t t, int64_t *i, int64_t *j)
{
    const list *l = model;
    (void)seed;
    *i = l->edge[t][0];
    *j = l->edge[t][1];
}

GrB_Info gen_make_gap(gen_graph *g, const gen_gap *p, uint64_t seed)
{
    list l = {0};
    gen_edges edges = p->edges;
    if (p->scale < 1 || p->scale > 30)
        return gen_fail("%s: scale %d; expected 1 to 30", p->uniform ? "uniform" : "kron", p->scale);
    GrB_Info info = gen_check_edges(INT64_C(1) << p->scale, &edges);
    if (info == GrB_SUCCESS && !p->uniform)
        info = name_vertices(&l, INT64_C(1) << p->scale, seed);
    if (info == GrB_SUCCESS) {
        const size_t count = (size_t)(edges.count > 0 ? edges.count : 1);
        l.edge = malloc(count * sizeof *l.edge);
        l.weight = edges.values == GEN_WEIGHTS ? malloc(count * sizeof *l.weight) : NULL;
        edges.weight = l.weight;
        info = l.edge && (l.weight || edges.values != GEN_WEIGHTS) ? GrB_SUCCESS : gen_nomem();
    }
    if (info == GrB_SUCCESS)
        info = gen_from_edges(g, draw_list(&l, p, seed), &edges, listed, &l, seed);
    free(l.edge);
    free(l.weight);
    free(l.name);
    return info;
}
