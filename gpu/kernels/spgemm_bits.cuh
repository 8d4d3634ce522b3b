/* Counts of which the most frequent columns of B are bits, 1,024 columns to a line: of a row k of B a lane of
 * a warp has 32 of them in a word. What a row's left entries find there is counted by position (Harley and
 * Seal; as on the host, cpu/kernels/spgemm_bits.c): words go through a tree of carry-save adders, whose
 * carries ripple into counters of which word s has digit s of 32 counts. Then the digits are put together,
 * and the counts added to the unit's cells, where those of B's other entries are (spgemm_rows.cuh). Sums of
 * whole numbers: the bits are those of any order.
 *
 * A left entry costs a line a load of 128 bytes and some 7 instructions of a warp, however many of its
 * columns have entries; one by one, 32 of these cost 12. What limits is L2. Sectors, beside those of
 * spgemm_rows.cuh: 4 for each left entry and line that the unit looks at. */
#ifndef FTB_SPGEMM_BITS_CUH
#define FTB_SPGEMM_BITS_CUH

#include "gpu/kernels/spgemm_rows.cuh"

namespace
{

constexpr int DIGITS_OF_COUNT = 12, LEVELS = 3, WORDS = 1 << LEVELS; /* summed at once */
/* Left entries of a part of a row that a warp counts: no more than digits hold, no fewer than pay for putting
 * them together. The least rests on no measurement. */
constexpr int MOST_PART = (1 << DIGITS_OF_COUNT) - WORDS, LEAST_PART = 64;

/* low + x + y = low' + 2 carry, bit by bit. */
__device__ __forceinline__ unsigned add3(unsigned &low, unsigned x, unsigned y)
{
    const unsigned carry = (low & x) | (low & y) | (x & y);
    low = low ^ x ^ y;
    return carry;
}

__device__ __forceinline__ void add_words(unsigned (&digit)[DIGITS_OF_COUNT], unsigned (&w)[WORDS])
{
#pragma unroll
    for (int d = 0; d < LEVELS; d++)
#pragma unroll
        for (int t = 0; t < WORDS >> (d + 1); t++)
            w[t] = add3(digit[d], w[2 * t], w[2 * t + 1]);
#pragma unroll
    for (int d = LEVELS; d < DIGITS_OF_COUNT; d++) {
        const unsigned carry = digit[d] & w[0];
        digit[d] ^= w[0];
        w[0] = carry;
    }
}

/* Of left entries [begin, end), what this lane's word of a line counts. */
__device__ __forceinline__ void count_part(const ftb_spgemm_arguments &a, long long begin, long long end,
                                           int line, unsigned (&digit)[DIGITS_OF_COUNT])
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const unsigned *const words = a.bits + line * a.ninner * WARP + lane;
#pragma unroll
    for (int d = 0; d < DIGITS_OF_COUNT; d++)
        digit[d] = 0;
    for (long long x0 = begin; x0 < end; x0 += WARP) {
        const int k = x0 + lane < end ? __ldg(a.acol + x0 + lane) : -1;
        for (int at = 0; at < WARP && x0 + at < end; at += WORDS) {
            unsigned w[WORDS];
#pragma unroll
            for (int t = 0; t < WORDS; t++) {
                const int row = __shfl_sync(FTB_FULL_WARP, k, at + t);
                w[t] = row >= 0 ? __ldg(words + static_cast<long long>(row) * WARP) : 0;
            }
            add_words(digit, w);
        }
    }
}

/* The first of the frequent columns that is not before `column`. */
__device__ __forceinline__ int first_hot(const ftb_spgemm_arguments &a, int column)
{
    return static_cast<int>(first_from(a.hot, 0, a.nhot, column));
}

/* Adds the counts of a unit's frequent columns: warps take parts of its row, a line each. */
template <int BITS>
__device__ __forceinline__ void count_hot(const ftb_spgemm_arguments &a, const ftb_spgemm_unit &u,
                                          unsigned *words)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP, warps = static_cast<int>(blockDim.x) / WARP;
    const int from = first_hot(a, u.first), to = first_hot(a, u.last);
    if (from == to)
        return;
    const int line0 = from / FTB_SPGEMM_LINE, lines = (to - 1) / FTB_SPGEMM_LINE - line0 + 1;
    const long long left = u.end - u.begin, wanted = (left * lines + warps - 1) / warps,
                    part = max(static_cast<long long>(LEAST_PART),
                               min(static_cast<long long>(MOST_PART), (wanted + WORDS - 1) / WORDS * WORDS)),
                    parts = (left + part - 1) / part;
    for (long long task = threadIdx.x / WARP; task < parts * lines; task += warps) {
        const int line = line0 + static_cast<int>(task / parts);
        const long long begin = u.begin + task % parts * part;
        unsigned digit[DIGITS_OF_COUNT];
        count_part(a, begin, min(begin + part, u.end), line, digit);
        for (int bit = 0; bit < 32; bit++) {
            const int id = line * FTB_SPGEMM_LINE + bit * WARP + lane;
            if (id < from || id >= to)
                continue;
            const int column = __ldg(a.hot + id);
            unsigned count = 0;
#pragma unroll
            for (int d = 0; d < DIGITS_OF_COUNT; d++)
                count |= (digit[d] >> bit & 1) << d;
            if (count > 0)
                add_many<BITS>(words, column - u.first, count);
        }
    }
}

} // namespace

#endif
