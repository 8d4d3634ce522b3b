/* Sparse x block, hybrid, by tensor cores: as spmm_hybrid.cuh, of which it takes the form, but that tiles
 * that are dense are multiplied as matrices, with operands rounded to TF32, FP16 or BF16 and sums in FP32.
 *
 * A warp takes 16 pieces of rows at a time, a strip, with the tile's sources and 32 features of them in
 * shared memory. It spreads the strip's weights out as a matrix of 16 rows, with zeros where there is no
 * entry, and multiplies that with the features: for each 16 x 8 places (16 x 16 of 16-bit operands) one
 * instruction for 8 features. That reads what 8 to 12 entries' features are, however many entries there are;
 * a strip that has fewer is walked instead, entry by entry, in full FP32. So is what a matrix cannot say:
 *
 *     a feature that is no finite number once it is rounded, since zeros times it would be NaN in rows that
 *     have no such entry (all strips of that tile are walked, of these 32 features);
 *     a weight that is none, and parallel edges.
 *
 * Sums are those of the tiles in their order, within a tile of 8 or 16 sources after the other, in what order
 * within these the device decides, always the same; then of the entries that no tile has. So bits depend on
 * the form, the tile, the bound of what is dense, and the device, and on nothing that runs first.
 *
 * An error of at most (2 u + u^2 + n 2^-22) x the sum of the terms' sizes, u = 2^-11 of TF32 and FP16, 2^-8
 * of BF16, n terms; of FP16 operands below 2^-14 are off by 2^-25 instead of u times themselves.
 *
 * Sectors of 32 bytes, of b blocks with m hot columns in t tiles, whose p pieces have n entries, which half
 * a warp takes in h steps, 16 of a piece at a time; T = d / 32 tiles of features, v bytes a value:
 *
 *     T v m  +  T (m / 4 columns + 192 t + 64 b where what begins + 6 p results and where they go
 *               + 2 (n + 15 h) / 16 places, and (n + 7 h) / 8 weights, of strips that are multiplied;
 *               of those that are walked n at most, of either)
 *
 * of which the first is the work. Places are read twice, to find parallel edges.
 *
 * Lanes have of the sums what matrices.cpp of the emulator says of D: g = lane / 4 is a row, t = lane % 4 a
 * pair of features. */
#ifndef FTB_SPMM_TENSOR_CUH
#define FTB_SPMM_TENSOR_CUH

#include "gpu/kernels/spmm_hybrid.cuh"
#include "gpu/kernels/spmm_tensor.h"

enum { PARTS = FTB_SPMM_TENSOR_FEATURES / FTB_SPMM_TENSOR_PART };

/* Operands: `of` rounds a value, unless it is one already; K of them are summed over at a time. */
struct tf32 {
    typedef unsigned cell;
    enum { K = 8, STRIDE = FTB_SPMM_TENSOR_STRIDE_4, NO_NUMBER = 0x7f800000 };
    static __device__ __forceinline__ cell of(float x) { return ftb_float_to_tf32(x); }
    template <class STORED> static __device__ __forceinline__ cell of(STORED x)
    {
        return __float_as_uint(value_of(x));
    }
    static __device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2])
    {
        ftb_multiply_tf32(d, a, b);
    }
};
struct to_f16 {
    typedef unsigned short cell;
    enum { K = 16, STRIDE = FTB_SPMM_TENSOR_STRIDE_2, NO_NUMBER = 0x7c00 };
    static __device__ __forceinline__ cell of(float x) { return ftb_float_to_half(x); }
    static __device__ __forceinline__ cell of(f16 x) { return x.bits; }
    static __device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2])
    {
        ftb_multiply_fp16(d, a, b);
    }
};
struct to_bf16 {
    typedef unsigned short cell;
    enum { K = 16, STRIDE = FTB_SPMM_TENSOR_STRIDE_2, NO_NUMBER = 0x7f80 };
    static __device__ __forceinline__ cell of(float x) { return ftb_float_to_bfloat16(x); }
    static __device__ __forceinline__ cell of(bf16 x) { return x.bits; }
    static __device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2])
    {
        ftb_multiply_bf16(d, a, b);
    }
};
typedef to_f16 operand_f16;
typedef to_bf16 operand_bf16;
typedef tf32 operand_tf32;

static __device__ __forceinline__ float value_of(float x) { return x; }

template <class OPERAND> static __device__ __forceinline__ bool is_number(typename OPERAND::cell c)
{
    return (c & OPERAND::NO_NUMBER) != OPERAND::NO_NUMBER;
}

