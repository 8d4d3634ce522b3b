/* y = A x with the much-used sources of a block of rows read from shared memory (the hybrid partitioning of
 * Hu et al., "FeatGraph", SC 2020, section IV-A, here decided for each block of rows).
 *
 * Rows are sorted by degree and cut into blocks. A column that a block of rows uses at least `threshold`
 * times is hot there. A block's hot columns, the most used first, are taken a tile at a time: their rows of x
 * (32 or 16 features of them) are copied into shared memory, and every row of the block adds those that it
 * uses; its sums stay in registers over all tiles. The other entries are added by the direct kernel
 * afterwards. Each byte of a tile is read from L2 once and from shared memory `threshold` times or more,
 * where the direct kernel would read L2 each time.
 *
 * Swept: threshold, columns of a tile, and the shape: lanes a row, rows a group of lanes (which make the row
 * block). Limit: entries x d x 4 bytes at the rate of shared memory for the hot entries, at the gather rate
 * for the others. */
#include "blocks.cuh"

#include <algorithm>
#include <numeric>
#include <thread>

namespace facts
{

namespace
{

/* The hot part on the host. Groups of lanes are numbered through a block; a tile's entries are in the order
 * of groups, each group's in the order of its rows. */
struct Tiling {
    int rows_per_block = 0, nblocks = 0;
    std::vector<int> order;        /* order[k]: the row at place k */
    std::vector<int> tile_start;   /* of each block; nblocks + 1 */
    std::vector<int> column_start; /* of each tile, in columns; ntiles + 1 */
    std::vector<int> columns;      /* hot columns */
    std::vector<int> entry_start;  /* of each tile and group, in entries; ntiles x groups */
    std::vector<uint16_t> count;   /* entries of each tile and row of the block; ntiles x rows_per_block */
    std::vector<uint16_t> entries; /* a column's place in its tile */
    std::vector<int> cold_rowptr, cold_colidx;
    double seconds = 0; /* that making it took */
};

struct Shape {
    int lanes, rows, threads; /* lanes a row, rows a group, threads a block */
    int groups() const { return threads / lanes; }
    int block_rows() const { return groups() * rows; }
};

/* What one block of rows contributes. */
struct BlockTiles {
    std::vector<int> tile_columns, columns, entry_start;
    std::vector<uint16_t> count, entries;
    std::vector<std::vector<int>> cold;
};

struct Tiler {
    const Graph &g;
    const Shape &shape;
    int threshold, tile;
    const std::vector<int> &order;
    std::vector<int> used, place; /* of each column; zero and -1 between blocks */

    Tiler(const Graph &g_, const Shape &shape_, int threshold_, int tile_, const std::vector<int> &order_)
        : g(g_), shape(shape_), threshold(threshold_), tile(tile_), order(order_),
          used(static_cast<size_t>(g_.ncols), 0), place(static_cast<size_t>(g_.ncols), -1)
    {
    }

    template <class Use> void each_entry(int row, Use use) const
    {
        for (int e = g.rowptr[static_cast<size_t>(row)]; e < g.rowptr[static_cast<size_t>(row) + 1]; e++)
            use(g.colidx[static_cast<size_t>(e)]);
    }

    /* The hot columns of places [first, last), the most used first; used[] counts all columns. */
    std::vector<int> hot_columns(int first, int last)
    {
        std::vector<int> hot;
        for (int k = first; k < last; k++)
            each_entry(order[static_cast<size_t>(k)], [&](int j) {
                if (++used[static_cast<size_t>(j)] == threshold)
                    hot.push_back(j);
            });
        std::sort(hot.begin(), hot.end(), [&](int a, int b) {
            const int ua = used[static_cast<size_t>(a)], ub = used[static_cast<size_t>(b)];
            return ua != ub ? ua > ub : a < b;
        });
        return hot;
    }

