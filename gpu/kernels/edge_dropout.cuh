/* What dropout makes of an entry's value for a head: the host's draws (cpu/kernels/attend.c), Philox4x32-10
 * of the counter (entry, head / 4), a word for each head. Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", 2011. */
#ifndef FTB_EDGE_DROPOUT_CUH
#define FTB_EDGE_DROPOUT_CUH

#include "gpu/kernels/edge_dropout.h"
#include "gpu/kernels/kernel.cuh"

static __device__ __forceinline__ unsigned philox_word(const unsigned (&key)[2], unsigned long long counter,
                                                       unsigned block, int word)
{
    unsigned a = static_cast<unsigned>(counter), b = static_cast<unsigned>(counter >> 32), c = block, d = 0;
    unsigned k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const unsigned long long left = 0xD2511F53ULL * a, right = 0xCD9E8D57ULL * c;
        a = static_cast<unsigned>(right >> 32) ^ b ^ k0;
        c = static_cast<unsigned>(left >> 32) ^ d ^ k1;
        b = static_cast<unsigned>(right);
        d = static_cast<unsigned>(left);
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    return word == 0 ? a : word == 1 ? b : word == 2 ? c : d;
}

/* 1 where nothing is dropped. */
static __device__ __forceinline__ float keep_of(const ftb_edge_dropout &drop, long long entry, int head)
{
    if (drop.below == 0)
        return 1;
    const unsigned draw = philox_word(drop.key, static_cast<unsigned long long>(entry), head / 4U, head % 4);
    return draw < drop.below ? 0 : drop.kept;
}

#endif
