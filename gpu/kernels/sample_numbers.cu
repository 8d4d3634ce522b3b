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
 * Places are claimed in any order; numbers depend on the vertices alone. */
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
    bool claimed;
    if (n < a.nknown)
        claim(a.table, static_cast<unsigned>(a.known[n]), static_cast<unsigned>(n), &claimed);
}
FTB_KERNEL(sample_known);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_claim(ftb_number_arguments a)
{
    const long long e = thread_place();
    bool claimed = false;
    unsigned vertex = 0, place = 0;
    if (e < a.npicks) {
        vertex = static_cast<unsigned>(a.columns[e]);
        place = claim(a.table, vertex, FTB_UNNUMBERED, &claimed);
        a.places[e] = place;
    }
    const long long at = room_for(a.found, claimed);
    if (claimed) {
        a.keys[at] = vertex;
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
        if (a.vertices)
            a.vertices[n] = a.known[n];
        return;
    }
    const unsigned vertex = static_cast<unsigned>(a.keys[k]);
    a.table.words[a.with[k]] = word_of(vertex, static_cast<unsigned>(n));
    if (a.vertices)
        a.vertices[n] = vertex;
    if (a.fresh)
        a.fresh[k] = vertex;
}
FTB_KERNEL(sample_give);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_read(ftb_number_arguments a)
{
    const long long e = thread_place();
    if (e < a.npicks)
        a.local[e] = static_cast<int>(static_cast<unsigned>(a.table.words[a.places[e]]));
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
    long long low = 0, high = a.nrows - 1; /* the last row that begins at e or before, and has picks */
    while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (a.to[middle + 1] <= e)
            low = middle + 1;
        else
            high = middle;
    }
    a.keys[e] = static_cast<unsigned long long>(low) << a.bits | static_cast<unsigned>(a.local[e]);
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
