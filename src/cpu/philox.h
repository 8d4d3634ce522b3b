/* Philox4x32-10 for many counters at once, as loops that compilers turn into vectors. Gives what Random123's
 * philox4x32 gives for counters (first + t, stream), t < FTB_PHILOX_LANES. Salmon et al., SC 2011. */
#ifndef FTB_CPU_PHILOX_H
#define FTB_CPU_PHILOX_H

#include <stdint.h>

#define FTB_PHILOX_LANES 16

/* words[w][t]: word w of counter first + t. */
static inline __attribute__((always_inline)) void ftb_philox(uint32_t words[4][FTB_PHILOX_LANES],
                                                             uint64_t seed, uint64_t first, uint64_t stream)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int t = 0; t < FTB_PHILOX_LANES; t++) {
        uint64_t at = first + (uint64_t)t;
        words[0][t] = (uint32_t)at;
        words[1][t] = (uint32_t)(at >> 32);
        words[2][t] = (uint32_t)stream;
        words[3][t] = (uint32_t)(stream >> 32);
    }
    for (int round = 0; round < 10; round++) {
        for (int t = 0; t < FTB_PHILOX_LANES; t++) {
            uint64_t p0 = UINT64_C(0xD2511F53) * words[0][t], p1 = UINT64_C(0xCD9E8D57) * words[2][t];
            uint32_t w1 = words[1][t], w3 = words[3][t];
            words[0][t] = (uint32_t)(p1 >> 32) ^ w1 ^ k0;
            words[1][t] = (uint32_t)p1;
            words[2][t] = (uint32_t)(p0 >> 32) ^ w3 ^ k1;
            words[3][t] = (uint32_t)p0;
        }
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

#endif
