/* Random numbers by counter: a draw depends on seed and place alone, not on order or threads. Source: Salmon
 * et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef FTB_DRAWS_H
#define FTB_DRAWS_H

#include <Random123/philox.h>
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

#endif
