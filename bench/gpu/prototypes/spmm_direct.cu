/* y = A x for a block x of d features, directly: a group of lanes takes a piece of a row, 16 bytes a lane;
 * column indices are read together and handed round by shuffles, and several rows of x are in flight. Long
 * rows are cut into pieces whose sums are added in a fixed order; pieces run by falling length, so that a
 * warp's groups end together. Features are taken a tile at a time (the slow dimension of the grid), so that a
 * tile of x may stay in L2.
 *
 * Swept: lanes and vectors a lane (which make the tile), rows in flight, length of a piece. Limit: entries x
 * d x 4 bytes at the gather rate of a tile's row size. Wins where degrees are low or columns are seldom
 * shared. */
#include "blocks.cuh"

#include <algorithm>

namespace facts
{

namespace
{

/* 16 bytes of x as they are added up: four floats, or eight of bfloat16, whose bits are a float's upper half.
 */
struct Fp32 {
    static constexpr int VALUES = 4;
    static constexpr const char *NAME = "fp32";
    __device__ static void add(float *sum, const uint4 &v)
    {
        sum[0] += __uint_as_float(v.x);
        sum[1] += __uint_as_float(v.y);
        sum[2] += __uint_as_float(v.z);
        sum[3] += __uint_as_float(v.w);
    }
};
struct Bf16 {
    static constexpr int VALUES = 8;
    static constexpr const char *NAME = "bf16";
    __device__ static void add(float *sum, const uint4 &v)
    {
        const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum[2 * k] += __uint_as_float(word[k] << 16);
            sum[2 * k + 1] += __uint_as_float(word[k] & 0xffff0000u);
        }
    }
};

struct Rows {
    int npieces;
    const Piece *pieces;
    const int *colidx;
    const uint4 *x;  /* row16 vectors a row */
    float4 *y;       /* row4 vectors a row */
    float4 *partial; /* likewise, a row for each slot */
    int row16, row4;
    bool accumulate;
};

/* FLIGHT entries from `k` on: all loads, then all sums. Those at and beyond `count` are not read. */
template <class Type, int LANES, int VECTORS, int FLIGHT>
__device__ __forceinline__ void take(const Rows &r, unsigned mask, int mine, int k, int count, const uint4 *x,
                                     float (*sum)[Type::VALUES])
{
    uint4 v[FLIGHT][VECTORS];
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        const int j = __shfl_sync(mask, mine, k + u, LANES);
#pragma unroll
        for (int w = 0; w < VECTORS; w++)
            v[u][w] = k + u < count ? __ldg(x + static_cast<int64_t>(j) * r.row16 + w * LANES)
                                    : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int u = 0; u < FLIGHT; u++)
#pragma unroll
        for (int w = 0; w < VECTORS; w++)
            Type::add(sum[w], v[u][w]);
}

template <class Type, int LANES, int VECTORS, int FLIGHT>
__global__ void __launch_bounds__(256, 3) spmm_direct(Rows r)
{
    const int group = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / LANES);
    const int lane = static_cast<int>(threadIdx.x % LANES),
              tile = static_cast<int>(blockIdx.y) * LANES * VECTORS;
    const unsigned mask = group_mask<LANES>();
    if (group >= r.npieces)
        return;
    const Piece p = r.pieces[group];
    const uint4 *const x = r.x + tile + lane;
    float sum[VECTORS][Type::VALUES] = {};
    int mine = p.begin + lane < p.end ? __ldg(r.colidx + p.begin + lane) : 0;
    for (int base = p.begin; base < p.end; base += LANES) {
        const int now = mine, count = p.end - base;
        mine = base + LANES + lane < p.end ? __ldg(r.colidx + base + LANES + lane) : 0;
        for (int k = 0; k < min(LANES, count); k += FLIGHT)
            take<Type, LANES, VECTORS, FLIGHT>(r, mask, now, k, count, x, sum);
    }
    constexpr int FOURS = Type::VALUES / 4;
    float4 *const to = (p.slot < 0 ? r.y + static_cast<int64_t>(p.row) * r.row4
                                   : r.partial + static_cast<int64_t>(p.slot) * r.row4) +
                       (tile + lane) * FOURS;
