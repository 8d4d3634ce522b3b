/* Picks by weight, through tables of rows (sample_slots.cuh), as the host makes them one after the other
 * (src/cpu/sample/row_draws.c): draws of what was picked before are in vain, and a row that has seen too many
 * of these is finished by a look at all of it.
 *
 *     weighted     8, 16 or 32 lanes have a row of up to as many picks: in a round each makes a draw
 *     block        blocks have the rows of more picks, and those that lanes are not done with after some
 *                  rounds, from their first draw on: hubs of which few entries outweigh all others
 *     rest_shares  of rows that are left, a thread has an entry: what share of the draws is whose,
 *     rest_keys    and from these the keys of which the k least are picked (sample_keys.cu), those that were
 *                  picked before coming first
 *     rest_put     a thread has such a pick
 *     put          a thread has a pick: its entry and its column
 *
 * A draw of a round counts if those before it left something to do: it is new if no pick is equal, and no
 * draw before it in the round; how many before it were new, and how many in vain, are numbers of lanes. So
 * picks are those of one draw after the other. */
#include "gpu/kernels/sample_rows.cuh"
#include "gpu/kernels/sample_slots.cuh"
#include "gpu/kernels/sample_table.cuh"

namespace
{

/* A row with its table; of none, and of one that has none, which is said, there are no entries. */
struct Weighted {
    Row row;
    int n;
    Drawn drawn;
};

__device__ __forceinline__ Weighted weighted_row(const ftb_sample_weighted &a, long long r)
{
    const Row row = r < a.rows.nrows ? row_at(a.rows, r) : Row{0, 0, 0};
    const unsigned long long *const slots = a.slots + row.begin;
    const bool bad = row.degree > 0 && no_table(slots[0]);
    if (bad)
        atomicOr(a.bad, 1);
    const int n = bad ? 0 : static_cast<int>(row.degree);
    return {row,
            n,
            {slots, static_cast<unsigned>(n), n > 0 ? seed_of(a.rows, r) : 0,
             static_cast<unsigned long long>(row.vertex), n > 0 ? stream_of(a.rows, r) : 0}};
}

/* Draws that may be in vain. */
__device__ __forceinline__ int vain_of(int k, int n) { return 32 + 3 * min(k, n) + n / 4; }

/* Row r has so many picks; without a look at all of it there are none that are missing. */
__device__ __forceinline__ void close_row(const ftb_sample_weighted &a, long long r, const Weighted &w,
                                          int count)
{
    a.rows.to[r] = count;
    if (a.rows.replace || w.n <= a.rows.k || count == a.rows.k)
        return;
    const unsigned long long at = atomicAdd(a.nrest, 1ull);
    a.rest[at] = r;
    a.rest_vertices[at] = w.row.vertex;
    if (a.rest_trees)
        a.rest_trees[at] = a.rows.trees[r];
}

/* Picks of a row by draws, into `mine`; *open: it is not done after all rounds. Of all lanes of the warp. */
template <int LANES>
__device__ __forceinline__ int draw_row(const Group<LANES> &g, const Weighted &w, int k, bool *open,
                                        int *mine)
{
    const int group = static_cast<int>(threadIdx.x) % WARP / LANES * LANES;
    const unsigned before = (1u << g.lane) - 1;
    int count = 0, vain = vain_of(k, w.n), d = g.lane;
#pragma unroll 1
    for (int round = 0; round < FTB_WEIGHTED_ROUNDS && __any_sync(FTB_FULL_WARP, *open);
         round++, d += LANES) {
        const int entry = *open ? w.drawn.entry(d) : -1 - static_cast<int>(threadIdx.x % WARP);
        const unsigned same = __match_any_sync(FTB_FULL_WARP, entry) >> group;
        bool fresh = *open && (same & before) == 0;
        for (int t = 0; t < count; t++)
            fresh = fresh && mine[t] != entry;
        const unsigned news = g.which(fresh);
        const int upto = __popc(news & before);
        const bool made = *open && upto < k - count && g.lane - upto < vain;
        const int makes = __popc(g.which(made)), takes = __popc(g.which(fresh && made));
        if (fresh && made)
            mine[count + upto] = entry;
        __syncwarp();
        count += takes;
        vain -= makes - takes;
        *open = *open && count < k && vain > 0;
    }
    return count;
}

template <int LANES> __device__ __forceinline__ void weighted(const ftb_sample_weighted &a)
{
    __shared__ int picked[FTB_SAMPLE_BLOCK];
    const Group<LANES> g;
    const long long r = thread_place() / LANES;
    const int k = static_cast<int>(a.rows.k);
    const Weighted w = weighted_row(a, r);
    int *const mine = picked + static_cast<int>(threadIdx.x) / LANES * LANES;
    bool open = !a.rows.replace && w.n > k && k > 0;
    int count = draw_row(g, w, k, &open, mine), place = 0;
    if (a.rows.replace) {
        count = w.n > 0 ? k : 0;
        place = g.lane < count ? w.drawn.entry(g.lane) : 0;
    } else if (w.n > k) {
        place = g.lane < count ? mine[g.lane] : 0;
    }
    bool stays = g.lane < count;
    int rank = rank_of(g, place, g.lane, count);
    const bool all = !a.rows.replace && w.n <= k; /* all that have weights, which keep their order */
    const unsigned some = g.which(all && g.lane < w.n && slot_below(w.drawn.slots[g.lane]) > 0);
    if (all) {
        stays = (some >> g.lane & 1) != 0;
        rank = __popc(some & ((1u << g.lane) - 1));
        place = g.lane;
        count = __popc(some);
    }
    if (r >= a.rows.nrows)
        return;
    if (!open && stays)
        a.places[a.room[r] + rank] = place;
    if (g.lane > 0)
        return;
    if (open)
        a.longs[atomicAdd(a.nlongs, 1ull)] = r;
    else
        close_row(a, r, w, count);
}

/* ---- blocks */

typedef Threads<FTB_WEIGHTED_BLOCK> Block;

/* The same by a block's threads. What is drawn has a place in a table, with the first draw of it. */
__device__ __forceinline__ int draw_by_block(const Block &g, const Weighted &w, int k,
                                             unsigned long long *words, int *picked)
{
    const ftb_sample_table table = {words, FTB_WEIGHTED_TABLE - 1, 0, nullptr};
    int count = 0, vain = vain_of(k, w.n);
    for (int t = g.thread; t < FTB_WEIGHTED_TABLE; t += FTB_WEIGHTED_BLOCK)
        words[t] = NOBODY;
    __syncthreads();
#pragma unroll 1
    for (long long first = 0; count < k && vain > 0; first += FTB_WEIGHTED_BLOCK) {
        const unsigned d = static_cast<unsigned>(first) + static_cast<unsigned>(g.thread);
        const int entry = w.drawn.entry(first + g.thread);
        bool claimed;
        const unsigned at = claim(table, static_cast<unsigned>(entry), d, &claimed);
        __syncthreads();
        const bool fresh = static_cast<unsigned>(words[at]) == d;
        int all, makes, takes;
        const int upto = g.before(fresh, &all);
        const bool made = upto < k - count && g.thread - upto < vain;
        (void)g.before(made, &makes);
        (void)g.before(fresh && made, &takes);
        if (fresh && made)
            picked[count + upto] = entry;
        count += takes;
        vain -= makes - takes;
    }
    return count;
}

__device__ __forceinline__ void weighted_by_block(const Block &g, const ftb_sample_weighted &a, long long r,
                                                  unsigned long long *words, int *picked)
{
    const Weighted w = weighted_row(a, r);
    const int k = static_cast<int>(a.rows.k);
    int count = 0;
    if (a.rows.replace) {
        count = w.n > 0 ? k : 0;
        for (int t = g.thread; t < count; t += FTB_WEIGHTED_BLOCK)
            picked[t] = w.drawn.entry(t);
    } else if (w.n <= k) {
        for (int first = 0; first < w.n; first += FTB_WEIGHTED_BLOCK) {
            const int t = first + g.thread;
            const bool stays = t < w.n && slot_below(w.drawn.slots[t]) > 0;
            int all;
            const int upto = g.before(stays, &all);
            if (stays)
                picked[count + upto] = t;
            count += all;
        }
    } else {
        count = draw_by_block(g, w, k, words, picked);
    }
    __syncthreads();
    for (int t = g.thread; t < count; t += FTB_WEIGHTED_BLOCK) {
        int rank = 0;
        for (int other = 0; other < count; other++)
            rank += picked[other] < picked[t] || (picked[other] == picked[t] && other < t);
        a.places[a.room[r] + rank] = picked[t];
    }
    if (g.thread == 0)
        close_row(a, r, w, count);
}

/* ---- what draws were not enough for */

/* log(x) of a positive normal x: ftb_log_core of src/expr/real.h, step by step. */
__device__ __forceinline__ double log_of(double x)
{
    const unsigned long long root_half = 0x3fe6a09e667f3bcdull, one = 0x3ff0000000000000ull;
    const unsigned long long biased = (bits_of(x) - root_half + one) >> 52;
    const double m = double_of(bits_of(x) - (biased << 52) + one);
    const double k = double_of(0x4330000000000000ull | biased) - (0x1p52 + 1023);
    const double s = (m - 1) / (m + 1), z = s * s;
    double p = 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    return k * 0x1.62e42fefa39efp-1 + (2 * s + s * z * p);
}

__device__ __forceinline__ bool was_picked(const ftb_sample_weighted &a, long long r, int place)
{
    const int *const places = a.places + a.room[r];
    long long low = 0, high = a.rows.to[r];
    while (low < high) {
        const long long middle = (low + high) / 2;
        if (places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a.rows.to[r] && places[low] == place;
}

} // namespace

#define WEIGHTED(lanes)                                                                                      \
    extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK)                                           \
        sample_weighted_##lanes(ftb_sample_weighted a)                                                       \
    {                                                                                                        \
        weighted<lanes>(a);                                                                                  \
    }                                                                                                        \
    FTB_KERNEL(sample_weighted_##lanes);
FTB_SAMPLE_WEIGHTED_KERNELS(WEIGHTED)

extern "C" __global__ void __launch_bounds__(FTB_WEIGHTED_BLOCK) sample_weighted_block(ftb_sample_weighted a)
{
    __shared__ unsigned long long words[FTB_WEIGHTED_TABLE];
    __shared__ int picked[FTB_SAMPLE_MOST], sums[Block::WARPS];
    const int thread = static_cast<int>(threadIdx.x);
    const Block g = {thread, thread % WARP, thread / WARP, sums};
    const unsigned long long rows = a.longs ? *a.nlongs : static_cast<unsigned long long>(a.rows.nrows);
    for (unsigned long long n = blockIdx.x; n < rows; n += gridDim.x) {
        weighted_by_block(g, a, a.longs ? a.longs[n] : static_cast<long long>(n), words, picked);
        __syncthreads();
    }
}
FTB_KERNEL(sample_weighted_block);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_rest_shares(ftb_sample_rest a)
{
    const ftb_sample_keys &keys = a.keys;
    const long long at = thread_place();
    if (at >= keys.from[keys.rows.nrows])
        return;
    const long long n = row_with(keys.from, keys.rows.nrows, at), first = keys.from[n];
    const unsigned long long slot = a.of.slots[keys.rows.rowptr[keys.rows.rows[n]] + (at - first)];
    atomicAdd(keys.keys + at, static_cast<unsigned long long>(slot_below(slot)));
    atomicAdd(keys.keys + first + slot_other(slot), (1ull << 32) - slot_below(slot));
}
FTB_KERNEL(sample_rest_shares);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_rest_keys(ftb_sample_rest a)
{
    const ftb_sample_keys &keys = a.keys;
    const ftb_sample_rows &s = keys.rows;
    const long long at = thread_place();
    const bool there = at < keys.from[s.nrows];
    const long long n = there ? row_with(keys.from, s.nrows, at) : 0;
    unsigned long long key = NO_KEY;
    if (there) {
        const long long t = at - keys.from[n];
        const unsigned long long share = keys.keys[at];
        if (was_picked(a.of, a.of.rest[n], static_cast<int>(t))) {
            key = 0;
        } else if (share > 0) {
            const unsigned word = draw_words(seed_of(s, n), static_cast<unsigned long long>(s.rows[n]),
                                             stream_of(s, n), static_cast<unsigned long long>(t) / 4)
                                      .word(static_cast<int>(t % 4));
            key = bits_of(-log_of((static_cast<double>(word) + 0.5) * 0x1p-32) / static_cast<double>(share));
        }
        keys.keys[at] = key;
    }
    count_keys(s, n, key);
}
FTB_KERNEL(sample_rest_keys);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_rest_put(ftb_sample_rest a)
{
    const ftb_sample_rows &s = a.keys.rows;
    const long long at = thread_place();
    if (at >= s.to[s.nrows])
        return;
    const long long n = row_with(s.to, s.nrows, at), r = a.of.rest[n], t = at - s.to[n];
    a.of.places[a.of.room[r] + t] = static_cast<int>(s.entries[at] - s.rowptr[s.rows[n]]);
    if (t == 0)
        a.of.rows.to[r] = s.to[n + 1] - s.to[n];
}
FTB_KERNEL(sample_rest_put);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_weighted_put(ftb_sample_weighted a)
{
    const ftb_sample_rows &s = a.rows;
    const long long at = thread_place();
    if (at >= s.to[s.nrows])
        return;
    const long long r = row_with(s.to, s.nrows, at);
    put(s, at, row_at(s, r).begin + a.places[a.room[r] + (at - s.to[r])]);
}
FTB_KERNEL(sample_weighted_put);
