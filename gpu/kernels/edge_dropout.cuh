/* What dropout makes of an entry's value for a head: the host's draws (cpu/kernels/attend.c), Philox of the
 * counter (entry, head / 4), a word for each head. */
#ifndef FTB_EDGE_DROPOUT_CUH
#define FTB_EDGE_DROPOUT_CUH

#include "gpu/kernels/draws.cuh"
#include "gpu/kernels/edge_dropout.h"

/* 1 where nothing is dropped. */
static __device__ __forceinline__ float keep_of(const ftb_edge_dropout &drop, long long entry, int head)
{
    if (drop.below == 0)
        return 1;
    const unsigned low = drop.key_at ? drop.key_at[0] : drop.key[0],
                   high = drop.key_at ? drop.key_at[1] : drop.key[1];
    const unsigned draw = philox(low, high, static_cast<unsigned long long>(entry), head / 4U).word(head % 4);
    return draw < drop.below ? 0 : drop.kept;
}

#endif
