/* Draws through tables of rows (src/cpu/sample/row_draws.c), to the host's bits: draw d of 64 bits falls on
 * place floor(u n / 2^64) of a row of n entries, and the 32 bits below the point say whether it is that entry
 * or the other one of its slot. */
#ifndef FTB_SAMPLE_SLOTS_CUH
#define FTB_SAMPLE_SLOTS_CUH

#include "gpu/kernels/sample_draws.cuh"

namespace
{

__device__ __forceinline__ unsigned slot_below(unsigned long long slot)
{
    return static_cast<unsigned>(slot);
}
__device__ __forceinline__ int slot_other(unsigned long long slot) { return static_cast<int>(slot >> 32); }
/* Of a row's first slot. */
__device__ __forceinline__ bool no_table(unsigned long long slot) { return slot_other(slot) < 0; }

/* A row's draws. */
struct Drawn {
    const unsigned long long *slots;
    unsigned n;
    unsigned long long seed, vertex, stream;
    __device__ __forceinline__ int entry(long long d) const
    {
        const unsigned long long block = static_cast<unsigned long long>(d) / 4;
        const unsigned long long high = draw_words(seed, vertex, stream, block).word(static_cast<int>(d % 4));
        const unsigned long long low =
            draw_words(seed, vertex, stream | DRAW_MORE, block).word(static_cast<int>(d % 4));
        const unsigned long long product = high * n + (low * n >> 32);
        const unsigned long long slot = __ldg(slots + (product >> 32));
        return static_cast<unsigned>(product) >= slot_below(slot) ? slot_other(slot)
                                                                  : static_cast<int>(product >> 32);
    }
};

} // namespace

#endif
