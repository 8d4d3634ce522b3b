/* Kernels around texts of sparse x sparse products. A generated text (gpu/spgemm/spgemm_text.c) includes this
 * after TEXTS, which are wanted; NAMED(kernel), which makes names that no other text's kernels have; and of
 * rows
 *
 *     void message(const ftb_spgemm_arguments &a, long long i, long long j, long long k, long long x, long
 * long e, S *z)
 *
 * which gives the VALUES values of left entry x = (i, k) and right entry e = (k, j), S combine(S x, S y),
 * whether that is their SUM, and a MEAN; of the finish
 *
 *     W finish(const ftb_spgemm_finish_arguments &a, long long i, long long j, const H *h, bool &stays)
 *
 * of the sums h, and COPIES, whether it is h[0] for want of an epilogue. */
#define KERNEL(name) FTB_KERNEL(name)

#if TEXTS & FTB_SPGEMM_TEXT_ROWS
#include "gpu/kernels/spgemm_large.cuh"
#include "gpu/kernels/spgemm_mask.cuh"

namespace
{

struct Text {
    typedef S Type;
#if MEAN
    typedef unsigned Mark;
    static __device__ __forceinline__ S result(S value, Mark many)
    {
        return static_cast<S>(static_cast<double>(value) / many);
    }
#else
    typedef unsigned char Mark;
    static __device__ __forceinline__ S result(S value, Mark) { return value; }
#endif
    enum { MARKED = 1 };
    static constexpr int VALUES = TEXT_VALUES;
    const ftb_spgemm_arguments &a;
    const long long i, k, x;
    __device__ __forceinline__ Text(const ftb_spgemm_arguments &arguments, const ftb_spgemm_unit &u,
                                    long long entry)
        : a(arguments), i(u.row), k(__ldg(arguments.acol + entry)), x(entry)
    {
    }
    __device__ __forceinline__ void add(S *cell, int step, Mark *mark, int column, long long p) const
    {
        S z[VALUES];
        const bool fresh = *mark == 0;
        message(a, i, column, k, x, p, z);
        *mark = static_cast<Mark>(MEAN ? *mark + 1 : 1);
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            cell[v * step] = SUM ? combine(fresh ? S(0) : cell[v * step], z[v]) /* from 0 on: it is no -0 */
                             : fresh ? z[v]
                                     : combine(cell[v * step], z[v]);
    }
};

} // namespace

#if TEXTS & FTB_SPGEMM_TEXT_MASK
extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_HASH_BLOCK, 8)
    NAMED(spgemm_mask)(ftb_spgemm_arguments a)
{
    mask_unit<Text>(a);
}
KERNEL(NAMED(spgemm_mask));
#else
extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_BLOCK, 2) NAMED(spgemm_dense)(ftb_spgemm_arguments a)
{
    dense_unit<Text>(a);
}
KERNEL(NAMED(spgemm_dense));

extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_HASH_BLOCK, 8)
    NAMED(spgemm_hash)(ftb_spgemm_arguments a)
{
    hash_unit<Text>(a);
}
KERNEL(NAMED(spgemm_hash));

extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_LARGE_BLOCK, 8)
    NAMED(spgemm_large)(ftb_spgemm_arguments a)
{
    large_unit<Text>(a);
}
KERNEL(NAMED(spgemm_large));
#endif
#endif

#if TEXTS & FTB_SPGEMM_TEXT_FINISH
#include "gpu/kernels/spgemm_finish.cuh"

extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK, 4)
    NAMED(spgemm_finish)(ftb_spgemm_finish_arguments a)
{
    W w = W(0);
    finish_units(
        a,
        [&](int i, int j, long long at) {
            H h[SUMS];
            bool stays = true;
#pragma unroll
            for (int v = 0; v < SUMS; v++)
                h[v] = value_at<H>(a, at, v);
            w = finish(a, i, j, h, stays);
            return stays && (!a.use_least || static_cast<double>(w) >= a.least);
        },
        [&](long long at, long long to) {
            if (COPIES)
                for (int v = 0; v < SUMS; v++)
                    static_cast<H *>(a.values)[to * SUMS + v] = value_at<H>(a, at, v);
            else
                static_cast<W *>(a.values)[to] = w;
        });
}
KERNEL(NAMED(spgemm_finish));
#endif
