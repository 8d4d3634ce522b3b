/* Shared memory: how fast lanes read it, and how fast tiles are copied into it.
 *
 * Loads: every lane of full multiprocessors reads 4, 8 or 16 bytes at `stride` times that many from its
 * neighbour's: stride 1 is free of bank conflicts, and what stride s costs is the rate at 1 over the rate at
 * s.
 *
 * Copies: each block runs through its tiles with `stages` of them in flight, by asynchronous copies of 16
 * bytes a lane
 * (`cp.async`) or by bulk copies, from a footprint that L2 holds and from one that it does not. `row_bytes`
 * is the tile itself where it is one run of memory, or 512 where it is gathered from rows at random places,
 * one bulk copy each. In timed runs each thread reads 16 bytes of a tile; a run that reads all is compared
 * with a plain kernel. The rates say what a product gains that stages its operands, beside those of
 * gather.cu. */
#include "copies.cuh"
#include "words.cuh"

#include <algorithm>

namespace facts
{

namespace
{

constexpr int BLOCK = 256;
constexpr uint32_t SEED = 31;
/* Words of shared memory that loads start in, so many that a warp's accesses of 16 bytes at stride 32 are
 * distinct, and with those that eight turns go beyond. */
constexpr uint32_t POOL = 4096, POOL_AND_MORE = POOL + 8 * 128 * 4;
constexpr double MB = 1 << 20;

__device__ __host__ inline uint32_t total(uint32_t v) { return v; }
__device__ __host__ inline uint32_t total(uint2 v) { return v.x + v.y; }
__device__ __host__ inline uint32_t total(uint4 v) { return v.x + v.y + v.z + v.w; }

/* The place, in accesses, that a thread reads in turn `k`: eight turns are 128 accesses apart, then all move
 * on. */
__host__ __device__ inline uint32_t place_of(uint32_t thread, uint32_t k, uint32_t stride, uint32_t places)
{
    return (thread * stride + k / 8 * 32) % places + k % 8 * 128;
}

template <class T>
__global__ void __launch_bounds__(BLOCK)
    read_shared(const uint32_t *words, uint32_t stride, uint32_t turns, uint32_t *sums)
{
    DYNAMIC_SHARED(memory);
    constexpr uint32_t places = POOL * 4 / sizeof(T); /* a power of two */
    uint32_t *const as_words = reinterpret_cast<uint32_t *>(memory);
    for (uint32_t k = threadIdx.x; k < POOL_AND_MORE; k += BLOCK)
        as_words[k] = words[k];
    __syncthreads();
    const T *const pool = reinterpret_cast<const T *>(memory);
    uint32_t sum = 0, at = threadIdx.x * stride;
    for (uint32_t k = 0; k < turns; k += 8, at += 32) {
        const T *const from = pool + at % places;
        T v[8];
#pragma unroll
        for (uint32_t u = 0; u < 8; u++)
            v[u] = load_shared(from + u * 128);
#pragma unroll
        for (uint32_t u = 0; u < 8; u++)
            sum += total(v[u]);
    }
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* A thread for each thread of a block: all blocks read the same. */
__global__ void plain_shared(const uint32_t *words, uint32_t access_words, uint32_t stride, uint32_t turns,
                             uint32_t *sums)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < turns; k++) {
        const uint32_t place = place_of(threadIdx.x, k, stride, POOL / access_words);
        for (uint32_t w = 0; w < access_words; w++)
            sum += words[place * access_words + w];
    }
    sums[threadIdx.x] = static_cast<uint32_t>(sum);
}

uint32_t host_shared(uint32_t access_words, uint32_t stride, uint32_t turns, uint32_t thread)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < turns; k++)
        for (uint32_t w = 0; w < access_words; w++)
            sum += word_at(place_of(thread, k, stride, POOL / access_words) * access_words + w, SEED);
    return sum;
}