#pragma unroll
    for (int w = 0; w < VECTORS; w++)
#pragma unroll
        for (int q = 0; q < FOURS; q++) {
            float4 *const at = to + w * LANES * FOURS + q;
            float4 v = make_float4(sum[w][4 * q], sum[w][4 * q + 1], sum[w][4 * q + 2], sum[w][4 * q + 3]);
            if (r.accumulate && p.slot < 0)
                add(v, *at);
            *at = v;
        }
}

struct Way {
    Direct shape;
    void (*kernel)(Rows);
};

template <class Type, int LANES, int VECTORS, int FLIGHT> Way way()
{
    return {{LANES, VECTORS, FLIGHT}, spmm_direct<Type, LANES, VECTORS, FLIGHT>};
}

const std::vector<Way> fp32_ways = {way<Fp32, 32, 1, 4>(), way<Fp32, 32, 1, 8>(), way<Fp32, 16, 1, 4>(),
                                    way<Fp32, 16, 1, 8>(), way<Fp32, 8, 1, 4>(),  way<Fp32, 8, 1, 8>(),
                                    way<Fp32, 32, 2, 4>(), way<Fp32, 8, 4, 2>(),  way<Fp32, 8, 2, 4>(),
                                    way<Fp32, 32, 1, 2>(), way<Fp32, 32, 4, 2>()};
const std::vector<Way> bf16_ways = {way<Bf16, 16, 1, 4>(), way<Bf16, 16, 1, 8>(), way<Bf16, 8, 1, 4>(),
                                    way<Bf16, 4, 1, 4>(), way<Bf16, 32, 1, 4>()};

void launch(const Way &way, const Pieces &p, const Rows &r, int row16)
{
    const int groups = 256 / way.shape.lanes, tile16 = way.shape.lanes * way.shape.vectors;
    LAUNCH(way.kernel,
           dim3(static_cast<unsigned>(divide_up(p.npieces, groups)), static_cast<unsigned>(row16 / tile16)),
           256, 0, r);
}

/* x as bfloat16, its low bits cut off, and as floats again, which the expected sums are made from. */
__global__ void to_bf16(int64_t pairs, const float2 *x, unsigned *half, float2 *rounded)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < pairs; k += step) {
        const unsigned low = __float_as_uint(x[k].x) >> 16, high = __float_as_uint(x[k].y) & 0xffff0000u;
        half[k] = low | high;
        rounded[k] = make_float2(__uint_as_float(low << 16), __uint_as_float(high));
    }
}

struct Problem {
    const Graph &host;
    const DeviceGraph &a;
    int d;
    const Buffer<float> &x;
    Buffer<float> &y;
    Buffer<float4> &partial;
};

template <class Type>
void measure(Group &group, const Problem &p, const Way &way, const Pieces &pieces, int length, bool by_degree,
             const uint4 *x16, const Expected &expected)
{
    const int row16 = p.d / Type::VALUES;
    const Rows r = {pieces.npieces,
                    pieces.pieces.data(),
                    p.a.colidx.data(),
                    x16,
                    reinterpret_cast<float4 *>(p.y.data()),
                    p.partial.data(),
                    row16,
                    p.d / 4,
                    false};
    Case c;
    c.parameters = {{"graph", p.a.name},
                    {"d", p.d},
                    {"dtype", Type::NAME},
                    {"variant", std::string("direct")},
                    {"lanes", way.shape.lanes},
                    {"vectors", way.shape.vectors},
                    {"flight", way.shape.flight},
                    {"tile", way.shape.lanes * way.shape.vectors * Type::VALUES},
                    {"piece", length},
                    {"by_degree", by_degree}};
    c.bytes = static_cast<double>(p.a.nvals) * p.d * 16 / Type::VALUES;
    c.launch = [&] {
        launch(way, pieces, r, row16);
        merge_cuts(pieces, p.partial, p.y, p.d, false);
    };
    c.check = [&] { return compare(p.y, expected.sum, expected.magnitude, 2e-5); };
    c.samples = 7;
    c.seconds = 0.2;
    fill(p.y, 2); /* nonsense, so that a row which is not written shows */
    group.run(c);
}

