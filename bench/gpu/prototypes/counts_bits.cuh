/* Counts among the most popular items as bitmaps over users: AND and population count for each pair, tile by
 * tile of pairs through shared memory. Bitmaps lie word by word, the items of a word side by side, so that a
 * tile's words are read in rows.
 *
 * A population count is issued for 16 lanes a clock and multiprocessor, logic for 64: WORDS = 3 adds three
 * words bit by bit first (a carry-save adder), which leaves two counts for three words. What this cannot
 * show: tensor cores, which take 8-bit integers at a thousand times 10^12 operations a second, so that a
 * matrix product of 0/1 bytes is a rival for more than about 2,048 items. */
#pragma once

#include "counts.cuh"

namespace facts
{
namespace counts
{

constexpr int STAGE_WORDS = 24; /* words that a tile holds at once: a multiple of 3 */
constexpr int PAIR_SIDE = 16, PAIR_BLOCK = PAIR_SIDE * PAIR_SIDE;
constexpr int BITMAP_BLOCK = 512;

/* One block for 32 users, a bit for each in the word of every item below `items`. */
static __global__ __launch_bounds__(BITMAP_BLOCK) void make_bitmaps(const int *rowptr, const uint16_t *ids,
                                                                    int nusers, int items, unsigned *bitmaps)
{
    DYNAMIC_SHARED(memory);
    unsigned *words = reinterpret_cast<unsigned *>(memory);
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (int k = thread; k < items; k += threads)
        words[k] = 0;
    __syncthreads();
    for (int k = thread / WARP; k < WARP; k += threads / WARP) {
        const int user = static_cast<int>(blockIdx.x) * WARP + k;
        if (user >= nusers)
            continue;
        for (int p = rowptr[user] + thread % WARP; p < rowptr[user + 1]; p += WARP) {
            if (ids[p] >= items)
                break; /* ascending */
            atomicOr(&words[ids[p]], 1u << k);
        }
    }
    __syncthreads();
    unsigned *out = bitmaps + static_cast<size_t>(blockIdx.x) * static_cast<size_t>(items);
    for (int k = thread; k < items; k += threads)
        out[k] = words[k];
}

/* A thread's SIDE x SIDE pairs over the words of a stage. */
template <int TILE, int WORDS>
__device__ void count_stage(const unsigned (&a)[STAGE_WORDS][TILE], const unsigned (&b)[STAGE_WORDS][TILE],
                            int (&pairs)[TILE / PAIR_SIDE][TILE / PAIR_SIDE])
{
    constexpr int SIDE = TILE / PAIR_SIDE;
    const int x = static_cast<int>(threadIdx.x) % PAIR_SIDE, y = static_cast<int>(threadIdx.x) / PAIR_SIDE;
#pragma unroll 2
    for (int k = 0; k < STAGE_WORDS; k += WORDS) {
        unsigned rows[WORDS][SIDE], columns[WORDS][SIDE];
#pragma unroll
        for (int w = 0; w < WORDS; w++)
#pragma unroll
            for (int m = 0; m < SIDE; m++) {
                rows[w][m] = a[k + w][y + m * PAIR_SIDE];
                columns[w][m] = b[k + w][x + m * PAIR_SIDE];
            }
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++) {
                if (WORDS == 1) {
                    pairs[i][j] += __popc(rows[0][i] & columns[0][j]);
                    continue;
                }
                const unsigned p = rows[0][i] & columns[0][j], q = rows[WORDS / 2][i] & columns[WORDS / 2][j],
                               r = rows[WORDS - 1][i] & columns[WORDS - 1][j];
                pairs[i][j] += __popc(p ^ q ^ r) + 2 * __popc((p & q) | (p & r) | (q & r));
            }
    }
}

/* One block for a tile of pairs; `nwords` is a multiple of STAGE_WORDS, `items` of TILE. */
template <int TILE, int WORDS>
__global__ __launch_bounds__(PAIR_BLOCK) void count_pairs(const unsigned *bitmaps, int nwords, int items,
                                                          const int2 *tiles, Statistics *out)
{
    static_assert(WORDS == 1 || WORDS == 3, "one word, or three added first");
    constexpr int SIDE = TILE / PAIR_SIDE;
    __shared__ unsigned a[STAGE_WORDS][TILE], b[STAGE_WORDS][TILE];
    const int first_row = tiles[blockIdx.x].x * TILE, first_column = tiles[blockIdx.x].y * TILE;
    int pairs[SIDE][SIDE] = {};
    for (int word = 0; word < nwords; word += STAGE_WORDS) {
        for (int k = static_cast<int>(threadIdx.x); k < STAGE_WORDS * TILE; k += PAIR_BLOCK) {
            const unsigned *from =
                bitmaps + static_cast<size_t>(word + k / TILE) * static_cast<size_t>(items) + k % TILE;
            a[k / TILE][k % TILE] = from[first_row];
            b[k / TILE][k % TILE] = from[first_column];
        }
        __syncthreads();
        count_stage<TILE, WORDS>(a, b, pairs);
        __syncthreads();
    }
    const int x = static_cast<int>(threadIdx.x) % PAIR_SIDE, y = static_cast<int>(threadIdx.x) / PAIR_SIDE;
    Statistics s = {};
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            const int row = first_row + y + i * PAIR_SIDE, column = first_column + x + j * PAIR_SIDE;
            if (row < column)
                add_count(s, row, column, static_cast<unsigned>(pairs[i][j]));
        }
    s = block_sum(s);
    if (threadIdx.x == 0)
        out[blockIdx.x] = s;
}

} // namespace counts
} // namespace facts
