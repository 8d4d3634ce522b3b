/* Philox4x32-10, as the host draws (Random123). Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011. */
#ifndef FTB_DRAWS_CUH
#define FTB_DRAWS_CUH

#include "gpu/kernels/kernel.cuh"

struct PhiloxWords {
    unsigned a, b, c, d;
    /* Word n of 0 .. 3, from registers. */
    __device__ __forceinline__ unsigned word(int n) const { return n == 0 ? a : n == 1 ? b : n == 2 ? c : d; }
};

/* Of the key (k0, k1) and the counter's words: its two lower ones, the third and the fourth. */
static __device__ __forceinline__ PhiloxWords philox(unsigned k0, unsigned k1, unsigned long long counter,
                                                     unsigned third, unsigned fourth = 0)
{
    PhiloxWords w = {static_cast<unsigned>(counter), static_cast<unsigned>(counter >> 32), third, fourth};
    for (int round = 0; round < 10; round++) {
        const unsigned high0 = __umulhi(0xD2511F53u, w.a), low0 = 0xD2511F53u * w.a;
        const unsigned high2 = __umulhi(0xCD9E8D57u, w.c), low2 = 0xCD9E8D57u * w.c;
        w = {high2 ^ w.b ^ k0, low2, high0 ^ w.d ^ k1, low0};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return w;
}

#endif
