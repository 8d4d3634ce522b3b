/* Picks that every entry of a row has a say in (FtB_select_sample): the largest, those beyond a threshold, by
 * chance of their own, or of their columns (LABOR-0); or all that have a weight.
 *
 *     keys_<selector>    a thread has an entry: a number whose order is that of its key, the least being
 *                        picked first, or none; and counts those of its row that there are
 *     limit              a thread has a row: how many it has; long ones are listed
 *     least              a warp has a row, unless it is long: the k least, in the order of entries
 *     least_long         blocks have the long ones, so that a hub is no warp's alone
 *
 * The k least are those before the k-th, which is found digit by digit, 8 bits at a time, by counting.
 * LABOR-0: Balin and Catalyurek, NeurIPS 2023. */
#include "gpu/kernels/sample_draws.cuh"
#include "gpu/kernels/sample_rows.cuh"
#include "gpu/kernels/sample_slots.cuh"
#include "gpu/kernels/stored.cuh"

namespace
{

constexpr int DIGITS = 256;

enum Selector { TOPK, THRESHOLD, BERNOULLI, LABOR, WEIGHTED };

__device__ __forceinline__ double value_of(const ftb_sample_keys &a, long long e)
{
    return stored_value<double>(a.values, a.type, e);
}

/* As a whole number of the same order, both zeros the same; NaN is none. */
__device__ __forceinline__ unsigned long long ordered(double x)
{
    const unsigned long long bits = bits_of(x + 0.0), sign = 1ull << 63;
    return x != x ? NO_KEY : bits & sign ? ~bits : bits | sign;
}

/* Of entry t of row r. */
template <int SELECTOR>
__device__ __forceinline__ unsigned long long key_of(const ftb_sample_keys &a, long long r, long long t)
{
    const ftb_sample_rows &s = a.rows;
    const long long i = s.rows ? s.rows[r] : r, e = s.rowptr[i] + t, degree = a.from[r + 1] - a.from[r];
    if (SELECTOR == LABOR) {
        if (s.k < 0 || s.k >= degree)
            return 0;
        const unsigned long long word =
            draw_words(seed_of(s, r), static_cast<unsigned long long>(s.colidx[e]), stream_of(s, r), 0).a;
        return word * static_cast<unsigned long long>(degree) < static_cast<unsigned long long>(s.k) << 32
                   ? 0
                   : NO_KEY;
    }
    if (SELECTOR == WEIGHTED) {
        const unsigned long long slot = a.slots[e];
        if (t > 0 || !no_table(slot))
            return slot_below(slot) > 0 ? 0 : NO_KEY;
        atomicOr(a.bad, 1);
        return NO_KEY;
    }
    const double value = value_of(a, e);
    if (SELECTOR == TOPK)
        return ordered(-value);
    if (SELECTOR == THRESHOLD)
        return value >= a.threshold ? 0 : NO_KEY;
    if (!(value >= 0 && value < double_of(0x7ff0000000000000ull))) {
        atomicOr(a.bad, 1);
        return NO_KEY;
    }
    const unsigned word = draw_words(seed_of(s, r), static_cast<unsigned long long>(i), stream_of(s, r),
                                     static_cast<unsigned long long>(t) / 4)
                              .word(static_cast<int>(t % 4));
    return static_cast<double>(word) < value * 0x1p32 ? 0 : NO_KEY;
}

template <int SELECTOR> __device__ __forceinline__ void make_keys(const ftb_sample_keys &a)
{
    const ftb_sample_rows &s = a.rows;
    const long long at = thread_place();
    const bool there = at < a.from[s.nrows];
    const long long r = there ? row_with(a.from, s.nrows, at) : 0;
    unsigned long long key = NO_KEY;
    if (there) {
        key = key_of<SELECTOR>(a, r, at - a.from[r]);
        a.keys[at] = key;
    }
    count_keys(s, r, key);
}

/* Those that have a row, with what they count in. */
template <int THREADS> struct Counting : Threads<THREADS> {
    int *counted; /* DIGITS */
    long long *result;
};

/* The digit with which `more` of the least are reached, and how many are wanted of those that have it. */
template <int THREADS> __device__ __forceinline__ int digit_of(const Counting<THREADS> &g, long long *more)
{
    enum { EACH = DIGITS / WARP };
    if (g.warp == 0) {
        int own = 0;
        for (int d = 0; d < EACH; d++)
            own += g.counted[EACH * g.lane + d];
        int upto = own;
        for (int far = 1; far < WARP; far *= 2) {
            const int other = __shfl_up_sync(FTB_FULL_WARP, upto, static_cast<unsigned>(far));
            upto += g.lane >= far ? other : 0;
        }
        const unsigned reach = __ballot_sync(FTB_FULL_WARP, upto >= *more);
        if (g.lane == __ffs(static_cast<int>(reach)) - 1) {
            int digit = EACH * g.lane;
            long long left = *more - (upto - own);
            while (left > g.counted[digit])
                left -= g.counted[digit++];
            g.result[0] = digit;
            g.result[1] = left;
        }
    }
    g.sync();
    *more = g.result[1];
    return static_cast<int>(g.result[0]);
}

/* The k-th least key of a row that has more; *more: how many of those that are equal to it are wanted. */
template <int THREADS>
__device__ __forceinline__ unsigned long long
last_key(const Counting<THREADS> &g, const unsigned long long *keys, long long degree, long long *more)
{
    unsigned long long prefix = 0, known = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        for (int d = g.thread; d < DIGITS; d += THREADS)
            g.counted[d] = 0;
        g.sync();
        for (long long t = g.thread; t < degree; t += THREADS)
            if ((keys[t] & known) == prefix && keys[t] != NO_KEY)
                atomicAdd(g.counted + (keys[t] >> shift & (DIGITS - 1)), 1);
        g.sync();
        prefix |= static_cast<unsigned long long>(digit_of(g, more)) << shift;
        known |= static_cast<unsigned long long>(DIGITS - 1) << shift;
        g.sync();
    }
    return prefix;
}

