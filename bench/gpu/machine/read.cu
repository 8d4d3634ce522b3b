/* What memory gives: bandwidth of reads against the footprint, of writes and copies, and the latency of a
 * load.
 *
 * Bandwidth: a persistent grid reads tiles of the footprint, 16 bytes a lane and several loads in flight,
 * past L1; the footprint is read over and over until a launch moves gigabytes, and each time another
 * multiprocessor reads a tile, so that what fits into L2 comes from both of its halves alike. Two variants,
 * the best at 24 MB and the best at 4 GB, are then measured over all footprints: the rate falls where L2
 * ends.
 *
 * Latency: one lane follows a chain of lines, each load's address from the load before. In a footprint that
 * L2 holds each line's own latency is kept; the lines fall into two kinds, near and far half of L2, told
 * apart where the variance within both is least. Averages are of a second walk without a clock at each step.
 */
#include "ptx.cuh"
#include "words.cuh"

#include <algorithm>

namespace facts
{

namespace
{

constexpr int BLOCK = 512;
constexpr uint32_t SEED = 11;
constexpr uint64_t MB = 1 << 20;

/* Item w of the work is a tile of pass w / tiles. 17 tiles on in each pass: other multiprocessors read it. */
__device__ inline uint32_t tile_of(uint32_t w, uint32_t tiles)
{
    return (w % tiles + w / tiles * 17u) % tiles;
}

template <int LOADS>
__global__ void __launch_bounds__(BLOCK, 1)
    sum_words(const uint4 *words, uint32_t tiles, uint32_t items, uint32_t *sums)
{
    uint32_t sum = 0;
    for (uint32_t w = blockIdx.x; w < items; w += gridDim.x) {
        const uint4 *const mine = words + size_t{tile_of(w, tiles)} * (BLOCK * LOADS) + threadIdx.x;
        uint4 v[LOADS];
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            v[l] = __ldcg(mine + l * BLOCK);
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            sum += v[l].x + v[l].y + v[l].z + v[l].w;
    }
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

template <int LOADS>
__global__ void __launch_bounds__(BLOCK, 1)
    copy_words(const uint4 *from, uint32_t tiles, uint32_t items, uint4 *to)
{
    for (uint32_t w = blockIdx.x; w < items; w += gridDim.x) {
        const size_t at = size_t{tile_of(w, tiles)} * (BLOCK * LOADS) + threadIdx.x;
        uint4 v[LOADS];
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            v[l] = __ldcg(from + at + l * BLOCK);
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            to[at + l * BLOCK] = v[l];
    }
}

/* Four words a lane, of their places: what wrong_words() looks for. */
__global__ void __launch_bounds__(BLOCK) write_words(uint32_t tiles, uint32_t items, uint4 *to)
{
    for (uint32_t w = blockIdx.x; w < items; w += gridDim.x) {
        const size_t at = size_t{tile_of(w, tiles)} * BLOCK + threadIdx.x;
        const uint32_t first = static_cast<uint32_t>(at * 4);
        to[at] = make_uint4(word_at(first, SEED), word_at(first + 1, SEED), word_at(first + 2, SEED),
                            word_at(first + 3, SEED));
    }
}

struct Variant {
    int loads, blocks;
    double seconds; /* of the trial */
    std::string name() const
    {
        return std::to_string(loads) + " loads, " + std::to_string(blocks * BLOCK) + " threads";
    }
};

struct Sizes {
    uint64_t footprint;
    uint32_t tiles, items;
    double bytes;
};

Sizes sizes_of(uint64_t footprint, int loads, uint64_t least)
{
    const uint64_t tile = uint64_t{BLOCK} * 16 * static_cast<uint64_t>(loads);
    const uint64_t tiles = footprint / tile, passes = std::max<uint64_t>(1, least / footprint);
    if (tiles * tile != footprint)
        throw Failure("a footprint that is not of whole tiles");
    return {footprint, static_cast<uint32_t>(tiles), static_cast<uint32_t>(tiles * passes),
            static_cast<double>(passes * footprint)};
}

uint64_t least_moved(const Group &group) { return group.toy() ? MB : 2048 * MB; }

void check_host_sum(const uint32_t *words, size_t count, uint32_t sum)
{
    uint32_t expected = 0;
    for (size_t k = 0; k < count; k++)
        expected += word_at(static_cast<uint32_t>(k), SEED);
    (void)exact(sum, expected);
    (void)exact(wrong_words(words, count, SEED), 0);
}

/* 0 where a multiprocessor does not hold so many blocks. */
template <int LOADS>
double read_with(Group &group, const Buffer<uint32_t> &words, uint64_t footprint, int blocks)
{
    const Sizes s = sizes_of(footprint, LOADS, least_moved(group));
    if (blocks > resident_blocks(sum_words<LOADS>, BLOCK, 0))
        return 0;
    const int grid = blocks * multiprocessors();
    const Buffer<uint32_t> sums(static_cast<size_t>(grid) * BLOCK);
    check(cudaMemset(sums.data(), 0xff, sums.bytes()), "poison");
    Case c;
    c.parameters = {{"what", "bandwidth"},
                    {"footprint", static_cast<double>(footprint)},
                    {"variant", Variant{LOADS, blocks, 0}.name()}};
    c.bytes = s.bytes;
    c.seconds = 0.2;
    c.launch = [&] {
        LAUNCH((sum_words<LOADS>), grid, BLOCK, 0, reinterpret_cast<const uint4 *>(words.data()), s.tiles,
               s.items, sums.data());
    };
    c.check = [&] {
        uint32_t sum = 0;
        for (const uint32_t x : sums.download())
            sum += x;
        const uint32_t once = plain_sum(words.data(), footprint / 4);
        if (group.toy())
            check_host_sum(words.data(), footprint / 4, once);
        return exact(sum, once * (s.items / s.tiles));
    };
    return group.run(c);
}

double read_words(Group &group, const Buffer<uint32_t> &words, uint64_t footprint, const Variant &v)
{
    return v.loads == 8   ? read_with<8>(group, words, footprint, v.blocks)
           : v.loads == 4 ? read_with<4>(group, words, footprint, v.blocks)
                          : read_with<2>(group, words, footprint, v.blocks);
}

/* The fastest variant at one footprint; all are recorded. */
Variant best_variant(Group &group, const Buffer<uint32_t> &words, uint64_t footprint)
{
    Variant best = {4, 2, 0};
    for (const int loads : {8, 4, 2})
        for (const int blocks : {4, 3, 2}) {
            const double taken = read_words(group, words, footprint, {loads, blocks, 0});
            if (taken > 0 && (best.seconds == 0 || taken < best.seconds))
                best = {loads, blocks, taken};
        }
    return best;
}

void measure_reads(Group &group, const Buffer<uint32_t> &words)
{
    const uint64_t largest = words.bytes(), middle = group.toy() ? MB / 2 : 24 * MB;
    const Variant far = best_variant(group, words, largest), near = best_variant(group, words, middle);
    std::vector<uint64_t> footprints = {1 * MB,    8 * MB,  32 * MB, 48 * MB,  64 * MB, 128 * MB,
                                        1024 * MB, 16 * MB, 40 * MB, 56 * MB,  96 * MB, 256 * MB,
                                        512 * MB,  2 * MB,  4 * MB,  2048 * MB};
    if (group.toy())
        footprints = {MB / 4};
    for (const uint64_t footprint : footprints) {
        if (footprint > largest)
            continue;
        read_words(group, words, footprint, near);
        if (near.name() != far.name())
            read_words(group, words, footprint, far);
    }
}

void measure_copies(Group &group, const Buffer<uint32_t> &words)
{
    constexpr int LOADS = 4;
    const uint64_t footprint = std::min<uint64_t>(words.bytes(), group.toy() ? MB / 4 : 1024 * MB);
    const Buffer<uint32_t> to(footprint / 4);
    const auto wrong = [&] { return exact(wrong_words(to.data(), footprint / 4, SEED), 0); };
    for (const int blocks : {2, 4}) {
        const int grid = blocks * multiprocessors();
        const Sizes one = sizes_of(footprint, 1, 0), four = sizes_of(footprint, LOADS, 0);
        const std::string variant = std::to_string(blocks * BLOCK) + " threads";
        Case c;
        c.seconds = 0.2;
        check(cudaMemset(to.data(), 0xff, footprint), "poison");
        c.parameters = {
            {"what", "copy"}, {"footprint", static_cast<double>(footprint)}, {"variant", variant}};
        c.bytes = 2 * four.bytes;
        c.launch = [&] {
            LAUNCH((copy_words<LOADS>), grid, BLOCK, 0, reinterpret_cast<const uint4 *>(words.data()),
                   four.tiles, four.items, reinterpret_cast<uint4 *>(to.data()));
        };
        c.check = wrong;
        group.run(c);
        check(cudaMemset(to.data(), 0xff, footprint), "poison");
        c.parameters[0] = {"what", "write"};
        c.bytes = one.bytes;
        c.launch = [&] {
            LAUNCH(write_words, grid, BLOCK, 0, one.tiles, one.items, reinterpret_cast<uint4 *>(to.data()));
        };
        group.run(c);
    }
    check(cudaMemset(to.data(), 0xff, footprint), "poison");
    Case c;
    c.parameters = {
        {"what", "copy"}, {"footprint", static_cast<double>(footprint)}, {"variant", "cudaMemcpy"}};
    c.bytes = 2 * static_cast<double>(footprint);
    c.launch = [&] {
        check(cudaMemcpy(to.data(), words.data(), footprint, cudaMemcpyDeviceToDevice),
              "copy within the device");
    };
    c.check = wrong;
    group.run(c);
}

/* Latency. A line is 128 bytes; its first word has the number of the next one. */
constexpr uint32_t LINE_WORDS = 32, MOST_STEPS = 8192;

/* A permutation of 0 .. lines - 1 in one cycle, lines a power of two (Hull and Dobell). */
__host__ __device__ inline uint32_t next_line(uint32_t line, uint32_t lines)
{
    return (line * 1664525u + 1013904223u) & (lines - 1);
}

__global__ void link_lines(uint32_t *words, uint32_t lines)
{
    for (uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < lines; k += gridDim.x * blockDim.x)
        words[size_t{k} * LINE_WORDS] = next_line(k, lines);
}

struct Walk {
    uint32_t last;
    unsigned multiprocessor;
    long long ticks; /* of the walk without clocks at each step */
    uint64_t nanoseconds;
};

template <bool L1> __device__ inline uint32_t follow(const uint32_t *words, uint32_t line)
{
    const uint32_t *const at = words + size_t{line} * LINE_WORDS;
    return L1 ? load_kept(at) : __ldcg(at);
}

/* Block `chosen` walks; the others only hold the other multiprocessors, so that it is not always the same. */
template <bool L1>
__global__ void walk_lines(const uint32_t *words, uint32_t steps, int passes, unsigned chosen, Walk *walk,
                           uint16_t *latency)
{
    __shared__ uint32_t seen; /* to store what came waits for it */
    __shared__ uint16_t least[MOST_STEPS];
    if (blockIdx.x != chosen || threadIdx.x != 0)
        return;
    uint32_t line = chosen; /* two walks do not meet: what one brought into L2 would serve the other */
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t step = 0; step < steps; step++) {
            const long long from = ticks();
            line = follow<L1>(words, line);
            store_shared(&seen, line);
            const long long taken = min(ticks() - from, 65535ll);
            /* The first of several passes only brings the lines into the cache. */
            if (pass <= 1 || taken < least[step])
                least[step] = static_cast<uint16_t>(taken);
        }
    const long long from = ticks();
    const uint64_t since = nanoseconds();
    for (uint32_t step = 0; step < MOST_STEPS; step++) /* so many that the device's wall clock can tell */
        line = follow<L1>(words, line);
    store_shared(&seen, line);
    walk->ticks = ticks() - from;
    walk->nanoseconds = nanoseconds() - since;
    walk->last = line;
    walk->multiprocessor = multiprocessor_id();
    for (uint32_t step = 0; step < steps; step++)
        latency[step] = least[step];
}

struct Halves {
    double near, far, share; /* medians, and the near ones' share */
};

/* Two kinds, where the variance between them is largest. */
Halves halves_of(std::vector<double> t)
{
    std::sort(t.begin(), t.end());
    double all = 0, left = 0, best = -1;
    for (const double x : t)
        all += x;
    const double n = static_cast<double>(t.size());
    size_t cut = 1;
    for (size_t k = 1; k < t.size(); k++) {
        left += t[k - 1];
        const double m = static_cast<double>(k), apart = left / m - (all - left) / (n - m);
        const double between = m * (n - m) * apart * apart;
        if (between > best) {
            best = between;
            cut = k;
        }
    }
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(cut);
    return {median({t.begin(), t.begin() + at}), median({t.begin() + at, t.end()}),
            static_cast<double>(cut) / n};
}

template <bool L1>
void measure_walk(Group &group, const Buffer<uint32_t> &words, uint32_t lines, unsigned chosen,
                  const char *level)
{
    const uint32_t steps = std::min(lines, MOST_STEPS);
    const int passes = lines > MOST_STEPS ? 1 : 4;
    const Fields parameters = {{"what", "latency"},
                               {"footprint", static_cast<double>(lines) * LINE_WORDS * 4},
                               {"level", level},
                               {"block", static_cast<int>(chosen)}};
    group.attempt(parameters, [&] {
        const Buffer<Walk> walk(1);
        const Buffer<uint16_t> latency(steps);
        const int grid = multiprocessors();
        LAUNCH((walk_lines<L1>), grid, 1, 0, words.data(), steps, passes, chosen, walk.data(),
               latency.data());
        synchronize();
        const Walk w = walk.download()[0];
        uint32_t line = chosen;
        for (uint64_t k = 0; k < uint64_t{steps} * static_cast<uint64_t>(passes) + MOST_STEPS; k++)
            line = next_line(line, lines);
        (void)exact(w.last, line);
        const double tick = static_cast<double>(w.nanoseconds) * 1e-9 / static_cast<double>(w.ticks);
        std::vector<double> each;
        for (const uint16_t t : latency.download())
            each.push_back(t * tick);
        const Halves h = halves_of(each);
        group.record(parameters, {static_cast<double>(w.nanoseconds) * 1e-9 / MOST_STEPS},
                     {{"error", 0.0},
                      {"multiprocessor", static_cast<int>(w.multiprocessor)},
                      {"sm_clock_hz", 1 / tick},
                      {"stepwise", median(each)},
                      {"near_half", h.near},
                      {"far_half", h.far},
                      {"near_share", h.share}});
    });
}

void measure_latency(Group &group)
{
    /* In each chain are more lines than multiprocessors: a walk starts at the line of its block's number. */
    const uint32_t largest = group.toy() ? 1024 : 1u << 25, in_l2 = group.toy() ? 512 : 1u << 13;
    const Buffer<uint32_t> words(size_t{largest} * LINE_WORDS);
    const auto link = [&](uint32_t lines) {
        LAUNCH(link_lines, group.toy() ? 1 : 1024, 256, 0, words.data(), lines);
        synchronize();
    };
    link(in_l2);
    const int count = multiprocessors(), walks = std::min(8, count);
    for (int k = 0; k < walks; k++)
        measure_walk<false>(group, words, in_l2, static_cast<unsigned>(k * count / walks), "L2");
    const uint32_t in_l1 = 64;
    link(in_l1);
    measure_walk<true>(group, words, in_l1, 0, "L1");
    link(largest);
    for (int k = 0; k < std::min(2, count); k++)
        measure_walk<false>(group, words, largest, static_cast<unsigned>(k * count / 2), "memory");
}

} // namespace

void machine_read(Group &group)
{
    {
        const uint64_t largest = group.toy() ? MB : 4096 * MB;
        const Buffer<uint32_t> words = random_words(largest / 4, SEED);
        measure_reads(group, words);
        group.attempt({{"what", "copy"}}, [&] { measure_copies(group, words); });
    }
    group.attempt({{"what", "latency"}}, [&] { measure_latency(group); });
}

} // namespace facts
