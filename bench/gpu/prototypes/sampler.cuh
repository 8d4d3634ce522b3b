/* Picking k of a vertex's neighbours without replacement, by a group of 8, 16 or 32 lanes. What is picked
 * depends on (seed, batch, vertex, hop) alone: every random word is Philox of a counter of these and of the
 * draw's number. The lanes only share the work, so that all widths and all schedules pick the same.
 *
 * FLOYD: pick i draws one of 0 .. degree - k + i and takes degree - k + i itself if that is taken already.
 * Draws are made at once; which of them are taken is settled by comparing lanes and following chains of
 * repeats. k draws always. REJECTION: the first k distinct ones of a sequence of draws, as many at once as
 * are missing; the lanes vote. */
#pragma once

#include "../support/device.cuh"
#include "../support/philox.cuh"

#if EMULATED
#define LAUNCH_ON(stream, kernel, grid, block, shared, ...) LAUNCH(kernel, grid, block, shared, __VA_ARGS__)
#else
#define LAUNCH_ON(stream, kernel, grid, block, shared, ...)                                                  \
    (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#endif

namespace facts
{
namespace sampler
{

constexpr int MAX_FANOUT = 16, MAX_HOPS = 3;
constexpr int SAMPLER_BLOCK = 256; /* the largest block of any kernel here */
enum Method { FLOYD, REJECTION };

/* What all kernels need to know. Not arrays: those, indexed at run time, would be copied to local memory. */
struct Sampling {
    const int *rowptr, *colidx;
    int nvertices;
    uint64_t seed;
    uint32_t first_batch;
    int batch_size; /* seeds of a batch */
    int hops, fanout0, fanout1, fanout2;
    int most_draws; /* of REJECTION; then the first that are free */

    __host__ __device__ int fanout(int hop) const
    {
        return hop == 0 ? fanout0 : hop == 1 ? fanout1 : fanout2;
    }
    /* Places of one batch at a hop, if every vertex above had its full fanout. */
    __host__ __device__ int places(int hop) const
    {
        return batch_size * (hop > 0 ? fanout0 : 1) * (hop > 1 ? fanout1 : 1);
    }
    /* Where the picks of a hop begin: hops lie one behind another, the picks of place p at p x fanout. */
    __host__ __device__ int first_pick(int hop, int nbatches) const
    {
        return (hop > 0 ? nbatches * places(0) * fanout0 : 0) +
               (hop > 1 ? nbatches * places(1) * fanout1 : 0);
    }
};

/* One of a warp's groups of LANES neighbouring lanes. */
template <int LANES> struct Group32 {
    int lane, shift;
    unsigned low, mask;
    __device__ Group32()
        : lane(static_cast<int>(threadIdx.x) % LANES), shift(static_cast<int>(threadIdx.x) % WARP - lane),
          low(FULL_WARP >> (WARP - LANES)), mask(low << shift)
    {
    }
    __device__ unsigned vote(bool yes) const { return (__ballot_sync(mask, yes) >> shift) & low; }
    __device__ int value_of(int lane_, int value) const { return __shfl_sync(mask, value, lane_, LANES); }
};

/* A vertex whose neighbours are to be picked. */
struct Where {
    uint32_t batch;
    int vertex, hop;
};

template <int LANES> constexpr int slots = (MAX_FANOUT + LANES - 1) / LANES;

__device__ inline int draw_below(const Sampling &s, const Where &w, int number, int limit)
{
    const uint32_t counter = static_cast<uint32_t>(w.hop) << 24 | static_cast<uint32_t>(number >> 2);
    const Draw d = philox(s.seed, static_cast<uint32_t>(w.vertex), 0, w.batch, counter);
    const uint32_t word =
        number & 2 ? (number & 1 ? d.word[3] : d.word[2]) : (number & 1 ? d.word[1] : d.word[0]);
    return static_cast<int>(__umulhi(word, static_cast<uint32_t>(limit)));
}

/* Pick number i is left in slot i / LANES of lane i % LANES. */
template <int LANES>
__device__ void pick_floyd(const Sampling &s, const Group32<LANES> &g, const Where &w, int degree, int k,
                           int (&pick)[slots<LANES>])
{
    constexpr int SLOTS = slots<LANES>;
    const int first = degree - k;
    bool repeat[SLOTS];
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) {
        const int i = slot * LANES + g.lane;
        pick[slot] = i < k ? draw_below(s, w, i, first + i + 1) : -1;
        repeat[slot] = false;
    }
#pragma unroll
    for (int from = 0; from < SLOTS; from++)
        for (int l = 0; l < LANES && from * LANES + l < k; l++) {
            const int other = g.value_of(l, pick[from]);
#pragma unroll
            for (int slot = 0; slot < SLOTS; slot++)
                repeat[slot] |= other == pick[slot] && from * LANES + l < slot * LANES + g.lane;
        }
    /* A draw of `first + m` is taken, too, if pick m < i was a repeat and so became that. */
    for (unsigned known = 0;;) {
        unsigned repeats = 0;
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++)
            repeats |= g.vote(repeat[slot]) << (slot * LANES);
        if (repeats == known)
            break;
        known = repeats;
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            const int m = pick[slot] - first;
            repeat[slot] |= m >= 0 && m < slot * LANES + g.lane && (known >> m & 1);
        }
    }
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++)
        pick[slot] = repeat[slot] ? first + slot * LANES + g.lane : pick[slot];
}

