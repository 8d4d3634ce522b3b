/* A value per entry: dot(y_i, x_j), or one for each of 8 heads of d / 8 features. A group of lanes keeps its
 * row of y in registers, 16 bytes a lane, and takes the row's entries a few at a time: all their rows of x
 * are in flight together, and their sums over the lanes are made by one transposed reduction (each step
 * halves the number of values a lane carries), which takes `flight` - 1 shuffles for `flight` entries in
 * place of log2(lanes) each.
 *
 * Swept: lanes and vectors a lane, entries in flight, length of a piece of a row. Limit: entries x d x 4
 * bytes at the gather rate of a row. */
#include "blocks.cuh"

#include <algorithm>
#include <cmath>

namespace facts
{

namespace
{

struct Dots {
    int npieces;
    const Piece *pieces;
    const int *colidx;
    const float4 *y, *x;
    float *out;
    int row4;
};

__device__ __forceinline__ float dot4(const float4 &a, const float4 &b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/* FLIGHT values of each lane of SPAN neighbours, summed over the neighbours: lane l gets the sum of value l %
 * FLIGHT. */
template <int FLIGHT, int SPAN>
__device__ __forceinline__ float reduce_transposed(unsigned mask, float *value)
{
    static_assert(FLIGHT <= SPAN, "each lane ends with one value at most");
#pragma unroll
    for (int half = FLIGHT / 2; half > 0; half /= 2) {
        const bool upper = threadIdx.x & static_cast<unsigned>(half);
#pragma unroll
        for (int k = 0; k < half; k++) {
            const float give = upper ? value[k] : value[k + half], keep = upper ? value[k + half] : value[k];
            value[k] = keep + __shfl_xor_sync(mask, give, half, SPAN);
        }
    }
    float sum = value[0];
#pragma unroll
    for (int other = FLIGHT; other < SPAN; other *= 2)
        sum += __shfl_xor_sync(mask, sum, other, SPAN);
    return sum;
}

/* SPAN lanes share a dot product: all of a group's, or those of one head. */
template <int LANES, int VECTORS, int FLIGHT, int SPAN>
__global__ void __launch_bounds__(256, 3) sddmm_rows(Dots a)
{
    constexpr int HEADS = LANES / SPAN;
    const int group = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / LANES);
    const int lane = static_cast<int>(threadIdx.x % LANES);
    const unsigned mask = group_mask<LANES>();
    if (group >= a.npieces)
        return;
    const Piece p = a.pieces[group];
    float4 y[VECTORS];
#pragma unroll
    for (int w = 0; w < VECTORS; w++)
        y[w] = a.y[static_cast<int64_t>(p.row) * a.row4 + w * LANES + lane];
    for (int base = p.begin; base < p.end; base += LANES) {
        const int mine = base + lane < p.end ? __ldg(a.colidx + base + lane) : 0,
                  count = min(LANES, p.end - base);
        for (int k = 0; k < count; k += FLIGHT) {
            float4 x[FLIGHT][VECTORS];
#pragma unroll
            for (int u = 0; u < FLIGHT; u++) {
                const int j = __shfl_sync(mask, mine, k + u, LANES);
#pragma unroll
                for (int w = 0; w < VECTORS; w++)
                    x[u][w] = k + u < count ? __ldg(a.x + static_cast<int64_t>(j) * a.row4 + w * LANES + lane)
                                            : make_float4(0, 0, 0, 0);
            }
            float value[FLIGHT];
#pragma unroll
            for (int u = 0; u < FLIGHT; u++) {
                value[u] = 0;
#pragma unroll
                for (int w = 0; w < VECTORS; w++)
                    value[u] += dot4(x[u][w], y[w]);
            }
            const float sum = reduce_transposed<FLIGHT, SPAN>(mask, value);
            const int u = lane % SPAN;
            if (u < FLIGHT && k + u < count)
                a.out[static_cast<int64_t>(base + k + u) * HEADS + lane / SPAN] = sum;
        }
    }
}

/* One thread a value, in double precision; the row of an entry by binary search. */
__global__ void plain_sddmm(int nrows, int64_t nvalues, int heads, int d, const int *rowptr,
                            const int *colidx, const float *y, const float *x, float *out, float *magnitude)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= nvalues)
        return;
    const int64_t e = at / heads;
    const int width = d / heads, from = static_cast<int>(at % heads) * width;
    int low = 0, high = nrows; /* rowptr[low] <= e < rowptr[high] */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (rowptr[middle] <= e ? low : high) = middle;
    }
    double sum = 0, size = 0;
    for (int f = from; f < from + width; f++) {
        const double term = static_cast<double>(y[static_cast<int64_t>(low) * d + f]) *
                            x[static_cast<int64_t>(colidx[e]) * d + f];
        sum += term;
        size += term < 0 ? -term : term;
    }
    out[at] = static_cast<float>(sum);
    magnitude[at] = static_cast<float>(size);
}

