/* Draws of sampling, as the host's (src/core/draws.h), and uniform picks of a row by lanes side by side.
 *
 * Floyd's algorithm without a set, all draws at once: draw t is one of the first n - k + t + 1 positions, and
 * stands for the last of these, n - k + t, where it was picked before. It was if an earlier draw is equal, or
 * if it is n - k + s, s < t, and draw s stands for its last. So a draw looks at the earlier ones once, and
 * follows s to s' ... until one of them has an equal; positions beyond n - k are rare, and chains short.
 * Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987. */
#ifndef FTB_SAMPLE_DRAWS_CUH
#define FTB_SAMPLE_DRAWS_CUH

#include "gpu/kernels/draws.cuh"
#include "gpu/kernels/sample_steps.h"

namespace
{

constexpr int DRAW_BLOCK_BITS = 23;
constexpr unsigned DRAW_BLOCKS = 0xff000001u; /* the second half of FTB_DRAW_BLOCKS */
constexpr unsigned long long DRAW_MORE =
    1ull << (32 + DRAW_BLOCK_BITS); /* of a stream: 32 more bits of its draws */

__device__ __forceinline__ PhiloxWords draw_words(unsigned long long seed, unsigned long long vertex,
                                                  unsigned long long stream, unsigned long long block)
{
    const unsigned long long beyond = block >> DRAW_BLOCK_BITS;
    if (beyond) {
        const PhiloxWords mixed =
            philox(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32), beyond, 0, DRAW_BLOCKS);
        seed = static_cast<unsigned long long>(mixed.b) << 32 | mixed.a;
        block &= (1ull << DRAW_BLOCK_BITS) - 1;
    }
    const unsigned long long half = stream | block << 32;
    return philox(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32), vertex,
                  static_cast<unsigned>(half), static_cast<unsigned>(half >> 32));
}

/* One of 0 .. n - 1, n below 2^31: draw t, of few blocks. */
__device__ __forceinline__ int draw_below(int n, unsigned long long seed, unsigned long long vertex,
                                          unsigned long long stream, int t)
{
    const unsigned long long block = static_cast<unsigned long long>(t / 4);
    const unsigned long long high = draw_words(seed, vertex, stream, block).word(t % 4);
    const unsigned count = static_cast<unsigned>(n);
    const unsigned long long product = high * count;
    if (static_cast<unsigned>(product) <= 0xffffffffu - count)
        return static_cast<int>(product >> 32);
    const unsigned long long more = draw_words(seed, vertex, stream | DRAW_MORE, block).word(t % 4);
    return static_cast<int>(__umul64hi(high << 32 | more, count));
}

/* Lanes side by side that have a row. */
template <int LANES> struct Group {
    int lane;
    __device__ __forceinline__ Group() : lane(static_cast<int>(threadIdx.x) % LANES) {}
    template <class T> __device__ __forceinline__ T of(T value, int from) const
    {
        return __shfl_sync(FTB_FULL_WARP, value, from, LANES);
    }
    /* Lanes of the group, bit 0 being its first, for which something holds. */
    __device__ __forceinline__ unsigned which(bool holds) const
    {
        const unsigned all = __ballot_sync(FTB_FULL_WARP, holds);
        return LANES == 32
                   ? all
                   : all >> (static_cast<int>(threadIdx.x) % 32 / LANES * LANES) & ((1u << (LANES % 32)) - 1);
    }
};

/* The picks of a row by its lanes, one each, of all lanes of the warp together. */
struct Picked {
    int count;    /* of the row */
    int position; /* this lane's, if it has one; of all lanes in no order */
};

template <int LANES>
__device__ __forceinline__ Picked pick_uniform(const Group<LANES> &g, long long degree, int k, bool replace,
                                               unsigned long long seed, unsigned long long vertex,
                                               unsigned long long stream)
{
    const int n = static_cast<int>(degree), t = g.lane;
    const bool all = !replace && n <= k;
    const int count = all ? n : n > 0 ? k : 0, first = n - k;
    const bool mine = t < count && !all;
    int position = t;
    if (mine)
        position = draw_below(replace ? n : first + t + 1, seed, vertex, stream, t);
    if (replace)
        return {count, position};
    const int others = -1 - static_cast<int>(threadIdx.x % 32); /* nobody else's */
    const int group = static_cast<int>(threadIdx.x) % 32 / LANES * LANES;
    const unsigned same = __match_any_sync(FTB_FULL_WARP, mine ? position : others) >> group;
    bool again = mine && (same & ((1u << t) - 1)) != 0;
    int before = mine && position >= first && position < first + t ? position - first : -1;
    if (again)
        before = -1;
    while (__any_sync(FTB_FULL_WARP, before >= 0)) {
        const int at = before >= 0 ? before : t;
        const bool was = g.of(static_cast<int>(again), at) != 0;
        const int next = g.of(before, at);
        if (before >= 0) {
            again = was;
            before = was ? -1 : next;
        }
    }
    return {count, mine && again ? first + t : position};
}

/* How many of the group's first `count` lanes come before this one, by a and then by b. */
template <int LANES, class A>
__device__ __forceinline__ int rank_of(const Group<LANES> &g, A a, int b, int count)
{
    int rank = 0;
#pragma unroll
    for (int other = 0; other < LANES; other++) {
        const A its = g.of(a, other);
        const int also = g.of(b, other);
        rank += other < count && (its < a || (its == a && also < b));
    }
    return rank;
}

} // namespace

#endif
