/* Finished entries of sparse x sparse products: the k largest of each row, and all without gaps. Long rows
 * and units are a block's (spgemm_teams.cuh).
 *
 * topk   a warp has a row. Values are numbers whose order as whole numbers is theirs; the k-th largest is
 *        found digit by digit, 8 bits at a time from the first on, by counting. What is larger stays, and of
 *        those that are equal the first; NaN never does.
 * pack   a warp has a unit.
 * tally  eight lanes have a row, whose sums are made and joined as a sink's are. */
#include "gpu/kernels/spgemm_finish.cuh"

namespace
{

constexpr int DIGITS = 256;

/* Larger values have larger keys, both zeros the same; false: NaN. */
__device__ __forceinline__ bool key_of(double x, unsigned long long *key)
{
    const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(x + 0.0)),
                             sign = 1ull << 63;
    *key = bits & sign ? ~bits : bits | sign;
    return x == x;
}
__device__ __forceinline__ bool key_of(float x, unsigned long long *key)
{
    const unsigned bits = __float_as_uint(x + 0.0f), sign = 1u << 31;
    *key = static_cast<unsigned long long>(bits & sign ? ~bits : bits | sign) << 32;
    return x == x;
}
__device__ __forceinline__ bool key_of(long long x, unsigned long long *key)
{
    *key = static_cast<unsigned long long>(x) ^ 1ull << 63;
    return true;
}
__device__ __forceinline__ bool key_of(unsigned long long x, unsigned long long *key)
{
    *key = x;
    return true;
}
__device__ __forceinline__ bool key_of(unsigned char x, unsigned long long *key)
{
    *key = static_cast<unsigned long long>(x) << 56;
    return true;
}

/* Digits of a key. */
template <class T> struct Digits {
    enum { COUNT = static_cast<int>(sizeof(T)) };
};

/* Calls each(at, valid, key) for as many entries of a row at a time as a team has threads, in their order. */
template <class T, class TEAM, class EACH>
__device__ __forceinline__ void walk(const ftb_spgemm_pack_arguments &a, long long row, TEAM team, EACH each)
{
    const T *const values = static_cast<const T *>(a.values);
    for (int unit = a.first[row]; unit < a.first[row + 1]; unit++) {
        const int n = a.counts[unit];
        const long long from = a.units[unit].at;
        for (int t = team.rank; t - team.rank < n; t += TEAM::SIZE) {
            unsigned long long key = 0;
            const bool valid = t < n && key_of(values[from + t], &key);
            each(from + t, valid, key);
        }
    }
}

/* The digit at which `more` of the largest are reached, counted[] being how many have each; *more becomes how
 * many are wanted of those that have it. All lanes have the same. */
__device__ __forceinline__ int digit_of(const int *counted, long long *more)
{
    enum { EACH = DIGITS / 32 };
    const int lane = static_cast<int>(threadIdx.x) % 32, top = DIGITS - EACH * lane;
    int own = 0;
    for (int d = 1; d <= EACH; d++)
        own += counted[top - d];
    int upto = own; /* of this lane's digits and those above */
    for (int far = 1; far < 32; far *= 2) {
        const int other = __shfl_up_sync(FTB_FULL_WARP, upto, static_cast<unsigned>(far));
        upto += lane >= far ? other : 0;
    }
    const unsigned reach = __ballot_sync(FTB_FULL_WARP, upto >= *more);
    const int who = __ffs(static_cast<int>(reach)) - 1;
    int digit = top - 1;
    long long left = *more - (upto - own);
    if (lane == who)
        while (left > counted[digit])
            left -= counted[digit--];
    *more = __shfl_sync(FTB_FULL_WARP, left, who);
    return __shfl_sync(FTB_FULL_WARP, digit, who);
}

/* The k-th largest key of a row that has more; *more: how many of those that are equal to it are wanted. */
template <class T, class TEAM>
__device__ __forceinline__ unsigned long long least_key(const ftb_spgemm_pack_arguments &a, long long row,
                                                        TEAM team, int *counted, long long *more)
{
    unsigned long long prefix = 0, known = 0;
    for (int shift = 56; shift > 56 - 8 * Digits<T>::COUNT; shift -= 8) {
        for (int d = team.rank; d < DIGITS; d += TEAM::SIZE)
            counted[d] = 0;
        team.sync();
        walk<T>(a, row, team, [&](long long, bool valid, unsigned long long key) {
            if (valid && (key & known) == prefix)
                atomicAdd(counted + (key >> shift & (DIGITS - 1)), 1);
        });
        team.sync();
        const int digit = digit_of(counted, more);
        prefix |= static_cast<unsigned long long>(digit) << shift;
        known |= static_cast<unsigned long long>(DIGITS - 1) << shift;
        team.sync();
    }
    return prefix;
}

/* Keeps the entries whose keys are larger than `least`, and the first `more` of those that are equal. */
template <class T, class TEAM>
__device__ __forceinline__ void keep_unit(const ftb_spgemm_pack_arguments &a, int unit, TEAM team,
                                          unsigned long long least, long long *more)
{
    T *const values = static_cast<T *>(a.values);
    const long long from = a.units[unit].at;
    const int n = a.counts[unit];
    long long to = from;
    team.sync();
    for (int t = team.rank; t - team.rank < n; t += TEAM::SIZE) {
        const T value = t < n ? values[from + t] : T(0);
        const int column = t < n ? a.cols[from + t] : 0;
        unsigned long long key = 0;
        int equals, all;
        const bool valid = t < n && key_of(value, &key), equal = valid && key == least;
        const int before = team.before(equal, &equals);
        const bool stays = valid && (key > least || (equal && before < *more));
        const long long place = to + team.before(stays, &all);
        team.sync();
        if (stays) {
            values[place] = value;
            a.cols[place] = column;
        }
        to += all;
        *more -= min(*more, static_cast<long long>(equals));
    }
    if (team.rank == 0)
        a.counts[unit] = static_cast<int>(to - from);
}

