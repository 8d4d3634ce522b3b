/* Gradients of attention (attention.cu) by its operands, FP32, for the entries e = (i, j) and every head h,
 * given d, that of its result T, and lse:
 *
 *     w(e)  = exp(s(e) - lse(i)),   m(e) = what dropout makes of 1
 *     g(e)  = w(e) (m(e) dot(d(i), v(j)) - delta(i)),   delta(i) = dot(d(i), T(i))
 *     dq(i) = sum over row i of scale g(e) k(j),     or of g(e) (k(j) + q(i) > 0 ? 1 : slope)
 *     dk(j) = sum over column j of scale g(e) q(i),  or of the same
 *     dv(j) = sum over column j of w(e) m(e) d(i)
 *
 * Two walks: over the rows of the pattern for dq, and over those of its transpose for dk and dv. In both the
 * row's own vectors stay in registers, and those of its entries come by: the scores and dot(d, v) are the
 * same, whichever side is whose. Nothing is stored per entry: scores are made again.
 *
 * Lanes, spans and pieces are attention.cu's. What a lane has of the FLIGHT rows that are on their way is
 * kept from the dot products for the sums. Tiles of wider heads each make the dot products again, in one
 * order. Pieces of rows that were cut leave their sums, and a second kernel adds them in the order of the
 * pieces. Bits depend on the variant and on where rows are cut, and on nothing that runs first.
 *
 * Sectors of 32 bytes, of n entries in r rows, heads that are as wide as a tile, d and dv values of all
 * heads:
 *
 *     QUERIES   n (d + dv + 1) / 8  +  r (2 d / 8 + dv / 8 + 4 for the piece + heads / 4 of lse and delta)
 *     SOURCES   n (d + dv + 1) / 8 + 2 n of lse and delta  +  r (2 d / 8 + 2 dv / 8 + 4)
 *
 * with n heads, at least n, in place of n d / 8 for leaky_relu, and for up to 8 heads one sector of lse or
 * delta an entry. The limit is how fast rows are gathered. */
#include "gpu/kernels/attention_grad_rows.h"
#include "gpu/kernels/attention_lanes.cuh"
#include "gpu/kernels/dots.cuh"
#include "gpu/kernels/edge_dropout.cuh"

