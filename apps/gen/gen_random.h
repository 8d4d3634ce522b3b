/* Counter-based randomness for the generators: every number is Philox4x32-10(counter, key = seed), so a
 * graph depends on its seed alone, never on the threads or the machine. Only integers and the correctly
 * rounded operations + - * / sqrt are used after it, since libm's last bits differ between machines.
 * Reference: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef GEN_RANDOM_H
#define GEN_RANDOM_H

#include <Random123/philox.h>
#include <stdint.h>

/* The last word of the counter: one stream per purpose, so that no two draws share a counter. */
enum gen_stream {
    GEN_STREAM_COLUMNS = 1,
    GEN_STREAM_VALUES,
    GEN_STREAM_EDGES,
    GEN_STREAM_FEATURES,
    GEN_STREAM_MEANS,
    GEN_STREAM_PARTS,
    GEN_STREAM_PERMUTE = 16
};

typedef struct gen_draw {
    uint32_t word[4];
} gen_draw;

static inline gen_draw gen_random(uint64_t seed, uint64_t item, uint32_t draw, uint32_t stream)
{
    philox4x32_ctr_t counter = {{(uint32_t)item, (uint32_t)(item >> 32), draw, stream}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t r = philox4x32(counter, key);
    return (gen_draw){{r.v[0], r.v[1], r.v[2], r.v[3]}};
}

/* Words 0, 1 (half 0) or 2, 3 (half 1) as 64 bits. */
static inline uint64_t gen_word64(gen_draw d, int half)
{
    return (uint64_t)d.word[2 * half] | (uint64_t)d.word[2 * half + 1] << 32;
}

/* 64 random bits to 0 .. limit - 1: floor(x * limit / 2^64). */
static inline uint64_t gen_below(uint64_t x, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)x * limit) >> 64);
}

#endif