template <class T, class TEAM>
__device__ __forceinline__ void topk_row(const ftb_spgemm_pack_arguments &a, long long row, TEAM team,
                                         int *counted)
{
    long long valids = 0, more = a.k;
    walk<T>(a, row, team, [&](long long, bool valid, unsigned long long) {
        int all;
        (void)team.before(valid, &all);
        valids += all;
    });
    unsigned long long least = 0;
    if (valids > a.k)
        least = least_key<T>(a, row, team, counted, &more);
    else
        more = valids; /* all of them, the least among them */
    for (int unit = a.first[row]; unit < a.first[row + 1]; unit++)
        keep_unit<T>(a, unit, team, least, &more);
}

template <class T> __device__ __forceinline__ void topk(const ftb_spgemm_pack_arguments &a)
{
    __shared__ int counted[STEP_WARPS * DIGITS];
    int *const own = counted + threadIdx.x / 32 * DIGITS, *const all = counted;
    for_teams(
        a.nrows,
        [&](long long row) {
            long long n = 0;
            for (int unit = a.first[row]; unit < a.first[row + 1]; unit++)
                n += a.counts[unit];
            return n;
        },
        [&](long long row, auto team) { topk_row<T>(a, row, team, decltype(team)::SIZE == 32 ? own : all); });
}

template <class T> __device__ __forceinline__ void tally(const ftb_spgemm_pack_arguments &a)
{
    constexpr int LANES = FTB_SPGEMM_TALLY_LANES;
    const int lane = static_cast<int>(threadIdx.x) % LANES;
    const long long row = (static_cast<long long>(blockIdx.x) * FTB_SPGEMM_STEP_BLOCK + threadIdx.x) / LANES;
    const bool there = row < a.nrows;
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    ftb_spgemm_tally s = {0, 0, infinity, -infinity};
    long long before = 0; /* values of units before */
    for (int unit = there ? a.first[row] : 0, last = there ? a.first[row + 1] : 0; unit < last; unit++) {
        const long long n = static_cast<long long>(a.counts[unit]) * a.width;
        const T *const values = static_cast<const T *>(a.values) + a.units[unit].at * a.width;
#pragma unroll 4
        for (long long t = (lane - before) & (LANES - 1); t < n; t += LANES) {
            const double v = static_cast<double>(values[t]);
            s.sum += v;
            s.min = v < s.min ? v : s.min; /* NaN loses */
            s.max = v > s.max ? v : s.max;
        }
        before += n;
        s.nvals += a.counts[unit];
    }
    for (int far = LANES / 2; far > 0; far /= 2) {
        const double sum = __shfl_down_sync(FTB_FULL_WARP, s.sum, static_cast<unsigned>(far), LANES),
                     low = __shfl_down_sync(FTB_FULL_WARP, s.min, static_cast<unsigned>(far), LANES),
                     high = __shfl_down_sync(FTB_FULL_WARP, s.max, static_cast<unsigned>(far), LANES);
        s.sum += sum;
        s.min = s.min < low ? s.min : low;
        s.max = s.max > high ? s.max : high;
    }
    if (there && lane == 0)
        a.tally[row] = s;
}

template <class WORD> __device__ __forceinline__ void pack(const ftb_spgemm_pack_arguments &a)
{
    for_teams(
        a.nunits, [&](long long number) { return a.counts[number]; },
        [&](long long number, auto team) {
            const long long from = a.units[number].at, to = a.offsets[number];
            const int n = a.counts[number];
            const WORD *const values = static_cast<const WORD *>(a.values) + from * a.width;
            WORD *const out = static_cast<WORD *>(a.packed_values) + to * a.width;
            for (int t = team.rank; t < n; t += team.SIZE)
                a.packed_cols[to + t] = a.cols[from + t];
            for (long long t = team.rank; t < static_cast<long long>(n) * a.width; t += team.SIZE)
                out[t] = values[t];
        });
}

} // namespace

#define TOPK(type, c_type)                                                                                   \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK, 4)                                   \
        spgemm_topk_##type(ftb_spgemm_pack_arguments a)                                                      \
    {                                                                                                        \
        topk<c_type>(a);                                                                                     \
    }                                                                                                        \
    FTB_KERNEL(spgemm_topk_##type);
FTB_SPGEMM_VALUES(TOPK)

#define TALLY(type, c_type)                                                                                  \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK, 4)                                   \
        spgemm_tally_##type(ftb_spgemm_pack_arguments a)                                                     \
    {                                                                                                        \
        tally<c_type>(a);                                                                                    \
    }                                                                                                        \
    FTB_KERNEL(spgemm_tally_##type);
FTB_SPGEMM_VALUES(TALLY)

#define PACK(bytes, word)                                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK, 4)                                   \
        spgemm_pack_##bytes(ftb_spgemm_pack_arguments a)                                                     \
    {                                                                                                        \
        pack<word>(a);                                                                                       \
    }                                                                                                        \
    FTB_KERNEL(spgemm_pack_##bytes);
FTB_SPGEMM_WORDS(PACK)
