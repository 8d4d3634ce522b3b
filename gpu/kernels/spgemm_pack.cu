/* Finished entries of sparse x sparse products: the k largest of each row, and all without gaps.
 *
 * topk   a warp has a row. Values are numbers whose order as whole numbers is theirs; the k-th largest is
 *        found digit by digit, 8 bits at a time from the first on, by counting. What is larger stays, and of
 *        those that are equal the first; NaN never does.
 * scan   one block: where each unit begins.
 * pack   a warp has a unit. */
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

/* Calls each(at, unit, valid, key) for 32 entries of a row at a time, in their order. */
template <class T, class EACH>
__device__ __forceinline__ void walk(const ftb_spgemm_pack_arguments &a, int first, int last, EACH each)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const T *const values = static_cast<const T *>(a.values);
    for (int unit = first; unit < last; unit++) {
        const int n = a.counts[unit];
        const long long from = a.units[unit].at;
        for (int t = lane; t - lane < n; t += 32) {
            unsigned long long key = 0;
            const bool valid = t < n && key_of(values[from + t], &key);
            each(from + t, unit, valid, key);
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
template <class T>
__device__ __forceinline__ unsigned long long least_key(const ftb_spgemm_pack_arguments &a, int first,
                                                        int last, int *counted, long long *more)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned long long prefix = 0, known = 0;
    for (int shift = 56; shift > 56 - 8 * Digits<T>::COUNT; shift -= 8) {
        for (int d = lane; d < DIGITS; d += 32)
            counted[d] = 0;
        __syncwarp();
        walk<T>(a, first, last, [&](long long, int, bool valid, unsigned long long key) {
            if (valid && (key & known) == prefix)
                atomicAdd(counted + (key >> shift & (DIGITS - 1)), 1);
        });
        __syncwarp();
        const int digit = digit_of(counted, more);
        prefix |= static_cast<unsigned long long>(digit) << shift;
        known |= static_cast<unsigned long long>(DIGITS - 1) << shift;
        __syncwarp();
    }
    return prefix;
}

template <class T> __device__ __forceinline__ void topk(const ftb_spgemm_pack_arguments &a)
{
    __shared__ int counted[FTB_SPGEMM_STEP_BLOCK / 32][DIGITS];
    const long long row = warp_place();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (row >= a.nrows)
        return; /* the whole warp */
    const int first = a.first[row], last = a.first[row + 1];
    long long valids = 0, more = a.k;
    walk<T>(a, first, last, [&](long long, int, bool valid, unsigned long long) {
        valids += __popc(__ballot_sync(FTB_FULL_WARP, valid));
    });
    unsigned long long least = 0;
    if (valids > a.k)
        least = least_key<T>(a, first, last, counted[threadIdx.x / 32], &more);
    else
        more = valids; /* all of them, the least among them */
    T *const values = static_cast<T *>(a.values);
    for (int unit = first; unit < last; unit++) {
        const long long from = a.units[unit].at;
        const int n = a.counts[unit];
        long long to = from;
        __syncwarp();
        for (int t = lane; t - lane < n; t += 32) {
            const T value = t < n ? values[from + t] : T(0);
            const int column = t < n ? a.cols[from + t] : 0;
            unsigned long long key = 0;
            const bool valid = t < n && key_of(value, &key);
            const unsigned equal = __ballot_sync(FTB_FULL_WARP, valid && key == least),
                           below = (1u << lane) - 1;
            const bool stays = valid && (key > least || (key == least && __popc(equal & below) < more));
            const unsigned found = __ballot_sync(FTB_FULL_WARP, stays);
            __syncwarp();
            if (stays) {
                const long long place = to + __popc(found & below);
                values[place] = value;
                a.cols[place] = column;
            }
            to += __popc(found);
            more -= min(more, static_cast<long long>(__popc(equal)));
        }
        if (lane == 0)
            a.counts[unit] = static_cast<int>(to - from);
    }
}

template <class WORD> __device__ __forceinline__ void pack(const ftb_spgemm_pack_arguments &a)
{
    const long long number = warp_place();
    if (number >= a.nunits)
        return;
    const long long from = a.units[number].at, to = a.offsets[number];
    const int n = a.counts[number];
    const WORD *const values = static_cast<const WORD *>(a.values) + from * a.width;
    WORD *const out = static_cast<WORD *>(a.packed_values) + to * a.width;
    for (int t = static_cast<int>(threadIdx.x) % 32; t < n; t += 32)
        a.packed_cols[to + t] = a.cols[from + t];
    for (long long t = threadIdx.x % 32; t < static_cast<long long>(n) * a.width; t += 32)
        out[t] = values[t];
}

} // namespace

#define TOPK(type, c_type)                                                                                   \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK)                                      \
        spgemm_topk_##type(ftb_spgemm_pack_arguments a)                                                      \
    {                                                                                                        \
        topk<c_type>(a);                                                                                     \
    }                                                                                                        \
    FTB_KERNEL(spgemm_topk_##type);
FTB_SPGEMM_VALUES(TOPK)

#define PACK(bytes, word)                                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK)                                      \
        spgemm_pack_##bytes(ftb_spgemm_pack_arguments a)                                                     \
    {                                                                                                        \
        pack<word>(a);                                                                                       \
    }                                                                                                        \
    FTB_KERNEL(spgemm_pack_##bytes);
FTB_SPGEMM_WORDS(PACK)

/* Threads take units side by side; sums of warps are joined through shared memory, of 256 units at a time. */
extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_SCAN_BLOCK) spgemm_scan(ftb_spgemm_pack_arguments a)
{
    constexpr int WARPS = FTB_SPGEMM_SCAN_BLOCK / 32;
    __shared__ long long sums[WARPS];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    long long carry = 0;
    for (long long base = 0; base < a.nunits; base += FTB_SPGEMM_SCAN_BLOCK) {
        const long long unit = base + thread, own = unit < a.nunits ? a.counts[unit] : 0;
        long long upto = own;
        for (int far = 1; far < 32; far *= 2) {
            const long long other = __shfl_up_sync(FTB_FULL_WARP, upto, static_cast<unsigned>(far));
            upto += lane >= far ? other : 0;
        }
        if (lane == 31)
            sums[warp] = upto;
        __syncthreads();
        long long before = carry;
        for (int w = 0; w < WARPS; w++) {
            before += w < warp ? sums[w] : 0;
            carry += sums[w];
        }
        if (unit < a.nunits)
            a.offsets[unit] = before + upto - own;
        __syncthreads();
    }
    if (thread == 0)
        a.offsets[a.nunits] = carry;
}
FTB_KERNEL(spgemm_scan);
