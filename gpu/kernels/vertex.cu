/* What a superstep of a vertex program does behind its product: which of a field's new values are others, and
 * those put in place; which vertices have a flag, and how many, with the sum of their weights; and sums of
 * batches of values, one after the other, so that the bits are the host's.
 *
 * All is read and written once: the limit is the memory's bandwidth. Counts are whole numbers, so that the
 * order in which blocks add them does not show. A batch of sums is a warp's: 32 values are read side by side,
 * and added in order by every lane alike, which takes about as long as reading them. */
#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/vertex_rows.h"

namespace
{

constexpr int WARP = 32;

template <class T> __device__ __forceinline__ bool is_other(T x, T y) { return x != y; }
__device__ __forceinline__ bool is_other(float x, float y)
{
    return __float_as_int(x) != __float_as_int(y) && (x == x || y == y);
}
__device__ __forceinline__ bool is_other(double x, double y)
{
    return __double_as_longlong(x) != __double_as_longlong(y) && (x == x || y == y);
}

/* A thread's row, and its place among those that share it. */
struct Row {
    long long row;
    int lane, step;
    unsigned group; /* their bits of the warp's */
    __device__ __forceinline__ explicit Row(int lanes)
    {
        const long long thread = static_cast<long long>(blockIdx.x) * FTB_VERTEX_BLOCK + threadIdx.x;
        row = thread >> lanes;
        step = 1 << lanes;
        lane = static_cast<int>(threadIdx.x) & (step - 1);
        group = step == WARP ? FTB_FULL_WARP
                             : ((1U << step) - 1U) << (static_cast<int>(threadIdx.x) % WARP - lane);
    }
    /* Whether it is so of one of them. All threads of the warp ask together. */
    __device__ __forceinline__ bool any(bool so) const
    {
        return (__ballot_sync(FTB_FULL_WARP, so) & group) != 0;
    }
};

template <class T> __device__ __forceinline__ void renew(const ftb_vertex_renew_arguments &a)
{
    const Row r(a.lanes);
    const bool applies = r.row < a.nrows && (!a.who || a.who[r.row]);
    bool other = false;
    for (long long f = r.lane; applies && f < a.ncols; f += r.step) {
        const T now = static_cast<const T *>(a.fresh)[r.row * a.ncols + f];
        T *const at = static_cast<T *>(a.state) + r.row * a.ld + f;
        if (!is_other(now, *at))
            continue;
        other = true;
        if (a.store)
            *at = now;
    }
    if (!a.changed)
        return;
    const bool any = r.any(other);
    if (r.lane == 0 && r.row < a.nrows)
        a.changed[r.row] = any || (a.more && a.changed[r.row]);
}

} // namespace

#define RENEW(type, values)                                                                                  \
    extern "C" __global__ void __launch_bounds__(FTB_VERTEX_BLOCK)                                           \
        vertex_renew_##type(ftb_vertex_renew_arguments a)                                                    \
    {                                                                                                        \
        renew<values>(a);                                                                                    \
    }                                                                                                        \
    FTB_KERNEL(vertex_renew_##type);
FTB_VERTEX_RENEW(RENEW)

extern "C" __global__ void __launch_bounds__(FTB_VERTEX_BLOCK) vertex_flags(ftb_vertex_flags_arguments a)
{
    const Row r(a.lanes);
    const bool there = r.row < a.nrows;
    bool set = there && !a.x;
    for (long long f = r.lane; there && a.x && f < a.ncols; f += r.step)
        set = set || (a.x[r.row * a.ncols + f] != 0) != (a.zeros != 0);
    const bool any = r.any(set), own = there && r.lane == 0; /* who alone reads `with`, which may be `out` */
    const bool mine = own && any && (!a.with || a.with[r.row]);
    if (own)
        a.out[r.row] = mine;
    const unsigned flags = __ballot_sync(FTB_FULL_WARP, mine);
    unsigned long long weight = mine && a.weights ? static_cast<unsigned long long>(a.weights[r.row]) : 0;
    for (int far = WARP / 2; far > 0; far /= 2)
        weight += __shfl_xor_sync(FTB_FULL_WARP, weight, far);
    if (threadIdx.x % WARP == 0 && flags) {
        atomicAdd(a.counts, static_cast<unsigned long long>(__popc(flags)));
        atomicAdd(a.counts + 1, weight);
    }
}
FTB_KERNEL(vertex_flags);

extern "C" __global__ void __launch_bounds__(FTB_VERTEX_BLOCK) vertex_sums(ftb_vertex_sums_arguments a)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const long long batch = (static_cast<long long>(blockIdx.x) * FTB_VERTEX_BLOCK + threadIdx.x) / WARP,
                    first = batch * a.each;
    if (first >= a.count)
        return;
    const long long last = min(a.count, first + a.each);
    double sum = 0;
    for (long long t = first; t < last; t += WARP) {
        const double x = t + lane < last ? a.x[t + lane] : 0;
        const int some = static_cast<int>(min(last - t, static_cast<long long>(WARP)));
        for (int k = 0; k < some; k++)
            sum += __shfl_sync(FTB_FULL_WARP, x, k);
    }
    if (lane == 0)
        a.sums[batch] = sum;
}
FTB_KERNEL(vertex_sums);
