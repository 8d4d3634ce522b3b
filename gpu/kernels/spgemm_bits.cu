/* Counts of which the most frequent columns are bits (spgemm_bits.cuh), and what makes these: a warp takes a
 * row of B, sets its bits in shared memory, and moves what is left together. */
#include "gpu/kernels/spgemm_bits.cuh"

#define PAIRS(bits)                                                                                          \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_BLOCK, 2)                                        \
        spgemm_pair_bits_##bits(ftb_spgemm_arguments a)                                                      \
    {                                                                                                        \
        count_unit<bits>(a,                                                                                  \
                         [&](const ftb_spgemm_unit &u, unsigned *words) { count_hot<bits>(a, u, words); });  \
    }                                                                                                        \
    FTB_KERNEL(spgemm_pair_bits_##bits);
FTB_SPGEMM_PAIRS(PAIRS)

extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK, 4) spgemm_bits(ftb_spgemm_hot_arguments a)
{
    constexpr int WARPS = FTB_SPGEMM_STEP_BLOCK / WARP;
    __shared__ unsigned bits[WARPS][FTB_SPGEMM_MOST_LINES * WARP];
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const long long row = static_cast<long long>(blockIdx.x) * WARPS + threadIdx.x / WARP;
    if (row >= a.nrows)
        return; /* the whole warp */
    unsigned *const mine = bits[threadIdx.x / WARP];
    for (int line = 0; line < a.lines; line++)
        mine[line * WARP + lane] = 0;
    __syncwarp();
    const long long begin = a.row[row], end = a.row[row + 1];
    long long to = begin;
    for (long long p = begin + lane; p - lane < end; p += WARP) {
        const int column = p < end ? a.col[p] : 0, id = p < end ? a.id[column] : -1;
        if (id >= 0)
            atomicOr(mine + id / FTB_SPGEMM_LINE * WARP + id % WARP, 1u << id / WARP % 32);
        const bool rests = p < end && id < 0;
        const unsigned found = __ballot_sync(FTB_FULL_WARP, rests);
        if (rests)
            a.rest[to + __popc(found & ((1u << lane) - 1))] = column;
        to += __popc(found);
    }
    __syncwarp();
    for (int line = 0; line < a.lines; line++)
        a.bits[(line * a.nrows + row) * WARP + lane] = mine[line * WARP + lane];
    if (lane == 0)
        a.end[row] = to;
}
FTB_KERNEL(spgemm_bits);