/* Where a block finds the sources of a tile, and how many there are. */
struct Tile {
    int number, first, count, rows; /* rows: up to a whole product; those beyond are zeros */
};
static __device__ __forceinline__ Tile tile_of(const ftb_spmm_hybrid_arguments &h, int number)
{
    const int first = __ldg(h.column_start + number), count = __ldg(h.column_start + number + 1) - first;
    return {number, first, count, (count + 15) / 16 * 16};
}

/* Begins to copy 32 features, from f on, of a tile's sources: a thread has 4 of some. What is beyond them is
 * 0.
 */
template <class STORED, class OPERAND>
static __device__ __forceinline__ void stage_rows(const ftb_spmm_tensor_arguments &t, const Tile &tile,
                                                  STORED *to, int f)
{
    const ftb_spmm_direct_arguments &a = t.hybrid.direct;
    const int thread = static_cast<int>(threadIdx.x);
    f += thread % 8 * 4;
#pragma unroll 1
    for (int k = thread / 8; k < tile.rows; k += FTB_SPMM_TENSOR_BLOCK / 8) {
        STORED *const at = to + k * OPERAND::STRIDE + thread % 8 * 4;
        const int there = k < tile.count ? a.d - f : 0;
        const STORED *const from = there > 0 ? static_cast<const STORED *>(a.x) +
                                                   __ldg(t.hybrid.columns + tile.first + k) * a.ldx + f
                                             : nullptr;
        if (there >= 4 && t.vectors)
            ftb_copy_async<4 * sizeof(STORED)>(at, from);
        else
            for (int q = 0; q < 4; q++)
                at[q] = q < there ? from[q] : STORED{};
    }
    ftb_copy_commit();
}

/* Of what this thread has copied, whether all are numbers when rounded. */
template <class STORED, class OPERAND>
static __device__ __forceinline__ bool are_numbers(const Tile &tile, const STORED *at)
{
    const int thread = static_cast<int>(threadIdx.x);
    bool numbers = true;
    for (int k = thread / 8; k < tile.count; k += FTB_SPMM_TENSOR_BLOCK / 8) {
        float v[4];
        read_tile(v, at + k * OPERAND::STRIDE + thread % 8 * 4);
        for (int q = 0; q < 4; q++)
            numbers = numbers && is_number<OPERAND>(OPERAND::of(v[q]));
    }
    return numbers;
}

/* A strip's entries: lane r < 16 has where those of its row begin, and how many they are. */
struct Strip {
    int begin, count, total;
};
static __device__ __forceinline__ Strip strip_of(const ftb_spmm_hybrid_arguments &h, const Tile &tile,
                                                 int piece, int lane)
{
    const long long first = static_cast<long long>(tile.number) * FTB_SPMM_HYBRID_PIECES + piece;
    Strip s;
    s.count = lane < FTB_SPMM_TENSOR_ROWS ? __ldg(h.count + first + lane) : 0;
    int sum = s.count;
#pragma unroll
    for (int by = 1; by < FTB_SPMM_TENSOR_ROWS; by *= 2) {
        const int before = __shfl_up_sync(FTB_FULL_WARP, sum, by);
        sum += lane >= by ? before : 0;
    }
    s.begin = __ldg(h.entry_start + first / FTB_SPMM_HYBRID_STEP) + sum - s.count;
    s.total = __shfl_sync(FTB_FULL_WARP, sum, FTB_SPMM_TENSOR_ROWS - 1);
    return s;
}

template <int KIND>
static __device__ __forceinline__ float weight_of(const ftb_spmm_direct_arguments &a, int entry, int head)
{
    return KIND == COPY
               ? 1
               : __ldg(static_cast<const float *>(a.w) + static_cast<long long>(entry) * a.ldw + head);
}

/* The strip's weights as a matrix; half a warp takes a row. False: they cannot be one. */
template <class OPERAND, int KIND>
static __device__ __forceinline__ bool spread(typename OPERAND::cell *matrix, int stride,
                                              const ftb_spmm_hybrid_arguments &h, const Strip &s, int head,
                                              int lane)
{
    uint4 *const all = reinterpret_cast<uint4 *>(matrix);
    const int bytes = FTB_SPMM_TENSOR_ROWS * stride * static_cast<int>(sizeof(typename OPERAND::cell));
    __syncwarp(); /* all have read what was there */
    for (int k = lane; k < bytes / 16; k += 32)
        all[k] = make_uint4(0, 0, 0, 0);
    __syncwarp();
    bool odd = false;
    for (int r = lane / 16; r < FTB_SPMM_TENSOR_ROWS; r += 2) {
        const int begin = __shfl_sync(FTB_FULL_WARP, s.begin, r),
                  count = __shfl_sync(FTB_FULL_WARP, s.count, r);
        for (int k = lane % 16; k < count; k += 16) {
            const int place = __ldg(h.entries + begin + k);
            const typename OPERAND::cell w = OPERAND::of(weight_of<KIND>(h.direct, begin + k, head));
            if ((k > 0 && __ldg(h.entries + begin + k - 1) == place) || !is_number<OPERAND>(w))
                odd = true;
            else
                matrix[r * stride + place] = w;
        }
    }
    __syncwarp();
    return !__any_sync(FTB_FULL_WARP, odd);
}

