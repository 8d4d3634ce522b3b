/* How fast rows are gathered by a list of their numbers: the limit of every product with a sparse matrix.
 *
 * Each group of lanes sums DEGREE rows of a table for an output row, 16 bytes a lane and load, as a product
 * with a matrix of ones would; the list is read once, the sums are 1/64 of the bytes. Bytes are those of the
 * gathered rows.
 *
 * Orders: `random` (all rows alike), and `clustered`, where as many neighbouring outputs as a window has rows
 * draw from one window of neighbouring rows (`window` of them): each row of a window is read 64 times in all,
 * from L1 when the window is small, from L2 when it is large, whatever the footprint.
 *
 * For each row length all variants are tried at a footprint that L2 holds and at one that it does not: how
 * many loads a lane has in flight, whether the list comes as a load of each lane (`direct`) or as one of the
 * group that is dealt out by shuffles, with L1 kept free of rows (`passing`), and how many threads a
 * multiprocessor has (`all`: a block for every eight warps' outputs instead of a persistent grid). The best
 * of each then run over all footprints and orders. The highest rate at a footprint is the limit that products
 * are held against. */
#include "ptx.cuh"
#include "words.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace facts
{

namespace
{

constexpr int BLOCK = 256, DEGREE = 64;
constexpr uint32_t SEED = 21;
constexpr double MB = 1 << 20;
constexpr int thread_counts[] = {1024, 512,
                                 0}; /* of a multiprocessor, beside as many as it holds; 0: `all` */

__device__ inline void add_to(float4 &sum, float4 v)
{
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
}

/* Where a lane stands: lane `lane` of the `lanes` that share a row. */
struct Place {
    const float4 *table;
    int lane, lanes;
};

/* Adds ROWS rows to the sums; all loads are made before the first is used. The loops around
 * this are not unrolled, or more of them would be in flight than the variant says. */
template <int VECTORS, int ROWS, bool PASSING>
__device__ __forceinline__ void add_rows(const Place &at, const int (&index)[ROWS], float4 (&sum)[VECTORS])
{
    float4 value[ROWS][VECTORS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const float4 *const from =
                at.table + (static_cast<int64_t>(index[r]) * VECTORS + v) * at.lanes + at.lane;
            value[r][v] = PASSING ? load_passing(from) : __ldg(from);
        }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            add_to(sum[v], value[r][v]);
}

/* ROWS numbers of the list, the same for all lanes of a group; the list is aligned to as many. */
template <int ROWS> __device__ __forceinline__ void load_numbers(const int *list, int (&index)[ROWS])
{
    if constexpr (ROWS == 1) {
        index[0] = __ldg(list);
    } else if constexpr (ROWS == 2) {
        const int2 two = __ldg(reinterpret_cast<const int2 *>(list));
        index[0] = two.x;
        index[1] = two.y;
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r += 4) {
            const int4 four = __ldg(reinterpret_cast<const int4 *>(list + r));
            index[r] = four.x;
            index[r + 1] = four.y;
            index[r + 2] = four.z;
            index[r + 3] = four.w;
        }
    }
}

/* Each lane loads all numbers itself, those of the next step before the rows of this one. */
template <int VECTORS, int ROWS, bool PASSING>
__device__ __forceinline__ void sum_direct(const Place &at, const int *list, float4 (&sum)[VECTORS])
{
    int next[ROWS];
    load_numbers<ROWS>(list, next);
#pragma unroll 1
    for (int e = 0; e < DEGREE; e += ROWS) {
        int index[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            index[r] = next[r];
        if (e + ROWS < DEGREE)
            load_numbers<ROWS>(list + e + ROWS, next);
        add_rows<VECTORS, ROWS, PASSING>(at, index, sum);
    }
}

/* The group loads as many numbers as it has lanes, and shuffles deal them out. */
template <int VECTORS, int ROWS, bool PASSING>
__device__ __forceinline__ void sum_shuffled(const Place &at, const int *list, float4 (&sum)[VECTORS])
{
    int next = __ldg(list + at.lane);
#pragma unroll 1
    for (int e = 0; e < DEGREE; e += at.lanes) {
        const int own = next;
        if (e + at.lanes < DEGREE)
            next = __ldg(list + e + at.lanes + at.lane);
#pragma unroll 1
        for (int first = 0; first < at.lanes; first += ROWS) {
            int index[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                index[r] = __shfl_sync(FULL_WARP, own, first + r, at.lanes);
            add_rows<VECTORS, ROWS, PASSING>(at, index, sum);
        }
    }
}

/* `outputs` is a multiple of the groups in a warp, so that the groups of a warp take the same turns. */
template <int VECTORS, int ROWS, bool SHUFFLED, bool PASSING>
__global__ void __launch_bounds__(BLOCK, 1)
    gather_rows(const float4 *table, const int *list, int lanes, int outputs, float4 *out)
{
    const Place at = {table, static_cast<int>(threadIdx.x) % lanes, lanes};
    const int groups = static_cast<int>(gridDim.x) * (BLOCK / lanes);
    for (int o = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x) / lanes; o < outputs; o += groups) {
        float4 sum[VECTORS] = {};
        const int *const mine = list + static_cast<int64_t>(o) * DEGREE;
        if constexpr (SHUFFLED)
            sum_shuffled<VECTORS, ROWS, PASSING>(at, mine, sum);
        else
            sum_direct<VECTORS, ROWS, PASSING>(at, mine, sum);
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            out[(static_cast<int64_t>(o) * VECTORS + v) * lanes + at.lane] = sum[v];
    }
}

/* A thread for each output value; the largest error over the sum of magnitudes, as bits of a float. */
__global__ void compare_plain(const float *table, const int *list, int width, int64_t values,
                              const float *out, unsigned *worst)
{
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    unsigned mine = 0;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < values; k += stride) {
        const int64_t o = k / width, f = k % width;
        double sum = 0, magnitudes = 0;
        for (int e = 0; e < DEGREE; e++) {
            const double x =
                static_cast<double>(table[list[o * DEGREE + e] * static_cast<int64_t>(width) + f]);
            sum += x;
            magnitudes += x < 0 ? -x : x;
        }
        const double off = static_cast<double>(out[k]) - sum, error = (off < 0 ? -off : off) / magnitudes;
        /* What was never written is not a number, and compares as nothing. */
        const unsigned bits = error <= 1e30 ? __float_as_uint(static_cast<float>(error)) : 0x7f800000u;
        mine = max(mine, bits);
    }
    if (mine > 0)
        atomicMax(worst, mine);
}

/* Which rows: `window` 0 for random ones. */
struct Order {
    const char *name;
    uint32_t window;
};

__host__ __device__ inline int drawn_row(uint32_t entry, uint32_t rows, uint32_t window)
{
    const uint32_t word = word_at(entry, SEED + 1);
    if (window == 0)
        return static_cast<int>(scaled(word, rows));
    const uint32_t base = scaled(word_at(entry / DEGREE / window, SEED + 2), rows - window + 1);
    return static_cast<int>(base + scaled(word, window));
}

__global__ void draw_list(int *list, uint32_t entries, uint32_t rows, uint32_t window)
{
    const uint32_t stride = gridDim.x * blockDim.x;
    for (uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < entries; k += stride)
        list[k] = drawn_row(k, rows, window);
}

using Kernel = void (*)(const float4 *, const int *, int, int, float4 *);

struct Variant {
    Kernel kernel;
    int loads;
    const char *numbers;
    int threads; /* of a multiprocessor; 0: all outputs at once */
    double seconds;
    std::string name() const
    {
        return std::string(numbers) + ", " + std::to_string(loads) + " loads, " +
               (threads ? std::to_string(threads) : "all") + " threads";
    }
};

/* Eight rows of 2 KB in flight would be 128 registers: at most 64. */
template <int VECTORS> std::vector<Variant> variants_of_width()
{
    constexpr int V = VECTORS, AT_ONCE = V == 1 ? 4 : 2;
    std::vector<Variant> all = {{gather_rows<V, 4, true, false>, 4 * V, "shuffled", 0, 0},
                                {gather_rows<V, 4, false, false>, 4 * V, "direct", 0, 0},
                                {gather_rows<V, 2, true, false>, 2 * V, "shuffled", 0, 0},
                                {gather_rows<V, 2, false, false>, 2 * V, "direct", 0, 0},
                                {gather_rows<V, 1, true, false>, 1 * V, "shuffled", 0, 0}};
    if constexpr (V <= 2) {
        all.push_back({gather_rows<V, 8, true, false>, 8 * V, "shuffled", 0, 0});
        all.push_back({gather_rows<V, 8, false, false>, 8 * V, "direct", 0, 0});
    }
    all.push_back({gather_rows<V, AT_ONCE, true, true>, AT_ONCE * V, "passing, shuffled", 0, 0});
    return all;
}

std::vector<Variant> variants_of(int vectors)
{
    return vectors == 1   ? variants_of_width<1>()
           : vectors == 2 ? variants_of_width<2>()
                          : variants_of_width<4>();
}

class Gather
{
  public:
    Gather(Group &g, size_t largest, int row_bytes_)
        : group(g), table(random_floats(largest / 4, SEED)), row_bytes(row_bytes_),
          lanes(std::min(WARP, row_bytes / 16)), vectors(row_bytes / 16 / lanes),
          outputs(group.toy() ? 20 : static_cast<int>(2048 * MB / row_bytes / DEGREE)),
          list(static_cast<size_t>(outputs) * DEGREE), out(static_cast<size_t>(outputs) * row_bytes / 4)
    {
        if (outputs % (WARP / lanes) != 0)
            throw Failure("outputs that do not fill warps");
    }

    void all(const std::vector<double> &footprints, double in_l2);

  private:
    void draw(double footprint, Order order);
    double run(Variant &v, double footprint, Order order);
    Variant best(double footprint);
    Fields compared() const;
    void check_with_host(uint32_t rows, Order order, const std::vector<int> &numbers) const;

    Group &group;
    Buffer<float> table;
    int row_bytes, lanes, vectors, outputs;
    Buffer<int> list;
    Buffer<float> out;
    uint32_t rows_now = 0;
    Order order_now = {"random", 0};
};

void Gather::draw(double footprint, Order order)
{
    rows_now = static_cast<uint32_t>(footprint / row_bytes);
    order_now = order;
    if (static_cast<double>(table.bytes()) < footprint || rows_now < order.window)
        throw Failure("a footprint larger than the table, or smaller than a window");
    LAUNCH(draw_list, group.toy() ? 2 : 2048, BLOCK, 0, list.data(), static_cast<uint32_t>(list.size()),
           rows_now, order.window);
    synchronize();
}

/* The plain kernel's own mistakes would show here, at toy size. */
void Gather::check_with_host(uint32_t rows, Order order, const std::vector<int> &numbers) const
{
    const std::vector<float> sums = out.download();
    const uint32_t width = static_cast<uint32_t>(row_bytes / 4);
    for (size_t k = 0; k < sums.size(); k++) {
        const size_t o = k / width;
        double sum = 0;
        for (size_t e = o * DEGREE; e < (o + 1) * DEGREE; e++) {
            if (numbers[e] != drawn_row(static_cast<uint32_t>(e), rows, order.window))
                throw Failure("a list that is not what the formula draws");
            sum += unit(
                word_at(static_cast<uint32_t>(numbers[e]) * width + static_cast<uint32_t>(k) % width, SEED));
        }
        if (!(std::abs(sum - static_cast<double>(sums[k])) < 1e-4))
            throw Failure("a sum that is not the host's");
    }
}

Fields Gather::compared() const
{
    const Buffer<unsigned> worst(std::vector<unsigned>{0});
    LAUNCH(compare_plain, group.toy() ? 4 : 4096, BLOCK, 0, table.data(), list.data(), row_bytes / 4,
           static_cast<int64_t>(out.size()), out.data(), worst.data());
    synchronize();
    const unsigned bits = worst.download()[0];
    float error;
    std::memcpy(&error, &bits, sizeof error);
    if (!(error < 1e-6f))
        throw Failure("wrong sums: an error of " + std::to_string(error));
    if (group.toy())
        check_with_host(rows_now, order_now, list.download());
    return {{"error", static_cast<double>(error)}};
}

double Gather::run(Variant &v, double footprint, Order order)
{
    const int in_block = BLOCK / lanes, every = divide_up(outputs, in_block);
    const int resident = resident_blocks(v.kernel, BLOCK, 0);
    const int grid =
        v.threads ? std::min(every, std::min(v.threads / BLOCK, resident) * multiprocessors()) : every;
    check(cudaMemset(out.data(), 0xff, out.bytes()), "poison");
    Case c;
    c.parameters = {{"footprint", footprint},
                    {"row_bytes", row_bytes},
                    {"order", order.name},
                    {"window", static_cast<int>(order.window)},
                    {"variant", v.name()}};
    c.bytes = static_cast<double>(list.size()) * row_bytes;
    c.samples = 5;
    c.seconds = 0.1;
    c.launch = [&] {
        LAUNCH((*v.kernel), grid, BLOCK, 0, reinterpret_cast<const float4 *>(table.data()), list.data(),
               lanes, outputs, reinterpret_cast<float4 *>(out.data()));
    };
    c.check = [&] { return compared(); };
    v.seconds = group.run(c);
    return v.seconds;
}

Variant Gather::best(double footprint)
{
    const Order random = {"random", 0};
    draw(footprint, random);
    std::vector<Variant> tried;
    for (Variant v : variants_of(vectors)) {
        const int most = resident_blocks(v.kernel, BLOCK, 0) * BLOCK;
        std::vector<int> counts = {most};
        std::copy_if(std::begin(thread_counts), std::end(thread_counts), std::back_inserter(counts),
                     [&](int threads) { return threads < most; });
        for (const int threads : counts) {
            v.threads = threads;
            if (run(v, footprint, random) > 0)
                tried.push_back(v);
        }
    }
    if (tried.empty())
        throw Failure("no variant of the gather ran");
    return *std::min_element(tried.begin(), tried.end(),
                             [](const Variant &a, const Variant &b) { return a.seconds < b.seconds; });
}

void Gather::all(const std::vector<double> &footprints, double in_l2)
{
    Variant near = best(in_l2), far = group.toy() ? near : best(static_cast<double>(table.bytes()) / 4);
    const uint32_t small = group.toy() ? 16 : 64, large = group.toy() ? 64 : 4096;
    for (const Order order : {Order{"random", 0}, Order{"clustered", small}, Order{"clustered", large}})
        for (const double footprint : footprints) {
            draw(footprint, order);
            run(near, footprint, order);
            if (near.name() != far.name())
                run(far, footprint, order);
        }
}

} // namespace

void machine_gather(Group &group)
{
    const double largest = group.toy() ? MB / 2 : 4096 * MB, in_l2 = group.toy() ? MB / 4 : 24 * MB;
    std::vector<double> footprints = {4096 * MB, 16 * MB, 32 * MB,  48 * MB,  64 * MB,
                                      128 * MB,  8 * MB,  256 * MB, 512 * MB, 2048 * MB};
    if (group.toy())
        footprints = {MB / 2};
    for (const int row_bytes : {512, 256, 1024, 128, 2048})
        group.attempt({{"row_bytes", row_bytes}}, [&] {
            Gather gather(group, static_cast<size_t>(largest), row_bytes);
            gather.all(footprints, in_l2);
        });
}

} // namespace facts