namespace
{

enum Walk { QUERIES, SOURCES };

/* The walked row's vector of a head, from the lane's first feature on, and what it has of the first tile. */
template <int VALUES> struct Own {
    const float *at; /* NULL: the lane has none of it */
    float first[VALUES];
    __device__ __forceinline__ Own(const float *row, const Lane &l, int width) : at(nullptr), first{}
    {
        const int f = l.part * VALUES;
        if (!l.mine || f >= width)
            return;
        at = row + static_cast<long long>(l.head) * width + f;
        load(first, at);
    }
};

/* What a lane has of FLIGHT rows, in its tile; 0 of those that are not there. */
template <int VALUES> struct Tile {
    float row[FLIGHT][VALUES];
};

/* Dot products of FLIGHT rows, those of x that are not NULL, with the own one, of which lane k of a span gets
 * that of row k % FLIGHT. */
template <int SPAN, int VALUES>
__device__ __forceinline__ float dots(Tile<VALUES> &kept, const Own<VALUES> &own, const Lane &l,
                                      const float *const (&x)[FLIGHT], int width)
{
    float sums[FLIGHT] = {};
    const int start = l.part * VALUES;
    for (int u = 0; u < FLIGHT; u++)
        for (int q = 0; q < VALUES; q++)
            kept.row[u][q] = 0;
#pragma unroll 1 /* of most there is one */
    for (int f = start; own.at && f < width; f += SPAN * VALUES) {
        float by[VALUES], v[FLIGHT][VALUES];
        for (int q = 0; q < VALUES; q++)
            by[q] = own.first[q];
        if (f > start)
            load(by, own.at + (f - start));
        for (int u = 0; u < FLIGHT; u++)
            if (x[u])
                load(v[u], x[u] + f);
        for (int u = 0; u < FLIGHT; u++)
            for (int q = 0; q < VALUES; q++) {
                if (!x[u])
                    continue;
                sums[u] = fmaf(v[u][q], by[q], sums[u]);
                if (f == l.f)
                    kept.row[u][q] = v[u][q];
            }
    }
    return sum_over<SPAN>(l.group, sums, l.part);
}

/* The rows of `count` entries' columns, at the lane's head; NULL beyond them. */
__device__ __forceinline__ void rows_of(const float *(&rows)[FLIGHT], const float *block, long long ld,
                                        const Lane &l, int width, const int (&column)[FLIGHT], int count)
{
    for (int u = 0; u < FLIGHT; u++)
        rows[u] =
            l.mine && u < count ? block + column[u] * ld + static_cast<long long>(l.head) * width : nullptr;
}

template <int VALUES> struct Sums {
    float grad[VALUES] = {}, values[VALUES] = {}; /* ADD: grad[0] is of the entries that the lane has */
};

/* The entry that a lane has the weight of: part % FLIGHT of those on their way. */
struct Entry {
    bool there;
    int column;
    long long number; /* in the pattern */
};

/* Its score s, from what the lane has of dot products, or from both ends'; slope: what leaky_relu makes of a
 * gradient. */
template <int SCORE>
__device__ __forceinline__ float score_of(float &slope, const ftb_attention_grad_arguments &a, const Lane &l,
                                          const Entry &e, float product, float own)
{
    slope = a.scale;
    if (SCORE == DOT)
        return a.scale * product;
    const float z = e.there ? __ldg(a.other + e.column * a.ldother + l.head) + own : 0;
    slope = z > 0 ? 1 : a.slope;
    return z * slope;
}

template <int WALK, int SCORE, int SPAN, int VALUES> struct Walker {
    const ftb_attention_grad_arguments &a;
    const Lane &l;
    const int row;
    const Own<VALUES> own, own_values;
    float score, lse, delta; /* of the row: ADD's own score; QUERIES */
    Sums<VALUES> sums;

    __device__ __forceinline__ Walker(const ftb_attention_grad_arguments &from, const Lane &lane, int walked)
        : a(from), l(lane), row(walked),
          own(SCORE == DOT ? from.own + walked * from.ldown : nullptr, lane, SCORE == DOT ? from.width : 0),
          own_values(from.own_values + walked * from.ldown_values, lane, from.value_width), score(0), lse(0),
          delta(0)
    {
        if (SCORE == ADD && l.mine)
            score = __ldg(a.own + row * a.ldown + l.head);
        if (WALK == QUERIES && l.mine)
            read(row);
    }
    __device__ __forceinline__ void read(int i)
    {
        lse = __ldg(a.lse + static_cast<long long>(i) * a.heads + l.head);
        delta = __ldg(a.delta + static_cast<long long>(i) * a.heads + l.head);
    }

    /* FLIGHT entries, `count` of them there. */
    __device__ __forceinline__ void take(const int (&column)[FLIGHT], const Entry &e, int count)
    {
        const float *rows[FLIGHT];
        Tile<VALUES> x, v;
        float product = 0, slope;
        if (SCORE == DOT) {
            rows_of(rows, a.other, a.ldother, l, a.width, column, count);
            product = dots<SPAN>(x, own, l, rows, a.width);
        }
        rows_of(rows, a.other_values, a.ldother_values, l, a.value_width, column, count);
        const float along = dots<SPAN>(v, own_values, l, rows, a.value_width);
        const float s = score_of<SCORE>(slope, a, l, e, product, score);
        if (WALK == SOURCES && e.there)
            read(e.column);
        const float weight = e.there ? expf(s - base_of(lse)) : 0;
        const float kept = e.there ? weight * keep_of(a.drop, e.number, l.head) : 0;
        const float g = e.there ? slope * (kept * along - weight * delta) : 0;
        if (SCORE == ADD)
            sums.grad[0] += g;
        for (int u = 0; u < FLIGHT; u++) {
            const float by = SCORE == DOT ? __shfl_sync(l.group, g, u, SPAN) : 0;
            const float by_value = WALK == SOURCES ? __shfl_sync(l.group, kept, u, SPAN) : 0;
            for (int q = 0; q < VALUES; q++) {
                if (SCORE == DOT)
                    sums.grad[q] = fmaf(by, x.row[u][q], sums.grad[q]);
                if (WALK == SOURCES)
                    sums.values[q] = fmaf(by_value, v.row[u][q], sums.values[q]);
            }
        }
    }

    __device__ __forceinline__ void finish(const ftb_spmm_piece &p)
    {
        const bool whole = p.slot < 0;
        const long long at = static_cast<long long>(p.slot) * a.heads + l.head;
        if (SCORE == ADD)
            for (int far = 1; far < FLIGHT; far *= 2)
                sums.grad[0] += __shfl_xor_sync(l.group, sums.grad[0], far);
        if (!l.mine)
            return;
        float *const grad = whole ? a.grad + row * a.ldgrad + static_cast<long long>(l.head) * a.width
                                  : a.partial + at * a.width;
        if (a.grad && SCORE == DOT && l.f < a.width)
            store(grad + l.f, sums.grad);
        if (a.grad && SCORE == ADD && l.f == 0)
            *grad = sums.grad[0];
        if (WALK == SOURCES && a.grad_values && l.f < a.value_width)
            store((whole ? a.grad_values + row * a.ldgrad_values +
                               static_cast<long long>(l.head) * a.value_width
                         : a.partial_values + at * a.value_width) +
                      l.f,
                  sums.values);
    }
};

template <int WALK, int SCORE, int LANES, int SPAN, int VALUES>
__device__ __forceinline__ void walk(const ftb_attention_grad_arguments &a)
{
    const int lane = static_cast<int>(threadIdx.x) % LANES;
    const long long number = static_cast<long long>(blockIdx.x) * (FTB_ATTENTION_GRAD_BLOCK / LANES) +
                             static_cast<int>(threadIdx.x) / LANES;
    if (number >= a.npieces)
        return; /* with the whole group */
    const ftb_spmm_piece p = a.pieces[number];
    const Lane l = lane_of<LANES, SPAN, VALUES>(a.heads, a.width > a.value_width ? a.width : a.value_width);
    Walker<WALK, SCORE, SPAN, VALUES> w(a, l, p.row);
    for (long long base = p.begin; base < p.end; base += LANES) {
        const int count = static_cast<int>(p.end - base < LANES ? p.end - base : LANES);
        const int mine = lane < count ? __ldg(a.colidx + base + lane) : 0;
        for (int k = 0; k < count; k += FLIGHT) {
            const int at = k + l.part % FLIGHT;
            int column[FLIGHT];
            for (int u = 0; u < FLIGHT; u++)
                column[u] = __shfl_sync(l.group, mine, k + u, LANES);
            Entry e = {l.mine && at < count, __shfl_sync(l.group, mine, at, LANES), base + at};
            if (WALK == SOURCES && a.from && e.there)
                e.number = __ldg(a.from + e.number);
            w.take(column, e, count - k);
        }
    }
    w.finish(p);
}

} // namespace