struct Way {
    int lanes, vectors, flight, heads;
    void (*kernel)(Dots);
    int d() const { return lanes * vectors * 4; }
};
template <int LANES, int VECTORS, int FLIGHT, int SPAN = LANES> Way way()
{
    return {LANES, VECTORS, FLIGHT, LANES / SPAN, sddmm_rows<LANES, VECTORS, FLIGHT, SPAN>};
}
const std::vector<Way> ways = {way<32, 1, 4>(),    way<32, 1, 8>(),    way<32, 1, 2>(),
                               way<16, 2, 4>(),    way<16, 2, 2>(),    way<8, 4, 2>(), /* d = 128 */
                               way<8, 1, 4>(),     way<8, 1, 8>(),     way<4, 2, 4>(), /* 32 */
                               way<16, 1, 4>(),    way<16, 1, 8>(),    way<8, 2, 4>(), /* 64 */
                               way<32, 2, 4>(),    way<32, 2, 2>(),    way<32, 4, 2>(),
                               way<32, 4, 1>(),                                             /* 256, 512 */
                               way<32, 1, 4, 4>(), way<32, 1, 2, 4>(), way<32, 1, 1, 4>()}; /* 8 heads */

struct Wanted {
    Buffer<float> dots, magnitude;
};

/* At toy size: the plain kernel beside the host. */
void check_plain(const Graph &g, int d, int heads, const Buffer<float> &y, const Buffer<float> &x,
                 const Buffer<float> &got)
{
    const std::vector<float> hy = y.download(), hx = x.download(), out = got.download();
    const size_t width = static_cast<size_t>(d / heads), all = static_cast<size_t>(d);
    for (size_t i = 0; i < static_cast<size_t>(g.nrows); i++)
        for (size_t e = static_cast<size_t>(g.rowptr[i]); e < static_cast<size_t>(g.rowptr[i + 1]); e++)
            for (size_t h = 0; h < static_cast<size_t>(heads); h++) {
                long double sum = 0;
                for (size_t f = h * width; f < (h + 1) * width; f++)
                    sum += static_cast<long double>(hy[i * all + f]) *
                           hx[static_cast<size_t>(g.colidx[e]) * all + f];
                if (!(std::fabs(static_cast<double>(sum) - out[e * static_cast<size_t>(heads) + h]) <= 1e-6))
                    throw Failure("the plain kernel differs from the host's loop");
            }
}

Wanted wanted(const Graph &host, const DeviceGraph &a, int d, int heads, const Buffer<float> &y,
              const Buffer<float> &x)
{
    Wanted w = {Buffer<float>(static_cast<size_t>(a.nvals) * static_cast<size_t>(heads)),
                Buffer<float>(static_cast<size_t>(a.nvals) * static_cast<size_t>(heads))};
    LAUNCH(plain_sddmm, divide_up(static_cast<int64_t>(w.dots.size()), 256), 256, 0, a.nrows,
           static_cast<int64_t>(w.dots.size()), heads, d, a.rowptr.data(), a.colidx.data(), y.data(),
           x.data(), w.dots.data(), w.magnitude.data());
    synchronize();
    if (a.nvals < 20000)
        check_plain(host, d, heads, y, x, w.dots);
    return w;
}

void measure_graph(Group &group, const Graph &host, const DeviceGraph &a, int d, int heads)
{
    Buffer<float> x(static_cast<size_t>(a.ncols) * static_cast<size_t>(d));
    Buffer<float> y(static_cast<size_t>(a.nrows) * static_cast<size_t>(d));
    fill(x, 1);
    fill(y, 2);
    const Wanted expected = wanted(host, a, d, heads, y, x);
    Buffer<float> out(expected.dots.size());
    std::vector<int> lengths = {1024, 256, 0};
    if (group.toy())
        lengths = {16};
    for (const int length : lengths) {
        const Pieces pieces(host.rowptr, length, true, false);
        for (const Way &w : ways) {
            if (w.d() != d || w.heads != heads)
                continue;
            const Dots dots = {pieces.npieces,
                               pieces.pieces.data(),
                               a.colidx.data(),
                               reinterpret_cast<const float4 *>(y.data()),
                               reinterpret_cast<const float4 *>(x.data()),
                               out.data(),
                               d / 4};
            Case c;
            c.parameters = {
                {"graph", a.name},       {"d", d},           {"heads", heads},       {"dtype", "fp32"},
                {"variant", "row-wise"}, {"lanes", w.lanes}, {"vectors", w.vectors}, {"flight", w.flight},
                {"piece", length}};
            c.bytes = static_cast<double>(a.nvals) * d * 4;
            c.launch = [&] { LAUNCH(w.kernel, divide_up(pieces.npieces, 256 / w.lanes), 256, 0, dots); };
            c.check = [&] { return compare(out, expected.dots, expected.magnitude, 2e-6); };
            c.samples = 7;
            c.seconds = 0.2;
            fill(out, 3);
            group.run(c);
        }
    }
}

} // namespace

void prototype_sddmm(Group &group)
{
    struct Width {
        int d, heads;
    };
    const std::vector<Width> widths = {{128, 1}, {128, 8}, {32, 1}, {512, 1}, {64, 1}, {256, 1}};
    for (const Width &w : widths)
        for (const std::string &name : block_graphs(group)) {
            if (group.out_of_time({{"graph", name}, {"d", w.d}, {"heads", w.heads}}))
                continue;
            const Graph host = load_graph(name, group.options());
            const DeviceGraph a(host);
            group.attempt({{"graph", name}, {"d", w.d}, {"heads", w.heads}},
                          [&] { measure_graph(group, host, a, w.d, w.heads); });
        }
}

} // namespace facts
