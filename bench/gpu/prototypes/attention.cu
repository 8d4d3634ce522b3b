/* Attention in one pass, 8 heads of 16: out_i = sum over the row's entries of softmax(q_i . k_j / 4) v_j,
 * head by head, with nothing stored for an entry. A warp takes a piece of a row, 16 bytes a lane, so that
 * four lanes hold a head. The softmax is online (Milakov and Gimelshein, "Online normalizer calculation for
 * softmax", 2018): a running maximum, a running sum and a running weighted sum of v, rescaled when the
 * maximum grows; once for the `flight` entries that are in flight together. The pieces of a cut row are
 * merged in order by a second kernel.
 *
 * Swept: entries in flight, length of a piece, k and v apart or in one row. Limit: entries x 2 x 512 bytes at
 * the gather rate of a row of 512 bytes, of 1024 where k and v lie together. */
#include "blocks.cuh"

#include <algorithm>
#include <cmath>

namespace facts
{

namespace
{

constexpr int HEADS = 8, WIDTH = 16, D = HEADS * WIDTH, ROW4 = D / 4;
constexpr float SCALE = 0.25f; /* 1 / sqrt(WIDTH) */

/* What a piece knows of its softmax: the sums are relative to exp(largest). */
struct alignas(8) State {
    float largest, sum;
};

struct Attention {
    int npieces;
    const Piece *pieces;
    const int *colidx;
    const float4 *q, *k, *v; /* k and v: kv4 vectors from row to row */
    int kv4;
    float4 *out;
    float4 *partial; /* of each slot: ROW4 vectors, not yet divided */
    State *state;    /* of each slot and head */
};

__device__ __forceinline__ float head_sum(float x)
{
    x += __shfl_xor_sync(FULL_WARP, x, 1);
    return x + __shfl_xor_sync(FULL_WARP, x, 2);
}

__device__ __forceinline__ void scale(float4 &x, float by)
{
    x.x *= by;
    x.y *= by;
    x.z *= by;
    x.w *= by;
}

__device__ __forceinline__ void add_scaled(float4 &sum, float by, const float4 &x)
{
    sum.x += by * x.x;
    sum.y += by * x.y;
    sum.z += by * x.z;
    sum.w += by * x.w;
}

/* FLIGHT entries from `from` on; those at and beyond `count` get the score -inf, so the weight 0. */
template <int FLIGHT>
__device__ __forceinline__ void take(const Attention &a, int mine, int from, int count, const float4 &q,
                                     State &s, float4 &sum)
{
    const unsigned lane = threadIdx.x % WARP;
    float4 key[FLIGHT], value[FLIGHT];
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        const int64_t row = static_cast<int64_t>(__shfl_sync(FULL_WARP, mine, from + u)) * a.kv4 + lane;
        const bool there = from + u < count;
        key[u] = there ? __ldg(a.k + row) : make_float4(0, 0, 0, 0);
        value[u] = there ? __ldg(a.v + row) : make_float4(0, 0, 0, 0);
    }
    float score[FLIGHT], largest = s.largest;
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        score[u] = head_sum(key[u].x * q.x + key[u].y * q.y + key[u].z * q.z + key[u].w * q.w);
        if (from + u >= count)
            score[u] = -INFINITY;
        largest = fmaxf(largest, score[u]);
    }
    /* The first entry of a piece is always there, so that `largest` is finite from here on. */
    const float shrink = __expf(s.largest - largest);
    s.largest = largest;
    s.sum *= shrink;
    scale(sum, shrink);
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        const float weight = __expf(score[u] - largest);
        s.sum += weight;
        add_scaled(sum, weight, value[u]);
    }
}

template <int FLIGHT> __global__ void __launch_bounds__(256, 2) attention_rows(Attention a)
{
    const int piece = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = static_cast<int>(threadIdx.x % WARP);
    if (piece >= a.npieces)
        return;
    const Piece p = a.pieces[piece];
    float4 q = a.q[static_cast<int64_t>(p.row) * ROW4 + lane], sum = make_float4(0, 0, 0, 0);
    scale(q, SCALE);
    State s = {-INFINITY, 0};
    for (int base = p.begin; base < p.end; base += WARP) {
        const int mine = base + lane < p.end ? __ldg(a.colidx + base + lane) : 0,
                  count = min(WARP, p.end - base);
        for (int k = 0; k < count; k += FLIGHT)
            take<FLIGHT>(a, mine, k, count, q, s, sum);
    }
    if (p.slot >= 0) {
        a.partial[static_cast<int64_t>(p.slot) * ROW4 + lane] = sum;
        if (lane % 4 == 0)
            a.state[static_cast<int64_t>(p.slot) * HEADS + lane / 4] = s;
        return;
    }
    scale(sum, s.sum > 0 ? 1 / s.sum : 0);
    a.out[static_cast<int64_t>(p.row) * ROW4 + lane] = sum;
}