template <class T> void measure_loads(Group &group, const Buffer<uint32_t> &words, uint32_t stride)
{
    constexpr uint32_t access_words = sizeof(T) / 4;
    constexpr size_t pool_bytes = POOL_AND_MORE * 4;
    const Fields parameters = {
        {"what", "load"}, {"access", static_cast<int>(sizeof(T))}, {"stride", static_cast<int>(stride)}};
    group.attempt(parameters, [&] {
        const uint32_t turns = group.toy() ? 32 : 8192;
        allow_shared(read_shared<T>, pool_bytes);
        const int resident = resident_blocks(read_shared<T>, BLOCK, pool_bytes);
        const int grid = multiprocessors() * std::max(1, resident);
        const Buffer<uint32_t> sums(static_cast<size_t>(grid) * BLOCK), plain(BLOCK);
        check(cudaMemset(sums.data(), 0xff, sums.bytes()), "poison");
        Case c;
        c.parameters = parameters;
        c.parameters.push_back({"threads", resident * BLOCK});
        c.bytes = static_cast<double>(sums.size()) * turns * sizeof(T);
        c.seconds = 0.2;
        c.launch = [&] {
            LAUNCH((read_shared<T>), grid, BLOCK, pool_bytes, words.data(), stride, turns, sums.data());
        };
        c.check = [&] {
            LAUNCH(plain_shared, 1, BLOCK, 0, words.data(), access_words, stride, turns, plain.data());
            synchronize();
            const std::vector<uint32_t> got = sums.download(), expected = plain.download();
            for (uint32_t t = 0; t < BLOCK && group.toy(); t++)
                (void)exact(expected[t], host_shared(access_words, stride, turns, t));
            return all_exact(got, expected);
        };
        group.run(c);
    });
}

/* Tiles of rows, in pieces of 16 bytes. Tile n is of rows n * in_tile and on, or of as many rows at random.
 */
struct Tiles {
    const uint4 *source;
    uint32_t row_bits, in_tile, rows; /* a row has 2^row_bits pieces; rows in the footprint */
    bool gathered;
    uint32_t each; /* tiles of a block */
    __host__ __device__ uint32_t row_pieces() const { return 1u << row_bits; }
    __host__ __device__ uint32_t pieces() const { return in_tile << row_bits; }
    __host__ __device__ size_t row_start(uint32_t tile, uint32_t row) const
    {
        const uint32_t k = tile * in_tile + row;
        return size_t{gathered ? scaled(mixed(k), rows) : k % rows} << row_bits;
    }
    __host__ __device__ size_t start(uint32_t tile, uint32_t piece) const
    {
        return row_start(tile, piece >> row_bits) + (piece & (row_pieces() - 1));
    }
};

/* What is said of a tile: depends on every word that is read, and on their order. */
__host__ __device__ inline uint32_t digest(uint32_t hash, uint4 v)
{
    hash = hash * 0x9e3779b1u + v.x;
    hash = hash * 0x9e3779b1u + v.y;
    hash = hash * 0x9e3779b1u + v.z;
    return hash * 0x9e3779b1u + v.w;
}

/* A thread reads pieces that another warp has copied. */
__host__ __device__ inline uint32_t first_piece(uint32_t thread) { return (thread + BLOCK / 2) % BLOCK; }

__device__ __forceinline__ uint32_t read_tile(const uint4 *tile, uint32_t pieces, bool whole, uint32_t hash)
{
    for (uint32_t p = first_piece(threadIdx.x); p < pieces; p += whole ? BLOCK : pieces)
        hash = digest(hash, load_shared(tile + p));
    return hash;
}

__device__ __forceinline__ void begin_lane_copies(const Tiles &t, uint32_t tile, uint4 *to)
{
    if (t.gathered) {
        for (uint32_t p = threadIdx.x; p < t.pieces(); p += BLOCK)
            copy_async(to + p, t.source + t.start(tile, p));
    } else {
        const uint4 *const from = t.source + t.start(tile, 0); /* one row: found once */
        for (uint32_t p = threadIdx.x; p < t.pieces(); p += BLOCK)
            copy_async(to + p, from + p);
    }
}

template <int STAGES>
__global__ void __launch_bounds__(BLOCK) copy_by_lanes(Tiles t, bool whole, uint32_t *hashes)
{
    DYNAMIC_SHARED(memory);
    uint4 *const stages = reinterpret_cast<uint4 *>(memory);
    for (uint32_t k = 0; k < STAGES; k++) {
        if (k < t.each)
            begin_lane_copies(t, blockIdx.x + k * gridDim.x, stages + k * t.pieces());
        end_group(); /* an empty one as well: they are counted */
    }
    uint32_t hash = 0;
    for (uint32_t k = 0; k < t.each; k++) {
        uint4 *const stage = stages + k % STAGES * t.pieces();
        wait_groups<STAGES - 1>();
        __syncthreads();
        hash = read_tile(stage, t.pieces(), whole, hash);
        __syncthreads();
        if (k + STAGES < t.each)
            begin_lane_copies(t, blockIdx.x + (k + STAGES) * gridDim.x, stage);
        end_group();
    }
    hashes[blockIdx.x * BLOCK + threadIdx.x] = hash;
}

