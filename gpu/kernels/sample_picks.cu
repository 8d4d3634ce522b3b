/* Uniform picks of entries of rows, as many steps as picks, whatever the rows' lengths (FtB_select_sample):
 *
 *     count     a thread has a row: how many it has
 *     uniform   8, 16 or 32 lanes have a row, each a pick (sample_draws.cuh)
 *     large     a block has a row of up to FTB_SAMPLE_MOST picks
 *     all       a thread has a pick, where rows are picked as they are
 *
 * What takes time is where picks point: columns lie anywhere, and each warp asks for 32 of them at once. */
#include "gpu/kernels/sample_draws.cuh"
#include "gpu/kernels/sample_rows.cuh"

namespace
{

template <int LANES> __device__ __forceinline__ void uniform(const ftb_sample_rows &a)
{
    const Group<LANES> g;
    const long long r = thread_place() / LANES;
    const bool there = r < a.nrows;
    const Row row = there ? row_at(a, r) : Row{0, 0, 0};
    const Picked p =
        pick_uniform(g, row.degree, static_cast<int>(a.k), a.replace != 0, there ? seed_of(a, r) : 0,
                     static_cast<unsigned long long>(row.vertex), there ? stream_of(a, r) : 0);
    const int rank = rank_of(g, p.position, g.lane, p.count);
    if (there && g.lane < p.count)
        put(a, a.to[r] + rank, row.begin + p.position);
}

} // namespace

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_count(ftb_sample_rows a)
{
    const long long r = thread_place();
    long long count = 0;
    if (r < a.nrows) {
        const long long degree = row_at(a, r).degree;
        count = a.k >= 0 && (a.replace ? degree > 0 : degree > a.k) ? a.k : degree;
        a.to[r] = count;
    }
    for (int far = 16; far > 0; far /= 2)
        count = max(count, __shfl_xor_sync(FTB_FULL_WARP, count, far));
    if (threadIdx.x % 32 == 0 && count > 0)
        atomicMax(a.most, count);
}
FTB_KERNEL(sample_count);

#define UNIFORM(lanes)                                                                                       \
    extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_uniform_##lanes(ftb_sample_rows a) \
    {                                                                                                        \
        uniform<lanes>(a);                                                                                   \
    }                                                                                                        \
    FTB_KERNEL(sample_uniform_##lanes);
FTB_SAMPLE_UNIFORM_KERNELS(UNIFORM)

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK, 4) sample_large(ftb_sample_rows a)
{
    __shared__ int drawn[FTB_SAMPLE_MOST], picked[FTB_SAMPLE_MOST];
    __shared__ bool again[FTB_SAMPLE_MOST];
    const long long r = blockIdx.x;
    const Row row = row_at(a, r);
    const int n = static_cast<int>(row.degree), k = static_cast<int>(a.k), first = n - k;
    const int count = static_cast<int>(a.to[r + 1] - a.to[r]), thread = static_cast<int>(threadIdx.x);
    if (!a.replace && n <= k) { /* the whole block */
        for (int t = thread; t < count; t += FTB_SAMPLE_BLOCK)
            put(a, a.to[r] + t, row.begin + t);
        return;
    }
    for (int t = thread; t < count; t += FTB_SAMPLE_BLOCK)
        drawn[t] = draw_below(a.replace ? n : first + t + 1, seed_of(a, r),
                              static_cast<unsigned long long>(row.vertex), stream_of(a, r), t);
    __syncthreads();
#pragma unroll 1
    for (int t = thread; t < count; t += FTB_SAMPLE_BLOCK) {
        bool equal = false;
        for (int other = 0; other < t && !a.replace; other++)
            equal |= drawn[other] == drawn[t];
        again[t] = equal;
    }
    __syncthreads();
    for (int t = thread; t < count; t += FTB_SAMPLE_BLOCK) {
        int at = t;
        while (!a.replace && !again[at] && drawn[at] >= first && drawn[at] < first + at)
            at = drawn[at] - first;
        picked[t] = again[at] ? first + t : drawn[t];
    }
    __syncthreads();
    for (int t = thread; t < count; t += FTB_SAMPLE_BLOCK) {
        int rank = 0;
        for (int other = 0; other < count; other++)
            rank += picked[other] < picked[t] || (picked[other] == picked[t] && other < t);
        put(a, a.to[r] + rank, row.begin + picked[t]);
    }
}
FTB_KERNEL(sample_large);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_all(ftb_sample_rows a)
{
    const long long e = thread_place();
    if (e >= a.to[a.nrows])
        return;
    const long long r = row_with(a.to, a.nrows, e);
    put(a, e, row_at(a, r).begin + (e - a.to[r]));
}
FTB_KERNEL(sample_all);