/* One thread for 16 bytes of a cut row: its slots in order. */
__global__ void merge_attention(int ncuts, const Cut *cuts, const float4 *partial, const State *state,
                                float4 *out)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= static_cast<int64_t>(ncuts) * ROW4)
        return;
    const Cut c = cuts[at / ROW4];
    const int f = static_cast<int>(at % ROW4);
    float largest = -INFINITY, sum = 0;
    for (int k = 0; k < c.count; k++)
        largest = fmaxf(largest, state[static_cast<int64_t>(c.first + k) * HEADS + f / 4].largest);
    float4 all = make_float4(0, 0, 0, 0);
    for (int k = 0; k < c.count; k++) {
        const State s = state[static_cast<int64_t>(c.first + k) * HEADS + f / 4];
        const float by = __expf(s.largest - largest);
        sum += by * s.sum;
        add_scaled(all, by, partial[static_cast<int64_t>(c.first + k) * ROW4 + f]);
    }
    scale(all, 1 / sum);
    out[static_cast<int64_t>(c.row) * ROW4 + f] = all;
}

__device__ double plain_score(const float *q, const float *k)
{
    double sum = 0;
    for (int f = 0; f < WIDTH; f++)
        sum += static_cast<double>(q[f]) * k[f];
    return sum * static_cast<double>(SCALE);
}

/* One thread a row and head, in double precision: the sum of exp first, then the weighted sum of each
 * feature. The scores are in (-4, 4), so that exp needs no maximum. */
__global__ void plain_attention(int nrows, const int *rowptr, const int *colidx, const float *q,
                                const float *k, const float *v, float *out, float *magnitude)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= static_cast<int64_t>(nrows) * HEADS)
        return;
    const int64_t i = at / HEADS, h = at % HEADS * WIDTH;
    double total = 0, sum[WIDTH] = {}, size[WIDTH] = {};
    for (int e = rowptr[i]; e < rowptr[i + 1]; e++) {
        const int64_t row = static_cast<int64_t>(colidx[e]) * D + h;
        const double weight = exp(plain_score(q + i * D + h, k + row));
        total += weight;
        for (int f = 0; f < WIDTH; f++) {
            sum[f] += weight * v[row + f];
            size[f] += weight * (v[row + f] < 0 ? -v[row + f] : v[row + f]);
        }
    }
    for (int f = 0; f < WIDTH; f++) {
        out[i * D + h + f] = static_cast<float>(total > 0 ? sum[f] / total : 0);
        magnitude[i * D + h + f] = static_cast<float>(total > 0 ? size[f] / total : 0);
    }
}

/* k and v of a vertex in one row. */
__global__ void interleave(int64_t nrows, const float4 *k, const float4 *v, float4 *kv)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= nrows * 2 * ROW4)
        return;
    const int64_t i = at / (2 * ROW4), f = at % (2 * ROW4);
    kv[at] = f < ROW4 ? k[i * ROW4 + f] : v[i * ROW4 + f - ROW4];
}

struct Way {
    int flight;
    void (*kernel)(Attention);
};
const std::vector<Way> ways = {
    {4, attention_rows<4>}, {2, attention_rows<2>}, {8, attention_rows<8>}, {1, attention_rows<1>}};

struct Problem {
    explicit Problem(const Graph &g)
        : host(g), a(g), q(static_cast<size_t>(g.nrows) * D), k(static_cast<size_t>(g.ncols) * D),
          v(k.size()), kv(2 * k.size()), out(q.size()), expected(q.size()), magnitude(q.size())
    {
        fill(q, 1);
        fill(k, 2);
        fill(v, 3);
        LAUNCH(interleave, divide_up(static_cast<int64_t>(kv.size()) / 4, 256), 256, 0,
               static_cast<int64_t>(g.ncols), reinterpret_cast<const float4 *>(k.data()),
               reinterpret_cast<const float4 *>(v.data()), reinterpret_cast<float4 *>(kv.data()));
        LAUNCH(plain_attention, divide_up(int64_t{g.nrows} * HEADS, 256), 256, 0, g.nrows, a.rowptr.data(),
               a.colidx.data(), q.data(), k.data(), v.data(), expected.data(), magnitude.data());
        synchronize();
    }
    const Graph &host;
    DeviceGraph a;
    Buffer<float> q, k, v, kv, out, expected, magnitude;
};