/* Two operands of 16 bits, or one of TF32. */
template <class STORED>
static __device__ __forceinline__ unsigned operands(const tf32 &, const STORED *x, int k, int stride)
{
    return tf32::of(x[k * stride]);
}
template <class STORED, class OPERAND>
static __device__ __forceinline__ unsigned operands(const OPERAND &, const STORED *x, int k, int stride)
{
    return OPERAND::of(x[2 * k * stride]) | static_cast<unsigned>(OPERAND::of(x[(2 * k + 1) * stride])) << 16;
}

/* Adds matrix times tile, of parts begin .. end - 1. Words of the matrix are one operand of TF32, or two: the
 * same lanes have the same words. */
template <class STORED, class OPERAND>
static __device__ __forceinline__ void multiply(float (&sum)[PARTS][4], const typename OPERAND::cell *matrix,
                                                int stride, const STORED *tile, int rows, int begin, int end,
                                                int lane)
{
    enum { CELLS = 4 / sizeof(typename OPERAND::cell) };
    const int g = lane / 4, t = lane % 4, words = stride / CELLS;
    const unsigned *const from = reinterpret_cast<const unsigned *>(matrix) + g * words + t;
#pragma unroll 1
    for (int k = 0; k < rows; k += OPERAND::K) {
        const unsigned *const at = from + k / CELLS;
        const unsigned a[4] = {at[0], at[8 * words], at[4], at[8 * words + 4]};
        const STORED *const x = tile + k * OPERAND::STRIDE + g;
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            if (p < begin || p >= end)
                continue;
            const STORED *const of = x + p * FTB_SPMM_TENSOR_PART;
            const unsigned b[2] = {operands(OPERAND(), of, t, OPERAND::STRIDE),
                                   operands(OPERAND(), of, t + 4, OPERAND::STRIDE)};
            OPERAND::multiply(sum[p], a, b);
        }
    }
}

/* Adds the strip's entries one by one, in full, of parts begin .. end - 1. */
template <class STORED, class OPERAND, int KIND>
static __device__ __forceinline__ void walk(float (&sum)[PARTS][4], const ftb_spmm_hybrid_arguments &h,
                                            const Strip &s, const STORED *tile, int head, int begin, int end,
                                            int lane)
{
    tile += lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int e = __shfl_sync(FTB_FULL_WARP, s.begin, lane / 4 + 8 * half);
        const int last = e + __shfl_sync(FTB_FULL_WARP, s.count, lane / 4 + 8 * half);
#pragma unroll 1
        for (; e < last; e++) {
            const STORED *const x = tile + __ldg(h.entries + e) * OPERAND::STRIDE;
            const float w = weight_of<KIND>(h.direct, e, head);
#pragma unroll
            for (int p = 0; p < PARTS; p++)
                for (int q = 0; q < 2; q++)
                    if (p >= begin && p < end) {
                        const float v = value_of(x[p * FTB_SPMM_TENSOR_PART + q]);
                        sum[p][2 * half + q] += KIND == COPY ? v : w * v;
                    }
        }
    }
}