template <int THREADS>
__device__ __forceinline__ void pick_least(const Counting<THREADS> &g, const ftb_sample_keys &a, long long r)
{
    const ftb_sample_rows &s = a.rows;
    const long long i = s.rows ? s.rows[r] : r, begin = s.rowptr[i], degree = a.from[r + 1] - a.from[r];
    const unsigned long long *const keys = a.keys + a.from[r];
    const long long wanted = s.to[r + 1] - s.to[r];
    long long more = wanted, to = s.to[r];
    if (wanted == 0)
        return; /* all threads */
    const unsigned long long last = a.limit < 0 ? NO_KEY : last_key(g, keys, degree, &more);
    for (long long first = 0; first < degree; first += THREADS) {
        const long long t = first + g.thread;
        const unsigned long long key = t < degree ? keys[t] : NO_KEY;
        const bool equal = key == last && key != NO_KEY;
        int equals, all;
        const int rank = g.before(equal, &equals);
        const bool stays = key < last || (equal && rank < more);
        const int place = g.before(stays, &all);
        if (stays) {
            if (s.entries)
                s.entries[to + place] = begin + t;
            if (s.columns)
                s.columns[to + place] = s.colidx[begin + t];
        }
        to += all;
        more -= min(more, static_cast<long long>(equals));
    }
}

} // namespace

#define KEYS(name, selector)                                                                                 \
    extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_keys_##name(ftb_sample_keys a)     \
    {                                                                                                        \
        make_keys<selector>(a);                                                                              \
    }                                                                                                        \
    FTB_KERNEL(sample_keys_##name);
FTB_SAMPLE_KEY_KERNELS(KEYS)

/* Entries of each row, before they are summed. */
extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_degrees(ftb_sample_keys a)
{
    const long long r = thread_place();
    if (r >= a.rows.nrows)
        return;
    const long long i = a.rows.rows ? a.rows.rows[r] : r;
    a.from[r] = a.rows.rowptr[i + 1] - a.rows.rowptr[i];
    a.rows.to[r] = 0;
}
FTB_KERNEL(sample_degrees);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_limit(ftb_sample_keys a)
{
    const long long r = thread_place();
    if (r >= a.rows.nrows)
        return;
    const long long degree = a.from[r + 1] - a.from[r], count = a.rows.to[r];
    const long long picks = a.limit < 0 ? count : min(count, a.limit);
    a.rows.to[r] = picks;
    atomicMax(a.rows.most, picks);
    if (degree > FTB_LEAST_LONG && picks > 0)
        a.longs[atomicAdd(a.nlongs, 1ull)] = r;
}
FTB_KERNEL(sample_limit);

extern "C" __global__ void __launch_bounds__(FTB_LEAST_BLOCK) sample_least(ftb_sample_keys a)
{
    __shared__ int counted[FTB_LEAST_BLOCK / WARP][DIGITS];
    __shared__ long long result[FTB_LEAST_BLOCK / WARP][2];
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    const long long r = static_cast<long long>(blockIdx.x) * (FTB_LEAST_BLOCK / WARP) + warp;
    if (r >= a.rows.nrows || a.from[r + 1] - a.from[r] > FTB_LEAST_LONG)
        return; /* the whole warp */
    pick_least(Counting<WARP>{{lane, lane, 0, nullptr}, counted[warp], result[warp]}, a, r);
}
FTB_KERNEL(sample_least);

extern "C" __global__ void __launch_bounds__(FTB_LEAST_LONG_BLOCK) sample_least_long(ftb_sample_keys a)
{
    __shared__ int counted[DIGITS], sums[FTB_LEAST_LONG_BLOCK / WARP];
    __shared__ long long result[2];
    const int thread = static_cast<int>(threadIdx.x);
    for (unsigned long long n = blockIdx.x; n < *a.nlongs; n += gridDim.x) {
        pick_least(
            Counting<FTB_LEAST_LONG_BLOCK>{{thread, thread % WARP, thread / WARP, sums}, counted, result}, a,
            a.longs[n]);
        __syncthreads();
    }
}
FTB_KERNEL(sample_least_long);