/* At toy size: the plain kernel beside the host, which subtracts the largest score first. */
void check_plain(const Problem &p)
{
    const std::vector<float> q = p.q.download(), k = p.k.download(), v = p.v.download(),
                             out = p.expected.download();
    for (size_t i = 0; i < static_cast<size_t>(p.host.nrows); i++)
        for (size_t f = 0; f < D; f++) {
            const size_t h = f / WIDTH * WIDTH;
            const size_t from = static_cast<size_t>(p.host.rowptr[i]),
                         to = static_cast<size_t>(p.host.rowptr[i + 1]);
            std::vector<long double> score;
            for (size_t e = from; e < to; e++) {
                long double s = 0;
                for (size_t g = 0; g < WIDTH; g++)
                    s += static_cast<long double>(q[i * D + h + g]) *
                         k[static_cast<size_t>(p.host.colidx[e]) * D + h + g];
                score.push_back(s / 4);
            }
            const long double largest = score.empty() ? 0 : *std::max_element(score.begin(), score.end());
            long double total = 0, sum = 0;
            for (size_t e = from; e < to; e++) {
                const long double weight = std::exp(score[e - from] - largest);
                total += weight;
                sum += weight * v[static_cast<size_t>(p.host.colidx[e]) * D + f];
            }
            const double want = static_cast<double>(total > 0 ? sum / total : 0);
            if (!(std::fabs(want - out[i * D + f]) <= 1e-6))
                throw Failure("the plain kernel differs from the host's loop");
        }
}

void measure(Group &group, Problem &p, const Pieces &pieces, int length, bool together, const Way &w)
{
    Buffer<float4> partial(static_cast<size_t>(pieces.nslots) * ROW4);
    Buffer<State> state(static_cast<size_t>(pieces.nslots) * HEADS);
    const float4 *const kv = reinterpret_cast<const float4 *>(p.kv.data());
    const Attention attention = {pieces.npieces,
                                 pieces.pieces.data(),
                                 p.a.colidx.data(),
                                 reinterpret_cast<const float4 *>(p.q.data()),
                                 together ? kv : reinterpret_cast<const float4 *>(p.k.data()),
                                 together ? kv + ROW4 : reinterpret_cast<const float4 *>(p.v.data()),
                                 together ? 2 * ROW4 : ROW4,
                                 reinterpret_cast<float4 *>(p.out.data()),
                                 partial.data(),
                                 state.data()};
    Case c;
    c.parameters = {{"graph", p.a.name},     {"d", D},
                    {"heads", HEADS},        {"dtype", "fp32"},
                    {"variant", "one pass"}, {"flight", w.flight},
                    {"piece", length},       {"together", together}};
    c.bytes = static_cast<double>(p.a.nvals) * 2 * D * 4;
    c.launch = [&] {
        LAUNCH(w.kernel, divide_up(pieces.npieces, 256 / WARP), 256, 0, attention);
        if (pieces.ncuts > 0)
            LAUNCH(merge_attention, divide_up(int64_t{pieces.ncuts} * ROW4, 256), 256, 0, pieces.ncuts,
                   pieces.cuts.data(), partial.data(), state.data(), attention.out);
    };
    /* exp of fast arithmetic: 2^-21 relative, and as much of the score's own rounding. */
    c.check = [&] { return compare(p.out, p.expected, p.magnitude, 2e-5); };
    c.samples = 7;
    c.seconds = 0.25;
    fill(p.out, 4);
    group.run(c);
}

} // namespace

void prototype_attention(Group &group)
{
    std::vector<int> lengths = {1024, 256, 0};
    if (group.toy())
        lengths = {16, 0};
    for (const std::string &name : block_graphs(group)) {
        if (group.out_of_time({{"graph", name}}))
            continue;
        group.attempt({{"graph", name}}, [&] {
            const Graph host = load_graph(name, group.options());
            Problem p(host);
            if (group.toy())
                check_plain(p);
            for (const int length : lengths) {
                const Pieces pieces(host.rowptr, length, true);
                for (const bool together : {false, true})
                    for (const Way &w : ways)
                        measure(group, p, pieces, length, together, w);
            }
        });
    }
}

} // namespace facts
