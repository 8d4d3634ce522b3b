/* Random numbers by counter: a draw depends on seed and place alone, not on order or threads. Source: Salmon
 * et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef FTB_DRAWS_H
#define FTB_DRAWS_H

#include <Random123/philox.h>
#include <stdbool.h>
#include <stdint.h>

/* Four words of draw `counter`, `stream`. */
static inline void ftb_random_words(uint32_t words[4], uint64_t seed, uint64_t counter, uint64_t stream)
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t at = {
        {(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    philox4x32_ctr_t drawn = philox4x32(at, key);
    for (int k = 0; k < 4; k++)
        words[k] = drawn.v[k];
}

/* A seed made of three numbers. */
static inline uint64_t ftb_random_mix(uint64_t seed, uint64_t a, uint64_t b)
{
    uint32_t w[4];
    ftb_random_words(w, seed, a, b);
    return (uint64_t)w[1] << 32 | w[0];
}

/* ---- sampling: key = seed, counter = vertex (64 bits) | batch (32) | hop (8) | block of draws (24)
 *
 * Draw d of a vertex is word d % 4 of block d / 4. The lower half of the blocks has the draws; the upper half
 * has 32 more bits of each, for those who need them (ftb_draw_below). Batches, hops and blocks beyond their
 * bits change the key, by one call of Philox. */

enum { FTB_DRAW_BLOCK_BITS = 23 };
/* What keys are mixed with: second halves of counters that no draw has, since their hop is the last. */
#define FTB_DRAW_WIDE (UINT64_C(0xff000000) << 32)     /* a batch or a hop beyond its bits */
#define FTB_DRAW_BLOCKS (UINT64_C(0xff000001) << 32)   /* blocks beyond 2^23 */
#define FTB_DRAW_TREE (UINT64_C(0xff000002) << 32)     /* trees that share nothing */
#define FTB_DRAW_SHARED (UINT64_C(0xff000003) << 32)   /* draws of columns, shared by rows */
#define FTB_DRAW_REST (UINT64_C(0xff000004) << 32)     /* of the entries that many draws did not give */
#define FTB_DRAW_LAYER (UINT64_C(0xff000005) << 32)    /* of a hop's columns, by vertex 0 */
#define FTB_DRAW_NEGATIVE (UINT64_C(0xff000006) << 32) /* of what there is no entry for */
#define FTB_DRAW_RELATION (UINT64_C(0xff000007) << 32) /* relations but the first */
#define FTB_DRAW_ORDER (UINT64_C(0xff000010) << 32)    /* orders of seeds */
#define FTB_DRAW_WALK (UINT64_C(0xff000020) << 32)     /* walks of a vertex, by number; a step is a hop */
#define FTB_DRAW_AGAIN (UINT64_C(0xff000021) << 32)    /* further tries of a step */
#define FTB_DRAW_LIST (UINT64_C(0xff000022) << 32)     /* lists of vertices and entries that are drawn */
#define FTB_DRAW_CLUSTER (UINT64_C(0xff000023) << 32)  /* orders of clusters */
#define FTB_DRAW_SOURCES (UINT64_C(0xff000024) << 32)  /* sources of paths */
#define FTB_DRAW_FACTORS (UINT64_C(0xff000025) << 32)  /* factors of rows (0) and columns (1) */

/* The counter's second half, for block 0; *seed becomes the key. */
static inline uint64_t ftb_draw_stream(uint64_t *seed, uint64_t batch, uint64_t hop)
{
    if (batch > UINT32_MAX || hop > 0xfe) {
        *seed = ftb_random_mix(*seed, batch, FTB_DRAW_WIDE | (hop & UINT32_MAX));
        batch = hop = 0;
    }
    return batch | hop << 56;
}

/* Draw d of a vertex; `more`: its other 32 bits. */
static inline uint32_t ftb_draw(uint64_t seed, uint64_t vertex, uint64_t stream, uint64_t d, bool more)
{
    uint32_t words[4];
    uint64_t block = d / 4;
    if (block >> FTB_DRAW_BLOCK_BITS) {
        seed = ftb_random_mix(seed, block >> FTB_DRAW_BLOCK_BITS, FTB_DRAW_BLOCKS);
        block &= (UINT64_C(1) << FTB_DRAW_BLOCK_BITS) - 1;
    }
    block |= (uint64_t)more << FTB_DRAW_BLOCK_BITS;
    ftb_random_words(words, seed, vertex, stream | block << 32);
    return words[d % 4];
}

/* floor(u n / 2^64), where u is a draw of 64 bits: one of 0 .. n - 1, each as likely to n / 2^64. The lower
 * bits of u are drawn only where they can carry, of n values n in 2^32 times. */
static inline uint64_t ftb_draw_below(uint64_t n, uint64_t seed, uint64_t vertex, uint64_t stream, uint64_t d)
{
    uint64_t high = ftb_draw(seed, vertex, stream, d, false);
    if (n <= UINT32_MAX && (uint32_t)(high * n) <= UINT32_MAX - n)
        return high * n >> 32;
    unsigned __int128 u = high << 32 | ftb_draw(seed, vertex, stream, d, true);
    return (uint64_t)(u * n >> 64);
}

#endif