/* All ways whose tile divides d; of lengths and orders the first alone unless `all`. */
void sweep(Group &group, Problem p, bool all)
{
    struct Cutting {
        int length;
        bool by_degree;
    };
    std::vector<Cutting> cuttings = {{1024, true}, {256, true}, {4096, true}, {0, true}, {1024, false}};
    if (group.toy())
        cuttings = {{16, true}, {0, false}};
    else if (!all)
        cuttings.resize(2);
    const Expected expected(p.a, p.x, p.d);
    for (const Cutting &c : cuttings) {
        const Pieces pieces(p.host.rowptr, c.length, c.by_degree);
        if (static_cast<size_t>(pieces.nslots) * static_cast<size_t>(p.d / 4) > p.partial.size())
            p.partial = Buffer<float4>(static_cast<size_t>(pieces.nslots) * static_cast<size_t>(p.d / 4));
        for (const Way &way : fp32_ways)
            if (p.d % way.shape.tile() == 0)
                measure<Fp32>(group, p, way, pieces, c.length, c.by_degree,
                              reinterpret_cast<const uint4 *>(p.x.data()), expected);
    }
}

void sweep_bf16(Group &group, Problem p)
{
    Buffer<unsigned> half(p.x.size() / 2);
    Buffer<float> rounded(p.x.size());
    LAUNCH(to_bf16, multiprocessors() * 8, 256, 0, static_cast<int64_t>(half.size()),
           reinterpret_cast<const float2 *>(p.x.data()), half.data(),
           reinterpret_cast<float2 *>(rounded.data()));
    synchronize();
    const Expected expected(p.a, rounded, p.d);
    const int length = group.toy() ? 16 : 1024;
    const Pieces pieces(p.host.rowptr, length, true);
    p.partial = Buffer<float4>(static_cast<size_t>(pieces.nslots) * static_cast<size_t>(p.d / 4));
    for (const Way &way : bf16_ways)
        if (p.d / 8 % (way.shape.lanes * way.shape.vectors) == 0)
            measure<Bf16>(group, p, way, pieces, length, true, reinterpret_cast<const uint4 *>(half.data()),
                          expected);
}

} // namespace

void run_direct(const Direct &shape, const Pieces &p, const Buffer<int> &colidx, const Buffer<float> &x,
                Buffer<float> &y, Buffer<float4> &partial, int d, bool accumulate)
{
    const auto same = [&](const Way &w) {
        return w.shape.lanes == shape.lanes && w.shape.vectors == shape.vectors &&
               w.shape.flight == shape.flight;
    };
    const auto found = std::find_if(fp32_ways.begin(), fp32_ways.end(), same);
    if (found == fp32_ways.end() || d % shape.tile() != 0)
        throw Failure("no direct kernel of this shape");
    launch(*found, p,
           {p.npieces, p.pieces.data(), colidx.data(), reinterpret_cast<const uint4 *>(x.data()),
            reinterpret_cast<float4 *>(y.data()), partial.data(), d / 4, d / 4, accumulate},
           d / 4);
    merge_cuts(p, partial, y, d, accumulate);
}

void prototype_spmm_direct(Group &group)
{
    std::vector<int> widths = {128, 32, 512, 64, 256};
    if (group.toy())
        widths = {128, 32};
    bool first = true;
    for (const int d : widths)
        for (const std::string &name : block_graphs(group)) {
            if (group.out_of_time({{"graph", name}, {"d", d}}))
                continue;
            const Graph host = load_graph(name, group.options());
            const DeviceGraph a(host);
            group.attempt({{"graph", name}, {"d", d}}, [&] {
                Buffer<float> x(static_cast<size_t>(a.ncols) * static_cast<size_t>(d));
                Buffer<float> y(static_cast<size_t>(a.nrows) * static_cast<size_t>(d));
                Buffer<float4> partial;
                fill(x, 1);
                sweep(group, {host, a, d, x, y, partial}, first);
                if (d <= 128)
                    sweep_bf16(group, {host, a, d, x, y, partial});
            });
            first = false;
        }
}

} // namespace facts