/* The first warp's lanes each start the copies of some rows. */
__device__ __forceinline__ void begin_bulk_copies(const Tiles &t, uint32_t tile, uint4 *to, uint64_t *barrier)
{
    if (threadIdx.x >= WARP)
        return;
    if (threadIdx.x == 0)
        barrier_expect(barrier, t.pieces() * 16);
    __syncwarp();
    for (uint32_t row = threadIdx.x; row < t.in_tile; row += WARP)
        copy_bulk(to + row * t.row_pieces(), t.source + t.row_start(tile, row), t.row_pieces() * 16, barrier);
}

__global__ void __launch_bounds__(BLOCK) copy_in_bulk(Tiles t, uint32_t stages, bool whole, uint32_t *hashes)
{
    DYNAMIC_SHARED(memory);
    __shared__ uint64_t barriers[4];
    uint4 *const tiles = reinterpret_cast<uint4 *>(memory);
    if (threadIdx.x < stages)
        barrier_begin(barriers + threadIdx.x);
    __syncthreads();
    for (uint32_t k = 0; k < stages && k < t.each; k++)
        begin_bulk_copies(t, blockIdx.x + k * gridDim.x, tiles + k * t.pieces(), barriers + k);
    uint32_t hash = 0, stage = 0, phase = 0;
    for (uint32_t k = 0; k < t.each; k++) {
        uint4 *const tile = tiles + stage * t.pieces();
        if (!barrier_wait(barriers + stage, phase))
            return; /* all threads of the block alike; what is not written shows */
        hash = read_tile(tile, t.pieces(), whole, hash);
        __syncthreads();
        if (k + stages < t.each)
            begin_bulk_copies(t, blockIdx.x + (k + stages) * gridDim.x, tile, barriers + stage);
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }
    hashes[blockIdx.x * BLOCK + threadIdx.x] = hash;
}

/* A thread for each hash, straight from global memory. */
__global__ void plain_tiles(Tiles t, uint32_t *hashes)
{
    uint32_t hash = 0;
    for (uint32_t k = 0; k < t.each; k++)
        for (uint32_t p = first_piece(threadIdx.x); p < t.pieces(); p += BLOCK)
            hash = digest(hash, t.source[t.start(blockIdx.x + k * gridDim.x, p)]);
    hashes[blockIdx.x * BLOCK + threadIdx.x] = hash;
}

/* k of 2^k. */
uint32_t bits_of(uint32_t power)
{
    uint32_t bits = 0;
    while (1u << bits < power)
        bits++;
    return bits;
}

struct Copy {
    bool bulk;
    uint32_t tile, stages;
    int blocks; /* of a multiprocessor */
    double footprint;
    bool gathered;
};

void start(const Copy &c, const Tiles &t, int grid, bool whole, uint32_t *hashes)
{
    const size_t bytes = size_t{c.tile} * c.stages;
    if (c.bulk)
        LAUNCH(copy_in_bulk, grid, BLOCK, bytes, t, c.stages, whole, hashes);
    else if (c.stages == 1)
        LAUNCH((copy_by_lanes<1>), grid, BLOCK, bytes, t, whole, hashes);
    else if (c.stages == 2)
        LAUNCH((copy_by_lanes<2>), grid, BLOCK, bytes, t, whole, hashes);
    else if (c.stages == 3)
        LAUNCH((copy_by_lanes<3>), grid, BLOCK, bytes, t, whole, hashes);
    else
        LAUNCH((copy_by_lanes<4>), grid, BLOCK, bytes, t, whole, hashes);
}

int most_blocks(const Copy &c)
{
    const size_t bytes = size_t{c.tile} * c.stages;
    return c.bulk          ? resident_blocks(copy_in_bulk, BLOCK, bytes)
           : c.stages == 1 ? resident_blocks(copy_by_lanes<1>, BLOCK, bytes)
           : c.stages == 2 ? resident_blocks(copy_by_lanes<2>, BLOCK, bytes)
           : c.stages == 3 ? resident_blocks(copy_by_lanes<3>, BLOCK, bytes)
                           : resident_blocks(copy_by_lanes<4>, BLOCK, bytes);
}

/* As much as a block may have, and of a multiprocessor all: else only one block may be resident of two. */
template <class Kernel> void allow_most(Kernel *kernel)
{
    allow_shared(kernel, shared_per_block() - 1024); /* the barriers' own */
#if !EMULATED
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared),
          "share of shared memory");
#endif
}

void allow_tiles()
{
    allow_most(copy_in_bulk);
    allow_most(copy_by_lanes<1>);
    allow_most(copy_by_lanes<2>);
    allow_most(copy_by_lanes<3>);
    allow_most(copy_by_lanes<4>);
}

