/* Numbers for the vertices that were picked, as the host gives them (src/cpu: relabel): known ones keep
 * theirs, new ones follow, ascending.
 *
 *     fill     words, of the table and others
 *     known    places for known vertices; of one that comes again the first counts
 *     claim    places for picked ones, which a pick remembers; those that were nobody's are listed, and then
 *              sorted (sample_order.cu)
 *     give     their numbers
 *     read     each pick's number
 *     rows_8, rows_16, rows_32    lanes bring a row into the order of its numbers, of equal ones of its picks
 *     row_keys, row_put           the same of long rows, by sorting them all
 *
 * Places are claimed in any order; numbers depend on the vertices alone. Where there are trees, a vertex is
 * another one in each, and new ones ascend by tree first. */
#include "gpu/kernels/sample_draws.cuh"
#include "gpu/kernels/sample_rows.cuh"
#include "gpu/kernels/sample_table.cuh"

namespace
{

template <int LANES> __device__ __forceinline__ void rows(const ftb_number_arguments &a)
{
    const Group<LANES> g;
    const long long r = thread_place() / LANES;
    const long long begin = r < a.nrows ? a.to[r] : 0;
    const int count = r < a.nrows ? static_cast<int>(a.to[r + 1] - begin) : 0;
    int most = count;
    for (int far = 16; far > 0; far /= 2)
        most = max(most, __shfl_xor_sync(FTB_FULL_WARP, most, far));
    for (int first = 0; first < most; first += LANES) {
        const int t = first + g.lane;
        const int own = t < count ? a.local[begin + t] : 0;
        int rank = 0;
        for (int base = 0; base < most; base += LANES) {
            const int other = base == first           ? own
                              : base + g.lane < count ? a.local[begin + base + g.lane]
                                                      : 0;
#pragma unroll
            for (int k = 0; k < LANES; k++) {
                const int its = g.of(other, k);
                rank += base + k < count && (its < own || (its == own && base + k < t));
            }
        }
        if (t < count) {
            a.local_to[begin + rank] = own;
            if (a.entries_from)
                a.entries_to[begin + rank] = a.entries_from[begin + t];
        }
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK)
    sample_fill(unsigned long long *words, long long count, unsigned long long word)
{
    const long long step = static_cast<long long>(gridDim.x) * FTB_SAMPLE_BLOCK;
    for (long long k = thread_place(); k < count; k += step)
        words[k] = word;
}
FTB_KERNEL(sample_fill);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_known(ftb_number_arguments a)
{
    const long long n = thread_place();
    const unsigned number = static_cast<unsigned>(n);
    bool claimed;
    if (n >= a.nknown)
        return;
    const unsigned vertex = static_cast<unsigned>(a.known[n]);
    if (a.trees)
        atomicMin(a.table.numbers + claim_word(a.table, word_of_tree(a.table, a.trees[n], vertex), &claimed),
                  number);
    else
        claim(a.table, vertex, number, &claimed);
}
FTB_KERNEL(sample_known);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_claim(ftb_number_arguments a)
{
    const long long e = thread_place();
    bool claimed = false;
    unsigned long long key = 0;
    unsigned place = 0;
    if (e < a.npicks) {
        const unsigned vertex = static_cast<unsigned>(a.columns[e]);
        key = vertex;
        if (a.trees) {
            key = word_of_tree(a.table, a.row_trees[row_with(a.to, a.nrows, e)], vertex);
            place = claim_word(a.table, key, &claimed);
        } else {
            place = claim(a.table, vertex, FTB_UNNUMBERED, &claimed);
        }
        a.places[e] = place;
    }
    const long long at = room_for(a.found, claimed);
    if (claimed) {
        a.keys[at] = key;
        a.with[at] = place;
    }
}
FTB_KERNEL(sample_claim);

/* Of known vertices the list alone. */
extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_give(ftb_number_arguments a)
{
    const long long n = thread_place(), k = n - a.nknown;
    if (k >= a.nfresh)
        return;
    if (k < 0) {
        a.vertices[n] = a.known[n];
        if (a.trees)
            a.vertex_trees[n] = a.trees[n];
        return;
    }
    unsigned vertex = static_cast<unsigned>(a.keys[k]);
    if (a.trees) {
        vertex &= (1u << a.table.shift) - 1;
        a.vertex_trees[n] = static_cast<int>(a.keys[k] >> a.table.shift);
        a.table.numbers[a.with[k]] = static_cast<unsigned>(n);
    } else {
        a.table.words[a.with[k]] = word_of(vertex, static_cast<unsigned>(n));
    }
    a.vertices[n] = vertex;
}
FTB_KERNEL(sample_give);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_read(ftb_number_arguments a)
{
    const long long e = thread_place();
    if (e < a.npicks)
        a.local[e] = static_cast<int>(a.trees ? a.table.numbers[a.places[e]]
                                              : static_cast<unsigned>(a.table.words[a.places[e]]));
}
FTB_KERNEL(sample_read);

#define ROWS(lanes)                                                                                          \
    extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK)                                           \
        sample_rows_##lanes(ftb_number_arguments a)                                                          \
    {                                                                                                        \
        rows<lanes>(a);                                                                                      \
    }                                                                                                        \
    FTB_KERNEL(sample_rows_##lanes);
FTB_SAMPLE_UNIFORM_KERNELS(ROWS)

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_row_keys(ftb_number_arguments a)
{
    const long long e = thread_place();
    if (e >= a.npicks)
        return;
    const unsigned long long row = static_cast<unsigned long long>(row_with(a.to, a.nrows, e));
    a.keys[e] = row << a.bits | static_cast<unsigned>(a.local[e]);
    a.with[e] = static_cast<unsigned>(e);
}
FTB_KERNEL(sample_row_keys);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_row_put(ftb_number_arguments a)
{
    const long long e = thread_place();
    if (e >= a.npicks)
        return;
    a.local_to[e] = static_cast<int>(a.keys[e] & ((1ull << a.bits) - 1));
    if (a.entries_from)
        a.entries_to[e] = a.entries_from[a.with[e]];
}
FTB_KERNEL(sample_row_put);