#define KERNEL(walked, score, lanes, span, values)                                                           \
    extern "C" __global__ void __launch_bounds__(FTB_ATTENTION_GRAD_BLOCK, FTB_ATTENTION_GRAD_BLOCKS)        \
        attention_grad_f32_##walked##_##score##_##lanes##x##span##x##values(ftb_attention_grad_arguments a)  \
    {                                                                                                        \
        walk<walked, score, lanes, span, values>(a);                                                         \
    }                                                                                                        \
    FTB_KERNEL(attention_grad_f32_##walked##_##score##_##lanes##x##span##x##values);
FTB_ATTENTION_GRAD(KERNEL)

/* The rows that were cut: one a block in y of the grid, a value a thread. */
extern "C" __global__ void __launch_bounds__(FTB_ATTENTION_GRAD_BLOCK)
    attention_grad_merge(ftb_attention_grad_arguments a, const ftb_spmm_cut *cuts)
{
    const long long width = static_cast<long long>(a.heads) * a.width,
                    values = static_cast<long long>(a.heads) * a.value_width;
    const long long f = static_cast<long long>(blockIdx.x) * FTB_ATTENTION_GRAD_BLOCK + threadIdx.x;
    const bool is_value = f >= width;
    if (f >= width + values || !(is_value ? a.grad_values : a.grad))
        return;
    const ftb_spmm_cut *const cut = cuts + blockIdx.y;
    const long long step = is_value ? values : width, g = is_value ? f - width : f;
    const float *const partial = (is_value ? a.partial_values : a.partial) + cut->slot * step + g;
    float sum = 0;
    for (int k = 0; k < cut->count; k++)
        sum += partial[k * step];
    (is_value ? a.grad_values + cut->row * a.ldgrad_values : a.grad + cut->row * a.ldgrad)[g] = sum;
}
FTB_KERNEL(attention_grad_merge);

extern "C" __global__ void __launch_bounds__(FTB_ATTENTION_GRAD_BLOCK)
    attention_grad_delta(ftb_attention_delta_arguments a)
{
    enum { LANES = FTB_ATTENTION_DELTA_LANES };
    const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES;
    const unsigned group = (FTB_FULL_WARP >> (32 - LANES)) << (thread % 32 - lane);
    const long long k =
        static_cast<long long>(blockIdx.x) * (FTB_ATTENTION_GRAD_BLOCK / LANES) + thread / LANES;
    if (k >= a.count)
        return; /* with the whole group */
    const long long row = k / a.heads, head = k - row * a.heads;
    const float *const t = a.t + row * a.ldt + head * a.value_width, *const d = a.d + row * a.ldd +
                                                                                head * a.value_width;
    float sum = 0;
    for (int f = lane; f < a.value_width; f += LANES)
        sum = fmaf(__ldg(t + f), __ldg(d + f), sum);
    for (int far = 1; far < LANES; far *= 2)
        sum += __shfl_xor_sync(group, sum, far);
    if (lane == 0)
        a.delta[k] = sum;
}
FTB_KERNEL(attention_grad_delta);