/* The same by the host's loop over words that it computes itself, for the first block. */
void check_host_tiles(const Tiles &t, uint32_t grid, const std::vector<uint32_t> &expected)
{
    for (uint32_t thread = 0; thread < BLOCK; thread++) {
        uint32_t hash = 0;
        for (uint32_t k = 0; k < t.each; k++)
            for (uint32_t p = first_piece(thread); p < t.pieces(); p += BLOCK) {
                const size_t from = t.start(k * grid, p);
                const uint32_t w = static_cast<uint32_t>(from * 4);
                hash = digest(hash, make_uint4(word_at(w, SEED), word_at(w + 1, SEED), word_at(w + 2, SEED),
                                               word_at(w + 3, SEED)));
            }
        (void)exact(expected[thread], hash);
    }
}

void measure_copy(Group &group, const Buffer<uint32_t> &words, const Copy &copy)
{
    const uint32_t row_bytes = copy.gathered ? 512 : copy.tile;
    const Fields parameters = {{"what", copy.bulk ? "bulk copy" : "cp.async"},
                               {"tile", static_cast<int>(copy.tile)},
                               {"stages", static_cast<int>(copy.stages)},
                               {"blocks", copy.blocks},
                               {"footprint", copy.footprint},
                               {"row_bytes", static_cast<int>(row_bytes)}};
    group.attempt(parameters, [&] {
        const int grid = copy.blocks * multiprocessors();
        const double bytes = group.toy() ? 8.0 * grid * copy.tile : 1024 * MB;
        Tiles t = {reinterpret_cast<const uint4 *>(words.data()),
                   bits_of(row_bytes / 16),
                   copy.tile / row_bytes,
                   static_cast<uint32_t>(copy.footprint / row_bytes),
                   copy.gathered,
                   static_cast<uint32_t>(bytes / copy.tile / grid)};
        const Buffer<uint32_t> hashes(static_cast<size_t>(grid) * BLOCK), plain(hashes.size());
        Case c;
        c.parameters = parameters;
        c.bytes = static_cast<double>(t.each) * grid * copy.tile;
        c.samples = 5;
        c.seconds = 0.05;
        c.launch = [&] { start(copy, t, grid, false, hashes.data()); };
        c.check = [&] {
            check(cudaMemset(hashes.data(), 0xff, hashes.bytes()), "poison");
            start(copy, t, grid, true, hashes.data());
            LAUNCH(plain_tiles, grid, BLOCK, 0, t, plain.data());
            synchronize();
            const std::vector<uint32_t> got = hashes.download(), expected = plain.download();
            if (group.toy())
                check_host_tiles(t, static_cast<uint32_t>(grid), expected);
            return all_exact(got, expected);
        };
        group.run(c);
    });
}

void measure_copies(Group &group, const Buffer<uint32_t> &words, bool bulk_too)
{
    allow_tiles();
    const double all = static_cast<double>(words.bytes()), in_l2 = group.toy() ? all / 4 : 24 * MB;
    const uint32_t largest = group.toy() ? 16 : 64;
    for (const double footprint : {in_l2, all})
        for (const bool gathered : {true, false})
            for (const uint32_t stages : {2, 4, 1, 3})
                for (uint32_t kb = largest; kb >= 8; kb /= 2)
                    for (const bool bulk : {true, false})
                        for (const int blocks : {1, 2}) {
                            const Copy copy = {bulk, kb * 1024, stages, blocks, footprint, gathered};
                            const bool fits = size_t{copy.tile} * stages <= shared_per_block() - 1024;
                            if ((bulk && !bulk_too) || !fits || most_blocks(copy) < blocks)
                                continue;
                            if (!group.toy() || (blocks == 1 && (stages % 2 || kb == 8)))
                                measure_copy(group, words, copy);
                        }
}

bool has_bulk_copies()
{
#if EMULATED
    return true;
#else
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "device attribute");
    return major >= 9;
#endif
}

} // namespace

void machine_shared(Group &group)
{
    {
        const Buffer<uint32_t> words = random_words(POOL_AND_MORE, SEED);
        for (const uint32_t stride : {1, 2, 4, 8, 16, 32}) {
            if (group.toy() && stride != 1 && stride != 4)
                continue;
            measure_loads<uint32_t>(group, words, stride);
            measure_loads<uint4>(group, words, stride);
            measure_loads<uint2>(group, words, stride);
        }
    }
    group.attempt({{"what", "copies"}}, [&] {
        const Buffer<uint32_t> words =
            random_words(static_cast<size_t>((group.toy() ? 1 : 2048) * MB / 4), SEED);
        const bool bulk = has_bulk_copies();
        if (!bulk)
            group.attempt({{"what", "bulk copy"}}, [] { throw Failure("needs compute capability 9.0"); });
        measure_copies(group, words, bulk);
    });
}

} // namespace facts