/* Adds what a strip has in a tile. */
template <class STORED, class OPERAND, int KIND>
static __device__ __forceinline__ void
add_strip(float (&sum)[PARTS][4], const ftb_spmm_tensor_arguments &t, const Tile &tile, const STORED *x,
          typename OPERAND::cell *matrix, int piece, int f, bool numbers, int lane)
{
    const ftb_spmm_hybrid_arguments &h = t.hybrid;
    const int stride = h.tile + FTB_SPMM_TENSOR_PAD / static_cast<int>(sizeof(typename OPERAND::cell));
    const int left = (h.direct.d - f + FTB_SPMM_TENSOR_PART - 1) / FTB_SPMM_TENSOR_PART,
              parts = left < PARTS ? left : PARTS;
    const Strip s = strip_of(h, tile, piece, lane);
    if (s.total == 0)
        return;
    const bool dense = numbers && s.total * 8 >= t.dense * tile.count;
    for (int p = 0; p < parts;) { /* parts of one head */
        const int head = KIND == HEADS ? (f + p * FTB_SPMM_TENSOR_PART) / h.direct.width : 0;
        const int after = ((head + 1) * h.direct.width - f) / FTB_SPMM_TENSOR_PART;
        const int end = KIND == HEADS && after < parts ? after : parts;
        if (dense && spread<OPERAND, KIND>(matrix, stride, h, s, head, lane))
            multiply<STORED, OPERAND>(sum, matrix, stride, x, tile.rows, p, end, lane);
        else
            walk<STORED, OPERAND, KIND>(sum, h, s, x, head, p, end, lane);
        p = end;
    }
}

/* What tiles gave: the direct kernel begins with it. */
static __device__ __forceinline__ void leave_strip(const float (&sum)[PARTS][4],
                                                   const ftb_spmm_tensor_arguments &t, long long piece, int f,
                                                   int lane)
{
    const ftb_spmm_direct_arguments &a = t.hybrid.direct;
    f += lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const long long number = piece + lane / 4 + 8 * half;
        if (number >= a.npieces)
            continue;
        const ftb_spmm_piece p = a.pieces[number];
        float *const to = p.slot < 0 ? static_cast<float *>(a.start) + p.row * a.ldstart
                                     : static_cast<float *>(a.partial) + p.slot * a.ldp;
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            const int at = f + k * FTB_SPMM_TENSOR_PART;
            if (t.vectors && at < a.d)
                *reinterpret_cast<float2 *>(to + at) = make_float2(sum[k][2 * half], sum[k][2 * half + 1]);
            else
                for (int q = 0; q < 2; q++)
                    if (at + q < a.d)
                        to[at + q] = sum[k][2 * half + q];
        }
    }
}

template <class STORED, class OPERAND, int KIND>
static __device__ __forceinline__ void spmm_tensor(const ftb_spmm_tensor_arguments &t)
{
    typedef typename OPERAND::cell cell;
    FTB_DYNAMIC_SHARED(STORED, tiles);
    const ftb_spmm_hybrid_arguments &h = t.hybrid;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    const int f = static_cast<int>(blockIdx.y) * FTB_SPMM_TENSOR_FEATURES, stage = h.tile * OPERAND::STRIDE;
    const int piece = warp * FTB_SPMM_TENSOR_ROWS; /* of the block */
    cell *const matrix =
        reinterpret_cast<cell *>(tiles + FTB_SPMM_HYBRID_STAGES * stage) +
        warp * FTB_SPMM_TENSOR_ROWS * (h.tile + FTB_SPMM_TENSOR_PAD / static_cast<int>(sizeof(cell)));
    const int last = __ldg(h.tile_start + blockIdx.x + 1);
    float sum[PARTS][4] = {};
    int k = __ldg(h.tile_start + blockIdx.x);
    if (k < last)
        stage_rows<STORED, OPERAND>(t, tile_of(h, k), tiles + k % 2 * stage, f);
    for (; k < last; k++) {
        const Tile tile = tile_of(h, k);
        const STORED *const x = tiles + k % 2 * stage;
        if (k + 1 < last) {
            stage_rows<STORED, OPERAND>(t, tile_of(h, k + 1), tiles + (k + 1) % 2 * stage, f);
            ftb_copy_wait<1>();
        } else {
            ftb_copy_wait<0>();
        }
        const bool numbers = __syncthreads_and(are_numbers<STORED, OPERAND>(tile, x));
        add_strip<STORED, OPERAND, KIND>(sum, t, tile, x, matrix, piece, f, numbers, lane);
        __syncthreads(); /* all are done with it */
    }
    leave_strip(sum, t, static_cast<long long>(blockIdx.x) * FTB_SPMM_HYBRID_PIECES + piece, f, lane);
}

#define FTB_SPMM_TENSOR_KERNEL(stored, operand, edge)                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_SPMM_TENSOR_BLOCK)                                      \
        spmm_tensor_##stored##_##operand##_PLUS_##edge(ftb_spmm_tensor_arguments t)                          \
    {                                                                                                        \
        spmm_tensor<stored, operand_##operand, edge>(t);                                                     \
    }                                                                                                        \
    FTB_KERNEL(spmm_tensor_##stored##_##operand##_PLUS_##edge);

#endif
