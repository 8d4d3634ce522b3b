/* Sampling with every vertex kept once, as the frameworks' blocks need it: the vertices of hop h + 1 are
 * those of hop h (first, in their order) and what they pick, in the order of the first pick that reaches
 * each; edges are renumbered to these. Level by level, without a count on the host: sizes stay on the device
 * and grids are bounds.
 *
 * A table, direct (a word for each vertex of each batch) or hashed, holds for each vertex its number or,
 * while it has none, the least position of a pick that reached it: numbers are then a running sum over
 * positions and do not depend on the order of lanes. A key is batch x nvertices + vertex. */
#pragma once

#include "sampler.cuh"

namespace facts
{
namespace sampler
{

constexpr uint32_t NO_KEY = ~0u, POSITION = 1u << 31; /* what is not yet numbered has this bit set */
constexpr int CHUNK = 1024;                           /* positions that a block counts at once */
constexpr int CHUNK_BLOCK = 256;
constexpr int SCAN_BLOCK = 1024;

template <bool HASHED> struct Table;

template <> struct Table<false> {
    uint32_t *words;
    uint32_t mask; /* unused */
    __device__ void lower(uint32_t key, uint32_t value) const
    {
        if (*const_cast<volatile uint32_t *>(words + key) > value)
            atomicMin(words + key, value);
    }
    __device__ uint32_t value(uint32_t key) const { return words[key]; }
};

/* Open addressing, twice as many places as keys; a word is key and value, so that one comparison finds and
 * lowers. */
template <> struct Table<true> {
    unsigned long long *words;
    uint32_t mask;
    __device__ uint32_t home(uint32_t key) const { return key * 0x9E3779B1u >> 7 ^ key * 0x85EBCA77u; }
    __device__ void lower(uint32_t key, uint32_t value) const
    {
        const unsigned long long entry = static_cast<unsigned long long>(key) << 32 | value;
        for (uint32_t probe = 0, at = home(key); probe <= mask; probe++, at++) {
            unsigned long long *word = words + (at & mask),
                               there = *const_cast<volatile unsigned long long *>(word);
            if (there == ~0ull) {
                there = atomicCAS(word, ~0ull, entry);
                if (there == ~0ull)
                    return;
            }
            if (there >> 32 == key) {
                if (there > entry)
                    atomicMin(word, entry);
                return;
            }
        }
    }
    __device__ uint32_t value(uint32_t key) const
    {
        for (uint32_t probe = 0, at = home(key); probe <= mask; probe++, at++) {
            const unsigned long long there = words[at & mask];
            if (there >> 32 == key)
                return static_cast<uint32_t>(there);
            if (there == ~0ull)
                break;
        }
        return NO_KEY;
    }
};

/* One hop's part of the state; sizes[h] vertices are known before hop h. */
struct Level {
    int hop, fanout;
    int first_position;  /* of the hop's picks among all */
    const int *nodes_in; /* sizes + hop */
    int *nodes_out;      /* sizes + hop + 1 */
    uint32_t *nodes;     /* keys, by number */
    uint32_t *edges;     /* keys, later numbers: fanout for each vertex, NO_KEY beyond the last */
    unsigned *flags;     /* a bit for each pick that is the first to reach its vertex */
    int *chunks;         /* how many such bits a chunk has; then where its numbers begin */
};

__device__ inline int global_thread() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int all_threads() { return static_cast<int>(gridDim.x * blockDim.x); }

static __global__ __launch_bounds__(CHUNK_BLOCK) void clear_words(unsigned long long *words, int64_t count)
{
    for (int64_t k = global_thread(); k < count; k += all_threads())
        words[k] = ~0ull;
}

/* Seeds, distinct within a batch, are numbered as they come. */
template <bool HASHED>
__global__ __launch_bounds__(CHUNK_BLOCK) void number_seeds(const uint32_t *seeds, int nseeds,
                                                            uint32_t *nodes, int *sizes, Table<HASHED> table)
{
    const int k = global_thread();
    if (k == 0)
        sizes[0] = nseeds;
    if (k >= nseeds)
        return;
    nodes[k] = seeds[k];
    table.lower(seeds[k], static_cast<uint32_t>(k));
}

template <int LANES, int METHOD, bool HASHED>
__global__ __launch_bounds__(SAMPLER_BLOCK) void sample_level(const Sampling s, const Level level,
                                                              Table<HASHED> table)
{
    DYNAMIC_SHARED(memory);
    const Group32<LANES> g;
    const int nnodes = *level.nodes_in, k = level.fanout;
    for (int node = global_thread() / LANES; node < nnodes; node += all_threads() / LANES) {
        const uint32_t key = level.nodes[node], batch = key / static_cast<uint32_t>(s.nvertices);
        const uint32_t base = batch * static_cast<uint32_t>(s.nvertices);
        int pick[slots<LANES>];
        pick_neighbours<LANES, METHOD>(s, g, {s.first_batch + batch, static_cast<int>(key - base), level.hop},
                                       own_list<LANES>(memory), pick);
#pragma unroll
        for (int slot = 0; slot < slots<LANES>; slot++) {
            const int i = slot * LANES + g.lane;
            if (i >= k)
                continue;
            const int position = node * k + i;
            const uint32_t picked = pick[slot] < 0 ? NO_KEY : base + static_cast<uint32_t>(pick[slot]);
            level.edges[position] = picked;
            if (picked != NO_KEY)
                table.lower(picked, POSITION | static_cast<uint32_t>(level.first_position + position));
        }
    }
}

template <bool HASHED>
__global__ __launch_bounds__(CHUNK_BLOCK) void count_new(const Level level, Table<HASHED> table)
{
    __shared__ int sum;
    const int positions = *level.nodes_in * level.fanout, lane = static_cast<int>(threadIdx.x) % WARP;
    for (int chunk = static_cast<int>(blockIdx.x); chunk * CHUNK < positions;
         chunk += static_cast<int>(gridDim.x)) {
        if (threadIdx.x == 0)
            sum = 0;
        __syncthreads();
        for (int k = static_cast<int>(threadIdx.x); k < CHUNK; k += CHUNK_BLOCK) {
            const int position = chunk * CHUNK + k;
            const uint32_t key = position < positions ? level.edges[position] : NO_KEY;
            const uint32_t own = POSITION | static_cast<uint32_t>(level.first_position + position);
            const unsigned news = __ballot_sync(FULL_WARP, key != NO_KEY && table.value(key) == own);
            if (lane == 0) {
                level.flags[position / WARP] = news;
                atomicAdd(&sum, __popc(news));
            }
        }
        __syncthreads();
        if (threadIdx.x == 0)
            level.chunks[chunk] = sum;
        __syncthreads();
    }
}

/* One block: where the numbers of each chunk begin, after those that are known; and how many there are then.
 */
static __global__ __launch_bounds__(SCAN_BLOCK) void scan_chunks(const Level level)
{
    __shared__ int warp_sums[WARP];
    const int positions = *level.nodes_in * level.fanout, nchunks = (positions + CHUNK - 1) / CHUNK;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / WARP,
              nwarps = static_cast<int>(blockDim.x) / WARP;
    int start = *level.nodes_in;
    for (int first = 0; first < nchunks; first += static_cast<int>(blockDim.x)) {
        const int chunk = first + thread;
        int total;
        int at = warp_offset(chunk < nchunks ? level.chunks[chunk] : 0, total);
        if (thread % WARP == 0)
            warp_sums[warp] = total;
        __syncthreads();
        int all = 0;
        for (int w = 0; w < nwarps; w++) {
            at += w < warp ? warp_sums[w] : 0;
            all += warp_sums[w];
        }
        if (chunk < nchunks)
            level.chunks[chunk] = start + at;
        start += all;
        __syncthreads();
    }
    if (thread == 0)
        *level.nodes_out = start;
}

template <bool HASHED>
__global__ __launch_bounds__(CHUNK_BLOCK) void number_new(const Level level, Table<HASHED> table)
{
    __shared__ int starts[CHUNK / WARP];
    const int positions = *level.nodes_in * level.fanout, lane = static_cast<int>(threadIdx.x) % WARP;
    for (int chunk = static_cast<int>(blockIdx.x); chunk * CHUNK < positions;
         chunk += static_cast<int>(gridDim.x)) {
        if (threadIdx.x < WARP) {
            int total;
            starts[lane] =
                level.chunks[chunk] + warp_offset(__popc(level.flags[chunk * (CHUNK / WARP) + lane]), total);
        }
        __syncthreads();
        for (int k = static_cast<int>(threadIdx.x); k < CHUNK; k += CHUNK_BLOCK) {
            const unsigned news = level.flags[chunk * (CHUNK / WARP) + k / WARP];
            if (!(news >> lane & 1))
                continue;
            const uint32_t key = level.edges[chunk * CHUNK + k];
            const int number = starts[k / WARP] + __popc(news & ((1u << lane) - 1));
            level.nodes[number] = key;
            table.lower(key, static_cast<uint32_t>(number)); /* below every position */
        }
        __syncthreads();
    }
}

template <bool HASHED>
__global__ __launch_bounds__(CHUNK_BLOCK) void renumber(const Level level, Table<HASHED> table)
{
    const int positions = *level.nodes_in * level.fanout;
    for (int k = global_thread(); k < positions; k += all_threads())
        if (level.edges[k] != NO_KEY)
            level.edges[k] = table.value(level.edges[k]);
}

/* The buffers of the levels, and the launches of one sample. */
template <bool HASHED> class Unique
{
    using Word = std::conditional_t<HASHED, unsigned long long, uint32_t>;

  public:
    Unique(const Sampling &s_, int nbatches) : s(s_), nseeds(nbatches * s_.batch_size)
    {
        const int64_t keys = int64_t{nbatches} * s.nvertices;
        int64_t bound = nseeds, positions = nseeds;
        int64_t most = 0;
        for (int hop = 0; hop < s.hops; hop++) {
            first_edge[hop] = positions - nseeds;
            first_position[hop] = static_cast<int>(positions);
            bounds[hop] = std::min(bound, keys);
            most = std::max(most, bounds[hop] * s.fanout(hop));
            positions += bounds[hop] * s.fanout(hop);
            bound = bounds[hop] * (1 + s.fanout(hop));
        }
        bound = std::min(bound, keys);
        if (positions >= int64_t{1} << 31 || keys >= int64_t{1} << 31)
            throw Failure("more positions or keys than 31 bits hold");
        int64_t places = 64;
        while (places < 2 * bound)
            places *= 2;
        table_words = HASHED ? places : keys + keys % 2;
        table = Buffer<Word>(static_cast<size_t>(table_words));
        nodes = Buffer<uint32_t>(static_cast<size_t>(bound));
        edges = Buffer<uint32_t>(static_cast<size_t>(positions - nseeds));
        flags = Buffer<unsigned>(static_cast<size_t>(most / WARP + CHUNK));
        chunks = Buffer<int>(static_cast<size_t>(most / CHUNK + 1));
        sizes = Buffer<int>(MAX_HOPS + 1);
    }

    /* Puts a sample's kernels on a stream: one to clear, one for the seeds, five for a hop. */
    void launch(cudaStream_t stream, const uint32_t *seeds, uint32_t first_batch, int lanes, int method,
                int block)
    {
        Sampling now = s;
        now.first_batch = first_batch;
        (void)stream; /* the emulation has but one */
        const Table<HASHED> t = {table.data(), static_cast<uint32_t>(table_words - 1)};
        const int wide = 16 * multiprocessors();
        const int64_t pairs = static_cast<int64_t>(table.bytes() / sizeof(unsigned long long));
        LAUNCH_ON(stream, clear_words, std::min(wide, divide_up(pairs, CHUNK_BLOCK)), CHUNK_BLOCK, 0,
                  reinterpret_cast<unsigned long long *>(table.data()), pairs);
        LAUNCH_ON(stream, (number_seeds<HASHED>), divide_up(nseeds, CHUNK_BLOCK), CHUNK_BLOCK, 0, seeds,
                  nseeds, nodes.data(), sizes.data(), t);
        const auto sample = instance(lanes, method, [](auto l, auto m) {
            return &sample_level<decltype(l)::value, decltype(m)::value, HASHED>;
        });
        for (int hop = 0; hop < s.hops; hop++) {
            const Level level = level_of(hop);
            const int64_t positions = bounds[hop] * s.fanout(hop);
            const int grid = std::min(wide, divide_up(positions, CHUNK));
            LAUNCH_ON(stream, sample, std::min(wide, divide_up(bounds[hop] * lanes, block)), block,
                      list_bytes(block, lanes), now, level, t);
            LAUNCH_ON(stream, (count_new<HASHED>), grid, CHUNK_BLOCK, 0, level, t);
            LAUNCH_ON(stream, scan_chunks, 1, EMULATED ? 64 : SCAN_BLOCK, 0, level);
            LAUNCH_ON(stream, (number_new<HASHED>), grid, CHUNK_BLOCK, 0, level, t);
            LAUNCH_ON(stream, (renumber<HASHED>), std::min(wide, divide_up(positions, CHUNK_BLOCK)),
                      CHUNK_BLOCK, 0, level, t);
        }
    }
    int launches() const { return 2 + 5 * s.hops; }

    Level level_of(int hop) const
    {
        return {hop,
                s.fanout(hop),
                first_position[hop],
                sizes.data() + hop,
                sizes.data() + hop + 1,
                nodes.data(),
                edges.data() + first_edge[hop],
                flags.data(),
                chunks.data()};
    }

    Buffer<uint32_t> nodes, edges;
    Buffer<int> sizes;
    int64_t first_edge[MAX_HOPS] = {}, bounds[MAX_HOPS] = {};
    int64_t table_bytes() const { return static_cast<int64_t>(table.bytes()); }

  private:
    Sampling s;
    int nseeds;
    int first_position[MAX_HOPS] = {};
    int64_t table_words = 0;
    Buffer<Word> table;
    Buffer<unsigned> flags;
    Buffer<int> chunks;
};

} // namespace sampler
} // namespace facts