    BlockTiles make(int block)
    {
        const int first = block * shape.block_rows(), last = std::min(first + shape.block_rows(), g.nrows);
        BlockTiles b;
        b.columns = hot_columns(first, last);
        const int nhot = static_cast<int>(b.columns.size()), ntiles = divide_up(nhot, tile);
        for (int h = 0; h < nhot; h++)
            place[static_cast<size_t>(b.columns[static_cast<size_t>(h)])] = h;
        std::vector<std::vector<uint16_t>> lists(static_cast<size_t>(ntiles) *
                                                 static_cast<size_t>(shape.block_rows()));
        b.cold.resize(static_cast<size_t>(last - first));
        for (int k = first; k < last; k++)
            each_entry(order[static_cast<size_t>(k)], [&](int j) {
                const int h = place[static_cast<size_t>(j)];
                if (h < 0)
                    b.cold[static_cast<size_t>(k - first)].push_back(j);
                else
                    lists[static_cast<size_t>(h / tile) * static_cast<size_t>(shape.block_rows()) +
                          static_cast<size_t>(k - first)]
                        .push_back(static_cast<uint16_t>(h % tile));
            });
        for (int t = 0; t < ntiles; t++)
            b.tile_columns.push_back(std::min(tile, nhot - t * tile));
        for (size_t at = 0; at < lists.size(); at++) {
            if (at % static_cast<size_t>(shape.rows) == 0)
                b.entry_start.push_back(static_cast<int>(b.entries.size()));
            b.count.push_back(static_cast<uint16_t>(lists[at].size()));
            b.entries.insert(b.entries.end(), lists[at].begin(), lists[at].end());
        }
        for (int k = first; k < last; k++)
            each_entry(order[static_cast<size_t>(k)], [&](int j) { used[static_cast<size_t>(j)] = 0; });
        for (const int j : b.columns)
            place[static_cast<size_t>(j)] = -1;
        return b;
    }
};

/* Blocks on all cores; each core has counters of its own. */
std::vector<BlockTiles> all_blocks(const Graph &g, const Shape &shape, int threshold, int tile,
                                   const std::vector<int> &order, int nblocks)
{
    std::vector<BlockTiles> blocks(static_cast<size_t>(nblocks));
    std::vector<std::thread> threads;
    int next = 0;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); t++)
        threads.emplace_back([&] {
            Tiler tiler(g, shape, threshold, tile, order);
            for (int b; (b = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < nblocks;)
                blocks[static_cast<size_t>(b)] = tiler.make(b);
        });
    for (std::thread &t : threads)
        t.join();
    return blocks;
}

Tiling make_tiling(const Graph &g, const Shape &shape, int threshold, int tile)
{
    Tiling t;
    t.rows_per_block = shape.block_rows();
    t.nblocks = divide_up(g.nrows, t.rows_per_block);
    t.order.resize(static_cast<size_t>(g.nrows));
    std::iota(t.order.begin(), t.order.end(), 0);
    const auto degree = [&](int i) {
        return g.rowptr[static_cast<size_t>(i) + 1] - g.rowptr[static_cast<size_t>(i)];
    };
    std::stable_sort(t.order.begin(), t.order.end(), [&](int a, int b) { return degree(a) > degree(b); });
    t.tile_start = {0};
    t.column_start = {0};
    t.cold_rowptr.assign(static_cast<size_t>(g.nrows) + 1, 0);
    const std::vector<BlockTiles> blocks = all_blocks(g, shape, threshold, tile, t.order, t.nblocks);
    for (int b = 0; b < t.nblocks; b++) {
        const BlockTiles &from = blocks[static_cast<size_t>(b)];
        for (const int n : from.tile_columns)
            t.column_start.push_back(t.column_start.back() + n);
        t.tile_start.push_back(t.tile_start.back() + static_cast<int>(from.tile_columns.size()));
        for (const int e : from.entry_start)
            t.entry_start.push_back(static_cast<int>(t.entries.size()) + e);
        t.columns.insert(t.columns.end(), from.columns.begin(), from.columns.end());
        t.count.insert(t.count.end(), from.count.begin(), from.count.end());
        t.entries.insert(t.entries.end(), from.entries.begin(), from.entries.end());
        for (size_t k = 0; k < from.cold.size(); k++)
            t.cold_rowptr[static_cast<size_t>(t.order[static_cast<size_t>(b * t.rows_per_block) + k]) + 1] =
                static_cast<int>(from.cold[k].size());
    }
    std::partial_sum(t.cold_rowptr.begin(), t.cold_rowptr.end(), t.cold_rowptr.begin());
    t.cold_colidx.resize(static_cast<size_t>(t.cold_rowptr.back()));
    for (int k = 0; k < g.nrows; k++) {
        const std::vector<int> &row =
            blocks[static_cast<size_t>(k / t.rows_per_block)].cold[static_cast<size_t>(k % t.rows_per_block)];
        std::copy(row.begin(), row.end(),
                  t.cold_colidx.begin() +
                      t.cold_rowptr[static_cast<size_t>(t.order[static_cast<size_t>(k)])]);
    }
    return t;
}

/* The hot part on the device. */
struct Tiles {
    int nrows, row4;
    const int *order, *tile_start, *column_start, *columns, *entry_start;
    const uint16_t *count, *entries;
    const float4 *x;
    float4 *y;
};

/* The rows of x of one tile's columns, LANES vectors of each, into shared memory. */
template <int LANES>
__device__ __forceinline__ void load_tile(const Tiles &t, int tile, const float4 *x, float4 *into)
{
    const int first = t.column_start[tile], n = t.column_start[tile + 1] - first;
    for (int k = static_cast<int>(threadIdx.x); k < n * LANES; k += static_cast<int>(blockDim.x))
        into[k] = __ldg(x + static_cast<int64_t>(t.columns[first + k / LANES]) * t.row4 + k % LANES);
}

template <int LANES, int ROWS, int THREADS> __global__ void __launch_bounds__(THREADS) spmm_tiles(Tiles t)
{
    DYNAMIC_SHARED(memory);
    float4 *const tile = reinterpret_cast<float4 *>(memory);
    constexpr int GROUPS = THREADS / LANES, COUNTS = (ROWS + LANES - 1) / LANES;
    const int group = static_cast<int>(threadIdx.x) / LANES, lane = static_cast<int>(threadIdx.x) % LANES;
    const unsigned mask = group_mask<LANES>();
    const float4 *const x = t.x + static_cast<int64_t>(blockIdx.y) * LANES;
    float4 sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        sum[r] = make_float4(0, 0, 0, 0);
    for (int k = t.tile_start[blockIdx.x]; k < t.tile_start[blockIdx.x + 1]; k++) {
        const int64_t mine = static_cast<int64_t>(k) * GROUPS + group;
        int count[COUNTS];
#pragma unroll
        for (int c = 0; c < COUNTS; c++)
            count[c] = c * LANES + lane < ROWS ? t.count[mine * ROWS + c * LANES + lane] : 0;
        const uint16_t *at = t.entries + t.entry_start[mine];
        __syncthreads(); /* all are done with the last tile */
        load_tile<LANES>(t, k, x, tile);
        __syncthreads();
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int n = __shfl_sync(mask, count[r / LANES], r % LANES, LANES);
            for (int e = 0; e < n; e++)
                add(sum[r], tile[static_cast<int>(__ldg(at + e)) * LANES + lane]);
            at += n;
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int place = (static_cast<int>(blockIdx.x) * GROUPS + group) * ROWS + r;
        if (place < t.nrows)
            t.y[static_cast<int64_t>(t.order[place]) * t.row4 + blockIdx.y * LANES + lane] = sum[r];
    }
}

struct Way {
    Shape shape;
    void (*kernel)(Tiles);
};
template <int LANES, int ROWS, int THREADS> Way way()
{
    return {{LANES, ROWS, THREADS}, spmm_tiles<LANES, ROWS, THREADS>};
}
const std::vector<Way> ways = {way<8, 8, 1024>(), way<8, 8, 512>(), way<8, 16, 512>(), way<4, 8, 1024>(),
                               way<8, 4, 1024>()};
const std::vector<Way> toy_ways = {way<8, 8, 64>(), way<4, 8, 64>(), way<8, 16, 64>()};

struct DeviceTiling {
    explicit DeviceTiling(const Tiling &t, int cold_piece)
        : order(t.order), tile_start(t.tile_start), column_start(t.column_start), columns(t.columns),
          entry_start(t.entry_start), count(t.count), entries(t.entries), cold_colidx(t.cold_colidx),
          cold(t.cold_rowptr, cold_piece, true, false), nblocks(t.nblocks)
    {
    }
    Buffer<int> order, tile_start, column_start, columns, entry_start;
    Buffer<uint16_t> count, entries;
    Buffer<int> cold_colidx;
    Pieces cold;
    int nblocks;
};

struct Problem {
    const Graph &host;
    int d;
    const Buffer<float> &x;
    Buffer<float> &y;
    const Expected &expected;
};

void measure(Group &group, const Problem &p, const Way &w, int threshold, int tile, const Tiling &host,
             const DeviceTiling &t)
{
    const size_t shared = static_cast<size_t>(tile) * static_cast<size_t>(w.shape.lanes) * 16;
    const bool has_cold = !host.cold_colidx.empty();
    const Direct direct = {8, 1, group.toy() ? 4 : 8};
    Buffer<float4> partial(static_cast<size_t>(t.cold.nslots) * static_cast<size_t>(p.d / 4));
    const Tiles tiles = {p.host.nrows,
                         p.d / 4,
                         t.order.data(),
                         t.tile_start.data(),
                         t.column_start.data(),
                         t.columns.data(),
                         t.entry_start.data(),
                         t.count.data(),
                         t.entries.data(),
                         reinterpret_cast<const float4 *>(p.x.data()),
                         reinterpret_cast<float4 *>(p.y.data())};
    const auto hot = [&] {
        LAUNCH(w.kernel,
               dim3(static_cast<unsigned>(t.nblocks), static_cast<unsigned>(p.d / 4 / w.shape.lanes)),
               static_cast<unsigned>(w.shape.threads), shared, tiles);
    };
    Case c;
    c.parameters = {{"graph", p.host.name},
                    {"d", p.d},
                    {"dtype", "fp32"},
                    {"variant", "hybrid"},
                    {"threshold", threshold},
                    {"tile_columns", tile},
                    {"row_block", w.shape.block_rows()},
                    {"lanes", w.shape.lanes},
                    {"rows", w.shape.rows},
                    {"threads", w.shape.threads}};
    c.bytes = static_cast<double>(p.host.nvals()) * p.d * 4;
    c.launch = [&] {
        hot();
        if (has_cold)
            run_direct(direct, t.cold, t.cold_colidx, p.x, p.y, partial, p.d, true);
    };
    c.check = [&] { return compare(p.y, p.expected.sum, p.expected.magnitude, 2e-5); };
    c.facts = [&]() -> Fields {
        const double hot_seconds = median(time_launches(hot, 5, 0.1));
        const double bytes = static_cast<double>(
            t.order.bytes() + t.tile_start.bytes() + t.column_start.bytes() + t.columns.bytes() +
            t.entry_start.bytes() + t.count.bytes() + t.entries.bytes() + t.cold_colidx.bytes());
        return {{"hot_seconds", hot_seconds},
                {"hot_entries", host.entries.size()},
                {"hot_columns", host.columns.size()},
                {"tiles", host.column_start.size() - 1},
                {"form_bytes", bytes},
                {"host_tiling_seconds", host.seconds}};
    };
    c.samples = 7;
    c.seconds = 0.2;
    allow_shared(w.kernel, shared);
    fill(p.y, 2);
    group.run(c);
}

struct Choice {
    size_t way;
    int threshold, tile;
};

/* One factor at a time around the likely best, then corners. */
std::vector<Choice> choices(const Group &group)
{
    if (group.toy())
        return {{0, 2, 16}, {1, 3, 8}, {2, 1, 32}, {0, 1000000, 16}};
    return {{0, 4, 512},  {0, 2, 512},  {0, 8, 512},  {0, 4, 256},  {0, 4, 1024},
            {1, 4, 512},  {2, 4, 512},  {3, 4, 1024}, {4, 4, 512},  {1, 4, 256},
            {2, 2, 1024}, {3, 2, 2048}, {0, 16, 512}, {0, 2, 1024}, {1, 2, 256}};
}

/* All widths of one tiling, since the tiling does not depend on them. */
void measure_choice(Group &group, const Graph &host, const DeviceGraph &a, const std::vector<int> &widths,
                    const Choice &choice)
{
    const Way &w = (group.toy() ? toy_ways : ways)[choice.way];
    if (static_cast<size_t>(choice.tile) * static_cast<size_t>(w.shape.lanes) * 16 > shared_per_block())
        return;
    if (group.out_of_time(
            {{"graph", host.name}, {"threshold", choice.threshold}, {"tile_columns", choice.tile}}))
        return;
    const double start = now();
    Tiling tiling = make_tiling(host, w.shape, choice.threshold, choice.tile);
    tiling.seconds = now() - start;
    const DeviceTiling t(tiling, group.toy() ? 16 : 1024);
    for (const int d : widths) {
        const Fields parameters = {
            {"graph", host.name}, {"d", d}, {"threshold", choice.threshold}, {"tile_columns", choice.tile}};
        group.attempt(parameters, [&] {
            Buffer<float> x(static_cast<size_t>(a.ncols) * static_cast<size_t>(d));
            Buffer<float> y(static_cast<size_t>(a.nrows) * static_cast<size_t>(d));
            fill(x, 1);
            const Expected expected(a, x, d);
            measure(group, {host, d, x, y, expected}, w, choice.threshold, choice.tile, tiling, t);
        });
    }
}

} // namespace

void prototype_spmm_hybrid(Group &group)
{
    const std::vector<Choice> all = choices(group);
    const std::vector<std::string> names = block_graphs(group);
    /* The first choices on every graph, then the rest of the sweep. */
    const size_t ahead = std::min<size_t>(3, all.size());
    for (size_t round = 0; round < 2; round++)
        for (const std::string &name : names) {
            if (group.out_of_time({{"graph", name}}))
                continue;
            const Graph host = load_graph(name, group.options());
            const DeviceGraph a(host);
            const std::vector<int> widths =
                group.toy() || round ? std::vector<int>{128} : std::vector<int>{128, 32, 512};
            for (size_t k = round ? ahead : 0; k < (round ? all.size() : ahead); k++)
                measure_choice(group, host, a, widths, all[k]);
        }
}

} // namespace facts