/* `list`: MAX_FANOUT words of shared memory of the group's own. */
template <int LANES>
__device__ void pick_by_rejection(const Sampling &s, const Group32<LANES> &g, const Where &w, int degree,
                                  int k, int *list, int (&pick)[slots<LANES>])
{
    int found = 0;
    for (int drawn = 0; found < k && drawn < s.most_draws;) {
        const int missing = min(min(k - found, LANES), s.most_draws - drawn);
        const int candidate = g.lane < missing ? draw_below(s, w, drawn + g.lane, degree) : -1;
        bool fresh = candidate >= 0;
        for (int m = 0; m < found; m++)
            fresh &= list[m] != candidate;
        for (int l = 0; l < missing; l++)
            fresh &= !(g.value_of(l, candidate) == candidate && l < g.lane);
        const unsigned won = g.vote(fresh);
        if (fresh)
            list[found + __popc(won & ((1u << g.lane) - 1))] = candidate;
        found += __popc(won);
        drawn += missing;
        __syncwarp(g.mask);
    }
    if (g.lane == 0)
        for (int next = 0; found < k && next < degree; next++) {
            bool fresh = true;
            for (int m = 0; m < found; m++)
                fresh &= list[m] != next;
            if (fresh)
                list[found++] = next;
        }
    __syncwarp(g.mask);
#pragma unroll
    for (int slot = 0; slot < slots<LANES>; slot++)
        pick[slot] = slot * LANES + g.lane < k ? list[slot * LANES + g.lane] : -1;
    __syncwarp(g.mask);
}

/* The picked neighbours of one vertex, -1 beyond the last; all of them where there are no more than the
 * fanout. A vertex of -1 has none. */
template <int LANES, int METHOD>
__device__ void pick_neighbours(const Sampling &s, const Group32<LANES> &g, const Where &w, int *list,
                                int (&pick)[slots<LANES>])
{
    const int first = w.vertex < 0 ? 0 : s.rowptr[w.vertex];
    const int degree = w.vertex < 0 ? 0 : s.rowptr[w.vertex + 1] - first;
    const int k = s.fanout(w.hop);
    if (degree <= k) {
#pragma unroll
        for (int slot = 0; slot < slots<LANES>; slot++)
            pick[slot] = slot * LANES + g.lane;
    } else if (METHOD == FLOYD) {
        pick_floyd<LANES>(s, g, w, degree, k, pick);
    } else {
        pick_by_rejection<LANES>(s, g, w, degree, k, list, pick);
    }
#pragma unroll
    for (int slot = 0; slot < slots<LANES>; slot++)
        pick[slot] = slot * LANES + g.lane < min(k, degree) ? s.colidx[first + pick[slot]] : -1;
}

/* Stores a vertex's picks, in their order. */
template <int LANES>
__device__ void store_picks(const Group32<LANES> &g, int k, const int (&pick)[slots<LANES>], int *out)
{
#pragma unroll
    for (int slot = 0; slot < slots<LANES>; slot++)
        if (slot * LANES + g.lane < k)
            out[slot * LANES + g.lane] = pick[slot];
}

/* Shared memory of a block: a list for every group. */
template <int LANES> __device__ int *own_list(unsigned char *memory)
{
    return reinterpret_cast<int *>(memory) + static_cast<int>(threadIdx.x) / LANES * MAX_FANOUT;
}
inline size_t list_bytes(int block, int lanes)
{
    return static_cast<size_t>(block / lanes) * MAX_FANOUT * sizeof(int);
}

/* The sum of `mine` over the lanes before this one, and over all. */
__device__ inline int warp_offset(int mine, int &total)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    int sum = mine;
#pragma unroll
    for (int by = 1; by < WARP; by *= 2) {
        const int other = __shfl_up_sync(FULL_WARP, sum, by);
        sum += lane >= by ? other : 0;
    }
    total = __shfl_sync(FULL_WARP, sum, WARP - 1);
    return sum - mine;
}

/* One pick of a task, mixed into a number that sums of such tell apart from others. */
__host__ __device__ inline uint64_t fingerprint(uint32_t key, int hop, int number, uint32_t pick)
{
    uint64_t x = (uint64_t{key} << 32 | pick) +
                 uint64_t{0x9E3779B97F4A7C15u} * static_cast<uint64_t>(hop * 64 + number + 1);
    for (int round = 0; round < 2; round++) {
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
        x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    }
    return x ^ x >> 31;
}

/* The instance of a kernel for a number of lanes and a method, both known at run time only. */
template <class Make> auto instance(int lanes, int method, Make make)
{
    using W8 = std::integral_constant<int, 8>;
    using W16 = std::integral_constant<int, 16>;
    using W32 = std::integral_constant<int, 32>;
    using F = std::integral_constant<int, FLOYD>;
    using R = std::integral_constant<int, REJECTION>;
    if (method == FLOYD)
        return lanes == 8 ? make(W8{}, F{}) : lanes == 16 ? make(W16{}, F{}) : make(W32{}, F{});
    return lanes == 8 ? make(W8{}, R{}) : lanes == 16 ? make(W16{}, R{}) : make(W32{}, R{});
}

} // namespace sampler
} // namespace facts
